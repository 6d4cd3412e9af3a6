# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/results are what the commands in front of them print of the records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import result_tables
from apogee_lab.atlas import traces
from tests import ROOT

PAGES = [str(path.relative_to(ROOT)) for path in result_tables.pages()]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_its_commands_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(traces, "FOLDER", tmp_path)
    page = (ROOT / name).read_text(encoding="utf-8")
    assert page.count("<!-- $ ") == page.count("<!-- end -->")
    assert result_tables.written(page) == page, "run scripts/result_tables.py"


HAND_WRITTEN = [path for path in sorted(result_tables.FOLDER.rglob("*.md")) if path.stem != "card"]


@pytest.mark.parametrize("path", HAND_WRITTEN, ids=lambda path: path.name)
def test_a_page_is_short(path: Path) -> None:
    """At most 300 words beside tables and code, in lines of 120 characters."""
    page = path.read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if not line.startswith("|")]
    assert max(map(len, lines)) <= 120
    own = result_tables.BLOCK.sub("", "\n".join(lines) + "\n")
    assert len(re.sub(r"<!--.*?-->|```.*?```", "", own, flags=re.S).split()) <= 300


def test_several_commands_and_their_last_line() -> None:
    text = "a b \\\n  c | tail -1\n$ d 'e f'"
    assert result_tables.commands(text) == [["a", "b", "c", "|", "tail", "-1"], ["d", "e f"]]


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="failed: scripts/lab table nothing"):
        result_tables.printed(["scripts/lab", "table", "nothing"])
    assert capsys.readouterr().err
