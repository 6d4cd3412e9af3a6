# SPDX-License-Identifier: GPL-2.0
"""What a sender knows of a path, shake_path.h: on links whose queue is calculated, and with ACKs
that can't be true.
"""

from __future__ import annotations

import ctypes
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.shake_link import SECOND, Link

U64_MAX = 2**64 - 1
KBIT = 125  # bytes/s
RATES = [9.6 * KBIT, 64 * KBIT, 384 * KBIT, 10_000 * KBIT, 1e6 * KBIT]
u32 = st.integers(0, 2**32 - 1) | st.integers(0, 32).map(lambda bits: max(2**bits - 1, 0))


def packet_us(rate: float, size: int = 1500) -> float:
    return size / rate * SECOND


def filled(apogee: Library, rate: float, delay: int = 300_000, queue: int = 8) -> Link:
    """A link that had a queue of about so many packets for a while."""
    link = Link(apogee, rate, delay)
    link.send(60)
    link.wait(delay + packet_us(rate))
    window = queue + int(delay / packet_us(rate))
    link.fill(max(60 * packet_us(rate), 4.0 * SECOND if window < 300 else SECOND) / SECOND, window)
    return link


def snapshot(est: Any) -> bytes:
    return bytes(ctypes.string_at(ctypes.byref(est), ctypes.sizeof(est)))


# --- the equations ------------------------------------------------------------------------------


def test_smoothed_round_trip(apogee: Library) -> None:
    """Equation (1), by floating point."""
    link = Link(apogee, 1e9, 0)
    rng = random.Random(1)
    srtt = 0.0
    for _ in range(200):
        link.delay = rng.randint(20_000, 400_000)
        link.send()
        real = round(link.real[-1][1])
        srtt = srtt * 7 / 8 + real / 8 if srtt else real
        link.wait(500_000)
        assert apogee.shake_path_srtt(link.est) == pytest.approx(srtt, abs=16)


@pytest.mark.repeats
@pytest.mark.parametrize("rate", RATES)
def test_throughput_of_a_full_link(apogee: Library, rate: float) -> None:
    link = filled(apogee, rate, 300_000 if rate < 1e6 else 20_000)
    assert apogee.shake_path_rate(link.est) == pytest.approx(rate, rel=0.05)


def test_throughput_by_interval(apogee: Library) -> None:
    """Equation (2): half the way in each interval, by TPUT of the new rate."""
    link = filled(apogee, 384 * KBIT)
    old = apogee.shake_path_rate(link.est)
    link.rate = 128 * KBIT
    seen = [old]
    for _ in range(600):
        link.fill(0.01, 20)
        rate = apogee.shake_path_rate(link.est)
        if rate != seen[-1]:
            seen.append(rate)
    # the first interval may hold packets of both rates
    for before, after in zip(seen[2:], seen[3:], strict=False):
        assert after == pytest.approx((before + link.rate) / 2, rel=0.02)
    assert len(seen) >= 4


@pytest.mark.repeats
@pytest.mark.parametrize("rate", RATES)
def test_an_idle_path_keeps_its_throughput(apogee: Library, rate: float) -> None:
    link = filled(apogee, rate, 20_000)
    before = apogee.shake_path_rate(link.est)
    for _ in range(20):  # and if it is hardly used
        link.wait(60 * SECOND)
        link.send(100)
    assert apogee.shake_path_rate(link.est) == before
    assert link.send() <= 2 * packet_us(rate) + 21_000


@pytest.mark.repeats
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seed", range(3))
def test_round_trips_are_foreseen(apogee: Library, rate: float, seed: int) -> None:
    """Within a packet's time on average, whatever is sent: bursts, pauses, all lengths."""
    link = filled(apogee, rate, 300_000 if rate < 1e6 else 20_000)
    rng = random.Random(seed)
    link.real.clear()
    for _ in range(400):
        for _ in range(rng.randint(1, 6)):
            link.send(rng.choice([100, 700, 1500]))
        link.wait(rng.expovariate(1) * 4 * packet_us(rate))
    wrong = [abs(predicted - real) for predicted, real in link.real]
    assert sum(wrong) / len(wrong) < packet_us(rate) + 500


