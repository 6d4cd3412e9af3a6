# SPDX-License-Identifier: GPL-2.0
"""The table: each claim of the paper beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .catalogue import Choice
from .judges import NotMeasured, Record, Results
from .model import Claim

HEADING = ("figure", "the paper's claim", "ours, 95 % interval", "holds", "why")
UNKNOWN = "not known"
NONE = "–"

Row = dict[str, Any]

LEGEND = """\
"holds" is decided by the means, as the paper compares means of five runs; "n.s.": the 95 % interval
also reaches the other answer. "Nearly equal", "alike", "about" and "keeps" are within 10 % (the
windows of figures 17 and 18, where the paper's own means are 24 % apart, within a quarter); a
number of the paper's is met within a quarter of it, 8 Mbit/s from 7 to 9, "near 625 kB" within a
fifth; "far above" is at least 50 %, "slightly below" at most 10 % (figure 20: a quarter), "always
highest" no other above it in 95 % of the seconds. A window swings by its standard deviation over
its mean: large from 20 % on. Windows are cut off at the receiver's; they and estimates are taken
without the first sixth of a run. A flow that is not back after a blackout, or never full, counts
with the end of its run. "A over B" compares means; for two equal flows it is their difference over
their mean."""


def _row(choice: Choice, claim: Claim, variant: str, results: Results) -> Row:
    row: Row = {"figure": choice.figure.name, "claim": claim.text, "variant": variant}
    try:
        verdict = claim.judge(results)
    except NotMeasured as missing:
        return row | {"ours": f"not measured: {missing}", "holds": NONE, "why": NONE}
    why = NONE if verdict.yes else claim.why or UNKNOWN
    return row | {"ours": verdict.ours, "holds": verdict.holds, "why": why}


def rows(choice: Choice, by_variant: Mapping[str, Iterable[Record]]) -> list[Row]:
    """A row per claim and variant of one figure."""
    results = {variant: Results(found) for variant, found in by_variant.items()}
    return [
        _row(choice, claim, variant, results.get(variant, Results([])))
        for claim in choice.figure.claims
        for variant in claim.variants
    ]


def missing(choice: Choice, reason: str) -> list[Row]:
    """The rows of a figure that could not be made."""
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
    variant = "" if row["variant"] == "today" else f" [{row['variant']}]"
    return [row["figure"], row["claim"] + variant, row["ours"], row["holds"], row["why"]]


def markdown(
    choices: Iterable[Choice],
    found: Mapping[str, list[Row]],
    plan: Mapping[str, Any],
    kernels: Iterable[str],
) -> str:
    """The whole page: caption, one table, what its words mean."""
    choices = list(choices)
    seeds = len(plan["seeds"])
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 -->"]
    for paper in {choice.paper.name: choice.paper for choice in choices}.values():
        lines += [
            f"# Figures of {paper.title}",
            "",
            f"{plan['duration_s']:g} s each, "
            f"{'one seed' if seeds == 1 else f'means of {seeds} seeds'}, "
            f"Linux {', '.join(sorted(set(kernels))) or '?'}.",
            "",
            "| " + " | ".join(HEADING) + " |",
            "|" + "---|" * len(HEADING),
        ]
        mine = [choice for choice in choices if choice.paper is paper]
        body = [_cells(row) for choice in mine for row in found[choice.name]]
        lines += ["| " + " | ".join(cells) + " |" for cells in body]
        used = {row["variant"] for choice in mine for row in found[choice.name]} - {"today"}
        told = [f"- [{name}]: {text}" for name, text in paper.variants.items() if name in used]
        lines += ["", *told]
        lines += [f"- otherwise: {paper.variants['today']}", ""]
    return "\n".join([*lines, LEGEND, ""])
