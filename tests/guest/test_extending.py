# SPDX-License-Identifier: GPL-2.0
"""The number of files that an addition touches (docs/extending.md), counted in a working copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apogee_lab.base import cache_dir

pytestmark = [pytest.mark.guest, pytest.mark.uml]

TOYS = Path(__file__).with_name("toys")
LAB = "scripts/apogee_lab"


class Copy:
    """The tree as git sees it, committed in a repository of its own."""

    def __init__(self, root: Path, top: Path) -> None:
        self.top = top
        self.cache = str(cache_dir().absolute())
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if (root / name).exists():
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, top / name)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("-c", "user.name=copy", "-c", "user.email=copy@localhost", "commit", "-qm", "all")

    def git(self, *words: str) -> str:
        command = ["git", "-c", "safe.directory=*", *words]
        done = subprocess.run(command, cwd=self.top, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def put(self, toy: str, place: str) -> None:
        """One of the toys' files, in the place where it belongs."""
        shutil.copy(TOYS / toy, self.top / place)

    def edit(self, place: str, old: str, new: str) -> None:
        """Change one file of the tree."""
        text = (self.top / place).read_text()
        assert text.count(old) == 1, place
        (self.top / place).write_text(text.replace(old, new))

    def touched(self) -> set[str]:
        """The files that differ from the tree as it was."""
        lines = self.git("status", "--porcelain", "--untracked-files=all").splitlines()
        return {line[3:] for line in lines}

    def passes(self, *tests: str) -> None:
        """Run tests of the copy."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
            cwd=self.top, capture_output=True, text=True, check=False,
            env=os.environ | {"APOGEE_CACHE": self.cache, "PYTHONPATH": "scripts"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr

    def lab(self, *words: str) -> str:
        done = subprocess.run(
            ["scripts/lab", *words],
            cwd=self.top, capture_output=True, text=True, check=False,
            env=os.environ | {"APOGEE_CACHE": self.cache},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Copy:
    (tmp_path / "tree").mkdir()
    return Copy(root, tmp_path / "tree")


def test_a_scenario_touches_four_places(copy: Copy) -> None:
    """Its file, one line of the registry, its test, its section in the documentation."""
    copy.put("toy.py", f"{LAB}/scenarios/toy.py")
    copy.put("toy_scenario.py", "tests/guest/scenarios/test_toy.py")
    registry = f"{LAB}/scenarios/__init__.py"
    copy.edit(registry, "from .wlan", "from .toy import TOY\nfrom .wlan")
    copy.edit(registry, "LIAR)", "LIAR, TOY)")
    with (copy.top / "docs" / "scenarios.md").open("a") as page:
        page.write("\n## toy\n\nOne flow over a short, slow link.\n")
    assert copy.touched() == {
        f"{LAB}/scenarios/toy.py",
        registry,
        "tests/guest/scenarios/test_toy.py",
        "docs/scenarios.md",
    }
    assert "toy: one flow over a short, slow link" in copy.lab("list")
    copy.passes("tests/guest/scenarios/test_toy.py", "tests/unit/packaging/test_docs.py")


def test_a_peer_touches_one_place(copy: Copy) -> None:
    """Only needed for a colour or `lab cost`: its name is enough to measure it."""
    listing = f"{LAB}/algorithms.py"
    copy.edit(listing, " dctcp", "")
    assert "dctcp" not in copy.lab("list")
    copy.edit(listing, 'Algorithm("reno"', 'Algorithm("dctcp", colour="#123456"), Algorithm("reno"')
    assert copy.touched() == {listing}
    assert "dctcp" in copy.lab("list")


@pytest.mark.deep
def test_an_algorithm_touches_its_own_files_and_one_more(copy: Copy) -> None:
    own = {
        "tcp_toy.c": "tcp_toy.c",
        "toy.h": "include/apogee/toy.h",
        "tcp_toy.8": "man/tcp_toy.8",
        "toy_algorithm.py": "tests/guest/modules/test_toy.py",
    }
    for toy, place in own.items():
        copy.put(toy, place)
    listing = f"{LAB}/algorithms.py"
    copy.edit(listing, 'Algorithm("reno"', 'Algorithm("toy", own=True), Algorithm("reno"')
    assert copy.touched() == {*own.values(), listing}
    pages = "tests/unit/packaging/test_man_pages.py"
    packages = "tests/unit/packaging/test_install.py::test_dkms_and_kbuild_take_every_module"
    copy.passes("tests/guest/modules/test_toy.py", pages, packages)
