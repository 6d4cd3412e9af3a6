# SPDX-License-Identifier: GPL-2.0
"""Measures of transfers: completion times by size, from the logs of both ends."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any


def completions(
    sent: Sequence[Sequence[int]], received: Sequence[Sequence[int]]
) -> list[tuple[int, float]]:
    """Size in bytes and completion time in s of every transfer, in order.

    ``sent`` has the time of connect(), or of the first write, in µs and the size of each transfer,
    ``received`` the bytes received and the time of the last one. ValueError if the transfers do not
    match.
    """
    if [size for _, size in sent] != [size for size, _ in received]:
        raise ValueError(f"{len(sent)} transfers were sent, but other bytes were received")
    return [
        (size, (last - syn) / 1e6) for (syn, size), (_, last) in zip(sent, received, strict=True)
    ]


def summary(found: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """The key ``requests`` of a record."""
    times: dict[int, list[float]] = {}
    for size, seconds in found:
        times.setdefault(size, []).append(round(seconds, 6))
    return {
        "transfers": len(found),
        "bytes": sum(size for size, _ in found),
        "sizes": [{"bytes": size, **_times(own)} for size, own in sorted(times.items())],
    }


def _times(seconds: Sequence[float]) -> Mapping[str, Any]:
    return {
        "transfers": len(seconds),
        "median_s": round(statistics.median(seconds), 4),
        "p90_s": round(percentile(seconds, 0.9), 4),
        "p95_s": round(percentile(seconds, 0.95), 4),
        "times_s": list(seconds),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """A percentile, interpolated linearly between ranks."""
    ranked = sorted(values)
    rank = share * (len(ranked) - 1)
    low = int(rank)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (rank - low)
