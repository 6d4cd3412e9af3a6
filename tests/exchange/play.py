# SPDX-License-Identifier: GPL-2.0
"""Plays scripts in a guest of engine uml, for several algorithms."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from tests.exchange.log import Log, read

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
WALL_S = 1500.0


def names() -> list[str]:
    """All exchanges."""
    return sorted(path.stem for path in SCRIPTS.glob("*.pkt"))


def program(build: Path) -> bytes:
    """exchange, a static program for the guest."""
    binary = build / "tests" / "exchange-program"
    binary.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    command += ["-o", str(binary), *map(str, sorted(HERE.glob("*.c"))), "-lsodium"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def play(
    build: Path, out: Path, scripts: Sequence[str], algorithms: Sequence[str]
) -> dict[tuple[str, str], Log]:
    """Play the scripts for the algorithms in one guest: (script, algorithm) -> its log."""
    modules.build(uml_kernel.kernel())
    ours = modules.brought(algorithms)
    files = {f"lab/pkt/{name}": (SCRIPTS / f"{name}.pkt").read_bytes() for name in scripts}
    files["bin/exchange"] = program(build)
    lines = ["chmod +x /bin/exchange", "modprobe tun", *(f"modprobe {name}" for name in ours)]
    command = f"exchange $OUT {','.join(algorithms)} {' '.join(scripts)}"
    script = "\n".join([*lines, f"cd /lab/pkt && {command} 2>$OUT/err"])
    info = uml.run_script(script, out=out, modules=ours, files=files, timeout_wall_s=WALL_S)
    assert info.status == 0, (out / "err").read_text()
    return {
        (name, cc): read((out / f"{name}.{cc}").read_text())
        for name in scripts
        for cc in algorithms
    }
