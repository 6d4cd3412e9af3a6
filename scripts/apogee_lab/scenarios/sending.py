# SPDX-License-Identifier: GPL-2.0
"""What hosts and paths can have beside a scenario's own: qdisc and device of the senders, GRO, a
smaller MTU in the middle, clamped segments, reordering.

TCP hands packets of many segments to its device whatever that can do; the device cuts them, as a
NIC does, so that wires and queues hold frames. ``offloads`` is therefore what receivers do.

The lines come behind those that set up the links and change only what is not at its default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import testbed
from .scenario import Device, Param
from .testbed import Net

PARAMS = (
    Param("sender_qdisc", "none", "choice:none,fq,fq_codel", "qdisc of each sender's device"),
    Param("under", "veth", "choice:veth,bridge,macvlan,vxlan,ppp",
          "what each sender stands on; vxlan and ppp (PPPoE) end at its first router"),
    Param("offloads", 0, "bool", "receivers merge frames that arrive within 50 us (GRO)"),
    Param("mid_mtu", 0, "int", "largest IP packet behind the first routers, 0: mtu", 0, 9000),
    Param("icmp", 1, "bool", "0: senders never hear that a packet is too big (with mid_mtu)"),
    Param("mss_clamp", 0, "int", "MSS that routers leave in each SYN, 0: as sent", 0, 8960),
    Param("reorder", 0.0, "time",
          "mean of a random delay of each data frame, order not kept", 0, 1),
    Param("reorder_table", "uniform", "choice:uniform,normal,pareto,paretonormal,experimental",
          "its distribution: uniform from 0 to twice the mean, or a table of tc's, cut at 0"),
)  # fmt: skip
DEFAULTS = {param.name: param.default for param in PARAMS}

UPPER = "over"  # a host's device above its link's; a router's is over-HOST
CABLE, NIC = "cable", "nic"  # what leads to a receiver's own device, and that device
#: Bytes that a tunnel adds to an IP packet: VXLAN over IPv4 with the inner Ethernet header; PPPoE.
OVERHEAD = {"vxlan": 20 + 8 + 8 + testbed.ETHERNET, "ppp": 8}
LEAST_MSS = 256  # the least that Linux advertises by itself
SLOT = testbed.time_text(50e-6)  # how long a NIC gathers frames before it interrupts
MOST = 65_535  # bytes: no frame is longer than a NIC's MTU


@dataclass(frozen=True)
class Sender:
    """A sending host: its namespace and its first router's, the number of the link between them,
    its end of it. ``room``: where a qdisc has room on its device; "": nowhere, a delay line that
    takes all at once is there."""

    ns: str
    router: str
    link: int
    end: int = 1
    room: str = "root"


# --- packets ----------------------------------------------------------------------------------


def overhead(values: Mapping[str, Any]) -> int:
    """Bytes that what the senders stand on adds to a packet."""
    return OVERHEAD.get(values.get("under", ""), 0)


def _headers(values: Mapping[str, Any]) -> int:
    """Bytes of IP's and TCP's headers without options."""
    return 60 if values["ipv6"] else 40


def packet(values: Mapping[str, Any]) -> int:
    """Bytes of the longest IP packet with data that arrives."""
    values = {**DEFAULTS, **values}
    found = [int(values["mtu"]) - overhead(values)]
    if values["mss_clamp"]:
        found.append(values["mss_clamp"] + _headers(values))
    if values["mid_mtu"]:
        found.append(values["mid_mtu"])
    return min(found)


def sent(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the longest packet that arrives as ``mtu``: for frames and limits behind the
    first routers."""
    return {**values, "mtu": packet(values)}


def latest_s(values: Mapping[str, Any]) -> float:
    """The longest random delay of a data frame (s): a table of tc's ends at four deviations."""
    table = values["reorder_table"] != "uniform"
    return float(values["reorder"] * (5 if table else 2))


# --- refused ----------------------------------------------------------------------------------


