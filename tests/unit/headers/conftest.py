# SPDX-License-Identifier: GPL-2.0
"""The algorithms of include/apogee as a library to call from tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation import Simulation, compile_simulation
from tests.unit.headers.answers import Recorder
from tests.unit.headers.cheaders import Library, compile_library

VARIANT = os.environ.get("APOGEE_UNIT", "plain")


@pytest.fixture(scope="session")
def apogee(root: Path, build: Path) -> Iterator[Library]:
    """include/apogee, compiled: with sanitizers in the run that test_build.py starts, or with
    all calls recorded into build/unit/recorded in the one of tests/matrix.
    """
    folder = build / "unit" / VARIANT
    library = compile_library(root / "include", folder, sanitized=VARIANT == "sanitized")
    recorder = Recorder(library) if VARIANT == "recorded" else None
    yield library
    if recorder:
        recorder.write(folder)


@pytest.fixture(scope="session")
def simulation(build: Path) -> Simulation:
    """The program in tests/simulation, compiled: with sanitizers in that run."""
    folder = build / "simulation" / VARIANT
    return compile_simulation(folder, sanitized=VARIANT == "sanitized")
