# SPDX-License-Identifier: GPL-2.0
"""Lfn, a long fat pipe: fast senders and slower Reno senders share one fast link."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from ..measures import marks, sharing
from ..measures.fairness import jain
from ..measures.measure import Measure
from . import moving, sending, testbed, traffic
from .moving import Moves
from .scenario import Column, Param, Path, Plan, Scenario
from .sending import Sender
from .testbed import PORT, Net
from .traffic import TrafficFlow

if TYPE_CHECKING:
    from ..measures.measurement import Measurement

MOST = 20  # senders of each kind
# Link numbers: Reno hosts, their switches, the shared link and receivers; fast hosts start at 1.
RENO, SWITCH, SHARED = 20, 40, 100
TBF_BURST = 2  # packets
BUCKET = "1:"  # handle of that token bucket, if it holds a qdisc

PARAMS = (
    Param("n", 2, "int", "fast senders, fast1, fast2, …, that use the algorithm of --cc", 0, MOST),
    Param("reno", 10, "int", "senders behind slower links, reno1, reno2, …", 0, MOST),
    Param("reno_cc", "reno", "control",
          "algorithm of the senders behind slower links"),
    Param("rate", 1_000_000_000, "rate", "rate of the shared link", 9600, 100e9,
          "rate of the shared link"),
    Param("delay", 0.025, "time", "one-way delay of the shared link", 0, 10,
          "one-way delay of the shared link"),
    Param("queue", 4167, "int", "queue of the shared link, in packets", 1, 1_000_000,
          "queue of the shared link, packets"),
    Param("host_rate", 1_000_000_000, "rate", "rate of each fast sender's own link", 9600, 100e9),
    Param("host_delay", 0.005, "time", "one-way delay of each sender's own link", 0, 10),
    Param("far_delay", 0.005, "time", "one-way delay behind the shared link", 0, 10),
    Param("reno_rate", 100_000_000, "rate", "rate of each slower link", 9600, 100e9),
    Param("reno_queue", 50, "int", "queue of each slower link's switch, in packets", 1, 1_000_000),
    Param("start", (0.0,), "list:time", "start of each fast sender: 0s for all, or 0s+10s+…",
          0, 3600),
    Param("reno_start", (0.0,), "list:time", "start of each slower sender, likewise", 0, 3600),
    Param("spread", 1.0, "time", "random extra start delay of each sender, at most this", 0, 3600),
    Param("warmup", 0.0, "time", "time not measured, from the last start on", 0, 3600),
    *testbed.ERROR_PARAMS,
    Param("window", 64_000_000, "size", "receive window", 4096, 1e9, "receive window"),
    *testbed.PACKET_PARAMS,
    *moving.PARAMS,
    *testbed.HOST_PARAMS,
    *sending.PARAMS,
)  # fmt: skip
BOTTLENECK = ("ra", "to-rb")

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# lfn: fast and slower hosts share a long fat pipe; to be run as root, results go to $OUT (or .)
#
#   fast1 ------------------------ \\                              / --- fast1-rcv
#   fast2 ------------------------ \\\\                            // --- fast2-rcv
#   ...   host_rate                 ra ----------------------- rb
#                                  //  rate, queue, delay       \\\\
#   reno1 ---- lan1 -------------- //                            \\\\ --- reno1-rcv
#   reno2 ---- lan2 -------------- /   (R_B to R_C: far_delay)    \\ --- reno2-rcv
#   ...   reno_rate, reno_queue
#
#   data: a fast host's link is a tbf on its own device, so that its stack sees it; a slower host
#         hands all to its switch at once, which has rate and queue on to-ra; shared link: rate and
#         queue on to-rb of ra, its delay, bit errors and the delay behind it on to-...-rcv of rb
#   ACKs: shared link on to-ra of rb; both directions' delay of a host's link on ra's way to it,
#         as a delay line on a host's own device would hide its rate from its stack
#
"""


