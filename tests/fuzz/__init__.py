# SPDX-License-Identifier: GPL-2.0
"""Parts of the modules in user space: SSCOP's peers in virtual time, and libFuzzer's targets.

``python3 -m tests.fuzz TARGET SECONDS`` runs a target (clang and its libclang-rt);
``random_peers`` plays random scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.kernel import INCLUDE as KERNEL
from tests.kernel import ROOT
from tests.unit.headers.cheaders import SANITIZERS, WARNINGS, gcc

FOLDER = Path(__file__).parent
CORE = [ROOT / "sscop" / f"{name}.c" for name in ("pdu", "connection", "transmitter", "receiver")]
WORLD = [
    FOLDER / f"{name}.c" for name in ("crc32c", "world", "wire", "segments", "settle", "script")
]
SHAKE_WIRE = [ROOT / "shake" / "wire.c", ROOT / "shake" / "session.c", "-lsodium"]
INCLUDE = [*KERNEL, "-I", ROOT / "sscop", "-I", ROOT / "shake"]
SHAKE_FLOWS = [ROOT / "shake/segment.c", ROOT / "shake/flows.c", FOLDER / "flows_bridge.c"]
SHAKE_DEVICE = [
    *(ROOT / "shake" / f"{name}.c" for name in ("control", "path", "peer", "receive", "settings")),
    *SHAKE_FLOWS,
    FOLDER / "shake_world.c",
    *SHAKE_WIRE,
    '-DKBUILD_MODNAME="shake"',
]
FUZZER = [
    "-fsanitize=fuzzer,address,undefined,unsigned-integer-overflow,implicit-conversion",
    "-fno-sanitize-recover=all",
    f"-fsanitize-ignorelist={FOLDER / 'wraps.txt'}",
]
TARGETS = {
    "decode": [CORE[0], WORLD[0]],
    "peers": [*CORE, *WORLD],
    "shake_wire": SHAKE_WIRE,
    "shake_session": SHAKE_WIRE,
    "shake_flows": SHAKE_FLOWS,
    "shake_control": SHAKE_DEVICE,
    "windows": ["-lm"],
    "segment": ["-lm"],
    "paths": ["-lm"],
    "holes": [],
}


def build_library(target: Path, *, sanitized: bool = False) -> None:
    """The machines, the world and what Python needs of them, as a shared object."""
    target.parent.mkdir(parents=True, exist_ok=True)
    build_shared(target, [*CORE, *WORLD, FOLDER / "bridge.c"], sanitized=sanitized)


def build_shared(target: Path, sources: Sequence[str | Path], *, sanitized: bool) -> None:
    """Sources of a module, and of its tests, as a shared object."""
    flags = [*WARNINGS, *(SANITIZERS if sanitized else [])]
    gcc(*flags, "-shared", "-fPIC", *INCLUDE, *sources, "-o", target)


def build_random(target: Path) -> None:
    """The program that plays random scripts, with sanitizers."""
    target.parent.mkdir(parents=True, exist_ok=True)
    sources = [*CORE, *WORLD, FOLDER / "fuzz_peers.c", FOLDER / "random_peers.c"]
    gcc(*WARNINGS, *SANITIZERS, *INCLUDE, *sources, "-o", target)


def fuzzer_command(name: str, target: Path, *more: str) -> list[str]:
    """How to build libFuzzer's target ``name``; ``more`` are other flags."""
    sources = [FOLDER / f"fuzz_{name}.c", *TARGETS[name]]
    flags = ["-std=gnu11", "-O2", "-g", *FUZZER, *more]
    words = ["clang", *flags, *INCLUDE, *sources, "-o", target]
    return [str(word) for word in words]
