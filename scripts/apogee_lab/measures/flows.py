# SPDX-License-Identifier: GPL-2.0
"""One flow, from the logs of its two ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrivals import Arrivals
from .raw import RawFolder, samples_of
from .record import RecordError


@dataclass
class MeasuredFlow:
    """One flow: the keys of its record that do not depend on other flows, and its time series.

    ``arrivals`` begin at ``begin_us``, the arrival of the first data segment; ``fine`` tells
    whether their steps are 10 ms. The flow ended at ``stop_us``; ``times_us``, ``rtt_us`` and
    ``window``, ``sent`` and ``acked`` (bytes) are its samples; the handshake ended at ``open_us``.
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
    open_us: float | None = None
    sent: np.ndarray | None = None
    acked: np.ndarray | None = None

    def goodput(self, begin_us: float, end_us: float, over_s: float) -> float:
        """Goodput in bit/s: the bytes that arrived between two times, divided by ``over_s``."""
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

    def retransmits_since(self, time_us: float) -> int:
        """Segments retransmitted after a time."""
        before = self.retransmits[self.times_us <= time_us]
        return self.record["retransmits"] - (int(before[-1]) if len(before) else 0)

    def unacknowledged(self, time_us: float) -> float | None:
        """The most that may have been sent and not acknowledged at a time, bytes; None if it is not
        known."""
        after = int(np.searchsorted(self.times_us, time_us))
        if self.sent is None or self.acked is None or not 0 < after < len(self.sent):
            return None
        return float(self.sent[after] - self.acked[after - 1])

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


def _timeouts(raw: RawFolder, spec: dict[str, Any], shared: bool) -> int | None:
    return None if shared else raw.nstat(spec["netns"]).get("TcpExtTCPTimeouts", 0)


def _stop_us(spec: dict[str, Any], send: dict[str, Any], arrivals: Arrivals) -> float:
    """When the sender stopped, or when the last of a given number of bytes arrived."""
    wanted = spec.get("bytes", 0)
    whole = wanted and arrivals.counts[-1] >= wanted
    return float(arrivals.times[-1] if whole else send["end_us"])


def flow_tool(raw: RawFolder, spec: dict[str, Any], shared: bool) -> MeasuredFlow:
    """A flow sent by the lab's own tool; ``shared``: other flows use the sender's namespace."""
    send = raw.sender(spec["name"])
    if send.get("error"):
        raise RecordError(f"{spec['name']}: {send['error']}")
    arrivals = raw.arrivals(spec["name"])
    info = send["info"]
    mss = info.get("snd_mss")
    kept = mss and "unacked" in send["fields"] and not spec.get("sizes")
    acked = samples_of(send, "bytes_acked") if kept else None
    return MeasuredFlow(
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
        stop_us=_stop_us(spec, send, arrivals),
        times_us=samples_of(send, "t_us"),
        rtt_us=samples_of(send, "rtt"),
        min_rtt_us=info["min_rtt"],
        window=samples_of(send, "snd_cwnd") * mss if mss else None,
        retransmits=samples_of(send, "total_retrans"),
        open_us=send["t0_us"],
        sent=None if acked is None else acked + samples_of(send, "unacked") * mss,
        acked=acked,
    )


def _iperf3_json(raw: RawFolder, flow: str, side: str) -> Any:
    """Output of one end of iperf3; the file name has the flow's name if there are several flows."""
    name = f"{flow}.iperf3-{side}.json"
    found = raw.json(name if raw.has(name) else f"iperf3-{side}.json")
    if found.get("error"):
        raise RecordError(f"iperf3: {found['error']}")
    return found


def _iperf3_arrivals(
    intervals: list[dict[str, Any]], start_us: float, begin_us: float
) -> tuple[Arrivals, float]:
    """Bytes the server had received at the end of each second, and the time of its last count;
    0 before the first data could arrive (``begin_us``)."""
    times, counts, total = [begin_us], [0.0], 0.0
    last_us = start_us
    for interval in intervals:
        last_us = start_us + interval["sum"]["end"] * 1e6
        total += interval["sum"]["bytes"]
        if last_us > begin_us:
            times.append(last_us)
            counts.append(total)
    return Arrivals.counted(times, counts), last_us


def iperf3(raw: RawFolder, spec: dict[str, Any], empty_rtt_us: float) -> MeasuredFlow:
    """A flow sent by iperf3, from the reports of both ends.

    The server counts once a second from the moment it lets the client start. The first data arrives
    a round trip of the empty path later, so the flow's time begins there. RTTs are the client's
    samples, one per second; their least may have a queue in it.
    """
    client = _iperf3_json(raw, spec["name"], "client")
    server = _iperf3_json(raw, spec["name"], "server")
    sent = client["end"]["streams"][0]["sender"]
    if (spec["name"], "start") not in raw.times:
        raise RecordError(f"events.log has no start of {spec['name']}")
    start_us = raw.times[spec["name"], "start"] * 1e6
    begin_us = start_us + min(sent["min_rtt"], empty_rtt_us)
    arrivals, stop_us = _iperf3_arrivals(server["intervals"], start_us, begin_us)
    mss = client["start"].get("tcp_mss_default") or 1448
    rtt = np.array([interval["streams"][0]["rtt"] for interval in client["intervals"]])
    seconds = start_us + 1e6 * np.arange(1, len(rtt) + 1)
    return MeasuredFlow(
        record={
            "name": spec["name"],
            "cc": spec["cc"],
            "goodput_bps": 0.0,
            "retransmits": sent["retransmits"],
            "segments": math.ceil(sent["bytes"] / mss) + sent["retransmits"],
            "timeouts": raw.nstat(spec["netns"]).get("TcpExtTCPTimeouts", 0),
        },
        arrivals=arrivals,
        fine=False,
        syn_us=start_us,
        begin_us=begin_us,
        stop_us=stop_us,
        times_us=seconds,
        rtt_us=rtt,
        min_rtt_us=sent["min_rtt"],
    )
