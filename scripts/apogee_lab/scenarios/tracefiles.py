# SPDX-License-Identifier: GPL-2.0
"""Trace files of a path's rate, delay or losses.

A rate trace has Mahimahi's format: one whole number of milliseconds per line, in ascending order;
each is an opportunity to send (opportunities.py). The last time is the trace's length. A delay
trace has one one-way delay in ms per line, a loss trace the share of the data that is lost in
percent, both every 10 ms. All repeat. ``FILE@30s``: it begins 30 s into the file.
"""

from __future__ import annotations

import math
from pathlib import Path

from .. import units
from ..base import read_regular

Steps = list[tuple[float, float]]

STEP_MS = 10  # between two lines of a delay or loss trace
MOST_DELAY_MS = 10_000


def split(text: str) -> tuple[str, float]:
    """``cell.txt@30s`` -> the file's name, the offset in s. What is no time after an ``@`` belongs
    to the name."""
    path, at, offset = text.rpartition("@")
    try:
        seconds = float(units.parse("time", offset)) if at and path else None  # type: ignore[arg-type]
    except units.UnitError:
        seconds = None
    return (text, 0.0) if seconds is None else (path, seconds)


def times(name: str, path: str) -> list[int]:
    """The times in ms of a rate trace; ValueError if it is invalid."""
    lines = _lines(name, path)
    for number, text in lines:
        if not (text.isascii() and text.isdigit() and len(text) < 12):
            raise ValueError(f"{name}: {path}:{number}: '{text[:40]}' is not a whole number of ms")
    found = [int(text) for _, text in lines]
    for (number, _), one, other in zip(lines[1:], found, found[1:], strict=False):
        if other < one:
            raise ValueError(f"{name}: {path}:{number}: {other} is less than the line before")
    if not found[-1]:
        raise ValueError(f"{name}: {path}: all its times are 0")
    return found


def delay_steps(text: str, until_s: float) -> Steps:
    """The one-way delays in s of a delay trace from 0 to ``until_s``; ValueError if invalid."""
    allowed = f"a time from 0 to {MOST_DELAY_MS} ms"
    return _steps("delay_trace", text, until_s, (MOST_DELAY_MS, 1e3, allowed))


def loss_steps(text: str, until_s: float) -> Steps:
    """The shares lost of a loss trace from 0 to ``until_s``; ValueError if invalid."""
    return _steps("loss_trace", text, until_s, (100, 100, "a number of percent from 0 to 100"))


def _steps(name: str, text: str, until_s: float, kind: tuple[float, float, str]) -> Steps:
    """The values of a trace with a line every 10 ms, without steps that change nothing; ``kind``:
    the largest value, what it is divided by, what is allowed."""
    most, unit, allowed = kind
    path, offset_s = split(text)
    values = []
    for number, line in _lines(name, path):
        try:
            value = float(line) if line.isascii() and "_" not in line else math.nan
        except ValueError:
            value = math.nan
        if not 0 <= value <= most:
            raise ValueError(f"{name}: {path}:{number}: '{line[:40]}' is not {allowed}")
        values.append(value / unit)
    step_s = STEP_MS / 1e3
    skipped = math.floor(offset_s / step_s + 1e-6)
    begin_s = skipped * step_s - offset_s  # of the line that is in force at first
    out: Steps = []
    for number in range(math.ceil((until_s - begin_s) / step_s - 1e-6)):
        value = values[(skipped + number) % len(values)]
        if not out or value != out[-1][1]:
            out.append((round(max(0.0, begin_s + number * step_s), 6), value))
    return out


def _lines(name: str, path: str) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    try:
        text = read_regular(Path(path)).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise ValueError(f"{name}: {path}: {reason}") from None
    found = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not found:
        raise ValueError(f"{name}: {path}: the file is empty")
    return found
