# SPDX-License-Identifier: GPL-2.0
"""The algorithms of include/apogee as a library to call from tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.asked.recorder import Recorder
from tests.simulation import Simulation, compile_simulation
from tests.unit.headers.cheaders import Library, compile_library

SANITIZED = os.environ.get("APOGEE_UNIT") == "sanitized"
# What Python loads now is under the sanitizers; compilers that it starts need not be.
os.environ.pop("LD_PRELOAD", None)


@pytest.fixture(scope="session")
def apogee(root: Path, build: Path) -> Iterator[Library]:
    """include/apogee, compiled: with sanitizers, and all calls kept, in the runs that
    tests/asked/kept.py starts.
    """
    folder = build / ("sanitized" if SANITIZED else "unit")
    library = compile_library(root, folder, sanitized=SANITIZED)
    recorder = Recorder(library) if SANITIZED else None
    yield library
    if recorder:
        recorder.write(build)


@pytest.fixture(scope="session")
def simulation() -> Simulation:
    """The lab's model, compiled with sanitizers."""
    return compile_simulation(sanitized=True)


@pytest.fixture(scope="session")
def fast() -> Simulation:
    """The same without sanitizers, for hundreds of runs of what the others have run with them."""
    return compile_simulation()
