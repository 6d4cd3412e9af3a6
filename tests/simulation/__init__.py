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

from tests.kernel import INCLUDE, MODEL
from tests.unit.headers.cheaders import SANITIZERS, WARNINGS, gcc

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


def compile_program(sources: Path, program: Path, *, sanitized: bool) -> Path:
    """Build the C files of a folder, with the model's headers."""
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(".new")
    flags = [*WARNINGS, *(SANITIZERS if sanitized else [])]
    gcc(*flags, *INCLUDE, "-I", MODEL, *sorted(sources.glob("*.c")), "-lm", "-o", fresh)
    return fresh.rename(program)


def compile_simulation(folder: Path, *, sanitized: bool = False) -> Simulation:
    """Build the program into ``folder``."""
    return Simulation(compile_program(MODEL, folder / "simulation", sanitized=sanitized))
