# SPDX-License-Identifier: GPL-2.0
"""Wlan: stations upload through one access point; its queued ACKs contend for the same channel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .. import units
from ..measures import sharing
from ..measures.measure import Measure
from . import sending, testbed, traffic, wifi
from .ceiling import Ceiling
from .scenario import Channel, Column, FlowSpec, Param, Path, Plan, Scenario
from .sending import Sender
from .testbed import PORT, Net
from .traffic import TrafficFlow

if TYPE_CHECKING:
    from ..measures.measurement import Measurement

MOST = 40  # stations
WIRE = 100  # link number of the wire; downloads' wires follow, stations' links are 1, 2, ...
AP_END = 2  # the access point's end of a station's link
DEVICE = "medium"
ACKS_COME = ("ap", "to-rcv")  # the device by which the uploads' ACKs come to the access point
# HTB class numbers, which tc reads as hexadecimal: the parent, then the access point, then the
# stations. A leaf's queue has the handle LEAF + class.
PARENT, AP, LEAF = 0xFF, 1, 0x100
PRIO_BANDS = 16  # maximum of one prio qdisc
DEFICIT = 2**31  # HTB's deficit of a class is a signed 32-bit number
# Time after which lost SYNs are retransmitted: five with flow, which opens a new socket after two
# (1 + 2 + 1 + 2 + 1 s), three with iperf3 (1 + 2 + 4 s).
LATE_SYN_S = 7.1

PARAMS = (
    Param("n", 10, "int", "stations, sta1, sta2, …, that upload", 1, MOST),
    Param("down", 0, "int", "further stations, each of which downloads", 0, MOST),
    Param("down_cc", "cubic", "control", "algorithm of the hosts that they download from"),
    Param("phy_rate", "54", "choice:" + ",".join(map(str, wifi.RATES)),
          "data rate of 802.11a/g, Mbit/s"),
    Param("contention", "none", "choice:none,bianchi",
          "back-off and collisions: none (mean back-off of one sender), or Bianchi's for n + 1"),
    Param("phase", "fixed", "choice:fixed,random",
          "when ACKs reach the access point: fixed by the round robin, or random in a round"),
    Param("ap_queue", 100, "int", "access point's queue to the stations, in packets", 1, 100_000),
    Param("station_queue", 100, "int", "each station's own queue, in packets", 1, 100_000),
    Param("tsq", 1, "bool", "TCP small queues limit what a station queues"),
    Param("rate", 100_000_000, "rate", "rate of the wire behind the access point", 9600, 100e9),
    Param("delay", 0.06, "time", "one-way delay of that wire", 0, 10),
    Param("ack_every", 2, "int", "receiver's ACKs: 1: every segment, 2: delayed ACKs", 1, 2),
    Param("start", 0.1, "time", "stations start within this time, at random", 0, 3600),
    Param("warmup", 0.0, "time", "time not measured, from the last start on", 0, 3600),
    Param("window", 1_000_000, "size", "receive window", 4096, 1e9),
    *testbed.PACKET_PARAMS,
    *testbed.HOST_PARAMS,
    *sending.PARAMS,
)  # fmt: skip

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# wlan: stations upload through one access point; to be run as root, results go to $OUT (or .)
#
#   sta1  to-ap ---- to-sta1 \\
#   sta2  to-ap ---- to-sta2  > medium     ap  to-rcv ---------------- to-ap  rcv
#   ...                      /  802.11                 rate, delay          wired host
#
#   medium: an ifb on ap, by which everything passes that enters by to-sta1, to-sta2, ... (data) or
#         leaves by them (ACKs). Its HTB has one class for each station (its queue of
#         station_queue packets) and one for the access point (all ACKs, ap_queue packets), which
#         send one frame each in turn; each frame takes its 802.11 airtime.
#   wire: rate and delay on to-rcv of ap (data) and on to-ap of rcv (ACKs)
#
"""
HEAD_DOWN = """\
#   downloads: of the last stations, each from a host of its own, srv1, srv2, ..., behind a wire
#         like rcv's; their data waits in the access point's queue, too
#
"""


class WlanNet(Net):
    """Addresses where the access point has the same one, its BSSID, on every station's link."""

    def mac(self, n: int, host: int) -> str:
        """Hardware address of an end of link ``n``; the access point's does not depend on ``n``."""
        return super().mac(0 if n < WIRE and host == AP_END else n, host)


# --- the medium -------------------------------------------------------------------------------


