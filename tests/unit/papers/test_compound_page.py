# SPDX-License-Identifier: GPL-2.0
"""docs/results/compound.md says what the kept records give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers import kept
from apogee_lab.papers.claims import Results, total
from apogee_lab.papers.compound.claims import PLAIN, PLUS, index, mean_rtt, place
from apogee_lab.papers.compound.figures import LATE, LATE_NS, NS, OTHERS, OURS, RULES
from apogee_lab.results.statistics import mean_of

Found = Mapping[str, Mapping[str, Results]]

#: Lines of the tables: variant, algorithm, rule.
STATIONS: dict[str, tuple[str, str, int | None]] = {
    **{cc: ("today", cc, None) for cc in (*OTHERS, PLAIN)},
    "compound, fit=2": ("fit", PLAIN, None),
    **{f"rule ({rule}), as published": ("letter", PLUS, rule) for rule in RULES},
    "**compound_plus**": ("today", PLUS, OURS),
    **{f"{cc}, random phase": ("random", cc, None) for cc in (*OTHERS, PLAIN)},
    "compound_plus, random phase": ("random", PLUS, OURS),
}
LATES: dict[str, tuple[str, str, int | None]] = {
    "compound_plus, as published": ("letter", PLUS, OURS),
    "**compound_plus**": ("today", PLUS, OURS),
}


@pytest.fixture(scope="module")
def found(root: Path) -> Found:
    records = kept.read(root / "docs" / "results" / "records" / "compound.jsonl.xz")
    return {
        figure: {variant: Results(runs) for variant, runs in variants.items()}
        for figure, variants in records.items()
    }


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "results" / "compound.md").read_text()


def over_stations(found: Found, variant: str, cc: str, rule: int | None) -> list[str]:
    """Index / mean RTT / Mbit/s, by number of stations."""
    cells = []
    for n in NS:
        indices, rtts, rates = (
            found["compound-2"][variant].values(cc, place(rule, {"n": n}), measure)
            for measure in (index, mean_rtt, total)
        )
        cells.append(f"{fmean(indices):.3f} / {fmean(rtts):.0f} / {fmean(rates) / 1e6:.2f}")
    return cells


def over_starts(found: Found, variant: str, cc: str, rule: int | None) -> list[str]:
    """Index with its interval, and the least."""
    cells = []
    for n in LATE_NS:
        for start in ("100ms", *LATE):
            point: dict[str, Any] = {"n": n, "start": start}
            indices = found["compound-late"][variant].values(cc, place(rule, point), index)
            mean = mean_of(indices)
            assert mean.bounds is not None
            half = mean.bounds[1] - mean.value
            assert math.isclose(half, mean.value - mean.bounds[0], rel_tol=1e-6, abs_tol=1e-9)
            cells.append(f"{mean.value:.3f} ± {half:.3f} ({min(indices):.3f})")
    return cells


def row(name: str, cells: list[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


@pytest.mark.parametrize("name", STATIONS)
def test_over_the_number_of_stations(found: Found, page: str, name: str) -> None:
    assert row(name, over_stations(found, *STATIONS[name])) in page


@pytest.mark.parametrize("name", LATES)
def test_late_starts(found: Found, page: str, name: str) -> None:
    assert row(name, over_starts(found, *LATES[name])) in page
