# SPDX-License-Identifier: GPL-2.0
"""All tests here are deep."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.conftest import shifted_seeds


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.deep)


__all__ = ["shifted_seeds"]  # a fixture for all tests here
