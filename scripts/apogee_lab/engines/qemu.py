# SPDX-License-Identifier: GPL-2.0
"""QEMU by software emulation: a stock kernel whose time is the count of its instructions.

With ``-icount shift=0,sleep=off`` one guest instruction takes 1 ns and idle time is skipped:
results depend on the image, the script and the seed only, whatever else the machine does.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .. import images
from ..images import DEFAULT_KERNEL, LabError
from ..scenario import Plan

__all__ = [
    "DEFAULT_KERNEL",
    "EngineError",
    "GuestFailed",
    "RunInfo",
    "congestion_controls",
    "image_key",
    "kernels",
    "run",
    "run_script",
    "shell",
]

EngineError = LabError

MEMORY = "1G"
DISK_BYTES = 4 << 30  # sparse; results of one run
_WORK = ".run-"  # working folders beside the results: .run-PID-...
STALL_S = 180.0  # wall seconds without a sign of life (one per 10 virtual seconds)

# From nolapic_timer on, only to save emulation time. Calibrating the local timer is a loop of
# `pause`, which costs the emulator 4 s; code that stays where it is is not translated again.
_CMDLINE = (
    "console=ttyS0 quiet panic=-1 oops=panic random.trust_cpu=on tsc=reliable preempt=none "
    "rcupdate.rcu_expedited=1 8250.nr_uarts=1 no_timer_check nowatchdog audit=0 apparmor=0 lsm= "
    "nolapic_timer nohz=off cpuidle.off=1 nokaslr norandmaps mitigations=off rodata=off "
    "clearcpuid=rep_good tsc=noirqtime init_on_alloc=0 hardened_usercopy=off "
    "randomize_kstack_offset=off cgroup_disable=memory cryptomgr.notests=1 "
    "initcall_blacklist=load_system_certificate_list,crypto_kdf108_init"
)
_MACHINE = (
    "-M",
    "pc",
    "-name",
    "guest,debug-threads=on",
    "-m",
    MEMORY,
    "-nodefaults",
    "-no-user-config",
    "-display",
    "none",
    "-no-reboot",
    "-rtc",
    "base=2025-01-01T00:00:00,clock=vm",
)
_VIRTUAL_TIME = (
    "-cpu",
    "max,-erms,-fsrm",
    "-accel",
    "tcg",
    "-smp",
    "1",
    "-icount",
    "shift=0,sleep=off",
)
_REAL_TIME = ("-cpu", "max,-erms,-fsrm", "-accel", "tcg,thread=multi", "-smp", "2")


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


def kernels() -> list[str]:
    """Names that select a kernel: series, and releases that are in the cache."""
    cached = sorted(p.parent.name for p in (images.cache_dir() / "kernels").glob("*/complete"))
    return [*images.SERIES, *cached]


def congestion_controls(kernel: str = DEFAULT_KERNEL) -> set[str]:
    """Names the distribution's kernel offers, without this project's."""
    k = images.kernel(kernel)
    names = {p.name.partition(".ko")[0] for p in (k.modules / "kernel/net/ipv4").glob("tcp_*.ko*")}
    return {n.removeprefix("tcp_") for n in names if n not in ("tcp_diag",)} | {"reno", "cubic"}


@lru_cache
def _qemu_version(qemu: Path) -> str:
    return images.call([qemu, "--version"], "qemu").splitlines()[0]


def _qemu() -> Path:
    return images.find_program("qemu-system-x86_64", "qemu-system-x86")


def image_key(kernel: str, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over everything but script and seed that a result depends on."""
    parts = [
        images.image_key(kernel, modules, extras),
        _qemu_version(_qemu()),
        _CMDLINE,
        images.turns_library().name,
        *_MACHINE,
        *_VIRTUAL_TIME,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


# --- running ----------------------------------------------------------------------------------


def run(
    plan: Plan,
    *,
    seed: int,
    kernel: str = DEFAULT_KERNEL,
    modules: Sequence[str] = (),
    out: Path,
    timeout_wall_s: float = 3600.0,
) -> RunInfo:
    """Run a plan's script; ``out`` is complete when this returns and absent when it raises."""
    return run_script(
        plan.script,
        seed=seed,
        kernel=kernel,
        modules=modules,
        extras=plan.extras,
        out=out,
        timeout_wall_s=timeout_wall_s,
        timeout_virtual_s=plan.timeout_virtual_s,
        check=True,
    )


def run_script(
    text: str,
    *,
    out: Path,
    seed: int = 1,
    kernel: str = DEFAULT_KERNEL,
    modules: Sequence[str] = (),
    extras: Sequence[str] = (),
    files: dict[str, bytes] | None = None,
    realtime: bool = False,
    timeout_wall_s: float = 3600.0,
    timeout_virtual_s: float = 0.0,
    check: bool = False,
) -> RunInfo:
    """Run any shell script in a guest; what it leaves in $OUT comes back as the folder ``out``.

    ``files`` (path in the guest -> contents) are added to its root. ``realtime`` gives two CPUs in
    the host's time, for tests of concurrency. With ``check`` a script that fails is a GuestFailed;
    without, its exit status is in the result. ``timeout_virtual_s`` 0: unbounded.
    """
    k = images.kernel(kernel)
    extra_files = {name.strip("/"): data for name, data in (files or {}).items()}
    extra_files["lab/script.sh"] = text.encode()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(out.parent)
        with tempfile.TemporaryDirectory(prefix=f"{_WORK}{os.getpid()}-", dir=out.parent) as tmp:
            work = Path(tmp)
            initrd = work / "initrd"
            _write_initrd(initrd, k, modules, extras, extra_files)
            disk = work / "disk"
            with disk.open("wb") as handle:
                handle.truncate(DISK_BYTES)
            argv = _command(k, initrd, seed, realtime, work / "console.log")
            argv += [
                "-drive",
                f"file={disk},if=none,id=d,format=raw,cache=unsafe,werror=report",
                "-device",
                "virtio-blk-pci,drive=d",
            ]
            info = _supervise(
                argv, work / "console.log", timeout_wall_s, timeout_virtual_s, realtime
            )
            _collect(disk, work / "out", work / "console.log")
            shutil.copy(work / "console.log", work / "out" / "console.log")
            status = int((work / "out" / "status").read_text())
            if check and status:
                raise GuestFailed(
                    f"the guest's script ended with status {status}", _tail(work / "console.log")
                )
            shutil.rmtree(out, ignore_errors=True)
            (work / "out").rename(out)
            return RunInfo(info.wall_s, info.virtual_s, status)
    except OSError as error:
        where = error.filename or out.parent
        raise LabError(f"{where}: {error.strerror or error}") from None


def _remove_stale(folder: Path) -> None:
    """Remove working folders whose process was killed before it could."""
    for path in folder.glob(f"{_WORK}*"):
        pid = path.name.removeprefix(_WORK).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(path, ignore_errors=True)


def _write_initrd(
    path: Path,
    k: images.Kernel,
    modules: Sequence[str],
    extras: Sequence[str],
    files: dict[str, bytes],
) -> None:
    with path.open("wb") as handle:
        for image in (images.base_image(k), *(images.extra_image(e) for e in sorted(extras))):
            with image.open("rb") as source:
                shutil.copyfileobj(source, handle, 1 << 20)
        handle.write(images.overlay(k, modules, files))


def _command(
    k: images.Kernel, initrd: Path, seed: int, realtime: bool, console: Path | None
) -> list[str]:
    """QEMU's command line, without the disk."""
    argv = [str(_qemu()), *_MACHINE, *(_REAL_TIME if realtime else _VIRTUAL_TIME)]
    argv += ["-seed", str(seed & 0xFFFFFFFF)]
    argv += ["-kernel", str(k.vmlinux), "-initrd", str(initrd), "-append", _CMDLINE]
    if console:
        argv += ["-chardev", f"file,id=c,path={console}", "-serial", "chardev:c"]
    return argv


@contextlib.contextmanager
def _one_cpu() -> Iterator[int | None]:
    """A CPU for this run alone among all of the lab's runs, None when they are all taken.

    Bound to one CPU, emulation is a quarter faster. Nothing to do if the caller bound us already.
    """
    import fcntl

    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        yield None
        return
    folder = images.cache_dir() / "cpus" / platform.node()
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


def _supervise(
    argv: list[str], console: Path, timeout_wall_s: float, timeout_virtual_s: float, realtime: bool
) -> RunInfo:
    """Start QEMU, watch its console, kill it when a bound is passed; QEMU never outlives us."""
    guard = images.find_program("setpriv", "util-linux")
    console.touch()
    errors = console.with_name("qemu.err")
    env = None if realtime else {**os.environ, "LD_PRELOAD": str(images.turns_library())}
    start = time.monotonic()
    with _one_cpu() as cpu, errors.open("wb") as stderr:
        pin = [] if cpu is None or realtime else ["taskset", "-c", str(cpu)]
        process = subprocess.Popen(
            [str(guard), "--pdeathsig", "KILL", "--", *pin, *argv],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
        )
        try:
            reason = _watch(process, console, start, timeout_wall_s, timeout_virtual_s)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
    wall = time.monotonic() - start
    text = console.read_text(errors="replace")
    if reason:
        raise GuestFailed(reason, _tail(console))
    if process.returncode:
        words = errors.read_text(errors="replace").strip().splitlines() or ["no message"]
        raise GuestFailed(
            f"QEMU ended with status {process.returncode}: {words[-1]}", _tail(console)
        )
    if "apogee: done" not in text:
        space = os.statvfs(console.parent)
        if space.f_bavail * space.f_frsize < 1 << 20:
            raise LabError(f"{console.parent.parent}: no space left on device")
        panic = re.search(r"Kernel panic - [^\n]*|BUG: [^\n]*|Oops[^\n]*", text)
        why = panic.group() if panic else "the guest stopped before its results were out"
        raise GuestFailed(why.strip(), _tail(console))
    times = [float(t) for t in re.findall(r"apogee: end ([\d.]+)", text)]
    return RunInfo(wall, times[-1] if times else 0.0)


def _watch(
    process: subprocess.Popen[bytes],
    console: Path,
    start: float,
    timeout_wall_s: float,
    timeout_virtual_s: float,
) -> str:
    """Wait for QEMU's end; the reason why it must be killed, empty if it ended by itself."""
    size, alive = 0, start
    while True:
        try:
            process.wait(timeout=0.2 if time.monotonic() - start > 1 else 0.05)
            return ""
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if now - start > timeout_wall_s:
            return f"the guest was not done after {timeout_wall_s:.0f} s"
        if console.stat().st_size != size:
            size, alive = console.stat().st_size, now
            times = re.findall(rb"apogee: alive ([\d.]+)", console.read_bytes()[-4096:])
            if timeout_virtual_s and times and float(times[-1]) > timeout_virtual_s:
                return (
                    f"the guest's script was not done after {timeout_virtual_s:.0f} s of its time"
                )
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


def _collect(disk: Path, out: Path, console: Path) -> None:
    """Unpack the archive that the guest wrote to its disk."""
    out.mkdir()
    try:
        with tarfile.open(disk, "r:") as archive:
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


def shell(
    plan: Plan,
    *,
    kernel: str = DEFAULT_KERNEL,
    modules: Sequence[str] = (),
    extras: Sequence[str] = (),
) -> int:
    """A prompt inside the testbed, in the host's time; the scenario's links are up."""
    k = images.kernel(kernel)
    text = (
        "export APOGEE_SHELL=1\nsh /lab/script.sh\n"
        "echo 'The testbed is up: ip netns, tc -n NAMESPACE, /lab/script.sh; exit ends it.'\n"
        "ENV=/lab/rc PS1='lab# ' setsid cttyhack sh\n"
    )
    # busybox's shell edits lines, but prefers its own ip and tc to iproute2's.
    rc = "".join(f"alias {name}=/bin/{name}\n" for name in images.PROGRAMS)
    files = {
        "lab/script.sh": plan.script.encode(),
        "lab/shell": text.encode(),
        "lab/rc": rc.encode(),
    }
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        initrd = Path(tmp) / "initrd"
        _write_initrd(initrd, k, modules, sorted({*plan.extras, *extras}), files)
        argv = _command(k, initrd, 1, True, None) + ["-serial", "mon:stdio"]
        return subprocess.run(argv, check=False).returncode
