# SPDX-License-Identifier: GPL-2.0
"""Devices that sscop's can be made on, its own MTU and namespace, other stations on the medium."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.guest.image import module_bytes
from apogee_lab.kernels import debian
from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: On each kind of device: ping, IPv6, a TCP stream of checked octets.
KINDS = """
below; slow 20mbit 2ms
tried() { kind=$1; shift; addresses; ready $kind; pinged $kind 10.7.0.2; pinged $kind-6 fd00::2
	verified pour fd00::2 5201 300000 30 >$OUT/poured; sleep 0.1
	counts $kind "resets packets_broken"
	ip link del s0; ip -n far link del s0; }
sink
near_up near; far_up far; tried veth

vlan() { ip $1 link add link $2 name v type vlan id 5 $3; ip $1 link set v up; }
vlan "" near; vlan "-n far" far; near_up v; far_up v; tried vlan
ip link set v type vlan reorder_hdr off; ip -n far link set v type vlan reorder_hdr off
near_up v; far_up v; tried tagged
ip link set near address 02:00:00:00:00:03
near_up v; far_up v; tried readdressed
ip link del v; ip -n far link del v

bonded() { ip $1 link add name bond7 type bond mode active-backup miimon 100; ip $1 link set $2 down
	ip $1 link set $2 master bond7; ip $1 link set bond7 up; }
bonded "" near; bonded "-n far" far; near_up bond7; far_up bond7; tried bond
ip link set near nomaster; ip -n far link set far nomaster
ip link del bond7; ip -n far link del bond7

modprobe tun; verified wire t0 t1 & sleep 0.1
ip link set t1 netns far; ip link set t0 up; ip -n far link set t1 up
near_up t0; far_up t1; tried tap

# Without a peer.
ip link add name alone type dummy; ip link set alone up; near_up alone
say "dummy state: $(link_file sscop/state) $(link_file carrier)"
say "dummy mtu: $(link_file mtu)"
ip link set alone mtu 5; say "dummy segment: $(link_file sscop/segment_now)"
ip link set alone mtu 1500; say "dummy grown: $(link_file sscop/segment_now)"
ip link del s0; ip link set alone mtu 9000
ip link add link alone name s0 mtu 1500 type sscop; say "dummy asked: $(link_file mtu)"
ip link del alone
"""

#: One pair, on which one thing after another is changed.
CHANGES = """
below; slow 20mbit 2ms
ip link add link near name s0 numtxqueues 4 numrxqueues 4 type sscop; ip link set s0 up
far_up far; addresses; ready first
say "queues: $(ls -d /sys/class/net/s0/queues/tx-* | wc -l)"
refuse() { key=$1; shift; "$@" 2>&1 | sed -n "1s/^/$key refused: /p" >>$OUT/report; }
for peer in 02:00:00:00:00:01 ff:ff:ff:ff:ff:ff; do
	refuse $peer ip link set s0 type sscop peer $peer; done
ip link add name alone type dummy
ip link add name bond7 type bond
ip link set near down; refuse carries ip link set near master bond7
ip link set near up; ready carrying; pinged carrying 10.7.0.2
ip link set alone master bond7; refuse port ip link add link alone name s1 type sscop
ip link del bond7
ip link set alone mtu 104; refuse low ip link add link alone name s1 type sscop
refuse addressed ip link add link alone name s1 address 02:00:00:00:00:77 type sscop
ip link set s0 mtu 67 2>/dev/null || say "mtu refused: 67"
for file in segment window poll_time_us poll_idle_us ustat peer backlog; do
	echo what 2>/dev/null >/sys/class/net/s0/sscop/$file || say "file $file: refused"; done
rmmod sscop 2>/dev/null || say "rmmod: refused"

# A second link beside it.
ip link add near2 type veth peer name far2 netns far
ip link set near2 up; ip -n far link set far2 up
ip link add link near2 name s1 type sscop; ip -n far link add link far2 name s1 type sscop
ip link set s1 up; ip -n far link set s1 up
ip addr add 10.8.0.1/24 dev s1; ip -n far addr add 10.8.0.2/24 dev s1
sleep 1; pinged second 10.8.0.2; pinged beside 10.7.0.2

for mtu in 9000 65535; do ip link set s0 mtu $mtu; ip -n far link set s0 mtu $mtu
	pinged mtu-$mtu 10.7.0.2 3 $((mtu - 28 - 20 * (mtu > 65000))); done
