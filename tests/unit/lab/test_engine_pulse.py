# SPDX-License-Identifier: GPL-2.0
"""A guest that hangs is told from a slow one: by its work, not by the host's clock."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apogee_lab.engines.pulse import IDLE_S, LOOKED_S, SPUN_S, Pulse, Used, used_by
from apogee_lab.engines.supervise import LOOK_S

DAY_S = 86400.0
#: CPU seconds per second of the host's clock: alone, and on a host that is short of CPUs.
SHARES = (1.0, 0.2, 0.001)


def ends_at(
    cpu_s: Callable[[float], float], *, ready: bool, clock_every_s: float = 0.0
) -> tuple[float, float]:
    """Host's and CPU seconds after which a guest counts as hung; those of a day if it does not.

    ``clock_every_s``: CPU seconds between two of its lines.
    """
    pulse, lines = Pulse(0.0), 0
    for look in itertools.takewhile(lambda n: n * LOOK_S <= DAY_S, itertools.count(1)):
        now = look * LOOK_S
        if clock_every_s and cpu_s(now) // clock_every_s > lines:
            lines = int(cpu_s(now) // clock_every_s)
            pulse.spoke(now, clock=True)
        if pulse.verdict(now, Used(cpu_s(now), ready)):
            return now, cpu_s(now)
    return DAY_S, cpu_s(DAY_S)


# --- the judgement ----------------------------------------------------------------------------


def test_a_guest_that_does_nothing_hangs() -> None:
    assert ends_at(lambda _: 3.0, ready=False)[0] == pytest.approx(IDLE_S, abs=3 * LOOK_S)


@pytest.mark.parametrize("share", SHARES)
def test_a_slow_guest_does_not_hang(share: float) -> None:
    """It has a line for half of what counts as spinning, and all the time it wants; one that gets
    no CPU does not either."""
    for ready in (True, False):
        ended = ends_at(lambda t: share * t, ready=ready, clock_every_s=SPUN_S / 2)
        assert ended[0] == DAY_S
    assert ends_at(lambda _: 3.0, ready=True)[0] == DAY_S


def test_time_in_which_nobody_looked_does_not_count() -> None:
    """The lab is frozen again and again, and the guest with it."""
    pulse = Pulse(0.0)
    looks = itertools.takewhile(
        lambda n: not pulse.verdict(n * DAY_S, Used(3.0, False)), range(100)
    )
    assert sum(1 for _ in looks) * LOOKED_S > IDLE_S


@pytest.mark.parametrize("share", SHARES[:2])
def test_a_guest_that_spins_hangs_whatever_its_share(share: float) -> None:
    cpu_s = ends_at(lambda t: share * t, ready=True)[1]
    assert cpu_s == pytest.approx(SPUN_S, abs=2 * LOOK_S)


def test_words_of_a_script_do_not_move_the_clock() -> None:
    pulse = Pulse(0.0)
    for now in range(1, int(SPUN_S)):
        pulse.spoke(now, clock=False)
        assert pulse.verdict(now, Used(now, True)) == ""
    assert "clock stood still" in pulse.verdict(SPUN_S + 1, Used(SPUN_S + 1, True))


def test_processes_that_are_gone_take_no_work_with_them() -> None:
    """The sum falls when one ends for which nobody waits."""
    pulse = Pulse(0.0)
    for now in range(1, int(2 * IDLE_S)):
        assert pulse.verdict(now, Used(100.0 + now, False)) == ""
    for now in range(int(2 * IDLE_S), int(3 * IDLE_S) - 1):
        assert pulse.verdict(now, Used(10.0, False)) == ""
    assert pulse.verdict(3 * IDLE_S, Used(10.0, False)) != ""


# --- what is used -----------------------------------------------------------------------------


@contextlib.contextmanager
def started(*command: str) -> Iterator[int]:
    """A program that leads a process group of its own."""
    with subprocess.Popen(command, process_group=0, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.read(1)
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_all_of_a_group_counts() -> None:
    """Children that run, and those that have ended."""
    spend = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"
    with started("sh", "-c", f"echo; ({spend}); sleep 600") as group:
        while not (used := used_by(group)).cpu_s or used.ready:
            time.sleep(0.05)
        ended = used.cpu_s
    with started("sh", "-c", f"echo; (while :; do {spend}; done); :") as group:
        while used_by(group).cpu_s < ended:
            time.sleep(0.05)
        assert used_by(group).ready
        assert used_by(os.getpid() + (1 << 23)) == Used(0.0, False)


def test_a_thread_that_waits_for_a_cpu_is_ready() -> None:
    """A process's own state is that of its first thread, which sleeps here."""
    program = "import threading, time\ndef spin():\n    while True: pass\n"
    program += "threading.Thread(target=spin, daemon=True).start()\nprint(flush=True)\n"
    with started(sys.executable, "-c", program + "time.sleep(600)") as group:
        assert any(used_by(group).ready for _ in range(20))
        os.killpg(group, signal.SIGSTOP)
        while used_by(group).ready:
            time.sleep(0.01)
        before = used_by(group)
        time.sleep(0.1)
        assert used_by(group) == before, "what is stopped uses nothing"


def test_a_process_may_be_gone_while_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own line was read; when its threads are listed they are no longer there."""
    listed = Path.glob

    def gone(path: Path, pattern: str) -> Iterator[Path]:
        if "task" in f"{path}/{pattern}":
            raise FileNotFoundError(2, "No such file or directory", f"{path}/task")
        return listed(path, pattern)

    monkeypatch.setattr(Path, "glob", gone)
    assert used_by(os.getpgrp()).cpu_s > 0