@pytest.mark.parametrize("others", [128, 256])
def test_others_packets_are_followed(apogee: Library, others: int) -> None:
    """Packets of 1000 bytes that share the queue: a third of RAH's delays on the paper's paths."""
    rate = 384 * KBIT
    link = filled(apogee, rate)
    due = float(link.now)
    wrong = []
    for step in range(6000):
        while due <= link.now:
            link.free = max(link.free, due) + packet_us(rate, 1000)
            due += packet_us(others * KBIT, 1000)
        # as much as is left, 10 packets of it at once or none
        if step % 500 < 10 * (384 - others) // 12 and step % 10 == 0:
            link.send()
            wrong.append(abs(link.real[-1][0] - link.real[-1][1]))
        link.wait(10_000)
    assert sum(wrong) / len(wrong) < 3 * packet_us(rate)


def test_least_round_trip(apogee: Library) -> None:
    """A shorter path shows at once, a longer one after the window; a queue doesn't count."""
    link = filled(apogee, 384 * KBIT)
    least = apogee.shake_path_min_rtt(link.est)
    assert 300_000 <= least <= 302_000
    link.fill(60, 20)
    assert apogee.shake_path_min_rtt(link.est) == least
    for delay in (100_000, 200_000):
        link.delay = delay
        for _ in range(11):
            link.wait(SECOND)
            link.send(60)
        assert apogee.shake_path_min_rtt(link.est) == pytest.approx(delay, abs=3000)


def test_queue(apogee: Library) -> None:
    link = filled(apogee, 384 * KBIT, queue=10)
    behind = max(link.free - link.now, 0) * link.rate / SECOND
    assert apogee.shake_path_queue(link.est, link.now) == pytest.approx(behind, abs=3000)
    link.wait(SECOND)
    assert apogee.shake_path_queue(link.est, link.now) == 0


# --- what was lost ------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5)), min_size=1, max_size=100))
def test_losses_are_counted(apogee: Library, fates: list[tuple[bool, int]]) -> None:
    """Exactly, and counters that others used are no losses."""
    link = Link(apogee, 384 * KBIT, 100_000)
    for lost, gap in fates:
        link.send(lost=lost, gap=gap)
        link.wait(10_000)
    link.send()
    link.wait(10 * SECOND)
    assert apogee.shake_path_lost(link.est) == sum(lost for lost, _ in fates)
    assert apogee.shake_path_outstanding(link.est) == 0


def test_a_new_session(apogee: Library) -> None:
    link = filled(apogee, 384 * KBIT)
    link.send(lost=True)
    link.send()
    link.wait(10 * SECOND)
    before = [apogee.shake_path_srtt(link.est), apogee.shake_path_rate(link.est)]
    apogee.shake_path_restart(link.est, link.now)
    assert [apogee.shake_path_srtt(link.est), apogee.shake_path_rate(link.est)] == before
    assert apogee.shake_path_lost(link.est) == 1
    assert not link.accept(link.ack(link.counter))
    link.counter = link.received = link.packets = 0
    link.send()
    link.wait(SECOND)
    assert apogee.shake_path_outstanding(link.est) == 0


@pytest.mark.repeats
@pytest.mark.parametrize("count", [300, 1000, 5000, 80_000])
def test_more_under_way_than_records(apogee: Library, count: int) -> None:
    """Echoes of any packet, one in 16: what is outstanding is known within 1024 packets."""
    link = Link(apogee, 1e6 * KBIT, 600_000)
    for _ in range(count):
        link.send()
        link.now += 10
    strides = ((256, 1), (769, 4), (4865, 64), (10**9, 1024))
    stride = next(step for most, step in strides if count <= most)
    for echo in range(16, count, 16):
        link.now = SECOND + 600_000 + echo * 12
        assert link.accept(link.ack(echo, bytes=echo * 1500 % 2**32, packets=echo))
        outstanding = apogee.shake_path_outstanding(link.est)
        assert outstanding == pytest.approx((count - echo) * 1500, abs=1500 * stride)


def test_an_echo_behind_an_interpolated_one(apogee: Library) -> None:
    """It is interpolated between other records then, as the next has one: nothing is lost."""
    link = Link(apogee, 1e6 * KBIT, 20_000)
    for _ in range(660):  # those of the last three are not recorded
        link.send(1000)
        link.now += 10
    link.now += 50_000
    assert link.accept(link.ack(659, bytes=659_000, packets=659))
    assert link.est.gone_packets == 659
    link.send(1000, gap=401)
    link.now += 1000
    assert link.accept(link.ack(660, bytes=660_000, packets=660))
    assert (link.est.gone_packets, apogee.shake_path_lost(link.est)) == (660, 0)


