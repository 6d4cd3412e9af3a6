#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the storms' script calls in the guest (storms.py has the storms, play.py writes the script).
#
#   sender e0 -- near [net] neck -- low [sky] last -- e0 [far]
#
# net has the bottleneck and its queue, sky the delay of both directions and what goes wrong on
# them: no drop happens on the sender's own device, which would tell the sender's stack.

LONGEST=65535

# pair NAMESPACE DEVICE NAMESPACE DEVICE NET: a link 10.0.NET.0/24 without offloads
pair() {
	ip link add "$2" netns "$1" mtu $LONGEST address 02:00:00:00:00:01 type veth \
		peer name "$4" netns "$3" mtu $LONGEST address 02:00:00:00:00:02
	end "$1" "$2" "10.0.$5" 1 2
	end "$3" "$4" "10.0.$5" 2 1
}
# The neighbours are known: a lost ARP would make a router tell the sender by ICMP.
end() {
	ip -n "$1" addr add "$3.$4/24" dev "$2"
	ip -n "$1" link set "$2" up
	ip -n "$1" neigh add "$3.$5" lladdr 02:00:00:00:00:0"$5" dev "$2" nud permanent
	ip netns exec "$1" ethtool -K "$2" tso off gso off gro off
}

# lay: the four hosts and their links
lay() {
	for ns in net sky far; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip netns attach home 1
	pair home e0 net near 1
	pair net neck sky low 2
	pair sky last far e0 3
	ip route add default via 10.0.1.2
	ip -n net route add default via 10.0.2.2
	ip -n sky route add default via 10.0.2.1
	ip -n far route add default via 10.0.3.1
	for ns in net sky; do ip netns exec $ns sysctl -qw net.ipv4.ip_forward=1; done
	tc -n sky qdisc add dev last clsact
	# Short of memory for sockets, the stack would shut windows: it is not what is tested.
	sysctl -qw net.ipv4.tcp_mem="150000 175000 200000"
}

# data WORDS..., acks WORDS..., neck RATE: one direction's netem from now on, the bottleneck's
data() { impair last "$@"; }
acks() { impair low "$@"; }
impair() {
	dev=$1
	shift
	tc -n sky qdisc replace dev "$dev" root netem limit 100000 loss 0% duplicate 0% \
		corrupt 0% reorder 0% rate 0bit delay "$DELAY" "$@"
}
neck() { tc -n net qdisc replace dev neck root netem rate "$1" limit "$QUEUE"; }

# mtu LENGTH: the path's, routers tell it; hole LENGTH: none tells it
mtu() { ip -n sky link set last mtu "$1"; }
hole() { ip -n far link set e0 mtu "$1"; }

# path RATE DELAY QUEUE MTU: from now on; delay one way, queue in packets
path() {
	RATE=$1 DELAY=$2 QUEUE=$3 MTU=$4
	ip link set e0 mtu "$MTU"
	calm
}
# calm: the path as it should be
calm() {
	neck "$RATE"
	impair last
	impair low
	mtu "$MTU"
	hole "$MTU"
	tc -n sky filter del dev last egress 2>/dev/null
	return 0
}

# marks: the path sets CE in all packets
marks() {
	tc -n sky filter add dev last egress protocol ip matchall \
		action pedit ex munge ip dsfield set 3 retain 3 pipe action csum ip
}

# options: the hosts' as they are by default
options() {
	both net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_ecn=0 \
		net.ipv4.tcp_mtu_probing=0 net.ipv4.tcp_probe_interval=600 \
		net.ipv4.tcp_no_metrics_save=1
	sysctl -qw net.ipv4.route.mtu_expires=5
}
# both SETTINGS..., buffers OCTETS: of both hosts
both() { for ns in home far; do ip netns exec $ns sysctl -qw "$@"; done; }
buffers() { both net.ipv4.tcp_rmem="4096 131072 $1" net.ipv4.tcp_wmem="4096 16384 $1"; }

# flap BAD GOOD: both calls in turn, each for half a second, for 5 s
flap() {
	for _ in 1 2 3 4 5; do
		eval "$1"
		sleep 0.5
		eval "$2"
		sleep 0.5
	done
}

# crowd COUNT BYTES: more streams of the same algorithm, beside each other
crowd() {
	ip netns exec far verified drinkers 5202 "$DIR/crowd" &
	drinkers=$!
	sleep 0.05
	for _ in $(seq "$1"); do
		verified pour 10.0.3.2 5202 "$2" 600 >/dev/null &
		crowd="$crowd $!"
	done
}

uptime_ms() { read -r up _ </proc/uptime; echo "${up%.*}${up#*.}0"; }
mark() { echo "$1 $(uptime_ms)" >>"$DIR/marks"; }
counters() { cat /proc/net/netstat >"$DIR/$1"; }

# begin NAME ALGORITHM BYTES MSS: the stream; afterwards $drinker is the receiver's process
begin() {
	DIR=$OUT/$1 crowd="" drinkers="" tap=""
	mkdir "$DIR"
	sysctl -qw net.ipv4.tcp_congestion_control="$2"
	counters before
	ip netns exec far storm drink 5201 "$DIR/drunk" "$4" &
	drinker=$!
	sleep 0.05
	storm send 10.0.3.2 5201 "$3" 3600 "$DIR/sent" &
	sender=$!
}
# taps: note the sender's segments and ACKs until `finish`
taps() { storm tap e0 "$DIR/tap" & tap=$!; }

# finish: wait for all streams
finish() {
	wait "$sender"
	status=$?
	echo $status >"$DIR/status"
	[ $status = 0 ] || kill "$drinker"
	for pid in $crowd; do wait "$pid"; done
	wait "$drinker"
	sleep 1
	for pid in $drinkers $tap; do kill "$pid"; done
	counters after
	path "$RATE" "$DELAY" "$QUEUE" $LONGEST
}
