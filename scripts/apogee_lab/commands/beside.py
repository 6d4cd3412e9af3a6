# SPDX-License-Identifier: GPL-2.0
"""`lab beside`: what a flow gets beside an algorithm, compared with one more of its own kind.

Reads records of satellite-shared with two flows: pairs of equal flows, and pairs whose second flow
is the other algorithm's. Both flows of an equal pair count as "beside its own kind". Ratios have
the interval of runs of the same seeds. A second table has what the first flow keeps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from ..base import LabError
from ..results.statistics import UNBOUNDED, ratio_of
from ..results.text import NONE, Record, as_markdown, cell, show
from .chosen import filtered, records_of
from .options import Arguments, Parser, _add_filter

OWN = "its own kind"


@dataclass(frozen=True)
class Pair:
    """Goodput of both flows of a run, in Mbit/s."""

    first: float
    other: float


#: Runs by seed, by whom the other flow was beside, by (its algorithm, bit error rate, queue).
Shares = dict[tuple[str, float, str], dict[str, dict[int, Pair]]]


def name(record: Record) -> str:
    """The first flow's algorithm, with its module's parameters where they are given."""
    first = record["flows"][0]["cc"]
    given = {k.partition(".")[2]: v for k, v in record["set"].items() if k.startswith(f"{first}.")}
    return " ".join([first, *(f"{key}={show(value)}" for key, value in sorted(given.items()))])


def shares(found: Iterable[Record]) -> Shares:
    """The runs; of an equal pair each flow has the mean of both."""
    out: Shares = {}
    for record in found:
        if len(record["flows"]) != 2:
            raise LabError(f"run {record['run']} does not have two flows")
        first, other = record["flows"]
        key = (other["cc"], float(record["set"]["ber"]), str(record["set"]["queue"]))
        pair = Pair(*(flow["goodput_bps"] / 1e6 for flow in (first, other)))
        beside = name(record)
        if beside == other["cc"]:
            mean = fmean((pair.first, pair.other))
            beside, pair = OWN, Pair(mean, mean)
        runs = out.setdefault(key, {}).setdefault(beside, {})
        if record["seed"] in runs:
            raise LabError(f"{record['cc']} with the same settings and seed {record['seed']} twice")
        runs[record["seed"]] = pair
    return out


def _ratio(runs: dict[int, Pair], own: dict[int, Pair]) -> str:
    """What the other flow gets over what it gets beside its own kind, in runs of the same seeds."""
    seeds = [seed for seed in runs if seed in own]
    if not seeds:
        return NONE
    found = ratio_of(*([side[seed].other for seed in seeds] for side in (runs, own)))
    bounds = found.bounds
    if bounds is None or bounds == UNBOUNDED:
        return f"{found.value:.2f}"
    return f"{found.value:.2f}, {bounds[0]:.2f} to {bounds[1]:.2f}"


def _others(runs: dict[int, Pair]) -> str:
    return cell([pair.other for pair in runs.values()], 2)


def _rows(found: Shares) -> list[tuple[list[str], dict[str, dict[int, Pair]]]]:
    """The first cells of each row, and its runs: those that can be compared."""
    rows = [
        ([other, show(ber), queue], row)
        for (other, ber, queue), row in found.items()
        if OWN in row and len(row) > 1
    ]
    if not rows:
        raise LabError("no algorithm was measured both beside its own kind and beside another")
    return rows


def _besides(found: Shares) -> list[str]:
    return sorted({name for row in found.values() for name in row} - {OWN})


def table(found: Shares) -> list[list[str]]:
    """A row per other algorithm, bit error rate and queue; ratios are to "its own kind"."""
    besides = _besides(found)
    rows = [["other", "ber", "queue", OWN, *(f"beside {name}" for name in besides)]]
    for place, row in _rows(found):
        cells = [
            f"{_others(row[name])} ({_ratio(row[name], row[OWN])})" if name in row else NONE
            for name in besides
        ]
        rows.append([*place, _others(row[OWN]), *cells])
    return rows


def first_flows(found: Shares) -> list[list[str]]:
    """The same rows with the goodput of the first flow."""
    besides = _besides(found)
    rows = [["other", "ber", "queue", *besides]]
    for place, row in _rows(found):
        runs = [row.get(name, {}) for name in besides]
        rows.append([*place, *(cell([pair.first for pair in each.values()], 2) for each in runs)])
    return rows


def do_beside(args: Arguments) -> int:
    """Print both tables."""
    found = shares(filtered(records_of(args.records), args))
    print(f"The other flow:\n\n{as_markdown(table(found))}\n")
    print(f"The flow beside it:\n\n{as_markdown(first_flows(found))}")
    return 0


def beside_parser(parser: Parser) -> None:
    _add_filter(parser, "satellite-shared with two flows")
