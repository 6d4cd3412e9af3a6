# SPDX-License-Identifier: GPL-2.0
"""Figures over a parameter, from records (matplotlib, SVG and PNG)."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from ..measures.record import RecordError
from ..scenarios import SCENARIOS
from . import table
from .statistics import mean_interval
from .style import LIMIT_COLOUR, MARKERS, STYLE, colour, in_front, labels
from .text import show


def _name_lines(axes: Axes, ends: list[tuple[float, str, str]], end: float = 1.0) -> None:
    """Write names to the right of the lines' ends, moved apart where they would overlap.

    The lines end at ``end``, a fraction of the axes' width; a thin line leads to the name.
    """
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    gap = 11.5 / height * (high - low)
    placed = sorted(ends)
    heights = [y for y, _, _ in placed]
    for _ in range(500):
        moved = False
        for i in range(len(heights) - 1):
            overlap = gap - (heights[i + 1] - heights[i])
            if overlap > 1e-3 * gap:
                heights[i] -= overlap / 2
                heights[i + 1] += overlap / 2
                moved = True
        if heights and heights[0] < low:
            heights[0] = low
        if not moved:
            break
    across = axes.get_yaxis_transform()
    for y, (true, text, tint) in zip(heights, placed, strict=True):
        axes.plot(
            [end + 0.01, 1.03], [true, y], color=tint, lw=0.6, alpha=0.6, transform=across,
            clip_on=False,
        )  # fmt: skip
        axes.annotate(
            text, (1.035, y), xycoords=("axes fraction", "data"), color=tint, va="center",
            fontsize=9, annotation_clip=False,
        )  # fmt: skip


# --- goodput over a parameter -----------------------------------------------------------------


def _positions(values: list[Any]) -> tuple[dict[str, float], bool]:
    """Position of each value on the x axis, and whether that axis is logarithmic.

    Numbers that span a factor of 100 or more are placed by their logarithm, 0 one decade before the
    smallest; other numbers by their value; words one after the other.
    """
    numbers = [v for v in values if isinstance(v, int | float)]
    if len(numbers) < len(values):
        return {repr(value): float(i) for i, value in enumerate(values)}, False
    positive = sorted(v for v in numbers if v > 0)
    if len(positive) > 1 and positive[-1] >= 100 * positive[0]:
        first = math.log10(positive[0])
        return {repr(v): math.log10(v) if v > 0 else first - 1.0 for v in values}, True
    return {repr(v): float(v) for v in values}, False


def _value(record: dict[str, Any], key: str) -> Any:
    if key not in record["set"]:
        raise RecordError(
            f"unknown parameter '{key}' of a record of {record['cc']}; choose from: "
            + ", ".join(record["set"])
        )
    return record["set"][key]


def goodput_over(records: list[dict[str, Any]], over: str, title: str = "") -> Figure:
    """Mean goodput over one parameter, a line per algorithm, 95 % intervals, the path's limit.

    Other scenario parameters that vary get one panel per value, module parameters one line each.
    """
    values = list(dict.fromkeys(_value(record, over) for record in records))
    if all(isinstance(v, int | float) for v in values):
        values.sort()
    place, logarithmic = _positions(values)
    varying = [n for n in table.varying(records) if n != over]
    panel_names = [n for n in varying if "." not in n]

    def panel_of(record: dict[str, Any]) -> str:
        settings = {**record, **record["set"]}
        return ", ".join(f"{n} = {show(settings.get(n))}" for n in panel_names)

    panels = list(dict.fromkeys(panel_of(record) for record in records))
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1, len(panels), figsize=(5.6 * len(panels) + 1.2, 4.2), squeeze=False, sharey=True
        )
        figure.subplots_adjust(wspace=0.32)
        top = max(record["limit_bps"] for record in records) / 1e6
        for axes, panel in zip(grid[0], panels, strict=True):
            inside = [record for record in records if panel_of(record) == panel]
            axes.set_ylim(0, 1.06 * top)
            axes.set_title(panel or title, loc="left", fontsize=10, parse_math=False)
            _value_axis(axes, _axis_name(records[0], over), values, place, logarithmic)
            _goodput_lines(axes, inside, over, values, place, [*panel_names, over])
        grid[0][0].set_ylabel("goodput, Mbit/s")
        if title and any(panels):
            left = grid[0][0].get_position().x0
            figure.suptitle(title, x=left, ha="left", y=1.0, parse_math=False)
    return figure


def _goodput_lines(
    axes: Axes,
    records: list[dict[str, Any]],
    over: str,
    values: list[Any],
    place: dict[str, float],
    without: list[str],
) -> None:
    names = labels(records, without)
    lines: dict[str, dict[str, list[float]]] = {}
    limits: dict[float, float] = {}
    ccs: dict[str, str] = {}
    for name, record in zip(names, records, strict=True):
        key = repr(record["set"][over])
        goodput = record["total_goodput_bps"] / 1e6
        lines.setdefault(name, {}).setdefault(key, []).append(goodput)
        limits[place[key]] = record["limit_bps"] / 1e6
        ccs[name] = record["cc"]
    at = sorted(limits)
    axes.plot(at, [limits[x] for x in at], "--", color=LIMIT_COLOUR, lw=1.2, zorder=1)
    ends = [(limits[at[-1]], "limit of the path", LIMIT_COLOUR)]
    for index, (name, points) in enumerate(lines.items()):
        cells = [(place[repr(v)], points[repr(v)]) for v in values if repr(v) in points]
        x = [position for position, _ in cells]
        means, halves = zip(*(mean_interval(found) for _, found in cells), strict=True)
        cc = ccs[name]
        front = in_front(cc)
        axes.errorbar(
            x,
            means,
            yerr=[half or 0.0 for half in halves],
            color=colour(cc),
            capsize=2.5,
            lw=2.2 if front else 1.3,
            elinewidth=1,
            marker=MARKERS[index % len(MARKERS)],
            ms=5 if front else 4,
            zorder=4 if front else 3,
            ls="--" if cc == "constant" else "-",
        )
        ends.append((means[-1], name, colour(cc)))
    left, right = axes.get_xlim()
    _name_lines(axes, ends, (at[-1] - left) / (right - left))


def _axis_name(record: dict[str, Any], over: str) -> str:
    """Label of the axis over a parameter."""
    scenario = SCENARIOS.get(record["scenario"])
    return scenario.axis(over) if scenario else over


def _value_axis(
    axes: Axes, name: str, values: list[Any], place: dict[str, float], logarithmic: bool
) -> None:
    axes.set_xlabel(name)
    ticks = [place[repr(v)] for v in values]
    axes.set_xticks(ticks, [_tick(v) if logarithmic else show(v) for v in values])
    axes.minorticks_off()
    if logarithmic and 0 in values:
        # 0 has no position on a logarithmic axis: two strokes mark the break.
        gap = (ticks[0] + ticks[1]) / 2
        for shift in (-0.03, 0.03):
            axes.plot(
                [gap + shift - 0.02, gap + shift + 0.02],
                [-0.015, 0.015],
                color="black",
                lw=1,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
            )
    margin = 0.06 * (max(ticks) - min(ticks) or 1.0)
    axes.set_xlim(min(ticks) - margin, max(ticks) + margin)


def _tick(value: float) -> str:
    if value <= 0:
        return "0"
    exponent = math.log10(value)
    if abs(exponent - round(exponent)) < 1e-9:
        return f"$10^{{{round(exponent)}}}$"
    return show(value)
