# SPDX-License-Identifier: GPL-2.0
"""SHAKE's packets against octets worked out by hand, every verdict, and back again."""

from __future__ import annotations

import pytest

from tests.unit.shake import wire_core as wire
from tests.unit.shake.wire_core import (
    ACK,
    BAD_TYPE,
    CAME,
    CONFIRM,
    COOKIE,
    COUNTED,
    DATA,
    HELLO,
    MAL,
    NUMBERED,
    OPEN,
    POLICY,
    PROBE,
    PUBLIC,
    READY,
    RESET,
    SHARED,
    SIZED,
    STRANGER,
    TAKEN,
    TRUNCATED,
    WELCOME,
    AckBody,
)


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
    ("kind", "least"),
    [(CONFIRM, 12), (READY, 12), (DATA, 9), (ACK, 32), (PROBE, 8), (RESET, 8)],
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


def test_probes_of_a_size_and_their_answers() -> None:
    """No answer is longer than what it answers."""
    for flag in (SIZED, CAME):
        front = bytes([PROBE << 4, flag]) + bytes(6)
        assert wire.head(front + bytes(3))[0] == TRUNCATED
        assert wire.head(front + bytes(4))[0] == TAKEN
    answer = wire.octets(bytes(12))
    wire.library().shake_came_write(answer, 0x89ABCDEF)
    assert bytes(answer) == bytes(8) + bytes.fromhex("89abcdef")
    assert wire.library().shake_came_read(answer) == 0x89ABCDEF


@pytest.mark.parametrize("flag", [MAL, NUMBERED])
def test_mal_or_a_number_is_part_of_the_head(flag: int) -> None:
    packet = bytes([DATA << 4, flag]) + bytes(11)
    assert wire.head(packet[:12])[0] == TRUNCATED
    assert wire.head(packet)[0] == TAKEN


@pytest.mark.parametrize("kind", [0, HELLO, WELCOME, *range(9, 16)])
def test_other_types_are_no_session_packets(kind: int) -> None:
    assert wire.head(bytes([kind << 4]) + bytes(60))[0] == BAD_TYPE


@pytest.mark.parametrize("kind", [CONFIRM, READY, DATA, ACK, PROBE, RESET])
def test_flags_that_a_type_cannot_have(kind: int) -> None:
    data, probe = set(range(128)), {COUNTED, COUNTED | POLICY, SIZED, CAME}
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


@pytest.mark.parametrize("kind", [CONFIRM, READY])
def test_confirm_and_ready_have_counter_0(kind: int) -> None:
    packet = bytes([kind << 4]) + bytes.fromhex("00 0001 00000001 00000000")
    assert wire.head(packet)[0] == BAD_TYPE
    assert wire.head(packet[:7] + b"\0" + packet[8:])[0] == TAKEN


def test_m_al_that_is_encrypted_is_not_read() -> None:
    verdict, head = wire.head(bytes.fromhex("53 06 abcd 01020304 f0e0d0c0 45"))
    assert (verdict, head.mal) == (TAKEN, 0)


def test_a_reset_is_the_head_that_it_answers() -> None:
    _, unknown = wire.head(bytes.fromhex("53 03 abcd 01020304 f0e0d0c0 45"))
    packet = wire.written("reset_write", unknown)
    assert packet.hex() == "8000abcd01020304"
    verdict, head = wire.head(packet)
    assert (verdict, head.type, head.index, head.counter) == (TAKEN, RESET, 0xABCD, 0x01020304)


#: Types and kinds, and their lengths.
LENGTHS = {
    (HELLO, OPEN): 96,
    (HELLO, SHARED): 96,
    (HELLO, PUBLIC): 144,
    (WELCOME, OPEN): 88,
    (WELCOME, SHARED): 88,
    (WELCOME, PUBLIC): 88,
    (COOKIE, 0): 68,
}


def test_a_hello_octet_by_octet() -> None:
    packet = bytes.fromhex("10 02 02 00 01020304") + bytes(range(32)) + bytes(56)
    verdict, read = wire.registration(packet)
    assert verdict == TAKEN
    assert (read.type, read.path, read.kind, read.id) == (HELLO, 2, SHARED, 0x01020304)
    assert bytes(read.echo) == bytes(range(8))
    room = wire.octets(bytes(96))
    wire.call("registration_write", room, read)
    assert bytes(room) == packet[:8] + bytes(88)


@pytest.mark.parametrize("kind", [WELCOME, COOKIE])
def test_an_answer_octet_by_octet(kind: int) -> None:
    trust = PUBLIC if kind == WELCOME else 0
    packet = bytes([kind << 4, 8, trust, 0]) + bytes(range(1, 9)) + bytes(76)
    verdict, read = wire.registration(packet[: LENGTHS[kind, trust]])
    assert verdict == TAKEN
    assert (read.type, read.path, read.kind, read.id) == (kind, 8, trust, 0)
    room = wire.octets(bytes(96))
    wire.call("registration_write", room, read)
    assert bytes(room)[:12] == packet[:12]


@pytest.mark.parametrize(("kind", "trust"), LENGTHS)
def test_a_registration_has_one_length(kind: int, trust: int) -> None:
    length = LENGTHS[kind, trust]
    packet = bytes([kind << 4, 1, trust]) + bytes(180)
    for there in range(len(packet)):
        expected = TRUNCATED if there < length else BAD_TYPE if there > length else TAKEN
        assert wire.registration(packet[:there])[0] == expected, there


@pytest.mark.parametrize(("kind", "trust"), LENGTHS)
def test_octets_of_a_registration_that_must_be_0(kind: int, trust: int) -> None:
    packet = bytearray([kind << 4, 1, trust]) + bytes(LENGTHS[kind, trust] - 3)
    for at in [0, 3, *([7] if trust == PUBLIC and kind == HELLO else [])]:
        for bit in range(4 if at == 0 else 8):
            wrong = bytearray(packet)
            wrong[at] |= 1 << bit
            assert wire.registration(bytes(wrong))[0] == BAD_TYPE


@pytest.mark.parametrize("kind", [HELLO, WELCOME, COOKIE])
def test_kinds_of_trust(kind: int) -> None:
    for trust in range(256):
        length = LENGTHS.get((kind, trust), 96)
        packet = bytes([kind << 4, 1, trust]) + bytes(length - 3)
        expected = TAKEN if (kind, trust) in LENGTHS else BAD_TYPE
        assert wire.registration(packet)[0] == expected


def test_paths_of_a_registration() -> None:
    for path in range(256):
        verdict, _ = wire.registration(bytes([HELLO << 4, path, SHARED]) + bytes(93))
        assert verdict == (TAKEN if 1 <= path <= 8 else STRANGER)


@pytest.mark.parametrize("kind", [0, *range(CONFIRM, COOKIE), *range(10, 16)])
def test_other_types_do_not_register(kind: int) -> None:
    assert wire.registration(bytes([kind << 4, 1, SHARED]) + bytes(93))[0] == BAD_TYPE
