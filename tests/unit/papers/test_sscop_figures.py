# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on SSCOP: runs, theory, checks, tables, drawings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.commands import draw_figures
from apogee_lab.papers import drawings
from apogee_lab.papers.catalogue import choose
from apogee_lab.papers.claims import NotMeasured, Results
from apogee_lab.papers.figure import Cell, Claim, Figure
from apogee_lab.papers.sscop import claims, theory, today
from apogee_lab.papers.sscop.cells import (
    ALONE,
    AUTO,
    BERS,
    NARROW,
    PATHS,
    SETTINGS,
    SIZES,
    TIMER,
    VARIANTS,
    WORST,
    cell,
)
from apogee_lab.papers.sscop.figures import (
    FIGURE_5,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
    FIGURE_11,
    FIGURE_13,
    FIGURE_14,
)
from apogee_lab.papers.sscop.today import FIGURE_QUEUE, FIGURE_STEP, FIGURE_TODAY, FIGURE_WINDOW
from apogee_lab.results.finished import FinishedRun
from apogee_lab.results.plots import plt
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab import raw_folders
from tests.unit.papers.planning import claim, holds, lines_of, planned, runs_of_cells

SEEDS = (1, 2, 3)
RADIO = SCENARIOS["radio"]

#: Goodput in Mbit/s by segment and bit error rate.
Rates = Callable[[int | str, float], float]


def settings_of(cell: Cell) -> dict[str, Any]:
    """The settings of a cell's records, defaults included."""
    kinds = {param.name: param.kind for param in RADIO.params}
    values = RADIO.defaults() | {
        key: units.parse(kinds[key], cell.setting(key, cell.duration_s)) for key in cell.settings
    }
    return {key: units.for_record(kinds[key], value) for key, value in values.items()}


def plain(segment: int | str, ber: float) -> float:
    """Goodput as one might expect it."""
    return 1.8 * (1 - 2000 * ber) if segment != ALONE else 1.9 / (1 + 1e6 * ber)


def record(cell: Cell, rates: Rates = plain, seed: int = 1, **more: Any) -> dict[str, Any]:
    """An invented record of a cell."""
    told = settings_of(cell)
    segment, ber = told["segment"], told["ber"]
    found: dict[str, Any] = {
        "cc": cell.cc,
        "seed": seed,
        "set": told,
        "duration_s": 60.0,
        "limit_bps": 1.8e6,
        "total_goodput_bps": rates(segment, ber) * 1e6 * (1 + (seed - 2) / 1000),
        "flows": [
            {"segments": 10_000, "retransmits": 0, "probes": 0,
             "rtt_ms": {"mean": 200.0, "p99": 300.0}}
        ],
        "link": {"utilisation": 0.9, "bytes": 1},
        "ping": {"mean_ms": 300.0, "p99_ms": 500.0, "max_ms": 600.0},
        "sequence": {"tcp_s": [0.0, 5.0], "tcp": [10, 400], "sd_s": [0.0, 5.0], "sd": [10, 4000]},
        "window_at_end": 20.0,
        "spans": {"bad": 1.2e6, "good": 1.7e6},
    }  # fmt: skip
    if segment not in (ALONE, AUTO):
        per_packet = len(theory.pieces(1500, segment))
        again = round(theory.of_frames(ber, segment, 1500))
        found["sscop"] = {
            "again": again / per_packet / 1e4,
            "gw": {"sd_sent": per_packet * 10_000, "sd_again": again},
            "mh": {"sd_received": per_packet * 10_000, "dropped_duplicate": 0},
        }
    return found | more


def records(
    figure: Figure, variant: str, rates: Rates = plain, **more: Any
) -> list[dict[str, Any]]:
    """Three invented records of each cell of a variant."""
    return [
        record(cell, rates, seed, **more)
        for cell in figure.cells
        if cell.variant == variant
        for seed in SEEDS
    ]


# --- the catalogue ----------------------------------------------------------------------------


