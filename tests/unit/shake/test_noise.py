# SPDX-License-Identifier: GPL-2.0
"""shake/core/noise.c against a Noise written from its definition, that against public vectors."""

from __future__ import annotations

import ctypes
import hashlib
from typing import Any

import pytest

from tests.unit.shake import noise
from tests.unit.shake import wire_core as wire

#: Of cacophony's vectors (public domain), as snow has them.
PROLOGUE = bytes.fromhex("4a6f686e2047616c74")
PSK = b"This is my Austrian perspective!"
KEYS: dict[str, bytes] = {
    "init_e": bytes.fromhex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"),
    "resp_e": bytes.fromhex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"),
    "init_s": bytes.fromhex("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"),
    "resp_s": bytes.fromhex("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"),
}
PAYLOADS = (b"Ludwig von Mises", b"Murray Rothbard", b"F. A. Hayek", b"Carl Menger")
FIRST = "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
SECOND = "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
VECTORS = {
    "NNpsk0": (
        "b3e9c846d264120a4211e18307da91157a21e92e69b639c50f027f101db3e1a6",
        FIRST + "fda936bec35a8adfdff198386f7d5475880897edaaf7495314c99095a2e4d66a",
        SECOND + "4cd2a371993ba41ea11448024fca32766b169183c9e691a7a433279da7e729",
        "bc44da303ae0beb08075fc4eb4e58235c67c2d1f53a4f2fff0bca7",
        "416d1af83e9fa6966ce4e871156b131aa9bd7e9a1d6f8794f4872a",
    ),
    "IKpsk2": (
        "f5191b875290abcd41347ac3622d9679688a7e980229cb937ef748336cfde0e5",
        FIRST + "001e21de9f98ddd8e2ad57527207feb56253c9c94a9e496782ecfcb2a75fbcaf1b52948cc4"
        "8daefe660c62119ab5000980c84831215f2441eba616548e832985464cf17e51ee93109008399a21f7e13f",
        SECOND + "cb765f2caef0751b8f007572dab0322217755c0632f365717edbf34d33e87a",
        "8153ca9833bc3c1b91a7e66e5f4d4f5b59bf9e64c2f20d15f0bba7",
        "07af0c9c86e1b4e80f36b04ff7688d51141af3debd0332f0a705ef",
    ),
}


def test_the_reference_has_the_answers_of_rfc_7748() -> None:
    """5.2."""
    scalar = bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
    point = bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    assert noise.x25519(scalar, point).hex() == (
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    )


def ends(pattern: str) -> tuple[noise.Handshake, noise.Handshake]:
    keyed = pattern.startswith("IK")
    init: dict[str, bytes] = {"psk": PSK}
    resp: dict[str, bytes] = {"psk": PSK}
    if keyed:
        init |= {"s": KEYS["init_s"], "rs": noise.public(KEYS["resp_s"])}
        resp |= {"s": KEYS["resp_s"]}
    return (
        noise.Handshake(pattern, True, PROLOGUE, **init),
        noise.Handshake(pattern, False, PROLOGUE, **resp),
    )


@pytest.mark.parametrize("pattern", VECTORS)
def test_the_reference_has_the_public_vectors(pattern: str) -> None:
    hashed, first, second, third, fourth = VECTORS[pattern]
    init, resp = ends(pattern)
    assert init.write(PAYLOADS[0], KEYS["init_e"]).hex() == first
    assert resp.read(bytes.fromhex(first)) == PAYLOADS[0]
    assert resp.write(PAYLOADS[1], KEYS["resp_e"]).hex() == second
    assert init.read(bytes.fromhex(second)) == PAYLOADS[1]
    assert init.h.hex() == resp.h.hex() == hashed
    assert init.split() == resp.split()
    for key, payload, sealed in zip(init.split(), PAYLOADS[2:], (third, fourth), strict=True):
        assert noise.aead.encrypt(key, bytes(12), payload, b"").hex() == sealed


class State:
    """struct shake_noise, and its functions."""

    def __init__(self, pattern: str) -> None:
        self.state = wire.HEADERS.structs["shake_noise"]()
        name = f"Noise_{pattern}_25519_ChaChaPoly_BLAKE2s".encode()
        text = ctypes.create_string_buffer(name)
        wire.call("noise_begin", self.state, text, PROLOGUE, len(PROLOGUE))

    def __getattr__(self, name: str) -> Any:
        return lambda *given: wire.call(f"noise_{name}", self.state, *given)

    def sealed(self, text: bytes) -> bytes:
        room = wire.octets(bytes(len(text) + 16))
        self.encrypt(room, text, len(text))
        return bytes(room)

    def opened(self, sealed: bytes) -> bytes | None:
        room = wire.octets(bytes(len(sealed) - 16))
        return bytes(room) if self.decrypt(room, sealed, len(sealed) - 16) else None


@pytest.mark.parametrize("pattern", VECTORS)
def test_the_module_has_the_public_vectors(pattern: str) -> None:
    """The initiator's side, token by token; the responder's is in test_session."""
    hashed, first, second, *_ = VECTORS[pattern]
    n, secret = State(pattern), KEYS["init_e"]
    remote = noise.public(KEYS["resp_s"])
    message = noise.public(secret)
    if pattern == "NNpsk0":
        n.psk(PSK)
        n.ephemeral(message)
    else:
        n.hash(remote, 32)
        n.ephemeral(message)
        assert n.dh(secret, remote)
        message += n.sealed(noise.public(KEYS["init_s"]))
        assert n.dh(KEYS["init_s"], remote)
    assert (message + n.sealed(PAYLOADS[0])).hex() == first
    answer = bytes.fromhex(second)
    n.ephemeral(answer[:32])
    assert n.dh(secret, answer[:32])
    if pattern == "IKpsk2":
        assert n.dh(KEYS["init_s"], answer[:32])
        n.psk(PSK)
    assert n.opened(answer[32:]) == PAYLOADS[1]
    assert bytes(n.state.h).hex() == hashed
    up, down = wire.octets(bytes(32)), wire.octets(bytes(32))
    n.split(up, down)
    init, resp = ends(pattern)
    resp.read(init.write(PAYLOADS[0], KEYS["init_e"]))
    resp.write(PAYLOADS[1], KEYS["resp_e"])
    assert [bytes(up), bytes(down)] == resp.split()


def test_what_is_no_point_is_refused() -> None:
    n = State("NNpsk0")
    before = bytes(n.state)
    for point in (bytes(32), b"\1" + bytes(31)):
        assert not n.dh(KEYS["init_e"], point)
        assert bytes(n.state) == before


@pytest.mark.parametrize("length", [0, 1, 31, 63, 64, 65, 127, 128, 129, 300])
def test_hash_and_mac(length: int) -> None:
    """In user space, too, where these tests have their own BLAKE2s."""
    text = bytes(i * 7 & 255 for i in range(length))
    made = wire.octets(bytes(16))
    wire.call("mac", made, PSK, text, length)
    assert bytes(made) == hashlib.blake2s(text, key=PSK, digest_size=16).digest()
    n = State("NNpsk0")
    before = bytes(n.state.h)
    n.hash(text, length)
    assert bytes(n.state.h) == hashlib.blake2s(before + text).digest()
