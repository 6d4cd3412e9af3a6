# SPDX-License-Identifier: GPL-2.0
"""The kernel of engine ``uml``: built once from Debian's source package.

The source is fetched and unpacked like Debian's kernels (debian.py), without parts that are never
compiled, and built with the configuration in ``uml.config``. Source and objects stay in the cache,
because the project's modules are built against them. ``bookworm-debug`` is the same kernel with
tools that find faults (``uml-debug.config``): virtual time does not notice how slow they are.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ..base import (
    LabError,
    cache_dir,
    call,
    find_program,
    locked,
    run_program,
    start_program,
    write_whole,
)
from . import apt
from .kernel import DEFAULT_KERNEL, Kernel, newest_first, unknown

#: Programs needed for the build, in addition to those for modules -> Debian package.
PROGRAMS = {
    "gcc-12": "gcc-12",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "xz": "xz-utils",
}

CONFIG = Path(__file__).with_name("uml.config")
DEBUG = f"{DEFAULT_KERNEL}-debug"
#: Kernels that can be built, and their configurations; a later one overrides an earlier one.
CONFIGS = {
    DEFAULT_KERNEL: (CONFIG,),
    DEBUG: (CONFIG, CONFIG.with_name("uml-debug.config")),
}
BUILDABLE = tuple(CONFIGS)
MAKE = ("ARCH=um", "CC=gcc-12", "HOSTCC=gcc-12")

#: UML's tick rate is 100 Hz and not configurable: its default is patched to 250 Hz, as in Debian.
HZ = (r"(config HZ\n(?:\s+[^\n]*\n)*?\s+default) 100\n", r"\1 250\n")
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
#: Changes of the source: kernel -> file, pattern and replacement.
PATCHES = {
    DEFAULT_KERNEL: (("arch/um/Kconfig", HZ),),
    DEBUG: (
        ("arch/um/Kconfig", HZ),
        ("lib/Kconfig.debug", ATOMIC_SLEEP),
        ("arch/um/kernel/tlb.c", NEW_MAPPINGS),
    ),
}

#: Fixed build stamps: the kernel is reproducible byte for byte.
_STAMPS = {
    "KBUILD_BUILD_TIMESTAMP": "2025-01-01",
    "KBUILD_BUILD_USER": "apogee",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_VERSION": "1",
}

#: Large parts of the source that are never compiled: only their Kconfig files are unpacked.
_UNUSED = (
    "drivers/gpu drivers/iio drivers/infiniband drivers/media drivers/net/ethernet "
    "drivers/net/wireless drivers/scsi drivers/staging drivers/usb sound samples"
).split()


@dataclass(frozen=True)
class UmlKernel(Kernel):
    """A built UML kernel; ``vmlinux`` is the program that runs it."""

    make: ClassVar[tuple[str, ...]] = MAKE
    init: ClassVar[tuple[str, ...]] = ("init", "init-uml")

    @property
    def vmlinux(self) -> Path:
        """The kernel, a program of the host."""
        return self.root / "linux"

    @property
    def headers(self) -> Path:
        """The tree it was built in, the KDIR of modules."""
        return self.root / "source"


@dataclass(frozen=True)
class DebugKernel(UmlKernel):
    """A UML kernel that looks for faults, in the modules for undefined behaviour, too."""

    make: ClassVar[tuple[str, ...]] = (*MAKE, "UBSAN_SANITIZE=y")
    init: ClassVar[tuple[str, ...]] = ("init", "init-debug", "init-uml")


def kernels() -> list[str]:
    """Names that select a kernel: suites, and releases that are built."""
    return [*BUILDABLE, *sorted({k.release for k in _built()})]


def _config(name: str) -> str:
    return "".join(path.read_text() for path in CONFIGS[name])


def _recipe(name: str = DEFAULT_KERNEL) -> str:
    """A hash of everything that requires a new build of the kernel when it changes."""
    changes = (repr(change) for _, change in PATCHES[name])
    parts = [_config(name), *changes, *MAKE, repr(_STAMPS), *_UNUSED]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _built() -> list[UmlKernel]:
    """Kernels in the cache that were built by these recipes, newest first."""
    return newest_first(
        (DebugKernel if name == DEBUG else UmlKernel)(path.read_text().strip(), path.parent)
        for name in CONFIGS
        for path in (cache_dir() / "uml").glob(f"*-{_recipe(name)}/complete")
    )


def _name_of(k: UmlKernel) -> str:
    """The name in its folder's name; older caches have numbers there, for bookworm's kernel."""
    name = k.root.name.rpartition("-")[0]
    return name if name in BUILDABLE else DEFAULT_KERNEL


def _find(name: str) -> UmlKernel | None:
    return next((k for k in _built() if name in (k.release, _name_of(k))), None)


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> UmlKernel:
    """The kernel of this name (one of CONFIGS, built if the cache has none, or a built release)."""
    if found := _find(name):
        return found
    if name not in BUILDABLE:
        raise unknown(name, kernels())
    with locked("uml"):
        return _find(name) or _build(name)


def _build(name: str) -> UmlKernel:
    """Fetch, unpack, configure, compile."""
    for program, package in PROGRAMS.items():
        find_program(program, package)
    print(f"building the UML kernel {name}: once, takes minutes", file=sys.stderr, flush=True)
    root = cache_dir() / "uml" / f"{name}-{_recipe(name)}"
    shutil.rmtree(root, ignore_errors=True)
    source = root / "source"
    source.mkdir(parents=True)
    with locked("kernels"):
        package = apt.fetch_source(name.removesuffix("-debug"), root)
    _unpack(package, source)
    package.unlink()
    for file, (pattern, changed) in PATCHES[name]:
        text, count = re.subn(pattern, changed, (source / file).read_text())
        if count != 1:
            raise LabError(f"{source / file}: cannot find what is to be changed")
        (source / file).write_text(text)
    config = root / "config"
    config.write_text(_config(name))
    _make(source, [f"KCONFIG_ALLCONFIG={config}", "allnoconfig"], "configuring the UML kernel")
    _check_config(config.read_text(), (source / ".config").read_text())
    jobs = len(os.sched_getaffinity(0))
    _make(source, [f"-j{jobs}", "linux", "modules"], "building the UML kernel")
    install = ["INSTALL_MOD_STRIP=1", f"INSTALL_MOD_PATH={root / 'root'}", "modules_install"]
    _make(source, install, "installing the UML kernel's modules")
    release = (source / "include" / "config" / "kernel.release").read_text().strip()
    call([find_program("strip", "binutils"), "-o", root / "linux", source / "linux"], "strip")
    write_whole(root / "complete", release + "\n")
    return next(k for k in _built() if k.root == root)


def _unpack(package: Path, source: Path) -> None:
    """Unpack the kernel's source, an archive inside its package."""
    excludes = ["*/Documentation/*/*", "*/tools/testing/*"]
    excludes += [f"linux-source-*/{name}/*.[chS]" for name in _UNUSED]
    pipe, member = subprocess.PIPE, "./usr/src/linux-source-*.tar.xz"
    with (
        start_program(["dpkg-deb", "--fsys-tarfile", package], stdout=pipe) as outer,
        start_program(
            ["tar", "-xOf", "-", "--wildcards", member], stdin=outer.stdout, stdout=pipe
        ) as xz,
    ):
        done = run_program(
            ["tar", "-C", source, "-xJf", "-", "--strip-components=1", "--wildcards",
             *(f"--exclude={pattern}" for pattern in excludes)],
            stdin=xz.stdout, stderr=pipe, text=True,
        )  # fmt: skip
    if outer.returncode or xz.returncode or done.returncode:
        words = done.stderr.strip().splitlines() or ["damaged"]
        raise LabError(f"unpacking {package.name}: {words[-1]}")


def _make(source: Path, arguments: Sequence[str], what: str) -> None:
    """Call make in the source, without the environment variables of an enclosing make."""
    unset = [f"--unset={name}" for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KBUILD_OUTPUT")]
    stamps = [f"{name}={value}" for name, value in _STAMPS.items()]
    log = source.parent / "build.log"
    with log.open("a") as handle:
        done = run_program(
            ["env", "LC_ALL=C", *unset, *stamps, "make", "-s", "-C", source, *MAKE, *arguments],
            stdin=subprocess.DEVNULL, stdout=handle, stderr=handle,
        )  # fmt: skip
    if done.returncode:
        raise LabError(f"{what} failed, see {log}")


def _check_config(asked: str, config: str) -> None:
    """LabError if an option that was asked for did not take effect."""
    lines = set(config.splitlines())
    wanted = {
        line.partition("=")[0]: line for line in asked.splitlines() if line.startswith("CONFIG_")
    }
    missing = [line for line in wanted.values() if line not in lines]
    if missing:
        raise LabError(f"this kernel's source has no {', '.join(missing)}")
