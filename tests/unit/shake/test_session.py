# SPDX-License-Identifier: GPL-2.0
"""Registration and sessions: every octet computed again, and every attack that was thought of."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.shake import aead, noise
from tests.unit.shake import wire_core as wire
from tests.unit.shake.wire_core import (
    ACK,
    AGAIN,
    BAD_TAG,
    BAD_TYPE,
    BEHIND,
    CAME,
    CONFIRM,
    COUNTED,
    DATA,
    ENCRYPTED,
    HELLO,
    OPEN,
    PROBE,
    PUBLIC,
    READY,
    REPLAYED,
    RESET,
    SHARED,
    SIZED,
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
    Trust,
    register,
)

PSK = bytes(range(100, 132))
OTHER_PSK = bytes(range(7, 39))
LEADERS, AGENTS, OTHERS = bytes(range(1, 33)), bytes(range(41, 73)), bytes(range(90, 122))
LIMIT = 1 << 62


def by_keys(psk: bytes | None = None) -> tuple[Trust, Trust]:
    """A leader and its agent that know each other's public keys."""
    return (
        Trust(psk, LEADERS, noise.public(AGENTS)),
        Trust(psk, AGENTS, noise.public(LEADERS)),
    )


SHARED_KEY = (Trust(PSK), Trust(PSK))
OPENLY = (Trust(), Trust())
TRUSTS = {"shared": SHARED_KEY, "public": by_keys(), "both": by_keys(PSK)}


@pytest.fixture(params=TRUSTS)
def trust(request: pytest.FixtureRequest) -> tuple[Trust, Trust]:
    return TRUSTS[request.param]


@pytest.fixture
def leader(trust: tuple[Trust, Trust]) -> Leader:
    return Leader(trust[0])


@pytest.fixture
def agent(trust: tuple[Trust, Trust]) -> Agent:
    return Agent(trust[1])


def nonce_of(counter: int) -> bytes:
    return bytes(4) + counter.to_bytes(8, "little")


def asked(leader: Leader, agent: Agent, random: bytes = bytes(range(32)), time: int = 1) -> bytes:
    """The WELCOME of a HELLO."""
    verdict, welcome = agent.take_hello(leader.hello(random, time))
    assert verdict == TAKEN
    return welcome


def confirmed(leader: Leader, agent: Agent, random: bytes = bytes(range(32))) -> bytes:
    """The CONFIRM of a HELLO and its WELCOME."""
    assert leader.take_welcome(asked(leader, agent, random)) == TAKEN
    return leader.confirm()


def flips(packet: bytes) -> list[bytes]:
    """A packet with one bit wrong, in each octet another one."""
    wrong = []
    for at in range(len(packet)):
        copy = bytearray(packet)
        copy[at] ^= 1 << at * 3 % 8
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


@pytest.mark.parametrize("how", TRUSTS)
def test_every_octet_of_a_registration(how: str) -> None:
    leads, serves = TRUSTS[how]
    leader, agent = Leader(leads), Agent(serves)
    kind = SHARED if how == "shared" else PUBLIC
    random, time = bytes(range(50, 82)), 0x0102030405060708
    first = bytes([0x10, 2, kind, 0, *(7 if kind == SHARED else 0).to_bytes(4, "big")])
    pattern = "NNpsk0" if kind == SHARED else "IKpsk2"
    given = {"psk": leads.psk or bytes(32), "s": leads.secret or b"", "rs": leads.public or b""}
    far = noise.Handshake(pattern, True, b"SHAKE 1" + first, **given)
    seed = PSK if kind == SHARED else noise.public(AGENTS)
    back = PSK if kind == SHARED else noise.public(LEADERS)

    hello = first + far.write(time.to_bytes(8, "big"), random)
    hello += noise.mac(noise.blake2s(b"shake hello", seed), hello) + bytes(16)
    leader.join.encrypt = True
    assert leader.hello(random, time) == hello
    leader.join.encrypt = False  # too late for this HELLO

    verdict, welcome = agent.take_hello(hello)
    assert (verdict, len(welcome)) == (TAKEN, 88)
    assert welcome[:12] == bytes([0x20, 2, kind, 0]) + noise.public(random)[:8]
    assert far.read(welcome[12:72]) == bytes.fromhex("4321 0000") + bytes(8)
    assert welcome[72:] == noise.mac(noise.blake2s(b"shake welcome", back), welcome[:72])

    up, down = far.split()
    assert leader.take_welcome(welcome) == TAKEN
    confirm = bytes.fromhex("30 00 4321 00000000 1234 04 00")
    assert leader.confirm() == confirm + aead.encrypt(up, nonce_of(0), b"", confirm)
    assert agent.take_confirm(leader.confirm()) == TAKEN
    ready = bytes.fromhex("40 00 1234 00000000 4321 04 00")
    assert agent.ready() == ready + aead.encrypt(down, nonce_of(0), b"", ready)
    assert leader.take_ready(agent.ready()) == TAKEN

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
    assert all(agent.take_hello(wrong)[0] != TAKEN for wrong in flips(hello)[:-16])
    assert agent.accepted == 0
    _, welcome = agent.take_hello(hello)
    assert all(leader.take_welcome(wrong) != TAKEN for wrong in flips(welcome))
    assert leader.take_welcome(welcome) == TAKEN
    confirm = leader.confirm()
    assert all(agent.take_confirm(wrong) != TAKEN for wrong in flips(confirm))
    assert agent.take_confirm(confirm) == TAKEN
    ready = agent.ready()
    assert all(leader.take_ready(wrong) != TAKEN for wrong in flips(ready))
    assert not leader.session.ready
    assert leader.take_ready(ready) == TAKEN