def _stations(values: Mapping[str, Any]) -> int:
    """The number of stations; those that upload come first."""
    return values["n"] + values["down"]


def _ip_ack(values: Mapping[str, Any]) -> int:
    """Bytes of an ACK that carries no data."""
    return (60 if values["ipv6"] else 40) + (12 if values["tcp_timestamps"] else 0)


def _contention_us(values: Mapping[str, Any]) -> float:
    """Time that a frame waits in addition to DIFS (µs): back-off and collisions."""
    if values["contention"] == "none":
        return wifi.mean_backoff()
    collision = wifi.DIFS + wifi.frame(values["mtu"], int(values["phy_rate"]))
    return wifi.contention(_stations(values) + 1, collision)


def airtime_us(values: Mapping[str, Any], ip: int) -> float:
    """How long an IP packet of ``ip`` bytes occupies the medium (µs)."""
    return wifi.exchange(ip, int(values["phy_rate"])) + _contention_us(values)


def charge(values: Mapping[str, Any]) -> tuple[int, int]:
    """The medium's rate in bit/s and the overhead per frame in bytes, in tc's terms.

    tc charges in proportion to the length. Rate and overhead are those of the straight line through
    the airtimes of a full frame and an ACK, so both are charged exactly, whole symbols included.
    """
    full, ack = values["mtu"], _ip_ack(values)
    long_us, short_us = airtime_us(values, full), airtime_us(values, ack)
    per_byte = (long_us - short_us) / (full - ack)
    return round(8e6 / per_byte), round(long_us / per_byte) - full - testbed.ETHERNET


def _round_us(values: Mapping[str, Any]) -> float:
    """Length of a round in which every station and the access point send one frame (µs); with
    downloads the access point's is data."""
    data, acks = values["n"] + bool(values["down"]), values["down"] or 1
    return data * airtime_us(values, values["mtu"]) + acks * airtime_us(values, _ip_ack(values))


def limit_bps(values: Mapping[str, Any]) -> float:
    """The goodput without lost ACKs: limited by the wires, or by the airtime of data and ACKs.

    All uploads share a wire, each download has one of its own.
    """
    packet = sending.packet(values)
    payload = packet - _ip_ack(values)
    # What senders stand on is on the medium if they are stations.
    under = 0 if values["down"] else sending.overhead(values)
    data, ack = (airtime_us(values, size + under) for size in (packet, _ip_ack(values)))
    wires = (1 + values["down"]) * values["rate"] * payload / (packet + testbed.ETHERNET)
    return min(wires, 8e6 * payload / (data + ack / values["ack_every"]))


def _most_bps(values: Mapping[str, Any]) -> float:
    """The goodput if no ACK took airtime: those that the access point drops take none."""
    return limit_bps({**values, "ack_every": math.inf})


def _channel(values: Mapping[str, Any]) -> Channel:
    leaves = [f"{LEAF + AP + i:x}:" for i in range(_stations(values) + 1)]
    downloads = tuple(
        (("ap", f"to-srv{i}"), ("ap", f"to-sta{values['n'] + i}"))
        for i in range(1, values["down"] + 1)
    )
    return Channel(*charge(values), leaves[0], tuple(leaves[1:]), downloads)


def _classes(values: Mapping[str, Any], net: Net) -> list[str]:
    """tc lines of the medium.

    The leaves' own rate is negligible, so all borrow from the parent and HTB's round robin decides
    who sends. A quantum below the charge of any frame ends a turn after one frame. It is as large
    as possible, because the shortfall accumulates in a 32-bit deficit.
    """
    rate, overhead = charge(values)
    burst = values["mtu"] + testbed.ETHERNET + overhead
    lines = [
        f"qdisc add dev {DEVICE} root handle 1: stab overhead {overhead} linklayer ethernet "
        f"htb default {AP:x}",
        f"class add dev {DEVICE} parent 1: classid 1:{PARENT:x} htb rate {rate}bit ceil {rate}bit "
        f"burst {burst}b cburst {burst}b quantum {overhead}",
    ]
    for i in range(_stations(values) + 1):
        number = AP + i
        packets = values["station_queue"] if i else values["ap_queue"]
        lines += [
            f"class add dev {DEVICE} parent 1:{PARENT:x} classid 1:{number:x} htb rate 8bit "
            f"ceil {rate}bit burst 1b cburst {burst}b quantum {overhead}",
            f"qdisc add dev {DEVICE} parent 1:{number:x} handle {LEAF + number:x}: "
            f"pfifo limit {packets}",
        ]
        if i:
            lines += [
                f"filter add dev {DEVICE} parent 1: protocol all prio 1 "
                f"flower src_mac {net.mac(i, 1)} classid 1:{number:x}",
                f"qdisc add dev to-sta{i} clsact",
                f"filter add dev to-sta{i} ingress matchall "
                f"action mirred egress redirect dev {DEVICE}",
                f"filter add dev to-sta{i} egress matchall "
                f"action mirred egress redirect dev {DEVICE}",
            ]
    return lines


