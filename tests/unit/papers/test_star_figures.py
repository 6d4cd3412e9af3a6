# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: their runs, the checks of their claims, the command line that makes them."""

from __future__ import annotations

import json
import math
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
from apogee_lab.papers import claims, schedule, series
from apogee_lab.papers.catalogue import UnknownFigure, choose
from apogee_lab.papers.claims import NotMeasured, Part, Results, decide
from apogee_lab.papers.sscop.today import FIGURE_STEP
from apogee_lab.papers.star.figures import FIGURE_8, STAR
from apogee_lab.results.statistics import Estimate, around, mean_interval, ratio_of
from apogee_lab.runs import sweep
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab import raw_folders
from tests.unit.papers.planning import NoGuest, planned
from tests.unit.papers.test_star_numbers import over_time, record

Capture = pytest.CaptureFixture[str]
SEEDS = [1, 2, 3, 4, 5]


# --- the catalogue ----------------------------------------------------------------------------


def invented(cell: Any) -> dict[str, Any]:
    """Any record of a cell."""
    each = {"under_way": [6e5] * 30 + [5e5] * 30, "abe": [8e6, 9e6] * 30}
    ccs = cell.cc.split("+")
    ber, queue = float(cell.settings["ber"]), cell.settings.get("queue", "625kB")
    found = record(cell.cc, [4.0] * len(ccs), ber, queue, series=[each] * len(ccs))
    found["flows"] = [flow | {"timeouts": 0} for flow in found["flows"]]
    return found | {"t90_s": 1.5, "blackout": {"below90_s": 2.1}}


def test_how_many_runs_and_which_figures_share_them() -> None:
    found = planned("star", seeds=SEEDS, duration_s=60.0)
    # Each of the variants counts; those without star share their runs.
    assert len(found["star-5"]) == 5 * (3 * 7 * 5 + 2 * 5)
    assert len(found["star-7"]) == 5 * 3 * 5
    assert len(found["star-8"]) == 5 * 7 * 5
    assert len(found["star-10"]) == 5 * 3 * 5 * 5
    keys = {name: {run.job.key for run in runs} for name, runs in found.items()}
    assert len(set().union(*keys.values())) == 1170
    assert keys["star-7"] < keys["star-5"]
    assert all(keys[name] < keys["star-10"] for name in ("star-12", "star-13", "star-14"))
    assert keys["star-16"] < keys["star-10"] | keys["star-11"]
    own = planned("star-14,star-15")
    seeds = {name: {run.job.meta["seed"] for run in runs} for name, runs in own.items()}
    assert seeds == {"star-14": {1, 2, 3, 4, 5}, "star-15": set(range(6, 16))}
    assert len({schedule.version(s, d) for s in ([1], [1, 2], None) for d in (10.0, None)}) == 6


def test_star_has_its_published_form_wherever_it_is_judged() -> None:
    for figure in STAR.figures.values():
        texts = {}
        for claim in figure.claims:
            texts.setdefault(claim.text, set()).update(claim.variants)
        for claim in figure.claims:
            others = {"today"} <= texts[claim.text] and claim.others
            assert others or set(STAR.forms.values()) <= texts[claim.text], claim.text


def test_names() -> None:
    for words, names in (
        (["star-5"], ["star-5"]),
        (["star-8,star-5"], ["star-5", "star-8"]),
        (["star-5 star-5", "star-20"], ["star-5", "star-20"]),
    ):
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
        "--seeds 0",
        "--seeds five",
        "--duration 4",
        "--duration long",
        "--jobs -1",
        "--executor cray",
    ],
)
def test_bad_options_are_told_in_one_line(options: str, capsys: Capture) -> None:
    assert reproduce.main(["star-5", "--check", *options.split()]) == 2
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
    figures = choose(["star", "gentle", "compound"])
    found = schedule.planned_runs(figures, [7], 7.5, NoGuest())
    for run in {run.job.key: run for runs in found.values() for run in runs}.values():
        made.clear()
        assert main.main(run.command[len(schedule.LAB) :]) == 0
        assert [job.key for job in made] == [run.job.key]
        assert made[0].meta == run.job.meta


def test_events_follow_the_duration() -> None:
    blackout, step = FIGURE_8.cells[0], FIGURE_STEP.cells[0]
    assert "ack_blackout=45s:1s" in blackout.options(60.0)
    assert "ack_blackout=7.5s:1s" in blackout.options(10.0)
    assert step.setting("event", 60.0) == "ber:1e-4@20s:20s"
    assert step.setting("event", 30.0) == "ber:1e-4@10s:10s"


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


