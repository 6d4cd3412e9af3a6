# SPDX-License-Identifier: GPL-2.0
"""The rows of the kernel matrix that every change has to pass; `make matrix` has the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import matrix

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def asked() -> Path:
    return matrix.record_calls()


@pytest.mark.parametrize("suite", ["bookworm", "bookworm-backports"])
def test_builds_boots_loads_moves_data_and_answers_alike(suite: str, asked: Path) -> None:
    row = matrix.native_row(suite, asked)
    assert row.failures == []
    assert list(row.cells) == list(matrix.COLUMNS)
