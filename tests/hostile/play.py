# SPDX-License-Identifier: GPL-2.0
"""Lets hostile receivers play with the guest's stack (engine uml), for several algorithms."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel

HERE = Path(__file__).resolve().parent
EXCHANGE = HERE.parent / "exchange"

#: The kernel's counters that a record keeps.
KEPT = ("TCPTimeouts", "TCPFullUndo", "TCPDSACKUndo", "TCPLossUndo", "TCPSpuriousRTOs")

Record = dict[str, str | int]


def program(build: Path) -> bytes:
    """hostile, a static program for the guest."""
    binary = build / "tests" / "hostile-program"
    binary.parent.mkdir(parents=True, exist_ok=True)
    shared = [EXCHANGE / f"{name}.c" for name in ("clock", "netns", "wire")]
    sources = [*sorted(HERE.glob("*.c")), *shared]
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    command += ["-o", str(binary), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def _pairs(line: str) -> Record:
    words = (word.split("=", 1) for word in line.split() if "=" in word)
    return {key: int(value) if value.lstrip("-").isdigit() else value for key, value in words}


def read(text: str) -> list[Record]:
    """The records of what hostile has written: two lines each."""
    lines = text.splitlines()
    pairs = zip(map(_pairs, lines[::2]), map(_pairs, lines[1::2]), strict=True)
    return [seen | {name: counted.get(name, 0) for name in KEPT} for seen, counted in pairs]


def play(
    build: Path, out: Path, path: str, algorithms: Sequence[str], attacks: Sequence[str]
) -> list[Record]:
    """Play every attack on every algorithm in one guest: a record of each."""
    modules.build(uml_kernel.kernel())
    ours = modules.brought(algorithms)
    lines = ["chmod +x /bin/hostile", "modprobe tun", *(f"modprobe {name}" for name in ours)]
    command = f"hostile $OUT/runs {path} {','.join(algorithms)} {','.join(attacks)} 2>$OUT/err"
    info = uml.run_script(
        "\n".join([*lines, command]), out=out, modules=ours,
        files={"bin/hostile": program(build)},
    )  # fmt: skip
    assert info.status == 0, (out / "err").read_text()
    return read((out / "runs").read_text())
