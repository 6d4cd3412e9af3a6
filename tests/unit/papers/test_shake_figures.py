# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on SHAKE: runs, checks, tables, drawings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from apogee_lab.papers.claims import Results
from apogee_lab.papers.figure import Cell, Figure
from apogee_lab.papers.shake import cells, claims, draw, ours
from apogee_lab.papers.shake.cells import BOTH, LETTER, NARROW, PERIOD, TODAY, VARIANTS
from apogee_lab.papers.shake.figures import (
    FIGURE_9,
    FIGURE_10,
    FIGURE_11,
    FIGURE_12,
    FIGURE_13,
    FIGURE_14,
    SHAKE,
)
from apogee_lab.results.plots import plt
from apogee_lab.scenarios import SCENARIOS
from tests.unit.papers.planning import claim, holds, planned

MULTIPATH = SCENARIOS["multipath"]
SEEDS = (1, 2, 3)

#: Of a record's settings the goodput in kbit/s.
Rates = Callable[[Mapping[str, Any]], float]


def flat(_told: Mapping[str, Any]) -> float:
    return 600.0


def record(each: Cell, rates: Rates = flat, seed: int = 1, **more: Any) -> dict[str, Any]:
    """An invented record of a cell."""
    told = dict(cells.point(each.variant, each.settings))
    luck = 1 + (seed - 2) / 1000
    found = {
        "cc": each.cc,
        "seed": seed,
        "set": told,
        "limit_bps": 700e3,
        "total_goodput_bps": rates(told) * 1e3 * luck,
        "needless_retransmits": 0,
        "flows": [{"segments": 5000, "retransmits": 10, "window_bytes": {"mean": 20e3}}],
    }
    return found | more


def records(
    figure: Figure, variant: str, rates: Rates = flat, change: Any = None
) -> list[dict[str, Any]]:
    """Three invented records of each cell of a variant; ``change`` gives more of a record."""
    found = []
    for each in figure.cells:
        if each.variant == variant:
            for seed in SEEDS:
                made = record(each, rates, seed)
                found.append(made | (change(made["set"]) if change else {}))
    return found


def by_way(rates: Mapping[str, float], other: float = 500.0) -> Rates:
    """Goodputs by scheduler and treatment of ACKs, ``rah drop``; ``other`` of all else."""
    return lambda told: rates.get(f"{told['scheduler']} {told['ack']}", other)


# --- the catalogue ----------------------------------------------------------------------------


def test_no_two_points_share_records() -> None:
    for figure in SHAKE.figures.values():
        points = {
            (each.variant, each.cc, json.dumps(cells.point(each.variant, each.settings)))
            for each in figure.cells
        }
        made = {(c.variant, c.cc, tuple(sorted(c.settings.items()))) for c in figure.cells}
        assert len(points) == len(made)


def test_a_point_is_what_a_record_says() -> None:
    at = cells.point(PERIOD, {"loss": "0.50%", "delay2": "0.01s"})
    assert (at["loss"], at["delay2"], at["window"], at["hold"]) == ("0.5%", "10ms", 40, "none")


def test_seeds_and_shared_runs() -> None:
    found = planned("shake")
    keys = {name: {run.job.key for run in runs} for name, runs in found.items()}
    assert keys["shake-10"] <= keys["shake-9"]
    assert keys["shake-11"] <= keys["shake-12"]

    def seeds(name: str, variant: str, **told: str) -> int:
        runs = [r for r in found[name] if r.cell.variant == variant]
        settings = [(r.job.key, r.cell.settings) for r in runs]
        return len({key for key, own in settings if told.items() <= own.items()})

    # Where claims hang on loss there are 20 seeds.
    rr = {"scheduler": "rr", "ack": "drop"}
    assert seeds("shake-9", LETTER, **rr, delay2="290ms") == 20
    assert seeds("shake-10", NARROW, **rr) == 20
    assert seeds("shake-11", LETTER, **rr, delay2="10ms", loss="1%") == 20
    assert seeds("shake-14", LETTER, scheduler="rah", ack="pass", outage="1s") == 20
    assert seeds("shake-9", TODAY, **rr, delay2="290ms") == 5
    assert seeds("shake-sum", TODAY, via="path1", delay2="10ms") == 2


