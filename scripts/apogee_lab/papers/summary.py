# SPDX-License-Identifier: GPL-2.0
"""What a page shows of a paper's figures: each one's picture and its claims, a row each.

The whole table, with all variants and reasons, is :mod:`report`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..results.text import NONE, as_markdown
from .catalogue import Choice
from .claims import NO, NOT_SHOWN, YES
from .figure import Paper
from .report import Row, counts, once
from .variants import label

#: Rows of a table, and how many if more claims are refuted.
ROWS, MOST_ROWS = 6, 8


def _weight(row: Row, verdicts: Sequence[str]) -> tuple[bool, bool, bool]:
    """What is refuted comes first, then the paper's claims, then what is not shown."""
    return NO not in verdicts, row["own"], NOT_SHOWN not in verdicts


def _claims(paper: Paper, rows: Sequence[Row]) -> list[list[str]]:
    """A row for each claim: its verdict in each form, and the numbers of the last form in which it
    was checked. Those that weigh most, in the paper's order."""
    by_form = {form: once(rows, variant) for form, variant in paper.forms.items()}
    found = []
    for at, places in enumerate(zip(*by_form.values(), strict=True)):
        verdicts = [row["holds"] for row in places]
        checked = [row for row in places if row["holds"] != NONE]
        if not checked:
            continue
        last, ours = checked[-1], checked[-1]["brief"]
        if last["variant"] not in ("today", list(paper.forms.values())[-1]):
            ours += f" [{label(last['variant'])}]"
        found.append((_weight(last, verdicts), at, [last["claim"], *verdicts, ours]))
    refuted = sum(not weight[0] for weight, _, _ in found)
    most = max(ROWS, min(refuted, MOST_ROWS))
    shown = sorted(sorted(found, key=lambda one: one[:2])[:most], key=lambda one: one[1])
    left = [one for one in found if one not in shown]
    return [row for _, _, row in shown] + _left(paper, [row for _, _, row in left])


def _left(paper: Paper, rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """A row that counts the claims that are not shown, by their verdicts in each form."""
    if not rows:
        return []
    cells = []
    for form in range(1, len(paper.forms) + 1):
        words = [row[form] for row in rows]
        told = [f"{words.count(word)} {word}" for word in (YES, NOT_SHOWN, NO) if word in words]
        cells.append(", ".join(told) or NONE)
    return [[f"{len(rows)} more", *cells, NONE]]


def section(choice: Choice, rows: Sequence[Row], folder: str) -> list[str]:
    """Heading, picture and table of a figure."""
    title = choice.figure.title
    table = _claims(choice.paper, rows)
    lines = [f"## {title}", "", f"![{choice.name}]({folder}/{choice.name}.svg)", ""]
    if table:
        forms = [*choice.paper.forms]
        head = ["claim", *forms, f"measured ({forms[-1]}), 95 % interval"]
        lines += [as_markdown([head, *table], left=len(head)), ""]
    return lines


def markdown(paper: Paper, found: Iterable[tuple[Choice, Sequence[Row]]], runs: str) -> str:
    """How many claims hold, and the sections of the figures."""
    found = list(found)
    every = [row for _, rows in found for row in rows]
    lines = [runs, "", as_markdown(counts(paper, every)), ""]
    for choice, rows in found:
        lines += section(choice, rows, paper.name)
    return "\n".join(lines).rstrip()
