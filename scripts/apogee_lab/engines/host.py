# SPDX-License-Identifier: GPL-2.0
"""The machine's own kernel, in real time: a scenario in network namespaces of its own.

The script runs inside a new mount, network and PID namespace, so that nothing of the host's is
named or touched, and the kernel takes everything down with the script's first process. What is not
a namespace's own (modules, an instance of the tracer) is removed by ``guest/host-guard``, a process
that outlives the lab if that is killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base import LabError, file_hash, find_program
from ..guest.image import EXTRAS, flow_binary
from ..guest.plugins import plugins
from ..kernels.kernel import Kernel
from ..modules import module_file, stock_controls
from ..scenarios.scenario import Plan
from . import kmsg, log, supervise
from .supervise import Bounds, Command
from .work import GuestFailed, RunInfo, keep, working_folder

__all__ = [
    "DEFAULT_KERNEL",
    "RunInfo",
    "congestion_controls",
    "image_key",
    "kernel",
    "kernels",
    "notice",
    "run",
    "run_script",
    "shell",
    "unfit",
]

DEFAULT_KERNEL = platform.release()

#: Programs that a run takes, beyond the traffic tool -> Debian package.
PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nstat": "iproute2",
    "ethtool": "ethtool",
    "sysctl": "procps",
    "awk": "mawk",
    "modprobe": "kmod",
    "insmod": "kmod",
    "rmmod": "kmod",
    "env": "coreutils",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "flock": "util-linux",
}

#: What every scenario needs of the kernel: module -> how it is tried where none can be loaded.
FEATURES = {
    "veth": "ip link add name veth-a type veth peer name veth-b",
    "sch_netem": "tc qdisc add dev lo root netem",
}

TIDY_S = 270.0  # for the guard, which itself gives up after 4 minutes
CLOCKS_DIFFER_S = 1e-3  # from here on a machine has slept since it booted

_GUEST = Path(__file__).resolve().parent.parent / "guest"
_GUARD = ("unshare", "--mount", "--propagation", "private", "sh", str(_GUEST / "host-guard"))


# --- this machine -----------------------------------------------------------------------------


@dataclass(frozen=True)
class HostKernel(Kernel):
    """The running kernel, with its modules where the distribution has them."""

    @property
    def modules(self) -> Path:
        """``/lib/modules/RELEASE``; a kernel without modules has none."""
        return self.root / "lib" / "modules" / self.release

    @property
    def headers(self) -> Path:
        """The KDIR to build modules against; LabError if there is none."""
        if not self.buildable:
            raise LabError(
                f"no kernel headers in {self.modules}/build: apt-get install "
                f"linux-headers-{self.release}, or use engine qemu"
            )
        return self.modules / "build"

    @property
    def buildable(self) -> bool:
        """Whether modules can be built for it."""
        return (self.modules / "build" / "include" / "config" / "kernel.release").exists()

    def installed(self, name: str) -> Path | None:
        """A module that `make install` or DKMS has put into place."""
        for folder in ("updates", "extra"):
            for path in sorted((self.modules / folder).rglob(f"{name}.ko*")):
                return path
        return None


def _running() -> HostKernel:
    return HostKernel(DEFAULT_KERNEL, Path("/"))


def _indexed(k: HostKernel) -> set[str]:
    """Names of the modules that are built in or can be loaded; empty where there is no index."""
    names = set()
    for index in ("modules.builtin", "modules.dep"):
        with contextlib.suppress(OSError):
            for line in (k.modules / index).read_text().splitlines():
                name = Path(line.partition(":")[0]).name.partition(".ko")[0]
                names.add(name.replace("-", "_"))
    return names


def _works(command: str) -> bool:
    """Whether a command succeeds in a network namespace that lasts as long as it."""
    words = ["unshare", "--net", *command.split()]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def unfit() -> str:
    """Why this machine cannot run scenarios, in one line; empty if it can.

    Nothing is loaded to find out: a feature is tried only where no module could be.
    """
    if os.geteuid() != 0:
        return "engine host makes network namespaces and loads modules: run it as root"
    try:
        for name, package in PROGRAMS.items():
            find_program(name, package)
    except LabError as error:
        return str(error)
    k = _running()
    there = _indexed(k)
    lacking = [
        module.removeprefix("sch_")
        for module, trial in FEATURES.items()
        if not (module in there if there else _works(trial))
    ]
    if not lacking:
        return ""
    return f"this machine's kernel {k.release} has no {' and no '.join(lacking)}: use engine qemu"


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> HostKernel:
    """The running kernel; LabError if this machine cannot run scenarios."""
    if name != DEFAULT_KERNEL:
        raise LabError(f"engine host runs on the running kernel {DEFAULT_KERNEL} only")
    why = unfit()
    if why:
        raise LabError(why)
    return _running()


def kernels() -> list[str]:
    """The running kernel's name."""
    return [DEFAULT_KERNEL]


def congestion_controls(name: str = DEFAULT_KERNEL) -> set[str]:
    """Names the running kernel offers, without this project's unless they are loaded."""
    k = kernel(name)
    indexed = {module.removeprefix("tcp_") for module in _indexed(k) if module.startswith("tcp_")}
    there = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    return stock_controls(k) | indexed | set(there)


