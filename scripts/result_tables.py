#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the tables of docs/results anew, from the records beside the pages.

    scripts/result_tables.py [PAGE...]

A page has the command of a table in front of it, and an end behind it. A command may go on behind
a backslash, and may end with `| head -N` or `| tail -N`; each of several begins with a dollar:

    <!-- $ scripts/lab table docs/results/open.jsonl --across ber --format md -->

    what it prints

    <!-- end -->
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from apogee_lab.commands import draw_figures, main

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "results"
BLOCK = re.compile(r"<!-- \$ (.*?) -->\n(.*?)<!-- end -->\n", re.S)
PROGRAMS = {
    ("scripts/lab",): main.main,
    ("python3", "-m", "apogee_lab.commands.draw_figures"): draw_figures.main,
}


def commands(text: str) -> list[list[str]]:
    """The words of each command of a block."""
    return [shlex.split(one.replace("\\\n", " ")) for one in text.split("\n$ ")]


def _filter(words: list[str], lines: list[str]) -> list[str]:
    """What head and tail leave."""
    program, number = words
    count = int(number.removeprefix("-"))
    return {"head": lines[:count], "tail": lines[-count:]}[program]


def printed(words: list[str]) -> str:
    """What a command prints, an atlas as code; RuntimeError if it fails."""
    ends = [at for at, word in enumerate(words) if word == "|"]
    own = words[: ends[0]] if ends else words
    own = own[1:] if own[0].startswith("PYTHONPATH=") else own
    (program,) = (one for one in PROGRAMS if tuple(own[: len(one)]) == one)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if PROGRAMS[program](own[len(program) :]) != 0:
            raise RuntimeError(f"failed: {shlex.join(words)}")
    lines = out.getvalue().strip("\n").split("\n")
    if ends:
        lines = _filter(words[ends[0] + 1 :], lines)
    text = "\n".join(lines).strip("\n")
    return f"```\n{text}\n```" if "atlas" in own else text


def _block(every: list[list[str]]) -> str:
    """What the commands print; several lines are a list, each with the name of the last record
    file of its command."""
    texts = [printed(words) for words in every]
    if len(texts) == 1 or any("\n" in text for text in texts):
        return "\n\n".join(texts)
    names = [[Path(word).stem for word in words if word.endswith(".jsonl")] for words in every]
    return "\n".join(f"- {of[-1]}: {text}" for of, text in zip(names, texts, strict=True))


def written(page: str) -> str:
    """The page with its tables anew."""

    def anew(found: re.Match[str]) -> str:
        return f"<!-- $ {found[1]} -->\n\n{_block(commands(found[1]))}\n\n<!-- end -->\n"

    return BLOCK.sub(anew, page)


def pages() -> Iterator[Path]:
    """Those that have such tables."""
    for path in sorted(FOLDER.rglob("*.md")):
        if BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or list(pages())
    os.chdir(ROOT)
    for path in chosen:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
