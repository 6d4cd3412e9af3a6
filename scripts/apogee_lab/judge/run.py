# SPDX-License-Identifier: GPL-2.0
"""A run that a card needs, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """A run but for its seed."""

    scenario: str
    mix: str
    settings: tuple[str, ...]
    duration_s: float


def command_of(run: Run, seeds: Sequence[int], on: Sequence[str]) -> str:
    """The command of a run with these seeds; ``on`` are the words of engine, kernel, modules."""
    words = ["scripts/lab", "run", run.scenario, *on, "--cc", run.mix]
    words += ["--seed", ",".join(map(str, seeds)), "--duration", f"{run.duration_s:g}"]
    words += [word for text in run.settings for word in ("--set", text)]
    return shlex.join(words)
