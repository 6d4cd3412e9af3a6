# SPDX-License-Identifier: GPL-2.0
"""Receivers that lie (tests/played/hostile) get no more than the bounds from any algorithm.
`python3 -m tests.played hostile` measures how much they get."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.played import ALGORITHMS, OURS
from tests.played.hostile import cost
from tests.played.hostile.attacks import ATTACKS, PATHS
from tests.played.hostile.book import COST, LIES
from tests.played.hostile.play import play

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: One that gains nothing, one that blows up a window, and one that stops the sender.
FEW = ("honest", "division", "first", "zero")


@pytest.mark.parametrize(
    ("path", "algorithms", "attacks"),
    [
        pytest.param("short", ["star"], FEW, id="few"),
        *(
            pytest.param(path, [cc], ATTACKS, id=f"{path}-{cc}", marks=pytest.mark.deep)
            for path, cc in product(PATHS, ALGORITHMS)
        ),
    ],
)
def test_no_receiver_gets_more_than_the_bounds(
    tmp_path: Path, path: str, algorithms: Sequence[str], attacks: Sequence[str]
) -> None:
    """No report of the kernel either, and no window of 0."""
    records = LIES.by_key(play(tmp_path / "out", path, algorithms, attacks))
    assert len(records) == len(algorithms) * len(attacks)
    assert LIES.wrong(records) == []


@pytest.mark.deep
@pytest.mark.parametrize("algorithm", OURS)
def test_no_lie_makes_an_ack_much_dearer(build: Path, algorithm: str) -> None:
    attacks = ("honest", "honest-ecn", "division", "sacks", "marked")
    records = cost.play(algorithm, build / "tests" / f"hostile-cost-{algorithm}", attacks)
    assert COST.wrong(COST.by_key(records)) == []
    assert all(record["acks"] > 500 for record in records)
