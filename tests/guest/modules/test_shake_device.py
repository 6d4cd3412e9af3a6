# SPDX-License-Identifier: GPL-2.0
"""SHAKE's device in real guests: what befalls it, the devices of its paths, and namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.kernels.kernel import DEFAULT_KERNEL, SUITES
from tests.guest.modules.scripted import Told, drunk, gap, numbers, reported
from tests.guest.modules.shake_pair import BOTH, run

pytestmark = [pytest.mark.guest, pytest.mark.uml]


# --- the devices that paths leave by --------------------------------------------------------------

#: A TCP stream and datagrams go on through everything that happens to the first path's device.
BELOW = (
    BOTH
    + """
verified pour 10.3.0.2 5201 10000000 200 >$OUT/sent & pour=$!
up ticks 50
shown() { say "$1: $(state 1) $(state 2) $(cat /sys/class/net/shake0/carrier)"; }
back() { near_routes 1; sleep 1; }
ip link set wan1 down; sleep 2; shown down; ip link set wan1 up; back; shown up

ip link set wan1 down; ip link set wan1 name other; ip link set other up
ip route replace 10.2.1.0/24 via 10.1.1.2 dev other; sleep 1; shown renamed
say "follows: $(sed -n 's/^1 dev=\\([a-z0-9]*\\).*/\\1/p' /sys/class/net/shake0/shake/paths)"
ip link set other down; ip link set other name wan1; ip link set wan1 up; back; shown named

ip netns add third; ip link set wan1 netns third; sleep 1; shown away
ip -n third link set wan1 netns 1; near_end 1; sleep 1; shown home

ip link del wan1; sleep 1; shown deleted
ip link add wan1 type veth peer name near netns net1
address "-n net1" 10.1.1.2/24 near fd01:1::2/64
near_end 1; sleep 1; shown made

ip link set wan1 name live 2>/dev/null && ip link set live name wan1; back
ip -n ha link set wan1 down; sleep 2.5; shown cut; ip -n ha link set wan1 up
ip -n ha route add 10.1.1.0/24 via 10.2.1.1; sleep 1; shown mended
moved end
watched
ip link set wan1 down; ip link set wan2 down; sleep 1; shown none
ip link set wan1 up; ip link set wan2 up; near_routes 1; near_routes 2; sleep 1; shown all
wait $pour
sleep 1
"""
)


below = reported(run, "shake-below", BELOW)


def test_traffic_outlives_what_befalls_a_paths_device(below: Told) -> None:
    assert min(numbers(below, "end moved")) > 5_000
    assert drunk(below.out) == [(10_000_000, 0)]
    assert gap(below.out / "ticks") < 1200


def test_a_path_is_absent_with_its_device_and_joins_again(below: Told) -> None:
    for event in ("down", "away", "deleted"):
        assert below[event] == "absent alive 1", event
    for event in ("up", "renamed", "named", "home", "made", "mended", "all"):
        assert below[event] == "alive alive 1", event
    assert below["follows"] == "other"
    assert below["cut"] == "dead alive 1"
    assert below["none"] == "absent absent 0"


# --- the device itself ----------------------------------------------------------------------------

#: The tunnel is in one namespace, its sockets in another.
SPACES = """
lines; agent_up; ip netns add third
ip link add shake0 type shake role leader id 1
ip link set shake0 type shake peer 1 key /tmp/key; paths
ip link set shake0 netns third
third() { ip netns exec third "$@"; }
# In the namespace `third` from here on; its sockets stay here.
t="ip -n third"
apart() { $t addr add 10.7.0.1/32 dev shake0; $t addr add fd07::1/128 dev shake0 nodad
	$t link set shake0 up; $t route add 10.3.0.0/24 dev shake0 src 10.7.0.1; }
