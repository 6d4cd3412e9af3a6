# SPDX-License-Identifier: GPL-2.0
"""`make check-deep` goes on where it was stopped, or failed, and keeps records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lanes.records import BEGIN, END
from tests.unit.lanes.inner import folder, run

pytestmark = pytest.mark.deep

TESTS = """
import os
import pytest

@pytest.mark.xdist_group("one")
def test_first():
    pass

def test_second():
    assert "BROKEN" not in os.environ

def test_third():
    if "STOPPED" in os.environ:
        raise KeyboardInterrupt

@pytest.mark.skip
def test_fourth():
    pass
"""
CONFTEST = """
from pathlib import Path
from types import SimpleNamespace
from apogee_lab.engines import uml
from tests.lanes import order, resume, times

uml._start = print

def pytest_configure(config):
    times.register(config, Path("times.json"))
    resume.register(config, Path("notes"), Path("docs"))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(order, "order")

def pytest_runtest_call(item):
    uml._start(SimpleNamespace(release="6.1-uml"), 1)
"""
OPTIONS = {"one process": (), "workers": ("-n", "2", "--dist", "loadgroup")}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The tests above, which resume."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reliability.md").write_text(f"Before.\n{BEGIN}{END}After.\n")
    return folder(tmp_path, CONFTEST, test_some_part=TESTS)


def record(here: Path) -> dict[str, Any]:
    """The part's record."""
    return json.loads((here / "docs/results/deep/some-part.json").read_text())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_what_has_passed_is_left_out(here: Path, options: tuple[str, ...]) -> None:
    tests = (*options, "test_some_part.py")
    failed = run(here, *tests, BROKEN="1")
    assert "1 failed, 2 passed, 1 skipped" in failed and "left out" not in failed
    again = run(here, *tests)
    assert "2 tests have passed with this code before and are left out" in again
    assert "1 passed, 1 skipped" in again
    assert "3 tests have passed" in (last := run(here, *tests)) and "passed," not in last
    kept = record(here)
    assert (kept["passed"], kept["failed"], kept["skipped"]) == (3, 0, 1)


def test_a_stopped_run_adds_up(here: Path) -> None:
    """It has no record, and the one of before stays; notes that were cut off do no harm."""
    run(here, "test_some_part.py", BROKEN="1", STOPPED="1")
    assert not (here / "docs" / "results").exists()
    with (here / "notes").open("a") as notes:
        notes.write('\n{"test": "test_some_part.py::test_th')
    run(here, "test_some_part.py", BROKEN="1")
    kept = record(here)
    assert (kept["passed"], kept["failed"], kept["kernels"]) == (2, 1, ["6.1-uml"])
    assert kept["failures"] == ["test_some_part.py::test_second"]
    notes = [json.loads(line) for line in (here / "notes").read_text().split("\n") if "}" in line]
    assert kept["cpu_s"] == round(sum(note["cpu_s"] for note in notes), 1)
    ended = [note["test"].rpartition("_")[2] for note in notes]
    assert ended == ["first", "second", "second", "third", "fourth"]
    assert run(here, "test_some_part.py", STOPPED="1").count("left out") == 1
    assert record(here)["failed"] == 0


def test_the_page_has_a_row_for_each_commit(here: Path) -> None:
    """Those of parts that did not run stay; a part of which nothing ran has none."""
    (here / "test_other.py").write_text("import pytest\n@pytest.mark.skip\ndef test_it(): pass\n")
    old = {
        "part": "before", "date": "2026-01-02", "commit": "abc+", "kernels": ["a", "b"],
        "passed": 7, "failed": 1, "skipped": 2, "wall_s": 90.0, "cpu_s": 30.0,
        "failures": ["tests/test_before.py::test_it[a|b]"],
    }  # fmt: skip
    (here / "docs/results/deep").mkdir(parents=True)
    (here / "docs/results/deep/before.json").write_text(json.dumps(old))
    run(here, "test_some_part.py", "test_other.py")
    page = (here / "docs" / "reliability.md").read_text()
    assert page.startswith("Before.\n") and page.endswith("After.\n")
    rows = page.partition(BEGIN)[2].partition(END)[0].splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == ["before", "some-part"]
    failed = r"`test_before.py::test_it[a\|b]`, 2 skipped"
    assert rows[0] == f"| 2026-01-02 | abc+ | before | 7 | 1 | 0.5 | {failed} |"


def test_a_broken_file_stops_no_other(here: Path) -> None:
    (here / "test_broken.py").write_text("import nothing_of_this_name\n")
    options = ("--continue-on-collection-errors", *OPTIONS["workers"])
    told = run(here, *options, "test_broken.py", "test_some_part.py")
    assert "3 passed, 1 skipped, 1 error" in told
    assert [path.stem for path in (here / "docs/results/deep").iterdir()] == ["some-part"]


def test_a_test_that_ends_its_worker_has_failed(here: Path) -> None:
    """The worker that replaces it leaves out the same tests."""
    (here / "test_some_part.py").write_text(TESTS + "def test_fifth():\n    os._exit(1)\n")
    told = run(here, *OPTIONS["workers"], "test_some_part.py")
    assert "1 failed, 3 passed, 1 skipped" in told
    assert record(here)["failures"] == ["test_some_part.py::test_fifth"]


def test_notes_that_cannot_be_written_end_it_in_a_line(here: Path) -> None:
    """Here, because a folder has taken their place."""
    (here / "test_some_part.py").write_text(TESTS + "def test_folder():\n    os.mkdir('notes')\n")
    told = run(here, "test_some_part.py::test_folder")
    assert "what has passed cannot be noted: " in told and "Traceback" not in told
