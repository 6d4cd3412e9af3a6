# SPDX-License-Identifier: GPL-2.0
"""Values with units: conversion between the text a user types and the numbers the lab uses.

=============  ==========================  =============================  =====================
kind           value                       typed as                       written as
=============  ==========================  =============================  =====================
rate           int, bit/s                  ``10mbit`` ``9600bit`` ``0``   ``10mbit``
time           float, s                    ``250ms`` ``1.5s`` ``0``       ``250ms``
size           int, bytes                  ``625kB`` ``16MB`` ``64KiB``   ``625kB``
ber            float, 0 <= x < 1           ``1e-7`` ``0``                 ``1e-07``
float, int     number                      ``0.5``, ``3``                 the same
bool           0 or 1                      ``0`` ``1``                    the same
choice:a,b     one of the words            ``a``                          the same
control        name of an algorithm        ``cubic``                      the same
share          float, 0 <= x <= 1          ``0.5%``                       ``0.5%``
event          (start s, length s) | None  ``45s:1s`` ``none``            ``45s:1s``
burst          (share, share) | None       ``1%:30%`` ``none``            ``1%:30%``
every          (every s, length s) | None  ``2s:50ms`` ``none``           ``2s:50ms``
events         tuple of Event | None       ``rate:2mbit@30s+stall@9s:1s``  the same
file           name of a file | None       ``cell.txt`` ``none``          the same
list:KIND      tuple of KIND's values      ``0s+10s``                     ``0s+10s``
=============  ==========================  =============================  =====================

List items are joined by ``+`` because ``,`` separates the values of a product; exponents of list
items must not contain ``+``. A kind may allow literal words after ``|``: ``ber|same`` is a bit
error rate or ``same``; ``none`` is None. k, M and G are powers of 1000, Ki, Mi and Gi of 1024.
``parse(kind, format(kind, value))`` gives ``value`` back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Value = int | float | str | tuple[Any, ...] | None

_RATE = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_TIME = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
}
_SIZE = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
#: Python refuses to read a number of thousands of digits.
_NUMBER = re.compile(
    r"(\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(e[+-]?\d{1,3})?", re.IGNORECASE | re.ASCII
)
LIST = "list:"
#: What an event may change: the kind of its new value, None for events without a value.
EVENTS: dict[str, str | None] = {"rate": "rate", "queue": "size", "delay": "time", "loss": "share"}
EVENTS |= {"ber": "ber", "stall": None, "outage": None}
LEAST_S = 0.001  # of the times of "every"
_PLAIN = {"ber", "float", "int", "bool"}


#: A congestion control's name: TCP_CA_NAME_MAX characters at most, its end included.
CONTROL = re.compile(r"[a-z][a-z0-9_-]{0,14}")


class UnitError(ValueError):
    """A value that is not valid for its kind; the message says what is allowed."""


@dataclass(frozen=True)
class Event:
    """A change of the path: what changes, its new value (if any), start (s) and length (s; None:
    to the end of the run)."""

    what: str
    value: float | None
    start_s: float
    length_s: float | None


def split_kind(kind: str) -> tuple[str, list[str]]:
    """``"ber|same"`` -> ``("ber", ["same"])``."""
    base, *words = kind.split("|")
    return base, words


#: By kind the unit shown in listings, and a short description of what is valid.
_KINDS = {
    "rate": ("bit/s", "a rate such as 10mbit (bit, kbit, mbit, gbit)"),
    "time": ("s", "a time such as 250ms (ns, us, ms, s, min)"),
    "size": ("bytes", "a size such as 625kB (B, kB, MB, GB, KiB, MiB, GiB)"),
    "ber": ("errors/bit", "a bit error rate from 0 to below 1, such as 1e-7"),
    "float": ("number", "a number"),
    "int": ("number", "a whole number"),
    "bool": ("0/1", "0 or 1"),
    "share": ("%", "a share such as 0.5%, from 0% to 100%"),
    "event": ("START:LENGTH", "START:LENGTH such as 45s:1s"),
    "burst": ("P%:R%", "two shares P:R such as 1%:30%"),
    "every": ("EVERY:LENGTH", "EVERY:LENGTH such as 2s:50ms"),
    "events": (
        "WHAT@START:LENGTH+…",
        "rate:RATE@START:LENGTH, queue:SIZE@START:LENGTH, delay:TIME@START:LENGTH, "
        "loss:SHARE@START:LENGTH, ber:BER@START:LENGTH (all without :LENGTH to the end), "
        "stall@START:LENGTH or outage@START:LENGTH, several joined by +",
    ),
    "file": ("file", "a file's name"),
    "control": ("name", "a congestion control's name"),
}


def describe(kind: str) -> str:
    """A short description of the valid input for this kind."""
    base, words = split_kind(kind)
    if base.startswith("choice:"):
        text = "one of " + base.removeprefix("choice:").replace(",", ", ")
    elif base.startswith(LIST):
        text = f"{describe(base.removeprefix(LIST))}, or several joined by +"
    else:
        text = _KINDS[base][1]
    return ", or ".join([text, *words])


def unit_name(kind: str) -> str:
    """The unit shown in listings (``bit/s``, ``s``, ``bytes``, ...); empty for words."""
    base, _ = split_kind(kind)
    if base.startswith(LIST):
        unit = unit_name(base.removeprefix(LIST))
        return f"{unit}+{unit}…"
    return _KINDS.get(base, ("",))[0]


def _unfit(text: str, kind: str) -> UnitError:
    return UnitError(f"{text!r} is not {describe(kind)}")


def _with_unit(text: str, table: dict[str, int] | dict[str, Fraction], kind: str) -> Fraction:
    """A number and a unit of ``table`` as an exact number of base units."""
    match = _NUMBER.match(text)
    if match:
        number = Fraction(match.group())
        unit = text[match.end() :].strip()
        if unit in table:
            return number * table[unit]
        if unit == "" and number == 0:
            return Fraction(0)
    raise _unfit(text, kind)


def _float(text: str, kind: str) -> float:
    value = float(text) if re.fullmatch(rf"[+-]?{_NUMBER.pattern}", text, re.I | re.A) else math.nan
    if not math.isfinite(value):
        raise _unfit(text, kind)
    return value


def _whole(value: Fraction, text: str, kind: str, unit: str) -> int:
    if value.denominator != 1:
        raise UnitError(f"{text!r} is not a whole number of {unit}; allowed: {describe(kind)}")
    if value >= 2**63:
        raise UnitError(f"{text!r} is too large")
    return int(value)


def _seconds(value: Fraction, text: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UnitError(f"{text!r} is too large") from None


def parse(kind: str, text: str) -> Value:
    """Convert ``text`` to a value of this kind; UnitError (one line) if it is not valid."""
    text = text.strip()
    base, words = split_kind(kind)
    if text in words:
        return None if text == "none" else text
    if base in _PARSED:
        return _PARSED[base](text, kind)
    if base.startswith("choice:"):
        known = base.removeprefix("choice:").split(",")
        if text not in known:
            choices = ", ".join([*known, *words])
            raise UnitError(f"unknown value {text!r}; choose from: {choices}")
        return text
    if base.startswith(LIST):
        try:
            return tuple(parse(base.removeprefix(LIST), item) for item in text.split("+"))
        except UnitError:
            raise _unfit(text, kind) from None
    raise KeyError(f"unknown kind of value: {kind}")


def _ber(text: str, kind: str) -> float:
    value = _float(text, kind)
    if not 0 <= value < 1:
        raise _unfit(text, kind)
    return abs(value)


def _matching(pattern: str, convert: Callable[[str], Value]) -> Callable[[str, str], Value]:
    def parse_it(text: str, kind: str) -> Value:
        if not re.fullmatch(pattern, text, re.ASCII | re.DOTALL):
            raise _unfit(text, kind)
        return convert(text)

    return parse_it


def _share(text: str, kind: str) -> float:
    number = _NUMBER.match(text)
    if not number or text[number.end() :].strip() != "%" or Fraction(number.group()) > 100:
        raise _unfit(text, kind)
    return float(Fraction(number.group()) / 100)


def _burst(text: str, kind: str) -> tuple[float, float]:
    into, colon, back = text.partition(":")
    if not colon:
        raise _unfit(text, kind)
    shares = (_share(into, kind), _share(back, kind))
    if not shares[1]:
        raise UnitError(f"{text!r}: with R=0% a burst never ends")
    return shares


def _two_times(text: str, kind: str) -> tuple[float, float]:
    one, colon, other = text.partition(":")
    if not colon:
        raise _unfit(text, kind)
    try:
        return (float(parse("time", one)), float(parse("time", other)))
    except UnitError:
        raise _unfit(text, kind) from None


def _every(text: str, kind: str) -> tuple[float, float]:
    times = _two_times(text, kind)
    if times[1] < LEAST_S or round(times[0] - times[1], 9) < LEAST_S:
        raise UnitError(f"{text!r}: LENGTH, and EVERY less LENGTH, must be at least 1ms")
    return times


def _one_event(text: str, kind: str) -> Event:
    """Parse one event such as ``delay:300ms@30s:5s``."""
    head, at, when = text.strip().partition("@")
    what, colon, amount = head.partition(":")
    value_kind = EVENTS.get(what)
    if not at or what not in EVENTS or bool(colon) != bool(value_kind):
        raise _unfit(text, kind)
    start, timed, length = when.partition(":")
    try:
        value = parse(value_kind, amount) if value_kind else None
        start_s = float(parse("time", start))
        length_s = float(parse("time", length)) if timed else None
    except UnitError as error:
        raise UnitError(f"{text!r}: {error}") from None
    if length_s is None and not value_kind:
        raise UnitError(f"{text!r}: a {what} needs a length, such as {what}@30s:1s")
    if length_s is not None and length_s <= 0:
        raise UnitError(f"{text!r}: the length must be longer than 0s")
    return Event(what, value, start_s, length_s)


def _event(text: str, kind: str) -> tuple[float, float]:
    event = _two_times(text, kind)
    if event[1] <= 0:
        raise UnitError(f"{text!r}: the length must be longer than 0s")
    return event


_PARSED: dict[str, Callable[[str, str], Value]] = {
    "rate": lambda text, kind: _whole(_with_unit(text.lower(), _RATE, kind), text, kind, "bit/s"),
    "time": lambda text, kind: _seconds(_with_unit(text, _TIME, kind), text),
    "size": lambda text, kind: _whole(_with_unit(text, _SIZE, kind), text, kind, "bytes"),
    "ber": _ber,
    "float": _float,
    "int": _matching(r"[+-]?\d{1,18}", int),
    "bool": _matching("[01]", int),
    "control": _matching(CONTROL.pattern, str),
    "file": _matching(".+", str),
    "share": _share,
    "event": _event,
    "burst": _burst,
    "every": _every,
    "events": lambda text, kind: tuple(_one_event(item, kind) for item in text.split("+")),
}


def _decimal(value: Fraction) -> str | None:
    """The exact decimal form with at most 6 places, or None."""
    scaled = value * 10**6
    if scaled.denominator != 1:
        return None
    digits = f"{int(scaled):07d}"
    return f"{digits[:-6]}.{digits[-6:]}".rstrip("0").rstrip(".")


def _largest(value: Fraction, table: list[tuple[str, Fraction]], zero: str) -> str:
    """``value``, a decimal fraction, written exactly in the largest unit with at most 6 places."""
    if value == 0:
        return zero
    for unit, scale in table:
        if value >= scale:
            text = _decimal(value / scale)
            if text is not None:
                return text + unit
    unit, scale = table[-1]
    exact = value / scale
    with localcontext(prec=60):
        return f"{Decimal(exact.numerator) / exact.denominator:f}{unit}"


def format(kind: str, value: Value) -> str:  # noqa: A001 - the counterpart of parse
    """The canonical text of a value; ``parse`` reads it back."""
    base, words = split_kind(kind)
    if value is None:
        return "none"
    if isinstance(value, str) and (
        value in words or base == "control" or base.startswith("choice:")
    ):
        return value
    if base == "rate":
        units = [("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3), ("bit", 1)]
        return _largest(Fraction(value), [(u, Fraction(s)) for u, s in units], "0")
    if base == "time":
        units = [("s", Fraction(1)), ("ms", _TIME["ms"]), ("us", _TIME["us"]), ("ns", _TIME["ns"])]
        return _largest(Fraction(repr(float(value))), units, "0s")
    if base == "size":
        units = [("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)]
        return _largest(Fraction(value), [(u, Fraction(s)) for u, s in units], "0")
    if base == "share":
        return _decimal_share(value)
    if base in ("event", "every"):
        return f"{format('time', value[0])}:{format('time', value[1])}"
    if base == "burst":
        return ":".join(format("share", share) for share in value)
    if base == "events":
        return "+".join(map(_event_text, value))
    if base.startswith(LIST):
        return "+".join(format(base.removeprefix(LIST), item) for item in value)
    if base in ("ber", "float"):
        number = float(value)
        return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
    return str(value)


def _decimal_share(value: float) -> str:
    """A share in percent, the shortest decimal that reads back as the same number."""
    percent = Decimal(repr(value)) * 100
    text = f"{percent:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def _event_text(event: Event) -> str:
    kind = EVENTS[event.what]
    value = f":{format(kind, event.value)}" if kind else ""
    length = "" if event.length_s is None else f":{format('time', event.length_s)}"
    return f"{event.what}{value}@{format('time', event.start_s)}{length}"


def for_record(kind: str, value: Value) -> int | float | str:
    """The value as a record stores it: plain numbers stay numbers, all others become text."""
    base, _ = split_kind(kind)
    if base in _PLAIN and not isinstance(value, str):
        return value  # type: ignore[return-value]
    return format(kind, value)
