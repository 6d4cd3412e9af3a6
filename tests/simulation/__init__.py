# SPDX-License-Identifier: GPL-2.0
"""A discrete-event simulation of flows through one bottleneck, star among them.

The program is the lab's model (``scripts/apogee_lab/model``): its C files and tcp_star.c as it is,
against headers that stand in for the kernel's. ``simulation --help`` names its options.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apogee_lab.base import compiled
from tests.kernel import INCLUDE, MODEL, ROOT, pure
from tests.unit.headers.cheaders import SANITIZERS, WARNINGS

LINK_BPS = 1448 / 1514  # of a rate: goodput with full segments and no loss


@dataclass(frozen=True)
class Simulation:
    """The compiled program."""

    program: Path

    def run(self, flows: str, **options: Any) -> dict[str, Any]:
        """What it prints, as ``run("star,cubic", queue_bytes=15_000, event=["10:rtt=600"])``: rates
        are in bit/s, RTTs in ms, all counts in segments.
        """
        command = [str(self.program), "--flows", flows]
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                command.append(option)
                continue
            for item in value if isinstance(value, list) else [value]:
                command += [option, str(item)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"simulation {command[1:]}: {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)


def compile_program(name: str, sources: Path, *, sanitized: bool) -> Path:
    """The program of the C files of a folder, with the model's headers, in the lab's cache."""
    flags = [*WARNINGS, *(SANITIZERS if sanitized else []), *map(str, INCLUDE), f"-I{MODEL}"]
    others = [
        *MODEL.rglob("*.h"),
        *(ROOT / "include").rglob("*.h"),
        *pure(ROOT),
        *ROOT.glob("tcp_*.c"),
    ]
    # the library is named before the sources
    flags += ["-Wl,--no-as-needed", "-lm"]
    return compiled(name, sorted(sources.glob("*.c")), "", flags, sorted(others))


def compile_simulation(*, sanitized: bool = False) -> Simulation:
    """Build the program."""
    return Simulation(compile_program("simulation", MODEL, sanitized=sanitized))
