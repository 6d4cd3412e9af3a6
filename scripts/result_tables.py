#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the tables of docs/results anew, from the records beside the pages.

    scripts/result_tables.py [PAGE...]

A page has the command of a table in front of it, and an end behind it. A command may go on behind
a backslash, and may end with `| head -N` or `| tail -N`; each of several begins with a dollar. Of
`grep WORD FILE` it is each command of the file with this word that is meant:

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
from apogee_lab.results.text import as_markdown

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "results"
BLOCK = re.compile(r"<!-- \$ (.*?) -->\n(.*?)<!-- end -->\n", re.S)
PROGRAMS = {
    ("scripts/lab",): main.main,
    ("python3", "-m", "apogee_lab.commands.draw_figures"): draw_figures.main,
}


def commands(text: str) -> list[list[str]]:
    """The words of each command of a block."""
    every = [_words(one) for one in text.split("\n$ ")]
    return [one for words in every for one in (_found(words) if words[0] == "grep" else [words])]


def _words(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", " "))


def _found(words: list[str]) -> list[list[str]]:
    """The commands of a file that grep finds, each with the filter behind grep."""
    _, word, file, *rest = words
    lines = Path(file).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [_words(line) + rest for line in lines if word in line and not line.startswith("#")]


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
    """What the commands print; of several that count things in a line a table, a row for each, with
    the name of the last record file of its command."""
    texts = [printed(words) for words in every]
    if len(texts) == 1 or any("\n" in text for text in texts):
        return _joined(texts)
    names = [[Path(word).stem for word in words if word.endswith(".jsonl")] for words in every]
    counts = [re.findall(r"(\d+) ([a-z ]+)", text) for text in texts]
    head = ["records", *(label for _, label in counts[0])]
    rows = zip(names, counts, strict=True)
    return as_markdown([head, *([of[-1], *(n for n, _ in found)] for of, found in rows)])


def _joined(texts: list[str]) -> str:
    """The texts one below the other; a caption that the next ones have, too, stands once."""
    caption = texts[0].split("\n", 1)[0] + "\n\n"
    return "\n\n".join([texts[0], *(text.removeprefix(caption) for text in texts[1:])])


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