def _bulks(
    values: Mapping[str, Any], ccs: tuple[str, ...], net: Net, duration_s: float
) -> list[TrafficFlow]:
    """The fast flows and the slower ones; each receiver has its own link."""
    n, reno = values["n"], values["reno"]
    rows = []
    if n:
        mix = traffic.spread("--cc " + "+".join(ccs), ccs, n, "fast senders", "n")
        start = traffic.starts("start", values["start"], n, "fast senders", "n")
        rows += [("fast", i + 1, mix[i], start[i]) for i in range(n)]
    if reno:
        start = traffic.spread("reno_start", values["reno_start"], reno, "senders", "reno")
        rows += [("reno", i + 1, values["reno_cc"], start[i]) for i in range(reno)]
    last_s = max((row[3] for row in rows), default=0.0) + values["spread"]
    until_s = last_s + values["warmup"] + duration_s + _until_data_s(values, len(rows))
    return [
        TrafficFlow(
            name=f"{group}{i}",
            cc=cc,
            snd=f"{group}{i}",
            rcv=f"{group}{i}-rcv",
            address=net.address(SHARED + number, 2),
            port=PORT + number - 1,
            start_s=start_s,
            seconds=until_s - start_s,
            next_hop="ra" if group == "fast" else f"lan{i}",
            group=group,
        )
        for number, (group, i, cc, start_s) in enumerate(rows, 1)
    ]


def _rtt_s(values: Mapping[str, Any]) -> float:
    """Round-trip time of the empty path."""
    return 2 * (values["host_delay"] + values["delay"] + values["far_delay"])


def _frame(values: Mapping[str, Any]) -> int:
    """Bytes of a full frame."""
    return values["mtu"] + testbed.ETHERNET


def _until_data_s(values: Mapping[str, Any], flows: int) -> float:
    """Longest time until a flow's first data arrives (s).

    Other flows may have filled the queue, which delays SYN and data, or the SYN may be lost.
    """
    crowd = min(values["queue"] * _frame(values), values["window"] * flows) if flows > 1 else 0
    errors = values["ber"] or values["ack_ber"] not in ("same", 0)
    late = traffic.LATE_SYN_S if flows > 1 or errors else 0.0
    late += 2 * sending.latest_s(values)  # of SYN and data
    return 2 * _rtt_s(values) + 2 * crowd * 8 / values["rate"] + late + traffic.SLACK_S


def _own_bps(values: Mapping[str, Any]) -> float:
    """The rate of all senders' own links."""
    return float(values["n"] * values["host_rate"] + values["reno"] * values["reno_rate"])


def _host_lines(values: Mapping[str, Any], net: Net, number: int, flow: TrafficFlow) -> list[str]:
    """Lines that set up one flow's hosts and its links."""
    index = int(flow.name.removeprefix(flow.group))
    back = testbed.time_text(2 * values["host_delay"])
    delay = f"netem delay {back} limit {testbed.DELAY_LINE}"
    routes: dict[str, list[str]] = {}
    routers: list[str] = []
    if flow.group == "fast":
        own, frame = index, _frame(values)
        handle = "" if values["sender_qdisc"] == "none" else f" handle {BUCKET}"
        hops = [(flow.snd, "ra", own)]
        lines = [
            f"tc -n {flow.snd} qdisc add dev to-ra root{handle} tbf rate {values['host_rate']}bit "
            f"burst {TBF_BURST * frame}b limit {1000 * frame}b",
            f"tc -n ra qdisc add dev to-{flow.snd} root {delay}",
        ]
    else:
        own, switch, lan = RENO + index, SWITCH + index, flow.next_hop
        hops, routers = [(flow.snd, lan, own), (lan, "ra", switch)], [lan]
        routes[lan] = [f"default via {net.address(switch, 2)}"]
        routes["ra"] = [f"{net.network(own)} via {net.address(switch, 1)}"]
        lines = [
            f"tc -n {lan} qdisc add dev to-ra root netem rate {values['reno_rate']}bit "
            f"limit {values['reno_queue']}",
            f"tc -n ra qdisc add dev to-{lan} root {delay}",
        ]
    last = SHARED + number
    hops.append(("rb", flow.rcv, last))
    routes[flow.snd] = [f"default via {net.address(own, 2)}"]
    routes[flow.rcv] = [f"default via {net.address(last, 1)}{testbed.receiver_route(values)}"]
    return [
        f"# hosts of {flow.name}",
        *net.links(hops),
        *net.ends(hops, routes, routers),
        *lines,
    ]


