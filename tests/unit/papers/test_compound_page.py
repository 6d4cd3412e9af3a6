# SPDX-License-Identifier: GPL-2.0
"""docs/results/compound.md says what the records give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers.claims import Part, Results, ratio, total
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
from tests.unit.papers.found import Figures, Read, Record, TextOf, from_to, goodput, row, runs

PAGE = "results/compound.md"
#: Results of a figure's variant.
Of = Callable[[str, str], Results]

#: Lines of the tables: variant, algorithm, rule.
Line = tuple[str, str, int | None]
STATIONS: dict[str, Line] = {
    **{cc: ("today", cc, None) for cc in (*OTHERS, PLAIN)},
    "compound, fit=2": ("fit", PLAIN, None),
    **{f"rule ({rule}), as published": ("letter", PLUS, rule) for rule in RULES},
    "**compound_plus**": ("today", PLUS, OURS),
    **{f"{cc}, random phase": ("random", cc, None) for cc in (*OTHERS, PLAIN)},
    "compound_plus, random phase": ("random", PLUS, OURS),
}
LATES: dict[str, Line] = {
    "compound_plus, as published": ("letter", PLUS, OURS),
    "**compound_plus**": ("today", PLUS, OURS),
}


@pytest.fixture(scope="module")
def of(figures: Figures) -> Of:
    return lambda figure, variant: Results(figures(f"compound-{figure}")[variant])


@pytest.fixture(scope="module")
def lead(text_of: TextOf) -> str:
    return text_of("results/figures-compound.md")


def with_half(values: Iterable[float]) -> str:
    """Mean and half of its interval."""
    return str(Part("", mean_of(values), decimals=3))


def over_stations(
    found: Results, cc: str, rule: int | None, ns: Iterable[int] = NS, digits: int = 3
) -> list[str]:
    """Index / mean RTT / Mbit/s, by number of stations."""
    cells = []
    for n in ns:
        indices, rtts, rates = (
            fmean(found.values(cc, place(rule, {"n": n}), measure))
            for measure in (index, mean_rtt, total)
        )
        cells.append(f"{indices:.{digits}f} / {rtts:.0f} / {rates / 1e6:.{digits - 1}f}")
    return cells


def over_starts(found: Results, cc: str, rule: int | None) -> list[str]:
    """Index with its interval, and the least."""
    cells = []
    for n in LATE_NS:
        for start in ("100ms", *LATE):
            indices = found.values(cc, place(rule, {"n": n, "start": start}), index)
            cells.append(f"{with_half(indices)} ({min(indices):.3f})")
    return cells


@pytest.mark.parametrize("name", STATIONS)
def test_over_the_number_of_stations(of: Of, page: str, name: str) -> None:
    variant, *line = STATIONS[name]
    assert row(name, *over_stations(of("2", variant), *line)) in page


def test_gamma_of_42(read: Read, page: str) -> None:
    """The rows of compound_plus with another gamma, which no figure has."""
    records = [r | {"set": r["set"] | {RULE: OURS}} for r in read("compound/gamma42.jsonl")]
    together = [r for r in records if r["set"]["start"] == "100ms"]
    name = "compound_plus, gamma=42"
    assert row(name, *over_starts(Results(records), PLUS, OURS)) in page
    assert row(name, *over_stations(Results(together), PLUS, OURS)) in page


@pytest.mark.parametrize("name", LATES)
def test_late_starts(of: Of, page: str, name: str) -> None:
    variant, *line = LATES[name]
    assert row(name, *over_starts(of("late", variant), *line)) in page


def test_what_is_said_of_late_starts(read: Read, page: str, text_of: TextOf) -> None:
    """Twenty stations: thirty seeds within 2 s, forty within 30 s; algorithms.md adds them up."""
    counts = []
    for start in LATE:
        some = runs(
            [r for r in read("compound/late.jsonl") if r["set"]["n"] == 20], PLUS, start=start
        )
        counts.append((sum(index(r) < 0.9 for r in some), len(some)))
        text = with_half(map(index, some))
        assert f"**{text}** within {start.replace('s', ' s')}" in page
    assert counts == [(2, 30), (7, 40)]
    assert "nine runs of seventy with late starts are below 0.9" in text_of("algorithms.md")


def test_every_rule_fills_the_queue(of: Of, lead: str) -> None:
    """Of the access point, from n = 14 on; and what figures-compound.md says of the wait there."""
    lengths, waits = [], []
    for variant in ("letter", "period"):
        found = of("2", variant)
        for n in CROWDED[1:]:
            places = ((PLAIN, {"n": n}), *((PLUS, plus(rule, {"n": n})) for rule in RULES))
            lengths += [fmean(found.values(*each, queue_length)) for each in places]
            four, three = (found.values(PLUS, plus(rule, {"n": n}), ack_wait) for rule in (4, OURS))
            waits.append(f"{100 * (ratio(four, three).value - 1):.0f}")
    assert f"too: {min(lengths):.1f} packets or more of 100" in FULL_WHY
    assert f"from {from_to(lengths, 1)} of 100 packets" in lead
    assert f"{waits[0]} and {waits[1]} % longer with (4) than with (3)" in lead


def test_diff_while_the_queue_is_full(read: Read, page: str, lead: str) -> None:
    """Round trips with Diff below gamma, of rules (4) and (3) as published."""
    said, lengths = [], []
    for rule in (4, 3):
        some = runs(read("compound/diff.jsonl"), PLUS, len(SEEDS), **{f"{PLUS}.rule": rule})
        rounds = [run["rounds"] for run in some]
        said.append([sum(each[key] for each in rounds) for key in ("below_gamma", "avoidance")])
        lengths.append(f"{fmean(map(queue_length, some)):.1f}")
    (four, all_4), (three, all_3) = said
    assert f"in {four} of {all_4} round trips with (4) and in {three} of {all_3} with (3)" in page
    assert f"holds {lengths[0]} and {lengths[1]} packets in the mean" in page
    assert (
        f"in {four} of {all_4} round trips after slow start with (4), in {three} of {all_3}" in lead
    )


def test_an_early_end_of_slow_start(of: Of, read: Read, page: str, lead: str) -> None:
    """Rule (3) with fit=1 and else as published."""
    found = runs(read("compound/fit1.jsonl"), PLUS, 8)
    said = f"{with_half(map(index, found))} at n = 20"
    plain = of("2", "letter").values(PLAIN, {"n": 20}, mean_rtt)
    rtt = fmean(mean_rtt(run) or 0.0 for run in found) / fmean(plain)
    assert said in page and f"{said} and {rtt:.2f} of Compound's RTT" in lead


def test_rule_3_with_four_stations(of: Of, lead: str) -> None:
    """As published; figures-compound.md has it in its lead."""
    found = of("4", "letter")
    ours = {n: fmean(found.values(PLUS, plus(OURS, {"n": n}), index)) for n in NS_4}
    plain = fmean(found.values(PLAIN, {"n": 4}, index))
    assert f"{ours[4]:.2f} at n = 4, where Compound has {plain:.2f}" in lead
    assert [n for n in NS_4 if ours[n] < NEAR_ONE] == [4, 8, 10]


def test_stations_that_get_nothing(figures: Figures, text_of: TextOf) -> None:
    """Less than 0.01 Mbit/s, of twenty stations in all runs together."""

    def starved(variant: str, cc: str) -> tuple[int, int]:
        found = runs(figures("compound-2")[variant], cc, n=20)
        flows = [flow["goodput_bps"] for record in found for flow in record["flows"]]
        return sum(goodput < 1e4 for goodput in flows), len(flows)

    reno, cubic, plain, ours = (starved("today", cc) for cc in ("reno", "cubic", PLAIN, PLUS))
    parts = from_to(100 * few / every for few, every in (reno, cubic, plain))
    assert f"order {parts} % of the stations with reno, CUBIC and Compound" in text_of(
        "compound.md"
    )
    assert ours[0] == starved("random", "cubic")[0] == 1 and cubic[1] == reno[1]
    none = [(variant, cc) for variant in ("today", "random") for cc in ("vegas", "bbr")]
    none += [("random", "reno"), ("random", PLUS)]
    assert not any(starved(*each)[0] for each in none)


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
def mixes(read: Read) -> list[Record]:
    return read("compound/mixes.jsonl")


@pytest.fixture(scope="module")
def downloads(read: Read) -> list[Record]:
    return read("compound/downloads.jsonl")


def chosen(records: list[Record], cc: str, **settings: Any) -> list[Record]:
    """The five runs of an algorithm or mix with these settings; none if there are none."""
    found = runs(records, cc, 0, **settings)
    assert {record["seed"] for record in found} in (SEEDS, set())
    return found


def halves(mixes: list[Record], n: int, ours: str, peer: str, phase: str = "fixed") -> list[Record]:
    """The runs in which half of the stations use one algorithm, half another."""
    return chosen(mixes, f"{n // 2}*{ours}+{n // 2}*{peer}", n=n, phase=phase)


def alone(figures: Figures, cc: str, n: int, phase: str) -> list[Record]:
    """The runs of the first table in which all stations use an algorithm."""
    return runs(
        figures("compound-2")[PHASES[phase]], cc, **place(OURS if cc == PLUS else None, {"n": n})
    )


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
        f"{goodput(records):.2f}",
    ]
    return " / ".join(cells)


@pytest.mark.parametrize("ours", [PLUS, PLAIN])
@pytest.mark.parametrize("peer", PEERS)
def test_half_of_the_stations(mixes: list[Record], page: str, peer: str, ours: str) -> None:
    cells = []
    for n in (6, 14):
        for phase in PHASES:
            some = halves(mixes, n, ours, peer, phase)
            cells.append(of_each_kind(some, ours, peer) if some else "–")
    assert row(f"half {ours}, half {peer}", *cells) in page


@pytest.mark.parametrize("cc", [PLUS, PLAIN, *PEERS])
def test_all_of_one_kind(figures: Figures, page: str, cc: str) -> None:
    cells = [of_each_kind(alone(figures, cc, n, phase), cc) for n in (6, 14) for phase in PHASES]
    assert row(f"all {cc}", *cells) in page


def beside(records: list[Record], cc: str, down: int) -> str:
    """Mbit/s of an upload / of a download / mean RTT of the uploads / ACKs lost."""
    download = f"{mbps(records, 'download', 'cubic'):.3f}" if down else "–"
    lost = fmean(ACKS_LOST(record) or 0.0 for record in records)
    rates = f"{mbps(records, 'station', cc):.2f} / {download}"
    return f"{rates} / {fmean(map(rtt, records)):.0f} / {lost:.1f}"


@pytest.mark.parametrize("name", DOWNLOADS)
def test_beside_downloads(figures: Figures, downloads: list[Record], page: str, name: str) -> None:
    cc, gamma, phase = DOWNLOADS[name]
    cells = []
    for down in (0, *DOWNS):
        if not down and not gamma:
            some = alone(figures, cc, 6, phase)
        else:
            some = chosen(downloads, cc, n=6, phase=phase, down=down, **{GAMMA: gamma})
        cells.append(beside(some, cc, down) if some else "–")
    assert row(name, *cells) in page


# --- sentences of both ------------------------------------------------------------------------


def starved(records: list[Record], cc: str) -> int:
    """Stations below 0.1 Mbit/s in all runs."""
    every = (flow for record in records for flow in record["flows"] if flow["cc"] == cc)
    return sum(flow["goodput_bps"] < 1e5 for flow in every)


def test_relative_to_the_others(figures: Figures, mixes: list[Record], page: str) -> None:
    def ratio(ours: str, peer: str, n: int = 6, phase: str = "fixed") -> float:
        some = halves(mixes, n, ours, peer, phase)
        return mbps(some, "station", ours) / mbps(some, "station", peer)

    def own(peer: str, phase: str) -> float:
        some = halves(mixes, 6, PLUS, peer, phase)
        return mbps(some, "station", PLUS) / mbps(alone(figures, PLUS, 6, phase), "station", PLUS)

    cubic, bbr = ([ratio(PLUS, peer, 6, phase) for phase in PHASES] for peer in PEERS)
    assert f"has {cubic[0]:.2f} of what one with CUBIC has ({cubic[1]:.2f} with a random" in page
    assert all(0.32 < value < 0.34 for value in bbr)  # a third
    cubic, bbr = ([own(peer, phase) for phase in PHASES] for peer in PEERS)
    assert f"it has {cubic[0]:.2f} ({cubic[1]:.2f}) beside CUBIC" in page
    assert f"and {bbr[0]:.2f} ({bbr[1]:.2f}) beside BBR." in page
    plain = [ratio(PLAIN, "cubic", 6, phase) for phase in PHASES]
    assert f"Compound has {plain[0]:.2f} to {plain[1]:.2f} of CUBIC there" in page
    assert f"Compound has {ratio(PLAIN, 'cubic', 14):.2f} of CUBIC there;" in page
    assert f"compound_plus has {ratio(PLUS, 'bbr', 14):.2f} of it" in page


def test_stations_beside_others(mixes: list[Record], page: str) -> None:
    """Three or seven stations each; below 0.1 Mbit/s a station starves."""
    fixed, varied = (halves(mixes, 14, PLUS, "cubic", phase) for phase in PHASES)
    few = starved(fixed, PLUS)
    assert (
        f"{few} are below 0.1 Mbit/s, {starved(varied, PLUS)} with a random phase; none of" in page
    )
    assert starved(fixed, "cubic") == starved(varied, "cubic") == 0
    plain = halves(mixes, 14, PLAIN, "cubic")
    both = starved(plain, PLAIN), starved(plain, "cubic")
    assert f"{both[0]} of its stations are below 0.1, and {both[1]} of CUBIC's." in page
    some = halves(mixes, 14, PLUS, "bbr")
    least = min(f["goodput_bps"] for r in some for f in r["flows"] if f["cc"] == PLUS) / 1e6
    assert f"{least:.2f} Mbit/s at least" in page


def test_windows(figures: Figures, mixes: list[Record], page: str) -> None:
    """In segments of 1448 bytes, seed 1, with the mean RTT."""

    def of(record: Record, cc: str) -> tuple[str, str]:
        some = [flow for flow in record["flows"] if flow["cc"] == cc]
        window = fmean(flow["window_bytes"]["mean"] for flow in some) / 1448
        return f"{window:.0f}", f"{fmean(flow['rtt_ms']['mean'] for flow in some):.0f}"

    mixed, own = halves(mixes, 6, PLUS, "cubic")[0], alone(figures, PLUS, 6, "fixed")[0]
    assert mixed["seed"] == own["seed"] == 1
    (ours, at), (theirs, _), (usual, usually) = of(mixed, PLUS), of(mixed, "cubic"), of(own, PLUS)
    said = f"{ours} packets at {at} ms, CUBIC's {theirs}; among its own kind {usual} at {usually})"
    assert said in page


def test_what_downloads_cost(figures: Figures, downloads: list[Record], page: str) -> None:
    def some(cc: str, down: int, gamma: int | None = None) -> list[Record]:
        return chosen(downloads, cc, phase="fixed", down=down, **{GAMMA: gamma})

    def dropped(cc: str, down: int) -> float:
        every = [flow for record in some(cc, down) for flow in flows(record, "download")]
        return 100 * sum(f["queue_drops"] for f in every) / sum(f["segments"] for f in every)

    peers = (PLAIN, "cubic", "reno", "bbr")
    others = from_to(dropped(cc, down) for cc in peers for down in DOWNS)
    assert f"and {others} % of the download's segments" in page
    one, four = (dropped(PLUS, down) for down in DOWNS)
    assert f"{one:.0f} and {four:.0f} % of the downloads' segments are dropped" in page
    without = mbps(alone(figures, PLUS, 6, "fixed"), "station", PLUS)
    own, many = (mbps(some(PLUS, n), "station", PLUS) for n in DOWNS)
    one, four = (100 * (1 - value / without) for value in (own, many))
    assert f"The uploads lose {one:.1f} and {four:.1f} % of their goodput." in page
    without, one, four = (mbps(some(PLUS, n, 10), "station", PLUS) for n in (0, *DOWNS))
    said = f"An upload then has {one:.1f} and {four:.1f} Mbit/s, {one / without:.2f} and "
    assert said + f"{four / without:.2f} of what it has without downloads" in page

    assert max(mbps(some(cc, 1), "download", "cubic") for cc in peers) < 0.01
    assert 0.5 < one / own < 0.6  # "a little more than half" of compound.md


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


@pytest.mark.parametrize("name", ABLATION)
def test_ablation(read: Read, page: str, name: str) -> None:
    """The indices for ten and twenty stations, which start within 2 and 30 s."""
    wanted = {f"{PLUS}.{key}": value for key, value in ABLATION[name].items()}
    records = [
        record
        for record in read("compound/ablation.jsonl")
        if {k: v for k, v in record["set"].items() if k.startswith(PLUS)} == wanted
    ]
    indices = [
        [index(record) for record in chosen(records, PLUS, n=n, start=start)]
        for n in (10, 20)
        for start in ("2s", "30s")
    ]
    assert row(name, *(f"{fmean(each):.3f} ({min(each):.3f})" for each in indices)) in page
