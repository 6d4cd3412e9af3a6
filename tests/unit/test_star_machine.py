# SPDX-License-Identifier: GPL-2.0
"""ABE and the window together, driven at random as a connection would drive them.

The rules below call the headers in the order in which tcp_star.c does, with
any numbers of their stated ranges. test_build.py runs them against the sanitized
library as well.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from .cheaders import Library

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
        letter=st.booleans(),
    )
    def connect(self, mss: int, reno: int, first_us: int, letter: bool) -> None:
        self.abe = self.apogee.new("abe")
        self.w = self.apogee.new("star_window", cwnd_reno=reno, mode=self.apogee.STAR_START)
        self.mss, self.first_us, self.letter = mss, first_us, letter
        self.now, self.rtt_min, self.ssthresh = 10**6, U32_MAX, INFINITE
        self.prior = (reno, reno, self.apogee.STAR_CRUISE, INFINITE)
        self.queue = False
        self.delivered = 0

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
        )
        got = self.apogee.abe_bw(self.abe)
        assert changed or got == known
        # Once there is a full sample; the first train is corrected though limited.
        assert not (limited and full) or got >= known
        if changed and self.rtt_min != U32_MAX:
            self.w.cwnd_abe = self.apogee.abe_window(got, self.rtt_min, self.mss)
        if acked:
            before = self.cwnd
            self.apogee.star_lwc(self.w, acked, self.ssthresh, self.letter, self.queue)
            assert before <= self.cwnd <= max(before, self.w.cwnd_abe + 1) + acked

    @rule(rtt_us=st.integers(10, 10**7) | st.sampled_from([10, 10**7, U32_MAX - 1]))
    def measure(self, rtt_us: int) -> None:
        self.rtt_min = min(self.rtt_min, rtt_us)
        self.queue = self.apogee.star_queue_stands(rtt_us, self.rtt_min)

    @rule(back_us=st.integers(1, 10**6))
    def clock_steps_back(self, back_us: int) -> None:
        self.now = max(self.now - back_us, 0)

    def remember(self) -> None:
        self.prior = (self.cwnd, self.w.cwnd_reno, self.w.mode, self.ssthresh)

    @rule()
    def loss(self) -> None:
        """CWS."""
        self.remember()
        threshold = self.apogee.star_cws_ssthresh(self.w, self.cwnd)
        assert threshold == max(self.w.cwnd_abe or self.cwnd // 2, 2)
        self.apogee.star_set_cwnd(
            self.w, self.apogee.star_cws_cwnd(self.cwnd, self.ssthresh, threshold)
        )
        self.ssthresh = threshold

    @rule()
    def mark(self) -> None:
        self.remember()
        target = self.apogee.star_mark_cwnd(self.cwnd)
        assert target == max(self.cwnd * 4 // 5, 2)
        self.w.mode = self.apogee.STAR_MARKED
        self.apogee.star_set_cwnd(self.w, target)
        self.ssthresh = self.cwnd
        assert self.cwnd == target

    @rule()
    def timeout_by_data_loss(self) -> None:
        self.remember()
        self.ssthresh = self.apogee.star_cws_ssthresh(self.w, self.cwnd)
        self.w.mode = self.apogee.STAR_SLOW
        self.w.cwnd_reno, self.w.cwnd_cnt = 10, 0
        assert self.cwnd == 10

    @rule()
    def undo(self) -> None:
        _, self.w.cwnd_reno, self.w.mode, self.ssthresh = self.prior

    @invariant()
    def window_in_bounds(self) -> None:
        assert 2 <= self.cwnd <= LARGEST
        assert 1 <= self.w.cwnd_reno <= LARGEST
        assert self.w.cwnd_abe <= LARGEST

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
