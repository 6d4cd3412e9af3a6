# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/storms-devices.md, and all that the records have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

from apogee_lab.results.text import as_markdown
from tests.played.books import Record, Records
from tests.played.devices.bounds import both, grown, lost
from tests.played.devices.silence import EDGES, SILENCES
from tests.played.devices.storms import EACH, STORMS, STREAM, WITH_EACH

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
    "sscop": {"SDs again %": _again, "resets": lambda r: str(grown(r, "near", "resets"))},
    "shake": {
        "copies": lambda r: str(r["near"].get("repair_sent", 0)),
        "deaths": lambda r: str(both(r, "path_died")),
        "sessions": lambda r: str(grown(r, "near", "registered")),
    },
}


def _storms(records: Records, device: str) -> str:
    """A row for each storm."""
    columns = COMMON | OWN[device]
    rows = [["storm", "what happens", *columns]]
    for name, storm in STORMS[device].items():
        cells = (cell(records[device, name, STREAM]) for cell in columns.values())
        rows.append([f"`{name}`", storm.said, *cells])
    return as_markdown(rows, left=2) + "\n"


def _each(records: Records) -> str:
    """A row for each device and storm, a column for each algorithm."""
    columns = (STREAM, *EACH)
    rows = [["device", "storm", *columns]]
    for device, name in product(STORMS, WITH_EACH):
        found = (records[device, name, cc] for cc in columns)
        cells = (f"{r['storm_bps'] / 1000:.0f} / {_seconds(r['back_s'])}" for r in found)
        rows.append([f"`{device}`", f"`{name}`", *cells])
    return as_markdown(rows, left=2) + "\n"


def _silences(records: Records) -> str:
    """Frames per second of the end that hears nothing."""
    spans = list(pairwise((0, *EDGES)))
    rows = [["device", "silence", "what there is", *(f"{a}–{b} s" for a, b in spans)]]
    for device, cases in SILENCES.items():
        for name, case in cases.items():
            frames = records[device, name]["frames"]
            rates = (n / (b - a) for n, (a, b) in zip(frames, spans, strict=True))
            cells = (f"{rate:.1f}" for rate in rates)
            rows.append([f"`{device}`", f"`{name}`", case.said, *cells])
    return as_markdown(rows, left=3) + "\n"


#: Goodput that is back later than this is in the page, s.
LATE_S = 1.0


def _worst(records: Records) -> str:
    """Storms after which goodput is late, or in which sscop lost datagrams."""
    columns = {name: COMMON[name] for name in ("kbit/s", "back s", "datagrams lost")}
    rows = [["device", "storm", *columns]]
    for device, storms in STORMS.items():
        for name in storms:
            record = records[device, name, STREAM]
            late = record["back_s"] is None or record["back_s"] > LATE_S
            if late or (device == "sscop" and lost(record)):
                cells = (cell(record) for cell in columns.values())
                rows.append([f"`{device}`", f"`{name}`", *cells])
    return as_markdown(rows, left=2) + "\n"


def summary(records: Records) -> dict[str, str]:
    """What stands out among storms with CUBIC, and all silences."""
    return {"worst": _worst(records), "silences": _silences(records)}


def whole(records: Records) -> dict[str, str]:
    """Those of all devices."""
    found = {device: _storms(records, device) for device in STORMS}
    return found | {"each": _each(records), "silences": _silences(records)}
