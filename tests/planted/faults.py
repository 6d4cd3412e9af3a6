# SPDX-License-Identifier: GPL-2.0
"""The faults of faults.toml, and how one is planted."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

from apogee_lab.base import LabError

LIST = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """A change of one file that makes the product wrong.

    ``seen`` is what a user would see of it, ``asked`` the tests that are asked one after another
    (arguments of pytest), ``lane`` the one that should see it: check, deep, or nobody so far.
    """

    name: str
    file: str
    kind: str
    seen: str
    old: str
    new: str
    lane: str
    asked: tuple[str, ...]

    @property
    def version(self) -> str:
        """A hash of what is changed."""
        return hashlib.sha256("\0".join((self.file, self.old, self.new)).encode()).hexdigest()[:8]

    def plant(self, tree: Path) -> None:
        """Replace the text in a tree's file; LabError unless it is there exactly once."""
        path = tree / self.file
        text = path.read_text() if path.is_file() else ""
        if (count := text.count(self.old)) != 1:
            raise LabError(f"{self.name}: {self.file} has the text {count} times, not once")
        path.write_text(text.replace(self.old, self.new))


def read(path: Path = LIST) -> list[Fault]:
    """The faults of a list."""
    found = tomllib.loads(path.read_text())["fault"]
    return [Fault(**{**fault, "asked": tuple(fault["asked"])}) for fault in found]
