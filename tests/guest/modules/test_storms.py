# SPDX-License-Identifier: GPL-2.0
"""A few storms; tests/deep/test_storms.py has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storm import bounds, table
from tests.storm.play import play
from tests.storm.storms import OURS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

STORMS = ("mixed", "zero-deaf", "dead")


def test_no_storm_breaks_a_stream(build: Path) -> None:
    """One of all that damages packets, one without a window, one without feedback."""
    records = table.by_key(play(build / "tests" / "storms", STORMS, (*bounds.BESIDE, *OURS)))
    assert len(records) == len(STORMS) * (len(bounds.BESIDE) + len(OURS))
    assert bounds.wrong(records) == []
