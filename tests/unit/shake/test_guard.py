# SPDX-License-Identifier: GPL-2.0
"""shake/core/guard.c: what HELLOs have to pass before they cost something."""

from __future__ import annotations

import pytest

from tests.unit.shake import aead, noise
from tests.unit.shake import wire_core as wire
from tests.unit.shake.test_session import PSK, TRUSTS
from tests.unit.shake.wire_core import BAD_TAG, STALE, TAKEN, Agent, Guard, Leader

MS = 1_000
SECOND = 1_000_000
#: What stands in for the kernel's random octets.
SECRET = b"\x5a" * 32
SOURCE = bytes([192, 0, 2, 1]) + bytes(12) + b"\x12\x34"


@pytest.fixture
def guard() -> Guard:
    return Guard()


def cookie(guard: Guard, source: bytes = SOURCE, now: int = SECOND) -> bytes:
    made = wire.octets(bytes(16))
    wire.call("guard_cookie", guard, made, source, now)
    return bytes(made)


def test_the_same_hello_soon_again(guard: Guard) -> None:
    hello = Leader(TRUSTS["shared"][0]).hello()
    other = Leader(TRUSTS["shared"][0]).hello(bytes(range(1, 33)))

    def again(at: int, what: bytes = hello, source: bytes = SOURCE) -> bool:
        return bool(wire.call("guard_again", guard, what, len(what), source, SECOND + at * MS))

    assert not again(0)
    wire.call("guard_note", guard, hello, len(hello), SOURCE, SECOND)
    assert [again(at) for at in (0, 1, 399, 400)] == [True, True, True, False]
    assert not again(1, other)
    assert not again(1, hello[:-32] + bytes(32)), "a forged one stands for the leader's"
    elsewhere = SOURCE[:-1] + b"\x35"
    assert not again(1, source=elsewhere), "a faster copy takes the leader's turn"
    wire.call("guard_note", guard, hello, len(hello), elsewhere, SECOND + MS)
    assert again(2) and again(2, source=elsewhere)


def test_more_than_ten_in_20_ms_are_a_load(guard: Guard) -> None:
    def loaded(at: int) -> bool:
        return bool(wire.call("guard_loaded", guard, SECOND + at))

    assert not any(loaded(0) for _ in range(10))
    assert loaded(19 * MS) and loaded(20 * MS)
    assert loaded(SECOND + 19 * MS - 1)
    assert not loaded(SECOND + 19 * MS)


def test_a_cookie_is_of_an_address_and_lives_two_minutes(guard: Guard) -> None:
    first = cookie(guard)
    assert first == noise.mac(SECRET, SOURCE)
    assert cookie(guard, now=121 * SECOND - 1) == first
    assert guard.secret_at == SECOND
    cookie(guard, now=121 * SECOND)
    assert guard.secret_at == 121 * SECOND
    other = SOURCE[:-1] + b"\x35"
    assert cookie(guard, other) == noise.mac(SECRET, other) != first


@pytest.mark.parametrize("how", TRUSTS)
def test_a_leader_shows_its_cookie(guard: Guard, how: str) -> None:
    leader, agent = Leader(TRUSTS[how][0]), Agent(TRUSTS[how][1])
    hello, made = leader.hello(), cookie(guard)
    assert not wire.call("guard_proves", hello, len(hello), made)
    key, nonce = bytes(agent.keys.cookie), bytes(range(24))
    answer = wire.written("cookie_write", hello, len(hello), key, made, nonce)
    sealed = aead.xencrypt(key, nonce, made, hello[-32:-16])
    assert answer == bytes([0x90, 2, 0, 0]) + hello[8:16] + nonce + sealed
    assert len(answer) < len(hello)
    leader.now = 5_000
    assert leader.take_cookie(answer[:-1] + bytes([answer[-1] ^ 1])) == BAD_TAG
    assert leader.take_cookie(answer) == TAKEN
    again = leader.again()
    assert again[:-16] == hello[:-16]
    assert again[-16:] == noise.mac(made + bytes(16), again[:-16])[:16]
    assert wire.call("guard_proves", again, len(again), made)
    assert not wire.call("guard_proves", again, len(again), cookie(guard, bytes(18)))
    assert agent.take_hello(again)[0] == TAKEN
    leader.now += 115 * 1_000_000_000
    assert leader.again() == hello, "an old cookie is shown"
    leader.hello(bytes(range(1, 33)))
    assert leader.take_cookie(answer) == STALE


def test_a_network_has_five_at_once_and_twenty_a_second(guard: Guard) -> None:
    cookie(guard)

    def admits(at: int, source: bytes = SOURCE) -> bool:
        return bool(wire.call("guard_admits", guard, source, 4, SECOND + at * MS))

    assert [admits(0) for _ in range(6)] == [True] * 5 + [False]
    assert [admits(50), admits(51), admits(100)] == [True, False, True]
    assert sum(admits(1000 + at) for at in range(10_000)) == pytest.approx(204, abs=2)
    assert not admits(10_999, SOURCE[:4] + bytes(14))
    assert admits(11_000, bytes([192, 0, 2, 2]) + bytes(14))


def test_what_a_stranger_can_make_with_the_psk_of_another() -> None:
    leader, agent = Leader(TRUSTS["shared"][0]), Agent(TRUSTS["shared"][1])
    hello = leader.hello()
    forged = hello[:-32] + noise.mac(noise.blake2s(b"shake hello", bytes(32)), hello[:-32])
    assert agent.take_hello(forged + bytes(16))[0] == BAD_TAG
    assert bytes(agent.keys.hello) == noise.blake2s(b"shake hello", PSK)