def test_seeds_and_shared_runs() -> None:
    found = planned("sscop")
    keys = {name: {run.job.key for run in runs} for name, runs in found.items()}
    # Figure 14 has no runs of its own, figures 10 to 13 neither.
    throughput = set().union(*(keys[f"sscop-{n}"] for n in (4, 5, 6, 7)))
    for name in ("10", "11", "12", "13", "14"):
        assert keys[f"sscop-{name}"] <= throughput
    assert keys["sscop-8"] == keys["sscop-9"]
    # TCP alone is one set of runs for both variants.
    alone = [run for run in found["sscop-10"] if run.cell.settings["segment"] == "0"]
    assert len(alone) == 2 * 3 * len(BERS) and len({run.job.key for run in alone}) == 3 * len(BERS)
    # The headline points have five seeds in both variants, all others of figure 4 to 6 three.
    worst = [r for r in found["sscop-7"] if r.cell.settings["ber"] == WORST]
    wide = [
        r
        for r in worst
        if r.cell.settings["window"] == "72" and r.cell.settings["segment"] == "128"
    ]
    assert {r.cell.variant for r in wide} == {"today", "letter", TIMER, NARROW}
    assert len({r.job.key for r in wide}) == 4 * 5
    assert len({r.job.key for r in found["sscop-4"]}) == 3 * (8 + 2 * 5 * 8 + 8 + 3 * 5)


def test_variants_are_said_as_they_are_run() -> None:
    assert list(SETTINGS) == list(VARIANTS)
    letter = SETTINGS["letter"]
    assert letter == {
        "sscop_window": "512", "poll_bytes": "0", "poll_sd": "16", "poll_time": "10s",
        "poll_idle": "0",
    }  # fmt: skip
    assert "poll_sd=16, poll_time=10s" in VARIANTS["letter"]
    assert SETTINGS[TIMER] == letter | {"poll_time": "100ms"}
    defaults = {param.name: param for param in RADIO.params}
    assert SETTINGS["today"] == {"sscop_window": "1024"}
    for word in ("poll_bytes=3000", "poll_time=100ms", "poll_idle=10ms"):
        name, _, value = word.partition("=")
        text = value if "size" not in defaults[name].kind else f"{value}B"
        assert units.parse(defaults[name].kind, text) == defaults[name].default
        assert word in VARIANTS["today"]
    assert "poll_time" not in cell(WORST, ALONE, PATHS["4"], "letter").settings


# --- throughput -------------------------------------------------------------------------------


def changed(base: Rates, points: Mapping[tuple[int | str, str], float]) -> Rates:
    """Goodputs with those of some points replaced."""
    known = {(segment, float(ber)): rate for (segment, ber), rate in points.items()}
    return lambda segment, ber: known.get((segment, ber), base(segment, ber))


def flat(segment: int | str, ber: float) -> float:
    return 1.5


#: As in the paper: TCP alone dies, small segments have a little less and keep more.
def papers(segment: int | str, ber: float) -> float:
    if segment == ALONE:
        return 0.001 if ber > 2e-5 else 1.9 / (1 + 4e5 * ber)
    size = 300 if segment == AUTO else segment
    best = 1.75 + 0.05 * math.log2(size / 128) / 4
    if ber < 4e-5:
        return best
    worst = {128: 1.0, 256: 0.85, 512: 0.7, 1024: 0.5, 2048: 0.3, 300: 1.0}[size]
    return worst if ber > 9e-5 else (best + worst) / 2


def runs_of(figure: Figure, rates: Rates) -> list[dict[str, Any]]:
    """A figure's runs; packets of 500 B have half."""
    runs = records(figure, "today", rates)
    for run in runs:
        run["total_goodput_bps"] /= 2 if run["set"]["mtu"] == 500 else 1
    return runs


def by_headers(segment: int | str, ber: float) -> float:
    """What headers leave; the same goodput for all is not the same share."""
    return 1.94 * theory.header_share(segment, 1500, 1448) if segment in SIZES else 1.0


