# SPDX-License-Identifier: GPL-2.0
"""The machines of sscop/ and the world of tests/fuzz as Python objects."""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, c_bool, c_char_p, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

BGN, BGAK, END, ENDAK, RS, RSAK, BGREJ, SD, ER, POLL, STAT, USTAT = range(1, 13)
ERAK = 15
(
    TAKEN,
    TRUNCATED,
    BAD_LENGTH,
    BAD_TYPE,
    BAD_CRC,
    BAD_LIST,
    BAD_STATE,
    STRANGER,
    FLOOD,
    OUTSIDE,
    DUPLICATE,
    STALE,
    UNASKED,
) = range(13)
IDLE, BEGINNING, CONFIRMING, READY, RESYNCING = range(5)
UP, DOWN, RESET, REJECTED = 1, 2, 4, 8
LIST_MAX = 30


class Pdu(ctypes.Structure):
    """struct sscop_pdu"""

    _fields_ = [
        ("type", c_uint8),
        ("first", c_bool),
        ("last", c_bool),
        ("version", c_uint8),
        ("sq", c_uint8),
        ("elements", c_uint8),
        ("header", c_uint16),
        ("length", c_uint32),
        ("seq", c_uint32),
        ("mr", c_uint32),
        ("ps", c_uint32),
        ("from_", c_uint32),
        ("to", c_uint32),
        ("list", c_uint32 * LIST_MAX),
    ]

    @property
    def runs(self) -> list[int]:
        return list(self.list[: self.elements])


class Config(ctypes.Structure):
    """struct sscop_config"""

    _fields_ = [
        ("window", c_uint32),
        ("poll_bytes", c_uint32),
        ("poll_sds", c_uint32),
        ("poll_time", c_uint32),
        ("poll_idle", c_uint32),
        ("ustat", c_bool),
    ]


def config(window: int = 8, **others: Any) -> Config:
    """The defaults, but for the window."""
    values = {"poll_bytes": 3000, "poll_time": 100_000, "poll_idle": 10_000, "ustat": True}
    return Config(window=window, **(values | others))


def pdu(kind: int, runs: list[int] | None = None, **fields: Any) -> Pdu:
    runs = runs or []
    made = Pdu(type=kind, elements=len(runs), **fields)
    made.list[: len(runs)] = runs
    return made


class Frame(ctypes.Structure):
    """struct frame, without its octets"""

    _fields_ = [("at", c_uint64), ("length", c_uint32)]


class Core:
    """The shared object that tests.fuzz builds."""

    def __init__(self, library: Path, header: Path) -> None:
        self.dll = ctypes.CDLL(str(library))
        counts = re.search(
            r"struct sscop_counts \{(.*?)\n\};", header.read_text(encoding="utf-8"), re.S
        )
        assert counts
        self.names = re.findall(r"u64 (\w+);", counts[1])
        for name, result, arguments in (
            ("world_new", c_void_p, [POINTER(Config), POINTER(Config), c_uint32, c_uint64]),
            ("bridge_get", c_uint64, [c_void_p, c_uint32, c_char_p]),
            ("bridge_set", None, [c_void_p, c_uint32, c_char_p, c_uint64]),
            ("bridge_counts", POINTER(c_uint64), [c_void_p, c_uint32]),
            ("bridge_frame", c_void_p, [c_void_p, c_uint32, c_uint32]),
            ("bridge_failure", c_char_p, [c_void_p]),
            ("bridge_now", c_uint64, [c_void_p]),
            ("world_shift", c_bool, [c_void_p, c_uint32, c_uint32]),
            ("world_connected", c_bool, [c_void_p]),
        ):
            function = getattr(self.dll, name)
            function.restype, function.argtypes = result, arguments

    def decode(self, octets: bytes, seal: int) -> tuple[int, Pdu]:
        read = Pdu()
        copy = (c_uint8 * max(1, len(octets))).from_buffer_copy(octets or b"\0")
        verdict = self.dll.sscop_decode(ctypes.byref(read), copy, len(octets), c_uint32(seal))
        return verdict, read

    def encode(self, what: Pdu, seal: int) -> bytes:
        room = (c_uint8 * 105)()
        length = self.dll.sscop_encode(room, ctypes.byref(what), c_uint32(seal))
        return bytes(room[:length])

    def encode_sd(self, payload: bytes, seq: int, first: bool, last: bool, seal: int) -> bytes:
        header = self.dll.sscop_sd_header(len(payload))
        room = (c_uint8 * (header + len(payload)))()
        room[header:] = payload
        self.dll.sscop_encode_sd(
            room, len(payload), seq, c_bool(first), c_bool(last), c_uint32(seal)
        )
        return bytes(room)

    def crc32c(self, octets: bytes, start: int = 0xFFFFFFFF) -> int:
        return self.dll.crc32c(c_uint32(start), octets, len(octets)) & 0xFFFFFFFF


