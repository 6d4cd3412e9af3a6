# SPDX-License-Identifier: GPL-2.0
"""What the papers' drawings share: panels, lines, the selection of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from ..results.finished import FinishedRun
from ..results.statistics import mean_interval
from ..results.style import colour, in_front
from ..scenarios.scenario import members
from . import claims, series
from .figure import Figure

#: The runs of a figure by variant, in the order of its cells and seeds.
Runs = Mapping[str, Sequence[FinishedRun]]

#: Titles of the variants' panels, if the figure has none of its own.
PANELS = {
    "today": "default stack",
    "period": "period stack",
    "bare": "period stack without timestamps",
    "letter": "as published",
}


def runs_at(runs: Runs, variant: str, cc: str, point: claims.Point) -> list[FinishedRun]:
    return [run for run in runs.get(variant, ()) if claims.is_at(run.record, cc, point)]


def tint(cc: str, flow: int = 0) -> str:
    mix = members(cc)
    return colour(mix[min(flow, len(mix) - 1)])


def panels_of(titles: Sequence[str], width: float = 5.6) -> tuple[Canvas, list[Axes]]:
    figure, grid = plt.subplots(
        1, len(titles), figsize=(width * len(titles) + 1.0, 4.2), squeeze=False, sharey=True
    )
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(PANELS.get(title, title), loc="left", fontsize=10)
    return figure, list(grid[0])


def finish(figure: Canvas, axes: Sequence[Axes], title: str) -> Canvas:
    for each in axes:
        each.legend(fontsize=8, ncols=2)
    figure.suptitle(title, x=0.125, ha="left", y=1.02)
    return figure


def variants_of(figure: Figure, runs: Runs) -> list[str]:
    wanted = figure.options.get("variants", ("today",))
    return [variant for variant in wanted if variant in runs]


def titles_of(figure: Figure, variants: Sequence[str]) -> list[str]:
    """Titles of the variants' panels: the figure's own, or else the keys of ``PANELS``."""
    return [figure.options.get("titles", {}).get(variant, variant) for variant in variants]


def draw_bars(
    axes: Axes,
    xs: Sequence[float],
    values: Sequence[Sequence[float]],
    dash: str,
    scale: float = 1e-6,
    **style: Any,
) -> None:
    """A line of means with their intervals; of bit/s in Mbit/s."""
    cells = [mean_interval(value * scale for value in each) for each in values]
    halves = [half or 0.0 for _, half in cells]
    means = [mean for mean, _ in cells]
    axes.errorbar(xs, means, yerr=halves, ls=dash, capsize=2.5, ms=4, **style)


def draw_lines_over_time(
    figure: Figure,
    runs: Runs,
    samples_of: Callable[[FinishedRun], Sequence[series.Samples | None]],
    scale: float,
) -> tuple[Canvas, list[Axes]]:
    """The samples of every flow of the first seed over time, a panel per variant."""
    variants = variants_of(figure, runs)
    until = figure.options.get("until_s")
    canvas, panels = panels_of(titles_of(figure, variants) if len(variants) > 1 else [""], 6.4)
    for axes, variant in zip(panels, variants, strict=True):
        for cc in figure.options["ccs"]:
            for run in runs_at(runs, variant, cc, figure.options["ber"])[:1]:
                for flow, found in enumerate(samples_of(run)):
                    if found is None:
                        continue
                    name = run.record["flows"][flow]["cc"]
                    axes.plot(
                        found[0],
                        found[1] * scale,
                        color=tint(cc, flow) if flow == 0 else colour("bbr"),
                        lw=1.4 if in_front(name) else 1.1,
                        label=f"{name}, flow {flow + 1}" if "+" in cc else name,
                        zorder=4 if in_front(name) else 3,
                    )
        end = max(run.record["duration_s"] for run in runs[variant])
        axes.set_xlim(0, min(end, until or end))
        axes.set_xlabel("time since the first data, s")
    panels[0].set_ylim(bottom=0)  # of all panels, after the last line
    return canvas, panels
