# SPDX-License-Identifier: GPL-2.0
"""wire.c, session.c, noise.c and guard.c of shake/core as Python functions, and two ends that
register.
"""

from __future__ import annotations

import ctypes
from ctypes import c_uint8, c_uint64
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests import ROOT
from tests.fuzz import SHAKE_WIRE
from tests.unit.devices import DeviceHeaders, build
from tests.unit.headers.cheaders import Library

HELLO, WELCOME, CONFIRM, READY, DATA, ACK, PROBE, RESET, COOKIE = range(1, 10)
SIZED, CAME = 2, 8
COUNTED, MAL, ENCRYPTED, RETRANSMIT, KEPT, UNSUMMED, POLICY = 1, 2, 4, 8, 16, 32, 64
NUMBERED = 64
NO_KEY, OPEN, SHARED, PUBLIC = range(4)
(
    TAKEN,
    TRUNCATED,
    BAD_TYPE,
    NO_SESSION,
    BAD_TAG,
    REPLAYED,
    STALE,
    STRANGER,
    AGAIN,
    BEHIND,
) = range(10)
HEADERS = DeviceHeaders([ROOT / "shake/core/guard.h"])
Head, AckBody, Registration, Keys, Identity, Join, Session, Noise, Guard, Policy = (
    HEADERS.structs[f"shake_{name}"]
    for name in (
        "head", "ack_body", "registration", "keys", "identity", "join", "session", "noise", "guard",
        "policy",
    )
)  # fmt: skip


@cache
def library() -> Library:
    return build("shake_wire", HEADERS, SHAKE_WIRE)


def octets(data: bytes) -> ctypes.Array[c_uint8]:
    """A buffer of exactly these octets."""
    return (c_uint8 * len(data)).from_buffer_copy(data) if data else (c_uint8 * 0)()


def call(name: str, *arguments: Any) -> int:
    """A function by its name in C, without ``shake_``."""
    given = [octets(a) if isinstance(a, bytes) else a for a in arguments]
    return getattr(library(), f"shake_{name}")(*given)


def written(name: str, *arguments: Any) -> bytes:
    """What a function writes that returns the length."""
    room = (c_uint8 * 160)()
    length = call(name, room, *arguments)
    assert length <= 160 - 8
    return bytes(room[:length])


def head(packet: bytes) -> tuple[int, Head]:
    read = Head()
    return call("head_read", packet, len(packet), read), read


def registration(packet: bytes) -> tuple[int, Registration]:
    read = Registration()
    return call("registration_read", packet, len(packet), read), read


@dataclass(frozen=True)
class Trust:
    """What an end trusts the other by; nothing at all: `auth off`."""

    psk: bytes | None = None
    secret: bytes | None = None
    public: bytes | None = None

    def keys(self, leader: bool) -> tuple[Keys, Identity]:
        made, own = Keys(), Identity()
        if self.secret:
            assert call("identity_set", own, self.secret)
        if self.psk:
            made.has_psk, made.psk[:] = True, self.psk
        if self.public:
            made.has_public, made.public[:] = True, self.public
        call("keys_settle", made, own, self != Trust(), leader)
        return made, own


def seal(s: Session, counter: int, packet: bytes, clear: int | None = None) -> bytes:
    room = octets(packet + bytes(16))
    at = len(packet) if clear is None else clear
    call("seal", s, counter, room, len(packet), at)
    return bytes(room)


def open(s: Session, counter: int, packet: bytes, clear: int | None = None) -> tuple[int, bytes]:
    room = octets(packet)
    at = len(packet) - 16 if clear is None else clear
    verdict = call("open", s, counter, room, len(packet), at)
    return verdict, bytes(room)


def tag(key: bytes, counter: int, pieces: list[bytes]) -> bytes:
    """The tag of octets that come in pieces."""
    tagger, made = (c_uint8 * 1024)(), octets(bytes(16))
    call("tag_begin", tagger, key, counter)
    for piece in pieces:
        call("tag_add", tagger, piece, len(piece))
    call("tag_end", tagger, made)
    return bytes(made)


def check(s: Session, head: Head, length: int) -> tuple[int, int]:
    counter = c_uint64()
    verdict = call("session_check", s, head, length, counter)
    return verdict, counter.value


