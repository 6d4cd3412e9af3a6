# SPDX-License-Identifier: GPL-2.0
"""Drawings of the paper on Compound TCP+: stations behind one access point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from ...results.finished import FinishedRun
from ...results.style import LIMIT_COLOUR, MARKERS, STYLE, colour
from .. import claims
from ..draw import (
    Runs,
    draw_bars,
    finish,
    panels_of,
    runs_at,
)
from ..figure import Figure
from .claims import index, mean_rtt, place

#: Panels of figures over the number of stations: title, measure, scale, axis.
_PARTS = (
    ("a", index, 1.0, "fairness index"),
    ("b", mean_rtt, 1.0, "mean RTT, ms"),
    ("c", claims.total, 1e-6, "total throughput, Mbit/s"),
)
RULE_COLOURS = {2: "#e69f00", 3: "#d62728", 4: "#7b3294"}


def _line_style(number: int, line: tuple[str, str, str, int | None]) -> dict[str, Any]:
    """An algorithm has its colour, a rule as published one of its own."""
    label, _, cc, rule = line
    tint = colour(cc) if label == cc or rule is None else RULE_COLOURS[rule]
    return {"color": tint, "marker": MARKERS[number], "label": label, "lw": 1.3, "dash": "-"}


def _stations_line(
    axes: Axes,
    runs: Runs,
    line: tuple[str, str, str, int | None],
    number: int,
    points: Mapping[float, claims.Point],
    measure: claims.Measure,
    scale: float,
) -> None:
    """A line over points, with a gap where nothing was measured."""
    _, variant, cc, rule = line
    values: dict[float, list[float]] = {}
    for x, point in points.items():
        found = runs_at(runs, variant, cc, place(rule, point))
        measured = [measure(run.record) for run in found]
        known = [value for value in measured if value is not None]
        if known:
            values[x] = known
    if values:
        style = _line_style(number, line)
        draw_bars(axes, list(values), list(values.values()), scale=scale, **style)


def _limit_line(axes: Axes, runs: Sequence[FinishedRun], ns: Sequence[int]) -> None:
    """The goodput while no ACK is lost, which depends on n where contention does."""
    limits = {run.record["set"]["n"]: run.record["limit_bps"] / 1e6 for run in runs}
    found = [n for n in ns if n in limits]
    if not found:
        return
    style = {"ls": "--", "color": LIMIT_COLOUR, "label": "limit, no ACK lost"}
    (line,) = axes.plot(found, [limits[n] for n in found], **style)
    axes.legend(handles=[line], fontsize=8)


def stations_over_n(figure: Figure, runs: Runs) -> Canvas:
    """Fairness index, mean RTT and total throughput over the number of stations, a row per stack
    or group of algorithms."""
    rows, ns = figure.options["rows"], figure.options["ns"]
    points = {n: {"n": n} for n in ns}
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(
            len(rows), 3, figsize=(16.0, 4.0 * len(rows)), squeeze=False, sharex=True, sharey="col"
        )
        for row, (title, lines) in zip(grid, rows.items(), strict=True):
            for axes, (part, measure, scale, label) in zip(row, _PARTS, strict=True):
                for number, line in enumerate(lines):
                    _stations_line(axes, runs, line, number, points, measure, scale)
                axes.set_title(f"{part}  {title}".strip(), loc="left", fontsize=10)
                axes.set_ylabel(label)
                axes.set_xticks(ns)
            row[0].legend(fontsize=8, loc="lower left")
            _limit_line(row[2], runs.get(lines[0][1], ()), ns)
        for axes in grid[-1]:
            axes.set_xlabel("n, stations")
        grid[0][0].set_ylim(0, 1.05)
        grid[0][1].set_ylim(bottom=0)
        canvas.suptitle(figure.title, x=0.125, ha="left", y=0.99 if len(rows) == 1 else 0.92)
        return canvas


def index_over_start(figure: Figure, runs: Runs) -> Canvas:
    """Fairness index over the time within which stations start, a panel per number of stations."""
    panels = figure.options["panels"]
    with plt.rc_context(STYLE):
        canvas, found = panels_of(list(panels))
        for axes, points in zip(found, panels.values(), strict=True):
            for number, line in enumerate(figure.options["lines"]):
                _stations_line(axes, runs, line, number, dict(enumerate(points.values())), index, 1)
            axes.set_xticks(range(len(points)), list(points))
            axes.set_xlabel("stations start within")
            axes.set_ylim(0, 1.05)
        found[0].set_ylabel("fairness index")
        return finish(canvas, found, figure.title)
