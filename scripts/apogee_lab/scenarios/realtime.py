# SPDX-License-Identifier: GPL-2.0
"""A real-time sender beside flows: datagrams at a constant rate, as of a voice over RTP, between
hosts of their own, through the same bottleneck. Nothing is repeated and nothing adapts, so what the
others do to it is seen in its packets' delays and losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .scenario import Device, Param
from .testbed import Hop, Net

PACKET = 200  # bytes of an IP packet: 20 ms of G.711 and the headers of RTP, UDP and IPv4
PORT = 5004
SOURCE, SINK = "cam", "view"
LINKS = (99, 199)  # their numbers, behind those of any flow

PARAM = Param(
    "rtp", 0, "rate", "rate of a UDP sender of 200 B packets beside the flows, 0: none", 0, 1e9
)


def hosts(values: Mapping[str, Any]) -> list[str]:
    """Their namespaces, if there is such a sender."""
    return [SOURCE, SINK] if values.get("rtp") else []


def hops(values: Mapping[str, Any], router: str, far: str) -> list[Hop]:
    """The links of its two hosts."""
    if not values.get("rtp"):
        return []
    return [(SOURCE, router, LINKS[0]), (far, SINK, LINKS[1])]


def routes(values: Mapping[str, Any], net: Net) -> dict[str, list[str]]:
    """The routes of its two hosts."""
    if not values.get("rtp"):
        return {}
    return {
        SOURCE: [f"default via {net.address(LINKS[0], 2)}"],
        SINK: [f"default via {net.address(LINKS[1], 1)}"],
    }


def wire(values: Mapping[str, Any], router: str, line: str) -> list[str]:
    """tc lines of the source's wired link; ``line`` has netem's arguments."""
    if not values.get("rtp"):
        return []
    return [f"tc -n {SOURCE} qdisc add dev to-{router} root netem {line}"]


def exits(values: Mapping[str, Any]) -> list[str]:
    """The device by which its packets leave the hop."""
    return [f"to-{SINK}"] if values.get("rtp") else []


def play(values: Mapping[str, Any], net: Net, last: str) -> str:
    """Shell lines that send while the process ``last`` is there."""
    if not values.get("rtp"):
        return ""
    payload = PACKET - (48 if net.v6 else 28)
    return f"""\
ip netns exec {SINK} flow sink {PORT} "$OUT/rtp.recv.json" &
sink=$!
ip netns exec {SOURCE} flow datagrams {net.address(LINKS[1], 2)} {PORT} {payload} \\
	{8 * PACKET / values["rtp"]:.9g} {last} "$OUT/rtp.send.json" &
rtp=$!
"""


def end(values: Mapping[str, Any]) -> str:
    """Shell lines that wait for the last packets, when the flows have stopped."""
    return "wait $rtp\n" if values.get("rtp") else ""


def close(values: Mapping[str, Any]) -> str:
    """Shell lines behind all others of the traffic, when the path is empty."""
    return "kill $sink\nwait $sink\n" if values.get("rtp") else ""


def check(values: Mapping[str, Any], bottleneck: Device) -> None:
    """ValueError if it leaves the flows nothing, or has no tool."""
    if not values.get("rtp"):
        return
    if values["rtp"] >= values["rate"]:
        raise ValueError(f"rtp leaves nothing of {bottleneck[1]}: it must be below the rate")
    if values["traffic"] != "flow":
        raise ValueError("rtp needs traffic=flow")