def _links(
    values: Mapping[str, Any], moves: Moves, net: Net, flows: Sequence[TrafficFlow]
) -> list[str]:
    """Shell lines that set up the namespaces and the links between them."""
    ber, ack_ber = testbed.error_rates(values)
    every = " ".join(_namespaces(flows))
    delay = testbed.time_text(moves.even_s + values["far_delay"])
    hops = [("ra", "rb", SHARED)]
    routes = {
        "ra": [f"default via {net.address(SHARED, 2)}"],
        "rb": [f"default via {net.address(SHARED, 1)}"],
    }
    lines = [
        *net.namespaces(every),
        *net.links(hops),
        *net.ends(hops, routes, routers=["ra", "rb"]),
    ]
    for number, flow in enumerate(flows, 1):
        lines += _host_lines(values, net, number, flow)
    lines += [
        "",
        *testbed.end_hosts(values, " ".join(_hosts(flows))),
        "# shared link: rate and queue",
        *moving.programs(moves),
        *(f"tc -n ra {line}" for line in moving.bottleneck(moves, "to-rb")),
        *moving.programs_end(moves),
        f"# its delay and what follows: {delay} each way, bit error rate {ber:g} (data), "
        f"{ack_ber:g} (ACKs)",
    ]
    lossy = []
    for flow in flows:
        bands = testbed.data_bands(sending.sent(values))
        lossy += testbed.lossy(f"to-{flow.rcv}", f"delay {delay}", ber, bands)
    lossy += testbed.lossy("to-ra", f"delay {delay}", ack_ber, testbed.ack_bands(values))
    lines += testbed.batch("tc -n rb", lossy)
    from_receivers = [f"to-{flow.rcv}" for flow in flows]
    receivers = [(flow.rcv, "to-rb") for flow in flows]
    return [
        *lines,
        "",
        *moving.hop(moves, "rb", "ra", from_receivers),
        *sending.lines(values, net, [_sender(flow) for flow in flows], receivers, [BOTTLENECK]),
    ]


def _sender(flow: TrafficFlow) -> Sender:
    """A flow's sending host; a fast one's qdisc is in the token bucket that is its link."""
    index = int(flow.name.removeprefix(flow.group))
    if flow.group == "fast":
        return Sender(flow.snd, "ra", index, room=f"parent {BUCKET}1")
    return Sender(flow.snd, flow.next_hop, RENO + index)


def _hosts(flows: Sequence[TrafficFlow]) -> list[str]:
    return [host for flow in flows for host in (flow.snd, flow.rcv)]


def _namespaces(flows: Sequence[TrafficFlow]) -> list[str]:
    return ["ra", "rb", *(f.next_hop for f in flows if f.group == "reno"), *_hosts(flows)]


def _traffic(values: Mapping[str, Any], moves: Moves, flows: Sequence[TrafficFlow]) -> str:
    """Shell lines that run the flows and note when the measured interval begins."""
    queues = [(flow.next_hop, "to-ra") for flow in flows if flow.group == "reno"]
    empty_s = 2 * _rtt_s(moves.slowest) + traffic.SLACK_S
    events = ""
    if values["warmup"]:
        last_s = max(flow.start_s for flow in flows) + values["spread"]
        begin_s = last_s + _rtt_s(values) + values["warmup"]
        events += traffic.warmup_lines(begin_s, flows)
    moved = moving.play(moves, BOTTLENECK, "rb", "${senders##* }")
    if moved:
        events += f"sleep $first\n{moved}"
    every = [*queues, BOTTLENECK]
    spread_s, end = values["spread"], moving.end(moves, BOTTLENECK)
    return traffic.traffic(flows, values["traffic"], every, events, empty_s, spread_s, end)


def _script(values: Mapping[str, Any], moves: Moves, net: Net, flows: Sequence[TrafficFlow]) -> str:
    return testbed.script(
        HEAD,
        " ".join(_namespaces(flows)),
        values,
        [(flow.cc, flow.port) for flow in flows],
        _links(values, moves, net, flows),
        _traffic(values, moves, flows),
        testbed.counters(
            " ".join(ns for ns in _namespaces(flows) if not ns.endswith("-rcv")),
            " ".join(_hosts(flows)),
            values["trace"],
            links="ra rb",
        ),
    )


