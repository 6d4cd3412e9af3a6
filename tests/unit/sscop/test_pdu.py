# SPDX-License-Identifier: GPL-2.0
"""PDUs against octets worked out by hand, every verdict of the decoder, and padding."""

from __future__ import annotations

from ctypes import c_uint8
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.sscop.core import (
    BAD_CRC,
    BAD_LENGTH,
    BAD_LIST,
    BAD_TYPE,
    BGN,
    LIST_MAX,
    POLL,
    STAT,
    TAKEN,
    TRUNCATED,
    USTAT,
    decode,
    encode,
    encode_sd,
    library,
    pdu,
    runs,
)

SEAL = 0x01020304


def slow_crc(octets: bytes, crc: int) -> int:
    """Bit by bit, for comparison."""
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


def frame(head: int, rest: str, start: int = SEAL) -> bytes:
    """A PDU from its octets behind the CRC."""
    body = bytes([head]) + bytes.fromhex(rest)
    return slow_crc(body, start).to_bytes(4, "big") + body


def test_crc32c() -> None:
    """RFC 3720, B.4."""
    octets = bytes(range(32))
    crc = library().crc32c(0xFFFFFFFF, octets, len(octets))
    assert crc == slow_crc(octets, 0xFFFFFFFF) == 0x46DD794E ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("what", "head", "rest", "sealed"),
    [
        (pdu(POLL, seq=4, ps=1), 0x2A, "000004 0c 000001", True),
        (pdu(STAT, [1, 2, 4], seq=1, mr=9, ps=1), 0x2B, "000001 18 000009 000001"
         " 000001 000002 000004", True),
        (pdu(USTAT, [1, 2], seq=1, mr=9), 0x2C, "000001 12 000009 000001 000002", True),
        (pdu(BGN, seq=1024, version=1, from_=0xAABBCCDD, to=0), 0x21,
         "000400 13 01 aabbccdd 00000000 00", False),
        (pdu(14, seq=5, class_=1, received=3 << 32 | 7), 0xAE,
         "000005 11 00000003 00000007", True),
        (pdu(8 + 7, seq=0xFFFFFF, version=1, from_=1, to=2, sq=255), 0x2F,
         "ffffff 13 01 00000001 00000002 ff", False),
    ],
)  # fmt: skip
def test_octets(what: object, head: int, rest: str, sealed: bool) -> None:
    expected = frame(head, rest, SEAL if sealed else 0xFFFFFFFF)
    assert encode(what, SEAL).hex() == expected.hex()
    verdict, read = decode(expected.ljust(46, b"\xa5"), SEAL)
    assert verdict == TAKEN
    fields = attrgetter("type", "seq", "ps", "from", "to", "sq")
    assert (fields(read), runs(read)) == (fields(what), runs(what))
    verdict, _ = decode(expected, SEAL ^ 1)
    assert verdict == (BAD_CRC if sealed else TAKEN)


def test_a_short_sd_and_a_long_one() -> None:
    short = encode_sd(b"abc", 7, True, False, SEAL)
    assert short == frame(0xA8, "000007 0c 616263")
    for length in (54, 55, 56, 57, 65000):
        sd = encode_sd(bytes(length), 7, False, True, SEAL)
        assert len(sd) == length + (9 if length < 56 else 8)
        verdict, read = decode(sd, SEAL)
        assert (verdict, read.length, read.header) == (TAKEN, length, len(sd) - length)
        assert (read.first, read.last, read.seq) == (False, True, 7)


def test_a_packet_of_a_class() -> None:
    fields = pdu(13, seq=7, class_=1, packet=0x1234, back=2, wait=300)
    for length in (1, 50, 51, 64995):
        header = library().sscop_ud_header(length)
        room = (c_uint8 * (header + length))()
        room[header:] = bytes(length)
        library().sscop_encode_ud(room, length, fields, SEAL)
        assert header == (14 if length < 51 else 13)
        verdict, read = decode(bytes(room), SEAL)
        assert (verdict, read.header, read.length) == (TAKEN, header, length)
        wanted = attrgetter("type", "class", "seq", "packet", "back", "wait")
        assert wanted(read) == wanted(fields) == (13, 1, 7, 0x1234, 2, 300)
        if length == 1:
            assert bytes(room) == frame(0xAD, "000007 0f 1234 02 012c 00")


