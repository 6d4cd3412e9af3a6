# SPDX-License-Identifier: GPL-2.0
"""What the device below refuses, and when it comes and goes: what sscop makes of it in a guest."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported, ticks
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

FLAPS = 40

#: The peer does not answer and the window is one SD: what is taken from the queue above waits.
FLAPPING = f"""
below; slow 20mbit 2ms
near_up near "window 1"; far_up far; ip link set s0 txqueuelen 4; addresses; ready first
$far verified tock 5301 $OUT/ticks & sleep 0.1
tc -n far qdisc add dev far clsact; tc -n far filter add dev far ingress matchall action drop
verified tick 10.7.0.2 5301 10 {FLAPS / 5 + 4} & tick=$!
for n in $(seq {FLAPS}); do
	ip link set near down; sleep 0.1; ip link set near up; sleep 0.1
done
ip link set near down; wait $tick
tc -n far qdisc del dev far clsact; ip link set near up; ready again; sleep 2
counts after resets
"""

flapping = reported(run, "sscop-flapping", FLAPPING)


def test_no_packet_more_waits_for_each_time_that_the_link_went_down(flapping: Told) -> None:
    """The SD that is sent, the packet begun, and four that wait: the others were dropped above."""
    assert numbers(flapping, "after resets") == [0, 0]
    assert 1 <= len(ticks(flapping.out / "ticks")) <= 6


#: Queues below that refuse: of less than two frames, which the device is given at least, and of
#: three, of which it is told to fill more.
TRIED = """
tried() { near_up near "$2"; far_up far; addresses; ready $1
	$far verified drink 5201 $OUT/drunk & drink=$!; sleep 0.1
	verified pour 10.7.0.2 5201 100000000 8 >/dev/null & sleep 4; moved $1; wait $!
	counts $1 "segment_now refused_below sd_sent sd_again resets"
	kill $drink; ip link del s0; ip -n far link del s0; }
below
"""
QUEUED = (
    TRIED
    + """
