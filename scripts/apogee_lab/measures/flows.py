# SPDX-License-Identifier: GPL-2.0
"""One flow's measures, and those of flows together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrivals import Arrivals
from .raw import nstat, read_arrivals, read_events, read_json, samples_of
from .record import RecordError


def jain(rates: list[float]) -> float:
    """Jain's fairness index; 1 for equal rates (and when nothing flows)."""
    squares = sum(rate * rate for rate in rates)
    return round(sum(rates) ** 2 / (len(rates) * squares), 4) if squares else 1.0


def fair_shares(rates: list[float]) -> list[float]:
    """Each rate over their mean; 1 for all when nothing flows."""
    total = math.fsum(rates)
    return [round(len(rates) * rate / total, 4) if total else 1.0 for rate in rates]


# --- one record -------------------------------------------------------------------------------


@dataclass
class Measured:
    """One flow: what its record holds by itself, and what depends on the other flows.

    ``arrivals`` begin at ``begin_us``, the first data segment's; ``fine`` tells whether their steps
    are 10 ms. The sender stopped at ``stop_us``; ``times_us``, ``rtt_us`` and ``window`` (bytes)
    are its samples.
    """

    record: dict[str, Any]
    arrivals: Arrivals
    fine: bool
    syn_us: float
    begin_us: float
    stop_us: float
    times_us: np.ndarray
    rtt_us: np.ndarray
    min_rtt_us: float
    window: np.ndarray | None = None
    retransmits: np.ndarray | None = None

    def goodput(self, begin_us: float, end_us: float, over_s: float) -> float:
        """Bit/s of what arrived between two times, over ``over_s`` seconds."""
        received = float(self.arrivals.until(end_us) - self.arrivals.until(begin_us))
        return round(received * 8 / over_s, 1)

    def rtt_ms(self, since_us: float) -> dict[str, float | None]:
        """The smoothed RTT of the samples from ``since_us`` on."""
        rtt = self.rtt_us[(self.times_us >= since_us) & (self.rtt_us > 0)]
        return {
            "min": round(self.min_rtt_us / 1000, 3),
            "mean": round(float(rtt.mean()) / 1000, 3) if len(rtt) else None,
            "p99": round(float(np.percentile(rtt, 99)) / 1000, 3) if len(rtt) else None,
        }

    def window_bytes(self, begin_us: float, end_us: float) -> dict[str, float] | None:
        """Mean, least and greatest congestion window between two times."""
        if self.window is None:
            return None
        inside = self.window[(self.times_us >= begin_us) & (self.times_us <= end_us)]
        if not len(inside):
            return None
        return {
            "mean": round(float(inside.mean()), 1),
            "min": int(inside.min()),
            "max": int(inside.max()),
        }


def _timeouts(raw: Path, spec: dict[str, Any], shared: bool) -> int | None:
    return None if shared else nstat(raw, spec["netns"]).get("TcpExtTCPTimeouts", 0)


def flow_tool(raw: Path, spec: dict[str, Any], shared: bool) -> Measured:
    """One flow made with the lab's own tool; ``shared``: others have the sender's namespace."""
    send = read_json(raw / f"{spec['name']}.send.json")
    if send.get("error"):
        raise RecordError(f"{spec['name']}: {send['error']}")
    arrivals = read_arrivals(raw, spec["name"])
    info = send["info"]
    mss = info.get("snd_mss")
    return Measured(
        record={
            "name": spec["name"],
            "cc": spec["cc"],
            "goodput_bps": 0.0,
            "retransmits": info["total_retrans"],
            "segments": info["data_segs_out"],
            "timeouts": _timeouts(raw, spec, shared),
        },
        arrivals=arrivals,
        fine=True,
        syn_us=send["syn_us"],
        begin_us=float(arrivals.times[0] if arrivals.counts[-1] else send["t0_us"]),
        stop_us=float(send["end_us"]),
        times_us=samples_of(send, "t_us"),
        rtt_us=samples_of(send, "rtt"),
        min_rtt_us=info["min_rtt"],
        window=samples_of(send, "snd_cwnd") * mss if mss else None,
        retransmits=samples_of(send, "total_retrans"),
    )


