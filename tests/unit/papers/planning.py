# SPDX-License-Identifier: GPL-2.0
"""Figures' runs as they are planned, without a guest; verdicts and drawings of invented ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from apogee_lab.papers import claims, schedule
from apogee_lab.papers.catalogue import choose
from apogee_lab.papers.figure import Claim, Figure
from apogee_lab.results.finished import FinishedRun
from tests.unit.lab import raw_folders


class NoGuest:
    """An engine that only names images."""

    DEFAULT_KERNEL = "bookworm"

    def kernels(self) -> list[str]:
        return ["bookworm"]

    def kernel(self, name: str) -> str:
        return name

    def congestion_controls(self, kernel: str) -> set[str]:
        return {"reno", "cubic", "bbr", "highspeed", "scalable", "hybla", "vegas"}

    def image_key(self, kernel: str, own: list[str], extras: Any = ()) -> str:
        return f"{kernel} {own} {extras}"


def planned(
    *names: str, seeds: Sequence[int] | None = None, duration_s: float | None = None
) -> dict[str, list[schedule.PlannedRun]]:
    """The runs of these figures for engine uml."""
    return schedule.planned_runs(choose(list(names)), seeds, duration_s, NoGuest(), "uml")


def claim(figure: Figure, text: str, variant: str = "today") -> Claim:
    """The only claim of a figure and variant whose text begins so."""
    (found,) = (c for c in figure.claims if c.text.startswith(text) and variant in c.variants)
    return found


def holds(found: Claim, records: Iterable[dict[str, Any]]) -> bool:
    """Whether a claim holds for records so often repeated that their means leave no doubt."""
    runs = list(records)
    often = [record | {"seed": record["seed"] + 1000 * n} for n in range(20) for record in runs]
    verdict = found.check(claims.Results(often)).holds
    assert verdict in (claims.YES, claims.NO)
    return verdict == claims.YES


def as_runs(raw: Path, records: Iterable[dict[str, Any]]) -> list[FinishedRun]:
    """Finished runs with these records."""
    return [FinishedRun(raw, raw_folders.meta(), each) for each in records]


def runs_of_cells(
    raw: Path, figure: Figure, invented: Callable[..., dict[str, Any]]
) -> dict[str, list[FinishedRun]]:
    """Two runs of each cell, by variant."""
    found: dict[str, list[FinishedRun]] = {}
    for cell in figure.cells:
        records = [invented(cell, seed=seed) for seed in (1, 2)]
        found.setdefault(cell.variant, []).extend(as_runs(raw, records))
    return found


def lines_of(axes: Any) -> dict[str, list[float]]:
    """What error bars show, by label."""
    return {each.get_label(): list(each.lines[0].get_ydata()) for each in axes.containers}
