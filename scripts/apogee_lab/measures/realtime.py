# SPDX-License-Identifier: GPL-2.0
"""Delays and losses beside the flows: of a real-time sender, and of pings.

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


class Rtp(TypedDict):
    """The real-time sender's packets, whole run."""

    sent: Annotated[int, "packets", "with `rtp`: packets sent"]
    lost: Annotated[int, "packets", "packets of it that did not arrive"]
    mean_ms: Annotated[float, "ms", "mean one-way delay of those that did"]
    p99_ms: Annotated[float, "ms", "99th percentile"]


class RtpKeys(TypedDict, total=False):
    """Keys with a real-time sender."""

    rtp: Rtp


class Ping(TypedDict):
    """Pings beside the flow."""

    answers: Annotated[int, "number", "pings that were answered"]
    mean_ms: Annotated[float, "ms", "mean round-trip time of the pings"]
    p99_ms: Annotated[float, "ms", "99th percentile"]
    max_ms: Annotated[float, "ms", "longest"]


class PingKeys(TypedDict, total=False):
    """Keys with pings."""

    ping: Ping


def _times(ms: list[float]) -> dict[str, float]:
    return {"mean_ms": round(sum(ms) / len(ms), 3), "p99_ms": round(percentile(ms, 0.99), 3)}


def _rtp(run: Measurement) -> None:
    if not run.raw.has("rtp.send.json"):
        return
    sent, got = run.raw.json("rtp.send.json"), run.raw.json("rtp.recv.json")
    total = sent["sent"] + sent["refused"]
    delays = [us / 1000 for us in got["delays_us"]] or [0.0]
    run.record["rtp"] = {
        "sent": total,
        "lost": max(0, total - got["packets"]),
        **_times(delays),
    }


def _ping(run: Measurement) -> None:
    if not run.raw.has("ping.txt"):
        return
    times = [float(ms) for ms in _PING.findall((run.raw.path / "ping.txt").read_text())]
    if times:
        longest = round(max(times), 3)
        run.record["ping"] = {"answers": len(times), **_times(times), "max_ms": longest}


RTP = Measure(_rtp, RtpKeys)
PINGS = Measure(_ping, PingKeys)
