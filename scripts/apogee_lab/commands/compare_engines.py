# SPDX-License-Identifier: GPL-2.0
"""`lab compare-engines`: whether two engines or kernels are equivalent in the same cells.

A cell is an algorithm with its settings. Its difference of mean goodputs has a 95 % interval after
Welch: t · √(s₁²/n₁ + s₂²/n₂), with the degrees of freedom of Welch and Satterthwaite rounded down.
They are equivalent if that interval lies within ± 5 % of the first mean, different if it lies
outside; else neither is shown. Cells of several flows have a row for their total and one for each
flow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean, variance

from ..base import LabError
from ..results.statistics import t_quantile
from ..results.text import Record, as_markdown, show
from .chosen import records_of
from .options import Arguments, Parser

Cells = dict[str, list[Record]]

NEAR = 0.05  # equivalent: the difference is within this share of the mean
EQUIVALENT, DIFFERENT, NOT_SHOWN = "equivalent", "different", "not shown"


def cells(found: Iterable[Record]) -> Cells:
    """Records by scenario, algorithm, duration and settings, whatever the engine and kernel."""
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
    """Goodputs in Mbit/s: the total by the mix's name, and that of each of several flows."""
    mix, flows = found[0]["cc"], found[0]["flows"]
    out = {mix: [record["total_goodput_bps"] / 1e6 for record in found]}
    for n, flow in enumerate(flows if len(flows) > 1 else []):
        out[f"{mix}: {flow['name']}"] = [r["flows"][n]["goodput_bps"] / 1e6 for r in found]
    return out


def verdict(difference: float, half: float, base: float) -> str:
    """Whether a difference with its interval shows two means to be equivalent or different."""
    if abs(difference) + half <= NEAR * base:
        return EQUIVALENT
    return DIFFERENT if abs(difference) - half > NEAR * base else NOT_SHOWN


def _row(name: str, a: Sequence[float], b: Sequence[float], settings: Record) -> list[str]:
    """The means of both files, their difference, its interval, and what that shows."""
    difference, half = welch(a, b)
    return [
        name,
        str(settings.get("window")),
        show(settings.get("ber")),
        f"{mean(a):.3f}",
        f"{mean(b):.3f}",
        f"{difference:+.3f} ({difference / mean(a):+.1%})",
        f"± {half:.3f}",
        verdict(difference, half, mean(a)),
    ]


def table(left: Cells, right: Cells) -> list[list[str]]:
    """A row for each goodput of the cells that have two seeds or more in both files."""
    shared = [key for key in left if min(len(left[key]), len(right.get(key, []))) > 1]
    if not shared:
        raise LabError("the files have no cell in common with two seeds or more")
    names = [side[shared[0]][0]["engine"] for side in (left, right)]
    rows = [["cc", "window", "ber", *names, "difference", "95 %", ""]]
    for key in shared:
        settings = left[key][0]["set"]
        pairs = zip(goodputs(left[key]).items(), goodputs(right[key]).values(), strict=True)
        rows += [_row(name, a, b, settings) for (name, a), b in pairs]
    return rows


def do_compare_engines(args: Arguments) -> int:
    """Print the table, and how many rows have which verdict."""
    rows = table(*(cells(records_of([path])) for path in (args.left, args.right)))
    counts = Counter(row[-1] for row in rows[1:])
    said = ", ".join(f"{counts[word]} {word}" for word in (EQUIVALENT, DIFFERENT, NOT_SHOWN))
    print(f"{as_markdown(rows)}\n\n{len(rows) - 1} rows: {said}")
    return 0


def compare_engines_parser(parser: Parser) -> None:
    parser.add_argument("left", metavar="RECORDS", help="file of records of one engine or kernel")
    parser.add_argument("right", metavar="RECORDS", help="file of records of the other one")
