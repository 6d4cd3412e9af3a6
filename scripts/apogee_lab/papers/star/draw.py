# SPDX-License-Identifier: GPL-2.0
"""Drawings of the paper on TCP-STAR: over the bit error rate, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from ...measures.arrivals import rate_over
from ...results.finished import FinishedRun
from ...results.plots import goodput_over
from ...results.statistics import mean_interval
from ...results.style import LIMIT_COLOUR, MARKERS, STYLE, colour
from ...results.text import show
from ...scenarios.scenario import members
from .. import series
from ..draw import (
    Runs,
    draw_lines_over_time,
    finish,
    panels_of,
    runs_at,
    tint,
    titles_of,
    variants_of,
)
from ..figure import Figure

MODES = ("today", "letter", "paced")
FIRST_FLOW, SECOND_FLOW = "-", "--"


def _in_modes(runs: Runs) -> list[FinishedRun]:
    """The runs on the default stack; those without star, which are the same in all modes, once."""
    return list({run.record["run"]: run for mode in MODES for run in runs.get(mode, ())}.values())


def goodput_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Total goodput on the default stack, star in each of its modes; pairs of equal flows have
    their algorithm's name."""
    found = []
    for run in _in_modes(runs):
        settings = {key: value for key, value in run.record["set"].items() if key != "trace"}
        found.append(run.record | {"cc": run.record["cc"].partition("+")[0], "set": settings})
    return goodput_over(found, "ber", figure.title)


def _pairs_by_panel(figure: Figure, runs: Runs) -> dict[str, list[dict[str, Any]]]:
    """The records of a pair with star in each of its modes, and those of the others, by title."""
    only, mixes = figure.options.get("only", {}), figure.options["ccs"]
    found: dict[str, list[dict[str, Any]]] = {}
    for mix in mixes:
        for mode, title in figure.options["titles"].items():
            if mode != "today" and "star" not in members(mix):
                continue
            name = mix.replace("+", " and ")
            name += f", {title}" if "star" in members(mix) else ""
            found[name] = [
                run.record
                for run in runs.get(mode, ())
                if run.record["cc"] == mix
                and all(run.record["set"].get(key) == value for key, value in only.items())
            ]
    return {name: records for name, records in found.items() if records}


def flows_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Goodput of each flow of a pair on the default stack, a panel per pair and mode of star."""
    pairs = _pairs_by_panel(figure, runs)
    bers = sorted({record["set"]["ber"] for records in pairs.values() for record in records})
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(list(pairs), 4.6)
        for axes, records in zip(panels, pairs.values(), strict=True):
            for flow, dash in enumerate((FIRST_FLOW, SECOND_FLOW)):
                _flow_line(axes, records, flow, bers, dash)
            axes.set_xticks(range(len(bers)), [show(ber) for ber in bers])
            axes.set_xlabel("bit error rate")
        panels[0].set_ylim(bottom=0)  # of all panels, after the last line
        panels[0].set_ylabel("goodput of a flow, Mbit/s")
        return finish(canvas, panels, figure.title)


def _flow_line(
    axes: Axes, records: Sequence[dict[str, Any]], flow: int, bers: Sequence[float], dash: str
) -> None:
    cells = [
        mean_interval(
            r["flows"][flow]["goodput_bps"] / 1e6 for r in records if r["set"]["ber"] == ber
        )
        for ber in bers
    ]
    cc = records[0]["flows"][flow]["cc"]
    axes.errorbar(
        np.arange(len(bers)) + 0.04 * flow,
        [mean for mean, _ in cells],
        yerr=[half or 0.0 for _, half in cells],
        color=tint(cc),
        ls=dash,
        capsize=2.5,
        marker=MARKERS[flow],
        ms=4,
        label=f"{cc}, flow {flow + 1}",
    )


def windows(figure: Figure, runs: Runs) -> Canvas:
    """What is under way, from the senders' samples."""
    with plt.rc_context(STYLE):
        canvas, panels = draw_lines_over_time(
            figure, runs, lambda run: series.under_way(run.raw, run.meta), 1e-3
        )
        bdp = next(iter(runs.values()))[0].record["bdp_bytes"] / 1e3
        for axes in panels:
            axes.axhline(bdp, ls="--", color=LIMIT_COLOUR, label="bandwidth-delay product")
        panels[0].set_ylabel("under way, kB")
        return finish(canvas, panels, figure.title)


def estimates(figure: Figure, runs: Runs) -> Canvas:
    """Bandwidth estimates of two STAR flows, means of each second."""

    def samples_of(run: FinishedRun) -> list[series.Samples | None]:
        seconds = int(run.record["duration_s"])
        found = series.estimates(run.raw, run.meta)
        middles = np.arange(seconds) + 0.5
        return [s and (middles, np.array(series.by_second(s, seconds))) for s in found]

    figure = Figure(**{**vars(figure), "options": {"ccs": ("star+star",), **figure.options}})
    with plt.rc_context(STYLE):
        canvas, panels = draw_lines_over_time(figure, runs, samples_of, 1e-6)
        for axes in panels:
            axes.axhline(8, ls="--", color=LIMIT_COLOUR, label="the paper: 8 Mbit/s")
            axes.axhline(5, ls=":", color=LIMIT_COLOUR, label="half the link")
            axes.set_ylim(0, max(11.0, axes.get_ylim()[1]))
        panels[0].set_ylabel("bandwidth estimate, Mbit/s")
        return finish(canvas, panels, figure.title)


def goodput_time(figure: Figure, runs: Runs) -> Canvas:
    """Goodput around the blackout, means of the seeds, a panel per variant."""
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(titles_of(figure, variants), 5.2)
        for axes, variant in zip(panels, variants, strict=True):
            begin, end = _blackout_span(runs[variant][0])
            times = np.arange(begin, end, 0.05)
            for cc in figure.options["ccs"]:
                lines = [
                    rate_over(run.arrivals(), times * 1e6 + run.start_us, 0.5) / 1e6
                    for run in runs_at(runs, variant, cc, 0.0)
                ]
                if lines:
                    mean = np.mean(lines, axis=0)
                    order = 4 if cc == "star" else 3
                    axes.plot(times, mean, color=colour(cc), label=cc, zorder=order)
            limit = runs[variant][0].record["limit_bps"] / 1e6
            axes.axhline(limit, ls="--", color=LIMIT_COLOUR, label="limit of the path")
            axes.set_ylim(0, 1.4 * limit)
            axes.set_xlim(begin, end)
            axes.set_xlabel("time since the first SYN, s")
        panels[0].set_ylabel("goodput over the last 0.5 s, Mbit/s")
        return finish(canvas, panels, figure.title)


def _blackout_span(run: FinishedRun) -> tuple[float, float]:
    start = run.folder.times["ack_blackout", "on"] - run.start_us / 1e6
    return max(0.0, start - 3), min(run.record["duration_s"], start + 12)
