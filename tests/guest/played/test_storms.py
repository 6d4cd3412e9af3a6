# SPDX-License-Identifier: GPL-2.0
"""In every storm (tests/played/storms) data arrives whole and in time with every algorithm, and who
gets no feedback backs off. `python3 -m tests.played storms` measures how well they recover.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.played import ALGORITHMS, OURS
from tests.played.storms.book import BOOK
from tests.played.storms.play import play
from tests.played.storms.storms import STORMS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: All that happens to packets at once, and a path that is silent in both directions.
FEW = [("mixed", ("reno", *OURS)), ("dead", ("reno", "star"))]


@pytest.mark.parametrize(
    ("storm", "algorithms"),
    [
        *(pytest.param(*few, id=f"{few[0]}-few") for few in FEW),
        *(pytest.param(name, ALGORITHMS, id=name, marks=pytest.mark.deep) for name in STORMS),
    ],
)
def test_no_storm_breaks_a_stream(tmp_path: Path, storm: str, algorithms: tuple[str, ...]) -> None:
    """No report of the kernel either, and no window of 0."""
    records = BOOK.by_key(play(tmp_path / "out", [storm], algorithms))
    assert len(records) == len(algorithms)
    assert BOOK.wrong(records) == []
