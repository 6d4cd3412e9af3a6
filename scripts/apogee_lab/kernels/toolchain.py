# SPDX-License-Identifier: GPL-2.0
"""Compilers of one Debian release that run on another, unpacked below the cache.

A kernel's modules are built with the compiler the kernel was built with, and the programs in its
headers need the C library they were linked with. So both are run by their own release's loader:
each program is renamed to NAME.elf and a script takes its place. Nothing is installed, root is not
needed, and the cache may be moved.

Callers hold ``locked("kernels")``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from ..base import LabError, cache_dir, call
from . import apt
from .kernel import release_of


def relocate(headers: Path) -> None:
    """Make a header tree work where it lies."""
    makefile = headers / "Makefile"
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
    makefile.write_text(re.sub(r"/usr/src/", f"{here}../", makefile.read_text()))


#: Debian's architectures -> the names that compilers have.
TRIPLETS = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
    "i386": "i686-linux-gnu",
}

_LOADER = "usr/lib64/ld-linux-x86-64.so.2"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"

_LAUNCHER = """#!/bin/sh
self=$(readlink -f "$0")
root=${{self%/*}}/{root}
exec "$root/{loader}" --argv0 "$0" --library-path "$root/{libraries}" "$self.elf" "$@"
"""

# Linux 7.2 wants a sparse that knows __typeof_unqual__, which Debian has in its newest suite only,
# and asks this script, which Debian's packages lack.
_CHECKER_SUITE = "sid"
_CHECKER_VALID = """#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Prints 1 if the checker understands what the kernel's headers need.
check=$1
source=$(mktemp)
trap 'rm -f "$source"' EXIT
echo 'static inline int u(const int *q) { __typeof_unqual__(*q) v = *q; return v; }' >"$source"
[ -n "$("$check" -x c "$source" 2>&1)" ] || echo 1
"""


def equip(headers: Path, suite: str, arch: str) -> None:
    """Make a header tree use the compiler it names and, for its own programs, that one's loader."""
    variables = headers / ".kernelvariables"
    match = re.search(r"\)(gcc-\d+)$", variables.read_text(), re.M)
    if not match:
        raise LabError(f"{variables} names no compiler")
    triplet = TRIPLETS[arch]
    tools = _fetch(suite, f"{match[1]}-{triplet.replace('_', '-')}", "pahole")
    lines = [
        f"override CROSS_COMPILE := {_from(headers, tools / 'usr' / 'bin' / triplet)}-",
        f"PAHOLE := {_from(headers, tools / 'usr' / 'bin' / 'pahole')}",
    ]
    # Another architecture's packages stand beside this machine's tools, which scripts/ leads to.
    scripts = (headers / "scripts").resolve()
    _launch_all(scripts.parent, tools)
    common = next(headers.parent.glob("linux-headers-*-common*"))
    if "checker-valid.sh" in (common / "Makefile").read_text():
        checker = _fetch(_CHECKER_SUITE, "sparse")
        lines.append(f"CHECK := {_from(headers, checker / 'usr' / 'bin' / 'sparse')}")
        (scripts / "checker-valid.sh").write_text(_CHECKER_VALID)
        (scripts / "checker-valid.sh").chmod(0o755)
    with variables.open("a") as handle:
        handle.writelines(line + "\n" for line in lines)


def _from(headers: Path, path: Path) -> str:
    """A path as a makefile beside the headers says it, wherever the cache is."""
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
    folder = path.parent.resolve() / path.name
    return here + os.path.relpath(folder, headers.resolve())


def _fetch(suite: str, *packages: str) -> Path:
    """Packages and all that they depend on, the C library included, unpacked into one root."""
    root = cache_dir() / "tools" / "-".join([release_of(suite), packages[0]])
    if (root / "complete").exists():
        return root
    print(f"fetching {', '.join(packages)} ({suite})", file=sys.stderr, flush=True)
    shutil.rmtree(root, ignore_errors=True)
    options = apt.updated_apt(suite)
    fetch = ["-y", "--no-install-recommends", "--download-only", "install", *packages]
    # Locks of the machine's package database: this one is ours and empty.
    call(["apt-get", *options, "-q", "-o", "Debug::NoLocking=1", *fetch], f"fetching {packages[0]}")
    archives = cache_dir() / "apt" / suite / "cache" / "archives"
    for folder in ("lib", "lib64"):
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    debs = sorted(archives.glob("*.deb"))
    for deb in debs:
        apt.unpack(deb, root)
    _launch_all(root, root)
    for deb in debs:
        deb.unlink()
    (root / "complete").touch()
    return root


def _launch_all(folder: Path, tools: Path) -> None:
    """Put a script before each program below a folder that is not behind one already."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or not _is_program(path):
            continue
        elf = path.with_name(path.name + ".elf")
        path.rename(elf)
        root = os.path.relpath(tools.resolve(), path.parent.resolve())
        text = _LAUNCHER.format(root=root, loader=_LOADER, libraries=_LIBRARIES)
        path.write_text(text)
        path.chmod(0o755)


def _is_program(path: Path) -> bool:
    """Whether a file is an executable of this machine that needs a loader."""
    if path.suffix == ".elf" or ".so" in path.name or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as handle:
        head = handle.read(4096)
    return head.startswith(b"\x7fELF") and b"/lib64/ld-linux-x86-64.so.2\0" in head
