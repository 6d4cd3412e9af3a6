# SPDX-License-Identifier: GPL-2.0
"""Drawings of the paper on SHAKE: lines over points, windows over time."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure as Canvas

from ...measures.raw import RawFolder, samples_of
from ...results.finished import FinishedRun
from ...results.style import FLOW_COLOURS, MARKERS, STYLE
from .. import claims
from ..draw import Runs, draw_bars, finish, panels_of, runs_at
from ..figure import Figure
from .charts import Chart

_DASHES = ("-", "--", ":")


def _records(runs: Runs, chart: Chart) -> claims.Results:
    return claims.Results(run.record for run in runs.get(chart.variant, ()))


def charts_over_points(figure: Figure, runs: Runs) -> Canvas:
    """A number over the points of each chart: a panel per chart, a line per way of sending."""
    told = figure.options
    charts: Sequence[Chart] = told["charts"]
    with plt.rc_context(STYLE):
        canvas, panels = panels_of([chart.title for chart in charts], 5.2)
        for axes, chart in zip(panels, charts, strict=True):
            found = _records(runs, chart)
            for number, line in enumerate(chart.lines):
                known = {
                    place: values
                    for place, at in enumerate(chart.points)
                    if chart.has(line, at)
                    and (values := chart.values(found, line, at, told["measure"]))
                }
                if known:
                    style = {
                        "color": FLOW_COLOURS[number % len(FLOW_COLOURS)],
                        "marker": MARKERS[number % len(MARKERS)],
                    }
                    dash = _DASHES[number // len(FLOW_COLOURS) % len(_DASHES)]
                    draw_bars(
                        axes, list(known), list(known.values()), dash, told["scale"],
                        label=line, **style,
                    )  # fmt: skip
            axes.set_xticks(range(len(chart.points)), chart.points, rotation=30)
            axes.set_xlabel(chart.over)
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(told["label"])
        return finish(canvas, panels, figure.title)


def _window(run: FinishedRun) -> tuple[Sequence[float], Sequence[float]]:
    """Seconds since the handshake, congestion window in segments, at each of the samples."""
    send = RawFolder(run.raw).sender(run.meta["flows"][0]["name"])
    return (samples_of(send, "t_us") - send["t0_us"]) / 1e6, samples_of(send, "snd_cwnd")


def cwnd_over_time(figure: Figure, runs: Runs) -> Canvas:
    """The congestion window of the first seed over time: a panel per chart, a line per way of
    sending."""
    charts: Sequence[Chart] = figure.options["charts"]
    with plt.rc_context(STYLE):
        canvas, panels = panels_of([chart.title for chart in charts], 6.4)
        for axes, chart in zip(panels, charts, strict=True):
            for number, line in enumerate(chart.lines):
                subject = chart.subject(line, next(iter(chart.points)))
                for run in runs_at(runs, chart.variant, *subject)[:1]:
                    axes.plot(*_window(run), color=FLOW_COLOURS[number], lw=1.1, label=line)
            axes.set_xlim(left=0)
            axes.set_xlabel("time since the SYN, s")
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel("congestion window, segments")
        return finish(canvas, panels, figure.title)
