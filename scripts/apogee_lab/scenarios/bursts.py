# SPDX-License-Identifier: GPL-2.0
"""Bursts of losses by time: good and bad times in turn, and all data is lost in a bad one.

Whether a time is good or bad is a process of two states in steps of 1 ms: a bad one ends with the
same probability after each millisecond, and so does a good one. It began long before the first SYN.
The times are drawn from the run's seed when the scenario is compiled, so that they are the same for
all algorithms, and pass by whether or not anybody sends.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from .scenario import Param
from .tracefiles import Steps

BEYOND_S = 60.0  # how long they go on behind the run's end

PARAM = Param(
    "burst_time", None, "every|none",
    "burst loss of data by time: mean time from one to the next, mean length", 0.001, 3600,
)  # fmt: skip

#: Begin and end (s).
Span = tuple[float, float]


def bad_times(values: Mapping[str, Any], ends_s: float, path: int = 1) -> list[Span]:
    """The bad times of a run that ends at ``ends_s``; each of several paths has its own."""
    if values["burst_time"] is None:
        return []
    every_ms, bad_ms = (1e3 * time for time in values["burst_time"])
    dice = random.Random(f"bursts {values['seed']} {path}")
    found: list[Span] = []
    at = 0
    if dice.random() * every_ms >= bad_ms:
        at = _lasts(dice, every_ms - bad_ms)
    while at < 1e3 * (ends_s + BEYOND_S):
        end = at + _lasts(dice, bad_ms)
        found.append((at / 1e3, end / 1e3))
        at = end + _lasts(dice, every_ms - bad_ms)
    return found


def _lasts(dice: random.Random, mean_ms: float) -> int:
    """How many milliseconds a state lasts: at least one, geometrically distributed."""
    stays = 1 - 1 / mean_ms
    return 1 + int(math.log(1 - dice.random()) / math.log(stays)) if stays > 0 else 1


def lost_in(steps: Steps, spans: Sequence[Span]) -> Steps:
    """Shares of frames lost, and all of them in these spans, which are in order and apart."""
    edges = [edge for begin, end in spans for edge in ((begin, 1), (end, 0))]
    every = sorted([*((at, None, loss) for at, loss in steps), *((at, x, 0.0) for at, x in edges)],
                   key=lambda edge: edge[0])  # fmt: skip
    out: Steps = []
    bad, share = 0, 0.0
    for at, turns, loss in every:
        bad, share = (bad, loss) if turns is None else (turns, share)
        value = 1.0 if bad else share
        if out and out[-1][0] == at:
            out.pop()
        if not out or out[-1][1] != value:
            out.append((at, value))
    return out
