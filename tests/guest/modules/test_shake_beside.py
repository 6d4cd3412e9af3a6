# SPDX-License-Identifier: GPL-2.0
"""What an agent holds back of one connection, beside another one, in a real guest."""

from __future__ import annotations

import re

import pytest

from tests.guest.modules.scripted import Told, reported
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: A download alone, and beside a connection that never sends anything: its first slow start never
#: ends. What the sender's kernel remembers of a connection that has ended.
BESIDE = """
lines; agent_up; leader_up; paths; ready first; for n in 1 2; do slow $n 8mbit 20ms; done
verified drinkers 5202 $OUT/down & sleep 0.1
download() { $cn ip tcp_metrics flush all; $cn verified pour 10.7.0.1 5202 24000000 60 >$OUT/$1
	n=0; until $cn ip tcp_metrics show 10.7.0.1 | grep rtt >$OUT/metrics || [ $n -ge 200 ]; do
		sleep 0.1; n=$((n + 1)); done; say "$1: $(cat $OUT/metrics)"; }
download alone
$cn sh -c 'sleep 100 | nc 10.7.0.1 5202' & sleep 1
download beside
"""

beside = reported(run, "shake-beside", BESIDE)


def rtt_us(told: Told, name: str) -> int:
    found = re.search(r"\brtt (\d+)us", told[name])
    assert found, told[name]
    return int(found[1])


def test_a_silent_connection_makes_no_queue_of_others_longer(beside: Told) -> None:
    """40 ms and a queue, in front of the links and in front of the paths, that CoDel bounds."""
    assert rtt_us(beside, "alone") < 200_000
    assert rtt_us(beside, "beside") < 200_000
