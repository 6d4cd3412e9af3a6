# SPDX-License-Identifier: GPL-2.0
"""User-Mode Linux in virtual time: a kernel that is a program of the host, computing takes no time.

With ``time-travel=inf-cpu`` the guest's clock stands still while it computes and jumps to the next
timer when it idles. Results depend on the image, the script and the seed only.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..base import LabError, compiled
from ..guest.image import overlay_archive, root_images, root_key
from ..kernels import uml_kernel
from ..kernels.kernel import DEFAULT_KERNEL, Kernel
from ..kernels.uml_kernel import kernel, kernels, patched
from ..modules import stock_controls
from ..scenarios.scenario import Plan
from . import supervise
from .work import RunInfo, Work, write_initrd


def uml_library() -> Path:
    """What is preloaded into User-Mode Linux (umlhost.c)."""
    source = Path(__file__).with_name("umlhost.c")
    return compiled("umlhost", [source], ".so", ["-shared", "-fPIC", "-s"])


__all__ = [
    "DEFAULT_KERNEL",
    "EngineError",
    "RunInfo",
    "congestion_controls",
    "image_key",
    "kernel",
    "kernels",
    "patched",
    "run",
    "run_script",
    "shell",
]

EngineError = LabError

MEMORY_MB = 1024

# The guest's programs see the host's CPU, and ld.so looks for libraries in more folders the more
# that can do. Each is a system call, and these take time: so all CPUs are an old one to ld.so. What
# the kernel does not know of its command line is its first process's environment.
_OLD_CPU = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSE4_2,-AVX2,-AVX512CD,-AVX512VL"

# The kernel mixes its command line into its random numbers: no path in it may differ from run to
# run. So UML is started in the working folder.
_CMDLINE = (
    "initrd=initrd",
    "uml_dir=./",
    "umid=uml",
    "hostfs=.",
    "con=null",
    f"mem={MEMORY_MB}M",
    "panic=-1",
    "oops=panic",
    "random.trust_cpu=on",
    "norandmaps",
    _OLD_CPU,
)
# The clock begins where engine qemu's does: 2025-01-01.
_VIRTUAL_TIME = ("quiet", "time-travel=inf-cpu", "time-travel-start=1735689600")


def congestion_controls(kernel: str = DEFAULT_KERNEL) -> set[str]:
    """Names the kernel offers, without this project's."""
    return stock_controls(uml_kernel.kernel(kernel))


def image_key(kernel: str, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over everything but script and seed that a result depends on."""
    parts = [
        root_key(uml_kernel.kernel(kernel), modules, extras),
        uml_library().name,
        *_CMDLINE,
        *_VIRTUAL_TIME,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def run(plan: Plan, **how: Any) -> RunInfo:
    """Run a plan's script; ``out`` is complete when this returns and absent when it raises.

    Takes seed, kernel, modules, out and timeout_wall_s as :func:`run_script` does.
    """
    return supervise.run_plan(run_script, plan, **how)


def run_script(
    text: str,
    *,
    seed: int = 1,
    kernel: str = DEFAULT_KERNEL,
    extras: Sequence[str] = (),
    realtime: bool = False,
    **how: Any,
) -> RunInfo:
    """Run any shell script in a guest, as engine qemu's function of this name does."""
    if realtime:
        raise LabError("engine uml runs in virtual time only: use engine qemu")
    k = uml_kernel.kernel(kernel)
    return supervise.run_script(
        text,
        base=root_images(k, extras),
        kernel=k,
        start=partial(_start, k, seed),
        **how,
    )


def _start(k: Kernel, seed: int, work: Work) -> supervise.Command:
    """UML's command line. Of the host's files the guest can reach the working folder's only."""
    argv = [str(k.vmlinux.absolute()), *_CMDLINE, *_VIRTUAL_TIME, "con0=null,fd:1"]
    env = {**_environment(work.folder), "APOGEE_SEED": str(seed & 0xFFFFFFFF)}
    return supervise.Command("UML", argv, env, one_cpu=True, in_place=True)


def _environment(folder: Path) -> dict[str, str]:
    """What is preloaded, and where the file that is the guest's memory lies."""
    wanted = Path(os.environ.get("TMPDIR") or "/dev/shm")
    memory = wanted if _holds_memory(wanted) else folder
    return {"LD_PRELOAD": str(uml_library().absolute()), "TMPDIR": str(memory.absolute())}


def _holds_memory(folder: Path) -> bool:
    """Whether a guest's memory can be a file in this folder: it grows, and is code, too."""
    try:
        place = os.statvfs(folder)
    except OSError:
        return False
    free = place.f_bavail * place.f_frsize
    return free >= MEMORY_MB << 20 and not place.f_flag & os.ST_NOEXEC


def shell(plan: Plan, *, kernel: str = DEFAULT_KERNEL, modules: Sequence[str] = ()) -> int:
    """A prompt inside the testbed, in the host's time; the scenario's links are up."""
    k = uml_kernel.kernel(kernel)
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        folder = Path(tmp)
        overlay = overlay_archive(k, modules, supervise.shell_files(plan), folder)
        write_initrd(folder / "initrd", root_images(k, plan.extras), overlay)
        argv = [str(k.vmlinux.absolute()), *_CMDLINE, "quiet", "con0=fd:0,fd:1"]
        env = {**os.environ, **_environment(folder)}
        return supervise.in_foreground(argv, env=env, cwd=folder)
