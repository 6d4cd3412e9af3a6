# SPDX-License-Identifier: GPL-2.0
"""Drawings of the paper on SSCOP: over the bit error rate, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from ...measures.arrivals import rate_over
from ...results.style import FLOW_COLOURS, LIMIT_COLOUR, MARKERS, STYLE, colour
from .. import claims
from ..draw import Runs, draw_bars, finish, panels_of, runs_at, variants_of
from ..figure import Figure
from . import theory
from .cells import ALONE, AUTO, PACKET, TIMER, Radio, point
from .claims import sds_again

PANELS = {
    "letter": "SSCOP by the paper's rules",
    TIMER: "the same, a POLL after 100 ms",
    "today": "SSCOP with its defaults",
}


def _titles(variants: Sequence[str]) -> list[str]:
    return [PANELS.get(variant, variant) for variant in variants]


def _over_ber(axes: Axes, bers: Sequence[str]) -> None:
    axes.set_xticks(range(len(bers)), bers, rotation=30)
    axes.set_xlabel("bit error rate")


def _measured(
    runs: Runs,
    variant: str,
    cc: str,
    points: Sequence[claims.Point],
    measure: claims.Measure,
) -> tuple[list[int], list[list[float]]]:
    """Places on the axis and values of the points that were measured."""
    places, values = [], []
    for place, at in enumerate(points):
        found = [measure(run.record) for run in runs_at(runs, variant, cc, at)]
        known = [value for value in found if value is not None]
        if known:
            places.append(place)
            values.append(known)
    return places, values


def _line(
    axes: Axes, places: Sequence[int], values: Sequence[Sequence[float]], scale: float, **style: Any
) -> None:
    if places:
        draw_bars(axes, places, values, style.pop("dash", "-"), scale, **style)


def lines_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """A number over the bit error rate: a line per segment size and for TCP alone, a panel per
    variant."""
    told = figure.options
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(_titles(variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            for number, (label, settings) in enumerate(told["lines"]):
                points = [{**point(ber, 0, told["path"]), **settings} for ber in told["bers"]]
                alone = settings["segment"] == ALONE
                places, values = _measured(runs, variant, told["cc"], points, told["measure"])
                style = {
                    "color": LIMIT_COLOUR if alone else FLOW_COLOURS[number % len(FLOW_COLOURS)],
                    "marker": MARKERS[number % len(MARKERS)],
                    "dash": "--" if alone else "-",
                }
                _line(axes, places, values, told["scale"], label=label, **style)
            _over_ber(axes, told["bers"])
            if told.get("log"):
                axes.set_yscale("symlog", linthresh=1)
        panels[0].set_ylim(bottom=0)  # of all panels, after the last line
        panels[0].set_ylabel(told["label"])
        return finish(canvas, panels, figure.title)


def sequence_over_time(figure: Figure, runs: Runs) -> Canvas:
    """Sequence numbers of the first seed over time, a line per segment size."""
    told = figure.options
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(_titles(variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            sizes = dict.fromkeys(run.record["set"]["segment"] for run in runs[variant])
            for number, size in enumerate(sizes):
                at = {"segment": size, **told["path"].point()}
                found = runs_at(runs, variant, told["cc"], at)[0].record["sequence"]
                style = {"color": FLOW_COLOURS[number], "label": f"{size} B"}
                axes.plot(found[f"{told['key']}_s"], found[told["key"]], **style)
            axes.set_xlim(0, told["until_s"])
            axes.set_xlabel("time since the SYN, s")
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(told["label"])
        return finish(canvas, panels, figure.title)


def theory_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Retransmissions for 10 000 packets: measured (marks), the sum over the real frames (lines),
    the paper's formula (dots) and its correction (dashes)."""
    told = figure.options
    variants = variants_of(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(_titles(variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            for number, size in enumerate(told["sizes"]):
                points = [point(ber, size) for ber in told["bers"]]
                places, values = _measured(runs, variant, told["cc"], points, sds_again)
                style = {"color": FLOW_COLOURS[number]}
                _line(
                    axes,
                    places,
                    values,
                    1.0,
                    dash="",
                    marker=MARKERS[number],
                    label=f"{size} B, measured",
                    **style,
                )
                for formula, dash in (
                    (theory.of_frames, "-"),
                    (theory.of_the_paper, ":"),
                    (theory.corrected, "--"),
                ):
                    curve = [formula(float(ber), size, PACKET) for ber in told["bers"]]
                    axes.plot(range(len(curve)), curve, ls=dash, lw=0.9, **style)
            _over_ber(axes, told["bers"])
            axes.set_yscale("symlog", linthresh=1)
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel("retransmissions for 10 000 packets")
        title = f"{figure.title}\nlines: real frames, dots: the paper, dashes: corrected"
        return finish(canvas, panels, title)  # fmt: skip


def algorithms_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Goodput of each algorithm alone and over SSCOP."""
    told = figure.options
    with plt.rc_context(STYLE):
        canvas, panels = panels_of(["alone", "over SSCOP"], 5.6)
        for axes, segment in zip(panels, (ALONE, AUTO), strict=True):
            for number, cc in enumerate(told["ccs"]):
                points = [point(ber, segment, told["path"]) for ber in told["bers"]]
                places, values = _measured(runs, "today", cc, points, claims.total)
                _line(
                    axes, places, values, 1e-6, color=colour(cc), marker=MARKERS[number], label=cc
                )
            _over_ber(axes, told["bers"])
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel("goodput, Mbit/s")
        return finish(canvas, panels, figure.title)  # fmt: skip


def bars(figure: Figure, runs: Runs) -> Canvas:
    """Points as bars, a panel per number."""
    told: Mapping[str, Any] = figure.options
    names = list(told["bars"])
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(
            1, len(told["panels"]), figsize=(4.2 * len(told["panels"]) + 2, 0.3 * len(names) + 1.5),
            sharey=True, squeeze=False,
        )  # fmt: skip
        for axes, (title, (measure, scale, _)) in zip(grid[0], told["panels"].items(), strict=True):
            means = []
            for cc, at in told["bars"].values():
                found = [measure(run.record) for run in runs_at(runs, "today", cc, at)]
                known = [scale * value for value in found if value is not None]
                means.append(float(np.mean(known)) if known else 0.0)
            axes.barh(range(len(names)), means, color=FLOW_COLOURS[1])
            axes.set_yticks(range(len(names)), names)
            axes.set_xlabel(title)
        grid[0][0].invert_yaxis()
        canvas.suptitle(figure.title, x=0.125, ha="left", y=0.99)
        return canvas


def goodput_around_step(figure: Figure, runs: Runs) -> Canvas:
    """Goodput over time of the runs with a step, and without one at both bit error rates."""
    told = figure.options
    path: Radio = told["path"]
    lines: list[tuple[str, dict[str, object]]] = [
        ("segment=auto, step", point(told["bers"][0], AUTO, path))
    ]
    lines += [
        (f"{size} B, {ber}", point(ber, size, path))
        for ber in told["bers"]
        for size in told["sizes"]
    ]
    with plt.rc_context(STYLE):
        canvas, (axes,) = panels_of([""], 8.0)
        for number, (label, at) in enumerate(lines):
            found = runs_at(runs, "today", told["cc"], at)
            if not found:
                continue
            times = np.arange(1.0, found[0].record["duration_s"], 0.1)
            rates = [
                rate_over(run.arrivals(), times * 1e6 + run.start_us, 1.0) / 1e6 for run in found
            ]
            style = {"lw": 1.6 if not number else 0.9, "ls": "-" if not number else "--"}
            mean = np.mean(rates, axis=0)
            axes.plot(times, mean, color=FLOW_COLOURS[number], label=label, **style)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time since the SYN, s")
        axes.set_ylabel("goodput over the last second, Mbit/s")
        return finish(canvas, [axes], figure.title)
