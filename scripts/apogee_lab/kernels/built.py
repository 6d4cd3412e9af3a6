# SPDX-License-Identifier: GPL-2.0
"""Kernels that are built once from Debian's source packages.

The source is fetched and unpacked like Debian's kernels (debian.py), without parts that are never
compiled, and built with the configuration that a :class:`Recipe` names. Source and objects stay in
the cache, because the project's modules are built against them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from .kernel import Kernel, newest_first

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
COMPILERS = ("CC=gcc-12", "HOSTCC=gcc-12")
#: For make, of modules: UBSAN in those, because UML 6.1 does not offer it for a whole kernel.
UBSAN = "UBSAN_SANITIZE=y"

#: Of what the kernels that are built have in common.
GUEST_CONFIG = Path(__file__).with_name("guest.config")
#: Of tools that find faults.
DEBUG_CONFIG = Path(__file__).with_name("debug.config")

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
class BuiltKernel(Kernel):
    """A kernel that was built here."""

    @property
    def headers(self) -> Path:
        """The tree it was built in, the KDIR of modules."""
        return self.root / "source"


@dataclass(frozen=True)
class Recipe:
    """How a kernel is built: the name that selects it, its suite, the folder of the cache it is in,
    its kind, arguments of make, make's target (a file in the source), configurations (a later one
    overrides an earlier one), and changes of the source: file, pattern, replacement."""

    name: str
    suite: str
    folder: str
    kernel: type[BuiltKernel]
    make: tuple[str, ...]
    target: str
    configs: tuple[Path, ...]
    patches: tuple[tuple[str, tuple[str, str]], ...] = ()

    @property
    def config(self) -> str:
        """What the kernel's configuration has to have."""
        return "".join(path.read_text() for path in self.configs)

    @property
    def key(self) -> str:
        """A hash of everything that requires a new build of the kernel when it changes."""
        changes = (repr(change) for _, change in self.patches)
        parts = [self.config, *changes, *self.make, repr(_STAMPS), *_UNUSED]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    @property
    def root(self) -> Path:
        """The folder it is built in."""
        return cache_dir() / self.folder / f"{self.name}-{self.key}"

    @property
    def built(self) -> BuiltKernel | None:
        """The kernel in the cache that was built by this recipe."""
        done = self.root / "complete"
        return self.kernel(done.read_text().strip(), self.root) if done.exists() else None


def built(recipes: Iterable[Recipe]) -> list[BuiltKernel]:
    """Kernels in the cache that were built by these recipes, newest first."""
    return newest_first(k for recipe in recipes if (k := recipe.built))


def names(recipes: Iterable[Recipe]) -> list[str]:
    """Names that select one of these kernels: their own, and releases that are built."""
    recipes = list(recipes)
    return [*(r.name for r in recipes), *sorted({k.release for k in built(recipes)})]


def find(recipes: Iterable[Recipe], name: str) -> BuiltKernel | None:
    """The kernel of this name or release, built if the cache has none of that name; None if it is
    neither."""
    for recipe in recipes:
        if name == recipe.name:
            return recipe.built or _build_once(recipe)
    return next((k for k in built(recipes) if k.release == name), None)


def _build_once(recipe: Recipe) -> BuiltKernel:
    with locked(recipe.folder):
        return recipe.built or _build(recipe)


def _build(recipe: Recipe) -> BuiltKernel:
    """Fetch, unpack, configure, compile."""
    for program, package in PROGRAMS.items():
        find_program(program, package)
    what = f"the kernel {recipe.name} ({recipe.make[0]})"
    print(f"building {what}: once, takes minutes", file=sys.stderr, flush=True)
    root, source = recipe.root, recipe.root / "source"
    shutil.rmtree(root, ignore_errors=True)
    source.mkdir(parents=True)
    with locked("kernels"):
        package = apt.fetch_source(recipe.suite, root)
    _unpack(package, source)
    package.unlink()
    for file, (pattern, changed) in recipe.patches:
        text, count = re.subn(pattern, changed, (source / file).read_text())
        if count != 1:
            raise LabError(f"{source / file}: cannot find what is to be changed")
        (source / file).write_text(text)
    config = root / "config"
    config.write_text(recipe.config)

    def make(*arguments: str) -> None:
        _make(source, [*recipe.make, *arguments], f"building {what}")

    make(f"KCONFIG_ALLCONFIG={config}", "allnoconfig")
    check_config(config.read_text(), (source / ".config").read_text())
    make(f"-j{len(os.sched_getaffinity(0))}", recipe.target, "modules")
    make("INSTALL_MOD_STRIP=1", f"INSTALL_MOD_PATH={root / 'root'}", "modules_install")
    release = (source / "include" / "config" / "kernel.release").read_text().strip()
    program = (root / recipe.target, source / recipe.target)
    call([find_program("strip", "binutils"), "-o", *program], "strip")
    write_whole(root / "complete", release + "\n")
    return recipe.kernel(release, root)


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
            ["env", "LC_ALL=C", *unset, *stamps, "make", "-s", "-C", source, *arguments],
            stdin=subprocess.DEVNULL, stdout=handle, stderr=handle,
        )  # fmt: skip
    if done.returncode:
        raise LabError(f"{what} failed, see {log}")


def check_config(asked: str, config: str) -> None:
    """LabError if an option that was asked for did not take effect."""
    lines = set(config.splitlines())
    wanted = {
        line.partition("=")[0]: line for line in asked.splitlines() if line.startswith("CONFIG_")
    }
    missing = [line for line in wanted.values() if line not in lines]
    if missing:
        raise LabError(f"this kernel's source has no {', '.join(missing)}")
