# SPDX-License-Identifier: GPL-2.0
"""Whether a guest hangs or is only slow, however busy the host is.

A guest writes a line on its console every ten seconds of its own time, and those can take minutes
on a host that is short of CPUs. So what counts is the CPU time of its processes: a guest that waits
for a CPU is not idle, and one that spins uses CPU time while its clock stands still. Nor does time
count in which nobody looked: what froze the lab may have frozen the guest.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

IDLE_S = 300.0  # seconds of the host's clock without a line on the console and without work
LOOKED_S = 30.0  # that count between two looks, at most
SPUN_S = 1800.0  # CPU seconds in which the guest's clock advances by less than ten seconds

_TICKS = os.sysconf("SC_CLK_TCK")  # per second, in /proc
_AT_WORK = "RD"  # running or waiting for a CPU; waiting for a disk


@dataclass(frozen=True)
class Used:
    """CPU seconds of a process group up to now, and whether one of its threads could go on."""

    cpu_s: float
    ready: bool


def _stat(path: Path) -> list[str]:
    """The fields of a process or a thread from its state on; none if it is gone."""
    with contextlib.suppress(OSError):
        return path.read_text(errors="replace").rpartition(")")[2].split()
    return []


def _at_work(folder: Path) -> bool:
    """Whether a thread of a process could go on; not if the process is gone."""
    with contextlib.suppress(OSError):
        threads = [_stat(path) for path in (folder / "task").glob("[0-9]*/stat")]
        return any(thread[:1] and thread[0] in _AT_WORK for thread in threads)
    return False


def used_by(group: int) -> Used:
    """What a process group has used, and of the children that its processes have waited for."""
    ticks, ready = 0, False
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _stat(folder / "stat")
        if len(fields) < 15 or int(fields[2]) != group:
            continue
        ticks += sum(map(int, fields[11:15]))
        ready = ready or _at_work(folder)
    return Used(ticks / _TICKS, ready)


class Pulse:
    """The judgement on one guest; told from time to time what it has done.

    ``spun_s``: CPU seconds in which its clock has to advance, less for who knows what it does.
    """

    def __init__(self, now_s: float, spun_s: float = SPUN_S) -> None:
        self._spun_s = spun_s
        self._looked_at_s = now_s
        self._idle_s = 0.0
        self._cpu_s = 0.0
        self._cpu_s_of_clock: float | None = 0.0

    def spoke(self, now_s: float, *, clock: bool) -> None:
        """A line has come, ``clock``: one that tells the guest's time."""
        self._looked_at_s, self._idle_s = now_s, 0.0
        if clock:
            self._cpu_s_of_clock = None

    def verdict(self, now_s: float, used: Used) -> str:
        """Why the guest counts as hung, empty if it does not."""
        if self._cpu_s_of_clock is None:
            self._cpu_s_of_clock = used.cpu_s
        worked = used.ready or used.cpu_s > self._cpu_s
        self._idle_s = 0.0 if worked else self._idle_s + min(now_s - self._looked_at_s, LOOKED_S)
        self._looked_at_s = now_s
        self._cpu_s = max(self._cpu_s, used.cpu_s)
        if self._idle_s > IDLE_S:
            return f"the guest has done nothing for {IDLE_S:.0f} s"
        if used.cpu_s - self._cpu_s_of_clock > self._spun_s:
            return f"the guest's clock stood still for {self._spun_s:.0f} s of CPU time"
        return ""
