# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Compound TCP+: runs, checks of stations, drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.papers import schedule
from apogee_lab.papers.claims import NotMeasured, Results, Verdict
from apogee_lab.papers.compound import draw
from apogee_lab.papers.compound.claims import PLAIN, PLUS, RULE, mean_rtt
from apogee_lab.papers.compound.figures import (
    COMPOUND,
    CROWDED,
    FIGURE_2,
    FIGURE_4,
    FIGURE_LATE,
    LATE_LETTER,
    MORE,
    NS,
    NS_4,
    OURS,
    SEEDS,
    VARIANTS,
)
from apogee_lab.papers.figure import Cell, Figure
from apogee_lab.results.plots import plt
from tests.unit.papers.planning import as_runs, claim, holds, lines_of, planned, runs_of_cells

LIMIT_BPS = 23.92e6
RUNS = (1, 2, 3)  # seeds of invented records


def record(
    cc: str,
    n: int,
    index: float = 1.0,
    rtt: float | None = 200.0,
    rate: float = 24.0,
    seed: int = 1,
    rule: int | None = None,
    start: str = "100ms",
) -> dict[str, Any]:
    """A record of n stations: mean RTT in ms, their sum in Mbit/s."""
    settings: dict[str, Any] = {"n": n, "start": start}
    if cc == PLUS:
        settings[RULE] = rule or 3
    return {
        "cc": cc,
        "seed": seed,
        "set": settings,
        "duration_s": 60.0,
        "limit_bps": LIMIT_BPS,
        "jain": index,
        "total_goodput_bps": rate * 1e6,
        "flows": [{"rtt_ms": {"mean": rtt}}] * n,
        "queue": {"mean_ms": rtt and rtt - 100, "mean_packets": 50.0},
    }


def over_n(
    cc: str, found: Mapping[int, tuple[float, float, float]], **more: Any
) -> list[dict[str, Any]]:
    """Three runs of index, RTT and rate by n, whose indices are within 0.002."""
    return [
        record(cc, n, index + (seed - 2) / 1000, rtt, rate, seed, **more)
        for n, (index, rtt, rate) in found.items()
        for seed in RUNS
    ]


# --- the catalogue ----------------------------------------------------------------------------


def level(cc: str, variant: str, rule: int | None) -> float:
    """A number of its own for each line of a drawing."""
    return len(cc) + list(VARIANTS).index(variant) / 10 + (rule or OURS) / 100


def invented(cell: Cell, seed: int = 1) -> dict[str, Any]:
    """Any record of a cell."""
    n, rule = int(cell.settings["n"]), int(cell.settings.get(RULE, OURS))
    start = cell.settings.get("start", "100ms")
    rate = 20 + level(cell.cc, cell.variant, rule)
    return record(cell.cc, n, 1 - n / 100, 20.0 * n, rate + n / 10, seed, rule, start)


def test_how_many_runs() -> None:
    found = planned("compound")
    keys = {name: {run.job.key for run in runs} for name, runs in found.items()}
    algorithms = 6 + 3 + 1 + (1 + 3) + 6  # each at all n
    more = 3 * 2 * (1 + 1 + 3)  # at n = 14 and 20: Compound, the default, the rules
    assert {name: len(each) for name, each in keys.items()} == {
        "compound-2": algorithms * 5 * 5 + more + 3 * 3 * 5,
        "compound-4": 3 * 5 * 5,
        "compound-late": 2 * (5 + 8) + 2 * 2 * (5 + 3),
    }
    # Of figure 4 only n = 4 and 8 are new, of late starts those after 100 ms.
    assert len(keys["compound-4"] - keys["compound-2"]) == 3 * 2 * 5
    assert len(keys["compound-late"] - keys["compound-2"]) == 2 * 2 * (5 + 3)
    assert len(set().union(*keys.values())) == 637


def test_the_points_with_more_seeds() -> None:
    counts = {
        (c.cc, c.variant, c.settings.get(RULE), c.settings["n"], c.settings.get("start")): c.seeds
        for figure in COMPOUND.figures.values()
        for c in figure.cells
    }
    assert set(counts.values()) == {MORE, SEEDS, LATE_LETTER}
    assert {key for key, count in counts.items() if count == MORE} == {
        (cc, variant, rule, n, None)
        for cc, variant, rule in (
            (PLAIN, "today", None), (PLUS, "today", "3"), (PLAIN, "letter", None),
            *((PLUS, "letter", rule) for rule in "234"),
        )
        for n in ("14", "20")
    }  # fmt: skip


