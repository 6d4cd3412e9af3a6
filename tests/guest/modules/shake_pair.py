# SPDX-License-Identifier: GPL-2.0
"""A leader, its agent and a correspondent in a guest, and what they measure.

A script builds on :data:`TOOLS` and reports lines "KEY: VALUE" by `say`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.guest.modules import scripted
from tests.guest.modules.scripted import Told, ticks

#: The leader is the first namespace; path N leads by wanN, router netN and the agent's wanN. The
#: agent `ha` forwards to the correspondent `cn`. shake0 is the tunnel at both ends.
TOOLS = """
chmod +x /bin/verified
# All hosts share the backlog of one CPU, as none do elsewhere. What overflows it looks to a host's
# TCP as dropped by its own device: a SYN-ACK sent again is then forgotten, and the flow reset.
echo 1000000 >/proc/sys/net/core/netdev_max_backlog
ha="ip netns exec ha"; cn="ip netns exec cn"
say() { echo "$*" >>$OUT/report; }
forward() { ip netns exec $1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'; }
address() { ip $1 addr add $2 dev $3; ip $1 addr add $4 dev $3 nodad; ip $1 link set $3 up; }
near_routes() { ip route replace 10.2.$1.0/24 via 10.1.$1.2 dev wan$1
	ip route replace fd02:$1::/64 via fd01:$1::2 dev wan$1; }
near_end() { address "" 10.1.$1.1/24 wan$1 fd01:$1::1/64; near_routes $1; }
line() { ip netns add net$1; forward net$1
	ip link add wan$1 type veth peer name near netns net$1
	ip -n net$1 link add far type veth peer name wan$1 netns ha
	address "-n net$1" 10.1.$1.2/24 near fd01:$1::2/64
	address "-n net$1" 10.2.$1.1/24 far fd02:$1::1/64
	address "-n ha" 10.2.$1.2/24 wan$1 fd02:$1::2/64
	ip -n ha route add 10.1.$1.0/24 via 10.2.$1.1; ip -n ha route add fd01:$1::/64 via fd02:$1::1
	near_end $1; }
behind() { ip netns add ha; ip netns add cn; forward ha
	ip -n ha link add to-cn type veth peer name e0 netns cn
	address "-n ha" 10.3.0.1/24 to-cn fd03::1/64; address "-n cn" 10.3.0.2/24 e0 fd03::2/64
	ip -n cn route add default via 10.3.0.1; ip -n cn route add default via fd03::1; }
# Path, rate and delay each way, more of netem's words.
slow() { n=$1 rate=$2 delay=$3; shift 3
	for side in near far; do
		tc -n net$n qdisc replace dev $side root netem rate $rate delay $delay limit 1000 "$@"
	done; }
# Two paths, the correspondent, a key.
lines() { behind; [ $# -gt 0 ] || set -- 1 2; for n; do line $n; slow $n 4mbit 10ms; done
	umask 077; od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >/tmp/key; umask 022; }
agent_up() { ip -n ha link add shake0 type shake role agent $* &&
	ip -n ha link set shake0 type shake peer 1 ${key-key /tmp/key} allow 10.7.0.1 &&
	ip -n ha link set shake0 type shake peer 1 allow fd07::1
	ip -n ha link set shake0 up && ip -n ha route add 10.7.0.1 dev shake0
	ip -n ha route add fd07::1 dev shake0; }
inner() { ip addr add 10.7.0.1/32 dev shake0; ip addr add fd07::1/128 dev shake0 nodad
	ip link set shake0 up && ip route add 10.3.0.0/24 dev shake0 src 10.7.0.1
	ip route add fd03::/64 dev shake0 src fd07::1; }
leader_up() { ip link add shake0 type shake role leader id 1 $* &&
	{ [ "${key-set}" != set ] || ip link set shake0 type shake peer 1 key /tmp/key; } && inner; }
path() { ip link set shake0 type shake path "$@"; }
paths() { [ $# -gt 0 ] || set -- 1 2; for n; do path $n dev wan$n remote 10.2.$n.2; done; }
paths6() { [ $# -gt 0 ] || set -- 1 2; for n; do path $n dev wan$n remote fd02:$n::2; done; }
alive() { cat /sys/class/net/shake0/shake/paths 2>/dev/null | grep -c state=alive; }
state() { sed -n "s/^$1 .*state=//p" /sys/class/net/shake0/shake/paths; }
far_state() { $ha sed -n "s/^peer=1 $1 .*state=//p" /sys/class/net/shake0/shake/paths; }
# Hundredths of a second until so many paths live.
ready() { n=0; until [ $(alive) -ge ${2-2} ]; do n=$((n + 1)); [ $n -gt 1000 ] && break; sleep 0.01
	done; say "$1 ready: $n"; }
count() { $1 ethtool -S shake0 | sed -n "s/^ *$2: //p"; }
counts() { for name in $2; do say "$1 $name: $(count '' $name) $(count "$ha" $name)"; done; }
pinged() { ping -c ${3-3} -i 0.2 -W 5 -s ${4-56} $2 >>$OUT/pings 2>&1 && say "$1 pinged: yes"; }
# What each path sent, from the page of ip -s.
sent() { ip -d -s -j link show shake0 | tr -d ' \\n' | sed 's/.*"xstats"//;s/.*"paths"//' |
	grep -o '"sent":[0-9]*' | cut -d: -f2; }
overflowed() { cut -d' ' -f2 /proc/net/softnet_stat; }
octets() { echo "$(cat /sys/class/net/shake0/statistics/tx_bytes)" \\
	"$($cn cat /sys/class/net/e0/statistics/rx_bytes)"; }
# Octets sent by the leader and received by the correspondent in a second.
moved() { set -- $1 $(octets); sleep 1; set -- $* $(octets)
	say "$1 moved: $(($4 - $2)) $(($5 - $3))"; }
# Another MTU of all of a path's links outside; what a sender inside was told.
link_mtu() { for side in near far; do ip -n net$1 link set $side mtu $2; done
	ip link set wan$1 mtu $2; $ha ip link set wan$1 mtu $2; }
inside_mtu() { ip -o route get $1 | grep -o 'mtu [0-9]*' | cut -d' ' -f2; }
# A path that loses all, and one that no longer does.
lose() { slow $1 ${2-4mbit} ${3-10ms} loss 100%; }
mend() { slow $1 ${2-4mbit} ${3-10ms}; }
# A datagram every 10 ms to the correspondent, or back, for so many seconds; two have passed.
up() { file=$1; $cn verified tock 5301 $OUT/$file & tock=$!; sleep 0.1
	verified tick 10.3.0.2 5301 10 $2 & tick=$!; sleep 2; }
down() { file=$1; verified tock 5301 $OUT/$file & tock=$!; sleep 0.1
	$cn verified tick 10.7.0.1 5301 10 $2 & tick=$!; sleep 2; }
watched() { wait $tick; sleep 0.5; kill $tock; wait $tock 2>/dev/null || :; }
# Path N's router rewrites the leader's address and port from now on, and forgets what was before.
nat() { tc -n net$1 qdisc add dev far clsact 2>/dev/null
	tc -n net$1 filter del dev far egress; tc -n net$1 filter del dev far ingress
	tc -n net$1 filter add dev far egress protocol ip matchall \
		action pedit munge offset 20 u16 set $3 pipe \
		action nat egress 10.1.$1.1/32 10.4.$1.$2
	port=$($ha sed -n "s/^peer=1 $1 .*port=\\([0-9]*\\).*/\\1/p" /sys/class/net/shake0/shake/paths)
	eval "first$1=\\${first$1:-$port}; port=\\$first$1"
	tc -n net$1 filter add dev far ingress protocol ip flower \
		dst_ip 10.4.$1.$2 ip_proto udp dst_port $3 \
		action nat ingress 10.4.$1.$2/32 10.1.$1.1 pipe \
		action pedit munge offset 22 u16 set $port
	ip -n ha route replace 10.4.$1.0/24 via 10.2.$1.1; }
sink() { $cn verified drink 5201 $OUT/drunk & sleep 0.1; }
refuse() { refused=$1; shift
	"$@" 2>&1 | sed -n "1s/^/$refused refused: /p" >>$OUT/report; }
unload() { for try in 1 2 3 4 5 6 7 8; do rmmod shake 2>/dev/null && break; sleep 0.2; done
	[ -d /sys/module/shake ] || say "gone: yes"; }
said() { dmesg | grep "shake" >$OUT/lines || :; }
"""

#: Both ends with two paths.
BOTH = "lines; agent_up; leader_up; paths; ready first; sink\n"


def run(script: str, engine: str, out: Path, root: Path, beside: str = "", **how: Any) -> Told:
    """Run a script on TOOLS in a guest, with other modules beside; its report."""
    return scripted.run(TOOLS + script, engine, out, root, module=f"shake {beside}", **how)


def missed(path: Path) -> tuple[int, int]:
    """Number of the first datagram that did not come, and of the last; 0, 0: all came."""
    came = {number for _, number in ticks(path)}
    lost = [number for number in range(max(came)) if number not in came]
    return (lost[0], lost[-1]) if lost else (0, 0)
