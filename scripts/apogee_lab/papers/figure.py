# SPDX-License-Identifier: GPL-2.0
"""Cells, claims, figures and papers: the data that a paper's figures are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..runs import request
from ..scenarios import SCENARIOS
from .claims import Results, Verdict

if TYPE_CHECKING:
    from ..results.finished import FinishedRun

#: Seconds in a setting that scale with the run's length: ``{45}s``.
_SCALED = re.compile(r"\{(\d+)\}")

OURS = "(ours)"  # begins a claim that the paper does not make
FULL_S = 60.0  # a point's usual duration
# Costs are qemu's; other engines take less by about this factor (docs/results/engines.md).
_FASTER = {"uml": 7.0}


@dataclass(frozen=True)
class Cell:
    """One point of a figure: the arguments of ``scripts/lab run`` without the seed.

    ``variant``: the stack or mode, a key of the paper's ``variants``. ``duration_s`` and ``seeds``
    (their number, from ``first_seed`` on) are the defaults, which the command line can override.
    """

    scenario: str
    cc: str
    settings: Mapping[str, str]
    variant: str
    duration_s: float = FULL_S
    seeds: int = 5
    first_seed: int = 1

    def setting(self, key: str, duration_s: float) -> str:
        """A setting's value, with times in braces scaled from the cell's own duration."""
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
    """What the paper says about a figure.

    ``check`` decides it from the runs of one variant, separately for each of ``variants``.
    ``why``: the known reason if the claim does not hold. ``others``: it is about other algorithms
    alone, so that its verdict is the same in every form of ours.
    """

    text: str
    check: Callable[[Results], Verdict]
    variants: Sequence[str] = ("today",)
    why: str = ""
    others: bool = False

    @property
    def own(self) -> bool:
        """Whether it is ours, not the paper's."""
        return self.text.startswith(OURS)


@dataclass(frozen=True)
class Figure:
    """A figure of a paper. ``draw`` names a function of drawings.py, which reads ``options``.

    ``tables`` makes lines of Markdown for below the page's table from the results by variant.
    ``extra`` reads of a finished run what claims need beside its record.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    claims: Sequence[Claim]
    draw: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tables: Callable[[Mapping[str, Results]], list[str]] | None = None
    extra: Callable[[FinishedRun], dict[str, Any]] | None = None

    @property
    def over_time(self) -> bool:
        """Whether its claims need the runs' series besides their records."""
        return self.draw in ("windows", "estimates")

    @property
    def traced(self) -> bool:
        """Whether its claims need the traces, each of which takes a second to read."""
        return self.draw == "estimates" or bool(self.options.get("traced"))

    @property
    def counted(self) -> tuple[str, str] | None:
        """The algorithm and its trace event that claims need counted, if they do."""
        return self.options.get("counted")


@dataclass(frozen=True)
class Paper:
    """A paper: its title, its figures in order, a description of each variant, and the legend,
    which defines the words of its claims. ``forms`` names the variants in which its claims are
    counted."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    variants: Mapping[str, str]
    legend: str
    forms: Mapping[str, str]
