# SPDX-License-Identifier: GPL-2.0
"""The kernel of engine ``uml``: built once from the distribution's source package.

The source is fetched and unpacked as the stock kernels are (debian.py), without what this kernel
never compiles, and built with the configuration in ``uml.config``. Source and objects
stay in the cache: the project's modules are built against them.
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

#: Programs that building takes, beyond those of the modules -> Debian package.
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

#: UML ticks 100 times a second and cannot be configured; Debian's kernel ticks 250 times.
HZ = (r"(config HZ\n(?:\s+[^\n]*\n)*?\s+default) 100\n", r"\1 250\n")

#: The same kernel to the last byte wherever and whenever it is built.
_STAMPS = {
    "KBUILD_BUILD_TIMESTAMP": "2025-01-01",
    "KBUILD_BUILD_USER": "apogee",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_VERSION": "1",
}

#: Big parts of the source that are never compiled: only what configures them is unpacked.
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
    """Changes when the kernel has to be built again."""
    parts = [CONFIG.read_text(), repr(HZ), *MAKE, repr(_STAMPS), *_UNUSED]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _built() -> list[UmlKernel]:
    """Kernels in the cache that were built by this recipe, the newest first."""
    done = (cache_dir() / "uml").glob(f"*-{_recipe()}/complete")
    return newest_first(UmlKernel(path.read_text().strip(), path.parent) for path in done)


def _suite_of(k: UmlKernel) -> str:
    """What its folder is named after; older caches have numbers there, all of bookworm's kernel."""
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
    print(f"building the UML kernel of {suite}: once, some minutes", file=sys.stderr, flush=True)
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
        raise LabError(f"{kconfig}: the tick rate is not where it was")
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
    """The kernel's source out of its package, which holds it as an archive."""
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
    """Call make in the source, in an environment that a make above us has no part in."""
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
    """LabError if the kernel refuses something that CONFIG asks for."""
    lines = set(config.splitlines())
    wanted = [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    missing = [line for line in wanted if line not in lines]
    if missing:
        raise LabError(f"this kernel's source has no {', '.join(missing)}")
