# SPDX-License-Identifier: GPL-2.0
"""The algorithms of include/apogee as a library to call from tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .cheaders import Library, compile_library


@pytest.fixture(scope="session")
def apogee(root: Path, build: Path) -> Library:
    """include/apogee, compiled; with sanitizers in the run test_sanitized.py starts."""
    variant = os.environ.get("APOGEE_UNIT", "plain")
    folder = build / "unit" / variant
    return compile_library(root / "include", folder, sanitized=variant == "sanitized")
