# SPDX-License-Identifier: GPL-2.0
"""Waits and bounds of tests that only a hang comes to, however busy the machine is."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

#: What tests wait for takes seconds of one CPU's time.
HANG_S = 1800.0


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def run_within(
    cpu_s: int, command: Sequence[str | Path], **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program, and each that it starts, with a bound on its CPU time; what it has said."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s)),
        **how,
    )
