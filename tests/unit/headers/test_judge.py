# SPDX-License-Identifier: GPL-2.0
"""star's judgement of RTT and losses, judge.h: by hand, and against exact arithmetic.

RTTs are in us, windows and counts in segments, ages of timestamps in 256 us, how much longer the
way back is in 16 us, clocks in 131072 us.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.judge_states import (
    BASE,
    BOUNDS,
    CLOCK,
    FEW,
    LINK,
    MOST,
    NONE,
    RENEW,
    U32_MAX,
    a_round,
    flag,
    is_empty,
    judge,
    links,
    path_us,
    renew_after,
    states,
    u8,
    u16,
    u32,
    way_back,
)

SEGMENT = 32  # excess is counted in parts of one
ANSWERS = ("STAY", "CUT", "FULL", "OVER")

sents = st.integers(0, 3000) | st.integers(0, 2**21)
rtts = st.integers(1, 2**22)


def answer(apogee: Library, j: Any, sent: int, lost: int, **fields: Any) -> str:
    """What the losses of a round ask for."""
    got = apogee.judge_end_losses(j, a_round(apogee, sent, lost, **fields))
    return next(name for name in ANSWERS if got == getattr(apogee, f"JUDGE_{name}"))


def rtt_round(apogee: Library, j: Any, rtt: int, *, spread: int = 0, **fields: Any) -> bool:
    """A round trip of 400 segments with this least RTT, and a smoothed one above it.

    Returns whether the path has become longer.
    """
    apogee.judge_rtt(j, rtt, 400)
    r = a_round(apogee, 400, 0, rtt_us=rtt + spread, **fields)
    return bool(apogee.judge_end_rtt(j, r))


def share(cwnd: int, rtt: int, base: int) -> int:
    return math.floor(Fraction(cwnd * base, rtt)) if rtt > base else cwnd


@given(u32, u32, u32)
def test_a_beginning(apogee: Library, base: int, now: int, tsval_: int) -> None:
    """Nothing is known but what the handshake took and a timestamp: all else is 0."""
    j = apogee.new("judge_state")
    apogee.judge_init(j, base, now, tsval_)
    age = (now - 1000 * tsval_) % 2**32 // 256 % 2**16
    clock = {"age": age, "mark": age // 16 % 2**8, "half": now >> 19 & 1, "ticks": 1}
    known = {"base_us": base, "least_us": NONE, "last_us": NONE, "low_us": NONE}
    known |= {"link": 12, "seen": now // CLOCK % 2**8} | clock
    assert bytes(j) == bytes(judge(apogee, **known))


# --- losses: the link's -----------------------------------------------------------------------


def test_a_link_is_learned_and_forgotten(apogee: Library) -> None:
    """11 of 128 are 88 of 1024: a round of 128 counts as much as all before, down to 12."""
    j, links_ = judge(apogee, empty=1, learns=1), []
    for lost in (11,) * 4 + (0,) * 3:
        apogee.judge_learn(j, a_round(apogee, 128, lost), 128)
        links_.append(j.link)
    assert links_ == [50, 69, 78, 83, 41, 20, 12]


@given(
    u32 | sents, u32 | st.integers(0, 300), links, st.sampled_from([(0, 0), (1, 0), (1, 1)]), flag
)
def test_the_link_in_fractions(
    apogee: Library, sent: int, lost: int, link: int, empty: tuple[int, int], alone: int
) -> None:
    """The mean of the belief, of 128 segments, and of the round, in whole 1024ths. It rises where
    the queue was empty only, beyond one in 52 where the smoothed RTT shows that, too. Where that
    does not, beside others, what is above that falls by an eighth, rounded up.
    """
    j = judge(apogee, link=link, empty=empty[0], learns=empty[1], alone=alone)
    apogee.judge_learn(j, apogee.new("judge_round", lost=lost), sent)
    rate = math.floor(Fraction(1024 * min(lost, sent), max(sent, 1)))
    mean = math.floor(Fraction(128 * link + sent * rate, min(sent + 128, U32_MAX)))
    believed = max(link, FEW)
    doubted = believed if alone else believed - math.ceil(Fraction(believed - FEW, 8))
    most = min(link, doubted) if not empty[0] else MOST if empty[1] else doubted
    assert j.link == min(max(mean, LINK), most)


def test_a_belief_that_others_may_have_caused_ends(apogee: Library) -> None:
    """96 less 20 are 76, of which an eighth is 10; of 66 it is 9, of 57 it is 8. More is lost than
    is believed, so that only the doubt lowers it.
    """
    j, seen = judge(apogee, link=MOST), []
    while j.link > FEW:
        apogee.judge_learn(j, a_round(apogee, 1024, 200), 1024)
        seen.append(j.link - FEW)
    assert seen == [66, 57, 49, 42, 36, 31, 27, 23, 20, 17, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0]


# --- losses: the CUSUM ------------------------------------------------------------------------


def allowed(link: int) -> Fraction:
    """The share that is no excess: half as much again as the belief, and one in 128."""
    return Fraction(link + link // 2 + 8, 1024)


def too_many(cwnd: int, empty: int = 0) -> int:
    return min(max(cwnd // 12, 1 + empty), 5)


@given(
    st.lists(st.tuples(sents, st.integers(0, 2000) | st.just(0), st.booleans()), max_size=60),
    st.integers(0, 5 * SEGMENT),
    u8,
    st.integers(0, 75) | st.just(U32_MAX),
    flag,
    flag,
    flag,
)
def test_excess_is_a_cusum(
    apogee: Library,
    rounds: list[tuple[int, int, bool]],
    begin: int,
    link: int,
    cwnd: int,
    empty: int,
    alone: int,
    queue: int,
) -> None:
    """S = max(0, S + lost - allowed), too many when S is more than the limit: of a small window one
    segment, two with an empty queue. With that, or alone without a queue, a round counts for the
    limit at most. A round without losses takes an eighth of S before. In whole 1/32, so that no
    round is off by more than one.
    """
    flags = {"empty": empty, "alone": alone, "queue": queue}
    j, total = judge(apogee, excess=begin, link=link, **flags), begin
    burst = empty or (alone and not queue)
    for sent, lost, near in rounds:
        lost = math.floor(sent * allowed(link)) + lost % 6 if near else lost
        more = math.ceil(lost * SEGMENT - sent * allowed(link) * SEGMENT)
        most = too_many(cwnd, empty) * SEGMENT
        total -= 0 if lost else math.ceil(Fraction(total, 8))
        total = max(total + (min(more, most) if burst else more), 0)
        excess = apogee.judge_is_excess(j, a_round(apogee, sent, lost, cwnd=cwnd), sent)
        assert excess == (total > most)
        assert j.excess == min(total, 255)
        total = j.excess
    for more in (0, 1):
        j = judge(apogee, excess=(too_many(cwnd, empty) - 1) * SEGMENT + more, empty=empty)
        assert apogee.judge_is_excess(j, a_round(apogee, 1, 1, cwnd=cwnd), 0) == more


@pytest.mark.parametrize("percent", [0, 1, 3, 5, 8, 9])
def test_a_link_with_few_losses_is_not_cut_for_ever(apogee: Library, percent: int) -> None:
    """400 segments with an empty queue: what a link loses is learned in some rounds."""
    j = judge(apogee, empty=1, learns=1)
    got = [answer(apogee, j, 400, 4 * percent) for _ in range(40)]
    assert got.count("CUT") <= 1
    assert got[4:] == ["STAY"] * 36
    rate = min(max(4 * percent * 1024 // 400, LINK), MOST)
    assert max(rate - 1, LINK) <= j.link <= rate


# --- losses: what a round asks for ------------------------------------------------------------


def test_a_cut_counts_after_two_rounds(apogee: Library) -> None:
    """Of 400, 48 lost are 36 too many. Two rounds of data sent before say nothing, however much
    they lose; of the next 30 lost are 18 too many. What they lose is learned with an empty queue
    only, not here.
    """
    j = judge(apogee)
    assert answer(apogee, j, 400, 48) == "CUT"
    assert (j.skip, j.excess, j.link) == (2, 0, 12)
    assert [answer(apogee, j, 400, 80) for _ in range(2)] == ["STAY"] * 2
    assert (j.skip, j.excess, j.link) == (0, 0, 12)
    assert answer(apogee, j, 400, 30) == "CUT"


def test_rounds_of_any_window_are_learned(apogee: Library) -> None:
    """40 of 400 are 102 of 1024: (12 * 128 + 102 * 400) / 528 = 80.2. But not the first train,
    which fills a queue of its own, nor what was sent before a cut.
    """
    for fields, train, link in (({"skip": 1}, False, 12), ({}, False, 80), ({}, True, 12)):
        j = judge(apogee, empty=1, learns=1, **fields)
        assert answer(apogee, j, 400, 40, train=train, limited=False) == "STAY"
        assert j.link == link


def test_no_cut_without_a_loss(apogee: Library) -> None:
    """What is left from a larger window is too much for this one: of 58/32 an eighth and 20 * 26/32
    go.
    """
    j = judge(apogee, excess=58)
    assert answer(apogee, j, 20, 0) == "STAY"
    assert (j.excess, j.skip) == (58 - 8 - 16, 0)


def test_an_excess_of_two_segments_ends(apogee: Library) -> None:
    """The window does not grow meanwhile: without losses that lasts for 15 round trips at most."""
    j = judge(apogee, excess=255)
    for _ in range(15):
        answer(apogee, j, 2, 0)
    assert j.excess < SEGMENT


def test_no_cut_for_a_window_that_does_not_limit(apogee: Library) -> None:
    """Nor for one of which less than three quarters were sent: the receiver's was shut. What was in
    excess before is forgotten.
    """
    for fields in ({"limited": False}, {"cwnd": 534}):
        j = judge(apogee, excess=160)
        assert answer(apogee, j, 400, 40, **fields) == "STAY"
        assert (j.skip, j.excess) == (0, 0)
    assert answer(apogee, judge(apogee), 400, 40, cwnd=533) == "CUT"


@pytest.mark.parametrize("unfilled", [{"limited": False}, {"cwnd": 534}])
@pytest.mark.parametrize(
    ("lost", "fields", "judged"),
    [
        # 3, one in 64 of 400, and 12 in 1024
        (13, {"rests": True}, "FULL"),
        (12, {"rests": True}, "STAY"),
        (13, {"rests": True, "train": True}, "STAY"),
        # the receiver's window was shut
        (13, {}, "STAY"),
    ],
)
def test_a_window_that_the_application_does_not_fill(
    apogee: Library, unfilled: dict[str, Any], lost: int, fields: dict[str, Any], judged: str
) -> None:
    """RFC 7661 4.4.2: it is not known to fit, so a loss beyond the link's takes some of it."""
    j = judge(apogee, excess=160)
    assert answer(apogee, j, 400, lost, **fields | unfilled) == judged
    assert j.excess == 0
    assert answer(apogee, judge(apogee), 400, 12, rests=True) == "STAY"


