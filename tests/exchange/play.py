# SPDX-License-Identifier: GPL-2.0
"""Plays scripts in a guest, for several algorithms."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from apogee_lab import modules
from apogee_lab.engines import qemu, uml
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from tests.exchange.compare import EQUAL_S
from tests.exchange.expected import EXACT_S
from tests.exchange.log import Log, read

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"


@dataclass(frozen=True)
class Guest:
    """An engine's kernel, its scripts, and within what times are those of a script, or equal.

    ``rests`` are periods between exchanges: where computing takes time, the kernel has to take away
    the namespace of the one before, which would delay what the peer sends.
    """

    engine: ModuleType
    kernel: str
    folder: Path
    exact_s: float
    equal_s: float
    rests: int = 1

    def names(self) -> list[str]:
        """Its exchanges."""
        return sorted(path.stem for path in self.folder.glob("*.pkt"))

    def path(self, name: str) -> Path:
        """An exchange's script."""
        return self.folder / f"{name}.pkt"


#: Computing takes no time.
UML = Guest(uml, DEFAULT_KERNEL, SCRIPTS, EXACT_S, EQUAL_S)
#: A stock kernel, which has AccECN, MD5 and TCP-AO. An instruction takes 1 ns: the last of what the
#: scripts send at once leaves up to 1.2 ms after the line. Two runs differ by 3 us with other
#: random numbers, by 50 us after other exchanges, an algorithm that does what reno does by 19 us.
STOCK = Guest(qemu, "trixie-backports", HERE / "stock", 0.002, 0.001, rests=2)


def names() -> list[str]:
    """All exchanges of engine uml."""
    return UML.names()


def program(build: Path) -> bytes:
    """exchange, a static program for the guest."""
    binary = build / "tests" / "exchange-program"
    binary.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    command += ["-o", str(binary), *map(str, sorted(HERE.glob("*.c"))), "-lsodium", "-lcrypto"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def play(
    build: Path, out: Path, scripts: Sequence[str], algorithms: Sequence[str], guest: Guest = UML
) -> dict[tuple[str, str], Log]:
    """Play the scripts for the algorithms in one guest: (script, algorithm) -> its log."""
    modules.build(guest.engine.kernel(guest.kernel))
    ours = modules.brought(algorithms)
    files = {f"lab/pkt/{name}": guest.path(name).read_bytes() for name in scripts}
    files["bin/exchange"] = program(build)
    lines = ["chmod +x /bin/exchange", "modprobe tun", *(f"modprobe {name}" for name in ours)]
    command = f"exchange $OUT {guest.rests} {','.join(algorithms)} {' '.join(scripts)}"
    script = "\n".join([*lines, f"cd /lab/pkt && {command} 2>$OUT/err"])
    info = guest.engine.run_script(script, kernel=guest.kernel, out=out, modules=ours, files=files)
    assert info.status == 0, (out / "err").read_text()
    return {
        (name, cc): read((out / f"{name}.{cc}").read_text())
        for name in scripts
        for cc in algorithms
    }
