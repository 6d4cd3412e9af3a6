# SPDX-License-Identifier: GPL-2.0
"""Satellite: one bulk flow over a link with long delay, bit errors and lost ACKs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..measures import marks, whole
from . import cost, moving, sending, testbed
from .moving import Moves
from .scenario import FlowSpec, Param, Path, Plan, Scenario, members
from .sending import Sender
from .testbed import PORT, Net

BYTES = Param("bytes", 0, "size", "bytes to send; 0: for the whole duration", 0, 1e12)
PARAMS = (BYTES, *testbed.LINK_PARAMS, *moving.PARAMS, *testbed.HOST_PARAMS, *sending.PARAMS)
BOTTLENECK = ("bn", "to-sat")
NAMESPACES = "snd bn sat rcv"
HOPS = [("snd", "bn", 1), ("bn", "sat", 2), ("sat", "rcv", 3)]

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# satellite: one bulk flow over a satellite link; to be run as root, results go to $OUT (or .)
#
#   snd  to-bn ---- to-snd  bn  to-sat ---- to-bn  sat  to-rcv ---- to-sat  rcv
#   sender                  queue, rate            delay, bit errors        receiver
#     data:                 on to-sat              on to-rcv
#     ACKs:                 (on to-snd)            on to-bn
#
"""


def _links(values: Mapping[str, Any], moves: Moves, net: Net) -> list[str]:
    """Shell lines that set up the namespaces and the links between them."""
    limit = testbed.queue_packets(values)
    delay = testbed.time_text(moves.even_s)
    ber, ack_ber = testbed.error_rates(values)
    zero = moving.zero_filter(moves, "to-sat")
    data = testbed.data_bands(sending.sent(values))
    clsact = [
        f"tc -n sat qdisc add dev {dev} clsact"
        for _, devs in testbed.blackouts(values, ["to-rcv"])
        for dev in devs
        if not moves.hop
    ]
    routes = {
        "snd": [f"default via {net.address(1, 2)}"],
        "bn": [f"{net.network(3)} via {net.address(2, 2)}"],
        "sat": [f"{net.network(1)} via {net.address(2, 1)}"],
        "rcv": [f"default via {net.address(3, 1)}{testbed.receiver_route(values)}"],
    }
    return [
        *net.namespaces(NAMESPACES),
        *net.links(HOPS),
        *net.ends(HOPS, routes, routers=["bn", "sat"]),
        "",
        *testbed.end_hosts(values, "snd rcv"),
        f"# bottleneck: rate and a queue of {limit} packets",
        *moving.programs(moves),
        *testbed.batch(
            "tc -n bn",
            [
                *moving.bottleneck(moves, "to-sat"),
                *moving.return_path(moves, "to-snd"),
                *(["qdisc add dev to-sat clsact"] if zero else []),
                *zero,
            ],
        ),
        *moving.programs_end(moves),
        "",
        f"# satellite hop: {delay} each way, bit error rate {ber:g} (data), {ack_ber:g} (ACKs)",
        *testbed.batch(
            "tc -n sat",
            [
                *testbed.lossy("to-rcv", f"delay {delay}", ber, data),
                *testbed.lossy("to-bn", f"delay {delay}", ack_ber, testbed.ack_bands(values)),
            ],
        ),
        *clsact,
        "",
        *moving.hop(moves, "sat", "bn", ["to-rcv"]),
        *sending.lines(values, net, [Sender("snd", "bn", 1)], [("rcv", "to-sat")], [BOTTLENECK]),
        *testbed.first_blackouts(values, ["to-rcv"], moves.place),
    ]


def _sending_s(moves: Moves, duration_s: float) -> float:
    """How long the flow sends (s): the receiver's interval begins with its first segment."""
    late_s = 2 * moves.longest_s + 0.1 + sending.latest_s(moves.values)
    return duration_s + late_s + moves.wait_s(late_s)


