# SPDX-License-Identifier: GPL-2.0
"""Runs of pytest in a folder of their own, with the plugins of tests/lanes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT

INI = "[pytest]\ntestpaths = .\nmarkers =\n    deep: hours\n"


def folder(path: Path, conftest: str, **files: str) -> Path:
    """A folder with files of tests, NAME=TEXT, and a conftest.py."""
    (path / "none.ini").write_text(INI)
    (path / "conftest.py").write_text(conftest)
    for name, text in files.items():
        (path / f"{name}.py").write_text(text)
    return path


def command(*options: str) -> list[str]:
    """pytest's command line."""
    return [sys.executable, "-m", "pytest", "-c", "none.ini", *options]


def environment(**more: str) -> dict[str, str]:
    """For the command: imports work, and nothing is left of a worker around it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | {"PYTHONPATH": f"{ROOT}:{ROOT}/scripts"} | more


def run(path: Path, *options: str, **more: str) -> str:
    """What pytest prints for the tests there."""
    done = subprocess.run(
        command(*options), cwd=path, env=environment(**more),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr
