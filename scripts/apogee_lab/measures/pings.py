# SPDX-License-Identifier: GPL-2.0
"""Round-trip times of pings beside the flows.

Needs no numpy, as scenarios are listed without it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, TypedDict

from .measure import Measure
from .transfers import percentile

if TYPE_CHECKING:
    from .measurement import Measurement

_PING = re.compile(r"seq=\d+ ttl=\d+ time=([\d.]+) ms")


class Ping(TypedDict):
    """Pings beside the flow."""

    answers: Annotated[int, "number", "pings that were answered"]
    mean_ms: Annotated[float, "ms", "mean round-trip time of the pings"]
    p99_ms: Annotated[float, "ms", "99th percentile"]
    max_ms: Annotated[float, "ms", "longest"]


class PingKeys(TypedDict, total=False):
    """Keys with pings."""

    ping: Ping


def _ping(run: Measurement) -> None:
    if not run.raw.has("ping.txt"):
        return
    times = [float(ms) for ms in _PING.findall((run.raw.path / "ping.txt").read_text())]
    if times:
        run.record["ping"] = {
            "answers": len(times),
            "mean_ms": round(sum(times) / len(times), 3),
            "p99_ms": round(percentile(times, 0.99), 3),
            "max_ms": round(max(times), 3),
        }


PINGS = Measure(_ping, PingKeys)