def _to_ap(values: Mapping[str, Any]) -> str:
    """A delay line towards the access point, with a phase as asked for."""
    phase = "" if values["phase"] == "fixed" else testbed.time_text(_round_us(values) / 2e6) + " "
    delay = testbed.time_text(values["delay"])
    return f"netem delay {delay} {phase}rate {values['rate']}bit limit {testbed.DELAY_LINE}"


def _from_ap(values: Mapping[str, Any]) -> str:
    """A delay line away from the access point."""
    delay = testbed.time_text(values["delay"])
    return f"netem delay {delay} rate {values['rate']}bit limit {testbed.DELAY_LINE}"


def _ack_wire(values: Mapping[str, Any], net: Net) -> list[str]:
    """tc lines of the wire's return direction; with phase=random, one delay line per station.

    Its mean delay is the same, spread over a round. The rate keeps a station's ACKs in order.
    """
    line = _to_ap(values)
    if values["phase"] == "fixed":
        return [f"qdisc add dev to-ap root {line}"]
    count = values["n"]
    groups = math.ceil(count / PRIO_BANDS)
    lines = [f"qdisc add dev to-ap root handle 1: {_prio(max(groups, 2))}"]
    for group in range(groups):
        inner = range(group * PRIO_BANDS, min(count, (group + 1) * PRIO_BANDS))
        handle = 0x10 + group
        lines += [
            f"qdisc add dev to-ap parent 1:{group + 1:x} handle {handle:x}: "
            f"{_prio(max(len(inner), 2))}"
        ]
        for band, number in enumerate(inner, 1):
            match = f"flower dst_ip {net.address(number + 1, 1)}"
            family = "ipv6" if net.v6 else "ip"
            lines += [
                f"qdisc add dev to-ap parent {handle:x}:{band:x} {line}",
                f"filter add dev to-ap parent 1: protocol {family} prio 1 {match} "
                f"classid 1:{group + 1:x}",
                f"filter add dev to-ap parent {handle:x}: protocol {family} prio 1 {match} "
                f"classid {handle:x}:{band:x}",
            ]
    return lines


def _prio(bands: int) -> str:
    return f"prio bands {bands} priomap" + " 0" * 16


# --- the script -------------------------------------------------------------------------------


def _rtt_s(values: Mapping[str, Any]) -> float:
    """Round-trip time of the empty path (s), without airtime."""
    return 2 * values["delay"]


def _first_data_s(values: Mapping[str, Any]) -> float:
    """Longest time until the first data arrives (s); the SYN-ACK waits in the AP's queue."""
    several = _stations(values) > 1
    queue = values["ap_queue"] * _round_us(values) / 1e6 if several else 0.0
    late = LATE_SYN_S if several else 0.0
    late += 2 * sending.latest_s(values)  # of SYN and data
    return 2 * _rtt_s(values) + min(2 * queue, 10.0) + late + traffic.SLACK_S


def _bulks(
    values: Mapping[str, Any], ccs: tuple[str, ...], net: Net, duration_s: float
) -> list[TrafficFlow]:
    mix = traffic.spread("--cc " + "+".join(ccs), ccs, values["n"], "stations", "n")
    before_s = max(values["warmup"] + _rtt_s(values) + traffic.SLACK_S, _first_data_s(values))
    seconds = values["start"] + before_s + duration_s
    rows = [(f"station{i}", cc, f"sta{i}", "rcv", WIRE, 2) for i, cc in enumerate(mix, 1)]
    for i in range(1, values["down"] + 1):
        station = values["n"] + i
        rows.append((f"download{i}", values["down_cc"], f"srv{i}", f"sta{station}", station, 1))
    return [
        TrafficFlow(
            name=name,
            cc=cc,
            snd=snd,
            rcv=rcv,
            address=net.address(link, host),
            port=PORT + number,
            start_s=0.0,
            seconds=seconds,
            next_hop="ap",
        )
        for number, (name, cc, snd, rcv, link, host) in enumerate(rows)
    ]