@given(sents | st.integers(3, 120), u8, u8, st.booleans())
def test_far_too_many_in_fractions(
    apogee: Library, sent: int, part: int, link: int, train: bool
) -> None:
    """One in five, half of the belief and 2 segments; four at least. The first train fills a queue
    of its own.
    """
    most = math.floor(sent * Fraction(205 + link // 2, 1024)) + 2
    for lost in (sent * part // 255, *(n for n in (3, 4, most, most + 1) if n <= sent)):
        r = a_round(apogee, sent, lost, train=train)
        got = apogee.judge_is_too_many(judge(apogee, link=link), r)
        assert got == (lost > most and lost >= 4 and not train)


@given(sents | st.integers(16, 120), u8, u8, st.tuples(flag, flag, flag))
def test_overload_in_fractions(
    apogee: Library,
    sent: int,
    part: int,
    link: int,
    flags: tuple[int, int, int],
) -> None:
    """Far too many; twice, if it may be a burst of bit errors: alone, or with an empty queue."""
    over, alone, empty = flags
    most = math.floor(sent * Fraction(205 + link // 2, 1024)) + 2
    for lost in (sent * part // 255, *(n for n in (most, most + 1) if n <= sent)):
        j = judge(apogee, link=link, over=over, alone=alone, empty=empty)
        got = apogee.judge_is_over(j, a_round(apogee, sent, lost))
        now = lost > most and lost >= 4
        assert j.over == now
        assert got == (now and (over or not (alone or empty)))


@pytest.mark.parametrize(
    ("lost", "got"),
    [
        # 22 of 100 are 2 + 100 * 211 / 1024 = 22.6 at most
        ([23, 23], ["STAY", "OVER"]),
        ([22, 23, 22, 23], ["STAY"] * 4),
        # a burst of half a round ends by itself
        ([50, 0, 50, 0], ["STAY"] * 4),
        # after it two rounds are of data sent before, and two more have to show it again
        ([23, 23, 90, 90, 23, 23], ["STAY", "OVER", "STAY", "STAY", "STAY", "OVER"]),
    ],
)
def test_an_overload_lasts_for_two_rounds(apogee: Library, lost: list[int], got: list[str]) -> None:
    """Of a lone flow; of a window that does not limit, so that nothing else is asked for."""
    j = judge(apogee, alone=1)
    assert [answer(apogee, j, 100, n, limited=False) for n in lost] == got


def test_an_overload_is_a_cut_and_not_learned(apogee: Library) -> None:
    j = judge(apogee, over=1, excess=100, empty=1, learns=1)
    assert answer(apogee, j, 400, 200) == "OVER"
    assert (j.skip, j.excess, j.link) == (2, 0, 12)


@given(sents, links, flag, flag)
def test_a_full_queue_that_is_shared(
    apogee: Library, sent: int, link: int, queue: int, alone: int
) -> None:
    """3 losses, one in 64, and those that are the link's; beside others only."""
    least = 3 + sent // 64 + sent * link // 1024
    for lost in (least, least - 1):
        j = judge(apogee, link=link, queue=queue, alone=alone)
        full = bool(queue) and not alone and lost >= least
        assert apogee.judge_is_full(j, a_round(apogee, sent, lost), sent) == full


def test_a_full_queue_comes_before_an_excess(apogee: Library) -> None:
    """3 + 6 + 4 of 400; 48 are an excess, too. Both are a cut."""
    for fields, lost, got in (
        ({"queue": 1}, 13, "FULL"),
        ({"queue": 1}, 12, "STAY"),
        ({"queue": 1}, 48, "FULL"),
        ({"queue": 1, "alone": 1, "excess": 1}, 48, "CUT"),
    ):
        j = judge(apogee, **fields)
        assert answer(apogee, j, 400, lost) == got
        assert j.skip == (0 if got == "STAY" else 2)


@pytest.mark.parametrize(
    ("cwnd", "lost", "window"),
    # a fifth, 80; what did not arrive, 120; half. Of 7 a fifth is 2, and one is left of 2
    [(400, 20, 320), (400, 120, 280), (400, 250, 200), (7, 1, 5), (2, 1, 1), (1, 0, 1)],
)
def test_a_cut(apogee: Library, cwnd: int, lost: int, window: int) -> None:
    """Whatever the RTT, alone or not."""
    for alone, rtt in ((0, BASE), (1, BASE), (1, 2 * BASE)):
        r = a_round(apogee, cwnd, lost, rtt_us=rtt)
        assert apogee.judge_cwnd(judge(apogee, alone=alone), apogee.JUDGE_CUT, r, 1) == window


@given(
    st.integers(0, 20) | u32,
    u32,
    u32,
    st.tuples(u32, st.just(0) | u32),
    st.tuples(u32, u32) | st.tuples(rtts, rtts),
)
def test_windows_in_fractions(
    apogee: Library,
    cwnd: int,
    delivered: int,
    prior: int,
    losses: tuple[int, int],
    path: tuple[int, int],
) -> None:
    """What arrived, half at least, a fifth less at most, rounded up; not to nothing. Three
    quarters of the window before a full queue. Of an overload what arrived of the window and is
    not in a queue: once what was delivered without it at least, twice what was delivered at most.
    """
    lost, (rtt, base) = min(losses), path
    r = apogee.new("judge_round", cwnd=cwnd, delivered=delivered, lost=lost, rtt_us=rtt)
    arrived = cwnd - math.floor(Fraction(cwnd * lost, max(delivered + lost, 1)))
    cut = min(max(arrived, cwnd // 2), cwnd - math.ceil(Fraction(cwnd, 5)))
    least, most = share(delivered, rtt, base), min(2 * delivered, U32_MAX)
    kept = min(max(share(arrived, rtt, base), least), most, cwnd)
    full = min(cwnd, prior - prior // 4)
    for name, window in zip(ANSWERS, (cwnd, cut or cwnd, full, kept), strict=True):
        j = judge(apogee, base_us=base)
        got = apogee.judge_cwnd(j, getattr(apogee, f"JUDGE_{name}"), r, prior)
        assert got == window, name


# --- whose path it is -------------------------------------------------------------------------


@given(sents, u8, sents, flag, flag)
def test_use_in_fractions(
    apogee: Library, sent: int, part: int, path: int, queue: int, alone: int
) -> None:
    """Large: 3/8 of the path. Alone: 7/8, with a queue 15/16; more than one in five lost
    do not tell.
    """
    most = Fraction(15, 16) if queue else Fraction(7, 8)
    edges = [math.ceil(part * path) for part in (Fraction(3, 8), most)]
    for sent_ in (sent, *edges, *(max(edge - 1, 0) for edge in edges)):
        for lost in (sent_ * part // 255, sent_ // 5, min(sent_ // 5 + 1, sent_)):
            j = judge(apogee, queue=queue, alone=alone)
            apogee.judge_use(j, a_round(apogee, sent_, lost, path=path))
            assert j.large == (sent_ >= Fraction(3, 8) * path)
            assert j.alone == (alone if lost > Fraction(sent_, 5) else sent_ >= most * path)


@pytest.mark.parametrize(
    ("base", "rtt", "path", "learns"),
    [
        # a packet of 2161 us, or 2162, three times
        (80_000, 86_480, 40, True),
        (80_000, 86_490, 40, False),
        # a millisecond, and two packets of 81 us
        (80_000, 81_162, 1000, True),
        (80_000, 81_163, 1000, False),
        # without a path the whole RTT is a packet
        (80_000, U32_MAX // 2, 0, True),
    ],
)
def test_what_the_flow_sends_at_once_is_no_queue(
    apogee: Library, base: int, rtt: int, path: int, learns: bool
) -> None:
    j = judge(apogee, base_us=base)
    assert apogee.judge_may_learn(j, a_round(apogee, 40, 0, rtt_us=rtt, path=path)) == learns


@given(u32, u32, sents, sents, u16, u32 | st.integers(BASE, 2 * BASE))
def test_an_empty_queue_is_learned_from(
    apogee: Library, low: int, srtt: int, sent: int, path: int, back: int, base: int
) -> None:
    """The smoothed minimum is the path's and no more is sent than that carries; for learning the
    smoothed RTT is the path's, too, but for a packet or a millisecond, and two packets.
    """
    packet = math.floor(Fraction(srtt, max(path, 1)))
    longest = base + max(packet, 1000) + 2 * packet
    for sent_ in (sent, path, path + 1):
        for low_ in (low, base + 500, base + base // 8):
            j = judge(apogee, base_us=base, low_us=min(low_, U32_MAX), back=back)
            apogee.judge_use(j, a_round(apogee, sent_, 0, path=path, rtt_us=srtt))
            empty = sent_ <= path and is_empty(min(low_, U32_MAX), base, packet)
            assert (j.empty, j.learns) == (empty, empty and srtt - 16 * back <= longest)


# --- silence ----------------------------------------------------------------------------------


def test_the_rounds_of_a_silence_tell_nothing(apogee: Library) -> None:
    """Of a large flow two rounds: 90 % lost, and all stays as it was but for their number."""
    j = judge(apogee, large=1, excess=100, empty=1, learns=1)
    before = bytes(j)
    apogee.judge_silence(j)
    assert j.skip == 2
    assert [answer(apogee, j, 400, 360) for _ in range(2)] == ["STAY"] * 2
    assert bytes(j) == before


def test_others_leave_gaps(apogee: Library) -> None:
    """A small part of a full queue arrives now and then: no silence."""
    j = judge(apogee)
    apogee.judge_silence(j)
    assert j.skip == 0
    assert answer(apogee, j, 400, 360) == "OVER"


# --- RTT: an empty queue ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rtt", "packet", "empty"),
    [
        (84_210, 2105, True),
        (84_211, 2105, False),
        # an eighth is the most
        (90_000, 22_500, True),
        (90_001, 22_500, False),
        # half a millisecond
        (80_500, 80, True),
        (80_501, 80, False),
    ],
)
def test_two_packets_are_no_queue(apogee: Library, rtt: int, packet: int, empty: bool) -> None:
    j = judge(apogee, base_us=80_000)
    assert apogee.judge_is_empty(j, rtt, packet) == empty == is_empty(rtt, 80_000, packet)


@given(u32, u32, u32 | sents, u16)
def test_an_empty_queue(apogee: Library, rtt: int, base: int, packet: int, back: int) -> None:
    """Whatever the way back is longer."""
    j = judge(apogee, base_us=base, back=back)
    assert apogee.judge_path_us(j) == path_us(base, back)
    ends = [base + more for more in (500, base // 8, 2 * packet)]
    for one in (rtt, *ends, *(end + 1 for end in ends)):
        one = min(one, U32_MAX)
        assert apogee.judge_is_empty(j, one, packet) == is_empty(one, base, packet)


@given(
    st.tuples(u32, u32) | st.tuples(rtts, rtts),
    u32,
    u32,
    u32 | st.integers(0, 200),
    u16,
    flag,
)
def test_the_rtt_of_an_ack(
    apogee: Library,
    path: tuple[int, int],
    least: int,
    low: int,
    cwnd: int,
    back: int,
    queue: int,
) -> None:
    """The smoothed minimum falls at once, and rises by one in a quarter of the window's, or in
    eight. An RTT within a sixteenth ends a queue, and none begins one: that is for the round to
    say.
    """
    base, rtt = path
    edge = base + base // 16
    for one in (rtt, edge, edge + 1, low, max(base - 501, 0)):
        one = min(one, U32_MAX)
        state = {"least_us": least, "low_us": low, "back": back, "queue": queue}
        j = judge(apogee, base_us=base, **state)
        apogee.judge_rtt(j, one, cwnd)
        now = min(base, one)
        rise = math.ceil(Fraction(one - low, max(cwnd // 4, 8)))
        assert (j.base_us, j.least_us) == (now, min(least, one))
        assert j.low_us == (one if one <= low else low + rise)
        assert j.queue == (queue and one > now + now // 16)


# --- RTT: the way back ------------------------------------------------------------------------

#: What the receiver's clock shows when the sender's shows 0, in us of its own.
OFFSET = 10**9 + 77


def tsval(at: int, tick_us: Fraction = Fraction(1000)) -> int:
    """Of a clock with this unit."""
    return math.floor((at + OFFSET) / tick_us) % 2**32


@given(u32, u32, st.integers(0, 12), u32 | st.integers(0, 4000), flag, flag)
def test_an_ack_in_time_needs_no_look_at_the_clock(
    apogee: Library, now: int, tsval_: int, older: int, most: int, ticks: int, same: int
) -> None:
    """It would change nothing but when the clock is checked."""
    age = ((now - 1000 * tsval_) % 2**32 // 256 - older) % 2**16
    half = (now >> 19 & 1) ^ (not same)
    j = judge(apogee, age=age, ticks=ticks, half=half, mark=age // 16 % 256)
    fits = older <= (min(most, 8_000_000) + 1000) // 256
    assert apogee.judge_in_time(j, now, tsval_, most) == (same and fits)
    apogee.judge_see_clock(j, now, tsval_, most)
    assert (j.half, j.age == age) == (now >> 19 & 1, fits)


@given(u32, u32, u16, u16, u32 | st.integers(0, 2 * BASE), flag)
def test_the_way_back_in_fractions(
    apogee: Library, now: int, tsval_: int, age: int, back: int, most: int, ticks: int
) -> None:
    """A timestamp's age in 256 us, modulo 16.8 s, by how much it is above the least one, and above
    the most and a tick that becomes the least. Beyond a tick and a unit that counts. The mean rises
    by an eighth of what it is too low by, and falls by a thirty-second.
    """
    this = (now - 1000 * tsval_) % 2**32 // 256 % 2**16
    older = (this - age + 2**15) % 2**16 - 2**15
    counts = min(max(older, 0), (min(most, 8_000_000) + 1000) // 256)
    least = (this - counts) % 2**16
    j = judge(apogee, age=age, back=back, ticks=ticks, half=now >> 19 & 1, mark=least // 16 % 256)
    got = way_back(apogee, j, now, tsval_, most)
    assert j.age == least
    assert got == (min(256 * counts, most) if ticks and 256 * counts > 1256 else 0)
    mean = 16 * back
    rise, fall = max(got - mean, 0) // 8, math.ceil(Fraction(max(mean - got, 0), 32))
    assert j.back == min((mean + rise - fall) // 16, 2**16 - 1)


@given(st.lists(st.integers(0, 400_000), min_size=2, max_size=200), u32)
def test_a_longer_way_back_is_no_queue(apogee: Library, ways: list[int], now: int) -> None:
    """From the shortest one on, beyond two ticks and units. A timestamp looks younger by one of
    each at most.
    """
    j, shortest = apogee.new("judge_state"), min(ways)
    apogee.judge_init(j, NONE, now, tsval(now - shortest))
    for number, way in enumerate([shortest, *ways]):
        at = now + number * 1234
        longer = way - shortest
        got = way_back(apogee, j, (at + way) % 2**32, tsval(at), longer)
        assert (longer - 1256 if longer > 2512 else 0) <= got <= longer


@pytest.mark.parametrize("skew", [-100, 0, 100])
@pytest.mark.parametrize("queue", [0, 30_000])
def test_clocks_differ_by_parts_in_a_million(apogee: Library, skew: int, queue: int) -> None:
    """A quarter of an hour with a queue that is empty every ten seconds: it looks shorter by what
    they differ by in these, a millisecond, and a tick.
    """
    j = apogee.new("judge_state")
    tick = Fraction(1000) * (1 + Fraction(skew, 10**6))
    apogee.judge_init(j, NONE, 50_000, tsval(0, tick))
    for number in range(9000):
        at = number * 100_000
        more = 0 if number % 100 == 0 else queue
        got = way_back(apogee, j, (at + 50_000) % 2**32, tsval(at, tick), more)
        assert got <= 1000 + 1256
        assert j.ticks


@pytest.mark.parametrize("tick", [1, 10, 100, 500, 2000, 4000, 10_000, 100_000, 10**6, 10**12])
@pytest.mark.parametrize("gap", [100, 1700, 23_456])
@pytest.mark.parametrize("queue", [0, 40_000])
def test_a_clock_with_another_unit_tells_nothing(
    apogee: Library, tick: int, gap: int, queue: int
) -> None:
    """Once a half second has shown it: all of the RTT counts. RFC 7323 has 1 ms to 1 s. Two half
    seconds in a hundred may look right, at 1 us.
    """
    j, took = apogee.new("judge_state"), 0
    apogee.judge_init(j, NONE, 50_000, tsval(0, Fraction(tick)))
    acks = min(20_000_000 // gap, 20_000)
    for number in range(acks):
        at = number * gap
        more = queue * (number % 97) // 97
        got = way_back(apogee, j, (at + 50_000) % 2**32, tsval(at, Fraction(tick)), more)
        took += got > 0 and at > 2**20
    assert took <= 0.2 * acks


def test_the_clock_is_believed_again(apogee: Library) -> None:
    """It was set back: by a second more than the RTT leaves room for. The half second in which that
    is seen is the last that does not count.
    """
    j, told = apogee.new("judge_state"), []
    apogee.judge_init(j, NONE, 50_000, tsval(0))
    for number in range(400):
        at = number * 10_000
        set_back = 10**6 if number > 200 else 0
        way_back(apogee, j, at + 50_000, tsval(at - set_back), 20_000 * (number % 2))
        told.append(bool(j.ticks))
    assert told.count(False) <= 2 * 53
    assert all(told[320:])


# --- RTT: a queue -----------------------------------------------------------------------------


@given(u32, u32, u32)
def test_share(apogee: Library, cwnd: int, rtt: int, base: int) -> None:
    assert apogee.judge_share(cwnd, rtt, base) == share(cwnd, rtt, base) <= cwnd


@given(u32, u32, u32, u16, st.integers(0, 4))
def test_a_queue_stands_a_sixteenth_and_the_spread_above(
    apogee: Library, base: int, rtt: int, spread: int, back: int, standing: int
) -> None:
    """Above the path's RTT. Rounds are counted to four, in which it does not rise by more than an
    eighth.
    """
    edge = base + base // 16 + spread
    for least in (rtt, min(edge, U32_MAX), min(edge + 1, U32_MAX)):
        for last in (least, least - least // 8, NONE):
            state = {"last_us": last, "back": back, "standing": standing}
            j = judge(apogee, base_us=base, least_us=least, **state)
            apogee.judge_see_queue(j, spread)
            rising = least > last + last // 8
            stands = least > edge
            assert j.queue == stands
            assert j.standing == (min(standing + 1, 4) if stands and not rising else 0)


@given(st.integers(0, BASE), st.integers(-1, 1))
def test_the_spread_is_what_the_smoothed_rtt_is_above_the_minimum(
    apogee: Library, spread: int, more: int
) -> None:
    """One below the minimum is none."""
    rtt = BASE + BASE // 16 + spread + more
    for srtt, queue in ((rtt + spread, more > 0), (BASE, spread + more > 0)):
        j = judge(apogee, least_us=rtt)
        apogee.judge_end_rtt(j, a_round(apogee, 400, 0, rtt_us=srtt))
        assert j.queue == queue


@given(u16, u32, u32)
def test_the_way_back_is_at_most_twice_what_the_smoothed_rtt_is_above_the_path_s(
    apogee: Library, back: int, rtt: int, base: int
) -> None:
    """In 16 us. After a stall of a second the smoothed RTT is back after some thirty ACKs, and the
    mean would take four times as many, each as late as a pacing by it lets it be.
    """
    j = judge(apogee, base_us=base, back=back)
    apogee.judge_bound_back(j, a_round(apogee, 400, 0, rtt_us=rtt))
    assert j.back == min(back, 2 * max(rtt - base, 0) // 16)


def test_a_round_without_an_rtt_tells_nothing(apogee: Library) -> None:
    """A retransmission's ACKs have none: all stays as it is."""
    j = judge(apogee, queue=1, standing=2, rest=3, test=1, dip=1, renew=2, back=5)
    before = bytes(j)
    assert not apogee.judge_end_rtt(j, a_round(apogee, 400, 0, rtt_us=10**6, now_us=2**31))
    assert bytes(j) == before


# --- RTT: a longer path -----------------------------------------------------------------------

phases = st.tuples(rtts, st.integers(0, 2**20), st.integers(0, 2**24))


@given(st.lists(phases, max_size=60))
def test_the_path_s_rtt_only_falls_unless_the_path_is_longer(
    apogee: Library, rounds: list[tuple[int, int, int]]
) -> None:
    """By a test, or by a measurement of three rounds."""
    j, now = judge(apogee, base_us=NONE, large=1), 0
    for number, (rtt, spread, passed) in enumerate(rounds):
        before, now = j.base_us, (now + passed) % 2**32
        if number % 5 == 0:
            apogee.judge_begin_test(j, j.last_us, 2**19, 2)
        was, least = (j.test, j.renew), min(j.least_us, rtt)
        if rtt_round(apogee, j, rtt, spread=spread, now_us=now):
            assert was in ((1, 0), (0, 1))
            assert before < j.base_us == least
            assert not (j.queue or j.standing or j.rest or j.dip)
        else:
            assert j.base_us == min(before, rtt)
        assert j.standing <= 4 and j.rest <= 8 and j.test <= 2 and not (j.test and j.renew)


@given(u8, st.integers(0, CLOCK - 1), u8, st.booleans(), st.integers(0, 900_000))
def test_ten_seconds_or_sixteen_rounds_without_the_path_s_rtt(
    apogee: Library, seen: int, part: int, passed: int, empty: bool, spread: int
) -> None:
    """In whole 131072 us, on a clock that wraps after 33 s. An empty queue shows the path."""
    rtt = BASE + 500 + (not empty)
    after = renew_after(rtt + spread)
    for units in (passed, after - 1, after):
        now = (seen + units) % 2**8
        j = judge(apogee, seen=seen)
        rtt_round(apogee, j, rtt, spread=spread, path=3000, now_us=now * CLOCK + part)
        begins = units >= after and not empty
        assert (j.renew, j.dip) == ((3, 1) if begins else (0, 0))
        assert j.seen == (now if empty or begins else seen)
        assert (j.last_us, j.least_us) == (rtt, NONE)


@given(st.lists(st.integers(1, 2 * BASE), min_size=3, max_size=3), u8, flag)
def test_three_rounds_measure_the_path(
    apogee: Library, three: list[int], clock: int, large: int
) -> None:
    """Their minimum is the path's, be it shorter or longer; meanwhile there is no test. Losses and
    the window are those of a smaller window for three rounds.
    """
    j = judge(apogee, seen=(clock - RENEW) % 2**8, standing=4, large=large, alone=1, link=50)
    dips = []
    longer = rtt_round(apogee, j, BASE + 40_000, now_us=clock * CLOCK)
    for rtt in three:
        assert not longer
        dips.append(j.dip)
        apogee.judge_begin_test(j, BASE, BASE // 2, 1)
        assert (j.test, j.last_us) == (0, BASE + 40_000)
        longer = rtt_round(apogee, j, rtt, now_us=clock * CLOCK)
    assert (dips, j.dip, j.renew) == ([1, 1, 1], 0, 0)
    assert longer == (min(three) > BASE)
    assert (j.base_us, j.last_us, j.least_us) == (min(three), min(three), NONE)
    assert j.seen == clock


def test_a_measurement_that_ends_before_its_time_begins_again(apogee: Library) -> None:
    """Ten seconds after its beginning: the path's RTT has still not been seen."""
    j = judge(apogee, renew=2, dip=1, seen=7, skip=1, least_us=BASE + 9000, last_us=2 * BASE)
    apogee.judge_end_test(j)
    assert (j.renew, j.dip, j.seen, j.least_us) == (0, 0, 7, BASE + 9000)
    assert not rtt_round(apogee, j, BASE + 90_000, now_us=(7 + RENEW) * CLOCK)
    assert (j.base_us, j.renew, j.dip) == (BASE, 3, 1)


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


@given(u32, u32, u32, u8)
def test_what_a_queue_would_answer_in_fractions(
    apogee: Library, base: int, least: int, last: int, fall: int
) -> None:
    """Less than a quarter of the fall, in whole us, up or down."""
    quarter = math.floor(Fraction(last * fall, 1024))
    for one in (least, last - quarter, last - quarter + 1, last + quarter - 1, last + quarter):
        one = min(max(one, 0), U32_MAX)
        j = judge(apogee, base_us=base, least_us=one, last_us=last, fall=fall)
        assert apogee.judge_is_path(j) == (one > base and abs(one - last) < quarter)


@given(u32, u32, flag, flag, st.integers(0, 3))
def test_a_fall_in_fractions(
    apogee: Library, rtt: int, fall: int, large: int, alone: int, renew: int
) -> None:
    """No test whose answer would not be seen: 3/32 of the RTT. None while the path's RTT is
    measured anew.
    """
    seen = math.floor(Fraction(rtt * 3, 32))
    for one in (fall, seen, max(seen - 1, 0)):
        j = judge(apogee, last_us=1, large=large, alone=alone, renew=renew)
        apogee.judge_begin_test(j, rtt, one, 3)
        begins = large and not renew and rtt not in (0, NONE) and one >= seen
        assert (j.test, j.last_us) == ((3, rtt) if begins else (0, 1))
        if begins:
            assert j.fall == min(math.floor(Fraction(one * 256, rtt)), 255)


def test_a_test_is_due_after_four_rounds_and_after_a_rest(apogee: Library) -> None:
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


def test_a_test_that_ends_before_its_time(apogee: Library) -> None:
    """All else stays: it is neither a queue nor the path."""
    j = judge(apogee, base_us=500_000, large=1, alone=1, dip=1, rest=3, standing=4)
    apogee.judge_begin_test(j, 600_000, 100_000, 2)
    apogee.judge_end_test(j)
    assert (j.test, j.dip, j.rest, j.standing) == (0, 0, 3, 4)
    assert (j.last_us, j.link) == (600_000, 12)
    assert not rtt_round(apogee, j, 600_000)
    assert (j.base_us, j.rest) == (500_000, 2)


@pytest.mark.parametrize(("test", "dips"), [(0, [0]), (1, [0]), (2, [0, 0]), (3, [1, 0, 0])])
def test_a_dip_ends_before_the_round_that_is_evaluated(
    apogee: Library, test: int, dips: list[int]
) -> None:
    """Its effect is seen a round later."""
    j = judge(apogee, dip=1, test=test, last_us=2 * BASE)
    got = []
    for _ in dips:
        rtt_round(apogee, j, 2 * BASE)
        got.append(j.dip)
    assert (got, j.test) == (dips, 0)


@pytest.mark.parametrize(
    ("renew", "alone", "dip"),
    # 400 of which a quarter is the queue's: 300, or a quarter of the window less
    [(0, 1, 300), (0, 0, 300), (1, 1, 296), (1, 0, 225)],
)
def test_dips(apogee: Library, renew: int, alone: int, dip: int) -> None:
    """For a measurement a 64th less, and beside others a quarter."""
    j = judge(apogee, last_us=BASE + BASE // 3 + 1, base_us=BASE, renew=renew, alone=alone)
    assert apogee.judge_dip(j, 401) == dip


@given(u32 | st.integers(0, 9), u32, u32, flag, st.integers(0, 3))
def test_dips_in_fractions(
    apogee: Library, cwnd: int, rtt: int, base: int, alone: int, renew: int
) -> None:
    got = apogee.judge_dip(judge(apogee, base_us=base, last_us=rtt, alone=alone, renew=renew), cwnd)
    wanted = share(cwnd, rtt, base)
    if renew:
        wanted = math.ceil(wanted * (Fraction(63, 64) if alone else Fraction(3, 4)))
    else:
        wanted = max(wanted, cwnd // 2)
        wanted = wanted if alone else min(wanted, cwnd - cwnd // 4)
    assert got == max(wanted, 2)
    assert got <= max(cwnd, 2)


# --- any state --------------------------------------------------------------------------------

any_rounds = st.fixed_dictionaries(
    dict.fromkeys(("delivered", "lost", "cwnd", "path", "rtt_us", "now_us"), u32)
    | dict.fromkeys(("limited", "train"), st.booleans())
)


@given(states, any_rounds, u32, u32, st.integers(1, 3))
def test_takes_any_numbers(
    apogee: Library, state: dict[str, int], fields: dict[str, Any], a: int, b: int, count: int
) -> None:
    """No trap, and all that is counted stays within its bounds."""
    j, r = judge(apogee, **state), apogee.new("judge_round", **fields)
    apogee.judge_rtt(j, a, b)
    assert j.base_us <= a and j.least_us <= a
    apogee.judge_end_rtt(j, r)
    apogee.judge_use(j, r)
    got = apogee.judge_end_losses(j, r)
    assert got <= apogee.JUDGE_OVER
    assert apogee.judge_cwnd(j, got, r, a) <= r.cwnd
    apogee.judge_begin_test(j, a, b, count)
    apogee.judge_dip(j, b)
    apogee.judge_test_due(j)
    assert LINK <= j.link <= MOST
    assert not (j.test and j.renew) or (state["test"] and state["renew"])
    for name, most in BOUNDS.items():
        assert getattr(j, name) <= most, name
    apogee.judge_silence(j)
    apogee.judge_cut_made(j)
    assert (j.excess, j.skip) == (0, 2)
    apogee.judge_end_test(j)
    assert (j.test, j.dip, j.renew) == (0, 0, 0)
