# SPDX-License-Identifier: GPL-2.0
"""The table: each claim of a paper beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..results.text import NONE, as_markdown
from .catalogue import Choice
from .claims import NO, NOT_SHOWN, YES, NotMeasured, Results
from .figure import Claim, Paper
from .variants import label

HEADING = ("figure", "the paper's claim", "ours, 95 % interval", "holds", "why")
UNKNOWN = "not known"
VERDICTS = """\
"yes": the 95 % intervals of all numbers lie in the range of the claim; "no": the interval of one of
them lies outside, which for a claim of k numbers is one of 1 - 0.05/k (Bonferroni: of many 95 %
intervals one lies outside by chance); else the claim is "not shown". Reasons are given for a "no".
Ratios are those of means, with Fieller's interval over runs of the same seeds. An interval that is
not symmetric is given by its bounds. The first table counts each claim once: in the paper's own
form, and by default."""
ONE_SEED = "one seed"

Row = dict[str, Any]


def _place(choice: Choice, claim: Claim, variant: str) -> Row:
    return {
        "figure": choice.figure.name,
        "claim": claim.text,
        "variant": variant,
        "ours": NONE,
        "holds": NONE,
        "why": NONE,
        "own": claim.own,
        "others": claim.others,
    }


def _row(choice: Choice, claim: Claim, variant: str, results: Results) -> Row:
    row = _place(choice, claim, variant)
    try:
        verdict = claim.check(results)
    except NotMeasured as missing:
        return row | {"ours": f"not measured: {missing}"}
    why = claim.why or UNKNOWN if verdict.holds == NO else NONE
    brief = verdict.brief or verdict.ours
    return row | {"ours": verdict.ours, "brief": brief, "holds": verdict.holds, "why": why}


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


def runs(schedule: Mapping[str, Any], names: Iterable[str], kernels: Iterable[str]) -> str:
    """One line on the runs of these figures."""
    length, seeds = lengths(schedule, names)
    means = seeds if seeds == ONE_SEED else f"means of {seeds}"
    return f"{length} each, {means}, Linux {', '.join(sorted(set(kernels))) or '?'}."


def missing(choice: Choice, reason: str) -> list[Row]:
    """The rows of a figure that could not be drawn."""
    return [
        _place(choice, claim, variant) | {"ours": reason}
        for claim in choice.figure.claims
        for variant in claim.variants
    ]


#: Columns of the count: what is in the "holds" cell of a claim.
COUNTED = {"hold": YES, "do not": NO, "not shown": NOT_SHOWN, "not run": NONE}


def once(rows: Iterable[Row], variant: str) -> list[Row]:
    """The row of each claim in one form: of its variant, or of a claim about others any."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        place = row["figure"], row["claim"]
        if row["variant"] == variant or (row["others"] and place not in found):
            found[place] = row
        else:
            found.setdefault(place, row | {"holds": NONE})
    return list(found.values())


def counts(paper: Paper, rows: Iterable[Row]) -> list[list[str]]:
    """How many claims hold in each form of the algorithm, each counted once: the paper's, ours."""
    rows = list(rows)
    table = [["claims, each once", "all", *COUNTED, "do not, reason not known"]]
    for whose, wanted in (("the paper's", False), ("ours", True)):
        mine = [row for row in rows if row["own"] == wanted]
        for form, variant in paper.forms.items():
            found = once(mine, variant)
            numbers = [sum(row["holds"] == word for row in found) for word in COUNTED.values()]
            unknown = sum(row["holds"] == NO and row["why"] == UNKNOWN for row in found)
            if found:
                table.append([f"{whose}, {form}", *map(str, [len(found), *numbers, unknown])])
    return table


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
        told = runs(schedule, [choice.name for choice in mine], kernels)
        lines += [f"# Figures of {paper.title}", "", told, ""]
        body = [_cells(row) for choice in mine for row in found[choice.name]]
        every = [row for choice in mine for row in found[choice.name]]
        lines += [as_markdown(counts(paper, every)), ""]
        lines.append(as_markdown([list(HEADING), *body], left=len(HEADING)))
        used = {row["variant"] for choice in mine for row in found[choice.name]} - {"today"}
        shown = [(label(name), text) for name, text in paper.variants.items() if name in used]
        lines += ["", *(f"- [{name}]: {text}" for name, text in shown)]
        lines += [f"- otherwise: {paper.variants['today']}", "", VERDICTS, "", paper.legend, ""]
        for choice in mine:
            own = (more or {}).get(choice.name)
            lines += [*own, ""] if own else []
    return "\n".join(lines)