def notice(modules: Sequence[str]) -> str:
    """What a run touches, to be told before it does."""
    own = "".join(f", {module_file(name, kernel())}" for name in modules)
    return (
        f"engine host: runs on this machine's kernel {DEFAULT_KERNEL}, in namespaces of its own: "
        "links, queues and settings of the host stay as they are.\n"
        f"It loads modules: those of links, queues, filters and algorithms that are missing{own}. "
        "Afterwards it removes what it has loaded, but for modules of links (veth, ifb, bridge, …)."
    )


def image_key(kernel_name: str, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over what can be named of all that a result depends on."""
    k = kernel(kernel_name)
    for name in modules:
        if Path("/sys/module", name).exists():
            raise LabError(f"{name} is loaded already, a run needs its own: rmmod {name}")
    programs = [find_program(n, package) for e in extras for n, package in _extra(e)]
    files = [
        *programs,
        flow_binary(),
        *plugins().values(),
        *(module_file(name, k) for name in modules),
    ]
    parts = [platform.node(), k.release, platform.version(), *map(file_hash, files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _extra(name: str) -> list[tuple[str, str]]:
    names, package = EXTRAS[name]
    return [(program, package) for program in names]


# --- running ----------------------------------------------------------------------------------


def run(plan: Plan, **how: Any) -> RunInfo:
    """Run a plan's script; ``out`` is complete when this returns and absent when it raises.

    Takes seed, kernel, modules, out and timeout_wall_s as :func:`run_script` does.
    """
    return supervise.run_plan(run_script, plan, **how)


def run_script(
    text: str,
    *,
    out: Path,
    modules: Sequence[str] = (),
    timeout_wall_s: float = math.inf,
    timeout_virtual_s: float = supervise.VIRTUAL_S,
    check: bool = False,
    **_other: Any,
) -> RunInfo:
    """Run any shell script in namespaces of its own, as engine qemu's function does in a guest.

    Other arguments of that one mean nothing here: what is random cannot be repeated (seed), there
    is but one kernel, and extras are what is installed.
    """
    with working_folder(out.absolute()) as work:
        _prepare(work.folder, text, modules)
        argv = [*_GUARD, "run", str(work.folder)]
        command = Command("engine host", argv, {}, one_cpu=False, in_place=True, tidy_s=TIDY_S)
        with kmsg.from_now_on() as kernels:
            try:
                with _tidied(work.folder):
                    bounds = Bounds(timeout_wall_s, timeout_virtual_s)
                    info = supervise.supervise(command, work, bounds)
            except GuestFailed as error:
                raise _explained(error, kernels) from None
            if kernels is not None:
                work.dmesg.write_text(kmsg.read(kernels))
        sys.stderr.write((work.folder / "errors").read_text())
        _by_monotonic_clock(work.out / "events.log", _asleep_s())
        return keep(work, info, out, check)


def _explained(error: GuestFailed, kernels: int | None) -> GuestFailed:
    """A failure, with what the kernel reported in the meantime."""
    report = None if kernels is None else log.verdict(log.logged(kmsg.read(kernels)))
    if not report:
        return error
    return GuestFailed(f"{error.reason}; {report}", [*error.console_tail, *report.log])


def _prepare(folder: Path, text: str, modules: Sequence[str]) -> None:
    """What the guard and the script's first process find in a run's folder."""
    for name in ("bin", "ip", "out"):
        (folder / name).mkdir()
    (folder / "bin" / "flow").symlink_to(flow_binary().absolute())
    for name, plugin in plugins().items():
        (folder / "ip" / name).symlink_to(plugin.absolute())
    (folder / "script.sh").write_text(text)
    lines = [f"{name} {module_file(name, _running())}\n" for name in modules]
    (folder / "modules").write_text("".join(lines))


@contextlib.contextmanager
def _tidied(folder: Path) -> Iterator[None]:
    """Tidy up in place of a guard that was killed itself."""
    try:
        yield
    finally:
        if (folder / "loaded").exists():
            subprocess.run([*_GUARD, "tidy", str(folder)], check=False)


def _asleep_s() -> float:
    """By how much the clock of /proc/uptime is ahead of the one that stands still in sleep, s."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _by_monotonic_clock(events: Path, ahead_s: float) -> None:
    """Events bear the time of /proc/uptime, all else the monotonic clock's: make them agree."""
    if ahead_s < CLOCKS_DIFFER_S or not events.exists():
        return
    rows = [line.rpartition(" ") for line in events.read_text().splitlines()]
    events.write_text("".join(f"{what} {float(at) - ahead_s:.2f}\n" for what, _, at in rows))


def shell(plan: Plan, *, modules: Sequence[str] = (), **_other: Any) -> int:
    """A prompt inside the testbed; the scenario's links are up."""
    print(notice(modules), file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        folder = Path(tmp)
        _prepare(folder, plan.script, modules)
        with _tidied(folder):
            return subprocess.run([*_GUARD, "shell", tmp], check=False).returncode
