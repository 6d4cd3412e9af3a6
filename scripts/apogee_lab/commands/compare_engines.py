# SPDX-License-Identifier: GPL-2.0
"""`lab compare-engines`: whether two engines or kernels are equivalent in the same cells.

A cell is an algorithm with its settings; those that a record lacks have their defaults. Columns of
the lab's table are compared. A cell's difference of means has a 95 % interval after Welch:
t · √(s₁²/n₁ + s₂²/n₂), with the degrees of freedom of Welch and Satterthwaite rounded down. They
are equivalent if that interval lies within ± 5 % of the first mean, different if it lies outside;
else neither is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from statistics import mean, variance

from ..base import LabError, UsageError
from ..results.statistics import t_quantile
from ..results.table import columns
from ..results.text import NONE, Record, as_markdown, show
from ..runs import request
from ..scenarios import SCENARIOS
from ..scenarios.scenario import Column
from .chosen import records_of
from .options import Arguments, Parser

Cells = dict[str, list[Record]]

NEAR = 0.05  # equivalent: the difference is within this share of the mean
GOODPUT = "goodput Mbit/s"
HEADINGS = f"{GOODPUT},flow 1,flow 2"  # compared unless other columns are named
EQUIVALENT, DIFFERENT, NOT_SHOWN = "equivalent", "different", "not shown"


def settings_of(record: Record) -> dict[str, str]:
    """The settings of a record that have an effect, as text."""
    values, scenario = request.completed(record), SCENARIOS.get(record["scenario"])
    idle = scenario.idle(values) if scenario else ()
    return {key: show(value) for key, value in values.items() if key not in idle}


def cells(found: Iterable[Record]) -> Cells:
    """Records by scenario, algorithm, duration and settings, whatever the engine and kernel.

    LabError if a cell has two runs of one seed, by two engines or the same run twice: counted as
    independent runs they would make its interval too narrow.
    """
    out: Cells = {}
    for record in found:
        settings = sorted(settings_of(record).items())
        key = repr((record["scenario"], record["cc"], record["duration_s"], settings))
        cell = out.setdefault(key, [])
        if record["seed"] in {other["seed"] for other in cell}:
            raise LabError(
                f"a file has {record['cc']} with the same settings and seed {record['seed']} twice"
            )
        cell.append(record)
    return out


def welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Difference of the means (b - a) and half the width of its 95 % interval."""
    parts = [variance(values) / len(values) for values in (a, b)]
    total = sum(parts)
    if not total:
        return mean(b) - mean(a), 0.0
    freedom = 1 / sum(
        (part / total) ** 2 / (len(values) - 1) for part, values in zip(parts, (a, b), strict=True)
    )
    return mean(b) - mean(a), t_quantile(max(1, math.floor(freedom))) * math.sqrt(total)


def verdict(difference: float, half: float, base: float) -> str:
    """Whether a difference with its interval shows two means to be equivalent or different."""
    near = NEAR * abs(base)
    if abs(difference) + half <= near:
        return EQUIVALENT
    return DIFFERENT if abs(difference) - half > near else NOT_SHOWN


def _row(name: str, settings: Sequence[str], a: Sequence[float], b: Sequence[float]) -> list[str]:
    """The means of both files, their difference, its interval, and what that shows."""
    difference, half = welch(a, b)
    base = mean(a)
    return [
        name,
        *settings,
        f"{base:.3f}",
        f"{mean(b):.3f}",
        f"{difference:+.3f} ({f'{difference / base:+.1%}' if base else NONE})",
        f"± {half:.3f}",
        verdict(difference, half, base),
    ]


def chosen_columns(headings: str, records: Iterable[Record]) -> list[Column]:
    """Columns of the lab's table by their headings, which commas separate."""
    known = {column.heading: column for column in columns(records)}
    return [known[heading] for heading in separate(headings, known)]


def separate(headings: str, known: Collection[str]) -> list[str]:
    """The known headings that commas separate, each once; a heading may have a comma, too."""
    words, found = headings.split(","), []
    while words:
        ends = range(len(words), 0, -1)
        joined = {end: ",".join(words[:end]).strip() for end in ends}
        end = next((end for end in ends if joined[end] in known), None)
        if end is None:
            raise UsageError(f"no column '{joined[1]}'; choose from: {', '.join(known)}")
        found.append(joined[end])
        words = words[end:]
    return list(dict.fromkeys(found))


def varying(every: Sequence[dict[str, str]]) -> list[str]:
    """The settings that differ where they have an effect."""
    names = dict.fromkeys(name for settings in every for name in settings)
    return [name for name in names if len({of[name] for of in every if name in of}) > 1]


def table(left: Cells, right: Cells, headings: str = HEADINGS) -> list[list[str]]:
    """A row for each column of the cells that have two seeds or more in both files."""
    shared = [key for key in left if min(len(left[key]), len(right.get(key, []))) > 1]
    if not shared:
        raise LabError("the files have no cell in common with two seeds or more")
    engines = [side[shared[0]][0]["engine"] for side in (left, right)]
    compared = chosen_columns(headings, [left[key][0] for key in shared])
    every = {key: settings_of(left[key][0]) for key in shared}
    names = varying(list(every.values()))
    rows = [["cc", *names, *engines, "difference", "95 %", ""]]
    for key in shared:
        settings = [every[key].get(name, NONE) for name in names]
        for column in compared:
            a, b = ([column.value(record) for record in side[key]] for side in (left, right))
            if None not in [*a, *b]:
                cc = left[key][0]["cc"]
                name = cc if column.heading == GOODPUT else f"{cc}: {column.heading}"
                rows.append(_row(name, settings, a, b))
    return rows


def do_compare_engines(args: Arguments) -> int:
    """Print the table, and how many rows have which verdict."""
    left, right = (cells(records_of([path])) for path in (args.left, args.right))
    rows = table(left, right, args.columns)
    counts = Counter(row[-1] for row in rows[1:])
    said = ", ".join(f"{counts[word]} {word}" for word in (EQUIVALENT, DIFFERENT, NOT_SHOWN))
    print(f"{as_markdown(rows)}\n\n{len(rows) - 1} rows: {said}")
    return 0


def compare_engines_parser(parser: Parser) -> None:
    parser.add_argument("left", metavar="RECORDS", help="file of records of one engine or kernel")
    parser.add_argument("right", metavar="RECORDS", help="file of records of the other one")
    parser.add_argument(
        "--columns",
        metavar="A,B",
        default=HEADINGS,
        help="columns of the table to compare, by their headings: 'RTT ms,Jain' (goodput)",
    )