def test_the_papers_rules() -> None:
    assert list(cells.SETTINGS) == list(VARIANTS)
    for variant in (LETTER, NARROW):
        assert cells.SETTINGS[variant]["stack"] == "period"
        assert cells.way("rah", "pass", variant)["hold"] == "0s"
        assert "hold" not in cells.way("rr", "pass", variant)
    assert all("hold" not in cells.way("rah", "auto", variant) for variant in BOTH)
    assert cells.CCS[LETTER] == "reno3" and cells.CCS[TODAY] == "cubic"
    defaults = {param.name: param.default for param in MULTIPATH.params}
    assert defaults["threshold"] == 5 and set(defaults["rate"]) == {384_000}
    assert defaults["delay1"] == 0.15 and defaults["scheduler"] == "rah"


# --- checks -----------------------------------------------------------------------------------

#: Goodputs as in the paper: RAH is best, dropping helps.
PAPER_9 = {
    "rr pass": 250, "rr drop": 600, "ratio pass": 200, "ratio drop": 610, "rah pass": 580,
    "rah drop": 690, "rah auto": 690,
}  # fmt: skip
PAPER_11 = {"rr pass": 500, "rr drop": 300, "rah pass": 600, "rah drop": 500}
UDP = {"rr pass": 300, "ratio pass": 400}
LOSSY = {"ratio pass": 700, "rah drop": 690, "rah tdar": 640}


def dropping(rate: float) -> dict[str, float]:
    """Every scheduler has 600 without dropping."""
    return {f"{s} {a}": rate if a == "drop" else 600 for s in cells.SCHEDULERS
            for a in ("pass", "drop")}  # fmt: skip


#: Goodputs with which a claim holds, and changes after which it does not.
CASES: list[tuple[Figure, str, str, dict[str, float], list[dict[str, float]]]] = [
    *(
        (FIGURE_9, variant, text, PAPER_9, [against])
        for variant in (LETTER, NARROW, TODAY)
        for text, against in (
            ("RAH has the highest goodput at every delay, without", {"rr pass": 590}),
            ("RAH has the highest goodput at every delay, with dropping", {"ratio drop": 700}),
            ("at 290ms every scheduler has more", {"rah drop": 570}),
        )
    ),
    (FIGURE_9, LETTER, "up to 210 ms", dropping(590), [dropping(610), dropping(500)]),
    (FIGURE_9, TODAY, "(ours) RAH with ack=auto", PAPER_9 | {"rah auto": 660}, [{"rah auto": 650}]),
    (FIGURE_11, LETTER, "10ms: at 1 % goodput", PAPER_11, [{"rah drop": 560}]),
    (FIGURE_11, LETTER, "10ms: at 1 % dropping costs round robin", PAPER_11, [{"rah drop": 300}]),
    (FIGURE_12, LETTER, "150ms: from 0.5 %", {"rr drop": 300, "rr tdar": 310}, [{"rr tdar": 299}]),
    (FIGURE_12, LETTER, "150ms: by 5 to 20", {"rr drop": 300, "rr tdar": 310},
     [{"rr tdar": 350}, {"rr tdar": 299}]),
    (FIGURE_13, TODAY, "RAH has the highest", UDP | {"rah pass": 500}, [{"rah pass": 390}]),
    (FIGURE_13, TODAY, "RAH is far", UDP | {"rah pass": 700}, [{"rah pass": 500}]),
    (ours.FIGURE_LOSS, PERIOD, "(ours) 10ms: RAH with ack=auto", LOSSY | {"rah auto": 670},
     [{"rah auto": 600}]),
    (ours.FIGURE_LOSS, PERIOD, "(ours) 10ms: at least 98 %", LOSSY | {"rah auto": 695},
     [{"rah auto": 670}]),
]  # fmt: skip


@pytest.mark.parametrize(("figure", "variant", "text", "good", "bad"), CASES)
def test_goodputs_of_the_ways_to_send(
    figure: Figure, variant: str, text: str, good: dict[str, float], bad: list[dict[str, float]]
) -> None:
    found = claim(figure, text, variant)
    assert holds(found, records(figure, variant, by_way(good)))
    for change in bad:
        assert not holds(found, records(figure, variant, by_way(good | change)))