@pytest.mark.parametrize(
    ("figure", "text", "good", "bad"),
    [
        *(
            (FIGURE_5, text, papers, changed(papers, against))
            for text, against in (
                ("TCP alone collapses", {(ALONE, "5e-6"): 1.2}),
                ("and dies above 2e-5", {(ALONE, "5e-5"): 0.03}),
                ("with SSCOP throughput is held", {(2048, "1e-4"): 0.0005}),
                ("from 1e-7 to 5e-6 all sizes", {(128, "5e-6"): 1.5}),
                ("up to 1e-6 larger sizes", {(512, "5e-7"): 1.0}),
                ("at 1e-4 smaller sizes have more", {(512, "1e-4"): 0.9}),
                ("at 1e-4 and 128 B about 1 Mbit/s", {(128, "1e-4"): 1.3}),
                ("at 1e-4 and 2048 B about 0.3", {(2048, "1e-4"): 0.4}),
                ("128 B lose about half", {(128, "1e-4"): 1.4}),
                ("2048 B lose about 85 %", {(2048, "1e-4"): 0.8}),
            )
        ),
        (FIGURE_5, "(ours) of what headers leave", by_headers, flat),
        (FIGURE_7, "(ours) segment=auto within", flat, changed(flat, {(256, "2e-5"): 1.56})),
    ],
)
def test_throughput(figure: Figure, text: str, good: Rates, bad: Rates) -> None:
    found = claim(figure, text)
    assert holds(found, runs_of(figure, good)) and not holds(found, runs_of(figure, bad))


def test_small_packets() -> None:
    found = claim(FIGURE_5, "TCP alone with packets of 500 B")
    assert holds(found, runs_of(FIGURE_5, papers))
    assert not holds(found, records(FIGURE_5, "today", papers))  # as much


def seven(wide: float, **more: Any) -> list[dict[str, Any]]:
    """Figure 7's runs: with the doubled window so many times as much as with the single one."""
    runs = records(FIGURE_7, "today", papers, **more)
    for run in runs:
        run["total_goodput_bps"] *= wide if run["set"]["window"] == 72 else 1
    return runs


def test_a_doubled_window() -> None:
    more, worst = claim(FIGURE_7, "slightly more"), claim(FIGURE_7, "at 1e-4 about 1.3")
    assert holds(more, seven(1.3)) and holds(worst, seven(1.3))
    assert holds(more, seven(1.05)) and not holds(worst, seven(1.05))
    assert not holds(more, seven(0.99)) and not holds(worst, seven(1.6))


def test_the_papers_headline() -> None:
    about, least = (claim(FIGURE_7, f"{t}", NARROW) for t in ("at 1e-4 and 128 B", "(ours) and at"))
    narrow = [run for run in seven(1.25) if run["set"]["segment"] == 128]
    assert holds(about, narrow) and holds(least, narrow)
    assert holds(about, seven(1.1)) and not holds(least, seven(1.1))
    assert not holds(about, seven(1.6)) and holds(least, seven(1.6))


def test_shares_of_the_ideal() -> None:
    low, high = (claim(FIGURE_7, f"(ours) {t}") for t in ("each size", "and at least 92"))
    assert not holds(low, seven(0.5))
    whole = records(FIGURE_7, "today", lambda *_: 1.8)  # the limit of the invented runs
    assert holds(low, whole) and holds(high, whole)
    weak = records(FIGURE_7, "today", changed(lambda *_: 1.8, {(512, "5e-5"): 1.7}))
    assert holds(low, weak) and holds(high, weak)
    weaker = records(FIGURE_7, "today", changed(lambda *_: 1.8, {(512, "5e-5"): 1.6}))
    assert holds(low, weaker) and not holds(high, weaker)


# --- sequence numbers, retransmissions, utilisation -------------------------------------------


def with_sizes(
    figure: Figure, change: Callable[[dict[str, Any], int], None]
) -> list[dict[str, Any]]:
    """A figure's runs with SSCOP, each changed with its place among the sizes."""
    runs = records(figure, "today")
    for run in runs:
        if run["set"]["segment"] in SIZES:
            change(run, SIZES.index(run["set"]["segment"]))
    return runs


