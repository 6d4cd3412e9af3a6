# SPDX-License-Identifier: GPL-2.0
"""The card as a page: one file that needs nothing else, neither a network nor a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..base import UsageError, repo_root
from . import board, grounds, text
from .card import Card
from .criteria import TEXT
from .verdict import MET, NONE, NOT_JUDGED, UNMET, UNSHOWN

HERE = Path(__file__).parent
#: Where scripts/setup judge installs Plotly.
VENV = repo_root() / "build" / "judge-venv"
#: Classes of the page's style.
KINDS = {
    MET: "met", UNMET: "unmet", UNSHOWN: "unshown", NONE: "none", NOT_JUDGED: "none", TEXT: "text",
}  # fmt: skip


def library() -> str:
    """The script of Plotly; UsageError before the first run if it, or jinja2, is not there."""
    import jinja2  # noqa: F401 - the command says which package is missing

    place = "lib/python3*/site-packages/plotly/package_data/plotly.min.js"
    for path in sorted(VENV.glob(place)):
        return path.read_text(encoding="utf-8")
    raise UsageError("the page needs Plotly: run scripts/setup judge")


def html(card: Card, script: str) -> str:
    """The page; ``script`` is Plotly's."""
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    template = made.from_string((HERE / "page.html").read_text(encoding="utf-8"))
    return template.render(
        card=card,
        kind=KINDS,
        short=text.SHORT,
        about=text.about(card),
        counts={word: _count(card, word) for word in (UNMET, UNSHOWN)},
        figure=text.figure,
        measured=text.measured,
        anchor=anchor,
        tables=_tables(card),
        style=_file("page.css"),
        own=_file("page.js"),
        plotly=_inline(script),
        data=_inline(json.dumps(_drawn(card), ensure_ascii=False)),
    )


def _tables(card: Card) -> list[tuple[str, dict[str, Any], list[list[str]]]]:
    """The scoreboard and the grounds: their anchor, what the card has of them, their table."""
    makers = {"board": board.table, "grounds": grounds.table}
    names = {"board": "geo", "grounds": "grounds"}
    return [
        (names[key], card[key], make(card[key], card["algorithms"]))
        for key, make in makers.items()
        if card[key]
    ]


def _count(card: Card, word: str) -> dict[str, int]:
    """How many sections have this answer, for each algorithm."""
    return {
        cc: sum(one["verdicts"][cc] == word for one in card["criteria"])
        for cc in card["algorithms"]
    }


def anchor(section: str, cc: str) -> str:
    """The place of an algorithm's answer."""
    return f"s{section.replace('.', '-')}-{cc}"


def _file(name: str) -> Any:
    return _inline((HERE / name).read_text(encoding="utf-8"))


def _inline(content: str) -> Any:
    """Content of a script or a style, as it is: nothing in it may end the element."""
    from markupsafe import Markup

    return Markup(content.replace("</", "<\\/"))


def _drawn(card: Card) -> dict[str, Any]:
    """What the plots show: of each test the cases of each algorithm, with the JSON's numbers."""
    keys = ("case", "verdict", "value", "low", "high")
    return {
        f"{one['section']} {test['name']}": {
            "measure": test["measure"],
            "unit": "" if test["ratio"] else test["unit"],
            "ratio": test["ratio"],
            "met": test["met"],
            "unmet": test["unmet"],
            "cells": {
                cc: [{key: case[key] for key in keys} for case in cell["cases"]]
                for cc, cell in test["cells"].items()
            },
        }
        for one in card["criteria"]
        for test in one["tests"]
    }
