# SPDX-License-Identifier: GPL-2.0
"""SHAKE's schedulers, shake_sched.h: shares against floating point, and on calculated links."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.shake_link import SECOND, Link

KBIT = 125
ROUND_ROBIN, RATIO, RAH = range(3)
u32 = st.integers(0, 2**32 - 1) | st.integers(0, 32).map(lambda bits: max(2**bits - 1, 0))


class Scheduler:
    """A scheduler over ``links``, with weights."""

    def __init__(self, apogee: Library, links: list[Link], kind: int, theta: int = 100) -> None:
        self.apogee = apogee
        self.links = links
        self.queue = 0
        self.state = apogee.new("shake_sched")
        apogee.shake_sched_init(self.state)
        self.config = apogee.new("shake_sched_config", scheduler=kind, theta=theta)
        self.choices = (apogee.headers.structs["shake_choice"] * len(links))()
        for choice, link in zip(self.choices, links, strict=True):
            choice.est.contents = link.est
            choice.weight = 100

    def pick(self, size: int = 1500) -> int:
        now, count = self.links[0].now, len(self.links)
        return self.apogee.shake_sched_pick(
            self.state, self.config, self.choices, count, size, self.queue, now
        )

    def is_full(self, queue: int = 200_000, size: int = 1500) -> bool:
        now, count = self.links[0].now, len(self.links)
        return bool(
            self.apogee.shake_sched_is_full(
                self.state, self.config, self.choices, count, size, queue, now
            )
        )

    def shares(self, count: int) -> list[float]:
        picked = Counter(self.pick() for _ in range(count))
        return [picked[index] / count for index in range(len(self.links))]


def links(apogee: Library, *srtts: int) -> list[Link]:
    made = [Link(apogee, 384 * KBIT, 0) for _ in srtts]
    for link, srtt in zip(made, srtts, strict=True):
        link.est.srtt = srtt
    return made


@given(st.integers(1, 2**32 - 1))
def test_logarithm(apogee: Library, x: int) -> None:
    assert apogee.shake_sched_log2(x) / 65536 == pytest.approx(math.log2(x), abs=4 / 65536)
    assert apogee.shake_sched_log2(0) == 0


@given(st.integers(0, 20 << 16))
def test_power(apogee: Library, x: int) -> None:
    wanted = 2.0 ** (20 - x / 65536)
    assert apogee.shake_sched_exp2(x) == pytest.approx(wanted, abs=1.01, rel=1e-6)
    assert apogee.shake_sched_exp2(2**40) == 1


def test_round_robin(apogee: Library) -> None:
    """In turn, and by weight with packets spread."""
    scheduler = Scheduler(apogee, links(apogee, 1, 1, 1), ROUND_ROBIN)
    assert [scheduler.pick() for _ in range(6)] == [0, 1, 2] * 2
    for choice, weight in zip(scheduler.choices, (100, 50, 50), strict=True):
        choice.weight = weight
    assert scheduler.shares(4000) == pytest.approx([0.5, 0.25, 0.25], abs=0.005)


@pytest.mark.parametrize("theta", [0, 50, 100, 137, 200, 400])
@pytest.mark.parametrize("srtts", [(50_000, 50_000), (20_000, 300_000), (10_000, 50_000, 80_000)])
def test_delay_ratio(apogee: Library, theta: int, srtts: tuple[int, ...]) -> None:
    """share ~ srtt^-theta."""
    scheduler = Scheduler(apogee, links(apogee, *srtts), RATIO, theta)
    powers = [srtt ** (-theta / 100) for srtt in srtts]
    wanted = [power / sum(powers) for power in powers]
    assert scheduler.shares(20_000) == pytest.approx(wanted, abs=0.002)


def test_delay_ratio_follows_weights_and_delays(apogee: Library) -> None:
    paths = links(apogee, 100_000, 100_000)
    scheduler = Scheduler(apogee, paths, RATIO)
    scheduler.choices[1].weight = 300
    assert scheduler.shares(4000) == pytest.approx([0.25, 0.75], abs=0.01)
    paths[0].est.srtt = 300_000
    assert scheduler.shares(4000) == pytest.approx([0.1, 0.9], abs=0.02)


def known(apogee: Library, rate: float, delay: int) -> Link:
    link = Link(apogee, rate, delay)
    link.send(60)
    link.wait(delay + SECOND)
    link.fill(20, 8 + int(delay * rate / SECOND / 1500))
    link.wait(20 * SECOND)
    return link


def together(paths: list[Link]) -> None:
    """The clocks of links that were idle."""
    latest = max(link.now for link in paths)
    for link in paths:
        link.wait(latest - link.now)


@pytest.mark.parametrize(
    "paths",
    [
        [(384, 300_000), (384, 20_000)],
        [(384, 300_000), (384, 580_000)],
        [(1000, 40_000), (384, 300_000), (128, 100_000)],
        [(1000, 40_000), (384, 300_000), (128, 100_000), (256, 580_000)],
    ],
)
def test_rah_keeps_the_order_and_fills_all_paths(
    apogee: Library, paths: list[tuple[int, int]]
) -> None:
    """A burst arrives in order but for two packets' time of the slowest path."""
    made = [known(apogee, rate * KBIT, delay) for rate, delay in paths]
    together(made)
    scheduler = Scheduler(apogee, made, RAH)
    start = made[0].now
    arrivals = []
    for _ in range(300):
        link = made[scheduler.pick()]
        link.send()
        arrivals.append(link.free - start + link.delay / 2)
    slowest = 1500 / min(rate for rate, _ in paths) / KBIT * SECOND
    latest = 0.0
    for arrival in arrivals:
        assert arrival > latest - 2 * slowest
        latest = max(latest, arrival)
    ends = [link.free - start + link.delay / 2 for link in made]
    assert max(ends) - min(ends) < 2 * slowest + 0.02 * max(ends)


