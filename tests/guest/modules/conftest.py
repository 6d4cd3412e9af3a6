# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the modules' tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def report(life: Path) -> list[str]:
    """The lines that a module's test script has said."""
    return (life / "report").read_text().splitlines()
