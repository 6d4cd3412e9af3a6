# SPDX-License-Identifier: GPL-2.0
"""Receivers that lie (tests/hostile), with every algorithm beside reno, CUBIC and BBR: they get no
more than the bounds. `python3 -m tests.hostile` measures how much they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import bounds, cost, table
from tests.hostile.attacks import ALGORITHMS, ATTACKS, OURS, PATHS
from tests.hostile.play import play

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: Instructions per ACK beside an honest receiver's; at most 1.11 in docs/hostile.md.
DEARER = 1.25


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_receiver_gets_more_than_the_bounds(build: Path, path: str, algorithm: str) -> None:
    """No report of the kernel either, and no window of 0."""
    out = build / "tests" / f"hostile-{path}-{algorithm}"
    records = table.by_key(play(build, out, path, [algorithm], ATTACKS))
    assert len(records) == len(ATTACKS)
    assert bounds.wrong(records) == []


@pytest.mark.parametrize("algorithm", OURS)
def test_no_lie_makes_an_ack_much_dearer(build: Path, algorithm: str) -> None:
    out = build / "tests" / f"hostile-cost-{algorithm}"
    attacks = ("honest", "honest-ecn", "division", "sacks", "marked")
    records = list(cost.play(build, out, algorithm, attacks))
    assert {key: share for key, share in cost.relative(records).items() if share > DEARER} == {}
    assert all(record["acks"] > 500 for record in records)
