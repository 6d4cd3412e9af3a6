# SPDX-License-Identifier: GPL-2.0
"""ChaCha20-Poly1305 (RFC 8439) and XChaCha20-Poly1305, written from their definitions."""

from __future__ import annotations

import struct

WORD = 0xFFFFFFFF
PRIME = (1 << 130) - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF


def _rounds(state: list[int]) -> list[int]:
    x = list(state)

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for p, q, r, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & WORD
            x[r] ^= x[p]
            x[r] = (x[r] << by | x[r] >> (32 - by)) & WORD

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return x


def _state(key: bytes, rest: bytes) -> list[int]:
    return list(struct.unpack("<16I", b"expand 32-byte k" + key + rest))


def _block(key: bytes, counter: int, nonce: bytes) -> bytes:
    state = _state(key, struct.pack("<I", counter) + nonce)
    mixed = _rounds(state)
    return struct.pack("<16I", *((a + b) & WORD for a, b in zip(state, mixed, strict=True)))


def hchacha(key: bytes, nonce: bytes) -> bytes:
    mixed = _rounds(_state(key, nonce))
    return struct.pack("<8I", *mixed[:4], *mixed[12:])


def _cipher(key: bytes, nonce: bytes, text: bytes) -> bytes:
    stream = b"".join(_block(key, 1 + i, nonce) for i in range((len(text) + 63) // 64))
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))


def _poly(key: bytes, octets: bytes) -> bytes:
    r, s = int.from_bytes(key[:16], "little") & CLAMP, int.from_bytes(key[16:], "little")
    total = 0
    for at in range(0, len(octets), 16):
        total = (total + int.from_bytes(octets[at : at + 16] + b"\1", "little")) * r % PRIME
    return ((total + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def encrypt(key: bytes, nonce: bytes, text: bytes, ad: bytes) -> bytes:
    """RFC 8439, 2.8: the text encrypted, and the tag."""
    sealed = _cipher(key, nonce, text)
    padded = b"".join(part + bytes(-len(part) % 16) for part in (ad, sealed))
    lengths = struct.pack("<QQ", len(ad), len(sealed))
    return sealed + _poly(_block(key, 0, nonce)[:32], padded + lengths)


def decrypt(key: bytes, nonce: bytes, sealed: bytes, ad: bytes) -> bytes:
    """What encrypt() made of a text; ValueError if it did not."""
    text = _cipher(key, nonce, sealed[:-16])
    if encrypt(key, nonce, text, ad) != sealed:
        raise ValueError("the tag is wrong")
    return text


def xencrypt(key: bytes, nonce: bytes, text: bytes, ad: bytes) -> bytes:
    """With 24 octets of nonce."""
    return encrypt(hchacha(key, nonce[:16]), bytes(4) + nonce[16:], text, ad)
