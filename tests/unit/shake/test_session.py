# SPDX-License-Identifier: GPL-2.0
"""Registration and sessions: every octet computed again, and every attack that was thought of."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.shake import aead
from tests.unit.shake import wire_core as wire
from tests.unit.shake.wire_core import (
    ACK,
    AGAIN,
    BAD_TAG,
    BAD_TYPE,
    CONFIRM,
    COUNTED,
    DATA,
    ENCRYPTED,
    HELLO,
    PROBE,
    READY,
    REPLAYED,
    RESET,
    STALE,
    STRANGER,
    TAKEN,
    TRUNCATED,
    UNSUMMED,
    WELCOME,
    Agent,
    Head,
    Keys,
    Leader,
    Session,
    register,
)

PSK = bytes(range(100, 132))
OTHER_PSK = bytes(32)
SECOND = 1_000_000_000
LIMIT = 1 << 62


@pytest.fixture
def leader() -> Leader:
    return Leader(PSK)


@pytest.fixture
def agent() -> Agent:
    return Agent(PSK)


def nonce_of(counter: int) -> bytes:
    return bytes(4) + counter.to_bytes(8, "little")


def asked(leader: Leader, agent: Agent, random: bytes = bytes(range(24))) -> bytes:
    """The WELCOME of a HELLO."""
    verdict, welcome = agent.take_hello(leader.hello(random))
    assert verdict == TAKEN
    return welcome


def confirmed(leader: Leader, agent: Agent, random: bytes = bytes(range(24))) -> bytes:
    """The CONFIRM of a HELLO and its WELCOME."""
    assert leader.take_welcome(asked(leader, agent, random)) == TAKEN
    return leader.confirm()


def flips(packet: bytes) -> list[bytes]:
    """A packet with one bit wrong, each in turn."""
    wrong = []
    for at in range(8 * len(packet)):
        copy = bytearray(packet)
        copy[at // 8] ^= 1 << at % 8
        wrong.append(bytes(copy))
    return wrong


# the numbers


def test_the_reference_has_the_answers_of_rfc_8439() -> None:
    """2.8.2, and 2.2.1 of draft-irtf-cfrg-xchacha."""
    key = bytes(range(0x80, 0xA0))
    nonce = bytes.fromhex("070000004041424344454647")
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you "
        b"only one tip for the future, sunscreen would be it."
    )
    sealed = aead.encrypt(key, nonce, text, bytes.fromhex("50515253c0c1c2c3c4c5c6c7"))
    assert sealed[:8].hex() == "d31a8d34648e60db"
    assert sealed[-16:].hex() == "1ae10b594f09e26a7e902ecbd0600691"
    subkey = aead.hchacha(bytes(range(32)), bytes.fromhex("000000090000004a0000000031415927"))
    assert subkey.hex() == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"


def test_every_octet_of_a_registration(leader: Leader, agent: Agent) -> None:
    stream = aead.xencrypt(PSK, b"apogee shake handshake 1", bytes(96), b"")
    k_hello, k_welcome, k_derive = stream[:32], stream[32:64], stream[64:96]
    random = bytes(range(50, 74))
    agent.now = 0x0102030405060708

    hello = bytes.fromhex("10 02 00 00 00000007") + random
    assert leader.hello(random) == hello + aead.xencrypt(k_hello, random, b"", hello)

    verdict, sent = agent.take_hello(leader.hello(random))
    nonce = random[:8] + b"instance" + bytes.fromhex("0102030405060708")
    welcome = bytes.fromhex("20 02 00 00 00000007") + nonce
    assert (verdict, sent) == (TAKEN, welcome + aead.xencrypt(k_welcome, nonce, b"", welcome))

    leader.join.encrypt = True  # too late for this HELLO
    assert leader.take_welcome(sent) == TAKEN
    keys = aead.xencrypt(k_derive, nonce, bytes(64), b"")
    up, down = keys[:32], keys[32:64]
    confirm = bytes.fromhex("30 02 00 00 00000007") + nonce + bytes.fromhex("1234 0000")
    tag = aead.encrypt(up, nonce_of((1 << 64) - 1), b"", confirm)
    assert leader.confirm() == confirm + tag

    assert agent.take_confirm(leader.confirm()) == TAKEN
    ready = bytes.fromhex("40 00 1234 00000000 4321 00 00")
    assert agent.ready() == ready + aead.encrypt(down, nonce_of(0), b"", ready)
    assert leader.take_ready(agent.ready()) == TAKEN
    assert leader.session.peer_index == 0x4321

    for sender, receiver, key in (
        (leader.session, agent.session, up),
        (agent.session, leader.session, down),
    ):
        packet = b"head of 8" + bytes(20)
        sealed = wire.seal(sender, 5, packet)
        assert sealed == packet + aead.encrypt(key, nonce_of(5), b"", packet)
        assert wire.open(receiver, 5, sealed) == (TAKEN, sealed)


@settings(max_examples=100)
@given(st.binary(min_size=1, max_size=150), st.integers(0, LIMIT - 1), st.data())
def test_packets_sealed_and_opened(packet: bytes, counter: int, data: st.DataObject) -> None:
    s = Session(auth=True)
    s.send[:] = s.receive[:] = PSK
    clear = data.draw(st.integers(0, len(packet)))
    text, ad = packet[clear:], packet[:clear]
    sealed = wire.seal(s, counter, packet, clear)
    assert sealed == ad + aead.encrypt(PSK, nonce_of(counter), text, ad)
    assert wire.open(s, counter, sealed, clear) == (TAKEN, packet + sealed[-16:])


@pytest.mark.parametrize("length", [*range(1, 70), 255, 256, 257, 1399, 1400])
def test_every_rest_of_a_block(length: int) -> None:
    s = Session(auth=True)
    s.send[:] = PSK
    packet = bytes(i * 7 & 255 for i in range(length))
    expected = packet + aead.encrypt(PSK, nonce_of(1 << 33), b"", packet)
    assert wire.seal(s, 1 << 33, packet) == expected


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=200), max_size=6), st.integers(0, LIMIT - 1))
def test_a_tag_of_pieces_is_that_of_the_whole(pieces: list[bytes], counter: int) -> None:
    expected = aead.encrypt(PSK, nonce_of(counter), b"", b"".join(pieces))
    assert wire.tag(PSK, counter, pieces) == expected


@pytest.mark.parametrize("first", [*range(110, 150)])
@pytest.mark.parametrize("head", [8, 12])
def test_pieces_about_as_long_as_what_is_held(head: int, first: int) -> None:
    pieces = [bytes(head), bytes(range(first)), bytes(i * 7 & 255 for i in range(1000 - first))]
    expected = aead.encrypt(PSK, nonce_of(3), b"", b"".join(pieces))
    assert wire.tag(PSK, 3, pieces) == expected


@pytest.mark.parametrize("clear", [None, 8])
def test_one_wrong_bit_is_found(leader: Leader, agent: Agent, clear: int | None) -> None:
    register(leader, agent)
    sealed = wire.seal(leader.session, 1, bytes(range(30)), clear)
    for wrong in flips(sealed):
        assert wire.open(agent.session, 1, wrong, clear)[0] == BAD_TAG
    for counter in (0, 2, 1 + (1 << 32), (1 << 64) - 1):
        assert wire.open(agent.session, counter, sealed, clear)[0] == BAD_TAG


def test_a_packet_shorter_than_its_tag() -> None:
    s = Session(auth=True)
    for length in range(16):
        assert wire.open(s, 1, bytes(length), 0)[0] == TRUNCATED


# registration under attack


def test_one_wrong_bit_of_a_registration(leader: Leader, agent: Agent) -> None:
    hello = leader.hello()
    assert all(agent.take_hello(wrong)[0] != TAKEN for wrong in flips(hello))
    _, welcome = agent.take_hello(hello)
    assert all(leader.take_welcome(wrong) != TAKEN for wrong in flips(welcome))
    assert leader.take_welcome(welcome) == TAKEN
    confirm = leader.confirm()
    assert all(agent.take_confirm(wrong) != TAKEN for wrong in flips(confirm))
    assert agent.accepted.value == 0
    assert agent.take_confirm(confirm) == TAKEN
    ready = agent.ready()
    assert all(leader.take_ready(wrong) != TAKEN for wrong in flips(ready))
    assert not leader.session.ready
    assert leader.take_ready(ready) == TAKEN


def test_another_key_is_found_in_every_message(agent: Agent) -> None:
    stranger = Leader(OTHER_PSK)
    assert agent.take_hello(stranger.hello())[0] == BAD_TAG
    other = Agent(OTHER_PSK)
    leader = Leader(PSK)
    _, forged = other.take_hello(stranger.hello())
    leader.hello()
    assert leader.take_welcome(forged) == BAD_TAG
    confirm = confirmed(stranger, other)
    agent.issuer.last = other.issuer.last
    assert agent.take_confirm(confirm) == BAD_TAG


def test_a_recorded_hello_changes_nothing(leader: Leader, agent: Agent) -> None:
    hello = leader.hello()
    register(leader, agent)
    session = bytes(agent.session)
    answers = {agent.take_hello(hello)[1] for _ in range(1000)}
    assert len(answers) == 1000, "a nonce was used twice"
    assert bytes(agent.session) == session
    assert all(leader.take_welcome(answer) == STALE for answer in answers)


def test_a_recorded_welcome_is_stale(leader: Leader, agent: Agent) -> None:
    old = asked(leader, agent)
    assert leader.take_welcome(old) == TAKEN
    assert leader.take_welcome(old) == STALE
    leader.hello(bytes(range(1, 25)))
    assert leader.take_welcome(old) == STALE


def test_a_hello_repeated_accepts_the_first_answer(leader: Leader, agent: Agent) -> None:
    hello = leader.hello()
    _, slow = agent.take_hello(hello)
    assert leader.hello(bytes(leader.join.nonce)) == hello
    assert leader.take_welcome(slow) == TAKEN


def test_a_recorded_confirm_only_repeats_ready(leader: Leader, agent: Agent) -> None:
    confirm = confirmed(leader, agent)
    assert agent.take_confirm(confirm) == TAKEN
    ready, session = agent.ready(), bytes(agent.session)
    assert agent.take_confirm(confirm, index=99) == AGAIN
    assert leader.confirm() == confirm
    assert (agent.ready(), bytes(agent.session)) == (ready, session)
    agent.session = None
    assert agent.take_confirm(confirm) == STALE


def test_another_confirm_for_the_same_welcome_is_stale(leader: Leader, agent: Agent) -> None:
    """Two with one key and nonce would show the tag's key; READY could not answer both."""
    assert agent.take_confirm(confirmed(leader, agent)) == TAKEN
    leader.session.index += 1
    assert agent.take_confirm(leader.confirm()) == STALE
    leader.session.index -= 1
    leader.session.wish = True
    assert agent.take_confirm(leader.confirm()) == STALE
    leader.session.wish = False
    assert agent.take_confirm(leader.confirm()) == AGAIN


