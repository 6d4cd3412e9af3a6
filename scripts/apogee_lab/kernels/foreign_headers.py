# SPDX-License-Identifier: GPL-2.0
"""Headers of Debian's kernels for other architectures, to compile modules against.

They are kept below ``build/cache/headers`` beside this machine's build tools of the same kernel.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ..base import LabError, cache_dir, locked
from . import apt, toolchain
from .kernel import SERIES, Kernel

#: Debian's architecture -> flavour of the kernel whose headers are taken.
FLAVOURS = {"arm64": "arm64", "armhf": "armmp", "i386": "686-pae"}


def architectures(series: str) -> list[str]:
    """Those Debian has a kernel for; Debian 12's own is the last for i386."""
    last = SERIES[series] == "bookworm"
    return [arch for arch in FLAVOURS if arch != "i386" or last]


def kernel(series: str, arch: str) -> Kernel:
    """The newest kernel of a series for this architecture, of which only the headers are there."""
    with locked("kernels"):
        for done in (cache_dir() / "headers").glob(f"*-{FLAVOURS[arch]}/complete"):
            if done.parent.name.startswith(f"{series}."):
                return Kernel(done.parent.name, done.parent)
        return _fetch(series, arch)


def _fetch(series: str, arch: str) -> Kernel:
    suite = SERIES[series]
    print(f"fetching headers of kernel {series} for {arch} ({suite})", file=sys.stderr, flush=True)
    meta = f"linux-headers-{FLAVOURS[arch]}"
    options = apt.updated_apt(suite, arch)
    found = [p for p in apt.depends(options, meta) if p.startswith(f"linux-headers-{series}.")]
    if not found:
        raise LabError(f"{suite} has no {meta} of {series} for {arch}")
    k = Kernel(found[0].removeprefix("linux-headers-"), _folder(found[0]))
    needed = apt.headers_packages(options, k.release)
    tools = [p for p in needed if p.startswith("linux-kbuild-")]
    shutil.rmtree(k.root, ignore_errors=True)
    debs = k.root / "debs"
    apt.download(options, [p for p in needed if p not in tools], debs)
    apt.download(apt.updated_apt(suite), tools, debs)
    for deb in sorted(debs.glob("*.deb")):
        apt.unpack(deb, k.root / "root")
    shutil.rmtree(debs)
    toolchain.relocate(k.headers)
    toolchain.equip(k.headers, series, arch)
    (k.root / "complete").touch()
    return k


def _folder(package: str) -> Path:
    return cache_dir() / "headers" / package.removeprefix("linux-headers-")
