# SPDX-License-Identifier: GPL-2.0
"""QEMU by software emulation: a stock kernel whose time is the count of its instructions.

With ``-icount shift=0,sleep=off`` one guest instruction takes 1 ns and idle time is skipped:
results depend on the image, the script and the seed only, whatever else the machine does.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ..algorithms import ALGORITHMS, is_bpf
from ..base import LabError, call, compiled, find_program
from ..guest.image import overlay_archive, root_images, root_key, signed_modules
from ..kernels import qemu_kernel
from ..kernels.kernel import DEFAULT_KERNEL, Kernel
from ..kernels.qemu_kernel import kernel, kernels
from ..modules import stock_controls
from ..scenarios.scenario import Plan
from . import supervise
from .work import RunInfo, Work, write_initrd


def turns_library() -> Path:
    """What is preloaded into QEMU (turns.c)."""
    source = Path(__file__).with_name("turns.c")
    return compiled("turns", [source], ".so", ["-shared", "-fPIC", "-s"])


__all__ = [
    "DEFAULT_KERNEL",
    "EngineError",
    "RunInfo",
    "congestion_controls",
    "image_key",
    "kernel",
    "kernels",
    "run",
    "run_script",
    "shell",
]

EngineError = LabError

MEMORY = "1G"
DISK_BYTES = 4 << 30  # sparse; results of one run

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
# The kernel must know its own keys to take the distribution's modules.
_SIGNED_ONLY = _CMDLINE.replace("load_system_certificate_list,", "") + " module.sig_enforce=1"
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
# Two CPUs that take turns in one thread of the host, so that none changes page tables or another
# CPU's interrupts while that one runs. With a thread each (thread=multi), QEMU 7.2 loses a CPU in
# about one of 20 guests that start and kill processes for minutes: both threads spin, one of them
# between the guest's return from an interrupt and the handler of the fault that it gets there
# (native_irq_return_iret, error_entry), and the guest reports an RCU stall and never goes on.
# Its clock is the machine's. The CPU's counter is the host's, whose rate the guest measures when it
# boots: on a busy host it was found at a fifth, and the guest's time went five times too fast.
_REAL_TIME_CMDLINE = " tsc=unstable clocksource=hpet"
_REAL_TIME = ("-cpu", "max,-erms,-fsrm", "-accel", "tcg,thread=single", "-smp", "2")


def congestion_controls(kernel: str = DEFAULT_KERNEL) -> set[str]:
    """Names the kernel offers, without this project's modules, but with its BPF programs."""
    bpf = {name for name in ALGORITHMS if is_bpf(name)}
    return stock_controls(qemu_kernel.kernel(kernel)) | bpf


@lru_cache
def _qemu_version(qemu: Path) -> str:
    return call([qemu, "--version"], "qemu").splitlines()[0]


def _qemu() -> Path:
    return find_program("qemu-system-x86_64", "qemu-system-x86")


def image_key(kernel: str, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over everything but script and seed that a result depends on."""
    parts = [
        root_key(qemu_kernel.kernel(kernel), modules, extras),
        _qemu_version(_qemu()),
        _CMDLINE,
        *qemu_kernel.kernel(kernel).options,
        turns_library().name,
        *_MACHINE,
        *_VIRTUAL_TIME,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


# --- running ----------------------------------------------------------------------------------


def run(plan: Plan, **how: Any) -> RunInfo:
    """Run a plan's script; ``out`` is complete when this returns and absent when it raises.

    Takes seed, kernel, modules, out and timeout_wall_s as :func:`run_script` does.
    """
    return supervise.run_plan(run_script, plan, **how)


def run_script(
    text: str,
    *,
    seed: int = 1,
    kernel: str | Kernel = DEFAULT_KERNEL,
    extras: Sequence[str] = (),
    realtime: bool = False,
    signed_only: bool = False,
    counts: tuple[int, Path] | None = None,
    **how: Any,
) -> RunInfo:
    """Run any shell script in a guest; what it leaves in $OUT comes back as the folder ``out``.

    ``realtime`` gives two CPUs in the host's time, for tests of concurrency; such a guest has a
    bound in that, all others have one in their own. ``signed_only`` makes
    the kernel refuse modules without a signature by a key it knows, as it does under Secure Boot.
    ``counts``: a function's address, and a file that gets the instructions up to each call of it
    (count.c).
    The rest (out, modules, files, timeout_wall_s, timeout_virtual_s, check) is
    :func:`supervise.run_script`'s.
    """
    k = qemu_kernel.kernel(kernel) if isinstance(kernel, str) else kernel
    if realtime:
        how = {"timeout_wall_s": supervise.REAL_S, "timeout_virtual_s": math.inf} | how
    if signed_only:
        how["files"] = signed_modules(k) | dict(how.get("files") or {})
    return supervise.run_script(
        text,
        base=root_images(k, extras),
        kernel=k,
        start=partial(
            _start, k, seed, realtime, _SIGNED_ONLY if signed_only else _CMDLINE, _counting(counts)
        ),
        **how,
    )


def _counting(counts: tuple[int, Path] | None) -> list[str]:
    """QEMU's arguments to count instructions."""
    if counts is None:
        return []
    source = Path(__file__).with_name("count.c")
    library = compiled("count", [source], ".so", ["-shared", "-fPIC", "-fvisibility=hidden"])
    return ["-plugin", f"{library},marker={counts[0]:x},to={counts[1]}"]


def _start(
    k: Kernel, seed: int, realtime: bool, cmdline: str, more: list[str], work: Work
) -> supervise.Command:
    """QEMU's command line; the disk for the results is made here."""
    with work.results.open("wb") as handle:
        handle.truncate(DISK_BYTES)
    argv = [
        *_command(k, work.initrd, seed, realtime, cmdline),
        "-chardev",
        f"file,id=c,path={work.console}",
        "-serial",
        "chardev:c",
        "-drive",
        f"file={work.results},if=none,id=d,format=raw,cache=unsafe,werror=report",
        "-device",
        "virtio-blk-pci,drive=d",
        *more,
    ]
    env = {} if realtime else {"LD_PRELOAD": str(turns_library())}
    return supervise.Command("QEMU", argv, env, one_cpu=not realtime)


def _command(
    k: Kernel, initrd: Path, seed: int, realtime: bool, cmdline: str = _CMDLINE
) -> list[str]:
    """QEMU's command line, without console and disk."""
    argv = [str(_qemu()), *_MACHINE, *(_REAL_TIME if realtime else _VIRTUAL_TIME)]
    argv += ["-seed", str(seed & 0xFFFFFFFF)]
    cmdline = " ".join([cmdline + (_REAL_TIME_CMDLINE if realtime else ""), *k.options])
    return [*argv, "-kernel", str(k.vmlinux), "-initrd", str(initrd), "-append", cmdline]


def shell(plan: Plan, *, kernel: str = DEFAULT_KERNEL, modules: Sequence[str] = ()) -> int:
    """A prompt inside the testbed, in the host's time; the scenario's links are up."""
    k = qemu_kernel.kernel(kernel)
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        initrd = Path(tmp) / "initrd"
        overlay = overlay_archive(k, modules, supervise.shell_files(plan), Path(tmp))
        write_initrd(initrd, root_images(k, plan.extras), overlay)
        argv = [*_command(k, initrd, 1, True), "-serial", "mon:stdio"]
        return supervise.in_foreground(argv)
