# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels, fetched and unpacked once and kept in the cache."""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import subprocess
import sys
from functools import lru_cache

from ..base import LabError, cache_dir, call, find_program, locked
from . import apt
from .apt import depends, download, headers_packages, newest, unpack, updated_apt
from .kernel import (
    DEFAULT_KERNEL,
    SUITES,
    Kernel,
    cached,
    mark_complete,
    suite_of,
    unknown,
)
from .toolchain import equip, hold_equipped, relocate


def kernels() -> list[str]:
    """Names that select a kernel: suites, and releases that are in the cache."""
    return [*SUITES, *sorted(k.release for k in cached("kernels", "amd64"))]


def _find(name: str) -> Kernel | None:
    """The newest kernel in the cache with this suite or release."""
    found = cached("kernels", "amd64")
    return next((k for k in found if name in (k.release, suite_of(k))), None)


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> Kernel:
    """The kernel of this name (a suite, or a release in the cache).

    A suite's kernel is fetched if the cache has none of that suite.
    """
    found = _find(name)
    if not found:
        if name not in SUITES:
            raise unknown(name, kernels())
        with locked("kernels", apt.WAITING):
            found = _find(name) or _fetch(name)
    hold_equipped(found)
    return found


def _fetch(suite: str) -> Kernel:
    """Download and unpack image, headers and build tools; extract the kernel from its bzImage."""
    print(f"fetching the kernel of {suite}", file=sys.stderr, flush=True)
    options = updated_apt(suite)
    image = newest(options, suite, "linux-image", "amd64").removesuffix("-unsigned")
    release = image.removeprefix("linux-image-")
    # Debian 13's backports are split.
    parts = [p for p in depends(options, image) if re.match(r"linux-(binary|modules)-", p)]
    debs = cache_dir() / "apt" / suite / "debs" / release
    download(options, [image, *parts, *headers_packages(options, release)], debs)
    target = cache_dir() / "kernels" / release
    shutil.rmtree(target, ignore_errors=True)
    for deb in sorted(debs.glob("*.deb")):
        unpack(deb, target / "root")
    k = Kernel(release, target)
    _prepare_kernel(k, suite)
    shutil.rmtree(debs)
    return k


def _prepare_kernel(k: Kernel, suite: str) -> None:
    """Make vmlinux, module dependencies and a header tree that modules can be built against."""
    top = k.root / "root"
    image = top / "boot" / f"vmlinuz-{k.release}"
    if not image.exists():
        image = k.modules / "vmlinuz"
    k.vmlinux.write_bytes(extract_vmlinux(image.read_bytes()))
    image.unlink()
    for extra in ("lib/linux-kbuild", "usr/share"):
        shutil.rmtree(top / extra, ignore_errors=True)
    relocate(k.headers)
    equip(k.headers, suite, "amd64")
    base = k.modules.parent.parent.parent
    call([find_program("depmod", "kmod"), "-b", base, k.release], "depmod")
    mark_complete(k, suite)


def extract_vmlinux(image: bytes) -> bytes:
    """The ELF kernel inside a bzImage: the payload that its header points to, decompressed."""
    setup = (image[0x1F1] or 4) + 1
    offset = setup * 512 + int.from_bytes(image[0x248:0x24C], "little")
    length = int.from_bytes(image[0x24C:0x250], "little")
    payload = image[offset : offset + length]
    if payload.startswith(b"\xfd7zXZ"):
        elf = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x1f\x8b"):
        elf = gzip.decompress(payload[:-4])
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        zstd = find_program("zstd", "zstd")
        elf = subprocess.run(
            [str(zstd), "-dcq"], input=payload, capture_output=True, check=False
        ).stdout
    else:
        raise LabError("the kernel image is compressed in an unknown way")
    if not elf.startswith(b"\x7fELF"):
        raise LabError("the kernel image holds no ELF file")
    return elf
