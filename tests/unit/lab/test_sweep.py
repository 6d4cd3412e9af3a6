# SPDX-License-Identifier: GPL-2.0
"""Sweeps: the product, parallel runs, kept results, failures, interruption."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apogee_lab import base, scenarios
from apogee_lab.base import UsageError
from apogee_lab.commands import main
from apogee_lab.engines import registry
from apogee_lab.runs import request, sweep
from apogee_lab.runs.interrupt import held_back, interrupted_by
from apogee_lab.scenarios import testbed
from apogee_lab.scenarios.scenario import Scenario, members, module_lines
from tests.patience import wait_for
from tests.unit.lab.stand_ins import SCENARIO, FakeEngine

Patch = pytest.MonkeyPatch


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: Patch) -> FakeEngine:
    monkeypatch.setattr(sweep, "RUNS", tmp_path / "runs")
    return FakeEngine(tmp_path / "log")


def jobs_of(
    engine: FakeEngine, cc: str = "star,cubic", *sets: str, seeds: int = 2
) -> list[sweep.Job]:
    mixes = request.parse_controls(cc, SCENARIO)
    settings = request.parse_settings(sets, SCENARIO)
    runs = list(request.product(mixes, settings, list(range(1, seeds + 1))))
    compiled = sweep.compile_runs(SCENARIO, runs, 10.0)
    return sweep.make_jobs(SCENARIO, engine, "qemu", "bookworm", compiled)


def run(
    engine: FakeEngine, jobs: list[sweep.Job], at_once: int = 2, **how: Any
) -> tuple[sweep.Sweep, str]:
    out = io.StringIO()
    work = sweep.Sweep(jobs, engine, at_once=at_once, out=out, **how)
    work.run()
    return work, out.getvalue()


@pytest.fixture
def alone(engine: FakeEngine) -> list[sweep.Job]:
    """One run of star, with seed 1."""
    return jobs_of(engine, "star", seeds=1)


def interrupted(engine: FakeEngine, jobs: list[sweep.Job]) -> list[bool]:
    """A sweep that is interrupted: which of its runs have a record."""
    work = sweep.Sweep(jobs, engine, at_once=1, out=io.StringIO())
    with pytest.raises(sweep.Interrupted):
        work.run()
    return [record is not None for record in work.records]


def is_gone(folder: Path) -> None:
    """A run that hung is gone."""
    process = int(next(folder.glob("hangs-*")).name.removeprefix("hangs-"))
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


# --- requests ---------------------------------------------------------------------------------


def test_the_product_and_its_order() -> None:
    settings = request.parse_settings(["ber=0,1e-7", "queue=625kB,15kB"], SCENARIO)
    found = list(request.product(["star", "cubic"], settings, [1, 2]))
    assert len(found) == 2 * 2 * 2 * 2
    first = {"ber": 0.0, "queue": 625_000}
    assert found[:3] == [("star", first, 1), ("star", first, 2), ("cubic", first, 1)]
    assert found[-1] == ("cubic", {"ber": 1e-7, "queue": 15_000}, 2)


def test_a_modules_parameter_touches_only_who_uses_it() -> None:
    settings = request.parse_settings(["star.aen=0,1", "ber=0,1e-7"], SCENARIO)
    found = list(request.product(["star", "cubic"], settings, [1]))
    assert [values for mix, values, _ in found if mix == "cubic"] == [{"ber": 0.0}, {"ber": 1e-7}]
    assert len([1 for mix, _, _ in found if mix == "star"]) == 4
    # A device's parameter touches every mix.
    settings = {"constant.segments": ["10"], "star.aen": ["0"]}
    found = list(request.product(["star", "cubic"], settings, [1], devices=["constant"]))
    assert [(mix, sorted(own)) for mix, own, _ in found] == [
        ("star", ["constant.segments", "star.aen"]),
        ("cubic", ["constant.segments"]),
    ]


@pytest.mark.parametrize(
    ("cc", "sets", "word"),
    [
        ("no.such", [], "'no.such' is not a congestion control's name"),
        ("star,star", [], "twice"),
        ("star+cubic", [], "one congestion control"),
        ("", [], "'' is not a congestion control's name"),
        ("star", ["nosuch=1"], "choose from: ber, queue"),
        ("star", ["ber"], "KEY=VALUE"),
        ("star", ["ber=0", "ber=1e-7"], "given twice"),
        ("star", ["ber=0,0.0"], "is given twice"),
        ("star", ["ber=2"], "bit error rate"),
        ("star", ["ber="], "bit error rate"),
        ("star", ["queue=12"], "a size such as"),
        ("star", ["queue=2GB"], "queue: '2GB' is out of range, allowed: to 1GB"),
        ("star", ["ack_blackout=45s:1ms"], "allowed: from 100ms to 3600s"),
        ("star", ["traffic=netperf"], "unknown value .netperf.; choose from: flow, iperf3"),
        ("star", ["nosuch.aen=0"], "no flow or device uses 'nosuch'; choose from: star"),
        ("star", ["star.aen=0; reboot"], "not a valid value"),
        ("star", ["cubic.fast=0"], "no flow or device uses 'cubic'; choose from: star"),
    ],
)
def test_bad_requests(cc: str, sets: list[str], word: str) -> None:
    with pytest.raises(UsageError, match=word) as error:
        mixes = request.parse_controls(cc, SCENARIO)
        list(request.product(mixes, request.parse_settings(sets, SCENARIO), [1]))
    assert "\n" not in str(error.value)


def test_a_command_compiles_each_run_once(
    engine: FakeEngine, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def build(values: Any, ccs: tuple[str, ...], duration_s: float) -> Any:
        asked.append((ccs, values["seed"]))
        return SCENARIO.build(values, ccs, duration_s)

    monkeypatch.setattr(scenarios, "SCENARIOS", {"paper": replace(SCENARIO, build=build)})
    monkeypatch.setattr(registry, "engine_of", lambda _: engine)
    assert main.main(["run", "paper", "--cc", "cubic,bbr", "--repeat", "2", "--no-build"]) == 0
    assert asked == [((cc,), seed) for cc in ("cubic", "bbr") for seed in (1, 2)]
    assert len(engine.runs()) == 4


def test_what_a_kernel_does_not_have() -> None:
    request.check_controls({"reno", "cubic"}, "bookworm", ["star", "reno"])
    with pytest.raises(
        UsageError,
        match="unknown congestion control 'bbr' .kernel bookworm.; choose from: star, hstcp_gentle",
    ):
        request.check_controls({"reno", "cubic"}, "bookworm", ["star", "bbr"])


def brought(mix: str, scenario: Scenario = SCENARIO) -> list[str]:
    plan = scenario.compile({}, "reno", 9.0)
    flows = tuple(replace(plan.flows[0], cc=cc) for cc in members(mix))
    return request.brought_modules(scenario, [replace(plan, flows=flows)])


def test_modules_that_a_run_needs() -> None:
    """A device is loaded with its parameters."""
    assert brought("star") == ["tcp_star"]
    assert brought("cubic") == []
    assert brought("star+j") == ["tcp_j", "tcp_star"]
    assert brought("cubic", replace(SCENARIO, devices=("constant",))) == ["tcp_constant"]
    values = {"trace": "none", "constant.cwnd": "10", "star.aen": "0"}
    text = testbed.script("", "a b", values, [("star", 5201)], ["true"], "", "", ["constant"])
    assert "\nmodprobe tcp_star aen=0\nmodprobe tcp_constant cwnd=10\n" in text


def test_one_module_carries_both_compounds() -> None:
    """It is loaded once, its events are enabled once, and its parameters apply to both."""
    both = "compound_plus", "compound"
    assert brought("+".join(both)) == ["tcp_compound_plus"]
    values = {"compound.gamma": "20", "compound_plus.rule": "2", "compound_plus.gamma": "20"}
    assert module_lines(values, (*both, "reno")) == ["modprobe tcp_compound_plus gamma=20 rule=2"]
    lines = testbed.trace_lines("module", both, [5201, 5202])
    assert lines.count("for event in") == lines.count("events/tcp_compound_plus/*/") == 1
    with pytest.raises(ValueError, match="one gamma for all"):
        module_lines(values | {"compound.gamma": "30"}, both)


def test_records_hold_every_parameter(engine: FakeEngine) -> None:
    job = jobs_of(engine, "star", "ber=1e-7", "star.aen=0", "ack_blackout=45s:1s", seeds=1)[0]
    assert job.meta["set"] == {
        "ber": 1e-7, "queue": "625kB", "ack_blackout": "45s:1s", "traffic": "flow", "star.aen": 0,
    }  # fmt: skip
    assert job.label == "star ber=1e-7 star.aen=0 ack_blackout=45s:1s seed 1"


def test_keys_follow_everything_a_result_depends_on(engine: FakeEngine) -> None:
    base = jobs_of(engine, "star", seeds=2)
    keys = {job.key for job in base}
    assert len(keys) == 2
    assert keys == {job.key for job in jobs_of(engine, "star", seeds=2)}
    keys |= {job.key for job in jobs_of(engine, "star", "ber=1e-7", seeds=1)}
    keys |= {job.key for job in jobs_of(engine, "cubic", seeds=1)}
    engine.image = "another image"
    keys |= {job.key for job in jobs_of(engine, "star", seeds=2)}
    assert len(keys) == 6


# --- running ----------------------------------------------------------------------------------


def test_every_run_is_made_and_kept(engine: FakeEngine) -> None:
    jobs = jobs_of(engine)
    work, said = run(engine, jobs)
    assert sorted(engine.runs()) == ["cubic 1", "cubic 2", "star 1", "star 2"]
    found = [record for record in work.records if record]
    wanted = ["star 1", "star 2", "cubic 1", "cubic 2"]
    assert [f"{r['cc']} {r['seed']}" for r in found] == wanted
    assert found[1]["total_goodput_bps"] == 10_200 * 8 * 100
    assert found[0]["wall_s"] == 1.5
    for job in jobs:
        assert (job.folder / "record.json").exists()
        assert (job.folder / "flow1.recv.json").exists()
    assert sorted(p.name for p in sweep.RUNS.iterdir()) == sorted(job.key for job in jobs)
    assert said.count("Mbit/s") == 4
    assert "[4/4]" in said


def test_finished_runs_are_not_run_again(engine: FakeEngine, alone: list[sweep.Job]) -> None:
    run(engine, alone)
    work, said = run(engine, jobs_of(engine, "star", seeds=3))
    assert sorted(engine.runs()) == ["star 1", "star 2", "star 3"]
    assert "1 of 3 runs finished earlier" in said
    assert None not in work.records
    _, said = run(engine, jobs_of(engine, "star", seeds=3))
    assert len(engine.runs()) == 3
    assert said == "3 of 3 runs finished earlier, not repeated\n"
    run(engine, jobs_of(engine, "star", seeds=2), fresh=True)
    assert engine.runs().count("star 1") == engine.runs().count("star 2") == 2
    assert len(list(sweep.RUNS.iterdir())) == 3


def test_records_follow_the_measures_without_a_run(
    engine: FakeEngine, alone: list[sweep.Job], monkeypatch: Patch
) -> None:
    """Also if the lab is killed while it computes one anew: no record is older than its stamp."""
    run(engine, alone)
    path = alone[0].folder / "record.json"
    stale = json.loads(path.read_text()) | {"total_goodput_bps": 1.0}
    path.write_text(json.dumps(stale))
    work, _ = run(engine, alone)
    assert work.records[0] == stale
    monkeypatch.setattr(sweep, "_measures_version", lambda: "newer")
    whole, written = sweep.write_whole, []

    def killed(file: Path, content: str) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(file)
        whole(file, content)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(sweep, "write_whole", killed)
        run(engine, alone)
    work, _ = run(engine, alone)
    assert (work.records[0] or {})["total_goodput_bps"] == 10_100 * 8 * 100
    assert json.loads(path.read_text()) == work.records[0]
    assert len(engine.runs()) == 1


@pytest.mark.parametrize("place", ["measures/raw.py", "scenarios/moving.py", "units.py"])
def test_all_that_measures_counts(place: str, tmp_path: Path, monkeypatch: Patch) -> None:
    before = sweep._measures_version()
    monkeypatch.setattr(base, "LAB", shutil.copytree(base.LAB, tmp_path / "lab"))
    assert sweep._measures_version() == before
    with (base.LAB / place).open("a") as source:
        source.write("#")
    assert sweep._measures_version() != before


def test_a_torn_result_is_run_again(engine: FakeEngine, alone: list[sweep.Job]) -> None:
    run(engine, alone)
    (alone[0].folder / "run.json").write_text("{")
    work, _ = run(engine, alone)
    assert len(engine.runs()) == 2
    assert work.records[0]


def test_labs_that_make_the_same_run(engine: FakeEngine) -> None:
    """Each gives its results the same name, many times; none fails, the last one's are whole."""
    context = multiprocessing.get_context("fork")

    def lab(number: int) -> None:
        for turn in range(300):
            part = sweep.RUNS / f"key.part-{os.getpid()}-{turn}"
            part.mkdir(parents=True)
            (part / "record.json").write_text(str(number))
            sweep._replace(part, sweep.RUNS / "key")

    labs = [context.Process(target=lab, args=(number,)) for number in range(4)]
    for each in labs:
        each.start()
    for each in labs:
        each.join()
    assert [each.exitcode for each in labs] == [0] * 4
    assert [path.name for path in sweep.RUNS.iterdir()] == ["key"]
    assert (sweep.RUNS / "key" / "record.json").read_text() in "0123"


