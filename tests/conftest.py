# SPDX-License-Identifier: GPL-2.0
"""Shared by all tests: paths, Hypothesis profiles and the closing line."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import hypothesis
import pytest

from tests import BUILD, ROOT
from tests.lanes import order, times

sys.path.insert(0, str(ROOT / "scripts"))

# Started in the background of a script, Python ignores SIGINT: tests of interruption would hang.
# On a busy machine execnet may start a worker's tests outside of its main thread.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Use the same examples in every run, so that results are reproducible.
hypothesis.settings.register_profile(
    "default", deadline=None, derandomize=True, database=None, max_examples=100
)
for profile, examples in {"quick": 30, "thorough": 1000}.items():
    hypothesis.settings.register_profile(
        profile, hypothesis.settings.get_profile("default"), max_examples=examples
    )
hypothesis.settings.load_profile(os.environ.get("APOGEE_HYPOTHESIS", "default"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder for generated files."""
    BUILD.mkdir(parents=True, exist_ok=True)
    return BUILD


class ClosingLine:
    """Counts outcomes and ends the output with `N passed, N failed`, alone on its line.

    An error while collecting, in a fixture or in pytest itself counts as failed.
    """

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_internalerror(self) -> None:
        self.failed.add("pytest")

    def pytest_unconfigure(self) -> None:
        passed = len(self.passed - self.failed)
        print(f"{passed} passed, {len(self.failed)} failed", flush=True)


def pytest_configure(config: pytest.Config) -> None:
    """Print the closing line and what tests took in the one process that reports."""
    if config.option.collectonly:
        return
    times.register(config, BUILD / "tests" / "times.json")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(order, "order")
        config.pluginmanager.register(ClosingLine(), "closing-line")
