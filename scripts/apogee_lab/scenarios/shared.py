# SPDX-License-Identifier: GPL-2.0
"""Satellite-shared: several flows, each between its own two hosts, share one satellite link."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import units
from ..measures import marks, sharing
from ..measures import realtime as rtp_measure
from . import moving, realtime, sending, testbed, traffic
from .moving import Moves
from .scenario import Param, Path, Plan, Scenario
from .sending import Sender
from .testbed import PORT, Net

MOST_FLOWS = 50
SPLIT, MIDDLE = 100, 100  # link numbers: receivers' links follow SPLIT; the satellite link

PARAMS = (
    Param(
        "flows",
        "mix",
        "int|mix",
        "number of flows, each between its own two hosts; mix: as many as --cc names, or 2",
        1,
        MOST_FLOWS,
    ),
    Param(
        "start",
        (0.0,),
        "list:time",
        "start of each flow: 0s for all, or one per flow, 0s+10s+…",
        0,
        3600,
    ),
    Param(
        "delays",
        (0.0,),
        "list:time",
        "extra one-way delay of each flow: one for all, or one per flow, 0s+50ms+…",
        0,
        10,
    ),
    Param(
        "spread",
        "rtt",
        "time|rtt",
        "random extra start delay of each flow, at most this; rtt: one RTT of the empty path",
        0,
        3600,
    ),
    Param("wired_rate", 100_000_000, "rate", "rate of each wired link, 0 for no limit", 0, 100e9),
    Param("wired_delay", 0.001, "time", "one-way delay of each wired link", 0, 10),
    realtime.PARAM,
    *testbed.LINK_PARAMS,
    *moving.PARAMS,
    *testbed.HOST_PARAMS,
    *sending.PARAMS,
)
BOTTLENECK = ("bn", "to-sat")

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# satellite-shared: bulk flows that share a satellite link; to be run as root, results go to $OUT
# (or .)
#
#   snd1  to-bn --- to-snd1 \\                                      / to-rcv1 --- to-sat  rcv1
#   sender 1       wired     \\                                    /        wired   receiver 1
#                             bn  to-sat ------------- to-bn  sat
#                            /    queue, rate     delay, errors   \\
#   snd2  to-bn --- to-snd2 /                                      \\ to-rcv2 --- to-sat  rcv2
#   ...
#
#   data: wired link on to-bn of each sender, queue and rate on to-sat; satellite hop (delay, bit
#         errors) and the wired link behind it on to-rcv1, to-rcv2, ..., so that what the hop loses
#         is counted per flow
#   ACKs: wired link on to-sat of each receiver, satellite hop on to-bn of sat, (return path on
#         the router's ack-path,) wired link on to-snd1, to-snd2, ...
#   No wired link ever drops: its delay line has room for all.
#
"""


@dataclass(frozen=True)
class Flow:
    """One flow: its number from 1 on, algorithm, start and extra one-way delay (s).

    With ``transfers`` it is these instead of a bulk flow.
    """

    n: int
    cc: str
    start_s: float
    extra_s: float
    transfers: traffic.Transfers | None = None

    @property
    def snd(self) -> str:
        """The sender's namespace."""
        return f"snd{self.n}"

    @property
    def rcv(self) -> str:
        """The receiver's namespace."""
        return f"rcv{self.n}"

    @property
    def port(self) -> int:
        """The receiver's port, unique per flow, which identifies the flow in traces."""
        return PORT + self.n - 1


def _flows(values: Mapping[str, Any], ccs: tuple[str, ...]) -> list[Flow]:
    count = max(2, len(ccs)) if values["flows"] == "mix" else values["flows"]
    columns = (
        traffic.spread("--cc " + "+".join(ccs), ccs, count, "flows", "flows"),
        traffic.starts("start", values["start"], count, "flows", "flows"),
        traffic.spread("delays", values["delays"], count, "flows", "flows"),
    )
    return [Flow(n, *row) for n, row in enumerate(zip(*columns, strict=True), 1)]


def _check(values: Mapping[str, Any], flows: Sequence[Flow], duration_s: float) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    starts = [flow.start_s for flow in flows]
    testbed.check(values, max(starts) - min(starts) + duration_s)
    realtime.check(values, BOTTLENECK)
    if values["queue"] < values["mtu"]:
        size, packet = (units.format("size", values[name]) for name in ("queue", "mtu"))
        raise ValueError(f"queue: {size} holds no packet; use at least {packet} (the mtu)")
    if 0 < values["wired_rate"] < values["rate"]:
        wired, rate = (units.format("rate", values[name]) for name in ("wired_rate", "rate"))
        raise ValueError(
            f"wired_rate: {wired} is less than the satellite link's rate, {rate}: "
            "the queue would build up at the senders"
        )


