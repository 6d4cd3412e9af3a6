# SPDX-License-Identifier: GPL-2.0
"""A card as Markdown, and its summary for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from ..results.text import as_text
from . import board, grounds
from .card import Card
from .criteria import TEXT
from .verdict import MET, NONE, NOT_JUDGED, UNMET, UNSHOWN

#: Words of a matrix's cells.
SHORT = {
    MET: "met", UNMET: "NOT MET", UNSHOWN: "not shown", NONE: "n/a", NOT_JUDGED: "–", TEXT: "text",
}  # fmt: skip

#: How the Markdown's figures are to be read.
READING = (
    "Most figures are ratios to Reno or CUBIC in the same place, whichever looks worse. All "
    "figures, and the commands that repeat them, are in card.html and card.json."
)


def rows(card: Card) -> list[list[str]]:
    """The matrix: section, title, level, an answer for each algorithm."""
    head = ["section", "", "level", *card["algorithms"]]
    return [head] + [
        [
            one["section"],
            one["title"],
            one["level"],
            *(SHORT[one["verdicts"][cc]] for cc in card["algorithms"]),
        ]
        for one in card["criteria"]
    ]


def summary(card: Card) -> str:
    """The matrix for a terminal; columns of text are to the left."""
    table = rows(card)
    width = max(len(row[1]) for row in table)
    text = [[row[0], row[1].ljust(width), *row[2:]] for row in table]
    return as_text(text)


def number(value: float | None) -> str:
    """A number as the page and the Markdown write it."""
    return "–" if value is None else f"{value:.4g}"


def figure(case: Mapping[str, Any]) -> str:
    """A value with its interval."""
    if case["value"] is None:
        return case["why"] or "–"
    if case["low"] is None:
        more = f" ({case['why']})" if case["why"] else ""
        return number(case["value"]) + more
    return f"{number(case['value'])} ({number(case['low'])} to {number(case['high'])})"


def measured(test: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """What was measured, and what it is compared with."""
    if case["measured"] is None:
        return "–"
    unit = f" {test['unit']}" if test["unit"] else ""
    own = f"{number(case['measured'])}{unit}"
    if case["reference"] is None:
        return own
    return f"{own}; {case['than']}: {number(case['reference'])}{unit}"


def _table(table: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    lines.insert(1, "|" + "|".join(["---"] * len(table[0])) + "|")
    return "\n".join(lines)


def _unmet(card: Card) -> str:
    """What is not met: a row for each case of an algorithm, with its figure and the threshold."""
    found = [
        [one["section"], cc, *row]
        for one in card["criteria"]
        for cc in card["algorithms"]
        for row in _unmet_cases(one, cc)
    ]
    return (
        _table([["section", "algorithm", "case", "has", "met if"], *found]) if found else "Nothing."
    )


def _unmet_cases(one: Mapping[str, Any], cc: str) -> list[list[str]]:
    """The cases that an algorithm does not meet: name, figure, threshold."""
    return [
        [
            ", ".join(filter(None, [test["name"], case["case"]])),
            f"{figure(case)}{' ' + test['unit'] if test['unit'] and not test['ratio'] else ''}",
            test["met"],
        ]
        for test in one["tests"]
        for case in test["cells"][cc]["cases"]
        if case["verdict"] == UNMET
    ]


def _texts(card: Card) -> list[str]:
    """What the author says, and about what nothing is said."""
    found, without = [], []
    for one in card["criteria"]:
        for given in one["texts"]:
            found += [f"## {one['section']} {one['title']}", given]
        if one["level"] == TEXT and not one["texts"]:
            without.append(one["section"])
    if without:
        found.append(_wrapped(f"Without a text of the author: {', '.join(without)}."))
    return found


def _wrapped(text: str) -> str:
    """A paragraph in lines of pages."""
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def about(card: Card) -> str:
    """How the card was made."""
    return (
        f"Made {card['made']} by `{card['command']}`: {card['engine']}, Linux {card['kernel']}; "
        f"beside {', '.join(card['beside'])}{'; --quick, one seed each' if card['quick'] else ''}."
    )


def lost(card: Card) -> list[str]:
    """A line for each algorithm: what is not met."""
    lines = []
    for cc in card["algorithms"]:
        bad = [one["section"] for one in card["criteria"] if one["verdicts"][cc] == UNMET]
        open_ = [one["section"] for one in card["criteria"] if one["verdicts"][cc] == UNSHOWN]
        shown = [", ".join(sections) or "nothing" for sections in (bad, open_)]
        lines.append(f"{cc}: not met {shown[0]}; not shown {shown[1]}")
    return lines


def markdown(card: Card, pictures: Sequence[str] = ()) -> str:
    """The answers, what is not met, the scoreboard; all other figures are the page's and the
    JSON's."""
    matrix = [row for row in rows(card) if row[2] != TEXT]
    parts = [
        "<!-- SPDX-License-Identifier: GPL-2.0 -->",
        "# Report card by RFC 9743",
        _wrapped(about(card)),
        _table(matrix),
        *(f"![{name}]({name})" for name in pictures),
        "## Not met",
        _unmet(card),
        _wrapped(READING),
        *_texts(card),
    ]
    if card["board"]:
        parts += [f"## {card['board']['title']}", _wrapped(card["board"]["note"])]
        parts.append(_table(board.table(card["board"], card["algorithms"])))
    if card["grounds"]:
        parts += [f"## {card['grounds']['title']}", _wrapped(card["grounds"]["note"])]
        parts.append(_table(grounds.table(card["grounds"], card["algorithms"])))
    if card["left_out"]:
        parts.append(_wrapped(left_out(card)))
    return "\n\n".join(parts) + "\n"


def left_out(card: Card) -> str:
    """How much --quick left out, by section."""
    counts = [f"{section} ({len(tests)})" for section, tests in card["left_out"].items()]
    return f"--quick left out all seeds but one and some cases: {', '.join(counts)}."
