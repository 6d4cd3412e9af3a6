# SPDX-License-Identifier: GPL-2.0
"""Lets hostile receivers play with the guest's stack, for several algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.guest.runs import compiled
from tests.played import guest

HERE = Path(__file__).resolve().parent
EXCHANGES = HERE.parent / "exchanges"

#: The kernel's counters that a record keeps.
KEPT = ("TCPTimeouts", "TCPFullUndo", "TCPDSACKUndo", "TCPLossUndo", "TCPSpuriousRTOs")

Record = dict[str, Any]


def program() -> dict[str, bytes]:
    """hostile, for the guest."""
    shared = (EXCHANGES / f"{name}.c" for name in ("clock", "netns", "wire"))
    return {"bin/hostile": compiled(HERE / "hostile.c", *sorted(HERE.glob("[!h]*.c")), *shared)}


def _pairs(line: str) -> Record:
    words = (word.split("=", 1) for word in line.split() if "=" in word)
    return {key: int(value) if value.lstrip("-").isdigit() else value for key, value in words}


def read(text: str) -> list[Record]:
    """The records of what hostile has written: two lines each."""
    lines = text.splitlines()
    pairs = zip(map(_pairs, lines[::2]), map(_pairs, lines[1::2]), strict=True)
    return [seen | {name: counted.get(name, 0) for name in KEPT} for seen, counted in pairs]


def play(out: Path, path: str, algorithms: Sequence[str], attacks: Sequence[str]) -> list[Record]:
    """Play every attack on every algorithm in one guest: a record of each."""
    command = f"hostile $OUT/runs {path} {','.join(algorithms)} {','.join(attacks)}"
    guest.play(f"chmod +x /bin/hostile\nmodprobe tun\n{command}", out, algorithms, files=program())
    return read((out / "runs").read_text())
