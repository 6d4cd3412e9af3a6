# SPDX-License-Identifier: GPL-2.0
"""The table of docs/storms.md, and all that the records have."""

from __future__ import annotations

from itertools import product
from statistics import median

from apogee_lab.results.text import NONE, as_markdown
from tests.played import ALGORITHMS
from tests.played.books import Record, Records, grid
from tests.played.storms.storms import FEEDBACK, GROUPS, USUAL, Path


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


CELLS = {"recovery": _recovery, "repairs": _repairs}


def _path(path: Path) -> str:
    if path == USUAL:
        return ""
    return f"{path.kbps / 1000:g} Mbit/s, {2 * path.delay_ms} ms, {path.queue} packets"


def _said(group: str) -> str:
    """What each storm is."""
    rows = [["storm", "what happens", "path", "s"]]
    for name, storm in GROUPS[group].items():
        rows.append([f"`{name}`", storm.words, _path(storm.path), f"{storm.seconds:g}"])
    return as_markdown(rows, left=3) + "\n"


BACKOFF = ("storm", "algorithm", "window", "new", "again", "at, s", "back at, s", "window then",
           "in 10 ms", "in 1 s")  # fmt: skip


def _backoff(records: Records) -> str:
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


def summary(records: Records) -> dict[str, str]:
    """A row for each group of storms: of each algorithm the median share of the goodput that is
    kept, and the longest time until it is back (of those that are back before the stream ends)."""

    def cell(group: str, cc: str) -> str:
        found = [records[storm, cc] for storm in GROUPS[group]]
        share = median(r["storm_kbps"] / r["before_kbps"] for r in found)
        return f"{100 * share:.0f}, {max(map(back_ms, found)) / 1000:.1f}"

    return {"summary": grid("storms", [*GROUPS][:-1], ALGORITHMS, cell)}


def whole(records: Records) -> dict[str, str]:
    """Those of all groups."""
    found = {f"{group}-words": _said(group) for group in GROUPS}
    for group, kind in product([*GROUPS][:-1], CELLS):
        found[f"{group}-{kind}"] = grid(
            "storm", GROUPS[group], ALGORITHMS,
            lambda storm, cc, cell=CELLS[kind]: cell(records[storm, cc]),
        )  # fmt: skip
    return found | {"backoff": _backoff(records)}
