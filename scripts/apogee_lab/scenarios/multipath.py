# SPDX-License-Identifier: GPL-2.0
"""Multipath: flows over two to four long links at once, joined by SHAKE or one of its peers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..measures import multipath as measures
from ..measures import realtime, sharing
from . import bundles, bursts, ceiling, longlinks, sending, testbed, traffic
from .bundles import CORRESPONDENT, FAR, LEADER, Site
from .ceiling import Ceiling
from .longlinks import AGENT, LongLink
from .scenario import Column, Device, FlowSpec, Param, Path, Plan, Scenario
from .testbed import ETHERNET, PORT, Net, time_text
from .traffic import TrafficFlow

MOST_FLOWS = 32
CBR_PORT, CBR_PACKET, CBR_MEMBER = 5101, 1000, 2
PING_S = 0.5
PERIOD = {"tcp_sack": 0, "tcp_recovery": 0, "tcp_timestamps": 0}
REORDERING = 3

PARAMS = (
    Param("direction", longlinks.UP, "choice:up,down",
          "up: the leader sends to the correspondent; down: the correspondent to it"),
    Param("paths", 2, "int", "number of paths", 2, longlinks.MOST, "paths"),
    Param("rate", (384_000,), "list:rate", "rate of the long links, each way", 9600, 1e9,
          "rate of the long links"),
    Param("delay1", 0.15, "time", "one-way delay of the leader's own long link", 0, 10,
          "one-way delay of path 1"),
    Param("delay2", 0.15, "time", "one-way delay of the second path's long link", 0, 10,
          "one-way delay of path 2"),
    Param("delay3", 0.15, "time", "the same of a third path", 0, 10, "one-way delay of path 3"),
    Param("delay4", 0.15, "time", "the same of a fourth path", 0, 10, "one-way delay of path 4"),
    Param("loss1", 0.0, "share", "share of frames that the leader's own long link loses", 0, 1,
          "loss of path 1"),
    Param("loss", 0.0, "share", "the same of every other long link", 0, 1, "loss of path 2"),
    *(Param(f"loss{n}", "same", "share|same", f"the same of path {n} alone", 0, 1,
            f"loss of path {n}")
      for n in range(2, longlinks.MOST + 1)),
    Param("ack_loss", "same", "share|same", "the same of the way back, on each long link", 0, 1),
    Param("queue", 50, "int", "queue in front of each long link, in full frames", 1, 100_000,
          "queue, packets"),
    *(Param(f"mtu{n}", 0, "int", f"largest IP packet on the long link of path {n}; 0: mtu", 0, 9000)
      for n in range(1, longlinks.MOST + 1)),
    Param("outage", 0.0, "time",
          f"mean length of random pauses of each long link, every {longlinks.GAP_S:g} s on average",
          0, 60, "mean length of the pauses"),
    Param("event", None, "events|none",
          "changes of all long links: rate, delay, loss; outage: nothing is sent, nothing lost"),
    *(Param(f"event{n}", None, "events|none", f"the same of path {n} alone")
      for n in range(1, longlinks.MOST + 1)),
    bursts.PARAM,
    Param("cbr", 0, "rate",
          f"UDP from the second path's member (down: to it), in packets of {CBR_PACKET} B",
          0, 1e9, "rate of the UDP flow"),
    Param("member_rate", 11_000_000, "rate", "rate between the leader and each member", 9600, 1e9),
    Param("member_delay", 0.001, "time", "one-way delay between the leader and each member", 0, 1),
    Param("far_delay", 0.001, "time", "one-way delay between agent and correspondent", 0, 1),
    *bundles.PARAMS,
    Param("flows", 1, "int", "number of flows", 1, MOST_FLOWS, "flows"),
    Param("window", 0, "int", "receive window in packets; 0: autotuned", 0, 100_000,
          "TCP's window, packets"),
    Param("ping", 0, "bool", f"a ping every {1e3 * PING_S:g} ms beside the flows"),
    Param("stack", "today", "choice:today,period",
          "period: without SACK, RACK and timestamps, reordering of 3 segments at most"),
    *testbed.PACKET_PARAMS,
    *(p for p in testbed.HOST_PARAMS if p.name != "traffic"),
    *(p for p in sending.PARAMS if p.name not in ("sender_qdisc", "under")),
)  # fmt: skip

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# multipath: flows over several long links; to be run as root, results go to $OUT (or .)
#
#       / to-modem ---- to-al  modem  to-net1 ---- to-modem  net1  to-ha \\
#  al                                                                      ha  to-cn ---- to-ha  cn
#       \\ to-am2 ------ to-al  am2    to-net2 ---- to-am2    net2  to-ha /
#  leader                      members                  long links         agent     correspondent
#     rate and queue: on to-netN of modem and of the members, and on to-netN of ha
#     delay and loss of the long links: in netN, each way
#     between the leader and a member: rate and delay on to-amN and on to-al
#     between agent and correspondent: delay on to-cn and on to-ha
#
"""


