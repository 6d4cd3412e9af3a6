# SPDX-License-Identifier: GPL-2.0
"""What a path can carry in the interval that was measured: a run's limit. A run that carried more
was not run on that path: it fails.

What it may carry is the integral of the path's best goodput over the time in which what arrived
left the bottleneck, and in addition:

- 2 %;
- five standard deviations of what random losses leave;
- what passes while a lower rate or a loss comes late by some milliseconds;
- what was sent and not acknowledged when the interval began, as a receiver that waited for a lost
  segment hands on all behind it at once; where that is not known, what is under way and in the
  queue, twice.

Nor may it be more than the path can carry since the first data was sent, less what arrived before
the interval: of that nothing was under way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .measurement import Measurement
from .record import RecordError

#: Values, each from a time (s) on.
Steps = Sequence[tuple[float, float]]

MARGIN = 0.02
DEVIATIONS = 5
COUNT_S = 0.5  # of flows that take turns: a quarter of a count of iperf3 at each end
FIRST_WINDOW = 10 * 1500  # bytes that a flow sends at once
LATE_S = 0.2  # TCP sends nothing again sooner, when it waits for a timeout


def limits(run: Measurement) -> list[Any]:
    """Each path's limit (bit/s): the plan's, unless the interval began late, because a SYN or the
    first data was lost, or was cut short: then that of this interval."""
    begin_s = (run.interval.begin_us - run.interval.syn_us) / 1e6
    planned_s, over_s = run.meta["duration_s"], run.interval.over_s
    due_s = max(_first(path.facts)[1] for path in run.paths)
    if max(begin_s - due_s, planned_s - over_s) < LATE_S:
        return [path.facts["limit_bps"] for path in run.paths]
    return [_limit(path.facts, begin_s, over_s, planned_s) for path in run.paths]


def _limit(path: Mapping[str, Any], begin_s: float, over_s: float, planned_s: float) -> Any:
    """A path's limit over an interval (s after the first SYN); the plan's where nothing moves."""
    steps = _steps(path)
    if len(steps) < 2:
        return path["limit_bps"]
    planned_from, due_s = _first(path)
    from_s = max(0.0, begin_s - (due_s - planned_from))
    more = within(steps, from_s, from_s + over_s)
    more -= within(steps, planned_from, planned_from + planned_s)
    return (path["limit_bps"] * planned_s + more) / over_s


def _steps(path: Mapping[str, Any]) -> Steps:
    """A path's best goodput (bit/s) over time."""
    found: Steps = path.get("ceiling", {}).get("steps", [(0.0, path["limit_bps"])])
    return found


def _first(path: Mapping[str, Any]) -> Any:
    return path.get("ceiling", {}).get("first_s", (0.0, 0.0))


def check(run: Measurement) -> None:
    """RecordError if the goodput is more than the paths can carry."""
    span = run.interval
    begin_s, end_s = ((us - span.syn_us) / 1e6 for us in (span.begin_us, span.end_us))
    most, allowed = _most(run, lambda _: begin_s, end_s)
    before = 8 * sum(float(flow.arrivals.until(span.begin_us)) for flow in run.flows)
    since_first = _most(run, lambda way_s: _first_data_s(run, way_s), end_s)[1]
    allowed = min(allowed + held(run), since_first + apart(run) - before)
    got = run.record["total_goodput_bps"] * span.over_s
    if got > allowed:
        raise RecordError(
            f"goodput {got / span.over_s / 1e6:.3f} Mbit/s is more than the path can carry, "
            f"{most / span.over_s / 1e6:.3f} Mbit/s"
        )


def _most(run: Measurement, begin_s: Callable[[float], float], end_s: float) -> tuple[float, float]:
    """Bits that the paths can carry, and with margin and luck; ``begin_s``: when the interval
    begins, by the longest way to a receiver (s)."""
    most = variance = 0.0
    for path in run.paths:
        best = path.facts.get("ceiling", {}) | {"steps": _steps(path.facts)}
        bits = carried(best, begin_s(best.get("way_s", (0.0, 0.0))[1]), end_s)
        most += bits
        variance += bits * best.get("luck", 0.0)
    return most, (1 + MARGIN) * most + DEVIATIONS * math.sqrt(variance)


def _first_data_s(run: Measurement, way_s: float) -> float:
    """When data that is sent as soon as a connection stands arrives, on a way of this length."""
    first_us = min(flow.begin_us if flow.open_us is None else flow.open_us for flow in run.flows)
    return (first_us - run.interval.syn_us) / 1e6 + (way_s if run.in_time else 0.0)


def carried(best: Mapping[str, Any], begin_s: float, end_s: float) -> float:
    """Bits that can arrive in an interval (s after the first SYN); ``best``: a path's ceiling."""
    shortest, longest = best.get("way_s", (0.0, 0.0))
    steps = best["steps"]
    bits = within(steps, begin_s - longest, end_s - shortest)
    falls = sum(max(0.0, a - b) for (_, a), (_, b) in pairwise(steps))
    return bits + best.get("late_s", 0.0) * falls + best.get("at_once", 0.0)


def within(steps: Steps, begin_s: float, end_s: float) -> float:
    """Bits that steps (bit/s from a time on) have in an interval."""
    ends = [*(at for at, _ in steps[1:]), math.inf]
    return sum(
        value * max(0.0, min(until, end_s) - max(at, begin_s))
        for (at, value), until in zip(steps, ends, strict=True)
    )


def held(run: Measurement) -> float:
    """Bits that may have passed the bottleneck before the interval."""
    if len(run.flows) == 1 and run.in_time and run.warm_s is None:
        return math.inf  # it begins with the first data
    waiting = [flow.unacknowledged(run.interval.begin_us) for flow in run.flows]
    if None not in waiting and run.meta["set"].get("via") != "mptcp":
        return 8 * math.fsum(waiting)
    known = run.in_time or len(run.flows) == 1
    steps = [] if known else [_steps(path.facts) for path in run.paths]
    seconds = COUNT_S * math.fsum(max(rate for _, rate in each) for each in steps)
    return 8 * 2 * (run.total("bdp_bytes") + run.total("queue_bytes")) + seconds


def apart(run: Measurement) -> float:
    """Bits that iperf3's counts may have too much: they are by the second, and each server's from
    its own beginning, of which only the client's start is known. Not bounded if a lost frame may
    have delayed it by seconds, or if the rate moves."""
    if run.in_time:
        return 0.0
    starts = [flow.syn_us for flow in run.flows]
    apart_us = max(starts) - min(starts)
    steps = [_steps(path.facts) for path in run.paths]
    lost = any(path.link_drops or path.ack_drops or "channel" in path.facts for path in run.paths)
    if lost or max(map(len, steps)) > 1 or apart_us > min(flow.min_rtt_us for flow in run.flows):
        return math.inf
    rate = math.fsum(each[0][1] for each in steps)
    return rate * apart_us / 1e6 + 8 * FIRST_WINDOW * (len(starts) - 1)