def test_what_is_sent_again_with_round_robin() -> None:
    def like(plain: int, drop: int, window: float) -> list[dict[str, Any]]:
        def change(told: Mapping[str, Any]) -> dict[str, Any]:
            dropping = told["ack"] == "drop"
            flow = {"segments": 5000, "retransmits": 15, "window_bytes": {"mean": 20e3}}
            if dropping:
                flow["window_bytes"] = {"mean": window}
            return {"needless_retransmits": drop if dropping else plain, "flows": [flow]}

        return records(FIGURE_10, NARROW, flat, change)

    often, only, larger = (
        claim(FIGURE_10, text, NARROW)
        for text in ("without dropping at least half", "with dropping only", "with dropping the w")
    )
    papers = like(10, 0, 27e3)
    assert all(holds(each, papers) for each in (often, only, larger))
    assert "15.0 sent again, needless: 67" in often.check(Results(papers)).ours
    assert not holds(often, like(5, 0, 27e3))
    assert not holds(only, like(10, 1, 27e3))
    assert not holds(larger, like(10, 0, 20e3))


def test_a_share_is_as_uncertain_as_its_runs_and_its_count() -> None:
    """All of a few segments is not surely all of many; segments of a run are not independent."""
    point = cells.point(TODAY, {})

    def shares(*counts: tuple[int, int], low: float = 0.9, high: float = 1.0) -> tuple[str, str]:
        runs = [record(cells.cell(TODAY, {}), seed=seed) for seed in range(len(counts))]
        for run, (there, sent) in zip(runs, counts, strict=True):
            run["needless_retransmits"] = there
            run["flows"][0]["retransmits"] = sent
        verdict = claims.share_needless({"": ("cubic", point)}, low, high)(Results(runs))
        return verdict.ours, verdict.holds

    assert shares(*[(4, 4)] * 5) == ("4.0 sent again, needless: 100 (84 to 100) %", "not shown")
    assert shares(*[(10, 10)] * 5) == ("10.0 sent again, needless: 100 (93 to 100) %", "yes")
    assert shares(*[(0, 4)] * 5) == ("4.0 sent again, needless: 0 (0 to 16) %", "no")
    # Nothing sent again is nothing needless.
    assert shares((0, 0), low=0.0, high=0.05)[1] == "not shown"
    # The count alone would leave 85 to 90 %.
    ours, holds = shares((100, 100), (100, 100), (40, 100), (100, 100), (100, 100))
    assert ours.endswith("88 (55 to 100) %") and holds == "not shown"


def test_pauses() -> None:
    def rates(told: Mapping[str, Any]) -> float:
        if told["scheduler"] == "rah":
            return 450.0 if told["outage"] == "1s" else 480.0
        return (430.0 if told["outage"] == "1s" else 500.0) * (1.07 if told["ack"] != "pass" else 1)

    texts = ("with pauses of 1 s", "with pauses of 250 ms", "TDAR gives round robin 5 to 10")
    for text in texts:
        found = claim(FIGURE_14, text, LETTER)
        assert holds(found, records(FIGURE_14, LETTER, rates))
        assert not holds(found, records(FIGURE_14, LETTER, flat))


# --- our own ----------------------------------------------------------------------------------


def summed(rah: Mapping[str, float], two: float = 350.0) -> Rates:
    """Paths alone have 350 and ``two``."""

    def rates(told: Mapping[str, Any]) -> float:
        alone = {"path1": 350.0, "path2": two}.get(told["via"])
        return rah.get(told["ack"], 700.0) if alone is None else alone

    return rates


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize(
    ("text", "ack", "enough", "less"),
    [
        ("(ours) RAH with dropping", "drop", 687, 685),
        ("(ours) so it has with", "auto", 687, 685),
        ("(ours) without dropping", "pass", 666, 664),
    ],
)
def test_the_sum_of_the_paths(
    variant: str, text: str, ack: str, enough: float, less: float
) -> None:
    found = claim(ours.FIGURE_SUM, text, variant)
    assert holds(found, records(ours.FIGURE_SUM, variant, summed({ack: enough})))
    assert not holds(found, records(ours.FIGURE_SUM, variant, summed({ack: less})))
    assert not holds(found, records(ours.FIGURE_SUM, variant, summed({ack: enough}, 380.0)))


