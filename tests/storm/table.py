# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/storms.md from its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from apogee_lab.results.text import NONE, as_markdown
from tests import ROOT
from tests.hostile.table import put
from tests.storm.storms import ALGORITHMS, FEEDBACK, GROUPS, USUAL
from tests.storm.storms import Path as Way

RECORDS = ROOT / "docs" / "results" / "records" / "storms.jsonl"
PAGE = ROOT / "docs" / "storms.md"

Record = Mapping[str, Any]
Key = tuple[str, str]  # storm, algorithm
Records = Mapping[Key, Record]


def by_key(records: Iterable[Record]) -> dict[Key, Record]:
    """Records by storm and algorithm."""
    return {(r["storm"], r["cc"]): r for r in records}


def back_ms(record: Record) -> int:
    """From the first new data after the storm until the goodput of before is back; -1: never."""
    back = record["back_ms"]
    return back if back < 0 else max(back - record["resumed_ms"], 0)


def _recovery(record: Record) -> str:
    back = NONE if back_ms(record) < 0 else f"{back_ms(record) / 1000:.1f}"
    share = record["storm_kbps"] / record["before_kbps"]
    return f"{share:.0%} / {record['resumed_ms'] / 1000:.1f} / {back}"


def _repairs(record: Record) -> str:
    share = record["retransmissions"] / record["segments"]
    return f"{share:.1%} / {record['TCPTimeouts']} / {record['cwnd_least']}–{record['cwnd_most']}"


CELLS: dict[str, Callable[[Record], str]] = {"recovery": _recovery, "repairs": _repairs}


def table(records: Records, group: str, kind: str) -> str:
    """A row for each storm, a column for each algorithm."""
    rows = [["storm", *ALGORITHMS]]
    for storm in GROUPS[group]:
        rows.append([f"`{storm}`", *(CELLS[kind](records[storm, cc]) for cc in ALGORITHMS)])
    return as_markdown(rows) + "\n"


def _path(path: Way) -> str:
    if path == USUAL:
        return ""
    return f"{path.kbps / 1000:g} Mbit/s, {2 * path.delay_ms} ms, {path.queue} packets"


def said(group: str) -> str:
    """What each storm is."""
    rows = [["storm", "what happens", "path", "s"]]
    for name, storm in GROUPS[group].items():
        rows.append([f"`{name}`", storm.words, _path(storm.path), f"{storm.seconds:g}"])
    return as_markdown(rows, left=3) + "\n"


BACKOFF = ("storm", "algorithm", "window", "new", "again", "at, s", "back at, s", "window then",
           "in 10 ms", "in 1 s")  # fmt: skip


def backoff_table(records: Records) -> str:
    """A row for each loss of feedback and algorithm."""
    rows = [list(BACKOFF)]
    for storm in FEEDBACK:
        for cc in ALGORITHMS:
            r = records[storm, cc]
            at = " ".join(f"{ms / 1000:.1f}" for ms in r["again"])
            back = f"{r['back_after_ms'] / 1000:.1f}"
            cells = (r["cwnd_begin"], r["new"], len(r["again"]), at, back, r["cwnd_back"])
            rows.append([f"`{storm}`", cc, *map(str, (*cells, r["burst"], r["first_second"]))])
    return as_markdown(rows, left=2) + "\n"


def written(page: str, records: Records) -> str:
    """The page with its tables anew."""
    for group in GROUPS:
        page = put(page, f"{group}-words", said(group))
        for kind in CELLS if group != "feedback" else ():
            page = put(page, f"{group}-{kind}", table(records, group, kind))
    return put(page, "backoff", backoff_table(records))


def write(page: Path, records: Records) -> None:
    """Put the tables into the page."""
    page.write_text(written(page.read_text(), records))