def _links(values: Mapping[str, Any], net: Net, flows: Sequence[TrafficFlow]) -> list[str]:
    """Shell lines that set up the namespaces and the links between them."""
    every = _namespaces(flows)
    hops = [("ap", "rcv", WIRE)]
    routes = {"rcv": [f"default via {net.address(WIRE, 1)}{_receives(values)}"]}
    lines = [
        *net.namespaces(every),
        *net.links(hops),
        *net.ends(hops, routes, routers=["ap"]),
    ]
    lines += _station_lines(values, net)
    lines += _server_lines(values, net)
    data, ack = airtime_us(values, values["mtu"]), airtime_us(values, _ip_ack(values))
    return [
        *lines,
        "",
        *testbed.end_hosts(values, _hosts(flows), len(flows)),
        f"# medium: a full frame takes {data:.1f} us, an ACK {ack:.1f} us; the wire's data side",
        f"ip -n ap link add {DEVICE} type ifb",
        f"ip -n ap link set {DEVICE} up",
        *testbed.batch(
            "tc -n ap",
            [
                *_classes(values, net),
                f"qdisc add dev to-rcv root {_from_ap(values)}",
            ],
        ),
        "# the wire's way back",
        *testbed.batch("tc -n rcv", _ack_wire(values, net)),
        "",
        *_sending_lines(values, net),
    ]


def _sending_lines(values: Mapping[str, Any], net: Net) -> list[str]:
    """Shell lines of what stations, their peers and the access point have beside."""
    n, down = values["n"], values["down"]
    room = "root" if values["tsq"] else ""  # what hides the queue is there, else
    senders = [Sender(f"sta{i}", "ap", i, room=room) for i in range(1, n + 1)]
    senders += [Sender(f"srv{i}", "ap", WIRE + i, end=2, room="") for i in range(1, down + 1)]
    loads = [f"sta{i}" for i in range(n + 1, n + down + 1)]
    receivers = [("rcv", "to-ap"), *((name, "to-ap") for name in loads)]
    middle = [("ap", "to-rcv"), *(("ap", f"to-{name}") for name in loads)]
    return sending.lines(values, net, senders, receivers, middle)


def _receives(values: Mapping[str, Any]) -> str:
    """What the default route of a host that receives says about its window and its ACKs."""
    return testbed.receiver_route(values) + " quickack 1" * (values["ack_every"] == 1)


def _station_lines(values: Mapping[str, Any], net: Net) -> list[str]:
    """Shell lines that set up the stations' links, batched because there are many."""
    every = [(i, f"sta{i}") for i in range(1, _stations(values) + 1)]
    names = [name for _, name in every]
    devs = " ".join(f"to-{name}" for name in names)
    lines = [
        "# stations",
        *testbed.batch("ip", [net.link_line(name, "ap", i) for i, name in every]),
    ]
    ends = [line for i, name in every for line in net.end_lines(f"to-{name}", i, 2)]
    lines += testbed.batch("ip -n ap", ends)
    for i, name in every:
        route = f"route add default via {net.address(i, 2)}"
        route += _receives(values) if i > values["n"] else ""
        lines += testbed.batch(net.ip(name), [*net.end_lines("to-ap", i, 1), route])
    each = f"ip netns exec $ns {testbed.no_offloads('to-ap')}"
    if not values["tsq"]:
        # only with a delay does netem orphan packets, which hides its queue from their socket
        each += "\n\ttc -n $ns qdisc add dev to-ap root netem delay 1us limit 1000"
    return [
        *lines,
        f"for ns in {' '.join(names)}; do\n\t{each}\ndone",
        f"ip netns exec ap sh -c 'for dev in {devs}; do {testbed.no_offloads('$dev')}; done'",
    ]


def _server_lines(values: Mapping[str, Any], net: Net) -> list[str]:
    """Shell lines that set up the hosts that stations download from, each with its own wire."""
    lines = []
    for i in range(1, values["down"] + 1):
        name, link = f"srv{i}", WIRE + i
        hops = [("ap", name, link)]
        lines += [
            f"# {name} and its wire",
            *net.links(hops),
            *net.ends(hops, {name: [f"default via {net.address(link, 1)}"]}),
            f"tc -n ap qdisc add dev to-{name} root {_from_ap(values)}",
            f"tc -n {name} qdisc add dev to-ap root {_to_ap(values)}",
        ]
    return lines


