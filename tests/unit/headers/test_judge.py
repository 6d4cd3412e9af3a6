# SPDX-License-Identifier: GPL-2.0
"""star's judgement of RTT and losses, judge.h: by hand, and against exact arithmetic.

RTTs are in us, windows and counts in segments.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1
NONE = U32_MAX
BASE = 512_000  # a sixteenth and a 64th of it are whole numbers
EMPTY = BASE + BASE // 64 + 500  # the longest smoothed RTT of an empty queue
LINK = 12  # what a link is believed to lose at first, in 1/1024
SEGMENT = 32  # excess is counted in parts of one
ANSWERS = ("STAY", "CUT", "FULL", "OVER", "TAKE_BACK")

u32 = st.integers(0, U32_MAX) | st.sampled_from([0, 1, U32_MAX])
u8 = st.integers(0, 255)
flag = st.integers(0, 1)
sents = st.integers(0, 3000) | st.integers(0, 2**21)


def judge(apogee: Library, **fields: Any) -> Any:
    """What star_init() begins with, but for the fields and with an RTT that keeps to the least."""
    begin = {"base_us": BASE, "least_us": NONE, "last_us": NONE, "link": LINK}
    return apogee.new("judge_state", **begin | fields)


def after_a_round(apogee: Library, **fields: Any) -> Any:
    """The same after a round whose least RTT was the path's."""
    return judge(apogee, **{"last_us": BASE} | fields)


def a_round(apogee: Library, sent: int, lost: int, **fields: Any) -> Any:
    """A round trip of a window that was sent in full and fills the path, without a queue."""
    given_ = {"cwnd": sent, "path": sent, "rtt_us": BASE, "min_rtt_us": BASE, "limited": True}
    given_ |= fields
    return apogee.new("judge_round", delivered=sent - lost, lost=lost, **given_)


def answer(apogee: Library, j: Any, sent: int, lost: int, **fields: Any) -> str:
    """What the losses of a round ask for."""
    got = apogee.judge_end_losses(j, a_round(apogee, sent, lost, **fields))
    return next(name for name in ANSWERS if got == getattr(apogee, f"JUDGE_{name}"))


def rtt_round(
    apogee: Library, j: Any, rtt: int, *, spread: int = 0, min_rtt: int | None = None
) -> bool:
    """A round trip with this least RTT and mean above it; whether the path has become longer."""
    apogee.judge_rtt(j, rtt)
    return bool(apogee.judge_end_rtt(j, rtt + spread, j.base_us if min_rtt is None else min_rtt))


def share(cwnd: int, rtt: int, base: int) -> int:
    return math.floor(Fraction(cwnd * base, rtt)) if rtt > base else cwnd


# --- losses: the CUSUM ------------------------------------------------------------------------


