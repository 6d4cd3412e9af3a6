# SPDX-License-Identifier: GPL-2.0
"""Whether two files of records agree: the same cells, measured by two engines or kernels.

    cd scripts && /usr/bin/python3 -m apogee_lab.agree QEMU.jsonl UML.jsonl

A cell is an algorithm with its settings. Its difference of mean goodputs has a 95 % interval after
Welch: t · √(s₁²/n₁ + s₂²/n₂), with the degrees of freedom of Welch and Satterthwaite rounded down.
Where nothing is random the interval is next to zero, and the difference itself tells. Cells of
several flows have a row for their total and one for each flow.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, variance

from ..base import LabError
from ..measures.record import read_records
from ..results.statistics import t_quantile
from ..results.text import Record, show

Cells = dict[str, list[Record]]


def cells(found: Iterable[Record]) -> Cells:
    """Records by what was run, whatever ran it."""
    out: Cells = {}
    for record in found:
        settings = {key: show(value) for key, value in record["set"].items()}
        key = repr(
            (record["scenario"], record["cc"], record["duration_s"], sorted(settings.items()))
        )
        out.setdefault(key, []).append(record)
    return out


def welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Difference of the means (b - a) and half the width of its 95 % interval."""
    parts = [variance(values) / len(values) for values in (a, b)]
    total = sum(parts)
    if not total:
        return mean(b) - mean(a), 0.0
    freedom = total**2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (a, b), strict=True)
    )
    return mean(b) - mean(a), t_quantile(max(1, math.floor(freedom))) * math.sqrt(total)


def goodputs(found: Sequence[Record]) -> dict[str, list[float]]:
    """What is compared, in Mbit/s: the total by the mix's name, and each of several flows."""
    mix, flows = found[0]["cc"], found[0]["flows"]
    out = {mix: [record["total_goodput_bps"] / 1e6 for record in found]}
    for n, flow in enumerate(flows if len(flows) > 1 else []):
        out[f"{mix}: {flow['name']}"] = [r["flows"][n]["goodput_bps"] / 1e6 for r in found]
    return out


def lines(left: Cells, right: Cells) -> list[str]:
    """A Markdown table of the cells that both have with two seeds or more."""
    shared = [key for key in left if min(len(left[key]), len(right.get(key, []))) > 1]
    if not shared:
        raise LabError("the files have no cell in common with two seeds or more")
    names = [{record["engine"] for record in side[shared[0]]}.pop() for side in (left, right)]
    out = [
        f"| cc | window | ber | {names[0]} | {names[1]} | difference | 95 % | |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    outside = []
    for key in shared:
        settings = left[key][0]["set"]
        for (name, a), b in zip(
            goodputs(left[key]).items(), goodputs(right[key]).values(), strict=True
        ):
            difference, half = welch(a, b)
            outside.append(abs(difference) > half)
            out.append(
                f"| {name} | {settings.get('window')} | {show(settings.get('ber'))} "
                f"| {mean(a):.3f} | {mean(b):.3f} "
                f"| {difference:+.3f} ({difference / mean(a):+.1%}) | ± {half:.3f} "
                f"| {'outside' if outside[-1] else ''} |"
            )
    return [*out, "", f"{sum(outside)} of {len(outside)} rows outside their 95 % interval"]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("left", type=Path)
    parser.add_argument("right", type=Path)
    options = parser.parse_args()
    try:
        found = [cells(read_records(path)) for path in (options.left, options.right)]
        print("\n".join(lines(*found)))
    except LabError as error:
        print(f"agree: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
