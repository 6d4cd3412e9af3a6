# SPDX-License-Identifier: GPL-2.0
"""shake/wire.c and shake/session.c as Python functions, and two ends that register."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_uint8, c_uint16, c_uint32, c_uint64
from functools import cache
from pathlib import Path
from typing import Any

from tests import BUILD
from tests.fuzz import SHAKE_WIRE, build_shared

HELLO, WELCOME, CONFIRM, READY, DATA, ACK, PROBE, RESET = range(1, 9)
COUNTED, MAL, ENCRYPTED, RETRANSMIT, KEPT, UNSUMMED = 1, 2, 4, 8, 16, 32
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
VARIANT = os.environ.get("APOGEE_UNIT", "plain")
PIECES = """
void shake_pieces(u8 *tag, const u8 *key, u64 counter, const u8 *octets, const u32 *of, u32 n);
void shake_pieces(u8 *tag, const u8 *key, u64 counter, const u8 *octets, const u32 *of, u32 n)
{
	struct shake_tagger t;

	shake_tag_begin(&t, key, counter);
	for (u32 i = 0; i < n; octets += of[i++])
		shake_tag_add(&t, octets, of[i]);
	shake_tag_end(&t, tag);
}
"""


class Head(ctypes.Structure):
    _fields_ = [
        ("type", c_uint8),
        ("ack_path", c_uint8),
        ("flags", c_uint8),
        ("index", c_uint16),
        ("counter", c_uint32),
        ("mal", c_uint32),
    ]


class AckBody(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("echo", "hold_us", "bytes", "packets")]
    _fields_ += [("seen", c_uint64)]


class Registration(ctypes.Structure):
    _fields_ = [
        ("type", c_uint8),
        ("path", c_uint8),
        ("flags", c_uint8),
        ("index", c_uint16),
        ("id", c_uint32),
        ("nonce", c_uint8 * 24),
    ]


class Keys(ctypes.Structure):
    _fields_ = [("trust", c_uint8)] + [
        (name, c_uint8 * 32) for name in ("hello", "welcome", "derive")
    ]


class Issuer(ctypes.Structure):
    _fields_ = [("instance", c_uint8 * 8), ("last", c_uint64)]


class Join(ctypes.Structure):
    _fields_ = [
        ("id", c_uint32),
        ("path", c_uint8),
        ("encrypt", c_bool),
        ("asked", c_bool),
        ("wish", c_bool),
        ("nonce", c_uint8 * 24),
    ]


class Replay(ctypes.Structure):
    _fields_ = [("newest", c_uint64), ("seen", c_uint64 * 32)]


class Session(ctypes.Structure):
    _fields_ = [
        ("send", c_uint8 * 32),
        ("receive", c_uint8 * 32),
        ("counter", c_uint64),
        ("time", c_uint64),
        ("replay", Replay),
        ("index", c_uint16),
        ("peer_index", c_uint16),
        ("auth", c_bool),
        ("encrypt", c_bool),
        ("wish", c_bool),
        ("ready", c_bool),
    ]


STRUCTURES = {
    "head": Head,
    "ack_body": AckBody,
    "registration": Registration,
    "keys": Keys,
    "issuer": Issuer,
    "join": Join,
    "replay": Replay,
    "session": Session,
}


def same(structure: ctypes.Structure, other: ctypes.Structure) -> bool:
    return all(
        bytes(a) == bytes(b) if isinstance(a, ctypes.Array) else a == b
        for a, b in ((getattr(structure, f), getattr(other, f)) for f, _ in structure._fields_)
    )


def octets(data: bytes) -> ctypes.Array[c_uint8]:
    """A buffer of exactly these octets."""
    return (c_uint8 * len(data)).from_buffer_copy(data) if data else (c_uint8 * 0)()


class Wire:
    """The functions by their names in C, without ``shake_``."""

    def __init__(self, library: Path) -> None:
        self.dll = ctypes.CDLL(str(library))
        for name, structure in STRUCTURES.items():
            size = c_uint32.in_dll(self.dll, f"size_of_{name}").value
            assert size == ctypes.sizeof(structure), name
        self.dll.shake_session_next.restype = c_bool
        self.dll.shake_session_hints.restype = c_bool

    def call(self, name: str, *arguments: Any) -> int:
        return getattr(self.dll, f"shake_{name}")(*arguments)

    def written(self, name: str, *arguments: Any) -> bytes:
        """What a function writes that returns the length."""
        room = (c_uint8 * 64)()
        length = self.call(name, room, *arguments)
        assert length <= 64 - 8
        return bytes(room[:length])

    def head(self, packet: bytes) -> tuple[int, Head]:
        head = Head()
        return self.call("head_read", octets(packet), len(packet), byref(head)), head

    def registration(self, packet: bytes) -> tuple[int, Registration]:
        read = Registration()
        return self.call("registration_read", octets(packet), len(packet), byref(read)), read

    def keys(self, psk: bytes | None) -> Keys:
        """None: a device that does not authenticate."""
        keys = Keys()
        if psk is None:
            self.call("keys_open", byref(keys))
        else:
            self.call("keys_derive", byref(keys), psk)
        return keys

    def seal(self, s: Session, counter: int, packet: bytes, clear: int | None = None) -> bytes:
        room = octets(packet + bytes(16))
        at = len(packet) if clear is None else clear
        self.call("seal", byref(s), c_uint64(counter), room, len(packet), at)
        return bytes(room)

    def open(
        self, s: Session, counter: int, packet: bytes, clear: int | None = None
    ) -> tuple[int, bytes]:
        room = octets(packet)
        at = len(packet) - 16 if clear is None else clear
        verdict = self.call("open", byref(s), c_uint64(counter), room, len(packet), at)
        return verdict, bytes(room)

    def tag(self, key: bytes, counter: int, pieces: list[bytes]) -> bytes:
        """The tag of octets that come in pieces."""
        made = octets(bytes(16))
        lengths = (c_uint32 * len(pieces))(*map(len, pieces))
        whole = octets(b"".join(pieces))
        self.call("pieces", made, key, c_uint64(counter), whole, lengths, len(pieces))
        return bytes(made)

    def check(self, s: Session, head: Head, length: int) -> tuple[int, int]:
        counter = c_uint64()
        verdict = self.call("session_check", byref(s), byref(head), length, byref(counter))
        return verdict, counter.value


class Leader:
    def __init__(self, wire: Wire, psk: bytes | None, id: int = 7, path: int = 2) -> None:
        self.wire, self.keys = wire, wire.keys(psk)
        self.join = Join(id=id, path=path)
        self.session = Session()

    def hello(self, random: bytes = bytes(range(24))) -> bytes:
        return self.wire.written("hello_write", byref(self.join), byref(self.keys), random)

    def take_welcome(self, packet: bytes, index: int = 0x1234) -> int:
        verdict, read = self.wire.registration(packet)
        return verdict or self.wire.call(
            "welcome_read", octets(packet), len(packet), byref(read), byref(self.join),
            byref(self.keys), byref(self.session), index,
        )  # fmt: skip

    def confirm(self) -> bytes:
        return self.wire.written("confirm_write", byref(self.join), byref(self.session))

    def take_ready(self, packet: bytes) -> int:
        verdict, _ = self.wire.head(packet)
        return verdict or self.wire.call(
            "ready_read", octets(packet), len(packet), byref(self.session)
        )


class Agent:
    def __init__(
        self, wire: Wire, psk: bytes | None, instance: bytes = b"instance", encrypt: bool = False
    ) -> None:
        self.wire, self.keys, self.encrypt = wire, wire.keys(psk), encrypt
        self.issuer = Issuer()
        wire.call("issuer_init", byref(self.issuer), instance)
        self.accepted = c_uint64()
        self.session: Session | None = None
        self.now = 1_000_000_000

    def take_hello(self, packet: bytes) -> tuple[int, bytes]:
        verdict, read = self.wire.registration(packet)
        verdict = verdict or self.wire.call(
            "hello_check", octets(packet), len(packet), byref(read), byref(self.keys)
        )
        if verdict:
            return verdict, b""
        return TAKEN, self.wire.written(
            "welcome_write", byref(self.issuer), byref(read), byref(self.keys), c_uint64(self.now)
        )

    def take_confirm(self, packet: bytes, index: int = 0x4321) -> int:
        verdict, read = self.wire.registration(packet)
        if verdict:
            return verdict
        made = Session()
        verdict = self.wire.call(
            "confirm_read", octets(packet), len(packet), byref(read), byref(self.issuer),
            byref(self.keys), byref(self.session) if self.session else POINTER(Session)(),
            byref(self.accepted), c_uint64(self.now), byref(made), index, self.encrypt,
        )  # fmt: skip
        if verdict == TAKEN:
            self.session = made
        else:
            assert bytes(made) == bytes(ctypes.sizeof(made)), "scratch keeps keys"
        return verdict

    def ready(self) -> bytes:
        return self.wire.written("ready_write", byref(self.session))


def register(leader: Leader, agent: Agent, random: bytes = bytes(range(24))) -> None:
    verdict, welcome = agent.take_hello(leader.hello(random))
    assert verdict == TAKEN
    assert leader.take_welcome(welcome) == TAKEN
    assert agent.take_confirm(leader.confirm()) == TAKEN
    assert leader.take_ready(agent.ready()) == TAKEN


@cache
def load() -> Wire:
    """Compiled: with sanitizers if APOGEE_UNIT says so."""
    folder = BUILD / "unit" / VARIANT
    folder.mkdir(parents=True, exist_ok=True)
    sizes = folder / "shake_sizes.c"
    lines = [f"const u32 size_of_{n} = sizeof(struct shake_{n});\n" for n in STRUCTURES]
    sizes.write_text('#include "session.h"\n' + "".join(lines) + PIECES, encoding="utf-8")
    library = folder / "shake_wire.so"
    build_shared(library, [sizes, *SHAKE_WIRE], sanitized=VARIANT == "sanitized")
    return Wire(library)
