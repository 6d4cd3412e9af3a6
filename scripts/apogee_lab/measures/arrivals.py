# SPDX-License-Identifier: GPL-2.0
"""Payload that arrived at a receiver over time, goodput and start-up time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

BIN_US = 10_000  # the receiver's bins, microseconds

T90_LEAST_S = 0.2  # shortest interval over which start-up goodput is taken


class Arrivals:
    """Payload bytes received over time, from the receiver's bins; times in microseconds."""

    def __init__(self, bins: Iterable[tuple[int, int]]) -> None:
        times: list[int] = []
        counts: list[int] = []
        before = 0
        for end, count in bins:
            if not times or times[-1] < end - BIN_US:
                times.append(end - BIN_US)
                counts.append(before)
            times.append(end)
            counts.append(count)
            before = count
        # The first time is the beginning of the first bin, with nothing received.
        self.times = np.array(times or [0], dtype=np.float64)
        self.counts = np.array(counts or [0], dtype=np.float64)

    @classmethod
    def counted(cls, times_us: Sequence[float], counts: Sequence[float]) -> Arrivals:
        """From byte counts at these times, the first count being 0."""
        found = cls([])
        found.times = np.array(times_us, dtype=np.float64)
        found.counts = np.array(counts, dtype=np.float64)
        return found

    def until(self, time_us: float | np.ndarray) -> Any:
        """Bytes received until ``time_us``, interpolated linearly inside a bin."""
        return np.interp(time_us, self.times, self.counts, left=0.0)


def rate_over(arrivals: Iterable[Arrivals], ends_us: np.ndarray, window_s: float) -> np.ndarray:
    """Goodput in bit/s of all flows over the ``window_s`` seconds before each of ``ends_us``."""
    total = np.zeros(len(ends_us))
    for flow in arrivals:
        total += flow.until(ends_us) - flow.until(ends_us - window_s * 1e6)
    return total * 8 / window_s


def time_to_90(
    arrivals: Iterable[Arrivals], syn_us: float, end_us: float, limit_bps: float, rtt_s: float
) -> float | None:
    """Seconds from the SYN to the first interval with 90 % of the limit.

    The interval is one RTT of the empty path, but at least 0.2 s. The result is the time of its
    beginning, in steps of 10 ms.
    """
    length_s = max(T90_LEAST_S, rtt_s)
    ends = np.arange(syn_us + length_s * 1e6, end_us + 1, BIN_US, dtype=np.float64)
    reached = np.nonzero(rate_over(arrivals, ends, length_s) >= 0.9 * limit_bps)[0]
    return round(int(reached[0]) * BIN_US / 1e6, 3) if len(reached) else None
