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


#: What is not read as words: code, comments, rows of tables, headings, pictures, targets of links.
NO_WORDS = re.compile(
    r"^```.*?^```$|<!--.*?-->|^\|.*?$|^#.*?$|^!\[.*?$|(?<=\])\([^)\s]+\)", re.M | re.S
)


@pytest.mark.parametrize("path", sorted(result_tables.FOLDER.rglob("*.md")), ids=lambda p: p.name)
def test_a_page_is_short(path: Path) -> None:
    """At most 300 words beside tables, printed ones included, in lines of 120 characters."""
    page = path.read_text(encoding="utf-8")
    assert max(len(line) for line in page.splitlines() if not line.startswith("|")) <= 120
    assert len(NO_WORDS.sub("", page).split()) <= 300


def test_several_commands_and_their_last_line() -> None:
    text = "a b \\\n  c | tail -1\n$ d 'e f'"
    assert result_tables.commands(text) == [["a", "b", "c", "|", "tail", "-1"], ["d", "e f"]]


def test_commands_that_grep_finds_are_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "some.sh"
    file.write_text("# try\nnot a.jsonl\ntry a.jsonl \\\n\t'b c'\ntry d.jsonl\n")
    every = result_tables.commands(f"grep try {file} | tail -1")
    assert every == [
        ["try", "a.jsonl", "b c", "|", "tail", "-1"],
        ["try", "d.jsonl", "|", "tail", "-1"],
    ]
    monkeypatch.setattr(result_tables, "printed", lambda words: f"{len(words)} words: 1 not shown")
    assert result_tables._block(every).splitlines() == [
        "| records | words | not shown |", "|---|---:|---:|", "| a | 6 | 1 |", "| d | 5 | 1 |",
    ]  # fmt: skip


def test_a_caption_stands_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_tables, "printed", "\n\n".join)
    tables = [["caption", "| a |"], ["caption", "| b |"], ["other", "| c |"]]
    assert result_tables._block(tables) == "caption\n\n| a |\n\n| b |\n\nother\n\n| c |"


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="failed: scripts/lab table nothing"):
        result_tables.printed(["scripts/lab", "table", "nothing"])
    assert capsys.readouterr().err
