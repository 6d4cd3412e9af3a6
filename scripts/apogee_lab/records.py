# SPDX-License-Identifier: GPL-2.0
"""Measures: the folder of raw results that one run leaves behind -> one record.

A record is a JSON object; tables and figures read nothing else. Its keys:

``scenario cc seed engine kernel set duration_s limit_bps``
    What was run. ``set`` holds every parameter of the scenario, defaults included; ``limit_bps``
    is the goodput in bit/s that the path can carry at best. ``run`` names the raw folder.
``flows[].goodput_bps``
    Payload bytes the receiver had by t0 + duration, times 8, over the duration. t0 is the first
    data segment's arrival at the receiver, the receiver's count is kept in bins of 10 ms: t0 is
    taken as the beginning of the first bin that holds data, and counts are linear inside a bin.
``flows[].retransmits segments timeouts``
    Segments sent again, segments sent in all (those sent again included), retransmission timeouts.
    ``timeouts`` is counted per network namespace: null where flows share one.
``flows[].rtt_ms``
    Smoothed RTT as TCP_INFO gives it every 100 ms: mean and 99th percentile of the samples, and
    the connection's minimum RTT.
``total_goodput_bps jain``
    The sum over the flows and Jain's fairness index (sum x)^2 / (n sum x^2).
``queue.mean_bytes mean_ms max_bytes drops``
    Backlog of the bottleneck's queue, sampled every 100 ms from the last flow's SYN to
    t0 + duration; ``mean_ms`` is the mean backlog over the bottleneck's rate.
``bdp_bytes``
    Bandwidth-delay product of the empty path.
``link_drops ack_drops``
    Frames lost behind the bottleneck towards the receiver, and on the way back (blackouts
    included).
``losses needless_retransmits duplicates``
    Data frames lost (link, queue, switches); retransmits beyond the losses, at least 0; duplicate
    segments that the receiver reported by D-SACK (null with D-SACK off), the second, independent
    count of the same waste.
``t90_s``
    Start-up time: seconds from the first SYN to the beginning of the first interval of one round
    trip of the empty path (at least 0.2 s) whose goodput is 90 % of the limit or more; null if
    there is none (or with iperf3, which has no such series).
``blackout``
    Only where one was asked for, see :func:`blackout`.

Where flows share a path, each between hosts of its own, one interval holds for all of them: t0 is
the arrival of the *last* flow's first data segment. Goodputs, their sum and Jain's index are taken
from t0 to t0 + duration, RTTs and the queue from the last flow's SYN on; counts (segments,
retransmits, timeouts, drops) are of whole runs. Keys that only such records have:

``interval.from_s over_s``
    t0, seconds after the first flow's SYN, and the length: the duration, or less if a sender
    stopped before t0 + duration (it goes on long enough even if its SYN is lost once).
``flows[].own``
    ``from_s``, ``over_s``, ``goodput_bps``: the same from the flow's own first data segment's
    arrival to the end of the common interval.
``flows[].fair_share``
    The flow's goodput over the mean of all flows' (total / n): 1 is an equal share, their sum n.
    It tells how the flows divide what they carry, not how much that is of the limit, which may
    change during a run. Not where flows belong to groups: their own links differ.
``flows[].window_bytes``
    Congestion window in bytes, ``mean``, ``min`` and ``max`` of the samples in the interval.
``flows[].queue_drops link_drops``
    The flow's share of ``queue.drops`` and ``link_drops``, exact: what came to the router, what
    entered the hop behind it and what left that are counted when the path has run empty. Null if
    those counts do not add up to what the queue says it dropped, as with a data blackout.
``flows[].switch_drops``
    Only for flows with a slower link of their own in front: what that link's queue dropped.
``flows[].duplicates``
    The flow's share of ``duplicates``.

Where the beginning is left out (``warmup``), the interval begins at the event ``warmup off``, and
the queue and RTTs are taken from there. Then there are, too:

``flows[].steady`` ``queue.steady_drops``
    ``retransmits`` and ``timeouts`` since then, and what the queue has dropped since then, up to
    the end of the run.

Where flows belong to groups (``fast``, ``reno``):

``groups.NAME.goodput_bps jain flows``
    The sum over the group's flows, Jain's index among them, their number.
``queue.early_drops``
    What the queue dropped in the 5 s from the first flow's SYN on.

Where a flow is transfers one after the other (``requests``), each on a connection of its own:

``requests.transfers bytes``
    Number of transfers and the sum of their bytes, those after the common interval included.
``requests.sizes[].bytes transfers median_s p95_s times_s``
    For each size, in ascending order: how many there were, median and 95th percentile (linear
    between ranks) of their completion times, and all of these in the order of the run. A
    completion time runs from connect() to the arrival of the last byte at the receiver's
    application: the SYN is included, and all of its repetitions. The last transfer was finished,
    however long it took.
``flows[]``
    The transfers' flow holds what all its connections have together; its goodput counts the
    pauses of handshakes and closes. ``t90_s`` is null, there is no ``fair_share``.

Where hosts share a channel (``wlan``) the queue is the access point's, which holds ACKs: ``drops``
are lost ACKs, counted among ``ack_drops`` and not among ``losses``. There are, too:

``queue.mean_packets max_packets``
    The same in packets; ``mean_ms`` is what a packet waits there: the mean number of packets over
    those sent per second.
``medium.airtime ap_frames ap_drops station_frames``
    Airtime charged in the interval, as a share of it; frames that the access point sent in it, and
    dropped; frames that all stations sent.
``flows[].frames station_drops``
    Frames that the flow's station sent in the interval; frames that its own queue dropped in the
    whole run, which are ``losses``.

``wall_s``
    Wall-clock seconds of the run: the only key that two equal runs may differ in
    (:func:`comparable` leaves it out).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import transfers
from .images import LabError
from .medium import Series

BIN_US = 10_000  # the receiver's bins, microseconds
NOT_REPRODUCIBLE = ("wall_s",)

T90_LEAST_S = 0.2  # shortest interval over which start-up goodput is taken
EARLY_S = 5.0  # the first slow start and what it has overshot
BLACKOUTS = ("ack_blackout", "data_blackout")  # events; where there are both, the first counts
BLACKOUT_WINDOW_S = 0.2  # sliding window in which goodput is taken after a blackout
BLACKOUT_STEADY_S = 1.0  # the dip is over once goodput stayed at 90 % this long
BLACKOUT_FALL_S = 2.0  # a dip that begins later than this after the blackout's end is another one
BLACKOUT_SPAN_S = 15.0  # time over which lost goodput is added up, from the blackout's start


class RecordError(LabError):
    """The raw results are incomplete or make no sense; one line."""


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """The record without what may differ between two equal runs."""
    return {key: value for key, value in record.items() if key not in NOT_REPRODUCIBLE}


def dumps(record: dict[str, Any]) -> str:
    """The record on one line, as ``--json`` writes it."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file with one JSON object per line; RecordError names a bad line."""
    records = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise RecordError(f"{path}: {reason}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            raise RecordError(f"{path}:{number}: not a JSON object") from None
        if not isinstance(record, dict) or not {"cc", "set", "flows"} <= record.keys():
            raise RecordError(f"{path}:{number}: not a record of 'lab run --json'")
        records.append(record)
    return records


class Arrivals:
    """Payload bytes a receiver had over time, from its bins; times in microseconds."""

    def __init__(self, bins: Iterable[tuple[int, int]]) -> None:
        times: list[int] = []
        counts: list[int] = []
        before = 0
        for end, count in bins:
            if not times or times[-1] < end - BIN_US:
                times.append(end - BIN_US)
                counts.append(before)
            times.append(end)
            counts.append(count)
            before = count
        # The first time is the beginning of the first bin, with nothing received.
        self.times = np.array(times or [0], dtype=np.float64)
        self.counts = np.array(counts or [0], dtype=np.float64)

    @classmethod
    def counted(cls, times_us: Sequence[float], counts: Sequence[float]) -> Arrivals:
        """From counts at given times, the first of them 0."""
        found = cls([])
        found.times = np.array(times_us, dtype=np.float64)
        found.counts = np.array(counts, dtype=np.float64)
        return found

    def until(self, time_us: float | np.ndarray) -> Any:
        """Bytes received until ``time_us``, linear inside a bin."""
        return np.interp(time_us, self.times, self.counts, left=0.0)


def rate_over(arrivals: Iterable[Arrivals], ends_us: np.ndarray, window_s: float) -> np.ndarray:
    """Goodput in bit/s over the ``window_s`` seconds before each of ``ends_us``, all flows."""
    total = np.zeros(len(ends_us))
    for flow in arrivals:
        total += flow.until(ends_us) - flow.until(ends_us - window_s * 1e6)
    return total * 8 / window_s


def time_to_90(
    arrivals: Iterable[Arrivals], syn_us: float, end_us: float, limit_bps: float, rtt_s: float
) -> float | None:
    """Seconds from the SYN to the first interval with 90 % of the limit.

    The interval is one RTT of the empty path long, at least 0.2 s; its beginning counts, to 10 ms.
    """
    length_s = max(T90_LEAST_S, rtt_s)
    ends = np.arange(syn_us + length_s * 1e6, end_us + 1, BIN_US, dtype=np.float64)
    reached = np.nonzero(rate_over(arrivals, ends, length_s) >= 0.9 * limit_bps)[0]
    return round(int(reached[0]) * BIN_US / 1e6, 3) if len(reached) else None


def blackout(
    arrivals: list[Arrivals], start_us: float, length_s: float, end_us: float, limit_bps: float
) -> dict[str, Any]:
    """What a blackout of ``length_s`` from ``start_us`` cost, in a run that ended at ``end_us``.

    ``below90_s``: seconds from the start of the blackout until goodput is back. Goodput is taken
    over a sliding window of 0.2 s; it is back at the end of the first window, after it fell below
    90 % of the limit, from which on every window stays at 90 % or more for 1 s (or to the end of
    the run). 0 when it does not fall within 2 s of the blackout's end; the time to the end of the
    run, with ``recovered`` false, when it never comes back.

    ``lost_s``: seconds worth of goodput lost, (limit x time - received) / limit over the 15 s from
    the blackout's start (or to the end of the run, if that comes first).
    """
    ends = np.arange(start_us, end_us + 1, BIN_US, dtype=np.float64)
    low = rate_over(arrivals, ends, BLACKOUT_WINDOW_S) < 0.9 * limit_bps
    below = 0.0
    recovered = True
    fallen = np.nonzero(low)[0]
    last_fall = (length_s + BLACKOUT_FALL_S) * 1e6 / BIN_US
    if len(fallen) and fallen[0] <= last_fall:
        steady = round(BLACKOUT_STEADY_S * 1e6 / BIN_US)
        back = None
        for index, following in zip(fallen, [*fallen[1:], None], strict=True):
            if following is None:
                back = index + 1 if index + 1 < len(ends) else None
            elif following - index > steady:
                back = index + 1
                break
        recovered = back is not None
        below = float((ends[back] if recovered else end_us) - start_us) / 1e6
    span_end = min(start_us + BLACKOUT_SPAN_S * 1e6, end_us)
    span = (span_end - start_us) / 1e6
    received = sum(float(flow.until(span_end) - flow.until(start_us)) for flow in arrivals) * 8
    return {
        "below90_s": round(below, 3),
        "recovered": recovered,
        "lost_s": round((limit_bps * span - received) / limit_bps, 4),
        "over_s": round(span, 3),
    }


def jain(rates: list[float]) -> float:
    """Jain's fairness index; 1 for equal rates (and when nothing flows)."""
    squares = sum(rate * rate for rate in rates)
    return round(sum(rates) ** 2 / (len(rates) * squares), 4) if squares else 1.0


def fair_shares(rates: list[float]) -> list[float]:
    """Each rate over their mean; 1 for all when nothing flows."""
    total = math.fsum(rates)
    return [round(len(rates) * rate / total, 4) if total else 1.0 for rate in rates]


# --- reading the raw files --------------------------------------------------------------------


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecordError(f"the run left no {path.name}") from None
    except ValueError:
        raise RecordError(f"{path.name} is not whole") from None


def _nstat(raw: Path, netns: str) -> dict[str, int]:
    path = raw / f"nstat-{netns}.json"
    return _json(path).get("kernel", {}) if path.exists() else {}


def _drops(raw: Path, places: Iterable[Iterable[str]], kinds: set[str]) -> int:
    """Drops of the qdiscs of these kinds at the given (namespace, device) places."""
    total = 0
    for netns, dev in places:
        for qdisc in _json(raw / f"qdisc-{netns}.json"):
            if qdisc.get("dev") == dev and qdisc.get("kind") in kinds:
                total += int(qdisc.get("drops", 0))
    return total


def read_events(raw: Path) -> list[tuple[str, str, float]]:
    """The lines of events.log: (name, what happened, time in s of the guest's clock)."""
    path = raw / "events.log"
    events = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 3:
                try:
                    events.append((words[0], words[1], float(words[2])))
                except ValueError:
                    raise RecordError(f"events.log: '{line}' has no time") from None
    return events


_SAMPLE = re.compile(r"\s*(?:(\d+(?:\.\d+)?)\s+)?(\[.*\])\s*")


def queue_samples(raw: Path) -> list[tuple[float, list[dict[str, Any]]]]:
    """Samples of the bottleneck's device: times in s of the guest's clock, its qdiscs.

    A line is ``TIME [json]``; where lines carry no time they are taken to be 0.1 s apart from
    the event ``queue_sampling on``.
    """
    path = raw / "queue.jsonl"
    samples: list[tuple[float, list[dict[str, Any]]]] = []
    if not path.exists():
        return samples
    start = next((at for name, _, at in read_events(raw) if name == "queue_sampling"), 0.0)
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        match = _SAMPLE.fullmatch(line)
        try:
            qdiscs = json.loads(match.group(2)) if match else None
        except ValueError:
            qdiscs = None
        if qdiscs is None:
            if number == len(lines) - 1:
                break  # the sampler was stopped in the middle of its last line
            raise RecordError(f"queue.jsonl:{number + 1} is not a sample")
        time = float(match.group(1)) if match.group(1) else start + 0.1 * number
        samples.append((time, qdiscs))
    return samples


def read_queue(raw: Path, dev: str, key: str = "backlog") -> tuple[np.ndarray, np.ndarray]:
    """Samples of the bottleneck's queue: times in s of the guest's clock, backlog in bytes, or
    another of its numbers, such as ``drops`` since the beginning."""
    times: list[float] = []
    sizes: list[float] = []
    for time, qdiscs in queue_samples(raw):
        times.append(time)
        sizes.append(sum(q.get(key, 0) for q in qdiscs if q.get("dev", dev) == dev and "root" in q))
    return np.array(times), np.array(sizes)


def _samples(send: dict[str, Any], field: str) -> np.ndarray:
    column = send["fields"].index(field)
    return np.array([row[column] for row in send["samples"]], dtype=np.float64)


def read_arrivals(raw: Path, flow: str) -> Arrivals:
    """The receiver's bins of one flow."""
    return Arrivals(_json(raw / f"{flow}.recv.json")["bins"])


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
    return None if shared else _nstat(raw, spec["netns"]).get("TcpExtTCPTimeouts", 0)


def _flow(raw: Path, spec: dict[str, Any], shared: bool) -> Measured:
    """One flow made with the lab's own tool; ``shared``: others have the sender's namespace."""
    send = _json(raw / f"{spec['name']}.send.json")
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
        times_us=_samples(send, "t_us"),
        rtt_us=_samples(send, "rtt"),
        min_rtt_us=info["min_rtt"],
        window=_samples(send, "snd_cwnd") * mss if mss else None,
        retransmits=_samples(send, "total_retrans"),
    )