def test_rah_tries_what_it_does_not_know(apogee: Library) -> None:
    """With two packets; then it waits for an ACK, unless there is nothing else."""
    paths = [known(apogee, 384 * KBIT, 20_000), Link(apogee, 384 * KBIT, 20_000)]
    together(paths)
    scheduler = Scheduler(apogee, paths, RAH)
    picked = []
    for _ in range(5):
        picked.append(scheduler.pick())
        paths[picked[-1]].send()
    assert picked == [1, 1, 0, 0, 0]
    unknown = [Link(apogee, 384 * KBIT, 20_000) for _ in range(2)]
    scheduler = Scheduler(apogee, unknown, RAH)
    picked = []
    for _ in range(20):
        picked.append(scheduler.pick())
        unknown[picked[-1]].send()
    assert Counter(picked) == {0: 10, 1: 10}


def test_rah_comes_back_to_a_path_that_was_bad(apogee: Library) -> None:
    """Others' packets delayed it by 2 s; an end probes what it does not use once a second."""
    paths = [known(apogee, 384 * KBIT, 300_000), known(apogee, 384 * KBIT, 20_000)]
    together(paths)
    paths[1].delay = 2 * SECOND
    for _ in range(100):
        paths[1].send(1500)
        paths[1].wait(50_000)
    paths[1].delay = 20_000
    together(paths)
    scheduler = Scheduler(apogee, paths, RAH)
    assert scheduler.pick() == 0
    for _ in range(20):
        paths[1].send(60)
        for link in paths:
            link.wait(SECOND)
        if scheduler.pick() == 1:
            break
    else:
        pytest.fail("the path is never tried again")


def test_rah_by_weight(apogee: Library) -> None:
    """A path of weight 10 counts as ten times as far."""
    paths = [known(apogee, 384 * KBIT, delay) for delay in (300_000, 100_000)]
    together(paths)
    scheduler = Scheduler(apogee, paths, RAH)
    assert scheduler.pick() == 1
    scheduler.choices[1].weight = 10
    assert scheduler.pick() == 0


def fill(scheduler: Scheduler) -> list[int]:
    """Send until it is full; returns the bytes under way by path."""
    for _ in range(1000):
        if scheduler.is_full():
            break
        scheduler.links[scheduler.pick()].send()
    else:
        pytest.fail("it never becomes full")
    return [link.est.sent - link.est.gone for link in scheduler.links]


def test_full(apogee: Library) -> None:
    """Packets wait for `queue` beyond the farthest path, or two of them; ACKs make room."""
    paths = [known(apogee, 384 * KBIT, delay) for delay in (20_000, 300_000)]
    together(paths)
    scheduler = Scheduler(apogee, paths, RAH)
    near, far = fill(scheduler)
    assert near == pytest.approx(384 * KBIT * (0.15 - 0.01 + 0.2), abs=1500)
    assert far == pytest.approx(384 * KBIT * 0.2, abs=1500)
    assert not scheduler.is_full(queue=300_000)
    assert not scheduler.is_full(queue=0)
    for link in paths:
        link.wait(100_000)
    assert not scheduler.is_full()


