# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/compound.md show beside its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers.claims import Part, Results, ratio
from apogee_lab.papers.compound.claims import (
    PLAIN,
    PLUS,
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
    NEAR_ONE,
    NS_4,
    OURS,
    RULES,
)
from apogee_lab.results.statistics import mean_of
from tests.unit.papers.found import Figures, Read, Record, TextOf, from_to, runs

PAGE = "results/compound.md"
#: Results of a figure's variant.
Of = Callable[[str, str], Results]

#: Lines of the tables: variant, algorithm, rule.
Line = tuple[str, str, int | None]


@pytest.fixture(scope="module")
def of(figures: Figures) -> Of:
    return lambda figure, variant: Results(figures(f"compound-{figure}")[variant])


def with_half(values: Iterable[float]) -> str:
    """Mean and half of its interval."""
    return str(Part("", mean_of(values), decimals=3))


def test_what_is_said_of_late_starts(read: Read, text_of: TextOf) -> None:
    """Twenty stations: thirty seeds within 2 s, forty within 30 s; algorithms.md adds them up."""
    counts, means = [], []
    for start in LATE:
        some = runs(
            [r for r in read("compound/late.jsonl") if r["set"]["n"] == 20], PLUS, start=start
        )
        counts.append((sum(index(r) < 0.9 for r in some), len(some)))
        means.append(with_half(map(index, some)))
    assert means == ["0.951 ± 0.011", "0.944 ± 0.013"]
    assert counts == [(2, 30), (7, 40)]
    assert "nine runs of seventy with late starts are below 0.9" in text_of("algorithms.md")


def test_every_rule_fills_the_queue(of: Of) -> None:
    """Of the access point, from n = 14 on; and the wait there."""
    lengths, waits = [], []
    for variant in ("letter", "period"):
        found = of("2", variant)
        for n in CROWDED[1:]:
            places = ((PLAIN, {"n": n}), *((PLUS, plus(rule, {"n": n})) for rule in RULES))
            lengths += [fmean(found.values(*each, queue_length)) for each in places]
            four, three = (found.values(PLUS, plus(rule, {"n": n}), ack_wait) for rule in (4, OURS))
            waits.append(f"{100 * (ratio(four, three).value - 1):.0f}")
    assert f"too: {min(lengths):.1f} packets or more of 100" in FULL_WHY
    assert from_to(lengths, 1) == "99.4 to 99.9"
    assert waits[:2] == ["35", "27"]  # per cent longer with (4) than with (3)


def test_diff_while_the_queue_is_full(read: Read) -> None:
    """Round trips with Diff below gamma, of rules (4) and (3) as published."""
    said, lengths = [], []
    for rule in (4, 3):
        some = runs(read("compound/diff.jsonl"), PLUS, len(SEEDS), **{f"{PLUS}.rule": rule})
        rounds = [run["rounds"] for run in some]
        said.append([sum(each[key] for each in rounds) for key in ("below_gamma", "avoidance")])
        lengths.append(f"{fmean(map(queue_length, some)):.1f}")
    (four, all_4), (three, all_3) = said
    assert (four, all_4, three, all_3) == (0, 9299, 30, 11770)
    assert lengths == ["99.9", "99.8"]


def test_an_early_end_of_slow_start(of: Of, read: Read) -> None:
    """Rule (3) with fit=1 and else as published."""
    found = runs(read("compound/fit1.jsonl"), PLUS, 8)
    plain = of("2", "letter").values(PLAIN, {"n": 20}, mean_rtt)
    rtt = fmean(mean_rtt(run) or 0.0 for run in found) / fmean(plain)
    assert (with_half(map(index, found)), f"{rtt:.2f}") == ("0.991 ± 0.014", "0.50")


def test_rule_3_with_four_stations(of: Of) -> None:
    """As published it is less fair than Compound."""
    found = of("4", "letter")
    ours = {n: fmean(found.values(PLUS, plus(OURS, {"n": n}), index)) for n in NS_4}
    plain = fmean(found.values(PLAIN, {"n": 4}, index))
    assert (f"{ours[4]:.2f}", f"{plain:.2f}") == ("0.87", "1.00")
    assert [n for n in NS_4 if ours[n] < NEAR_ONE] == [4, 8, 10]


def test_stations_that_get_nothing(figures: Figures, text_of: TextOf) -> None:
    """Less than 0.01 Mbit/s, of twenty stations in all runs together."""

    def starved(variant: str, cc: str) -> tuple[int, int]:
        found = runs(figures("compound-2")[variant], cc, n=20)
        flows = [flow["goodput_bps"] for record in found for flow in record["flows"]]
        return sum(goodput < 1e4 for goodput in flows), len(flows)

    reno, cubic, plain, ours = (starved("today", cc) for cc in ("reno", "cubic", PLAIN, PLUS))
    parts = from_to(100 * few / every for few, every in (reno, cubic, plain))
    said = f"order {parts} % of the stations with reno, CUBIC and Compound"
    assert said in text_of("compound.md")
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