def _iperf3_json(raw: Path, flow: str, side: str) -> Any:
    """What one end of iperf3 said; the file bears the flow's name where there are several."""
    path = raw / f"{flow}.iperf3-{side}.json"
    found = _json(path if path.exists() else raw / f"iperf3-{side}.json")
    if found.get("error"):
        raise RecordError(f"iperf3: {found['error']}")
    return found


def _iperf3(raw: Path, spec: dict[str, Any]) -> Measured:
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
            "timeouts": _nstat(raw, spec["netns"]).get("TcpExtTCPTimeouts", 0),
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


@dataclass(frozen=True)
class Dropped:
    """Frames that were dropped in the whole run: by the bottleneck's queue, behind it, by the
    senders' own links' queues, on a shared channel by each station's, and on the ACKs' way."""

    queue: int
    links: int
    switches: int
    stations: tuple[int, ...]
    acks: int
    losses: int

    @classmethod
    def count(cls, raw: Path, meta: dict[str, Any]) -> Dropped:
        """From the counters at the end."""
        medium = meta.get("medium")
        stations: tuple[int, ...] = ()
        if medium:
            queue = _leaf_drops(raw, meta, medium["ap"])
            stations = tuple(_leaf_drops(raw, meta, leaf) for leaf in medium["stations"])
        else:
            queue = _drops(raw, [meta["bottleneck"]], {"netem", "pfifo", "bfifo", "tbf"})
        links = _drops(raw, meta["data_links"], {"netem"})
        links += _drops(raw, meta["data_filters"], {"clsact", "ingress"})
        acks = _drops(raw, meta["ack_links"], {"netem"})
        acks += _drops(raw, meta["ack_filters"], {"clsact", "ingress"})
        places = [spec["switch"] for spec in meta["flows"] if "switch" in spec]
        switches = _drops(raw, places, {"netem"})
        # The access point's queue holds ACKs.
        held = sum(stations) if medium else queue
        acks += queue if medium else 0
        return cls(queue, links, switches, stations, acks, links + switches + held)


