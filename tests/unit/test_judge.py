# SPDX-License-Identifier: GPL-2.0
"""star's judgement of RTT and losses, judge.h: by hand, and against exact arithmetic.

RTTs are in us, windows and counts in segments.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .cheaders import Library

U32_MAX = 2**32 - 1
NONE = U32_MAX
BASE = 512_000  # a sixteenth and a 64th of it are whole numbers
QUEUE = BASE + BASE // 16
FRAME_BITS = 8 * 1514

u32 = st.integers(0, U32_MAX) | st.sampled_from([0, 1, U32_MAX])
u8 = st.integers(0, 255)
flag = st.integers(0, 1)
sents = st.integers(0, 3000) | st.integers(0, 2**21)


def judge(apogee: Library, **fields: Any) -> Any:
    return apogee.new("star_judge", **{"base_us": BASE, "least_us": NONE, "last_us": NONE} | fields)


def a_round(apogee: Library, sent: int, lost: int, **fields: Any) -> Any:
    """A round trip of a window that was sent in full and fills the path, without a queue."""
    given_ = {"cwnd": sent, "path": sent, "rtt_us": BASE, "limited": True} | fields
    return apogee.new("judge_round", delivered=sent - lost, lost=lost, **given_)


def answer(apogee: Library, j: Any, sent: int, lost: int, **fields: Any) -> str:
    """What the losses of a round ask for."""
    names = ["STAY", "CUT", "FULL", "OVER", "TAKE_BACK"]
    got = apogee.judge_end_losses(j, a_round(apogee, sent, lost, **fields))
    return next(name for name in names if got == getattr(apogee, f"JUDGE_{name}"))


def rtt_round(
    apogee: Library, j: Any, rtt: int, *, spread: int = 0, min_rtt: int | None = None
) -> bool:
    """A round trip with this least RTT and mean above it; whether the path has become longer."""
    apogee.judge_rtt(j, rtt)
    return bool(apogee.judge_end_rtt(j, rtt + spread, j.base_us if min_rtt is None else min_rtt))


def share(cwnd: int, rtt: int, base: int) -> int:
    return math.floor(Fraction(cwnd * base, rtt)) if rtt > base else cwnd


# --- losses: the CUSUM ------------------------------------------------------------------------


@given(
    st.lists(st.tuples(sents, st.integers(0, 2000) | st.just(0)), max_size=60), st.integers(0, 200)
)
def test_excess_is_a_cusum(apogee: Library, rounds: list[tuple[int, int]], begin: int) -> None:
    """S = max(0, S + lost - sent / 40), too many when S is more than 5."""
    j, total = judge(apogee, excess=begin), Fraction(begin, 40)
    for sent, lost in rounds:
        total = max(total + lost - Fraction(sent, 40), Fraction(0))
        assert apogee.judge_is_excess(j, sent, lost) == (total > 5)
        if total > 5:
            break
        assert Fraction(j.excess, 40) == total


def fires(apogee: Library, losses: list[int], window: int) -> int:
    """How often the CUSUM of these rounds comes to its limit."""
    j, count = judge(apogee), 0
    for lost in losses:
        if apogee.judge_is_excess(j, window, lost):
            apogee.judge_cut_made(j)
            count += 1
    return count


def exponent(p: float) -> float:
    """Lundberg's: where E exp(theta X) = 1, X being 39/40 for a loss and -1/40 without one."""
    low, high = 1e-3, 50.0
    for _ in range(100):
        theta = (low + high) / 2
        mean = p * math.exp(theta * 39 / 40) + (1 - p) * math.exp(-theta / 40)
        low, high = (theta, high) if mean < 1 else (low, theta)
    return low


