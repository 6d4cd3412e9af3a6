# SPDX-License-Identifier: GPL-2.0
"""What a figure is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runs import request
from ..scenarios import SCENARIOS
from .claims import Results, Verdict

#: A number of seconds in a setting that follows the run's length: ``{45}s``.
_SCALED = re.compile(r"\{(\d+)\}")

FULL_S = 60.0  # a point's usual duration
# Costs are qemu's; other engines take less by about this factor (docs/results/engines.md).
_FASTER = {"uml": 7.0}


@dataclass(frozen=True)
class Cell:
    """One point of a figure: what ``scripts/lab run`` is told, but for the seed.

    ``variant`` says on which stack or in which mode (a key of ``VARIANTS``). ``duration_s`` and
    ``seeds``, their number, are what a point gets if the command line does not say otherwise.
    """

    scenario: str
    cc: str
    settings: Mapping[str, str]
    variant: str
    duration_s: float = FULL_S
    seeds: int = 5

    def setting(self, key: str, duration_s: float) -> str:
        """A setting's value; times in braces are as in a run of the cell's own length."""
        scale = duration_s / self.duration_s
        return _SCALED.sub(lambda at: f"{float(at[1]) * scale:g}", self.settings[key])

    def options(self, duration_s: float) -> list[str]:
        """``KEY=VALUE`` of each setting."""
        return [f"{key}={self.setting(key, duration_s)}" for key in self.settings]

    def cost_s(self, duration_s: float, engine: str) -> float:
        """Roughly the CPU seconds of a run."""
        scenario = SCENARIOS[self.scenario]
        settings = request.parse_settings(self.options(duration_s), scenario)
        values = {key: value for key, (value,) in settings.items()}
        return scenario.cost_s(values, self.cc, duration_s) / _FASTER.get(engine, 1.0)


@dataclass(frozen=True)
class Claim:
    """What the paper says of a figure.

    ``judge`` decides it from the runs of one variant, and is asked once for each of ``variants``.
    ``why``: the known reason if it does not hold.
    """

    text: str
    judge: Callable[[Results], Verdict]
    variants: Sequence[str] = ("today",)
    why: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper. ``draw`` names a function of draw.py, ``options`` are its own.

    ``tables`` makes lines of Markdown that the page has below its table, from the runs of each
    variant.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    claims: Sequence[Claim]
    draw: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tables: Callable[[Mapping[str, Results]], list[str]] | None = None

    @property
    def over_time(self) -> bool:
        """Whether its claims need the runs' series, not only their records."""
        return self.draw in ("windows", "estimates")

    @property
    def traced(self) -> bool:
        """Whether they need the traces, which take a second each to read."""
        return self.draw == "estimates"

    @property
    def counts_modes(self) -> bool:
        """Whether they need how often flows have changed their mode, which the traces tell."""
        return bool(self.options.get("modes"))


@dataclass(frozen=True)
class Paper:
    """A paper: its title, its figures in order, what each variant of its runs is, and what the
    words of its claims mean."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    variants: Mapping[str, str]
    legend: str