def test_sequence_numbers() -> None:
    fewer, hardly = (claim(FIGURE_8, f"{t}") for t in ("the larger", "with 2048 B TCP"))
    slow = claim(FIGURE_8, "with 2048 B slow start")

    def falling(step: float) -> list[dict[str, Any]]:
        return with_sizes(
            FIGURE_8, lambda run, at: run["sequence"].update(tcp=[10, 400 * step**at])
        )

    assert holds(fewer, falling(0.7)) and holds(hardly, falling(0.7)) and holds(slow, falling(1))
    assert holds(fewer, falling(0.9)) and not holds(hardly, falling(0.9))
    assert not holds(fewer, falling(1.0))
    assert not holds(slow, records(FIGURE_8, "today", window_at_end=36.0))


def test_new_data_of_sscop() -> None:
    more, less = (claim(FIGURE_9, f"{t}") for t in ("the larger", "and the less"))

    def counted(sd: float, again: float) -> list[dict[str, Any]]:
        def change(run: dict[str, Any], at: int) -> None:
            frames = len(theory.pieces(1500, SIZES[at]))
            run["sequence"] = {"sd": [1, round(frames * 1000 * sd**at)]}
            run["sscop"]["again"] = 0.1 * again**at

        return with_sizes(FIGURE_9, change)

    assert holds(more, counted(0.9, 1.5)) and holds(less, counted(0.9, 1.5))
    # A larger segment has fewer SDs: only if their bytes are fewer is it less data.
    assert not holds(less, counted(1.0, 1.5)) and not holds(more, counted(0.9, 1.0))


def test_retransmissions() -> None:
    runs = records(FIGURE_11, "today")
    assert holds(claim(FIGURE_11, "SSCOP's retransmissions rise"), runs)
    assert holds(claim(FIGURE_11, "at 1e-4 2048 B"), runs)  # 1.58 times by theory
    hardly, ours = claim(FIGURE_11, "TCP above"), claim(FIGURE_11, "(ours) up to 1e-5")
    assert holds(hardly, runs) and holds(ours, runs)
    for run in runs:
        run["flows"] = [run["flows"][0] | {"retransmits": 5, "probes": 5}]
    assert holds(hardly, runs) and holds(ours, runs)
    for run in runs:
        run["flows"] = [run["flows"][0] | {"retransmits": 11, "probes": 5}]
    assert not holds(hardly, runs) and not holds(ours, runs)


def test_delay_matters_if_it_does() -> None:
    found = claim(FIGURE_11, "the delay hardly")
    runs = records(FIGURE_11, "today")
    assert holds(found, runs)
    for run in runs:
        if run["set"]["delay"] == "20ms" and "sscop" in run:
            run["sscop"]["gw"]["sd_again"] *= 2
    assert not holds(found, runs)


def as_much_alone() -> list[dict[str, Any]]:
    """Runs in which TCP alone retransmits as much as SSCOP."""
    runs = records(FIGURE_11, "today")
    for run in runs:
        if run["set"]["segment"] == ALONE:
            again = round(theory.of_frames(run["set"]["ber"], 1024, 1500))
            run["flows"] = [run["flows"][0] | {"segments": 10_000 + again, "retransmits": again}]
    return runs


def test_tcp_alone_retransmits_as_much() -> None:
    """It is compared with runs of its seeds: what has no counterpart does not count."""
    found = claim(FIGURE_11, "up to 2e-5 TCP alone")
    runs = as_much_alone()
    assert holds(found, runs)
    for run in runs:
        if run["set"]["segment"] != ALONE and run["seed"] == 1:
            run["sscop"]["gw"]["sd_again"] *= 100
    fewer = [run for run in runs if (run["set"]["segment"], run["seed"]) != (ALONE, 1)]
    assert len(fewer) < len(runs) and holds(found, fewer)
    for run in fewer:
        run["flows"][0]["retransmits"] *= 2
    assert not holds(found, fewer)