def test_settings_with_the_same_script_share_a_run(engine: FakeEngine, monkeypatch: Patch) -> None:
    """If another lab removes it, it is a failed run."""
    jobs = jobs_of(engine, "star", "ber=0,1e-7", seeds=1)
    twin = replace(jobs[0], meta=jobs[1].meta | {"run": jobs[0].key}, label="twin")
    work, said = run(engine, [jobs[0], twin])
    assert engine.runs() == ["star 1"] and said.startswith("[1/1] ")
    assert [(record or {})["set"]["ber"] for record in work.records] == [0.0, 1e-7]
    monkeypatch.setattr(sweep, "finished", lambda _: None)
    work, _ = run(engine, [jobs[0], twin])
    assert "removed" in work.failures[1].reason


def test_a_failed_run_is_told_and_the_others_go_on(engine: FakeEngine) -> None:
    engine.fail = {"star 2"}
    jobs = jobs_of(engine)
    work, said = run(engine, jobs)
    assert len(engine.runs()) == 4
    assert [record is None for record in work.records] == [False, True, False, False]
    assert work.failures[1].reason == "the guest panicked"
    assert "star seed 2: FAILED: the guest panicked" in said
    assert "    | Kernel panic - not syncing\n    | the end\n" in said
    kept = sweep.RUNS / f"{jobs[1].key}.failed"
    assert (kept / "console.log").read_text() == "Kernel panic - not syncing\nthe end\n"
    engine.fail = set()
    work, _ = run(engine, jobs)
    assert engine.runs()[4:] == ["star 2"]
    assert not work.failures


