# SPDX-License-Identifier: GPL-2.0
"""Every parameter of every scenario at its edges: it is refused in one line, or it counts.

The cases are made from the scenarios' own declarations: the least and the greatest value, a little
more and a little less, the default, every word. No two of them make the same run, except where this
file says why; and what a value sets in the script is said here, too (``SETS``).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Param, Plan

RUN_S = 60.0
FRAME = 1514

#: What must be set beside a parameter so that it has an effect, or is allowed: in all scenarios,
#: and in one.
BESIDE: dict[str, dict[str, Any]] = {
    "ack_queue": {"ack_rate": 10**6},
    "blackout_spread": {"ack_blackout": (30.0, 1.0)},
    "aqm_rtt": {"aqm": "cake"},
    "jitter": {"jitter_mean": 10.0},
    "start": {"flows": 2},
    "loss1": {"via": "bonding"},
    "rate_low": {"rate_high": 10**11},
    "rate_high": {"rate_low": 9600},
    "target": {"qdisc": "fq_codel"},
    "qdisc_limit": {"qdisc": "fq_codel"},
    "qdisc_target": {"qdisc": "fq_codel"},
    "qdisc_interval": {"qdisc": "fq_codel"},
    "ratio_theta": {"scheduler": "ratio"},
    **dict.fromkeys(
        (f"{name}{n}" for name in ("delay", "loss", "mtu") for n in (3, 4)), {"paths": 4}
    ),
    "event3": {"paths": 4},
    "event4": {"paths": 4},
    "down_cc": {"down": 1},
    "icmp": {"mid_mtu": 1400},
    "reorder_table": {"reorder": 0.005},
}
#: Values of which no edge is allowed with the scenarios' own packets.
INSIDE = {
    "mid_mtu": [1400],
    "mss_clamp": [1000],
    **dict.fromkeys(("mtu1", "mtu2", "mtu3", "mtu4"), [1400]),
}
BESIDE_IN: dict[tuple[str, str], dict[str, Any]] = {
    ("radio", "interval"): {"qdisc": "fq_codel"},
    ("radio", "queue"): {"segment": 0},
    ("radio", "offloads"): {"segment": 0},
    ("radio", "reorder"): {"segment": 0},
    ("radio", "reorder_table"): {"segment": 0, "reorder": 0.005},
    ("wlan", "start"): {},
    ("lfn", "start"): {"n": 2, "spread": 0.0},
    ("lfn", "reno_start"): {"reno": 2},
    ("lfn", "aqm_rtt"): {"aqm": "fq_codel"},
    ("requests", "lead"): {"--cc": "reno+cubic"},
}
#: Parameters of which two values may make the same run, and why.
ALIKE = {
    "ack_ber": "the same as the data's 0",
    "ack_loss": "the same as the data's 0",
    **dict.fromkeys(("loss2", "loss3", "loss4"), "the same as loss, which is 0"),
    "flows": "a mix of one name is two flows",
    "queue": "whole packets",
    "series": "whole samples of 50 ms",
    "turn": "turns of less than four frames only halve the rate",
    "rate_high": "a rate that is drawn once in thousands of times",
}
#: Parameters that a scenario refuses at all edges but the default, and why.
REFUSED = {
    ("leo", "aqm"): "its rate moves",
    ("leo", "policer"): "its rate moves",
    ("leo", "aqm_rtt"): "it has no aqm",
}


def some(param: Param) -> list[Any]:
    """Values of a parameter at its edges."""
    base, words = units.split_kind(param.kind)
    item = base.removeprefix(units.LIST)
    found: list[Any] = [param.default, *(None if word == "none" else word for word in words)]
    found += INSIDE.get(param.name, [])
    if base.startswith("choice:"):
        return [*found, *base.removeprefix("choice:").split(",")]
    if item in STEPS:
        low, high = param.low or 0, 1 if param.high is None else param.high
        step = STEPS[item]
        numbers = [low, low + step, high - step, high]
        numbers = [round(x, 9) if isinstance(step, float) else int(x) for x in numbers]
        numbers.insert(2, USUAL[item])
        if base.startswith(units.LIST):
            return [*found, *((x,) for x in numbers), *((low, x) for x in numbers)]
        return [*found, *numbers]
    return [*found, *VALUES[base]]


STEPS = {"rate": 1, "size": 1, "int": 1, "bool": 1, "time": 0.001, "ber": 1e-6, "share": 0.001,
         "float": 0.01}  # fmt: skip
USUAL = {"rate": 50 * 10**6, "size": 10**5, "int": 2, "bool": 1, "time": 0.02, "ber": 1e-5,
         "share": 0.01, "float": 0.5}  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "event": [(0.0, 0.001), (0.0, RUN_S), (0.001, 1.0), (RUN_S - 0.001, 0.001), (RUN_S, 1.0)],
    "events": [units.parse("events", text) for text in
               ("loss:5%@0s", "loss:5%@1ms", "delay:1ms@0s", "rate:1mbit@59.999s")],
    "burst": [(0.0, 1.0), (1.0, 1.0), (0.01, 0.3)],
    "every": [(0.05, 0.001), (1.0, 0.5), (3600.0, 0.001), (3600.0, 3599.999)],
    "control": ["reno", "cubic", "bbr"],
    "file": [],
}  # fmt: skip
EVERY = [(name, p.name) for name, s in SCENARIOS.items() for p in s.params if p.kind != "file|none"]


def compiled(name: str, param: str, value: Any) -> Plan:
    beside = BESIDE_IN.get((name, param), BESIDE.get(param, {}))
    if any(key not in SCENARIOS[name].defaults() and key != "--cc" for key in beside):
        beside = {}
    values = {key: given for key, given in beside.items() if key != "--cc"}
    return SCENARIOS[name].compile({**values, param: value}, beside.get("--cc", "reno"), RUN_S)


@cache
def accepted(name: str, param: str) -> list[tuple[Any, str]]:
    """The values that are accepted, and their scripts; the others are refused in one line."""
    (declared,) = (p for p in SCENARIOS[name].params if p.name == param)
    found = []
    for value in dict.fromkeys(some(declared)):
        try:
            found.append((value, compiled(name, param, value).script))
        except ValueError as error:
            assert "\n" not in str(error) and str(error)
    return found


@pytest.mark.parametrize(("name", "param"), EVERY)
def test_no_value_is_ignored(name: str, param: str) -> None:
    """No two that are accepted make the same run, and two are accepted."""
    runs: dict[str, Any] = {}
    for value, script in accepted(name, param):
        same = runs.setdefault(script, value)
        for_all = isinstance(value, tuple) and len({*value, *same}) == 1
        assert same == value or for_all or param in ALIKE, f"{name} {param}: {same} and {value}"
    assert len(runs) > 1 or (name, param) in REFUSED


# --- what a value sets ------------------------------------------------------------------------


def us(value: float) -> str:
    """A time as tc reads it."""
    return f"{round(1e6 * value)}us"


def packets(size: int) -> int:
    return max(1, round(size / 1500))


def band(ber: float) -> str:
    """The loss of the band of full frames."""
    return f"netem delay {{}} loss {-100 * math.expm1(8 * FRAME * math.log1p(-ber)):.9g}% limit"


#: By parameter: what must be in the script for a value; None: nothing that this table says.
SETS: dict[str, Any] = {
    "rate": lambda v: f"netem rate {v}bit limit 417\n",
    "delay": lambda v: f"dev to-bn root netem delay {us(v)} limit 1000000\n",
    "ber": lambda v: band(v).format("250000us") if v else "bit error rate 0 (data), 0 (ACKs)",
    "ack_ber": lambda v: f"bit error rate 0 (data), {0 if v == 'same' else v:g} (ACKs)",
    "queue": lambda v: f"netem rate 10000000bit limit {packets(v)}\n",
    "window": lambda v: f" window {v}" if v else None,
    "ack_blackout": lambda v: f"\tsleep {v[1]:.9g}\n\ttc -n sat filter del" if v else None,
    "data_blackout": lambda v: f"\tsleep {v[1]:.9g}\n\ttc -n sat filter del" if v else None,
    "blackout_spread": lambda v: f" + {v:.9g} * $(od" if v else "\tsleep 30\n",
    "ack_rate": lambda v: f"root handle 2: netem rate {v}bit limit 20\n" if v else None,
    "ack_queue": lambda v: f"handle 2: netem rate 1000000bit limit {v}\n",
    "ack_slot": lambda v: f"netem slot {us(v)} {us(v)} limit" if v else None,
    "mtu": lambda v: f" mtu {v} ",
    "bytes": lambda v: f"flow1.send.json\" {v} &" if v else None,
    "initrwnd": lambda v: f" initrwnd {v}" if v else None,
    "ipv6": lambda v: "fd00:" if v else "10.0.",
    "policer": lambda v: f"htb burst {v}b cburst {v}b" if v else None,
    "jitter": lambda v: f" {us(math.sqrt(3) * v)}\n" if v else None,
    "jitter_mean": None,  # test_moving.py: on top of the delay
    "burst": lambda v: f"loss gemodel {100 * v[0]:g}% {100 * v[1]:g}%" if v else None,
    "burst_time": None,  # test_bursts.py
    **dict.fromkeys(("back", "box", "completion", "turn")),  # test_radio.py
    **dict.fromkeys(("event", *(f"event{n}" for n in range(1, 5)))),  # test_edges_of_events.py
    "aqm": lambda v: None if v == "none" else f" parent 1:1 handle 2: {v} ",
    "aqm_rtt": lambda v: (f" rtt {us(v)}" if v else "cake"),
    "lie": lambda v: f" {v}\n",
    "lie_rtt": lambda v: f'"$OUT/liar" {v} ',
    "traffic": lambda v: "iperf3 -c" if v == "iperf3" else "exec $2 flow",
    "trace": lambda v: None if v == "none" else "instances/apogee",
    **{name: (lambda v, name=name: f"net.ipv4.{name}={v}") for name in (
        "tcp_frto", "tcp_early_retrans", "tcp_timestamps", "tcp_sack", "tcp_dsack", "tcp_recovery",
        "tcp_ecn")},
    **{name: (lambda v, name=name: f"net.ipv4.{name}={v}" if v else "") for name in (
        "tcp_mtu_probing", "tcp_notsent_lowat")},
    "sender_qdisc": lambda v: "" if v == "none" else f" root {v}",
    "under": lambda v: "" if v == "veth" else "flow pppoe" if v == "ppp" else f" type {v}",
    "offloads": lambda v: "ethtool -K nic gro on" if v else "",
    "mid_mtu": lambda v: f" mtu {v}" if v else "",
    "icmp": lambda v: "" if v else "ip_proto icmp type 3 action drop",
    "mss_clamp": lambda v: f" advmss {v}" if v else "",
    "reorder": lambda v: f"dev cable root netem delay {us(v)} {us(v)} " if v else "",
    "reorder_table": lambda v: "" if v == "uniform" else f" distribution {v} ",
    "flows": lambda v: f"\nstart_flow{2 if v == 'mix' else v}=",
    "start": lambda v: f"\nstart_flow2=$(late {v[-1]:.9g})\n",
    "delays": lambda v: f"tc -n snd1 qdisc add dev to-bn root netem delay {us(0.001 + v[0])} ",
    "spread": lambda v: (f" + {v:.9g} * $(od" if v else "\nstart_flow1=0\n")
    if v != "rtt" else " + 0.504 * $(od",
    "wired_rate": lambda v: f"to-sat root netem delay 1000us rate {v}bit limit" if v else
    "to-sat root netem delay 1000us limit",
    "wired_delay": lambda v: f"to-sat root netem delay {us(v)} rate 100000000bit limit",
    "sizes": lambda v: "request " + "+".join(map(str, v)),
    "persistent": lambda v: "5201 answer &" if v else "5201 serve &",
    "period": lambda v: f" {v:.9g} 0' &" if v else "+10000000 &",
    "idle": lambda v: f" 0 {v:.9g}' &" if v else "+10000000 &",
    "lead": lambda v: f"\nstart_flow1=$(late {v:.9g})\n",
    **dict.fromkeys(("rate_low", "rate_high", "spike")),  # test_moving.py
    "loss": None,
    # lfn
    "n": lambda v: f"\nstart_fast{v}=" if v else None,
    "reno": lambda v: f"\nstart_reno{v}=" if v else None,
    "reno_cc": lambda v: f"\nsend reno1 reno1 $start_reno1 {v} ",
    "host_rate": lambda v: f"dev to-ra root tbf rate {v}bit burst",
    "host_delay": lambda v: f"dev to-fast1 root netem delay {us(2 * v)} limit",
    "far_delay": lambda v: f"dev to-ra root netem delay {us(0.025 + v)} limit",
    "reno_rate": lambda v: f"dev to-ra root netem rate {v}bit limit 50\n",
    "reno_queue": lambda v: f"dev to-ra root netem rate 100000000bit limit {v}\n",
    "reno_start": lambda v: f"\nstart_reno2=$(late {v[-1]:.9g})\n",
    "warmup": lambda v: f"\tsleep {1.07 + v:.9g}\n\tnote warmup" if v else None,
    # wlan; its airtime is in test_wlan.py
    **dict.fromkeys(("phy_rate", "contention", "phase", "tsq")),
    "down": lambda v: f"\nstart_download{v}=" if v else None,
    "down_cc": lambda v: f"\nsend download1 srv1 $start_download1 {v} ",
    "ap_queue": lambda v: f"handle 101: pfifo limit {v}\n",
    "station_queue": lambda v: f"handle 102: pfifo limit {v}\n",
    "ack_every": lambda v: " quickack 1" if v == 1 else " window 1000000\n",
    # radio
    "segment": lambda v: f"segment {v} window" if v else "qdisc add dev to-air root",
    "sscop_window": lambda v: f" window {v} poll-bytes",
    "poll_bytes": lambda v: f" poll-bytes {v} ",
    "poll_sd": lambda v: f" poll-sds {v} ",
    "poll_time": lambda v: f" poll-time {us(v)} ",
    "poll_idle": lambda v: f" poll-idle {us(v)} ",
    "ustat": lambda v: f" ustat {'on' if v else 'off'} ",
    "backlog": lambda v: f" backlog {v}\n",
    "ef": lambda v: " backlog auto\n" if v == "assured" else f" {v} ef\n",
    "small": lambda v: f" small {v}\n" if v else " backlog auto\n",
    "sender": lambda v: f"netns exec {'snd' if v == 'host' else 'gw'} flow send",
    "packets": lambda v: f'send.json" {1448 * v} &' if v else 'send.json" &',
    "qdisc": lambda v: f"dev sscop0 root {v}" if v != "default" else "sscop0",
    "qdisc_limit": lambda v: f" fq_codel limit {v}" if v else None,
    "target": lambda v: f" fq_codel target {us(v)}" if v else None,
    "interval": lambda v: f" fq_codel interval {us(v)}" if v else None,
    "ping": lambda v: "flow" if not v else " ping -i ",
    "series": lambda v: f"in $(seq {round(v / 0.05) + 1}); do" if v else None,
    # multipath; what joins the paths is in test_multipath.py
    **dict.fromkeys(("via", "scheduler", "ack", "drop", "tdar", "outside", "repair", "outage",
                     "stack", "ack_loss")),
    "direction": lambda v: f"\nrecv flow1 {'al' if v == 'down' else 'cn'} 5201 &",
    "paths": lambda v: f"# path{v}\n",
    "delay1": lambda v: f"tc -n net1 qdisc add dev to-ha root netem delay {us(v)} ",
    "delay2": lambda v: f"tc -n net2 qdisc add dev to-ha root netem delay {us(v)} ",
    "delay3": lambda v: f"tc -n net3 qdisc add dev to-am3 root netem delay {us(v)} ",
    "delay4": lambda v: f"tc -n net4 qdisc add dev to-ha root netem delay {us(v)} ",
    "loss1": lambda v: f"tc -n net1 qdisc add dev to-ha root netem delay 150000us loss {100 * v:g}%"
    if v < 1 else "tc -n net1 qdisc change dev to-ha root netem delay 150000us loss 100%",
    **{f"loss{n}": lambda v, n=n: f"tc -n net{n} qdisc {'change' if v == 1 else 'add'} dev to-ha "
       f"root netem delay 150000us loss {100 * (0 if v == 'same' else v):g}%" for n in (2, 3, 4)},
    **{f"mtu{n}": lambda v, n=n: f"ip -n net{n} link set to-" if v else None for n in (1, 2, 3, 4)},
    "cbr": lambda v: f"\t{8000 / v:.9g} " if v else None,
    "rtp": lambda v: f"\t{1600 / v:.9g} " if v else None,
    "member_rate": lambda v: f"root netem rate {v}bit delay 1000us",
    "member_delay": lambda v: f"root netem rate 11000000bit delay {us(v)} ",
    "hold_acks": lambda v: " hold-acks on" if v else None,
    "ratio_theta": lambda v: f" theta {round(100 * v)} ",
    "threshold": lambda v: f" threshold {v} ",
    "rtt_window": lambda v: None if v is None else f" rtt-window {us(v)}",
    "hold": lambda v: None if v is None else f" queue {us(v)}",
    "qdisc_target": lambda v: f" fq_codel target {us(v)}" if v else None,
    "qdisc_interval": lambda v: f" fq_codel interval {us(v)}" if v else None,
    "auth": lambda v: f" auth {'on' if v else 'off'} ",
    "encrypt": lambda v: f" encrypt {'on' if v else 'off'}",
}  # fmt: skip
#: Where a scenario sets something else by the same name.
SETS_IN: dict[tuple[str, str], Any] = {
    ("satellite", "traffic"): lambda v: "iperf3 -c" if v == "iperf3" else "flow send",
    ("liar", "traffic"): lambda v: "iperf3 -c" if v == "iperf3" else "flow send",
    ("lfn", "rate"): lambda v: f"netem rate {v}bit limit 4167\n",
    ("lfn", "delay"): lambda v: f"dev to-ra root netem delay {us(0.005 + v)} limit",
    ("lfn", "ber"): lambda v: band(v).format("30000us") if v else "bit error rate 0 (data)",
    ("lfn", "queue"): lambda v: f"netem rate 1000000000bit limit {v}\n",
    ("lfn", "start"): lambda v: f"\nstart_fast2={v[-1]:.9g}\n",
    ("lfn", "spread"): lambda v: f" + {v:.9g} * $(od" if v else "\nstart_fast1=0\n",
    ("lfn", "aqm_rtt"): lambda v: f" interval {us(v)}" if v else " fq_codel ",
    ("wlan", "n"): lambda v: f"\nstart_station{v}=",
    ("wlan", "rate"): lambda v: f"dev to-rcv root netem delay 60000us rate {v}bit limit",
    ("wlan", "delay"): lambda v: f"dev to-rcv root netem delay {us(v)} rate",
    ("wlan", "start"): lambda v: f" + {v:.9g} * $(od" if v else "\nstart_station1=0\n",
    ("wlan", "warmup"): lambda v: f"\tsleep {0.22 + v:.9g}\n\tnote warmup" if v else None,
    ("leo", "rate"): None,
    ("leo", "queue"): lambda v: f" pfifo limit {packets(v)}\n",
    ("leo", "policer"): None,
    ("leo", "ber"): lambda v: band(v).replace("loss", "").split("{}")[0],
    ("leo", "delay"): lambda v: f"limit 1000000 delay {us(v)}\n",
    ("leo", "delays"): lambda v: f"tc -n snd1 qdisc add dev to-bn root netem delay {us(v[0])} ",
    ("leo", "spread"): lambda v: f" + {v:.9g} * $(od" if v not in (0, "rtt") else None,
    ("leo", "wired_rate"): lambda v: f"to-sat root netem delay 0us rate {v}bit limit" if v else
    "to-sat root netem delay 0us limit",
    ("leo", "wired_delay"): lambda v: f"to-sat root netem delay {us(v)} limit",
    ("leo", "flows"): lambda v: f"\nstart_flow{v}=" if v != "mix" else None,
    ("satellite-shared", "ber"): lambda v: band(v).format("251000us rate 100000000bit")
    if v else "bit error rate 0 (data)",
    ("requests", "ber"): lambda v: band(v).format("251000us rate 100000000bit")
    if v else "bit error rate 0 (data)",
    ("radio", "rate"): lambda v: f" tbf rate {v}bit burst",
    ("radio", "delay"): lambda v: f"dev to-mh root netem delay {us(v)} rate",
    ("radio", "ber"): None,  # below
    ("radio", "queue"): lambda v: f" limit {max(v, FRAME)}b\n",
    ("radio", "window"): lambda v: f" window {1448 * v}" if v else None,
    ("multipath", "rate"): lambda v: f" tbf rate {v[0]}bit burst",
    ("multipath", "queue"): lambda v: f" limit {FRAME * v}b\n",
    ("multipath", "window"): lambda v: f" window {(1448 - 56) * v}" if v else None,
    ("multipath", "far_delay"): lambda v: f"dev to-cn root netem delay {us(v)} limit",
    ("multipath", "flows"): lambda v: f"\nstart_flow{v}=",
    ("multipath", "interval"): lambda v: None if v is None else f" interval {us(v)}",
    ("multipath", "qdisc"): lambda v: f"dev shake0 root {v}" if v != "default" else "shake0",
    ("multipath", "mtu"): lambda v: f" mtu {v} ",
    ("multipath", "loss"): lambda v:
    f"tc -n net2 qdisc add dev to-ha root netem delay 150000us loss {100 * v % 100:g}%",
}  # fmt: skip


@pytest.mark.parametrize(("name", "param"), EVERY)
def test_what_a_value_sets(name: str, param: str) -> None:
    assert param in SETS, f"say here what {param} sets in a script"
    said = SETS_IN.get((name, param), SETS[param])
    for value, script in accepted(name, param) if said else ():
        words = said(value)
        assert words is None or words in script, f"{name} {param}={value}: {words}; or SETS_IN"
        if words is None and value:
            assert value in ("none", "mix", "rtt"), f"{name} {param}={value}"
