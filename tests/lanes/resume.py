# SPDX-License-Identifier: GPL-2.0
"""A plugin of pytest for `make check-deep`, which takes hours: it goes on where it was.

Each test that has ended is noted. One that has passed is left out as long as no file of the project
changes but its pages, which no deep test reads. At the end of a run that nobody stopped there is a
record of each part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.engines import qemu, uml
from tests import BUILD
from tests.lanes import records, source

FOLDER = BUILD / "tests" / "deep"


def plain(nodeid: str) -> str:
    """A test's name without the group that pytest-xdist adds."""
    return nodeid.rpartition("@")[0] if nodeid.rfind("@") > nodeid.rfind("]") else nodeid


def read(path: Path) -> list[dict[str, Any]]:
    """All notes; a line that was not written to its end is none."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


class LeftOut:
    """Leaves out tests, in each process that collects them."""

    def __init__(self, passed: Iterable[str]) -> None:
        self.passed = set(passed)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        done = [item for item in items if plain(item.nodeid) in self.passed]
        items[:] = [item for item in items if plain(item.nodeid) not in self.passed]
        config.hook.pytest_deselected(items=done)


class Kernels:
    """Notes in a report which kernels were booted since the one before."""

    def __init__(self) -> None:
        self.booted: set[str] = set()
        for engine in (qemu, uml):
            engine._start = self._noting(engine._start)

    def _noting(self, start: Any) -> Any:
        def noted(kernel: Any, *more: Any) -> Any:
            self.booted.add(kernel.release)
            return start(kernel, *more)

        return noted

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        outcome = yield
        outcome.get_result().kernels = sorted(self.booted)
        self.booted.clear()


class Noted:
    """Notes what has ended, in the one process that reports, and keeps records."""

    def __init__(self, path: Path, docs: Path) -> None:
        self.path, self.docs = path, docs
        self.commit = source.commit()
        self.running: dict[str, dict[str, Any]] = {}
        self.broken: set[str] = set()
        self.lost = False
        last = {note["test"]: note["outcome"] for note in read(path)}
        self.passed = sorted(test for test, outcome in last.items() if outcome == "passed")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """All workers leave out the same, one that replaces another included."""
        node.workerinput["passed"] = self.passed

    def pytest_report_header(self) -> str | None:
        if not self.passed:
            return None
        return (
            f"{len(self.passed)} tests have passed with this code before and are left out "
            f"(to repeat them, remove {self.path})"
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.add(records.part(report.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = plain(report.nodeid)
        new = {"test": test, "outcome": "passed", "wall_s": 0.0, "cpu_s": 0.0, "kernels": []}
        note = self.running.setdefault(test, new)
        if report.failed or (report.skipped and note["outcome"] == "passed"):
            note["outcome"] = report.outcome
        note["wall_s"] += report.duration
        note["cpu_s"] += getattr(report, "cpu_s", 0.0)
        note["kernels"] += getattr(report, "kernels", [])
        if report.when not in ("setup", "call"):  # its end, or a worker's
            self._write(self.running.pop(test))

    def _write(self, note: dict[str, Any]) -> None:
        """A new line comes first: the one before may have been cut off."""
        today = datetime.now(UTC).date().isoformat()
        try:
            with self.path.open("a") as notes:
                notes.write("\n" + json.dumps(note | {"date": today, "commit": self.commit}))
        except OSError as error:
            self.lost = True
            pytest.exit(f"what has passed cannot be noted: {error}", returncode=1)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.lost:
            return
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.passed:
            session.exitstatus = exitstatus = pytest.ExitCode.OK
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        asked = {records.part(name) for name in session.config.args} - self.broken
        of: dict[str, list[dict[str, Any]]] = {}
        for note in read(self.path):
            of.setdefault(records.part(note["test"]), []).append(note)
        found = [records.record(name, of[name]) for name in sorted(asked & of.keys())]
        records.keep((one for one in found if one["passed"] + one["failed"]), self.docs)


def register(config: pytest.Config, path: Path, docs: Path) -> None:
    """Go on with what the file of notes does not list as passed."""
    config.pluginmanager.register(Kernels(), "kernels")
    if hasattr(config, "workerinput"):
        passed = config.workerinput["passed"]
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        noted = Noted(path, docs)
        passed = noted.passed
        config.pluginmanager.register(noted, "noted")
    config.pluginmanager.register(LeftOut(passed), "left-out")


def pytest_configure(config: pytest.Config) -> None:
    if int(os.environ.get("APOGEE_SEED_SHIFT", "0")):
        return  # other seeds' results are neither left out nor kept
    register(config, FOLDER / f"{source.version()}.jsonl", records.DOCS)