def test_a_guest_that_hung_is_told_from_one_that_crashed(engine: FakeEngine) -> None:
    """And the engine is told what counts as hanging."""
    engine.fail, engine.spin = {"star 1"}, {"star 2"}
    work, _ = run(engine, jobs_of(engine), more_bounds={"spun_s": 7.0})
    found = {work.jobs[at].seed: one for at, one in work.failures.items()}
    assert (found[1].hung, found[2].hung) == (False, True)
    assert found[2].reason == "spun for 7 s"


def test_jobs_that_are_no_longer_wanted_are_not_made(engine: FakeEngine) -> None:
    """The last of them too; each has its reason, and counts as done."""
    engine.fail = {"star 2"}
    jobs = jobs_of(engine, seeds=4)
    work = sweep.Sweep(jobs, engine, at_once=1, out=(out := io.StringIO()))
    work.unwanted = lambda at: "enough" if work.failures and at % 2 else ""
    work.run()
    assert engine.runs() == ["star 1", "star 2", "star 3", "cubic 1", "cubic 3"]
    assert {at: one.reason for at, one in work.failures.items() if at != 1} == dict.fromkeys(
        (3, 5, 7), "enough"
    )
    assert "[7/8] cubic seed 3" in out.getvalue()


def test_what_was_rebuilt_meanwhile_is_not_measured(
    engine: FakeEngine, alone: list[sweep.Job]
) -> None:
    engine.image = "rebuilt"
    work, _ = run(engine, alone)
    assert "rebuilt during the sweep" in work.failures[0].reason
    assert engine.runs() == []


