# SPDX-License-Identifier: GPL-2.0
"""A kernel's build: fetched, unpacked with its changes, configured, compiled.

A build that was stopped goes on where it was. The tree is unpacked again unless a mark says that it
is whole. Then make goes on with the objects that are there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..base import (
    LabError,
    call,
    find_program,
    mark,
    need_space,
    run_program,
    start_program,
    write_whole,
)
from . import apt
from .objects import Objects
from .recipe import STAMPS, UNUSED, BuiltKernel, Recipe

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
#: What was written in the last seconds before a build was killed may be half a file.
UNSURE_S = 30
#: A build that has less left has failed for lack of space.
SPACE_MB = 50

#: Variables of an enclosing make that would change this one.
_UNSET = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KBUILD_OUTPUT")


def build(recipe: Recipe, lock: int) -> BuiltKernel:
    """Build a kernel, or finish it. Make inherits the lock: nobody builds while it still runs."""
    for program, package in PROGRAMS.items():
        find_program(program, package)
    root = next(iter(recipe.roots("unpacked")), None) or _unpacked(recipe)
    make = Make(recipe, root, lock)
    with _building(root, make):
        _configure(recipe, root, make)
        _compile(recipe, root, make)
        modules = root / "root"
        shutil.rmtree(modules, ignore_errors=True)
        make.run("INSTALL_MOD_STRIP=1", f"INSTALL_MOD_PATH={modules}", "modules_install")
    program = (root / recipe.target, root / "source" / recipe.target)
    call([find_program("strip", "binutils"), "-o", *program], "strip")
    release = (root / "source" / "include" / "config" / "kernel.release").read_text().strip()
    mark(root / "complete", release + "\n")
    return recipe.kernel(release, root)


@contextlib.contextmanager
def _building(root: Path, make: Make) -> Iterator[None]:
    """A mark is there while make is at work, and stays if it did not come to its end."""
    building = root / "building"
    if building.exists():
        _remove_unsure(root / "source", root / "unpacked")
    building.touch()
    try:
        yield
    except LabError:
        if make.ended:
            building.unlink()
        raise
    building.unlink()


def _remove_unsure(source: Path, unpacked: Path) -> None:
    """Remove what was made in the last seconds of a build that did not come to its end.

    make removes what it was making when it is told to end, but it may have been killed. It takes
    what is old enough for whole.
    """
    since = unpacked.stat().st_ctime  # (the source's own times are its authors')
    made = {
        path: info.st_mtime
        for folder, _, names in os.walk(source)
        for path in (Path(folder, name) for name in names)
        if (info := path.lstat()).st_ctime > since
    }
    newest = max(made.values(), default=0)
    for path, written in made.items():
        if written > newest - UNSURE_S:
            path.unlink()


# --- the source -------------------------------------------------------------------------------


def _unpacked(recipe: Recipe) -> Path:
    """The folder of a kernel with the suite's source of today, unpacked and changed."""
    package = apt.source(recipe.suite)
    root = recipe.root(package.name.split("_")[1])
    shutil.rmtree(root, ignore_errors=True)
    source = root / "source"
    source.mkdir(parents=True)
    _unpack(package, source)
    for file, (pattern, changed) in recipe.patches:
        text, count = re.subn(pattern, changed, (source / file).read_text())
        if count != 1:
            raise LabError(f"{source / file}: cannot find what is to be changed")
        (source / file).write_text(text)
    for diff in recipe.diffs:
        _apply(diff, source)
    mark(root / "unpacked")
    return root


def _apply(diff: Path, source: Path) -> None:
    """Apply a patch to the source; LabError if a part of it has no place there."""
    words = [find_program("patch", "patch"), "-d", source, "-p1", "-i", diff.absolute()]
    done = run_program(
        [*words, "--batch", "--forward", "--fuzz=0", "--no-backup-if-mismatch"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace",
    )  # fmt: skip
    if done.returncode:
        wrong = [line for line in done.stdout.splitlines() if "FAILED" in line or "find" in line]
        why = (wrong or done.stdout.splitlines() or ["patch failed"])[0].strip()
        raise LabError(f"--patch {diff}: does not fit this kernel's source: {why}")


def _unpack(package: Path, source: Path) -> None:
    """Unpack the kernel's source, an archive inside its package."""
    excludes = ["*/Documentation/*/*", "*/tools/testing/*"]
    excludes += [f"linux-source-*/{name}/*.[chS]" for name in UNUSED]
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


# --- make -------------------------------------------------------------------------------------


class Make:
    """Calls of make in a kernel's source; what it says is in ``build.log``."""

    def __init__(self, recipe: Recipe, root: Path, lock: int) -> None:
        unset = [f"--unset={name}" for name in _UNSET]
        stamps = [f"{name}={value}" for name, value in STAMPS.items()]
        source = root / "source"
        self._words = ["env", "LC_ALL=C", *unset, *stamps, "make", "-C", source, *recipe.make]
        self._how: dict[str, Any] = {
            "stdin": subprocess.DEVNULL, "text": True, "errors": "replace", "pass_fds": [lock],
        }  # fmt: skip
        self._log = root / "build.log"
        #: Whether the last call ended by itself, and removed what it could not finish.
        self.ended = True
        self.what = f"building the kernel {recipe.name} ({recipe.make[0]})"

    def run(self, *arguments: str, see: Callable[[str], None] = lambda _: None) -> None:
        """Make something; ``see`` gets what it says, line by line. LabError if it fails."""
        self.ended = False
        with (
            self._log.open("ab", buffering=0) as log,
            start_program(
                [*self._words, *arguments], stdout=subprocess.PIPE, stderr=log, **self._how
            ) as process,
        ):
            try:
                for line in process.stdout:
                    with contextlib.suppress(OSError):  # on a full disk make fails, too
                        log.write(line.encode())
                    see(line)
            except BaseException:
                process.terminate()
                raise
        self.ended = process.returncode >= 0
        if process.returncode:
            need_space(self._log.parent, SPACE_MB)
            raise LabError(f"{self.what} failed, see {self._log}")

    def left(self, *targets: str) -> int:
        """The number of objects that are not compiled yet."""
        # It fails where it would read what it has not made: after the last object.
        done = run_program(
            [*self._words, "-n", "-k", *targets],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **self._how,
        )  # fmt: skip
        return len(Objects.said(done.stdout))


def _configure(recipe: Recipe, root: Path, make: Make) -> None:
    config = root / "config"
    config.write_text(recipe.config)
    make.run(f"KCONFIG_ALLCONFIG={config}", "allnoconfig")
    check_config(config.read_text(), (root / "source" / ".config").read_text())


def _compile(recipe: Recipe, root: Path, make: Make) -> None:
    """Compile what is not compiled yet."""
    targets = (recipe.target, "modules")
    left = make.left(*targets)
    total = root / "objects"
    if not total.exists():
        write_whole(total, f"{left}\n")
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    with Objects(make.what, int(total.read_text()), left) as objects:
        make.run(jobs, *targets, see=objects.see)


def check_config(asked: str, config: str) -> None:
    """LabError if an option that was asked for did not take effect."""
    lines = set(config.splitlines())
    wanted = {
        line.partition("=")[0]: line for line in asked.splitlines() if line.startswith("CONFIG_")
    }
    missing = [line for line in wanted.values() if line not in lines]
    if missing:
        raise LabError(f"this kernel's source has no {', '.join(missing)}")
