# SPDX-License-Identifier: GPL-2.0
"""Means, ratios of means, and their intervals, of 95 % unless another level is asked for.

The interval of a mean is Student's t over the seeds: mean ± t(0.975, n − 1) · s / √n, s being the
sample's standard deviation; that of a ratio of two means is Fieller's, over the same seeds; that of
a share of a count is Wilson's. One seed has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist, fmean

LEVEL = 0.95  # of an interval unless another one is asked for

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A number and, if it has an interval, the function that gives its bounds at a level."""

    value: float
    at: Callable[[float], Bounds] | None = field(default=None, compare=False)

    @property
    def bounds(self) -> Bounds | None:
        """The bounds of the 95 % interval, if there is one."""
        return self.at and self.at(LEVEL)

    def mapped(self, change: Callable[[float], float]) -> Estimate:
        """The number and its bounds, each changed by a function that keeps their order."""
        at = self.at
        if at is None:
            return Estimate(change(self.value))

        def moved(level: float) -> Bounds:
            low, high = at(level)
            return change(low), change(high)

        return Estimate(change(self.value), moved)

    def plus(self, other: float) -> Estimate:
        """The number and its interval, moved."""
        return self.mapped(lambda value: value + other)

    def as_share(self) -> Estimate:
        """The same from 0 to 1, as nothing else is a share."""
        return self.mapped(lambda value: min(max(value, 0.0), 1.0))


UNBOUNDED = (-math.inf, math.inf)


@lru_cache
def t_quantile(freedom: int, inside: float = LEVEL) -> float:
    """The t with P(|T| < t) = ``inside`` for Student's distribution.

    ``freedom``: degrees of freedom, an integer of at least 1. Inverts the closed form for integers,
    Abramowitz and Stegun 26.7.3 and 26.7.4, by bisection.
    """
    low, high = 0.0, 20.0
    while _t_inside(high, freedom) < inside:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _t_inside(middle, freedom) < inside:
            low = middle
        else:
            high = middle
    return high


def _t_inside(t: float, freedom: int) -> float:
    theta = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(2 if odd else 1, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    return 2 / math.pi * (theta + sine * total) if odd else sine * total


def normal_quantile(inside: float = LEVEL) -> float:
    """The z with P(|Z| < z) = ``inside`` for the normal distribution."""
    return NormalDist().inv_cdf((1 + inside) / 2)


def mean_interval(values: Iterable[float], level: float = LEVEL) -> tuple[float, float | None]:
    """Mean and half the width of its interval (None for fewer than two values)."""
    values = list(values)
    mean = fmean(values)
    if len(values) < 2:
        return mean, None
    variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return mean, t_quantile(len(values) - 1, level) * math.sqrt(variance / len(values))


def around(value: float, half: float | None) -> Estimate:
    """A number with the half-width of its 95 % interval, whose other levels are those of a normal
    distribution."""
    if half is None:
        return Estimate(value)

    def at(level: float) -> Bounds:
        own = half * normal_quantile(level) / normal_quantile()
        return value - own, value + own

    return Estimate(value, at)


def mean_of(values: Iterable[float]) -> Estimate:
    """Mean with its interval."""
    values = list(values)
    mean, half = mean_interval(values)
    if half is None:
        return Estimate(mean)

    def at(level: float) -> Bounds:
        own = mean_interval(values, level)[1] or 0.0
        return mean - own, mean + own

    return Estimate(mean, at)


def share_of(found: float, count: float) -> Estimate:
    """The share of so many independent cases, with Wilson's interval, which has a width even if the
    share is 0 or 1; 0 without an interval if there are no cases. It is 1 if more than all were
    found, as of two counts that different hosts have taken."""
    if not count:
        return Estimate(0.0)
    share = min(max(found / count, 0.0), 1.0)

    def at(level: float) -> Bounds:
        z2 = normal_quantile(level) ** 2 / count
        middle = share + z2 / 2
        root = math.sqrt(z2 * (share * (1 - share) + z2 / 4))
        return (middle - root) / (1 + z2), (middle + root) / (1 + z2)

    return Estimate(share, at).as_share()


def wider(one: Estimate, other: Estimate) -> Estimate:
    """The first number with the interval that reaches as far as either's, if both have one."""
    at, also = one.at, other.at
    if at is None or also is None:
        return Estimate(one.value)

    def both(level: float) -> Bounds:
        lows, highs = zip(at(level), also(level), strict=True)
        return min(lows), max(highs)

    return Estimate(one.value, both)


def ratio_of(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Mean of ``a`` over mean of ``b``, run by run with the same seeds, with Fieller's interval.

    The interval holds each ratio R for which the mean of a − R·b may be 0 by Student's t. Where
    the mean of ``b`` itself may be 0 there is no such bound: the interval is then unbounded. If it
    is 0 the ratio is infinite, or 1 for 0 / 0.
    """
    pairs = list(zip(a, b, strict=True))
    count = len(pairs)
    mean_a, mean_b = math.fsum(a) / count, math.fsum(b) / count
    if not mean_b:
        return Estimate(math.inf if mean_a else 1.0)
    ratio = mean_a / mean_b
    if count < 2:
        return Estimate(ratio)
    # Variances and covariance of the means over the square of the mean of b. With them times t²:
    # (1 − g_bb) R² − 2 (ratio − g_ab) R + ratio² − g_aa ≤ 0.
    scale = 1 / (count * (count - 1))
    off = [((x - mean_a) / mean_b, (y - mean_b) / mean_b) for x, y in pairs]
    v_aa = scale * math.fsum(x * x for x, _ in off)
    v_ab = scale * math.fsum(x * y for x, y in off)
    v_bb = scale * math.fsum(y * y for _, y in off)

    def at(level: float) -> Bounds:
        t2 = t_quantile(count - 1, level) ** 2
        g_aa, g_ab, g_bb = t2 * v_aa, t2 * v_ab, t2 * v_bb
        if g_bb >= 1:
            return UNBOUNDED
        middle = ratio - g_ab
        root = math.sqrt(max(0.0, middle**2 - (1 - g_bb) * (ratio**2 - g_aa)))
        return (middle - root) / (1 - g_bb), (middle + root) / (1 - g_bb)

    return Estimate(ratio, at)
