# SPDX-License-Identifier: GPL-2.0
"""ACK series as a sender sees them: a bottleneck of known rate, then the distortions of real paths.

Every series starts from segments that leave the bottleneck one by one. `covers`
is the moment at which the newest segment that an ACK reports left it, `at` the
moment at which the ACK arrives (both less the constant delay of the path), so
`jitter_us` is the most by which the path has delayed two ACKs unevenly. Bytes are counted
when they are newly delivered.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tests.unit.headers.cheaders import Library

USEC_PER_SEC = 1_000_000
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Acks:
    """An ACK series; times in us, ascending."""

    at: Floats
    covers: Floats
    nbytes: Ints

    @property
    def jitter_us(self) -> float:
        """The largest difference between the delays of two ACKs."""
        late = np.floor(self.at) - self.covers
        return float(late.max() - late.min())

    @property
    def gap_us(self) -> float:
        """The longest time without an ACK."""
        return float(np.diff(self.at).max(initial=0.0))

    def released_every(self, period_us: float) -> Acks:
        """ACK compression: the return path opens once per period."""
        return replace(self, at=np.ceil(self.at / period_us) * period_us)

    def serialised(self, gap_us: float) -> Acks:
        """A thin return path: ACKs leave at least `gap_us` apart."""
        steps = np.arange(len(self.at)) * gap_us
        return replace(self, at=np.maximum.accumulate(self.at - steps) + steps)

    def ticking(self, tick_us: float) -> Acks:
        """A clock that stands still between ticks."""
        return replace(self, at=np.floor(self.at / tick_us) * tick_us)

    def losing(self, rng: np.random.Generator, p: float) -> Acks:
        """Lost ACKs: the next one reports their bytes, too."""
        kept = rng.random(len(self.at)) >= p
        kept[-1] = True
        total = np.cumsum(self.nbytes)[kept]
        return Acks(self.at[kept], self.covers[kept], np.diff(total, prepend=0))

    def shifted(self, by_us: float) -> Acks:
        """The same series later."""
        return replace(self, at=self.at + by_us, covers=self.covers + by_us)


def segments(rate: float, mss: int, count: int) -> Floats:
    """When `count` segments leave a busy bottleneck of `rate` B/s, in us."""
    return np.arange(1, count + 1) * (mss * USEC_PER_SEC / rate)


def steady(rate: float, mss: int, count: int, every: int = 1) -> Acks:
    """`count` ACKs, one per `every` segments: 1 at once, 2 delayed, more GRO or stretch ACKs."""
    times = segments(rate, every * mss, count)
    return Acks(times, times, np.full(count, every * mss))


def losing_data(rng: np.random.Generator, delivered: Floats, mss: int, p: float) -> Acks:
    """Frames lost behind the bottleneck: those that arrive are SACKed one by one."""
    times = delivered[rng.random(len(delivered)) >= p]
    return Acks(times, times, np.full(len(times), mss))


def reordered(rng: np.random.Generator, delivered: Floats, mss: int, p: float, late: float) -> Acks:
    """A share `p` of the segments arrives `late` us later, each ACKed or SACKed on arrival.

    Bytes SACKed before don't count again when snd_una jumps over them.
    """
    at = delivered + late * (rng.random(len(delivered)) < p)
    order = np.argsort(at, kind="stable")
    return Acks(at[order], delivered[order], np.full(len(order), mss))


class Estimator:
    """The header's estimator for one connection."""

    def __init__(
        self,
        apogee: Library,
        *,
        mss: int,
        rtt_min_us: int,
        first_us: int = 1000,
        recent: bool = False,
    ) -> None:
        self.apogee = apogee
        self.mss, self.rtt_min_us, self.first_us = mss, rtt_min_us, first_us
        self.state = apogee.new("abe")
        self.state.recent = recent
        self._ref = ctypes.byref(self.state)

    @property
    def interval_us(self) -> int:
        """The shortest sample."""
        return self.apogee.abe_interval_us(self.rtt_min_us)

    @property
    def bw(self) -> int:
        """The estimate in B/s."""
        return self.apogee.abe_bw(self._ref)

    def ack(
        self, now_us: int, nbytes: int, *, limited: bool = False, sent_us: int = 0, late_us: int = 0
    ) -> int:
        """Process one ACK; returns the estimate in B/s. By default its data was sent at once."""
        self.apogee.abe_ack(
            self._ref,
            now_us,
            sent_us,
            nbytes,
            self.mss,
            self.rtt_min_us,
            self.first_us,
            limited,
            late_us,
        )
        return self.bw

    def feed(self, acks: Acks, *, limited: bool = False) -> Floats:
        """Take a series; the estimate after each ACK."""
        return np.fromiter(self._feed(acks, limited), dtype=np.float64, count=len(acks.at))

    def _feed(self, acks: Acks, limited: bool) -> Iterator[int]:
        ack, bw, ref = self.apogee.abe_ack, self.apogee.abe_bw, self._ref
        fixed = (self.mss, self.rtt_min_us, self.first_us, limited, 0)
        value = bw(ref)
        for now, nbytes in zip(
            np.floor(acks.at).astype(np.int64).tolist(), acks.nbytes.tolist(), strict=True
        ):
            if ack(ref, now, 0, nbytes, *fixed):
                value = bw(ref)
            yield value
