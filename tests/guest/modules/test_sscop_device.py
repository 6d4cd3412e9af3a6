# SPDX-License-Identifier: GPL-2.0
"""sscop's device in real guests: what befalls the device below, and either end of the link."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, drunk, gap, numbers, reported, ticks
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: A TCP stream goes on through everything that happens to the device below.
BELOW = """
below; slow 4mbit 5ms
near_up near "segment 512"; far_up far "segment 512"; addresses
ready first
sink
verified pour 10.7.0.2 5201 10000000 200 >$OUT/poured & pour=$!
$far verified tock 5301 $OUT/ticks & verified tick 10.7.0.2 5301 20 85 & tick=$!
sleep 3; moved first

ip link set near down; say "down carrier: $(link_file carrier)"; sleep 30; ip link set near up
ready outage; sleep 2; moved outage; pinged outage 10.7.0.2

ip -n far link set far down; sleep 2; say "cut carrier: $(link_file carrier)"
ip -n far link set far up; ready cut; sleep 3

ip link set near down; ip link set near name other; ip link set other up; ready renamed
sleep 3; moved renamed; say "renamed below: $(ip link show s0 | grep -o '@other')"
ip link set other down; ip link set other name near; ip link set near up; ready named

counts before "resets reset_asked reset_silence"
tc qdisc replace dev near root netem rate 4mbit delay 5ms limit 1000
ip link set near mtu 300; ip -n far link set far mtu 300; ready shrunk; sleep 6; moved shrunk
say "shrunk segment: $(link_file sscop/segment_now)"
ip link set near mtu 1500; ip -n far link set far mtu 1500; sleep 3; moved grown
say "grown segment: $(link_file sscop/segment_now)"
counts mtu "resets reset_asked"
ip link set near address 02:00:00:00:00:09; sleep 1; moved address
ip netns add third; ip link set near netns third; say "away carrier: $(link_file carrier)"
sleep 1; ip -n third link set near up; ready away
ip netns exec third tc qdisc replace dev near root netem rate 4mbit delay 5ms limit 1000
sleep 5; moved away
counts after "resets"
wait $pour
wait $tick
sleep 1
lines
ip -n third link del near
ip link show s0 2>/dev/null && say "left: s0"
ip -n far link show s0 2>/dev/null && say "left: far s0"
for i in 1 2 3 4 5; do rmmod sscop && break; sleep 0.2; done
[ -d /sys/module/sscop ] || say "gone: yes"
"""


below = reported(run, "sscop-below", BELOW)


def test_a_stream_outlives_what_befalls_the_device_below(below: Told) -> None:
    for event in ("first", "outage", "renamed", "shrunk", "grown", "address", "away"):
        assert min(numbers(below, f"{event} moved")) > 5_000, event
    assert drunk(below.out) == [(10_000_000, 0)]
    order = [number for _, number in ticks(below.out / "ticks")]
    assert order == sorted(set(order))


def test_carrier_follows_the_device_below(below: Told) -> None:
    """A device without the one below is gone."""
    assert "left" not in below
    assert below["gone"] == "yes"
    assert below["down carrier"] == below["cut carrier"] == "0"
    assert below["away carrier"] in ("0", "")
    for event in ("first", "outage", "cut", "renamed", "named", "shrunk", "away"):
        assert numbers(below, f"{event} ready")[0] <= 250, event


def test_an_outage_resets_nothing_and_is_over_at_once(below: Told) -> None:
    """The device below was known to be down."""
    assert below["outage pinged"] == "yes"
    assert numbers(below, "before resets") == [0, 0]
    assert below["renamed below"] == "@other"


def test_only_a_smaller_mtu_below_resets(below: Told) -> None:
    """SDs that are too long cannot be cut again: the line says so."""
    assert below["shrunk segment"] == "291"
    assert below["grown segment"] == "512"
    near, far = numbers(below, "mtu resets")
    assert 1 <= near == far <= 2
    assert numbers(below, "mtu reset_asked") == [near, far]
    assert numbers(below, "after resets") == [near, far]
    said = (below.out / "lines").read_text()
    assert "connection resynchronized on request" in said


#: Streams that keep packets in the queue above while the device below goes.
QUEUED = """
below; slow 4mbit 5ms
near_up near "segment 512"; far_up far "segment 512"; addresses
ready first
$far verified drinkers 5201 $OUT/drunk & sleep 0.1
for i in 1 2 3 4; do verified pour 10.7.0.2 5201 800000 60 & pours="$pours $!"; done
sleep 2
ip link set near down; sleep 0.1; say "dropped: $(link_file statistics/tx_dropped)"
sleep 2; ip link set near up
wait $pours; sleep 1
"""


queued = reported(run, "sscop-queued", QUEUED)


def test_streams_send_nothing_into_a_device_that_is_down(queued: Told) -> None:
    """What TCP sends then is lost, and its next timeout would be as long as the outage and more."""
    assert numbers(queued, "dropped") == [0]
    assert drunk(queued.out) == [(800_000, 0)] * 4


# --- restarts -----------------------------------------------------------------------------------

#: Datagrams every 10 ms; each restart of an end, and how long none comes.
RESTARTS = """
below; slow 2mbit 10ms
near_up near "segment 256"; far_up far "segment 256"; addresses
ready first
watch() { $far verified tock 5301 $OUT/$1 & tock=$!; sleep 0.1
	verified tick 10.7.0.2 5301 10 ${2-4} & tick=$!; sleep 1; }