def allowed(link: int) -> Fraction:
    """The share that is no excess: half as much again as the belief, and one in 128."""
    return Fraction(link + link // 2 + 8, 1024)


def too_many(cwnd: int, lone: bool = False) -> int:
    return min(max(cwnd // 12, 2 if lone else 1), 5)


@given(
    st.lists(st.tuples(sents, st.integers(0, 2000) | st.just(0), st.booleans()), max_size=60),
    st.integers(0, 5 * SEGMENT),
    u8,
    st.integers(0, 75) | st.just(U32_MAX),
    st.sampled_from([0, 3, 4]),
)
def test_excess_is_a_cusum(
    apogee: Library,
    rounds: list[tuple[int, int, bool]],
    begin: int,
    link: int,
    cwnd: int,
    lone: int,
) -> None:
    """S = max(0, S + lost - allowed), too many when S is more than the limit. Of a lone flow a
    round counts for 4 at most. In whole 1/32, so that no round is off by more than one of them.
    """
    j, total = judge(apogee, excess=begin, link=link, lone=lone), begin
    for sent, lost, near in rounds:
        lost = math.floor(sent * allowed(link)) + lost % 6 if near else lost
        more = math.ceil(lost * SEGMENT - sent * allowed(link) * SEGMENT)
        total = max(total + (min(more, 4 * SEGMENT) if lone == 4 else more), 0)
        excess = apogee.judge_is_excess(j, a_round(apogee, sent, lost, cwnd=cwnd), sent)
        assert excess == (total > too_many(cwnd, lone == 4) * SEGMENT)
        assert j.excess == min(total, 255)
        total = j.excess
    for more in (0, 1):
        j = judge(apogee, excess=too_many(cwnd, lone == 4) * SEGMENT + more, lone=lone)
        assert apogee.judge_is_excess(j, a_round(apogee, 0, 0, cwnd=cwnd), 0) == more


# --- losses: what a round asks for ------------------------------------------------------------


def test_a_cut_of_a_shared_path_is_a_test(apogee: Library) -> None:
    """12 % of 400 are 38 too many: a fifth less, and 48 * 1024 / 400 = 122 is remembered."""
    j = judge(apogee, large=1)
    assert answer(apogee, j, 400, 48) == "CUT"
    assert (j.ratio, j.skip, j.excess) == (122, 2, 0)
    assert apogee.judge_cwnd(j, apogee.JUDGE_CUT, a_round(apogee, 400, 48), 400) == 320


def test_no_test_where_the_cut_cannot_be_seen(apogee: Library) -> None:
    """Of a small part of the path, unless no other flow is there. 40 lost are 29 too many, and
    40 * 1024 / 400 = 102.
    """
    for lone, ratio in ((0, 0), (3, 0), (4, 102)):
        j = judge(apogee, lone=lone, excess=2 * SEGMENT)
        assert answer(apogee, j, 400, 40) == "CUT"
        assert (j.ratio, j.skip, j.excess) == (ratio, 2, 0)


@given(sents | st.integers(16, 120), u8, u8, st.booleans(), st.integers(0, 2), sents)
def test_overload_in_fractions(
    apogee: Library, sent: int, part: int, link: int, train: bool, skip: int, cwnd: int
) -> None:
    """One in five, half of the belief and 4 segments; then a test proves nothing any more. Less
    than 16 are no more than chance, and the first train fills a queue of its own. Right after a cut
    only if that was far too small: less than a quarter of the window arrived, five in eight lost.
    """
    most = math.floor(sent * Fraction(205 + link // 2, 1024)) + 4
    far = math.floor(sent * Fraction(5, 8))
    for lost in (sent * part // 255, *(n for n in (most, most + 1, far, far + 1) if n <= sent)):
        for size in (cwnd, 4 * (sent - lost), 4 * (sent - lost) + 1):
            j = judge(apogee, link=link, ratio=50, skip=skip)
            got = apogee.judge_is_over(j, a_round(apogee, sent, lost, train=train, cwnd=size))
            small = lost > far and 4 * (sent - lost) < size
            assert got == (lost > most and lost >= 16 and not train and (not skip or small))
            assert j.ratio == (0 if lost > most else 50)


@given(sents, u8, flag, flag)
def test_a_full_queue_that_is_shared(
    apogee: Library, sent: int, link: int, queue: int, alone: int
) -> None:
    """3 losses, one in 64, and those that are the link's; beside others only."""
    least = 3 + sent // 64 + sent * link // 1024
    for lost in (least, least - 1):
        j = judge(apogee, link=link, queue=queue, alone=alone)
        full = bool(queue) and not alone and lost >= least
        assert apogee.judge_is_full(j, a_round(apogee, sent, lost), sent) == full


@given(u32 | st.integers(0, 300))
def test_costly(apogee: Library, delivered: int) -> None:
    """32 losses at least, more than one in eight, and less than arrived."""
    for lost in (31, 32, delivered // 7, delivered // 7 + 1, max(delivered - 1, 0), delivered):
        if lost <= U32_MAX:
            r = apogee.new("judge_round", delivered=delivered, lost=lost)
            costly = 32 <= lost < delivered and 8 * lost > delivered + lost
            assert apogee.judge_is_costly(r) == costly


@given(st.integers(0, 20) | u32, u32, u32, st.tuples(u32, st.just(0) | u32), st.tuples(u32, u32))
def test_windows_in_fractions(
    apogee: Library,
    cwnd: int,
    delivered: int,
    prior: int,
    losses: tuple[int, int],
    rtts: tuple[int, int],
) -> None:
    """A fifth less, rounded up, but not to nothing; three quarters of the window before a full
    queue; a sixth more to take a cut back. Of an overload what arrived of the window and is not
    in a queue: once what was delivered without it at least, twice what was delivered at most.
    """
    lost, (rtt, base) = min(losses), rtts
    r = apogee.new("judge_round", cwnd=cwnd, delivered=delivered, lost=lost, rtt_us=rtt)
    cut = cwnd - math.ceil(Fraction(cwnd, 5)) or cwnd
    arrived = cwnd - math.floor(Fraction(cwnd * lost, max(delivered + lost, 1)))
    least, most = share(delivered, rtt, base), min(2 * delivered, U32_MAX)
    kept = min(max(share(arrived, rtt, base), least), most, cwnd)
    full, back = min(cwnd, prior - prior // 4), min(cwnd + cwnd // 6, U32_MAX)
    for name, window in zip(ANSWERS, (cwnd, cut, full, kept, back), strict=True):
        got = apogee.judge_cwnd(
            judge(apogee, base_us=base), getattr(apogee, f"JUDGE_{name}"), r, prior
        )
        assert got == window, name


def test_no_cut_for_a_window_that_does_not_limit(apogee: Library) -> None:
    """Nor for one of which less than three quarters were sent: the receiver's was shut."""
    for fields in ({"limited": False}, {"cwnd": 534}):
        assert answer(apogee, judge(apogee), 400, 40, **fields) == "STAY"
    assert answer(apogee, judge(apogee), 400, 40, cwnd=533) == "CUT"


# --- losses: what the link is believed to lose ------------------------------------------------


def see(apogee: Library, j: Any, sent: int, lost: int, **fields: Any) -> int:
    """What the link is believed to lose after a round."""
    apogee.judge_see(j, a_round(apogee, sent, lost, **fields), sent)
    return j.link


@pytest.mark.parametrize(
    ("seen", "link"),
    # times 12 / 15: exactly 80 and 180 are none
    [(100, 12), (101, 12), (102, 81), (160, 128), (224, 179), (225, 12)],
)
def test_one_in_13_to_one_in_6(apogee: Library, seen: int, link: int) -> None:
    """Of 1024; 111/8 losses were expected before, 9/8 are of the 96 segments of this round, 15 on
    the whole. A flow with a large part of the path does not attribute them to the link, and a
    round with a queue does not count if something was lost in it.
    """

    def belief(rtt_us: int = BASE, lost: int = 0, **fields: int) -> int:
        j = judge(apogee, seen_expected=111, seen=seen - lost, **fields)
        return see(apogee, j, 96, lost, rtt_us=rtt_us)

    assert belief() == belief(EMPTY) == belief(EMPTY + 1) == belief(EMPTY, lost=1) == link
    assert belief(large=1) == belief(EMPTY + 1, lost=1) == 12


def test_small_windows_learn_slowly(apogee: Library) -> None:
    """40 segments, 4 lost: 2.98 too many twice are more than the limit of 3, two rounds are left
    out after it, and 48 losses have been seen in the twelfth that counts, the 22nd. They are 96
    of 1024 where 4 are expected in 8 rounds, not 3.75; then 5.9 in a round are allowed. Of
    those 30 are, and in five rounds 20 * 8 / 150 of 96 are seen: 102.
    """
    j = judge(apogee)
    got = [answer(apogee, j, 40, 4) for _ in range(22)]
    assert got == ["STAY", "CUT", "STAY", "STAY"] * 5 + ["STAY"] * 2
    assert j.link == 96
    assert [answer(apogee, j, 40, 4) for _ in range(5)] == ["STAY"] * 5
    assert j.link == 102


@given(u8)
def test_doubt_in_fractions(apogee: Library, link: int) -> None:
    assert apogee.judge_doubt(link) == link - math.ceil(max(Fraction(link - 40, 8), 0))


@pytest.mark.parametrize(("asked", "link"), [(3, 3), (255, 255), (256, 255), (U32_MAX, 255)])
def test_a_belief_begins_with_nothing_seen(apogee: Library, asked: int, link: int) -> None:
    j = judge(apogee, seen_expected=99, seen=33)
    apogee.judge_believe(j, asked)
    assert (j.link, j.seen_expected, j.seen) == (link, 0, 0)


sizes = st.integers(0, 300) | sents | st.sampled_from([127, 128])
few = st.integers(0, 60) | st.just(0)


@given(
    st.tuples(st.integers(0, 127), u8 | st.integers(40, 50)),
    st.lists(st.tuples(sizes, few, st.booleans()), max_size=60),
    st.integers(3, 255) | st.integers(3, 14),
    flag,
    flag,
    st.sampled_from([0, 3, 4]),
)
@example((112, 16), [(256, 0, False)], 8, 1, 0, 0)  # as many as were expected
@example((127, 6), [(272, 0, False)], 8, 1, 0, 0)  # a third of them
def test_the_belief_in_fractions(
    apogee: Library,
    begin: tuple[int, int],
    rounds: list[tuple[int, int, bool]],
    link: int,
    large: int,
    alone: int,
    lone: int,
) -> None:
    """After 16 expected losses, or 48 seen and one expected. Counted in 1/8, rounded; of a round
    12 at most, and of what was lost the same part. Small rounds with losses of a flow that is not
    large count without a queue only, jitter not allowed for. What is met beside others and a queue
    is doubted.
    """
    state = dict(zip(("seen_expected", "seen"), begin, strict=True))
    j = judge(apogee, link=link, large=large, alone=alone, lone=lone, calm=255, **state)
    expected, seen = Fraction(begin[0], 8), begin[1]
    for sent, lost, queue in rounds:
        small = not large and sent < 128
        if not (queue and lost and small):
            rounded = math.floor(Fraction(sent * link * 8, 1024) + Fraction(1, 2))
            counted = min(rounded, 96)
            expected += Fraction(counted, 8)
            lost_counted = math.floor(Fraction(lost * counted, rounded)) if rounded else lost
            seen = min(seen + lost_counted, 255)
        got = see(apogee, j, sent, lost, rtt_us=EMPTY + queue)
        if not (queue and lost and small) and (expected >= 16 or (seen >= 48 and expected >= 1)):
            share = math.floor(seen / expected * link)
            if seen < expected / 3:
                link -= link // 4
            elif small and 80 < share < 180:
                link = share
            elif seen > expected and link < 12:
                link += 1
            elif queue and not alone and lone < 4:
                link -= math.ceil(max(Fraction(link - 40, 8), 0))
            expected, seen = Fraction(0), 0
        assert got == link
        assert (j.seen_expected, j.seen) == (expected * 8, seen)


# --- losses: what a cut shows -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "took_back"),
    [
        # 350 * 122 / 1024 = 41 are expected, of which 11 count: 7 to 17 of them, with fractions
        (41, True),
        (27, True),
        (67, True),
        # half of it, none, far more
        (25, False),
        (20, False),
        (0, False),
        (70, False),
    ],
)
@pytest.mark.parametrize("times", [1, 4, 10, 50])
def test_the_link_s_losses_stay(apogee: Library, lost: int, took_back: bool, times: int) -> None:
    """After a cut two rounds are of data sent before; then three are evaluated in any case."""
    j = after_a_round(apogee, large=1)
    assert answer(apogee, j, 400 * times, 48 * times) == "CUT"
    assert [answer(apogee, j, 350 * times, 48 * times) for _ in range(2)] == ["STAY"] * 2
    got = [answer(apogee, j, 350 * times, lost * times, path=400 * times) for _ in range(3)]
    assert got == ["STAY", "STAY", "TAKE_BACK" if took_back else "STAY"]
    assert j.ratio == 0
    # 21 of 33 to 51 of 33 times 122
    assert 77 <= j.link <= 188 if took_back else j.link <= 12


@given(u8, u8 | st.integers(0, 600))
def test_five_and_13_eighths_or_half_and_twice(apogee: Library, expected: int, lost: int) -> None:
    beside, alone = (Fraction(5, 8), Fraction(13, 8)), (Fraction(1, 2), Fraction(2))
    for lone, (least, most) in ((0, beside), (3, beside), (4, alone)):
        j = judge(apogee, lone=lone)
        ends = math.ceil(least * expected), math.floor(most * expected)
        for one in (lost, *ends, max(ends[0] - 1, 0), ends[1] + 1):
            stays = least * expected <= one <= most * expected
            assert apogee.judge_stays(j, expected, one) == stays


@given(
    st.integers(0, 300) | sents,
    st.integers(0, 100),
    st.integers(1, 255) | st.integers(1, 66),
    st.tuples(st.integers(0, 31), u8 | st.integers(0, 40)),
    st.sampled_from([0, 3, 4]),
    st.integers(3, 255),
    st.tuples(*[st.sampled_from([0, 0, 0, 1])] * 2),
)
def test_the_link_in_exact_arithmetic(
    apogee: Library,
    sent: int,
    percent: int,
    ratio: int,
    begin: tuple[int, int],
    lone: int,
    link: int,
    over: tuple[int, int],
) -> None:
    """One round of a test: it ends where 16 were expected or, from one in 16 on, 32. What is
    expected of a round is rounded up. It counts for a third and one at most; beside others a
    quarter is the least. Less than half lowers the belief, to what it began with at most. A segment
    more than the path carries, or an RTT that is a microsecond longer than jitter has it, voids it.
    """
    want = 16 if ratio < 64 else 32
    expected, lost = begin[0] % want, sent * percent // 100
    j = after_a_round(
        apogee, ratio=ratio, expected=expected, lost=begin[1], lone=lone, link=link, calm=13
    )
    rtt = EMPTY + 2000 * 13 + over[1]
    r = a_round(apogee, sent, lost, path=max(sent - over[0], 0), rtt_us=rtt, min_rtt_us=1)
    got = apogee.judge_test_link(j, r, sent)
    due = math.ceil(Fraction(sent * ratio, 1024))
    if (sent and over[0]) or over[1] or (lone < 4 and due < want // 4):
        assert (got, j.link, j.ratio, j.expected, j.lost) == (False, link, 0, 0, 0)
        return
    counted = min(due, want // 3 + 1)
    lost = begin[1] + (math.floor(Fraction(lost * counted, due)) if due > counted else lost)
    expected, lost = expected + counted, min(lost, 255)
    if expected < want:
        assert (got, j.link, j.ratio, j.expected, j.lost) == (False, link, ratio, expected, lost)
        return
    least, most = (Fraction(1, 2), 2) if lone == 4 else (Fraction(5, 8), Fraction(13, 8))
    stays, share = least * expected <= lost <= most * expected, ratio * lost // expected
    if stays:
        link = max(link, min(share, 255))
    elif lost < Fraction(expected, 2):
        link = max(min(link, share), min(link, 12))
    assert (got, j.link, j.ratio, j.expected, j.lost) == (stays, link, 0, 0, 0)


def test_an_overload_voids_the_test(apogee: Library) -> None:
    """A cut, two rounds, 100 of 350 lost; the same share as before then proves nothing."""
    j = after_a_round(apogee, large=1)
    answer(apogee, j, 400, 48)
    for _ in range(2):
        answer(apogee, j, 350, 42)
    assert answer(apogee, j, 350, 100) == "OVER"
    assert (j.ratio, j.link, j.skip) == (0, 12, 2)
    assert [answer(apogee, j, 250, 30) for _ in range(2)] == ["STAY"] * 2
    assert answer(apogee, j, 250, 30) == "CUT"


# --- whose path it is -------------------------------------------------------------------------


@given(sents, u8, sents, flag, st.integers(0, 4), st.integers(0, 2))
def test_use_in_fractions(
    apogee: Library, sent: int, part: int, path: int, queue: int, lone: int, quiet: int
) -> None:
    """Large: 3/8 of the path. Alone: 7/8, with a queue 15/16, and one in five lost at most. Lone:
    alone for four rounds, until there is a queue with less; quiet rounds are none alone.
    """
    most = Fraction(15, 16) if queue else Fraction(7, 8)
    edges = [math.ceil(part * path) for part in (Fraction(3, 8), most)]
    for sent_ in (sent, *edges, *(max(edge - 1, 0) for edge in edges)):
        for lost in (sent_ * part // 255, sent_ // 5, min(sent_ // 5 + 1, sent_)):
            j = judge(apogee, queue=queue, lone=lone, quiet=quiet)
            apogee.judge_use(j, a_round(apogee, sent_, lost, path=path))
            alone = sent_ >= most * path and lost <= Fraction(sent_, 5)
            assert (j.large, j.alone) == (sent_ >= Fraction(3, 8) * path, alone)
            rounds = lone + 1 if alone else 0
            kept = quiet or lone == 4
            after = 0 if queue and sent_ < most * path else lone if kept else rounds
            assert (j.lone, j.quiet) == (after, quiet)


@pytest.mark.parametrize(
    ("path", "lost", "lone"),
    [
        (399, 21, 0),  # 7/8 of 399 are 349.1, one in 16 of 349 21.8
        (398, 21, 4),
        (399, 22, 4),
    ],
)
def test_a_cut_of_a_full_path_that_carries_less(
    apogee: Library, path: int, lost: int, lone: int
) -> None:
    """An excess although few are lost and less is sent than it carries: others send."""
    j = judge(apogee, lone=4, excess=5 * SEGMENT)
    assert answer(apogee, j, 349, lost, path=path) == "CUT"
    assert j.lone == lone


# --- silence ----------------------------------------------------------------------------------


def test_the_rounds_of_a_silence_tell_nothing(apogee: Library) -> None:
    """Of a lone flow two rounds: 90 % lost, and all stays as it was but for their number."""
    j = judge(apogee, lone=4, large=1, skip=1, excess=100, ratio=100, seen=9, seen_expected=17)
    apogee.judge_silence(j)
    assert j.quiet == 2
    assert [answer(apogee, j, 400, 360) for _ in range(2)] == ["STAY"] * 2
    assert (j.quiet, j.skip, j.excess, j.ratio) == (0, 1, 100, 100)
    assert (j.seen, j.seen_expected, j.lone) == (9, 17, 4)
    j.skip = 0
    assert answer(apogee, j, 400, 360) == "OVER"


@pytest.mark.parametrize("lone", [0, 3])
def test_others_leave_gaps(apogee: Library, lone: int) -> None:
    """What arrives of a full queue: no silence where others are."""
    j = judge(apogee, lone=lone)
    apogee.judge_silence(j)
    assert j.quiet == 0
    assert answer(apogee, j, 400, 360) == "OVER"


# --- RTT: an empty queue ----------------------------------------------------------------------


@given(u32, u32, u8)
def test_an_empty_queue(apogee: Library, rtt: int, base: int, calm: int) -> None:
    """A 64th, half a millisecond and what is there anyway above the least."""
    longest = base + base // 64 + 500 + math.floor(Fraction(base * calm, 256))
    for one in (rtt, min(longest, U32_MAX), min(longest + 1, U32_MAX)):
        assert apogee.judge_is_empty(one, base, calm) == (one <= longest)


@given(u32, u32, u8, st.booleans())
def test_calm_in_fractions(apogee: Library, rtt: int, base: int, calm: int, little: bool) -> None:
    j = judge(apogee, base_us=base, calm=calm)
    apogee.judge_calm(j, rtt, little)
    now = min(math.floor(Fraction(max(rtt - base, 0) * 256, max(base, 1))), 255)
    assert j.calm == (now if now < calm else calm + math.ceil(Fraction(now - calm, 4)) * little)


@pytest.mark.parametrize(("sent", "calm"), [(299, 12), (300, 10), (400, 10), (0, 12)])
def test_less_than_three_quarters_of_the_path_are_little(
    apogee: Library, sent: int, calm: int
) -> None:
    """Then 16/256 above it are the path's: a quarter of 6 more, rounded up."""
    j = judge(apogee, calm=10)
    apogee.judge_use(j, a_round(apogee, sent, 0, path=400, rtt_us=BASE + 32_000))
    assert j.calm == calm


# --- RTT: a queue -----------------------------------------------------------------------------


@given(u32, u32, u32)
def test_share(apogee: Library, cwnd: int, rtt: int, base: int) -> None:
    assert apogee.judge_share(cwnd, rtt, base) == share(cwnd, rtt, base) <= cwnd


@given(u32, u32, u32)
def test_a_queue_stands_a_sixteenth_and_the_spread_above(
    apogee: Library, base: int, rtt: int, spread: int
) -> None:
    edge = base + base // 16 + spread
    for least in (max(rtt, base), edge, edge + 1):
        if least + spread < NONE:
            j = judge(apogee, base_us=base, least_us=least)
            apogee.judge_end_rtt(j, least + spread, 0)
            assert j.queue == (least > edge)


# --- RTT: the top of the queue ----------------------------------------------------------------


@given(u32, u32, u8)
def test_queued_in_fractions(apogee: Library, rtt: int, base: int, sixteenths: int) -> None:
    """In whole sixteenths of the path's RTT, up to 255."""
    edge = min(base + math.ceil(Fraction(sixteenths * base, 16)), U32_MAX)
    for one in (rtt, edge, max(edge - 1, 0)):
        above = Fraction(max(one - base, 0) * 16, max(base, 1))
        assert apogee.judge_queued(judge(apogee, base_us=base), one) == min(math.floor(above), 255)


@given(u8, u8)
def test_the_top_falls_by_a_thirty_second_a_round(apogee: Library, top: int, queued: int) -> None:
    """Rounded up, to the queue that there is. Near it are three quarters of it and more."""
    after = top - math.ceil(Fraction(top, 32))
    for now in (queued, after):
        j = judge(apogee, top=top)
        assert apogee.judge_is_near_top(j, BASE + 32_000 * now) == (now >= Fraction(3, 4) * top)
        rtt_round(apogee, j, BASE + 32_000 * now)
        assert j.top == max(now, after)


@pytest.mark.repeats
@given(u8, u32.filter(lambda rtt: rtt >= BASE) | st.integers(BASE, 20 * BASE))
def test_a_longer_path_keeps_the_rest_of_its_queue_s_top(
    apogee: Library, top: int, rtt: int
) -> None:
    """What the path's new RTT takes of it, in sixteenths of the old one, was no queue."""
    j = judge(apogee, least_us=rtt, top=top, queue=1, standing=4, still=16, rest=5)
    apogee.judge_adopt(j)
    assert (j.base_us, j.top) == (rtt, max(top - (rtt - BASE) * 16 // BASE, 0))
    assert not (j.queue or j.standing or j.still or j.rest)


@given(u32, u32, u32, flag)
def test_an_rtt_within_a_sixteenth_ends_a_queue(
    apogee: Library, rtt: int, base: int, least: int, queue: int
) -> None:
    """And none begins one: that is for the round to say."""
    edge = min(base + base // 16, U32_MAX)
    for one in (rtt, edge, min(edge + 1, U32_MAX)):
        j = judge(apogee, base_us=base, least_us=least, queue=queue)
        apogee.judge_rtt(j, one)
        path = min(base, one)
        assert (j.base_us, j.least_us) == (path, min(least, one))
        assert j.queue == (queue and one > path + path // 16)


def test_a_round_without_an_rtt_tells_nothing(apogee: Library) -> None:
    """A retransmission's ACKs have none: all stays as it is."""
    j = judge(apogee, queue=1, standing=2, rest=3, test=1, dip=1, still=5, top=9)
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
    """And never beyond eight times the stack's minimum."""
    j = judge(apogee, base_us=NONE, large=1)
    for number, (rtt, spread, min_rtt) in enumerate(rounds):
        before, top = j.base_us, j.top
        if number % 5 == 0:
            apogee.judge_begin_test(j, j.last_us, 2**19, 2)
        if rtt_round(apogee, j, rtt, spread=spread, min_rtt=min_rtt):
            assert before < j.base_us == rtt <= 8 * min_rtt
            assert not (j.queue or j.standing or j.still or j.rest)
            queued = min(math.floor(Fraction(16 * (rtt - before), before)), 255)
            assert j.top == max(top - math.ceil(Fraction(top, 32)) - queued, 0)
        else:
            assert j.base_us == min(before, rtt)
        assert j.standing <= 4 and j.rest <= 8 and j.test <= 2


edge_rtts = st.sampled_from([BASE + BASE // 16, BASE + BASE // 16 + 1, 8 * BASE, 8 * BASE + 1])
level_rtts = st.integers(0, 512).map(lambda level: BASE + BASE // 64 * level)
# still; within a 64th of the path's RTT, and just not; growing by 2 ms a round
waves = st.sampled_from([(0, 1), (BASE // 64, 2), (BASE // 32, 2), (2000, 100)])
phases = st.tuples(
    edge_rtts | level_rtts,
    waves,
    st.sampled_from([0, 0, 38_000]),
    st.sampled_from([False, False, True]),
    st.integers(1, 25),
)


@given(st.lists(phases, max_size=12))
def test_standing_and_still_rounds(
    apogee: Library, phases: list[tuple[int, tuple[int, int], int, bool, int]]
) -> None:
    """A queue stands for so many rounds, to four, in which it does not rise by more than an eighth.
    An RTT with a queue that stays within a 64th of a level is the path's after 16 rounds of a flow
    that is not large, the first of which sets the level; up to eight times the stack's minimum.
    """
    j, last, level, still, standing = judge(apogee), NONE, 0, 0, 0
    for begin, (height, period), spread, large, count in phases:
        for turn in range(count):
            rtt, j.large = begin + height * (turn % period), large
            queue = rtt > BASE + BASE // 16 + spread
            standing = min(standing + 1, 4) if queue and rtt <= last + last // 8 else 0
            now = 64 * (rtt - BASE) // BASE
            counts = queue and not large and abs(now - level) <= 1
            level, still = (level, min(still + 1, 16)) if counts else (now, 0)
            longer = rtt_round(apogee, j, rtt, spread=spread, min_rtt=BASE)
            assert longer == (still == 16 and rtt <= 8 * BASE)
            if longer:
                assert j.base_us == rtt
                return
            assert (j.base_us, j.queue) == (BASE, queue)
            assert (j.standing, j.level, j.still) == (standing, level, still)
            assert apogee.judge_test_due(j) == (standing == 4)
            last = rtt


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


@given(u32, u32, flag, flag)
def test_a_fall_in_fractions(apogee: Library, rtt: int, fall: int, large: int, alone: int) -> None:
    """No test whose answer would not be seen: 2/32 of the RTT alone, 3/32 beside others."""
    seen = math.floor(Fraction(rtt * (2 if alone else 3), 32))
    for one in (fall, seen, max(seen - 1, 0)):
        j = judge(apogee, last_us=1, large=large, alone=alone)
        apogee.judge_begin_test(j, rtt, one, 3)
        begins = large and rtt not in (0, NONE) and one >= seen
        assert (j.test, j.last_us) == ((3, rtt) if begins else (0, 1))
        if begins:
            assert j.fall == min(math.floor(Fraction(one * 256, rtt)), 255)


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


@given(u32, u32)
def test_rising_in_fractions(apogee: Library, least: int, last: int) -> None:
    """Nothing has risen without a round before."""
    j = judge(apogee, least_us=least, last_us=last)
    assert apogee.judge_is_rising(j) == (least > last + last // 8)


def test_a_test_that_ends_before_its_time(apogee: Library) -> None:
    """All else stays: it is neither a queue nor the path, and the losses are not evaluated."""
    j = judge(apogee, base_us=500_000, large=1, alone=1, dip=1, rest=3, standing=4, ratio=100)
    apogee.judge_begin_test(j, 600_000, 100_000, 2)
    apogee.judge_end_test(j)
    assert (j.test, j.dip, j.ratio, j.rest, j.standing) == (0, 0, 0, 3, 4)
    assert (j.last_us, j.link) == (600_000, 12)
    assert not rtt_round(apogee, j, 600_000)
    assert (j.base_us, j.rest) == (500_000, 2)


def test_a_test_of_the_link_that_ends_before_its_time(apogee: Library) -> None:
    """48 of 400 are a cut again, not the losses of the last one; and it counts from the start."""
    for ends, got in ((False, "TAKE_BACK"), (True, "CUT")):
        j = after_a_round(apogee, large=1, ratio=122, expected=31, lost=31)
        if ends:
            apogee.judge_end_test(j)
        assert answer(apogee, j, 400, 48) == got
        assert (j.ratio, j.expected, j.lost) == (122 if ends else 0, 0, 0)


def test_a_dip_lasts_one_round(apogee: Library) -> None:
    j = judge(apogee, dip=1)
    rtt_round(apogee, j, 2 * BASE)
    assert not j.dip


@given(u32 | st.integers(0, 9), u32, u32, flag)
def test_dips_in_fractions(apogee: Library, cwnd: int, rtt: int, base: int, alone: int) -> None:
    got = apogee.judge_dip(judge(apogee, base_us=base, last_us=rtt, alone=alone), cwnd)
    wanted = max(share(cwnd, rtt, base), cwnd // 2)
    assert got == max(wanted if alone else min(wanted, cwnd - cwnd // 4), 2)
    assert cwnd // 2 <= got <= max(cwnd, 2)


# --- any numbers ------------------------------------------------------------------------------

#: What is counted, and up to where. RTTs are still by a 64th of seven more than the path's.
BOUNDS = {
    "excess": 5 * SEGMENT,
    "level": 2**16 - 1,
    "still": 16,
    "expected": 31,
    "seen_expected": 127,
    "test": 3,
    "standing": 4,
    "rest": 8,
    "skip": 2,
    "lone": 4,
    "quiet": 2,
}
states = st.fixed_dictionaries(
    dict.fromkeys(("base_us", "least_us", "last_us"), u32)
    | dict.fromkeys(("ratio", "lost", "fall", "link", "seen", "calm", "top"), u8)
    | {name: st.integers(0, most) for name, most in BOUNDS.items()}
    | dict.fromkeys(("dip", "queue", "alone", "large"), flag)
)
any_rounds = st.fixed_dictionaries(
    dict.fromkeys(("delivered", "lost", "cwnd", "path", "rtt_us", "min_rtt_us"), u32)
    | dict.fromkeys(("limited", "train"), st.booleans())
)


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
    assert j.excess <= BOUNDS["excess"]
    apogee.judge_cwnd(j, got, r, a)
    apogee.judge_begin_test(j, a, b, count)
    apogee.judge_dip(j, b)
    apogee.judge_test_due(j)
    apogee.judge_is_near_top(j, b)
    apogee.judge_is_costly(r)
    apogee.judge_silence(j)
    apogee.judge_cut_made(j)
    apogee.judge_end_test(j)
    for name, most in BOUNDS.items():
        assert getattr(j, name) <= most, name
