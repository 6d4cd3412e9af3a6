# SPDX-License-Identifier: GPL-2.0
"""sscop's two ends, and the link between them through a namespace `air`."""

from __future__ import annotations

from tests.guest.modules.sscop_pair import TOOLS

#: tbf keeps frames until they are sent, as a driver does; netem is behind it, in the air.
LINK = """
slow=400kbit fast=40mbit
air="ip netns exec air"
ip netns add far; ip netns add air
ip link add near type veth peer name west netns air
ip -n air link add east type veth peer name far netns far
ip link set near address 02:00:00:00:00:01; ip -n far link set far address 02:00:00:00:00:02
for ns in "" "-n far" "-n air"; do ip $ns link set lo up; done
ip link set near up; ip -n far link set far up
ip -n air link set west up; ip -n air link set east up
for way in "west east" "east west"; do set -- $way
	tc -n air qdisc add dev $1 clsact
	tc -n air filter add dev $1 ingress matchall action mirred egress redirect dev $2; done
for ns in "" "$far"; do for name in near far; do
	$ns ethtool -K $name gso off tso off gro off 2>/dev/null; done; done
# netem keeps what is not said again: each storm has queues of its own kind.
netem() { dev=$1 wait=$now; shift; words=; while [ $# -gt 0 ]; do
	case $1 in jitter) wait="$wait $2"; shift;; *) words="$words $1";; esac; shift; done
	tc -n air qdisc replace dev $dev root netem limit 1000 delay $wait corrupt 0% $words; }
there() { netem east "$@"; }
back() { netem west "$@"; }
both() { there "$@"; back "$@"; }
rate() { tc qdisc replace dev near root tbf rate $1 burst 1600b limit 200kB
	tc -n far qdisc replace dev far root tbf rate $1 burst 1600b limit 200kB; }
delay() { now=$1; both; }
below_mtu() { ip link set near mtu $1; ip -n far link set far mtu $1; }
calm() { ip link set near up; ip -n far link set far up; below_mtu 1500; rate 4mbit; delay 20ms; }
"""

#: What `play` calls.
ENDS = """
from_ns="" to_ns="$far" to=10.7.0.2 device=s0
wires() { cat /sys/class/net/near/statistics/tx_packets; }
returns() { $far cat /sys/class/net/far/statistics/tx_packets; }
near_counts() { ethtool -S s0; }
far_counts() { $far ethtool -S s0; }
made() { near_up near; far_up far; addresses
	tc qdisc replace dev s0 root pfifo limit 1000; ready made; sleep 1; }
unmade() { ip link del s0; ip -n far link del s0; }
"""

SHELL = TOOLS + LINK + ENDS
