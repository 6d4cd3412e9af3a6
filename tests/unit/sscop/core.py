# SPDX-License-Identifier: GPL-2.0
"""The machines of sscop/ and the world of tests/fuzz as Python objects."""

from __future__ import annotations

import ctypes
from ctypes import c_uint8
from functools import cache
from operator import attrgetter
from typing import Any

from tests import fuzz, kernel
from tests.unit.devices import DeviceHeaders, build
from tests.unit.headers.cheaders import Library

BGN, BGAK, END, ENDAK, RS, RSAK, BGREJ, SD, ER, POLL, STAT, USTAT, UD, UDSTAT = range(1, 15)
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

HEADERS = DeviceHeaders([fuzz.FOLDER / "world.h", kernel.FOLDER / "linux/crc32c.h"])
Pdu = HEADERS.structs["sscop_pdu"]
Config = HEADERS.structs["sscop_config"]


@cache
def library() -> Library:
    return build("sscop", HEADERS, [*fuzz.CORE, *fuzz.WORLD])


def config(window: int = 8, **others: Any) -> Config:
    """The defaults, but for the window."""
    values = {"poll_bytes": 3000, "poll_time": 100_000, "poll_idle": 10_000, "ustat": True}
    return Config(window=window, **(values | others))


def pdu(kind: int, runs: list[int] | None = None, **fields: Any) -> Pdu:
    runs = runs or []
    fields = {name.rstrip("_"): value for name, value in fields.items()}  # "from" is a keyword
    made = Pdu(type=kind, elements=len(runs), **fields)
    made.list[: len(runs)] = runs
    return made


def runs(read: Pdu) -> list[int]:
    """Of a STAT or USTAT."""
    return list(read.list[: read.elements])


def decode(octets: bytes, seal: int) -> tuple[int, Pdu]:
    read = Pdu()
    copy = (c_uint8 * max(1, len(octets))).from_buffer_copy(octets or b"\0")
    return library().sscop_decode(read, copy, len(octets), seal), read


def encode(what: Pdu, seal: int) -> bytes:
    room = (c_uint8 * 105)()
    return bytes(room[: library().sscop_encode(room, what, seal)])


def encode_sd(payload: bytes, seq: int, first: bool, last: bool, seal: int) -> bytes:
    header = library().sscop_sd_header(len(payload))
    room = (c_uint8 * (header + len(payload)))()
    room[header:] = payload
    library().sscop_encode_sd(room, len(payload), seq, first, last, seal)
    return bytes(room)


class World:
    """Two peers, 0 and 1; every call checks what the world found."""

    def __init__(
        self, a: Config, b: Config | None = None, segment: int = 100, seed: int = 1
    ) -> None:
        self.pointer = library().world_new(a, b or a, segment, seed)
        self.world = self.pointer.contents

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        library().world_free(self.pointer)

    def call(self, name: str, *arguments: int) -> None:
        """world_NAME()"""
        getattr(library(), f"world_{name}")(self.pointer, *arguments)
        assert not self.world.failure, self.world.failure.decode()

    def run(self, us: int) -> None:
        self.call("run", us)

    def get(self, side: int, field: str) -> int:
        return attrgetter(field)(self.world.peers[side])

    def set(self, field: str, value: int, side: int | None = None) -> None:
        holder, name = field.split(".")
        for one in (0, 1) if side is None else (side,):
            setattr(getattr(self.world.peers[one], holder), name, value)

    def counts(self, side: int) -> dict[str, int]:
        counts = self.world.peers[side].s.counts
        return {name: getattr(counts, name) for name, _ in counts._fields_ if name != "dropped"}

    def dropped(self, side: int) -> dict[int, int]:
        """PDUs dropped, by verdict; those that are 0 are left out."""
        dropped = self.world.peers[side].s.counts.dropped
        return {verdict: count for verdict, count in enumerate(dropped) if count}

    def wire(self, side: int) -> list[Pdu]:
        """What is under way from ``side``, as the other end will read it."""
        seal = self.get(1 - side, "s.seal_in")
        return [decode(octets, seal)[1] for octets in self.frames(side)]

    def frames(self, side: int) -> list[bytes]:
        wire = self.world.peers[side].out
        frames = [pointer.contents for pointer in wire.frames[: wire.count]]
        return [
            ctypes.string_at(ctypes.addressof(frame) + type(frame).octets.offset, frame.length)
            for frame in frames
        ]

    def inject(self, side: int, what: Pdu, *, sealed: bool = True) -> None:
        """``side`` gets a forged PDU, under its connection's seal or not."""
        what.length = 1
        seal = self.get(side, "s.seal_in")
        self.call("inject", side, what, (c_uint8 * 1)(120), seal if sealed else ~seal & 0xFFFFFFFF)

    def connect(self) -> None:
        for side in (0, 1):
            self.call("start", side)
        self.call("settle")
        self.run(300_000)

    @property
    def connected(self) -> bool:
        return library().world_connected(self.pointer)

    def shift(self, seq: int, poll: int) -> bool:
        return library().world_shift(self.pointer, seq & 0xFFFFFF, poll & 0xFFFFFF)
