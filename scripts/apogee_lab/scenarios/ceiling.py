# SPDX-License-Identifier: GPL-2.0
"""What a path can carry at most, by time: a run that carries more was not run on that path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from .tracefiles import Steps

LATE_S = 0.005  # a change of the path comes so late, at most


@dataclass(frozen=True)
class Ceiling:
    """The best goodput of a path over time, which its limit is the mean of.

    ``steps``: bit/s from a time (s after the first SYN) on. ``way_s``: shortest and longest time
    from the bottleneck to a receiver. ``first_s``: when the first data passes the bottleneck, and
    when it arrives, if nothing is lost or waits; the limit is of the interval that begins then.
    ``at_once``: bits that may pass in addition, such as the depth of a bucket. ``luck``: variance
    of what random losses leave, in bit² per bit. ``late_s``: how late a change may come, at most.
    """

    steps: tuple[tuple[float, float], ...]
    way_s: tuple[float, float] = (0.0, 0.0)
    first_s: tuple[float, float] = (0.0, 0.0)
    at_once: float = 0.0
    luck: float = 0.0
    late_s: float = LATE_S

    def facts(self) -> dict[str, Any]:
        """The facts that the measures need, as JSON has them."""
        found = asdict(self) | {"steps": [list(step) for step in self.steps]}
        return found | {"way_s": list(self.way_s), "first_s": list(self.first_s)}


def luck(loss: float, payload: int, stays: float = 0.0) -> float:
    """Variance of the bits that pass, per bit, if a share of frames with so many bytes of payload
    is lost; ``stays``: correlation of a frame's loss with that of the next one."""
    return loss * 8 * payload * (1 + stays) / (1 - stays)


def mean(steps: Steps | Sequence[tuple[float, float]], from_s: float, over_s: float) -> float:
    """The mean of steps over an interval."""
    inner = [at for at, _ in steps if from_s < at < from_s + over_s]
    first = [value for at, value in steps if at <= from_s][-1]
    values = [first, *(value for at, value in steps if from_s < at < from_s + over_s)]
    edges = [from_s, *inner, from_s + over_s]
    return sum(v * (b - a) for v, (a, b) in zip(values, pairwise(edges), strict=True)) / over_s