@pytest.mark.parametrize("window", [20, 100, 413, 2000])
@pytest.mark.parametrize("ber", [1e-7, 1e-6])
def test_bit_errors_are_hardly_ever_an_excess(apogee: Library, ber: float, window: int) -> None:
    """A sum that begins anew comes to 5 with exp(-5 theta) at most: at 1e-6 one round in 840.

    It begins anew once a round at most; four standard deviations are allowed on top.
    """
    p = 1 - (1 - ber) ** FRAME_BITS
    rounds = 20_000
    most = rounds * math.exp(-5 * exponent(p))
    losses = np.random.default_rng(window).binomial(window, p, rounds).tolist()
    assert ber < 1e-6 or rounds / 850 < most < rounds / 830
    assert fires(apogee, losses, window) <= most + 4 * math.sqrt(most) + 1


def test_one_frame_in_nine_is_an_excess_at_once(apogee: Library) -> None:
    """At 1e-5 413 segments lose 47 +- 6.4: 16, where it fires, is 4.8 deviations less."""
    p = 1 - (1 - 1e-5) ** FRAME_BITS
    losses = np.random.default_rng(5).binomial(413, p, 500).tolist()
    assert fires(apogee, losses, 413) == 500
    j = judge(apogee)
    assert not apogee.judge_is_excess(j, 413, 15)
    assert apogee.judge_is_excess(judge(apogee), 413, 16)


def test_the_larger_window_has_to_fall_first(apogee: Library) -> None:
    """4 % lost: 1000 segments lose 15 too many at once, 100 in a round 1.5, 6 in the fourth."""
    assert apogee.judge_is_excess(judge(apogee), 1000, 40)
    small = judge(apogee)
    assert [apogee.judge_is_excess(small, 100, 4) for _ in range(4)] == [False] * 3 + [True]


@given(st.integers(1, 30), st.integers(40, 400), st.integers(1, 20))
def test_of_two_windows_the_larger_is_never_later(
    apogee: Library, percent: int, window: int, factor: int
) -> None:
    def rounds(size: int) -> int:
        j = judge(apogee)
        lost = window * percent // 100 * (size // window)
        return next((n for n in range(300) if apogee.judge_is_excess(j, size, lost)), 300)

    assert rounds(window * factor) <= rounds(window)


# --- losses: what a round asks for ------------------------------------------------------------


def test_a_cut_of_a_shared_path_is_a_test(apogee: Library) -> None:
    """12 % of 400 are 38 too many: a fifth less, and 48 * 256 / 400 = 30 is remembered."""
    j = judge(apogee, large=1)
    assert answer(apogee, j, 400, 48) == "CUT"
    assert (j.ratio, j.skip, j.excess) == (30, 2, 0)
    assert apogee.judge_cwnd(j, apogee.JUDGE_CUT, a_round(apogee, 400, 48), 400) == 320


@pytest.mark.parametrize(
    ("cwnd", "lost", "alone", "window"),
    [
        # a fifth, rounded up; alone a sixteenth from one in 16 lost on
        (400, 48, 0, 320),
        (400, 48, 1, 375),
        (400, 25, 1, 375),
        (400, 24, 1, 320),
        (11, 2, 0, 8),
        (3, 1, 0, 2),
        (1, 1, 0, 1),
    ],
)
def test_cuts_at_hand(apogee: Library, cwnd: int, lost: int, alone: int, window: int) -> None:
    r = a_round(apogee, cwnd, lost)
    j = judge(apogee, alone=alone)
    assert apogee.judge_cwnd(j, apogee.JUDGE_CUT, r, cwnd) == window


@pytest.mark.parametrize(
    ("large", "alone", "delivered", "is_test"),
    [(1, 0, 352, True), (0, 0, 352, False), (1, 1, 352, True), (1, 1, 375, False)],
)
def test_no_test_where_the_cut_cannot_be_seen(
    apogee: Library, large: int, alone: int, delivered: int, is_test: bool
) -> None:
    """Of a small part of the path; alone, where 15/16 of 400 arrive, the queue is one's own."""
    j = judge(apogee, large=large, alone=alone)
    assert answer(apogee, j, delivered + 48, 48, path=400) == "CUT"
    assert bool(j.ratio) == is_test


