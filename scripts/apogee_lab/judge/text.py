# SPDX-License-Identifier: GPL-2.0
"""A card as Markdown, and its summary for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..results.text import as_text
from . import board
from .card import NOT_JUDGED, Card
from .criteria import TEXT
from .verdict import MET, NONE, UNMET, UNSHOWN

#: Words of a matrix's cells.
SHORT = {
    MET: "met", UNMET: "NOT MET", UNSHOWN: "not shown", NONE: "n/a", NOT_JUDGED: "–", TEXT: "text",
}  # fmt: skip


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


def _details(card: Card, one: Mapping[str, Any]) -> list[str]:
    found = [f"## {one['section']} {one['title']}", f"{one['asks']} (RFC: {one['word']})"]
    if one["note"]:
        found.append(one["note"])
    for test in one["tests"]:
        what = "ratio" if test["ratio"] else "value"
        found.append(
            f"**{test['title']}** ({test['measure']}, {what}). Met {test['met']}, not met "
            f"{test['unmet']}; thresholds: {test['source']}."
        )
        cells = [test["cells"][cc]["cases"] for cc in card["algorithms"]]
        table = [["case", *card["algorithms"]]]
        for row in zip(*cells, strict=True):
            table.append([row[0]["case"] or test["name"], *map(_marked, row)])
        if len(table) > 1:
            found.append(_table(table))
    return found + list(one.get("texts", []))


def _marked(case: Mapping[str, Any]) -> str:
    """A figure: bold if it is not met, in italics if it is not shown."""
    mark = {UNMET: "**", UNSHOWN: "*"}.get(case["verdict"], "")
    return f"{mark}{figure(case)}{mark}"


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
    """The whole card."""
    parts = [
        "<!-- SPDX-License-Identifier: GPL-2.0 -->",
        "# Report card by RFC 9743",
        about(card),
        _table(rows(card)),
        "\n".join(f"- {line}" for line in lost(card)),
        "Below: **not met**, *not shown*, else met. A ratio is to the worse of what is compared.",
        *(f"![{name}]({name})" for name in pictures),
    ]
    for one in card["criteria"]:
        parts += _details(card, one)
    if card["board"]:
        title, note = card["board"]["title"], card["board"]["note"]
        parts += [f"## {title}", note, _table(board.table(card["board"], card["algorithms"]))]
    if card["left_out"]:
        parts.append("## Left out by --quick")
        parts.append(
            "\n".join(
                f"- {section}: {'; '.join(tests)}" for section, tests in card["left_out"].items()
            )
        )
    return "\n\n".join(parts) + "\n"
