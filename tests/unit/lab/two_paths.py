# SPDX-License-Identifier: GPL-2.0
"""A toy scenario with two paths of different rate and delay, a flow on each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from apogee_lab.measures import sharing
from apogee_lab.scenarios import testbed, traffic
from apogee_lab.scenarios.scenario import Device, FlowSpec, Param, Path, Plan, Scenario
from apogee_lab.scenarios.testbed import PORT, Net
from apogee_lab.scenarios.traffic import TrafficFlow

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#         / to-fast  fast  to-rcv \\
#   snd                             rcv     flow1 over fast, flow2 over slow
#         \\ to-slow  slow  to-rcv /
#
"""
NAMES = ("fast", "slow")
PARAMS = (
    Param("rates", (8_000_000, 2_000_000), "list:rate", "of both paths", 9600, 100e9),
    Param("delays", (0.01, 0.1), "list:time", "one-way, of both paths", 0, 10),
    Param("packets", 50, "int", "each path's queue", 1, 1000),
    *testbed.ERROR_PARAMS,
    Param("window", 1_000_000, "size", "receive window", 4096, 1e9),
    *testbed.PACKET_PARAMS,
    *testbed.HOST_PARAMS,
)


def _links(values: Mapping[str, Any], net: Net) -> list[str]:
    every = f"snd rcv {' '.join(NAMES)}"
    lines = net.namespaces(every)
    rows = zip(NAMES, values["rates"], values["delays"], strict=True)
    for number, (name, rate, delay) in enumerate(rows):
        near, far = 2 * number + 1, 2 * number + 2
        back = testbed.time_text(2 * delay)
        hops = [("snd", name, near), (name, "rcv", far)]
        routes = {
            "snd": [f"{net.network(far)} via {net.address(near, 2)}"],
            "rcv": [f"{net.network(near)} via {net.address(far, 1)}"],
        }
        lines += [
            *net.links(hops),
            *net.ends(hops, routes, routers=[name]),
            f"tc -n {name} qdisc add dev to-rcv root netem rate {rate}bit "
            f"limit {values['packets']}",
            f"tc -n {name} qdisc add dev to-snd root netem delay {back} limit 10000",
        ]
    return [*lines, *testbed.end_hosts(values, "snd rcv")]


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    net = Net(bool(values["ipv6"]), values["mtu"])
    ccs = tuple(traffic.spread("--cc", ccs, len(NAMES), "flows", "paths"))
    bulks = [
        TrafficFlow(f"flow{n}", cc, "snd", "rcv", net.address(2 * n, 2), PORT + n, 0.0,
             duration_s + 1, name)
        for n, (name, cc) in enumerate(zip(NAMES, ccs, strict=True), 1)
    ]  # fmt: skip
    ends: dict[str, Device] = {name: (name, "to-rcv") for name in NAMES}
    queues = [*ends.values()]
    running = traffic.traffic(bulks, values["traffic"], queues, "", 1.0, paths=ends)
    paths = tuple(
        Path(
            rate, delay, limit_bps=testbed.limit_bps({**values, "rate": rate}),
            queue_bytes=values["packets"] * values["mtu"], bottleneck=ends[name], name=name,
            ack_links=((name, "to-snd"),),
        )
        for name, rate, delay in zip(NAMES, values["rates"], values["delays"], strict=True)
    )  # fmt: skip
    return Plan(
        script=testbed.script(
            HEAD, "snd rcv fast slow", values, [(flow.cc, flow.port) for flow in bulks],
            _links(values, net), running,
            testbed.counters("fast slow", "snd rcv", values["trace"]),
        ),
        flows=tuple(FlowSpec(flow.name, flow.cc, "snd", flow.port) for flow in bulks),
        paths=paths,
        duration_s=duration_s,
        timeout_virtual_s=duration_s + 60,
        sender_ns="snd",
        receiver_ns="rcv",
        traffic=values["traffic"],
        extras=testbed.extras(values),
    )  # fmt: skip


TWO_PATHS = Scenario(
    name="two-paths",
    help="a flow on each of two paths",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=2, flows="flows"),
    build=_build,
    measures=(sharing.OWN, sharing.FAIR),
)
