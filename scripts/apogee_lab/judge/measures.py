# SPDX-License-Identifier: GPL-2.0
"""What a criterion measures in a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Record = Mapping[str, Any]

FRAME_BITS = 8 * 1514  # a full frame of mtu 1500, as netem counts it
SEGMENT = 1448  # bytes of data in it


@dataclass(frozen=True)
class Figure:
    """A function of a record, the unit of its value, and what it is."""

    of: Callable[[Record], float | None]
    unit: str
    help: str


def _goodput(flows: list[Record]) -> float:
    return math.fsum(flow["goodput_bps"] for flow in flows) / 1e6


def _drops_percent(record: Record) -> float:
    """What the queue dropped, of all segments sent; without the real-time sender's."""
    return 100 * record["queue"]["drops"] / max(1, sum(f["segments"] for f in record["flows"]))


def _last_lost(record: Record) -> float | None:
    last = record["flows"][-1]
    dropped = last.get("queue_drops")
    return None if dropped is None else 100 * dropped / max(1, last["segments"])


def _slowness(record: Record) -> float | None:
    """Geometric mean of how many times longer than on the empty path transfers took. There one
    takes its bytes' time at the limit and one and a half round trips."""
    rtt_s = 8 * record["bdp_bytes"] / record["limit_bps"]
    logs = [
        math.log(time_s / (1.5 * rtt_s + 8 * size["bytes"] / record["limit_bps"]))
        for size in record["requests"]["sizes"]
        for time_s in size["times_s"]
    ]
    return math.exp(fmean(logs)) if logs else None


def _transfer_s(record: Record) -> float | None:
    times = [time_s for size in record["requests"]["sizes"] for time_s in size["times_s"]]
    return fmean(times) if times else None


def equation_bps(loss: float, rtt_s: float, segment: int = SEGMENT) -> float:
    """The rate of a TCP-friendly flow by the equation of RFC 5348, 3.1, with t_RTO = 4 RTT."""
    root = math.sqrt(2 * loss / 3) + 12 * math.sqrt(3 * loss / 8) * loss * (1 + 32 * loss**2)
    return 8 * segment / (rtt_s * root)


def _over_equation(record: Record) -> float | None:
    """The rate that is sent over the equation's, of one flow."""
    flow = record["flows"][0]
    lost = record["losses"] / max(1, flow["segments"])
    rtt_ms = flow["rtt_ms"]["mean"]
    if not 0 < lost < 1 or not rtt_ms:
        return None
    sent_bps = 8 * SEGMENT * flow["segments"] / record["duration_s"]
    return sent_bps / equation_bps(lost, rtt_ms / 1000)


def _sent_share(record: Record) -> float:
    """Frames sent by the first flow, as a share of what the bottleneck's rate carries: from the
    limit, which is that rate less losses and headers, this cannot be said, so from the BDP."""
    flow, setting = record["flows"][0], record["set"]
    return flow["segments"] * FRAME_BITS / (rate_bps(setting["rate"]) * record["duration_s"])


_RATES = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def rate_bps(text: Any) -> float:
    """A rate of a record's settings in bit/s."""
    for unit, times in _RATES.items():
        if str(text).endswith(unit):
            return float(str(text).removesuffix(unit)) * times
    return float(text)


def _of_flow(index: int, key: str) -> Callable[[Record], float | None]:
    def found(record: Record) -> float | None:
        return record["flows"][index].get(key)

    return found


def _rtt(record: Record) -> float | None:
    return record["flows"][-1]["rtt_ms"]["mean"]


def _rtp(key: str) -> Callable[[Record], float | None]:
    return lambda record: record["rtp"][key]


def _rtp_lost(record: Record) -> float:
    return 100 * record["rtp"]["lost"] / max(1, record["rtp"]["sent"])


def _retransmits(record: Record) -> float:
    flows = record["flows"]
    return 100 * sum(f["retransmits"] for f in flows) / max(1, sum(f["segments"] for f in flows))


def _after_lie_s(record: Record) -> float:
    """Until half of the rate arrives again; what never does has the longest time that is waited."""
    back = record["liar"]["half_s"]
    return float(_WAITED_S[record["set"]["lie_rtt"]] if back is None else back)


#: How long tests/played/hostile waits for data, s.
_WAITED_S = {"short": 30, "long": 90}


#: Names that a criterion's ``measure`` may have.
MEASURES: dict[str, Figure] = {
    "goodput": Figure(lambda r: r["total_goodput_bps"] / 1e6, "Mbit/s", "goodput of all flows"),
    "utilisation": Figure(
        lambda r: 100 * r["total_goodput_bps"] / r["limit_bps"], "%", "goodput of the limit"
    ),
    "own goodput": Figure(lambda r: _goodput(r["flows"][:1]), "Mbit/s", "the first flow's goodput"),
    "others' goodput": Figure(
        lambda r: _goodput(r["flows"][1:]), "Mbit/s", "goodput of all flows but the first"
    ),
    "other's goodput": Figure(
        lambda r: _goodput(r["flows"][-1:]), "Mbit/s", "the last flow's goodput"
    ),
    "other's share": Figure(
        _of_flow(-1, "fair_share"), "", "the last flow's goodput over an equal share"
    ),
    "other's RTT": Figure(_rtt, "ms", "the last flow's mean RTT"),
    "other's loss": Figure(_last_lost, "%", "the last flow's segments that the queue dropped"),
    "jain": Figure(lambda r: r["jain"], "", "Jain's index"),
    "queue": Figure(lambda r: r["queue"]["mean_ms"], "ms", "mean delay in the bottleneck's queue"),
    "loss": Figure(_drops_percent, "%", "drops at the queue, of the segments sent"),
    "lost frames": Figure(lambda r: r["link_drops"], "frames", "frames sent into the outage"),
    "segments": Figure(_of_flow(0, "segments"), "segments", "segments sent"),
    "sent": Figure(_sent_share, "", "what is sent over what the link carries"),
    "retransmits": Figure(_retransmits, "%", "segments sent again"),
    "over equation": Figure(_over_equation, "", "rate sent over that of RFC 5348's equation"),
    "slowness": Figure(_slowness, "", "time of transfers over that on the empty path"),
    "transfer": Figure(_transfer_s, "s", "time of a transfer"),
    "lie": Figure(lambda r: r["liar"]["segments"], "segments", "segments sent to a liar in 8 s"),
    "after a lie": Figure(_after_lie_s, "s", "time until half of the rate is back after a lie"),
    "real-time delay": Figure(_rtp("p99_ms"), "ms", "real-time packets' delay, 99th percentile"),
    "real-time loss": Figure(_rtp_lost, "%", "real-time packets lost"),
}
