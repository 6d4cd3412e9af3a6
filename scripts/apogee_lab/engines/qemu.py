# SPDX-License-Identifier: GPL-2.0
"""QEMU by software emulation: a stock kernel whose time is the count of its instructions.

With ``-icount shift=0,sleep=off`` one guest instruction takes 1 ns and idle time is skipped:
results depend on the image, the script and the seed only, whatever else the machine does.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from .. import images
from ..images import DEFAULT_KERNEL, LabError
from ..scenario import Plan
from . import common
from .common import GuestFailed, RunInfo, Work

__all__ = [
    "DEFAULT_KERNEL",
    "EngineError",
    "GuestFailed",
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
_REAL_TIME = ("-cpu", "max,-erms,-fsrm", "-accel", "tcg,thread=multi", "-smp", "2")


def kernel(name: str = DEFAULT_KERNEL) -> images.Kernel:
    """What this engine boots under that name."""
    return images.kernel(name)


def kernels() -> list[str]:
    """Names that select a kernel: series, and releases that are in the cache."""
    cached = sorted(p.parent.name for p in (images.cache_dir() / "kernels").glob("*/complete"))
    return [*images.SERIES, *cached]


def congestion_controls(kernel: str = DEFAULT_KERNEL) -> set[str]:
    """Names the distribution's kernel offers, without this project's."""
    return images.congestion_controls(images.kernel(kernel))


@lru_cache
def _qemu_version(qemu: Path) -> str:
    return images.call([qemu, "--version"], "qemu").splitlines()[0]


def _qemu() -> Path:
    return images.find_program("qemu-system-x86_64", "qemu-system-x86")


def image_key(kernel: str, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over everything but script and seed that a result depends on."""
    parts = [
        images.image_key(images.kernel(kernel), modules, extras),
        _qemu_version(_qemu()),
        _CMDLINE,
        images.turns_library().name,
        *_MACHINE,
        *_VIRTUAL_TIME,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


# --- running ----------------------------------------------------------------------------------


def run(plan: Plan, **how: Any) -> RunInfo:
    """Run a plan's script; ``out`` is complete when this returns and absent when it raises.

    Takes seed, kernel, modules, out and timeout_wall_s as :func:`run_script` does.
    """
    return common.run_plan(run_script, plan, **how)


def run_script(
    text: str,
    *,
    seed: int = 1,
    kernel: str | images.Kernel = DEFAULT_KERNEL,
    extras: Sequence[str] = (),
    realtime: bool = False,
    signed_only: bool = False,
    **how: Any,
) -> RunInfo:
    """Run any shell script in a guest; what it leaves in $OUT comes back as the folder ``out``.

    ``realtime`` gives two CPUs in the host's time, for tests of concurrency. ``signed_only`` makes
    the kernel refuse modules without a signature by a key it knows, as it does under Secure Boot.
    The rest (out, modules, files, timeout_wall_s, timeout_virtual_s, check) is
    :func:`common.run_script`'s.
    """
    k = images.kernel(kernel) if isinstance(kernel, str) else kernel
    if signed_only:
        how["files"] = images.signed_modules(k) | dict(how.get("files") or {})
    return common.run_script(
        text,
        base=images.root_images(k, extras),
        kernel=k,
        start=partial(_start, k, seed, realtime, _SIGNED_ONLY if signed_only else _CMDLINE),
        **how,
    )


def _start(k: images.Kernel, seed: int, realtime: bool, cmdline: str, work: Work) -> common.Command:
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
    ]
    env = {} if realtime else {"LD_PRELOAD": str(images.turns_library())}
    return common.Command("QEMU", argv, env, one_cpu=not realtime)


def _command(
    k: images.Kernel, initrd: Path, seed: int, realtime: bool, cmdline: str = _CMDLINE
) -> list[str]:
    """QEMU's command line, without console and disk."""
    argv = [str(_qemu()), *_MACHINE, *(_REAL_TIME if realtime else _VIRTUAL_TIME)]
    argv += ["-seed", str(seed & 0xFFFFFFFF)]
    return [*argv, "-kernel", str(k.vmlinux), "-initrd", str(initrd), "-append", cmdline]


def shell(plan: Plan, *, kernel: str = DEFAULT_KERNEL, modules: Sequence[str] = ()) -> int:
    """A prompt inside the testbed, in the host's time; the scenario's links are up."""
    k = images.kernel(kernel)
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        initrd = Path(tmp) / "initrd"
        overlay = images.overlay(k, modules, common.shell_files(plan))
        common.write_initrd(initrd, images.root_images(k, plan.extras), overlay)
        argv = [*_command(k, initrd, 1, True), "-serial", "mon:stdio"]
        return subprocess.run(argv, check=False).returncode
