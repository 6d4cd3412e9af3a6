# SPDX-License-Identifier: GPL-2.0
"""A few storms; tests/deep/test_storms.py has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storm import bounds, table
from tests.storm.play import play
from tests.storm.storms import OURS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

STORMS = ("mixed", "dead")
ALGORITHMS = ("reno", *OURS)


def test_no_storm_breaks_a_stream(build: Path) -> None:
    """All that happens to packets at once, and a path that is silent in both directions."""
    records = table.by_key(play(build / "tests" / "storms", STORMS, ALGORITHMS))
    assert len(records) == len(STORMS) * len(ALGORITHMS)
    assert bounds.wrong(records) == []
