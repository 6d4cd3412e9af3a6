# SPDX-License-Identifier: GPL-2.0
"""What every engine with a guest needs: a root file system, a process that is watched, results.

An engine says with a :class:`Command` how its guest is started and where it leaves its results.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import LabError, cache_dir, find_program
from ..guest.image import PROGRAMS, overlay_archive
from ..kernels.kernel import Kernel
from ..scenarios.scenario import Plan

_WORK = ".run-"  # working folders beside the results: .run-PID-...
STALL_S = 180.0  # wall seconds without a sign of life (one per 10 virtual seconds)


class GuestFailed(Exception):
    """A guest that hung, panicked or whose script failed; with the console's last lines."""

    def __init__(self, reason: str, console_tail: list[str]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.console_tail = console_tail

    def __reduce__(self) -> tuple[type, tuple[str, list[str]]]:
        return (type(self), (self.reason, self.console_tail))


@dataclass(frozen=True)
class RunInfo:
    """How long a run took: wall seconds with boot, the guest's seconds since its boot."""

    wall_s: float
    virtual_s: float
    status: int = 0


@dataclass(frozen=True)
class Work:
    """A run's working folder: what the guest boots from, its console, the archive that it leaves,
    what is in that."""

    folder: Path

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def out(self) -> Path:
        return self.folder / "out"


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
    """When a guest is killed: seconds of the host's clock and of its own (0: unbounded)."""

    wall_s: float
    virtual_s: float


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
    timeout_wall_s: float = 3600.0,
    timeout_virtual_s: float = 0.0,
    check: bool = False,
) -> RunInfo:
    """Boot a guest, let it run a script, bring what it leaves in $OUT back as the folder ``out``.

    ``base`` are the archives of its root file system, ``files`` (path in the guest -> contents) are
    added to them, ``start`` makes the command when they are in place. With ``check`` a script that
    fails is a GuestFailed; without, its exit status is in the result. ``timeout_virtual_s`` 0:
    unbounded.
    """
    bounds = Bounds(timeout_wall_s, timeout_virtual_s)
    extra = {name.strip("/"): data for name, data in (files or {}).items()}
    extra["lab/script.sh"] = text.encode()
    with working_folder(out) as work:
        write_initrd(work.initrd, base, overlay_archive(kernel, modules, extra))
        info = supervise(start(work), work, bounds)
        _collect(work.results, work.out, work.console)
        return keep(work, info, out, check)


@contextlib.contextmanager
def working_folder(out: Path) -> Iterator[Work]:
    """A run's working folder beside its results, removed in the end; LabError for a bad disk."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(out.parent)
        with tempfile.TemporaryDirectory(prefix=f"{_WORK}{os.getpid()}-", dir=out.parent) as tmp:
            yield Work(Path(tmp))
    except OSError as error:
        where = error.filename or out.parent
        raise LabError(f"{where}: {error.strerror or error}") from None


def keep(work: Work, info: RunInfo, out: Path, check: bool) -> RunInfo:
    """Give the results their final place; with ``check`` a script that failed is a GuestFailed."""
    shutil.copy(work.console, work.out / "console.log")
    status = int((work.out / "status").read_text())
    if check and status:
        raise GuestFailed(f"the guest's script ended with status {status}", _tail(work.console))
    shutil.rmtree(out, ignore_errors=True)
    work.out.rename(out)
    return RunInfo(info.wall_s, info.virtual_s, status)


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


def _remove_stale(folder: Path) -> None:
    """Remove working folders whose process was killed before it could."""
    for path in folder.glob(f"{_WORK}*"):
        pid = path.name.removeprefix(_WORK).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(path, ignore_errors=True)


def write_initrd(path: Path, base: Sequence[Path], overlay: bytes) -> None:
    """Several archives one after the other are one root file system."""
    with path.open("wb") as handle:
        for image in base:
            with image.open("rb") as source:
                shutil.copyfileobj(source, handle, 1 << 20)
        handle.write(overlay)


@contextlib.contextmanager
def _one_cpu() -> Iterator[int | None]:
    """A CPU for this run alone among all of the lab's runs, None when they are all taken.

    Bound to one CPU, emulation is a quarter faster. Nothing to do if the caller bound us already.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        yield None
        return
    folder = cache_dir() / "cpus" / platform.node()
    folder.mkdir(parents=True, exist_ok=True)
    for cpu in cpus:
        with (folder / str(cpu)).open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield cpu
            return
    yield None


