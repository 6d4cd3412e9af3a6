# SPDX-License-Identifier: GPL-2.0
"""A sweep: the product of algorithms, settings and seeds, run in parallel, each run kept.

A finished run lives in ``build/runs/KEY/``: the raw results, ``run.json`` (what was run) and
``record.json``. KEY is a hash over everything the result depends on: images and engine arguments
(``engine.image_key``), the guest's script, the seed. The folder gets its name only when it is
complete, so an interrupted sweep finds every finished run and repeats none. A failed run is kept
in ``build/runs/KEY.failed/`` for inspection and is repeated next time. If the code of the measures
changes, records are recomputed from the raw results without repeating the runs.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import multiprocessing
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol, TextIO

from .. import algorithms
from ..base import (
    LabError,
    UsageError,
    end_with_parent,
    file_hash,
    repo_root,
    sources_hash,
    write_whole,
)
from ..kernels.kernel import Kernel
from ..measures.compute import compute
from ..measures.measure import Measure
from ..measures.record import RecordError, dumps
from ..results.text import show
from ..scenarios.scenario import Plan, Scenario
from .interrupt import held_back, interrupted_by
from .progress import Report
from .request import all_values, brought_modules, record_values

RUNS = repo_root() / "build" / "runs"

TIDY_S = 30.0  # time for a stopped run to clean up
GRACE_S = 60.0  # after the engine's own limit, before its process is killed
LATE = "the run did not end in time"
_ENDING = (signal.SIGINT, signal.SIGTERM)
_HERE = f"@{platform.node()}"  # owner of a .part folder, as machines may share build/runs


class Engine(Protocol):
    """The interface of an engine (a module of ``apogee_lab.engines``)."""

    DEFAULT_KERNEL: str

    def kernels(self) -> list[str]: ...
    def kernel(self, name: str) -> Kernel: ...
    def congestion_controls(self, kernel: str) -> set[str]: ...
    def image_key(self, kernel: str, modules: list[str], extras: Sequence[str]) -> str: ...
    def run(self, plan: Plan, **how: Any) -> Any: ...


@dataclass(frozen=True)
class Compiled:
    """A requested run and its plan."""

    mix: str
    chosen: dict[str, Any]
    seed: int
    plan: Plan


@dataclass(frozen=True)
class Job:
    """One run to be executed."""

    plan: Plan
    seed: int
    kernel: str
    modules: tuple[str, ...]
    image: str  # engine.image_key at the start of the sweep
    key: str
    meta: dict[str, Any]
    label: str
    measures: tuple[Measure, ...]  # the scenario's own measures

    @property
    def folder(self) -> Path:
        return RUNS / self.key


@dataclass(frozen=True)
class Failure:
    """Why a run failed, the last lines of the guest's console, whether the guest hung."""

    reason: str
    console: list[str]
    hung: bool = False


def compile_runs(
    scenario: Scenario, runs: Iterable[tuple[str, dict[str, Any], int]], duration_s: float
) -> list[Compiled]:
    """The plan of every run; UsageError for values that the scenario rejects."""
    try:
        return [
            Compiled(
                *run, scenario.compile(all_values(scenario, run[1]), run[0], duration_s, run[2])
            )
            for run in runs
        ]
    except ValueError as error:
        raise UsageError(str(error)) from None


def given_modules(modules: Iterable[str]) -> dict[str, str]:
    """What a record says of modules that somebody gave; nothing if there are none."""
    files = {a.module: a.file for a in algorithms.ALGORITHMS.values() if a.file}
    told = [f"{name} {file_hash(files[name])[:12]}" for name in modules if name in files]
    return {"given": ", ".join(told)} if told else {}


def make_jobs(
    scenario: Scenario,
    engine: Engine,
    engine_name: str,
    kernel: str,
    runs: Iterable[Compiled],
) -> list[Job]:
    """The runs to be executed; builds missing images."""

    @lru_cache
    def image_key(modules: tuple[str, ...], extras: tuple[str, ...]) -> str:
        return engine.image_key(kernel, list(modules), extras)

    jobs = []
    for run in runs:
        modules = tuple(brought_modules(scenario, [run.plan]))
        image = image_key(modules, run.plan.extras)
        source = "\0".join([engine_name, image, run.plan.script, str(run.seed)])
        key = hashlib.sha256(source.encode()).hexdigest()[:16]
        recorded = record_values(scenario, all_values(scenario, run.chosen))
        meta = {
            "scenario": scenario.name,
            "cc": run.mix,
            "seed": run.seed,
            "engine": engine_name,
            "kernel": kernel,
            "set": recorded,
            **given_modules(modules),
            **run.plan.facts(),
            "run": key,
        }
        words = [run.mix, *(f"{n}={show(recorded[n])}" for n in run.chosen), f"seed {run.seed}"]
        label = " ".join(words)
        jobs.append(
            Job(run.plan, run.seed, kernel, modules, image, key, meta, label, scenario.measures)
        )
    return jobs


