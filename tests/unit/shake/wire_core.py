# SPDX-License-Identifier: GPL-2.0
"""shake/wire.c and shake/session.c as Python functions, and two ends that register."""

from __future__ import annotations

import ctypes
from ctypes import c_uint8, c_uint64
from functools import cache
from typing import Any

from tests import ROOT
from tests.fuzz import SHAKE_WIRE
from tests.unit.devices import DeviceHeaders, build
from tests.unit.headers.cheaders import Library

HELLO, WELCOME, CONFIRM, READY, DATA, ACK, PROBE, RESET = range(1, 9)
COUNTED, MAL, ENCRYPTED, RETRANSMIT, KEPT, UNSUMMED, POLICY = 1, 2, 4, 8, 16, 32, 64
NUMBERED = 64
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
) = range(9)
HEADERS = DeviceHeaders([ROOT / "shake/session.h"])
Head, AckBody, Registration, Keys, Issuer, Join, Session, Policy = (
    HEADERS.structs[f"shake_{name}"]
    for name in ("head", "ack_body", "registration", "keys", "issuer", "join", "session", "policy")
)


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
    room = (c_uint8 * 64)()
    length = call(name, room, *arguments)
    assert length <= 64 - 8
    return bytes(room[:length])


def head(packet: bytes) -> tuple[int, Head]:
    read = Head()
    return call("head_read", packet, len(packet), read), read


def registration(packet: bytes) -> tuple[int, Registration]:
    read = Registration()
    return call("registration_read", packet, len(packet), read), read


def keys(psk: bytes | None) -> Keys:
    """None: a device that does not authenticate."""
    made = Keys()
    if psk is None:
        call("keys_open", made)
    else:
        call("keys_derive", made, psk)
    return made


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
    def __init__(self, psk: bytes | None, id: int = 7, path: int = 2) -> None:
        self.keys = keys(psk)
        self.join = Join(id=id, path=path)
        self.session = Session()

    def hello(self, random: bytes = bytes(range(24))) -> bytes:
        return written("hello_write", self.join, self.keys, random)

    def take_welcome(self, packet: bytes, index: int = 0x1234) -> int:
        verdict, read = registration(packet)
        return verdict or call(
            "welcome_read", packet, len(packet), read, self.join,
            self.keys, self.session, index,
        )  # fmt: skip

    def confirm(self) -> bytes:
        return written("confirm_write", self.join, self.session)

    def take_ready(self, packet: bytes) -> int:
        verdict, _ = head(packet)
        return verdict or call("ready_read", packet, len(packet), self.session)


class Agent:
    def __init__(
        self, psk: bytes | None, instance: bytes = b"instance", encrypt: bool = False
    ) -> None:
        self.keys, self.encrypt = keys(psk), encrypt
        self.issuer = Issuer()
        call("issuer_init", self.issuer, instance)
        self.accepted = c_uint64()
        self.session: Session | None = None
        self.now = 1_000_000_000

    def take_hello(self, packet: bytes) -> tuple[int, bytes]:
        verdict, read = registration(packet)
        verdict = verdict or call("hello_check", packet, len(packet), read, self.keys)
        if verdict:
            return verdict, b""
        return TAKEN, written("welcome_write", self.issuer, read, self.keys, self.now)

    def take_confirm(self, packet: bytes, index: int = 0x4321) -> int:
        verdict, read = registration(packet)
        if verdict:
            return verdict
        made = Session()
        verdict = call(
            "confirm_read", packet, len(packet), read, self.issuer,
            self.keys, self.session,
            self.accepted, self.now, made, index, self.encrypt,
        )  # fmt: skip
        if verdict == TAKEN:
            self.session = made
        else:
            assert bytes(made) == bytes(ctypes.sizeof(made)), "scratch keeps keys"
        return verdict

    def ready(self) -> bytes:
        return written("ready_write", self.session)


def register(leader: Leader, agent: Agent, random: bytes = bytes(range(24))) -> None:
    verdict, welcome = agent.take_hello(leader.hello(random))
    assert verdict == TAKEN
    assert leader.take_welcome(welcome) == TAKEN
    assert agent.take_confirm(leader.confirm()) == TAKEN
    assert leader.take_ready(agent.ready()) == TAKEN