def _queue(raw: Path, meta: dict[str, Any], begin_us: float, end_us: float) -> dict[str, Any]:
    """Occupancy of the bottleneck's queue between two times."""
    times, sizes = read_queue(raw, meta["bottleneck"][1])
    sizes = sizes[(times >= begin_us / 1e6) & (times <= end_us / 1e6)]
    mean = float(sizes.mean()) if len(sizes) else None
    rate = meta["rate_bps"]
    return {
        "mean_bytes": None if mean is None else round(mean, 1),
        "mean_ms": None if mean is None or not rate else round(mean * 8000 / rate, 3),
        "max_bytes": int(sizes.max()) if len(sizes) else None,
    }


def _leaf_drops(raw: Path, meta: dict[str, Any], handle: str) -> int:
    """What a leaf of the shared channel dropped in the whole run."""
    netns, dev = meta["bottleneck"]
    for qdisc in _json(raw / f"qdisc-{netns}.json"):
        if (qdisc.get("dev"), qdisc.get("handle")) == (dev, handle):
            return int(qdisc["drops"])
    raise RecordError(f"qdisc-{netns}.json has no {handle} of {dev}")


def _drops_until(raw: Path, dev: str, time_s: float) -> int:
    """What the bottleneck's queue had dropped by the first sample from ``time_s`` on."""
    times, drops = read_queue(raw, dev, "drops")
    later = np.nonzero(times >= time_s)[0]
    return int(drops[later[0]]) if len(later) else int(drops[-1]) if len(drops) else 0