def test_who_knows_the_macs_alone_is_found_by_the_handshake(leader: Leader, agent: Agent) -> None:
    """With public keys anybody can make a mac1: the octets in front of it are changed."""
    hello = leader.hello()
    for wrong in flips(hello[:-32])[8:]:
        forged = octets_with_mac(bytes(agent.keys.hello), wrong) + bytes(16)
        assert agent.take_hello(forged)[0] in (BAD_TAG, STRANGER)
    _, welcome = agent.take_hello(hello)
    for wrong in flips(welcome[:-16])[12:]:
        forged = octets_with_mac(bytes(leader.keys.welcome), wrong)
        assert leader.take_welcome(forged) == BAD_TAG
    assert leader.take_welcome(welcome) == TAKEN


def octets_with_mac(key: bytes, octets: bytes) -> bytes:
    return octets + noise.mac(key, octets)


@pytest.mark.parametrize(
    "other",
    [
        Trust(OTHER_PSK),
        Trust(None, OTHERS, noise.public(AGENTS)),
        Trust(OTHER_PSK, LEADERS, noise.public(AGENTS)),
        Trust(None, LEADERS, noise.public(OTHERS)),
        Trust(),
    ],
)
def test_another_key_is_found(trust: tuple[Trust, Trust], other: Trust) -> None:
    """Nobody falls back to another kind of trust, either."""
    stranger, agent = Leader(other), Agent(trust[1])
    verdict, welcome = agent.take_hello(stranger.hello())
    if verdict == TAKEN:  # the shared key beside public ones comes in the answer
        assert stranger.take_welcome(welcome) == BAD_TAG
    else:
        assert verdict in (BAD_TAG, STRANGER)


def test_a_leader_with_the_public_keys_alone_learns_nothing() -> None:
    """Whose shared key is another one has no session that its agent takes anything in."""
    leads, _ = by_keys(OTHER_PSK)
    _, serves = by_keys(PSK)
    leader, agent = Leader(leads), Agent(serves)
    assert leader.take_welcome(asked(leader, agent)) == BAD_TAG
    assert not agent.pending.taking and not agent.pending.ready


def test_a_recorded_hello_makes_no_session(leader: Leader, agent: Agent) -> None:
    hello = leader.hello()
    register(leader, agent)
    session = bytes(agent.session)
    answers = [agent.take_hello(hello) for _ in range(5)]
    assert {verdict for verdict, _ in answers} == {BEHIND}
    assert len({answer for _, answer in answers}) == 5, "an ephemeral key was used twice"
    assert bytes(agent.session) == session and agent.pending is None
    assert all(leader.take_welcome(answer) == STALE for _, answer in answers)


def test_a_recorded_hello_to_an_agent_that_began_anew(trust: tuple[Trust, Trust]) -> None:
    """It makes a session that nobody can use, and that the next HELLO takes the place of."""
    leader = Leader(trust[0])
    hello = leader.hello(time=100)
    agent = Agent(trust[1])
    assert agent.take_hello(hello)[0] == TAKEN
    assert not agent.pending.taking
    register(leader, agent, bytes(range(1, 33)))


def test_a_leader_whose_clock_went_back(leader: Leader, agent: Agent) -> None:
    """It is told, by an agent that has its keys, and says a later time."""
    register(leader, agent)
    leader.join.time = 0
    verdict, welcome = agent.take_hello(leader.hello(bytes(range(1, 33)), 5))
    assert verdict == BEHIND
    assert leader.take_welcome(welcome) == BEHIND
    assert leader.join.time == agent.accepted
    register(leader, agent, bytes(range(2, 34)))


