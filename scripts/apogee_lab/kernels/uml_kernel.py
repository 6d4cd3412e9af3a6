# SPDX-License-Identifier: GPL-2.0
"""The kernels of engine ``uml``, built from Debian's source package.

``bookworm-debug`` is the same kernel with tools that find faults (``debug.config``): virtual time
does not notice how slow they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ..base import UsageError, key_of
from . import built
from .kernel import DEFAULT_KERNEL, unknown
from .recipe import COMPILERS, DEBUG_CONFIG, GUEST_CONFIG, UBSAN, BuiltKernel, Recipe
from .stages import PROGRAMS

CONFIG = Path(__file__).with_name("uml.config")
DEBUG = f"{DEFAULT_KERNEL}-debug"
MAKE = ("ARCH=um", *COMPILERS)

#: UML's tick rate is 100 Hz and not configurable: its default is patched to 250 Hz, as in Debian.
HZ = (r"(config HZ\n(?:\s+[^\n]*\n)*?\s+default) 100\n", r"\1 250\n")
#: After a fault Linux maps the pages around it that the page cache has, but UML gives its process
#: one of them, and takes a fault for each other. It gives all, and there are 64 of them, not 16: a
#: program starts with half of the host's CPU time. What the host refuses to map ends the process.
FAULT_PAGES = 64
AROUND = (
    r"\n\tflush_tlb_page\(vma, address\);\n",
    rf"""
	{{
		const unsigned long around = {FAULT_PAGES} * PAGE_SIZE;
		unsigned long start = max(vma->vm_start, address & ~(around - 1));

		flush_tlb_range(vma, start, min(vma->vm_end, (address | (around - 1)) + 1));
		if (mm->context.id.kill)
			force_sig(SIGKILL);
	}}
""",
)
FAULT_AROUND = (r"rounddown_pow_of_two\(65536\)", f"{FAULT_PAGES} * PAGE_SIZE")
#: UML 6.1 offers no check for sleeping in atomic context, although all that it needs is there.
ATOMIC_SLEEP = (
    r"(config DEBUG_ATOMIC_SLEEP\n(?:\s+[^\n]*\n)*?)\s+depends on !ARCH_NO_PREEMPT\n",
    r"\1",
)
#: UML 6.1 reads a new process's tree of mappings, which nothing else sees yet, without a lock.
NEW_MAPPINGS = (
    r"(\tfor_each_vma\(vmi, vma\)\n\t\tfix_range\([^\n]*, 1\);\n)",
    r"\trcu_read_lock();\n\1\trcu_read_unlock();\n",
)


@dataclass(frozen=True)
class UmlKernel(BuiltKernel):
    """A built UML kernel; ``vmlinux`` is the program that runs it."""

    make: ClassVar[tuple[str, ...]] = MAKE
    init: ClassVar[tuple[str, ...]] = ("init", "init-uml")

    @property
    def vmlinux(self) -> Path:
        """The kernel, a program of the host."""
        return self.root / "linux"


@dataclass(frozen=True)
class DebugKernel(UmlKernel):
    """A UML kernel that looks for faults, in the modules for undefined behaviour, too."""

    make: ClassVar[tuple[str, ...]] = (*MAKE, UBSAN)
    init: ClassVar[tuple[str, ...]] = ("init", "init-debug", "init-uml")


PLAIN = Recipe(
    DEFAULT_KERNEL, DEFAULT_KERNEL, "uml", UmlKernel, MAKE, "linux",
    configs=(GUEST_CONFIG, CONFIG),
    patches=(
        ("arch/um/Kconfig", HZ),
        ("arch/um/kernel/trap.c", AROUND),
        ("mm/memory.c", FAULT_AROUND),
    ),
)  # fmt: skip
DEBUGGING = Recipe(
    DEBUG, DEFAULT_KERNEL, "uml", DebugKernel, MAKE, "linux",
    configs=(*PLAIN.configs, DEBUG_CONFIG, CONFIG.with_name("uml-debug.config")),
    patches=(
        *PLAIN.patches,
        ("lib/Kconfig.debug", ATOMIC_SLEEP),
        ("arch/um/kernel/tlb.c", NEW_MAPPINGS),
    ),
)  # fmt: skip
RECIPES = (PLAIN, DEBUGGING)
PATCHED: list[Recipe] = []
BUILDABLE = tuple(recipe.name for recipe in RECIPES)


def kernels() -> list[str]:
    """Names that select a kernel: suites, and releases that are built."""
    return built.names((*RECIPES, *PATCHED))


def patched(files: Sequence[str], name: str) -> str:
    """The name of this kernel with the user's patches and, of files that end in .config, further
    lines of its configuration; it is built when it is first asked for. UsageError for what is
    neither."""
    for file in files:
        if not Path(file).is_file():
            raise UsageError(f"--patch {file}: no such file")
    recipe = next((r for r in RECIPES if r.name == name), None)
    if recipe is None:
        raise UsageError(f"--patch: {name} is not built here; choose from: {', '.join(BUILDABLE)}")
    paths = [Path(file).absolute() for file in files]
    own = f"{name}-patched-{key_of(*(path.read_bytes() for path in paths))}"
    if all(own != other.name for other in PATCHED):
        lines = tuple(path for path in paths if path.suffix == ".config")
        diffs = tuple(path for path in paths if path.suffix != ".config")
        configs = (*recipe.configs, *lines)
        PATCHED.append(replace(recipe, name=own, configs=configs, diffs=diffs))
    return own


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> BuiltKernel:
    """The kernel of this name (one of BUILDABLE, built if the cache has none, or a release)."""
    if found := built.find((*RECIPES, *PATCHED), name):
        return found
    raise unknown(name, kernels())


__all__ = ["PROGRAMS", "kernel", "kernels", "patched"]