# --- checks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "half", "inside", "outside"),
    [
        (5.0, 1.0, True, False),
        (5.0, 6.0, False, False),
        (11.0, 0.5, False, True),
        (11.0, 2.0, False, False),
        (-1.0, 0.5, False, True),
        (5.0, None, False, False),
        (11.0, None, False, False),
    ],
)
def test_a_number_and_its_range(
    mean: float, half: float | None, inside: bool, outside: bool
) -> None:
    part = Part("", around(mean, half), 0.0, 10.0)
    assert (part.surely_inside, part.surely_outside(0.95)) == (inside, outside)


def test_a_claim_holds_if_all_its_parts_do() -> None:
    good, vague, bad, unsure, one = (
        Part("", around(mean, half), 0, 10)
        for mean, half in ((5, 1), (5, 9), (20, 1), (11, 9), (5, None))
    )
    assert decide([good, good]).holds == "yes"
    assert decide([good, vague]).holds == "not shown"
    assert decide([good, bad, unsure]).holds == "no"
    assert decide([good, unsure]).holds == "not shown"
    assert decide([one]).holds == "not shown"
    assert decide([]) == claims.Verdict("–", claims.NOT_SHOWN)


def test_a_page_has_the_least_and_the_greatest_of_many_numbers() -> None:
    low, middle, high = (Part(f"{n}", around(n, 1), 3, 10) for n in (2, 5, 7))
    assert decide([high, low, middle]).brief == "2: 2.0 ± 1.0 … 7: 7.0 ± 1.0 (against: 1 of 3)"
    assert decide([low, high]).brief == ""
    assert decide([low, middle, Part("", around(9, 1), 0, 10)]).brief == "", "of another kind"


def test_one_of_many_numbers_must_be_farther_outside() -> None:
    """Five have intervals of 99 %, which are 1.31 times as wide as those of 95 %."""
    good, close, far = (Part("", around(mean, 1), 0, 10) for mean in (5, 11.2, 11.4))
    assert decide([close]).holds == "no"
    assert decide([good] * 4 + [close]).holds == "not shown"
    assert decide([good] * 4 + [far]).holds == "no"
    # All must hold at once, so their number makes "yes" no likelier.
    assert decide([Part("", around(8.9, 1), 0, 10)] * 5).holds == "yes"


def test_ratios_and_their_intervals() -> None:
    # Runs that differ by the same factor have a ratio without any doubt.
    same = claims.gain([9.8, 9.9, 10.0, 10.1, 10.2], [4.9, 4.95, 5.0, 5.05, 5.1])
    assert same.value == pytest.approx(1.0)
    assert same.bounds == pytest.approx((1.0, 1.0), abs=1e-6)
    assert claims.gain([2.0], [1.0]) == Estimate(1.0)
    assert claims.gain([1.0, 1.0], [0.0, 0.0]) == Estimate(math.inf)
    assert claims.gain([0.0, 0.0], [0.0, 0.0]) == Estimate(0.0)
    assert claims.apart([0.0, 0.0], [0.0, 0.0]) == Estimate(0.0)
    # As many runs as both have.
    assert claims.gain([110, 220], [100, 200, 900]).value == pytest.approx(0.1)


@pytest.mark.parametrize("level", [0.95, 0.99, 0.9975])
def test_the_bounds_of_a_ratio_are_where_t_says(level: float) -> None:
    """At a bound R the mean of a - R b is just not 0."""
    a, b = [3.0, 5.0, 4.0, 6.5, 4.5], [2.0, 2.5, 2.3, 2.2, 2.6]
    found = ratio_of(a, b)
    assert found.value == pytest.approx(sum(a) / sum(b)) and found.at
    low, high = found.at(level)
    for bound in (low, high):
        mean, half = mean_interval([x - bound * y for x, y in zip(a, b, strict=True)], level)
        assert half is not None and abs(mean) == pytest.approx(half)
    assert low < found.value < high and high - found.value > found.value - low
    # A mean that may be 0 bounds nothing.
    assert ratio_of(a, [1.0, -1.0, 2.0, -1.5, 0.5]).bounds == (-math.inf, math.inf)


def test_runs_are_compared_with_those_of_their_seed() -> None:
    """Star has seeds 2 and 3 in common with j; by their places 2 would belong to 1."""
    star = [record("star", [rate], seed=seed) for seed, rate in ((2, 4.0), (3, 6.0), (4, 1.0))]
    other = [record("j", [rate], seed=seed) for seed, rate in ((1, 9.0), (2, 2.0), (3, 3.0))]
    results = Results([*star, *other])
    mine, theirs = (results.values(cc, 0.0, claims.total) for cc in ("star", "j"))
    assert claims.paired(mine, theirs) == [(4e6, 2e6), (6e6, 3e6)]
    assert claims.gain(mine, theirs).value == pytest.approx(1.0)
    assert claims.difference(mine, theirs).value == pytest.approx(2.5e6)
    assert claims.apart(mine, theirs).value == pytest.approx(2.5 / 3.75)
    pairs = results.same_seeds(["star", "j"], 0.0)
    assert [tuple(run["seed"] for run in pair) for pair in pairs] == [(2, 2), (3, 3)]
    apart = Results([*star, record("reno", [1.0], seed=9)])
    with pytest.raises(NotMeasured):
        claims.gain(mine, apart.values("reno", 0.0, claims.total))
    twice = Results([*star, *star]).values("star", 0.0, claims.total)
    with pytest.raises(ValueError):
        claims.gain(twice, mine)


