# SPDX-License-Identifier: GPL-2.0
"""A leader, its agent and two paths between them."""

from __future__ import annotations

from tests.guest.modules.shake_pair import TOOLS

#: Words of netem for one path or both; each path's routers keep to the rate and the delay.
LINK = """
slow=200kbit fast=20mbit
netem() { n=$1 side=$2; shift 2; eval "wait=\\$delay$n rate=\\$rate$n"; words=
	while [ $# -gt 0 ]; do
		case $1 in jitter) wait="$wait $2"; shift;; *) words="$words $1";; esac; shift; done
	tc -n net$n qdisc replace dev $side root netem limit 100 rate $rate delay $wait corrupt 0% \\
		$words; }
there_on() { n0=$1; shift; netem $n0 far "$@"; }
back_on() { n0=$1; shift; netem $n0 near "$@"; }
on() { n1=$1; shift; there_on $n1 "$@"; back_on $n1 "$@"; }
there() { there_on 1 "$@"; there_on 2 "$@"; }
back() { back_on 1 "$@"; back_on 2 "$@"; }
both() { on 1 "$@"; on 2 "$@"; }
rate_on() { eval "rate$1=$2"; on $1; }
delay_on() { eval "delay$1=$2"; on $1; }
rate() { rate_on 1 $1; rate_on 2 $1; }
delay() { delay_on 1 $1; delay_on 2 $1; }
device() { ip link set wan$1 $2; [ $2 = down ] || near_routes $1 2>/dev/null; }
# Who has lost an answer to ARP sends nothing.
knows() { at=$(ip netns exec $4 cat /sys/class/net/$5/address)
	ip -n $1 neigh replace $2 lladdr $at dev $3 nud permanent; }
neighbours() { ip neigh replace 10.1.$1.2 dev wan$1 nud permanent \\
		lladdr $(ip netns exec net$1 cat /sys/class/net/near/address)
	ip -n net$1 neigh replace 10.1.$1.1 lladdr $(cat /sys/class/net/wan$1/address) dev near \\
		nud permanent
	knows ha 10.2.$1.1 wan$1 net$1 far; knows net$1 10.2.$1.2 far ha wan$1; }
calm() { for n in 1 2; do device $n up; neighbours $n; link_mtu $n 1500
	eval "rate$n=2mbit delay$n=20ms"; on $n; done; }
lines
"""

ENDS = """
from_ns="" to_ns="$cn" to=10.3.0.2 device=shake0
sum() { total=0; for n; do total=$((total + n)); done; echo $total; }
wan=	# the path whose packets count; none: all
packets() { for n in ${wan:-1 2}; do echo /sys/class/net/wan$n/statistics/tx_packets; done; }
wires() { sum $(cat $(packets)); }
returns() { sum $($ha cat $(packets)); }
near_counts() { ethtool -S shake0; }
far_counts() { $ha ethtool -S shake0; }
made() { agent_up; leader_up; paths
	tc qdisc replace dev shake0 root pfifo limit 1000; ready made; sleep 1; }
stranger_up() { ip -n ha link del shake0; ip -n ha link add shake0 type shake role agent
	ip -n ha link set shake0 up; }
unmade() { ip link del shake0; ip -n ha link del shake0; }
"""

SHELL = TOOLS + LINK + ENDS