def test_variants_are_said_as_they_are_run(root: Path) -> None:
    letter = "relearn=0, excess=0, fit=0, letter=1"
    period = "tcp_recovery=0, tcp_early_retrans=0, tcp_frto=0, tsq=0"
    words = {
        "today": "", "letter": letter, "period": period, "fit": "fit=2", "random": "phase=random",
        "bianchi": "contention=bianchi",
    }  # fmt: skip
    assert list(words) == list(VARIANTS) and all(words[name] in VARIANTS[name] for name in words)
    assert "as in [as published]" in VARIANTS["period"]
    # What is [fit] is Compound's only.
    expected = words | {"period": f"{period}, {letter}", "fit": ""}
    for cell in FIGURE_2.cells:
        own = {key: value for key, value in cell.settings.items() if key not in ("n", "warmup")}
        if cell.cc == PLUS:
            assert own.pop(RULE) == "3" or cell.variant in ("letter", "period")
            given = [f"{key.removeprefix(f'{PLUS}.')}={value}" for key, value in own.items()]
            assert ", ".join(given) == expected[cell.variant]
        elif cell.variant == "fit":
            assert own == {f"{PLAIN}.fit": "2"}
    page = (root / "docs" / "reproduce.md").read_text()
    published = " ".join(f"`compound_plus.{each}`" for each in letter.split(", "))
    assert all(said in page for said in (published, "`phase=random`", "`contention=bianchi`"))


def test_lengths_and_costs(tmp_path: Path) -> None:
    found = planned("compound")
    every = [run for runs in found.values() for run in runs]
    assert {run.job.meta["set"]["warmup"] for run in every} == {"40s"}
    short = planned("compound", duration_s=6.0)["compound-late"]
    assert {run.job.meta["set"]["warmup"] for run in short} == {"4s"}
    assert {run.job.meta["set"]["start"] for run in short} == {"100ms", "2s", "30s"}
    made = schedule.as_json(found, None, None, tmp_path, tmp_path / "table.md")
    assert made["lengths"]["compound-2"] == {"durations_s": [60.0], "seeds": [5, 8]}
    costs = {
        (run.cell.settings["n"], run.cell.settings.get("start")): run.cost_s
        for run in found["compound-late"]
    }
    assert costs["10", None] == pytest.approx((15 + 15 + 0.8 * 100.1) / 7)  # starts within 0.1 s
    assert costs["20", "30s"] == pytest.approx((15 + 30 + 1.2 * 130) / 7)


# --- claims of the figures --------------------------------------------------------------------

#: Index, RTT and rate by n, like the paper's.
FALLING = {2: (1, 200, 24), 6: (0.99, 350, 27), 10: (0.98, 530, 28), 14: (0.95, 670, 28.3),
           20: (0.75, 700, 28.4)}  # fmt: skip
GOOD = {2: (1, 150, 24), 6: (1, 210, 24), 10: (1, 260, 25.5), 14: (0.995, 310, 26.4),
        20: (0.96, 380, 27)}  # fmt: skip


Point = tuple[float, float, float]
Points = dict[int, Point]


def with_compound(changes: Points | None = None) -> list[dict[str, Any]]:
    """Compound as in the paper, and rule (3), some of whose points are changed."""
    return [*over_n(PLAIN, FALLING), *over_n(PLUS, GOOD | (changes or {}))]


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("index of (3) stays near 1", {}, {14: (0.94, 310, 26)}),
        ("mean RTT of (3)", {6: (1, 340, 24)}, {6: (1, 351, 24)}),  # below is enough there
        ("mean RTT of (3)", {}, {10: (1, 330, 24)}),
        ("(ours) an ACK's wait", {}, {10: (1, 370, 24)}),
        ("total throughput of (3)", {}, {10: (1, 260, 28)}),
        ("(ours) total throughput", {6: (1, 210, 24.4)}, {}),  # 24 of 27
        ("(ours) and at least 99 %", {}, {2: (1, 150, 23.6)}),
        ("(ours) index at least 0.99", {}, {14: (0.985, 310, 26)}),
        ("(ours) index at least 0.95", {}, {20: (0.945, 380, 27)}),
        ("(ours) index at least 0.15", {}, {20: (0.89, 380, 27)}),
    ],
)
def test_rule_3_beside_compound(text: str, good: Points, bad: Points) -> None:
    found = claim(FIGURE_2, text)
    assert holds(found, with_compound(good)) and not holds(found, with_compound(bad))


@pytest.mark.parametrize(("text", "cc"), [("Compound's fair", PLAIN), ("(ours) reno's", "reno")])
def test_an_index_that_falls(text: str, cc: str) -> None:
    found = claim(FIGURE_2, text)
    assert holds(found, over_n(cc, FALLING))
    assert not holds(found, over_n(cc, FALLING | {20: (0.96, 1, 1)}))
    assert not holds(found, over_n(cc, FALLING | {2: (0.9, 1, 1)}))
    random = claim(FIGURE_2, text, "random")
    assert "round robin" in random.why and not found.why
    assert "n = 2 to 20: -0.250 ±" in found.check(Results(over_n(cc, FALLING))).ours


