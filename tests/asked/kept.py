# SPDX-License-Identifier: GPL-2.0
"""The unit tests of include/apogee again, file by file: under the compiler's sanitizers, with their
calls kept.

Whoever needs a file's run first in a session of tests starts it; others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import ROOT
from tests.asked.calls import unpack, write
from tests.asked.recorder import KEPT
from tests.unit.headers.cheaders import build_library, gcc

TESTS = ROOT / "tests" / "unit" / "headers"
#: Files of tests that call functions; the others run programs, which have sanitizers themselves.
PROGRAMS = {
    f"test_{name}.py" for name in ("build", "simulation", "star_simulated", "shake_simulated")
}
FILES = sorted({path.name for path in TESTS.glob("test_*.py")} - PROGRAMS)

_FOLDER = ROOT / "build" / "sanitized"
_SESSION = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
#: Python takes each object's memory from malloc(), so that what C writes beside it is seen. Where
#: it was taken is not noted: that would cost more than the tests.
_ENVIRONMENT = {
    "APOGEE_UNIT": "sanitized",
    "APOGEE_HYPOTHESIS": "quick",
    "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PYTHONMALLOC": "malloc",
}


def run(name: str) -> Path:
    """Run a file's tests; the folder of the ``calls`` that they made and their ``answers``."""
    folder = _FOLDER / Path(name).stem
    folder.mkdir(parents=True, exist_ok=True)
    done, log = folder / "done", folder / "log"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != _SESSION:
            write(folder, {})  # stays so where nothing is called through the library
            status = _run(name, log)
            assert status == 0, log.read_text(errors="replace")[-8000:]
            done.write_text(_SESSION)
    return folder


def _run(name: str, log: Path) -> int:
    """The exit status of a file's tests, in a process that is a worker of its own."""
    build_library(ROOT / "include", _FOLDER, sanitized=True)
    runtimes = [gcc(f"-print-file-name={name}").strip() for name in ("libasan.so", "libubsan.so")]
    env = os.environ | _ENVIRONMENT
    env |= {"LD_PRELOAD": ":".join(runtimes), "PYTEST_XDIST_WORKER": f"sanitized/{Path(name).stem}"}
    command = [sys.executable, "-Xutf8", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    with log.open("w") as stream:
        done = subprocess.run(
            [*command, "-m", "not repeats", TESTS / name],
            cwd=ROOT,
            env=env,
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode


def all_calls(folder: Path) -> None:
    """Write ``calls`` and ``answers`` of all files, of each function at most KEPT."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ran = list(pool.map(run, FILES))
    made: dict[int, dict[bytes, bytes]] = {}
    for one in ran:
        pairs = zip(unpack(one / "calls"), unpack(one / "answers"), strict=True)
        for (index, call), (_, answer) in pairs:
            made.setdefault(index, {})[call] = answer
    chance = random.Random(0)
    sampled = {
        index: dict(chance.sample(list(of.items()), min(KEPT, len(of))))
        for index, of in sorted(made.items())
    }
    write(folder, sampled)
