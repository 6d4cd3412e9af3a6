# SPDX-License-Identifier: GPL-2.0
"""Delays and losses of a real-time sender beside the flows.

Needs no numpy, as scenarios are listed without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from .measure import Measure
from .transfers import percentile

if TYPE_CHECKING:
    from .measurement import Measurement


class Rtp(TypedDict):
    """The real-time sender's packets, whole run."""

    sent: Annotated[int, "packets", "with `rtp`: packets sent"]
    lost: Annotated[int, "packets", "packets of it that did not arrive"]
    mean_ms: Annotated[float, "ms", "mean one-way delay of those that did"]
    p99_ms: Annotated[float, "ms", "99th percentile"]


class RtpKeys(TypedDict, total=False):
    """Keys with a real-time sender."""

    rtp: Rtp


def _rtp(run: Measurement) -> None:
    if not run.raw.has("rtp.send.json"):
        return
    sent, got = run.raw.json("rtp.send.json"), run.raw.json("rtp.recv.json")
    total = sent["sent"] + sent["refused"]
    delays = [us / 1000 for us in got["delays_us"]] or [0.0]
    run.record["rtp"] = {
        "sent": total,
        "lost": max(0, total - got["packets"]),
        "mean_ms": round(sum(delays) / len(delays), 3),
        "p99_ms": round(percentile(delays, 0.99), 3),
    }


RTP = Measure(_rtp, RtpKeys)
