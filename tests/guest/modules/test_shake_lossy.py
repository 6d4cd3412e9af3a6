# SPDX-License-Identifier: GPL-2.0
"""SHAKE beside a path that loses much, in a real guest: it is left out, and taken up again."""

from __future__ import annotations

import json

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: Path 2 loses 30 %, and is well again, under an upload and under a download. Then the other one
#: goes, and both lose.
LOSSY = """
lines; agent_up; leader_up; paths; ready first
lossy() { slow $1 4mbit 10ms loss $2; }
$cn verified drinkers 5201 $OUT/up & verified drinkers 5202 $OUT/down & sleep 0.1
# Tenths of a second until the leader, or the agent, says so of path 2.
until_state() { n=0; until [ "$($2 2)" = $3 ] || [ $n -ge ${4-300} ]; do sleep 0.1; n=$((n + 1))
	done; say "$1: $n"; }
verified pour 10.3.0.2 5201 90000000 200 >$OUT/sent & pour=$!
sleep 2; say "before: $(state 1) $(state 2)"; lossy 2 30%; until_state left state lossy
$ha true; ip -d -s -j link show shake0 >$OUT/lossy; sleep 3; moved alone
mend 2; until_state back state alive; sleep 3; moved both; kill $pour; wait $pour
counts up "path_left path_readmitted path_died"
$cn verified pour 10.7.0.1 5202 90000000 200 >$OUT/sent & pour=$!
sleep 2; lossy 2 30%; until_state far-left far_state lossy; mend 2
until_state far-back far_state alive; kill $pour; wait $pour
n=0; until [ -s $OUT/down ] || [ $n -ge 600 ]; do sleep 0.1; n=$((n + 1)); done; say "ended: $n"
counts down "path_left path_readmitted"

# Alone, and beside one that is no better.
lossy 2 30%; verified pour 10.3.0.2 5201 90000000 200 >$OUT/sent & pour=$!
until_state again state lossy; path 1 off; sleep 3; before=$(sent)
pinged alone 10.3.0.2 30; kill $pour; wait $pour
say "alone state: $(state 2) $(($(sent) - before))"
path 1 dev wan1 remote 10.2.1.2; lossy 1 30%; ready pair 1; set -- $(sent)
verified pour 10.3.0.2 5201 90000000 20 >$OUT/sent; set -- $* $(sent)
say "pair: $(($3 - $1)) $(($4 - $2)) $(state 1) $(state 2)"
"""

lossy = reported(run, "shake-lossy", LOSSY)


@pytest.mark.parametrize("end", ["", "far-"])
def test_it_is_left_out_and_taken_up_again(lossy: Told, end: str) -> None:
    """By the end that sends. A round of 32 packets, five a second, shows that it is good."""
    assert int(lossy[f"{end}left"]) < 200
    assert 30 <= int(lossy[f"{end}back"]) < 200


def test_it_is_told(lossy: Told) -> None:
    info = json.loads((lossy.out / "lossy").read_text())[0]["linkinfo"]
    assert [path["state"] for path in info["info_data"]["paths"]] == ["alive", "lossy"]
    well, bad = info["info_xstats"]["paths"]
    assert (well["left"], bad["left"]) == (0, 1)
    assert well["loss_ppm"] < 20_000
    assert 30_000 <= bad["loss_ppm"] < 500_000
    assert numbers(lossy, "up path_left")[0] == numbers(lossy, "up path_readmitted")[0] >= 1
    assert numbers(lossy, "down path_left")[1] == numbers(lossy, "down path_readmitted")[1] >= 1


def test_the_other_path_carries_what_it_can(lossy: Told) -> None:
    """Of 4 Mbit/s 500 000 octets a second less what surrounds a packet; then of both."""
    assert min(numbers(lossy, "alone moved")) > 0.8 * 468_000
    assert min(numbers(lossy, "both moved")) > 1.3 * 468_000


def test_alone_it_is_used(lossy: Told) -> None:
    state, sent = lossy["alone state"].split()
    assert state == "alive" and int(sent) > 20
    assert lossy["alone pinged"] == "yes"


def test_beside_one_that_is_no_better_it_is_used(lossy: Told) -> None:
    first, second, *states = lossy["pair"].split()
    assert min(int(first), int(second)) > 5  # of some hundred, as chance has it
    assert "lossy" not in states
    assert all(damaged == 0 for way in ("up", "down") for _, damaged in drunk(lossy.out, way))
