# SPDX-License-Identifier: GPL-2.0
"""Pages of docs and the records beside them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from apogee_lab.papers import kept
from tests.unit.papers.found import Figures, Read, Record, TextOf, joined


@pytest.fixture(scope="session")
def read(root: Path) -> Read:
    def of(name: str) -> list[Record]:
        """The records of a file of docs/results."""
        text = (root / "docs" / "results" / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    return functools.cache(of)


@pytest.fixture(scope="session")
def figures(root: Path) -> Figures:
    folder = root / "docs" / "results" / "records"
    of_paper = functools.cache(lambda paper: kept.read(folder / f"{paper}.jsonl.xz"))
    return lambda name: of_paper(name.partition("-")[0])[name]


@pytest.fixture(scope="session")
def text_of(root: Path) -> TextOf:
    return functools.cache(lambda name: joined((root / "docs" / name).read_text()))


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, text_of: TextOf) -> str:
    """The page that the module is about."""
    return text_of(request.module.PAGE)
