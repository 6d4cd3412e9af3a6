# SPDX-License-Identifier: GPL-2.0
"""In every storm (tests/played/storms) data arrives whole and in time with every algorithm, and who
gets no feedback backs off. `python3 -m tests.played storms` measures how well they recover.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.played import ALGORITHMS
from tests.played.storms.book import BOOK
from tests.played.storms.play import play
from tests.played.storms.storms import STORMS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: All that happens to packets at once, and a path that is silent in both directions.
FEW = ("mixed", "dead")


@pytest.mark.parametrize(
    "storm", [pytest.param(s, marks=() if s in FEW else pytest.mark.deep) for s in STORMS]
)
def test_no_storm_breaks_a_stream(build: Path, storm: str) -> None:
    """No report of the kernel either, and no window of 0."""
    records = BOOK.by_key(play(build / "tests" / f"storm-{storm}", [storm], ALGORITHMS))
    assert len(records) == len(ALGORITHMS)
    assert BOOK.wrong(records) == []