def _hosts(flows: Sequence[TrafficFlow]) -> str:
    return " ".join(dict.fromkeys(["rcv", *(host for f in flows for host in (f.snd, f.rcv))]))


def _namespaces(flows: Sequence[TrafficFlow]) -> str:
    return f"ap {_hosts(flows)}"


def _traffic(values: Mapping[str, Any], flows: Sequence[TrafficFlow]) -> str:
    """Shell lines that run the flows and note when the measured interval begins."""
    events = traffic.warmup_lines(
        values["start"] + _rtt_s(values) + values["warmup"], flows
    ) if values["warmup"] else ""  # fmt: skip
    empty_s = 2 * _rtt_s(values) + traffic.SLACK_S
    queues = [("ap", DEVICE)]
    return traffic.traffic(flows, values["traffic"], queues, events, empty_s, values["start"])


def _script(values: Mapping[str, Any], net: Net, flows: Sequence[TrafficFlow]) -> str:
    servers = [flow.snd for flow in flows[values["n"] :]]
    return testbed.script(
        HEAD + HEAD_DOWN * bool(servers),
        _namespaces(flows),
        values,
        [(flow.cc, flow.port) for flow in flows],
        _links(values, net, flows),
        _traffic(values, flows),
        testbed.counters(
            " ".join(["ap rcv", *servers]),
            _hosts(flows),
            values["trace"],
            links="ap" * bool(servers),
        ),
    )


def _longest_s(values: Mapping[str, Any]) -> float:
    """How long a station that has every second turn may send before HTB's deficit overflows (s);
    or the access point with downloads, between whose frames there may be ACKs only."""
    data, ack = airtime_us(values, values["mtu"]), airtime_us(values, _ip_ack(values))
    turn_us = data if _stations(values) == 1 else 2 * data
    if values["down"]:
        turn_us = data + ack / values["ack_every"]
    return DEFICIT / (values["mtu"] + testbed.ETHERNET) * turn_us / 1e6


def _check(values: Mapping[str, Any], flows: Sequence[TrafficFlow], duration_s: float) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    testbed.check(values, duration_s)
    if values["mtu"] > wifi.MOST_IP:
        raise ValueError(f"mtu: an 802.11 frame holds at most {wifi.MOST_IP} bytes")
    spread_s = _round_us(values) / 2e6
    if values["phase"] == "random" and values["delay"] < spread_s:
        least = units.format("time", math.ceil(spread_s * 1e3) / 1e3)
        raise ValueError(f"phase=random requires a delay of at least half a round, here {least}")
    sending_s, longest_s = max(flow.seconds for flow in flows), _longest_s(values)
    if sending_s > longest_s:
        raise ValueError(
            f"senders run {sending_s:.0f} s, but HTB's round robin is even for at most "
            f"{longest_s:.0f} s: shorten --duration or warmup"
        )


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    net = WlanNet(bool(values["ipv6"]), values["mtu"])
    flows = _bulks(values, ccs, net, duration_s)
    _check(values, flows, duration_s)
    limit, packet = limit_bps(values), sending.packet(values)
    ack = _ip_ack(values)
    servers = [flow.snd for flow in flows[values["n"] :]]
    queued = values["mtu"] if servers else ack
    path = Path(
        rate_bps=round(limit * (packet + testbed.ETHERNET) / (packet - ack)),
        delay_s=values["delay"],
        limit_bps=limit,
        queue_bytes=values["ap_queue"] * (queued + testbed.ETHERNET),
        bottleneck=("ap", DEVICE),
        data_links=(("ap", "to-rcv"), *((name, "to-ap") for name in servers)),
        ack_links=(("rcv", "to-ap"), *(("ap", f"to-{name}") for name in servers)),
        channel=_channel(values),
        ceiling=Ceiling(((0.0, _most_bps(values)),)),
    )
    return Plan(
        script=_script(values, net, flows),
        flows=tuple(
            FlowSpec(flow.name, flow.cc, flow.snd, flow.port, receiver_ns=flow.rcv)
            for flow in flows
        ),
        paths=(path,),
        duration_s=duration_s,
        timeout_virtual_s=max(flow.seconds for flow in flows) + values["start"] + 150,
        sender_ns=flows[0].snd,
        receiver_ns="rcv",
        traffic=values["traffic"],
        extras=testbed.extras(values),
    )


# --- measures, the table, cost ----------------------------------------------------------------

