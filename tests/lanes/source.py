# SPDX-License-Identifier: GPL-2.0
"""Which source is tested: its commit for readers, a hash of it for what must not be mixed up."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

FILES = ("*.c", "dkms.conf", "Kbuild", "Makefile", "pyproject.toml")
FOLDERS = ("bpf", "debian", "include", "man", "profiles", "scripts", "shake", "sscop", "tests")


def _files(root: Path) -> Iterator[Path]:
    for pattern in (*FILES, *(f"{folder}/**/*" for folder in FOLDERS)):
        yield from root.glob(pattern)


def version(root: Path = ROOT) -> str:
    """A hash of the files that the tests depend on: all but the pages."""
    total = hashlib.sha256()
    for path in sorted(set(_files(root))):
        if path.is_file() and "__pycache__" not in path.parts:
            total.update(str(path.relative_to(root)).encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(root: Path = ROOT) -> str:
    """The commit, short, with `+` if a file outside of docs differs from it; `?` without git."""
    try:
        name = _git(root, "rev-parse", "--short", "HEAD")
        changed = _git(root, "status", "--porcelain", "--", ".", ":!docs")
    except (OSError, subprocess.CalledProcessError):
        return "?"
    return name + "+" * bool(changed)
