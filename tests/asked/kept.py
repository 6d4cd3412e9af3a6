# SPDX-License-Identifier: GPL-2.0
"""The unit tests of include/apogee again, under the compiler's sanitizers, with their calls kept.

Whoever needs that run first in a session of tests starts it; others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import ROOT
from tests.unit.headers.cheaders import build_library, gcc

TESTS = ROOT / "tests" / "unit" / "headers"
#: Files of tests that call functions; the others run programs, which have sanitizers themselves.
PROGRAMS = {
    f"test_{name}.py"
    for name in (
        "build",
        "model",
        "simulation",
        "star_simulated",
        "star_any_state",
        "shake_simulated",
    )
}
FILES = sorted({path.name for path in TESTS.glob("test_*.py")} - PROGRAMS)

FOLDER = ROOT / "build" / "sanitized"
_SESSION = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
#: Python takes each object's memory from malloc(), so that what C writes beside it is seen. Where
#: it was taken is not noted: that would cost more than the tests.
_ENVIRONMENT = {
    "PYTEST_XDIST_WORKER": FOLDER.name,
    "APOGEE_UNIT": "sanitized",
    "APOGEE_HYPOTHESIS": "quick",
    "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PYTHONMALLOC": "malloc",
}


def run() -> Path:
    """Run all files' tests; the folder of the ``calls`` that they made and their ``answers``."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    done, log = FOLDER / "done", FOLDER / "log"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != _SESSION:
            build_library(ROOT, FOLDER, sanitized=True)
            names = ("libasan.so", "libubsan.so")
            runtimes = [gcc(f"-print-file-name={name}").strip() for name in names]
            given = ["-m", "not repeats and not deep", *(TESTS / name for name in FILES)]
            pass_again(given, log, _ENVIRONMENT | {"LD_PRELOAD": ":".join(runtimes)})
            done.write_text(_SESSION)
    return FOLDER


def pass_again(given: Sequence[str | Path], log: Path, environment: Mapping[str, str]) -> None:
    """Run tests in a process that is a worker of its own; they have to pass."""
    command = [sys.executable, "-Xutf8", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    with log.open("w") as out:
        env = os.environ | environment
        done = subprocess.run(
            [*command, *given], cwd=ROOT, env=env, stdout=out, stderr=out, check=False
        )
    assert done.returncode == 0, log.read_text(errors="replace")[-8000:]
