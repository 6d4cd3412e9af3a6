# SPDX-License-Identifier: GPL-2.0
"""Windows and bandwidth estimates of a run's flows over time.

Samples are times in seconds with values; a series is the mean of the samples of each second.

Windows come from the sender's samples of TCP_INFO, ten a second, which every run has; estimates
from our modules' tracepoints (``--set trace=module``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import units
from ..measures import traces
from ..measures.raw import RawFolder, samples_of
from .claims import FULL

#: Times in s and values.
Samples = tuple[np.ndarray, np.ndarray]


def windows(raw: Path, meta: dict[str, Any]) -> list[Samples]:
    """Of each flow: seconds since the first handshake ended, congestion window in bytes.

    Clipped at the receive window, beyond which nothing is sent and where the paper's hosts stopped.
    Linux lets the window of a sender that the receive window limits grow to twice what it uses.
    """
    text = meta["set"].get("window")
    most = units.parse("size", str(text)) if text else None
    folder = RawFolder(raw)
    sends = [folder.sender(flow["name"]) for flow in meta["flows"]]
    start = min(send["t0_us"] for send in sends)
    found = []
    for send in sends:
        size = samples_of(send, "snd_cwnd") * send["info"]["snd_mss"]
        times = (samples_of(send, "t_us") - start) / 1e6
        found.append((times, np.minimum(size, most or np.inf)))
    return found


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


def full_at(samples: Samples, bdp_bytes: float) -> float | None:
    """When a window first reaches nine tenths of the bandwidth-delay product."""
    reached = np.nonzero(samples[1] >= FULL * bdp_bytes)[0]
    return round(float(samples[0][reached[0]]), 2) if len(reached) else None


def summary(raw: Path, meta: dict[str, Any], traced: bool = True) -> list[dict[str, Any]]:
    """Of each flow what claims need: the series ``window`` (bytes) and ``abe`` (bit/s, or None),
    and ``full_s``, the second at which the window is full. Without ``traced`` no trace is read."""
    seconds = int(meta["duration_s"])
    bdp_bytes = sum(path["bdp_bytes"] for path in meta["paths"])
    found = []
    abe = estimates(raw, meta) if traced else [None] * len(meta["flows"])
    for window, estimate in zip(windows(raw, meta), abe, strict=True):
        found.append(
            {
                "window": by_second(window, seconds),
                "abe": None if estimate is None else by_second(estimate, seconds),
                "full_s": full_at(window, bdp_bytes),
            }
        )
    return found