def _check(values: Mapping[str, Any], net: Net) -> None:
    """ValueError (one line) for values that contradict each other."""
    least = 1280 if net.v6 else 576
    room = net.mtu - overhead(values)
    segment = values["mtu"] - overhead(values) - _headers(values)
    if overhead(values) and room < least:
        raise ValueError(
            f"under={values['under']} requires an mtu of at least {least + overhead(values)}"
        )
    if values["mid_mtu"] and room <= least:
        raise ValueError(f"mid_mtu: senders use {room}, and no smaller one is allowed")
    if values["mid_mtu"] and not least <= values["mid_mtu"] < room:
        raise ValueError(
            f"mid_mtu: allowed are 0 and {least} to {room - 1}, below what senders use"
        )
    narrow = any(values.get(f"mtu{n}") for n in range(1, 5))  # multipath's long links
    if not values["icmp"] and not values["mid_mtu"] and not narrow:
        raise ValueError("icmp=0 filters what routers say of a smaller MTU: add mid_mtu=BYTES")
    if values["mss_clamp"] and not LEAST_MSS <= values["mss_clamp"] < segment:
        raise ValueError(
            f"mss_clamp: allowed are 0 and {LEAST_MSS} to {segment - 1}, below what is sent without"
        )
    if values["reorder_table"] != "uniform" and not values["reorder"]:
        raise ValueError("reorder_table is the distribution of reorder: add reorder=TIME")


def _check_places(
    values: Mapping[str, Any],
    senders: Sequence[Sender],
    receivers: Sequence[Device],
    middle: Sequence[Device],
) -> None:
    """ValueError (one line) for what has no place in this scenario with these values."""
    places = {"sender_qdisc": senders, "under": senders, "mid_mtu": middle}
    places |= {"offloads": receivers, "reorder": receivers}
    for name, found in places.items():
        if values[name] != DEFAULTS[name] and not found:
            what = (
                "receiver's device has no Ethernet"
                if found is receivers
                else "sender has no router"
            )
            raise ValueError(f"{name}: the {what} here")


# --- script lines -----------------------------------------------------------------------------


def lines(
    values: Mapping[str, Any],
    net: Net,
    senders: Sequence[Sender],
    receivers: Sequence[Device],
    middle: Sequence[Device],
    hearing: Sequence[Device] = (),
) -> list[str]:
    """Shell lines for behind those that set up links and hosts; none with the defaults.

    ``net`` is that of the links. ``receivers``: the devices by which data comes to its hosts.
    ``middle``: those by which first routers pass it on. ``hearing``: those by which other senders
    hear of them.
    """
    values = {**DEFAULTS, **values}
    _check(values, net)
    _check_places(values, senders, receivers, middle)
    found: list[str] = []
    for sender in senders:
        found += [*_stand(values, net, sender), *_qdisc(values, sender)]
        found += _clamp(values, net, sender)
    for ns, dev in [*((s.ns, _device(values, s)) for s in senders), *hearing]:
        found += _deaf(values, net, ns, dev)
    if values["mid_mtu"]:
        found += [f"ip -n {ns} link set {dev} mtu {values['mid_mtu']}" for ns, dev in middle]
    for ns, dev in receivers:
        found += _nic(values, ns, dev)
    return ["# what hosts and paths have beside", *found, ""] if found else []


def _kind(values: Mapping[str, Any], sender: Sender) -> str:
    """What the sender stands on: where its link's device has no room, a qdisc needs one above."""
    if values["under"] == "veth" and values["sender_qdisc"] != "none" and not sender.room:
        return "macvlan"
    return str(values["under"])


def _device(values: Mapping[str, Any], sender: Sender) -> str:
    """The device that has the sender's address."""
    return f"to-{sender.router}" if _kind(values, sender) == "veth" else UPPER


def _route(net: Net, sender: Sender) -> str:
    return f"default via {net.address(sender.link, 3 - sender.end)}"


def _stand(values: Mapping[str, Any], net: Net, sender: Sender) -> list[str]:
    """Lines that put another device above the link's, which takes over address and neighbour; a
    tunnel has one at the router, too. What merges frames there is off, as on links."""
    kind = _kind(values, sender)
    if kind == "veth":
        return []
    n, ends = sender.link, [(sender.ns, f"to-{sender.router}", UPPER, sender.end)]
    if kind in OVERHEAD:
        ends.append((sender.router, f"to-{sender.ns}", f"{UPPER}-{sender.ns}", 3 - sender.end))
    found = []
    for ns, lower, upper, host in ends:
        taken = [f"addr del {net.address(n, host)}/{net.bits} dev {lower}"]
        if kind == "ppp":
            found += _session(ns, lower, upper, net.mac(n, 3 - host), n)
            taken += [f"link set {upper} mtu {net.mtu - OVERHEAD[kind]}"]
            taken += [line for line in net.end_lines(upper, n, host) if "neigh" not in line]
        else:
            taken += _upper(kind, net, n, host, lower, upper)
            taken += net.end_lines(upper, n, host)
        found += testbed.batch(f"ip -n {ns}", taken)
        found.append(f"ip netns exec {ns} ethtool -K {upper} gro off")
    return [*found, f"{net.ip(sender.ns)} route replace {_route(net, sender)}"]