watched() { wait $tick; sleep 0.5; kill $tock; wait $tock 2>/dev/null
	counts $1 "resets reset_end reset_restart reset_asked reset_silence began"; }
# Nothing arrives, at either end.
deafened() { tc $2 qdisc add dev $1 clsact; tc $2 filter add dev $1 ingress matchall action drop; }
deaf() { deafened near; deafened far "-n far"; }
heard() { tc qdisc del dev near clsact; tc -n far qdisc del dev far clsact; }
again() { ip -n far addr add 10.7.0.2/24 dev s0; }
sink

watch ended; ip -n far link set s0 down; sleep 0.3; ip -n far link set s0 up
watched ended

watch anew; ip -n far link del s0; far_up far "segment 256"; again
watched anew

watch lost; deaf; ip -n far link del s0; far_up far "segment 256"; again; sleep 0.5; heard
watched lost

watch here; deaf; ip link set s0 down; sleep 0.1; ip link set s0 up; sleep 0.5; heard
watched here

watch both; deaf; ip link set s0 down; ip -n far link set s0 down
ip link set s0 up; ip -n far link set s0 up; sleep 0.5; heard
watched both

verified pour 10.7.0.2 5201 400000 60 >$OUT/poured & pour=$!
watch asked; ethtool -r s0; sleep 1; $far ethtool -r s0
watched asked
wait $pour
ethtool -r s0 && say "idle asked: yes"
ip link set s0 down; ethtool -r s0 2>/dev/null || say "down asked: no"
lines
"""


restarts = reported(run, "sscop-restarts", RESTARTS)


@pytest.mark.parametrize(
    ("event", "away"),
    [("ended", 300), ("anew", 0), ("lost", 500), ("here", 600), ("both", 500), ("asked", 0)],
)
def test_data_flows_again_soon_after_a_restart(restarts: Told, event: str, away: int) -> None:
    """Time away, one wait of a repeated BGN (at most 400 ms here), round trips; then each
    datagram once and in order."""
    assert gap(restarts.out / event) < away + 800
    order = [number for _, number in ticks(restarts.out / event)]
    assert order == sorted(set(order))
    assert order[-1] >= 399, "the last datagrams came"


def test_each_restart_is_counted_by_cause(restarts: Told) -> None:
    def causes(event: str) -> dict[str, int]:
        names = ("reset_end", "reset_restart", "reset_asked", "reset_silence")
        return {name: numbers(restarts, f"{event} {name}")[0] for name in names}

    assert causes("ended")["reset_end"] == 1
    assert causes("anew")["reset_end"] == 2
    assert causes("lost") == causes("anew") | {"reset_restart": 1}, "no END: found by its BGN"
    assert causes("asked")["reset_silence"] == 0
    assert numbers(restarts, "here reset_restart") == [1, 1]
    assert numbers(restarts, "asked reset_asked") == [2, 2]


def test_each_reset_has_its_line(restarts: Told) -> None:
    said = (restarts.out / "lines").read_text().splitlines()
    assert len([line for line in said if "ended by the peer" in line]) >= 2
    assert len([line for line in said if "begun anew by the peer" in line]) == 2
    assert len([line for line in said if "on request" in line]) >= 4
    assert restarts["idle asked"] == "yes"
    assert restarts["down asked"] == "no"
    assert drunk(restarts.out) == [(400_000, 0)], "the stream beside them is whole"