def _wire(values: Mapping[str, Any], extra_s: float = 0.0) -> str:
    """netem's arguments for a wired link, with extra delay if given."""
    delay = testbed.time_text(values["wired_delay"] + extra_s)
    rate = values["wired_rate"]
    return f"delay {delay}" + (f" rate {rate}bit" if rate else "")


def _wired_lines(values: Mapping[str, Any], flows: Sequence[Flow]) -> list[str]:
    """Shell lines for the flows' wired links, except those behind the satellite hop."""
    found, at_router, receiver = [], [], f"netem {_wire(values)} limit {testbed.DELAY_LINE}"
    for flow in flows:
        sender = f"netem {_wire(values, flow.extra_s)} limit {testbed.DELAY_LINE}"
        found += [
            f"tc -n {flow.snd} qdisc add dev to-bn root {sender}",
            f"tc -n {flow.rcv} qdisc add dev to-sat root {receiver}",
        ]
        at_router.append(f"qdisc add dev to-{flow.snd} root {sender}")
    found += realtime.wire(values, "bn", f"{_wire(values)} limit {testbed.DELAY_LINE}")
    return [*found, *testbed.batch("tc -n bn", at_router)]


def _return_path(moves: Moves) -> list[str]:
    """Shell lines that send all ACKs through one queue at the router, if it is limited."""
    qdiscs = moving.return_path(moves, "ack-path")
    if not qdiscs:
        return []
    return [
        "# return path: slots, rate and queue, the same for the ACKs of all flows",
        "ip -n bn link add ack-path type ifb",
        *testbed.batch(
            "tc -n bn",
            [
                *qdiscs,
                "qdisc add dev to-sat clsact",
                "filter add dev to-sat ingress matchall action mirred egress redirect dev ack-path",
                *moving.zero_filter(moves, "to-sat"),
            ],
        ),
        "ip -n bn link set ack-path up",
        "",
    ]


def _hops(
    values: Mapping[str, Any], net: Net, flows: Sequence[Flow]
) -> tuple[list[testbed.Hop], dict[str, list[str]]]:
    """The links, and the routes of each namespace."""
    hops = [("bn", "sat", MIDDLE), *realtime.hops(values, "bn", "sat")]
    routes = realtime.routes(values, net) | {
        "bn": [f"default via {net.address(MIDDLE, 2)}"],
        "sat": [f"default via {net.address(MIDDLE, 1)}"],
    }
    window = testbed.receiver_route(values)
    for flow in flows:
        first, last = flow.n, SPLIT + flow.n
        hops += [(flow.snd, "bn", first), ("sat", flow.rcv, last)]
        routes[flow.snd] = [f"default via {net.address(first, 2)}"]
        routes[flow.rcv] = [f"default via {net.address(last, 1)}{window}"]
    return hops, routes


def _links(values: Mapping[str, Any], moves: Moves, net: Net, flows: Sequence[Flow]) -> list[str]:
    """Shell lines that set up the namespaces and the links between them."""
    hosts = [host for flow in flows for host in (flow.snd, flow.rcv)]
    every = " ".join(["bn", "sat", *hosts, *realtime.hosts(values)])
    limit = testbed.queue_packets(values)
    ber, ack_ber = testbed.error_rates(values)
    delay = testbed.time_text(moves.even_s)
    behind = testbed.time_text(moves.even_s + values["wired_delay"])
    hop = _wire(values, moves.even_s)
    to_receivers = [f"to-{flow.rcv}" for flow in flows]
    clsact = [
        f"tc -n sat qdisc add dev {dev} clsact"
        for _, devs in testbed.blackouts(values, to_receivers)
        for dev in devs
        if not moves.hop
    ]
    hops, routes = _hops(values, net, flows)
    lines = [
        *net.namespaces(every),
        *net.links(hops),
        *net.ends(hops, routes, routers=["bn", "sat"]),
        "",
        *testbed.end_hosts(values, " ".join(hosts), senders=len(flows)),
        "# wired links; the extra delay of a flow is on its sender's",
        *_wired_lines(values, flows),
        "",
        f"# bottleneck: rate and a queue of {limit} packets",
        *moving.programs(moves),
        *(f"tc -n bn {line}" for line in moving.bottleneck(moves, "to-sat")),
        "",
        *_return_path(moves),
        *moving.programs_end(moves),
        f"# satellite hop: {delay} each way, bit error rate {ber:g} (data), {ack_ber:g} (ACKs);",
        f"# towards the receivers the wired link follows: {behind} together",
    ]
    lossy = []
    for dev in [*to_receivers, *realtime.exits(values)]:
        share = values.get("loss", 0.0)
        lossy += testbed.lossy(dev, hop, ber, testbed.data_bands(sending.sent(values)), share)
    lossy += testbed.lossy("to-bn", f"delay {delay}", ack_ber, testbed.ack_bands(values))
    lines += testbed.batch("tc -n sat", lossy)
    # A sender's device has its wire's delay line, which takes all at once.
    senders = [Sender(flow.snd, "bn", flow.n, room="") for flow in flows]
    receivers = [(flow.rcv, "to-sat") for flow in flows]
    return [
        *lines,
        *clsact,
        "",
        *moving.hop(moves, "sat", "bn", [*to_receivers, *realtime.exits(values)]),
        *sending.lines(values, net, senders, receivers, [BOTTLENECK]),
        *testbed.first_blackouts(values, to_receivers, moves.place),
    ]


