# SPDX-License-Identifier: GPL-2.0
"""What the last whole run of each part of `make check-deep` was: records, and a page's table.

``python3 -m tests.lanes.records`` makes the table of docs/reliability.md from the records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests import ROOT

DOCS = ROOT / "docs"
BEGIN, END = "<!-- last runs: written by make check-deep -->\n", "<!-- end of last runs -->\n"
HEAD = """\
| date | commit | parts | passed | failed | CPU, min | what failed |
|---|---|---|---:|---:|---:|---|
"""


def part(name: str) -> str:
    """The part that a test, or a file of tests, belongs to: test_two_cpus.py is `two-cpus`."""
    return Path(name.partition("::")[0]).stem.removeprefix("test_").replace("_", "-")


def record(name: str, notes: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Of all notes about a part's tests, in their order: its last run. What was stopped or failed
    and was begun again adds up; what counts of a test is its last outcome."""
    notes = list(notes)
    last = {note["test"]: note["outcome"] for note in notes}
    outcomes = list(last.values())
    return {
        "part": name,
        "date": notes[-1]["date"],
        "commit": notes[-1]["commit"],
        "kernels": sorted({kernel for note in notes for kernel in note["kernels"]}),
        **{outcome: outcomes.count(outcome) for outcome in ("passed", "failed", "skipped")},
        "wall_s": round(sum(note["wall_s"] for note in notes), 1),
        "cpu_s": round(sum(note["cpu_s"] for note in notes), 1),
        "failures": sorted(test for test, outcome in last.items() if outcome == "failed"),
    }


def _row(of: list[dict[str, Any]]) -> str:
    """The parts of a day and a commit."""
    failed = [f"`{test.rpartition('/')[2]}`" for one in of for test in one["failures"]]
    skipped = sum(one["skipped"] for one in of)
    cells = [
        of[0]["date"], of[0]["commit"], " ".join(one["part"] for one in of),
        sum(one["passed"] for one in of), sum(one["failed"] for one in of),
        f"{sum(one['cpu_s'] for one in of) / 60:.1f}",
        ", ".join([*failed, *[f"{skipped} skipped"] * bool(skipped)]).replace("|", r"\|"),
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |\n"


def read(docs: Path = DOCS) -> Iterator[dict[str, Any]]:
    """All records, by part."""
    for path in sorted((docs / "results" / "deep").glob("*.json")):
        yield json.loads(path.read_text())


def table(docs: Path = DOCS) -> str:
    """The page's table: a row for each day and commit."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in read(docs):
        rows.setdefault((one["date"], one["commit"]), []).append(one)
    return HEAD + "".join(_row(rows[key]) for key in sorted(rows))


def write_table(docs: Path = DOCS) -> None:
    """Put the table into the page."""
    page = docs / "reliability.md"
    pattern = re.compile(f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})", re.S)
    text, count = pattern.subn(lambda _: table(docs), page.read_text())
    assert count == 1, f"{page} has no place for the table"
    page.write_text(text)


def keep(kept: Iterable[dict[str, Any]], docs: Path = DOCS) -> None:
    """Write records, and the page's table."""
    folder = docs / "results" / "deep"
    folder.mkdir(parents=True, exist_ok=True)
    for one in kept:
        (folder / f"{one['part']}.json").write_text(json.dumps(one, indent=1) + "\n")
    write_table(docs)


if __name__ == "__main__":
    write_table()
