# SPDX-License-Identifier: GPL-2.0
"""The headers build everywhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests import kernel
from tests.unit.headers.cheaders import undefined_symbols_32bit

KERNEL_DIVISION = {"div_u64", "div_s64", "div64_u64"}


def test_no_64_bit_division_on_32_bit_machines(root: Path, build: Path) -> None:
    undefined = undefined_symbols_32bit(root, kernel.FOLDER, build / "unit" / "32bit")
    assert undefined - {"_GLOBAL_OFFSET_TABLE_"} <= KERNEL_DIVISION


def test_a_tree_that_was_moved_builds_its_own_sources(root: Path, tmp_path: Path) -> None:
    """build/modules holds links to the sources; they follow the tree."""
    kdir = tmp_path / "kdir"
    (kdir / "include/config").mkdir(parents=True)
    (kdir / "include/config/kernel.release").write_text("6.1.0\n")
    (kdir / "Makefile").write_text("modules:\n\t@:\n")
    old, new = tmp_path / "old", tmp_path / "new"
    for tree in (old, new):
        if tree is new:
            old.rename(new)
        else:
            (old / "scripts").mkdir(parents=True)
            shutil.copy(root / "scripts/build-modules", old / "scripts")
            (old / "Kbuild").touch()
            (old / "one.c").touch()
        command = [str(tree / "scripts/build-modules"), str(kdir), str(tree / "build")]
        subprocess.run(command, check=True, capture_output=True)
        assert (tree / "build/one.c").resolve(strict=True) == (tree / "one.c").resolve()