def test_an_index_near_1() -> None:
    three = claim(FIGURE_2, "index of (3) stays near 1", "letter")
    assert three.variants == ("letter", "period", "today", "random")
    # Every rule is checked on its own runs.
    two = claim(FIGURE_2, "index of (2) stays near 1", "letter")
    both = [*with_compound(), *over_n(PLUS, FALLING, rule=2)]
    assert holds(three, both) and not holds(two, both)
    with pytest.raises(NotMeasured, match="compound_plus at n=2 compound_plus.rule=2"):
        two.check(Results(with_compound()))


def test_an_index_that_drops_slightly() -> None:
    found = claim(FIGURE_2, "index of (4) drops slightly", "letter")

    def rules(fourth: float, plain: float = 0.75, others: float = 0.99) -> list[dict[str, Any]]:
        two, three = (over_n(PLUS, {20: (others, 400, 27)}, rule=rule) for rule in (2, 3))
        four = over_n(PLUS, {20: (fourth, 500, 27)}, rule=4)
        return [*over_n(PLAIN, {20: (plain, 700, 28)}), *two, *three, *four]

    assert holds(found, rules(0.86))
    for index in (0.99, 0.78, 0.74):
        assert not holds(found, rules(index))
    assert not holds(found, rules(0.86, plain=0.9))
    assert not holds(found, rules(0.86, others=0.85))
    assert "over (2)'s: -0.130" in found.check(Results(rules(0.86))).ours


def test_a_queue_that_fills() -> None:
    """Judged by packets: with the same packets a longer wait says nothing."""
    found = claim(FIGURE_2, "(4) fills", "letter")

    def rules(fourth: float, rtt: float = 300) -> list[dict[str, Any]]:
        return [
            each | {"queue": each["queue"] | {"mean_packets": packets}}
            for rule, packets, wait in ((3, 80.0, 300.0), (4, fourth, rtt))
            for n in (14, 20)
            for each in over_n(PLUS, {n: (1, wait, 27)}, rule=rule)
        ]

    assert holds(found, rules(92)) and not holds(found, rules(84))
    assert not holds(found, rules(80, rtt=900))
    assert found.check(Results(rules(92))).ours.startswith("n = 14: 1.15")


def test_a_station_that_never_sent_has_no_rtt() -> None:
    starving = record(PLAIN, 2)
    starving["flows"] = [{"rtt_ms": {"mean": 300.0}}, {"rtt_ms": {"mean": None}}]
    assert mean_rtt(starving) == 300.0
    starving["flows"] = starving["flows"][1:]
    assert mean_rtt(starving) is None
    silent = [*with_compound()[:-3], *(record(PLUS, 20, rtt=None, seed=s) for s in RUNS)]
    with pytest.raises(NotMeasured):
        claim(FIGURE_2, "mean RTT of (3)").check(Results(silent))


@pytest.mark.parametrize(
    ("text", "plain", "good", "bad"),
    [
        ("mean RTT", (1, 350, 27), (1, 150, 24), (1, 220, 24)),
        ("total throughput", (1, 300, 26), (1, 150, 24), (1, 150, 23)),
    ],
)
def test_figure_4(text: str, plain: Point, good: Point, bad: Point) -> None:
    found = claim(FIGURE_4, text)
    theirs = over_n(PLAIN, dict.fromkeys(NS_4, plain))
    points = dict.fromkeys(NS_4, good)
    assert holds(found, [*theirs, *over_n(PLUS, points)])
    assert not holds(found, [*theirs, *over_n(PLUS, points | {10: bad})])


def by_rules(**rates: Sequence[float]) -> list[dict[str, Any]]:
    """Runs of the three rules with these rates, by n."""
    return [
        each
        for name, found in rates.items()
        for n, rate in zip(NS, found, strict=True)
        for each in over_n(PLUS, {n: (1, 200, rate)}, rule=int(name[1:]))
    ]


def test_throughput_of_the_rules() -> None:
    least = claim(FIGURE_2, "total throughput of (2) lower than (3)'s", "letter")
    steady = claim(FIGURE_2, "total throughput constant", "letter")
    two, three, four = (24, 24, 24, 25, 26), (24, 24, 25, 26, 27), (24, 25, 26, 27, 28)
    assert holds(least, by_rules(r2=two, r3=three, r4=four))
    assert not holds(least, by_rules(r2=three, r3=two, r4=four))
    assert holds(least, by_rules(r2=three, r3=four, r4=two))
    assert holds(steady, by_rules(r2=two, r3=three, r4=four))
    assert not holds(steady, by_rules(r2=two, r3=three, r4=(24, 26.8, 27, 28, 28)))


