# SPDX-License-Identifier: GPL-2.0
"""SHAKE's paths in real guests: they die, live again, change; either end restarts; NATs rebind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, drunk, gap, numbers, reported, ticks
from tests.guest.modules.shake_pair import BOTH, missed, run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

EVERY_MS, BEFORE_S = 10, 2  # between datagrams; before anything happens
#: Of the counters of OUTAGES.
TIMES = ("before", "short", "long")
#: A second, three round trips, and what a timer of 100 ms adds.
NOTICED_MS = 1000 + 60 + 100
#: TCP's first timeout: 200 ms, and the round trip with what is queued.
FIRST_TIMEOUT_MS = 400


def away_ms(path: Path) -> int:
    """From what happened until the last datagram that did not come."""
    return missed(path)[1] * EVERY_MS - BEFORE_S * 1000


# --- death and life -------------------------------------------------------------------------------

#: Each path loses everything for 4 s, under datagrams and streams both ways.
DEATHS = """
lines; agent_up; leader_up; paths; ready first
$cn verified drinkers 5201 $OUT/poured-up & verified drinkers 5201 $OUT/poured-down & sleep 0.1
died() { lose $2; sleep 3; say "$1 dead: $(state $2) $(state $((3 - $2)))"
	sleep 1; mend $2; sleep 1.5; say "$1 mended: $(state $2) $(far_state $2)"; }
