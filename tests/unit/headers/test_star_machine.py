# SPDX-License-Identifier: GPL-2.0
"""ABE, the judgement and the window together, driven at random as a connection would drive them.

The rules below call the headers in the order in which tcp_star.c does with coexist=1, with
any numbers of their stated ranges. test_build.py runs them against the sanitized
library as well.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.unit.headers.cheaders import Library

LARGEST = 2**30
INFINITE = 0x7FFFFFFF
U32_MAX = 2**32 - 1
USEC_PER_SEC = 1_000_000


class Connection(RuleBasedStateMachine):
    """One connection; `apogee` is set by the test that runs the machine."""

    apogee: Library

    @initialize(
        mss=st.integers(88, 65_483),
        reno=st.sampled_from([1, 10, 1000, LARGEST]),
        first_us=st.sampled_from([1, 1000, 1_000_000]),
        published=st.booleans(),
        mode=st.sampled_from(["START", "CRUISE"]),
    )
    def connect(self, mss: int, reno: int, first_us: int, published: bool, mode: str) -> None:
        self.abe = self.apogee.new("abe")
        mode = getattr(self.apogee, f"STAR_{mode}")
        self.w = self.apogee.new("star_window", cwnd_reno=reno, mode=mode)
        self.mss, self.first_us, self.published = mss, first_us, published
        self.now, self.rtt_min, self.ssthresh = 10**6, U32_MAX, INFINITE
        self.prior = (reno, reno, self.apogee.STAR_CRUISE, INFINITE)
        self.j = self.apogee.new("judge_state")
        self.apogee.judge_init(self.j, U32_MAX, self.now, 0)
        self.delivered = 0

    @property
    def bw(self) -> int:
        return self.apogee.abe_bw(self.abe)

    @property
    def cwnd(self) -> int:
        return self.apogee.star_cwnd(self.w)

    @rule(
        gap_us=st.sampled_from([0, 1, 999, 10_000]) | st.integers(0, 10**7) | st.just(2**33),
        age_us=st.sampled_from([0, 10**5]) | st.integers(0, 2**32 - 1),
        acked=st.sampled_from([0, 1, 2, 44]) | st.integers(0, 2**20),
        limited=st.booleans(),
    )
    def ack(self, gap_us: int, age_us: int, acked: int, limited: bool) -> None:
        """An ACK: estimate, lift, grow. ABE's share may fall, cwnd_reno may not."""
        self.now += gap_us
        self.delivered += acked * self.mss
        known, full = self.apogee.abe_bw(self.abe), self.abe.samples
        changed = self.apogee.abe_ack(
            self.abe,
            self.now,
            (self.now - age_us) % 2**32,
            acked * self.mss,
            self.mss,
            self.rtt_min,
            self.first_us,
            limited,
            0,
        )
        got = self.apogee.abe_bw(self.abe)
        assert changed or got == known
        # Once there is a full sample; the first train is corrected though limited.
        assert not (limited and full) or got >= known
        first = not (self.published or self.abe.samples or self.abe.bytes)
        if changed and self.rtt_min != U32_MAX and not first:
            self.w.cwnd_abe = self.apogee.abe_window(got, self.rtt_min, self.mss)
        if acked:
            before = self.cwnd
            self.apogee.star_lwc(self.w, acked, self.ssthresh, self.published, self.j)
            assert before <= self.cwnd <= max(before, self.w.cwnd_abe + 1) + acked

    @rule(rtt_us=st.integers(10, 10**7) | st.sampled_from([10, 10**7, U32_MAX - 1]))
    def measure(self, rtt_us: int) -> None:
        self.rtt_min = min(self.rtt_min, rtt_us)
        base = self.j.base_us
        self.apogee.judge_rtt(self.j, rtt_us, self.cwnd)
        assert self.j.base_us == min(base, rtt_us)
        assert self.j.low_us > 0

    @rule(back_us=st.integers(1, 10**6))
    def clock_steps_back(self, back_us: int) -> None:
        self.now = max(self.now - back_us, 0)

    def remember(self) -> None:
        self.prior = (self.cwnd, self.w.cwnd_reno, self.w.mode, self.ssthresh)

    @rule()
    def loss(self) -> None:
        """CWS; but in START, while the estimate grows, only ssthresh becomes that."""
        self.remember()
        apogee, w = self.apogee, self.w
        grows = w.mode == apogee.STAR_START and w.cwnd_abe and w.flat < apogee.STAR_FLAT
        before, prior = self.cwnd, self.ssthresh
        self.ssthresh = apogee.star_cws_ssthresh(w, before)
        assert self.ssthresh == max(w.cwnd_abe or before // 2, 2)
        to = apogee.star_cws_cwnd(before, prior, self.ssthresh)
        if grows and not self.published:
            to = before
        elif w.mode == apogee.STAR_START:
            w.mode = apogee.STAR_CRUISE
        apogee.star_respond(w, before, min(to, before), self.published)

    def time_us(self, segments: int) -> int:
        """How long the path takes for so many."""
        return min(segments * self.mss * USEC_PER_SEC // max(self.bw, 1), U32_MAX)

    def yield_to(self, cwnd: int, begin: int) -> None:
        w = self.w
        if w.mode == self.apogee.STAR_YIELD and self.apogee.star_waited(w, 1):
            self.apogee.star_try_failed(w)
        w.mode, w.clear = self.apogee.STAR_YIELD, 0
        self.apogee.star_set_cwnd(w, begin)
        self.ssthresh = max(cwnd, 2)

    @rule()
    def loss_with_a_queue(self) -> None:
        self.remember()
        j, cwnd = self.j, self.cwnd
        if not j.queue or j.test:
            return
        rtt = j.last_us if j.least_us == U32_MAX else j.least_us
        args = (cwnd, rtt, j.base_us, j.alone)
        to, begin = self.apogee.star_yield(*args), self.apogee.star_drain(*args)
        self.apogee.judge_begin_test(j, rtt, self.time_us(cwnd - to), 3)
        if not j.test and not j.rest:
            self.apogee.judge_begin_test(j, rtt, self.time_us(cwnd // 4), 3)
            j.dip = j.test > 0
        self.yield_to(to, begin)
        assert self.cwnd == begin <= to <= cwnd

    @rule(
        rtts=st.lists(st.integers(10, 10**7), max_size=3),
        spread_us=st.just(0) | st.integers(0, 10**6),
        full=st.sampled_from([0, 3, 4, 5]) | st.integers(0, 16),
        lost=st.sampled_from([0, 3, 29, 46]) | st.integers(0, 255),
        limited=st.booleans(),
        count=st.sampled_from([1, 1, 2, 20]),
    )
    def rounds(
        self, rtts: list[int], spread_us: int, full: int, lost: int, limited: bool, count: int
    ) -> None:
        """Some alike: quarters of the window are sent, and of those a share in 1/255 is lost."""
        for _ in range(count):
            for rtt_us in rtts:
                self.measure(rtt_us)
            self.end_round(self.cwnd * full // 4, lost, spread_us, limited)

    def end_round(self, sent: int, share: int, spread_us: int, limited: bool) -> None:
        apogee, j, w = self.apogee, self.j, self.w
        srtt = min(j.least_us, 2**28) + spread_us
        lost = sent * share // 255
        self.now += srtt
        path = apogee.abe_window(self.bw, srtt, self.mss)
        cwnd = self.cwnd
        r = apogee.new("judge_round", cwnd=cwnd, path=path, rtt_us=srtt, limited=limited)
        r.delivered, r.lost, r.now_us = sent - lost, lost, self.now % 2**32
        r.train = self.delivered <= 90 * self.mss
        base, least = j.base_us, j.least_us
        longer = apogee.judge_end_rtt(j, r)
        assert j.base_us == (least if longer else base)
        assert not longer or base < least < U32_MAX
        assert not (j.queue and longer)
        assert j.queue or not j.standing or least == U32_MAX
        apogee.judge_use(j, r)
        w.alone = j.alone
        apogee.star_watch(w, j.queue, j.excess >= apogee.JUDGE_SEGMENT, j.learns)
        if w.mode == apogee.STAR_SLOW:
            return
        if self.start_ended(r) if w.mode == apogee.STAR_START else self.answered(r):
            return
        self.test_queue()
        assert self.cwnd <= max(cwnd, w.cwnd_abe + 1)

    def start_ended(self, r: Any) -> bool:
        """A round of START; whether the window falls."""
        apogee, j, w = self.apogee, self.j, self.w
        if w.cwnd_abe and r.limited:
            apogee.star_watch_start(w)
        too_many = apogee.judge_is_too_many(j, r)
        cwnd = apogee.judge_cwnd(j, apogee.JUDGE_OVER, r, self.prior[0]) if too_many else r.cwnd
        assert cwnd <= r.cwnd
        if not too_many and w.flat < apogee.STAR_FLAT:
            return False
        if not too_many:
            w.mode = apogee.STAR_CRUISE
            self.ssthresh = max(w.cwnd_abe, 2)
        apogee.judge_cut_made(j)
        if cwnd < r.cwnd:
            self.yield_to(cwnd, cwnd)
        return bool(cwnd < r.cwnd)

    def answered(self, r: Any) -> bool:
        """What the losses of a round ask for; whether the window falls."""
        apogee, before = self.apogee, self.cwnd
        got = apogee.judge_end_losses(self.j, r)
        cwnd = apogee.judge_cwnd(self.j, got, r, self.prior[0])
        assert cwnd <= before
        assert cwnd == before or got != apogee.JUDGE_STAY
        if got != apogee.JUDGE_STAY:
            assert (self.j.excess, self.j.skip) == (0, 2)
        if cwnd < before:
            self.yield_to(cwnd, cwnd)
            assert self.cwnd == max(cwnd, 2)
        return bool(cwnd < before)

    def test_queue(self) -> None:
        apogee, j, cwnd = self.apogee, self.j, self.cwnd
        dip = apogee.judge_dip(j, cwnd)
        assert (2 if j.renew else max(cwnd // 2, 2)) <= dip <= cwnd
        if not apogee.judge_test_due(j):
            return
        apogee.judge_begin_test(j, j.last_us, self.time_us(cwnd - dip), 2)
        if j.test and j.alone:
            apogee.star_set_cwnd(self.w, dip)
        elif j.test:
            j.dip = 1
        assert self.cwnd <= max(cwnd, self.w.cwnd_abe + 1)

    def restart_round(self) -> None:
        """The window is another one: no test goes on."""
        self.apogee.judge_end_test(self.j)
        self.j.skip = 1
        assert not (self.j.test or self.j.dip or self.j.renew)

    @rule()
    def silence(self) -> None:
        """Changes the state of a flow with a large part of the path only."""
        skip = 2 if self.j.large else self.j.skip
        self.apogee.judge_silence(self.j)
        assert self.j.skip == skip

    @rule()
    def mark(self) -> None:
        self.remember()
        target = self.apogee.star_mark_cwnd(self.cwnd)
        assert target == max(self.cwnd * 4 // 5, 2)
        self.w.mode = self.apogee.STAR_YIELD
        self.w.clear = 0
        self.apogee.star_set_cwnd(self.w, target)
        self.ssthresh = self.cwnd
        assert self.cwnd == target

    @rule()
    def timeout_by_data_loss(self) -> None:
        self.remember()
        self.restart_round()
        self.ssthresh = self.apogee.star_cws_ssthresh(self.w, self.cwnd)
        self.w.mode = self.apogee.STAR_SLOW
        self.w.cwnd_reno, self.w.cwnd_cnt = 10, 0
        assert self.cwnd == 10

    @rule()
    def undo(self) -> None:
        self.restart_round()
        _, self.w.cwnd_reno, self.w.mode, self.ssthresh = self.prior

    @invariant()
    def window_in_bounds(self) -> None:
        assert 2 <= self.cwnd <= LARGEST
        assert 1 <= self.w.cwnd_reno <= LARGEST
        assert self.w.cwnd_abe <= LARGEST
        assert self.w.clear <= 64
        assert self.w.flat <= 3
        assert self.w.tries <= 3
        assert self.w.grown <= self.apogee.star_scale(LARGEST)

    @invariant()
    def judgement_in_bounds(self) -> None:
        """And one thing at a time: a test, or a measurement, and a dip only with one of them."""
        j = self.j
        assert j.excess <= 255
        assert self.apogee.JUDGE_LINK_BEGIN <= j.link <= self.apogee.JUDGE_LINK_MOST
        assert j.standing <= 4
        assert j.rest <= 8
        assert j.skip <= 2
        assert j.renew <= 3
        assert not (j.test and j.renew)
        assert not j.dip or j.test or j.renew
        assert not j.learns or j.empty
        assert j.base_us <= min(j.least_us, j.last_us)

    @invariant()
    def estimate_in_bounds(self) -> None:
        """At most all that was delivered, within the shortest interval there is."""
        shortest = min(self.first_us, self.apogee.ABE_INTERVAL_MIN_US)
        most = (self.delivered + self.mss) * USEC_PER_SEC // shortest
        assert self.apogee.abe_bw(self.abe) <= most


def test_connection(apogee: Library) -> None:
    class WithLibrary(Connection):
        pass

    WithLibrary.apogee = apogee
    case = WithLibrary.TestCase
    case.settings = settings(max_examples=settings().max_examples // 5, stateful_step_count=40)
    case().runTest()


phases = st.lists(
    st.tuples(
        st.sampled_from(["rounds", "loss", "loss_with_a_queue", "silence", "mark", "undo"]),
        # a path of 500 ms, another with its queue, a longer one
        st.sampled_from([500_000, 540_000, 600_000, 604_000, 750_000, 1_200_000, 2_100_000]),
        st.sampled_from([0, 0, 10_000, 100_000]),
        # 1 %, 8 %, 11 %, a fifth and half
        st.sampled_from([0, 3, 21, 29, 30, 55, 128]),
        st.integers(1, 40),
    ),
    max_size=12,
)


@given(phases, st.sampled_from([10, 100, 413, 2000, LARGEST]), st.sampled_from([1, 8, 3000]))
def test_phases_of_a_connection(
    apogee: Library, steps: list[tuple[str, int, int, int, int]], reno: int, part: int
) -> None:
    """Round trips as they come, many alike: what random rules hardly come to. The flow has the
    path but for what it left, or an eighth of it, or hardly any.
    """

    class WithLibrary(Connection):
        pass

    WithLibrary.apogee = apogee
    one = WithLibrary()
    one.connect(mss=1448, reno=reno, first_us=1000, published=False, mode="CRUISE")
    one.measure(500_000)
    one.abe.bw[0] = reno * part * 1448 * 2
    one.w.cwnd_abe = apogee.abe_window(one.bw, 500_000, 1448)
    apogee.star_set_cwnd(one.w, reno)
    for name, rtt_us, spread_us, share, count in steps:
        if name != "rounds":
            getattr(one, name)()
        for _ in range(count):
            one.rounds([rtt_us], spread_us, 4, share, True, 1)
            one.window_in_bounds()
            one.judgement_in_bounds()
