# SPDX-License-Identifier: GPL-2.0
"""SHAKE over paths of different MTU in a real guest: a narrow one carries its share."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: Path 2 is narrow before anybody sends: 1460 octets outside, 1404 inside, where the agent's device
#: has 1424. Then it has less room than is worth telling of.
NARROW = """
lines; link_mtu 2 1460; agent_up; leader_up; paths; ready first; sink
shares() { set -- $1 $($2 ethtool -S shake0 | sed -n "s/^ *path[12]_$3: //p")
	say "$1 octets: $2 $3"; }
stream() { shares before-$1 "" $2; shift 2; "$@" >$OUT/sent; }
stream up sent_bytes verified pour 10.3.0.2 5201 3000000 60; shares after-up "" sent_bytes
say "told: $(inside_mtu 10.3.0.2)"
sleep 5; ip route flush cache; verified drinkers 5202 $OUT/down & sleep 0.1
stream down received_bytes $cn verified pour 10.7.0.1 5202 3000000 60
sleep 1; shares after-down "" received_bytes
counts all "mtu_told dropped_too_big"
# A sender whose host has not heard yet: nothing of it is lost. Each is told, again and again.
for n in 1 2 3 4 5; do ip route flush cache; sleep 0.1; pinged deaf-$n 10.3.0.2 1 1390; done
pinged six fd03::2
for n in 1 2 3; do ip -6 route flush cache; sleep 0.1; pinged deaf6-$n fd03::2 1 1370; done
counts deaf "mtu_told dropped_too_big"
# Nor does it matter that others, who let their packets be cut, have sent long ones just before.
echo 1 >/proc/sys/net/ipv4/ip_no_pmtu_disc
ping -q -i 0.004 -c 500 -s 1390 10.3.0.1 >$OUT/cut & cut=$!
sleep 0.1; echo 0 >/proc/sys/net/ipv4/ip_no_pmtu_disc
ip route flush cache; sleep 0.1; before=$(count '' mtu_told)
for n in 1 2 3 4 5 6 7 8 9 10; do ip route flush cache; sleep 0.03; pinged beside-$n 10.3.0.2 1 1390
done; say "beside told: $(($(count '' mtu_told) - before))"; wait $cut
link_mtu 2 1050; pinged known 10.3.0.2 12; ip route flush cache
before=$(count '' mtu_told); for n in 1 2 3; do pinged tiny-$n 10.3.0.2 1 1390; done
say "tiny told: $(($(count '' mtu_told) - before)) $(inside_mtu 10.3.0.2)"
"""

narrow = reported(run, "shake-mtu", NARROW)


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_narrow_path_carries_its_share(narrow: Told, way: str) -> None:
    """Two links of one rate, both ways."""
    before, after = (numbers(narrow, f"{when}-{way} octets") for when in ("before", "after"))
    shares = [new - old for old, new in zip(before, after, strict=True)]
    assert min(shares) > 0.4 * sum(shares), shares


def test_senders_are_told_and_lose_nothing(narrow: Told) -> None:
    assert narrow["told"] == "1404"
    assert min(numbers(narrow, "all mtu_told")) >= 1
    assert numbers(narrow, "all dropped_too_big") == [0, 0]
    assert drunk(narrow.out) == drunk(narrow.out, "down") == [(3_000_000, 0)]
    for n in range(1, 6):
        assert narrow[f"deaf-{n} pinged"] == "yes"
    for n in range(1, 4):
        assert narrow[f"deaf6-{n} pinged"] == "yes"
    told = numbers(narrow, "deaf mtu_told")[0] - numbers(narrow, "all mtu_told")[0]
    assert told >= 8
    assert numbers(narrow, "deaf dropped_too_big") == [0, 0]


def test_packets_that_may_be_cut_take_nobodys_turn(narrow: Told) -> None:
    assert int(narrow["beside told"]) >= 9


def test_nobody_is_told_of_a_path_that_is_worth_less(narrow: Told) -> None:
    assert narrow["tiny told"].split()[0] == "0"
    assert all(narrow[f"tiny-{n} pinged"] == "yes" for n in (1, 2, 3))


# --- found out ------------------------------------------------------------------------------------

#: The router of path 2 drops what is longer than 1404 octets outside and tells nobody: 1348 inside.
SILENT = """
black_hole() { for side in near far; do ip -n net$1 link set $side mtu $2; done; }
path_mtu() { echo $($1 ethtool -S shake0 | sed -n "s/^ *path[12]_mtu: //p"); }
lines; black_hole 2 1400; agent_up; leader_up; paths; ready first; sink; sleep 2
say "known: $(path_mtu '') $(count '' mtu_probed) $(count "$ha" mtu_probed)"
begun=$(cat /proc/uptime); verified pour 10.3.0.2 5201 3000000 60 >$OUT/sent
say "took: $begun $(cat /proc/uptime)"
say "told: $(inside_mtu 10.3.0.2)"
ip route flush cache; verified drinkers 5202 $OUT/down & sleep 0.1
begun=$(cat /proc/uptime); $cn verified pour 10.7.0.1 5202 3000000 60 >$OUT/sent-down
say "took-down: $begun $(cat /proc/uptime)"
sleep 1; say "died: $(ethtool -S shake0 | sed -n 's/^ *path[12]_died: //p' | tr '\\n' ' ')"
"""

silent = reported(run, "shake-silent", SILENT)


def test_a_router_that_drops_long_packets_is_found(silent: Told) -> None:
    """1344 to 1348, by some probes of each end."""
    first, second, *probed = numbers(silent, "known")
    assert first == 1444 and 1341 <= second <= 1348
    assert all(10 <= one <= 60 for one in probed)


@pytest.mark.parametrize("way", ["", "-down"])
def test_both_paths_carry_through_a_black_hole(silent: Told, way: str) -> None:
    """24 Mbit by links of 4 Mbit/s: a stream that took one only needs more than 6.4 s."""
    begun, _, end, _ = map(float, silent[f"took{way}"].split())
    assert end - begun < 5
    assert drunk(silent.out, "down" if way else "drunk") == [(3_000_000, 0)]
    assert 1341 <= int(silent["told"]) <= 1348
    assert numbers(silent, "died") == [0, 0]


#: Path 1 joins under load. Its router is narrow, and tells so 150 ms later.
JOINED = """
lines; slow 1 4mbit 150ms; ip -n net1 link set far mtu 1400
agent_up; leader_up; paths 2; ready first 1; sink
verified pour 10.3.0.2 5201 3000000 60 >$OUT/sent & pour=$!; sleep 2; paths 1; wait $pour; sleep 1
say "lost: $(count '' path1_lost)"
say "known: $(count '' path1_mtu)"
"""

joined = reported(run, "shake-joined", JOINED)


def test_a_path_that_joins_under_load_loses_nothing(joined: Told) -> None:
    assert (joined["known"], joined["lost"]) == ("1344", "0")
    assert drunk(joined.out) == [(3_000_000, 0)]


#: Path 1 is narrow. Of path 2 nothing is known for a second, as its long packets were lost.
UNKNOWN = """
modprobe -a sch_ingress cls_u32 act_gact
lines; link_mtu 1 1400; slow 2 4mbit 100ms; tc -n net2 qdisc add dev far clsact
tc -n net2 filter add dev far egress protocol ip u32 match u16 0x0500 0xff00 at 2 action drop
agent_up; leader_up; paths; ready first; sleep 0.7; say "probed: $(count '' mtu_probed)"
tc -n net2 filter del dev far egress
pinged long 10.3.0.2 1 1380; counts all dropped_too_big
"""

unknown = reported(run, "shake-unknown", UNKNOWN)


def test_a_long_packet_goes_where_it_may_pass(unknown: Told) -> None:
    """Rather than where it is known not to."""
    assert int(unknown["probed"]) > 2
    assert unknown["long pinged"] == "yes"
    assert numbers(unknown, "all dropped_too_big") == [0, 0]


#: All routers begin to do so while a stream goes on.
SUDDEN = """
black_hole() { for side in near far; do ip -n net$1 link set $side mtu $2; done; }
path_mtu() { echo $($1 ethtool -S shake0 | sed -n "s/^ *path[12]_mtu: //p"); }
lines; agent_up; leader_up; paths; ready first; sink
begun=$(cat /proc/uptime); verified pour 10.3.0.2 5201 6000000 60 >$OUT/sent & pour=$!
sleep 2; say "before: $(path_mtu '')"; black_hole 1 1400; black_hole 2 1400
wait $pour; say "took: $begun $(cat /proc/uptime)"; say "after: $(path_mtu '')"
echo 1 >/proc/sys/net/ipv4/ip_no_pmtu_disc
ping -c 10 -i 0.2 -s 1390 10.3.0.2 >>$OUT/pings 2>&1 || :	# the agent finds out by its answers
pinged cut 10.3.0.2 5 1390
say "lost: $(grep -c '5 packets received' $OUT/pings)"
"""

sudden = reported(run, "shake-sudden", SUDDEN)


def test_a_way_that_becomes_a_black_hole(sudden: Told) -> None:
    """48 Mbit by 7.3 Mbit/s, and what finding out took."""
    begun, _, end, _ = map(float, sudden["took"].split())
    assert end - begun < 6.6 + 8
    assert drunk(sudden.out) == [(6_000_000, 0)]
    assert numbers(sudden, "before") == [1444, 1444]
    assert all(1341 <= one <= 1348 for one in numbers(sudden, "after"))


def test_what_may_be_cut_is(sudden: Told) -> None:
    """Nobody outside would: the routes take all."""
    assert (sudden["cut pinged"], sudden["lost"]) == ("yes", "1")


#: The same, known for ten minutes: each end looks for more.
LATER = """
black_hole() { for side in near far; do ip -n net$1 link set $side mtu $2; done; }
path_mtu() { echo $(ethtool -S shake0 | sed -n "s/^ *path[12]_mtu: //p"); }
lines; for n in 1 2; do slow $n 4mbit 50ms; black_hole $n 1400; done
agent_up; leader_up; paths; ready first; sleep 15; say "known: $(path_mtu)"
sleep 580; probed=$(count '' mtu_probed); n=0
until [ $(count '' mtu_probed) -gt $probed ]; do n=$((n + 1)); [ $n -gt 200 ] && break; sleep 0.1
done; say "searched: $(($(count '' mtu_probed) - probed))"
ip route flush cache; ping -c 1 -W 1 -s 1390 10.3.0.2 >>$OUT/pings 2>&1 || :
say "told: $(inside_mtu 10.3.0.2)"; pinged again 10.3.0.2 5 1390 || :
"""

later = reported(run, "shake-later", LATER)


def test_senders_are_told_while_more_is_looked_for(later: Told) -> None:
    """A long packet would be lost in silence."""
    known = numbers(later, "known")
    assert all(1341 <= one <= 1348 for one in known) and 1 <= int(later["searched"]) <= 4
    assert int(later["told"]) == min(known)
    assert later["again pinged"] == "yes"
