# SPDX-License-Identifier: GPL-2.0
"""Kernels for engine ``qemu`` that look for faults on two CPUs, built from Debian's source package.

``bookworm-debug`` has the tools of the kernel of that name for engine ``uml`` (``debug.config``),
``bookworm-kcsan`` looks for data races (``x86-kcsan.config``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from . import built
from .kernel import DEFAULT_KERNEL, unknown
from .recipe import COMPILERS, DEBUG_CONFIG, GUEST_CONFIG, UBSAN, BuiltKernel, Recipe

CONFIG = Path(__file__).with_name("x86.config")
DEBUG = f"{DEFAULT_KERNEL}-debug"
KCSAN = f"{DEFAULT_KERNEL}-kcsan"
MAKE = ("ARCH=x86_64", *COMPILERS)

#: A program of the build that takes libelf's headers. What it does is not needed here: it checks
#: what the compiler has made, and patches calls for speed.
OBJTOOL = (r"\tselect HAVE_OBJTOOL\t+if X86_64\n", "")

#: What runs before KASAN's memory is there, when QEMU boots the kernel by PVH, is not checked.
BEFORE_KASAN = (
    ("arch/x86/platform/pvh/Makefile", (r"\A", "KASAN_SANITIZE := n\n")),
    ("lib/Makefile", (r"\A", "KASAN_SANITIZE_string.o := n\n")),
)


@dataclass(frozen=True)
class DebugKernel(BuiltKernel):
    """A kernel with debug.config; the modules are checked for undefined behaviour, too."""

    make: ClassVar[tuple[str, ...]] = (*MAKE, UBSAN)
    init: ClassVar[tuple[str, ...]] = ("init", "init-debug")
    # (KASAN in the interpreter of ACPI is too slow for what asks it for the interrupts of devices)
    options: ClassVar[tuple[str, ...]] = ("log_buf_len=1M acpi=noirq",)


@dataclass(frozen=True)
class KcsanKernel(BuiltKernel):
    """A kernel that looks for data races.

    It waits at one of so many accesses, for microseconds, whether another CPU comes. With QEMU's
    two CPUs in one thread waiting costs next to nothing: it is the other CPU's turn.
    """

    make: ClassVar[tuple[str, ...]] = MAKE
    options: ClassVar[tuple[str, ...]] = (
        "log_buf_len=1M kcsan.skip_watch=250 kcsan.udelay_task=10 kcsan.udelay_interrupt=5",
    )


DEBUGGING = Recipe(
    DEBUG, DEFAULT_KERNEL, "checked", DebugKernel, MAKE, "vmlinux",
    configs=(GUEST_CONFIG, CONFIG, DEBUG_CONFIG, CONFIG.with_name("x86-debug.config")),
    patches=(("arch/x86/Kconfig", OBJTOOL), *BEFORE_KASAN),
)  # fmt: skip
RACES = Recipe(
    KCSAN, DEFAULT_KERNEL, "checked", KcsanKernel, MAKE, "vmlinux",
    configs=(GUEST_CONFIG, CONFIG, CONFIG.with_name("x86-kcsan.config")),
    patches=(("arch/x86/Kconfig", OBJTOOL),),
)  # fmt: skip
RECIPES = (DEBUGGING, RACES)


def kernels() -> list[str]:
    """Names that select a kernel: theirs, and releases that are built."""
    return built.names(RECIPES)


@lru_cache
def kernel(name: str) -> BuiltKernel:
    """The kernel of this name, built if the cache has none, or of a release that is built."""
    if found := built.find(RECIPES, name):
        return found
    raise unknown(name, kernels())
