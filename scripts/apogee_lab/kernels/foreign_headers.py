# SPDX-License-Identifier: GPL-2.0
"""Headers of Debian's kernels for other architectures, to compile modules against; two to boot.

They are kept below ``headers`` of the cache, beside this machine's build tools of the same kernel.
"""

from __future__ import annotations

import shutil
import sys

from ..base import cache_dir, call, find_program, locked, mark
from . import apt, toolchain
from .kernel import Kernel, cached, mark_complete, suite_of

#: Debian's architecture -> flavour of the kernel whose headers are taken.
FLAVOURS = {"arm64": "arm64", "armhf": "armmp", "i386": "686-pae"}


def kernel(suite: str, arch: str) -> Kernel:
    """A suite's kernel for this architecture, headers only.

    It comes from the cache, else from the suite as it is today, which may have another release for
    other architectures. NotCarried if the suite has none.
    """
    k = _find(suite, arch)
    if not k:
        with locked("kernels", apt.WAITING):
            k = _find(suite, arch) or _fetch(suite, arch)
    toolchain.hold_equipped(k)
    return k


def bootable(suite: str, arch: str) -> Kernel:
    """The same kernel with its image and modules."""
    k = kernel(suite, arch)
    if not (k.root / "image").exists():
        with locked("kernels", apt.WAITING):
            options = apt.updated_apt(suite, arch)
            debs = k.root / "debs"
            apt.download(options, [f"linux-image-{k.release}"], debs)
            for deb in debs.glob("*.deb"):
                apt.unpack(deb, k.root / "root")
            shutil.rmtree(debs)
            base = k.modules.parent.parent.parent
            call([find_program("depmod", "kmod"), "-b", base, k.release], "depmod")
            mark(k.root / "image")
    return k


def _find(suite: str, arch: str) -> Kernel | None:
    """The newest in the cache."""
    found = cached("headers", FLAVOURS[arch])
    return next((k for k in found if suite_of(k) == suite), None)


def _fetch(suite: str, arch: str) -> Kernel:
    """The newest that the suite has."""
    print(f"fetching kernel headers of {suite} for {arch}", file=sys.stderr, flush=True)
    options = apt.updated_apt(suite, arch)
    package = apt.newest(options, suite, "linux-headers", FLAVOURS[arch])
    release = package.removeprefix("linux-headers-")
    k = Kernel(release, cache_dir() / "headers" / release)
    unpack(k, suite, arch, options, apt.updated_apt(suite))
    return k


def unpack(k: Kernel, suite: str, arch: str, options: list[str], native: list[str]) -> None:
    """Download a kernel's headers by ``options``, by ``native`` the build tools that run on this
    machine."""
    needed = apt.headers_packages(options, k.release)
    tools = [p for p in needed if p.startswith("linux-kbuild-")]
    for tool in tools:
        if not apt.offered(native, tool):
            raise apt.NotCarried(f"{suite} has no {tool} for amd64 to build for {k.release} with")
    shutil.rmtree(k.root, ignore_errors=True)
    debs = k.root / "debs"
    apt.download(options, [p for p in needed if p not in tools], debs)
    apt.download(native, tools, debs)
    for deb in sorted(debs.glob("*.deb")):
        apt.unpack(deb, k.root / "root")
    shutil.rmtree(debs)
    toolchain.relocate(k.headers)
    toolchain.equip(k.headers, suite, arch)
    mark_complete(k, suite)
