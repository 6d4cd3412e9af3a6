# SPDX-License-Identifier: GPL-2.0
"""The lines that `lab atlas --json` wrote, read again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..base import LabError
from .results import Result


@dataclass(frozen=True)
class Kept:
    """An atlas: its space, seed and engine, and the results of each path by its number."""

    space: str
    seed: int
    engine: str
    results: dict[int, dict[str, Result]]


def read(path: Path) -> Kept:
    """The atlas of a file; LabError if it is none."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        ((name, seed, engine),) = {(line["space"], line["seed"], line["engine"]) for line in lines}
        results = {
            line["path"]: {cc: Result(**found) for cc, found in line["results"].items()}
            for line in lines
        }
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LabError(f"{path} does not have the lines of one atlas") from None
    return Kept(name, seed, engine, results)
