# SPDX-License-Identifier: GPL-2.0
"""Storms in a guest (engine uml), several algorithms one after the other: a record of each."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from tests.guest.runs import compiled
from tests.storm.backoff import backoff
from tests.storm.storms import STORMS, Storm

HERE = Path(__file__).resolve().parent
VERIFIED = HERE.parent / "guest" / "modules" / "verified.c"

BEFORE_S = 3.0  # of calm just before the storm, in which the goodput of before is measured
BACK = 0.8  # of it
SPAN_S = 2.0  # in which that share of it has to arrive

#: The kernel's counters that a record keeps.
KEPT = ("TCPTimeouts", "TCPLossProbes", "TCPSpuriousRTOs", "TCPFullUndo", "TCPDSACKUndo",
        "TCPLossUndo")  # fmt: skip

Record = dict[str, Any]


def script(runs: Sequence[tuple[str, str]]) -> str:
    """The guest's script for (storm, algorithm) pairs."""
    lines = [". /lab/storm.sh", "chmod +x /bin/storm /bin/verified", "lay"]
    for name, cc in runs:
        lines += [f"# {name} {cc}", "options", STORMS[name].path.call(), *_run(name, cc)]
    return "\n".join(line for line in lines if line) + "\n"


def _run(name: str, cc: str) -> list[str]:
    storm = STORMS[name]
    return [
        f"buffers {storm.window}", storm.before,
        f"begin {name}.{cc} {cc} {storm.octets} {storm.mss}",
        f"sleep {storm.calm_s:g}",
        "mark begin", storm.during, f"sleep {storm.seconds:g}", "mark end",
        "calm", storm.after,
        "finish",
    ]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A line of the sender's file: when, octets acknowledged, window and its extremes since the
    line before, segments under way, retransmissions, RTO and RTT, segments sent, their size."""

    ms: int
    acked: int
    cwnd: int
    least: int
    most: int
    flight: int
    retransmissions: int
    rto_ms: int
    rtt_ms: int
    segments: int
    mss: int


class Received:
    """Octets that the receiver had read at a time."""

    def __init__(self, lines: Iterable[str]) -> None:
        pairs = [tuple(map(int, line.split())) for line in lines]
        self.times = [ms for ms, _ in pairs]
        self.octets = [octets for _, octets in pairs]

    def until(self, ms: float) -> int:
        """Octets at a time, ms."""
        at = bisect.bisect_right(self.times, ms)
        return self.octets[at - 1] if at else 0

    def resumed_ms(self, end: int) -> int:
        """When more than had been there at ``end`` was there, ms after it; -1: never."""
        had = self.until(end)
        return next((ms - end for ms, octets in self._pairs() if octets > had), -1)

    def back_ms(self, end: int, rate: float) -> int:
        """Begin of the first ``SPAN_S`` after ``end`` in which octets arrive at ``BACK`` of a rate
        (octets/ms) or more, in ms after ``end``; -1: none before the stream ends."""
        span = int(1000 * SPAN_S)
        for start in range(end, self.times[-1] - span + 1, 100):
            if self.until(start + span) - self.until(start) >= BACK * rate * span:
                return start - end
        return -1

    def _pairs(self) -> Iterable[tuple[int, int]]:
        return zip(self.times, self.octets, strict=True)


def _marks(folder: Path) -> tuple[int, int]:
    marks = dict(line.split() for line in (folder / "marks").read_text().splitlines())
    return int(marks["begin"]), int(marks["end"])


def _counters(path: Path) -> dict[str, int]:
    names, values = (line.split()[1:] for line in path.read_text().splitlines()[:2])
    return dict(zip(names, map(int, values), strict=True))


def _counted(folder: Path) -> Record:
    before, after = (_counters(folder / name) for name in ("before", "after"))
    return {name: after.get(name, 0) - before.get(name, 0) for name in KEPT}


def _drunk(line: str) -> tuple[int, int]:
    words = line.split()
    return int(words[1]), int(words[3])


def _crowd(folder: Path) -> Record:
    if not (folder / "crowd").exists():
        return {}
    drunk = [_drunk(line) for line in (folder / "crowd").read_text().splitlines()]
    return {
        "crowd": len(drunk),
        "crowd_octets": sum(octets for octets, _ in drunk),
        "crowd_damaged": sum(damaged for _, damaged in drunk),
    }


def record(folder: Path, name: str, cc: str) -> Record:
    """What a run's files say."""
    storm: Storm = STORMS[name]
    begin, end = _marks(folder)
    *lines, last = (folder / "drunk").read_text().splitlines()
    octets, damaged = _drunk(last)
    got = Received(lines)
    sent = [Sample(*map(int, line.split())) for line in (folder / "sent").read_text().splitlines()]
    since = begin - int(1000 * BEFORE_S)
    before = (got.until(begin) - got.until(since)) / (1000 * BEFORE_S)
    at_end = [s for s in sent if s.ms <= end][-1]
    known: Record = {
        "storm": name, "cc": cc, "status": int((folder / "status").read_text()),
        "wanted": storm.octets, "octets": octets, "damaged": damaged,
        "before_kbps": round(8 * before),
        "storm_kbps": round(8 * (got.until(end) - got.until(begin)) / (end - begin)),
        "after_kbps": round(8 * (octets - got.until(end)) / max(got.times[-1] - end, 1)),
        "resumed_ms": got.resumed_ms(end), "back_ms": got.back_ms(end, before),
        "total_ms": got.times[-1] - got.times[0], "after_ms": got.times[-1] - end,
        "cwnd_least": min(s.least for s in sent), "cwnd_most": max(s.most for s in sent),
        "rto_ms": at_end.rto_ms, "rtt_ms": at_end.rtt_ms, "mss": sent[-1].mss,
        "segments": sent[-1].segments, "retransmissions": sent[-1].retransmissions,
    }  # fmt: skip
    known |= _counted(folder) | _crowd(folder)
    if storm.tap:
        known |= backoff((folder / "tap").read_text().splitlines(), begin, end)
        back = end + known["back_after_ms"] + 100
        known["cwnd_begin"] = [s for s in sent if s.ms <= begin][-1].cwnd
        known["cwnd_back"] = next((s.cwnd for s in sent if s.ms >= back), 0)
    return known


def play(
    out: Path, storms: Sequence[str], algorithms: Sequence[str], seed: int = 1
) -> list[Record]:
    """Let every algorithm go through every storm in one guest."""
    modules.build(uml_kernel.kernel())
    runs = [(name, cc) for cc in algorithms for name in storms]
    ours = modules.brought(algorithms)
    loads = "".join(f"modprobe {name}\n" for name in ours)
    info = uml.run_script(
        loads + script(runs), out=out, modules=ours, seed=seed,
        timeout_virtual_s=4000.0 * len(runs),
        files={
            "lab/storm.sh": (HERE / "storm.sh").read_bytes(),
            "bin/storm": compiled(HERE / "storm.c"),
            "bin/verified": compiled(VERIFIED),
        },
    )  # fmt: skip
    assert info.status == 0, (out / "console.log").read_text()[-4000:]
    return [record(out / f"{name}.{cc}", name, cc) for name, cc in runs]