def test_utilisation() -> None:
    alike, less, half, delay = (
        claim(FIGURE_13, f"{text}")
        for text in ("all sizes use", "less, the more", "at 1e-4 about half", "the delay hardly")
    )
    full = records(FIGURE_13, "today")
    assert holds(alike, full) and holds(delay, full)
    assert not holds(less, full) and not holds(half, full)

    def falling() -> list[dict[str, Any]]:
        runs = records(FIGURE_13, "today")
        for run in runs:
            place = [float(ber) for ber in BERS].index(run["set"]["ber"])
            run["link"] = {"utilisation": 0.95 - 0.45 * place / 7}
        return runs

    assert holds(less, falling()) and holds(half, falling())
    runs = falling()
    for run in runs:
        if run["set"]["segment"] == 128:
            run["link"]["utilisation"] *= 0.8
    assert not holds(alike, runs)


def test_theory_beside_what_was_measured() -> None:
    near, rare, paper, corrected = (
        claim(FIGURE_14, f"{text}")
        for text in ("(ours) from 1e-5", "(ours) below", "the paper's formula", "(ours) so is")
    )
    runs = records(FIGURE_14, "today")
    assert holds(near, runs) and holds(rare, runs)
    assert not holds(paper, runs) and not holds(corrected, runs)
    for run in runs:
        run["sscop"]["gw"]["sd_again"] = round(1.06 * run["sscop"]["gw"]["sd_again"])
    assert not holds(near, runs)
    for run in runs:
        run["sscop"]["gw"]["sd_again"] *= 2
    assert not holds(rare, runs)


def test_copies_in_idle_time_are_no_answers_to_losses() -> None:
    run = record(cell(WORST, 2048, PATHS["7"]))
    expected = theory.of_frames(1e-4, 2048, 1500)
    # Of 1000 copies 296 arrive: the others are lost like any frame.
    lost = 1 - (1 - 1e-4) ** (8 * 1522)
    run["sscop"]["gw"]["sd_again"] += 1000
    run["sscop"]["mh"]["dropped_duplicate"] = round(1000 * (1 - lost))
    assert claims.every_sd_again(run) == pytest.approx(expected + 1000, abs=1)
    assert claims.sds_again(run) == pytest.approx(expected, abs=3)


# --- what is not in the paper -----------------------------------------------------------------


def test_from_which_rate_on_sscop_pays() -> None:
    results = Results(records(FIGURE_TODAY, "today", papers))
    assert today.pays_from(results, "cubic") == "5e-7"
    never = Results(records(FIGURE_TODAY, "today", lambda *_: 1.0))
    assert today.pays_from(never, "cubic") == "–"
    # One bit error rate at which it has less ends the range.
    dip = changed(papers, {(AUTO, "1e-5"): 0.1})
    assert today.pays_from(Results(records(FIGURE_TODAY, "today", dip)), "bbr") == "2e-5"


def test_pings() -> None:
    late, stalls = (claim(FIGURE_QUEUE, f"(ours) FIFO: {t}") for t in ("99 %", "no"))
    assert "736 ms" in late.text  # 3 * 100 ms and 72 frames of 1514 B at 2 Mbit/s
    good = records(FIGURE_QUEUE, "today")
    assert holds(late, good) and holds(stalls, good)
    bad = records(FIGURE_QUEUE, "today", ping={"mean_ms": 9, "p99_ms": 740, "max_ms": 1001})
    assert not holds(late, bad) and not holds(stalls, bad)


def test_windows_of_sscop() -> None:
    narrow, wide = (claim(FIGURE_WINDOW, f"(ours) {t}") for t in ("a window of 512", "one of"))
    runs = records(FIGURE_WINDOW, "today")
    for run in runs:
        run["total_goodput_bps"] = 1.8e6 * (0.8 if run["set"]["sscop_window"] == 512 else 0.95)
    assert holds(narrow, runs) and holds(wide, runs)
    for run in runs:
        run["total_goodput_bps"] = 1.8e6 * 0.91
    assert not holds(narrow, runs) and not holds(wide, runs)