short() { tc qdisc replace dev near root tbf rate 2mbit burst 1600b limit $1; }
short 2500b; tried one
short 4800b; tried three "backlog 20000"
"""
)
queued = reported(run, "sscop-queued", QUEUED)


def refused(told: Told, kind: str) -> None:
    """Segments stay as long as packets, what passes is what is allowed, and not much is tried."""
    assert 0 < numbers(told, f"{kind} refused_below")[0] < numbers(told, f"{kind} sd_sent")[0] / 2
    assert numbers(told, f"{kind} segment_now")[0] == 1491
    assert numbers(told, f"{kind} moved")[1] > 0.75 * 2e6 / 8
    assert numbers(told, f"{kind} resets") == [0, 0]


@pytest.mark.parametrize("kind", ["one", "three"])
def test_what_a_queue_below_refuses_is_no_bit_error(queued: Told, kind: str) -> None:
    refused(queued, kind)


#: The queue above: the own one, a user's while a stream runs, the own one again, and then more
#: datagrams than the link takes.
ABOVE = """
below; slow 2mbit 10ms
near_up near; far_up far; addresses; ready first
own() { ip link show s0 | grep -c "qdisc noqueue"; }
sink; sleep 0.1; verified pour 10.7.0.2 5201 3000000 60 >$OUT/poured & pour=$!
say "first: $(own)"; sleep 3; moved own
tc qdisc add dev s0 root pfifo limit 20; say "then: $(own)"; sleep 1; moved other
tc qdisc del dev s0 root; sleep 1; moved again; say "again: $(own)"; wait $pour; sleep 1
ping -s 1000 -i 0.0002 -c 30000 -W 1 10.7.0.2 >/dev/null & flood=$!
$far verified tock 5301 $OUT/small & tock=$!
sleep 2; verified tick 10.7.0.2 5301 50 3; wait $flood; sleep 1; kill $tock; pinged after 10.7.0.2
counts after "resets queue_dropped"
"""

above = reported(run, "sscop-above", ABOVE)


def test_a_queueing_discipline_may_take_the_place_of_the_own_queue(above: Told) -> None:
    assert (above["first"], above["then"], above["again"]) == ("1", "0", "1")
    for turn in ("own", "other", "again"):
        assert numbers(above, f"{turn} moved")[1] > 0.85 * 2e6 / 8, turn
    assert drunk(above.out) == [(3_000_000, 0)]


def test_the_own_queue_is_bounded_and_serves_flows_in_turn(above: Told) -> None:
    """The flood of 6 s has 30 MB, the link 1.5."""
    assert [number for _, number in ticks(above.out / "small")] == list(range(60))
    assert above["after pinged"] == "yes"
    assert numbers(above, "after queue_dropped")[0] > 20_000
    assert numbers(above, "after resets") == [0, 0]


#: Packets of 60 kB to a peer that acknowledges none, in a window of 1024 SDs that each takes one.
HOARDING = """
below; ip link set near mtu 65535; ip -n far link set far mtu 65535
near_up near "window 1024 poll-bytes 0 segment 65000"; far_up far; addresses; ready first
tc -n far qdisc add dev far clsact; tc -n far filter add dev far ingress matchall action drop
free() { sed -n "s/^MemAvailable: *\\([0-9]*\\).*/\\1/p" /proc/meminfo; }
say "mtu: $(link_file mtu)"
say "before: $(free)"
ping -s 60000 -c 1500 -i 0.002 -W 1 10.7.0.2 >/dev/null
say "after: $(free)"
counts kept "window_closed sd_sent"
"""

hoarding = reported(run, "sscop-hoarding", HOARDING)


def test_memory_that_is_charged_to_nobody_is_bounded(hoarding: Told) -> None:
    """By a window of packets of 1500 octets in 2076 each: 2.1 MB; their SDs would take 60 MB."""
    assert hoarding["mtu"] == "65000"
    assert numbers(hoarding, "kept window_closed")[0] > 0
    assert numbers(hoarding, "kept sd_sent")[0] >= 20
    assert int(hoarding["before"]) - int(hoarding["after"]) < 12_000


#: Packets of 28 octets behind a silent link of 15 Mbit/s and 200 ms, in a window of 256 SDs.
EARLY = """
below; slow 50mbit 100ms
near_up near "window 256"; far_up far "window 256"; addresses; ready first
echo 100000000 >/proc/sys/net/core/wmem_default
counted="s/.* \\([0-9]*\\) pkt (dropped \\([0-9]*\\),.*/\\1 \\2/p"
early() { $far verified drink 5201 $OUT/drunk & drink=$!; sleep 0.1
	verified pour 10.7.0.2 5201 100000000 4 >/dev/null; kill $drink; sleep 1
	tc -n far qdisc add dev far clsact; tc -n far filter add dev far ingress matchall action drop
	tc qdisc replace dev s0 root pfifo limit 10
	ping -s 0 -i 0.0002 -c 15000 -W 1 10.7.0.2 >/dev/null
	say "$1: $(tc -s qdisc show dev s0 | sed -n "$counted")"
	ip link set s0 down; tc qdisc del dev s0 root; tc -n far qdisc del dev far clsact
	ip link set s0 up; ready $1; }
early above; early again
"""

early = reported(run, "sscop-early", EARLY)


@pytest.mark.parametrize("turn", ["above", "again"])
def test_so_is_memory_of_what_comes_in_early(early: Told, turn: str) -> None:
    """1 MiB, in which each packet takes 500 octets at least; as octets 26 000 might wait. So it is
    after the device was down, when what waited is gone: 259, the window's, were taken then.
    """
    taken, dropped = numbers(early, turn)
    assert 512 < taken < 1048576 / 500 + 10
    assert taken + dropped >= 14_900