apart; sleep 1
third ping -c 3 -i 0.2 -W 2 10.3.0.2 >>$OUT/pings && say "apart pinged: yes"
sink; third verified pour 10.3.0.2 5201 1000000 30 >$OUT/sent
ip netns exec ha ping -c 3 -i 0.2 -W 2 10.7.0.1 >>$OUT/pings && say "apart answered: yes"
$t link set shake0 netns 1; inner; ready home
pinged home 10.3.0.2
# The agent's, too: it stays reachable by its wan1 and wan2.
ip netns add fourth; ip -n ha link set shake0 netns fourth
ip -n fourth addr add 10.7.0.9/32 dev shake0; ip -n fourth link set shake0 up
ip -n fourth route add 10.7.0.1 dev shake0; ip route add 10.7.0.9 dev shake0 src 10.7.0.1
sleep 2; pinged fourth 10.7.0.9
ip -n fourth link set shake0 netns ha; ip -n ha link set shake0 up
ip -n ha route add 10.7.0.1 dev shake0; sleep 2; pinged returned 10.3.0.2

# The sockets' namespace dies under load, with sessions over IPv4 and IPv6.
ip link del shake0
for outside in 4 6; do
	ip netns add fifth; ip link add to-5 type veth peer name out netns fifth
	address "" 10.5.0.1/24 to-5 fd05::1/64; address "-n fifth" 10.5.0.2/24 out fd05::2/64
	forward net1
	ip -n fifth link add shake0 type shake role leader id 1
	ip -n fifth link set shake0 type shake peer 1 key /tmp/key
	ip link set wan1 netns fifth; address "-n fifth" 10.1.1.1/24 wan1 fd01:1::1/64
	ip -n fifth route add 10.2.1.0/24 via 10.1.1.2; ip -n fifth route add fd02:1::/64 via fd01:1::2
	[ $outside = 4 ] && remote=10.2.1.2 || remote=fd02:1::2
	ip -n fifth link set shake0 type shake path 1 dev wan1 remote $remote
	ip -n fifth link set shake0 netns 1; inner
	ready orphan-$outside 1; pinged orphan-$outside 10.3.0.2
	up orphan-$outside 4
	ip -n fifth link set wan1 netns 1 2>/dev/null
	ip -n fifth link add keep type dummy; ip netns del fifth; sleep 1
	near_end 1; say "orphan-$outside state: $(state 1) $(cat /sys/class/net/shake0/carrier)"
	watched
	path 1 weight 50 && say "orphan-$outside weighed: yes"
	ip link set shake0 down; ip link set shake0 up
	ip link del shake0; ip link del to-5 2>/dev/null
done