def test_the_last_time_of_all(leader: Leader, agent: Agent) -> None:
    leader.hello(time=(1 << 64) - 1)
    assert agent.take_hello(leader.hello(time=3))[0] == TAKEN
    assert (leader.join.time, agent.accepted) == ((1 << 64) - 1,) * 2


def test_a_recorded_welcome_is_stale(leader: Leader, agent: Agent) -> None:
    old = asked(leader, agent)
    assert leader.take_welcome(old) == TAKEN
    assert leader.take_welcome(old) == STALE
    leader.hello(bytes(range(1, 33)))
    assert leader.take_welcome(old) == STALE


def test_a_hello_repeated_accepts_the_first_answer(leader: Leader, agent: Agent) -> None:
    hello = leader.hello()
    _, slow = agent.take_hello(hello)
    assert leader.again() == hello
    assert leader.take_welcome(slow) == TAKEN


def test_a_recorded_confirm_only_repeats_ready(leader: Leader, agent: Agent) -> None:
    confirm = confirmed(leader, agent)
    assert agent.take_confirm(confirm) == TAKEN
    ready, session = agent.ready(), bytes(agent.session)
    assert agent.take_confirm(confirm) == AGAIN
    assert leader.confirm() == confirm
    assert (agent.ready(), bytes(agent.session)) == (ready, session)


def test_another_confirm_of_the_session_is_stale(leader: Leader, agent: Agent) -> None:
    """Two with one key and nonce would show the tag's key; READY could not answer both."""
    assert agent.take_confirm(confirmed(leader, agent)) == TAKEN
    leader.session.index += 1
    assert agent.take_confirm(leader.confirm()) == STALE
    leader.session.index -= 1
    leader.session.wish = True
    assert agent.take_confirm(leader.confirm()) == STALE
    leader.session.wish = False
    assert agent.take_confirm(leader.confirm()) == AGAIN


def test_a_leader_that_started_again_registers(trust: tuple[Trust, Trust]) -> None:
    leader, agent = Leader(trust[0]), Agent(trust[1])
    register(leader, agent)
    old = agent.session
    recorded = wire.seal(leader.session, 1, b"sent before")
    leader = Leader(trust[0])
    leader.join.time = 1_000
    register(leader, agent)  # with the same random octets: the agent's are others
    assert bytes(old.send) != bytes(agent.session.send)
    assert wire.open(agent.session, 1, recorded)[0] == BAD_TAG


def test_messages_sent_back_to_their_sender(leader: Leader, agent: Agent) -> None:
    """As they are they have the other role's types and lengths; sessions have a key per way."""
    hello = leader.hello()
    as_welcome = bytes([WELCOME << 4]) + hello[1:]
    assert leader.take_welcome(as_welcome) == BAD_TYPE
    assert leader.take_welcome(as_welcome[:88]) == STALE
    register(leader, agent)
    sealed = wire.seal(leader.session, 1, b"up the path")
    assert wire.open(leader.session, 1, sealed)[0] == BAD_TAG
    confirm = leader.confirm()
    as_ready = bytes([READY << 4]) + confirm[1:]
    assert leader.take_ready(as_ready) == BAD_TAG


@pytest.mark.parametrize("at", [1, 2, 7])
def test_what_stands_in_front_is_part_of_the_handshake(
    leader: Leader, agent: Agent, at: int
) -> None:
    """Another path, kind or leader, by who can make a mac1."""
    moved = bytearray(leader.hello()[:-32])
    moved[at] ^= 1
    forged = octets_with_mac(bytes(agent.keys.hello), bytes(moved)) + bytes(16)
    assert agent.take_hello(forged)[0] in (BAD_TAG, BAD_TYPE, STRANGER, TRUNCATED)


def test_a_welcome_of_another_path(trust: tuple[Trust, Trust]) -> None:
    one, agent, other = Leader(trust[0]), Agent(trust[1]), Leader(trust[0], path=3)
    welcome = asked(one, agent)
    other.hello()
    assert other.take_welcome(welcome) == STRANGER
    moved = octets_with_mac(bytes(one.keys.welcome), bytes([welcome[0], 3]) + welcome[2:-16])
    assert other.take_welcome(moved) == BAD_TAG


