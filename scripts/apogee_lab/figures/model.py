# SPDX-License-Identifier: GPL-2.0
"""What a figure is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .judges import Results, Verdict

#: A blackout's start in a run of FULL_S seconds; a shorter run has it at the same fraction.
FULL_S = 60.0
AT = "{at}"

# What a run costs beside its packets, CPU seconds: boot, namespaces, Python.
_OVERHEAD_S = 5.5
# CPU seconds for 60 s of a full 10 Mbit/s link.
_FULL_LINK_S = {"satellite": 11.0, "satellite-shared": 16.0}
# These are qemu's; other engines take less by about this factor (docs/results/engines.md).
_FASTER = {"uml": 7.0}
# Share of that at each bit error rate: algorithms that take losses for errors, and others.
_SHARES = {
    True: {"0": 1.0, "1e-8": 1.0, "1e-7": 0.8, "1e-6": 0.6, "1e-5": 0.4},
    False: {"0": 0.9, "1e-8": 0.7, "1e-7": 0.3, "1e-6": 0.1, "1e-5": 0.05},
}
_ROBUST = {"star", "j", "bbr", "hybla"}
_SHORT_QUEUE = 0.3  # what the others reach of it with a queue of ten packets


@dataclass(frozen=True)
class Cell:
    """One point of a figure: what ``scripts/lab run`` is told, but for seed and duration.

    ``variant`` says on which stack or in which mode (a key of ``VARIANTS``).
    """

    scenario: str
    cc: str
    settings: Mapping[str, str]
    variant: str

    def options(self, duration_s: float) -> list[str]:
        """``KEY=VALUE`` of each setting; the blackout's start follows the duration."""
        at = f"{45 * duration_s / FULL_S:g}s"
        return [f"{key}={value.replace(AT, at)}" for key, value in self.settings.items()]

    def cost_s(self, duration_s: float, engine: str) -> float:
        """Roughly the CPU seconds of a run."""
        robust = bool(_ROBUST & set(self.cc.split("+")))
        share = _SHARES[robust].get(self.settings.get("ber", "0"), 1.0)
        if not robust and self.settings.get("queue") == "15kB":
            share = min(share, _SHORT_QUEUE)
        traced = 1.3 if "trace" in self.settings else 1.0
        emulated = _OVERHEAD_S + _FULL_LINK_S[self.scenario] * share * traced * duration_s / FULL_S
        return emulated / _FASTER.get(engine, 1.0)


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
    """A figure of a paper. ``draw`` names a function of draw.py, ``options`` are its own."""

    name: str
    title: str
    cells: Sequence[Cell]
    claims: Sequence[Claim]
    draw: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def over_time(self) -> bool:
        """Whether its claims need the runs' series, not only their records."""
        return self.draw in ("windows", "estimates")

    @property
    def traced(self) -> bool:
        """Whether they need the traces, which take a second each to read."""
        return self.draw == "estimates"


@dataclass(frozen=True)
class Paper:
    """A paper: its title, its figures in order, and what each variant of its runs is."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    variants: Mapping[str, str]
