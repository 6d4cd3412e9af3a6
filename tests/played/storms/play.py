# SPDX-License-Identifier: GPL-2.0
"""Storms in a guest (engine uml), several algorithms one after the other: a record of each."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.guest.modules.scripted import drunk
from tests.guest.runs import compiled
from tests.played import guest
from tests.played.storms.backoff import backoff
from tests.played.storms.storms import STORMS

HERE = Path(__file__).resolve().parent

BEFORE_S = 3.0  # of calm just before the storm, in which the goodput of before is measured
SPAN_MS = 2000  # in which most of it has to arrive again

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


#: A line of the sender's file: when, octets acknowledged, window and its extremes since the line
#: before, segments under way, retransmissions, RTO and RTT, segments sent, their size.
Sample = namedtuple(
    "Sample", "ms acked cwnd least most flight retransmissions rto_ms rtt_ms segments mss"
)


def _marks(folder: Path) -> tuple[int, int]:
    marks = dict(line.split() for line in (folder / "marks").read_text().splitlines())
    return int(marks["begin"]), int(marks["end"])


def _counters(path: Path) -> dict[str, int]:
    names, values = (line.split()[1:] for line in path.read_text().splitlines()[:2])
    return dict(zip(names, map(int, values), strict=True))


def _counted(folder: Path) -> Record:
    before, after = (_counters(folder / name) for name in ("before", "after"))
    return {name: after.get(name, 0) - before.get(name, 0) for name in KEPT}


def _crowd(folder: Path) -> Record:
    if not (folder / "crowd").exists():
        return {}
    octets, damaged = zip(*drunk(folder, "crowd"), strict=True)
    return {"crowd": len(octets), "crowd_octets": sum(octets), "crowd_damaged": sum(damaged)}


def record(folder: Path, name: str, cc: str) -> Record:
    """What a run's files say."""
    storm = STORMS[name]
    begin, end = _marks(folder)
    *lines, last = (folder / "drunk").read_text().splitlines()
    _, octets, _, damaged = (int(word) if word.isdigit() else 0 for word in last.split())
    got = guest.Arrived(tuple(map(int, line.split())) for line in lines)
    ended = got.times[-1]
    sent = [Sample(*map(int, line.split())) for line in (folder / "sent").read_text().splitlines()]
    since = begin - int(1000 * BEFORE_S)
    before = (got.until(begin) - got.until(since)) / (1000 * BEFORE_S)
    more, back = got.more(end), got.back(range(end, ended - SPAN_MS + 1, 100), SPAN_MS, before)
    at_end = [s for s in sent if s.ms <= end][-1]
    known: Record = {
        "storm": name, "cc": cc, "status": int((folder / "status").read_text()),
        "wanted": storm.octets, "octets": octets, "damaged": damaged,
        "before_kbps": round(8 * before),
        "storm_kbps": round(8 * (got.until(end) - got.until(begin)) / (end - begin)),
        "after_kbps": round(8 * (octets - got.until(end)) / max(ended - end, 1)),
        "resumed_ms": -1 if more is None else more - end,
        "back_ms": -1 if back is None else back - end,
        "total_ms": ended - got.times[0], "after_ms": ended - end,
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
    runs = [(name, cc) for cc in algorithms for name in storms]
    guest.play(
        script(runs), out, algorithms, seed=seed, timeout_virtual_s=4000.0 * len(runs),
        files={
            "lab/storm.sh": (HERE / "storm.sh").read_bytes(),
            "bin/storm": compiled(HERE / "storm.c"),
        } | guest.verified(),
    )  # fmt: skip
    return [record(out / f"{name}.{cc}", name, cc) for name, cc in runs]
