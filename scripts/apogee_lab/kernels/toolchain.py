# SPDX-License-Identifier: GPL-2.0
"""Compilers of one Debian release that run on another, unpacked below the cache.

A kernel's modules are built with the kernel's own compiler, and the programs in its headers need
the C library they were linked with. Both are therefore started by their own release's loader: each
program is renamed to NAME.elf and replaced by a script. Nothing is installed, root is not needed,
and the cache may be moved.

Who unpacks holds ``locked("kernels")``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from ..base import LabError, cache_dir, call, hold, mark
from . import apt
from .kernel import NATIVE, Kernel, release_of


def relocate(headers: Path) -> None:
    """Make a header tree independent of its location."""
    makefile = headers / "Makefile"
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
    makefile.write_text(re.sub(r"/usr/src/", f"{here}../", makefile.read_text()))


#: Debian's architectures -> GNU names, as used by compilers.
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

# Linux 7.2 needs a sparse that knows __typeof_unqual__, which only Debian's newest suite has. Its
# build checks that with this script, which Debian's packages lack.
CHECKER_SUITE = "sid"
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
    """Make a header tree use the compiler it names, and that compiler's loader for its programs.
    What scripts/setup installs needs neither."""
    if (release_of(suite), arch) == (NATIVE, "amd64"):
        return
    variables = headers / ".kernelvariables"
    match = re.search(r"\)(gcc-\d+)$", variables.read_text(), re.M)
    if not match:
        raise LabError(f"{variables} names no compiler")
    triplet = TRIPLETS[arch]
    tools = fetch(suite, f"{match[1]}-{triplet.replace('_', '-')}", "pahole")
    lines = [
        f"override CROSS_COMPILE := {_from(headers, tools / 'usr' / 'bin' / triplet)}-",
        f"PAHOLE := {_from(headers, tools / 'usr' / 'bin' / 'pahole')}",
    ]
    # For another architecture, the link scripts/ leads to this machine's build tools.
    scripts = (headers / "scripts").resolve()
    _launch_all(scripts.parent, tools)
    common = next(headers.parent.glob("linux-headers-*-common*"))
    if "checker-valid.sh" in (common / "Makefile").read_text():
        checker = fetch(CHECKER_SUITE, "sparse")
        lines.append(f"CHECK := {_from(headers, checker / 'usr' / 'bin' / 'sparse')}")
        (scripts / "checker-valid.sh").write_text(_CHECKER_VALID)
        (scripts / "checker-valid.sh").chmod(0o755)
    with variables.open("a") as handle:
        handle.writelines(line + "\n" for line in lines)


def hold_equipped(k: Kernel) -> None:
    """Keep others from removing a kernel with what it was equipped with. That comes first: who
    removes all does not find it free once it has found the kernel in use."""
    variables = k.headers / ".kernelvariables"
    words = variables.read_text() if variables.exists() else ""
    for name in sorted(set(re.findall(r"/tools/([^/]+)/usr/bin/", words))):
        complete = cache_dir() / "tools" / name / "complete"
        if not complete.exists():
            raise LabError(f"{complete.parent} is gone: remove {k.root}, too")
        hold(complete)
    hold(k.root / "complete")


def _from(headers: Path, path: Path) -> str:
    """A path relative to the headers, in make's syntax, so that the cache may be moved."""
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
    folder = path.parent.resolve() / path.name
    return here + os.path.relpath(folder, headers.resolve())


def fetch(suite: str, *packages: str, arch: str = "amd64") -> Path:
    """Unpack packages and all their dependencies, the C library included, into one root."""
    name = [release_of(suite), packages[0], *([] if arch == "amd64" else [arch])]
    root = cache_dir() / "tools" / "-".join(name)
    if (root / "complete").exists():
        return root
    print(f"fetching {', '.join(packages)} ({suite})", file=sys.stderr, flush=True)
    shutil.rmtree(root, ignore_errors=True)
    options = apt.updated_apt(suite, arch)
    words = ["-y", "--no-install-recommends", "--download-only", "install", *packages]
    # No lock on the machine's package database: the one used here is private and empty.
    call(["apt-get", *options, "-q", "-o", "Debug::NoLocking=1", *words], f"fetching {packages[0]}")
    archives = apt.folder(suite, arch) / "cache" / "archives"
    for folder in ("lib", "lib64"):
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    debs = sorted(archives.glob("*.deb"))
    for deb in debs:
        apt.unpack(deb, root)
    _launch_all(root, root)
    # The compiler looks for its own assembler here; the machine's may be older.
    for own in (root / "usr" / "bin").glob(f"{TRIPLETS['amd64']}-as"):
        here = root / "usr" / TRIPLETS["amd64"] / "bin"
        here.mkdir(parents=True, exist_ok=True)
        (here / "as").symlink_to(f"../../bin/{own.name}")
    for deb in debs:
        deb.unlink()
    mark(root / "complete")
    return root


def _launch_all(folder: Path, tools: Path) -> None:
    """Replace each program below a folder by a launch script, unless that was done before."""
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
    """Whether a file is a dynamically linked executable of this machine."""
    if path.suffix == ".elf" or ".so" in path.name or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as handle:
        head = handle.read(4096)
    return head.startswith(b"\x7fELF") and b"/lib64/ld-linux-x86-64.so.2\0" in head
