# SPDX-License-Identifier: GPL-2.0
"""The machine's ip with the project's plug-ins: what it asks for, refuses and prints.

Its requests do not reach a kernel: kernel_answers.c is preloaded and stands for it.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from apogee_lab.base import compiled
from apogee_lab.guest import plugins

IFLA_IFNAME, IFLA_TXQLEN, IFLA_LINKINFO = 3, 13, 18
IFLA_INFO_KIND, IFLA_INFO_DATA, IFLA_INFO_XSTATS = 1, 2, 3
HEADER = struct.Struct("IHHII")  # struct nlmsghdr
LINK = struct.Struct("BBHiII")  # struct ifinfomsg


def u8(number: int) -> bytes:
    return struct.pack("B", number)


def u16(number: int) -> bytes:
    return struct.pack("H", number)


def u32(number: int) -> bytes:
    return struct.pack("I", number)


def u64(number: int) -> bytes:
    return struct.pack("Q", number)


def enumeration(header: Path, prefix: str) -> dict[str, int]:
    """Numbers by the rest of their names, of the first enum whose names begin so."""
    for body in re.findall(r"enum \{(.*?)\}", header.read_text(), re.S):
        names = re.findall(r"^\s*(\w+)(?: = (\d+))?,", body, re.M)
        if names and names[0][0] == f"{prefix}UNSPEC":
            found, number = {}, -1
            for name, given in names:
                number = int(given) if given else number + 1
                found[name.removeprefix(prefix)] = number
            return found
    raise AssertionError(f"{header} has no enum of {prefix}")


def packed(number: int, data: bytes) -> bytes:
    """One attribute, padded."""
    return struct.pack("HH", 4 + len(data), number) + data + b"\0" * (-len(data) % 4)


def whole(data: dict[str, bytes], names: dict[str, int]) -> bytes:
    """Attributes by their names."""
    return b"".join(packed(names[name], value) for name, value in data.items())


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, number = struct.unpack_from("HH", data)
        yield number & 0x3FFF, data[4:length]
        data = data[length + 3 & ~3 :]


def attribute(data: bytes, number: int) -> bytes:
    return dict(attributes(data))[number]


class Ip:
    """The machine's ip with the plug-in."""

    def __init__(self, root: Path, folder: Path, kind: str) -> None:
        self.kind = kind
        source = root / "tests" / "unit" / "packaging" / "kernel_answers.c"
        flags = ["-shared", "-fPIC", "-Wextra"]
        self.preload = compiled("kernel-answers", [source], ".so", flags)
        self.sent, self.answer = folder / "sent", folder / "answer"

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        whole = os.environ | {"IP_LIB_DIR": str(plugins.folder()), "LC_ALL": "C"} | env
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        return subprocess.run(
            ["ip", *words],
            env=whole | {"PATH": path}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def asks_for(self, *words: str, verb: str = "add") -> dict[int, bytes]:
        """IFLA_INFO_DATA of the request for a link with these words."""
        link = ["link", "lo", "name", "s0"] if verb == "add" else ["dev", "lo"]
        command = ["link", verb, *link, "type", self.kind, *words]
        done = self.run(*command, LD_PRELOAD=str(self.preload), SENT=str(self.sent))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        message = self.sent.read_bytes()[HEADER.size + LINK.size :]
        info = attribute(message, IFLA_LINKINFO)
        assert attribute(info, IFLA_INFO_KIND).rstrip(b"\0") == self.kind.encode()
        return dict(attributes(dict(attributes(info)).get(IFLA_INFO_DATA, b"")))

    def refuses(self, *words: str) -> str:
        """The one line that is said about these words."""
        self.sent.unlink(missing_ok=True)
        command = ["link", "add", "link", "lo", "name", "s0", "type", self.kind, *words]
        done = self.run(*command, LD_PRELOAD=str(self.preload), SENT=str(self.sent))
        assert done.returncode not in (0, 2) and not self.sent.exists()
        assert done.stdout == "" and done.stderr.count("\n") == 1
        return done.stderr.strip()

    def shows(self, data: bytes, *options: str, stats: bytes = b"") -> str:
        """What `ip link show` prints of a link with this IFLA_INFO_DATA and IFLA_INFO_XSTATS."""
        info = packed(IFLA_INFO_KIND, self.kind.encode() + b"\0")
        info += packed(IFLA_INFO_XSTATS, stats) if stats else b""
        info += packed(IFLA_INFO_DATA, data)
        body = LINK.pack(0, 0, 65534, 7, 0, 0)
        body += packed(IFLA_IFNAME, b"link0\0") + packed(IFLA_TXQLEN, u32(100))
        body += packed(IFLA_LINKINFO, info)
        self.answer.write_bytes(HEADER.pack(HEADER.size + len(body), 16, 0, 0, 0) + body)
        done = self.run(
            *options, "link", "show", "dev", "link0",
            LD_PRELOAD=str(self.preload), ANSWER=str(self.answer),
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout
