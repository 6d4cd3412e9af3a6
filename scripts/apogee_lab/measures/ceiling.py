# SPDX-License-Identifier: GPL-2.0
"""A run that carried more than its path can carry was not run on that path: it fails.

What it may carry is the integral of the path's best goodput over the time in which what arrived
left the bottleneck, and in addition:

- 2 %;
- five standard deviations of what random losses leave;
- what passes while a lower rate or a loss comes late by some milliseconds;
- where the interval does not begin with the first data of the only flow, or arrivals are known by
  the second: what was under way and in the queue when it began, twice, as a receiver that waited
  for a lost segment hands on all behind it at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from .measurement import Measurement
from .record import RecordError

MARGIN = 0.02
DEVIATIONS = 5


def check(run: Measurement) -> None:
    """RecordError if the goodput is more than the paths can carry."""
    span = run.interval
    begin_s, end_s = ((us - span.syn_us) / 1e6 for us in (span.begin_us, span.end_us))
    most = variance = 0.0
    for path in run.paths:
        best = path.facts.get("ceiling") or {"steps": [(0.0, path.facts["limit_bps"])]}
        bits = carried(best, begin_s, end_s)
        most += bits
        variance += bits * best.get("luck", 0.0)
    allowed = (1 + MARGIN) * most + DEVIATIONS * math.sqrt(variance) + held(run)
    got = run.record["total_goodput_bps"] * span.over_s
    if got > allowed:
        raise RecordError(
            f"goodput {got / span.over_s / 1e6:.3f} Mbit/s is more than the path can carry, "
            f"{most / span.over_s / 1e6:.3f} Mbit/s"
        )


def carried(best: Mapping[str, Any], begin_s: float, end_s: float) -> float:
    """Bits that can arrive in an interval (s after the first SYN); ``best``: a path's ceiling."""
    shortest, longest = best.get("way_s", (0.0, 0.0))
    steps = best["steps"]
    ends = [*(at for at, _ in steps[1:]), math.inf]
    bits = sum(
        value * max(0.0, min(until, end_s - shortest) - max(at, begin_s - longest))
        for (at, value), until in zip(steps, ends, strict=True)
    )
    falls = sum(max(0.0, a - b) for (_, a), (_, b) in pairwise(steps))
    return bits + best.get("late_s", 0.0) * falls + best.get("at_once", 0.0)


def held(run: Measurement) -> float:
    """Bits that may have passed the bottleneck before the interval."""
    if len(run.flows) == 1 and run.in_time and run.warm_s is None:
        return 0.0
    return 8 * 2 * (run.total("bdp_bytes") + run.total("queue_bytes"))
