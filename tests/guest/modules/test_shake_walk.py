# SPDX-License-Identifier: GPL-2.0
"""The commands of docs/shake-start.md from nothing to a bundle of DSL and LTE, behind two NATs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import run as run_pair

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def block(name: str) -> str:
    """A block of the page."""
    found = re.findall(
        rf"^```sh {name}\n(.*?)^```$", (ROOT / "docs/shake-start.md").read_text(), re.M | re.S
    )
    assert len(found) == 1, name
    return found[0]


#: In place of nftables, which the guest lacks: its masquerade of
#: the TCP of a host behind the leader.
NFT = """#!/bin/sh
echo "$*" >>/out/nft
case "$*" in *masquerade) ;; *) exit 0 ;; esac
tc qdisc add dev eth0 clsact
tc filter add dev eth0 egress protocol ip flower ip_proto tcp \\
	action nat egress 192.168.1.5/32 203.0.113.9
tc filter add dev eth0 ingress protocol ip flower ip_proto tcp dst_ip 203.0.113.9 \\
	action nat ingress 203.0.113.9/32 192.168.1.5
"""

#: The leader is the first namespace, with a host behind it. Each of its links ends at a NAT, which
#: rewrites the leader's address; only the NATs' outer addresses have routes in the network between.
#: An agent and a correspondent are at the network's other side.
WALK = f"""
cat >/bin/nft <<'END'
{NFT}END
chmod +x /bin/nft
for host in dsl lte net ha cn lan; do ip netns add $host; done
for host in dsl lte net; do forward $host; done
mkdir -p /etc/shake /etc/netns/ha/shake
lan="ip netns exec lan"
# Near device and address, its host's far end, that device and address.
wire() {{ ip ${{1:+-n $1}} link add $2 type veth peer name $5 netns $4
	ip ${{1:+-n $1}} addr add $3 dev $2; ip ${{1:+-n $1}} link set $2 up
	ip -n $4 addr add $6 dev $5; ip -n $4 link set $5 up; }}
wire "" ppp0 100.64.0.5/24 dsl near 100.64.0.1/24
wire "" wwan0 192.168.8.100/24 lte near 192.168.8.1/24
wire "" lan0 192.168.1.1/24 lan eth0 192.168.1.5/24
wire net dsl 198.51.100.1/25 dsl far 198.51.100.7/25
wire net lte 198.51.100.129/25 lte far 198.51.100.130/25
wire net agent 203.0.113.1/24 ha eth0 203.0.113.9/24
wire net server 192.0.2.1/24 cn eth0 192.0.2.80/24
ip -n lan route add default via 192.168.1.1; ip -n ha route add default via 203.0.113.1
ip -n cn route add default via 192.0.2.1
# Router, its inner and its outer address.
nat_of() {{ ip -n $1 route add default via $4
	tc -n $1 qdisc add dev far clsact
	tc -n $1 filter add dev far egress protocol ip matchall action nat egress $2/32 $3
	tc -n $1 filter add dev far ingress protocol ip matchall action nat ingress $3/32 $2; }}
nat_of dsl 100.64.0.5 198.51.100.7 198.51.100.1
nat_of lte 192.168.8.100 198.51.100.130 198.51.100.129
ip route add default via 100.64.0.1 dev ppp0 metric 100
ip route add default via 192.168.8.1 dev wwan0 metric 700
tc -n dsl qdisc add dev near root netem rate 4mbit delay 10ms limit 100
tc -n dsl qdisc add dev far root netem rate 4mbit delay 10ms limit 100
tc -n lte qdisc add dev near root netem rate 4mbit delay 25ms limit 100
tc -n lte qdisc add dev far root netem rate 4mbit delay 25ms limit 100
$ha sh -e <<'BLOCK' && say "agent: yes"
{block("agent")}
BLOCK
cp /etc/netns/ha/shake/home.key /etc/shake/home.key; chmod 600 /etc/shake/home.key
sh -e <<'BLOCK' >/dev/null && say "leader: yes"
{block("leader")}
BLOCK
alive() {{ grep -c state=alive /sys/class/net/home/shake/paths; }}
ready both; shake-quick show >$OUT/show; $ha shake-quick show >$OUT/show.agent
$cn verified drink 5201 $OUT/drunk & sleep 0.1
# A link goes in the middle, and comes back.
$lan verified pour 192.0.2.80 5201 4000000 60 & pour=$!; sleep 3; $cn ss -tn >$OUT/seen
ip link set wwan0 down; sleep 2; say "alone: $(alive)"; ip link set wwan0 up
ip route replace default via 192.168.8.1 dev wwan0 metric 700; wait $pour && say "poured: yes"
sent() {{ ip -j link xstats type shake dev home | grep -o '"sent_bytes":[0-9]*' | cut -d: -f2; }}
n=0; until [ -s $OUT/drunk ] || [ $n -gt 100 ]; do n=$((n + 1)); sleep 0.1; done
ready again; say "sent: $(sent | tr '\\n' ' ')"
sh -e <<'BLOCK' && say "down: yes"
{block("leader down")}
BLOCK
ip rule >$OUT/rules; ip -o link show type shake >>$OUT/rules
$ha shake-quick down home
"""


def run(script: str, engine: str, out: Path, root: Path) -> Told:
    return run_pair(script, engine, out, root, extras=["shake-quick"])


walk = reported(run, "shake-walk", WALK)


def paths(walk: Told, name: str) -> list[list[str]]:
    return [line.split() for line in (walk.out / name).read_text().splitlines()[3:]]


def test_the_pages_commands_join_the_links(walk: Told) -> None:
    """The agent knows both by the NATs' addresses."""
    assert walk["agent"] == walk["leader"] == "yes"
    assert [row[1:3] for row in paths(walk, "show")] == [["ppp0", "alive"], ["wwan0", "alive"]]
    assert [row[-3] for row in paths(walk, "show.agent")] == ["198.51.100.7", "198.51.100.130"]


def test_a_host_behind_it_uses_both(walk: Told) -> None:
    """To a server that sees the agent's address, while one of the links goes and comes back."""
    assert walk["poured"] == "yes" and walk["alone"] == "1"
    assert drunk(walk.out) == [(4_000_000, 0)]
    assert "203.0.113.9]:" in (walk.out / "seen").read_text()
    assert min(numbers(walk, "sent")) > 300_000


def test_the_page_ends_it(walk: Told) -> None:
    assert walk["down"] == "yes"
    assert [line.split()[-1] for line in (walk.out / "rules").read_text().splitlines()] == [
        "local", "main", "default"
    ]  # fmt: skip
