# SPDX-License-Identifier: GPL-2.0
"""Recipes of other systems: of this version, and of the tarball that `make dist` makes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    return re.match(r"apogee \((.*?)\)", (root / "debian" / "changelog").read_text())[1]  # type: ignore[index]


def test_versions_are_the_changelog_s(root: Path, version: str) -> None:
    for path in (root / "packaging").glob("*/*"):
        assert re.findall(r"\b\d+\.\d+\.\d+\b", path.read_text())[0] == version, path


def test_arch_packages_every_module(root: Path, version: str, tmp_path: Path) -> None:
    """package() on the tarball's content: three products, each with what it builds from."""
    source = tmp_path / f"apogee-{version}"
    tracked = subprocess.run(
        ["git", "ls-files", "*.c", "*/Kbuild", "Kbuild", "dkms.conf", "*.h", "man", "include"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, source / name)
    shell = f"cd {tmp_path}; . {root}/packaging/arch/PKGBUILD; pkgdir={tmp_path}/pkg; package"
    subprocess.run(["bash", "-euc", shell], check=True)
    made = tmp_path / "pkg" / "usr" / "src"
    assert sorted(path.name for path in made.iterdir()) == [
        f"apogee-{product}-{version}" for product in ("shake", "sscop", "tcp")
    ]
    for folder in made.iterdir():
        assert (folder / "include" / "compat" / "probe.sh").exists()
        conf = subprocess.run(
            ["bash", "-euc", f". {folder}/dkms.conf; echo $PACKAGE_NAME ${{BUILT_MODULE_NAME[@]}}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        name, *modules = conf.stdout.split()
        assert name == folder.name.removesuffix(f"-{version}")
        assert modules == (
            sorted(path.stem for path in root.glob("tcp_*.c"))
            if name.endswith("tcp")
            else [name[7:]]
        )


def test_dist_is_the_commit(root: Path, version: str) -> None:
    """A line of make, run dry: the name has the version, no time is in it."""
    done = subprocess.run(
        ["make", "-n", "dist"], cwd=root, capture_output=True, text=True, check=True
    )
    assert "git archive" in done.stdout and "gzip -n" in done.stdout
