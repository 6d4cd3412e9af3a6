# SPDX-License-Identifier: GPL-2.0
"""The records of lies, whose parts are an algorithm's on a path, and of what lies cost."""

from __future__ import annotations

from itertools import product
from operator import itemgetter
from pathlib import Path

from tests.played import ALGORITHMS, OURS
from tests.played.books import DOCS, Book, Record
from tests.played.hostile import bounds, cost, table
from tests.played.hostile.attacks import ATTACKS, PATHS
from tests.played.hostile.play import play

PAGE = DOCS / "hostile.md"


def _part(record: Record) -> str:
    return f"{record['path']}.{record['cc']}"


def _play(part: str, out: Path) -> list[Record]:
    path, cc = part.split(".")
    return list(play(out, path, [cc], ATTACKS))


LIES = Book(
    "hostile", PAGE, ("path", "attack", "cc"), [*map(".".join, product(PATHS, ALGORITHMS))], _part,
    _play, table.summary, table.whole, bounds.judge,
)  # fmt: skip
COST = Book(
    "hostile-cost", PAGE, ("cc", "attack"), (*OURS, "cubic", "bbr"), itemgetter("cc"),
    cost.play, cost.summary, cost.whole, cost.judge,
)  # fmt: skip
