# SPDX-License-Identifier: GPL-2.0
"""Records beside the pages of results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.papers.found import TextOf


@pytest.fixture(scope="session")
def read(root: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Reads the records of a file of docs/results."""

    def of(name: str) -> list[dict[str, Any]]:
        lines = (root / "docs" / "results" / name).read_text().splitlines()
        return [json.loads(line) for line in lines]

    return of


@pytest.fixture(scope="session")
def text_of(root: Path) -> TextOf:
    return lambda name: " ".join((root / "docs" / name).read_text().split())
