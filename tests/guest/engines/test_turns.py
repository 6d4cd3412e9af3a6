# SPDX-License-Identifier: GPL-2.0
"""engines/turns.c finds QEMU's threads; no other test would notice if it did not."""

from __future__ import annotations

import os
import re
import subprocess

from apogee_lab.base import find_program
from apogee_lab.engines.qemu import turns_library


def test_the_cpu_thread_is_found() -> None:
    qemu = find_program("qemu-system-x86_64", "qemu-system-x86")
    done = subprocess.run(
        [str(qemu), "-M", "pc", "-m", "64", "-nodefaults", "-display", "none"]
        + ["-name", "guest,debug-threads=on", "-accel", "tcg", "-icount", "shift=0,sleep=off"]
        + ["-S", "-monitor", "stdio"],
        input="quit\n",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": str(turns_library()), "TURNS_COUNT": "1"},
    )
    assert re.search(r"turns: [1-9]", done.stderr), done.stderr