def _traffic(values: Mapping[str, Any], moves: Moves, net: Net, cc: str, duration_s: float) -> str:
    """Shell lines that run the flow and sample the queue."""
    receiver = net.address(3, 2)
    sending_s = _sending_s(moves, duration_s)
    events = "".join(
        testbed.blackout_lines(name, values, devs, moves.place)
        for name, devs in testbed.blackouts(values, ["to-rcv"])
    ) + moving.play(moves, BOTTLENECK, "sat", "$sender")
    end = moving.end(moves, BOTTLENECK)
    size = f" {values['bytes']}" if values["bytes"] else ""
    if values["traffic"] == "flow":
        return f"""\
ip netns exec rcv flow recv {PORT} "$OUT/flow1.recv.json" &
receiver=$!
ip netns exec rcv sh -c 'until grep -q ":{PORT:04X} " /proc/net/tcp6; do sleep 0.01; done'
note flow1 start
ip netns exec snd flow send {receiver} {PORT} --cc {cc} --duration {sending_s:g} \\
	"$OUT/flow1.send.json"{size} &
sender=$!
note queue_sampling on
flow every 0.1 'qdisc show dev to-sat' $sender | tc -n bn -s -j -batch - >"$OUT/queue.jsonl" &
sampler=$!
{events}wait $sender
kill $receiver{" 2>/dev/null || :" if size else ""}
wait $receiver
wait $sampler
{end}"""
    return f"""\
ip netns exec rcv iperf3 -s -1 -p {PORT} --json >"$OUT/iperf3-server.json" &
receiver=$!
ip netns exec rcv sh -c 'until grep -q ":{PORT:04X} " /proc/net/tcp6; do sleep 0.1; done'
note flow1 start
ip netns exec snd iperf3 -c {receiver} -p {PORT} -C {cc} -t {duration_s:g} --json \\
	>"$OUT/iperf3-client.json" &
sender=$!
note queue_sampling on
while kill -0 $sender 2>/dev/null; do echo 'qdisc show dev to-sat'; sleep 0.1; done |
	tc -n bn -s -j -batch - >"$OUT/queue.jsonl" &
sampler=$!
{events}wait $sender
wait $receiver
wait $sampler
{end}"""


def _script(values: Mapping[str, Any], moves: Moves, cc: str, duration_s: float) -> str:
    net = Net(bool(values["ipv6"]), values["mtu"])
    return testbed.script(
        HEAD,
        NAMESPACES,
        values,
        [(cc, PORT)],
        _links(values, moves, net),
        _traffic(values, moves, net, cc, duration_s),
        testbed.counters(NAMESPACES, "snd rcv", values["trace"]),
    )


def _one(cc: str) -> tuple[str, ...]:
    found = members(cc)
    if len(found) != 1 or not found[0]:
        raise ValueError(f"satellite has one flow: give one congestion control, not '{cc}'")
    return found


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    testbed.check(values, duration_s)
    if values["bytes"] and values["traffic"] != "flow":
        raise ValueError("bytes needs traffic=flow")
    moves = moving.of(values, testbed.queue_packets(values), duration_s)
    begin_s = moves.data_s(2 * moves.first["delay"])
    rate = moves.mean_rate(begin_s, duration_s)
    path = Path(
        rate_bps=rate,
        delay_s=moves.shortest_s,
        limit_bps=testbed.limit_bps({**sending.sent(values), "rate": rate}),
        queue_bytes=values["queue"],
        bottleneck=BOTTLENECK,
        data_links=(("sat", "to-rcv"), *moves.data_links("sat")),
        ack_links=(("sat", "to-bn"), *moves.ack_links("sat")),
        data_filters=(("sat", "to-bn"),) if values["data_blackout"] else (),
        ack_filters=(("sat", "to-rcv"),) if values["ack_blackout"] else (),
        ceiling=moves.ceiling(begin_s),
    )
    return Plan(
        script=_script(values, moves, ccs[0], duration_s),
        flows=(FlowSpec("flow1", ccs[0], "snd", PORT, bytes=values["bytes"]),),
        paths=(path,),
        duration_s=duration_s,
        timeout_virtual_s=max(duration_s, _sending_s(moves, duration_s) - 30) + 120,
        sender_ns="snd",
        receiver_ns="rcv",
        traffic=values["traffic"],
        extras=testbed.extras(values),
    )


SATELLITE = Scenario(
    name="satellite",
    help="one bulk flow over a satellite link: delay, bit errors, lost ACKs",
    params=PARAMS,
    parse_cc=_one,
    build=_build,
    measures=(marks.MARKS, whole.WHOLE),
    cost=cost.one_flow,
)
