# SPDX-License-Identifier: GPL-2.0
"""A kernel: its release, the paths of its parts, and the Debian suite it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from ..base import LabError, cache_dir, mark, repo_root

#: Debian suites whose kernels the lab uses, each under the suite's name. The kernel's release is
#: that in the cache, else the one that the suite has today.
SUITES = ("bookworm", "bookworm-backports", "trixie", "trixie-backports")
DEFAULT_KERNEL = "bookworm"

#: The release whose compilers scripts/setup installs, and whose programs run on every later one.
NATIVE = "bookworm"


# --- kernels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its release (``uname -r``) and the paths of its parts.

    An engine with another kind of kernel overrides what differs in a subclass.
    """

    release: str
    root: Path
    #: Arguments for make when modules are built against it.
    make: ClassVar[tuple[str, ...]] = ()
    #: The scripts that make up the guest's first process, see image.guest_init().
    init: ClassVar[tuple[str, ...]] = ("init",)
    #: Added to its command line.
    options: ClassVar[tuple[str, ...]] = ()

    @property
    def vmlinux(self) -> Path:
        """The uncompressed kernel, bootable by PVH."""
        return self.root / "vmlinux"

    @property
    def modules(self) -> Path:
        """``/lib/modules/RELEASE`` of the package."""
        for top in ("lib", "usr/lib"):
            path = self.root / "root" / top / "modules" / self.release
            if path.is_dir():
                return path
        raise LabError(f"no modules of {self.release} below {self.root}: remove that folder")

    @property
    def built(self) -> Path:
        """The folder with this project's modules built for it."""
        return repo_root() / "build" / "modules" / self.release

    @property
    def headers(self) -> Path:
        """The KDIR to build modules against."""
        return self.root / "root" / "usr" / "src" / f"linux-headers-{self.release}"

    @property
    def buildable(self) -> bool:
        """Whether modules can be built for it."""
        return True

    def installed(self, name: str) -> Path | None:
        """Path of one of this project's modules installed with the kernel; None in a guest."""
        return None


KernelT = TypeVar("KernelT", bound=Kernel)


# --- suites -----------------------------------------------------------------------------------

#: Suites of cached kernels without a recorded suite, by the mark in their release's version.
_UNNOTED = {"+deb12": "bookworm-backports", "+deb13": "trixie-backports"}


def mark_complete(k: Kernel, suite: str) -> None:
    """Record that a kernel in the cache is complete, and its suite."""
    mark(k.root / "complete", suite + "\n")


def suite_of(k: Kernel) -> str:
    """The suite that a kernel in the cache came from."""
    series = re.search(r"\+deb\d+", k.release)
    noted = (k.root / "complete").read_text().strip()
    return noted or _UNNOTED.get(series[0] if series else "", "bookworm")


def numbers(version: str) -> list[int]:
    """The numbers in a version, by which one is newer than another."""
    return [int(n) for n in re.findall(r"\d+", version)]


def newest_first(kernels: Iterable[KernelT]) -> list[KernelT]:
    """Kernels in descending order of their releases."""
    return sorted(kernels, key=lambda k: numbers(k.release), reverse=True)


def cached(folder: str, flavour: str) -> list[Kernel]:
    """Complete kernels of a flavour below this folder of the cache, newest first."""
    done = (cache_dir() / folder).glob(f"*-{flavour}/complete")
    return newest_first(Kernel(path.parent.name, path.parent) for path in done)


def unknown(name: str, there: Iterable[str]) -> LabError:
    """The error for an unknown kernel name."""
    return LabError(f"unknown kernel '{name}'; choose from: {', '.join(there)}")


def release_of(suite: str) -> str:
    """The Debian release that a suite belongs to: ``trixie`` for ``trixie-backports``."""
    return suite.removesuffix("-backports")
