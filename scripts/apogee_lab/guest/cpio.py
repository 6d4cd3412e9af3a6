# SPDX-License-Identifier: GPL-2.0
"""cpio archives of a root file system, and the shared libraries of programs in them."""

from __future__ import annotations

import re
import stat
from functools import lru_cache
from pathlib import Path

from ..base import LabError, call


class Cpio:
    """A newc archive built in memory; equal contents give equal bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names: set[str] = set()
        self._inode = 0

    def _entry(
        self, name: str, mode: int, data: bytes = b"", rdev: tuple[int, int] = (0, 0)
    ) -> None:
        self._inode += 1
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        self._parts.append(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def folder(self, name: str) -> None:
        """Add a folder and its parents."""
        name = name.strip("/")
        if not name or name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """Add a regular file."""
        name = name.strip("/")
        if name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        name = name.strip("/")
        if name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """Add a character device."""
        self.folder(str(Path(name.strip("/")).parent))
        self._entry(name.strip("/"), stat.S_IFCHR | 0o600, rdev=(major, minor))

    def bytes(self) -> bytes:
        """The finished archive; an initrd may consist of several."""
        self._entry("TRAILER!!!", 0)
        data = b"".join(self._parts)
        self._parts.pop()
        return data + b"\0" * (-len(data) % 512)


@lru_cache
def libraries(program: Path) -> list[Path]:
    """Shared libraries and loader of a program, from ldd."""
    text = call(["ldd", program], f"libraries of {program.name}")
    return [Path(p) for p in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.M)]


def unwinder(program: Path) -> list[Path]:
    """The library that libc loads at run time to cancel threads, as iperf3 does since 3.16.

    It is in libc's folder, as libc's package depends on its package; ldd does not list it.
    """
    beside = [p.with_name("libgcc_s.so.1") for p in libraries(program) if p.name == "libc.so.6"]
    return [path for path in beside if path.exists()]


def add_program(cpio: Cpio, program: Path) -> None:
    cpio.file(f"bin/{program.name}", program.resolve().read_bytes(), 0o755)
    for library in libraries(program):
        folder = "lib64" if library.name.startswith("ld-") else "lib"
        cpio.file(f"{folder}/{library.name}", library.resolve().read_bytes(), 0o755)


def libraries_or_none(program: Path) -> list[Path]:
    try:
        return libraries(program)
    except LabError:
        return []
