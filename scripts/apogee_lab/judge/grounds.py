# SPDX-License-Identifier: GPL-2.0
"""Goodput on testbeds of papers and on random paths of the atlas: figures without thresholds."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atlas import space
from ..results.statistics import mean_of
from .run import Run, command_of

FILE = Path(__file__).with_name("grounds.toml")


@dataclass(frozen=True)
class Ground:
    """A path: its name, and the run on it of an algorithm with each of the seeds."""

    name: str
    run: Run
    seeds: tuple[int, ...]

    def of(self, cc: str) -> Run:
        """An algorithm's run."""
        return Run(self.run.scenario, cc, self.run.settings, self.run.duration_s)


@dataclass(frozen=True)
class Grounds:
    """All of them, with what stands above."""

    title: str
    note: str
    rows: tuple[Ground, ...]

    def runs(self, ccs: Sequence[str]) -> list[tuple[Run, int]]:
        """All runs with their seeds."""
        return [(row.of(cc), seed) for row in self.rows for cc in ccs for seed in row.seeds]


def _settings(table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in table.items())


def _random(table: Mapping[str, Any], quick: bool) -> list[Ground]:
    """The first paths of a space of the atlas that need no file."""
    found, number, drawn = [], 0, space.read(table["space"])
    while len(found) < table["paths"]:
        number += 1
        path = drawn.path(table["seed"], number)
        if any("/" in value for value in path.settings.values()):
            continue
        rate, rtt_ms = path.drawn["rate"] / 1e6, 1000 * path.drawn["rtt"]
        name = f"random {number}: {rate:.2g} Mbit/s, {rtt_ms:.2g} ms"
        run = Run(path.scenario, "", _settings(path.settings), drawn.duration_s)
        found.append(Ground(name, run, (path.seed,)))
    return found[: 2 if quick else None]


def read(quick: bool = False, file: Path = FILE) -> Grounds:
    """The grounds of their file; ``quick``: one seed and few random paths."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    seeds = tuple(range(1, (1 if quick else table["seeds"]) + 1))
    rows = [
        Ground(
            case["name"],
            Run(case["scenario"], "", _settings(case["set"]), float(case["duration"])),
            seeds,
        )
        for case in table["case"]
    ]
    rows += _random(table["atlas"], quick)
    return Grounds(table["title"], " ".join(table["note"].split()), tuple(rows))


def filled(
    grounds: Grounds, ccs: Sequence[str], records: Mapping[tuple[Run, int], Any], on: Sequence[str]
) -> dict[str, Any]:
    """The grounds with the goodput of the records, for a card."""
    rows = []
    for row in grounds.rows:
        found = {cc: [records.get((row.of(cc), seed)) for seed in row.seeds] for cc in ccs}
        rows.append(
            {
                "name": row.name,
                "limit": _limit([record for each in found.values() for record in each if record]),
                "values": {cc: _value(each) for cc, each in found.items()},
                "commands": [command_of(row.of(",".join(ccs)), row.seeds, on)],
            }
        )
    return {"title": grounds.title, "note": grounds.note, "rows": rows}


def _bps(record: Mapping[str, Any]) -> float:
    """Goodput of all flows, or of the algorithm's where others are beside them."""
    return record.get("groups", {}).get("fast", {}).get("goodput_bps", record["total_goodput_bps"])


def _limit(records: Sequence[Mapping[str, Any]]) -> float | None:
    """What the path allows; None where the record's limit is none, as of a WLAN's collisions."""
    limit = max((record["limit_bps"] for record in records), default=0)
    return _mbit(limit) if limit and all(_bps(record) <= limit for record in records) else None


def _value(records: Sequence[Any]) -> dict[str, Any]:
    """Mean and interval; null if a run failed."""
    if None in records:
        return {"value": None, "low": None, "high": None}
    found = mean_of([_bps(record) for record in records])
    low, high = found.bounds or (None, None)
    return {"value": _mbit(found.value), "low": _mbit(low), "high": _mbit(high)}


def _mbit(bps: float | None) -> float | None:
    return None if bps is None else float(f"{bps / 1e6:.3g}")


def table(grounds: Mapping[str, Any], ccs: Sequence[str]) -> list[list[str]]:
    """A row for each path."""
    return [["path", "limit", *ccs]] + [
        [row["name"], _shown(row["limit"]), *(_cell(row["values"][cc]) for cc in ccs)]
        for row in grounds["rows"]
    ]


def _shown(number: float | None) -> str:
    return "–" if number is None else f"{number:.3g}"


def _cell(value: Mapping[str, Any]) -> str:
    if value["value"] is None:
        return "failed"
    if value["low"] is None or value["low"] == value["high"]:
        return _shown(value["value"])
    return f"{_shown(value['value'])} ± {_shown((value['high'] - value['low']) / 2)}"
