# SPDX-License-Identifier: GPL-2.0
"""shake/core/segment.c and shake/flows.c as Python objects, and the packets to give them."""

from __future__ import annotations

import ctypes
import ipaddress
import mmap
import struct
from ctypes import byref, c_uint8, c_uint32, c_void_p
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests import ROOT, fuzz, kernel
from tests.unit.devices import DeviceHeaders, build
from tests.unit.headers.cheaders import Library

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
PASS, DROP, RETRANSMIT, UNSACKED = range(4)
PASS_ALL, DROP_ALL, TDAR, AUTO = range(4)
EARLY = ROOT / "tests/fuzz/early_packets.c"
HEADERS = DeviceHeaders(
    [
        kernel.FOLDER / "linux/atomic.h",
        kernel.FOLDER / "linux/slab.h",
        ROOT / "shake/flows.h",
        EARLY.with_suffix(".h"),
    ]
)
Tuple, Segment = HEADERS.structs["shake_tuple"], HEADERS.structs["shake_segment"]


@dataclass(frozen=True)
class Packet:
    """An IP packet with a TCP segment; as bytes with ``octets``."""

    source: str = "10.0.0.1"
    destination: str = "192.0.2.9"
    ports: tuple[int, int] = (40000, 80)
    seq: int = 1000
    ack: int = 5000
    flags: int = ACK
    window: int = 500
    options: bytes = b""
    data: bytes = b""
    extensions: tuple[tuple[int, bytes], ...] = ()

    @property
    def octets(self) -> bytes:
        padded = self.options + b"\0" * (-len(self.options) % 4)
        offset = (5 + len(padded) // 4) << 12 | self.flags
        tcp = struct.pack(">HHIIHHHH", *self.ports, self.seq, self.ack, offset, self.window, 0, 0)
        return self._ip(tcp + padded + self.data)

    def _ip(self, payload: bytes) -> bytes:
        source, destination = (
            ipaddress.ip_address(text).packed for text in (self.source, self.destination)
        )
        if len(source) == 4:
            length = 20 + len(payload)
            head = struct.pack(">BBHHHBBH", 0x45, 0, length, 7, 0x4000, 64, 6, 0)
            return head + source + destination + payload
        protocol = 6
        for kind, body in reversed(self.extensions):
            payload = bytes([protocol, len(body) // 8]) + body + payload
            protocol = kind
        head = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
        return head + source + destination + payload

    def back(self, **changed: Any) -> Packet:
        """From the correspondent, with the ends swapped."""
        swapped = replace(
            self, source=self.destination, destination=self.source, ports=self.ports[::-1], data=b""
        )
        return replace(swapped, **changed)


@cache
def library() -> Library:
    return build("shake_flows", HEADERS, [*fuzz.SHAKE_FLOWS, EARLY])


@cache
def _fence() -> int:
    """The address behind memory of a page, where nothing may be read or written."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    begin = libc.mmap(None, 2 * mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, private, -1, 0)
    end = int(begin) + mmap.PAGESIZE
    assert not libc.mprotect(ctypes.c_void_p(end), mmap.PAGESIZE, 0)
    return end


def buffer(octets: bytes) -> ctypes.Array[c_uint8]:
    """Octets, until the next ones are asked for; to read beyond their end ends the process."""
    array = (c_uint8 * len(octets)).from_address(_fence() - len(octets))
    ctypes.memmove(array, octets, len(octets))
    return array


def read(octets: bytes, *, linear: int | None = None, length: int | None = None) -> Segment | None:
    """What shake_segment_read() makes of a packet; None if it refuses it."""
    found = Segment()
    linear = len(octets) if linear is None else linear
    length = len(octets) if length is None else length
    ok = library().shake_segment_read(buffer(octets[:linear]), linear, length, found)
    return found if ok else None


def segment(packet: Packet) -> Segment:
    found = read(packet.octets)
    assert found is not None
    return found


def checksum(octets: bytes) -> int:
    """TCP's (RFC 9293, 3.1), of a packet without IP options; 0 if it is there and right."""
    version = octets[0] >> 4
    tcp = octets[20:] if version == 4 else octets[40:]
    addresses = octets[12:20] if version == 4 else octets[8:40]
    summed = addresses + struct.pack(">II", len(tcp), 6) + tcp + bytes(len(tcp) % 2)
    return -sum(struct.unpack(f">{len(summed) // 2}H", summed)) % 0xFFFF


def unsacked(octets: bytes, *, summed: bool) -> bytes:
    """A packet without its SACK blocks."""
    found = read(octets)
    assert found is not None
    room = buffer(octets)
    library().shake_segment_unsack(room, found, summed)
    return bytes(room)


class Flows:
    """A table."""

    def __init__(self) -> None:
        self.library = library()
        self.table = self.library.new("shake_flows")
        self.waiting = self.library.new("fuzz_atomic")  # in all tables of a device
        self.made = not self.library.shake_flows_init(self.table, self.waiting)
        self.now = 0
        self.due: int | None = None

    def __enter__(self) -> Flows:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.slab_refuse(False)
        self.library.shake_flows_free(self.table)
        assert (self.table.count, self.table.holes, self.waiting.value) == (0, 0, 0)
        assert self.table.timed == 0

    def sending(self, packet: Packet, path: int) -> int | None:
        m_al = c_uint32(0)
        has = self.library.shake_flows_sending(self.table, segment(packet), path, m_al, self.now)
        return m_al.value if has else None

    def arrived(
        self,
        packet: Packet,
        path: int,
        m_al: int | None = None,
        *,
        kept: bool = False,
        gap: bool = False,
    ) -> None:
        says = 0 if m_al is None else 2 if gap else 1
        self.library.shake_flows_arrived(
            self.table, segment(packet), path, says, m_al or 0, kept, self.now
        )

    def ack(self, packet: Packet, mode: int = DROP_ALL, threshold: int = 5) -> int:
        return self.library.shake_flows_ack(self.table, segment(packet), mode, threshold, self.now)

    def passes(self, packet: Packet, *, all_of_them: bool = False) -> bool:
        segments = self.table, segment(packet), all_of_them, self.now
        return bool(self.library.shake_flows_passes(*segments))

    def timed(self, packet: Packet) -> int:
        """An ACK comes; the time in which one has come as a rule."""
        self.library.shake_flows_timed(self.table, segment(packet), self.now)
        return int(self.table.longest)

    def rest(self, packet: Packet) -> int:
        """How long an ACK waits that comes now."""
        return int(self.library.shake_flows_rest(self.table, segment(packet), self.now))

    def opens(self, packet: Packet) -> bool:
        return bool(self.library.shake_flows_opens(self.table, segment(packet), self.now))

    def order(
        self, packet: Packet, number: int, room: int = 1000, behind: int | None = None
    ) -> list[int]:
        """A packet comes that has this number, behind its own by default; those that go on."""
        left, first = c_uint32(room), c_void_p(self.library.early_packet(number))
        behind = packet.seq if behind is None else behind
        due = self.library.shake_flows_order(
            self.table, segment(packet), behind, byref(first), byref(left), self.now
        )
        return self._taken(first, due)

    def looked_at(self, room: int = 1000) -> list[int]:
        """What has waited for long enough."""
        left, first = c_uint32(room), c_void_p()
        due = self.library.shake_flows_due(self.table, byref(first), byref(left), self.now)
        return self._taken(first, due)

    def _taken(self, first: c_void_p, due: int) -> list[int]:
        self.due = None if due == 2**64 - 1 else due
        found = []
        while first.value:
            found.append(self.library.early_number(first.value))
            first.value = self.library.early_rest(first.value)
        return found

    @property
    def count(self) -> int:
        return self.table.count

    @property
    def holes(self) -> int:
        return self.table.holes

    @property
    def counts(self) -> Any:
        counts = HEADERS.structs["shake_flow_counts"]()
        self.library.shake_flows_read(self.table, counts)
        return counts
