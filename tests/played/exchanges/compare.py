# SPDX-License-Identifier: GPL-2.0
"""What differs between two algorithms' exchanges of one script, event by event, as lines of text.

Not compared: PSH, which ends each packet that the stack gives to the device, and depends on the
pacing rate; the value of timestamps, which tells the time of a segment again; counts of segments
sent and acknowledged, which those segments tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from tests.played.exchanges.log import Log, Segment

#: Times that differ by less are equal: reading the clock costs 256 ns, in a guest of engine uml.
EQUAL_S = 0.00025
#: The same for what tcp_info measures, in ms: a timeout has the grain of a tick.
EQUAL_MS = {"rtt": 1, "rttvar": 1, "rto": 4}
#: What is an algorithm's own, and not reno's; what segments tell.
OWN = ("pacing", "base")
COUNTS = ("unacked", "notsent", "delivered", "OutSegs", "RetransSegs", "TCPOrigDataSent",
          "TCPDelivered")  # fmt: skip


def _key(s: Segment) -> tuple[object, ...]:
    options = re.sub(r"TS val \d+", "TS", s.options or "")
    return (s.flags.replace("P", ""), s.seq, s.end, s.ack, s.win, s.urg, options, s.ecn)


def _spans(sent: list[Segment]) -> str:
    """Segments as ranges: those that follow one another are one, with their number."""
    spans: list[tuple[str, int, int, int]] = []
    for s in sent:
        flags = s.flags.replace("P", "").replace(".", "")
        if spans and spans[-1][0] == flags and spans[-1][2] == s.seq != s.end:
            spans[-1] = (flags, spans[-1][1], s.end, spans[-1][3] + 1)
        else:
            spans.append((flags, s.seq, s.end, 1))
    return " ".join(f"{flags}{begin}:{end}({n})" for flags, begin, end, n in spans)


def _ms(at: float) -> str:
    """Rounded; 212.499 and 212.501 ms, which occur in two guests, are the same."""
    return f"{1000 * at + 0.01:.0f} ms"


def _edit(base: list[Segment], other: list[Segment]) -> str:
    words = []
    if base:
        words.append(f"{_ms(base[0].at)} {_spans(base)}")
    if other:
        words.append(f"{_ms(other[0].at)} {_spans(other)}")
    how = "instead" if base and other else "not sent" if base else "sent"
    return f"{how}: {' -> '.join(words)}"


def _shifts(pairs: list[tuple[Segment, Segment]], equal_s: float) -> Iterator[str]:
    late = [b.at - a.at for a, b in pairs]
    times = {
        "later": [t for t in late if t > equal_s],
        "earlier": [-t for t in late if t < -equal_s],
    }
    parts = [f"{len(t)} {w}, by {1000 * max(t):.0f} ms at most" for w, t in times.items() if t]
    if parts:
        yield f"of {len(pairs)} segments {'; '.join(parts)}"


def _segments(base: list[Segment], other: list[Segment], equal_s: float) -> Iterator[str]:
    keys = [_key(s) for s in base], [_key(s) for s in other]
    pairs: list[tuple[Segment, Segment]] = []
    for what, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if what == "equal":
            pairs += zip(base[a:b], other[c:d], strict=True)
        else:
            yield _edit(base[a:b], other[c:d])
    yield from _shifts(pairs, equal_s)


def _changes(base: dict[str, int], other: dict[str, int]) -> str:
    names = [name for name in base | other if name not in OWN + COUNTS]
    pairs = ((name, base.get(name, 0), other.get(name, 0)) for name in names)
    different = (p for p in pairs if abs(p[2] - p[1]) > EQUAL_MS.get(p[0], 0))
    return " ".join(f"{name} {a}->{b}" for name, a, b in different)


def differences(base: Log, other: Log, equal_s: float = EQUAL_S) -> list[str]:
    """Each difference as a line, in a fixed order: segments, times, tcp_info, calls, counters."""
    found = list(_segments(base.sent, other.sent, equal_s))
    for a, b in zip(base.infos, other.infos, strict=True):
        if changes := _changes(a.values, b.values):
            found.append(f"info {a.label}: {changes}")
    for line, result in base.calls.items():
        if other.calls.get(line) != result:
            found.append(f"line {line}: {result} -> {other.calls.get(line)}")
    if changes := _changes(base.counters, other.counters):
        found.append(f"counters: {changes}")
    return found
