# SPDX-License-Identifier: GPL-2.0
"""One quantity of a random path: how it is drawn.

A table of a space file has one of these keys:

    log = [LOW, HIGH]    a number, its logarithm evenly distributed
    even = [LOW, HIGH]   a number, evenly distributed
    whole = [LOW, HIGH]  a whole number, each as likely as any other
    one_of = [A, B]      a word or a number, each as likely as any other
    is = EXPRESSION      computed
    text = TEMPLATE      text with {KIND: EXPRESSION} for numbers with units and {EXPRESSION} for
                         words; with of = NAME it is a table, of each word of that quantity one
    trace = EXPRESSION   the file of a random cellular trace with this mean rate outside fades

and may have: ``chance`` (only so many paths have it), ``when`` (only paths where this holds),
``least`` and ``most`` (numbers are cut there), ``each`` (so many numbers, as a list). LOW, HIGH and
all others are numbers or expressions.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import units
from . import traces
from .expressions import MOST, evaluated

Names = Mapping[str, Any]

KINDS = ("log", "even", "whole", "one_of", "is", "text", "trace")
MORE = ("chance", "when", "least", "most", "each", "of")
_NUMBERS = ("", "rate", "time", "size", "share", "ber", "float", "int", "bool")  # their kinds
DIGITS = 3  # of what is drawn or computed, so that a command can be read
MOST_EACH = 1000
TAIL_S = 20.0  # how much longer than a run a trace is
MOST_RATE = 1e9  # bit/s: mean of a trace

_FIELD = re.compile(r"\{(?:(rate|time|size|share|int): )?([^{}]+)\}")


def check(table: Any) -> None:
    """ValueError (one line) unless it is such a table."""
    if not isinstance(table, dict):
        raise ValueError("a table is needed")
    kinds = [key for key in table if key in KINDS]
    unknown = [key for key in table if key not in (*KINDS, *MORE)]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]}; choose from: {', '.join((*KINDS, *MORE))}")
    if len(kinds) != 1:
        raise ValueError(f"one of {', '.join(KINDS)} is needed")
    value = table[kinds[0]]
    if kinds[0] in ("log", "even", "whole", "one_of"):
        most = math.inf if kinds[0] == "one_of" else 2
        if not isinstance(value, list) or not 2 <= len(value) <= most:
            raise ValueError(f"{kinds[0]} = [A, B] is needed")
    else:
        wanted = dict if "of" in table and kinds[0] == "text" else str
        if not isinstance(value, wanted):
            raise ValueError(f"{kinds[0]}: a {'table' if wanted is dict else 'text'} is needed")


def drawn(table: Mapping[str, Any], names: Names, dice: random.Random) -> Any:
    """The quantity of one path, None if it does not have it; ValueError (one line) if it cannot be.

    ``names`` holds the quantities above it, and ``duration`` in s.
    """
    chance = dice.random()
    if "when" in table and not number(table["when"], names):
        return None
    if "chance" in table and chance >= _share(table, names):
        return None
    if "each" not in table:
        return _one(table, names, dice)
    count = number(table["each"], names)
    if not isinstance(count, float) or not 1 <= count <= MOST_EACH:
        raise ValueError(f"each: a number from 1 to {MOST_EACH} is needed")
    return tuple(_one(table, names, dice) for _ in range(int(count)))


def number(given: Any, names: Names) -> Any:
    """A number, or the value of an expression."""
    if isinstance(given, str):
        return evaluated(given, names)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= MOST:
        raise ValueError(f"{str(given)[:40]} is neither a number nor an expression")
    return float(given)


def _bound(table: Mapping[str, Any], key: str, names: Names) -> float:
    found = number(table[key], names)
    if not isinstance(found, float):
        raise ValueError(f"{key}: {table[key]!r} is not a number")
    return found


def _share(table: Mapping[str, Any], names: Names) -> float:
    found = _bound(table, "chance", names)
    if not 0 <= found <= 1:
        raise ValueError(f"chance: {table['chance']!r} is not a share from 0 to 1")
    return found


def _one(table: Mapping[str, Any], names: Names, dice: random.Random) -> Any:
    (kind,) = (key for key in table if key in KINDS)
    given = table[kind]
    if kind == "one_of":
        chosen = dice.choice(given)
        return chosen if isinstance(chosen, str) else number(chosen, names)
    if kind == "text":
        template = given.get(number(table["of"], names)) if "of" in table else given
        return None if template is None else filled(template, names)
    if kind == "trace":
        rate = number(given, names)
        if rate is None:
            return None
        if not isinstance(rate, float) or not 0 < rate <= MOST_RATE:
            most = units.format("rate", MOST_RATE)
            raise ValueError(f"trace: {given!r} is not a rate above 0 of up to {most}")
        return str(traces.written(traces.cellular(dice, rate, names["duration"] + TAIL_S)))
    if kind == "is":
        value = number(given, names)
    else:
        value = _RANGES[kind](dice, *_range(kind, [number(end, names) for end in given]))
    return value if value is None or isinstance(value, str) else _cut(table, value, names)


def _range(kind: str, ends: list[Any]) -> list[float]:
    if not all(isinstance(end, float) for end in ends) or not -MOST <= ends[0] <= ends[1] <= MOST:
        raise ValueError(f"{kind}: {ends[0]} to {ends[1]} is not a range")
    if kind == "log" and ends[0] <= 0:
        raise ValueError("log: the range must begin above 0")
    return ends


_RANGES: dict[str, Callable[[random.Random, float, float], float]] = {
    "log": lambda dice, low, high: low * (high / low) ** dice.random(),
    "even": lambda dice, low, high: dice.uniform(low, high),
    "whole": lambda dice, low, high: dice.randint(math.ceil(low), math.floor(high)),
}


def _cut(table: Mapping[str, Any], value: float, names: Names) -> float:
    value = rounded(value)
    if "least" in table:
        value = max(value, _bound(table, "least", names))
    if "most" in table:
        value = min(value, _bound(table, "most", names))
    return value


def rounded(value: float) -> float:
    """The number with few digits."""
    return float(f"{value:.{DIGITS}g}")


def filled(template: str, names: Names) -> str | None:
    """A template's text; None if a quantity in it is."""
    values = [(kind, evaluated(inner, names)) for kind, inner in _FIELD.findall(template)]
    if any(value is None for _, value in values):
        return None
    texts = iter([written(kind, value) for kind, value in values])
    return _FIELD.sub(lambda _: next(texts), template)


def written(kind: str, value: Any) -> str:
    """A value as the command line takes it; ValueError if it is not of that kind."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return "+".join(written(kind.removeprefix(units.LIST), item) for item in value)
    base = units.split_kind(kind)[0]
    if not isinstance(value, int | float) or base not in _NUMBERS:
        raise ValueError(f"{value!r} is not {units.describe(kind) if kind else 'a value'}")
    if base in ("rate", "size"):
        return units.format(base, round(rounded(value)))
    if base in ("int", "bool"):
        return str(round(value))
    return units.format(base or "float", rounded(value))
