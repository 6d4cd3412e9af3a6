# SPDX-License-Identifier: GPL-2.0
"""Every storm (tests/storm) on every algorithm beside reno, CUBIC and BBR: data arrives whole, in
time, and who gets no feedback backs off. `python3 -m tests.storm` measures how well they recover.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storm import bounds, table
from tests.storm.play import play
from tests.storm.storms import ALGORITHMS, STORMS

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.xdist_group("storms")]


def _played(build: Path, cc: str) -> list[table.Record]:
    return list(play(build / "tests" / f"storm-{cc}", list(STORMS), [cc]))


@pytest.fixture(scope="module")
def beside(build: Path) -> list[table.Record]:
    """Records of those that an algorithm is judged beside."""
    return [record for cc in bounds.BESIDE for record in _played(build, cc)]


@pytest.mark.parametrize("algorithm", [cc for cc in ALGORITHMS if cc not in bounds.BESIDE])
def test_no_storm_breaks_a_stream(build: Path, beside: list[table.Record], algorithm: str) -> None:
    """No report of the kernel either, and no window of 0."""
    records = table.by_key([*beside, *_played(build, algorithm)])
    assert len(records) == len(STORMS) * (1 + len(bounds.BESIDE))
    assert bounds.wrong(records) == []