# --- the script -------------------------------------------------------------------------------


def _namespaces(links: Sequence[LongLink]) -> str:
    middle = " ".join(f"{link.router} {link.net}" for link in links)
    return f"{LEADER} {middle} {AGENT} {CORRESPONDENT}"


def _nets(values: Mapping[str, Any]) -> tuple[Net, Net, Net]:
    """Networks outside of a tunnel, inside of it, and of the correspondent."""
    six = bool(values["ipv6"])
    outside = values["outside"] == "6" if bundles.tunnelled(values) else six
    inner = Net(six, values["mtu"] - bundles.overhead(values))
    return Net(outside, values["mtu"]), inner, Net(six, values["mtu"])


def _link_lines(values: Mapping[str, Any], link: LongLink, net: Net) -> list[str]:
    """Shell lines of one path from the leader to the agent."""
    n, router, middle = link.number, link.router, link.net
    hops = ((LEADER, router, 10 + n), (router, middle, 20 + n), (middle, AGENT, 30 + n))
    routes = {
        LEADER: [f"{net.network(30 + n)} via {net.address(10 + n, 2)}"],
        router: [f"default via {net.address(20 + n, 2)}"],
        middle: [
            f"default via {net.address(30 + n, 2)}",
            f"{net.network(10 + n)} via {net.address(20 + n, 1)}",
        ],
        AGENT: [f"{net.network(near + n)} via {net.address(30 + n, 1)}" for near in (10, 20)],
    }
    return [
        f"# {link.name}",
        *net.links(hops),
        *net.ends(hops, routes, routers=[router, middle]),
        *longlinks.lines(link),
        *_narrow_lines(link),
        *_member_lines(values, link),
        "",
    ]


def _narrow_lines(link: LongLink) -> list[str]:
    """Shell lines of a long link that takes smaller packets than the rest: the routers at its ends
    say so."""
    if not link.mtu:
        return []
    ends = (link.router, f"to-{link.net}"), (link.net, f"to-{link.router}")
    return [f"ip -n {ns} link set {dev} mtu {link.mtu}" for ns, dev in ends]


def _member_lines(values: Mapping[str, Any], link: LongLink) -> list[str]:
    """Shell lines of the short link to a member; the modem has none."""
    if link.number == 1:
        return []
    rate, delay = round(values["member_rate"]), time_text(values["member_delay"])
    words = f"root netem rate {rate}bit delay {delay} limit {testbed.DELAY_LINE}"
    return [
        f"tc -n {LEADER} qdisc add dev to-{link.router} {words}",
        f"tc -n {link.router} qdisc add dev to-{LEADER} {words}",
    ]


def _far_lines(values: Mapping[str, Any], nets: Sequence[Net]) -> list[str]:
    """Shell lines between agent and correspondent, for each IP version."""
    delay = f"root netem delay {time_text(values['far_delay'])} limit {testbed.DELAY_LINE}"
    window = "" if _down(values) else testbed.receiver_route(_host_values(values))
    hops = [(AGENT, CORRESPONDENT, FAR)]
    found = ["# the correspondent", *nets[0].links(hops)]
    for net in nets:
        routes = {CORRESPONDENT: [f"default via {net.address(FAR, 1)}{window}"]}
        found += net.ends(hops, routes, routers=[AGENT])
    return [
        *found,
        f"tc -n {AGENT} qdisc add dev to-{CORRESPONDENT} {delay}",
        f"tc -n {CORRESPONDENT} qdisc add dev to-{AGENT} {delay}",
        "",
    ]


