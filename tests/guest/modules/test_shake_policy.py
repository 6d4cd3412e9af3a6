# SPDX-License-Identifier: GPL-2.0
"""What a user wants of SHAKE's paths, in a real guest: backup, metered, rate, loss-limit, at both
ends."""

from __future__ import annotations

import json

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

POLICY = """
lines; agent_up; leader_up; path 1 dev wan1 remote 10.2.1.2
path 2 dev wan2 remote 10.2.2.2 backup on; ready first
$cn verified drinkers 5201 $OUT/up & verified drinkers 5202 $OUT/down & sleep 0.1
near() { sed -n "s/^$1 //p" /sys/class/net/shake0/shake/paths; }
far() { $ha sed -n "s/^peer=1 $1 //p" /sys/class/net/shake0/shake/paths; }
far_sent() { $ha ip -d -s -j link show shake0 | tr -d ' \\n' | sed 's/.*"xstats"//;s/.*"paths"//' |
	grep -o '"sent":[0-9]*' | cut -d: -f2; }
# Packets that the first path, and the second, take in two seconds; by the leader, by the agent.
shares() { set -- $1 $(sent) $(far_sent); sleep 2; set -- $* $(sent) $(far_sent)
	say "$1 leader: $(($6 - $2)) $(($7 - $3))"; say "$1 agent: $(($8 - $4)) $(($9 - $5))"; }
# Octets that came at the correspondent in two seconds, at the leader.
came() { set -- $1 $($cn cat /sys/class/net/e0/statistics/rx_bytes) \\
		$(cat /sys/class/net/shake0/statistics/rx_bytes); sleep 2
	say "$1: $((($($cn cat /sys/class/net/e0/statistics/rx_bytes) - $2) / 2)) \\
		$((($(cat /sys/class/net/shake0/statistics/rx_bytes) - $3) / 2))" ; }
both() { verified pour 10.3.0.2 5201 90000000 ${1-200} >$OUT/sent & up=$!
	$cn verified pour 10.7.0.1 5202 90000000 ${1-200} >$OUT/sent & down=$!; sleep 1; }
stop() { kill $up $down; wait $up $down; }
both; say "told: $(far 2)"; shares backup; lose 1; sleep 4; shares died; mend 1
n=0; until [ $(state 1)$(far_state 1) = alivealive ] || [ $n -ge 100 ]; do sleep 0.1; n=$((n + 1))
done; sleep 1; shares back; stop

path 2 backup off metered on; sleep 1; say "metered: $(far 2)"
probed() { set -- $1 $(cat /sys/class/net/wan2/statistics/tx_packets); sleep 5
	say "$1 probed: $(($(cat /sys/class/net/wan2/statistics/tx_packets) - $2))"; }
verified pour 10.3.0.2 5201 90000000 200 >$OUT/sent & up=$!; sleep 2; probed metered
path 2 metered off backup on; sleep 1; probed backup; kill $up; wait $up

path 2 off; path 1 rate 1mbit; sleep 1; say "rate: $(far 1)"
verified pour 10.3.0.2 5201 90000000 200 >$OUT/sent & up=$!; sleep 2; came upload
kill $up; wait $up
$cn verified pour 10.7.0.1 5202 90000000 200 >$OUT/sent & down=$!; sleep 4; came download
ping -q -c 20 -i 0.1 10.3.0.2 >>$OUT/pings || :	# short ones add nothing to a queue
counts rate "dropped_limit held_back"; kill $down; wait $down

path 2 dev wan2 remote 10.2.2.2 loss-limit 2; path 1 rate 0; slow 2 4mbit 10ms loss 6%
verified pour 10.3.0.2 5201 90000000 200 >$OUT/sent & up=$!
n=0; until [ $(state 2) = lossy ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done
say "left: $n"
kill $up; wait $up; ip -d -j link show shake0 >$OUT/shown
refuse limit sh -c 'echo "+1 loss-limit=101" >/sys/class/net/shake0/shake/paths'
say "line: $(near 2)"
"""

policy = reported(run, "shake-policy", POLICY)


@pytest.mark.parametrize("end", ["leader", "agent"])
def test_a_backup_is_used_while_no_other_lives(policy: Told, end: str) -> None:
    first, second = numbers(policy, f"backup {end}")
    assert first > 100 and second == 0
    first, second = numbers(policy, f"died {end}")
    assert second > 100 and first < second / 10
    first, second = numbers(policy, f"back {end}")
    assert first > 100 and second == 0


def test_the_agent_is_told(policy: Told) -> None:
    assert " backup=on state=alive" in policy["told"]
    assert " metered=on state=alive" in policy["metered"]
    assert " rate=1000 state=alive" in policy["rate"]


def test_a_metered_path_is_seldom_probed(policy: Told) -> None:
    """In 5 s: once in 30 s, and once a second."""
    assert int(policy["metered probed"]) <= 2
    assert int(policy["backup probed"]) >= 3


def test_a_rate_is_an_upper_limit(policy: Told) -> None:
    """Of 125 000 octets a second, 56 around each packet. Both ends hold packets back, but short
    ones are neither held back nor dropped."""
    assert 0.85 * 125_000 < numbers(policy, "upload")[0] < 1.08 * 125_000
    assert 0.5 * 125_000 < numbers(policy, "download")[1] < 1.08 * 125_000
    assert numbers(policy, "rate dropped_limit") == [0, 0]
    assert min(numbers(policy, "rate held_back")) > 0


def test_a_limit_of_loss(policy: Told) -> None:
    """6 % are less than the default lets pass."""
    assert int(policy["left"]) < 300
    info = json.loads((policy.out / "shown").read_text())[0]["linkinfo"]["info_data"]["paths"]
    assert [path.get("loss_limit") for path in info] == [None, 2]
    assert policy["limit refused"]
    assert "loss-limit=2" in policy["line"]
    assert all(damaged == 0 for way in ("up", "down") for _, damaged in drunk(policy.out, way))
