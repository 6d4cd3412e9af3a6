# SPDX-License-Identifier: GPL-2.0
"""shake/segment.c and shake/flows.c as Python objects, and the packets to give them."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import struct
from ctypes import POINTER, byref, c_bool, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests import BUILD
from tests.fuzz import INCLUDE, SHAKE_FLOWS
from tests.unit.headers.cheaders import SANITIZERS, WARNINGS, Headers, gcc

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
PASS, DROP, RETRANSMIT, UNSACKED = range(4)
PASS_ALL, DROP_ALL, TDAR, AUTO = range(4)
VARIANT = os.environ.get("APOGEE_UNIT", "plain")


class Tuple(ctypes.Structure):
    """struct shake_tuple"""

    _fields_ = [
        ("source", c_uint8 * 16),
        ("destination", c_uint8 * 16),
        ("source_port", c_uint8 * 2),
        ("destination_port", c_uint8 * 2),
        ("version", c_uint8),
        ("zero", c_uint8 * 3),
    ]


class Segment(ctypes.Structure):
    """struct shake_segment"""

    _fields_ = [
        ("tuple", Tuple),
        ("seq", c_uint32),
        ("end", c_uint32),
        ("ack", c_uint32),
        ("window", c_uint16),
        ("at", c_uint16),
        ("options", c_uint16),
        ("sack_at", c_uint16),
        ("flags", c_uint16),
        ("syn", c_bool),
        ("fin", c_bool),
        ("rst", c_bool),
        ("has_ack", c_bool),
        ("pure_ack", c_bool),
        ("has_sack", c_bool),
        ("has_dsack", c_bool),
        ("has_timestamps", c_bool),
        ("fixed", c_bool),
    ]


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
def library() -> ctypes.CDLL:
    """Compiled: with sanitizers if tests/unit/headers/test_build.py starts the run."""
    target = BUILD / "unit" / VARIANT / "shake_flows.so"
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = [*WARNINGS, *(SANITIZERS if VARIANT == "sanitized" else [])]
    gcc(*flags, "-shared", "-fPIC", *INCLUDE, *SHAKE_FLOWS, "-o", target)
    dll = ctypes.CDLL(str(target))
    segment = POINTER(Segment)
    for name, result, arguments in (
        ("shake_segment_read", c_bool, [ctypes.c_char_p, c_uint32, c_uint32, segment]),
        ("shake_segment_unsack", None, [ctypes.c_char_p, segment, c_bool]),
        ("shake_tuple_reverse", None, [POINTER(Tuple), POINTER(Tuple)]),
        ("flows_new", c_void_p, []),
        ("flows_delete", None, [c_void_p]),
        ("flows_count", c_uint32, [c_void_p]),
        ("flows_holes", c_uint32, [c_void_p]),
        ("flows_refuse_memory", None, [c_bool]),
        ("shake_flows_read", None, [c_void_p, c_void_p]),
        ("shake_flows_path_alive", None, [c_void_p, c_uint8]),
        ("shake_flows_path_lost", None, [c_void_p, c_uint8]),
        (
            "shake_flows_sending",
            c_bool,
            [c_void_p, segment, c_uint8, POINTER(c_uint32), c_uint64],
        ),
        (
            "shake_flows_arrived",
            None,
            [c_void_p, segment, c_uint8, c_bool, c_uint32, c_bool, c_uint64],
        ),
        ("shake_flows_ack", c_uint32, [c_void_p, segment, c_uint32, c_uint32, c_uint64]),
    ):
        function = getattr(dll, name)
        function.restype, function.argtypes = result, arguments
    return dll


def read(octets: bytes, *, linear: int | None = None, length: int | None = None) -> Segment | None:
    """What shake_segment_read() makes of a packet; None if it refuses it.

    The octets are put at the end of their memory, so that a sanitizer sees what is read beyond.
    """
    segment = Segment()
    linear = len(octets) if linear is None else linear
    length = len(octets) if length is None else length
    room = (ctypes.c_char * max(linear, 1)).from_buffer_copy(octets[:linear] or b"\0")
    given = ctypes.cast(room, ctypes.c_char_p)
    ok = library().shake_segment_read(given, linear, length, byref(segment))
    return segment if ok else None


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
    room = (ctypes.c_char * len(octets)).from_buffer_copy(octets)
    given = ctypes.cast(room, ctypes.c_char_p)
    library().shake_segment_unsack(given, byref(found), summed)
    return bytes(room)


class Flows:
    """A table."""

    def __init__(self, headers: Headers) -> None:
        self.library = library()
        self.table = self.library.flows_new()
        self.headers = headers
        self.now = 0

    def __enter__(self) -> Flows:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.flows_refuse_memory(False)
        self.library.flows_delete(self.table)

    def sending(self, packet: Packet, path: int) -> int | None:
        m_al = c_uint32(0)
        has = self.library.shake_flows_sending(
            self.table, byref(segment(packet)), path, byref(m_al), self.now
        )
        return m_al.value if has else None

    def arrived(
        self, packet: Packet, path: int, m_al: int | None = None, *, kept: bool = False
    ) -> None:
        self.library.shake_flows_arrived(
            self.table, byref(segment(packet)), path, m_al is not None, m_al or 0, kept, self.now
        )

    def ack(self, packet: Packet, mode: int = DROP_ALL, threshold: int = 5) -> int:
        return int(
            self.library.shake_flows_ack(
                self.table, byref(segment(packet)), mode, threshold, self.now
            )
        )

    @property
    def count(self) -> int:
        return int(self.library.flows_count(self.table))

    @property
    def holes(self) -> int:
        return int(self.library.flows_holes(self.table))

    @property
    def counts(self) -> Any:
        counts = self.headers.structs["shake_flow_counts"]()
        self.library.shake_flows_read(self.table, byref(counts))
        return counts
