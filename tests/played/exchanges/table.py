# SPDX-License-Identifier: GPL-2.0
"""The table of differences from reno's exchanges, each with its reasons: differences.txt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "differences.txt"
INFINITE = str(0x7FFFFFFF)


@dataclass
class Table:
    """Reasons (name -> text), and what is listed: (script, algorithm) -> difference -> reasons."""

    reasons: dict[str, str] = field(default_factory=dict)
    listed: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)

    def used(self) -> set[str]:
        """Reasons that a difference has."""
        every = (names for lines in self.listed.values() for names in lines.values())
        return {name for names in every for name in names}


def short(difference: str) -> str:
    """As it stands in the table: no ssthresh is INF."""
    return difference.replace(INFINITE, "INF")


def _fields(text: str) -> Iterator[tuple[str, list[str]]]:
    """(section, fields) of each line; comments and empty lines are left out."""
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            yield section, [word.strip() for word in line.split("|", 2)]


def read(text: str) -> Table:
    """Parse the table: lines ``NAME | TEXT`` of its section reasons, ``ALGORITHMS | REASONS |
    DIFFERENCE`` of a section of one or several scripts."""
    table = Table()
    for section, words in _fields(text):
        if section == "reasons":
            table.reasons[words[0]] = words[1]
            continue
        assert len(words) == 3, words
        for key in product(section.split(), words[0].split(",")):
            lines = table.listed.setdefault(key, {})
            assert words[2] not in lines, words
            lines[words[2]] = words[1].split()
    return table


def wrong(found: Sequence[str], listed: Mapping[str, Sequence[str]]) -> list[str]:
    """Differences that are not listed, and listed ones that do not occur."""
    are = [short(difference) for difference in found]
    return [f"not listed: {text}" for text in are if text not in listed] + [
        f"does not occur: {text}" for text in listed if text not in are
    ]