def test_a_peer_deleted_and_added_again_takes_no_old_confirm(leader: Leader, agent: Agent) -> None:
    """It would bring back the same keys, with counters from 1."""
    confirm = confirmed(leader, agent)
    assert agent.take_confirm(confirm) == TAKEN
    agent.session, agent.accepted.value = None, agent.issuer.last
    assert agent.take_confirm(confirm) == STALE
    register(leader, agent, bytes(range(1, 25)))


def test_an_older_confirm_is_stale(leader: Leader, agent: Agent) -> None:
    first = confirmed(leader, agent)
    second = confirmed(leader, agent, bytes(range(1, 25)))
    assert agent.take_confirm(second) == TAKEN
    assert agent.take_confirm(first) == STALE


def test_a_late_confirm_is_stale(leader: Leader, agent: Agent) -> None:
    confirm = confirmed(leader, agent)
    agent.now += 10 * SECOND + 1
    assert agent.take_confirm(confirm) == STALE
    agent.now -= 1
    assert agent.take_confirm(confirm) == TAKEN


def test_a_confirm_for_a_welcome_that_was_never_sent(leader: Leader, agent: Agent) -> None:
    """An authenticated leader that makes up a later time, to block or to reuse a nonce."""
    confirm = confirmed(leader, agent)
    agent.issuer.last -= 1
    assert agent.take_confirm(confirm) == STALE