def supervise(command: Command, work: Work, bounds: Bounds) -> RunInfo:
    """Start a guest, watch its console, kill it when a bound is passed; it never outlives us.

    It leads a process group of its own, so that all its processes can be killed at once, and so
    that a signal which it sends to its whole group does not reach us.
    """
    guard = find_program("setpriv", "util-linux")
    ending = "TERM" if command.tidy_s else "KILL"
    console, errors = work.console, work.folder / "errors"
    console.touch()
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        cpu = stack.enter_context(_one_cpu()) if command.one_cpu else None
        stderr = stack.enter_context(errors.open("wb"))
        stdout = stack.enter_context(console.open("wb")) if command.in_place else stderr
        pin = [] if cpu is None else ["taskset", "-c", str(cpu)]
        process = subprocess.Popen(
            [str(guard), "--pdeathsig", ending, "--", *pin, *command.argv],
            env={**os.environ, **command.env},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=work.folder if command.in_place else None,
            process_group=0,
        )
        try:
            reason = _watch(process, console, start, bounds)
        finally:
            if process.poll() is None:
                _end_group(process, command.tidy_s)
    wall = time.monotonic() - start
    if reason:
        raise GuestFailed(reason, _tail(console))
    text = console.read_text(errors="replace")
    _check_end(command.name, process.returncode, text, work)
    times = [float(t) for t in re.findall(r"apogee: end ([\d.]+)", text)]
    return RunInfo(wall, times[-1] if times else 0.0)


def _end_group(process: subprocess.Popen[bytes], tidy_s: float) -> None:
    """End a process that was not waited for yet, with all of its group.

    The kernel is asked instead of Popen.wait(): the exception of a signal may have come just as
    that one had taken its lock, which then nobody releases.
    """
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if not tidy_s or not _ends_on_term(process.pid, tidy_s):
            os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])


def _ends_on_term(pid: int, tidy_s: float) -> bool:
    """Whether SIGTERM for its group ends a process in time; it can still be waited for."""
    end = os.pidfd_open(pid)
    try:
        os.killpg(pid, signal.SIGTERM)
        return bool(select.select([end], [], [], tidy_s)[0])
    finally:
        os.close(end)


def _check_end(name: str, status: int, text: str, work: Work) -> None:
    """GuestFailed unless the guest said that its results are out."""
    panic = re.search(r"Kernel panic - [^\n]*|BUG: [^\n]*|Oops[^\n]*", text)
    done = "apogee: done" in text
    if status and not panic:
        words = (work.folder / "errors").read_text(errors="replace").strip().splitlines()
        why = words[-1] if words else "no message"
        raise GuestFailed(f"{name} ended with status {status}: {why}", _tail(work.console))
    if status or not done:
        space = os.statvfs(work.folder)
        if space.f_bavail * space.f_frsize < 1 << 20:
            raise LabError(f"{work.folder.parent}: no space left on device")
        why = panic.group() if panic else "the guest stopped before its results were out"
        raise GuestFailed(why.strip(), _tail(work.console))


def _watch(process: subprocess.Popen[bytes], console: Path, start: float, bounds: Bounds) -> str:
    """Wait for the guest's end; the reason why it must be killed, empty if it ended by itself."""
    size, alive = 0, start
    while True:
        try:
            process.wait(timeout=0.2 if time.monotonic() - start > 1 else 0.05)
            return ""
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if now - start > bounds.wall_s:
            return f"the guest was not done after {bounds.wall_s:.0f} s"
        if console.stat().st_size != size:
            size, alive = console.stat().st_size, now
            times = re.findall(rb"apogee: alive ([\d.]+)", console.read_bytes()[-4096:])
            if bounds.virtual_s and times and float(times[-1]) > bounds.virtual_s:
                return f"the guest's script was not done after {bounds.virtual_s:.0f} s of its time"
        elif now - alive > STALL_S:
            return f"the guest gave no sign of life for {STALL_S:.0f} s"


def _tail(console: Path, count: int = 20) -> list[str]:
    """The console's last lines, without what only the engine needs."""
    lines = console.read_text(errors="replace").replace("\r", "").splitlines()
    return [
        line
        for line in lines
        if line.strip() and not re.match(r"apogee: |\[ *[\d.]+\] reboot: ", line)
    ][-count:]


def _collect(archive_file: Path, out: Path, console: Path) -> None:
    """Unpack the archive that the guest wrote."""
    out.mkdir()
    try:
        with tarfile.open(archive_file, "r:") as archive:
            for member in archive:
                name = Path(member.name)
                if not member.isfile() or name.is_absolute() or ".." in name.parts:
                    continue
                target = out / name
                target.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                with target.open("wb") as handle:
                    shutil.copyfileobj(source, handle, 1 << 20)  # type: ignore[arg-type]
    except tarfile.TarError as error:
        raise GuestFailed(f"the guest's results cannot be read: {error}", _tail(console)) from None
    if not (out / "status").exists():
        raise GuestFailed("the guest's results are not complete", _tail(console))
