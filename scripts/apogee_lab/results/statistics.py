# SPDX-License-Identifier: GPL-2.0
"""Means and their 95 % intervals.

The interval is Student's t over the seeds: mean ± t(0.975, n − 1) · s / √n, s being the sample's
standard deviation. One seed has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache


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
