# SPDX-License-Identifier: GPL-2.0
"""`make check-deep` goes on where it was interrupted, or failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import os

def test_first():
    pass

def test_second():
    assert "BROKEN" not in os.environ

def test_third():
    if "STOPPED" in os.environ:
        raise KeyboardInterrupt
"""
CONFIGURE = """
from pathlib import Path
from tests.deep.conftest import resume

def pytest_configure(config):
    resume(config, Path("passed"))
"""


def run(folder: Path, root: Path, *options: str, **more: str) -> str:
    """What pytest prints for the tests above."""
    command = [sys.executable, "-m", "pytest", "-c", "none.ini", *options, "some.py"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": f"{root}:{root}/scripts"} | more,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tests above, which resume."""
    (tmp_path / "some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFIGURE)
    (tmp_path / "none.ini").write_text("[pytest]\n")
    return tmp_path


def test_what_has_passed_is_left_out_until_all_have(folder: Path, root: Path) -> None:
    stopped = run(folder, root, BROKEN="1", STOPPED="1")
    assert "1 failed, 1 passed" in stopped and "left out" not in stopped
    failed = run(folder, root, BROKEN="1")
    assert "1 tests have passed with this code before and are left out" in failed
    assert "1 failed, 1 passed, 1 deselected" in failed
    assert "1 passed, 2 deselected" in run(folder, root)
    assert "3 passed" in run(folder, root)


def test_it_is_so_in_parallel_too(folder: Path, root: Path) -> None:
    assert "1 failed, 2 passed" in run(folder, root, "-n", "2", BROKEN="1")
    again = run(folder, root, "-n", "2")
    assert "2 tests have passed" in again and "1 passed" in again
    assert "3 passed" in run(folder, root, "-n", "2")
