# SPDX-License-Identifier: GPL-2.0
"""ABE against exact arithmetic, over its whole range, and its first train."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.headers import reference_abe as reference
from tests.unit.headers.ack_trains import Estimator
from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
USEC_PER_SEC = 1_000_000
# The range abe.h states: 9.6 kbit/s to 100 Gbit/s, 10 us to 10 s, 88 to 65483 bytes.
SLOWEST, FASTEST = 1_200, 12_500_000_000
MSS_MIN, MSS_MAX = 88, 65_483

u32 = st.integers(0, U32_MAX) | st.sampled_from([0, 1, U32_MAX])
u64 = st.integers(0, U64_MAX) | st.sampled_from([0, 1, U64_MAX])


def log_integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Integers of every order of magnitude, both ends included."""
    powers = st.floats(math.log(low), math.log(high), allow_nan=False)
    return powers.map(lambda x: min(max(round(math.exp(x)), low), high)) | st.sampled_from(
        [low, high]
    )


rates = log_integers(SLOWEST, FASTEST)
rtts = log_integers(10, 10_000_000)
sizes = log_integers(MSS_MIN, MSS_MAX)


# Gaps of ACKs in 1/64 of the interval, or in us, and what they bring in segments (0: the rate).
gaps = st.integers(0, 96) | st.just(0) | log_integers(64, 64 * 500)
steps = st.tuples(gaps, st.booleans(), st.sampled_from([0, 1, 2, 44]), st.integers(0, 99))


#: An ACK in time, or late by any time.
lateness = st.just(0) | st.integers(0, 20_000) | log_integers(1_000, 20_000_000)