ip link set s0 mtu 9000; ip -n far link set s0 mtu 1500
ping -c 3 -i 0.2 -W 1 -s 4000 10.7.0.2 >/dev/null; pinged longer 10.7.0.2
counts longer "packets_broken resets"

# The device above in another namespace, then with the one below gone from its own.
ip netns add third; ip link set s0 netns third
ip -n third addr add 10.7.0.1/24 dev s0; ip -n third link set s0 up
sleep 1
ip netns exec third ping -c 3 -i 0.2 -W 5 10.7.0.2 >/dev/null && say "upper moved pinged: yes"
ip netns del third; sleep 1; ip link show near >/dev/null && say "below stays: yes"

# What the peer is allowed to be.
near_up near "peer 02:00:00:00:00:99"; ip addr add 10.7.0.1/24 dev s0; sleep 2
say "stranger state: $(link_file sscop/state)"; say "strangers: $(count '' peer_stranger)"
ip link set s0 type sscop peer 02:00:00:00:00:02; ready allowed; pinged allowed 10.7.0.2
ip -n far link set far address 02:00:00:00:00:04; sleep 1
ip link set s0 type sscop peer 02:00:00:00:00:04; sleep 3; pinged renamed 10.7.0.2

# Both namespaces are gone at once, one device in each.
ip netns del far; sleep 0.5; ip link del near 2>/dev/null; say "end: $(echo $(ls /sys/class/net))"
"""

#: As fast as the guest can: nothing below holds frames back.
SHORT = """
below
near_up near; far_up far; addresses; ready first
sink; sleep 0.1
hundredths() { sed "s/ .*//; s/[.]//; s/^0*//" /proc/uptime; }
from=$(hundredths)
verified pour 10.7.0.2 5201 20000000 20 >$OUT/poured
say "took: $(($(hundredths) - from))"
sleep 0.5
"""

#: Likewise. Frames behind a lost one wait at the peer.
FAST = """
below
tc qdisc add dev near root netem loss 3%
near_up near "segment 256"; far_up far "segment 256"; addresses; ready first
sink; sleep 0.1
verified pour 10.7.0.2 5201 4000000 20 >$OUT/poured
sleep 0.5
counts fast "resets"
"""

#: Two pairs on one bridge, one pair without a configured peer.
BRIDGED = """
for m in llc stp bridge; do insmod /lab/$m.ko || exit; done
ip link add hub type bridge; ip link set hub up
station() { ip netns add $1; ip link add p$1 type veth peer name e0 netns $1
	ip link set p$1 master hub up
	ip -n $1 link set e0 address 02:00:00:00:00:$2; ip -n $1 link set e0 up
	ip -n $1 link add link e0 name s0 type sscop $4; ip -n $1 addr add 10.7.$3/24 dev s0; }
station a1 11 1.1 "peer 02:00:00:00:00:12"; station b1 12 1.2 "peer 02:00:00:00:00:11"
station a2 21 2.1 "peer 02:00:00:00:00:22"; station b2 22 2.2 "peer 02:00:00:00:00:21"
for n in a1 b1 a2 b2; do ip -n $n link set s0 up; done
sleep 3
for n in 1 2; do ip netns exec a$n ping -c 5 -i 0.1 -W 2 10.7.$n.2 >/dev/null && say "pair $n: yes"
	ip netns exec b$n verified drink 5201 $OUT/drunk$n &
done
sleep 0.1
for n in 1 2; do
	ip netns exec a$n verified pour 10.7.$n.2 5201 500000 20 >/dev/null & pours="$pours $!"
done
wait $pours; sleep 0.2
for n in a1 b1 a2 b2; do say "$n resets: $(count "ip netns exec $n" resets)"; done

# A device on the bridge itself.
ip -n a1 link del s0; ip -n a2 link set s0 down; ip -n b2 link set s0 down
ip link set hub address 02:00:00:00:00:11; near_up hub; ip addr add 10.7.1.1/24 dev s0
sleep 3; pinged hub 10.7.1.2
"""


#: Two links on one device, to two of three stations of a bridge, which each know their peer.
SHARED = """
modprobe bridge; ip netns add hub; ip -n hub link add hub type bridge; ip -n hub link set hub up
station() { ip link add $1 type veth peer name p$2 netns hub; ip -n hub link set p$2 master hub up
	ip link set $1 address 02:00:00:00:00:0$2; }
