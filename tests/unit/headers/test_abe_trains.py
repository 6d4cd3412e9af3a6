# SPDX-License-Identifier: GPL-2.0
"""ABE on simulated ACK trains: how far the estimate may be from the bottleneck's rate.

Every bound below follows from the rules in abe.h and from the train, none is
fitted. R is the bottleneck's rate in B/s, s the time of one segment there, I the
shortest sample, E the epoch in samples, J the jitter, G the longest gap between
two ACKs of the train.

Ceiling. A sample begins and ends with an ACK, and both report a segment that has
just left the bottleneck, at most J apart from where the ACKs stand. Between them
no more than R * (elapsed + J) left it, and elapsed >= I:

    estimate <= R * (1 + J / I)

Delayed, stretched and lost ACKs report what they report when it has arrived:
J is then the clock's rounding, 1 us. Loss and pauses only ever take bytes away.

Floor. Samples follow each other without a gap and the largest counts, so it is
at least their mean. Over samples that together last D >= ABE_SETTLE * I, or D >= 2 I
where only the last two count:

    estimate >= R * (1 - J / D), or with loss, what arrived in D over D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.headers.ack_trains import (
    USEC_PER_SEC,
    Acks,
    Estimator,
    Floats,
    losing_data,
    reordered,
    segments,
    steady,
)
from tests.unit.headers.cheaders import Library

MSS = 1448


@dataclass(frozen=True)
class Path:
    """A bottleneck and the round trip; `every` segments share an ACK at least."""

    rate: float
    rtt_min_us: int
    every: int = 1

    @property
    def segment_us(self) -> float:
        return MSS * USEC_PER_SEC / self.rate

    def estimator(self, apogee: Library, recent: bool = False) -> Estimator:
        return Estimator(apogee, mss=MSS, rtt_min_us=self.rtt_min_us, recent=recent)

    def busy(self, est: Estimator, epochs: float, stretch: int = 1, period_us: float = 0) -> Acks:
        """A busy sender for that many epochs; for 40 ACKs and 8 periods at least."""
        span = max(epochs * est.apogee.ABE_EPOCH * est.interval_us, 8 * period_us)
        every = self.every * stretch
        count = int(span / (every * self.segment_us))
        return steady(self.rate, MSS, max(count, 40), every)

    def burst(self, count: int) -> Acks:
        """That many ACKs in a row."""
        return steady(self.rate, MSS, count, self.every)


# The satellite link's payload rate is 10 Mbit/s * 1448 / 1514.
SATELLITE = Path(rate=1_195_508.6, rtt_min_us=500_000)
PATHS = {
    "64kbit": Path(rate=8_000, rtt_min_us=600_000),
    "1mbit": Path(rate=125_000, rtt_min_us=50_000),
    "satellite": SATELLITE,
    "100mbit": Path(rate=12_500_000, rtt_min_us=20_000, every=2),
    "10gbit": Path(rate=1_250_000_000, rtt_min_us=100, every=44),
}
each_path = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
# What the estimate remembers: two epochs, or as published two samples.
each_memory = pytest.mark.parametrize("recent", [False, True], ids=["epochs", "recent"])


def settled(est: Estimator, acks: Acks) -> int:
    """The first ACK after which the estimate rests on ABE_SETTLE full samples."""
    longest = est.interval_us + acks.gap_us
    index = np.searchsorted(acks.at, acks.at[0] + est.apogee.ABE_SETTLE * longest)
    assert index < len(acks.at), "the train is too short for the test"
    return int(index)


def check_ceiling(path: Path, est: Estimator, acks: Acks, values: Floats) -> None:
    ceiling = path.rate * (1 + acks.jitter_us / est.interval_us)
    assert values[settled(est, acks) :].max() <= ceiling


def check_floor(path: Path, est: Estimator, acks: Acks, values: Floats) -> None:
    samples = 2 if est.state.recent else est.apogee.ABE_SETTLE
    span = samples * est.interval_us
    floor = path.rate * (1 - acks.jitter_us / span) - 1
    assert values[settled(est, acks) :].min() >= floor


def check_mean(est: Estimator, acks: Acks, values: Floats) -> None:
    """At the end at least the mean of the last epoch, less a sample at either end."""
    epoch = est.apogee.ABE_EPOCH * est.interval_us
    longest = est.interval_us + acks.gap_us
    end = acks.at[-1]
    inside = (acks.at > end - epoch + longest) & (acks.at <= end - longest)
    assert values[-1] >= acks.nbytes[inside].sum() * USEC_PER_SEC / epoch - 1


@each_memory
@each_path
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("period_us", [1_000, 4_000, 20_000, 100_000])
def test_compression_counts_whole_releases(
    apogee: Library, path: Path, recent: bool, every: int, period_us: int
) -> None:
    """Released every P us: estimate <= R * (1 + min(g, P) / max(I, P)), g the gap of ACKs.

    A sample ends with the first ACK of a release, which left the receiver within
    g of the release before, and so did the ACK that began it.
    """
    est = path.estimator(apogee, recent)
    acks = path.busy(est, 1.2, every, period_us).released_every(period_us)
    values = est.feed(acks)
    spread = min(every * path.every * path.segment_us, period_us)
    ceiling = path.rate * (1 + spread / max(est.interval_us, period_us))
    assert values[settled(est, acks) :].max() <= ceiling
    check_floor(path, est, acks, values)
    if not recent:
        check_mean(est, acks, values)


@pytest.mark.parametrize("path", [SATELLITE, PATHS["1mbit"]], ids=["satellite", "1mbit"])
@pytest.mark.parametrize("p", [0.0012, 0.012, 0.06, 0.12])
@pytest.mark.parametrize("seed", range(3))
def test_lost_frames(apogee: Library, path: Path, p: float, seed: int) -> None:
    """Loss behind the bottleneck: never above R, and better than the mean R * (1 - p).

    A sample of N = ceil(I / s) segments is whole if its last one arrives and at
    most k of the others don't: probability q = (1 - p) * P(Bin(N - 1, p) <= k),
    value R * (1 - k / N). An epoch has E * I / (I + 3s) - 2 samples at least;
    k is chosen so that none of them is that good with probability 1e-6 at most.
    """
    est = path.estimator(apogee)
    rng = np.random.default_rng(seed)
    acks = losing_data(rng, path.busy(est, 2.5).at, MSS, p)
    values = est.feed(acks)
    check_ceiling(path, est, acks, values)
    check_mean(est, acks, values)

    size = math.ceil(est.interval_us / path.segment_us)
    epoch = apogee.ABE_EPOCH * est.interval_us
    samples = int(epoch / (est.interval_us + 3 * path.segment_us)) - 2
    misses = quality = 0
    for lost in range(size):
        quality += (1 - p) * math.comb(size - 1, lost) * p**lost * (1 - p) ** (size - 1 - lost)
        misses = lost
        if (1 - quality) ** samples <= 1e-6:
            break
    floor = path.rate * (1 - misses / size) - 1
    assert values[np.searchsorted(acks.at, epoch) :].min() >= floor
    assert path.rate * (1 - p) < floor or p < 1 / size


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("late_us", [2_000, 15_000])
def test_reordering(apogee: Library, p: float, late_us: int) -> None:
    """A share of the segments comes D late: 1 + D / I, and one segment at the window's edge.

    What left the bottleneck in (t_a - D, t_b] can arrive in (t_a, t_b].
    """
    est = SATELLITE.estimator(apogee)
    rng = np.random.default_rng(3)
    acks = reordered(rng, SATELLITE.busy(est, 1.2).at, MSS, p, late_us)
    values = est.feed(acks)
    edge = late_us + SATELLITE.segment_us + 1
    after = values[settled(est, acks) :]
    assert after.max() <= SATELLITE.rate * (1 + edge / est.interval_us)
    assert after.min() >= SATELLITE.rate * (1 - edge / est.interval_us / apogee.ABE_SETTLE)


@each_memory
@each_path
def test_window_limited_bursts(apogee: Library, path: Path, recent: bool) -> None:
    """Bursts of 2 (I + G) and as long a pause: one sample lies wholly in each burst.

    So R (1 - 1us / I) <= estimate <= R (1 + 1us / I), though the mean is R / 2.
    """
    est = path.estimator(apogee, recent)
    gap = path.every * path.segment_us
    length = math.ceil(2 * (est.interval_us + gap) / gap) + 1
    burst = path.burst(length)
    values = [
        est.feed(burst.shifted(turn * 2 * length * gap)) for turn in range(apogee.ABE_EPOCH + 4)
    ]
    late = np.concatenate(values[apogee.ABE_SETTLE :])
    assert late.max() <= path.rate * (1 + 1 / est.interval_us)
    assert late.min() >= path.rate * (1 - 1 / est.interval_us) - 1


@each_memory
@each_path
@pytest.mark.parametrize("pause_us", [1_000, 10_000, 500_000, 3_000_000, 3_600_000_000, 2**33])
def test_a_gap_does_not_show(apogee: Library, path: Path, recent: bool, pause_us: int) -> None:
    """A gap of any length lies in one sample: the other one holds the estimate at R."""
    est = path.estimator(apogee, recent)
    acks = path.busy(est, 1.2)
    before = est.feed(acks)[-1]
    values = est.feed(acks.shifted(acks.at[-1] + pause_us))
    assert values.max() <= max(before, path.rate * (1 + 1 / est.interval_us))
    assert values.min() >= path.rate * (1 - 1 / est.interval_us) - 1


@each_memory
@each_path
@pytest.mark.parametrize("intervals", [1, 20, 150])
def test_application_limited_periods_are_ignored(
    apogee: Library, path: Path, recent: bool, intervals: int
) -> None:
    """Nothing to send: a tenth of the rate, whatever it lasts, neither lowers nor ages."""
    est = path.estimator(apogee, recent)
    busy = path.busy(est, 1.2)
    before = est.feed(busy)[-1]
    slow = Path(path.rate / 10, path.rtt_min_us)
    count = max(int(intervals * est.interval_us / slow.segment_us), 2)
    quiet = slow.burst(count).shifted(busy.at[-1])
    assert (est.feed(quiet, limited=True) == before).all()


def test_application_limited_time_does_not_age_the_estimate(apogee: Library) -> None:
    """A full-rate sample outlives an epoch of slower ones, pauses of the application not counted.

    The slow samples (a tenth of R, the sender not limited) stand right before
    and after a limited period that is longer than an epoch.
    """
    for offset in range(apogee.ABE_EPOCH + 2):
        est = SATELLITE.estimator(apogee)
        step = est.interval_us
        fast, slow = (math.ceil(SATELLITE.rate * share * step / 1e6) for share in (1, 0.1))
        now = 0
        est.ack(now, MSS)
        for nbytes in [slow] * apogee.ABE_SETTLE + [fast] * (1 + offset) + [slow]:
            now += step
            before = est.ack(now, nbytes)
        for _ in range(2 * apogee.ABE_EPOCH):
            now += step
            est.ack(now, slow, limited=True)
        assert est.ack(now + step, slow) == before


def test_a_limited_sample_may_raise_the_estimate(apogee: Library) -> None:
    """What has arrived has passed the path: a larger sample counts, limited or not."""
    est = SATELLITE.estimator(apogee)
    est.feed(SATELLITE.busy(est, 1.2))
    now = 10_000_000
    est.ack(now, MSS)
    now += est.interval_us
    nbytes = int(2 * SATELLITE.rate * est.interval_us / USEC_PER_SEC)
    assert est.ack(now, nbytes, limited=True) >= 1.99 * SATELLITE.rate


@each_path
def test_a_limited_first_train_is_corrected(apogee: Library, path: Path) -> None:
    """The stack marks every first flight as limited by the application; its spacing counts."""
    marked, unmarked = path.estimator(apogee), path.estimator(apogee)
    for estimator, limited in ((marked, True), (unmarked, False)):
        estimator.ack(0, MSS, limited=limited)
    train = steady(path.rate, MSS, 9)
    assert (marked.feed(train, limited=True)[:2] == unmarked.feed(train)[:2]).all()


@pytest.mark.parametrize("back_us", [1, 1_000, 20_000, 10**6, 10**9])
@pytest.mark.parametrize("when", [0.05, 0.5, 0.9])
def test_clock_that_steps_back(apogee: Library, back_us: int, when: float) -> None:
    """A step of B us: the running sample restarts, or holds less than B < I too much.

    Only a step behind the sample's beginning can be seen. A smaller one leaves
    elapsed >= I and hides B < I: estimate <= R * (1 + B / I) <= 2 R. Afterwards
    the estimate follows the rate within the two epochs of the maximum.
    """
    est = SATELLITE.estimator(apogee)
    acks = SATELLITE.busy(est, 1.2).shifted(2e9)
    half = int(len(acks.at) * when)
    late = Acks(acks.at[half:] - back_us, acks.covers[half:], acks.nbytes[half:])
    est.feed(Acks(acks.at[:half], acks.covers[:half], acks.nbytes[:half]))
    before = est.bw
    values = est.feed(late)
    hidden = min(back_us, est.interval_us) + 1
    assert values.max() <= max(before, SATELLITE.rate * (1 + hidden / est.interval_us))
    assert values.min() >= SATELLITE.rate * (1 - 1 / est.interval_us) - 1

    slow = Path(SATELLITE.rate / 4, SATELLITE.rtt_min_us)
    follow = slow.busy(est, 2.3).shifted(late.at[-1])
    values = est.feed(follow)
    assert values[-1] <= slow.rate * (1 + 1 / est.interval_us)


def test_a_maximum_outlasts_steps_back(apogee: Library) -> None:
    """A clock that steps back behind the epoch's beginning restarts it, and ages nothing."""
    est = SATELLITE.estimator(apogee)
    before = est.feed(SATELLITE.busy(est, 0.5).shifted(3e9))[-1]
    slow = Path(SATELLITE.rate / 4, SATELLITE.rtt_min_us)
    for start_us in (2e9, 1e9, 0):
        values = est.feed(slow.busy(est, 0.3).shifted(start_us))
        assert (values == before).all()