def _sending_s(
    values: Mapping[str, Any], flows: Sequence[Flow], flow: Flow, duration_s: float
) -> float:
    """How long a flow sends (s): until ``duration_s`` after the last flow's first data arrived.

    First data arrives after 1.5 round trips, plus twice the queuing delay if other flows have
    filled the queue.
    """
    starts = [other.start_s for other in flows]
    longest = 1.5 * 2 * _one_way(values, max(other.extra_s for other in flows))
    crowd = min(values["queue"], (values["window"] or 64_000) * len(flows))
    late = _spread_s(values, flows)
    later = 2 * sending.latest_s(values)  # SYN and data
    apart = late or later or max(starts) > min(starts)
    queued = 2 * crowd * 8 / values["rate"] if apart else 0.0
    errors = values["ber"] or values["ack_ber"] not in ("same", 0)
    late += traffic.late_syn_s(values, len(flows), bool(errors or moving.loses(values)))
    over = 0.0 if flow.transfers else _overtime_s(flows)
    return (
        max(starts) - flow.start_s + duration_s + longest + queued + late + over + traffic.SLACK_S
        + later
    )  # fmt: skip


def _overtime_s(flows: Sequence[Flow]) -> float:
    """How long other flows go on for the last transfer (s)."""
    return traffic.LONGEST_S if any(flow.transfers for flow in flows) else 0.0


def _one_way(values: Mapping[str, Any], extra_s: float) -> float:
    return values["delay"] + 2 * values["wired_delay"] + extra_s


def _spread_s(values: Mapping[str, Any], flows: Sequence[Flow]) -> float:
    """Largest random start delay (s). Without bit errors it is the only source of randomness."""
    if values["spread"] != "rtt":
        return float(values["spread"])
    return 2 * _one_way(values, min(flow.extra_s for flow in flows))


def _bulks(
    values: Mapping[str, Any], net: Net, flows: Sequence[Flow], duration_s: float
) -> list[traffic.TrafficFlow]:
    return [
        traffic.TrafficFlow(
            name=f"flow{flow.n}",
            cc=flow.cc,
            snd=flow.snd,
            rcv=flow.rcv,
            address=net.address(SPLIT + flow.n, 2),
            port=flow.port,
            start_s=flow.start_s,
            seconds=_sending_s(values, flows, flow, duration_s),
            next_hop="bn",
            transfers=flow.transfers,
        )
        for flow in flows
    ]


def _traffic(
    values: Mapping[str, Any],
    moves: Moves,
    net: Net,
    flows: Sequence[Flow],
    bulks: Sequence[traffic.TrafficFlow],
) -> str:
    """Shell lines that run the flows and sample the queue."""
    events = "".join(
        testbed.blackout_lines(name, values, devs, moves.place)
        for name, devs in testbed.blackouts(values, [f"to-{flow.rcv}" for flow in flows])
    ) + moving.play(moves, BOTTLENECK, "sat", _last(flows))
    if events:
        events = f"sleep $first\n{events}"
    events += realtime.play(values, net, _last(flows))
    end = realtime.end(values) + moving.end(moves, BOTTLENECK)
    empty_s = 2 * _one_way(moves.slowest, max(flow.extra_s for flow in flows)) + traffic.SLACK_S
    spread_s = _spread_s(values, flows)
    text = traffic.traffic(bulks, values["traffic"], [BOTTLENECK], events, empty_s, spread_s, end)
    return text + realtime.close(values)


