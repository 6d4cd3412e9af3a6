# SPDX-License-Identifier: GPL-2.0
"""`lab beside`: the goodput of others beside an algorithm, against values computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import beside


def record(cc: str, first: float, second: float, seed: int = 1, **values: Any) -> dict[str, Any]:
    names = cc.split("+")
    settings = {"ber": 0.0, "queue": "625kB", **values}
    flows = [
        {"cc": name, "goodput_bps": mbit * 1e6}
        for name, mbit in zip(names, (first, second), strict=True)
    ]
    return {"run": "0123", "cc": cc, "seed": seed, "flows": flows, "set": settings}


def test_the_table() -> None:
    """reno + reno 4 and 5: 4.5 each; beside star 3 and 4: 3.5, 0.78 of it. As 4.5 does not vary,
    the ratio's interval is that of 3.5 over 4.5: (3.5 ± 12.71 × .5) / 4.5."""
    found = [
        record("reno+reno", 4, 5),
        record("reno+reno", 4, 5, 2),
        record("star+reno", 6, 3),
        record("star+reno", 5, 4, 2),
        record("star+reno", 9, 0.45, **{"star.coexist": "0"}),
        record("cubic+cubic", 4, 5),
    ]
    heading, *rows = beside.table(beside.shares(found))
    own = ["its own kind", "beside star", "beside star coexist=0"]
    assert heading == ["other", "ber", "queue", *own]
    cells = ["4.50 ± 0.00", "3.50 ± 6.35 (0.78, -0.63 to 2.19)", "0.45 (0.10)"]
    assert rows == [["reno", "0", "625kB", *cells]]
    heading, *rows = beside.first_flows(beside.shares(found))
    assert heading == ["other", "ber", "queue", "star", "star coexist=0"]
    assert rows == [["reno", "0", "625kB", "5.50 ± 6.35", "9.00"]]


def test_runs_of_the_same_seed_are_compared() -> None:
    """Beside star .4 of what it is beside one's own kind, with every seed: no interval."""
    found = []
    for seed in (1, 2, 3):
        own = 10 + seed
        found.append(record("reno+reno", own, own, seed))
        found.append(record("star+reno", 1, 0.4 * own, seed))
    ((*_, cell),) = beside.table(beside.shares(found))[1:]
    assert cell == "4.80 ± 0.99 (0.40, 0.40 to 0.40)"


def test_what_is_refused() -> None:
    """A run twice, nothing to compare, records of other scenarios."""
    good, lonely = record("star+reno", 6, 3), record("star+reno", 6, 3)
    del lonely["flows"][1]
    for records, words in (
        ([good, good], "seed 1 twice"),
        ([good], "no algorithm was measured"),
        ([lonely], "0123 does not have two flows"),
    ):
        with pytest.raises(LabError, match=words):
            beside.table(beside.shares(records))
