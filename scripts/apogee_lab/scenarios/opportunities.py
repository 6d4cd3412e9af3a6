# SPDX-License-Identifier: GPL-2.0
"""Opportunities to send: rate traces, played exactly.

An opportunity carries 1500 octets of IP, whatever Ethernet's header adds, as in Mahimahi: frames
share one, a frame that needs more than what is left of one leaves with the next, and what is left
when no frame waits is lost. A BPF program computes each frame's departure when it arrives, and the
fq below holds it until then (guest/flow/opportunities.c).

Times are ms here, because those of the files are.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from . import testbed, tracefiles
from .tracefiles import Steps

OCTETS = 1500  # of IP per opportunity
BIN_MS = 10  # of the steps that say what the path carries by time
MOST = 2**24  # opportunities that the program's table holds
MOST_LIMITS = 64  # queue lengths that the program has, one after the other
MOST_WAIT_S = 4000  # fq's longest horizon is 4294 s
FOLDER = "/run/apogee-opportunities"  # a BPF file system, while a testbed is set up
ZERO = f"{FOLDER}/zero"  # the time that all programs of a testbed count from


@dataclass(frozen=True)
class Opportunities:
    """Opportunities at ``times`` (ms, ascending), again every ``period``; it begins ``offset`` ms
    into them."""

    times: Sequence[float]
    period: float
    offset: float = 0.0

    def count(self, end_ms: float) -> int:
        """How many there are from the beginning to a time (ms since the beginning)."""
        turns, rest = divmod(end_ms + self.offset, self.period)
        return int(turns) * len(self.times) + bisect_right(self.times, rest) - self._skipped

    def at(self, number: int) -> float:
        """The time of the one with this number, from 0 on, in ms since the beginning."""
        turns, place = divmod(number + self._skipped, len(self.times))
        return turns * self.period + self.times[place] - self.offset

    @cached_property
    def _skipped(self) -> int:
        return bisect_left(self.times, self.offset)

    def until(self, end_ms: float) -> list[float]:
        """The times of all from the beginning to a time; ValueError if they are too many."""
        count = self.count(end_ms)
        if count > MOST:
            raise ValueError(f"more than {MOST} opportunities in one run: use a slower trace")
        return [self.at(number) for number in range(count)]

    def wait_ms(self, until_ms: float, count: int) -> float:
        """The longest time in which ``count`` opportunities pass, counted from any moment before
        ``until_ms``."""
        firsts = range(1, self.count(min(until_ms, self.period)) + 1)
        waits = (self.at(first + count - 1) - self.at(first - 1) for first in firsts)
        return max([self.at(count - 1), *waits])

    def steps(self, end_ms: float, bits: float) -> Steps:
        """What they carry (bit/s) by time (s), in bins of 10 ms that end with their last one; one
        opportunity has ``bits``."""
        counts = [0, *(self.count(n * BIN_MS) for n in range(1, math.ceil(end_ms / BIN_MS) + 1))]
        out: Steps = []
        for number, (before, after) in enumerate(pairwise(counts)):
            rate = (after - before) * bits / (BIN_MS / 1e3)
            if not out or rate != out[-1][1]:
                out.append((number * BIN_MS / 1e3, rate))
        return out


def read(name: str, text: str, until_s: float) -> Opportunities:
    """Those of a trace file (``FILE`` or ``FILE@30s``) that a run reaches until ``until_s``.

    ValueError (one line) if the file is not valid or there are none.
    """
    path, offset_s = tracefiles.split(text)
    times = tracefiles.times(name, path)
    period, end = times[-1], 1e3 * until_s
    found = Opportunities(times, period, math.fmod(round(1e3 * offset_s, 6), period))
    if not found.count(end):
        raise ValueError(f"{name}: {path}: no opportunity within the {until_s:g} s of the run")
    if found.offset + end <= period:
        found = Opportunities(found.until(end), end)
    if len(found.times) > MOST:
        raise ValueError(f"{name}: {path}: more than {MOST} lines are reached by the run")
    return found


def overridden(trace: Opportunities, rates: Steps, mtu: int, until_s: float) -> Opportunities:
    """The trace with even opportunities, a full frame each, where ``rates`` (bit/s) are not 0."""
    end = 1e3 * until_s
    every = trace.until(end)
    times: list[float] = []
    edges = [*(1e3 * at for at, _ in rates), end]
    for (_, rate), begin, stop in zip(rates, edges, edges[1:], strict=False):
        if rate:
            gap = 1e3 * frame_bits(mtu) / rate
            count = int((stop - begin) / gap)
            if count > MOST:
                raise ValueError(f"event: more than {MOST} opportunities in one run")
            times += [begin + gap * n for n in range(1, count + 1)]
        else:
            times += every[bisect_right(every, begin) : bisect_right(every, stop)]
    if not times:
        raise ValueError("event: no opportunity is left")
    if len(times) > MOST:
        raise ValueError(f"event: more than {MOST} opportunities in one run")
    return Opportunities(times, end)


def frame_bits(mtu: int) -> float:
    """Bits of the frames that an opportunity carries if they are full, with their headers."""
    return 8 * OCTETS * (mtu + testbed.ETHERNET) / mtu


# --- shell and tc lines -----------------------------------------------------------------------


def begin() -> list[str]:
    """Shell lines before the programs are loaded: where their names are."""
    return [
        f"mkdir -p {FOLDER}",
        f"mount -t bpf -o mode=700 bpf {FOLDER}",
    ]


def end() -> list[str]:
    """Shell lines after they have become filters; what a stopped script left there may stay."""
    return [f"umount {FOLDER}", f"rmdir {FOLDER} 2>/dev/null || :"]


def load(name: str, found: Opportunities, queues: Sequence[tuple[float, float]]) -> list[str]:
    """Shell lines that load the program of a device; ``queues`` is the queue's length in packets by
    time (s)."""
    if len(queues) > MOST_LIMITS:
        raise ValueError(f"event: the queue may change {MOST_LIMITS - 1} times beside a rate trace")
    first, *later = queues
    limits = f"{round(first[1])}" + "".join(f"+{at:.9g}:{round(size)}" for at, size in later)
    return [
        f"# {name}: opportunities at these ms from the first frame on (COUNT of them), again every",
        f"# {found.period:.12g} ms; it begins {found.offset:.12g} ms into them",
        f"flow opportunities {FOLDER}/{name} {ZERO} {limits} "
        f"{found.period:.12g} {found.offset:.12g} <<'END'",
        *_lines(found.times),
        "END",
    ]


def _lines(times: Sequence[float]) -> list[str]:
    """One line for the opportunities of one time."""
    counts = Counter(f"{at:.12g}" for at in times)
    return [at if count == 1 else f"{at} {count}" for at, count in counts.items()]


def only_zero(name: str) -> list[str]:
    """The shell line that loads a program which notes time zero only."""
    return [f"flow opportunities {FOLDER}/{name} {ZERO}"]


def qdiscs(name: str, dev: str, parent: str = "root", first: int = 1) -> list[str]:
    """tc lines of a device: the program as the filter of a prio, whose one band is the fq. The
    program knows how long the queue is, so the fq never drops."""
    top, band, limit = f"{first}:", f"{first}:1", testbed.DELAY_LINE
    return [
        f"qdisc add dev {dev} {parent} handle {top} prio bands 2 priomap{' 0' * 16}",
        f"qdisc add dev {dev} parent {band} handle {first + 1}: fq limit {limit} "
        f"flow_limit {limit} orphan_mask 0 horizon {MOST_WAIT_S}s timer_slack 0 nopacing",
        f"filter add dev {dev} parent {top} {program(name)}",
    ]


def program(name: str) -> str:
    """The words of a tc filter that is the program."""
    return f"bpf da object-pinned {FOLDER}/{name}"


def return_trace(values: Mapping[str, Any], until_s: float) -> Opportunities | None:
    """The trace of the way back, if there is one."""
    text = values.get("ack_rate_trace")
    if text is None:
        return None
    if values["ack_rate"]:
        raise ValueError("ack_rate_trace: leave out ack_rate")
    return read("ack_rate_trace", text, until_s)
