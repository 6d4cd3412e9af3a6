# SPDX-License-Identifier: GPL-2.0
"""Unit tests on machines of other kinds: their own Python runs them in qemu-user, and what they
compile is compiled for such a machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from apogee_lab.kernels import toolchain
from apogee_lab.kernels.kernel import NATIVE
from tests import ROOT
from tests.asked.machines import MACHINES

PACKAGES = ("python3-minimal", "python3-pytest", "python3-hypothesis", "libsodium-dev", "libubsan1")
#: A compiler with this machine's libraries.
GCC = '#!/bin/sh\nexec {compiler} -I "{root}/usr/include" -L "{root}/usr/lib/{triplet}" "$@"\n'


def run_tests(name: str, folder: Path, *words: str) -> str:
    """What pytest says in the end; AssertionError unless all pass."""
    machine = MACHINES[name]
    root = toolchain.fetch(NATIVE, *PACKAGES, arch=name)
    gcc = folder / "gcc"
    triplet = machine.compiler.removesuffix("-gcc")
    gcc.write_text(GCC.format(compiler=machine.compiler, root=root, triplet=triplet))
    gcc.chmod(0o755)
    env = {
        "APOGEE_GCC": str(gcc),
        "PYTHONPATH": "scripts",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_XDIST_WORKER": f"machine-{name}",  # with a folder of its own for what it makes
    }
    python = (machine.runs, "-L", root, root / "usr/bin/python3")
    pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-m", "not deep")
    done = subprocess.run(
        [*map(str, python), "-Xutf8", *pytest, *words],
        cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout.splitlines()[-1]
