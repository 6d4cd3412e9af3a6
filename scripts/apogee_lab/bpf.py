# SPDX-License-Identifier: GPL-2.0
"""This project's algorithms as BPF programs: their loader, which has them inside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .base import LabError, find_program, locked, repo_root, run_program

#: Programs that build it -> Debian package.
_TOOLS = {"clang": "clang", "llvm-strip": "llvm", "bpftool": "bpftool", "make": "make"}


def loader() -> Path:
    """apogee-bpf, built from the current source if it is not up to date."""
    for tool, package in _TOOLS.items():
        find_program(tool, package)
    root = repo_root()
    out = root / "build" / "bpf"
    with locked(f"{out}"):
        done = run_program(
            ["make", "-C", root / "bpf", f"OUT={out}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise LabError("apogee-bpf does not build, see above")
    return out / "apogee-bpf"