@pytest.mark.parametrize(
    ("lost", "took_back"),
    [
        # 350 * 30 / 256 = 41 are expected: the same, 5/8 and 13/8 of it ...
        (41, True),
        (26, True),
        (66, True),
        # ... and half, none, far more
        (25, False),
        (20, False),
        (0, False),
        (67, False),
    ],
)
@pytest.mark.parametrize("times", [1, 4, 10, 50])
def test_the_link_s_losses_stay(apogee: Library, lost: int, took_back: bool, times: int) -> None:
    """After a cut two rounds are of what was sent before; then the share tells, at any rate."""
    j = judge(apogee, large=1)
    assert answer(apogee, j, 400 * times, 48 * times) == "CUT"
    assert [answer(apogee, j, 350 * times, 48 * times) for _ in range(2)] == ["STAY"] * 2
    wanted = "TAKE_BACK" if took_back else "STAY"
    assert answer(apogee, j, 350 * times, lost * times, path=400 * times) == wanted
    assert (j.link, j.ratio) == (took_back, 0)


@given(st.integers(60, 20_000), st.integers(16, 255), st.fractions(0, 2))
def test_the_link_in_exact_arithmetic(
    apogee: Library, sent: int, ratio: int, part: Fraction
) -> None:
    """Rounds of one share of the loss: from 5/8 to 13/8 once 32 were expected; 8 a round at least.

    Between what whole numbers make of the share either is right.
    """
    j = judge(apogee, ratio=ratio)
    expected = sent * ratio // 256
    lost = math.floor(expected * part)
    rounds = 0
    while j.ratio:
        got = apogee.judge_link(j, sent, lost)
        rounds += 1
    assert rounds == (max(math.ceil(32 / expected), 1) if expected >= 8 else 1)
    within = 5 * expected <= 8 * lost <= 13 * expected
    assert got == bool(j.link) == (expected >= 8 and within)


@pytest.mark.parametrize(("lost", "link"), [(19, False), (20, True), (52, True), (53, False)])
def test_five_and_13_eighths(apogee: Library, lost: int, link: bool) -> None:
    """256 segments at 32/256."""
    assert apogee.judge_link(judge(apogee, ratio=32), 256, lost) == link


def test_few_losses_a_round_tell_nothing(apogee: Library) -> None:
    """64 segments of 30/256: 7 in a round. 69: 8, and so four rounds. Of 15/256 4 are enough."""
    few = judge(apogee, ratio=30, link=1)
    assert answer(apogee, few, 64, 7) == "STAY"
    assert (few.ratio, few.link) == (0, 0)
    enough = judge(apogee, ratio=30)
    rounds = [answer(apogee, enough, 69, 8) for _ in range(4)]
    assert rounds == ["STAY"] * 3 + ["TAKE_BACK"]
    light = judge(apogee, ratio=15)
    rounds = [answer(apogee, light, 69, 4) for _ in range(8)]
    assert rounds == ["STAY"] * 7 + ["TAKE_BACK"]


def test_an_overload_voids_the_test(apogee: Library) -> None:
    """A cut, two rounds, 100 of 350 lost; the same share as before then proves nothing."""
    j = judge(apogee, large=1)
    answer(apogee, j, 400, 48)
    for _ in range(2):
        answer(apogee, j, 350, 42)
    assert answer(apogee, j, 350, 100) == "OVER"
    assert (j.ratio, j.link, j.skip) == (0, 0, 2)
    assert [answer(apogee, j, 250, 30) for _ in range(2)] == ["STAY"] * 2
    assert answer(apogee, j, 250, 30) == "CUT"


@pytest.mark.parametrize(
    ("sent", "lost", "link", "got"),
    [
        (100, 20, 0, "CUT"),
        (100, 21, 0, "OVER"),
        (100, 25, 1, "STAY"),
        (100, 26, 1, "OVER"),
        # less than 16 are no more than chance
        (20, 15, 0, "CUT"),
        (20, 16, 0, "OVER"),
    ],
)
def test_overload_at_hand(apogee: Library, sent: int, lost: int, link: int, got: str) -> None:
    """More than one in five, on a link known to lose more than one in four."""
    j = judge(apogee, link=link)
    assert answer(apogee, j, sent, lost) == got


