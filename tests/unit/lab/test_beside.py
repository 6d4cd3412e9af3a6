# SPDX-License-Identifier: GPL-2.0
"""`lab beside`: the goodput of others beside an algorithm, against values computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import beside


def record(cc: str, first: float, second: float, **values: Any) -> dict[str, Any]:
    names = cc.split("+")
    settings = {"ber": 0.0, "queue": "625kB", **values}
    flows = [
        {"cc": name, "goodput_bps": mbit * 1e6}
        for name, mbit in zip(names, (first, second), strict=True)
    ]
    return {"run": "0123", "cc": cc, "flows": flows, "set": settings}


def test_the_table() -> None:
    """reno + reno 4 and 5: 4.5 each; beside star 3 and 4: 3.5, 0.78 of it."""
    found = [
        record("reno+reno", 4, 5),
        record("reno+reno", 4, 5),
        record("star+reno", 6, 3),
        record("star+reno", 5, 4),
        record("star+reno", 9, 0.45, **{"star.coexist": "0"}),
        record("cubic+cubic", 4, 5),
    ]
    heading, *rows = beside.table(beside.shares(found))
    assert heading == [
        "other",
        "ber",
        "queue",
        "its own kind",
        "beside star",
        "beside star coexist=0",
    ]
    assert rows == [["reno", "0", "625kB", "4.50 ± 0.00", "3.50 ± 6.35 (0.78)", "0.45 (0.10)"]]


def test_nothing_to_compare() -> None:
    with pytest.raises(LabError, match="no algorithm was measured"):
        beside.table(beside.shares([record("star+reno", 6, 3)]))


def test_records_of_other_scenarios_are_refused() -> None:
    lonely = record("star+reno", 6, 3)
    del lonely["flows"][1]
    with pytest.raises(LabError, match="0123 does not have two flows"):
        beside.shares([lonely])
