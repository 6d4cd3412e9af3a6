# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.lanes.deep [PART...]``: `make check-deep`, all of it or some parts.

A part is a file of tests that have the mark `deep`: test_two_cpus.py is the part `two-cpus`. What a
part needs is installed, and its kernels are built, before its first test is timed.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from tests import ROOT
from tests.lanes import records

#: Groups of scripts/setup beside `check`.
SETUP = {"lint": "lint", "proofs": "deep", "machines": "machines"}
#: How a file of tests gives the mark.
MARKS = ("mark.deep", "deep_ones(")
PYTEST = (
    "-m pytest -m deep -p tests.lanes.resume --continue-on-collection-errors"
    " --numprocesses 2 --dist loadgroup"
).split()


def parts() -> dict[str, list[Path]]:
    """All parts, and their files."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if any(mark in path.read_text(encoding="utf-8") for mark in MARKS):
            found.setdefault(records.part(path.name), []).append(path.relative_to(ROOT))
    return dict(sorted(found.items()))


def prepare(path: Path) -> None:
    """Build what a file of tests says that it needs."""
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    getattr(module, "prepare", lambda: None)()


def start(files: list[Path]) -> NoReturn:
    """Run the tests in place of this program."""
    for path in files:
        prepare(path)
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-Xutf8", *PYTEST, *map(str, files)])


def main(names: list[str]) -> int:
    known = parts()
    if names == ["list"]:
        print(" ".join(known))
        return 0
    if unknown := [name for name in names if name not in known]:
        print(f"check-deep: no part {unknown[0]!r}; there are: {' '.join(known)}", file=sys.stderr)
        return 2
    names = sorted(set(names)) or list(known)
    print(f"check-deep: {' '.join(names)}", flush=True)
    groups = {"check", *(SETUP[name] for name in names if name in SETUP)}
    if status := subprocess.call([ROOT / "scripts/setup", *sorted(groups)]):
        return status
    return start([path for name in names for path in known[name]])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