def test_full_needs_packets_under_way(apogee: Library) -> None:
    """Else no ACK would ever let them go on; and nobody knows a path that was never measured."""
    slow = [known(apogee, 2 * KBIT, 20_000)]
    slow[0].wait(100 * SECOND)
    scheduler = Scheduler(apogee, slow, RAH)
    assert fill(scheduler) == [3000]
    fresh = Link(apogee, 384 * KBIT, 20_000)
    fresh.wait(slow[0].now - fresh.now)
    assert not Scheduler(apogee, [*slow, fresh], RAH).is_full()
    assert not Scheduler(apogee, slow, RATIO).is_full()
    slow[0].apogee.shake_path_forget(slow[0].est, slow[0].now)
    assert not scheduler.is_full()


def near_and_far(apogee: Library, far: int) -> Scheduler:
    """10 Mbit/s and 20 ms, and ``far`` kbit/s and 400 ms; each may have 20 ms in front."""
    paths = [known(apogee, 10_000 * KBIT, 20_000), known(apogee, far * KBIT, 400_000)]
    together(paths)
    scheduler = Scheduler(apogee, paths, RAH)
    scheduler.queue = 20_000
    return scheduler


def spills(scheduler: Scheduler, ms: int, window: float) -> int:
    """``window`` packets are under way at most; returns how many went the far way in that time."""
    far = 0
    near, other = scheduler.links
    for _ in range(ms):
        if scheduler.state.full:  # what waits is looked at again
            scheduler.is_full(20_000)
        while len(near.back + other.back) < window and not scheduler.is_full(20_000):
            picked = scheduler.pick()
            scheduler.links[picked].send()
            far += picked
        for link in scheduler.links:
            link.wait(1000)
    return far


def test_a_far_way_waits_until_the_near_one_is_full_for_long(apogee: Library) -> None:
    """For as long as it is longer, some 190 ms: a sender may have no more than the near one takes.
    A flow of which a part of the time is too much for it never takes the far one."""
    scheduler = near_and_far(apogee, 500)
    assert spills(scheduler, 150, 1000) == 0
    assert spills(scheduler, 100, 1000) > 0
    scheduler = near_and_far(apogee, 500)
    for _ in range(20):
        assert spills(scheduler, 50, 1000) == 0  # full but for the first 20 ms
        assert spills(scheduler, 60, 10) == 0


def test_a_far_way_does_not_wait(apogee: Library) -> None:
    """If it carries more, TCP has begun, a window of what the near one carries meanwhile waits, or
    nobody knows what the near one carries."""
    assert spills(near_and_far(apogee, 20_000), 50, 1000) > 0
    for name, value in (("opens", True), ("waits", 600_000)):
        scheduler = near_and_far(apogee, 500)
        setattr(scheduler.state, name, value)
        assert spills(scheduler, 50, 1000) > 0
    scheduler = near_and_far(apogee, 500)
    scheduler.links[0].est.intervals = 0
    assert spills(scheduler, 50, 1000) > 0


def room(link: Link) -> int:
    """Packets that the path takes now, all of which arrive."""
    for sent in range(1000):
        if not link.apogee.shake_sched_has_room(link.est, 80_000, link.now):
            return sent
        link.send()
    return 1000


def test_a_path_without_a_queue_is_begun_as_tcp_begins(apogee: Library) -> None:
    """10 packets at once, then twice of what came in a round trip, in pace."""
    link = Link(apogee, 10_000_000, 700_000)
    link.send()
    link.wait(SECOND)
    assert room(link) == 10
    link.wait(800_000)
    assert room(link) == 10
    more = 0
    for _ in range(60):
        link.wait(10_000)
        more += room(link)
    assert 8 <= more <= 12
    assert link.est.intervals == 0


def test_a_short_ways_window_grows(apogee: Library) -> None:
    """Of 1 Gbit/s and 2 ms: what 16 packets do not fill is told of 10 ms after what was before."""
    link = Link(apogee, 125_000_000, 2000)
    link.send()
    link.wait(SECOND)
    told, waiting, sent = link.now, 0, 0
    for _ in range(300):
        sent += room(link)
        link.now += 1000
        while link.back and link.back[0][0] <= link.now:
            arrived, ack = link.back.popleft()
            waiting += 1
            rests = not link.back or link.back[0][0] > link.now
            if waiting < 16 and not (rests and link.now - told >= 10_000):
                if rests:
                    link.back.appendleft((arrived, ack))
                    waiting -= 1
                    break
                continue
            ack.hold_us = link.now - round(arrived)
            assert link.accept(ack)
            told, waiting = link.now, 0
    assert sent > 3000