def octets_of(*elements: int) -> str:
    return "".join(f"{element:06x}" for element in elements)


def long_stat(count: int) -> bytes:
    return frame(0x0B, "000000 000009 000001" + octets_of(*range(1, count + 1)))


@pytest.mark.parametrize(
    ("octets", "verdict"),
    [
        (b"", TRUNCATED),
        (bytes(8), TRUNCATED),
        (frame(0x2A, "000004 0d 000001"), TRUNCATED),  # longer than the frame
        (frame(0x2A, "000004 08 000001"), TRUNCATED),  # shorter than a header
        (frame(0x2A, "000004 0b 0000"), TRUNCATED),  # no room for N(PS)
        (frame(0x28, "000004 09"), TRUNCATED),  # no payload
        (frame(0x21, "000400 0d 01000000"), TRUNCATED),
        (frame(0x2A, "000004 0d 000001 00"), BAD_LENGTH),
        (frame(0x0A, "000004 000001" + "00" * 53), BAD_LENGTH),  # not short, no length
        (frame(0x2B, "000001 41" + "00" * 60), BAD_LENGTH),  # short, and longer than that
        (frame(0x08, "000001" + "00" * 65001), BAD_LENGTH),
        (frame(0x20, "000004 0c 000001"), BAD_TYPE),
        (frame(0x2D, "000004 0e 0001 00 0000"), TRUNCATED),  # a UD without payload
        (frame(0x2E, "000004 0c 000001"), TRUNCATED),
        (frame(0x2E, "000004 12" + "00" * 9), BAD_LENGTH),
        (frame(0x6D, "000004 0f 0001 00 0000 61"), BAD_TYPE),  # "last" of a UD
        (frame(0x3A, "000004 0c 000001"), BAD_TYPE),  # reserved flag
        (frame(0xAA, "000004 0c 000001"), BAD_TYPE),  # "first" of a POLL
        (frame(0x2A, "000004 0c 000001")[:-1] + b"\x02", BAD_CRC),
        (frame(0x2B, "000001 10 000009 000001 00"), BAD_LIST),
        (frame(0x2B, "000001 15 000009 000001" + octets_of(2, 1)), BAD_LIST),
        (frame(0x2B, "000001 15 000009 000001" + octets_of(2, 2)), BAD_LIST),
        (frame(0x2B, "000001 15 000009 000001" + octets_of(0, 0x800000)), BAD_LIST),
        (frame(0x2B, "000001 15 000009 000001" + octets_of(0xFFFFFF, 0)), TAKEN),
        (frame(0x2B, "000001 0f 000009 000001"), TAKEN),  # nothing is missing
        (frame(0x2C, "000001 0c 000009"), BAD_LIST),  # a USTAT without gap
        (frame(0x2C, "000001 0f 000009" + octets_of(1)), BAD_LIST),
        (frame(0x2C, "000001 15 000009" + octets_of(1, 2, 3)), BAD_LIST),
        (long_stat(LIST_MAX), TAKEN),
        (long_stat(LIST_MAX + 1), BAD_LIST),
    ],
)
def test_verdicts(octets: bytes, verdict: int) -> None:
    start = 0xFFFFFFFF if octets[4:5] == b"\x21" else SEAL
    if len(octets) > 8 and start != SEAL:
        octets = slow_crc(octets[4:], start).to_bytes(4, "big") + octets[4:]
    assert decode(octets, SEAL)[0] == verdict


@given(octets=st.binary(max_size=130), seal=st.integers(0, 2**32 - 1))
def test_random_octets_are_refused(octets: bytes, seal: int) -> None:
    assert decode(octets, seal)[0] != TAKEN


@given(payload=st.binary(min_size=1, max_size=200), flip=st.integers(0, 10**6))
def test_a_flipped_bit_is_found(payload: bytes, flip: int) -> None:
    sd = bytearray(encode_sd(payload, 5, True, True, SEAL))
    sd[flip // 8 % len(sd)] ^= 1 << flip % 8
    assert decode(bytes(sd), SEAL)[0] != TAKEN
