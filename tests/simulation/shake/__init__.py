# SPDX-License-Identifier: GPL-2.0
"""A simulation of one TCP flow over several paths, with the schedulers of shake_sched.h.

Links have a rate, a delay, a drop-tail queue, losses, others' packets and outages. The agent
answers with pseudo-ACKs, one in 10 ms or in 16 packets, and judges duplicate ACKs by
shake_holes.h.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.simulation import compile_program

FOLDER = Path(__file__).parent
PAYLOAD = 1420 / 1500  # of a packet


@dataclass(frozen=True)
class ShakeSimulation:
    """The compiled program."""

    program: Path

    def run(self, paths: Iterable[str], changes: Iterable[str] = (), **options: Any) -> Any:
        """What it prints; ``paths`` and ``changes`` as main.c says."""
        command = [str(self.program)]
        for path in paths:
            command += ["--path", path]
        for change in changes:
            command += ["--change", change]
        for name, value in options.items():
            command += ["--" + name, str(value)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def compile_shake(*, sanitized: bool = False) -> ShakeSimulation:
    """Build the program."""
    return ShakeSimulation(compile_program("shake-paths", FOLDER, sanitized=sanitized))
