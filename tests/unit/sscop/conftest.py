# SPDX-License-Identifier: GPL-2.0
"""The machines as a library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz import build_library
from tests.unit.sscop.core import Core

VARIANT = os.environ.get("APOGEE_UNIT", "plain")


@pytest.fixture(scope="session")
def core(root: Path, build: Path) -> Core:
    """Compiled: with sanitizers if tests/unit/headers/test_build.py starts the run."""
    library = build / "unit" / VARIANT / "sscop.so"
    build_library(library, sanitized=VARIANT == "sanitized")
    return Core(library, root / "sscop" / "sscop.h")
