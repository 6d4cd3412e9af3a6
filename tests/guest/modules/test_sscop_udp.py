# SPDX-License-Identifier: GPL-2.0
"""sscop under UDP in a guest: both families, NAT between the ends, what is refused and befalls."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: The ends have a router between them: no common Ethernet.
ROUTED = """
ip netns add far; ip netns add mid
ip link add near type veth peer name m0 netns mid
ip link add far netns far type veth peer name m1 netns mid
up() { ip $1 link set lo up; ip $1 addr add $3/24 dev $2; ip $1 addr add $4/64 dev $2 nodad
	ip $1 link set $2 up; }
up "" near 10.1.1.1 fd01::1; up "-n mid" m0 10.1.1.9 fd01::9
up "-n far" far 10.1.2.2 fd02::2; up "-n mid" m1 10.1.2.9 fd02::9
ip route add default via 10.1.1.9; ip -n far route add default via 10.1.2.9
ip -6 route add default via fd01::9; ip -n far -6 route add default via fd02::9
ip netns exec mid sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
tc qdisc add dev near root netem rate 20mbit delay 5ms limit 1000
tc -n far qdisc add dev far root netem rate 20mbit delay 5ms limit 1000 loss 2%
near_udp() { ip link add name s0 type sscop port 4444 $* && ip link set s0 up; }
far_udp() { ip -n far link add name s0 type sscop port 4444 $* && ip -n far link set s0 up; }
gone() { ip link del s0; ip -n far link del s0; }
"""

FAMILIES = (
    ROUTED
    + """
tried() { addresses; ready $1; pinged $1 10.7.0.2; pinged $1-6 fd00::2
	say "$1 mtu: $(link_file mtu)"
	verified pour 10.7.0.2 5201 300000 30 >$OUT/poured; sleep 0.1
	counts $1 "resets packets_broken peer_stranger sd_again"; }
sink
near_udp remote 10.1.2.2; far_udp remote 10.1.1.1; tried v4
# A longer packet than the way takes in one piece.
ip -n mid link set m1 mtu 1280; pinged narrow 10.7.0.2 3 1400; ip -n mid link set m1 mtu 1500; gone
near_udp remote fd02::2; far_udp remote fd01::1; tried v6; gone
near_udp remote 10.1.2.2; far_udp; tried learned; gone
near_udp remote fd02::2 local fd01::1; far_udp local ::; tried learned-6
ip -d link show s0 | grep -o "port 4444 remote fd02::2 local fd01::1" >>$OUT/shown
"""
)

families = reported(run, "sscop-udp-families", FAMILIES)


@pytest.mark.parametrize("kind", ["v4", "v6", "learned", "learned-6"])
def test_a_link_under_udp_carries_both_families(families: Told, kind: str) -> None:
    """Where 2 % are lost. Either end may learn the other's address, and nobody is a stranger."""
    assert families[f"{kind} pinged"] == families[f"{kind}-6 pinged"] == "yes"
    for name in ("resets", "packets_broken", "peer_stranger"):
        assert numbers(families, f"{kind} {name}") == [0, 0]


def test_streams_are_whole_and_packets_fit(families: Told) -> None:
    assert drunk(families.out) == [(300_000, 0)] * 4
    assert families["v4 mtu"] == str(1500 - 28 - 9)
    assert families["v6 mtu"] == str(1500 - 48 - 9)
    assert families["narrow pinged"] == "yes"


#: Near is behind a NAT that forgets its port and its address; at first far knows another address.
NATTED = (
    ROUTED
    + """
nat() { for way in egress ingress; do tc -n mid filter del dev m1 $way 2>/dev/null; done
	tc -n mid filter add dev m1 egress protocol ip matchall \\
		action pedit munge offset 20 u16 set $2 pipe action nat egress 10.1.1.1/32 10.1.2.$1
	tc -n mid filter add dev m1 ingress protocol ip flower \\
		dst_ip 10.1.2.$1 ip_proto udp dst_port $2 \\
		action nat ingress 10.1.2.$1/32 10.1.1.1 pipe action pedit munge offset 22 u16 set 4444
	ip -n far neigh replace 10.1.2.$1 lladdr $mac dev far; }
mac=$(ip netns exec mid cat /sys/class/net/m1/address)
tc -n mid qdisc add dev m1 clsact; nat 7 40001
near_udp remote 10.1.2.2; far_udp remote 10.1.1.1; sleep 2
say "elsewhere: $(count "$far" peer_stranger) $(far_file sscop/state)"
ip -n far link del s0; far_udp; addresses; ready behind; pinged behind 10.7.0.2
tc qdisc replace dev near root netem rate 4mbit delay 5ms limit 1000
sink; sleep 0.1
verified pour 10.7.0.2 5201 6000000 60 >$OUT/poured & pour=$!
sleep 0.5; nat 7 41001; sleep 1; moved port; nat 8 42001; sleep 1; moved address
# Datagrams of another host, or port, to both ends: of no kind.
ip netns exec mid verified tick 10.1.2.2 4444 1 1; verified tick 127.0.0.1 4444 1 1
moved disturbed
wait $pour; sleep 2
counts after "resets dropped_crc dropped_truncated dropped_type"
"""
)