@st.composite
def series(draw: st.DrawFn, *, back: bool = False, limited: bool = False) -> list[reference.Ack]:
    """ACKs at random: batches in one us, gaps about an interval, pauses up to 500 of them.

    `back` turns a twentieth of the gaps round, `limited` limits a third of the ACKs.
    """
    rtt, rate, mss = draw(rtts), draw(rates), draw(sizes)
    # Gaps near the interval let samples end in every way.
    interval = max(rtt // 16, min(rtt, 10_000), 1_000)
    now = draw(st.sampled_from([0, 10**6, 2**32 - 5, 2**50]))
    acks: list[reference.Ack] = []
    for gap, relative, share, chance in draw(st.lists(steps, min_size=1, max_size=60)):
        gap_us = gap * interval // 64 if relative else gap
        if back and chance < 5:
            gap_us = -min(gap_us, now)
        now += gap_us
        # Sent a round trip before, up to an interval later than the spacing of the ACKs says.
        sent = now - rtt + (share * interval if chance % 2 else 0)
        # A pause of any length ends with one window at most.
        span = min(max(gap_us, 0), 10 * USEC_PER_SEC)
        nbytes = share * mss if share else rate * span // USEC_PER_SEC
        acks.append(
            reference.Ack(
                now,
                nbytes,
                max(rtt - (chance == 99), 10),
                limited and chance < 33,
                sent,
                draw(lateness),
            )
        )
    return acks


def compare(
    apogee: Library, acks: list[reference.Ack], mss: int, first_us: int, recent: bool = False
) -> None:
    rules = reference.Rules(
        interval_us=apogee.abe_interval_us,
        epoch=apogee.ABE_EPOCH,
        settle=apogee.ABE_SETTLE,
        train=apogee.ABE_TRAIN,
        mss=mss,
        first_us=first_us,
        longest_rtt_us=apogee.ABE_RTT_MAX_US,
        recent=recent,
    )
    state = apogee.new("abe")
    state.recent = recent
    for index, (ack, expected) in enumerate(
        zip(acks, reference.estimates(acks, rules), strict=True)
    ):
        before = apogee.abe_bw(state)
        changed = apogee.abe_ack(
            state,
            ack.now_us,
            ack.sent_us % 2**32,
            ack.nbytes,
            mss,
            ack.rtt_min_us,
            first_us,
            ack.limited,
            ack.late_us,
        )
        after = apogee.abe_bw(state)
        assert after == expected, f"ACK {index}: {ack}"
        assert changed or after == before, f"ACK {index} changed the estimate and denied it"


@given(series(), sizes, log_integers(1, 1_000_000), st.booleans())
def test_agrees_with_exact_arithmetic(
    apogee: Library, acks: list[reference.Ack], mss: int, first_us: int, recent: bool
) -> None:
    compare(apogee, acks, mss, first_us, recent)


@given(series(back=True), sizes, st.booleans())
def test_agrees_when_the_clock_steps_back(
    apogee: Library, acks: list[reference.Ack], mss: int, recent: bool
) -> None:
    compare(apogee, acks, mss, 1000, recent)


@given(series(limited=True), sizes, st.booleans())
def test_agrees_with_a_limited_sender(
    apogee: Library, acks: list[reference.Ack], mss: int, recent: bool
) -> None:
    compare(apogee, acks, mss, 1000, recent)


@given(rates, rtts, sizes)
@settings(max_examples=settings().max_examples // 3)
def test_agrees_over_many_epochs(apogee: Library, rate: int, rtt: int, mss: int) -> None:
    """A rate that halves with every epoch: the epochs turn where the reference turns them."""
    step = apogee.abe_interval_us(rtt)
    acks = [reference.Ack(7, mss, rtt)]
    for index in range(3 * apogee.ABE_EPOCH + 5):
        share = rate >> (index // apogee.ABE_EPOCH)
        acks.append(reference.Ack(7 + (index + 1) * step, max(share * step // 10**6, 1), rtt))
    compare(apogee, acks, mss, 1000)


@given(u32)
def test_interval(apogee: Library, rtt_min_us: int) -> None:
    """RTT_min / 16, at least the shorter of 10 ms and one RTT, 1 ms to 625 ms."""
    got = apogee.abe_interval_us(rtt_min_us)
    shortest, longest = apogee.ABE_INTERVAL_MIN_US, apogee.ABE_RTT_MAX_US
    assert got == reference.interval_us(rtt_min_us, shortest, longest)
    assert shortest <= got <= 625_000


@given(st.integers(0, 2**40), u32, u32)
def test_window_is_eq_1(apogee: Library, bw: int, rtt_min_us: int, mss: int) -> None:
    largest, longest = apogee.ABE_WINDOW_MAX, apogee.ABE_RTT_MAX_US
    assert apogee.abe_window(bw, rtt_min_us, mss) == reference.window(
        bw, rtt_min_us, mss, largest, longest
    )


@given(u64, u64, u32, u32)
def test_window_grows_with_the_rate(
    apogee: Library, one: int, other: int, rtt_min_us: int, mss: int
) -> None:
    """Up to the ends of the integers and of the window: nothing wraps round."""
    small, large = (apogee.abe_window(bw, rtt_min_us, mss) for bw in sorted((one, other)))
    assert small <= large <= apogee.ABE_WINDOW_MAX


@given(st.integers(1, U64_MAX), st.integers(1, U64_MAX) | st.just(U64_MAX))
def test_sample_grows_with_its_bytes(apogee: Library, one: int, other: int) -> None:
    values = []
    for nbytes in sorted((one, other)):
        est = Estimator(apogee, mss=88, rtt_min_us=500_000)
        est.ack(0, 88)
        values.append(est.ack(500_000, nbytes))
    assert values[0] <= values[1]


def test_window_of_the_papers_link(apogee: Library) -> None:
    """10 Mbit/s and 500 ms: 625000 bytes, 431 segments of 1448 bytes."""
    assert apogee.abe_window(1_250_000, 500_000, 1448) == 431
    assert apogee.abe_window(FASTEST, 10_000_000, MSS_MIN) == apogee.ABE_WINDOW_MAX
    assert apogee.abe_window(SLOWEST, 10, MSS_MAX) == 0


@given(
    st.lists(
        st.tuples(u64, u32, u64, u32, u32, st.integers(1, 1_000_000), st.booleans(), u32),
        max_size=40,
    )
)
def test_takes_any_numbers(
    apogee: Library, calls: list[tuple[int, int, int, int, int, int, bool, int]]
) -> None:
    """No trap and no wild estimate: at most all bytes within one microsecond."""
    state = apogee.new("abe")
    seen = 0
    for now, sent, nbytes, mss, rtt_min, first_us, limited, late in calls:
        apogee.abe_ack(state, now, sent, nbytes, mss, rtt_min, first_us, limited, late)
        seen += nbytes + mss
        assert apogee.abe_bw(state) <= min(seen * 10**6, U64_MAX)


@pytest.mark.parametrize("rate", [SLOWEST, 8_000, 10**6, 10**8, 10**9, FASTEST])
@pytest.mark.parametrize("rtt", [10, 1_000, 30_000, 500_000, 10_000_000])
@pytest.mark.parametrize("mss", [MSS_MIN, 1448, MSS_MAX])
def test_exact_over_the_whole_range(apogee: Library, rate: int, rtt: int, mss: int) -> None:
    """A steady train at any corner: within 1 us per sample of the true rate, window and all.

    An ACK per segment up to 20 per interval, then stretch ACKs. ACK times are
    whole us, so a sample of I us may err by 1 us: R * (1 +- 1/I). The rate is what two of
    TCP's largest windows, 2^31 bytes, come to in an interval at most: an interval is no
    longer than a round trip.
    """
    est = Estimator(apogee, mss=mss, rtt_min_us=rtt)
    rate = min(rate, 2**31 * USEC_PER_SEC // est.interval_us)
    every = max(math.ceil(est.interval_us * rate / (20 * mss * USEC_PER_SEC)), 1)
    step = every * mss * USEC_PER_SEC / rate
    count = max(math.ceil(est.interval_us / step), 1) * (apogee.ABE_SETTLE + 2)
    for index in range(count + 1):
        est.ack(int(index * step), every * mss)
    assert abs(est.bw - rate) <= rate / est.interval_us + 1
    segments = Fraction(est.bw * rtt, USEC_PER_SEC * mss)
    assert apogee.abe_window(est.bw, rtt, mss) == min(math.floor(segments), apogee.ABE_WINDOW_MAX)


@given(st.lists(st.integers(1, 2**34), min_size=1, max_size=8))
def test_more_bytes_than_can_be_counted_make_a_sample_smaller(
    apogee: Library, nbytes: list[int]
) -> None:
    """2^32 bytes do not wrap to none: 2^32 - 1 in 625 ms."""
    est = Estimator(apogee, mss=1448, rtt_min_us=10_000_000)
    est.ack(0, 1448)
    for one in nbytes:
        est.ack(624_999, one)
    got = est.ack(625_000, 1)
    counted = min(sum(nbytes) + 1, 2**32 - 1)
    assert got >= counted * USEC_PER_SEC // 625_000


@given(st.integers(2**31, 2**34), st.integers(0, 3000), st.integers(0, 2**32 - 1))
@settings(max_examples=settings().max_examples // 5)
def test_a_clock_of_32_bits_outlasts_any_pause(
    apogee: Library, idle_us: int, acks: int, begin: int
) -> None:
    """From 36 minutes on a pause may look like any time, also one that has not begun yet.

    What is counted before it is less than an interval's, so that a sample across it is
    less than twice the rate at the worst.
    """
    est = Estimator(apogee, mss=1448, rtt_min_us=500_000)
    now, rate = begin, 1_250_000
    for pause in (0, idle_us, 0):
        now += pause
        for _ in range(acks):
            now += 1158
            est.ack(now, 1448, sent_us=(now - 500_000) % 2**32)
        assert not acks or est.bw <= 2 * rate + 1
    if acks > 2000:  # five samples and more, and so the first train's is forgotten
        assert abs(est.bw - rate) <= rate // 100


def test_an_epoch_outlasts_the_clocks_wrap(apogee: Library) -> None:
    """A rate falls to a tenth just before its epoch's end is behind the wrap: the estimates are
    those of any other time."""

    def estimates(begin: int) -> list[int]:
        est, now, found = Estimator(apogee, mss=1448, rtt_min_us=500_000), begin, []
        for gap in [1158] * 3000 + [11_580] * 300:
            now += gap
            est.ack(now, 1448, sent_us=(now - 500_000) % 2**32)
            found.append(est.bw)
        return found

    fall = 3000 * 1158
    assert estimates(2**32 - fall - 10_000) == estimates(2**32 - fall - 100_000) == estimates(0)


@pytest.mark.parametrize(
    ("sent_us", "now_us", "slowly"),
    [
        # one segment each 64 ms, on a path of 100 ms: sent as they arrive
        (64_000, 164_000, True),
        # at once, and spread by the path
        (0, 164_000, False),
        (5, 164_000, False),
        # half as slowly, just
        (32_000, 164_000, True),
        (31_999, 164_000, False),
        # sent before the segment that began the sample
        (-1, 164_000, False),
        # nothing has arrived since the sample began, though it was sent later
        (1, 100_000, True),
    ],
)
def test_a_train_that_was_sent_slowly(
    apogee: Library, sent_us: int, now_us: int, slowly: bool
) -> None:
    """Since the first ACK, at 100 ms, of a segment sent at 0."""
    est = Estimator(apogee, mss=1448, rtt_min_us=100_000)
    start = 2**32 - 200_000
    assert not apogee.abe_sent_slowly(est.state, start, start)
    apogee.abe_ack(est.state, (start + 100_000) % 2**32, start, 1448, 1448, 100_000, 1000, True, 0)
    said = apogee.abe_sent_slowly(est.state, (start + now_us) % 2**32, (start + sent_us) % 2**32)
    assert said == slowly
    est.state.samples = 1
    assert not apogee.abe_sent_slowly(est.state, (start + now_us) % 2**32, start + sent_us)


def test_skipped_acks_neither_count_nor_age(apogee: Library) -> None:
    """1448 bytes each 10 ms for 80 ms, an hour of ACKs that are skipped, 500 ms of half the rate.

    The epoch lasts 640 ms and is not over. The sample that the first skipped ACK ends is not taken.
    """
    state = apogee.new("abe")
    apogee.abe_skip(state, 5, 5, 0)
    assert not state.started
    now = 0
    for _ in range(8):
        apogee.abe_ack(state, now, 0, 1448, 1448, 160_000, 1000, False, 0)
        now += 10_000
    assert apogee.abe_bw(state) == 144_800
    apogee.abe_ack(state, now - 9_999, 0, 1448 * 1000, 1448, 160_000, 1000, False, 0)
    for _ in range(3600):
        now += 10**6
        apogee.abe_skip(state, now % 2**32, 0, 0)
    for _ in range(25):
        now += 20_000
        apogee.abe_ack(state, now % 2**32, 0, 1448, 1448, 160_000, 1000, False, 0)
    assert apogee.abe_bw(state) == 144_800
    assert state.bw[1] == 0
