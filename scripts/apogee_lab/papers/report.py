# SPDX-License-Identifier: GPL-2.0
"""The table: each claim of a paper beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..results.text import NONE, as_markdown
from .catalogue import Choice
from .claims import NotMeasured, Results
from .figure import Claim
from .variants import label

HEADING = ("figure", "the paper's claim", "ours, 95 % interval", "holds", "why")
UNKNOWN = "not known"
ONE_SEED = "one seed"

Row = dict[str, Any]


def _row(choice: Choice, claim: Claim, variant: str, results: Results) -> Row:
    row: Row = {"figure": choice.figure.name, "claim": claim.text, "variant": variant}
    try:
        verdict = claim.check(results)
    except NotMeasured as missing:
        return row | {"ours": f"not measured: {missing}", "holds": NONE, "why": NONE}
    why = NONE if verdict.yes else claim.why or UNKNOWN
    return row | {"ours": verdict.ours, "holds": verdict.holds, "why": why}


def rows(choice: Choice, results: Mapping[str, Results]) -> list[Row]:
    """A row per claim and variant of one figure."""
    return [
        _row(choice, claim, variant, results.get(variant, Results([])))
        for claim in choice.figure.claims
        for variant in claim.variants
    ]


def tables(choice: Choice, results: Mapping[str, Results]) -> list[str]:
    """The lines of a figure's own tables, if it has any."""
    return choice.figure.tables(results) if choice.figure.tables else []


def _from_to(numbers: set[float]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def lengths(schedule: Mapping[str, Any], names: Iterable[str]) -> tuple[str, str]:
    """Duration of the runs of these figures, and the number of their seeds, as text."""
    found = [schedule["lengths"][name] for name in names]
    durations = {length for each in found for length in each["durations_s"]}
    seeds = {count for each in found for count in each["seeds"]}
    return f"{_from_to(durations)} s", ONE_SEED if seeds == {1} else f"{_from_to(seeds)} seeds"


def missing(choice: Choice, reason: str) -> list[Row]:
    """The rows of a figure that could not be drawn."""
    return [
        {
            "figure": choice.figure.name,
            "claim": claim.text,
            "variant": variant,
            "ours": reason,
            "holds": NONE,
            "why": NONE,
        }
        for claim in choice.figure.claims
        for variant in claim.variants
    ]


def _cells(row: Row) -> list[str]:
    variant = "" if row["variant"] == "today" else f" [{label(row['variant'])}]"
    return [row["figure"], row["claim"] + variant, row["ours"], row["holds"], row["why"]]


def markdown(
    choices: Iterable[Choice],
    found: Mapping[str, list[Row]],
    schedule: Mapping[str, Any],
    kernels: Iterable[str],
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The whole page: caption, table, variants, legend, the figures' own tables."""
    choices = list(choices)
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 -->"]
    for paper in {choice.paper.name: choice.paper for choice in choices}.values():
        mine = [choice for choice in choices if choice.paper is paper]
        length, seeds = lengths(schedule, [choice.name for choice in mine])
        lines += [
            f"# Figures of {paper.title}",
            "",
            f"{length} each, {seeds if seeds == ONE_SEED else f'means of {seeds}'}, "
            f"Linux {', '.join(sorted(set(kernels))) or '?'}.",
            "",
        ]
        body = [_cells(row) for choice in mine for row in found[choice.name]]
        lines.append(as_markdown([list(HEADING), *body], left=len(HEADING)))
        used = {row["variant"] for choice in mine for row in found[choice.name]} - {"today"}
        shown = [(label(name), text) for name, text in paper.variants.items() if name in used]
        lines += ["", *(f"- [{name}]: {text}" for name, text in shown)]
        lines += [f"- otherwise: {paper.variants['today']}", "", paper.legend, ""]
        for choice in mine:
            own = (more or {}).get(choice.name)
            lines += [*own, ""] if own else []
    return "\n".join(lines)
