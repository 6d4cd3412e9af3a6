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
WALL_S = 1700.0

#: The kernel's counters that a record keeps.
KEPT = ("TCPTimeouts", "TCPFullUndo", "TCPDSACKUndo", "TCPLossUndo", "TCPSpuriousRTOs")

Record = dict[str, str | int]


def program(build: Path) -> bytes:
    """hostile, a static program for the guest."""
    binary = build / "tests" / "hostile-program"
    binary.parent.mkdir(parents=True, exist_ok=True)
    sources = [*sorted(HERE.glob("*.c")), *(EXCHANGE / f"{n}.c" for n in ("clock", "netns", "wire"))]
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    command += ["-o", str(binary), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def _pairs(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def read(text: str) -> list[Record]:
    """The records of what hostile has written: two lines each."""
    lines = text.splitlines()
    found: list[Record] = []
    for seen, counters in zip(lines[::2], lines[1::2], strict=True):
        counted = _pairs(counters)
        record: Record = {k: int(v) if v.lstrip("-").isdigit() else v for k, v in _pairs(seen).items()}
        found.append(record | {name: int(counted.get(name, 0)) for name in KEPT})
    return found


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
        files={"bin/hostile": program(build)}, timeout_wall_s=WALL_S,
    )  # fmt: skip
    assert info.status == 0, (out / "err").read_text()
    return read((out / "runs").read_text())