def _last(flows: Sequence[Flow]) -> str:
    """The shell's word for a process that is there as long as the flows are: the last bulk flow's
    sender, which ends after the transfers, or these."""
    return "$transfers" if all(flow.transfers for flow in flows) else "${senders##* }"


def _script(
    head: str,
    values: Mapping[str, Any],
    moves: Moves,
    net: Net,
    flows: Sequence[Flow],
    bulks: Sequence[traffic.TrafficFlow],
) -> str:
    hosts = " ".join(host for flow in flows for host in (flow.snd, flow.rcv))
    return testbed.script(
        head,
        " ".join(["bn sat", hosts, *realtime.hosts(values)]),
        values,
        [(flow.cc, flow.port) for flow in flows],
        _links(values, moves, net, flows),
        _traffic(values, moves, net, flows, bulks),
        testbed.counters("bn sat", hosts, values["trace"], links="bn sat"),
    )


def build(
    values: Mapping[str, Any],
    ccs: tuple[str, ...],
    duration_s: float,
    source: moving.Source = moving.traced,
) -> Plan:
    """The plan of bulk flows; ``source`` yields the path's rate and delay over time."""
    return plan(HEAD, values, _flows(values, ccs), duration_s, source)


def plan(
    head: str,
    values: Mapping[str, Any],
    flows: Sequence[Flow],
    duration_s: float,
    source: moving.Source = moving.traced,
) -> Plan:
    """The plan of these flows over the shared link; ``head`` is the script's head comment."""
    _check(values, flows, duration_s)
    starts = [flow.start_s for flow in flows]
    ends_s = max(starts) - min(starts) + duration_s
    over_s = _overtime_s(flows)
    moves = moving.of(values, testbed.queue_packets(values), ends_s, source, over_s)
    begin_s = max(starts) - min(starts) + 2 * moves.first["delay"]
    net = Net(bool(values["ipv6"]), values["mtu"])
    bulks = _bulks(moves.slowest, net, flows, duration_s)
    crowd = 2 * min(values["queue"], (values["window"] or 64_000) * len(flows))
    spread_s = 2 * _spread_s(values, flows)
    bulks = moving.waiting(moves, bulks, begin_s + spread_s, crowd if len(flows) > 1 else 0)
    return Plan(
        script=_script(head, values, moves, net, flows, bulks),
        flows=traffic.specs(bulks, "bn", "sat"),
        paths=(_path(values, moves, flows, moves.data_s(begin_s), duration_s),),
        duration_s=duration_s,
        timeout_virtual_s=max(f.seconds + f.start_s for f in bulks) + _overtime_s(flows) + 150,
        sender_ns=flows[0].snd,
        receiver_ns=flows[0].rcv,
        traffic=values["traffic"],
        extras=testbed.extras(values),
    )


def _path(
    values: Mapping[str, Any],
    moves: Moves,
    flows: Sequence[Flow],
    begin_s: float,
    duration_s: float,
) -> Path:
    """The satellite link, measured from ``begin_s`` (s) on; its delay is that of the flow with the
    shortest path."""
    wires = len(flows) * values["wired_rate"] or math.inf
    most = moves.mean_rate(begin_s, duration_s, wires)
    to_receivers = tuple(("sat", f"to-{flow.rcv}") for flow in flows)
    shortest = {**values, "delay": moves.shortest_s}
    return Path(
        rate_bps=moves.mean_rate(begin_s, duration_s),
        delay_s=_one_way(shortest, min(flow.extra_s for flow in flows)),
        limit_bps=testbed.limit_bps({**sending.sent(values), "rate": most}),
        queue_bytes=values["queue"],
        bottleneck=BOTTLENECK,
        data_links=(*to_receivers, *moves.data_links("sat")),
        ack_links=(("sat", "to-bn"), *moves.ack_links("sat")),
        data_filters=(("sat", "to-bn"),) if values["data_blackout"] else (),
        ack_filters=to_receivers if values["ack_blackout"] else (),
        ceiling=moves.ceiling(begin_s, values["wired_delay"], wires),
    )


#: Measures of flows over this testbed.
MEASURES = (sharing.OWN, sharing.DROPS, marks.MARKS, rtp_measure.RTP)

SATELLITE_SHARED = Scenario(
    name="satellite-shared",
    help="several flows share a satellite link: fairness, delay, bit errors, lost ACKs",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=MOST_FLOWS, flows="flows"),
    build=build,
    measures=(*MEASURES, sharing.FAIR),
)
