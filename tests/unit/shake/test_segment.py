# SPDX-License-Identifier: GPL-2.0
"""TCP segments read from IP packets, shake/core/segment.c: what is read, what is refused, and
nothing beyond what is there.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.shake.flows_core import (
    ACK,
    AE,
    CWR,
    ECE,
    FIN,
    PSH,
    RST,
    SYN,
    URG,
    Packet,
    Tuple,
    checksum,
    library,
    read,
    segment,
    unsacked,
)

V4 = Packet()
V6 = Packet(source="2001:db8::1", destination="2001:db8::9")
TIMESTAMPS = b"\1\1\x08\x0a" + bytes(8)


def sack(*blocks: tuple[int, int]) -> bytes:
    return struct.pack(f">BBBB{2 * len(blocks)}I", 1, 1, 5, 2 + 8 * len(blocks), *sum(blocks, ()))


@pytest.mark.parametrize("packet", [V4, V6], ids=["IPv4", "IPv6"])
def test_fields(packet: Packet) -> None:
    found = segment(replace(packet, data=b"x" * 100, flags=ACK | PSH))
    source = ipaddress.ip_address(packet.source).packed
    assert bytes(found.tuple.source) == source.ljust(16, b"\0")
    assert bytes(found.tuple.source_port) == b"\x9c\x40"
    assert bytes(found.tuple.destination_port) == b"\x00\x50"
    assert found.tuple.version == (4 if len(source) == 4 else 6)
    assert (found.seq, found.end, found.ack, found.window) == (1000, 1100, 5000, 500)
    assert (found.flags, found.has_ack, found.pure_ack) == (ACK | PSH, True, False)
    assert found.at == (20 if len(source) == 4 else 40)


def test_reverse() -> None:
    reverse = Tuple()
    library().shake_tuple_reverse(reverse, segment(V6).tuple)
    assert bytes(reverse) == bytes(segment(V6.back()).tuple)


@pytest.mark.parametrize(
    ("flags", "data", "octets", "pure"),
    [
        (ACK, b"", 0, True),
        (ACK | ECE, b"", 0, True),
        (ACK | CWR | AE, b"", 0, True),
        (ACK, b"x", 1, False),
        (ACK | SYN, b"", 1, False),
        (ACK | FIN, b"", 1, False),
        (ACK | FIN | SYN, b"xx", 4, False),
        (ACK | RST, b"", 0, False),
        (ACK | URG, b"", 0, False),
        (0, b"", 0, False),
    ],
)
def test_pure_acks(flags: int, data: bytes, octets: int, pure: bool) -> None:
    found = segment(replace(V4, flags=flags, data=data))
    assert (found.end - found.seq, found.pure_ack, found.flags) == (octets, pure, flags)
    assert (found.syn, found.fin) == (bool(flags & SYN), bool(flags & FIN))
    assert (found.rst, found.has_ack) == (bool(flags & RST), bool(flags & ACK))


def test_authenticated_options() -> None:
    """Of an ACK with TCP-AO, RFC 5925, nothing may be changed."""
    assert segment(replace(V4, options=b"\x1d\x10" + bytes(14) + sack((6000, 7000)))).fixed
    assert not segment(replace(V4, options=b"\x13\x12" + bytes(16))).fixed


def test_sack_twice() -> None:
    """Only a forger sends that; nothing is changed, and a D-SACK in either counts."""
    twice = sack((4000, 5000)) + sack((6000, 7000))
    found = segment(replace(V4, options=twice))
    assert (found.has_sack, found.has_dsack, found.fixed) == (True, True, True)
    assert not segment(replace(V4, options=sack((6000, 7000)))).fixed


@given(
    st.sampled_from([V4, V6]),
    st.sampled_from([b"", TIMESTAMPS, b"\1", b"\xfe\3\7"]),
    st.lists(
        st.tuples(st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1)), min_size=1, max_size=3
    ),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**16 - 1),
    st.booleans(),
)
def test_sack_blocks_are_taken_away(
    packet: Packet,
    front: bytes,
    blocks: list[tuple[int, int]],
    seq: int,
    window: int,
    summed: bool,
) -> None:
    """NOPs are in their place, and the checksum is right, if it was there."""
    option = sack(*blocks)[2:]
    given = replace(packet, seq=seq, window=window, options=front + option, data=b"xyz")
    octets = bytearray(given.octets)
    tcp = 20 if packet is V4 else 40
    octets[tcp + 16 : tcp + 18] = checksum(bytes(octets)).to_bytes(2, "big")
    after = unsacked(bytes(octets), summed=summed)
    if summed:
        assert checksum(after) == 0
    wanted = bytearray(octets)
    wanted[tcp + 16 : tcp + 18] = after[tcp + 16 : tcp + 18]
    at = tcp + 20 + len(front)
    wanted[at : at + len(option)] = b"\1" * len(option)
    assert after == bytes(wanted)
    assert summed or after[tcp + 16 : tcp + 18] == octets[tcp + 16 : tcp + 18]
    found = read(after)
    assert found is not None
    assert not found.has_sack


def test_the_end_wraps() -> None:
    assert segment(replace(V4, seq=2**32 - 1, data=b"xx")).end == 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (b"", (False, False, False)),
        (TIMESTAMPS, (False, False, True)),
        (sack((6000, 7000)), (True, False, False)),
        (TIMESTAMPS + sack((6000, 7000), (8000, 9000)), (True, False, True)),
        (sack((4000, 5000)), (True, True, False)),  # RFC 2883: below the ACK
        (sack((6000, 7000), (5500, 9000)), (True, True, False)),  # inside the second block
        (sack((6000, 7000), (6000, 7000)), (True, True, False)),
        (sack((6000, 7000), (6500, 9000)), (True, False, False)),
        (b"\5\x0b" + bytes(9), (False, False, False)),  # no whole number of blocks
        (b"\5\2", (False, False, False)),
        (b"\x08\x04\0\0", (False, False, False)),
        (b"\0" + sack((6000, 7000)), (False, False, False)),  # behind the end of the list
        (b"\xfe\x04\0\0" + sack((6000, 7000)), (True, False, False)),
    ],
)
def test_options(options: bytes, found: tuple[bool, bool, bool]) -> None:
    got = segment(replace(V4, options=options))
    assert (got.has_sack, got.has_dsack, got.has_timestamps) == found


@pytest.mark.parametrize("options", [b"\x08\0\0\0", b"\x08\1\0\0", b"\x08\x0a\0\0", b"\1\1\1\5"])
def test_options_with_impossible_lengths(options: bytes) -> None:
    assert read(replace(V4, options=options).octets) is None


@pytest.mark.parametrize("kind", [0, 43, 60])
def test_ipv6_extension_headers_are_skipped(kind: int) -> None:
    packet = replace(V6, extensions=((kind, bytes(6)), (60, bytes(14))), data=b"xyz")
    assert segment(packet).end == 1003
    assert segment(packet).at == 40 + 8 + 16


@pytest.mark.parametrize("kind", [44, 51, 50, 59, 17])
def test_other_ipv6_headers_are_refused(kind: int) -> None:
    assert read(replace(V6, extensions=((kind, bytes(6)),)).octets) is None


def test_no_end_of_extension_headers() -> None:
    assert read(replace(V6, extensions=((60, bytes(6)),) * 8).octets) is not None
    assert read(replace(V6, extensions=((60, bytes(6)),) * 9).octets) is None


@pytest.mark.parametrize(
    ("at", "octet"),
    [
        (0, 0x55),  # version 5
        (0, 0x44),  # header shorter than 20
        (0, 0x4F),  # and longer than the packet
        (3, 19),
        (3, 41),  # longer than what came
        (6, 0x20),  # a fragment: the first ...
        (7, 1),  # ... and another
        (9, 17),  # UDP
        (32, 0x40),  # TCP's header shorter than 20
        (32, 0x60),  # and longer than the packet
    ],
)
def test_nonsense_is_refused(at: int, octet: int) -> None:
    octets = bytearray(V4.octets)
    octets[at] = octet
    assert read(bytes(octets)) is None


def test_ipv4_options_and_padding_behind_the_packet() -> None:
    octets = bytearray(replace(V4, data=b"xy").octets)
    octets[0], octets[3] = 0x46, octets[3] + 4
    octets[20:20] = bytes(4)
    found = read(bytes(octets) + bytes(10))
    assert found is not None
    assert (found.end, found.at) == (1002, 24)


@pytest.mark.parametrize("packet", [V4, V6], ids=["IPv4", "IPv6"])
def test_headers_that_are_not_linear(packet: Packet) -> None:
    octets = replace(packet, options=TIMESTAMPS, data=b"x" * 50).octets
    headers = len(octets) - 50
    for linear in range(len(octets) + 1):
        found = read(octets, linear=linear, length=len(octets))
        assert (found is not None) == (linear >= headers)
        if found:
            assert (found.end, found.has_timestamps) == (1050, True)


@pytest.mark.parametrize("packet", [V4, V6], ids=["IPv4", "IPv6"])
def test_every_truncation(packet: Packet) -> None:
    octets = replace(packet, options=sack((1, 2)), data=b"x" * 9).octets
    assert all(read(octets[:length]) is None for length in range(len(octets)))


@given(
    st.sampled_from([V4.octets, V6.octets, replace(V6, extensions=((0, bytes(6)),)).octets]),
    st.dictionaries(st.integers(0, 60), st.integers(0, 255), max_size=6),
    st.integers(0, 90),
    st.binary(max_size=40),
)
def test_damaged_packets(octets: bytes, damage: dict[int, int], cut: int, more: bytes) -> None:
    """Whatever is cut off or changed, nothing is read beyond the octets."""
    whole = bytearray(octets + more)
    for at, octet in damage.items():
        whole[at % len(whole)] = octet
    found = read(bytes(whole[:cut]), length=len(whole))
    if found:
        assert found.tuple.version == whole[0] >> 4 in (4, 6)
        assert (found.end - found.seq) % 2**32 <= len(whole)
        assert bytes(found.tuple.zero) == bytes(3)
