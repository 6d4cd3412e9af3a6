# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: their runs, the checks of their claims, the command line that makes them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apogee_lab import modules
from apogee_lab.commands import draw_figures, main, reproduce
from apogee_lab.engines import registry
from apogee_lab.papers import claims, drawings, report, schedule, series
from apogee_lab.papers.catalogue import UnknownFigure, choose
from apogee_lab.papers.claims import NotMeasured, Part, Results, decide
from apogee_lab.papers.star.figures import FIGURE_8, STAR, VARIANTS
from apogee_lab.runs import sweep
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab import raw_folders
from tests.unit.papers.planning import NoGuest

Capture = pytest.CaptureFixture[str]

NUMBERS = "5 6 7 8 10 11 12 13 14 15 16 17 18 19 20".split()
SEEDS = [1, 2, 3, 4, 5]
MOST_MINUTES = 90.0


def planned(*names: str, seeds: Sequence[int] = SEEDS) -> dict[str, list[schedule.PlannedRun]]:
    return schedule.planned_runs(choose(list(names)), seeds, 60.0, NoGuest())


# --- the catalogue ----------------------------------------------------------------------------


def test_every_figure_is_there() -> None:
    assert list(STAR.figures) == NUMBERS
    for number, figure in STAR.figures.items():
        assert figure.name == number and figure.title.startswith(f"Figure {number}:")
        assert figure.claims and figure.draw in drawings.DRAWN


def test_every_claim_has_the_runs_it_needs() -> None:
    for figure in STAR.figures.values():
        for claim in figure.claims:
            for variant in claim.variants:
                cells = [cell for cell in figure.cells if cell.variant == variant]
                assert cells and variant in VARIANTS
                verdict = claim.check(Results([invented(cell) for cell in cells]))
                assert verdict.ours


def invented(cell: Any, seed: int = 1) -> dict[str, Any]:
    """Any record of a cell."""
    count = 1 + cell.cc.count("+")
    flows = [{"goodput_bps": 4e6, "cc": cc} for cc in cell.cc.split("+")]
    each = {"window": [6e5] * 30 + [5e5] * 30, "abe": [8e6, 9e6] * 30, "full_s": 1.5}
    return {
        "cc": cell.cc,
        "seed": seed,
        "set": {"ber": float(cell.settings["ber"])},
        "duration_s": 60.0,
        "flows": flows,
        "total_goodput_bps": 4e6 * count,
        "blackout": {"below90_s": 2.1},
        "series": [each] * count,
    }


def test_how_many_runs() -> None:
    found = planned("star")
    assert len(found) == len(NUMBERS)
    assert len(found["star-5"]) == 5 * (7 * 5 + 5)
    assert len(found["star-7"]) == 5 * 5
    assert len(found["star-8"]) == 5 * 3 * 5
    assert len(found["star-10"]) == 5 * 5 * 5
    every = {run.job.key for runs in found.values() for run in runs}
    assert len(every) == 705


def test_figures_share_their_runs() -> None:
    keys = {name: {run.job.key for run in runs} for name, runs in planned("star").items()}
    assert keys["star-7"] < keys["star-5"]
    assert keys["star-12"] < keys["star-10"]
    assert keys["star-16"] < keys["star-11"]
    assert keys["star-13"] & keys["star-10"]
    assert keys["star-14"] < keys["star-15"]
    assert len(keys["star-15"] & keys["star-10"]) == 2 * len(SEEDS)


def test_the_whole_paper_fits_its_budget() -> None:
    runs = {run.job.key: run for found in planned("star").values() for run in found}
    minutes = sum(run.cell.cost_s(60.0, "qemu") for run in runs.values()) / 60 / 2
    assert minutes < MOST_MINUTES


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["star-5"], ["star-5"]),
        (["star-8,star-5"], ["star-5", "star-8"]),
        (["star-5 star-5", "star-20"], ["star-5", "star-20"]),
        (["star"], [f"star-{number}" for number in NUMBERS]),
    ],
)
def test_names(words: list[str], names: list[str]) -> None:
    assert [choice.name for choice in choose(words)] == names


