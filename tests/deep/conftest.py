# SPDX-License-Identifier: GPL-2.0
"""`make check-deep` takes hours: what was interrupted, or failed, goes on where it was.

A test that has passed is left out as long as no file of the project changes but its pages, which
no deep test reads. Once all have passed, the next run begins anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import BUILD, ROOT
from tests.guest.conftest import shifted_seeds

SOURCES = ("*.c", "Kbuild", "Makefile", "pyproject.toml")
FOLDERS = ("bpf", "include", "scripts", "shake", "sscop", "tests")


def _sources() -> Iterator[Path]:
    for pattern in (*SOURCES, *(f"{folder}/**/*" for folder in FOLDERS)):
        yield from ROOT.glob(pattern)


def version() -> str:
    """A hash of the files that the tests depend on."""
    total = hashlib.sha256()
    for path in sorted(set(_sources())):
        if path.is_file() and "__pycache__" not in path.parts:
            total.update(str(path.relative_to(ROOT)).encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


class LeftOut:
    """Leaves out what a file of notes lists."""

    def __init__(self, notes: Path) -> None:
        self.passed = set(notes.read_text().splitlines()) if notes.exists() else set()

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        done = [item for item in items if item.nodeid in self.passed]
        items[:] = [item for item in items if item.nodeid not in self.passed]
        config.hook.pytest_deselected(items=done)


class Noted:
    """Notes what passes, in the one process that reports."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes
        self.passed: set[str] = set()

    def pytest_report_header(self) -> str | None:
        if not self.notes.exists():
            return None
        count = len(self.notes.read_text().splitlines())
        return f"{count} tests have passed with this code before and are left out"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
        elif report.when == "teardown" and report.passed and report.nodeid in self.passed:
            with self.notes.open("a") as notes:
                notes.write(f"{report.nodeid}\n")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            self.notes.unlink(missing_ok=True)


def resume(config: pytest.Config, notes: Path) -> None:
    """Go on with what the file of notes does not list."""
    config.pluginmanager.register(LeftOut(notes), "left-out")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Noted(notes), "noted")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--resume", action="store_true", help="leave out what has passed with this code"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("resume") and not config.option.collectonly:
        notes = BUILD / "tests" / "deep-passed" / version()
        notes.parent.mkdir(parents=True, exist_ok=True)
        resume(config, notes)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What one process has to run alone comes first: it takes longest."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


__all__ = ["shifted_seeds"]  # a fixture for all tests here