def _links(values: Mapping[str, Any], links: Sequence[LongLink]) -> list[str]:
    """Shell lines that set up the namespaces, the links between them, and what joins the paths."""
    outer, inner, far = _nets(values)
    every = _namespaces(links)
    both = [far] if far.v6 == outer.v6 else [far, outer]
    lines = [
        *Net(any(net.v6 for net in both), values["mtu"]).namespaces(every),
        *(line for link in links for line in _link_lines(values, link, outer)),
        *_far_lines(values, both),
        *bundles.lines(_site(values, links)),
        "",
        *testbed.end_hosts(_host_values(values), f"{LEADER} {CORRESPONDENT}"),
    ]
    if values["stack"] == "period":
        lines += [
            "# TCP of the time",
            f"for ns in {LEADER} {CORRESPONDENT}; do",
            f"\tip netns exec $ns sysctl -qw net.ipv4.tcp_max_reordering={REORDERING}",
            "done",
            "",
        ]
    return [
        *lines,
        *sending.lines(
            {**values, "mtu": inner.mtu},
            outer,
            [],
            *_places(values, links),
        ),
    ]


def _places(values: Mapping[str, Any], links: Sequence[LongLink]) -> tuple[list[Device], ...]:
    """The devices by which data comes to its hosts, those by which the first routers pass it on,
    and those by which senders, or a tunnel's end, hear of them. A leader that receives has several,
    and none."""
    if _down(values):
        return (
            [],
            [(link.net, f"to-{link.router}") for link in links],
            [(AGENT, f"to-{link.net}") for link in links],
        )
    return (
        [(CORRESPONDENT, f"to-{AGENT}")],
        [(link.router, f"to-{link.net}") for link in links],
        [(LEADER, f"to-{link.router}") for link in links],
    )


def _down(values: Mapping[str, Any]) -> bool:
    """Whether the correspondent sends."""
    return bool(values["direction"] == longlinks.DOWN)


def _site(values: Mapping[str, Any], links: Sequence[LongLink]) -> Site:
    outer, inner, _ = _nets(values)
    return Site(_host_values(values), bundles.used(values, links), outer, inner)


def _payload(values: Mapping[str, Any], overhead: int) -> int:
    """Bytes of TCP's payload in a full packet."""
    headers = (60 if values["ipv6"] else 40) + (12 if values["tcp_timestamps"] else 0)
    return int(values["mtu"]) - overhead - headers


def _host_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the window in bytes, as hosts have it."""
    return {**values, "window": values["window"] * _payload(values, bundles.overhead(values))}


def _play(values: Mapping[str, Any], links: Sequence[LongLink], nets: Sequence[Net]) -> str:
    """Shell lines for beside the flows: changes of the links, pings, and the UDP flow."""
    net, inner, _ = nets
    last, text = "${senders##* }", "movers=\n"
    for ns, steps in longlinks.streams(links):
        lines = "\n".join(f"{testbed.seconds(at)} {words}" for at, words in steps)
        text += f"flow replay {last} <<'END' | tc -n {ns} -batch - &\n{lines}\nEND\n"
        text += 'movers="$movers $!"\n'
    if values["ping"]:
        text += f"""\
ip netns exec {LEADER} ping -i {PING_S:g} {inner.address(FAR, 2)} >"$OUT/ping.txt" &
ping=$!
"""
    if values["cbr"]:
        payload = CBR_PACKET - (48 if net.v6 else 28)
        member = f"am{CBR_MEMBER}", net.address(20 + CBR_MEMBER, 1)
        ends = [member, (CORRESPONDENT, net.address(FAR, 2))]
        (sender, _), (receiver, address) = reversed(ends) if _down(values) else ends
        text += f"""\
ip netns exec {receiver} flow sink {CBR_PORT} "$OUT/cbr.recv.json" &
sink=$!
ip netns exec {sender} flow datagrams {address} {CBR_PORT} {payload} \\
	{8 * CBR_PACKET / values["cbr"]:.9g} {last} "$OUT/cbr.send.json" &
