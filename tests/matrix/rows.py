# SPDX-License-Identifier: GPL-2.0
"""Rows of the matrix, and the record that they are kept in."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from apogee_lab.base import LabError, key_of, write_whole
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels.kernel import SUITES, numbers
from tests import BUILD, ROOT

KEPT = BUILD / "matrix.jsonl"
UNSTABLE = "sid"  # compiled for, not booted


@dataclass
class Row:
    """One kernel: for each column that applies, what is wrong, empty if nothing is.

    ``release`` is empty if there is no kernel; ``note`` is no failure. ``date`` is that of its run,
    ``headers`` a hash of what was compiled with.
    """

    suite: str
    arch: str
    release: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    note: str = ""
    date: str = ""
    headers: str = ""

    def look(self, column: str, check: Callable[[], str]) -> bool:
        """Fill a cell; whether nothing is wrong."""
        print(f"{self.name}: {column}", file=sys.stderr, flush=True)
        try:
            self.cells[column] = check()
        except (LabError, GuestFailed, AssertionError) as error:
            self.cells[column] = str(error) or "failed"
        return not self.cells[column]

    @property
    def name(self) -> str:
        """The kernel's release, or what was to have one."""
        return self.release or f"{self.suite} for {self.arch}"

    @property
    def failures(self) -> list[str]:
        """What is wrong, a line per cell."""
        return [f"{self.name}: {column}: {why}" for column, why in self.cells.items() if why]


def _sources() -> str:
    """A hash of what is compiled, and of what compiles it."""
    folders = [ROOT / name for name in ("include", "sscop", "shake", "bpf", "tests/modules")]
    files = [path for top in folders for path in top.rglob("*") if path.is_file()]
    files += [*ROOT.glob("tcp_*.c"), ROOT / "Kbuild", ROOT / "scripts/build-modules"]
    parts = [(str(path.relative_to(ROOT)), path.read_bytes()) for path in sorted(files)]
    return key_of(*(part for pair in parts for part in pair))


Asked = tuple[str, ...]  # table, suite, architecture, release if one is asked for


class Record:
    """The rows of a run, in a file. A run that was stopped goes on: a row of the same sources, in
    which nothing is wrong, is not made again."""

    def __init__(self, path: Path) -> None:
        self._path, self._of = path, _sources()
        self.rows: dict[Asked, Row] = {}
        self._old = read(path, self._of) if path.exists() else {}

    def good(self, *asked: str) -> Row | None:
        """What need not be made again."""
        row = self._old.get(asked)
        return None if row is None or row.failures else row

    def twin(self, row: Row) -> Row | None:
        """The row of the same suite that was made, and is good, with the same headers."""
        for other in self._old.values():
            same = (other.suite, other.headers) == (row.suite, row.headers)
            if row.headers and same and not other.note and not other.failures:
                return other
        return None

    def row(self, *asked: str, make: Callable[[], Row]) -> Row:
        """What was asked for."""
        row = self.good(*asked)
        if not row:
            row = make()
            row.date = datetime.now(UTC).date().isoformat()
        self._old[asked] = self.rows[asked] = row
        lines = [
            json.dumps({"of": self._of, "asked": key, "row": asdict(one)})
            for key, one in self._old.items()
        ]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, "\n".join(lines) + "\n")
        return row


def merge(record: Path, made: Path) -> None:
    """Take over into a record what a run has made, in the tables' order."""
    lines = [line for path in (record, made) for line in path.read_text("utf-8").splitlines()]
    found = {tuple(json.loads(line)["asked"]): line for line in lines}

    def place(asked: Asked) -> tuple[object, ...]:
        table, suite, arch, *release = asked
        version = [-n for text in release for n in numbers(text)[:4]]
        return table, (*SUITES, UNSTABLE).index(suite), version, arch, release

    write_whole(record, "".join(f"{found[asked]}\n" for asked in sorted(found, key=place)))


def read(path: Path, of: str | None = None) -> dict[Asked, Row]:
    """The rows in a file, those of these sources only, or all."""
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {tuple(one["asked"]): Row(**one["row"]) for one in entries if of in (None, one["of"])}