def _session(ns: str, lower: str, upper: str, peer: str, n: int) -> list[str]:
    """Lines that start one end of a PPPoE session and wait for its device."""
    return [
        f"ip netns exec {ns} flow pppoe {lower} {peer} {n} &",
        f"until ip -n {ns} link set ppp{n} name {upper} 2>/dev/null; do sleep 0.01; done",
    ]


def _upper(kind: str, net: Net, n: int, host: int, lower: str, upper: str) -> list[str]:
    """Lines for ``ip -batch`` that create a device above another one, with its hardware address."""
    mac = net.mac(n, host)
    if kind == "bridge":
        return [f"link add {upper} address {mac} type bridge", f"link set {lower} master {upper}"]
    if kind == "macvlan":
        return [f"link add {upper} link {lower} type macvlan mode passthru"]
    own, other = (f"10.1.{n}.{end}" for end in (host, 3 - host))
    return [
        f"addr add {own}/24 dev {lower}",
        f"neigh add {other} lladdr {net.mac(n, 3 - host)} dev {lower} nud permanent",
        f"link add {upper} address {mac} type vxlan id {n} local {own} remote {other} "
        f"dstport 4789 dev {lower}",
    ]


def _qdisc(values: Mapping[str, Any], sender: Sender) -> list[str]:
    kind = values["sender_qdisc"]
    if kind == "none":
        return []
    dev, room = (f"to-{sender.router}", sender.room) if sender.room else (UPPER, "root")
    return [f"tc -n {sender.ns} qdisc add dev {dev} {room} {kind}"]


def _clamp(values: Mapping[str, Any], net: Net, sender: Sender) -> list[str]:
    """The sender's half of the clamp; the receiver's is on its own route."""
    if not values["mss_clamp"]:
        return []
    return [f"{net.ip(sender.ns)} route change {_route(net, sender)} advmss {values['mss_clamp']}"]


def _deaf(values: Mapping[str, Any], net: Net, ns: str, dev: str) -> list[str]:
    """Lines that drop what routers say of packets that are too big."""
    if values["icmp"]:
        return []
    what = "ipv6 flower ip_proto icmpv6 type 2" if net.v6 else "ip flower ip_proto icmp type 3"
    return testbed.batch(
        f"tc -n {ns}",
        [
            f"qdisc add dev {dev} clsact",
            f"filter add dev {dev} ingress protocol {what} action drop",
        ],
    )


def _nic(values: Mapping[str, Any], ns: str, dev: str) -> list[str]:
    """Lines that lead what comes in by a device through a pair of devices, which delays each frame
    by its own random time, or gathers frames and then merges them (GRO), as a NIC does."""
    words = [*_random(values), *([f"slot {SLOT} {SLOT}"] if values["offloads"] else [])]
    if not words:
        return []
    gro = "on" if values["offloads"] else "off"
    qdisc = f"qdisc add dev {CABLE} root netem {' '.join(words)} limit {testbed.DELAY_LINE}"
    return [
        f"mac=$(ip netns exec {ns} cat /sys/class/net/{dev}/address)",
        f"ip -n {ns} link add {CABLE} type veth peer name {NIC} address $mac",
        testbed.inside(ns, [testbed.no_offloads(CABLE), f"ethtool -K {NIC} gro {gro}"]),
        f"for dev in {CABLE} {NIC}; do ip -n {ns} link set $dev mtu {MOST} up; done",
        *testbed.batch(
            f"tc -n {ns}",
            [
                qdisc,
                f"qdisc add dev {dev} clsact",
                f"filter add dev {dev} ingress matchall action mirred egress redirect dev {CABLE}",
            ],
        ),
    ]


def _random(values: Mapping[str, Any]) -> list[str]:
    """netem's words for the random delay, if there is one."""
    if not values["reorder"]:
        return []
    time, table = testbed.time_text(values["reorder"]), values["reorder_table"]
    return [f"delay {time} {time}", *([] if table == "uniform" else [f"distribution {table}"])]
