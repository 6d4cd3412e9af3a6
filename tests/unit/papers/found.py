# SPDX-License-Identifier: GPL-2.0
"""Runs among records, and what pages say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

from apogee_lab.results.statistics import mean_of

Record = dict[str, Any]
#: The records of a file of docs/results.
Read = Callable[[str], list[Record]]
#: The kept records of a figure, by variant.
Figures = Callable[[str], dict[str, list[Record]]]
#: The text of a page of docs, whose lines may end anywhere.
TextOf = Callable[[str], str]


def runs(records: Iterable[Record], cc: str, least: int = 1, /, **settings: Any) -> list[Record]:
    """The runs of an algorithm with these settings (None: not set), by seed."""
    found = [
        record
        for record in records
        if record["cc"] == cc
        and all(record["set"].get(key) == value for key, value in settings.items())
    ]
    assert len({record["seed"] for record in found}) == len(found) >= least, (cc, settings)
    return sorted(found, key=lambda record: record["seed"])


def mean(found: Iterable[Record], *keys: str | int) -> float:
    """The mean of what is at this place of each record."""
    values: list[Any] = list(found)
    for key in keys:
        values = [value[key] for value in values]
    return fmean(values)


def goodput(found: Iterable[Record], flow: int | None = None) -> float:
    """Mean goodput of all flows or of one, Mbit/s."""
    if flow is None:
        return mean(found, "total_goodput_bps") / 1e6
    return mean(found, "flows", flow, "goodput_bps") / 1e6


def used(record: Record) -> float:
    """Per cent of the link."""
    return 100 * record["total_goodput_bps"] / record["limit_bps"]


def dropped(found: Sequence[Record]) -> float:
    """Per cent of what was sent that the queue dropped."""
    sent = sum(flow["segments"] for record in found for flow in record["flows"])
    return 100 * sum(record["queue"]["drops"] for record in found) / sent


def surely_more(
    theirs: Sequence[Record], ours: Sequence[Record], of: Callable[[Record], float]
) -> bool:
    """Whether the first runs have more than those of the same seeds: the whole 95 % interval of
    the differences is above 0."""
    assert [record["seed"] for record in theirs] == [record["seed"] for record in ours]
    bounds = mean_of(of(a) - of(b) for a, b in zip(theirs, ours, strict=True)).bounds
    return bounds is not None and bounds[0] > 0


def joined(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def row(*cells: str) -> str:
    """A line of a table."""
    return joined(f"| {' | '.join(cells)} |")


def short(value: float, decimals: int = 2) -> str:
    """A value below 1 as pages write it: .92."""
    return f"{value:.{decimals}f}".removeprefix("0")


def from_to(values: Iterable[float], decimals: int = 0) -> str:
    values = sorted(values)
    low, high = (f"{value:.{decimals}f}" for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"