for scheduler in rah rr; do
	for ns in "" "-n ha"; do ip $ns link set shake0 type shake scheduler $scheduler; done
	[ $scheduler = rah ] && order="1 2" || order="2 1"
	for way in up down; do
		n=${order% *}; order=${order#* }
		$way $scheduler-$way-$n 9; died $scheduler-$way-$n $n; watched
	done
done
for ns in "" "-n ha"; do ip $ns link set shake0 type shake scheduler rah; done
pours() { for n in 1 2; do
		$2 verified pour $1 5201 3000000 60 >$OUT/sent & pour=$!
		sleep 2; lose $n; sleep 4; mend $n; wait $pour; sleep 2
	done; }
pours 10.3.0.2; pours 10.7.0.1 "$cn"
counts all "path_died path_revived"
"""

WAYS = ["rah-up-1", "rah-down-2", "rr-up-2", "rr-down-1"]


deaths = reported(run, "shake-deaths", DEATHS)


@pytest.mark.parametrize("way", WAYS)
def test_a_dead_path_is_left_within_a_second_or_three_round_trips(deaths: Told, way: str) -> None:
    """Datagrams are lost until then, and none later; never all of them. It is taken up again when
    it lives."""
    assert away_ms(deaths.out / way) < NOTICED_MS
    assert gap(deaths.out / way) < NOTICED_MS
    assert deaths[f"{way} dead"] == "dead alive"
    assert deaths[f"{way} mended"] == "alive alive"


def test_streams_outlive_a_path(deaths: Told) -> None:
    """The longest gap of a TCP stream: usually the other path repeats the data before the dead one
    is noticed. If the dead one takes the retransmissions, too: the timeout doubles each time, so
    that after one at T, sent before the path is noticed, the next comes at 2 T and the first
    timeout.
    """
    for name in ("poured-up", "poured-down"):
        assert drunk(deaths.out, name) == [(3_000_000, 0)] * 2
        for line in (deaths.out / name).read_text().splitlines():
            assert int(line.split()[-1]) < 2 * NOTICED_MS + FIRST_TIMEOUT_MS, line


#: Path 2 loses everything, twice: for longer than it takes to leave it, and for long.
OUTAGES = (
    BOTH
    + """
verified pour 10.3.0.2 5201 9000000 60 >$OUT/sent & pour=$!
sleep 2; counts before "repair_sent dropped_replay"
lose 2; sleep 1.3; say "short state: $(state 2)"; mend 2; sleep 1.5
counts short "repair_sent dropped_replay"
lose 2; sleep 4; mend 2; sleep 1.5
counts long "repair_sent dropped_replay"
wait $pour; sleep 1; counts all "path_died path_revived"
"""
)

outages = reported(run, "shake-outages", OUTAGES)


def test_what_a_path_lost_is_sent_again_when_it_comes_back_soon(outages: Told) -> None:
    """Nothing of it twice; after four seconds nothing: TCP has sent all of it."""
    assert outages["short state"] == "dead"
    before, short, long = (numbers(outages, f"{at} repair_sent")[0] for at in TIMES)
    assert before == 0 < short == long
    assert [numbers(outages, f"{at} dropped_replay")[1] for at in TIMES] == [0, 0, 0]
    assert numbers(outages, "all path_revived")[0] == 2
    assert drunk(outages.out) == [(9_000_000, 0)]


# --- restarts -------------------------------------------------------------------------------------

#: Path 2 is faster, so that it is first when both register anew.
RESTARTS = """
lines; mend 1 4mbit 40ms; mend 2 4mbit 5ms
agent_up scheduler rr; leader_up scheduler rr; paths 1; ready one 1; paths 2; ready two
# Path 2 gets the number that path 1's session had.
up taken 6; lose 1; ip -n ha link del shake0; agent_up scheduler rr; sleep 0.5
mend 1 4mbit 40ms; watched; counts taken "dropped_tag reset_received"
sink; verified pour 10.3.0.2 5201 3000000 60 >$OUT/sent & pour=$!
for n in 1 2 3; do
	up agent-$n 5; ip -n ha link del shake0; agent_up scheduler rr; sleep 2
	say "agent-$n states: $(state 1) $(state 2)"; watched
done
counts agent "reset_received registered dropped_tag"
down agent-down 5; ip -n ha link del shake0; agent_up scheduler rr; watched
up bounced 5; ip -n ha link set shake0 down; ip -n ha link set shake0 up
ip -n ha route replace 10.7.0.1 dev shake0; watched
wait $pour; sleep 1
for n in 1 2; do
	down leader-$n 5; ip link del shake0; leader_up scheduler rr; paths; watched
done
down leader-bounced 5; ip link set shake0 down; ip link set shake0 up
ip route replace 10.3.0.0/24 dev shake0 src 10.7.0.1; watched
"""


restarts = reported(run, "shake-restarts", RESTARTS)


@pytest.mark.parametrize(
    "event",
    [*(f"agent-{n}" for n in (1, 2, 3)), "bounced", "leader-1", "leader-2", "leader-bounced"],
)
def test_sessions_resume_within_a_second(restarts: Told, event: str) -> None:
    """On both paths: the round robin's datagrams come, all of them, from then on."""
    assert away_ms(restarts.out / event) < 1000


def test_a_number_that_another_session_has_got(restarts: Told) -> None:
    """Its packets are not taken for forged ones only: the leader is told."""
    assert numbers(restarts, "taken dropped_tag")[1] > 0
    assert numbers(restarts, "taken reset_received")[0] > 0
    # a hint is believed after 100 ms without a packet of the session
    assert away_ms(restarts.out / "taken") < 500 + 500


def test_an_agent_that_only_sends_is_found_by_its_leader(restarts: Told) -> None:
    """Nothing tells the leader but its own probes, one a second."""
    assert away_ms(restarts.out / "agent-down") < 2000 + NOTICED_MS


def test_the_stream_across_restarts_is_whole(restarts: Told) -> None:
    assert drunk(restarts.out) == [(3_000_000, 0)]
    for n in (1, 2, 3):
        assert restarts[f"agent-{n} states"] == "alive alive"
    assert numbers(restarts, "agent reset_received")[0] >= 3


#: A path changes between the families while much is sent by it; then an agent that only sends.
TURNS = (
    BOTH
    + """
$cn verified drinkers 5202 $OUT/up & verified drinkers 5203 $OUT/down & sleep 0.1; pours=
for n in 1 2; do mend $n 20mbit 2ms; done
for n in 1 2 3; do
	verified pour 10.3.0.2 5202 2000000 60 >$OUT/sent & pours="$pours $!"
	$cn verified pour 10.7.0.1 5203 2000000 60 >$OUT/sent & pours="$pours $!"
done
for n in $(seq 30); do
	paths6 1; sleep 0.0$((n % 10)); paths 1; sleep 0.0$((n % 7))
done
wait $pours; ready turned; say "turned: $(state 1) $(far_state 1)"

path 2 off; down sent 9; ip -n ha link set shake0 down; ip -n ha link set shake0 up
ip -n ha route replace 10.7.0.1 dev shake0
for n in $(seq 40); do [ "$(far_state 1)" = alive ] && break; sleep 0.1; done; sleep 0.5
say "back: $(far_state 1)"; lose 1; sleep 2; say "lost: $(far_state 1)"; watched
"""
)


turns = reported(run, "shake-turns", TURNS)


@pytest.mark.deep
def test_a_path_changes_its_family_under_load(turns: Told) -> None:
    assert turns["turned"] == "alive alive"
    for way in ("up", "down"):
        assert drunk(turns.out, way) == [(2_000_000, 0)] * 3


@pytest.mark.deep
def test_an_agent_that_was_down_notices_a_dead_path(turns: Told) -> None:
    assert turns["back"] == "alive"
    assert turns["lost"] == "dead"


# --- NATs -----------------------------------------------------------------------------------------

NATS = (
    BOTH
    + """
nat 1 7 40001; nat 2 8 40002; sleep 2.5; say "behind: $(state 1) $(state 2)"
verified pour 10.3.0.2 5201 4000000 60 >$OUT/sent & pour=$!
up rebound 8; nat 1 17 41001; nat 2 18 41002; sleep 2
$ha cat /sys/class/net/shake0/shake/paths >$OUT/after
nat 1 17 42001; sleep 1; nat 2 18 42002; watched
wait $pour
down rebound-down 8; nat 1 27 43001; nat 2 28 43002; watched
counts nats "address_changed path_died registered"

# Idle: the keepalive tells the agent where the leader is.
ip link set shake0 type shake keepalive 2s
sleep 20; before=$(count "" probe_sent); sleep 20
say "probes: $(($(count "" probe_sent) - before))"
nat 1 37 44001; nat 2 38 44002; sleep 5
$cn ping -c 3 -i 0.2 -W 1 10.7.0.1 >$OUT/idle && say "idle pinged: yes"
say "held: $(state 1) $(state 2) $(far_state 1) $(far_state 2)"

# Another address of the leader itself.
up moved 6; ip addr del 10.1.1.1/24 dev wan1; ip addr add 10.1.1.9/24 dev wan1
tc -n net1 filter del dev far egress; near_routes 1; sleep 3
say "moved: $(state 1) $(far_state 1)"; watched
"""
)


nats = reported(run, "shake-nats", NATS)


def test_both_paths_nats_rebind_at_once(nats: Told) -> None:
    """The agent follows the first packet: nothing of an upload is lost."""
    assert nats["behind"] == "alive alive"
    assert missed(nats.out / "rebound") == (0, 0)
    after = (nats.out / "after").read_text()
    assert "remote=10.4.1.17 port=41001" in after
    assert "remote=10.4.2.18 port=41002" in after
    assert drunk(nats.out) == [(4_000_000, 0)]
    assert numbers(nats, "nats registered") == [2, 2], "no registration was needed"


def test_a_download_finds_the_leader_again(nats: Told) -> None:
    """What is on its way to the old address is lost, until the leader's next packet."""
    assert away_ms(nats.out / "rebound-down") < NOTICED_MS


def test_keepalives_hold_an_idle_tunnel(nats: Told) -> None:
    """Each of two paths every 2 s, in 20 s, and every second until the device is idle (5 s)."""
    assert 18 <= int(nats["probes"]) <= 30
    assert nats["idle pinged"] == "yes"
    assert nats["held"] == "alive alive alive alive"


def test_an_address_of_the_leader_changes(nats: Told) -> None:
    assert nats["moved"] == "alive alive"
    assert away_ms(nats.out / "moved") < NOTICED_MS
    assert ticks(nats.out / "moved")[-1][1] == 599


# --- changes under traffic ------------------------------------------------------------------------

CHANGES = """
lines 1 2 3 4; agent_up scheduler rr; leader_up scheduler rr
paths 1 2 3 4; ready four 4; path 3 off; path 4 off
$cn verified drinkers 5201 $OUT/many & verified drinkers 5202 $OUT/many-down & sleep 0.1
verified pour 10.3.0.2 5201 20000000 60 >$OUT/sent & pour=$!
files=/sys/class/net/shake0/shake
# How many packets each path sends in a second.
shares() { a=$(sent); sleep 1; b=$(sent); set -- $1 $a -- $b; key=$1; shift
	first=; while [ $1 != -- ]; do first="$first $1"; shift; done; shift
	for n in $first; do first="$first $(($1 - n))"; first=${first# }; first=${first#* }; shift; done
	say "$key shares: $first"; }
up ticks 30
path 3 dev wan3 remote 10.2.3.2; sleep 1; shares ip-added; path 3 weight 50; shares ip-weighed
path 3 dev wan4 remote 10.2.4.2; sleep 0.5; say "elsewhere: $(state 3)"; shares changed
path 3 off; say "ip off: $(cat $files/paths | wc -l)"
echo "+4 dev=wan4 remote=10.2.4.2 weight=200" >$files/paths; sleep 1; shares sysfs-added
echo "+4 weight=25" >$files/paths; shares sysfs-weighed
echo -4 >$files/paths; say "sysfs off: $(cat $files/paths | wc -l)"
for scheduler in rah ratio rr rah; do for ack in drop tdar pass auto; do
	echo $scheduler >$files/scheduler; $ha sh -c "echo $ack >$files/ack"; sleep 0.15
	ip link set shake0 type shake scheduler $scheduler
	ip -n ha link set shake0 type shake ack $ack scheduler $scheduler; sleep 0.15
done; done
for encrypt in on off; do ip link set shake0 type shake encrypt $encrypt; sleep 0.3; done
for theta in 0 400; do ip link set shake0 type shake theta $theta interval 100ms; sleep 0.2; done
watched; wait $pour; sleep 1; counts changes "dropped_tag dropped_type registered path_died"

# Two hundred flows within two seconds, half of them downwards. The leader's queue holds all that
# they send at first: TCP forgets a handshake when a queue drops a SYN-ACK that is sent again, and
# resets the flow if the first SYN-ACK arrives later.
tc qdisc replace dev shake0 root pfifo limit 5000
ip link set shake0 type shake scheduler rah; pours=
for n in $(seq 100); do
	verified pour 10.3.0.2 5201 50000 90 >$OUT/sent & pours="$pours $!"
	$cn verified pour 10.7.0.1 5202 50000 90 >$OUT/sent & pours="$pours $!"; sleep 0.02
done
wait $pours
for n in $(seq 600); do
	[ $(cat $OUT/many $OUT/many-down | wc -l) -gt 200 ] && break; sleep 0.1; done
counts many "flows_evicted flows_refused flows_senseless"; say "many overflowed: $(overflowed)"
"""


changes = reported(run, "shake-changes", CHANGES)


def test_paths_register_beside_each_other(changes: Told) -> None:
    """Four HELLOs at once are answered at once."""
    assert int(changes["four ready"]) <= 25


@pytest.mark.parametrize(
    ("event", "weights"),
    [
        ("ip-added", (100, 100, 100)),
        ("ip-weighed", (100, 100, 50)),
        ("changed", (100, 100, 50)),
        ("sysfs-added", (100, 100, 200)),
        ("sysfs-weighed", (100, 100, 25)),
    ],
)
def test_paths_are_added_changed_and_weighed_under_load(
    changes: Told, event: str, weights: tuple[int, ...]
) -> None:
    """Round robin sends as the weights say; a change is seen in the next second's packets."""
    found = numbers(changes, f"{event} shares")
    assert len(found) == len(weights)
    for packets, weight in zip(found, weights, strict=True):
        wanted = sum(found) * weight / sum(weights)
        assert packets == pytest.approx(wanted, rel=0.1), found


def test_removed_paths_are_gone_and_traffic_goes_on(changes: Told) -> None:
    assert changes["elsewhere"] == "alive"
    assert changes["ip off"] == changes["sysfs off"] == "2"
    assert gap(changes.out / "ticks") < NOTICED_MS
    assert drunk(changes.out, "many")[0] == (20_000_000, 0)
    for name in ("dropped_tag", "dropped_type"):
        assert numbers(changes, f"changes {name}") == [0, 0]


def test_two_hundred_flows(changes: Told) -> None:
    assert int(changes["many overflowed"], 16) == 0
    assert drunk(changes.out, "many")[1:] == drunk(changes.out, "many-down") == [(50_000, 0)] * 100
    assert numbers(changes, "many flows_refused") == [0, 0]
