# SPDX-License-Identifier: GPL-2.0
"""Noise (revision 34) with 25519, ChaChaPoly and BLAKE2s, written from its definition."""

from __future__ import annotations

import hashlib
import hmac

from tests.unit.shake import aead

PRIME = (1 << 255) - 19
#: The u-coordinate 9.
BASE = (9).to_bytes(32, "little")
#: Tokens of the messages.
PATTERNS = {
    "NNpsk0": ("psk e", "e ee"),
    "IKpsk2": ("e es s ss", "e ee se psk"),
}


def x25519(scalar: bytes, point: bytes) -> bytes:
    """RFC 7748, 5."""
    k = bytearray(scalar)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    u = int.from_bytes(point, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    number = int.from_bytes(k, "little")
    for t in reversed(range(255)):
        bit = number >> t & 1
        if swap ^ bit:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb = d * a % PRIME, c * b % PRIME
        aa, bb = a * a % PRIME, b * b % PRIME
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


def public(secret: bytes) -> bytes:
    return x25519(secret, BASE)


def blake2s(*pieces: bytes) -> bytes:
    return hashlib.blake2s(b"".join(pieces)).digest()


def mac(key: bytes, octets: bytes) -> bytes:
    return hashlib.blake2s(octets, key=key, digest_size=16).digest()


def hkdf(chaining: bytes, material: bytes, count: int) -> list[bytes]:
    key = hmac.digest(chaining, material, "blake2s")
    found, last = [], b""
    for number in range(count):
        last = hmac.digest(key, last + bytes([number + 1]), "blake2s")
        found.append(last)
    return found


class Handshake:
    """HandshakeState: each message is written or read as a whole."""

    def __init__(
        self,
        pattern: str,
        initiator: bool,
        prologue: bytes = b"",
        *,
        psk: bytes = bytes(32),
        s: bytes = b"",
        rs: bytes = b"",
    ) -> None:
        self.h = self.ck = blake2s(f"Noise_{pattern}_25519_ChaChaPoly_BLAKE2s".encode())
        self.k, self.n = b"", 0
        self.initiator, self.psk, self.s, self.rs = initiator, psk, s, rs
        self.e = self.re = b""
        self.messages = [message.split() for message in PATTERNS[pattern]]
        self.mix_hash(prologue)
        if pattern.startswith("IK"):
            self.mix_hash(rs if initiator else public(s))

    def mix_hash(self, data: bytes) -> None:
        self.h = blake2s(self.h, data)

    def mix_key(self, material: bytes) -> None:
        self.ck, self.k = hkdf(self.ck, material, 2)
        self.n = 0

    def mix_psk(self) -> None:
        self.ck, mixed, self.k = hkdf(self.ck, self.psk, 3)
        self.mix_hash(mixed)
        self.n = 0

    def _nonce(self) -> bytes:
        self.n += 1
        return bytes(4) + (self.n - 1).to_bytes(8, "little")

    def encrypt(self, text: bytes) -> bytes:
        sealed = aead.encrypt(self.k, self._nonce(), text, self.h) if self.k else text
        self.mix_hash(sealed)
        return sealed

    def decrypt(self, sealed: bytes) -> bytes:
        text = sealed
        if self.k:
            text = aead.decrypt(self.k, self._nonce(), sealed, self.h)
        self.mix_hash(sealed)
        return text

    def _dh(self, token: str) -> None:
        mine, theirs = token if self.initiator else token[::-1]
        secret = self.e if mine == "e" else self.s
        self.mix_key(x25519(secret, self.re if theirs == "e" else self.rs))

    def write(self, payload: bytes, ephemeral: bytes) -> bytes:
        message = b""
        for token in self.messages.pop(0):
            if token == "e":
                self.e = ephemeral
                message += public(ephemeral)
                self.mix_hash(public(ephemeral))
                self.mix_key(public(ephemeral))
            elif token == "s":
                message += self.encrypt(public(self.s))
            elif token == "psk":
                self.mix_psk()
            else:
                self._dh(token)
        return message + self.encrypt(payload)

    def read(self, message: bytes) -> bytes:
        for token in self.messages.pop(0):
            if token == "e":
                self.re, message = message[:32], message[32:]
                self.mix_hash(self.re)
                self.mix_key(self.re)
            elif token == "s":
                self.rs, message = self.decrypt(message[:48]), message[48:]
            elif token == "psk":
                self.mix_psk()
            else:
                self._dh(token)
        return self.decrypt(message)

    def split(self) -> list[bytes]:
        return hkdf(self.ck, b"", 2)