class Leader:
    def __init__(self, trust: Trust, id: int = 7, path: int = 2) -> None:
        self.keys, self.own = trust.keys(leader=True)
        self.join = Join(id=id, path=path)
        self.session = Session()
        self.now = 0

    def hello(self, random: bytes = bytes(range(32)), time: int = 1_000) -> bytes:
        """Another one; b"": there is no key."""
        if not call("hello_make", self.join, self.keys, self.own, random, time):
            return b""
        return self.again()

    def again(self) -> bytes:
        return written("hello_write", self.join, self.now)

    def take_cookie(self, packet: bytes) -> int:
        verdict, read = registration(packet)
        return verdict or call("cookie_read", packet, read, self.join, self.keys, self.now)

    def take_welcome(self, packet: bytes, index: int = 0x1234) -> int:
        verdict, read = registration(packet)
        verdict = verdict or call("welcome_check", packet, read, self.join, self.keys)
        if verdict:
            return verdict
        copy, made = Join.from_buffer_copy(self.join), Session()
        verdict = call("welcome_open", packet, copy, self.keys, self.own, made)
        if verdict == TAKEN:
            self.session = made
            self.session.index = index
        if verdict in (TAKEN, BEHIND):
            self.join = copy
        return verdict

    def confirm(self) -> bytes:
        return written("final_write", self.session, CONFIRM)

    def take_ready(self, packet: bytes) -> int:
        verdict, read = head(packet)
        if not verdict and read.type != READY:
            verdict = BAD_TYPE
        return verdict or call("ready_read", packet, len(packet), self.session)


class Agent:
    def __init__(self, trust: Trust, encrypt: bool = False) -> None:
        self.keys, self.own = trust.keys(leader=False)
        self.encrypt = encrypt
        self.accepted = 0
        self.pending: Session | None = None
        self.session: Session | None = None
        self.random = 100

    def _open(self, packet: bytes, read: Registration, noise: Noise) -> tuple[int, int]:
        mac = self.own.mac if read.kind == PUBLIC else self.keys.hello
        verdict = 0
        if read.kind != OPEN:
            verdict = call("hello_check", packet, len(packet), mac)
        if not verdict and read.kind == PUBLIC:
            public = octets(bytes(32))
            verdict = call("hello_who", packet, self.own, noise, public)
            if not verdict and bytes(public) != bytes(self.keys.public):
                verdict = STRANGER
        time = c_uint64()
        return verdict or call("hello_open", packet, read, self.keys, noise, time), time.value

    def take_hello(self, packet: bytes, index: int = 0x4321) -> tuple[int, bytes]:
        verdict, read = registration(packet)
        if verdict:
            return verdict, b""
        noise, made, ephemeral = Noise(), Session(), octets(bytes(32))
        verdict, time = self._open(packet, read, noise)
        if verdict:
            return verdict, b""
        self.random += 1
        random = bytes([0, self.random]) + bytes(range(30))
        verdict = call("welcome_begin", packet, self.keys, noise, random, ephemeral, made)
        if verdict:
            return verdict, b""
        late = self.keys.trust != OPEN and time <= self.accepted
        given = (0, self.accepted) if late else (index, 0)
        welcome = written("welcome_write", read, self.keys, noise, ephemeral, *given)
        assert bytes(noise) == bytes(ctypes.sizeof(Noise)), "the handshake's keys stay"
        if not late:
            self.pending, self.accepted = made, time
            self.pending.index = index
        return BEHIND if late else TAKEN, welcome

    def take_confirm(self, packet: bytes) -> int:
        verdict, read = head(packet)
        session = self.pending or self.session
        if not verdict and (read.type != CONFIRM or not session):
            verdict = STALE
        verdict = verdict or call("confirm_read", packet, len(packet), session, self.encrypt)
        if verdict == TAKEN:
            self.session, self.pending = session, None
        return verdict

    def ready(self) -> bytes:
        return written("final_write", self.session, READY)


def register(leader: Leader, agent: Agent, random: bytes = bytes(range(32))) -> None:
    verdict, welcome = agent.take_hello(leader.hello(random))
    assert verdict == TAKEN
    assert leader.take_welcome(welcome) == TAKEN
    assert agent.take_confirm(leader.confirm()) == TAKEN
    assert leader.take_ready(agent.ready()) == TAKEN
