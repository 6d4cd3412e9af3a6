# SPDX-License-Identifier: GPL-2.0
"""What each test took, told at the end as a table and kept as JSON, so that growth is seen.

CPU seconds are those of the test's process and of the programs that it waited for, guests and
compilers among them; a fixture's count for the test that came first.
"""

from __future__ import annotations

import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SLOWEST = 10


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


class Meter:
    """Notes in each report of a test's phase the CPU time since the one before."""

    def __init__(self) -> None:
        self.last = cpu_s()

    def pytest_runtest_logstart(self) -> None:
        self.last = cpu_s()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        outcome = yield
        now = cpu_s()
        outcome.get_result().cpu_s = now - self.last
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
        self.start = time.monotonic()
        self.tests: dict[str, Spent] = defaultdict(Spent)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used = getattr(report, "cpu_s", 0.0)
        self.tests[report.nodeid].add(report.when == "call", report.duration, used)

    def groups(self) -> dict[str, Spent]:
        """The sums of each group, the most expensive first."""
        found: dict[str, Spent] = defaultdict(Spent)
        for name, spent in self.tests.items():
            found[group(name)].add(spent.tests, spent.wall_s, spent.cpu_s)
        return dict(sorted(found.items(), key=lambda item: -item[1].cpu_s))

    def slowest(self) -> list[tuple[str, Spent]]:
        """The tests that took longest."""
        return sorted(self.tests.items(), key=lambda item: -item[1].wall_s)[:SLOWEST]

    def whole(self) -> Spent:
        """All tests; the time of the clock is that of the run."""
        total = Spent(0, time.monotonic() - self.start, 0.0)
        for spent in self.tests.values():
            total.add(spent.tests, 0.0, spent.cpu_s)
        return total

    def lines(self) -> Iterator[str]:
        """The table."""
        yield f"{'group':40} {'tests':>6} {'wall s':>8} {'CPU s':>8}"
        for name, spent in [*self.groups().items(), ("all", self.whole())]:
            yield f"{name:40} {spent.tests:6} {spent.wall_s:8.1f} {spent.cpu_s:8.1f}"
        yield ""
        yield f"{'wall s':>8} {'CPU s':>8} the slowest tests"
        for name, spent in self.slowest():
            yield f"{spent.wall_s:8.1f} {spent.cpu_s:8.1f} {name}"

    def keep(self) -> None:
        """Write all of it as JSON."""

        def told(spent: Spent) -> dict[str, float]:
            return {name: round(value, 2) for name, value in vars(spent).items()}

        tests = sorted(self.tests.items(), key=lambda item: -item[1].wall_s)
        all_of_it = {
            "whole": told(self.whole()),
            "groups": {name: told(spent) for name, spent in self.groups().items()},
            "tests": {name: told(spent) for name, spent in tests},
        }
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.write_text(json.dumps(all_of_it, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.tests:
            return
        terminalreporter.section("what it took")
        for line in self.lines():
            terminalreporter.line(line)
        self.keep()
        terminalreporter.line(f"All tests: {self.target}")


def register(config: pytest.Config, target: Path) -> None:
    """Measure in each process, tell in the one that reports."""
    config.pluginmanager.register(Meter(), "meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(target), "times")
