# SPDX-License-Identifier: GPL-2.0
"""Files that say how a path moves, as steps: pairs of a time (s) and what holds from then on.

A rate trace is Mahimahi's: a whole number of milliseconds a line, never smaller than the line
before; each is an opportunity to send 1500 bytes (frames with their Ethernet header, as all rates
of the lab). The last time is the trace's length. A delay trace has a one-way delay in ms a line,
one every 10 ms. Both repeat.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

Steps = list[tuple[float, float]]

OPPORTUNITY = 1500 * 8  # bits
LEAST_STEP_MS = 10  # of a rate trace; also the time between two lines of a delay trace
MOST_GAP_MS = 60_000  # what HTB can owe
MOST_DELAY_MS = 10_000


def rate_steps(path: str, until_s: float) -> Steps:
    """The rates in bit/s of a rate trace from 0 to ``until_s``; ValueError with one line."""
    times = [_whole(path, n, text) for n, text in _lines("rate_trace", path)]
    for number, (one, other) in enumerate(zip(times, times[1:], strict=False), 2):
        if other < one:
            raise ValueError(f"rate_trace: {path}:{number}: {other} is smaller than the line above")
    if not times[-1]:
        raise ValueError(f"rate_trace: {path}: all its times are 0")
    gap = max(b - a for a, b in zip([0, *times], times, strict=False))
    if gap > MOST_GAP_MS:
        raise ValueError(f"rate_trace: {path}: nothing for {gap} ms, at most {MOST_GAP_MS} can be")
    return _repeated(_paced(times), times[-1] / 1e3, until_s)


def delay_steps(path: str, until_s: float) -> Steps:
    """The one-way delays in s of a delay trace from 0 to ``until_s``; ValueError with one line."""
    values = [_delay(path, n, text) for n, text in _lines("delay_trace", path)]
    step_s = LEAST_STEP_MS / 1e3
    steps = [(n * step_s, value / 1e3) for n, value in enumerate(values)]
    return _repeated(steps, len(values) * step_s, until_s)


def _paced(times: list[int]) -> Steps:
    """Opportunities at these times (ms) as rates that carry as much.

    A step lasts 10 ms or a little more, from an opportunity to another. Where there is none for
    that long, the wait is a step of its own with the one that ends it; what else comes at that
    moment counts for the next step.
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
    """The steps again and again, without those that change nothing."""
    out: Steps = []
    for turn in range(math.ceil(until_s / length_s)):
        for at, value in steps:
            if not out or value != out[-1][1]:
                out.append((round(turn * length_s + at, 6), value))
    return [step for step in out if step[0] < until_s]


def _lines(param: str, path: str) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise ValueError(f"{param}: {path}: {reason}") from None
    found = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not found:
        raise ValueError(f"{param}: {path}: there is nothing in it")
    return found


def _whole(path: str, number: int, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(f"rate_trace: {path}:{number}: '{text[:40]}' is no whole number of ms")
    return int(text)


def _delay(path: str, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST_DELAY_MS:
        raise ValueError(
            f"delay_trace: {path}:{number}: '{text[:40]}' is no time from 0 to {MOST_DELAY_MS} ms"
        )
    return value
