# SPDX-License-Identifier: GPL-2.0
"""What has to hold of every algorithm in every storm, with any seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter

from tests.played import OURS
from tests.played.books import Key, Record, Records
from tests.played.storms.backoff import LATE_MS, LEAST_MS, intervals
from tests.played.storms.storms import STORMS, Storm
from tests.played.storms.table import back_ms

#: With whom this project's are compared: they may take so many times what the slower one took, and
#: the time in which Reno's window grows from nothing to what the path holds (RFC 5681).
BESIDE = ("reno", "cubic")
TIMES = 3.0

#: The stack's smallest RTO, ms. Its timers go off an eighth late at most.
RTO_MIN_MS, LATENESS = 200, 1 / 8
#: A timer that doubles (RFC 6298 5.5) and is late makes intervals of twice the last one, less that.
DOUBLES = 2 / (1 + LATENESS) - 0.05
#: After this, no segment is left that had been sent for another reason than the timer: ms.
SETTLED_MS = 2000


def silence_ms(storm: Storm) -> float:
    """How long nothing may arrive after a storm. A timer that doubles never waits longer than
    it has waited in all, and its first RTO; that is at most twice the largest RTT and 200 ms, after
    a probe at twice the RTT. Half a second is for sampling and the way."""
    first = 4 * storm.path.rtt_ms() + RTO_MIN_MS
    waited = 1000 * storm.seconds
    return (1 + LATENESS) * (2 * waited + first) - waited + storm.path.rtt_ms() + 500


def timeouts(seconds: float) -> int:
    """How many RTOs a timer that doubles from its smallest value has in this time."""
    return math.floor(math.log2(1000 * seconds / RTO_MIN_MS + 1))


def _unsound(storm: Storm, r: Record) -> Iterator[str]:
    if r["status"] or r["octets"] != r["wanted"]:
        yield f"{r['octets']} of {r['wanted']} octets, status {r['status']}"
    if r["damaged"]:
        yield f"{r['damaged']} octets damaged"
    if storm.crowd and (r["crowd"], r["crowd_octets"], r["crowd_damaged"]) != storm.crowd:
        yield f"the crowd: {r['crowd']} streams, {r['crowd_octets']} octets"
    if r["cwnd_least"] < 1:
        yield "a window of 0"
    # The window grows only while it is what limits the sender: RFC 2861, tcp_is_cwnd_limited().
    most = 2 * storm.window / r["mss"]
    if r["cwnd_most"] > most:
        yield f"a window of {r['cwnd_most']} segments, more than {most:.0f}"
    most = silence_ms(storm)
    if not 0 <= r["resumed_ms"] <= most:
        yield f"data {r['resumed_ms']} ms after the storm, more than {most:.0f}"


def _loud(storm: Storm, r: Record) -> Iterator[str]:
    """Where feedback is lost: RFC 9743 (full backoff), RFC 6298, RFC 8085 3.1.3."""
    if r["new"] > r["cwnd_begin"] + 1:  # the last is a probe (RFC 8985 7.3)
        yield f"{r['new']} new segments, the window was {r['cwnd_begin']}"
    # The ACK that comes back may show that no data was lost, and slow start doubles a window.
    if r["burst"] > 2 * r["cwnd_begin"]:
        yield f"{r['burst']} segments at once, the window was {r['cwnd_begin']}"
    settled = [ms for ms in r["again"] if ms >= SETTLED_MS]
    if len(settled) > timeouts(storm.seconds):
        yield f"{len(settled)} retransmissions without feedback"
    if any(b < DOUBLES * a for a, b in pairwise(intervals(settled))):
        yield f"intervals do not double: {settled}"
    if min(intervals([ms for ms in settled if ms >= LATE_MS]), default=LEAST_MS) < LEAST_MS:
        yield f"less than {LEAST_MS} ms between late retransmissions: {settled}"


def _slow(records: Records, key: Key) -> Iterator[str]:
    measure = itemgetter("total_ms") if STORMS[key[0]].by_total else back_ms
    taken = measure(records[key])
    others = [measure(records[key[0], cc]) for cc in BESIDE if (key[0], cc) in records]
    if key[1] not in OURS or not others or min(others) < 0:
        return
    path = STORMS[key[0]].path
    most = TIMES * max(others) + path.queue * path.rtt_ms()
    if taken < 0:  # until the stream ended
        taken = records[key]["after_ms"] - records[key]["resumed_ms"]
    if taken > most:
        yield f"{taken} ms to recover, more than {most:.0f}"


def judge(records: Records, key: Key) -> Iterator[str]:
    """What is beyond the bounds in a record."""
    storm, record = STORMS[key[0]], records[key]
    yield from _unsound(storm, record)
    if storm.tap:
        yield from _loud(storm, record)
    yield from _slow(records, key)
