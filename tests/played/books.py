# SPDX-License-Identifier: GPL-2.0
"""Records of what was played, the page that has their tables, and what has to hold of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from apogee_lab.results.text import as_markdown
from tests import ROOT

DOCS = ROOT / "docs"

Record = Mapping[str, Any]
Key = tuple[str, ...]
Records = Mapping[Key, Record]


def records_of(name: str) -> Path:
    """The file of a book's records, one a line."""
    return DOCS / "results" / "records" / f"{name}.jsonl"


def read(name: str) -> list[Record]:
    """A book's records."""
    return [json.loads(line) for line in records_of(name).read_text().splitlines()]


def grid(
    corner: str, rows: Iterable[str], columns: Sequence[str], cell: Callable[[str, str], str]
) -> str:
    """A table: a row for each name, a column for each other name."""
    table = [[corner, *columns]]
    table += [[f"`{row}`", *(cell(row, column) for column in columns)] for row in rows]
    return as_markdown(table) + "\n"


def put(page: str, name: str, text: str) -> str:
    """A page with the text between its two marks of a name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


@dataclass(frozen=True)
class Book:
    """``fields`` tell one record from another. It is played by ``parts``, each with those records
    of which ``part`` says so. ``tables`` are for the marks of the page, by name, ``whole`` those
    that the command prints. ``judge`` says what is beyond the bounds in one record, which may be
    compared with others.
    """

    name: str
    page: Path
    fields: Sequence[str]
    parts: Sequence[str]
    part: Callable[[Record], str]
    play: Callable[[str, Path], Sequence[Record]]
    tables: Callable[[Records], Mapping[str, str]]
    whole: Callable[[Records], Mapping[str, str]]
    judge: Callable[[Records, Key], Iterable[str]]

    def key(self, record: Record) -> Key:
        """The fields, as far as a record has them."""
        return tuple(record[name] for name in self.fields if name in record)

    def by_key(self, records: Iterable[Record]) -> dict[Key, Record]:
        """Records by their keys."""
        return {self.key(record): record for record in records}

    def read(self) -> dict[Key, Record]:
        """The committed records."""
        return self.by_key(read(self.name))

    def keep(self, part: str, records: Iterable[Record]) -> None:
        """Replace the records of a part."""
        of = {name: [r for r in read(self.name) if self.part(r) == name] for name in self.parts}
        every = chain.from_iterable((of | {part: records}).values())
        kept = records_of(self.name)
        new = kept.with_suffix(".new")
        new.write_text("".join(json.dumps(record) + "\n" for record in every))
        new.replace(kept)

    def written(self, page: str) -> str:
        """The page with the tables of the committed records."""
        for name, table in self.tables(self.read()).items():
            page = put(page, name, table)
        return page

    def printed(self) -> str:
        """All tables of the committed records."""
        found = self.whole(self.read()).items()
        return "\n".join(f"{name}:\n\n{table}" for name, table in found)

    def wrong(self, records: Records) -> list[str]:
        """What is beyond the bounds."""
        return [f"{' '.join(key)}: {said}" for key in records for said in self.judge(records, key)]