station near 1; ip link set near up
for n in 2 3; do ip netns add f$n; station far $n
	ip link set far netns f$n; ip -n f$n link set far up
	ip -n f$n link add link far name s0 type sscop peer 02:00:00:00:00:01
	ip -n f$n addr add 10.$n.0.2/24 dev s0; ip -n f$n link set s0 up; done
link() { ip link add link near name s$1 type sscop peer 02:00:00:00:00:0$1 && ip link set s$1 up
	ip addr add 10.$1.0.1/24 dev s$1; }
link 2
refuse() { key=$1; shift; "$@" 2>&1 | sed -n "1s/^/$key refused: /p" >>$OUT/report; }
refuse unset ip link add link near name s9 type sscop
refuse same ip link add link near name s9 type sscop peer 02:00:00:00:00:02
link 3; refuse zero ip link set s3 type sscop peer 00:00:00:00:00:00
refuse other ip link set s3 type sscop peer 02:00:00:00:00:02
sleep 2
for n in 2 3; do pinged $n 10.$n.0.2; ip netns exec f$n verified drink 5201 $OUT/drunk$n & done
sleep 0.1
for n in 2 3; do verified pour 10.$n.0.2 5201 2000000 20 >/dev/null & pours="$pours $!"; done
wait $pours; sleep 1
for n in 2 3; do say "$n resets: $(ethtool -S s$n | sed -n 's/^ *resets: //p')"; done
ip link set near down; sleep 1; say "down: $(echo $(cat /sys/class/net/s[23]/carrier))"
ip link set near up; sleep 1; pinged up-2 10.2.0.2; pinged up-3 10.3.0.2
ip link del s2; pinged left 10.3.0.2; link 2; sleep 1; pinged anew 10.2.0.2
ip link del near; say "left: $(echo $(ls /sys/class/net))"
"""

#: Links to the same station, told apart by ids: 0, which is none; 3; 65535. Some know their peer.
LINKED = """
below; slow 20mbit 5ms
there="peer 02:00:00:00:00:02"; here="peer 02:00:00:00:00:01"
make() { ip $1 link add link $2 name s$3 type sscop $5 && ip $1 link set s$3 up
	ip $1 addr add 10.$3.0.$4/24 dev s$3; }
pair() { make "" near $1 1 "$2"; make "-n far" far $1 2 "$3"; }
pair 2; pair 3 "$there link-id 3" "link-id 3"; pair 4 "link-id 65535" "$here link-id 65535"
make "" near 5 1 "link-id 5"; make "-n far" far 6 2 "$here link-id 6"
refuse() { key=$1; shift; "$@" 2>&1 | sed -n "1s/^/$key refused: /p" >>$OUT/report; }
refuse none ip link add link near name s9 type sscop
refuse same ip link add link near name s9 type sscop $there link-id 3
refuse unset ip link add link near name s9 type sscop link-id 65535
refuse running ip link set s4 type sscop link-id 4
refuse taken ip link set s4 type sscop link-id 3
echo 65536 2>/dev/null >/sys/class/net/s5/sscop/link_id || say "file refused: 65536"
ip link set s5 down; refuse stopped ip link set s5 type sscop link-id 3; ip link set s5 up
sleep 2
for n in 2 3 4; do pinged $n 10.$n.0.2; $far verified drink 520$n $OUT/drunk$n & done
sleep 0.1
for n in 2 3 4; do verified pour 10.$n.0.2 520$n 2000000 60 >/dev/null & pours="$pours $!"; done
sleep 0.3; say "alone: $(cat /sys/class/net/s5/sscop/state)"
forge near 02:00:00:00:00:02 02:00:00:00:00:01 links 1000 1
ip link del s5; ip -n far link set s6 down; ip -n far link del s6
wait $pours; for n in $(seq 100); do [ $(ls $OUT/drunk* | wc -l) = 3 ] && break; sleep 0.1; done
stats() { $1 ethtool -S s$2 | sed -n "s/^ *$3: //p"; }
for n in 2 3 4; do say "$n resets: $(stats "" $n resets) $(stats "$far" $n resets)"
	say "$n strange: $(stats "$far" $n dropped_stranger) $(stats "$far" $n dropped_length)"; done