def _iperf3_json(raw: Path, flow: str, side: str) -> Any:
    """What one end of iperf3 said; the file bears the flow's name where there are several."""
    path = raw / f"{flow}.iperf3-{side}.json"
    found = read_json(path if path.exists() else raw / f"iperf3-{side}.json")
    if found.get("error"):
        raise RecordError(f"iperf3: {found['error']}")
    return found


def iperf3(raw: Path, spec: dict[str, Any]) -> Measured:
    """One flow made with iperf3, from what both of its ends reported.

    Its server counts once a second from the moment it lets the client start: the first data cannot
    arrive earlier than one round trip later, so time begins there. RTTs are the client's samples,
    one per second.
    """
    client = _iperf3_json(raw, spec["name"], "client")
    server = _iperf3_json(raw, spec["name"], "server")
    sent = client["end"]["streams"][0]["sender"]
    starts = [at for name, what, at in read_events(raw) if (name, what) == (spec["name"], "start")]
    if not starts:
        raise RecordError(f"events.log has no start of {spec['name']}")
    start_us = starts[0] * 1e6
    times, counts = [start_us], [0.0]
    for interval in server["intervals"]:
        times.append(start_us + interval["sum"]["end"] * 1e6)
        counts.append(counts[-1] + interval["sum"]["bytes"])
    begin_us = start_us + sent["min_rtt"]
    # Nothing before the first data could arrive.
    later = [i for i, time in enumerate(times) if time > begin_us]
    arrivals = Arrivals.counted(
        [begin_us, *(times[i] for i in later)], [0.0, *(counts[i] for i in later)]
    )
    mss = client["start"].get("tcp_mss_default") or 1448
    rtt = np.array([interval["streams"][0]["rtt"] for interval in client["intervals"]])
    seconds = start_us + 1e6 * np.arange(1, len(rtt) + 1)
    return Measured(
        record={
            "name": spec["name"],
            "cc": spec["cc"],
            "goodput_bps": 0.0,
            "retransmits": sent["retransmits"],
            "segments": math.ceil(sent["bytes"] / mss) + sent["retransmits"],
            "timeouts": nstat(raw, spec["netns"]).get("TcpExtTCPTimeouts", 0),
        },
        arrivals=arrivals,
        fine=False,
        syn_us=start_us,
        begin_us=begin_us,
        stop_us=times[-1],
        times_us=seconds,
        rtt_us=rtt,
        min_rtt_us=sent["min_rtt"],
    )


def steady(raw: Path, spec: dict[str, Any], flow: Measured, begin_us: float) -> dict[str, Any]:
    """Retransmits and timeouts of a flow since the beginning was left behind."""
    before = flow.retransmits[flow.times_us <= begin_us]
    early = read_json(raw / f"warmup-{spec['netns']}.json")["kernel"].get("TcpExtTCPTimeouts", 0)
    return {
        "retransmits": flow.record["retransmits"] - (int(before[-1]) if len(before) else 0),
        "timeouts": flow.record["timeouts"] - early,
    }


def own(flow: Measured, syn_us: float, begin_us: float, end_us: float) -> dict[str, Any]:
    """A flow's goodput from its own first segment to the interval's end, its window in that."""
    own_s = (end_us - flow.begin_us) / 1e6
    own = {
        "from_s": round((flow.begin_us - syn_us) / 1e6, 3),
        "over_s": round(own_s, 3),
        "goodput_bps": flow.goodput(flow.begin_us, end_us, own_s),
    }
    return {"own": own, "window_bytes": flow.window_bytes(begin_us, end_us)}


def by_group(specs: list[dict[str, Any]], flows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the flows of each group have together."""
    rates: dict[str, list[float]] = {}
    for spec, flow in zip(specs, flows, strict=True):
        if "group" in spec:
            rates.setdefault(spec["group"], []).append(flow["goodput_bps"])
    return {
        name: {"goodput_bps": round(math.fsum(own), 1), "jain": jain(own), "flows": len(own)}
        for name, own in rates.items()
    }