@each_memory
@each_path
@pytest.mark.parametrize("factor", [2, 10, 1000])
def test_rate_rises(apogee: Library, path: Path, recent: bool, factor: int) -> None:
    """A higher rate counts with the first sample wholly in it: within 2 (I + G)."""
    est = path.estimator(apogee, recent)
    slow = Path(path.rate / factor, path.rtt_min_us)
    acks = slow.busy(est, 0.2)
    est.feed(acks)
    fast = path.busy(est, 0.1).shifted(acks.at[-1])
    values = est.feed(fast)
    within = 2 * (est.interval_us + path.every * path.segment_us)
    after = np.searchsorted(fast.at, acks.at[-1] + within)
    assert values[after + 1 :].min() >= path.rate * (1 - 1 / est.interval_us) - 1


@pytest.mark.repeats
@each_path
@pytest.mark.parametrize("factor", [2, 10])
def test_rate_falls(apogee: Library, path: Path, factor: int) -> None:
    """A lower rate R' counts after two epochs, each up to E * I + (I + G), and one sample.

    Not before one epoch has passed: so long a maximum lasts at least.
    """
    est = path.estimator(apogee)
    acks = path.busy(est, 1.2)
    est.feed(acks)
    slow = Path(path.rate / factor, path.rtt_min_us)
    tail = slow.busy(est, 4).shifted(acks.at[-1])
    values = est.feed(tail)
    longest = est.interval_us + tail.gap_us
    epoch = apogee.ABE_EPOCH * est.interval_us
    passed = tail.at - acks.at[-1]
    kept = values[passed < epoch]
    assert len(kept) == 0 or kept.min() >= path.rate * (1 - 1 / est.interval_us) - 1
    late = values[passed > 2 * (epoch + longest) + longest]
    assert len(late) > 0
    assert late.max() <= slow.rate * (1 + 1 / est.interval_us)


