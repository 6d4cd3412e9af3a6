# SPDX-License-Identifier: GPL-2.0
"""Trace files of a path's rate or delay, read as steps: pairs of a time (s) and a value.

A rate trace has Mahimahi's format: one whole number of milliseconds per line, in ascending order;
each is an opportunity to send 1500 bytes (frames with their Ethernet header, as for all rates of
the lab). The last time is the trace's length. A delay trace has one one-way delay in ms per line,
every 10 ms. Both repeat.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

Steps = list[tuple[float, float]]

OPPORTUNITY = 1500 * 8  # bits
LEAST_STEP_MS = 10  # of a rate trace; also the time between two lines of a delay trace
MOST_GAP_MS = 60_000  # HTB limits the token debt of a class to this
MOST_DELAY_MS = 10_000


def rate_steps(path: str, until_s: float) -> Steps:
    """The rates in bit/s of a rate trace from 0 to ``until_s``; ValueError if it is invalid."""
    times = [_whole(path, n, text) for n, text in _lines("rate_trace", path)]
    for number, (one, other) in enumerate(zip(times, times[1:], strict=False), 2):
        if other < one:
            raise ValueError(f"rate_trace: {path}:{number}: {other} is less than the line before")
    if not times[-1]:
        raise ValueError(f"rate_trace: {path}: all its times are 0")
    gap = max(b - a for a, b in zip([0, *times], times, strict=False))
    if gap > MOST_GAP_MS:
        raise ValueError(f"rate_trace: {path}: a gap of {gap} ms, at most {MOST_GAP_MS} is allowed")
    return _repeated(_paced(times), times[-1] / 1e3, until_s)


def delay_steps(path: str, until_s: float) -> Steps:
    """The one-way delays in s of a delay trace from 0 to ``until_s``; ValueError if invalid."""
    values = [_delay(path, n, text) for n, text in _lines("delay_trace", path)]
    step_s = LEAST_STEP_MS / 1e3
    steps = [(n * step_s, value / 1e3) for n, value in enumerate(values)]
    return _repeated(steps, len(values) * step_s, until_s)


def _paced(times: list[int]) -> Steps:
    """Convert opportunities at these times (ms) to rates that carry the same number of bytes.

    A step lasts at least 10 ms and ends at an opportunity. A gap of 10 ms or more becomes a step of
    its own that carries the one opportunity at its end; others at the same time count for the next
    step.
    """
    counts = Counter(times)
    last = times[-1]
    steps: list[tuple[int, int, int]] = []  # begin, end (ms), opportunities
    begin = before = waiting = 0
    for at in sorted(counts):
        new = counts[at]
        wait = at - before >= LEAST_STEP_MS
        if wait and before > begin:
            steps.append((begin, before, waiting))
            begin, waiting = before, 0
        left = new - 1 if wait and at < last else 0
        waiting += new - left
        if at - begin >= LEAST_STEP_MS or at == last:
            steps.append((begin, at, waiting))
            begin, waiting = at, left
        before = at
    return [(begin / 1e3, n * OPPORTUNITY * 1e3 / (end - begin)) for begin, end, n in steps]


def _repeated(steps: Steps, length_s: float, until_s: float) -> Steps:
    """The steps repeated until ``until_s``, without those that change nothing."""
    out: Steps = []
    for turn in range(math.ceil(until_s / length_s)):
        for at, value in steps:
            if not out or value != out[-1][1]:
                out.append((round(turn * length_s + at, 6), value))
    return [step for step in out if step[0] < until_s]


def _lines(param: str, path: str) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise ValueError(f"{param}: {path}: {reason}") from None
    found = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not found:
        raise ValueError(f"{param}: {path}: the file is empty")
    return found


def _whole(path: str, number: int, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(f"rate_trace: {path}:{number}: '{text[:40]}' is not a whole number of ms")
    return int(text)


def _delay(path: str, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST_DELAY_MS:
        allowed = f"a time from 0 to {MOST_DELAY_MS} ms"
        raise ValueError(f"delay_trace: {path}:{number}: '{text[:40]}' is not {allowed}")
    return value