@pytest.mark.parametrize(
    ("figure", "text", "good", "bad"),
    [
        (ours.FIGURE_SUM, "(ours) at most 1 of 1000", 5, 6),
        (ours.FIGURE_NEEDLESS, "(ours) with loss at most 1", 14, 16),
    ],
)
def test_few_are_needless(figure: Figure, text: str, good: int, bad: int) -> None:
    """Ten over one path."""

    def runs(count: int) -> list[dict[str, Any]]:
        def change(told: Mapping[str, Any]) -> dict[str, Any]:
            alone = figure is ours.FIGURE_NEEDLESS and told["via"] == "path1"
            return {"needless_retransmits": 10 if alone else count}

        return records(figure, TODAY, flat, change)

    found = claim(figure, text, TODAY)
    assert holds(found, runs(good)) and not holds(found, runs(bad))


def test_beside_what_else_joins_paths() -> None:
    def rates(told: Mapping[str, Any]) -> float:
        if told["via"] == "mptcp":
            return 700.0
        lossy = told["loss"] != "0%"
        return {"bonding": 650.0, "shake": 670.0 if lossy else 690.0}.get(told["via"], 300.0)

    runs = records(ours.FIGURE_PEERS, TODAY, rates)
    for cc in ours.CCS:
        assert holds(claim(ours.FIGURE_PEERS, f"(ours) {cc}, no loss: SHAKE", TODAY), runs)
        assert not holds(claim(ours.FIGURE_PEERS, f"(ours) {cc}, no loss: at least", TODAY), runs)
        for least in ("at least 95 % of MPTCP", "at least as much as bonding"):
            assert holds(claim(ours.FIGURE_PEERS, f"(ours) {cc}, 1 % lost: {least}", TODAY), runs)


def test_what_is_left() -> None:
    texts = ("beside a UDP flow", "with interruptions that hold", "with interruptions that lose")
    for text in texts:
        found = claim(ours.FIGURE_LEFT, f"(ours) {text}", PERIOD)
        assert holds(found, records(ours.FIGURE_LEFT, PERIOD, lambda _: 640.0))
        assert not holds(found, records(ours.FIGURE_LEFT, PERIOD, lambda _: 620.0))


def test_three_and_four_paths() -> None:
    alone = {"path1": 350.0, "path2": 700.0, "path3": 170.0, "path4": 690.0}

    def rates(share: float) -> Rates:
        every = {3: 1220.0, 4: 1910.0}
        return lambda told: alone.get(told["via"], share * every[told["paths"]])

    found = claim(ours.FIGURE_SEVERAL, "(ours) three and four", TODAY)
    assert holds(found, records(ours.FIGURE_SEVERAL, TODAY, rates(0.96)))
    assert not holds(found, records(ours.FIGURE_SEVERAL, TODAY, rates(0.94)))


def test_the_difference_of_two_ratios_has_an_honest_interval() -> None:
    # Ratios of 1.5 and 1.2; of twenty runs each base varies by a fifth, by itself.
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(500):
        b, d, a, c = rng.normal(1, 0.2, (4, 20)) * [[1], [1], [1.5], [1.2]]
        found = claims.ratios_apart(*(each.tolist() for each in (a, b, c, d)))
        assert found.value == pytest.approx(a.sum() / b.sum() - c.sum() / d.sum())
        low, high = found.bounds or (0.0, 0.0)
        covered += low <= 0.3 <= high
    assert 0.92 <= covered / 500 <= 0.98


def test_windows_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = (np.array([0.0, 1.0, 2.0]), np.array([10, 20, 5]))
    monkeypatch.setattr(draw, "_window", lambda _run: samples)
    runs = {v: [SimpleNamespace(record=r) for r in records(FIGURE_10, v)] for v in VARIANTS}
    canvas = draw.cwnd_over_time(FIGURE_10, runs)  # type: ignore[arg-type]
    for axes in canvas.axes:
        lines = axes.get_lines()
        assert [line.get_label() for line in lines] == ["rr pass", "rr drop"]
        assert list(lines[0].get_ydata()) == [10, 20, 5]
    plt.close(canvas)