@pytest.mark.parametrize(
    ("delivered", "lost", "got"), [(99, 166, "OVER"), (100, 167, "STAY"), (99, 165, "STAY")]
)
def test_right_after_a_cut_only_if_it_was_far_too_small(
    apogee: Library, delivered: int, lost: int, got: str
) -> None:
    """Less than a quarter of the window of 400 arrived and more than five in eight were lost."""
    j = judge(apogee, skip=2)
    assert answer(apogee, j, delivered + lost, lost, cwnd=400) == got


@pytest.mark.parametrize(
    ("cwnd", "delivered", "lost", "rtt", "window"),
    [
        # what arrived of the window, and of that the part not in a queue
        (400, 300, 100, BASE, 300),
        (400, 300, 100, 2 * BASE, 150),
        # losses that are known late: twice what was delivered at most, ...
        (1000, 100, 50, BASE, 200),
        # ... once at least, without the queue's, but never a larger window
        (400, 300, 900, BASE, 300),
        (400, 300, 900, 2 * BASE, 150),
        (100, 300, 200, BASE, 100),
        (100, 0, 50, BASE, 0),
    ],
)
def test_the_window_of_an_overload(
    apogee: Library, cwnd: int, delivered: int, lost: int, rtt: int, window: int
) -> None:
    r = a_round(apogee, delivered + lost, lost, cwnd=cwnd, rtt_us=rtt)
    assert apogee.judge_cwnd(judge(apogee), apogee.JUDGE_OVER, r, cwnd) == window


@pytest.mark.parametrize(
    ("lost", "fields", "got"),
    [
        # 3 and one in 64 of 640
        (13, {}, "FULL"),
        (12, {}, "STAY"),
        (13, {"queue": 0}, "STAY"),
        (13, {"alone": 1}, "STAY"),
    ],
)
def test_a_full_queue_that_is_shared(
    apogee: Library, lost: int, fields: dict[str, int], got: str
) -> None:
    j = judge(apogee, **{"queue": 1} | fields)
    assert answer(apogee, j, 640, lost) == got
    assert j.skip == (2 if got == "FULL" else 0)


def test_three_quarters_of_the_window_before_a_full_queue(apogee: Library) -> None:
    r = a_round(apogee, 400, 10)
    for prior, window in ((400, 300), (500, 375), (600, 400), (403, 303)):
        assert apogee.judge_cwnd(judge(apogee), apogee.JUDGE_FULL, r, prior) == window


def test_no_cut_for_a_window_that_does_not_limit(apogee: Library) -> None:
    """Nor for one of which less than three quarters were sent: the receiver's was shut."""
    for fields in ({"limited": False}, {"cwnd": 534}):
        assert answer(apogee, judge(apogee), 400, 48, **fields) == "STAY"
    assert answer(apogee, judge(apogee), 400, 48, cwnd=533) == "CUT"


@pytest.mark.parametrize(
    ("sent", "lost", "path", "link"),
    [
        (400, 6, 400, 0),  # less than one in 64 ...
        (400, 7, 400, 1),
        (127, 0, 127, 1),  # ... of 128 and more
        (425, 50, 400, 1),
        (426, 50, 400, 0),  # a sixteenth more than the path carries
    ],
)
def test_a_link_is_forgotten(apogee: Library, sent: int, lost: int, path: int, link: int) -> None:
    j = judge(apogee, link=1)
    assert answer(apogee, j, sent, lost, path=path) in ("STAY", "CUT")
    assert j.link == link


# --- losses: small windows --------------------------------------------------------------------


def test_small_windows_learn_slowly(apogee: Library) -> None:
    """40 segments, 4 lost: 3 are expected, 96 in 32 rounds; each second one is cut (2 * 3 > 5),
    which leaves out two. The 32nd that counts is the 62nd.
    """
    j = judge(apogee)
    got = [answer(apogee, j, 40, 4) for _ in range(62)]
    assert got[:8] == ["STAY", "CUT", "STAY", "STAY"] * 2
    assert got.index("TAKE_BACK") == 61
    assert j.link


