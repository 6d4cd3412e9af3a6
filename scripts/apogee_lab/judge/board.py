# SPDX-License-Identifier: GPL-2.0
"""The GEO scoreboard: how long algorithms take for a file over satellites, beside what the links
allow and what others have published."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..results.statistics import mean_of
from .measures import FRAME_BITS, SEGMENT, rate_bps
from .run import Run, command_of

FILE = Path(__file__).with_name("geo.toml")


@dataclass(frozen=True)
class Row:
    """A link: its name, settings, share of lost frames, published times (s) by their source."""

    name: str
    settings: tuple[str, ...]
    rate_bps: float
    loss: float
    published: Mapping[str, float]


@dataclass(frozen=True)
class Board:
    """The board as its file has it."""

    title: str
    note: str
    scenario: str
    bytes: int
    duration_s: float
    seeds: tuple[int, ...]
    rtt_s: float
    rows: tuple[Row, ...]

    def run(self, row: Row, cc: str) -> Run:
        """An algorithm's run on a link."""
        return Run(self.scenario, cc, row.settings, self.duration_s)

    def runs(self, ccs: Sequence[str]) -> list[tuple[Run, int]]:
        """All runs with their seeds."""
        return [(self.run(row, cc), seed) for row in self.rows for cc in ccs for seed in self.seeds]

    def link_s(self, row: Row) -> float:
        """What the link itself allows: a handshake's round trip and half of one for the last byte,
        and the frames' time; of what is lost as much is sent again."""
        frames = -(-self.bytes // SEGMENT) / (1 - row.loss)
        return 1.5 * self.rtt_s + frames * FRAME_BITS / row.rate_bps


def read(quick: bool = False, file: Path = FILE) -> Board:
    """The board of its file; ``quick``: with one seed."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    rows = []
    for case in table["case"]:
        settings = table["set"] | case["set"]
        texts = tuple(f"{key}={value}" for key, value in settings.items())
        loss, published = case.get("loss", 0.0), case.get("published", {})
        rows.append(Row(case["name"], texts, rate_bps(settings["rate"]), loss, published))
    return Board(
        title=table["title"],
        note=" ".join(table["note"].split()),
        scenario=table["scenario"],
        bytes=table["bytes"],
        duration_s=float(table["duration"]),
        seeds=tuple(range(1, (1 if quick else table["seeds"]) + 1)),
        rtt_s=0.6,
        rows=tuple(rows),
    )


def filled(
    board: Board, ccs: Sequence[str], records: Mapping[tuple[Run, int], Any], on: Sequence[str]
) -> dict[str, Any]:
    """The board with the times of the records, for a card."""
    return {
        "title": board.title,
        "note": board.note,
        "within_s": board.duration_s,
        "rows": [
            {
                "name": row.name,
                "link_s": round(board.link_s(row), 1),
                "published": dict(row.published),
                "times": {
                    cc: _times([records.get((board.run(row, cc), seed)) for seed in board.seeds])
                    for cc in ccs
                },
                "commands": [command_of(board.run(row, ",".join(ccs)), board.seeds, on)],
            }
            for row in board.rows
        ],
    }


def _times(records: Sequence[Any]) -> dict[str, Any]:
    """Mean and interval of an algorithm's times; null if it did not finish with each seed."""
    times = [record and record.get("whole_s") for record in records]
    if None in times:
        failed = any(record is None for record in records)
        return {"s": None, "low": None, "high": None, "why": "failed" if failed else "not in time"}
    found = mean_of(times)
    low, high = found.bounds or (None, None)
    return {"s": _tenths(found.value), "low": _tenths(low), "high": _tenths(high), "why": ""}


def _tenths(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def table(board: Mapping[str, Any], ccs: Sequence[str]) -> list[list[str]]:
    """The board's table: a row for each link."""
    found = [["link", "the link itself", *ccs, "QUIC stacks, elsewhere"]]
    for row in board["rows"]:
        published = "; ".join(f"{name} {_number(s)}" for name, s in row["published"].items())
        times = [_time(row["times"][cc], board["within_s"]) for cc in ccs]
        found.append([row["name"], _number(row["link_s"]), *times, published or "–"])
    return found


def _number(seconds: float) -> str:
    return f"{seconds:.1f}".removesuffix(".0")


def _time(time: Mapping[str, Any], within_s: float) -> str:
    if time["s"] is None:
        return f"> {within_s:g}" if time["why"] == "not in time" else time["why"]
    if time["low"] is None or time["high"] - time["low"] < 0.2:
        return f"{time['s']:.1f}"
    return f"{time['s']:.1f} ± {(time['high'] - time['low']) / 2:.1f}"
