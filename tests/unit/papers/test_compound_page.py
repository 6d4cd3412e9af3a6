# SPDX-License-Identifier: GPL-2.0
"""docs/results/compound.md says what the kept records give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.measures.record import read_records
from apogee_lab.papers import kept
from apogee_lab.papers.claims import Results, total
from apogee_lab.papers.compound.claims import PLAIN, PLUS, index, mean_rtt, place
from apogee_lab.papers.compound.figures import LATE, LATE_NS, NS, OTHERS, OURS, RULES
from apogee_lab.results.statistics import mean_of
from apogee_lab.scenarios.wlan import COLUMNS

Record = dict[str, Any]
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
def runs(root: Path) -> kept.Kept:
    return kept.read(root / "docs" / "results" / "records" / "compound.jsonl.xz")


@pytest.fixture(scope="module")
def found(runs: kept.Kept) -> Found:
    return {
        figure: {variant: Results(records) for variant, records in variants.items()}
        for figure, variants in runs.items()
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


# --- mixes and downloads ----------------------------------------------------------------------

SEEDS = {1, 2, 3, 4, 5}
PHASES = {"fixed": "today", "random": "random"}  # a phase and its variant of the first table
PEERS = ("cubic", "bbr")
DOWNS = (1, 4)
GAMMA = f"{PLUS}.gamma"
#: Lines of the table of downloads: the uploads' algorithm, its gamma if it is set, the phase.
DOWNLOADS: dict[str, tuple[str, int | None, str]] = {
    PLUS: (PLUS, None, "fixed"),
    f"{PLUS}, random phase": (PLUS, None, "random"),
    f"{PLUS}, gamma=10": (PLUS, 10, "fixed"),
    **{cc: (cc, None, "fixed") for cc in (PLAIN, "cubic", "reno", "bbr")},
}
(ACKS_LOST,) = (column.value for column in COLUMNS if column.heading == "ACKs lost %")


@pytest.fixture(scope="module")
def mixes(root: Path) -> list[Record]:
    return read_records(root / "docs" / "results" / "compound" / "mixes.jsonl")


@pytest.fixture(scope="module")
def downloads(root: Path) -> list[Record]:
    return read_records(root / "docs" / "results" / "compound" / "downloads.jsonl")


def chosen(records: Iterable[Record], cc: str, **settings: Any) -> list[Record]:
    """The five runs of an algorithm or mix with these settings; none if there are none."""
    found = [
        record
        for record in records
        if record["cc"] == cc
        and all(record["set"].get(key) == value for key, value in settings.items())
    ]
    assert {record["seed"] for record in found} in (SEEDS, set())
    assert len(found) in (len(SEEDS), 0)
    return found


def alone(runs: kept.Kept, cc: str, n: int, phase: str) -> list[Record]:
    """The runs of the first table in which all stations use an algorithm."""
    settings = place(OURS if cc == PLUS else None, {"n": n})
    return [
        record
        for record in runs["compound-2"][PHASES[phase]]
        if (record["cc"], record["set"]) == (cc, {**record["set"], **settings})
    ]


def flows(record: Record, name: str) -> list[Record]:
    """The uploads (``station``) or the ``download``s."""
    return [flow for flow in record["flows"] if flow["name"].startswith(name)]


def mbps(records: list[Record], name: str, cc: str) -> float:
    """Mean goodput of the uploads or downloads with an algorithm."""
    every = (flow for record in records for flow in flows(record, name) if flow["cc"] == cc)
    return fmean(flow["goodput_bps"] for flow in every) / 1e6


def rtt(record: Record) -> float:
    """Mean RTT of the uploads."""
    return mean_rtt({"flows": flows(record, "station")}) or 0.0


def of_each_kind(records: list[Record], *kinds: str) -> str:
    """Mbit/s of a station of each kind / index / mean RTT / Mbit/s of all."""
    cells = [
        " + ".join(f"{mbps(records, 'station', kind):.2f}" for kind in kinds),
        f"{fmean(map(index, records)):.3f}",
        f"{fmean(map(rtt, records)):.0f}",
        f"{fmean(map(total, records)) / 1e6:.2f}",
    ]
    return " / ".join(cells)


@pytest.mark.parametrize("ours", [PLUS, PLAIN])
@pytest.mark.parametrize("peer", PEERS)
def test_half_of_the_stations(mixes: list[Record], page: str, peer: str, ours: str) -> None:
    cells = []
    for n in (6, 14):
        for phase in PHASES:
            some = chosen(mixes, f"{n // 2}*{ours}+{n // 2}*{peer}", n=n, phase=phase)
            cells.append(of_each_kind(some, ours, peer) if some else "–")
    assert row(f"half {ours}, half {peer}", cells) in page


@pytest.mark.parametrize("cc", [PLUS, PLAIN, *PEERS])
def test_all_of_one_kind(runs: kept.Kept, page: str, cc: str) -> None:
    cells = [of_each_kind(alone(runs, cc, n, phase), cc) for n in (6, 14) for phase in PHASES]
    assert row(f"all {cc}", cells) in page


def beside(records: list[Record], cc: str, down: int) -> str:
    """Mbit/s of an upload / of a download / mean RTT of the uploads / ACKs lost."""
    download = f"{mbps(records, 'download', 'cubic'):.3f}" if down else "–"
    lost = fmean(ACKS_LOST(record) or 0.0 for record in records)
    rates = f"{mbps(records, 'station', cc):.2f} / {download}"
    return f"{rates} / {fmean(map(rtt, records)):.0f} / {lost:.1f}"


@pytest.mark.parametrize("name", DOWNLOADS)
def test_beside_downloads(runs: kept.Kept, downloads: list[Record], page: str, name: str) -> None:
    cc, gamma, phase = DOWNLOADS[name]
    cells = []
    for down in (0, *DOWNS):
        some = chosen(downloads, cc, n=6, phase=phase, down=down, **{GAMMA: gamma})
        if not down and not gamma:
            some = alone(runs, cc, 6, phase)
        cells.append(beside(some, cc, down) if some else "–")
    assert row(name, cells) in page