# CPU seconds: fixed cost and cost per virtual second, each as (base, per station). Measured with
# uml and scaled for qemu by the same factor as lfn's.
_OVERHEAD_S, _SECOND_S = (15.0, 1.5), (0.4, 0.04)


class StationFlow(TypedDict, total=False):
    """A station's flow."""

    frames: Annotated[
        int, "frames", "frames the station sent in the interval (a download's are ACKs)"
    ]
    station_drops: Annotated[
        int, "frames", "frames the station's own queue dropped in the whole run"
    ]
    queue_drops: Annotated[
        int, "frames",
        "downloads: data frames that the access point's queue dropped in the whole run",
    ]  # fmt: skip


class ApQueue(TypedDict):
    """The access point's queue."""

    mean_packets: Annotated[
        float, "packets",
        "mean length of the access point's queue (all of `queue` is the access point's; its "
        "`drops` are ACKs, and data of downloads)",
    ]  # fmt: skip
    max_packets: Annotated[int, "packets", "largest sample of that length"]


class Shares(TypedDict, total=False):
    """The channel in the interval."""

    airtime: Annotated[float, "share", "airtime charged, as a share of the interval"]
    ap_frames: Annotated[int, "frames", "frames the access point sent in the interval"]
    ap_drops: Annotated[int, "frames", "frames the access point dropped in the interval"]
    station_frames: Annotated[int, "frames", "frames that all stations sent in the interval"]
    acks: Annotated[
        int, "frames",
        "with downloads: ACKs of the uploads that came to the access point in the whole run",
    ]  # fmt: skip


class Keys(TypedDict):
    """Keys that the measure adds."""

    flows: list[StationFlow]
    queue: ApQueue
    medium: Shares


def _shares(run: Measurement) -> None:
    """Each station's share of the channel; measures/channel.py adds the keys of the queue."""
    (path,) = run.paths
    during = path.series.between(run.interval.from_us, run.interval.end_us)
    leaves = zip(run.record["flows"], during.stations, path.station_drops, strict=True)
    for record, leaf, drops in leaves:
        record |= {"frames": during.count(leaf, "packets"), "station_drops": drops}
    run.record["medium"] = during.shares()
    if path.download_drops:
        downloads = run.record["flows"][-len(path.download_drops) :]
        for record, drops in zip(downloads, path.download_drops, strict=True):
            record["queue_drops"] = drops
        run.record["medium"]["acks"] = run.raw.packets(ACKS_COME, "rx")


def _acks_lost(record: dict[str, Any]) -> float | None:
    """ACKs dropped by the access point's queue, in percent of those that arrived in the interval
    (with downloads in the whole run); None for old records without that count."""
    medium = record["medium"]
    if "acks" in medium:
        data = sum(flow.get("queue_drops", 0) for flow in record["flows"])
        return 100 * (record["queue"]["drops"] - data) / max(1, medium["acks"])
    lost = medium.get("ap_drops")
    return None if lost is None else 100 * lost / max(1, lost + medium["ap_frames"])


def _sum_mbps(record: dict[str, Any], kind: str) -> float | None:
    """Goodput in Mbit/s of all uploads (``station``) or of all ``download``s, if there are any."""
    if "acks" not in record["medium"]:
        return None
    rates = (flow["goodput_bps"] for flow in record["flows"] if flow["name"].startswith(kind))
    return sum(rates) / 1e6


COLUMNS = (
    Column("uploads", 2, partial(_sum_mbps, kind="station"), after="% of limit"),
    Column("downloads", 2, partial(_sum_mbps, kind="download")),
    Column(
        "AP queue, packets", 1, lambda r: r["queue"]["mean_packets"], after="queue % of BDP"
    ),
    Column("ACKs lost %", 1, _acks_lost),
)  # fmt: skip


def _cost(values: Mapping[str, Any], _ccs: tuple[str, ...], duration_s: float) -> float:
    virtual_s = duration_s + values["start"] + values["warmup"]
    count = _stations(values)
    overhead, second = (fixed + each * count for fixed, each in (_OVERHEAD_S, _SECOND_S))
    return overhead + second * virtual_s


WLAN = Scenario(
    name="wlan",
    help="stations upload through one 802.11 access point: fairness, delay, lost ACKs",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=MOST, flows="stations"),
    build=_build,
    measures=(sharing.OWN, sharing.FAIR, sharing.STEADY, Measure(_shares, Keys)),
    columns=lambda _records: COLUMNS,
    without=frozenset({"queue % of BDP"}),
    cost=_cost,
)
