# SPDX-License-Identifier: GPL-2.0
"""The toy's module in a guest; becomes tests/guest/modules/test_toy.py of a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.runs import measured

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_it_fills_the_link(kept: Path, tmp_path: Path) -> None:
    link = ("--set", "rate=2mbit", "--set", "delay=20ms", "--set", "queue=25kB")
    (found,) = measured(tmp_path / "toy", *link, "--cc", "toy", "--duration", "5")
    assert found["cc"] == "toy"
    assert found["total_goodput_bps"] > 0.8 * found["limit_bps"]
