# SPDX-License-Identifier: GPL-2.0
"""tcp_star as a module: loading, choosing, unloading, changing a live socket."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.guest.modules.socket_life import RATE, assert_full, life_of, samples, spans

pytestmark = pytest.mark.guest

LIFE = """
loaded before tcp_star
ip netns exec far flow recv 5300 $OUT/socket.recv.json &
sleep 0.1
flow send $far 5300 --cc star --duration 0.5 $OUT/socket.json && say socket: sent
loaded socket tcp_star
unload socket tcp_star

sysctl -qw net.ipv4.tcp_congestion_control=star
loaded sysctl tcp_star
peer send $far 5201 1 >$OUT/sysctl
unload default tcp_star
sysctl -qw net.ipv4.tcp_congestion_control=cubic
unload sysctl tcp_star

ip route add $far/32 dev near congctl star
peer send $far 5201 1 >$OUT/route
ip route del $far/32
peer send $far 5201 0.5 >$OUT/other
unload route tcp_star

peer send $far 5201 3 0.2:star >$OUT/live &
sleep 1
unload live tcp_star
wait $!
unload closed tcp_star

peer send $far 5201 2 0:star 0.5:100000 >$OUT/limited
peer send $far 5201 8 2:star 4:cubic 6:star >$OUT/cubic
sysctl -qw net.ipv4.tcp_congestion_control=reno
peer send $far 5201 6 2:star 4:reno >$OUT/reno
unload end tcp_star
"""


life = life_of("tcp_star", LIFE)


def test_asking_by_name_loads_the_module(report: list[str]) -> None:
    """setsockopt(TCP_CONGESTION), sysctl and route each find it with nothing loaded."""
    assert report[0] == "before: tcp_star absent"
    assert "socket: sent" in report
    assert "socket: tcp_star loaded" in report
    assert "sysctl: tcp_star loaded" in report


def test_default_of_the_first_namespace(life: Path, report: list[str]) -> None:
    assert {sample.cc for sample in samples(life / "sysctl")} == {"star"}
    at = report.index("default: rmmod 1")
    assert report[at + 1] == "default: tcp_star loaded", "a default is in use"
    assert "sysctl: rmmod 0" in report


def test_route_chooses(life: Path, report: list[str]) -> None:
    assert {sample.cc for sample in samples(life / "route")} == {"star"}
    assert {sample.cc for sample in samples(life / "other")} == {"cubic"}
    assert "route: rmmod 0" in report, "a closed connection leaves no reference"


def test_no_unloading_under_a_live_connection(life: Path, report: list[str]) -> None:
    at = report.index("live: rmmod 1")
    assert report[at + 1] == "live: tcp_star loaded"
    assert "temporarily unavailable" in (life / "refused").read_text(), "the kernel says EAGAIN"
    assert report[-6:-4] == ["live: rmmod 1", "live: tcp_star loaded"]
    assert report[-4:-2] == ["closed: rmmod 0", "closed: tcp_star absent"]
    assert report[-2:] == ["end: rmmod 0", "end: tcp_star absent"]
    live = samples(life / "live")
    assert live[-1].cc == "star"
    assert live[-1].acked > live[len(live) // 2].acked, "the refused rmmod did not disturb it"


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
