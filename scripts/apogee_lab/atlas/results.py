# SPDX-License-Identifier: GPL-2.0
"""What an atlas takes from a record: of one algorithm on one path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .space import RandomPath


@dataclass(frozen=True)
class Result:
    """One run: the ``value`` that is compared (the more the better), total goodput, dropped at the
    queue (% of the segments sent; of the flow in question where one is compared), mean RTT, Jain's
    index, goodput of the other flows where one is compared, and where the run is kept."""

    value: float
    goodput_bps: float
    drops_percent: float
    rtt_ms: float | None
    jain: float
    others_bps: float | None = None
    run: str = ""


def of_record(record: Mapping[str, Any], measure: str) -> Result:
    """The result in a record, by the space's measure."""
    flows = record["flows"]
    own = flows[:1] if measure == "first" else flows
    rtts = [flow["rtt_ms"]["mean"] for flow in own if flow["rtt_ms"]["mean"] is not None]
    return Result(
        value=_value(record, measure),
        goodput_bps=record["total_goodput_bps"],
        drops_percent=_drops_percent(record, own),
        rtt_ms=fmean(rtts) if rtts else None,
        jain=record["jain"],
        others_bps=sum(f["goodput_bps"] for f in flows[1:]) if measure == "first" else None,
        run=record["run"],
    )


def _value(record: Mapping[str, Any], measure: str) -> float:
    if measure == "first":
        return record["flows"][0]["goodput_bps"]
    if measure == "speed":
        return 1 / _slowness(record)
    return record["total_goodput_bps"]


def _slowness(record: Mapping[str, Any]) -> float:
    """How many times longer than on the empty path the transfers took, their geometric mean. There
    a transfer takes its bytes' time at the limit and 1.5 round trips, or half of one on a
    connection that is there."""
    rtt_s = 8 * record["bdp_bytes"] / record["limit_bps"]
    trips = 0.5 if record["set"].get("persistent") else 1.5
    logs = [
        math.log(time_s / (trips * rtt_s + 8 * size["bytes"] / record["limit_bps"]))
        for size in record["requests"]["sizes"]
        for time_s in size["times_s"]
    ]
    return math.exp(fmean(logs)) if logs else math.inf


def _drops_percent(record: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> float:
    """Of flows that share a queue the drops are known per flow, unless the hop moves: then those of
    all count for each. A flow that sends next to nothing can lose more than its segments: SYNs."""
    counted = [flow.get("queue_drops") for flow in own]
    if len(own) == len(record["flows"]) or None in counted:
        own, drops = record["flows"], record["queue"]["drops"]
    else:
        drops = sum(counted)
    return 100 * drops / max(1, drops, sum(flow["segments"] for flow in own))


@dataclass(frozen=True)
class Compared:
    """An algorithm and its peers on one path."""

    path: RandomPath
    own: Result
    peers: Mapping[str, Result]

    @property
    def better(self) -> str:
        """The peer that has more."""
        return max(self.peers, key=lambda name: self.peers[name].value)

    @property
    def ratio(self) -> float:
        """The own value over the better peer's."""
        return self.over(self.better)

    def over(self, peer: str) -> float:
        """The own value over this peer's; 1 if both have nothing."""
        return quotient(self.own.value, self.peers[peer].value)


def quotient(one: float, other: float) -> float:
    """A ratio, 1 if both are 0."""
    if not other:
        return math.inf if one else 1.0
    return one / other
