# SPDX-License-Identifier: GPL-2.0
"""How kernels are built from Debian's source packages, and the folders of the cache they are in.

A folder is named after everything that a kernel is made of: the recipe and the compiler, as a hash,
and the version of the source. Source and objects stay in it, because the project's modules are
built against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..base import cache_dir, key_of, repo_root, version_of
from .kernel import Kernel, numbers

COMPILERS = ("CC=gcc-12", "HOSTCC=gcc-12")
#: For make, of modules: UBSAN in those, because UML 6.1 does not offer it for a whole kernel.
UBSAN = "UBSAN_SANITIZE=y"

#: Of what the kernels that are built have in common.
GUEST_CONFIG = Path(__file__).with_name("guest.config")
#: Of tools that find faults.
DEBUG_CONFIG = Path(__file__).with_name("debug.config")

#: Fixed build stamps: the kernel is reproducible byte for byte.
STAMPS = {
    "KBUILD_BUILD_TIMESTAMP": "2025-01-01",
    "KBUILD_BUILD_USER": "apogee",
    "KBUILD_BUILD_HOST": "lab",
    "KBUILD_BUILD_VERSION": "1",
}

#: Large parts of the source that are never compiled: only their Kconfig files are unpacked.
UNUSED = (
    "drivers/gpu drivers/iio drivers/infiniband drivers/media drivers/net/ethernet "
    "drivers/net/wireless drivers/scsi drivers/staging drivers/usb sound samples"
).split()


@dataclass(frozen=True)
class BuiltKernel(Kernel):
    """A kernel that was built here."""

    @property
    def headers(self) -> Path:
        """The tree it was built in, the KDIR of modules."""
        return self.root / "source"

    @property
    def built(self) -> Path:
        """The folder with this project's modules built for it, named like the kernel's: the release
        alone does not tell the recipe."""
        return repo_root() / "build" / "modules" / self.root.name


@dataclass(frozen=True)
class Recipe:
    """How a kernel is built: the name that selects it, its suite, the folder of the cache it is in,
    its kind, arguments of make, make's target (a file in the source), configurations (a later one
    overrides an earlier one), changes of the source: file, pattern, replacement; and patches, which
    are applied behind these."""

    name: str
    suite: str
    folder: str
    kernel: type[BuiltKernel]
    make: tuple[str, ...]
    target: str
    configs: tuple[Path, ...]
    patches: tuple[tuple[str, tuple[str, str]], ...] = ()
    diffs: tuple[Path, ...] = ()

    @property
    def config(self) -> str:
        """What the kernel's configuration has to have."""
        return "".join(path.read_text() for path in self.configs)

    @property
    def key(self) -> str:
        """A hash of everything but the source that requires a new build when it changes."""
        compiler = [version_of(program) for program in ("gcc-12", "ld")]
        parts = [self.config, repr(self.patches), *self.make, self.target, repr(STAMPS), *UNUSED]
        return key_of(*parts, *compiler, *(path.read_bytes() for path in self.diffs))

    def root(self, version: str) -> Path:
        """The folder it is built in from this version of the source."""
        return cache_dir() / self.folder / f"{self.name}-{self.key}-{version}"

    def roots(self, mark: str) -> list[Path]:
        """Its folders of the cache with this mark, that of the newest source first."""

        start = self.root("")
        found = (path.parent for path in start.parent.glob(f"{start.name}*/{mark}"))
        return sorted(found, key=lambda r: numbers(r.name[len(start.name) :]), reverse=True)

    @property
    def built(self) -> BuiltKernel | None:
        """The kernel in the cache that was built by this recipe of the newest source."""
        for root in self.roots("complete"):
            return self.kernel((root / "complete").read_text().strip(), root)
        return None