def test_a_process_that_dies_is_a_failed_run(engine: FakeEngine) -> None:
    engine.die = {"star 1"}
    work, _ = run(engine, jobs_of(engine))
    assert "died" in work.failures[0].reason
    assert sum(record is not None for record in work.records) == 3


def test_results_that_are_not_whole_are_a_failed_run(
    engine: FakeEngine, monkeypatch: Patch
) -> None:
    real = engine.run

    def torn(plan: Any, *, out: Path, **how: Any) -> Any:
        info = real(plan, out=out, **how)
        (out / "flow1.recv.json").unlink()
        return info

    monkeypatch.setattr(engine, "run", torn)
    work, said = run(engine, jobs_of(engine, "star", seeds=1))
    assert "flow1.recv.json" in work.failures[0].reason
    assert "    | last words" in said


def test_no_more_run_at_once_than_allowed(
    engine: FakeEngine, monkeypatch: Patch, tmp_path: Path
) -> None:
    real = engine.run
    seen = tmp_path / "seen"
    seen.mkdir()

    def watched(plan: Any, *, seed: int, **how: Any) -> Any:
        (seen / f"on-{seed}").touch()
        wait_for(lambda: len(list(seen.glob("on-*"))) > 1 or list(seen.glob("note-*")))
        at_once = len(list(seen.glob("on-*")))
        (seen / f"note-{seed}").write_text(f"{at_once} {os.getpgid(0) == os.getpid()}")
        (seen / f"on-{seed}").unlink()
        return real(plan, seed=seed, **how)

    monkeypatch.setattr(engine, "run", watched)
    run(engine, jobs_of(engine, "star", seeds=6), at_once=3)
    notes = [path.read_text().split() for path in seen.glob("note-*")]
    assert len(notes) == 6
    assert 2 <= max(int(at_once) for at_once, _ in notes) <= 3
    assert {leads for _, leads in notes} == {"True"}


