# SPDX-License-Identifier: GPL-2.0
"""What every engine needs: a process that is started, watched, and ended when a bound is passed.

An engine says with a :class:`Command` how its guest is started.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import platform
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import LabError, cache_dir, find_program, run_program, start_program
from ..guest.image import PROGRAMS, overlay_archive
from ..kernels.kernel import Kernel
from ..scenarios.scenario import Plan
from . import log
from .pulse import SPUN_S, Pulse, used_by
from .work import RunInfo, Work, collect, keep, working_folder, write_initrd

VIRTUAL_S = 36_000.0  # of a guest's own time, for a script without a limit
REAL_S = 3600.0  # of the host's, for a script that runs in that
LOOK_S = 5.0  # between two looks at what a guest has done
TOLD_S = 2.0  # that a kernel gets to write all of its report on the console


@dataclass(frozen=True)
class Command:
    """How a guest is started: arguments, more environment, whether it is bound to one CPU.

    ``name`` is what an error message calls the program. With ``in_place`` it is started in the
    working folder, and its standard output is the guest's console. ``tidy_s``: seconds that it gets
    to tidy up when it is ended by SIGTERM; 0: it is killed at once.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    one_cpu: bool
    in_place: bool = False
    tidy_s: float = 0.0


@dataclass(frozen=True)
class Bounds:
    """When a guest is killed: seconds of the host's clock, of its own, and of CPU time in which its
    own stands still."""

    wall_s: float
    virtual_s: float
    spun_s: float = SPUN_S


def run_plan(run_script: Callable[..., RunInfo], plan: Plan, **how: Any) -> RunInfo:
    """Run a plan's script by an engine's ``run_script``; a script that fails is a GuestFailed."""
    return run_script(
        plan.script,
        extras=plan.extras,
        timeout_virtual_s=plan.timeout_virtual_s,
        check=True,
        **how,
    )


def run_script(
    text: str,
    *,
    base: Sequence[Path],
    kernel: Kernel,
    start: Callable[[Work], Command],
    out: Path,
    modules: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
    timeout_wall_s: float = math.inf,
    timeout_virtual_s: float = VIRTUAL_S,
    spun_s: float = SPUN_S,
    check: bool = False,
) -> RunInfo:
    """Boot a guest, let it run a script, bring what it leaves in $OUT back as the folder ``out``.

    ``base`` are the archives of its root file system, ``files`` (path in the guest -> contents) are
    added to them, ``start`` makes the command when they are in place. With ``check`` a script that
    fails is a GuestFailed; without, its exit status is in the result. Both timeouts may
    be infinite; ``spun_s``: see pulse.Pulse.
    """
    bounds = Bounds(timeout_wall_s, timeout_virtual_s, spun_s)
    extra = {name.strip("/"): data for name, data in (files or {}).items()}
    extra["lab/script.sh"] = text.encode()
    with working_folder(out, modules) as work:
        overlay = overlay_archive(kernel, modules, extra, work.folder)
        write_initrd(work.initrd, base, overlay)
        info = supervise(start(work), work, bounds)
        collect(work)
        return keep(work, info, out, check)


def shell_files(plan: Plan) -> dict[str, bytes]:
    """What a guest needs beside its root file system to give a prompt inside the testbed."""
    text = (
        "export APOGEE_SHELL=1\nsh /lab/script.sh\n"
        "echo 'The testbed is up: ip netns, tc -n NAMESPACE, /lab/script.sh; exit ends it.'\n"
        "ENV=/lab/rc PS1='lab# ' setsid cttyhack sh\n"
    )
    # busybox's shell edits lines, but prefers its own ip and tc to iproute2's.
    rc = "".join(f"alias {name}=/bin/{name}\n" for name in PROGRAMS)
    return {
        "lab/script.sh": plan.script.encode(),
        "lab/shell": text.encode(),
        "lab/rc": rc.encode(),
    }


def in_foreground(argv: Sequence[str], **how: Any) -> int:
    """Give a guest the terminal; its exit status. It is killed when the lab ends."""
    return run_program(argv, ending=signal.SIGKILL, **how).returncode


def _one_cpu(until: contextlib.ExitStack) -> int | None:
    """A CPU that no other one of the lab's runs has until then; None if all are taken, the caller
    bound us, or the cache takes no note of it.

    Bound to one CPU, emulation is a quarter faster. But where two guests are bound to the same CPU,
    one can starve for minutes, while another CPU has become idle.
    """
    cpus = sorted(os.sched_getaffinity(0))
    folder = cache_dir() / "cpus" / platform.node()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for cpu in cpus if len(cpus) > 1 else []:
            handle = until.enter_context((folder / str(cpu)).open("w"))
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return cpu
    return None