@pytest.mark.parametrize(
    ("counts", "holds", "said"),
    [
        ([0] * 5, "yes", "in 0 of 5 runs (95 %: in at most 45 % of all)"),
        ([0] * 4, "not shown", "in 0 of 4 runs (95 %: in at most 53 % of all)"),
        ([0, 0, 7, 0, 0], "not shown", "in 1 of 5 runs (a: 1)"),
        ([0, 1, 1, 0, 0], "no", "in 2 of 5 runs (a: 2)"),
    ],
)
def test_what_no_run_may_have(counts: Sequence[int], holds: str, said: str) -> None:
    """A mean of zeros would have an interval without width, one of 0, 1, 1, 0, 0 would hold 0."""
    runs = [record("a", [1.0], seed=seed, timeouts=n) for seed, n in enumerate(counts)]
    check = claims.between([("a", "a", 0.0, lambda run: run["timeouts"])], 0, 0)
    assert check(Results(runs)) == claims.Verdict(said, holds)


def turns(seed: int, *lines: list[float]) -> dict[str, Any]:
    """A record of two flows with these estimates."""
    return over_time("a+a", 0.0, *lines, key="abe", seed=seed)


def test_series_that_never_have_to_do_with_each_other_do_not_alternate() -> None:
    alone = [turns(n, [7e6, 9e6] * 30, [7e6, 7e6, 9e6, 9e6] * 15) for n in SEEDS]
    assert claims.alternating("a+a", 0.0)(Results(alone)).holds == "no"


def test_what_was_not_measured_is_no_verdict() -> None:
    star = [record("star", [9], seed=n) for n in SEEDS]
    constant = [turns(n, [8e6] * 60, [8e6] * 60) for n in SEEDS]
    for check, runs in (
        (claims.above("star", ["j"]), star),
        (claims.later("star", ["star"], 0.0, claims.back_at), star),
        (claims.vary_alike("a+a", 0.0), [over_time("a+a", 0.0, [8e6] * 60, [8e6] * 60)]),
        (claims.alternating("a+a", 0.0), constant),
    ):
        with pytest.raises(NotMeasured):
            check(Results(runs))


def test_series_by_second(tmp_path: Path) -> None:
    send = raw_folders.send_log()
    send["info"]["snd_mss"] = 1000
    send["fields"] = [*send["fields"], "unacked", "sacked", "lost", "retrans"]
    send["samples"] = [[*sample, 2 * sample[1], 4, 3, 1] for sample in send["samples"]]
    raw = raw_folders.write(tmp_path / "raw", send=send)
    (flow,) = series.summary(raw, raw_folders.meta())
    assert flow["under_way"][0] == pytest.approx(1000 * (2 * 14.5 - 4 - 3 + 1))
    assert len(flow["under_way"]) == 10 and flow["abe"] is None
    ((_, sizes),) = series.windows(raw, raw_folders.meta())
    assert list(sizes[:2]) == [10_000, 11_000]


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
    ccs = {f"{number:016x}": cc for number, cc in enumerate(("star", "j", "reno"))}
    for key, cc in ccs.items():
        raw = raw_folders.write(ready / key)
        job = SimpleNamespace(
            meta=raw_folders.meta(cc=cc, run=key), measures=SCENARIOS["satellite"].measures
        )
        sweep._measure(raw, job, 1.0)

    def make(failing: str) -> int:
        copy = f"echo $0 >>{tmp_path}/made; mkdir -p {runs}/$1; cp {ready}/$1/* {runs}/$1"
        found = {
            key: {
                "label": f"run {key[-1]}",
                "command": ["sh", "-c", "false" if key[-1] == failing else copy, cc, key],
                "cost_s": 1.0,
            }
            for key, cc in ccs.items()
        }
        made = {
            "lengths": {"star-5": {"durations_s": [10.0], "seeds": [1]}},
            "version": "0",
            "runs_dir": str(runs),
            "out": str(out),
            "table": str(out / "table.md"),
            "scripts": str(root / "scripts"),
            "runs": found,
            "figures": {"star-5": [{"key": key, "variant": "today"} for key in ccs]},
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
