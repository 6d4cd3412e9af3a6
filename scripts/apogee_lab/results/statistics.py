# SPDX-License-Identifier: GPL-2.0
"""Means, ratios of means, and their 95 % intervals.

The interval of a mean is Student's t over the seeds: mean ± t(0.975, n − 1) · s / √n, s being the
sample's standard deviation; that of a ratio of two means is Fieller's, over the same seeds. One
seed has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Estimate:
    """A number and the bounds of its interval, if it has one."""

    value: float
    bounds: tuple[float, float] | None = None

    def plus(self, other: float) -> Estimate:
        """The number and its interval, moved."""
        bounds = self.bounds and (self.bounds[0] + other, self.bounds[1] + other)
        return Estimate(self.value + other, bounds)


UNBOUNDED = (-math.inf, math.inf)


@lru_cache
def t_quantile(freedom: int, inside: float = 0.95) -> float:
    """The t with P(|T| < t) = ``inside`` for Student's distribution; t is at most 20.

    ``freedom``: degrees of freedom, an integer of at least 1. Inverts the closed form for integers,
    Abramowitz and Stegun 26.7.3 and 26.7.4, by bisection.
    """
    low, high = 0.0, 20.0
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


def mean_interval(values: Iterable[float]) -> tuple[float, float | None]:
    """Mean and half the width of its 95 % interval (None for fewer than two values)."""
    values = list(values)
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, None
    variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return mean, t_quantile(len(values) - 1) * math.sqrt(variance / len(values))


def around(value: float, half: float | None) -> Estimate:
    """A number with the half-width of its interval."""
    return Estimate(value, None if half is None else (value - half, value + half))


def mean_of(values: Iterable[float]) -> Estimate:
    """Mean with its interval."""
    return around(*mean_interval(values))


def ratio_of(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Mean of ``a`` over mean of ``b``, run by run with the same seeds, with Fieller's interval.

    The interval holds each ratio R for which the mean of a − R·b may be 0 by Student's t. Where
    the mean of ``b`` itself may be 0 there is no such bound: the interval is then unbounded. If it
    is 0 the ratio is infinite, or 1 for 0 / 0. Runs that only one of them has do not count.
    """
    pairs = list(zip(a, b, strict=False))
    count = len(pairs)
    mean_a = math.fsum(x for x, _ in pairs) / count
    mean_b = math.fsum(y for _, y in pairs) / count
    if not mean_b:
        return Estimate(math.inf if mean_a else 1.0)
    ratio = mean_a / mean_b
    if count < 2:
        return Estimate(ratio)
    # With variances and covariance of the means, times t² and over the square of the mean of b:
    # (1 − g_bb) R² − 2 (ratio − g_ab) R + ratio² − g_aa ≤ 0.
    scale = t_quantile(count - 1) ** 2 / (count * (count - 1))
    over_a = [x - mean_a for x, _ in pairs]
    over_b = [(y - mean_b) / mean_b for _, y in pairs]
    g_bb = scale * math.fsum(v * v for v in over_b)
    if g_bb >= 1:
        return Estimate(ratio, UNBOUNDED)
    g_ab = scale * math.fsum(u * v for u, v in zip(over_a, over_b, strict=True)) / mean_b
    g_aa = scale * math.fsum(u * u for u in over_a) / mean_b**2
    middle = ratio - g_ab
    root = math.sqrt(max(0.0, middle**2 - (1 - g_bb) * (ratio**2 - g_aa)))
    return Estimate(ratio, ((middle - root) / (1 - g_bb), (middle + root) / (1 - g_bb)))
