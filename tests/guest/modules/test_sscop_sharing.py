# SPDX-License-Identifier: GPL-2.0
"""A modem behind Ethernet, with a queue of its own, that two sscop links share, or one and TCP."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, numbers, reported
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: The modem's queue holds what the link does. sscop's links are on VLANs, TCP beside them is not.
SHARED = """
air="ip netns exec air"
ip netns add far; ip netns add air
ip link add near type veth peer name west netns air
ip -n air link add east type veth peer name far netns far
ip link set near up; ip -n far link set far up
for way in "west east" "east west"; do set -- $way
	ip -n air link set $1 up; tc -n air qdisc add dev $1 clsact
	tc -n air filter add dev $1 ingress matchall action mirred egress redirect dev $2
	tc -n air qdisc add dev $1 root handle 9: netem delay 50ms limit 10000
	tc -n air qdisc add dev $1 parent 9:1 tbf rate 20mbit burst 1600b limit 250kb; done
for ns in "" "$far"; do for name in near far; do
	$ns ethtool -K $name gso off tso off gro off 2>/dev/null; done; done
tc qdisc add dev near root tbf rate 1gbit burst 16kb limit 10mb
ip addr add 10.7.0.1/24 dev near; ip -n far addr add 10.7.0.2/24 dev far
end() { ip $2 link add link $1 name v$3 type vlan id $3; ip $2 link set v$3 up
	ip $2 link add link v$3 name s$3 type sscop; ip $2 link set s$3 up
	ip $2 addr add 10.7.$3.$4/24 dev s$3
	tc $2 qdisc replace dev s$3 root fq_codel target 300ms interval 1s; }
for n in 1 2; do end near "" $n 1; end far "-n far" $n 2; done
until [ "$(cat /sys/class/net/s[12]/carrier)" = "1
1" ]; do sleep 0.01; done
sleep 1
$far verified drinkers 5201 $OUT/drunk & sleep 0.1
got() { for dev in s1 s2 v1 v2 far; do $far cat /sys/class/net/$dev/statistics/rx_bytes; done; }
tried() { name=$1; shift; pours=
	for n in $*; do verified pour 10.7.$n.2 5201 1000000000 40 >/dev/null & pours="$pours $!"; done
	sleep 15; set -- $(got); sleep 20; set -- $* $(got)
	say "$name: $(($6 - $1)) $(($7 - $2)) $(((${10} - $5) - ($8 - $3) - ($9 - $4)))"
	wait $pours; sleep 2; }
tried links 1 2
tried beside 1 0
"""

shared = reported(run, "sscop-shared", SHARED)


def jain(a: int, b: int) -> float:
    return (a + b) ** 2 / (2 * (a * a + b * b))


@pytest.mark.parametrize(("kind", "other", "least"), [("links", 1, 0.9), ("beside", 2, 0.8)])
def test_a_modem_is_shared(shared: Told, kind: str, other: int, least: float) -> None:
    """Neither has more than twice, or three times, what the other has, and both what it carries."""
    octets = numbers(shared, kind)
    assert jain(octets[0], octets[other]) > least
    assert octets[0] + octets[other] > 0.85 * 20 * 20e6 / 8