@given(data=st.data())
@settings(max_examples=settings().max_examples // 3)
def test_everything_at_once(apogee: Library, data: st.DataObject) -> None:
    """Delayed, stretched and lost ACKs, ACK compression, a thin return path, a clock that stands
    still, alone and in any mix, on any path: the ceiling and the floor, J measured on the train.
    """
    rate = 10 ** data.draw(st.floats(3.08, 10.09), label="log10 of the rate in B/s")
    rtt_min_us = int(10 ** data.draw(st.floats(1, 7), label="log10 of the RTT in us"))
    seed = data.draw(st.integers(0, 2**32 - 1), label="seed")
    rng = np.random.default_rng(seed)
    recent = data.draw(st.booleans(), label="recent")
    est = Estimator(apogee, mss=MSS, rtt_min_us=rtt_min_us, recent=recent)
    rate = min(rate, 2**31 * USEC_PER_SEC / est.interval_us)  # more bytes are not counted
    # At most 20 ACKs per interval, about 400 in all.
    every = max(math.ceil(est.interval_us * rate / (20 * MSS * USEC_PER_SEC)), 1)
    path = Path(rate, rtt_min_us)
    whole = every > 1 or not data.draw(st.booleans(), label="data loss")
    if not whole:
        p = data.draw(st.floats(0, 0.12), label="p")
        acks = losing_data(rng, segments(rate, MSS, 400), MSS, p)
    else:
        stretch = data.draw(st.sampled_from([1, 2, 8]), label="stretch")
        acks = steady(rate, MSS, 400, every * stretch)
    acks = acks.losing(rng, data.draw(st.sampled_from([0, 0.02, 0.3]), label="ACK loss"))
    gap = float(np.diff(acks.at).min())
    for step in data.draw(st.lists(st.integers(0, 2), max_size=3), label="distortions"):
        if step == 0:
            acks = acks.released_every(data.draw(st.floats(gap, 20 * gap), label="period"))
        elif step == 1:
            acks = acks.serialised(data.draw(st.floats(0, gap), label="ACK time"))
        else:
            acks = acks.ticking(data.draw(st.floats(gap, 20 * gap), label="tick"))
    values = est.feed(acks)
    if acks.at[-1] - acks.at[0] > apogee.ABE_SETTLE * (est.interval_us + acks.gap_us):
        check_ceiling(path, est, acks, values)
        if not recent:
            check_mean(est, acks, values)
        if whole:
            check_floor(path, est, acks, values)
