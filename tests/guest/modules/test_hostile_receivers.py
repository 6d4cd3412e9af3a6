# SPDX-License-Identifier: GPL-2.0
"""A few receivers that lie; tests/deep/test_hostile.py has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import bounds, table
from tests.hostile.attacks import OURS
from tests.hostile.play import play

pytestmark = [pytest.mark.guest, pytest.mark.uml]

ATTACKS = ("honest", "division", "first", "zero")


def test_no_receiver_gets_more_than_the_bounds(build: Path) -> None:
    """One that gains nothing, one that blows up a window, and one that stops the sender."""
    records = table.by_key(play(build, build / "tests" / "hostile", "short", OURS, ATTACKS))
    assert len(records) == len(ATTACKS) * len(OURS)
    assert bounds.wrong(records) == []
