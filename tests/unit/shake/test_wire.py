# SPDX-License-Identifier: GPL-2.0
"""SHAKE's packets against octets worked out by hand, every verdict, and back again."""

from __future__ import annotations

import pytest

from tests.unit.shake import wire_core as wire
from tests.unit.shake.wire_core import (
    ACK,
    BAD_TYPE,
    CONFIRM,
    COUNTED,
    DATA,
    ENCRYPTED,
    HELLO,
    MAL,
    NUMBERED,
    POLICY,
    PROBE,
    READY,
    RESET,
    STRANGER,
    TAKEN,
    TRUNCATED,
    WELCOME,
    AckBody,
)

NONCE = bytes(range(24))


def test_a_head_octet_by_octet() -> None:
    verdict, head = wire.head(bytes.fromhex("53 03 abcd 01020304 f0e0d0c0 45"))
    assert verdict == TAKEN
    assert (head.type, head.ack_path, head.flags) == (DATA, 3, COUNTED | MAL)
    assert (head.index, head.counter, head.mal) == (0xABCD, 0x01020304, 0xF0E0D0C0)
    assert wire.written("head_write", head).hex() == "5303abcd01020304f0e0d0c0"


def test_without_mal_nothing_is_read_behind_the_head() -> None:
    verdict, head = wire.head(bytes.fromhex("50 00 0001 00000005 ffffffff"))
    assert (verdict, head.mal) == (TAKEN, 0)
    assert wire.written("head_write", head).hex() == "5000000100000005"


def test_a_pseudo_ack_octet_by_octet() -> None:
    packet = bytes.fromhex(
        "60 00 0001 00000005 00000010 00000020 fffffff0 00000040 0123456789abcdef"
    )
    body = AckBody()
    assert wire.head(packet)[0] == TAKEN
    assert wire.call("ack_read", packet, len(packet), body) == TAKEN
    assert (body.echo, body.hold_us, body.bytes, body.packets) == (16, 32, 0xFFFFFFF0, 64)
    assert body.seen == 0x0123456789ABCDEF
    again = wire.written("ack_write", body)
    assert again[8:] == packet[8:]
    assert wire.call("ack_read", packet[:-1], 31, body) == TRUNCATED


@pytest.mark.parametrize(
    ("kind", "least"), [(READY, 12), (DATA, 9), (ACK, 32), (PROBE, 8), (RESET, 8)]
)
def test_a_packet_has_what_its_type_needs(kind: int, least: int) -> None:
    flags = COUNTED if kind == PROBE else 0
    packet = bytes([kind << 4, flags]) + bytes(2 + 4 + 30)
    for length in range(len(packet)):
        if length < least:
            expected = TRUNCATED
        else:
            expected = BAD_TYPE if kind == RESET and length > 8 else TAKEN
        assert wire.head(packet[:length])[0] == expected, length


POLICIES = {
    "03 00 0000 00000000": (0, 0, True, True),
    "01 05 0000 000009c4": (2500, 5, True, False),
    "02 64 0000 ffffffff": (2**32 - 1, 100, False, True),
}


def test_a_probe_may_tell_a_policy() -> None:
    """Behind its head; one that makes no sense changes nothing."""
    front = bytes([PROBE << 4, COUNTED | POLICY]) + bytes(6)
    assert wire.head(front + bytes(7))[0] == TRUNCATED
    assert wire.head(front + bytes(8))[0] == TAKEN
    for text, fields in POLICIES.items():
        policy = wire.Policy()
        assert wire.call("policy_read", front + bytes.fromhex(text), policy)
        assert (policy.rate, policy.loss_limit, policy.backup, policy.metered) == fields
        assert wire.written("policy_write", policy)[8:] == bytes.fromhex(text)
    for text in ("04 00 0000 00000000", "00 65 0000 00000000", "00 00 0001 00000000"):
        policy = wire.Policy(rate=7)
        assert not wire.call("policy_read", front + bytes.fromhex(text), policy)
        assert policy.rate == 7


@pytest.mark.parametrize("flag", [MAL, NUMBERED])
def test_mal_or_a_number_is_part_of_the_head(flag: int) -> None:
    packet = bytes([DATA << 4, flag]) + bytes(11)
    assert wire.head(packet[:12])[0] == TRUNCATED
    assert wire.head(packet)[0] == TAKEN


