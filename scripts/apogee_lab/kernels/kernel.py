# SPDX-License-Identifier: GPL-2.0
"""A kernel: its release and where its parts are; the series that apt can deliver."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..base import LabError, repo_root

DEFAULT_KERNEL = "6.1"

#: Series that apt can deliver: the Debian suite which carries it.
SERIES = {"6.1": "bookworm", "6.12": "bookworm-backports", "7.3": "trixie-backports"}

#: The release whose compilers scripts/setup installs, and whose programs run on every later one.
NATIVE = "bookworm"


# --- kernels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its release (``uname -r``) and where its parts are.

    An engine with another kind of kernel says in a subclass what differs.
    """

    release: str
    root: Path
    #: Arguments for make when modules are built against it.
    make: ClassVar[tuple[str, ...]] = ()
    #: What the guest's first process is made of, see guest_init().
    init: ClassVar[tuple[str, ...]] = ("init",)

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
        """Where this project's modules lie as they were built for it."""
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
        """One of the project's modules that is installed beside the kernel's; a guest has none."""
        return None


def series_of(name: str) -> str:
    """``6.1.0-56-amd64`` and ``6.1`` both belong to ``6.1``."""
    match = re.match(r"\d+\.\d+", name)
    series = match.group() if match else ""
    if series not in SERIES:
        raise LabError(
            f"unknown kernel {name}: one of {', '.join(SERIES)} or a full release of them"
        )
    return series


def release_of(suite: str) -> str:
    """The Debian release that a suite belongs to: ``trixie`` for ``trixie-backports``."""
    return suite.removesuffix("-backports")