# --- sentences of both ------------------------------------------------------------------------


def starved(records: list[Record], cc: str) -> int:
    """Stations below 0.1 Mbit/s in all runs."""
    every = (flow for record in records for flow in record["flows"] if flow["cc"] == cc)
    return sum(flow["goodput_bps"] < 1e5 for flow in every)


def test_relative_to_the_others(figures: Figures, mixes: list[Record]) -> None:
    def ratio(ours: str, peer: str, n: int = 6, phase: str = "fixed") -> float:
        some = halves(mixes, n, ours, peer, phase)
        return mbps(some, "station", ours) / mbps(some, "station", peer)

    def own(peer: str, phase: str) -> float:
        some = halves(mixes, 6, PLUS, peer, phase)
        return mbps(some, "station", PLUS) / mbps(alone(figures, PLUS, 6, phase), "station", PLUS)

    cubic, bbr = ([ratio(PLUS, peer, 6, phase) for phase in PHASES] for peer in PEERS)
    assert [f"{value:.2f}" for value in cubic] == ["0.36", "0.46"]
    assert all(0.32 < value < 0.34 for value in bbr)  # a third
    cubic, bbr = ([own(peer, phase) for phase in PHASES] for peer in PEERS)
    assert [f"{value:.2f}" for value in (*cubic, *bbr)] == ["0.60", "0.70", "0.54", "0.53"]
    plain = [ratio(PLAIN, "cubic", 6, phase) for phase in PHASES]
    more = [*plain, ratio(PLAIN, "cubic", 14), ratio(PLUS, "bbr", 14)]
    assert [f"{value:.2f}" for value in more] == ["0.97", "1.00", "0.62", "0.37"]


def test_stations_beside_others(mixes: list[Record], page: str) -> None:
    """Three or seven stations each; below 0.1 Mbit/s a station starves."""
    fixed, varied = (halves(mixes, 14, PLUS, "cubic", phase) for phase in PHASES)
    few = starved(fixed, PLUS)
    assert f"{few} of its {7 * len(fixed)} are below 0.1 Mbit/s beside CUBIC." in page
    assert starved(varied, PLUS) == 6
    assert starved(fixed, "cubic") == starved(varied, "cubic") == 0
    plain = halves(mixes, 14, PLAIN, "cubic")
    assert (starved(plain, PLAIN), starved(plain, "cubic")) == (6, 3)


def test_windows(figures: Figures, mixes: list[Record]) -> None:
    """In segments of 1448 bytes, seed 1, with the mean RTT."""

    def of(record: Record, cc: str) -> tuple[str, str]:
        some = [flow for flow in record["flows"] if flow["cc"] == cc]
        window = fmean(flow["window_bytes"]["mean"] for flow in some) / 1448
        return f"{window:.0f}", f"{fmean(flow['rtt_ms']['mean'] for flow in some):.0f}"

    mixed, own = halves(mixes, 6, PLUS, "cubic")[0], alone(figures, PLUS, 6, "fixed")[0]
    assert mixed["seed"] == own["seed"] == 1
    (ours, at), (theirs, _), (usual, usually) = of(mixed, PLUS), of(mixed, "cubic"), of(own, PLUS)
    assert (ours, at, theirs, usual, usually) == ("59", "311", "280", "71", "209")


def test_what_downloads_cost(figures: Figures, downloads: list[Record]) -> None:
    def some(cc: str, down: int, gamma: int | None = None) -> list[Record]:
        return chosen(downloads, cc, phase="fixed", down=down, **{GAMMA: gamma})

    def dropped(cc: str, down: int) -> float:
        every = [flow for record in some(cc, down) for flow in flows(record, "download")]
        return 100 * sum(f["queue_drops"] for f in every) / sum(f["segments"] for f in every)

    peers = (PLAIN, "cubic", "reno", "bbr")
    others = from_to(dropped(cc, down) for cc in peers for down in DOWNS)
    assert others == "21 to 47"
    assert [f"{dropped(PLUS, down):.0f}" for down in DOWNS] == ["5", "10"]
    without = mbps(alone(figures, PLUS, 6, "fixed"), "station", PLUS)
    own, many = (mbps(some(PLUS, n), "station", PLUS) for n in DOWNS)
    assert [f"{100 * (1 - value / without):.1f}" for value in (own, many)] == ["1.7", "3.4"]
    without, one, four = (mbps(some(PLUS, n, 10), "station", PLUS) for n in (0, *DOWNS))
    assert [f"{value / without:.2f}" for value in (one, four)] == ["0.56", "0.54"]

    assert max(mbps(some(cc, 1), "download", "cubic") for cc in peers) < 0.01
    assert 0.5 < one / own < 0.6  # "a little more than half" of compound.md