def test_ready_is_taken_once(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    assert leader.take_ready(agent.ready()) == REPLAYED


def test_ready_of_another_session(leader: Leader, agent: Agent) -> None:
    register(leader, agent)
    old = agent.ready()
    assert agent.take_confirm(confirmed(leader, agent, bytes(range(1, 33)))) == TAKEN
    assert leader.take_ready(old) == BAD_TAG
    assert leader.take_ready(agent.ready() + b"x") == BAD_TYPE
    assert leader.take_ready(agent.ready()[:-1]) == TRUNCATED
    assert leader.take_ready(agent.ready()) == TAKEN


def test_without_a_key_nothing_is_taken_or_sent(leader: Leader, agent: Agent) -> None:
    hello, welcome = leader.hello(), asked(leader, agent)
    mac = bytes(agent.keys.hello)
    agent.keys, leader.keys = Keys(), Keys()
    agent.keys.hello[:] = mac
    assert agent.take_hello(hello)[0] == STRANGER
    assert leader.take_welcome(welcome) == STRANGER
    assert leader.hello() == b""


@pytest.mark.parametrize("missing", ["secret", "public"])
def test_half_a_key_pair_is_none(missing: str) -> None:
    trust = Trust(None, LEADERS, noise.public(AGENTS))
    half = Trust(
        None,
        None if missing == "secret" else trust.secret,
        None if missing == "public" else trust.public,
    )
    assert Leader(half).hello() == b""


def test_a_public_key_that_is_none() -> None:
    """Zero, and points of small order."""
    for point in (bytes(32), b"\1" + bytes(31)):
        assert Leader(Trust(None, LEADERS, point)).hello() == b""
    leader, agent = Leader(Trust(PSK)), Agent(Trust(PSK))
    hello = leader.hello()
    far = noise.Handshake("NNpsk0", True, b"SHAKE 1" + hello[:8], psk=PSK)
    far.mix_psk()
    far.mix_hash(bytes(32))
    far.mix_key(bytes(32))
    forged = hello[:8] + bytes(32) + far.encrypt(bytes(7) + b"\7")
    forged = octets_with_mac(bytes(agent.keys.hello), forged) + bytes(16)
    assert agent.take_hello(forged) == (BAD_TAG, b"")


# auth off


def test_auth_off_registers_without_tags() -> None:
    leader, agent = Leader(OPENLY[0]), Agent(OPENLY[1])
    assert leader.hello()[-48:] == bytes(48)
    register(leader, agent)
    assert (leader.session.auth, agent.session.auth) == (False, False)
    assert len(agent.ready()) == 12
    assert wire.seal(leader.session, 1, b"text") == b"text" + bytes(16)
    assert wire.open(agent.session, 1, b"text" * 5) == (TAKEN, b"text" * 5)
    verdict, head = wire.head(bytes.fromhex("50 00 4321 00000001 45"))
    assert verdict == TAKEN
    assert wire.check(agent.session, head, 9) == (TAKEN, 1)


def test_auth_is_never_given_up(trust: tuple[Trust, Trust]) -> None:
    assert Agent(trust[1]).take_hello(Leader(OPENLY[0]).hello())[0] != TAKEN
    assert Agent(OPENLY[1]).take_hello(Leader(trust[0]).hello())[0] != TAKEN
    third, agent = Leader(trust[0]), Agent(OPENLY[1])
    hello = third.hello()
    openly = bytes([HELLO << 4, 2, OPEN, 0]) + bytes(4) + hello[8:40] + bytes(56)
    _, welcome = agent.take_hello(openly)
    assert third.take_welcome(welcome) == STRANGER
    kind = third.keys.trust
    assert third.take_welcome(welcome[:2] + bytes([kind]) + welcome[3:]) == BAD_TAG


def test_auth_off_cannot_encrypt() -> None:
    leader, agent = Leader(OPENLY[0]), Agent(OPENLY[1], encrypt=True)
    leader.join.encrypt = True
    register(leader, agent)
    assert not leader.session.encrypt
    assert not agent.session.encrypt
    confirm = bytearray(leader.confirm())
    confirm[10] = ENCRYPTED
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
def test_who_wishes_encryption_gets_it(
    trust: tuple[Trust, Trust], mine: bool, theirs: bool
) -> None:
    leader, agent = Leader(trust[0]), Agent(trust[1], encrypt=theirs)
    leader.join.encrypt = mine
    register(leader, agent)
    assert leader.session.encrypt == agent.session.encrypt == (mine or theirs)


def test_the_wish_cannot_be_taken_out(leader: Leader, agent: Agent) -> None:
    leader.join.encrypt = True
    confirm = confirmed(leader, agent)
    assert confirm[10] == ENCRYPTED
    assert agent.take_confirm(confirm[:10] + b"\0" + confirm[11:]) == BAD_TAG
    assert agent.take_confirm(confirm) == TAKEN
    ready = agent.ready()
    assert leader.take_ready(ready[:10] + b"\0" + ready[11:]) == BAD_TAG


def test_a_session_that_encrypts_takes_no_plain_data() -> None:
    s = Session(taking=True, auth=True, encrypt=True)
    for flags, verdict in ((0, BAD_TYPE), (ENCRYPTED, TAKEN)):
        assert wire.check(s, Head(DATA, 0, flags, 1, 1, 0), 60)[0] == verdict
    plain = Session(taking=True, auth=True)
    assert wire.check(plain, Head(DATA, 0, ENCRYPTED, 1, 1, 0), 60)[0] == TAKEN
    none = Session(taking=True, auth=False)
    assert wire.check(none, Head(DATA, 0, ENCRYPTED, 1, 1, 0), 60)[0] == BAD_TYPE


def test_only_a_probe_of_a_size_is_longer() -> None:
    s = Session(taking=True, auth=True)
    for flags, verdict in ((SIZED, TAKEN), (CAME, BAD_TYPE), (COUNTED, BAD_TYPE)):
        assert wire.check(s, Head(PROBE, 0, flags, 1, 1, 0), 1472)[0] == verdict
    for flags, least in ((SIZED, 28), (CAME, 28), (COUNTED, 24)):
        assert wire.check(s, Head(PROBE, 0, flags, 1, 1, 0), least)[0] == TAKEN
        assert wire.check(s, Head(PROBE, 0, flags, 1, 1, 0), least - 1)[0] == TRUNCATED


def test_without_a_tag_a_checksum_must_be_filled_in() -> None:
    for flags in (UNSUMMED, UNSUMMED | COUNTED):
        head = Head(DATA, 0, flags, 1, 1, 0)
        assert wire.check(Session(taking=True, auth=True), head, 60)[0] == TAKEN
        assert wire.check(Session(taking=True, auth=False), head, 60)[0] == BAD_TYPE
    head = Head(DATA, 0, UNSUMMED | ENCRYPTED, 1, 1, 0)
    assert wire.check(Session(taking=True, auth=True, encrypt=True), head, 60)[0] == TAKEN


# packets of a session


@pytest.mark.parametrize("auth", [False, True])
@pytest.mark.parametrize(("kind", "flags", "octets"), [(DATA, 0, 9), (ACK, 0, 32), (PROBE, 1, 8)])
def test_lengths_with_and_without_tag(auth: bool, kind: int, flags: int, octets: int) -> None:
    s, head = Session(taking=True, auth=auth), Head(kind, 0, flags, 1, 1, 0)
    octets += 16 if auth else 0
    assert wire.check(s, head, octets - 1)[0] == TRUNCATED
    assert wire.check(s, head, octets)[0] == TAKEN
    assert wire.check(s, head, octets + 1)[0] == (TAKEN if kind == DATA else BAD_TYPE)


@pytest.mark.parametrize("kind", [CONFIRM, READY, RESET])
def test_other_types_are_not_of_a_session(kind: int) -> None:
    assert wire.check(Session(taking=True, auth=True), Head(kind, 0, 0, 1, 1, 0), 60)[0] == BAD_TYPE


def test_a_packet_seen_before() -> None:
    s = Session(taking=True, auth=True)
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
    confirm = confirmed(leader, agent)
    assert not wire.call("session_next", agent.pending, counter)
    agent.take_confirm(confirm)
    assert not wire.call("session_next", leader.session, counter)
    leader.take_ready(agent.ready())
    for session in (leader.session, agent.session):
        assert wire.call("session_next", session, counter)
        assert counter.value == 1, "0 is that of CONFIRM and READY"


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


def test_an_agent_takes_no_data_before_confirm(leader: Leader, agent: Agent) -> None:
    confirm = confirmed(leader, agent)
    head = Head(DATA, 0, 0, 1, 1, 0)
    assert wire.check(agent.pending, head, 60)[0] == STALE
    assert wire.check(leader.session, head, 60)[0] == TAKEN
    agent.take_confirm(confirm)
    assert wire.check(agent.session, head, 60)[0] == TAKEN


def test_keys_are_forgotten(leader: Leader, agent: Agent) -> None:
    """Those of the handshake as soon as it is over."""
    leader.hello()
    assert any(leader.join.secret) and any(bytes(leader.join.noise))
    register(leader, agent)
    assert not any(leader.join.secret) and not any(bytes(leader.join.noise))
    wire.call("session_forget", leader.session)
    assert bytes(leader.session) == bytes(ctypes.sizeof(Session))
