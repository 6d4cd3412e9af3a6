# SPDX-License-Identifier: GPL-2.0
"""Whether the modules of two kernels are made of the same octets."""

from __future__ import annotations

import re

from apogee_lab.base import key_of
from apogee_lab.kernels import listed
from apogee_lab.kernels.kernel import Kernel, numbers

#: Dates, and headers of machines that no listed kernel is for.
_LEFT_OUT = re.compile(r"/generated/(package|utsversion)\.h$|/arch/(?!(x86|arm64)/)")
_VERSION = re.compile(rb"(SUBLEVEL[ =]+|VERSION_CODE )\d+")


def headers(k: Kernel) -> str:
    """A hash of the headers and tools that modules are built with, but for the kernel's own name,
    version and date."""
    name = k.release.removesuffix(f"-{listed.flavour(k.release)}")
    version = ".".join(map(str, numbers(name)[:3]))

    def nameless(text: bytes) -> bytes:
        return text.replace(name.encode(), b"").replace(version.encode(), b"")

    parts: list[bytes] = []
    for path in sorted((k.root / "root/usr").rglob("*")):
        place = str(path.relative_to(k.root))
        if path.is_symlink() or not path.is_file() or _LEFT_OUT.search(place):
            continue
        data = path.read_bytes()
        if path.name in ("Makefile", "version.h"):
            data = _VERSION.sub(rb"\1", data)
        parts += map(nameless, (place.encode(), data))
    return key_of(*parts)