@given(st.lists(st.integers(1, 400), max_size=100), st.integers(1, 40))
def test_others_counters_are_no_losses_of_many_under_way(
    apogee: Library, gaps: list[int], step: int
) -> None:
    """What is lost makes the queue shorter: no packet counts as gone before it was sent."""
    link = Link(apogee, 1e6 * KBIT, 600_000)
    counters = [0]
    for step_of_counter in [1] * 300 + [one for gap in gaps for one in (gap, 1)]:
        counters.append(counters[-1] + step_of_counter)
        apogee.shake_path_sent(link.est, counters[-1], 100, link.now)
        link.now += 10
    link.now += 600_000
    for echo in range(1, len(counters), step):
        assert link.accept(link.ack(counters[echo], bytes=100 * echo, packets=echo))
        assert link.est.gone_packets == echo


@pytest.mark.parametrize("gap", [1, 2, 16])
def test_others_counters_are_no_losses_of_more_than_there_are_records(
    apogee: Library, gap: int
) -> None:
    """What is lost is known all the same, when an echo has a record."""
    link = Link(apogee, 12_500_000, 200_000)
    for number in range(4000):
        link.send(gap=(1, gap)[number % 2])
        link.now += 20
        while len(link.back) >= 1500:
            link.wait(max(link.back[0][0] - link.now, 1))
            assert link.est.gone_packets == link.est.received_packets
    assert (link.est.loss.share, link.est.room) == (0, 0)
    for number in range(4000):
        link.send(gap=(1, gap)[number % 2], lost=number % 40 == 39)
        link.wait(120)
    link.wait(SECOND)
    link.send()
    link.wait(SECOND)
    assert apogee.shake_path_lost(link.est) == 100


bursts = st.tuples(st.integers(1, 8) | st.integers(257, 600), st.integers(1, 500))


@given(st.lists(st.tuples(bursts, st.integers(0, 8) | st.integers(0, 600)), max_size=6))
@example([((660, 1), 1), ((1, 401), 1)])
def test_what_is_gone_never_comes_back(
    apogee: Library, script: list[tuple[tuple[int, int], int]]
) -> None:
    """All arrives, and is echoed in order, but for some; others' counters are between."""
    link = Link(apogee, 1e6 * KBIT, 20_000)
    est, counters, echoed, before = link.est, [0], 0, (0, 0)
    for (count, gap), left in script:
        for index in range(count):
            counters.append(counters[-1] + (1 if index else gap))
            apogee.shake_path_sent(est, counters[-1], 100, link.now)
        echoed = max(echoed, len(counters) - 1 - left, 1)
        link.now += 1000
        assert link.accept(link.ack(counters[echoed], bytes=100 * echoed, packets=echoed))
        assert before[0] <= est.gone <= est.sent
        assert before[1] <= est.gone_packets <= est.sent_packets
        assert apogee.shake_path_lost(est) <= est.sent_packets
        before = est.gone, est.gone_packets


def test_a_pause_between_records(apogee: Library) -> None:
    """It makes what is interpolated late: no round trip is less than the least."""
    link = Link(apogee, 1e6 * KBIT, 22_000)
    link.send(60)
    link.wait(SECOND)
    for _ in range(40):
        for count, pause in ((1000, 10_003), (3, 3_001)):
            for _ in range(count):
                link.send(100)
            link.wait(pause)
    link.wait(SECOND)
    assert apogee.shake_path_min_rtt(link.est) == 22_000
    assert 22_000 <= apogee.shake_path_srtt(link.est) <= 30_000


@pytest.mark.parametrize(
    ("least", "hold", "rtt"),
    [
        (0, 0, 35_000),  # the most it can be, if nothing is known
        (15_000, 0, 20_000),  # interpolated
        (22_000, 0, 22_000),
        (50_000, 0, 35_000),
        (8000, 25_000, 8000),  # held for longer than it is under way, if interpolated
    ],
)
def test_an_interpolated_round_trip(apogee: Library, least: int, hold: int, rtt: int) -> None:
    """The packet left 35 ms ago, with the record before. It looks like 20 ms."""
    link = Link(apogee, 1e6 * KBIT, 0)
    est = link.est
    if least:
        link.send(100)
        link.now += least
        assert link.accept(link.ack(1))
    while est.head - est.tail <= apogee.SHAKE_RING // 2:
        link.send(100)
    before = est.head
    for _ in range(3):  # not recorded
        link.send(100)
    link.now += 30_000
    assert est.head == before
    link.send(100)
    assert est.head == before + 1
    link.now += 5000
    echo = link.counter - 2
    assert link.accept(link.ack(echo, bytes=100 * echo, packets=echo, hold_us=hold))
    assert est.rtt == rtt
    assert apogee.shake_path_min_rtt(est) == min(least or 35_000, 35_000)


