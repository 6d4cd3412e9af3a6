# SPDX-License-Identifier: GPL-2.0
"""The kernel of engine ``uml``: built once from Debian's source package.

The source is fetched and unpacked like Debian's kernels (debian.py), without parts that are never
compiled, and built with the configuration in ``uml.config``. Source and objects stay in the cache,
because the project's modules are built against them.
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

from ..base import LabError, cache_dir, call, find_program, locked
from . import apt
from .kernel import DEFAULT_KERNEL, Kernel, newest_first, unknown

#: Suites whose kernel builds with CONFIG.
BUILDABLE = (DEFAULT_KERNEL,)

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
MAKE = ("ARCH=um", "CC=gcc-12", "HOSTCC=gcc-12")

#: UML's tick rate is 100 Hz and not configurable: its default is patched to 250 Hz, as in Debian.
HZ = (r"(config HZ\n(?:\s+[^\n]*\n)*?\s+default) 100\n", r"\1 250\n")

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


def kernels() -> list[str]:
    """Names that select a kernel: suites, and releases that are built."""
    return [*BUILDABLE, *sorted({k.release for k in _built()})]


def _recipe() -> str:
    """A hash of everything that requires a new build of the kernel when it changes."""
    parts = [CONFIG.read_text(), repr(HZ), *MAKE, repr(_STAMPS), *_UNUSED]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _built() -> list[UmlKernel]:
    """Kernels in the cache that were built by this recipe, newest first."""
    done = (cache_dir() / "uml").glob(f"*-{_recipe()}/complete")
    return newest_first(UmlKernel(path.read_text().strip(), path.parent) for path in done)


def _suite_of(k: UmlKernel) -> str:
    """The suite in its folder's name; older caches have numbers there, for bookworm's kernel."""
    suite = k.root.name.removesuffix(f"-{_recipe()}")
    return suite if suite in BUILDABLE else "bookworm"


def _find(name: str) -> UmlKernel | None:
    return next((k for k in _built() if name in (k.release, _suite_of(k))), None)


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> UmlKernel:
    """The kernel of this name (a suite, built if the cache has none of it, or a built release)."""
    if found := _find(name):
        return found
    if name not in BUILDABLE:
        raise unknown(name, kernels())
    with locked("uml"):
        return _find(name) or _build(name)


def _build(suite: str) -> UmlKernel:
    """Fetch, unpack, configure, compile."""
    for program, package in PROGRAMS.items():
        find_program(program, package)
    print(f"building the UML kernel of {suite}: once, takes minutes", file=sys.stderr, flush=True)
    root = cache_dir() / "uml" / f"{suite}-{_recipe()}"
    shutil.rmtree(root, ignore_errors=True)
    source = root / "source"
    source.mkdir(parents=True)
    with locked("kernels"):
        package = apt.fetch_source(suite, root)
    _unpack(package, source)
    package.unlink()
    kconfig = source / "arch" / "um" / "Kconfig"
    text, count = re.subn(*HZ, kconfig.read_text())
    if count != 1:
        raise LabError(f"{kconfig}: cannot find the tick rate")
    kconfig.write_text(text)
    _make(source, [f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"], "configuring the UML kernel")
    _check_config((source / ".config").read_text())
    jobs = len(os.sched_getaffinity(0))
    _make(source, [f"-j{jobs}", "linux", "modules"], "building the UML kernel")
    install = ["INSTALL_MOD_STRIP=1", f"INSTALL_MOD_PATH={root / 'root'}", "modules_install"]
    _make(source, install, "installing the UML kernel's modules")
    release = (source / "include" / "config" / "kernel.release").read_text().strip()
    k = UmlKernel(release, root)
    call([find_program("strip", "binutils"), "-o", k.vmlinux, source / "linux"], "strip")
    (root / "complete").write_text(release + "\n")
    return k


def _unpack(package: Path, source: Path) -> None:
    """Unpack the kernel's source, an archive inside its package."""
    excludes = ["*/Documentation/*/*", "*/tools/testing/*"]
    excludes += [f"linux-source-*/{name}/*.[chS]" for name in _UNUSED]
    outer = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
    inner = subprocess.Popen(
        ["tar", "-xOf", "-", "--wildcards", "./usr/src/linux-source-*.tar.xz"],
        stdin=outer.stdout, stdout=subprocess.PIPE,
    )  # fmt: skip
    done = subprocess.run(
        ["tar", "-C", str(source), "-xJf", "-", "--strip-components=1", "--wildcards",
         *(f"--exclude={pattern}" for pattern in excludes)],
        stdin=inner.stdout, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if outer.wait() or inner.wait() or done.returncode:
        words = done.stderr.strip().splitlines() or ["damaged"]
        raise LabError(f"unpacking {package.name}: {words[-1]}")


def _make(source: Path, arguments: Sequence[str], what: str) -> None:
    """Call make in the source, without the environment variables of an enclosing make."""
    unset = [f"--unset={name}" for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KBUILD_OUTPUT")]
    stamps = [f"{name}={value}" for name, value in _STAMPS.items()]
    log = source.parent / "build.log"
    with log.open("a") as handle:
        done = subprocess.run(
            ["env", "LC_ALL=C", *unset, *stamps, "make", "-s", "-C", source, *MAKE, *arguments],
            stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, check=False,
        )  # fmt: skip
    if done.returncode:
        raise LabError(f"{what} failed, see {log}")


def _check_config(config: str) -> None:
    """LabError if an option of CONFIG did not take effect."""
    lines = set(config.splitlines())
    wanted = [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    missing = [line for line in wanted if line not in lines]
    if missing:
        raise LabError(f"this kernel's source has no {', '.join(missing)}")
