# SPDX-License-Identifier: GPL-2.0
"""The kernel matrix: a kernel that does not come or does not run fails in its own row."""

from __future__ import annotations

import pytest

from apogee_lab.base import LabError
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import debian
from tests import matrix


def raising(error: Exception) -> object:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


@pytest.mark.parametrize(
    "error", [GuestFailed("kernel panic", []), LabError("no room"), AssertionError("no")]
)
def test_a_check_that_breaks_is_a_failed_cell(error: Exception) -> None:
    row = matrix.Row("7.3", "amd64")
    assert not row.look("boots", raising(error))  # type: ignore[arg-type]
    assert row.failures == [f"7.3: boots: {error}"]
    assert row.texts() == ["7.3", "amd64", "–", "–", "FAILED", "–", "–", "–"]


def test_a_kernel_that_cannot_be_had_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    error = LabError("trixie-backports: no network")
    monkeypatch.setattr(debian, "kernel", raising(error))
    monkeypatch.setattr(matrix.foreign_headers, "kernel", raising(error))
    for row in (matrix.native_row("7.3", matrix.ROOT), matrix.foreign_row("7.3", "arm64")):
        assert row.failures == ["7.3: W=1: trixie-backports: no network"]
