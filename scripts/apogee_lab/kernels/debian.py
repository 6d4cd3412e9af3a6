# SPDX-License-Identifier: GPL-2.0
"""The distribution's kernels, fetched and unpacked once, kept below the cache."""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import subprocess
import sys
from functools import lru_cache

from ..base import LabError, cache_dir, call, find_program, locked
from .apt import depends, download, headers_packages, unpack, updated_apt
from .kernel import DEFAULT_KERNEL, NATIVE, SERIES, Kernel, release_of, series_of
from .toolchain import relocate


def _cached_kernels(name: str) -> list[Kernel]:
    """Complete kernels in the cache that answer to this name, the newest first."""

    def version(kernel: Kernel) -> list[int]:
        return [int(n) for n in re.findall(r"\d+", kernel.release)]

    found = []
    for done in (cache_dir() / "kernels").glob("*/complete"):
        release = done.parent.name
        if release == name or (name in SERIES and _series_or_none(release) == name):
            found.append(Kernel(release, done.parent))
    return sorted(found, key=version, reverse=True)


def _series_or_none(release: str) -> str | None:
    try:
        return series_of(release)
    except LabError:
        return None


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> Kernel:
    """The kernel of this name (a series or a full release), fetched if the cache has none."""
    series_of(name)
    found = _cached_kernels(name)
    if found:
        return found[0]
    with locked("kernels"):
        found = _cached_kernels(name)
        return found[0] if found else _fetch_kernel(name)


def _fetch_kernel(name: str) -> Kernel:
    """Download image, headers and build tools, unpack them, take the kernel out of its bzImage."""
    suite = SERIES[series_of(name)]
    print(f"fetching kernel {name} ({suite})", file=sys.stderr, flush=True)
    options = updated_apt(suite)
    release = name
    if name in SERIES:
        images = [p for p in depends(options, "linux-image-amd64") if p.startswith("linux-image-")]
        if not images:
            raise LabError(f"{suite} has no linux-image-amd64")
        release = images[0].removeprefix("linux-image-").removesuffix("-unsigned")
    image = f"linux-image-{release}"
    # Debian 13's backports are split.
    parts = [p for p in depends(options, image) if re.match(r"linux-(binary|modules)-", p)]
    debs = cache_dir() / "apt" / suite / "debs" / release
    download(options, [image, *parts, *headers_packages(options, release)], debs)
    target = cache_dir() / "kernels" / release
    shutil.rmtree(target, ignore_errors=True)
    for deb in sorted(debs.glob("*.deb")):
        unpack(deb, target / "root")
    _prepare_kernel(Kernel(release, target), series_of(name))
    shutil.rmtree(debs)
    return Kernel(release, target)


def _prepare_kernel(k: Kernel, series: str) -> None:
    """vmlinux, module dependencies and a header tree that can be built against."""
    from . import toolchain

    top = k.root / "root"
    image = top / "boot" / f"vmlinuz-{k.release}"
    if not image.exists():
        image = k.modules / "vmlinuz"
    k.vmlinux.write_bytes(extract_vmlinux(image.read_bytes()))
    image.unlink()
    for extra in ("lib/linux-kbuild", "usr/share"):
        shutil.rmtree(top / extra, ignore_errors=True)
    relocate(k.headers)
    if release_of(SERIES[series]) != NATIVE:
        toolchain.equip(k.headers, series, "amd64")
    base = k.modules.parent.parent.parent
    call([find_program("depmod", "kmod"), "-b", base, k.release], "depmod")
    (k.root / "complete").touch()


def extract_vmlinux(image: bytes) -> bytes:
    """The ELF kernel inside a bzImage: the payload that its header points at, decompressed."""
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