movers="$movers $!"
"""
    return text


def _traffic(
    values: Mapping[str, Any],
    links: Sequence[LongLink],
    bulks: Sequence[TrafficFlow],
    nets: Sequence[Net],
) -> str:
    """Shell lines that run the flows and sample the queues."""
    carrying = bundles.used(values, links)
    places = {link.name: link.senders[0] for link in carrying}
    end = ["for pid in $movers; do wait $pid; done", *longlinks.opened(links)]
    if not _down(values):
        end += [f"ip -n {LEADER} link set to-{link.router} down" for link in carrying[1:]]
    if bundles.shaken(values):
        end.insert(0, bundles.save_counters().rstrip())
    if values["ping"]:
        end.insert(0, "kill $ping")
    tool = "mptcp" if values["via"] == bundles.MPTCP else "flow"
    text = traffic.traffic(
        bulks,
        tool,
        [link.senders[0] for link in links],
        _play(values, links, nets),
        2 * _one_way(values, links) + traffic.SLACK_S,
        end="\n".join(end) + "\n",
        paths=places,
    )
    return longlinks.closed(links) + text + ("kill $sink\nwait $sink\n" if values["cbr"] else "")


def _one_way(values: Mapping[str, Any], links: Sequence[LongLink]) -> float:
    """The longest way to the correspondent (s)."""
    return max(link.longest_s for link in links) + values["member_delay"] + values["far_delay"]


def _bulks(
    values: Mapping[str, Any], ccs: Sequence[str], links: Sequence[LongLink], duration_s: float
) -> list[TrafficFlow]:
    """The flows. The receiver's interval begins with its first segment: a sender runs longer."""
    longer = 3 * _one_way(values, links) + traffic.SLACK_S + sending.latest_s(values)
    own = any(values[f"loss{n}"] not in (0, "same") for n in range(1, longlinks.MOST + 1))
    alone = bool(values["loss"] or own or values["event"])
    longer += traffic.late_syn_s(values, values["flows"], alone)
    site = _site(values, links)
    to_correspondent = LEADER, CORRESPONDENT, site.correspondent
    to_leader = CORRESPONDENT, LEADER, site.leader
    ends = to_leader if _down(values) else to_correspondent
    hop = AGENT if _down(values) else site.links[0].router
    names = traffic.spread("--cc", ccs, values["flows"], "flows", "flows")
    return [
        TrafficFlow(f"flow{n}", cc, *ends, PORT + n - 1, 0.0, duration_s + longer, hop)
        for n, cc in enumerate(names, 1)
    ]


# --- the plan ---------------------------------------------------------------------------------


def _path(values: Mapping[str, Any], link: LongLink, duration_s: float) -> Path:
    """A path as it is measured; its limit is what full packets of the flows can have of it."""
    short = values["member_delay"] if link.number > 1 else 0.0
    delay = link.delay_s + short + values["far_delay"]
    tunnel = bundles.overhead(values) if bundles.shaken(values) else 0
    cbr = values["cbr"] * (CBR_PACKET + ETHERNET) / CBR_PACKET if link.number == CBR_MEMBER else 0
    inside = {name: max(0, values[name] - tunnel) for name in ("mtu", "mid_mtu")}
    packet = sending.packet({**values, **inside})
    packet = min(packet, max(0, link.mtu - tunnel)) if link.mtu else packet
    payload = packet - values["mtu"] + _payload(values, 0)
    share = payload / (packet + tunnel + ETHERNET)
    begin_s = 2 * (delay - link.delay_s + link.delays[0][1])
    member_bps = values["member_rate"] if link.number > 1 else math.inf
    # A full queue may drop CBR's packets, and TCP has their place.
    best = Ceiling(
        tuple((at, share * bps) for at, bps in link.carried(most_bps=member_bps)),
        (values["far_delay"] + link.delay_s,
         values["far_delay"] + max(delay for _, delay in link.delays)),
        (begin_s, begin_s + values["far_delay"] + link.delays[0][1]),
        share * (16 * link.frame + link.begun(math.inf)),
        ceiling.luck(max((loss for _, loss in link.losses if loss < 1), default=0.0), payload),
    )  # fmt: skip
    begun = share * link.begun(begin_s + duration_s)
    left = ceiling.mean(link.carried(cbr, member_bps), begin_s, duration_s)
    return Path(
        rate_bps=link.mean_rate(begin_s, duration_s),
        delay_s=delay,
        limit_bps=share * left + begun / duration_s,
        ceiling=best,
        queue_bytes=link.queue,
        bottleneck=link.senders[0],
        name=link.name,
        data_links=((link.net, link.ways[0][0]),),
        ack_links=((link.net, link.ways[1][0]),),
    )


def _check(values: Mapping[str, Any]) -> None:
    testbed.check({**values, "traffic": "flow"}, 0.0)
    bundles.check(values)
    if values["ipv6"] and values["mtu"] - bundles.overhead(values) < 1280:
        raise ValueError("ipv6 requires an mtu of at least 1280 inside of the tunnel")
    for name in ("offloads", "reorder"):
        if _down(values) and values[name]:
            raise ValueError(
                f"{name}: a leader that receives has a device for each link, and this for none: "
                "leave out direction=down"
            )
    _check_mtus(values)
    if values["cbr"] >= _rate_of(values, CBR_MEMBER):
        raise ValueError("cbr leaves nothing of the second path: it must be below its rate")


