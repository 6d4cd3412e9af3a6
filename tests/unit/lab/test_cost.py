# SPDX-License-Identifier: GPL-2.0
"""`lab cost`: its records and the table made from them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from apogee_lab import modules
from apogee_lab.commands import cost, main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest in which every function takes as many instructions as its name has letters."""
    monkeypatch.setattr(cost, "kernel", lambda: SimpleNamespace(release="6.1.0"))
    monkeypatch.setattr(modules, "build", lambda _: None)
    monkeypatch.setattr(
        cost, "measure",
        lambda _cc, hooks, *_: {"instructions": len("".join(hooks)) + 0.4, "p99": 9.0, "acks": 7},
    )  # fmt: skip


def test_a_record_says_what_was_counted(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "cost.jsonl"
    options = ["--ber", "0,1e-6", "--seed", "3", "--duration", "5", "--json", str(target)]
    assert main.main(["cost", "reno", "--whole", *options]) == 0
    records = [json.loads(line) for line in target.read_text().splitlines()]
    assert [record["ber"] for record in records] == [0.0, 1e-6]
    assert records[0] == {
        "cc": "reno", "ber": 0.0, "seed": 3, "duration_s": 5.0, "engine": "qemu",
        "kernel": "6.1.0", "functions": ["tcp_ack"], "instructions": 7.4, "p99": 9.0, "acks": 7,
    }  # fmt: skip
    assert "| reno | 1e-6 | 7 | 9 | 7 |" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_refused_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(cost, "measure", lambda *_: pytest.fail("a run was made"))
    assert main.main(["cost", "star", "--json", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
