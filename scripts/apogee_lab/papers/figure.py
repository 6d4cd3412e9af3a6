# SPDX-License-Identifier: GPL-2.0
"""Cells, claims, figures and papers: the data that a paper's figures are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import units
from ..scenarios.scenario import members
from .claims import Results, Verdict

#: Seconds in a setting that scale with the run's length: ``{45}s``.
_SCALED = re.compile(r"\{(\d+)\}")

# What a run costs beside its packets, CPU seconds: boot, namespaces, Python.
_OVERHEAD_S = 5.5
# CPU seconds for FULL_S seconds of a full 10 Mbit/s link.
FULL_S = 60.0
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
# On lfn, 1 Gbit/s and a dozen flows: boot and links, each virtual second. Measured with uml, 10 and
# 0.5, and taken to be slower by the same factor with qemu.
_LFN_OVERHEAD_S, _LFN_SECOND_S = 70.0, 3.5
# On wlan the same two, whatever n is, and for each station; measured with uml.
_WLAN_OVERHEAD_S, _WLAN_SECOND_S = (15.0, 1.5), (0.4, 0.04)


@dataclass(frozen=True)
class Cell:
    """One point of a figure: the arguments of ``scripts/lab run`` without the seed.

    ``variant``: the stack or mode, a key of the paper's ``variants``. ``duration_s`` and ``seeds``
    (their number) are the defaults, which the command line can override.
    """

    scenario: str
    cc: str
    settings: Mapping[str, str]
    variant: str
    duration_s: float = FULL_S
    seeds: int = 5

    def setting(self, key: str, duration_s: float) -> str:
        """A setting's value, with times in braces scaled from the cell's own duration."""
        scale = duration_s / self.duration_s
        return _SCALED.sub(lambda at: f"{float(at[1]) * scale:g}", self.settings[key])

    def options(self, duration_s: float) -> list[str]:
        """``KEY=VALUE`` of each setting."""
        return [f"{key}={self.setting(key, duration_s)}" for key in self.settings]

    def cost_s(self, duration_s: float, engine: str) -> float:
        """Approximate CPU seconds of a run."""
        return self._emulated_s(duration_s) / _FASTER.get(engine, 1.0)

    def _emulated_s(self, duration_s: float) -> float:
        if self.scenario == "lfn":
            warmup_s = units.parse("time", self.setting("warmup", duration_s))
            return _LFN_OVERHEAD_S + _LFN_SECOND_S * (warmup_s + duration_s)
        if self.scenario == "wlan":
            return self._wlan_s(duration_s)
        robust = bool(_ROBUST & set(members(self.cc)))
        share = _SHARES[robust].get(self.settings.get("ber", "0"), 1.0)
        if not robust and self.settings.get("queue") == "15kB":
            share = min(share, _SHORT_QUEUE)
        traced = 1.3 if "trace" in self.settings else 1.0
        return _OVERHEAD_S + _FULL_LINK_S[self.scenario] * share * traced * duration_s / FULL_S

    def _wlan_s(self, duration_s: float) -> float:
        spans = [
            self.setting(key, duration_s) for key in ("start", "warmup") if key in self.settings
        ]
        virtual_s = duration_s + sum(units.parse("time", span) for span in spans)
        n = int(self.settings["n"])
        overhead, second = (fixed + each * n for fixed, each in (_WLAN_OVERHEAD_S, _WLAN_SECOND_S))
        return overhead + second * virtual_s


@dataclass(frozen=True)
class Claim:
    """What the paper says about a figure.

    ``check`` decides it from the runs of one variant, separately for each of ``variants``.
    ``why``: the known reason if the claim does not hold.
    """

    text: str
    check: Callable[[Results], Verdict]
    variants: Sequence[str] = ("today",)
    why: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper. ``draw`` names a function of drawings.py, which reads ``options``.

    ``tables`` makes lines of Markdown for below the page's table from the results by variant.
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
        """Whether its claims need the runs' series besides their records."""
        return self.draw in ("windows", "estimates")

    @property
    def traced(self) -> bool:
        """Whether its claims need the traces, each of which takes a second to read."""
        return self.draw == "estimates"

    @property
    def counts_modes(self) -> bool:
        """Whether its claims need the flows' mode changes, which are counted in the traces."""
        return bool(self.options.get("modes"))


@dataclass(frozen=True)
class Paper:
    """A paper: its title, its figures in order, a description of each variant, and the legend,
    which defines the words of its claims."""

    name: str
    title: str
    figures: Mapping[str, Figure]
    variants: Mapping[str, str]
    legend: str