def _check(values: Mapping[str, Any], flows: Sequence[TrafficFlow], duration_s: float) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    testbed.check(values, duration_s)
    if not flows:
        raise ValueError("n=0 and reno=0: there are no senders")


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    net = Net(bool(values["ipv6"]), values["mtu"])
    flows = _bulks(values, ccs, net, duration_s)
    _check(values, flows, duration_s)
    starts = [flow.start_s for flow in flows]
    begin_s = max(starts) - min(starts) + values["spread"] + values["warmup"]
    moves = moving.of(values, values["queue"], begin_s + duration_s)
    flows = _bulks(moves.slowest, ccs, net, duration_s)
    begin_s += _rtt_s(moves.first)
    flows = moving.waiting(moves, flows, begin_s, 2 * values["queue"] * values["mtu"])
    begin_s = moves.data_s(begin_s)
    own = _own_bps(values)
    path = Path(
        rate_bps=moves.mean_rate(begin_s, duration_s),
        delay_s=_rtt_s({**values, "delay": moves.shortest_s}) / 2,
        limit_bps=testbed.limit_bps(
            {**sending.sent(values), "rate": moves.mean_rate(begin_s, duration_s, own)}
        ),
        queue_bytes=values["queue"] * values["mtu"],
        bottleneck=BOTTLENECK,
        data_links=(*(("rb", f"to-{flow.rcv}") for flow in flows), *moves.data_links("rb")),
        ack_links=(("rb", "to-ra"), *moves.ack_links("rb")),
        ceiling=moves.ceiling(begin_s, values["far_delay"], own),
    )
    return Plan(
        script=_script(values, moves, net, flows),
        flows=traffic.specs(flows, "ra", "rb"),
        paths=(path,),
        duration_s=duration_s,
        timeout_virtual_s=max(f.start_s + f.seconds for f in flows) + values["spread"] + 150,
        sender_ns=flows[0].snd,
        receiver_ns=flows[0].rcv,
        traffic=values["traffic"],
        extras=testbed.extras(values),
    )


# --- measures, the table, cost ----------------------------------------------------------------

EARLY_S = 5.0  # covers the first slow start and its overshoot
# CPU seconds with 1 Gbit/s and a dozen flows: boot and links, and each virtual second. 10 and 0.5
# were measured with uml; qemu is assumed to take 7 times as long.
_OVERHEAD_S, _SECOND_S = 70.0, 3.5


class Group(TypedDict):
    """All flows of one kind, `fast` or `reno`."""

    goodput_bps: Annotated[float, "bit/s", "`fast` and `reno`: sum over the group's flows"]
    jain: Annotated[float, "index", "Jain's index of the group's flows"]
    flows: Annotated[int, "number", "number of the group's flows"]


class Early(TypedDict):
    """The queue in the first seconds."""

    early_drops: Annotated[
        int, "frames", "frames the queue dropped in the 5 s from the first SYN on"
    ]


class Keys(TypedDict):
    """Keys that the measure adds."""

    groups: dict[str, Group]
    queue: Early


def _groups(run: Measurement) -> None:
    """Goodput and fairness of each group, and the drops caused by the first slow starts."""
    rates: dict[str, list[float]] = {}
    for spec, flow in zip(run.specs, run.record["flows"], strict=True):
        rates.setdefault(spec["group"], []).append(flow["goodput_bps"])
    run.record["groups"] = {
        name: {"goodput_bps": round(math.fsum(own), 1), "jain": jain(own), "flows": len(own)}
        for name, own in rates.items()
    }
    until_s = run.interval.syn_us / 1e6 + EARLY_S
    run.record["queue"]["early_drops"] = sum(path.drops_until(until_s) for path in run.paths)


def _goodput(record: dict[str, Any], name: str) -> float | None:
    """Goodput in Mbit/s of a group of flows."""
    found = record["groups"].get(name)
    return found["goodput_bps"] / 1e6 if found else None


COLUMNS = (
    Column("fast flows", 1, partial(_goodput, name="fast"), after="least flow"),
    Column("Reno flows", 1, partial(_goodput, name="reno")),
    Column("in first 5 s", 0, lambda r: r["queue"].get("early_drops"), after="queue drops"),
)


def _cost(values: Mapping[str, Any], _ccs: tuple[str, ...], duration_s: float) -> float:
    return _OVERHEAD_S + _SECOND_S * (values["warmup"] + duration_s)


LFN = Scenario(
    name="lfn",
    help="fast senders and slower Reno senders share a long fat pipe: utilisation, fairness",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=MOST, flows="fast senders"),
    build=_build,
    measures=(sharing.OWN, sharing.DROPS, sharing.STEADY, marks.MARKS, Measure(_groups, Keys)),
    columns=lambda _records: COLUMNS,
    without=frozenset({"mean flow", "least flow"}),  # flows of different kinds
    cost=_cost,
)
