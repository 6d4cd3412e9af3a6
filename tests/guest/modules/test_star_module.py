# SPDX-License-Identifier: GPL-2.0
"""tcp_star as a module: loading by its name, unloading, changing a live socket.

What other ways of choosing do is in test_watching.py.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.guest.modules.socket_life import (
    RATE,
    assert_full,
    assert_held_while_live,
    life_of,
    samples,
    spans,
)

pytestmark = pytest.mark.guest

LIFE = """
peer send $far 5201 2 0:star 0.5:100000 >$OUT/limited
sysctl -qw net.ipv4.tcp_congestion_control=star
ip netns add heir
sysctl -qw net.ipv4.tcp_congestion_control=cubic
unload inherited tcp_star
ip netns del heir
for n in 1 2 3 4 5 6 7 8 9; do [ $(cat /sys/module/tcp_star/refcnt) -eq 0 ] || sleep 0.2; done
say "without heir: users $(cat /sys/module/tcp_star/refcnt)"
peer send $far 5201 8 2:star 4:cubic 6:star >$OUT/cubic &
sleep 3
unload live tcp_star
wait $!
sysctl -qw net.ipv4.tcp_congestion_control=reno
peer send $far 5201 6 2:star 4:reno >$OUT/reno
unload end tcp_star
"""


life = life_of("tcp_star", LIFE)


def test_no_unloading_under_a_live_connection(life: Path, report: list[str]) -> None:
    assert_held_while_live(life, "tcp_star", report[3:])


def test_a_namespace_that_has_inherited_it_holds_it(report: list[str]) -> None:
    """As its default, that of the first namespace when it was made, until it goes."""
    assert report[:3] == [
        "inherited: rmmod 1",
        "inherited: tcp_star loaded",
        "without heir: users 0",
    ]


def test_the_socket_limits_the_pacing(life: Path) -> None:
    """SO_MAX_PACING_RATE, of less than the path carries, from half a second on."""
    found = samples(life / "limited")
    begin = found[0].t
    assert max(each.pacing for each in found if each.t < begin + 0.45) > 200_000
    assert {each.pacing for each in found if each.t > begin + 0.6} == {100_000}


@pytest.mark.parametrize("name", ["cubic", "reno"])
def test_switching_a_live_socket(life: Path, name: str) -> None:
    """Data keeps flowing at the link's rate, the window neither collapses nor jumps.

    The queue is never empty, so the window may not change by more than a tenth in 100 ms.
    """
    found = spans(life / name)
    wanted = {"cubic": ["cubic", "star", "cubic", "star"], "reno": ["reno", "star", "reno"]}
    assert [span[0].cc for span in found] == wanted[name]
    assert_full(found)
    for before, after in pairwise(found):
        assert after[2].cwnd == pytest.approx(before[-1].cwnd, rel=0.1)
    for span in (span for span in found if span[0].cc == "star"):
        assert span[-1].cwnd - span[0].cwnd < 25, "2 s with a standing queue: a segment per RTT"
        # cwnd / RTT_min: above the link's rate by what stands in the queue, but a rate at all.
        assert RATE <= span[-1].pacing < 1000 * RATE, "paced by its own window again"
