# SPDX-License-Identifier: GPL-2.0
"""What a sender does without feedback, from its segments and the ACKs that came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

#: After this nothing is sent that was not timed out: RFC 8085 (3.1.3) lets who has no RTT send a
#: datagram each 3 s, and a timer that doubles has such intervals when it has run for 3 s.
LATE_MS, LEAST_MS = 6_000, 3_000
BURST_MS = 10  # in which a burst is counted


@dataclass(frozen=True)
class Segment:
    """When it was sent, ms; its end as an offset in the stream; whether it was sent before."""

    ms: float
    end: int
    again: bool


def _read(lines: Sequence[str]) -> tuple[list[Segment], list[tuple[float, int]]]:
    """Segments, and ACKs as (ms, offset); offsets are relative to the first number seen."""
    segments: list[Segment] = []
    acks: list[tuple[float, int]] = []
    zero, highest = -1, -(1 << 62)
    for line in lines:
        us, way, number, *length = line.split()
        if zero < 0:
            zero = int(number)
        offset = (int(number) - zero + (1 << 31)) % (1 << 32) - (1 << 31)
        if way == "in":
            acks.append((int(us) / 1000, offset))
            continue
        end = offset + int(length[0])
        segments.append(Segment(int(us) / 1000, end, end <= highest))
        highest = max(highest, end)
    return segments, acks


def _last_news(acks: Sequence[tuple[float, int]], end: int) -> float:
    """When the last ACK before ``end`` came that acknowledged something new, ms."""
    highest, last = -(1 << 62), 0.0
    for ms, offset in acks:
        if ms > end:
            break
        if offset > highest:
            highest, last = offset, ms
    return last


def _burst(times: Sequence[float]) -> int:
    """Most segments within ``BURST_MS``."""
    return max((sum(t <= u < t + BURST_MS for u in times) for t in times), default=0)


def backoff(lines: Sequence[str], begin: int, end: int) -> dict[str, Any]:
    """Of a loss of feedback from ``begin`` to ``end`` (ms), during which nothing is acknowledged
    any more after ``alone``: how many segments were sent then for the first time and again, when
    the latter, ms after it; the largest burst in the second after the first ACK that came back."""
    segments, acks = _read(lines)
    alone = _last_news(acks, end)
    silent = [s for s in segments if alone < s.ms <= end]
    again = [round(s.ms - alone) for s in silent if s.again]
    back = next((ms for ms, _ in acks if ms > end), None)
    after = [] if back is None else [s.ms for s in segments if back <= s.ms <= back + 1000]
    return {
        "alone_ms": round(alone - begin), "new": sum(not s.again for s in silent), "again": again,
        "back_after_ms": -1 if back is None else round(back - end),
        "burst": _burst(after), "first_second": len(after),
    }  # fmt: skip


def intervals(again: Sequence[int]) -> list[int]:
    """Between retransmissions, ms."""
    return [b - a for a, b in pairwise(again)]
