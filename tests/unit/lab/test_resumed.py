# SPDX-License-Identifier: GPL-2.0
"""`make check-deep` goes on where it was interrupted, or failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
RUN = """
import sys
from pathlib import Path
import pytest
from tests.deep.conftest import Resumed
sys.exit(pytest.main(["-c", "none.ini", "some.py"], plugins=[Resumed(Path("passed"))]))
"""


def run(folder: Path, root: Path, **more: str) -> str:
    """What pytest prints for the tests above."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": f"{root}:{root}/scripts"} | more,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_what_has_passed_is_left_out_until_all_have(tmp_path: Path, root: Path) -> None:
    (tmp_path / "some.py").write_text(TESTS)
    (tmp_path / "none.ini").write_text("[pytest]\n")
    stopped = run(tmp_path, root, BROKEN="1", STOPPED="1")
    assert "1 failed, 1 passed" in stopped and "left out" not in stopped
    failed = run(tmp_path, root, BROKEN="1")
    assert "1 tests have passed with this code before and are left out" in failed
    assert "1 failed, 1 passed, 1 deselected" in failed
    assert "1 passed, 2 deselected" in run(tmp_path, root)
    assert "3 passed" in run(tmp_path, root)
