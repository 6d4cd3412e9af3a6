# SPDX-License-Identifier: GPL-2.0
"""The storms' records: each part is an algorithm's."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path

from tests.played import ALGORITHMS
from tests.played.books import DOCS, Book
from tests.played.storms import bounds, table
from tests.played.storms.play import Record, play
from tests.played.storms.storms import STORMS


def _play(cc: str, out: Path) -> list[Record]:
    return play(out, list(STORMS), [cc])


BOOK = Book(
    "storms", DOCS / "storms.md", ("storm", "cc"), ALGORITHMS, itemgetter("cc"),
    _play, table.summary, table.whole, bounds.judge,
)  # fmt: skip