def test_lost_bursts_are_paced(apogee: Library) -> None:
    """Once packets of a burst were lost that would have waited, others come in pace: twice of what
    came in a round trip, ahead by what came through, 4 ms at least."""
    link = Link(apogee, 10_000_000, 200_000)
    link.send()
    link.wait(SECOND)
    for _ in range(3):
        at_once = room(link)
        link.wait(250_000)
    link.now += 1
    for number in range(at_once):
        link.send(lost=number > at_once // 2)
    link.wait(250_000)
    link.send()
    link.wait(250_000)
    assert (link.est.intervals, link.est.room > 0) == (0, True)
    pace = apogee.shake_path_guess(link.est) / 1500
    ahead = max(link.est.room, 4000) / SECOND * pace
    assert ahead < at_once / 2
    assert room(link) == pytest.approx(ahead, abs=2)
    link.wait(20_000)
    assert room(link) == pytest.approx(pace * 0.02, abs=2)


def test_a_slow_link_is_looked_at_when_it_has_carried_something(apogee: Library) -> None:
    """8 packets of 1500 octets; soon if it is fast, or may be."""
    for rate, look in ((48_000, 250_000), (10_000_000, 4000)):
        link = known(apogee, rate, 200_000)
        assert apogee.shake_sched_look(link.est) == pytest.approx(look, rel=0.02)
    link.est.intervals = 0
    assert apogee.shake_sched_look(link.est) == 4000


def test_the_room_is_what_comes_through(apogee: Library) -> None:
    """A queue of 13 packets, 59 ms, drops the rest of a burst: once is enough to know it."""
    link = known(apogee, 330_000, 700_000)
    link.wait(2 * SECOND)
    kept = link.free
    for number in range(24):
        kept = link.free if number <= 13 else kept
        link.free = kept
        link.send(lost=number >= 13)
    link.free = kept
    link.wait(SECOND)
    link.send()
    link.wait(SECOND)
    assert 40_000 <= link.est.room <= 13 * 1500 * SECOND / 330_000


def test_a_short_queue_of_a_long_way_is_found(apogee: Library) -> None:
    """40 Mbit/s, 177 ms and 20 packets, 6 ms, less than 1/16 of the round trip: what is lost there
    is no property of the link, whose rate becomes known."""
    link = Link(apogee, 5_000_000, 177_000)
    link.send()
    link.wait(SECOND)
    shares = []
    for _ in range(10):
        before = apogee.shake_path_lost(link.est), link.est.gone_packets
        for _ in range(1000):
            while apogee.shake_sched_has_room(link.est, 80_000, link.now):
                free = link.free
                full = free - link.now > 20 * 1500 / 5
                link.send(lost=full)
                link.free = free if full else link.free
            link.wait(1000)
        lost, sent = apogee.shake_path_lost(link.est), link.est.gone_packets
        shares.append((lost - before[0]) / (sent - before[1]))
    assert apogee.shake_path_known_rate(link.est) == pytest.approx(5_000_000, rel=0.1)
    assert max(shares[5:]) < 0.03
    assert link.est.received > 4_000_000 * 5


def test_a_way_that_becomes_longer_than_its_queue_has_room(apogee: Library) -> None:
    """By 40 ms, where packets may wait for 2 ms: that is no queue of ours for ever."""
    link = known(apogee, 5_000_000, 177_000)
    link.est.room = 2000
    link.delay += 40_000
    for _ in range(300):
        while apogee.shake_sched_has_room(link.est, 80_000, link.now):
            link.send()
        link.wait(10_000)
    assert len(link.back) > 100


def test_all_who_ask_agree_on_room(apogee: Library) -> None:
    """A narrow path makes TCP's packets shorter than the device's: they leave only while that has
    room for its own."""
    scheduler = near_and_far(apogee, 500)
    near, far = scheduler.links
    near.est.room = far.est.room = 2000
    far.est.bias = 50_000
    scheduler.state.opens = True
    sent = 0
    while sent < 100 and not scheduler.is_full(20_000, 1500):
        scheduler.links[scheduler.pick(1400)].send(1400)
        sent += 1
    assert 2 < sent < 50


@given(
    st.lists(st.tuples(u32, u32), min_size=1, max_size=10),
    st.integers(0, 255),
    u32,
    st.lists(u32, max_size=20),
)
def test_any_state(
    apogee: Library, made: list[tuple[int, int]], kind: int, theta: int, sizes: list[int]
) -> None:
    """Whatever the numbers are, a path is named."""
    paths = links(apogee, *(srtt for srtt, _ in made))
    scheduler = Scheduler(apogee, paths, kind, theta)
    for choice, (_, weight) in zip(scheduler.choices, made, strict=True):
        choice.weight = weight
    for size in sizes:
        picked: Any = scheduler.pick(size)
        assert picked < min(len(paths), 8)
        assert not scheduler.is_full(size, size)  # nothing is under way
