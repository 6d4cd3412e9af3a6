# SPDX-License-Identifier: GPL-2.0
"""One flow of scenario lfn at 100 Mbit/s and 70 ms, and shell lines to run beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apogee_lab.algorithms import module_of
from tests.guest.runs import Case

RTT = 0.07  # s
QUEUE = 417  # packets
SECOND = 5299  # port of a connection beside

#: `lose SECONDS`: data is lost where it enters rb.
LOSE = """
modprobe -a sch_ingress cls_matchall act_gact
tc -n rb qdisc add dev to-ra clsact
lose() {
    tc -n rb filter add dev to-ra ingress matchall action drop
    sleep $1
    tc -n rb filter del dev to-ra ingress
}
"""
#: `delay TIME`: a change of delay applies to later packets only, so that packets are reordered.
DELAY_LINE = """
delay() { tc -n rb qdisc change dev to-fast1-rcv root netem delay $1 limit 1000000; }
"""
#: Reduces the path MTU to 1400 bytes: longer packets in flight are sent again.
SHORTER = "ip -n rb link set to-fast1-rcv mtu 1400\n"


def second(cc: str) -> str:
    """A second connection of the same sender, fed by the function `data`; only it is traced."""
    return f"""
for event in /sys/kernel/tracing/instances/apogee/events/{module_of(cc)}/*/; do
    [ ! -e $event/filter ] || echo 'dport == {SECOND}' >$event/filter
done
ip -n fast1 route replace default via 10.0.1.2 congctl {cc}
ip netns exec fast1-rcv flow recv {SECOND} $OUT/second.recv.json &
sleep 0.05
data | ip netns exec fast1 nc 10.0.101.2 {SECOND}
"""


def flow(
    cc: str, parameters: Mapping[str, int], values: Mapping[str, Any], duration_s: float,
    beside: str = "", before: str = "",
) -> Case:  # fmt: skip
    """A traced flow. Names in ``values`` that begin with an underscore are parameters of the first
    algorithm's module and override those in ``parameters``."""
    own = {name[1:]: value for name, value in values.items() if name.startswith("_")}
    told = {f"{cc.partition('+')[0]}.{n}": str(v) for n, v in {**parameters, **own}.items()}
    path = {"n": 1, "reno": 0, "spread": 0.0, "rate": 100_000_000, "queue": QUEUE, "trace": "all"}
    path |= {"window": 64_000_000}
    path |= {name: value for name, value in values.items() if not name.startswith("_")}
    return Case(path | told, cc, duration_s, beside, before, scenario="lfn")
