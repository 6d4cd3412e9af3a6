# SPDX-License-Identifier: GPL-2.0
"""Whether the content of a JSON file is a card, before it is merged and drawn: its JSON Schema."""

from __future__ import annotations

from typing import Any

from ..units import CONTROL
from .criteria import BOUND, LEVELS, TEXT
from .verdict import NOT_JUDGED, WORST

Form = dict[str, Any]


def _list(form: Form) -> Form:
    return {"type": "array", "items": form}


def _map(form: Form) -> Form:
    return {"type": "object", "propertyNames": _LINE, "additionalProperties": form}


def _object(**forms: Form) -> Form:
    """Of keys that have to be there, and of no others."""
    whole = {"properties": forms, "required": [*forms], "additionalProperties": False}
    return {"type": "object", **whole}


def _like(pattern: str) -> Form:
    return {"type": "string", "pattern": rf"\A{pattern}\Z"}


def _each(names: str | list[str], form: Form) -> dict[str, Form]:
    return dict.fromkeys(names.split() if isinstance(names, str) else names, form)


_LINE = {"type": "string", "format": "line"}
_BOUND = _like(BOUND.pattern)
_NUMBER = {"type": "number", "minimum": -1e300, "maximum": 1e300}
_MAYBE = _NUMBER | {"type": ["number", "null"]}
_ANSWER = {"enum": [*WORST, NOT_JUDGED, TEXT]}
_FLAG = {"type": "boolean"}
_OR_NULL = {"type": ["object", "null"]}
_NAMES = _list(_like(CONTROL.pattern)) | {"minItems": 1, "uniqueItems": True}

_BOTH_OR_NONE = {
    "anyOf": [{"properties": _each("low high", {"type": kind})} for kind in ("number", "null")]
}
_CASE = _BOTH_OR_NONE | _object(
    **_each("case than why", _LINE), verdict=_ANSWER, commands=_list(_LINE),
    **_each("value low high measured reference", _MAYBE),
)  # fmt: skip
_VALUE = _BOTH_OR_NONE | _object(**_each("value low high", _MAYBE))
_TIME = _BOTH_OR_NONE | _object(**_each("s low high", _MAYBE), why=_LINE)


def _card(names: list[str]) -> Form:
    """The form of a card of these algorithms."""
    cell = _object(verdict=_ANSWER, cases=_list(_CASE))
    test = _object(
        **_each("name title measure unit source", _LINE), ratio=_FLAG, met=_BOUND, unmet=_BOUND,
        cells=_object(**_each(names, cell)),
    )  # fmt: skip
    criterion = _object(
        **_each("section title word asks note", _LINE), level={"enum": list(LEVELS)},
        verdicts=_object(**_each(names, _ANSWER)), tests=_list(test),
        texts=_list({"type": "string"}),
    )  # fmt: skip
    place = _object(
        name=_LINE, link_s=_NUMBER, published=_map(_NUMBER), commands=_list(_LINE),
        times=_object(**_each(names, _TIME)),
    )  # fmt: skip
    board = _object(title=_LINE, note=_LINE, within_s=_NUMBER, rows=_list(place))
    ground = _object(
        name=_LINE, limit=_MAYBE, commands=_list(_LINE), values=_object(**_each(names, _VALUE))
    )
    grounds = _object(title=_LINE, note=_LINE, rows=_list(ground))
    return _object(
        format={}, algorithms={}, **_each("made command engine kernel", _LINE),
        beside=_list(_LINE), quick=_FLAG, left_out=_map(_list(_LINE)), criteria=_list(criterion),
        board=board | _OR_NULL, grounds=grounds | _OR_NULL,
    )  # fmt: skip


def is_card(value: Any) -> bool:
    """Whether this is a card."""
    from jsonschema import Draft202012Validator, FormatChecker

    formats = FormatChecker(formats=())
    formats.checks("line", raises=TypeError)(str.isprintable)
    least = {"type": "object", "properties": {"algorithms": _NAMES}, "required": ["algorithms"]}
    if not Draft202012Validator(least).is_valid(value):
        return False
    form = _card(value["algorithms"])
    return Draft202012Validator(form, format_checker=formats).is_valid(value)