def test_an_agent_that_started_again_takes_no_old_confirm(leader: Leader) -> None:
    confirm = confirmed(leader, Agent(PSK))
    again = Agent(PSK, instance=b"another1")
    again.issuer.last = 10 * SECOND
    assert again.take_confirm(confirm) == STALE
    register(leader, again)


def test_a_leader_that_started_again_registers(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    old = agent.session
    recorded = wire.seal(leader.session, 1, b"sent before")
    leader = Leader(PSK)
    register(leader, agent, bytes(range(1, 25)))
    assert bytes(old.send) != bytes(agent.session.send)
    assert wire.open(agent.session, 1, recorded)[0] == BAD_TAG


def test_messages_sent_back_to_their_sender(leader: Leader, agent: Agent) -> None:
    """As they are they have the other role's types; with another type the tag is wrong."""
    hello = leader.hello()
    as_welcome = bytes([WELCOME << 4]) + hello[1:]
    assert leader.take_welcome(as_welcome) == BAD_TAG
    _, welcome = agent.take_hello(hello)
    as_hello = bytes([HELLO << 4]) + welcome[1:]
    assert agent.take_hello(as_hello)[0] == BAD_TAG
    register(leader, agent)
    sealed = wire.seal(leader.session, 1, b"up the path")
    assert wire.open(leader.session, 1, sealed)[0] == BAD_TAG


@pytest.mark.parametrize(("path", "id"), [(3, 7), (2, 8)])
def test_messages_of_another_path_or_leader(path: int, id: int) -> None:
    """Two leaders with one key, or two paths: a message of one is none of the other."""
    one, agent = Leader(PSK), Agent(PSK)
    other = Leader(PSK, id=id, path=path)
    welcome = asked(one, agent)
    other.hello()
    assert other.take_welcome(welcome) == STRANGER
    moved = bytes([welcome[0], path]) + welcome[2:4] + id.to_bytes(4, "big") + welcome[8:]
    assert other.take_welcome(moved) == BAD_TAG
    assert one.take_welcome(welcome) == TAKEN
    confirm = one.confirm()
    moved = bytes([confirm[0], path]) + confirm[2:4] + id.to_bytes(4, "big") + confirm[8:]
    assert agent.take_confirm(moved) == BAD_TAG


def test_a_hello_since_then_has_no_confirm(leader: Leader, agent: Agent) -> None:
    confirmed(leader, agent)
    leader.hello(bytes(range(1, 25)))
    assert leader.confirm() == b""


def test_ready_is_taken_once(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    assert leader.take_ready(agent.ready()) == REPLAYED


def test_ready_of_another_session(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    old = agent.ready()
    assert agent.take_confirm(confirmed(leader, agent, bytes(range(1, 25)))) == TAKEN
    assert leader.take_ready(old) == BAD_TAG
    assert leader.take_ready(agent.ready() + b"x") == BAD_TYPE
    assert leader.take_ready(agent.ready()[:-1]) == TRUNCATED
    assert leader.take_ready(agent.ready()) == TAKEN


def test_without_a_key_nothing_is_taken_or_sent(leader: Leader, agent: Agent) -> None:
    hello, welcome = leader.hello(), asked(leader, agent)
    confirm = confirmed(leader, agent)
    leader.join.asked = True
    agent.keys, leader.keys = Keys(), Keys()
    assert agent.take_hello(hello)[0] == STRANGER
    assert leader.take_welcome(welcome) == STRANGER
    assert agent.take_confirm(confirm) == STRANGER
    assert leader.hello() == b""


# auth off


def test_auth_off_registers_without_tags() -> None:
    leader, agent = Leader(None), Agent(None)
    assert leader.hello()[-16:] == bytes(16)
    register(leader, agent)
    assert (leader.session.auth, agent.session.auth) == (False, False)
    assert len(agent.ready()) == 12
    assert wire.seal(leader.session, 1, b"text") == b"text" + bytes(16)
    assert wire.open(agent.session, 1, b"text" * 5) == (TAKEN, b"text" * 5)
    verdict, head = wire.head(bytes.fromhex("50 00 4321 00000001 45"))
    assert verdict == TAKEN
    assert wire.check(agent.session, head, 9) == (TAKEN, 1)


@pytest.mark.parametrize(("one", "two"), [(PSK, None), (None, PSK)])
def test_auth_is_never_given_up(one: bytes | None, two: bytes | None) -> None:
    leader, agent = Leader(one), Agent(two)
    assert agent.take_hello(leader.hello())[0] == BAD_TAG
    same_side = Agent(one)
    confirm = confirmed(leader, same_side)
    agent.issuer.last = same_side.issuer.last
    assert agent.take_confirm(confirm) == BAD_TAG
    third = Leader(two)
    third.hello()
    assert third.take_welcome(asked(leader, same_side)) == BAD_TAG


def test_auth_off_cannot_encrypt() -> None:
    leader, agent = Leader(None), Agent(None, encrypt=True)
    leader.join.encrypt = True
    register(leader, agent)
    assert not leader.session.encrypt
    assert not agent.session.encrypt
    confirm = bytearray(leader.confirm())
    confirm[2] = ENCRYPTED
    assert agent.take_confirm(bytes(confirm)) == BAD_TYPE
    leader.session.ready = False
    ready = bytearray(agent.ready())
    ready[10] = ENCRYPTED
    assert leader.take_ready(bytes(ready)) == BAD_TYPE
    ready[10:12] = 0, 1
    assert leader.take_ready(bytes(ready)) == BAD_TYPE
    ready[11] = 0
    assert leader.take_ready(bytes(ready)) == TAKEN


# encryption


@pytest.mark.parametrize("theirs", [False, True])
@pytest.mark.parametrize("mine", [False, True])
def test_who_wishes_encryption_gets_it(mine: bool, theirs: bool) -> None:
    leader, agent = Leader(PSK), Agent(PSK, encrypt=theirs)
    leader.join.encrypt = mine
    register(leader, agent)
    assert leader.session.encrypt == agent.session.encrypt == (mine or theirs)


def test_the_wish_cannot_be_taken_out(leader: Leader, agent: Agent) -> None:
    leader.join.encrypt = True
    confirm = confirmed(leader, agent)
    assert confirm[2] == ENCRYPTED
    assert agent.take_confirm(confirm[:2] + b"\0" + confirm[3:]) == BAD_TAG
    assert agent.take_confirm(confirm) == TAKEN
    ready = agent.ready()
    assert leader.take_ready(ready[:10] + b"\0" + ready[11:]) == BAD_TAG


def test_a_session_that_encrypts_takes_no_plain_data() -> None:
    s = Session(auth=True, encrypt=True)
    for flags, verdict in ((0, BAD_TYPE), (ENCRYPTED, TAKEN)):
        assert wire.check(s, Head(DATA, 0, flags, 1, 1, 0), 60)[0] == verdict
    plain = Session(auth=True)
    assert wire.check(plain, Head(DATA, 0, ENCRYPTED, 1, 1, 0), 60)[0] == TAKEN
    none = Session(auth=False)
    assert wire.check(none, Head(DATA, 0, ENCRYPTED, 1, 1, 0), 60)[0] == BAD_TYPE


def test_without_a_tag_a_checksum_must_be_filled_in() -> None:
    for flags in (UNSUMMED, UNSUMMED | COUNTED):
        head = Head(DATA, 0, flags, 1, 1, 0)
        assert wire.check(Session(auth=True), head, 60)[0] == TAKEN
        assert wire.check(Session(auth=False), head, 60)[0] == BAD_TYPE
    head = Head(DATA, 0, UNSUMMED | ENCRYPTED, 1, 1, 0)
    assert wire.check(Session(auth=True, encrypt=True), head, 60)[0] == TAKEN


# packets of a session


@pytest.mark.parametrize("auth", [False, True])
@pytest.mark.parametrize(("kind", "flags", "octets"), [(DATA, 0, 9), (ACK, 0, 32), (PROBE, 1, 8)])
def test_lengths_with_and_without_tag(auth: bool, kind: int, flags: int, octets: int) -> None:
    s, head = Session(auth=auth), Head(kind, 0, flags, 1, 1, 0)
    octets += 16 if auth else 0
    assert wire.check(s, head, octets - 1)[0] == TRUNCATED
    assert wire.check(s, head, octets)[0] == TAKEN
    assert wire.check(s, head, octets + 1)[0] == (TAKEN if kind == DATA else BAD_TYPE)


@pytest.mark.parametrize("kind", [CONFIRM, READY, RESET])
def test_other_types_are_not_of_a_session(kind: int) -> None:
    assert wire.check(Session(auth=True), Head(kind, 0, 0, 1, 1, 0), 60)[0] == BAD_TYPE


def test_a_packet_seen_before() -> None:
    s = Session(auth=True)
    s.replay.newest = 1 << 40
    s.replay.seen[0] = 1
    low = Head(DATA, 0, COUNTED, 1, 0, 0)
    assert wire.check(s, low, 60)[0] == REPLAYED
    low.counter = 5
    assert wire.check(s, low, 60) == (TAKEN, (1 << 40) + 5)
    low.counter = 0xFFFFFFFF
    assert wire.check(s, low, 60) == (TAKEN, (1 << 40) - 1)
    low.counter = 0xFFFF0000
    assert wire.check(s, low, 60)[0] == REPLAYED


def test_a_session_is_used_up() -> None:
    s, counter = Session(counter=LIMIT - 1, ready=True), ctypes.c_uint64()
    assert wire.call("session_next", s, counter)
    assert counter.value == LIMIT - 1
    for _ in range(3):
        assert not wire.call("session_next", s, counter)
    assert s.counter == LIMIT


def test_nothing_is_sent_before_ready(leader: Leader, agent: Agent) -> None:
    counter = ctypes.c_uint64()
    agent.take_confirm(confirmed(leader, agent))
    assert not wire.call("session_next", leader.session, counter)
    leader.take_ready(agent.ready())
    for session in (leader.session, agent.session):
        assert wire.call("session_next", session, counter)
        assert counter.value == 1, "0 is READY's"


@pytest.mark.parametrize(
    ("index", "ago", "hint"),
    [(5, 1, True), (5, 1_000_000, True), (5, 1_000_001, False), (5, 0, False), (6, 1, False)],
)
def test_resets_that_name_a_packet_sent_lately(index: int, ago: int, hint: bool) -> None:
    s = Session(counter=(1 << 32) + 3, peer_index=5, ready=True)
    reset = Head(RESET, 0, 0, index, (3 - ago) & 0xFFFFFFFF, 0)
    assert bool(wire.call("session_hints", s, reset)) == hint
    s.ready = False
    assert not wire.call("session_hints", s, reset)


def test_resets_that_name_a_packet_never_sent() -> None:
    s = Session(counter=3, peer_index=5, ready=True)
    hints = [wire.call("session_hints", s, Head(RESET, 0, 0, 5, n, 0)) for n in range(5)]
    assert hints == [False, True, True, False, False]


def test_keys_are_forgotten(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    wire.call("session_forget", leader.session)
    wire.call("keys_forget", leader.keys)
    assert bytes(leader.session) == bytes(ctypes.sizeof(Session))
    assert bytes(leader.keys) == bytes(ctypes.sizeof(Keys))
