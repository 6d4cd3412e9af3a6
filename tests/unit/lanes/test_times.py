# SPDX-License-Identifier: GPL-2.0
"""The table at the end of `make check`, and what is kept of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.lanes.inner import command, environment, folder, run

CONFTEST = """
from pathlib import Path
from tests.lanes import order, times

def pytest_configure(config):
    times.register(config, Path("times.json"))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(order, "order")
"""
TESTS = """
import os, subprocess, sys, time
import pytest

BUSY = "import time\\nwhile time.process_time() < 0.5: pass"

@pytest.fixture(scope="module")
def shared():
    pass

def test_a_child(shared):
    subprocess.run([sys.executable, "-c", BUSY])

def test_itself():
    exec(BUSY.replace("0.5", f"{time.process_time() + 0.3}"))

def test_that_fails():
    assert "SOUND" in os.environ
"""
ENDLESS = """
from pathlib import Path
import time

def test_that_ends():
    pass

def test_without_end():
    Path("reached").touch()
    time.sleep(600)
"""

TWO = {"workers": ["-n", "2"], "no xdist": ["-p", "no:xdist"]}
WAYS = TWO | {"one worker": ["-n", "1"], "none": []}


def ways(named: dict[str, list[str]]) -> list[Any]:
    """Parameters of a test; `make check` takes the way that it goes itself."""
    marks = {way: () if way == "workers" else pytest.mark.deep for way in named}
    return [pytest.param(options, id=way, marks=marks[way]) for way, options in named.items()]


def kept(path: Path) -> dict[str, Any]:
    return json.loads((path / "times.json").read_text())


@pytest.mark.parametrize("options", ways(WAYS))
def test_cpu_seconds_are_those_of_the_test(tmp_path: Path, options: list[str]) -> None:
    """No less than what it used, and the whole run's are no less than those of its tests."""
    told = run(folder(tmp_path, CONFTEST, test_some=TESTS), *options)
    times = kept(tmp_path)
    tests = {name.rpartition("::")[2]: spent for name, spent in times["tests"].items()}
    assert tests["test_a_child"]["cpu_s"] >= 0.5
    assert tests["test_itself"]["cpu_s"] >= 0.3
    assert tests["test_itself"]["cpu_s"] < times["whole"]["cpu_s"]
    used_s = sum(spent["cpu_s"] for spent in tests.values())
    assert used_s <= times["whole"]["cpu_s"] + 0.01 * len(tests)  # rounded
    assert (tests["test_a_child"]["shares"], tests["test_itself"]["shares"]) == (True, False)
    assert times["exit_status"] == pytest.ExitCode.TESTS_FAILED
    assert times["cpus"] >= 1 and times["load"] >= 0 and times["date"] and times["commit"]
    assert re.search(r"^tests +3 +\d+\.\d +\d+\.\d$", told, re.M)
    assert re.search(r"^the whole run +3 +\d+\.\d +\d+\.\d$", told, re.M)


def test_the_first_line_says_what_comes(tmp_path: Path) -> None:
    folder(tmp_path, CONFTEST, test_some=TESTS)
    head = "Tests (not deep) by {} workers, the longest first; {}."
    said = run(tmp_path, "-m", "not deep").splitlines()[0]
    assert said == head.format(1, "no earlier run is known here")
    again = run(tmp_path, "-m", "not deep", "-n", "2").splitlines()[0]
    assert again == head.format(2, "the last run here: 3 tests in 0 min")


def test_tests_by_name_have_no_table(tmp_path: Path) -> None:
    told = run(folder(tmp_path, CONFTEST, test_some=TESTS), "test_some.py", SOUND="1")
    assert "3 passed" in told and "what it took" not in told
    assert not (tmp_path / "times.json").exists()


@pytest.mark.parametrize("options", ways(TWO))
def test_a_run_that_ends_at_a_failure_has_a_table(tmp_path: Path, options: list[str]) -> None:
    """Of the tests that ran until then: of two workers the other may have begun its own, or not."""
    told = run(folder(tmp_path, CONFTEST, test_some=TESTS), "-x", *options)
    assert "what it took" in told
    ran = sum(map(int, re.findall(r"(\d+) (?:passed|failed)", told.splitlines()[-1])))
    assert kept(tmp_path)["whole"]["tests"] == ran > 0


@pytest.mark.parametrize("options", ways(TWO))
def test_a_run_that_is_stopped_has_a_table(tmp_path: Path, options: list[str]) -> None:
    """By Ctrl-C, which the whole group of processes gets."""
    folder(tmp_path, CONFTEST, test_endless=ENDLESS)
    with subprocess.Popen(
        command(*options), cwd=tmp_path, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as pytests:  # fmt: skip
        while not (tmp_path / "reached").exists():
            assert pytests.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(pytests.pid, signal.SIGINT)
        told = pytests.communicate()[0]
    assert "what it took" in told, told
    assert kept(tmp_path)["exit_status"] == pytest.ExitCode.INTERRUPTED


def test_times_that_cannot_be_kept_are_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "times.json").mkdir()
    told = run(folder(tmp_path, CONFTEST, test_some=TESTS), SOUND="1")
    assert "The times are not kept: " in told and "3 passed" in told
    assert "Traceback" not in told