@pytest.mark.parametrize("kind", [0, HELLO, WELCOME, CONFIRM, *range(9, 16)])
def test_other_types_are_no_session_packets(kind: int) -> None:
    assert wire.head(bytes([kind << 4]) + bytes(60))[0] == BAD_TYPE


@pytest.mark.parametrize("kind", [READY, DATA, ACK, PROBE, RESET])
def test_flags_that_a_type_cannot_have(kind: int) -> None:
    data, probe = set(range(128)), {COUNTED, COUNTED | POLICY}
    data -= {flags for flags in data if flags & MAL and flags & NUMBERED}
    good = {DATA: data, PROBE: probe}.get(kind, {0})
    length = 8 if kind == RESET else 40
    for flags in range(256):
        packet = bytes([kind << 4, flags]) + bytes(length - 2)
        assert (wire.head(packet)[0] == TAKEN) == (flags in good), flags


def test_paths_for_acks() -> None:
    for path in range(16):
        packet = bytes([DATA << 4 | path]) + bytes(20)
        assert wire.head(packet)[0] == (TAKEN if path <= 8 else BAD_TYPE)
    assert wire.head(bytes([READY << 4 | 1]) + bytes(11))[0] == BAD_TYPE
    assert wire.head(bytes([RESET << 4 | 1]) + bytes(7))[0] == BAD_TYPE


def test_ready_has_counter_0() -> None:
    assert wire.head(bytes.fromhex("40 00 0001 00000001 00000000"))[0] == BAD_TYPE


def test_a_reset_is_the_head_that_it_answers() -> None:
    _, unknown = wire.head(bytes.fromhex("53 03 abcd 01020304 f0e0d0c0 45"))
    packet = wire.written("reset_write", unknown)
    assert packet.hex() == "8000abcd01020304"
    verdict, head = wire.head(packet)
    assert (verdict, head.type, head.index, head.counter) == (TAKEN, RESET, 0xABCD, 0x01020304)


def test_a_confirm_octet_by_octet() -> None:
    fields = bytes.fromhex("30 02 04 00 01020304") + NONCE + bytes.fromhex("abcd 0000")
    verdict, read = wire.registration(fields + bytes(16))
    assert verdict == TAKEN
    assert (read.type, read.path, read.flags, read.index) == (CONFIRM, 2, ENCRYPTED, 0xABCD)
    assert (read.id, bytes(read.nonce)) == (0x01020304, NONCE)
    assert wire.written("registration_write", read) == fields


@pytest.mark.parametrize(("kind", "length"), [(HELLO, 48), (WELCOME, 48), (CONFIRM, 52)])
def test_a_registration_has_one_length(kind: int, length: int) -> None:
    packet = bytes([kind << 4, 1]) + bytes(80)
    for there in range(len(packet)):
        expected = TRUNCATED if there < length else BAD_TYPE if there > length else TAKEN
        assert wire.registration(packet[:there])[0] == expected, there


@pytest.mark.parametrize(("kind", "length"), [(HELLO, 48), (WELCOME, 48), (CONFIRM, 52)])
def test_octets_of_a_registration_that_must_be_0(kind: int, length: int) -> None:
    packet = bytearray([kind << 4, 1]) + bytes(length - 2)
    for at in [0, 2, 3, *([34, 35] if kind == CONFIRM else [])]:
        for bit in range(4 if at == 0 else 8):
            wrong = bytearray(packet)
            wrong[at] |= 1 << bit
            allowed = kind == CONFIRM and at == 2 and 1 << bit == ENCRYPTED
            assert wire.registration(bytes(wrong))[0] == (TAKEN if allowed else BAD_TYPE)


def test_paths_of_a_registration() -> None:
    for path in range(256):
        verdict, _ = wire.registration(bytes([HELLO << 4, path]) + bytes(46))
        assert verdict == (TAKEN if 1 <= path <= 8 else STRANGER)


@pytest.mark.parametrize("kind", [0, *range(READY, 16)])
def test_other_types_do_not_register(kind: int) -> None:
    assert wire.registration(bytes([kind << 4, 1]) + bytes(46))[0] == BAD_TYPE