@given(st.integers(13, 20_000), st.fractions(0, 1))
def test_small_windows_in_exact_arithmetic(apogee: Library, sent: int, part: Fraction) -> None:
    """The link's from 21/256 to twice that, judged when 96 losses were expected."""
    j = judge(apogee)
    expected, lost = math.floor(Fraction(sent * 21, 256) + Fraction(1, 2)), math.floor(sent * part)
    lost = min(lost, sent // 5)
    rounds = 0
    while not rounds or j.expected:
        got = apogee.judge_link_small(j, sent, lost)
        rounds += 1
    assert rounds == max(math.ceil(Fraction(96, expected)), 3)
    assert got == bool(j.link) == (expected <= lost < 2 * expected)


@pytest.mark.parametrize(("lost", "link"), [(31, False), (32, True), (63, True), (64, False)])
def test_one_in_12_to_one_in_6(apogee: Library, lost: int, link: bool) -> None:
    """390 segments: 32 in each of three rounds."""
    j = judge(apogee)
    got = [apogee.judge_link_small(j, 390, lost) for _ in range(3)]
    assert got == [False, False, link]


def test_the_losses_of_ten_flows_are_no_link_s(apogee: Library) -> None:
    """3 % on and on, whatever the window."""
    for sent in (30, 200, 3000, 12_000):
        j = judge(apogee)
        for _ in range(200):
            apogee.judge_link_small(j, sent, sent * 3 // 100)
            assert not j.link


# --- whose path it is -------------------------------------------------------------------------


@given(sents, u8, sents, flag)
def test_use_in_fractions(apogee: Library, sent: int, part: int, path: int, queue: int) -> None:
    """Large: 3/8 of the path. Alone: 7/8, with a queue 15/16, and one in five lost at most."""
    lost = sent * part // 255
    j = judge(apogee, queue=queue)
    apogee.judge_use(j, a_round(apogee, sent, lost, path=path))
    assert j.large == (sent >= Fraction(3, 8) * path)
    most = Fraction(15, 16) if queue else Fraction(7, 8)
    assert j.alone == (sent >= most * path and lost <= Fraction(sent, 5))


@pytest.mark.parametrize(
    ("sent", "lost", "queue", "alone", "large"),
    [
        (150, 0, 0, 0, 1),
        (149, 0, 0, 0, 0),
        (350, 0, 0, 1, 1),
        (349, 0, 0, 0, 1),
        (374, 0, 1, 0, 1),
        (375, 0, 1, 1, 1),
        (400, 81, 0, 0, 1),
        (400, 80, 0, 1, 1),
    ],
)
def test_use_at_hand(
    apogee: Library, sent: int, lost: int, queue: int, alone: int, large: int
) -> None:
    """A path of 400."""
    j = judge(apogee, queue=queue)
    apogee.judge_use(j, a_round(apogee, sent, lost, path=400))
    assert (j.alone, j.large) == (alone, large)


# --- RTT: a queue -----------------------------------------------------------------------------


@given(u32, u32, u32)
def test_share(apogee: Library, cwnd: int, rtt: int, base: int) -> None:
    assert apogee.judge_share(cwnd, rtt, base) == share(cwnd, rtt, base) <= cwnd


@given(st.integers(0, 2**32 - 2), u32, u32)
def test_a_queue_stands_a_sixteenth_and_the_spread_above(
    apogee: Library, base: int, rtt: int, srtt: int
) -> None:
    j = judge(apogee, base_us=base, least_us=rtt)
    if rtt == NONE or rtt < base:
        return
    apogee.judge_end_rtt(j, srtt, 0)
    assert j.queue == (rtt > base + base // 16 + max(srtt - rtt, 0))


@pytest.mark.parametrize(
    ("rtt", "spread", "queue"),
    [
        (BASE, 0, 0),
        (QUEUE, 0, 0),
        (QUEUE + 1, 0, 1),
        # jitter: 20 ms of mean above the least
        (QUEUE + 1, 20_000, 0),
        (QUEUE + 20_000, 20_000, 0),
        (QUEUE + 20_001, 20_000, 1),
    ],
)
def test_queue_at_hand(apogee: Library, rtt: int, spread: int, queue: int) -> None:
    j = judge(apogee)
    rtt_round(apogee, j, rtt, spread=spread)
    assert j.queue == queue


def test_an_rtt_near_the_path_s_ends_a_queue_at_once(apogee: Library) -> None:
    j = judge(apogee, queue=1)
    apogee.judge_rtt(j, QUEUE + 1)
    assert j.queue
    apogee.judge_rtt(j, QUEUE)
    assert not j.queue


def test_a_round_without_an_rtt_tells_nothing(apogee: Library) -> None:
    """A retransmission's ACKs have none: all stays as it is."""
    j = judge(apogee, queue=1, standing=2, rest=3, test=1, dip=1, still=5)
    before = bytes(j)
    assert not apogee.judge_end_rtt(j, 10**6, BASE)
    assert bytes(j) == before


# --- RTT: a longer path -----------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(1, 2**22), st.integers(0, 2**20), st.integers(1, 2**21)), max_size=60
    )
)
def test_the_path_s_rtt_only_falls_unless_the_path_is_longer(
    apogee: Library, rounds: list[tuple[int, int, int]]
) -> None:
    """And never beyond four times the stack's minimum."""
    j = judge(apogee, base_us=NONE, large=1)
    for number, (rtt, spread, min_rtt) in enumerate(rounds):
        before = j.base_us
        if number % 5 == 0:
            apogee.judge_begin_test(j, j.last_us, 2**19, 2)
        if rtt_round(apogee, j, rtt, spread=spread, min_rtt=min_rtt):
            assert before < j.base_us == rtt <= 4 * min_rtt
            assert not (j.queue or j.standing or j.still or j.rest)
        else:
            assert j.base_us == min(before, rtt)
        assert j.standing <= 4 and j.rest <= 8 and j.test <= 2


@pytest.mark.parametrize("rtt", [QUEUE + 8000, 2 * BASE, 3 * BASE, 4 * BASE])
def test_a_longer_path_is_known_after_16_still_rounds(apogee: Library, rtt: int) -> None:
    """The first sets the level."""
    j = judge(apogee)
    assert [rtt_round(apogee, j, rtt) for _ in range(17)] == [False] * 16 + [True]
    assert j.base_us == rtt


def test_not_beyond_four_times_the_least(apogee: Library) -> None:
    j = judge(apogee)
    assert not any(rtt_round(apogee, j, 4 * BASE + 1) for _ in range(100))
    assert j.base_us == BASE


@pytest.mark.parametrize(
    ("amplitude", "longer"),
    [
        # in 64ths of the path's RTT: within one is still, two is not
        (1, True),
        (2, False),
        (8, False),
    ],
)
def test_a_queue_that_others_fill_is_not_still(
    apogee: Library, amplitude: int, longer: bool
) -> None:
    rtts = [BASE + BASE // 64 * (16 + amplitude * (turn // 4 % 2)) for turn in range(60)]
    j = judge(apogee)
    got = [rtt_round(apogee, j, rtt, min_rtt=BASE) for rtt in rtts]
    assert any(got) == longer


@pytest.mark.parametrize("times", [5, 8, 50])
def test_a_queue_of_any_length_is_not_still(apogee: Library, times: int) -> None:
    """The path's RTT may be long past, the stack's minimum of five minutes a queue's."""
    j = judge(apogee)
    for turn in range(60):
        rtt = times * BASE + BASE // 2 * (turn // 4 % 2)
        assert not rtt_round(apogee, j, rtt, min_rtt=times * BASE)


def test_a_queue_that_grows_is_not_still(apogee: Library) -> None:
    """2 ms a round are an eighth of 512 ms in 32 rounds."""
    j = judge(apogee)
    assert not any(rtt_round(apogee, j, BASE + 2000 * n, min_rtt=BASE) for n in range(1, 700))


def test_jitter_is_neither_a_queue_nor_a_longer_path(apogee: Library) -> None:
    """Least RTTs a little above the path's, within their spread: 60 +- 40 ms."""
    j = judge(apogee, base_us=20_000)
    for turn in range(100):
        assert not rtt_round(apogee, j, 22_000 + 500 * (turn % 3), spread=38_000)
        assert not j.queue
    assert j.base_us == 20_000


# --- RTT: tests -------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize(
    ("moved_ms", "longer"),
    [
        # 100 ms of 600 are to go, 42/256: a quarter of that is 24.6 ms
        (0, True),
        (-24, True),
        (24, True),
        (-25, False),
        (25, False),
        # the queue has answered; others have filled it
        (-80, False),
        (50, False),
    ],
)
def test_what_a_queue_would_answer(
    apogee: Library, moved_ms: int, longer: bool, rounds: int
) -> None:
    """Judged at the end of the last round and not before; then eight rounds of rest."""
    j = judge(apogee, base_us=500_000, large=1, alone=1)
    apogee.judge_begin_test(j, 600_000, 100_000, rounds)
    assert (j.test, j.fall, j.last_us) == (rounds, 42, 600_000)
    rtt = 600_000 + 1000 * moved_ms
    got = [rtt_round(apogee, j, rtt) for _ in range(rounds)]
    assert got == [False] * (rounds - 1) + [longer]
    assert j.base_us == (rtt if longer else 500_000)
    assert (j.test, j.rest, j.last_us) == (0, 0 if longer else 8, rtt)


def test_a_test_that_shows_the_path_s_own_rtt(apogee: Library) -> None:
    """The RTT has stayed, but where the path is known to begin: nothing is longer."""
    j = judge(apogee, large=1)
    apogee.judge_begin_test(j, BASE, BASE // 2, 1)
    assert not rtt_round(apogee, j, BASE)


@pytest.mark.parametrize(
    ("fields", "rtt", "fall", "begins"),
    [
        # 2/32 of 640 ms alone, 3/32 beside others
        ({"large": 1, "alone": 1}, 640_000, 40_000, True),
        ({"large": 1, "alone": 1}, 640_000, 39_999, False),
        ({"large": 1}, 640_000, 60_000, True),
        ({"large": 1}, 640_000, 59_999, False),
        ({"alone": 1}, 640_000, 60_000, False),
        ({"large": 1, "alone": 1}, NONE, 60_000, False),
    ],
)
def test_no_test_whose_answer_would_not_be_seen(
    apogee: Library, fields: dict[str, int], rtt: int, fall: int, begins: bool
) -> None:
    j = judge(apogee, last_us=1, **fields)
    apogee.judge_begin_test(j, rtt, fall, 2)
    assert (j.test, j.last_us) == ((2, rtt) if begins else (0, 1))


@given(u32, u32, flag, flag)
def test_a_fall_in_fractions(apogee: Library, rtt: int, fall: int, large: int, alone: int) -> None:
    j = judge(apogee, large=large, alone=alone)
    apogee.judge_begin_test(j, rtt, fall, 3)
    seen = math.floor(Fraction(rtt * (2 if alone else 3), 32))
    assert j.test == (3 if large and rtt not in (0, NONE) and fall >= seen else 0)
    if j.test:
        assert j.fall == min(math.floor(Fraction(fall * 256, rtt)), 255)


def test_a_test_is_due_after_four_rounds_and_after_a_rest(apogee: Library) -> None:
    """The RTT moves by a sixteenth up and down, or it would be still."""
    j = judge(apogee, large=1, alone=1)
    due = []
    for turn in range(14):
        rtt_round(apogee, j, 2 * BASE + BASE // 16 * (turn % 2))
        due.append(apogee.judge_test_due(j))
        if due[-1] and turn < 4:
            apogee.judge_begin_test(j, j.last_us, BASE // 4, 1)
            due.append("test")
    # the round of the test sets the rest to eight: seven more rounds are none
    assert due == [False] * 3 + [True, "test", *[False] * 8, True, True]


def test_a_dip_lasts_one_round(apogee: Library) -> None:
    j = judge(apogee, dip=1)
    rtt_round(apogee, j, 2 * BASE)
    assert not j.dip


@pytest.mark.parametrize(
    ("cwnd", "rtt", "alone", "beside"),
    [
        # all but what is in the queue, half at least; beside others three quarters at most
        (800, BASE * 5 // 4, 640, 600),
        (800, BASE * 2, 400, 400),
        (800, BASE * 4, 400, 400),
        (800, BASE, 800, 600),
        (3, BASE, 3, 3),
        # one segment would wait for the delayed ACK
        (2, BASE * 4, 2, 2),
    ],
)
def test_dips_at_hand(apogee: Library, cwnd: int, rtt: int, alone: int, beside: int) -> None:
    for is_alone, window in ((1, alone), (0, beside)):
        assert apogee.judge_dip(judge(apogee, last_us=rtt, alone=is_alone), cwnd) == window


@given(u32, u32, u32, flag)
def test_dips_in_fractions(apogee: Library, cwnd: int, rtt: int, base: int, alone: int) -> None:
    got = apogee.judge_dip(judge(apogee, base_us=base, last_us=rtt, alone=alone), cwnd)
    wanted = max(share(cwnd, rtt, base), cwnd // 2)
    assert got == max(wanted if alone else min(wanted, cwnd - cwnd // 4), 2)
    assert cwnd // 2 <= got <= max(cwnd, 2)


# --- any numbers ------------------------------------------------------------------------------

states = st.fixed_dictionaries(
    dict.fromkeys(("base_us", "least_us", "last_us"), u32)
    | dict.fromkeys(("ratio", "expected", "lost", "fall", "level"), u8)
    | {"excess": st.integers(0, 200), "still": st.integers(0, 16)}
    | {"test": st.integers(0, 3), "standing": st.integers(0, 4), "rest": st.integers(0, 8)}
    | {"skip": st.integers(0, 2)}
    | dict.fromkeys(("dip", "queue", "alone", "large", "link"), flag)
)
any_rounds = st.fixed_dictionaries(
    dict.fromkeys(("delivered", "lost", "cwnd", "path", "rtt_us"), u32) | {"limited": st.booleans()}
)


@given(states, any_rounds, u32)
def test_no_answer_but_one_raises_the_window(
    apogee: Library, state: dict[str, int], fields: dict[str, Any], prior: int
) -> None:
    """Any state, round and answer: a sixth more to take a cut back, 2^32 - 1 at most."""
    j, r = judge(apogee, **state), apogee.new("judge_round", **fields)
    cwnd = r.cwnd
    windows = [apogee.judge_cwnd(j, one, r, prior) for one in range(5)]
    stay, cut, full, over, back = windows
    assert stay == cwnd
    assert cut == cwnd <= 1 or cwnd * Fraction(4, 5) - 1 < cut < cwnd
    assert full == min(cwnd, prior - prior // 4)
    assert over <= min(cwnd, 2 * r.delivered)
    assert back == min(cwnd + cwnd // 6, U32_MAX)


@given(states, any_rounds, u32, u32, st.integers(1, 3))
def test_takes_any_numbers(
    apogee: Library, state: dict[str, int], fields: dict[str, Any], a: int, b: int, count: int
) -> None:
    """No trap, and all that is counted stays within its bounds."""
    j, r = judge(apogee, **state), apogee.new("judge_round", **fields)
    apogee.judge_rtt(j, a)
    apogee.judge_end_rtt(j, b, a)
    apogee.judge_use(j, r)
    got = apogee.judge_end_losses(j, r)
    assert got <= apogee.JUDGE_TAKE_BACK
    apogee.judge_cwnd(j, got, r, a)
    apogee.judge_begin_test(j, a, b, count)
    apogee.judge_dip(j, b)
    apogee.judge_test_due(j)
    assert j.excess <= 200
    assert j.still <= 16
    assert j.standing <= 4
    assert j.rest <= 8
    assert j.skip <= 2
