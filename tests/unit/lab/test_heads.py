# SPDX-License-Identifier: GPL-2.0
"""A folder with many files of code has a head: what it is, what flows in and out, what stays."""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests import ROOT

MANY = 5
SCREEN = 50  # lines
CODE = {".py", ".c", ".h", ".sh", ".bt", ".pkt", ".toml"}


def is_code(path: Path) -> bool:
    if path.suffix:
        return path.suffix in CODE
    return path.is_file() and path.read_bytes()[:2] == b"#!"


def folders() -> list[Path]:
    """Those with more than MANY files of code, of the tree as git sees it."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", ":!docs"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    count = Counter(path.parent for path in map(ROOT.joinpath, said.split("\n")) if is_code(path))
    return sorted(folder for folder, files in count.items() if files > MANY and folder != ROOT)


def comment(text: str) -> str:
    """The comment that a makefile begins with."""
    lines = text.splitlines()
    end = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "\n".join(lines[1:end])


def heads(folder: Path) -> list[str]:
    """What may be a folder's head: its README, the docstring of a package, or a makefile's."""
    found = [path.read_text() for path in folder.glob("README*")]
    for path in folder.glob("__init__.py"):
        found.append(ast.get_docstring(ast.parse(path.read_text())) or "")
    return found + [comment(path.read_text()) for path in folder.glob("[KM]*") if path.is_file()]


def has_head(folder: Path) -> bool:
    """A head of some lines and at most a screen, or one of the folder above that names it."""
    own = any(2 < len(text.splitlines()) <= SCREEN for text in heads(folder))
    return own or any(f"`{folder.name}/`" in text for text in heads(folder.parent))


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_has_a_head(folder: Path) -> None:
    assert has_head(folder)


def test_a_folder_without_one_is_found(tmp_path: Path) -> None:
    assert not has_head(tmp_path)
    (tmp_path / "Kbuild").write_text("# SPDX\n# One line.\nobj-m += x.o\n")
    (tmp_path / "__init__.py").write_text('"""Tests."""\n')
    assert not has_head(tmp_path)
    (tmp_path / "README.md").write_text("What it is.\n\nWhat flows in and out.\n" * SCREEN)
    assert not has_head(tmp_path)
    (tmp_path / "README.md").write_text("What it is.\n\nWhat flows in and out.\n")
    assert has_head(tmp_path)