def supervise(command: Command, work: Work, bounds: Bounds) -> RunInfo:
    """Start a guest, watch its console, kill it when a bound is passed; it never outlives us.

    It leads a process group of its own, so that all its processes can be killed at once, and so
    that a signal which it sends to its whole group does not reach us.
    """
    console, errors = work.console, work.folder / "errors"
    console.touch()
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        cpu = _one_cpu(stack) if command.one_cpu else None
        stderr = stack.enter_context(errors.open("wb"))
        stdout = stack.enter_context(console.open("wb")) if command.in_place else stderr
        pin = [] if cpu is None else [str(find_program("taskset", "util-linux")), "-c", str(cpu)]
        process = start_program(
            [*pin, *command.argv],
            ending=signal.SIGTERM if command.tidy_s else signal.SIGKILL,
            env={**os.environ, **command.env},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=work.folder if command.in_place else None,
            process_group=0,
        )
        try:
            reason = _watch(process.pid, console, start, bounds)
        finally:
            _end_group(process, command.tidy_s)
    wall = time.monotonic() - start
    if reason:
        raise work.failed(reason, work.last_report(), hung=True)
    _check_end(command.name, process.returncode, work)
    times = re.findall(r"apogee: end ([\d.]+)", work.said())
    return RunInfo(wall, float(times[-1]) if times else 0.0)


def _end_group(process: subprocess.Popen[bytes], tidy_s: float) -> None:
    """End a process that was not waited for yet, or has ended, with all of its group.

    A process of UML's guest outlives UML if that is killed just as it makes one. The kernel is
    asked instead of Popen.wait(): the exception of a signal may have come just as that one had
    taken its lock, which then nobody releases.
    """
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if tidy_s:
            _end_on_term(process.pid, tidy_s)
        # Until it is waited for, nothing else has its number: what it left behind ends, too.
        os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])


def _end_on_term(pid: int, tidy_s: float) -> None:
    """Give a process that gets SIGTERM, with its group, time to end; it can still be waited for."""
    with _end_of(pid) as end:
        os.killpg(pid, signal.SIGTERM)
        _ended(end, tidy_s)


def _ended(end: int, patience_s: float) -> bool:
    """Whether a process ends within this time; poll() takes descriptors of any number."""
    look = select.poll()
    look.register(end, select.POLLIN)
    return bool(look.poll(1000 * patience_s))


@contextlib.contextmanager
def _end_of(pid: int) -> Iterator[int]:
    """A file descriptor that can be read when a process has ended; it can be waited for then."""
    end = os.pidfd_open(pid)
    try:
        yield end
    finally:
        os.close(end)


def _check_end(name: str, status: int, work: Work) -> None:
    """GuestFailed unless the guest said that its results are out."""
    said = work.said()
    if not status and "apogee: done" in said:
        return
    report = work.last_report()
    if report:
        raise work.failed(report)
    if status < 0:
        raise work.failed(f"{name} was killed by {signal.Signals(-status).name}")
    if status:
        words = (work.folder / "errors").read_text(errors="replace").strip().splitlines()
        why = words[-1] if words else "no message"
        raise work.failed(f"{name} ended with status {status}: {why}")
    space = os.statvfs(work.folder)
    if space.f_bavail * space.f_frsize < 1 << 20:
        raise LabError(f"{work.folder.parent}: no space left on device")
    raise work.failed("the guest stopped before its results were out")


def _watch(pid: int, console: Path, start: float, bounds: Bounds) -> str:
    """Wait for the guest's end; the reason why it must be killed, empty if it ended by itself."""
    with _end_of(pid) as end:
        return _watch_until(end, pid, console, start, bounds)


def _watch_until(end: int, pid: int, console: Path, start: float, bounds: Bounds) -> str:
    size, stalled, looked, pulse = 0, 0.0, start, Pulse(start, bounds.spun_s)
    while not _ended(end, 0.2 if time.monotonic() - start > 1 else 0.05):
        now = time.monotonic()
        if now - start > bounds.wall_s:
            return f"the guest was not done after {bounds.wall_s:.0f} s"
        if stalled and now - stalled > TOLD_S:
            return "a CPU of the guest makes no progress"
        if console.stat().st_size != size:
            before, size = size, console.stat().st_size
            said = _said_since(console, before)
            if not stalled and log.stalls(said):
                stalled = now
            times = re.findall(r"apogee: alive ([\d.]+)", said)
            pulse.spoke(now, clock=bool(times))
            if times and float(times[-1]) > bounds.virtual_s:
                return f"the guest's script was not done after {bounds.virtual_s:.0f} s of its time"
        if now - looked > LOOK_S:
            looked = now
            if hung := pulse.verdict(now, used_by(pid)):
                return hung
    return ""


def _said_since(console: Path, size: int) -> str:
    """What is on the console beyond a size, and some of the line that may have been half there."""
    with console.open("rb") as handle:
        handle.seek(max(0, size - 200))
        return handle.read().decode(errors="replace")
