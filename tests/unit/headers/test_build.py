# SPDX-License-Identifier: GPL-2.0
"""The headers build everywhere, and hold up under the compiler's sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import kernel
from tests.unit.headers.cheaders import Library, undefined_symbols_32bit

VARIANT = os.environ.get("APOGEE_UNIT", "plain")
KERNEL_DIVISION = {"div_u64", "div_s64", "div64_u64"}


def test_every_function_can_be_called(apogee: Library) -> None:
    assert apogee.abe_window(1_250_000, 500_000, 1250) == 500
    assert apogee.new("abe").samples == 0


def test_no_64_bit_division_on_32_bit_machines(root: Path, build: Path) -> None:
    undefined = undefined_symbols_32bit(root / "include", kernel.FOLDER, build / "unit" / "32bit")
    assert undefined - {"_GLOBAL_OFFSET_TABLE_"} <= KERNEL_DIVISION


@pytest.mark.skipif(VARIANT != "plain", reason="nothing in C")
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


@pytest.mark.skipif(VARIANT != "plain", reason="in the plain run only")
def test_under_address_and_undefined_sanitizers(root: Path) -> None:
    """All unit tests again, against the sanitized library, with fewer examples."""
    runtimes = [_gcc_file("libasan.so"), _gcc_file("libubsan.so")]
    env = os.environ | {
        "APOGEE_UNIT": "sanitized",
        "APOGEE_HYPOTHESIS": "quick",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LD_PRELOAD": ":".join(runtimes),
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/headers"]
    done = subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def _gcc_file(name: str) -> str:
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()
