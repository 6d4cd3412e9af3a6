# SPDX-License-Identifier: GPL-2.0
"""What a run's flows have under way, and their bandwidth estimates, over time.

Samples are times in seconds with values; a series is the mean of the samples of each second.

Windows and what is under way come from the sender's samples of TCP_INFO, ten a second, which every
run has; estimates from our modules' tracepoints (``--set trace=module``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..measures import traces
from ..measures.raw import RawFolder, samples_of
from .claims import ABE, UNDER_WAY

#: Times in s and values.
Samples = tuple[np.ndarray, np.ndarray]


def _samples(raw: Path, meta: dict[str, Any], of: Callable[..., np.ndarray]) -> list[Samples]:
    """Of each flow: seconds since the first handshake ended, and what ``of`` computes of named
    columns, in bytes."""
    folder = RawFolder(raw)
    sends = [folder.sender(flow["name"]) for flow in meta["flows"]]
    start = min(send["t0_us"] for send in sends)
    return [
        (
            (samples_of(send, "t_us") - start) / 1e6,
            of(partial(samples_of, send)) * send["info"]["snd_mss"],
        )
        for send in sends
    ]


def windows(raw: Path, meta: dict[str, Any]) -> list[Samples]:
    """The congestion window of each flow over time."""
    return _samples(raw, meta, lambda column: column("snd_cwnd"))


def under_way(raw: Path, meta: dict[str, Any]) -> list[Samples]:
    """What each flow has under way over time (RFC 6675's pipe): sent, neither acknowledged, nor
    selectively acknowledged, nor believed lost, and what of it was sent again.

    Where the receive window limits a sender its congestion window says little: Linux lets it grow
    to twice what is used, the paper's hosts did not.
    """
    return _samples(
        raw,
        meta,
        lambda column: column("unacked") - column("sacked") - column("lost") + column("retrans"),
    )


def estimates(raw: Path, meta: dict[str, Any]) -> list[Samples | None]:
    """Of each flow: seconds since the first estimate, estimate in bit/s; None without a trace."""
    ports = [flow["port"] for flow in meta["flows"]]
    traced = RawFolder(raw).series(ports)
    found: list[Samples | None] = []
    for port in ports:
        series = next((s for s in traced.get(port, {}).values() if "bw" in s), None)
        found.append(None if series is None else (series["t"], 8 * series["bw"]))
    starts = [points[0][0] for points in found if points is not None]
    return [None if points is None else (points[0] - min(starts), points[1]) for points in found]


def event_rate(raw: Path, meta: dict[str, Any], cc: str, event: str) -> float | None:
    """Trace events of a flow of this algorithm per second of the measured interval, the mean over
    its flows. None without a whole trace."""
    path = raw / "trace.txt"
    ports = {str(flow["port"]) for flow in meta["flows"] if flow["cc"] == cc}
    if not path.exists() or not ports or not traces.whole(raw):
        return None
    seconds = meta["duration_s"]
    begin = RawFolder(raw).times.get(("warmup", "off"), 0.0)
    changes = sum(
        name == event and fields["dport"] in ports and 0 <= time - begin < seconds
        for time, name, fields in traces.events(path)
    )
    return changes / len(ports) / seconds


def by_second(samples: Samples, seconds: int) -> list[float]:
    """The mean of each second's samples; a second without samples has the previous mean."""
    slots = np.floor(samples[0]).astype(int)
    sums = np.bincount(slots[slots >= 0], samples[1][slots >= 0], seconds)[:seconds]
    counts = np.bincount(slots[slots >= 0], None, seconds)[:seconds]
    result: list[float] = []
    for value, count in zip(sums, counts, strict=True):
        result.append(float(value / count) if count else result[-1] if result else 0.0)
    return result


def summary(raw: Path, meta: dict[str, Any], traced: bool = True) -> list[dict[str, Any]]:
    """Of each flow what claims need, by second: bytes under way, and the bandwidth estimate in
    bit/s, None without a trace. Without ``traced`` no trace is read."""
    seconds = int(meta["duration_s"])
    abe = estimates(raw, meta) if traced else [None] * len(meta["flows"])
    return [
        {
            UNDER_WAY: by_second(pipe, seconds),
            ABE: None if estimate is None else by_second(estimate, seconds),
        }
        for pipe, estimate in zip(under_way(raw, meta), abe, strict=True)
    ]