def test_a_step() -> None:
    rise, fall = (claim(FIGURE_STEP, f"(ours) 5 s after the {t}") for t in ("rise", "fall"))
    runs = records(FIGURE_STEP, "today")
    assert holds(rise, runs) and holds(fall, runs)
    for run in runs:
        if run["set"]["event"] != "none":
            run["spans"] = {"bad": 1.1e6, "good": 1.7e6}
    assert not holds(rise, runs) and holds(fall, runs)
    with pytest.raises(NotMeasured):
        rise.check(Results([run for run in runs if run["set"]["segment"] != AUTO]))


def finished(tmp_path: Path, **changes: Any) -> FinishedRun:
    bins = raw_folders.bins((10.0, 70.0, 1000), (70.0, 80.0, 2000))
    send = raw_folders.send_log(**changes)
    raw_folders.write(tmp_path, bins=bins, send=send)
    return FinishedRun(tmp_path, raw_folders.meta(), {"duration_s": 60.0})


def test_what_is_read_of_a_run(tmp_path: Path) -> None:
    run = finished(tmp_path)
    assert run.start_us == 10e6
    # 1000 B in 10 ms
    found = today.goodput_in_spans(run)["spans"]
    assert found == pytest.approx({"bad": 0.8e6, "good": 0.8e6})
    # Samples every 0.1 s from 0.5 s after the SYN on, windows from 10 on.
    assert today.window_at_end(5.0)(run) == {"window_at_end": 55.0}


# --- drawings ---------------------------------------------------------------------------------


def test_a_line_for_each_size(tmp_path: Path) -> None:
    runs = runs_of_cells(tmp_path, FIGURE_5, record)
    for run in runs["letter"]:
        run.record["total_goodput_bps"] /= 10
    canvas = drawings.DRAWN[FIGURE_5.draw](FIGURE_5, runs)
    published, ours = map(lines_of, canvas.axes)
    sizes = [f"SSCOP, {size} B" for size in SIZES]
    assert list(published) == [*sizes, "TCP alone", "TCP alone, 500 B"]
    assert list(ours) == [*sizes, "SSCOP, segment=auto", "TCP alone", "TCP alone, 500 B"]
    assert ours["SSCOP, 128 B"] == pytest.approx([plain(128, float(b)) for b in BERS], rel=1e-3)
    # Panels have one axis: it fits the lines of the last one, too.
    low, high = canvas.axes[0].get_ylim()
    assert low == 0 and high > 1.8
    plt.close(canvas)


def test_what_claims_need_beside_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure's ``extra`` is read of each run when it is drawn."""
    seen = {}

    def check(results: Results) -> Any:
        seen["spans"] = results.of("star", 0.0)[0]["spans"]
        raise NotMeasured("nothing")

    figure = replace(FIGURE_STEP, claims=[Claim("any", check)], draw="bars", options={})
    monkeypatch.setitem(drawings.DRAWN, "bars", lambda *_: plt.figure())
    folder = tmp_path / "runs" / "0123"
    finished(folder)
    found = {"cc": "star", "seed": 1, "set": {"ber": 0.0}, "duration_s": 60.0, "kernel": "6.1"}
    (folder / "run.json").write_text(json.dumps({"meta": raw_folders.meta()}))
    (folder / "record.json").write_text(json.dumps(found))
    told = {"out": str(tmp_path), "runs_dir": str(tmp_path / "runs"), "version": "1",
            "figures": {"sscop-step": [{"key": "0123", "variant": "today"}]}}  # fmt: skip
    (choice,) = choose(["sscop-step"])
    draw_figures.draw(told, replace(choice, figure=figure))
    assert seen["spans"] == pytest.approx({"bad": 0.8e6, "good": 0.8e6})
    plt.close("all")
