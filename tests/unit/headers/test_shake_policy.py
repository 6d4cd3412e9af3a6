# SPDX-License-Identifier: GPL-2.0
"""What a user wants of a SHAKE path, shake_policy.h: its rank, its rate; the limit of its loss."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.test_shake_loss import ALL, Path

u64 = st.integers(0, 2**64 - 1) | st.integers(0, 64).map(lambda bits: max(2**bits - 1, 0))
DEPTH_US = 100_000


def test_a_metered_path_comes_behind_a_backup(apogee: Library) -> None:
    def rank(**policy: bool) -> int:
        return int(apogee.shake_policy_rank(apogee.new("shake_policy", **policy)))

    assert rank() < rank(backup=True) < rank(metered=True) == rank(backup=True, metered=True)


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("kbit", [64, 1000, 2500, 100_000])
def test_no_more_leaves_than_the_rate(apogee: Library, kbit: int, pauses: bool) -> None:
    """Who sends whenever it may, now and then after a pause: in any second the rate, what may be
    ahead of it, and a packet; and no less without the pauses."""
    rng = random.Random(kbit)
    now, until, sent = 10_000_000, 0, []
    for _ in range(4000):
        if apogee.shake_limit_is_over(until, now):
            assert until - now > DEPTH_US
            now += rng.choice([100, 4000, 20_000])
            continue
        size = rng.choice([60, 600, 1500])
        until = apogee.shake_limit_sent(until, kbit, size, now)
        sent.append((now, size))
        now += 300_000 if pauses and rng.random() < 0.01 else 0
    left = total = 0
    for at, size in sent:
        total += size
        while sent[left][0] < at - 1_000_000:
            total -= sent[left][1]
            left += 1
        assert total <= kbit / 8 * 1000 * 1.1 + 1500
    if not pauses:
        assert sum(size for _, size in sent) >= kbit * 125 * (now - 10_000_000) / 1e6


def test_without_a_rate_there_is_no_limit(apogee: Library) -> None:
    assert apogee.shake_limit_sent(5_000_000, 0, 2**32 - 1, 1) == 0


@given(until=u64, rate=st.integers(1, 2**32 - 1), size=st.integers(0, 2**32 - 1))
def test_any_packet_ends_within_two_minutes(
    apogee: Library, until: int, rate: int, size: int
) -> None:
    now = 1_000_000
    end = apogee.shake_limit_sent(until, rate, size, now)
    assert now <= end <= now + 120_000_000


@pytest.mark.parametrize(
    ("loss", "limit", "much"), [(0.05, 2, True), (0.15, 30, False), (0.005, 2, False)]
)
@pytest.mark.parametrize("repaired", [False, True])
def test_a_limit_takes_the_place_of_the_default(
    apogee: Library, loss: float, limit: int, much: bool, repaired: bool
) -> None:
    for seed in range(5):
        path = Path(apogee, seed)
        apogee.shake_loss_set_limit(path.state, limit)
        found = False
        for _ in range(1500):
            path.lose(loss, 1)
            found |= path.is_much(repaired)
        assert found == much
    apogee.shake_loss_set_limit(path.state, 0)
    assert path.state.limit == 0


def test_it_comes_back_at_the_limit(apogee: Library) -> None:
    """A round of 128 packets, of which four may be lost by default; at 2 % two."""
    path = Path(apogee)
    apogee.shake_loss_set_limit(path.state, 2)
    assert path.state.limit == ALL // 100 * 2
    path.leave(path.now)
    path.tell(100, 3)
    assert path.state.tried == 0
    path.tell(128, 2)
    assert path.is_little()
