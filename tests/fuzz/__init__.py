# SPDX-License-Identifier: GPL-2.0
"""SSCOP's machines in user space: two peers in virtual time, and libFuzzer's targets.

``python3 -m tests.fuzz decode|peers SECONDS`` runs a target (needs clang and its
libclang-rt); without clang ``random_peers`` plays random scripts.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.unit.headers.cheaders import SANITIZERS, WARNINGS, gcc

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
CORE = [ROOT / "sscop" / f"{name}.c" for name in ("pdu", "connection", "transmitter", "receiver")]
WORLD = [
    FOLDER / f"{name}.c" for name in ("crc32c", "world", "wire", "segments", "settle", "script")
]
INCLUDE = ["-I", ROOT / "include", "-I", ROOT / "sscop", "-I", FOLDER / "include"]
FUZZER = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
TARGETS = {"decode": [CORE[0], WORLD[0]], "peers": [*CORE, *WORLD]}


def build_library(target: Path, *, sanitized: bool = False) -> None:
    """The machines, the world and what Python needs of them, as a shared object."""
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = [*WARNINGS, *(SANITIZERS if sanitized else [])]
    sources = [*CORE, *WORLD, FOLDER / "bridge.c"]
    gcc(*flags, "-shared", "-fPIC", *INCLUDE, *sources, "-o", target)


def build_random(target: Path) -> None:
    """The program that plays random scripts, with sanitizers."""
    target.parent.mkdir(parents=True, exist_ok=True)
    sources = [*CORE, *WORLD, FOLDER / "fuzz_peers.c", FOLDER / "random_peers.c"]
    gcc(*WARNINGS, *SANITIZERS, *INCLUDE, *sources, "-o", target)


def find_clang() -> str | None:
    """Debian's clang, of whatever version."""
    names = ["clang", *(f"clang-{version}" for version in range(22, 13, -1))]
    return next((name for name in names if shutil.which(name)), None)


def fuzzer_command(name: str, target: Path) -> list[str]:
    """How to build libFuzzer's target ``name``."""
    sources = [*TARGETS[name], FOLDER / f"fuzz_{name}.c"]
    flags = ["-std=gnu11", "-O2", "-g", *FUZZER]
    words = [find_clang() or "clang", *flags, *INCLUDE, *sources, "-o", target]
    return [str(word) for word in words]
