# SPDX-License-Identifier: GPL-2.0
"""Datagrams of SHAKE that have numbers, shake_order.h: twice, late, in order, and how long what is
ahead waits."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

NOW, WAIT, LATE, TWICE, ANEW = range(5)
LEAST_US, MOST_US = 5_000, 250_000
ORDERED = 1 << 31


class Receiver:
    """As shake/order.c: what came ahead waits in a list, and is given up in time."""

    def __init__(self, apogee: Library, ordered: bool = True) -> None:
        self.apogee, self.flag = apogee, ORDERED if ordered else 0
        self.state = apogee.new("shake_order")
        self.held: dict[int, int] = {}
        self.out: list[tuple[int, int, int]] = []  # when, which, how long it has waited

    def first(self) -> int:
        return min(self.held, key=lambda n: self.apogee.shake_order_after(n, self.state.next))

    def release(self, now: int, give_up: bool) -> None:
        last = next(iter(self.held)) if self.held else 0
        while self.held:
            number = self.first()
            before = self.apogee.shake_order_after(number, last) <= 0
            if not self.apogee.shake_order_next(self.state, number, give_up and before):
                break
            self.out.append((now, number, now - self.held.pop(number)))
        self.state.waits = bool(self.held)
        if self.held:
            self.apogee.shake_order_reopen(self.state, next(iter(self.held.values())))

    def pass_time(self, now: int) -> None:
        while self.state.waits:
            due = self.state.open_at + self.apogee.shake_order_wait(self.state)
            if due > now:
                break
            self.release(max(due, self.state.open_at), True)

    def come(self, number: int, now: int) -> int:
        self.pass_time(now)
        number &= 0xFFFFFF
        verdict = int(self.apogee.shake_order_in(self.state, number | self.flag, now))
        if verdict == WAIT:
            if number in self.held:
                return TWICE
            self.held[number] = now
        elif verdict != TWICE:
            self.out.append((now, number, 0))
            if verdict == NOW:
                self.release(now, False)
        return verdict


@pytest.mark.parametrize("jump", [1, 63, 64, 65, 1000])
def test_what_a_jump_left_out_has_not_come(apogee: Library, jump: int) -> None:
    """64 numbers are remembered: those before a jump of so many are forgotten."""
    receiver = Receiver(apogee, ordered=False)
    for number in range(100):
        receiver.come(number, number)
    assert receiver.come(99 + jump, 200) == NOW
    left_out = range(max(100, 99 + jump - 63), 99 + jump)
    assert {receiver.come(number, 201) for number in left_out} <= {LATE}
    assert {receiver.come(number, 202) for number in left_out} <= {TWICE}


def test_a_number_on_the_wire(apogee: Library) -> None:
    assert apogee.shake_order_number(True, 5, 0x1000007) == 0x85000007
    assert apogee.shake_order_number(False, 133, 0xFFFFFF) == 0x05FFFFFF
    assert apogee.shake_order_stream(0x85000007) == apogee.shake_order_stream(0x05000007) == 5


@pytest.mark.parametrize("begin", [0, 0xFFFFF0, 12345])
def test_what_comes_in_order_waits_for_nothing(apogee: Library, begin: int) -> None:
    receiver = Receiver(apogee)
    verdicts = [receiver.come(begin + n, n) for n in range(50)]
    assert verdicts == [ANEW, *[NOW] * 49]


@pytest.mark.parametrize("ordered", [False, True])
def test_a_copy_is_dropped(apogee: Library, ordered: bool) -> None:
    """Of the 64 numbers before the one expected, and of one that waits."""
    receiver = Receiver(apogee, ordered)
    for n in range(100):
        receiver.come(n, n)
    assert all(receiver.come(n, 100) == TWICE for n in range(36, 100))
    assert receiver.come(35, 100) == LATE
    assert receiver.come(105, 101) == (WAIT if ordered else NOW)
    assert receiver.come(105, 101) == TWICE
    receiver.come(103, 101)
    assert receiver.come(103, 101) == TWICE


@pytest.mark.parametrize("seed", range(5))
def test_two_paths_in_order(apogee: Library, seed: int) -> None:
    """One path is 65 ms longer: once that is known, all come in order, and soon."""
    rng = random.Random(seed)
    receiver = Receiver(apogee)
    paths = [(n * 1000 + (65_000 if rng.random() < 0.3 else 0), n) for n in range(5000)]
    for at, n in sorted(paths):
        assert receiver.come(n, 1_000_000 + at) != TWICE
    receiver.pass_time(10_000_000)
    order = [n for _, n, _ in receiver.out]
    assert sorted(order) == list(range(5000))
    assert order[500:] == sorted(order)[500:]
    assert max(waited for _, _, waited in receiver.out) <= 2 * 65_000 + LEAST_US


@pytest.mark.parametrize("seed", range(5))
def test_what_is_lost_is_waited_for_a_moment(apogee: Library, seed: int) -> None:
    """By one path, which keeps the order."""
    rng = random.Random(seed)
    receiver = Receiver(apogee)
    came = [n for n in range(2000) if rng.random() > 0.1]
    for n in came:
        receiver.come(n, 1_000_000 + 2000 * n)
    receiver.pass_time(10_000_000)
    assert [n for _, n, _ in receiver.out] == came
    assert max(waited for _, _, waited in receiver.out) <= LEAST_US


@pytest.mark.parametrize("seed", range(20))
def test_no_packet_waits_longer_than_it_may(apogee: Library, seed: int) -> None:
    """Whatever comes, when it will; and all that is not twice comes out, once."""
    rng = random.Random(seed)
    receiver = Receiver(apogee)
    now, came = 1_000_000, set()
    for n in range(3000):
        now += rng.choice([0, 100, 1000, 50_000])
        number = max(0, n + rng.choice([0, 0, 0, 1, 2, 5, -3, -30, 60]))
        if receiver.come(number, now) != TWICE:
            came.add(number)
    receiver.pass_time(now + 10_000_000)
    out = [n for _, n, _ in receiver.out]
    assert set(out) == came
    assert max(waited for _, _, waited in receiver.out) <= MOST_US


def test_another_sender_begins_anew(apogee: Library) -> None:
    receiver = Receiver(apogee)
    for n in range(100):
        receiver.come(n, n)
    assert receiver.come(0x800000, 100) == ANEW
    assert receiver.come(0x800001, 101) == NOW
    assert receiver.come(50, 102) == ANEW


u64 = st.integers(0, 2**64 - 1)
u32 = st.integers(0, 2**32 - 1)


@given(
    next=u32, late=u32, seen=u64, open_at=u64, gave_at=u64, gave=u32, waits=st.booleans(),
    begun=st.booleans(), number=u32, now=u64,
)  # fmt: skip
def test_any_state_is_survived(apogee: Library, number: int, now: int, **fields: Any) -> None:
    state = apogee.new("shake_order", **fields)
    apogee.shake_order_in(state, number, now)
    assert apogee.shake_order_wait(state) <= MOST_US
    assert apogee.shake_order_left(state, now) <= MOST_US
    apogee.shake_order_next(state, number & 0xFFFFFF, True)
