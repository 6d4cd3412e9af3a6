# SPDX-License-Identifier: GPL-2.0
"""What each test took, told at the end as a table and kept as JSON, so that growth is seen.

CPU seconds are those of the test's process and of the programs that it waited for, guests and
compilers among them; a fixture's count for the test that came first. What pytest itself needs, and
what programs need that a test ends without waiting, is in a row of its own: the CPU seconds of the
whole run less those of the tests.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.lanes import source

SLOWEST = 10
#: Scopes of fixtures that several tests of a file share.
SHARED = ("class", "module", "package")


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


def shares(item: pytest.Item) -> bool:
    """Whether the test uses what a fixture has made for several."""
    found = getattr(item, "_fixtureinfo", None)
    known = found.name2fixturedefs if found else {}
    return any(known[name][-1].scope in SHARED for name in known)


class Meter:
    """Notes in each report of a test's phase the CPU time since the one before."""

    def __init__(self) -> None:
        self.last = cpu_s()

    def pytest_runtest_logstart(self) -> None:
        self.last = cpu_s()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        outcome = yield
        now = cpu_s()
        report = outcome.get_result()
        report.cpu_s, report.shares = now - self.last, shares(item)
        self.last = now


@dataclass
class Spent:
    """Tests, and seconds of the clock and of CPUs."""

    tests: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def add(self, tests: int, wall_s: float, cpu_s: float) -> None:
        self.tests += tests
        self.wall_s += wall_s
        self.cpu_s += cpu_s


def group(nodeid: str) -> str:
    """The folder of a test, without what all have in common."""
    folder = nodeid.partition("::")[0].rpartition("/")[0]
    return folder.removeprefix("tests/") or "tests"


class Table:
    """Collects what the reports say, in the one process that has them all."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.start, self.cpu_s = time.monotonic(), cpu_s()
        self.about = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": source.commit(),
            "cpus": len(os.sched_getaffinity(0)),
            "load": round(os.getloadavg()[0], 2),
            "setup_s": int(os.environ.get("APOGEE_SETUP_S", "0")),
        }
        self.tests: dict[str, Spent] = defaultdict(Spent)
        self.sharing: set[str] = set()
        self.last: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used = getattr(report, "cpu_s", 0.0)
        self.tests[report.nodeid].add(report.when == "call", report.duration, used)
        if getattr(report, "shares", True):
            self.sharing.add(report.nodeid)
        self.last[getattr(report, "worker_id", "")] = time.monotonic()

    def groups(self) -> dict[str, Spent]:
        """The sums of each group, the most expensive first."""
        found: dict[str, Spent] = defaultdict(Spent)
        for name, spent in self.tests.items():
            found[group(name)].add(spent.tests, spent.wall_s, spent.cpu_s)
        return dict(sorted(found.items(), key=lambda item: -item[1].cpu_s))

    def slowest(self) -> list[tuple[str, Spent]]:
        """All tests, those first that took longest."""
        return sorted(self.tests.items(), key=lambda item: -item[1].wall_s)

    def whole(self) -> Spent:
        """The run, from pytest's start. Workers have ended by then, and count."""
        tests = sum(spent.tests for spent in self.tests.values())
        return Spent(tests, time.monotonic() - self.start, cpu_s() - self.cpu_s)

    def idle_s(self) -> float:
        """Seconds in which workers had nothing to do any more while others had, in sum."""
        return sum(max(self.last.values()) - last for last in self.last.values())

    def lines(self, whole: Spent) -> Iterator[str]:
        """The table. Tests run side by side: their seconds of the clock have no sum."""
        yield f"{'group':40} {'tests':>6} {'wall s':>8} {'CPU s':>8}"
        rest_s = whole.cpu_s
        for name, spent in self.groups().items():
            yield f"{name:40} {spent.tests:6} {spent.wall_s:8.1f} {spent.cpu_s:8.1f}"
            rest_s -= spent.cpu_s
        yield f"{'outside of tests':40} {'':6} {'':8} {rest_s:8.1f}"
        yield f"{'the whole run':40} {whole.tests:6} {whole.wall_s:8.1f} {whole.cpu_s:8.1f}"
        yield f"{len(self.last)} workers, idle at the end for {self.idle_s():.1f} s in sum"
        yield ""
        yield f"{'wall s':>8} {'CPU s':>8} the slowest tests"
        for name, spent in self.slowest()[:SLOWEST]:
            yield f"{spent.wall_s:8.1f} {spent.cpu_s:8.1f} {name}"

    def keep(self, whole: Spent, status: int) -> None:
        """Write all of it as JSON."""

        def told(spent: Spent) -> dict[str, float]:
            return {name: round(value, 2) for name, value in vars(spent).items()}

        tests = ((name, told(of) | {"shares": name in self.sharing}) for name, of in self.slowest())
        all_of_it: dict[str, Any] = self.about | {
            "exit_status": int(status),
            "workers": len(self.last),
            "idle_s": round(self.idle_s(), 2),
            "whole": told(whole),
            "groups": {name: told(spent) for name, spent in self.groups().items()},
            "tests": dict(tests),
        }
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.write_text(json.dumps(all_of_it, indent=1) + "\n")

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        if not self.tests:
            return
        whole = self.whole()
        terminalreporter.section("what it took")
        for line in self.lines(whole):
            terminalreporter.line(line)
        try:
            self.keep(whole, exitstatus)
        except OSError as error:
            terminalreporter.line(f"The times are not kept: {error}")
        else:
            terminalreporter.line(f"All tests: {self.target}")


def before(target: Path) -> str:
    """What the last run took, as far as it is known."""
    try:
        whole = json.loads(target.read_text())["whole"]
    except (OSError, ValueError, KeyError):
        return "no earlier run is known here"
    return f"the last run here: {whole['tests']} tests in {whole['wall_s'] / 60:.0f} min"


def register(config: pytest.Config, target: Path) -> None:
    """Measure in each process; tell in the one that reports, if no file was named."""
    config.pluginmanager.register(Meter(), "meter")
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if whole and not hasattr(config, "workerinput"):
        workers = len(config.getoption("tx", ())) or 1
        marks = config.option.markexpr or "any mark"
        print(f"Tests ({marks}) by {workers} workers, the longest first; {before(target)}.")
        config.pluginmanager.register(Table(target), "times")
