# SPDX-License-Identifier: GPL-2.0
"""Whether the content of a JSON file is a card, before it is merged and drawn."""

from __future__ import annotations

from typing import Any

from ..units import CONTROL
from .criteria import BOUND, LEVELS, TEXT
from .verdict import NOT_JUDGED, WORST

#: A form is a type, a test of a value, a list of one form, or a dict: of keys that have to be
#: there, or with the key ``...`` of the form of all values.
Form = Any


def _line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _bound(value: Any) -> bool:
    return isinstance(value, str) and BOUND.fullmatch(value) is not None


def _name(value: Any) -> bool:
    return isinstance(value, str) and CONTROL.fullmatch(value) is not None


def _number(value: Any) -> bool:
    """A number that JSON has, or null."""
    return value is None or isinstance(value, int | float) and abs(value) < 1e300


def _level(value: Any) -> bool:
    return value in LEVELS


def _answer(value: Any) -> bool:
    return value in (*WORST, NOT_JUDGED, TEXT)


_CASE = {
    **dict.fromkeys(("case", "than", "why"), _line), "verdict": _answer, "commands": [_line],
    **dict.fromkeys(("value", "low", "high", "measured", "reference"), _number),
}  # fmt: skip
_TEST = {
    **dict.fromkeys(("name", "title", "measure", "unit", "source"), _line),
    "ratio": bool, "met": _bound, "unmet": _bound,
}  # fmt: skip
_VALUE = dict.fromkeys(("value", "low", "high"), _number)
_TIME = {**dict.fromkeys(("s", "low", "high"), _number), "why": _line}


def _card(names: list[str]) -> Form:
    """The form of a card of these algorithms, but for its scoreboard."""
    cell = {"verdict": _answer, "cases": [_CASE]}
    criterion = {
        **dict.fromkeys(("section", "title", "word", "asks", "note"), _line), "level": _level,
        "verdicts": dict.fromkeys(names, _answer),
        "tests": [{**_TEST, "cells": dict.fromkeys(names, cell)}],
    }  # fmt: skip
    return {
        **dict.fromkeys(("made", "command", "engine", "kernel"), _line), "beside": [_line],
        "quick": bool, "left_out": {...: [_line]}, "criteria": [criterion],
    }  # fmt: skip


def _board(names: list[str]) -> Form:
    """The form of the scoreboard."""
    row = {
        "name": _line, "link_s": _number, "published": {...: _number}, "commands": [_line],
        "times": dict.fromkeys(names, _TIME),
    }  # fmt: skip
    return {"title": _line, "note": _line, "within_s": _number, "rows": [row]}


def _grounds(names: list[str]) -> Form:
    """The form of the grounds."""
    row = {
        "name": _line, "limit": _number, "commands": [_line],
        "values": dict.fromkeys(names, _VALUE),
    }  # fmt: skip
    return {"title": _line, "note": _line, "rows": [row]}


def fits(value: Any, form: Form) -> bool:
    """Whether a value of JSON has a form."""
    if isinstance(form, type):
        return isinstance(value, form)
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(each, form[0]) for each in value)
    if not isinstance(form, dict):
        return form(value)
    if not isinstance(value, dict):
        return False
    if ... in form:
        return all(fits(each, form[...]) for each in value.values())
    return all(key in value and fits(value[key], each) for key, each in form.items())


def is_card(value: Any) -> bool:
    """Whether this is a card."""
    least = {"algorithms": [_name], "board": object, "grounds": object}
    if not fits(value, least) or not value["algorithms"]:
        return False
    names, board, grounds = value["algorithms"], value["board"], value["grounds"]
    return (
        len(set(names)) == len(names)
        and fits(value, _card(names))
        and (board is None or fits(board, _board(names)))
        and (grounds is None or fits(grounds, _grounds(names)))
        and all(fits(one.get("texts", []), [str]) for one in value["criteria"])
    )