# Removed while it is used, made anew with another id at one end first; the device in another
# namespace.
verified pour 10.3.0.2 5203 100000000 1 >/dev/null 2>&1 & pour=$!
sleep 0.2; ip link del s3; wait $pour
ip -n far link set s3 down; ip -n far link set s3 type sscop link-id 33; ip -n far link set s3 up
make "" near 3 1 "link-id 33"; sleep 1; pinged anew 10.3.0.2
ip netns add third; ip link set s4 netns third; ip -n third link set s4 up
ip -n third addr add 10.4.0.1/24 dev s4
refuse moved ip link add link near name s9 type sscop link-id 65535
sleep 1; ip netns exec third ping -c 3 -i 0.2 -W 5 10.4.0.2 >/dev/null && say "third pinged: yes"
ip netns del third; make "" near 4 1 "link-id 65535"; sleep 1; pinged back 10.4.0.2
pinged still 10.2.0.2; say "2 resets at last: $(stats "" 2 resets) $(stats "$far" 2 resets)"
ip -d link show s4 | sed -n "s/.*\\(link-id [0-9]*\\).*/shown: \\1/p" >>$OUT/report
ip link del near; say "left: $(echo $(ls /sys/class/net))"
"""


kinds = reported(run, "sscop-kinds", KINDS)


@pytest.mark.parametrize("kind", ["veth", "vlan", "tagged", "readdressed", "bond", "tap"])
def test_any_device_like_ethernet_will_do(kinds: Told, kind: str) -> None:
    """`tap` pads short frames to 60 octets and puts four behind."""
    assert kinds[f"{kind} pinged"] == kinds[f"{kind}-6 pinged"] == "yes"
    assert numbers(kinds, f"{kind} resets") == [0, 0]
    assert numbers(kinds, f"{kind} packets_broken") == [0, 0]


def test_streams_over_all_of_them_are_whole(kinds: Told) -> None:
    assert drunk(kinds.out) == [(300_000, 0)] * 6


def test_a_device_without_a_peer_has_no_carrier(kinds: Told) -> None:
    """Nor do segments ever have a length that the MTU below does not make possible."""
    assert kinds["dummy state"] == "beginning 0"
    assert int(kinds["dummy segment"]) <= 96
    assert int(kinds["dummy grown"]) > 96


def test_a_packet_fits_into_one_frame_unless_another_mtu_is_asked_for(kinds: Told) -> None:
    assert (kinds["dummy mtu"], kinds["dummy asked"]) == ("1491", "1500")


changes = reported(run, "sscop-changes", CHANGES)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("02:00:00:00:00:01", "peer must be the hardware address of another station."),
        ("ff:ff:ff:ff:ff:ff", "peer must be the hardware address of another station."),
        ("carries", "the device carries an sscop device."),
        ("port", "the device below is a port of a bridge or bond."),
        ("low", "the MTU of the device below must be at least 105."),
        ("addressed", "the device has no hardware address."),
    ],
)
def test_bad_values_are_refused_in_one_line(changes: dict[str, str], key: str, line: str) -> None:
    assert changes[f"{key} refused"].endswith(line)


def test_bad_texts_and_early_removal_are_refused(changes: dict[str, str]) -> None:
    names = ("segment", "window", "poll_time_us", "poll_idle_us", "ustat", "peer", "backlog")
    assert [changes[f"file {name}"] for name in names] == ["refused"] * len(names)
    assert changes["mtu refused"] == "67"
    assert changes["rmmod"] == "refused"


def test_it_has_one_queue_whatever_was_asked_for(changes: dict[str, str]) -> None:
    """It stops one; packets of others would wait without bound."""
    assert changes["queues"] == "1"


@pytest.mark.parametrize("name", ["carrying", "second", "beside", "mtu-9000", "mtu-65535"])
def test_links_side_by_side_and_packets_up_to_64k(changes: dict[str, str], name: str) -> None:
    assert changes[f"{name} pinged"] == "yes"


def test_packets_above_the_own_mtu_are_counted(changes: dict[str, str]) -> None:
    """A peer with a larger MTU disturbs nothing else."""
    assert changes["longer pinged"] == "yes"
    assert numbers(changes, "longer packets_broken") == [0, 3]
    assert numbers(changes, "longer resets") == [0, 0]


def test_the_device_moves_and_goes_with_its_namespace(changes: dict[str, str]) -> None:
    assert changes["upper moved pinged"] == "yes"
    assert changes["below stays"] == "yes"
    assert "s0" not in changes["end"]


def test_the_peer_that_was_set_and_no_other(changes: dict[str, str]) -> None:
    assert changes["stranger state"] == "beginning"
    assert int(changes["strangers"]) > 0
    assert changes["allowed pinged"] == changes["renamed pinged"] == "yes"


def test_a_stream_where_nothing_below_limits_it(build: Path, root: Path) -> None:
    """Frames that the peer on the same host keeps do not count as under way."""
    out = build / "tests" / "sscop-fast"
    report = run(FAST, "uml", out, root)
    assert drunk(out) == [(4_000_000, 0)]
    assert numbers(report, "fast resets") == [0, 0]


def test_a_link_as_fast_as_the_machine(build: Path, root: Path) -> None:
    """Its round trip is of some microseconds, and POLLs are a millisecond apart: 20 MB, with the
    programs that check them, take .8 s. With a window for the round trip they took 3 s.
    """
    out = build / "tests" / "sscop-short"
    report = run(SHORT, "qemu", out, root)
    assert drunk(out) == [(20_000_000, 0)]
    assert numbers(report, "took") < [160]


shared = reported(run, "sscop-shared-device", SHARED)
CARRIED = "the device below carries another link: each needs a peer or link-id of its own."


def test_a_device_carries_links_to_several_peers(shared: Told) -> None:
    """Whose frames are told apart by their sender."""
    for key in ("2", "3", "up-2", "up-3", "left", "anew"):
        assert shared[f"{key} pinged"] == "yes", key
    assert shared["down"] == "0 0"
    for number in ("2", "3"):
        assert drunk(shared.out, f"drunk{number}") == [(2_000_000, 0)]
        assert shared[f"{number} resets"] == "0"
    assert "s2" not in shared["left"].split()
    assert "s3" not in shared["left"].split()


@pytest.mark.parametrize("key", ["unset", "same", "zero", "other"])
def test_each_of_them_has_a_peer_of_its_own(shared: Told, key: str) -> None:
    assert shared[f"{key} refused"].endswith(CARRIED)


linked = reported(run, "sscop-linked", LINKED)


def test_a_peer_has_several_links_with_ids(linked: Told) -> None:
    """Which hear each other's frames, and BGNs of any link with the peer's address."""
    for key in ("2", "3", "4"):
        assert linked[f"{key} pinged"] == "yes", key
        assert drunk(linked.out, f"drunk{key}")[0] == (2_000_000, 0)
        assert numbers(linked, f"{key} resets") == [0, 0]
        strange, other_lengths = numbers(linked, f"{key} strange")
        assert strange > 500 and other_lengths > 50
    assert linked["alone"] == "beginning"
    assert linked["shown"] == "link-id 65535"


def test_they_come_and_go_alone(linked: Told) -> None:
    for key in ("anew", "third", "back", "still"):
        assert linked[f"{key} pinged"] == "yes", key
    assert linked["2 resets at last"] == "0 0"
    assert not {"s2", "s3", "s4"} & set(linked["left"].split())


@pytest.mark.parametrize("key", ["none", "same", "unset", "taken", "stopped", "moved"])
def test_an_id_is_used_once(linked: Told, key: str) -> None:
    assert linked[f"{key} refused"].endswith(CARRIED)


def test_an_id_is_changed_while_the_device_is_down(linked: Told) -> None:
    line = "link-id can only be changed while the device is down."
    assert linked["running refused"].endswith(line)
    assert linked["file refused"] == "65536"


@pytest.mark.deep
def test_two_pairs_on_one_bridge(build: Path, root: Path) -> None:
    out = build / "tests" / "sscop-bridged"
    k = debian.kernel("bookworm")
    files = {
        f"lab/{path.name.partition('.')[0]}.ko": module_bytes(path)
        for name in ("llc/llc", "802/stp", "bridge/bridge")
        for path in k.modules.glob(f"kernel/net/{name}.ko*")
    }
    report = run(BRIDGED, "qemu", out, root, files=files)
    assert report["pair 1"] == report["pair 2"] == report["hub pinged"] == "yes"
    for number in ("1", "2"):
        assert (out / f"drunk{number}").read_text() == "octets 500000 damaged 0\n"
    assert [report[f"{n} resets"] for n in ("a1", "b1", "a2", "b2")] == ["0"] * 4