@pytest.mark.parametrize(
    "word", ["", "star-4", "star-9", "star-", "star-05", "moon", "5", "star-x"]
)
def test_unknown_figures_are_told_in_one_line(word: str, capsys: Capture) -> None:
    with pytest.raises(UnknownFigure):
        choose([word])
    assert reproduce.main([word]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert "choose from: star, star-5, star-6, star-7, star-8, star-10, " in said.err


@pytest.mark.parametrize(
    "options",
    [
        ["--seeds", "0"],
        ["--seeds", "five"],
        ["--duration", "4"],
        ["--duration", "long"],
        ["--jobs", "-1"],
        ["--executor", "cray"],
    ],
)
def test_bad_options_are_told_in_one_line(options: list[str], capsys: Capture) -> None:
    assert reproduce.main(["star-5", "--check", *options]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_make_refuses_an_unknown_figure(root: Path) -> None:
    done = subprocess.run(
        ["make", "-s", "reproduce", "FIG=star-9"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("reproduce: unknown figure 'star-9'; choose from: ")


# --- keys and commands ------------------------------------------------------------------------


def test_a_command_makes_the_run_that_was_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[sweep.Job] = []

    class Caught:
        def __init__(self, jobs: list[sweep.Job], *_: Any, **__: Any) -> None:
            made.extend(jobs)
            self.records: list[None] = [None] * len(jobs)
            self.failures: dict[int, Any] = {}

        def run(self) -> None:
            pass

    def no_build(kernel: str) -> None:
        raise AssertionError("modules are built once, before the runs")

    monkeypatch.setattr(registry, "engine_of", lambda name: NoGuest())
    monkeypatch.setattr(modules, "build", no_build)
    monkeypatch.setattr(modules, "check", lambda kernel, settings: None)
    monkeypatch.setattr(sweep, "Sweep", Caught)
    for duration_s in (None, 7.5):
        found = schedule.planned_runs(
            choose(["star", "gentle", "compound"]), [1, 7], duration_s, NoGuest()
        )
        for run in {run.job.key: run for runs in found.values() for run in runs}.values():
            made.clear()
            assert main.main(run.command[2:]) == 0
            assert [job.key for job in made] == [run.job.key]
            assert made[0].meta == run.job.meta


def test_a_blackout_follows_the_duration() -> None:
    cell = FIGURE_8.cells[0]
    assert "ack_blackout=45s:1s" in cell.options(60.0)
    assert "ack_blackout=7.5s:1s" in cell.options(10.0)


def test_a_record_without_its_run_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "RUNS", tmp_path)
    run = planned("star-7", seeds=[1])["star-7"][0]
    assert not schedule.finished(run)
    run.job.folder.mkdir()
    (run.job.folder / "record.json").write_text("{}")
    assert not schedule.finished(run)
    assert not (run.job.folder / "record.json").exists()


def test_the_version_follows_seeds_and_duration() -> None:
    assert schedule.version([1], 60.0) == schedule.version([1], 60.0)
    assert len({schedule.version(s, d) for s in ([1], [1, 2], None) for d in (10.0, None)}) == 6


# --- checks -----------------------------------------------------------------------------------


def record(cc: str, goodputs: Sequence[float], seed: int = 1, **more: Any) -> dict[str, Any]:
    """A record of two or one flows, Mbit/s each."""
    return {
        "cc": cc,
        "seed": seed,
        "set": {"ber": more.pop("ber", 0.0)},
        "duration_s": 60.0,
        "flows": [{"goodput_bps": rate * 1e6} for rate in goodputs],
        "total_goodput_bps": sum(goodputs) * 1e6,
        **more,
    }


def five(cc: str, mean: float, spread: float = 0.1, **more: Any) -> list[dict[str, Any]]:
    """Five seeds of one flow around a mean; the interval is 1.96 times the spread."""
    steps_ = (-2, -1, 0, 1, 2)
    return [record(cc, [mean + spread * s], n, **more) for n, s in enumerate(steps_, 1)]


@pytest.mark.parametrize(
    ("mean", "half", "low", "high", "yes", "sure"),
    [
        (5.0, 1.0, 0.0, 10.0, True, True),
        (5.0, 6.0, 0.0, 10.0, True, False),
        (11.0, 0.5, 0.0, 10.0, False, True),
        (11.0, 2.0, 0.0, 10.0, False, False),
        (-1.0, 0.5, 0.0, 10.0, False, True),
        (5.0, None, 0.0, 10.0, True, None),
    ],
)
def test_a_number_and_its_range(
    mean: float, half: float | None, low: float, high: float, yes: bool, sure: bool | None
) -> None:
    part = Part("", mean, half, low, high)
    assert (part.yes, part.sure) == (yes, sure)


def test_a_claim_holds_if_all_its_parts_do() -> None:
    good, vague = Part("a", 5, 1, 0, 10), Part("b", 5, 9, 0, 10)
    bad, unsure = Part("c", 20, 1, 0, 10), Part("d", 11, 9, 0, 10)
    assert decide([good, good]).holds == "yes"
    assert decide([good, vague]).holds == "yes (n.s.)"
    assert decide([good, bad, unsure]).holds == "no"
    assert decide([good, unsure]).holds == "no (n.s.)"
    assert decide([Part("e", 5, None, 0, 10)]).holds == "yes (one seed)"


def test_ratios_and_their_intervals() -> None:
    mean, half = claims.gain([9.8, 9.9, 10.0, 10.1, 10.2], [4.9, 4.95, 5.0, 5.05, 5.1])
    assert mean == pytest.approx(1.0)
    # both relative intervals are 1.963 %, so the ratio of 2 has 2 * 1.963 % * sqrt(2)
    assert half == pytest.approx(2 * 0.019632 * 2**0.5, rel=1e-3)
    assert claims.gain([2.0], [1.0]) == (1.0, None)
    assert claims.gain([1.0, 1.0], [0.0, 0.0])[0] == float("inf")


def test_above_takes_the_best_rival() -> None:
    check = claims.above("star", ["j", "reno"], [0.0])
    won = check(Results([*five("star", 9), *five("j", 8), *five("reno", 3)]))
    assert won.holds == "yes" and won.ours.startswith("0 (over j): +12.5 ±")
    lost = check(Results([*five("star", 7), *five("j", 8), *five("reno", 3)]))
    assert lost.holds == "no"
    close = check(Results([*five("star", 8.01, 0.5), *five("j", 8, 0.5), *five("reno", 3)]))
    assert close.holds == "yes (n.s.)"


def test_a_gain_like_the_papers() -> None:
    check = claims.beyond("star", "reno", 1.52, 1e-8)
    near = [*five("star", 9.2, ber=1e-8), *five("reno", 3.6, ber=1e-8)]
    assert check(Results(near)).holds == "yes"
    far = [*five("star", 9.2, ber=1e-8), *five("reno", 6, ber=1e-8)]
    assert check(Results(far)).holds == "no"


def test_slightly_below() -> None:
    check = claims.slightly_below("a", "b", [0.0])
    assert check(Results([*five("a", 9.5, 0.01), *five("b", 10, 0.01)])).holds == "yes"
    assert check(Results([*five("a", 10.5, 0.01), *five("b", 10, 0.01)])).holds == "no"
    assert check(Results([*five("a", 5, 0.01), *five("b", 10, 0.01)])).holds == "no"


def test_equal_goodputs() -> None:
    check = claims.same(["a", "b", "c"], 0.0)
    assert check(Results([*five("a", 9), *five("b", 9.1), *five("c", 8.9)])).yes
    assert not check(Results([*five("a", 9), *five("b", 7), *five("c", 8.9)])).yes


def test_two_flows() -> None:
    equal = [record("a+a", [5 + n % 2 / 10, 4.9], n) for n in SEEDS]
    unequal = [record("a+a", [6, 3 + n / 100], n) for n in SEEDS]
    assert claims.flows_equal("a+a", [0.0])(Results(equal)).holds == "yes"
    verdict = claims.flows_equal("a+a", [0.0])(Results(unequal))
    assert verdict.holds == "no" and verdict.ours.startswith("0: +65.8")
    assert claims.flow_above("a+a", [0.0], claims.FAR)(Results(unequal)).yes
    assert not claims.flow_above("a+a", [0.0], claims.FAR)(Results(equal)).yes


def test_what_a_rival_keeps() -> None:
    check = claims.keeps("star+j", "j+j", [0.0])
    own = [record("j+j", [4, 5], n) for n in SEEDS]
    assert check(Results([*own, *(record("star+j", [5, 4.4], n) for n in SEEDS)])).yes
    assert not check(Results([*own, *(record("star+j", [2, 7], n) for n in SEEDS)])).yes
    assert not check(Results([*own, *(record("star+j", [8, 1.4], n) for n in SEEDS)])).yes


def test_times() -> None:
    def back(cc: str, below: float) -> list[dict[str, Any]]:
        return [record(cc, [9], n, blackout={"below90_s": below}) for n in SEEDS]

    results = Results([*back("star", 2.2), *back("reno", 2.2), *back("cubic", 8)])
    at = claims.between([("star", "star", 0.0, claims.back_at)], 46, 48, 1, " s", 2)(results)
    assert at.yes and at.ours == "star: 47.20 ± 0.00 s"
    assert claims.later("star", ["cubic"], 0.0, claims.back_at)(results).holds == "yes"
    assert claims.later("star", ["reno"], 0.0, claims.back_at)(results).holds == "no"


def over_time(cc: str, seed: int = 1, **flows: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A record with series, given as window=[flow1, flow2] or abe=..."""
    (key, found), *_ = flows.items()
    each = [{"window": [], "abe": None, "full_s": None} | {key: list(line)} for line in found]
    return record(cc, [5.0] * len(found), seed, series=each)


def test_windows() -> None:
    calm = over_time("a+a", window=[[400e3] * 60, [410e3] * 60])
    wild = over_time("a+a", window=[[100e3, 700e3] * 30, [600e3, 150e3] * 30])
    assert claims.windows_alike("a+a", 0.0)(Results([calm])).yes
    assert claims.swings("a+a", 0.0, large=False)(Results([calm])).yes
    assert not claims.swings("a+a", 0.0, large=True)(Results([calm])).yes
    assert claims.swings("a+a", 0.0, large=True)(Results([wild])).yes
    start_up = over_time("a+a", window=[[0.0] * 10 + [5e5] * 50] * 2)
    assert claims.swings("a+a", 0.0, large=False)(Results([start_up])).yes


def test_the_highest_window() -> None:
    def of(cc: str, line: Sequence[float]) -> dict[str, Any]:
        return over_time(cc, window=[line])

    check = claims.always_highest("star", ["j"], 0.0)
    assert check(Results([of("star", [9.0] * 60), of("j", [8.0] * 60)])).yes
    late = of("j", [10.0] * 6 + [8.0] * 54)
    assert not check(Results([of("star", [9.0] * 60), late])).yes


def test_alternating_estimates() -> None:
    check = claims.alternating("a+a", 0.0)
    turns = over_time("a+a", abe=[[7e6, 9e6] * 30, [9e6, 7e6] * 30])
    together = over_time("a+a", abe=[[7e6, 9e6] * 30, [7e6, 9e6] * 30])
    assert check(Results([turns])).ours == "correlation: -1.00"
    assert check(Results([turns])).yes and not check(Results([together])).yes


def test_what_was_not_run_is_no_verdict() -> None:
    with pytest.raises(NotMeasured):
        claims.above("star", ["j"])(Results(five("star", 9)))
    with pytest.raises(NotMeasured):
        claims.later("star", ["star"], 0.0, claims.back_at)(Results(five("star", 9)))


# --- series, table, figures -------------------------------------------------------------------


def test_series_by_second(tmp_path: Path) -> None:
    send = raw_folders.send_log()
    send["info"]["snd_mss"] = 1000
    raw = raw_folders.write(tmp_path / "raw", send=send)
    (flow,) = series.summary(raw, raw_folders.meta(bdp_bytes=50_000))
    assert flow["window"][0] == pytest.approx(14_500)  # 10 to 19 segments
    assert len(flow["window"]) == 10 and flow["abe"] is None
    assert flow["full_s"] == pytest.approx(3.5)  # 45 segments
    (flow,) = series.summary(raw, raw_folders.meta(bdp_bytes=50_000, set={"window": "20kB"}))
    assert max(flow["window"]) == 20_000 and flow["full_s"] is None


def test_the_table_says_why_only_where_it_fails() -> None:
    choice = choose(["star-8"])[0]
    cells = [cell for cell in choice.figure.cells if cell.variant == "today"]
    records = [invented(cell, seed) for cell in cells for seed in SEEDS]
    rows = report.rows(choice, {"today": Results(records)})
    assert [row["holds"] for row in rows[:1]] == ["yes"] and rows[0]["why"] == report.NONE
    others = next(row for row in rows if row["claim"].startswith("the others"))
    assert others["holds"] == "no" and "undoes" in others["why"]
    period = next(row for row in rows if row["variant"] == "period")
    assert period["ours"].startswith("not measured") and period["holds"] == report.NONE


def lengths(choices: Sequence[Any]) -> dict[str, Any]:
    return {choice.name: {"durations_s": [60.0], "seeds": [5]} for choice in choices}


def test_the_page_is_one_table() -> None:
    choices = choose(["star-7,star-8"])
    found = {choice.name: report.missing(choice, "not run") for choice in choices}
    text = report.markdown(choices, found, {"lengths": lengths(choices)}, ["6.1"])
    assert text.count("|" + 5 * "---|") == 1 and "| " + " | ".join(report.HEADING) + " |" in text
    assert "[bare]: " in text and "60 s each, means of 5 seeds, Linux 6.1." in text
    rows = [line for line in text.splitlines() if re.match(r"\| [78] \|", line)]
    assert len(rows) == sum(len(found[choice.name]) for choice in choices)
    more = report.markdown(
        choices, found, {"lengths": lengths(choices)}, ["6.1"], {"star-8": ["## Eight", "", "text"]}
    )
    assert more == text + "\n## Eight\n\ntext\n"


def test_what_is_announced() -> None:
    runs = {"a": {"cost_s": 60.0}, "b": {"cost_s": 600.0}}
    lengths = {"star-5": {"durations_s": [60.0], "seeds": [1]}}
    made = {"runs": runs, "lengths": lengths, "figures": {"star-5": []}}
    first, second = reproduce.announce(made, {"a"}, 2).splitlines()
    assert first == "star-5: 2 runs of 60 s (one seed), 1 of them finished"
    assert second == "the others need about 10 min of CPU time: 5 min with 2 in parallel"
    assert reproduce.announce(made, {"a"}, None).endswith("about 10 min of CPU time")
    lengths["gentle-2"] = {"durations_s": [140.0], "seeds": [2, 5]}
    both = made | {"figures": {"star-5": [], "gentle-2": []}}
    assert "2 runs of 60 to 140 s (1 to 5 seeds), 1 of" in reproduce.announce(both, {"a"}, 2)


# --- Snakemake, where it is installed ---------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> Callable[[str], int]:
    """A plan of figure 5 with three runs whose commands copy or fail; call it to make it."""
    runs, out, ready = (tmp_path / name for name in ("runs", "out", "ready"))
    monkeypatch.setattr(reproduce, "OUT", out)
    monkeypatch.setattr(reproduce, "ROOT", tmp_path)
    members, commands = [], {}
    for number, cc in enumerate(("star", "j", "reno")):
        key = f"{number:016x}"
        meta = raw_folders.meta(cc=cc, run=key)
        raw = raw_folders.write(ready / key)
        job = SimpleNamespace(meta=meta, measures=SCENARIOS["satellite"].measures)
        sweep._measure(raw, job, 1.0)
        copy = f"echo {cc} >>{tmp_path}/made; mkdir -p {runs}/{key}; cp {raw}/* {runs}/{key}"
        commands[key] = copy
        members.append({"key": key, "variant": "today"})

    def make(failing: str) -> int:
        found = {
            key: {
                "label": f"run {key[-1]}",
                "command": ["sh", "-c", shlex.quote("false" if key[-1] == failing else command)],
                "cost_s": 1.0,
            }
            for key, command in commands.items()
        }
        made = {
            "lengths": {"star-5": {"durations_s": [10.0], "seeds": [1]}},
            "version": "0",
            "runs_dir": str(runs),
            "out": str(out),
            "table": str(out / "table.md"),
            "scripts": str(root / "scripts"),
            "runs": found,
            "figures": {"star-5": members},
        }
        args = reproduce._parser().parse_args(["star-5"])
        args.at_once, args.profile = 2, None
        done = {key for key in found if (runs / key / "record.json").exists()}
        return reproduce._make(made, done, args)

    return make


@pytest.mark.skipif(not reproduce.SNAKEMAKE.exists(), reason="scripts/setup reproduce gets it")
def test_snakemake_keeps_going_and_resumes(
    small: Callable[[str], int], tmp_path: Path, capsys: Capture
) -> None:
    assert small("2") == 1
    said = capsys.readouterr()
    assert "not measured: a run of this figure failed" in said.out
    assert said.err.splitlines()[-1].startswith("reproduce: 1 of 3 runs failed: no message")
    assert sorted((tmp_path / "made").read_text().split()) == ["j", "star"]
    assert small("") == 0
    assert sorted((tmp_path / "made").read_text().split()) == ["j", "reno", "star"]
    said = capsys.readouterr()
    assert "[3/3]" in said.err and "| 5 | STAR highest at every BER |" in said.out
    drawn = json.loads((tmp_path / "out" / "star-5.json").read_text())
    assert drawn["kernels"] == ["6.1.0-99-amd64"]
    assert (tmp_path / "out" / "star-5.svg").exists() and (tmp_path / "out" / "star-5.png").exists()
    before = (tmp_path / "out" / "star-5.json").stat().st_mtime_ns
    assert small("") == 0
    assert (tmp_path / "out" / "star-5.json").stat().st_mtime_ns == before


def test_failures_are_told_shortly(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    keys = [f"{number:016x}" for number in range(9)]
    for key in keys[:7]:
        (tmp_path / "logs" / f"{key}.log").write_text(f"1 of 1 runs failed:\n  run {key}: late\n")
    made = {"out": str(tmp_path), "runs": dict.fromkeys(keys, {}), "figures": {"star-5": []}}
    (line,) = reproduce._failures(made, set(), 0.0)
    assert line.startswith(f"9 of 9 runs failed: run {keys[0]}: late; run {keys[1]}: late;")
    assert line.endswith("; and 2 more; 2 were not started")
    (tmp_path / "logs" / "star-5.log").write_text("figures: no such run\n")
    assert reproduce._failures(made, set(keys), 0.0) == ["star-5: figures: no such run"]
    assert reproduce._failures(made, set(keys), 1e12) == []


def test_the_steps_refuse_nonsense(capsys: Capture) -> None:
    assert draw_figures.main(["draw"]) == 2
    assert "usage" in capsys.readouterr().err


def test_the_catalogue_needs_only_python(root: Path) -> None:
    code = (
        "import sys; sys.modules['numpy'] = None; sys.modules['matplotlib'] = None\n"
        "from apogee_lab.commands import reproduce\n"
        "sys.exit(reproduce.main(['star', 'gentle', 'compound', '--check']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root / "scripts")
    assert done.returncode == 0
