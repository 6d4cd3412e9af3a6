# SPDX-License-Identifier: GPL-2.0
"""`lab paths`: algorithms side by side, a row for each path, a column for each algorithm.

A cell is the goodput in Mbit/s with its 95 % interval, and the mean number of frames that the
bottleneck dropped. A path is what differs between the records beside seed and algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import mean
from typing import Any

from .. import units
from ..results.text import NONE, Record, as_markdown, cell, show
from .chosen import filtered, records_of
from .options import Arguments, Parser, _add_filter, scenario_of

#: Records by path, then by algorithm.
Paths = dict[str, dict[str, list[Record]]]


def name(record: Record, usual: Mapping[str, Any]) -> str:
    """The scenario and those of its settings that are not the usual ones."""
    own = {k: v for k, v in record["set"].items() if usual.get(k) != v}
    words = [f"{key}={show(value)}" for key, value in own.items()]
    return f"{record['scenario']} " + (" ".join(words) or "(default)")


def paths(found: Iterable[Record]) -> Paths:
    """The records by path and algorithm, in order of appearance."""
    every = list(found)
    common = set.intersection(*({(k, show(v)) for k, v in r["set"].items()} for r in every))
    out: Paths = {}
    for record in every:
        usual = _defaults(record) | {
            k: v for k, v in record["set"].items() if (k, show(v)) in common
        }
        out.setdefault(name(record, usual), {}).setdefault(record["cc"], []).append(record)
    return out


def _defaults(record: Record) -> dict[str, Any]:
    """The scenario's defaults as a record has them."""
    params = scenario_of(record["scenario"]).params
    return {p.name: units.for_record(p.kind, p.default) for p in params}


def table(found: Paths) -> list[list[str]]:
    """A row per path: goodput and drops of each algorithm, a dash where there is no run."""
    algorithms = list(dict.fromkeys(cc for row in found.values() for cc in row))
    rows = [["path", *algorithms]]
    for path, row in found.items():
        rows.append([path, *(_cell(row[cc]) if cc in row else NONE for cc in algorithms)])
    return rows


def _cell(runs: list[Record]) -> str:
    goodput = cell([run["total_goodput_bps"] / 1e6 for run in runs], 2)
    return f"{goodput}, {mean(run['queue']['drops'] for run in runs):.0f}"


def do_paths(args: Arguments) -> int:
    """Print the table."""
    print(as_markdown(table(paths(filtered(records_of(args.records), args)))))
    return 0


def paths_parser(parser: Parser) -> None:
    _add_filter(parser, "one flow or of equal flows")