def test_an_engine_that_misses_its_bound_is_killed(
    engine: FakeEngine, monkeypatch: Patch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sweep, "GRACE_S", 0.2)
    engine.hang = {"star 1"}
    # enough to begin, on a busy machine as well
    work, _ = run(engine, jobs_of(engine, "star", seeds=1), bound_s=5.0)
    assert {index: failure.reason for index, failure in work.failures.items()} == {
        0: "the run did not end in time"
    }
    is_gone(tmp_path)


def test_a_run_that_got_its_name_counts(engine: FakeEngine, monkeypatch: Patch) -> None:
    """Ctrl-C comes right after: the run is among those that are finished and kept."""
    replace = sweep._replace

    def then_signal(part: Path, target: Path) -> None:
        replace(part, target)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(sweep, "_replace", then_signal)
    assert interrupted(engine, jobs_of(engine)) == [True, False, False, False]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_goes_on_later(engine: FakeEngine, how: int, tmp_path: Path) -> None:
    """The signal goes to the main thread, the lab's only thread. If the test's other thread got it
    while the main one starts a process, the exception would be raised in the middle of that."""
    engine.hang = {"cubic 1"}
    jobs = jobs_of(engine)

    def signals() -> None:
        wait_for(lambda: any(tmp_path.glob("hangs-*")))
        signal.pthread_kill(threading.main_thread().ident, how)  # type: ignore[arg-type]

    thread = threading.Thread(target=signals)
    thread.start()
    interrupted(engine, jobs)
    thread.join()
    is_gone(tmp_path)
    assert sorted(p.name for p in sweep.RUNS.iterdir()) == sorted(job.key for job in jobs[:2])
    engine.hang = set()
    work, _ = run(engine, jobs, at_once=1)
    assert engine.runs() == ["star 1", "star 2", "cubic 1", "cubic 1", "cubic 2"]
    assert None not in work.records


