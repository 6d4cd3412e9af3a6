# SPDX-License-Identifier: GPL-2.0
"""The algorithms of include/apogee as a library to call from tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .cheaders import Library, compile_library

VARIANT = os.environ.get("APOGEE_UNIT", "plain")

# The sanitizers watch the C headers; the lab's Python has nothing for them.
collect_ignore_glob = ["test_lab_*"] if VARIANT == "sanitized" else []


@pytest.fixture(scope="session")
def apogee(root: Path, build: Path) -> Library:
    """include/apogee, compiled; with sanitizers in the run that test_build.py starts."""
    folder = build / "unit" / VARIANT
    return compile_library(root / "include", folder, sanitized=VARIANT == "sanitized")