class World:
    """Two peers, 0 and 1; every call checks what the world found."""

    def __init__(
        self, core: Core, a: Config, b: Config | None = None, segment: int = 100, seed: int = 1
    ) -> None:
        self.core = core
        self.world = core.dll.world_new(
            ctypes.byref(a), ctypes.byref(b or a), segment, c_uint64(seed)
        )

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.core.dll.world_free(c_void_p(self.world))

    def call(self, name: str, *arguments: int) -> None:
        """world_NAME()"""
        getattr(self.core.dll, f"world_{name}")(c_void_p(self.world), *map(c_uint32, arguments))
        self.check()

    def check(self) -> None:
        failure = self.core.dll.bridge_failure(self.world).decode()
        assert not failure, failure

    def run(self, us: int) -> None:
        self.core.dll.world_run(c_void_p(self.world), c_uint64(us))
        self.check()

    def get(self, side: int, field: str) -> int:
        value = self.core.dll.bridge_get(self.world, side, field.encode())
        self.check()
        return value

    def set(self, field: str, value: int, side: int | None = None) -> None:
        for one in (0, 1) if side is None else (side,):
            self.core.dll.bridge_set(self.world, one, field.encode(), value)
        self.check()

    def counts(self, side: int) -> dict[str, int]:
        read = self.core.dll.bridge_counts(self.world, side)
        return {name: read[i] for i, name in enumerate(self.core.names)}

    def dropped(self, side: int) -> dict[int, int]:
        """PDUs dropped, by verdict; those that are 0 are left out."""
        read = self.core.dll.bridge_counts(self.world, side)
        at = len(self.core.names)
        return {i: read[at + i] for i in range(13) if read[at + i]}

    def wire(self, side: int) -> list[Pdu]:
        """What is under way from ``side``, as the other end will read it."""
        seal = self.get(1 - side, "s.seal_in")
        return [self.core.decode(octets, seal)[1] for octets in self.frames(side)]

    def frames(self, side: int) -> list[bytes]:
        found = []
        for index in range(self.get(side, "out.count")):
            address = self.core.dll.bridge_frame(self.world, side, index)
            frame = Frame.from_address(address)
            found.append(ctypes.string_at(address + 12, frame.length))
        return found

    def inject(self, side: int, what: Pdu, *, sealed: bool = True, payload: bytes = b"x") -> None:
        """``side`` gets a forged PDU, under its connection's seal or not."""
        what.length = len(payload)
        seal = self.get(side, "s.seal_in")
        self.core.dll.world_inject(
            c_void_p(self.world),
            side,
            ctypes.byref(what),
            payload,
            c_uint32(seal if sealed else ~seal),
        )
        self.check()

    def lie(self) -> None:
        self.core.dll.bridge_lie(c_void_p(self.world))

    def connect(self) -> None:
        for side in (0, 1):
            self.call("start", side)
        self.call("settle")
        self.run(300_000)

    @property
    def connected(self) -> bool:
        return self.core.dll.world_connected(self.world)

    def shift(self, seq: int, poll: int) -> bool:
        return self.core.dll.world_shift(self.world, seq & 0xFFFFFF, poll & 0xFFFFFF)
