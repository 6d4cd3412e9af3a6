# SPDX-License-Identifier: GPL-2.0
"""Drawings of the paper on Gentle HighSpeed TCP: groups on the long fat pipe, its model."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from ... import units
from ...results.style import FLOW_COLOURS, LIMIT_COLOUR, MARKERS, STYLE, colour
from .. import claims, series
from ..draw import (
    PANELS,
    Runs,
    draw_bars,
    finish,
    panels_of,
    runs_at,
    titles_of,
    variants_of,
)
from ..figure import Figure
from .claims import FAST, RENO, group, place, predicted

_FAST_DASH, _RENO_DASH, _TOTAL_DASH = "-", "--", ":"


def groups_over_n(figure: Figure, runs: Runs) -> Canvas:
    """Goodput of the fast and of the Reno group over the number of fast senders, and their sum for
    the first algorithm."""
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(titles_of(figure, variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            for number, cc in enumerate(figure.options["ccs"]):
                _group_lines(axes, figure, runs, variant, cc, with_sum=number == 0)
            limit = runs[variant][0].record["limit_bps"] / 1e6
            axes.axhline(limit, color=LIMIT_COLOUR, lw=0.8, label="limit of the link")
            axes.set_xticks(figure.options["ns"])
            axes.set_xlabel("N, fast senders")
            axes.set_ylim(0, 1.35 * limit)
        panels[0].set_ylabel("goodput of a group, Mbit/s")
        return finish(canvas, panels, figure.title)


def _group_lines(
    axes: Axes, figure: Figure, runs: Runs, variant: str, cc: str, with_sum: bool
) -> None:
    lines = [
        ("fast", _FAST_DASH, f"{cc}", group(FAST)),
        ("reno", _RENO_DASH, f"10 reno beside {cc}", group(RENO)),
    ]
    if with_sum:
        lines.append(("sum", _TOTAL_DASH, f"both, {cc}", claims.total))
    for name, dash, label, measure in lines:
        at = {
            n: [measure(run.record) for run in runs_at(runs, variant, *place(cc, n))]
            for n in figure.options["ns"]
            if n or name != "fast"
        }
        ns = [n for n, found in at.items() if found]  # a stack need not have all
        values = [at[n] for n in ns]
        marker = {"fast": "o", "reno": "s", "sum": None}[name]
        draw_bars(axes, ns, values, dash, color=colour(cc), marker=marker, label=label)


def first_window(figure: Figure, runs: Runs) -> Canvas:
    """The first flow's window of the first seed, a panel per variant."""
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(titles_of(figure, variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            run = runs_at(runs, variant, figure.options["cc"], figure.options["point"])[0]
            times, sizes = series.windows(run.raw, run.meta)[0]
            cc = figure.options["cc"]
            axes.plot(times, sizes / 1448, color=colour(cc), lw=1.0, label=f"{cc}, flow 1")
            begin = run.record["interval"]["from_s"]
            axes.axvline(begin, ls="--", color=LIMIT_COLOUR, label="measured from here on")
            axes.set_xlim(left=0)
            axes.set_xlabel("time since the first data, s")
        panels[0].set_ylim(bottom=0)  # of all panels, after the last line
        panels[0].set_ylabel("congestion window, packets")
        return finish(canvas, panels, figure.title)


def model_over_delay(figure: Figure, runs: Runs) -> Canvas:
    """The lab's goodput and the model's over the shared link's delay: the fast flow above, Reno
    below, a column per buffer and variant."""
    columns = [
        (variant, buffer)
        for variant in variants_of(figure, runs)
        for buffer in figure.options["lines"]
    ]
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(
            2, len(columns), figsize=(4.0 * len(columns) + 1, 6.6), squeeze=False, sharex=True,
            sharey="row",
        )  # fmt: skip
        rows = ((FAST, grid[0]), (RENO, grid[1]))
        for column, (variant, buffer) in enumerate(columns):
            grid[0][column].set_title(
                f"{PANELS.get(variant, variant)}, B = {buffer}", loc="left", fontsize=10
            )
            for name, row in rows:
                _model_lines(row[column], figure, runs, variant, buffer, name)
            grid[1][column].set_xlabel("one-way delay of the shared link, ms")
        grid[0][0].set_ylim(bottom=0)
        grid[1][0].set_yscale("log")
        grid[0][0].set_ylabel("goodput of HSTCP, Mbit/s")
        grid[1][0].set_ylabel("goodput of Reno, Mbit/s")
        grid[0][0].legend(fontsize=8)
        canvas.suptitle(f"{figure.title} (solid: lab, dashed: model)", x=0.125, ha="left", y=0.97)
        return canvas


def _model_lines(
    axes: Axes, figure: Figure, runs: Runs, variant: str, buffer: str, name: str
) -> None:
    for number, (access, line) in enumerate(figure.options["lines"][buffer].items()):
        found = [
            [run.record for run in runs_at(runs, variant, figure.options["cc"], point)]
            for _, point in line
        ]
        delays = [1e3 * units.parse("time", delay) for delay, _ in line]
        style = {"color": FLOW_COLOURS[number], "marker": MARKERS[number]}
        measure = group(name)
        lab = [[measure(record) for record in records] for records in found]
        draw_bars(axes, delays, lab, "-", label=f"Reno's link {access}", **style)
        model = [[predicted(records[0], name)[1]] for records in found]
        draw_bars(axes, delays, model, "--", mfc="none", **style)