natted = reported(run, "sscop-udp-nat", NATTED)


def test_a_peer_behind_nat_is_followed_by_who_learns_it(natted: Told) -> None:
    """Whose PDUs have the connection's seal. An address that is set is the only one."""
    strangers, state = natted["elsewhere"].split()
    assert int(strangers) > 0
    assert state == "beginning"
    assert natted["behind pinged"] == "yes"
    for event in ("port", "address", "disturbed"):
        assert min(numbers(natted, f"{event} moved")) > 50_000, event
    assert drunk(natted.out) == [(6_000_000, 0)]
    assert numbers(natted, "after resets") == [0, 0]


def test_datagrams_of_no_kind_are_counted(natted: Told) -> None:
    names = ("dropped_crc", "dropped_truncated", "dropped_type")
    dropped = [numbers(natted, f"after {name}") for name in names]
    assert all(sum(at) >= 900 for at in zip(*dropped, strict=True))


#: What is refused, what waits where, and links that move, and go while they carry a stream.
BEFALLEN = (
    ROUTED
    + """
refuse() { key=$1; shift; "$@" 2>&1 | sed -n "1s/^/$key refused: /p" >>$OUT/report; }
made() { ip link add name s1 type sscop "$@"; }
refuse nothing made segment 256
refuse portless made remote 10.1.2.2
refuse both ip link add link near name s1 type sscop port 4444
refuse many made port 4444 remote 224.0.0.1
refuse scope made port 4444 remote fe80::1
refuse mixed made port 4444 remote 10.1.2.2 local fd01::1
refuse peer made port 4444 peer 02:00:00:00:00:02
refuse port made port 0
refuse host made port 4444 remote far
near_udp remote 10.1.2.2; far_udp
refuse change ip link set s0 type sscop remote 10.1.2.3
made port 4444 remote 10.1.2.9; refuse used ip link set s1 up; ip link del s1
made port 4445 remote 10.1.2.9; ip link set s1 up && say "another port: yes"; ip link del s1

# 2 Mbit/s of a queue that holds frames until they are sent.
tc qdisc replace dev near root tbf rate 2mbit burst 3000 limit 400000
tc -n far qdisc del dev far root; addresses; ready held
sink; sink=$!; sleep 0.1; verified pour 10.7.0.2 5201 100000000 8 >/dev/null & sleep 4
moved held; say "held: $(tc -s -j qdisc show dev near | sed 's/.*"backlog":\\([0-9]*\\).*/\\1/')"
ip link set s0 type sscop segment 256; wait $!; counts held resets; sleep 2; kill $sink

# The device away from its socket; the link goes with the socket's namespace, while it is used.
ip netns add third; ip -n far link set s0 netns third
ip -n third addr add 10.7.0.2/24 dev s0; ip -n third link set s0 up; sleep 2; pinged away 10.7.0.2
ip netns exec third verified drink 5202 $OUT/rest &
verified pour 10.7.0.2 5202 100000000 6 >/dev/null & sleep 1
ip netns del far; sleep 1; ip -n third link show s0 >/dev/null 2>&1 || say "with it: yes"
ip link del s0; wait $!; sleep 0.5
for i in 1 2 3 4 5; do rmmod sscop && break; sleep 0.2; done
[ -d /sys/module/sscop ] || say "gone: yes"
dmesg | grep "is used by another" >$OUT/lines
"""
)

befallen = reported(run, "sscop-udp-befallen", BEFALLEN)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("nothing", "what is below is missing: link DEVICE, or port PORT for UDP."),
        ("portless", "a link under UDP has a port, and no device below."),
        ("both", "a link under UDP has a port, and no device below."),
        ("many", "remote must be the address of one host, of no link's scope."),
        ("scope", "remote must be the address of one host, of no link's scope."),
        ("mixed", "local and remote must be of one family."),
        ("peer", "peer must be the hardware address of another station."),
        ("port", "must be a number from 1 to 65535"),
        ("host", "must be an IPv4 or IPv6 address"),
        ("change", "port, remote and local are given when the link is made."),
        ("used", "Address already in use"),
    ],
)
def test_what_is_no_link_under_udp_is_refused_in_one_line(
    befallen: Told, key: str, line: str
) -> None:
    assert befallen[f"{key} refused"].endswith(line)


def test_a_port_carries_one_link(befallen: Told) -> None:
    assert "port 4444" in (befallen.out / "lines").read_text()
    assert befallen["another port"] == "yes"


def test_packets_wait_above_and_not_in_the_queue_of_the_route(befallen: Told) -> None:
    """As with a device below: two frames, of 400 kB that might."""
    assert numbers(befallen, "held moved")[1] > 0.9 * 2e6 / 8 * 1463 / 1520
    assert int(befallen["held"]) < 10_000
    assert numbers(befallen, "held resets") == [0, 0]


def test_a_link_under_udp_moves_and_goes_with_its_socket(befallen: Told) -> None:
    assert befallen["away pinged"] == befallen["with it"] == befallen["gone"] == "yes"
