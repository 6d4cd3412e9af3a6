# SPDX-License-Identifier: GPL-2.0
"""The card as data: what the page, the Markdown and the JSON are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..base import UsageError, read_regular
from .criteria import LEVELS, TEXT, Criterion
from .measures import MEASURES
from .shape import is_card
from .verdict import NOT_JUDGED, UNMET, Answer, worst

if TYPE_CHECKING:
    from .runs import Question

Card = dict[str, Any]

FORMAT = 2


def made(
    criteria: Sequence[Criterion],
    ccs: Sequence[str],
    asked: Sequence[Question],
    answers: Mapping[Question, Answer],
    commands: Callable[[Question], list[str]],
    about: Mapping[str, Any],
) -> Card:
    """The card; ``about`` says what it was made with."""
    return {
        "format": FORMAT,
        **about,
        "algorithms": list(ccs),
        "criteria": [_criterion(one, ccs, asked, answers, commands) for one in criteria],
    }


def _criterion(
    one: Criterion,
    ccs: Sequence[str],
    asked: Sequence[Question],
    answers: Mapping[Question, Answer],
    commands: Callable[[Question], list[str]],
) -> dict[str, Any]:
    mine = [question for question in asked if question.criterion is one]
    tests = [
        {
            "name": test.name,
            "title": test.title,
            "measure": MEASURES[test.measure].help,
            "unit": MEASURES[test.measure].unit,
            "ratio": bool(test.than),
            "met": str(test.met),
            "unmet": str(test.unmet),
            "source": test.source,
            "cells": {
                cc: _cell([q for q in mine if q.test is test and q.cc == cc], answers, commands)
                for cc in ccs
            },
        }
        for test in one.tests
    ]
    return {
        "section": one.section,
        "title": one.title,
        "word": one.word,
        "level": one.level,
        "asks": one.asks,
        "note": one.note,
        "tests": tests,
        "verdicts": {cc: _verdict(one, tests, cc) for cc in ccs},
        "texts": [],
    }


def _cell(
    questions: Sequence[Question],
    answers: Mapping[Question, Answer],
    commands: Callable[[Question], list[str]],
) -> dict[str, Any]:
    """An algorithm's answer to a test, with all cases."""
    cases = [
        {"case": question.name, **_rounded(answers[question]), "commands": commands(question)}
        for question in questions
    ]
    return {
        "verdict": worst(case["verdict"] for case in cases) if cases else NOT_JUDGED,
        "cases": cases,
    }


def _rounded(found: Answer) -> dict[str, Any]:
    numbers = ("value", "low", "high", "measured", "reference")
    return {
        "verdict": found.verdict,
        **{name: significant(getattr(found, name)) for name in numbers},
        "than": found.than,
        "why": found.why,
    }


def significant(value: float | None) -> float | None:
    """Four significant digits; None for what is not finite, as JSON has no word for it."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")


def _verdict(one: Criterion, tests: Sequence[Mapping[str, Any]], cc: str) -> str:
    if one.level == TEXT:
        return TEXT
    given = [test["cells"][cc]["verdict"] for test in tests]
    judged = [verdict for verdict in given if verdict != NOT_JUDGED]
    return worst(judged) if judged else NOT_JUDGED


def failed(card: Card, level: str) -> list[tuple[str, str]]:
    """Algorithm and section of what is not met, at this level or a stricter one."""
    strict = LEVELS[: LEVELS.index(level) + 1]
    return [
        (cc, one["section"])
        for one in card["criteria"]
        if one["level"] in strict
        for cc, verdict in one["verdicts"].items()
        if verdict == UNMET
    ]


def as_json(card: Card) -> str:
    """The card as JSON."""
    return json.dumps(card, indent=1, ensure_ascii=False) + "\n"


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def read(path: Path) -> Card:
    """A card that was written before; UsageError if it is none."""
    try:
        card = json.loads(read_regular(path).decode("utf-8"), parse_constant=_no_number)
        if not is_card(card) or card.get("format") != FORMAT:
            raise ValueError
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"{path}: not a card of this version of the lab") from None
    return card


#: What is of a card's algorithms.
_OWN = {
    "made", "command", "commands", "algorithms", "verdicts", "texts", "cells", "times", "values",
    "limit",
}  # fmt: skip


def merged(cards: Sequence[Card]) -> Card:
    """One card of several, of other algorithms each; UsageError if they were made differently."""
    first, *others = cards
    whole = json.loads(json.dumps(first))
    for card in others:
        _check_alike(whole, card)
        whole["algorithms"] += card["algorithms"]
        whole["made"] = max(whole["made"], card["made"])
        whole["command"] += f"; {card['command']}"
        for mine, other in zip(whole["criteria"], card["criteria"], strict=True):
            mine["verdicts"] |= other["verdicts"]
            mine["texts"] += [given for given in other["texts"] if given not in mine["texts"]]
            for test, more in zip(mine["tests"], other["tests"], strict=True):
                test["cells"] |= more["cells"]
        for row, more in zip(_rows(whole), _rows(card), strict=True):
            for key in ("times", "values"):
                if key in row:
                    row[key] |= more[key]
            if "limit" in row:
                row["limit"] = max(filter(None, (row["limit"], more["limit"])), default=None)
            row["commands"] += more["commands"]
    return whole


def _rows(card: Card) -> list[dict[str, Any]]:
    """The rows of the scoreboard and of the grounds."""
    return [row for name in ("board", "grounds") for row in (card[name] or {"rows": []})["rows"]]


def _check_alike(one: Card, other: Card) -> None:
    twice = {*one["algorithms"]} & {*other["algorithms"]}
    if twice:
        raise UsageError(f"--merge: two cards have {sorted(twice)[0]}")

    if (_frame(one), _cases(one)) != (_frame(other), _cases(other)):
        raise UsageError("--merge: the cards are of other criteria, peers, kernels or engines")


def _frame(part: Any) -> Any:
    """A card without what is of its algorithms."""
    if isinstance(part, list):
        return [_frame(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {key: _frame(value) for key, value in part.items() if key not in _OWN}


def _cases(card: Card) -> list[list[str]]:
    """The cases of each test."""
    cells = [test["cells"] for one in card["criteria"] for test in one["tests"]]
    return [[case["case"] for case in each[card["algorithms"][0]]["cases"]] for each in cells]
