# SPDX-License-Identifier: GPL-2.0
"""A guest set up like a user's machine: Python, numpy, util-linux, kmod, the project in /apogee."""

from __future__ import annotations

import importlib.util
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from apogee_lab import modules
from apogee_lab.base import find_program
from apogee_lab.guest.cpio import libraries
from apogee_lab.guest.image import flow_binary
from apogee_lab.kernels.kernel import Kernel

#: Programs that replace busybox's applets -> Debian package.
PROGRAMS = {
    "python3": "python3",
    "env": "coreutils",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "flock": "util-linux",
    "modprobe": "kmod",
    "insmod": "kmod",
    "rmmod": "kmod",
    "sysctl": "procps",
}

#: The project's path in the guest.
HOME = "apogee"
#: The cache of the guest's user, whose home is /root.
CACHE = "root/.cache/apogee"

#: Parts that the lab does not import: folder names, or prefixes of library names.
_UNUSED_FOLDERS = {"__pycache__", "test", "tests", "lib2to3", "ensurepip", "distutils", "f2py"}
_UNUSED_LIBRARIES = ("_tkinter", "_curses", "_dbm", "_gdbm", "_sqlite3", "_test", "nis", "readline")


def _libraries_of(program: Path) -> Iterator[tuple[str, bytes]]:
    for library in libraries(program):
        if not library.name.startswith("ld-"):  # the guest has it, and its own may be executed
            yield f"lib/{library.name}", library.resolve().read_bytes()


def _compiled(source: Path) -> tuple[str, bytes]:
    """A module's byte code instead of its source, as compiling is slow in an emulator."""
    code = Path(importlib.util.cache_from_source(str(source)))
    if code.exists():
        return f"{source}c", code.read_bytes()
    return str(source), source.read_bytes()


def _package(top: Path) -> Iterator[tuple[str, bytes]]:
    """The modules below a folder, with the libraries that they need."""
    for path in sorted(top.rglob("*")):
        inside = path.relative_to(top).parts
        if _UNUSED_FOLDERS & set(inside) or any(part.startswith("config-") for part in inside):
            continue
        if path.suffix == ".py":
            yield _compiled(path)
        elif path.suffix == ".so" and not path.name.startswith(_UNUSED_LIBRARIES):
            yield str(path), path.read_bytes()
            yield from _libraries_of(path)


def _project(root: Path, kernel: Kernel) -> Iterator[tuple[str, bytes]]:
    """The lab, the modules' sources, and the built files of both."""
    for path in [*(root / "scripts").rglob("*"), *root.glob("tcp_*.c")]:
        if path.is_file() and path.suffix != ".pyc":
            yield f"{HOME}/{path.relative_to(root)}", path.read_bytes()
    flow = flow_binary()
    yield f"{CACHE}/{flow.name}", flow.read_bytes()
    for name in ("tcp_star", "tcp_j"):
        built = modules.module_file(name, kernel)
        yield f"{HOME}/build/modules/{kernel.release}/{name}.ko", built.read_bytes()


def files(root: Path, kernel: Kernel) -> dict[str, bytes]:
    """Files to add to a guest, which then runs PREPARE."""
    found: dict[str, bytes] = {}
    for name, package in PROGRAMS.items():
        program = find_program(name, package)
        found[f"bin/{name}"] = program.resolve().read_bytes()
        found.update(_libraries_of(program))
    found.update(_package(Path(sysconfig.get_path("stdlib"))))
    found.update(_package(Path(np.__file__).parent))
    found.update(_project(root, kernel))
    return found


#: The guest's first lines: set execute permissions and a usual PATH.
PREPARE = f"""\
chmod +x {" ".join(f"/bin/{name}" for name in PROGRAMS)} /{CACHE}/flow-*
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts
export PATH=/usr/sbin:/usr/bin
cd /{HOME}
"""