def overtake(link: Link, after_us: int) -> None:
    """A packet and its ACK overtake all others: so soon after it left, the ACK tells also of those
    whose own ACKs are still on their way. Later ones echo it.
    """
    apogee, est = link.apogee, link.est
    link.counter += 1
    apogee.shake_path_sent(est, link.counter, 1500, link.now)
    link.received += 1500
    link.packets += 1
    link.now += after_us
    for due, ack in link.back:
        ack.echo, ack.hold_us = link.counter, max(round(due - link.delay / 2) - link.now, 0)
        ack.bytes, ack.packets = (ack.bytes + 1500) % 2**32, ack.packets + 1
    arrived = [ack for due, ack in link.back if due <= link.now + link.delay / 2]
    while arrived and link.back[0][1] is not arrived[-1]:
        link.back.popleft()
    _, told = link.back.popleft()
    told.hold_us = 0
    assert link.accept(told)


@pytest.mark.parametrize("after_us", [1, 1000])
@pytest.mark.parametrize("delay", [40_000, 300_000])
def test_a_packet_that_overtakes_shows_no_rate(apogee: Library, delay: int, after_us: int) -> None:
    """What was received beside it came over a longer time: G stays, and goes on to be measured."""
    link = filled(apogee, 2000 * KBIT, delay)
    window = 10 + int(delay / packet_us(link.rate))
    for _ in range(5):
        overtake(link, after_us)
        link.fill(0.1, window)
    assert apogee.shake_path_rate(link.est) < 2 * link.rate
    link.fill(5, window)
    assert apogee.shake_path_rate(link.est) == pytest.approx(link.rate, rel=0.05)


# --- silence ------------------------------------------------------------------------------------


FULL = [(9.6, 50), (9.6, 1), (384, 50), (384, 500), (1e6, 100)]


def test_lost_acks_are_no_faster_link(apogee: Library) -> None:
    """What came while ACKs were lost came in all of that time, not while the first packet behind
    them was under way. And nothing came before the first packet of a flight."""
    link = Link(apogee, 500_000, 20_000)
    link.fill(5, window=20)
    known = link.est.rate
    assert known == pytest.approx(500_000, rel=0.05)
    for _ in range(3):
        for _ in range(20):
            link.send()
        link.now += 300_000
        link.back.clear()
        link.send()
        link.wait(SECOND)
        assert link.est.rate == pytest.approx(known, rel=0.05)


@pytest.mark.parametrize(("rate", "queue"), FULL)
def test_no_false_alarm(apogee: Library, rate: float, queue: int) -> None:
    """Not at the start, where nothing is known, nor with a full queue, nor as it drains."""
    link = Link(apogee, rate * KBIT, 300_000)
    for _ in range(queue):
        link.send()
    while link.back:
        assert not apogee.shake_path_is_silent(link.est, int(link.back[0][0]))
        link.wait(link.back[0][0] - link.now)
    assert apogee.shake_path_deadline(link.est, link.now) == U64_MAX
    assert not apogee.shake_path_is_silent(link.est, link.now + 3600 * SECOND)


@pytest.mark.parametrize(("delay", "most"), [(20_000, 1.2), (300_000, 1.6), (600_000, 2.0)])
def test_a_dead_path_is_noticed(apogee: Library, delay: int, most: float) -> None:
    """Within a second after an ACK was due, or three round trips."""
    link = filled(apogee, 384 * KBIT, delay, queue=1)
    link.wait(5 * SECOND)
    link.send(lost=True)
    died = link.now
    doubt = apogee.shake_path_doubt(link.est, link.now)
    deadline = apogee.shake_path_deadline(link.est, link.now)
    assert died + delay < doubt < deadline <= died + most * SECOND
    assert deadline - doubt > delay + packet_us(link.rate)
    assert not apogee.shake_path_is_silent(link.est, deadline - 1)
    assert apogee.shake_path_is_silent(link.est, deadline)
    late = link.ack(link.counter, bytes=(link.received + 1500) % 2**32, packets=link.packets + 1)
    link.now = deadline
    apogee.shake_path_forget(link.est, deadline)
    assert apogee.shake_path_deadline(link.est, deadline) == U64_MAX
    srtt = apogee.shake_path_srtt(link.est)
    assert link.accept(late)  # a sign of life, but no measure
    assert apogee.shake_path_srtt(link.est) == srtt