def _steady(raw: Path, spec: dict[str, Any], flow: Measured, begin_us: float) -> dict[str, Any]:
    """Retransmits and timeouts of a flow since the beginning was left behind."""
    before = flow.retransmits[flow.times_us <= begin_us]
    early = _json(raw / f"warmup-{spec['netns']}.json")["kernel"].get("TcpExtTCPTimeouts", 0)
    return {
        "retransmits": flow.record["retransmits"] - (int(before[-1]) if len(before) else 0),
        "timeouts": flow.record["timeouts"] - early,
    }


def _own(flow: Measured, syn_us: float, begin_us: float, end_us: float) -> dict[str, Any]:
    """A flow's goodput from its own first segment to the interval's end, its window in that."""
    own_s = (end_us - flow.begin_us) / 1e6
    own = {
        "from_s": round((flow.begin_us - syn_us) / 1e6, 3),
        "over_s": round(own_s, 3),
        "goodput_bps": flow.goodput(flow.begin_us, end_us, own_s),
    }
    return {"own": own, "window_bytes": flow.window_bytes(begin_us, end_us)}


def _hop_drops(raw: Path, spec: dict[str, Any]) -> dict[str, int]:
    """A flow's own frames that were dropped behind the bottleneck, and by its own switch."""
    found = {"link_drops": _drops(raw, [spec["exit"]], {"netem"})}
    if "switch" in spec:
        found["switch_drops"] = _drops(raw, [spec["switch"]], {"netem"})
    return found


