# SPDX-License-Identifier: GPL-2.0
"""Runs among records, and what pages say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

Record = dict[str, Any]
#: The text of a page of docs, whose lines may end anywhere.
TextOf = Callable[[str], str]


def runs(records: Iterable[Record], cc: str, **settings: Any) -> list[Record]:
    """The runs of an algorithm with these settings (None: not set), by seed."""
    found = [
        record
        for record in records
        if record["cc"] == cc
        and all(record["set"].get(key) == value for key, value in settings.items())
    ]
    assert found and len({record["seed"] for record in found}) == len(found)
    return sorted(found, key=lambda record: record["seed"])


def goodput(found: Iterable[Record]) -> float:
    """Mean goodput of all flows, Mbit/s."""
    return fmean(record["total_goodput_bps"] for record in found) / 1e6


def dropped(found: Sequence[Record]) -> float:
    """Per cent of what was sent that the queue dropped."""
    sent = sum(flow["segments"] for record in found for flow in record["flows"])
    return 100 * sum(record["queue"]["drops"] for record in found) / sent


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def short(value: float, decimals: int = 2) -> str:
    """A value below 1 as pages write it: .92."""
    return f"{value:.{decimals}f}".removeprefix("0")