@pytest.mark.parametrize(
    ("delay", "silence_s", "gap_s"),
    [
        (20_000, 0, 0.2),
        (20_000, 3, 0.2),
        (20_000, 32, 2),
        (20_000, 600, 5),
        (600_000, 0, 0.6),
        (600_000, 16, 1),
    ],
)
def test_probes_of_a_dead_path_become_rare(
    apogee: Library, delay: int, silence_s: int, gap_s: float
) -> None:
    """A sixteenth of the silence, 200 ms to 5 s, and a round trip at least."""
    link = filled(apogee, 384 * KBIT, delay, queue=1)
    gap = apogee.shake_path_probe_gap(link.est, silence_s * SECOND)
    assert gap == pytest.approx(gap_s * SECOND, rel=0.1)


@pytest.mark.parametrize(("delay", "lost"), [(20_000, 3), (300_000, 2), (600_000, 1)])
def test_a_lost_probe_is_sent_again(apogee: Library, delay: int, lost: int) -> None:
    """The next is answered in time, too."""
    link = filled(apogee, 384 * KBIT, delay, queue=1)
    link.wait(5 * SECOND)
    link.send(lost=True)
    for _ in range(lost):
        link.wait(apogee.shake_path_doubt(link.est, link.now) - link.now)
        link.send(40, lost=True)
    deadline = apogee.shake_path_deadline(link.est, link.now)
    link.wait(apogee.shake_path_doubt(link.est, link.now) - link.now)
    link.send(40)
    arrival = link.back[0][0]
    assert arrival < deadline
    link.wait(arrival - link.now)
    assert not apogee.shake_path_is_silent(link.est, deadline)


def test_a_stalled_path_looks_late(apogee: Library) -> None:
    link = filled(apogee, 384 * KBIT)
    before = apogee.shake_path_trip(link.est, 1500, link.now)
    link.back.clear()
    link.wait(SECOND)
    after = apogee.shake_path_trip(link.est, 1500, link.now)
    assert after > before + 300_000


# --- ACKs that can't be true --------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"echo": 1000},
        {"bytes": 2**31},
        {"bytes": 0},
        {"packets": 0},
        {"packets": 10**6},
        {"hold_us": 10 * SECOND},
    ],
)
def test_nonsense_is_refused(apogee: Library, change: dict[str, int]) -> None:
    link = Link(apogee, 384 * KBIT, 300_000)
    for _ in range(5):
        link.send()
    link.wait(400_000)
    ack = link.ack(5)
    for name, value in change.items():
        setattr(ack, name, value)
    before = snapshot(link.est)
    assert not link.accept(ack)
    assert snapshot(link.est) == before
    assert link.accept(link.ack(5))


small = u32 | st.integers(0, 40)
acks = st.tuples(small, u32 | st.integers(0, 10**6), u32, small)
steps = st.lists(
    st.tuples(st.sampled_from([0, 1, 1000, 10**6, 2**33]), st.none() | acks, u32), max_size=40
)


@given(steps, u32.filter(bool), u32.filter(bool))
def test_whatever_is_said(
    apogee: Library, said: list[tuple[int, Any, int]], interval: int, window: int
) -> None:
    """Nothing is divided by zero, no sum runs over, and no more is gone than was sent."""
    link = Link(apogee, 384 * KBIT, 0, interval=interval, rtt_window=window)
    est = link.est
    for pause, ack, size in said:
        link.now += pause
        if ack is None:
            link.counter += 1
            apogee.shake_path_sent(est, link.counter, size, link.now)
        else:
            fields = dict(zip(("hold_us", "bytes", "packets"), ack[1:], strict=True))
            before = snapshot(est)
            if not link.accept(apogee.new("shake_path_ack", echo=ack[0], **fields)):
                assert snapshot(est) == before
        assert est.received <= est.sent
        assert est.gone <= est.sent
        assert apogee.shake_path_rate(est) <= apogee.SHAKE_RATE_MAX
        assert apogee.shake_path_trip(est, size, link.now) <= apogee.SHAKE_TIME_MAX
        apogee.shake_path_queue(est, link.now)
        deadline = apogee.shake_path_deadline(est, link.now)
        assert apogee.shake_path_is_silent(est, link.now) == (link.now >= deadline)


def test_the_first_long_packet_is_awaited(apogee: Library) -> None:
    """At 9.6 kbit/s it takes 1.25 s, which probes don't tell: the path isn't dead."""
    link = Link(apogee, 1200, 300_000)
    link.send(60)
    link.wait(SECOND)
    for _ in range(3):
        link.send()
    while link.back:
        assert not apogee.shake_path_is_silent(link.est, link.now)
        link.wait(10_000)
