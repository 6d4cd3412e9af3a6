# SPDX-License-Identifier: GPL-2.0
"""`lab atlas` of ways to use a path in guests: SHAKE and SSCOP beside what else is there."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from apogee_lab.commands import main

pytestmark = [pytest.mark.guest, pytest.mark.uml]


@pytest.mark.parametrize(
    ("space", "cc", "beside"),
    [
        ("radios", "sscop", "alone"),
        pytest.param("links", "shake", "second,mptcp", marks=pytest.mark.deep),
    ],
)
def test_a_path_in_guests(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], space: str, cc: str, beside: str
) -> None:
    """One path for 4 s, without losses and events; a line's commands repeat it."""
    out = ["--json", str(tmp_path / "atlas.jsonl"), "-o", str(tmp_path / "drawn")]
    ways = [cc, *beside.split(",")]
    still = {"radios": ["rate=1mbit", "ber=0"], "links": ["loss=0%", "loss1=0%"]}[space]
    more = [word for text in still for word in ("--set", text)]
    words = ["atlas", space, "--engine", "uml", "--cc", cc, "--beside", beside, "--only", "3",
             "--seed", "60221", "--duration", "4", *more]  # fmt: skip
    assert main.main([*words, *out]) == 0
    (line,) = [json.loads(text) for text in (tmp_path / "atlas.jsonl").read_text().splitlines()]
    assert list(line["results"]) == ways
    assert all(one["value"] > 0 for one in line["results"].values())
    assert f"{cc} on 1 paths of {space}" in capsys.readouterr().out
    for command in line["command"].splitlines():
        assert main.main(shlex.split(command)[1:]) == 0
        assert "1 of 1 runs finished earlier" in capsys.readouterr().err
