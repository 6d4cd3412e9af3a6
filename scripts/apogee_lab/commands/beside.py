# SPDX-License-Identifier: GPL-2.0
"""What others get beside an algorithm, compared with sharing with one more of their own kind.

    cd scripts && /usr/bin/python3 -m apogee_lab.sharing RECORDS.jsonl...

Reads records of satellite-shared with two flows: pairs of equals, and pairs whose second flow is
the other. Both flows of a pair of equals count as "beside its own kind". Goodput in Mbit/s.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

from ..base import LabError
from ..measures.record import read_records
from ..results.text import Record, as_markdown, cell, show

#: What the others get, by (other, bit error rate, queue), then by whom it was beside.
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
            raise LabError(f"run {record['run']} has not two flows")
        first, other = record["flows"]
        key = (other["cc"], float(record["set"]["ber"]), str(record["set"]["queue"]))
        goodput = other["goodput_bps"]
        beside = name(record)
        if beside == other["cc"]:
            beside, goodput = OWN, mean(flow["goodput_bps"] for flow in (first, other))
        out.setdefault(key, {}).setdefault(beside, []).append(goodput / 1e6)
    return out


def table(found: Shares) -> list[list[str]]:
    """A row per other, bit error rate and queue; ratios are to "beside its own kind"."""
    besides = sorted({name for row in found.values() for name in row} - {OWN})
    rows = [["other", "ber", "queue", OWN, *(f"beside {name}" for name in besides)]]
    for (other, ber, queue), row in found.items():
        if OWN not in row or len(row) < 2:
            continue
        own = mean(row[OWN])
        cells = [
            f"{cell(row[name], 2)} ({mean(row[name]) / own:.2f})" if name in row else "–"
            for name in besides
        ]
        rows.append([other, show(ber), queue, cell(row[OWN], 2), *cells])
    if len(rows) == 1:
        raise LabError("no other was measured both beside its own kind and beside something else")
    return rows


def main() -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(description="what others get beside an algorithm")
    parser.add_argument("files", nargs="+", type=Path, help="records of satellite-shared")
    options = parser.parse_args()
    try:
        found = [record for path in options.files for record in read_records(path)]
        print(as_markdown(table(shares(found))))
    except LabError as error:
        print(f"sharing: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