def _check_mtus(values: Mapping[str, Any]) -> None:
    """A narrow link takes packets that every host accepts, and smaller ones than the others."""
    least = (1280 if values["ipv6"] or values["outside"] == "6" else 576) + bundles.overhead(values)
    for name in (f"mtu{n}" for n in range(1, longlinks.MOST + 1)):
        if values[name] and not least <= values[name] < values["mtu"]:
            raise ValueError(f"{name}: allowed are 0 and {least} to {values['mtu'] - 1}, below mtu")
        if values[name] and values["mid_mtu"]:
            raise ValueError(f"{name} and mid_mtu are of the same devices: give one of them")


def _rate_of(values: Mapping[str, Any], number: int) -> int:
    rates = values["rate"]
    return rates[0] if len(rates) == 1 else rates[number - 1]


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    if values["stack"] == "period":
        values = {**values, **PERIOD}
    links = longlinks.of(values, duration_s)
    _check(values)
    bulks = _bulks(values, ccs, links, duration_s)
    devices = ("shake",) if bundles.shaken(values) else ()
    routers = " ".join(f"{link.router} {link.net}" for link in links)
    return Plan(
        script=testbed.script(
            HEAD,
            _namespaces(links),
            values,
            [(flow.cc, flow.port) for flow in bulks],
            _links(values, links),
            _traffic(values, links, bulks, _nets(values)),
            testbed.counters(
                f"{routers} {AGENT}", f"{LEADER} {CORRESPONDENT}", values["trace"], links=AGENT
            ),
            devices=devices,
        ),
        flows=tuple(
            FlowSpec(flow.name, flow.cc, flow.snd, flow.port, receiver_ns=flow.rcv)
            for flow in bulks
        ),
        paths=tuple(_path(values, link, duration_s) for link in bundles.used(values, links)),
        duration_s=duration_s,
        timeout_virtual_s=duration_s + 150 + 10 * max(link.longest_s for link in links),
        sender_ns=bulks[0].snd,
        receiver_ns=bulks[0].rcv,
        devices=devices,
    )


# --- the table, cost --------------------------------------------------------------------------


def _lost(record: dict[str, Any]) -> float:
    return sum(link["queue_drops"] + link["lost"] for link in record["long_links"])


def _share(number: int) -> Any:
    """Share of the frames that a path carried, in per cent."""

    def value(record: dict[str, Any]) -> float | None:
        frames = {link["name"]: link["frames"] for link in record["long_links"]}
        total = sum(frames.values())
        name = f"path{number}"
        return 100 * frames[name] / total if len(frames) > 1 and total and name in frames else None

    return value


COLUMNS = (
    *(Column(f"path {n} %", 1, _share(n), after="% of limit" if n == 1 else "")
      for n in range(1, longlinks.MOST + 1)),
    Column("lost", 1, _lost, after="retransmits"),
    Column("queue lost", 1, lambda record: record.get("shake_queue", {}).get("drops")),
    Column("needless", 1, lambda record: record["needless_retransmits"]),
    Column("CBR lost", 1, lambda record: record.get("cbr", {}).get("lost")),
    Column("ping ms", 0, lambda record: record.get("ping", {}).get("mean_ms"), after="RTT ms"),
    Column("ping 99 % ms", 0, lambda record: record.get("ping", {}).get("p99_ms")),
)  # fmt: skip
# CPU seconds with engine qemu, guessed from uml's.
_OVERHEAD_S, _SECOND_S, _PER_MBIT = 8.0, 0.05, 0.08


def _cost(values: Mapping[str, Any], _ccs: tuple[str, ...], duration_s: float) -> float:
    rates = values["rate"]
    total = sum(rates) if len(rates) > 1 else rates[0] * values["paths"]
    return _OVERHEAD_S + (_SECOND_S + _PER_MBIT * total / 1e6) * duration_s


MULTIPATH = Scenario(
    name="multipath",
    help="flows over two to four long links at once: SHAKE, bonding, teql, MPTCP, one path",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=MOST_FLOWS, flows="flows"),
    build=_build,
    duration_s=100.0,
    measures=(sharing.OWN, *measures.ALL, realtime.PINGS),
    columns=lambda _records: COLUMNS,
    idle=bundles.idle,
    cost=_cost,
)
