# SPDX-License-Identifier: GPL-2.0
"""`lab beside`: what a flow gets beside an algorithm, compared with one more of its own kind.

Reads records of satellite-shared with two flows: pairs of equal flows, and pairs whose second flow
is the other algorithm's. Both flows of an equal pair count as "beside its own kind".
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean

from ..base import LabError
from ..results.text import NONE, Record, as_markdown, cell, show
from .chosen import records_of
from .options import Arguments, Parser

#: The other flow's goodput in Mbit/s, by (its algorithm, bit error rate, queue), then by whom it
#: was beside.
Shares = dict[tuple[str, float, str], dict[str, list[float]]]
OWN = "its own kind"


def name(record: Record) -> str:
    """The first flow's algorithm, with its module's parameters where they are given."""
    first = record["flows"][0]["cc"]
    given = {k.partition(".")[2]: v for k, v in record["set"].items() if k.startswith(f"{first}.")}
    return " ".join([first, *(f"{key}={show(value)}" for key, value in sorted(given.items()))])


def shares(found: Iterable[Record]) -> Shares:
    """Goodput of the other flow, in Mbit/s, one value per run."""
    out: Shares = {}
    for record in found:
        if len(record["flows"]) != 2:
            raise LabError(f"run {record['run']} does not have two flows")
        first, other = record["flows"]
        key = (other["cc"], float(record["set"]["ber"]), str(record["set"]["queue"]))
        goodput = other["goodput_bps"]
        beside = name(record)
        if beside == other["cc"]:
            beside, goodput = OWN, mean(flow["goodput_bps"] for flow in (first, other))
        out.setdefault(key, {}).setdefault(beside, []).append(goodput / 1e6)
    return out


def table(found: Shares) -> list[list[str]]:
    """A row per other algorithm, bit error rate and queue; ratios are to "its own kind"."""
    besides = sorted({name for row in found.values() for name in row} - {OWN})
    rows = [["other", "ber", "queue", OWN, *(f"beside {name}" for name in besides)]]
    for (other, ber, queue), row in found.items():
        if OWN not in row or len(row) < 2:
            continue
        own = mean(row[OWN])
        cells = [
            f"{cell(row[name], 2)} ({mean(row[name]) / own:.2f})" if name in row else NONE
            for name in besides
        ]
        rows.append([other, show(ber), queue, cell(row[OWN], 2), *cells])
    if len(rows) == 1:
        raise LabError("no algorithm was measured both beside its own kind and beside another")
    return rows


def do_beside(args: Arguments) -> int:
    """Print the table."""
    print(as_markdown(table(shares(records_of(args.records)))))
    return 0


def beside_parser(parser: Parser) -> None:
    parser.add_argument(
        "records",
        nargs="+",
        metavar="RECORDS",
        help="file of records of satellite-shared with two flows",
    )
