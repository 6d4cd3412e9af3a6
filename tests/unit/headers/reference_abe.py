# SPDX-License-Identifier: GPL-2.0
"""ABE in exact arithmetic, from the paper's two equations and the words of abe.h.

Eq. 1 is cwnd_abe = BW * RTT_min / MSS, eq. 2 is BW_sample = d / ack_interval.
The rules between a sample and BW are those of abe.h's head comment. Nothing is
kept incrementally: an ACK series is cut into samples, the samples are sorted
into epochs, and the estimate is the maximum of the last two; as published an epoch is
one sample. Only the rounding
of each rate to whole bytes per second is shared with the code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

USEC_PER_SEC = 1_000_000


@dataclass(frozen=True)
class Ack:
    """One ACK: arrival in us, bytes newly delivered, and what the sender knows then: also when the
    newest of them was sent, and how late the ACK is, in us."""

    now_us: int
    nbytes: int
    rtt_min_us: int
    limited: bool = False
    sent_us: int = 0
    late_us: int = 0


@dataclass(frozen=True)
class Rules:
    """The constants of abe.h and of one connection."""

    interval_us: Callable[[int], int]
    epoch: int
    settle: int
    train: int
    mss: int
    first_us: int
    longest_rtt_us: int
    recent: bool = False


@dataclass
class _Sample:
    """A run of ACKs after the one that begins it; complete once it spans an interval."""

    begin_us: int
    sent_us: int
    late_us: int
    acks: list[Ack] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """No more are counted: TCP's windows end at 2^30 bytes, and a sample has two at most."""
        return min(sum(ack.nbytes for ack in self.acks), 2**32 - 1)

    @property
    def elapsed_us(self) -> int:
        return self.acks[-1].now_us - self.begin_us

    @property
    def lasts_us(self) -> int:
        """The sending of what it counts may have taken longer, and the arrival, if the ACK that
        begins it was late: that is known to a millisecond, and kept in 128 us up to 16 bits."""
        late = min(self.late_us // 128, 2**16 - 1) * 128 - self.acks[-1].late_us - 1000
        return max(self.elapsed_us + max(late, 0), self.acks[-1].sent_us - self.sent_us)


def rate(nbytes: int, elapsed_us: int) -> int:
    """Eq. 2 in whole bytes per second; from 2^32 us on the interval is idleness of any length."""
    return math.floor(Fraction(nbytes * USEC_PER_SEC, min(elapsed_us, 2**32 - 1)))


def interval_us(rtt_min_us: int, shortest_us: int, longest_rtt_us: int) -> int:
    """RTT_min / 16, at least the shorter of 10 ms and one RTT_min, at least 1 ms."""
    rtt = min(rtt_min_us, longest_rtt_us)
    return math.floor(max(Fraction(rtt, 16), min(rtt, 10_000), shortest_us))


def window(bw: int, rtt_min_us: int, mss: int, largest: int, longest_rtt_us: int) -> int:
    """Eq. 1 in whole segments."""
    bdp = Fraction(bw * min(rtt_min_us, longest_rtt_us), USEC_PER_SEC)
    return min(math.floor(bdp / max(mss, 1)), largest)


def estimates(acks: Sequence[Ack], rules: Rules) -> list[int]:
    """The estimate after each ACK of the series, in B/s."""
    reference = _Reference(rules)
    return [reference.after(ack) for ack in acks]


class _Reference:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.running: _Sample | None = None
        self.provisional = 0
        self.taken = 0
        self.train = False
        self.last_us = 0
        self.epochs: list[list[int]] = [[], []]
        self.age_us = 0

    def estimate(self) -> int:
        """The largest of two epochs, and of the first train until samples replace it."""
        first = [self.provisional] if self.taken < self.rules.settle else []
        return max([0, *first, *self.epochs[-1], *self.epochs[-2]])

    def after(self, ack: Ack) -> int:
        if ack.nbytes:
            self._account(ack)
            self.last_us = ack.now_us
        return self.estimate()

    def _account(self, ack: Ack) -> None:
        train = self.rules.train * self.rules.mss
        if self.running is None:
            self.running = _Sample(ack.now_us, ack.sent_us, ack.late_us)
            self.provisional = rate(self.rules.mss, self.rules.first_us)
            self.train = ack.nbytes >= train
            return
        if ack.now_us < self.running.begin_us:
            self.running = _Sample(ack.now_us, ack.sent_us, ack.late_us)
            self.age_us = 0
            return

        sample = self.running
        sample.acks.append(ack)
        # The ACK that begins a train counts as one segment.
        nbytes = self.rules.mss + sample.nbytes
        if self.taken == 0 and not self._pause(ack):
            # A limited sender lowers samples only: every first flight is marked as limited.
            self.provisional = rate(nbytes, self.rules.first_us + sample.lasts_us)
        self.train = self.train or nbytes >= train
        if sample.elapsed_us >= self.rules.interval_us(ack.rtt_min_us):
            self._take(sample, ack)
            self.running = _Sample(ack.now_us, ack.sent_us, ack.late_us)

    def _pause(self, ack: Ack) -> bool:
        """Half to two round trips behind a train lie between two flights."""
        rtt = min(ack.rtt_min_us, self.rules.longest_rtt_us)
        return self.train and rtt // 2 <= ack.now_us - self.last_us < 2 * rtt

    def _take(self, sample: _Sample, ack: Ack) -> None:
        value = rate(sample.nbytes, sample.lasts_us)
        if ack.limited and value < self.estimate():
            return
        self.age_us += sample.elapsed_us
        self.taken += 1
        old = self.rules.epoch * self.rules.interval_us(ack.rtt_min_us)
        over = self.rules.recent or self.age_us >= old
        if self.taken > self.rules.settle and over:
            self.epochs.append([])
            self.age_us = 0
        self.epochs[-1].append(value)
