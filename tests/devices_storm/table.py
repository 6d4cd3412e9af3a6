# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/storms-devices.md from its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from apogee_lab.results.text import as_markdown
from tests import ROOT
from tests.devices_storm.bounds import Record, both, grown, lost
from tests.devices_storm.silence import EDGES, SILENCES
from tests.devices_storm.storms import EACH, STORMS, STREAM, WITH_EACH

RECORDS = ROOT / "docs" / "results" / "records" / "storms-devices.jsonl"
PAGE = ROOT / "docs" / "storms-devices.md"

Cell = Callable[[Record], str]


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _again(record: Record) -> str:
    near = record["near"]
    return f"{100 * near.get('sd_again', 0) / max(near.get('sd_sent', 0), 1):.0f}"


#: Columns of both devices, and of each.
COMMON: dict[str, Cell] = {
    "kbit/s": lambda r: f"{r['storm_bps'] / 1000:.0f}",
    "first s": lambda r: _seconds(r["first_s"]),
    "back s": lambda r: _seconds(r["back_s"]),
    "datagrams lost": lambda r: str(lost(r)),
    "memory kB": lambda r: str(r["memory_kb"]),
}
OWN: dict[str, dict[str, Cell]] = {
    "sscop": {
        "SDs again %": _again,
        "resets": lambda r: str(grown(r, "near", "resets")),
    },
    "shake": {
        "copies": lambda r: str(r["near"].get("repair_sent", 0)),
        "deaths": lambda r: str(both(r, "path_died")),
        "sessions": lambda r: str(grown(r, "near", "registered")),
    },
}


def storms(records: Sequence[Record], device: str) -> str:
    """A row for each storm."""
    columns = COMMON | OWN[device]
    rows = [["storm", "what happens", *columns]]
    for record in records:
        if record["device"] == device and record.get("cc") == STREAM:
            name = record["storm"]
            said = STORMS[device][name].said
            rows.append([f"`{name}`", said, *(cell(record) for cell in columns.values())])
    return as_markdown(rows, left=2) + "\n"


def each(records: Sequence[Record]) -> str:
    """A row for each device and storm, a column for each algorithm."""
    known = {(r["device"], r["storm"], r["cc"]): r for r in records if "storm" in r}
    columns = (STREAM, *EACH)
    rows = [["device", "storm", *columns]]
    for device in STORMS:
        for name in WITH_EACH:
            found = [known[device, name, cc] for cc in columns]
            cells = (f"{r['storm_bps'] / 1000:.0f} / {_seconds(r['back_s'])}" for r in found)
            rows.append([f"`{device}`", f"`{name}`", *cells])
    return as_markdown(rows, left=2) + "\n"


def silences(records: Sequence[Record]) -> str:
    """Frames per second of the end that hears nothing."""
    spans = list(pairwise((0, *EDGES)))
    rows = [["device", "silence", "what there is", *(f"{a}–{b} s" for a, b in spans)]]
    for record in records:
        if "silence" not in record:
            continue
        device, name = record["device"], record["silence"]
        rates = (n / (b - a) for n, (a, b) in zip(record["frames"], spans, strict=True))
        rows.append([f"`{device}`", f"`{name}`", SILENCES[device][name].said,
                     *(f"{rate:.1f}" for rate in rates)])  # fmt: skip
    return as_markdown(rows, left=3) + "\n"


def _put(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


def written(page: str, records: Sequence[Record]) -> str:
    """The page with its tables anew."""
    for device in STORMS:
        page = _put(page, device, storms(records, device))
    page = _put(page, "each", each(records))
    return _put(page, "silences", silences(records))


def write(page: Path, records: Sequence[Record]) -> None:
    """Put the tables into the page."""
    page.write_text(written(page.read_text(), records))