def test_few_stations() -> None:
    """Compound and the three rules, with two and six stations."""
    found = claim(FIGURE_2, "Compound and Compound TCP+ are fair", "letter")

    def runs(least: float = 1.0, at: int = 0, rule: int | None = None) -> list[dict[str, Any]]:
        return [
            each
            for number in (None, 2, 3, 4)
            for n in (2, 6)
            for each in over_n(
                PLUS if number else PLAIN,
                {n: (least if (n, number) == (at, rule) else 0.99, 200, 24)},
                rule=number,
            )
        ]

    assert holds(found, runs())
    for rule in (None, 2, 3, 4):
        for n in (2, 6):
            assert not holds(found, runs(0.94, n, rule))


def test_no_run_may_be_unfair() -> None:
    found = claim(FIGURE_2, "(ours) and no run")

    def verdict(*indices: float) -> Verdict:
        runs = [record(PLUS, 20, index, seed=s) for s, index in enumerate(indices, 1)]
        return found.check(Results(runs))

    good = (0.99, 0.99, 0.91, 0.95, 0.97)
    fair = verdict(*good)
    assert fair.holds == "yes"
    assert fair.ours == "n = 20: least of 5: 0.910, none below (95 %: in at most 45 % of all)"
    assert verdict(*good[:4]).holds == "not shown"
    assert verdict(*good, 0.89) == Verdict("n = 20: least of 6: 0.890, 1 below", "not shown")
    assert verdict(*good, 0.89, 0.8).holds == "no"


def late(cc: str, **indices: float) -> list[dict[str, Any]]:
    """Three runs of each point, by name: n10_2s."""
    found = {"n10_2s": 0.98, "n10_30s": 0.98, "n20_2s": 0.93, "n20_30s": 0.93} | indices
    return [
        each
        for name, index in found.items()
        for each in over_n(cc, {int(name[1:3]): (index, 300, 25)}, start=name.partition("_")[2])
    ]


def test_late_starts() -> None:
    fair = claim(FIGURE_LATE, "(ours) late starts")
    assert holds(fair, late(PLUS))
    for name, index in {"n10_2s": 0.94, "n10_30s": 0.94, "n20_2s": 0.89, "n20_30s": 0.89}.items():
        assert not holds(fair, late(PLUS, **{name: index}))
    # Runs whose stations start together are no late starts.
    together = over_n(PLUS, {10: (0.1, 300, 25), 20: (0.1, 300, 25)})
    assert holds(fair, [*together, *late(PLUS)])


# --- drawings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", [FIGURE_2, FIGURE_4])
def test_three_panels_a_row(tmp_path: Path, figure: Figure) -> None:
    canvas = draw.stations_over_n(figure, runs_of_cells(tmp_path, figure, invented))
    rows = list(figure.options["rows"].values())
    assert len(canvas.axes) == 3 * len(rows)
    # Compound is one set of runs on today's stack, whatever it stands beside.
    assert {(cc, variant, rule) for row in rows for _, variant, cc, rule in row} == {
        (c.cc, c.variant, int(c.settings[RULE]) if c.cc == PLUS else None)
        for c in figure.cells
        if c.cc != PLAIN or c.variant != "letter"
    }
    for number, row in enumerate(rows):
        index, rtt, rate = map(lines_of, canvas.axes[3 * number : 3 * number + 3])
        assert list(index) == list(rtt) == list(rate) == [label for label, *_ in row]
        tints = {each.lines[0].get_color() for each in canvas.axes[3 * number].containers}
        assert len(tints) == len(row)
        for label, variant, cc, rule in row:
            ns = CROWDED if variant == "bianchi" else figure.options["ns"]
            assert index[label] == pytest.approx([1 - n / 100 for n in ns])
            assert rtt[label] == pytest.approx([20 * n for n in ns])
            assert rate[label] == pytest.approx(
                [20 + level(cc, variant, rule) + n / 10 for n in ns]
            )
    plt.close(canvas)


def test_late_starts_are_drawn(tmp_path: Path) -> None:
    figure = FIGURE_LATE
    together = over_n(PLUS, {10: (1, 300, 25), 20: (0.97, 300, 25)})
    runs = {"today": as_runs(tmp_path, [*together, *late(PLUS)])}
    canvas = draw.index_over_start(figure, runs)
    ten, twenty = canvas.axes
    assert lines_of(ten)["compound_plus"] == pytest.approx([1, 0.98, 0.98])
    assert lines_of(twenty)["compound_plus"] == pytest.approx([0.97, 0.93, 0.93])
    assert [each.get_text() for each in ten.get_xticklabels()] == ["100ms", "2s", "30s"]
    plt.close(canvas)