def _measures_version() -> str:
    """A hash of all code that computes records from raw results."""
    return sources_hash("measures", "scenarios", "units.py")


def _measure(raw: Path, job: Job, wall_s: float) -> dict[str, Any]:
    """Compute the record of the raw results and store it beside them, its version at last."""
    record = compute(raw, job.meta | {"wall_s": wall_s}, job.measures)
    run = {"measures": _measures_version(), "wall_s": wall_s, "meta": job.meta}
    write_whole(raw / "record.json", dumps(record) + "\n")
    write_whole(raw / "run.json", json.dumps(run, indent=1) + "\n")
    return record


def finished(job: Job) -> dict[str, Any] | None:
    """The record of a run that is already finished, or None."""
    raw = job.folder
    try:
        run = json.loads((raw / "run.json").read_text(encoding="utf-8"))
        if run["measures"] == _measures_version() and run["meta"] == job.meta:
            return json.loads((raw / "record.json").read_text(encoding="utf-8"))
        return _measure(raw, job, run["wall_s"])
    except (OSError, ValueError, KeyError, TypeError, RecordError):
        return None


def _child(job: Job, engine: Engine, part: Path, bounds: dict[str, float], parent: int) -> None:
    """Execute one run in its own process group; writes ``part``/outcome.json.

    The engine binds it to a CPU that no other run uses.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the engine then cleans up
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    end_with_parent(signal.SIGTERM, parent)
    outcome: dict[str, Any] = {"ok": True}
    try:
        if engine.image_key(job.kernel, list(job.modules), job.plan.extras) != job.image:
            raise LabError("a module or image was rebuilt during the sweep: run it again")
        info = engine.run(
            job.plan,
            seed=job.seed,
            kernel=job.kernel,
            modules=list(job.modules),
            out=part / "raw",
            **bounds,
        )
        _measure(part / "raw", job, info.wall_s)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other runs go on
        ours = isinstance(error, LabError) or hasattr(error, "console_tail")
        reason = str(error) if ours else f"{type(error).__name__}: {error}"
        tail = getattr(error, "console_tail", None) or _console(part / "raw")
        hung = getattr(error, "hung", False)
        outcome = {"ok": False, "reason": reason, "console": tail, "hung": hung}
    try:
        write_whole(part / "outcome.json", json.dumps(outcome))
    except OSError:
        os._exit(1)
    os._exit(0)


def _console(raw: Path) -> list[str]:
    path = raw / "console.log"
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]


# --- the sweep --------------------------------------------------------------------------------


class Interrupted(Exception):
    """Ctrl-C or SIGTERM; finished runs are kept."""


class Sweep:
    """Runs jobs in parallel; ``records[i]`` belongs to ``jobs[i]`` and is None if it failed.

    ``bound_s``: seconds of the host's clock that a run may take; ``more_bounds``: what else the
    engine's ``run`` is told. ``unwanted`` is asked before a job is started: the reason if it is not
    to be made any more.
    """

    def __init__(
        self,
        jobs: list[Job],
        engine: Engine,
        *,
        at_once: int,
        fresh: bool = False,
        bound_s: float = math.inf,
        more_bounds: Mapping[str, float] | None = None,
        out: TextIO | None = None,
    ) -> None:
        self.jobs = jobs
        self.engine = engine
        self.at_once = at_once
        self.bound_s = bound_s
        self.bounds = {"timeout_wall_s": bound_s, **(more_bounds or {})}
        self.unwanted: Callable[[int], str] = lambda _index: ""
        self.records: list[dict[str, Any] | None] = [
            None if fresh else finished(job) for job in jobs
        ]
        self.failures: dict[int, Failure] = {}
        self._out = out or sys.stderr

    @property
    def interrupted(self) -> str:
        """What there is to say after Interrupted."""
        done = sum(record is not None for record in self.records)
        return (
            f"interrupted: {done} of {len(self.jobs)} runs are finished and kept; "
            "the same command continues"
        )

    def run(self) -> None:
        """Execute the unfinished runs. If interrupted, stops active runs and raises Interrupted."""
        first = {job.key: index for index, job in reversed(list(enumerate(self.jobs)))}
        missing = [i for i, record in enumerate(self.records) if record is None]
        todo = [i for i in missing if first[self.jobs[i].key] == i]
        before = len(self.jobs) - len(missing)
        report = Report(before + len(todo), before, self._out)
        if not todo:
            report.close()
            return
        RUNS.mkdir(parents=True, exist_ok=True)
        _sweep_up()
        running: dict[int, tuple[int, Any, Path, float]] = {}
        with closing(report), interrupted_by(signal.SIGTERM):
            try:
                self._loop(todo, running, report)
                self._share([i for i in missing if i not in first.values()], first)
            except KeyboardInterrupt:
                raise Interrupted from None
            finally:
                for _, process, part, _ in running.values():
                    _stop(process)
                    shutil.rmtree(part, ignore_errors=True)

    def _share(self, others: list[int], first: dict[str, int]) -> None:
        """Let settings that compile to the same script share one run; each gets its own record."""
        for index in others:
            source = first[self.jobs[index].key]
            if source not in self.failures:
                self.records[index] = finished(self.jobs[index])
            if self.records[index] is None:
                gone = Failure("another lab has just removed its results: run it again", [])
                self.failures[index] = self.failures.get(source, gone)

    def _loop(self, todo: list[int], running: dict[int, Any], report: Report) -> None:
        context = multiprocessing.get_context("fork")
        slots = list(range(self.at_once))
        while todo or running:
            while todo and slots:
                index = todo.pop(0)
                if why := self.unwanted(index):
                    self.failures[index] = Failure(why, [])
                    report.left_out()
                    continue
                slot, job = slots.pop(0), self.jobs[index]
                part = RUNS / f"{job.key}.part-{os.getpid()}-{index}{_HERE}"
                part.mkdir()
                process = context.Process(
                    target=_child, args=(job, self.engine, part, self.bounds, os.getpid()),
                    daemon=True,  # a second Ctrl-C may keep it from being stopped: Python does
                )  # fmt: skip
                running[slot] = (index, process, part, time.monotonic() + self.bound_s + GRACE_S)
                # If a signal came in between, the process would go on without being known here. It
                # begins with the signals blocked, until it can handle them.
                with held_back(*_ENDING):
                    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
                    try:
                        process.start()
                    finally:
                        signal.pthread_sigmask(signal.SIG_SETMASK, before)
            ends = [deadline for *_, deadline in running.values()]
            left = min(ends, default=0.0) - time.monotonic()
            # A signal that comes just before this is seen only after it.
            wait([r[1].sentinel for r in running.values()], min(max(0.0, left), 1.0))
            for slot, (index, process, part, deadline) in list(running.items()):
                if not process.is_alive():
                    why = f"the run's process died ({process.exitcode})"
                elif time.monotonic() >= deadline:
                    why = LATE
                    _stop(process)
                else:
                    continue
                self._collect(index, part, why, report)
                del running[slot]
                slots.append(slot)
                slots.sort()

    def _collect(self, index: int, part: Path, why: str, report: Report) -> None:
        """Move a run's part folder to its final name: KEY if it finished, else KEY.failed."""
        job = self.jobs[index]
        try:
            outcome = json.loads((part / "outcome.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            outcome = {
                "ok": False,
                "reason": why,
                "console": _console(part / "raw"),
                "hung": why == LATE,
            }
        if outcome["ok"]:
            record = json.loads((part / "raw" / "record.json").read_text(encoding="utf-8"))
            with held_back(*_ENDING):  # who is interrupted counts what has its final name
                _replace(part / "raw", job.folder)
                self.records[index] = record
            shutil.rmtree(part, ignore_errors=True)
            report.done(job.label, record)
        else:
            kept = job.folder.with_name(f"{job.key}.failed")
            if not (part / "raw").exists():
                write_whole(part / "console.log", "\n".join(outcome["console"]) + "\n")
            _replace(part, kept)
            failure = Failure(outcome["reason"], outcome["console"], outcome["hung"])
            self.failures[index] = failure
            report.failed(job.label, failure.reason, failure.console, kept)


def _replace(part: Path, target: Path) -> None:
    """Give a complete folder its final name, replacing one there, even one of another lab."""
    old = target.with_name(f"{target.name}.part-{os.getpid()}-old{_HERE}")
    while True:
        try:
            part.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        with suppress(FileNotFoundError):
            target.rename(old)
        shutil.rmtree(old, ignore_errors=True)


def _signal_group(process: Any, how: signal.Signals) -> None:
    """Send a signal to a run's process group, or to its process if it leads no group yet."""
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        if process.is_alive():
            os.kill(process.pid, how)


def _stop(process: Any) -> None:
    """Stop a run and all processes that it started."""
    if process.pid is None:
        return
    for how, patience_s in ((signal.SIGTERM, TIDY_S), (signal.SIGKILL, 2.0)):
        _signal_group(process, how)
        process.join(patience_s)


def _sweep_up() -> None:
    """Remove part folders of sweeps that were killed on this machine."""
    for part in RUNS.glob("*.part-*"):
        name, at, host = part.name.rpartition(".part-")[2].partition("@")
        if at + host not in ("", _HERE):
            continue
        pid = name.partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(part, ignore_errors=True)