def test_interrupted_while_a_run_is_being_started(
    engine: FakeEngine, tmp_path: Path, monkeypatch: Patch
) -> None:
    """SIGINT after fork, before the parent has recorded its child: the child is stopped."""
    real = os.fork
    children = []

    def interrupted_fork() -> int:
        pid = real()
        if pid:
            children.append(pid)
            os.kill(os.getpid(), signal.SIGINT)
        return pid

    engine.hang = {"star 1"}
    monkeypatch.setattr(os, "fork", interrupted_fork)
    interrupted(engine, jobs_of(engine, "star", seeds=1))
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)


def test_a_second_interrupt_leaves_nothing_to_wait_for(
    engine: FakeEngine, tmp_path: Path, monkeypatch: Patch
) -> None:
    """It may come while the runs are being stopped: Python ends those that it need not join."""

    def again(_: Any) -> None:
        raise KeyboardInterrupt

    engine.hang = {"star 1"}
    monkeypatch.setattr(sweep, "_stop", again)
    monkeypatch.setattr(sweep, "wait", again)
    work = sweep.Sweep(jobs_of(engine, "star", seeds=1), engine, at_once=1, out=io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        work.run()
    (child,) = multiprocessing.active_children()
    assert child.daemon
    child.terminate()
    child.join()


def test_what_a_killed_sweep_left_is_removed(engine: FakeEngine) -> None:
    gone = sweep.RUNS / "0123456789abcdef.part-999999999-0"
    ours = sweep.RUNS / f"0123456789abcdef.part-{os.getpid()}-7"
    for folder in (gone, ours):
        folder.mkdir(parents=True)
    run(engine, jobs_of(engine, "star", seeds=1))
    assert not gone.exists()
    assert ours.exists()


def test_a_terminal_gets_a_bar(engine: FakeEngine) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    engine.fail = {"star 2"}
    out = Terminal()
    sweep.Sweep(jobs_of(engine), engine, at_once=2, out=out).run()
    said = out.getvalue()
    assert "4/4 runs" in said
    assert "left" in said
    assert "star seed 2: FAILED" in said


# --- signals ----------------------------------------------------------------------------------

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("which", BOTH)
def test_a_signal_raises_even_if_it_was_ignored(which: signal.Signals) -> None:
    before = [signal.signal(each, signal.SIG_IGN) for each in BOTH]
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_by(*BOTH):
            os.kill(os.getpid(), which)
        assert [signal.getsignal(each) for each in BOTH] == [signal.SIG_IGN] * 2
        os.kill(os.getpid(), which)  # is ignored again
    finally:
        for each, handler in zip(BOTH, before, strict=True):
            signal.signal(each, handler)


def test_other_signals_keep_their_handlers() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupted_by(signal.SIGTERM):
        assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("which", BOTH)
def test_a_signal_is_held_back(which: signal.Signals) -> None:
    """Also if a thread takes it in which it is not blocked."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    done = 0
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_by(*BOTH), held_back(*BOTH):
            signal.pthread_sigmask(signal.SIG_BLOCK, BOTH)
            os.kill(os.getpid(), which)
            done = sum(range(100_000))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, BOTH)
    finally:
        ended.set()
        thread.join()
    assert done
