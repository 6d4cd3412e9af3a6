# SPDX-License-Identifier: GPL-2.0
"""docs/results/compound.md says what the kept records give."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.measures.record import read_records
from apogee_lab.papers import kept
from apogee_lab.papers.claims import Results, ratio, total
from apogee_lab.papers.compound.claims import (
    PLAIN,
    PLUS,
    RULE,
    ack_wait,
    index,
    mean_rtt,
    place,
    plus,
    queue_length,
)
from apogee_lab.papers.compound.figures import (
    CROWDED,
    FULL_WHY,
    LATE,
    LATE_NS,
    NEAR_ONE,
    NS,
    NS_4,
    OTHERS,
    OURS,
    RULES,
)
from apogee_lab.results.statistics import mean_of
from apogee_lab.scenarios.wlan import COLUMNS
from tests.unit.papers.found import Record, TextOf, row

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


@pytest.mark.parametrize("name", STATIONS)
def test_over_the_number_of_stations(found: Found, page: str, name: str) -> None:
    assert row(name, *over_stations(found, *STATIONS[name])) in page


def test_gamma_of_42(root: Path, page: str) -> None:
    """The rows of compound_plus with another gamma, which no figure has."""
    path = root / "docs" / "results" / "compound" / "gamma42.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        record["set"][RULE] = OURS
    found = {"gamma42": Results(records)}
    both = {"compound-2": found, "compound-late": found}
    name = "compound_plus, gamma=42"
    assert row(name, *over_starts(both, "gamma42", PLUS, OURS)) in page
    together = [r for r in records if r["set"]["start"] == "100ms"]
    both["compound-2"] = {"gamma42": Results(together)}
    assert row(name, *over_stations(both, "gamma42", PLUS, OURS)) in page


@pytest.mark.parametrize("name", LATES)
def test_late_starts(found: Found, page: str, name: str) -> None:
    assert row(name, *over_starts(found, *LATES[name])) in page


def test_more_seeds_of_late_starts(root: Path, page: str, text_of: TextOf) -> None:
    """Twenty stations: thirty seeds within 2 s, forty within 30 s; algorithms.md adds them up."""
    records = read_records(root / "docs" / "results" / "compound" / "late.jsonl")
    counts, texts = [], []
    for start in LATE:
        some = [r for r in records if (r["set"]["n"], r["set"]["start"]) == (20, start)]
        found = mean_of(map(index, some))
        assert found.bounds is not None and len({r["seed"] for r in some}) == len(some)
        counts.append((sum(index(r) < 0.9 for r in some), len(some)))
        half = found.bounds[1] - found.value
        texts.append(f"**{found.value:.3f} ± {half:.3f}** within {start.replace('s', ' s')}")
    prose = " ".join(page.split())
    assert all(text in prose for text in texts)
    assert counts == [(2, 30), (7, 40)]
    algorithms = text_of("algorithms.md")
    assert "nine runs of seventy with late starts are below 0.9" in algorithms


def test_every_rule_fills_the_queue(found: Found, text_of: TextOf) -> None:
    """Of the access point, from n = 14 on; and what figures-compound.md says of the wait there."""
    lengths, waits = [], []
    for variant in ("letter", "period"):
        runs = found["compound-2"][variant]
        for n in CROWDED[1:]:
            places = ((PLAIN, {"n": n}), *((PLUS, plus(rule, {"n": n})) for rule in RULES))
            lengths += [fmean(runs.values(*each, queue_length)) for each in places]
            four, three = (runs.values(PLUS, plus(rule, {"n": n}), ack_wait) for rule in (4, OURS))
            waits.append(f"{100 * (ratio(four, three).value - 1):.0f}")
    assert f"too: {min(lengths):.1f} packets or more of 100" in FULL_WHY
    prose = text_of("results/figures-compound.md")
    assert f"from {min(lengths):.1f} to {max(lengths):.1f} of 100 packets" in prose
    assert f"{waits[0]} and {waits[1]} % longer with (4) than with (3)" in prose


def test_diff_while_the_queue_is_full(page: str, root: Path) -> None:
    """Round trips with Diff below gamma, of rules (4) and (3) as published."""
    results = root / "docs" / "results"
    runs = read_records(results / "compound" / "diff.jsonl")
    said, lengths = [], []
    for rule in (4, 3):
        some = [run for run in runs if run["set"][f"{PLUS}.rule"] == rule]
        assert {run["seed"] for run in some} == SEEDS and len(some) == len(SEEDS)
        below, of = (
            sum(run["rounds"][key] for run in some) for key in ("below_gamma", "avoidance")
        )
        said.append((below, of))
        lengths.append(f"{fmean(map(queue_length, some)):.1f}")
    (four, all_4), (three, all_3) = said
    own, lead = (
        " ".join(text.split()) for text in (page, (results / "figures-compound.md").read_text())
    )
    assert f"in {four} of {all_4} round trips with (4) and in {three} of {all_3} with (3)" in own
    assert f"holds {lengths[0]} and {lengths[1]} packets in the mean" in own
    assert (
        f"in {four} of {all_4} round trips after slow start with (4), in {three} of {all_3}" in lead
    )


def test_an_early_end_of_slow_start(found: Found, page: str, root: Path, text_of: TextOf) -> None:
    """Rule (3) with fit=1 and else as published."""
    results = root / "docs" / "results"
    runs = read_records(results / "compound" / "fit1.jsonl")
    ours = mean_of(map(index, runs))
    assert ours.bounds is not None and len({run["seed"] for run in runs}) == len(runs) == 8
    said = f"{ours.value:.3f} ± {ours.bounds[1] - ours.value:.3f} at n = 20"
    plain = found["compound-2"]["letter"].values(PLAIN, {"n": 20}, mean_rtt)
    rtt = fmean(mean_rtt(run) or 0.0 for run in runs) / fmean(plain)
    lead = text_of("results/figures-compound.md")
    assert said in " ".join(page.split())
    assert f"{said} and {rtt:.2f} of Compound's RTT" in lead


def test_rule_3_with_four_stations(found: Found, text_of: TextOf) -> None:
    """As published; figures-compound.md has it in its lead."""
    runs = found["compound-4"]["letter"]
    ours, plain = (
        runs.values(PLUS, plus(OURS, {"n": 4}), index),
        runs.values(PLAIN, {"n": 4}, index),
    )
    prose = text_of("results/figures-compound.md")
    assert f"{fmean(ours):.2f} at n = 4, where Compound has {fmean(plain):.2f}" in prose
    below = [n for n in NS_4 if fmean(runs.values(PLUS, plus(OURS, {"n": n}), index)) < NEAR_ONE]
    assert below == [4, 8, 10]


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
    assert row(f"half {ours}, half {peer}", *cells) in page


@pytest.mark.parametrize("cc", [PLUS, PLAIN, *PEERS])
def test_all_of_one_kind(runs: kept.Kept, page: str, cc: str) -> None:
    cells = [of_each_kind(alone(runs, cc, n, phase), cc) for n in (6, 14) for phase in PHASES]
    assert row(f"all {cc}", *cells) in page


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
    assert row(name, *cells) in page


# --- sentences of both ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prose(page: str) -> str:
    return " ".join(page.split())


def starved(records: list[Record], cc: str) -> int:
    """Stations below 0.1 Mbit/s in all runs."""
    every = (flow for record in records for flow in record["flows"] if flow["cc"] == cc)
    return sum(flow["goodput_bps"] < 1e5 for flow in every)


def test_relative_to_the_others(runs: kept.Kept, mixes: list[Record], prose: str) -> None:
    def ratio(ours: str, peer: str, n: int, phase: str) -> float:
        some = chosen(mixes, f"{n // 2}*{ours}+{n // 2}*{peer}", n=n, phase=phase)
        return mbps(some, "station", ours) / mbps(some, "station", peer)

    def own(peer: str, phase: str) -> float:
        some = chosen(mixes, f"3*{PLUS}+3*{peer}", n=6, phase=phase)
        return mbps(some, "station", PLUS) / mbps(alone(runs, PLUS, 6, phase), "station", PLUS)

    cubic, bbr = ([ratio(PLUS, peer, 6, phase) for phase in PHASES] for peer in PEERS)
    assert f"has {cubic[0]:.2f} of what one with CUBIC has ({cubic[1]:.2f} with a random" in prose
    assert all(0.32 < value < 0.34 for value in bbr)  # a third
    cubic, bbr = ([own(peer, phase) for phase in PHASES] for peer in PEERS)
    assert f"it has {cubic[0]:.2f} ({cubic[1]:.2f}) beside CUBIC" in prose
    assert f"and {bbr[0]:.2f} ({bbr[1]:.2f}) beside BBR." in prose
    plain = [ratio(PLAIN, "cubic", 6, phase) for phase in PHASES]
    assert f"Compound has {plain[0]:.2f} to {plain[1]:.2f} of CUBIC there" in prose
    assert f"Compound has {ratio(PLAIN, 'cubic', 14, 'fixed'):.2f} of CUBIC there;" in prose
    assert f"compound_plus has {ratio(PLUS, 'bbr', 14, 'fixed'):.2f} of it" in prose


def test_starving_stations(mixes: list[Record], prose: str) -> None:
    fixed, varied = (chosen(mixes, f"7*{PLUS}+7*cubic", phase=phase) for phase in PHASES)
    both = starved(fixed, PLUS), starved(varied, PLUS)
    assert f"{both[0]} are below 0.1 Mbit/s, {both[1]} with a random phase; none of" in prose
    assert starved(fixed, "cubic") == starved(varied, "cubic") == 0
    plain = chosen(mixes, f"7*{PLAIN}+7*cubic", phase="fixed")
    both = starved(plain, PLAIN), starved(plain, "cubic")
    assert f"{both[0]} of its stations are below 0.1, and {both[1]} of CUBIC's." in prose
    some = chosen(mixes, f"7*{PLUS}+7*bbr", phase="fixed")
    least = min(f["goodput_bps"] for r in some for f in r["flows"] if f["cc"] == PLUS) / 1e6
    assert f"{least:.2f} Mbit/s at least" in prose


def test_windows(runs: kept.Kept, mixes: list[Record], prose: str) -> None:
    """In segments of 1448 bytes, seed 1, with the mean RTT."""

    def of(record: Record, cc: str) -> tuple[str, str]:
        some = [flow for flow in record["flows"] if flow["cc"] == cc]
        window = fmean(flow["window_bytes"]["mean"] for flow in some) / 1448
        return f"{window:.0f}", f"{fmean(flow['rtt_ms']['mean'] for flow in some):.0f}"

    (mixed,) = (r for r in chosen(mixes, f"3*{PLUS}+3*cubic", phase="fixed") if r["seed"] == 1)
    (own,) = (r for r in alone(runs, PLUS, 6, "fixed") if r["seed"] == 1)
    (ours, at), (theirs, _), (usual, usually) = of(mixed, PLUS), of(mixed, "cubic"), of(own, PLUS)
    said = f"{ours} packets at {at} ms, CUBIC's {theirs}; among its own kind {usual} at {usually})"
    assert said in prose


def test_what_downloads_cost(runs: kept.Kept, downloads: list[Record], prose: str) -> None:
    def some(cc: str, down: int, gamma: int | None = None) -> list[Record]:
        return chosen(downloads, cc, phase="fixed", down=down, **{GAMMA: gamma})

    def dropped(cc: str, down: int) -> float:
        every = [flow for record in some(cc, down) for flow in flows(record, "download")]
        return 100 * sum(f["queue_drops"] for f in every) / sum(f["segments"] for f in every)

    others = [dropped(cc, down) for cc in (PLAIN, "cubic", "reno", "bbr") for down in DOWNS]
    assert f"and {min(others):.0f} to {max(others):.0f} % of the download's segments" in prose
    one, four = (dropped(PLUS, down) for down in DOWNS)
    assert f"{one:.0f} and {four:.0f} % of the downloads' segments are dropped" in prose
    without = mbps(alone(runs, PLUS, 6, "fixed"), "station", PLUS)
    one, four = (100 * (1 - mbps(some(PLUS, n), "station", PLUS) / without) for n in DOWNS)
    assert f"The uploads lose {one:.1f} and {four:.1f} % of their goodput." in prose
    without, one, four = (mbps(some(PLUS, n, 10), "station", PLUS) for n in (0, *DOWNS))
    said = f"An upload then has {one:.1f} and {four:.1f} Mbit/s, {one / without:.2f} and "
    assert said + f"{four / without:.2f} of what it has without downloads" in prose


#: Rows of the ablation: the parameters that differ from the defaults.
ABLATION: dict[str, dict[str, int]] = {
    "defaults": {},
    "no dips: `relearn=0`": {"relearn": 0},
    "`excess=0`": {"excess": 0},
    "`fit=0`": {"fit": 0},
    "every dip whole: `whole=1`": {"whole": 1},
    "clocks up to 0.1 s apart: `skew=100`": {"skew": 100},
    "up to 1 s: `skew=1000`": {"skew": 1000},
    "up to 20 s, a whole period: `skew=20000`": {"skew": 20_000},
}


@pytest.fixture(scope="module")
def ablation(root: Path) -> dict[str, list[list[float]]]:
    """By row: the indices for ten and twenty stations, which start within 2 and 30 s."""
    records = read_records(root / "docs" / "results" / "compound" / "ablation.jsonl")

    def indices(settings: dict[str, int], n: int, start: str) -> list[float]:
        wanted = {f"{PLUS}.{key}": value for key, value in settings.items()}
        found = [
            record["jain"]
            for record in records
            if (record["set"]["n"], record["set"]["start"]) == (n, start)
            and {k: v for k, v in record["set"].items() if k.startswith(PLUS)} == wanted
        ]
        assert len(found) == 5
        return found

    return {
        name: [indices(settings, n, start) for n in (10, 20) for start in ("2s", "30s")]
        for name, settings in ABLATION.items()
    }


@pytest.mark.parametrize("name", ABLATION)
def test_ablation(root: Path, ablation: dict[str, list[list[float]]], name: str) -> None:
    cells = [f"{fmean(each):.3f} ({min(each):.3f})" for each in ablation[name]]
    page = (root / "docs" / "results" / "compound.md").read_text()
    assert row(name, *cells) in page


def test_clocks_that_do_not_agree(ablation: dict[str, list[list[float]]], text_of: TextOf) -> None:
    ten, twenty = (
        sorted(fmean(each) for each in ablation["up to 20 s, a whole period: `skew=20000`"][part])
        for part in (slice(2), slice(2, 4))
    )
    choosing = text_of("choosing.md")
    said = f"ten stations still reached an index of {ten[0]:.2f} to {ten[1]:.2f}, twenty "
    assert f"{said}{twenty[0]:.2f} to {twenty[1]:.2f} (five seeds)." in choosing