# The agent's namespace dies under load; the leader goes on when there is another one.
leader_up; paths; ready last
verified pour 10.3.0.2 5201 100000000 3 >$OUT/sent & pour=$!
sleep 1; ip netns del ha; wait $pour
say "left: $(state 1) $(state 2)"
ip link del shake0
for n in 1 2 3 4; do ip link show shake0 2>/dev/null && sleep 0.2; done
unload; said
"""


spaces = reported(run, "shake-spaces", SPACES)


@pytest.mark.deep
def test_the_tunnel_in_another_namespace_than_its_sockets(spaces: Told) -> None:
    for event in ("apart pinged", "apart answered", "home pinged", "fourth pinged"):
        assert spaces[event] == "yes", event
    assert spaces["returned pinged"] == "yes"
    assert drunk(spaces.out)[0] == (1_000_000, 0)


@pytest.mark.deep
@pytest.mark.parametrize("outside", ["4", "6"])
def test_the_sockets_namespace_dies(spaces: Told, outside: str) -> None:
    """The device stays, without paths, until it is deleted; then nothing is left."""
    assert spaces[f"orphan-{outside} pinged"] == "yes"
    assert spaces[f"orphan-{outside} state"] == "absent 0"
    assert spaces[f"orphan-{outside} weighed"] == "yes"
    assert spaces["gone"] == "yes"


# --- the module -----------------------------------------------------------------------------------

MODULE = """
lines
slabs() { sync; echo 3 >/proc/sys/vm/drop_caches; sleep 1
	sed -n 's/^SUnreclaim: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo; }
around() { agent_up; leader_up; paths; n=0
	until [ $(alive) = 2 ]; do n=$((n + 1)); [ $n -gt 300 ] && break; sleep 0.01; done
	say "round $1: $(alive)"
	for f in 1 2 3 4 5 6 7 8; do verified pour 10.3.0.2 5201 20000 5 >/dev/null & p="$p $!"; done
	wait $p; p=; sleep 2
	rmmod shake 2>>$OUT/refused; say "rmmod $1: $?"
	ip link del shake0; ip -n ha link del shake0; }
$cn verified drinkers 5201 $OUT/drunk & sleep 0.1
"""
AROUND = (
    MODULE
    + """
for n in 1 2 3; do around $n; done; unload
modprobe shake && say "loaded: again"; around again; unload
"""
)
#: TIME_WAIT, process numbers and others grow for two dozen rounds, whatever is tunnelled.
MANY = (
    MODULE
    + """
for n in $(seq 24); do around more; done; first=$(slabs)
for n in $(seq 24); do around more; done; last=$(slabs)
say "slabs: $first $last"
"""
)


module = reported(run, "shake-module", AROUND)
many = reported(run, "shake-many", MANY)


def test_the_module_stays_while_there_is_a_device(module: Told) -> None:
    for n in ("1", "2", "3", "again"):
        assert module[f"round {n}"] == "2"
        assert module[f"rmmod {n}"] != "0"
    refused = (module.out / "refused").read_text()
    assert "in use" in refused or "unavailable" in refused
    assert module["gone"] == "yes"
    assert module["loaded"] == "again"


@pytest.mark.deep
def test_devices_leave_no_memory_behind(many: Told) -> None:
    """Two dozen pairs of devices with sessions and flows: less than 5 kB for each."""
    first, last = numbers(many, "slabs")
    assert last - first < 120
    assert set(drunk(many.out)) == {(20_000, 0)}


# --- kernels --------------------------------------------------------------------------------------

BASIC = (
    BOTH
    + """
pinged four 10.3.0.2; pinged six fd03::2
for to in 10.3.0.2 fd03::2; do verified pour $to 5201 1000000 30 >$OUT/sent; sleep 1; done
verified drinkers 5202 $OUT/down & sleep 0.1
$cn verified pour 10.7.0.1 5202 1000000 30 >$OUT/sent; sleep 1
lose 1; ping -c 25 -i 0.2 -W 1 10.3.0.2 >/dev/null; say "dead: $(state 1) $(state 2)"
mend 1; sleep 1; say "alive: $(state 1) $(state 2)"
ip link del wan1; sleep 0.2; say "absent: $(state 1) $(state 2)"
ip link del shake0; paths6 2>/dev/null; leader_up; paths6 2; ready again 1; pinged outside 10.3.0.2
ip link del shake0; ip netns del ha; sleep 0.5; unload
"""
)


NEWER = [pytest.param(suite, marks=pytest.mark.deep) for suite in SUITES if suite != DEFAULT_KERNEL]


@pytest.mark.parametrize("kernel", [DEFAULT_KERNEL, *NEWER])
def test_it_works_on_stock_kernels(kernel: str, build: Path, root: Path) -> None:
    out = build / "tests" / f"shake-basic-{kernel}"
    report = run(BASIC, "qemu", out, root, kernel=kernel)
    for event in ("four pinged", "six pinged", "outside pinged", "gone"):
        assert report[event] == "yes", event
    assert report["dead"] == "dead alive"
    assert report["alive"] == "alive alive"
    assert report["absent"] == "absent alive"
    assert drunk(out) == [(1_000_000, 0)] * 2
    assert drunk(out, "down") == [(1_000_000, 0)]
