# SPDX-License-Identifier: GPL-2.0
"""Paths of SHAKE that lose much, shake_loss.h: left out and taken up again, on links by hand and
against floating point.
"""

from __future__ import annotations

import random
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.shake_link import SECOND, Link

ALL, KBIT = 1 << 24, 125
RAH = 2
SHARES = ("share", "stays", "empty", "brief")
u64 = st.integers(0, 2**64 - 1) | st.integers(0, 64).map(lambda bits: max(2**bits - 1, 0))


class Path:
    """What a path loses, of packets that are told of one by one, or more at a time."""

    def __init__(self, apogee: Library, seed: int = 1) -> None:
        self.apogee = apogee
        self.state = apogee.new("shake_loss")
        apogee.shake_loss_init(self.state)
        self.rng = random.Random(seed)
        self.sent = self.received = 0
        self.now = SECOND
        self.tell(0, 0)

    def tell(self, packets: int, lost: int, wait: int = 0) -> None:
        """The last one has waited so long in a queue, in us. 10 ms have passed."""
        self.now += SECOND // 100
        self.sent += packets
        self.received += packets - lost
        self.apogee.shake_loss_told(self.state, self.sent, self.received, wait > 0, wait, self.now)

    def lose(self, share: float, packets: int, wait: int = 0) -> None:
        for _ in range(packets):
            self.tell(1, self.rng.random() < share, wait)

    def is_much(self, repaired: bool = False) -> bool:
        return bool(self.apogee.shake_loss_is_much(self.state, repaired))

    def is_little(self) -> bool:
        return bool(self.apogee.shake_loss_is_little(self.state))

    def leave(self, at: int) -> None:
        self.apogee.shake_loss_leave(self.state, at)

    def back(self, at: int) -> None:
        self.apogee.shake_loss_return(self.state, at)


# --- the share ----------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 4, 16])
def test_the_share_is_a_mean_of_some_256_packets(apogee: Library, at_once: int) -> None:
    """By floating point; at first over those that there were, and 64 at least."""
    path = Path(apogee)
    share = 0.0
    for told in range(at_once, 2000, at_once):
        lost = sum(path.rng.random() < 0.15 for _ in range(at_once))
        path.tell(at_once, lost)
        share += (lost - share * at_once) / min(max(told, 64), 256)
        assert path.state.share / ALL == pytest.approx(share, abs=0.001)
    assert path.state.share == path.state.empty == path.state.brief


@pytest.mark.parametrize(("loss", "much"), [(0.0, False), (0.05, False), (0.15, True), (0.3, True)])
@pytest.mark.parametrize("seed", range(5))
def test_ten_per_cent_are_much(apogee: Library, loss: float, much: bool, seed: int) -> None:
    path = Path(apogee, seed)
    path.lose(loss, 3000)
    assert path.is_much() == much


@pytest.mark.parametrize(("loss", "much"), [(0.0, False), (0.1, False), (0.3, True)])
@pytest.mark.parametrize("seed", range(5))
def test_twenty_per_cent_are_much_where_losses_are_repaired(
    apogee: Library, loss: float, much: bool, seed: int
) -> None:
    """.1 is five standard deviations of 256 packets away from .2."""
    path = Path(apogee, seed)
    path.lose(loss, 3000)
    assert path.is_much(repaired=True) == much


@pytest.mark.parametrize("seed", range(5))
def test_a_tcp_that_is_stuck_sends_a_few_packets(apogee: Library, seed: int) -> None:
    path = Path(apogee, seed)
    path.lose(0.3, 64)
    assert path.is_much()


def test_losses_in_a_full_queue_are_no_reason(apogee: Library) -> None:
    """They count where paths are compared."""
    path = Path(apogee)
    for _ in range(1000):
        path.lose(0.3, 1, wait=path.rng.randint(60_000, 100_000))
    assert (path.state.empty, path.state.brief) == (0, 0)
    assert path.state.share / ALL > 0.2
    assert not path.is_much()


@pytest.mark.parametrize(("loss", "much"), [(0.12, False), (0.3, True)])
def test_losses_in_a_short_queue_are_much_from_twenty_per_cent_on(
    apogee: Library, loss: float, much: bool
) -> None:
    """Shorter than half of the longest of late: the queue is not what loses them."""
    path = Path(apogee)
    for _ in range(1000):
        path.lose(loss, 1, wait=path.rng.choice([10_000, 100_000]))
    assert path.is_much() == much
    assert path.state.empty == 0