def _groups(specs: list[dict[str, Any]], flows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the flows of each group have together."""
    rates: dict[str, list[float]] = {}
    for spec, flow in zip(specs, flows, strict=True):
        if "group" in spec:
            rates.setdefault(spec["group"], []).append(flow["goodput_bps"])
    return {
        name: {"goodput_bps": round(math.fsum(own), 1), "jain": jain(own), "flows": len(own)}
        for name, own in rates.items()
    }


def _duplicates(raw: Path, netns: str) -> int | None:
    """Duplicate segments that a receiver reported by D-SACK; None if it did not count them."""
    counters = _nstat(raw, netns)
    found = [counters.get(f"TcpExtTCPDSACK{kind}Sent") for kind in ("Old", "Ofo")]
    return None if None in found else sum(found)


def _queue_shares(raw: Path, specs: list[dict[str, Any]], total: int) -> list[int | None]:
    """Frames of each flow that the queue dropped: those that came and did not enter the hop.

    None for all if the shares do not add up to ``total``.
    """
    shares: list[int | None] = []
    for spec in specs:
        entered = _packets(raw, spec["exit"], "tx") + _drops(raw, [spec["exit"]], {"netem"})
        shares.append(_packets(raw, spec["entry"], "rx") - entered)
    return shares if sum(share or 0 for share in shares) == total else [None] * len(shares)


def _packets(raw: Path, place: Sequence[str], side: str) -> int:
    """Frames that a device took in (rx) or gave to the other end of its link (tx)."""
    netns, dev = place
    for link in _json(raw / f"link-{netns}.json"):
        if link.get("ifname") == dev:
            return int(link["stats64"][side]["packets"])
    raise RecordError(f"link-{netns}.json has no {dev}")


def _check_memory(raw: Path) -> None:
    """RecordError if TCP's memory was short anywhere."""
    for path in sorted(raw.glob("nstat-*.json")):
        if _json(path).get("kernel", {}).get("TcpExtTCPMemoryPressures", 0):
            raise RecordError(
                f"TCP ran out of memory in the guest ({path.name}: TCPMemoryPressures): "
                "what was measured is not the network"
            )


def compute(raw: Path, meta: dict[str, Any]) -> dict[str, Any]:
    """The record of the run whose raw results are in ``raw``; RecordError if they are not whole,
    or tell of TCP's memory instead of the network.

    ``meta`` is what the lab knew beforehand: scenario, cc, seed, engine, set, duration_s,
    limit_bps, rate_bps, bdp_bytes, flows, traffic, receiver_ns, bottleneck, data_links, ack_links,
    data_filters, ack_filters, run; wall_s comes from the engine.
    """
    try:
        _check_memory(raw)
        return _compute(raw, meta)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise RecordError(f"raw results not understood: {type(error).__name__} {error}") from error


def _requests(raw: Path, specs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The transfers of the flow that is made of them, if there is one."""
    names = [spec["name"] for spec in specs if "sizes" in spec]
    if not names:
        return None
    sides = [_json(raw / f"{names[0]}.{side}.json")["transfers"] for side in ("send", "recv")]
    try:
        return transfers.summary(transfers.completions(*sides))
    except ValueError as error:
        raise RecordError(str(error)) from None


def _compute(raw: Path, meta: dict[str, Any]) -> dict[str, Any]:
    duration = meta["duration_s"]
    specs = meta["flows"]
    spaces = [spec["netns"] for spec in specs]
    if meta["traffic"] == "iperf3":
        measured = [_iperf3(raw, spec) for spec in specs]
    else:
        measured = [_flow(raw, spec, spaces.count(spec["netns"]) > 1) for spec in specs]
    arrivals = [flow.arrivals for flow in measured]
    in_time = all(flow.fine for flow in measured)  # whether what arrived is a fine series
    syn_us = min(flow.syn_us for flow in measured)
    last_syn_us = max(flow.syn_us for flow in measured)
    begin_us = max(flow.begin_us for flow in measured)
    events = {(name, what): at for name, what, at in read_events(raw)}
    warm_s = events.get(("warmup", "off"))
    if warm_s is not None:
        begin_us = last_syn_us = max(begin_us, warm_s * 1e6)
    end_us = begin_us + duration * 1e6
    if len(measured) > 1:
        end_us = min(end_us, *(flow.stop_us for flow in measured))
    over_s = (end_us - begin_us) / 1e6
    if over_s <= 0:
        raise RecordError("the flows did not run at the same time")
    flows = []
    for flow in measured:
        goodput = flow.goodput(begin_us, end_us, over_s)
        flows.append(flow.record | {"goodput_bps": goodput, "rtt_ms": flow.rtt_ms(last_syn_us)})
    rates = [flow["goodput_bps"] for flow in flows]

    dropped = Dropped.count(raw, meta)
    series = medium = None
    if meta.get("medium"):
        series = Series.read(queue_samples(raw), meta["medium"])
        medium = series.between(last_syn_us, end_us)
        if len(medium.times) < 2:
            raise RecordError("queue.jsonl has no samples of the interval")
    dsack_on = str(meta["set"].get("tcp_dsack", 1)) != "0"
    receivers = [spec.get("receiver_ns", meta["receiver_ns"]) for spec in specs]
    duplicates = {ns: _duplicates(raw, ns) if dsack_on else None for ns in receivers}
    several = all("receiver_ns" in spec for spec in specs)  # flows that share a path
    if several:
        for record, flow in zip(flows, measured, strict=True):
            record |= _own(flow, syn_us, begin_us, end_us)
    if all("exit" in spec for spec in specs):  # counters of each flow's own frames
        queue_shares = _queue_shares(raw, specs, dropped.queue)
        for record, spec, ns, queued in zip(flows, specs, receivers, queue_shares, strict=True):
            record |= {"queue_drops": queued, **_hop_drops(raw, spec), "duplicates": duplicates[ns]}
    if medium:
        leaves = zip(flows, medium.stations, dropped.stations, strict=True)
        for record, leaf, drops in leaves:
            record |= {"frames": medium.count(leaf, "packets"), "station_drops": drops}
    if several and warm_s is not None:
        for record, flow, spec in zip(flows, measured, specs, strict=True):
            record["steady"] = _steady(raw, spec, flow, begin_us)
    queue = medium.queue() if medium else _queue(raw, meta, last_syn_us, end_us)
    queue["drops"] = dropped.queue
    groups = _groups(specs, flows)
    requests = _requests(raw, specs)
    if len(flows) > 1 and not groups and not requests:
        for record, share in zip(flows, fair_shares(rates), strict=True):
            record["fair_share"] = share
    if groups:
        queue["early_drops"] = _drops_until(raw, meta["bottleneck"][1], syn_us / 1e6 + EARLY_S)
    if warm_s is not None and series:
        late = series.between(warm_s * 1e6, math.inf)
        queue["steady_drops"] = late.count(late.ap, "drops")
    elif warm_s is not None:
        queue["steady_drops"] = dropped.queue - _drops_until(raw, meta["bottleneck"][1], warm_s)

    rtt_s = meta["bdp_bytes"] * 8 / meta["rate_bps"] if meta["rate_bps"] else 0.0
    retransmits = sum(flow["retransmits"] for flow in flows)
    uname = raw / "uname"
    kernel = uname.read_text(encoding="utf-8").strip() if uname.exists() else meta["kernel"]
    record = {
        "scenario": meta["scenario"],
        "cc": meta["cc"],
        "seed": meta["seed"],
        "engine": meta["engine"],
        "kernel": kernel,
        "set": meta["set"],
        "duration_s": duration,
        "limit_bps": round(meta["limit_bps"], 1),
        "flows": flows,
        "total_goodput_bps": round(math.fsum(rates), 1),
        "jain": jain(rates),
        "queue": queue,
        "bdp_bytes": meta["bdp_bytes"],
        "link_drops": dropped.links,
        "ack_drops": dropped.acks,
        "losses": dropped.losses,
        "needless_retransmits": max(0, retransmits - dropped.losses),
        "duplicates": None if None in duplicates.values() else sum(duplicates.values()),
        "t90_s": time_to_90(arrivals, syn_us, end_us, meta["limit_bps"], rtt_s)
        if in_time and not requests
        else None,
    }
    if requests:
        record["requests"] = requests
    if groups:
        record["groups"] = groups
    if medium:
        record["medium"] = medium.shares()
    if several:
        interval = {"from_s": (begin_us - syn_us) / 1e6, "over_s": over_s}
        record["interval"] = {key: round(value, 3) for key, value in interval.items()}
    starts = [(events[key], key[0]) for key in events if key[0] in BLACKOUTS and key[1] == "on"]
    if starts and in_time:
        start, name = min(starts)
        length = events.get((name, "off"), end_us / 1e6) - start
        cost = blackout(arrivals, start * 1e6, length, end_us, meta["limit_bps"])
        record["blackout"] = {"direction": name.partition("_")[0], **cost}
    record["run"] = meta["run"]
    record["wall_s"] = round(meta["wall_s"], 2)
    return record
