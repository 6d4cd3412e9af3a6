# SPDX-License-Identifier: GPL-2.0
"""Arithmetic in space files: ``"max(3kB, queue * rate * rtt / 8)"``.

Numbers may have the units of the command line (``5ms``, ``100kbit``, ``3kB``, ``5%``) and count in
seconds, bit/s, bytes and shares of 1. Known are + - * / **, comparisons, and, or, not, if ... else,
min, max, sqrt, words in quotes and ``none``. Arithmetic with a quantity that a path does not have
(None) gives None; such a quantity is equal to no word and counts as false.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import units

MOST = 1e30  # of a number

_UNITS = {
    "rate": ("gbit", "mbit", "kbit", "bit"),
    "time": ("ms", "us", "ns", "min", "s"),
    "size": ("GiB", "MiB", "KiB", "GB", "MB", "kB", "B"),
    "share": ("%",),
}
_KIND = {unit: kind for kind, names in _UNITS.items() for unit in names}
_WITH_UNIT = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?)({'|'.join(_KIND)})(?!\w)")
_QUOTED = re.compile(r"('[^']*')")

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_ORDER: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "sqrt": math.sqrt}


def evaluated(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression; ValueError (one line) if it has none."""
    try:
        value = _value(ast.parse(_plain(text).strip(), mode="eval").body, names)
    except (SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError):
        raise ValueError(f"'{text}' is not an expression that has a value") from None
    except LookupError as error:
        raise ValueError(f"'{text}': {error.args[0]}") from None
    if isinstance(value, complex) or (isinstance(value, float) and not abs(value) <= MOST):
        raise ValueError(f"'{text}' is not a number")
    return value


def _plain(text: str) -> str:
    """The text with numbers in base units; words in quotes stay."""
    parts = _QUOTED.split(text)
    parts[::2] = [_WITH_UNIT.sub(lambda m: _base(m[0], m[2]), part) for part in parts[::2]]
    return "".join(parts)


def _base(text: str, unit: str) -> str:
    return f"({units.parse(_KIND[unit], text)!r})"


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=bool() | None):
            pass
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Constant(value=str() as word):
            return word
        case ast.Name(id="none"):
            return None
        case ast.Name(id=name):
            if name not in names:
                raise LookupError(f"there is no quantity {name} above it")
            return names[name]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, names)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            found = _value(inner, names)
            return None if found is None else -found
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
            return _of_all(_ARITHMETIC[type(op)], [left, right], names)
        case ast.BoolOp(op=op, values=parts):
            return _either(isinstance(op, ast.Or), parts, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(op, _value(left, names), _value(right, names))
        case ast.IfExp(test=test, body=one, orelse=other):
            return _value(one if _value(test, names) else other, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _of_all(_FUNCTIONS[name], args, names)
    raise LookupError(f"{ast.unparse(node)} is not understood")


def _of_all(
    function: Callable[..., Any], nodes: list[ast.expr], names: Mapping[str, Any]
) -> float | None:
    values = [_value(node, names) for node in nodes]
    if None in values:
        return None
    if any(isinstance(value, str) for value in values):
        raise LookupError("a word is no number")
    return function(*values)


def _either(any_of: bool, parts: list[ast.expr], names: Mapping[str, Any]) -> Any:
    found = None
    for part in parts:
        found = _value(part, names)
        if bool(found) == any_of:
            break
    return found


def _compared(op: ast.cmpop, one: Any, other: Any) -> bool:
    if isinstance(op, ast.Eq | ast.NotEq):
        return (one == other) == isinstance(op, ast.Eq)
    if type(op) not in _ORDER:
        raise LookupError("this comparison is not understood")
    return None not in (one, other) and _ORDER[type(op)](one, other)


def kind_in(table: Mapping[str, Any]) -> str | None:
    """The kind of the first unit in a table's expressions, None if there is none."""
    for given in table.values():
        for text in given if isinstance(given, list) else [given]:
            found = _WITH_UNIT.search(text) if isinstance(text, str) else None
            if found:
                return _KIND[found[2]]
    return None