def test_a_copy_is_a_packet_of_its_own(apogee: Library) -> None:
    """All that is lost is sent again and comes: 20 % of what was sent were lost nevertheless."""
    path = Path(apogee)
    for _ in range(1000):
        path.tell(4, 1)
        path.sent += 1
        path.tell(0, -1)
    assert path.state.share / ALL == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("burst", [20, 100, 1000])
def test_a_burst_is_no_reason(apogee: Library, burst: int) -> None:
    """However long it is; and it is forgotten after some hundred packets."""
    path = Path(apogee)
    path.lose(0, 500)
    path.tell(burst, burst)
    assert 0 < path.state.share / ALL < 0.07
    assert not path.is_much()
    path.lose(0, 1000)
    assert path.state.share / ALL < 0.002


def test_what_died_with_a_path_is_no_evidence(apogee: Library) -> None:
    path = Path(apogee)
    path.lose(0, 500)
    for _ in range(20):
        apogee.shake_loss_skip(path.state)
        path.tell(100, 100)
    assert path.state.share == 0


@pytest.mark.parametrize("at_once", [1, 4, 16])
def test_what_comes_late_is_not_lost(apogee: Library, at_once: int) -> None:
    """Who overtook others met no queue, and they did: all that was missing comes."""
    path = Path(apogee)
    for _ in range(2000):
        path.tell(at_once, at_once // 2 + 1, wait=0)
        path.tell(at_once, -(at_once // 2 + 1), wait=20_000)
    assert path.state.empty >= apogee.SHAKE_LOSS_MUCH
    assert path.state.stays == 0
    assert not path.is_much()


@pytest.mark.parametrize("at_once", [1, 4, 16])
def test_what_is_lost_for_good_is_a_share(apogee: Library, at_once: int) -> None:
    """Beside what comes late, of which between one and eight are under way."""
    path = Path(apogee)
    late = 0
    seen = []
    for _ in range(4000):
        lost = sum(path.rng.random() < 0.15 for _ in range(at_once))
        now_late = min(path.rng.randint(1, 8), late + at_once - lost)
        path.tell(at_once, lost + now_late - late)
        late = now_late
        seen.append(path.state.stays / ALL)
    assert statistics.mean(seen[-2000:]) == pytest.approx(0.15, abs=0.03)


# --- left out, and taken up again -----------------------------------------------------------------


def rounds(apogee: Library, loss: float, seed: int) -> int:
    """Probes until a path that was left out is good."""
    path = Path(apogee, seed)
    path.lose(0.3, 2000)
    path.leave(path.now)
    for probes in range(1, 10_000):
        path.lose(loss, 1)
        if path.is_little():
            return probes
    return 10_000


def test_probes_show_that_it_is_good(apogee: Library) -> None:
    assert rounds(apogee, 0, 1) == 32
    assert max(rounds(apogee, 0.01, seed) for seed in range(10)) < 200


def test_probes_show_that_it_is_still_bad(apogee: Library) -> None:
    """Of five a second: at 30 % in minutes, if ever; at 15 % sooner, which the next test bounds."""
    assert min(rounds(apogee, 0.3, seed) for seed in range(10)) > 1000
    assert statistics.median(rounds(apogee, 0.15, seed) for seed in range(10)) > 64


@pytest.mark.parametrize(("loss", "first"), [(0.15, 32), (0.05, 128)])
def test_who_is_bad_again_soon_is_tried_for_longer(
    apogee: Library, loss: float, first: int
) -> None:
    """A path that loses less is tried for longer: a short round may have none of its losses."""
    path = Path(apogee)
    wanted = []
    for _ in range(5):
        path.lose(loss, 1000)
        path.leave(path.now)
        wanted.append(path.state.round)
        path.lose(0, path.state.round)
        assert path.is_little()
        path.now += 10 * SECOND
        path.back(path.now)
        assert (path.state.share, path.state.empty, path.state.brief) == (0, 0, 0)
        path.now += 30 * SECOND
    assert wanted == [first, *(min(first << n, 256) for n in range(1, 5))]
    path.now += 60 * SECOND
    path.lose(loss, 1000)
    path.leave(path.now)
    assert path.state.round == first


def test_who_comes_back_for_want_of_others_is_known_to_be_bad(apogee: Library) -> None:
    path = Path(apogee)
    path.lose(0.3, 2000)
    path.leave(path.now)
    path.back(path.now + SECOND)
    assert path.is_much()


@given(st.lists(st.tuples(u64, u64, st.booleans(), st.sampled_from("tslb")), max_size=40))
def test_any_numbers(apogee: Library, told: list[tuple[int, int, bool, str]]) -> None:
    """No undefined behaviour, and shares between none and all."""
    path = Path(apogee)
    for sent, received, queued, what in told:
        if what == "t":
            apogee.shake_loss_told(path.state, sent, received, queued, sent % 2**32, sent ^ 7)
        elif what == "s":
            apogee.shake_loss_skip(path.state)
        elif what == "l":
            path.leave(sent)
        else:
            path.back(sent)
        assert max(getattr(path.state, name) for name in SHARES) <= ALL
        assert 32 <= path.state.round <= 256


# --- beside others --------------------------------------------------------------------------------


def loaded(apogee: Library, rate: int, loss: float, seed: int = 1) -> Link:
    """A link that has carried 2000 packets and lost some, without a queue."""
    link = Link(apogee, rate * KBIT, 20_000)
    rng = random.Random(seed)
    for _ in range(2000):
        link.send(lost=rng.random() < loss)
        link.wait(2.2 * 1500 / rate / KBIT * SECOND)
    link.wait(SECOND)
    return link


def choices(apogee: Library, links: list[Link]) -> Any:
    made = (apogee.headers.structs["shake_choice"] * len(links))()
    for choice, link in zip(made, links, strict=True):
        choice.est.contents = link.est
        choice.weight = 100
    return made


@pytest.mark.parametrize(
    ("links", "left"),
    [
        ([(2000, 0.3), (2000, 0.0)], [True, False]),
        ([(2000, 0.12), (2000, 0.01)], [True, False]),
        ([(2000, 0.3)], [False]),
        ([(2000, 0.2), (2000, 0.2)], [False, False]),
        ([(2000, 0.3), (2000, 0.25)], [False, False]),
        ([(20_000, 0.15), (500, 0.0)], [False, False]),
        ([(4000, 0.3), (1000, 0.0), (1000, 0.0)], [True, False, False]),
    ],
)
def test_only_beside_better_ones(
    apogee: Library, links: list[tuple[int, float]], left: list[bool]
) -> None:
    """Nothing beside equals, alone, or if the others carry a trickle."""
    made = [loaded(apogee, rate, loss, seed) for seed, (rate, loss) in enumerate(links)]
    given_choices = choices(apogee, made)
    found = [
        bool(apogee.shake_loss_is_much(link.est.loss, False))
        and bool(apogee.shake_sched_may_leave(given_choices, len(made), index))
        for index, link in enumerate(made)
    ]
    assert found == left


@pytest.mark.parametrize(("carried", "left", "stays"), [(9, 0, 0), (6, 0, 1), (3, 1, 1)])
def test_what_others_carry_decides_with_hysteresis(
    apogee: Library, carried: int, left: int, stays: int
) -> None:
    """A quarter, or an eighth once it is left out, or it would come and go with each estimate."""
    bad, other = loaded(apogee, 2000, 0.3), loaded(apogee, 2000, 0.0)
    bad.est.rate = carried * apogee.shake_path_guess(other.est)
    assert apogee.shake_sched_may_leave(choices(apogee, [bad, other]), 2, 0) == left
    bad.est.loss.out = True
    assert apogee.shake_sched_may_leave(choices(apogee, [bad, other]), 2, 0) == stays


def test_the_share_of_a_link(apogee: Library) -> None:
    """By pseudo-ACKs; a new session and a death do not change it."""
    link = loaded(apogee, 2000, 0.2)
    assert link.est.loss.share / ALL == pytest.approx(0.2, abs=0.06)
    before = link.est.loss.share
    apogee.shake_path_forget(link.est, link.now)
    apogee.shake_path_restart(link.est, link.now)
    link.received = link.packets = link.counter = 0
    link.send()
    link.wait(SECOND)
    assert link.est.loss.share == before


def test_few_packets_show_nothing(apogee: Library) -> None:
    """A path that carried hardly anything is not known to be better."""
    bad, other = loaded(apogee, 2000, 0.3), Link(apogee, 2000 * KBIT, 20_000)
    for _ in range(50):
        other.send()
        other.wait(20_000)
    other.wait(SECOND)
    assert not apogee.shake_sched_may_leave(choices(apogee, [bad, other]), 2, 0)


@pytest.mark.parametrize(("limit", "much"), [(2, True), (0, False)])
def test_a_limit_counts_in_queues_that_are_not_full(
    apogee: Library, limit: int, much: bool
) -> None:
    """6 % are lost of what meets a short queue on a path that always has one."""
    loss = apogee.new("shake_loss")
    apogee.shake_loss_init(loss)
    apogee.shake_loss_set_limit(loss, limit)
    loss.stays = loss.brief = (1 << 24) * 6 // 100
    assert apogee.shake_loss_is_much(loss, True) is much
