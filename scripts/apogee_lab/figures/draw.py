# SPDX-License-Identifier: GPL-2.0
"""The figures themselves, from records and, over time, from the raw folders of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from .. import records as measures
from .. import table, units
from ..plots import (
    COLOURS,
    FLOW_COLOURS,
    LIMIT_COLOUR,
    MARKERS,
    STYLE,
    Run,
    colour,
    goodput_over,
)
from ..scenario import members
from . import judges, judges_lfn, judges_wlan, series
from .model import Figure

#: The runs of a figure by variant, in the order of its cells and seeds.
Runs = Mapping[str, Sequence[Run]]

FIRST_FLOW, SECOND_FLOW = "-", "--"
PANELS = {
    "today": "today's stack",
    "period": "period stack",
    "bare": "period stack without timestamps",
    "letter": "the paper's letter (coexist=0, pacing=0)",
}


def _of(runs: Runs, variant: str, cc: str, point: judges.Point) -> list[Run]:
    return [run for run in runs.get(variant, ()) if judges.is_at(run.record, cc, point)]


def _tint(cc: str, flow: int = 0) -> str:
    mix = members(cc)
    return colour(mix[min(flow, len(mix) - 1)])


def _panels(titles: Sequence[str], width: float = 5.6) -> tuple[Canvas, list[Axes]]:
    figure, grid = plt.subplots(
        1, len(titles), figsize=(width * len(titles) + 1.0, 4.2), squeeze=False, sharey=True
    )
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(PANELS.get(title, title), loc="left", fontsize=10)
    return figure, list(grid[0])


def _finish(figure: Canvas, axes: Sequence[Axes], title: str) -> Canvas:
    for each in axes:
        each.legend(fontsize=8, ncols=2)
    figure.suptitle(title, x=0.125, ha="left", y=1.02)
    return figure


# --- over the bit error rate ------------------------------------------------------------------


def goodput_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Total goodput on today's stack; pairs of equal flows go by their algorithm's name."""
    found = []
    for run in runs["today"]:
        settings = {key: value for key, value in run.record["set"].items() if key != "trace"}
        found.append(run.record | {"cc": run.record["cc"].partition("+")[0], "set": settings})
    return goodput_over(found, "ber", figure.title)


def flows_over_ber(figure: Figure, runs: Runs) -> Canvas:
    """Goodput of each flow of a pair on today's stack, a panel per pair."""
    records = [run.record for run in runs["today"]]
    mixes = figure.options.get("ccs") or list(dict.fromkeys(record["cc"] for record in records))
    bers = sorted({record["set"]["ber"] for record in records})
    with plt.rc_context(STYLE):
        canvas, panels = _panels([mix.replace("+", " and ") for mix in mixes], 3.6)
        for axes, mix in zip(panels, mixes, strict=True):
            for flow, dash in enumerate((FIRST_FLOW, SECOND_FLOW)):
                _flow_line(axes, [r for r in records if r["cc"] == mix], flow, bers, dash)
            axes.set_xticks(range(len(bers)), [table.show(ber) for ber in bers])
            axes.set_xlabel("bit error rate")
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("goodput of a flow, Mbit/s")
        return _finish(canvas, panels, figure.title)


def _flow_line(
    axes: Axes, records: Sequence[dict[str, Any]], flow: int, bers: Sequence[float], dash: str
) -> None:
    cells = [
        table.mean_interval(
            r["flows"][flow]["goodput_bps"] / 1e6 for r in records if r["set"]["ber"] == ber
        )
        for ber in bers
    ]
    cc = records[0]["flows"][flow]["cc"]
    axes.errorbar(
        np.arange(len(bers)) + 0.04 * flow,
        [mean for mean, _ in cells],
        yerr=[half or 0.0 for _, half in cells],
        color=_tint(cc),
        ls=dash,
        capsize=2.5,
        marker=MARKERS[flow],
        ms=4,
        label=f"{cc}, flow {flow + 1}",
    )


# --- over time --------------------------------------------------------------------------------


def _titles(figure: Figure, runs: Runs) -> list[str]:
    wanted = figure.options.get("variants", ("today",))
    return [variant for variant in wanted if variant in runs]


def _lines_over_time(
    figure: Figure,
    runs: Runs,
    points: Callable[[Run], Sequence[series.Points | None]],
    scale: float,
) -> tuple[Canvas, list[Axes]]:
    """The first seed's series of every flow, a panel per variant."""
    variants = _titles(figure, runs)
    until = figure.options.get("until_s")
    canvas, panels = _panels(variants if len(variants) > 1 else [""], 6.4)
    for axes, variant in zip(panels, variants, strict=True):
        for cc in figure.options["ccs"]:
            for run in _of(runs, variant, cc, figure.options["ber"])[:1]:
                for flow, found in enumerate(points(run)):
                    if found is None:
                        continue
                    name = run.record["flows"][flow]["cc"]
                    axes.plot(
                        found[0],
                        found[1] * scale,
                        color=_tint(cc, flow) if flow == 0 else COLOURS["bbr"],
                        lw=1.4 if name == "star" else 1.1,
                        label=f"{name}, flow {flow + 1}" if "+" in cc else name,
                        zorder=4 if name == "star" else 3,
                    )
        end = max(run.record["duration_s"] for run in runs[variant])
        axes.set_xlim(0, min(end, until or end))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time since the first data, s")
    return canvas, panels


def windows(figure: Figure, runs: Runs) -> Canvas:
    """Congestion windows, from the senders' samples."""
    with plt.rc_context(STYLE):
        canvas, panels = _lines_over_time(
            figure, runs, lambda run: series.windows(run.raw, run.meta), 1e-3
        )
        bdp = next(iter(runs.values()))[0].record["bdp_bytes"] / 1e3
        for axes in panels:
            axes.axhline(bdp, ls="--", color=LIMIT_COLOUR, label="bandwidth-delay product")
        panels[0].set_ylabel("congestion window up to the receiver's, kB")
        return _finish(canvas, panels, figure.title)


def estimates(figure: Figure, runs: Runs) -> Canvas:
    """Bandwidth estimates of two STAR flows, means of each second."""

    def points(run: Run) -> list[series.Points | None]:
        seconds = int(run.record["duration_s"])
        found = series.estimates(run.raw, run.meta)
        middles = np.arange(seconds) + 0.5
        return [p and (middles, np.array(series.by_second(p, seconds))) for p in found]

    figure = Figure(**{**vars(figure), "options": {"ccs": ("star+star",), **figure.options}})
    with plt.rc_context(STYLE):
        canvas, panels = _lines_over_time(figure, runs, points, 1e-6)
        for axes in panels:
            axes.axhline(8, ls="--", color=LIMIT_COLOUR, label="the paper: 8 Mbit/s")
            axes.axhline(5, ls=":", color=LIMIT_COLOUR, label="half the link")
            axes.set_ylim(0, max(11.0, axes.get_ylim()[1]))
        panels[0].set_ylabel("bandwidth estimate, Mbit/s")
        return _finish(canvas, panels, figure.title)


def goodput_time(figure: Figure, runs: Runs) -> Canvas:
    """Goodput around the blackout, means of the seeds, a panel per variant."""
    variants = _titles(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = _panels(variants, 5.2)
        for axes, variant in zip(panels, variants, strict=True):
            begin, end = _blackout_span(runs[variant][0])
            times = np.arange(begin, end, 0.05)
            for cc in figure.options["ccs"]:
                lines = [
                    measures.rate_over(run.arrivals(), times * 1e6 + run.start_us, 0.5) / 1e6
                    for run in _of(runs, variant, cc, 0.0)
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
        return _finish(canvas, panels, figure.title)


def _blackout_span(run: Run) -> tuple[float, float]:
    events = {(name, what): at for name, what, at in measures.read_events(run.raw)}
    start = events[("ack_blackout", "on")] - run.start_us / 1e6
    return max(0.0, start - 3), min(run.record["duration_s"], start + 12)


# --- groups on the long fat pipe --------------------------------------------------------------

_FAST_DASH, _RENO_DASH, _TOTAL_DASH = "-", "--", ":"


def _named(figure: Figure, variants: Sequence[str]) -> list[str]:
    """Titles of the variants' panels, a figure's own before the common ones."""
    return [figure.options.get("titles", {}).get(variant, variant) for variant in variants]


def _bars(
    axes: Axes,
    xs: Sequence[float],
    values: Sequence[Sequence[float]],
    dash: str,
    scale: float = 1e-6,
    **style: Any,
) -> None:
    """A line of means with their intervals; of bit/s in Mbit/s."""
    cells = [table.mean_interval(value * scale for value in each) for each in values]
    halves = [half or 0.0 for _, half in cells]
    means = [mean for mean, _ in cells]
    axes.errorbar(xs, means, yerr=halves, ls=dash, capsize=2.5, ms=4, **style)


def groups_over_n(figure: Figure, runs: Runs) -> Canvas:
    """Goodput of the fast and of the Reno group over the number of fast senders; of the first
    algorithm the sum, too."""
    variants = _titles(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = _panels(_named(figure, variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            for number, cc in enumerate(figure.options["ccs"]):
                _group_lines(axes, figure, runs, variant, cc, with_sum=number == 0)
            limit = runs[variant][0].record["limit_bps"] / 1e6
            axes.axhline(limit, color=LIMIT_COLOUR, lw=0.8, label="limit of the link")
            axes.set_xticks(figure.options["ns"])
            axes.set_xlabel("N, fast senders")
            axes.set_ylim(0, 1.35 * limit)
        panels[0].set_ylabel("goodput of a group, Mbit/s")
        return _finish(canvas, panels, figure.title)


def _group_lines(
    axes: Axes, figure: Figure, runs: Runs, variant: str, cc: str, with_sum: bool
) -> None:
    lines = [
        ("fast", _FAST_DASH, f"{cc}", judges_lfn.group(judges_lfn.FAST)),
        ("reno", _RENO_DASH, f"10 reno beside {cc}", judges_lfn.group(judges_lfn.RENO)),
    ]
    if with_sum:
        lines.append(("sum", _TOTAL_DASH, f"both, {cc}", judges.total))
    for name, dash, label, measure in lines:
        ns = [n for n in figure.options["ns"] if n or name != "fast"]
        values = [
            [measure(run.record) for run in _of(runs, variant, *judges_lfn.place(cc, n))]
            for n in ns
        ]
        marker = {"fast": "o", "reno": "s", "sum": None}[name]
        _bars(axes, ns, values, dash, color=colour(cc), marker=marker, label=label)


def first_window(figure: Figure, runs: Runs) -> Canvas:
    """The first flow's window of the first seed, a panel per variant."""
    variants = _titles(figure, runs)
    with plt.rc_context(STYLE):
        canvas, panels = _panels(_named(figure, variants), 6.4)
        for axes, variant in zip(panels, variants, strict=True):
            run = _of(runs, variant, figure.options["cc"], figure.options["point"])[0]
            times, sizes = series.windows(run.raw, run.meta)[0]
            cc = figure.options["cc"]
            axes.plot(times, sizes / 1448, color=colour(cc), lw=1.0, label=f"{cc}, flow 1")
            begin = run.record["interval"]["from_s"]
            axes.axvline(begin, ls="--", color=LIMIT_COLOUR, label="measured from here on")
            axes.set_xlim(left=0)
            axes.set_xlabel("time since the first data, s")
        panels[0].set_ylim(bottom=0)  # of all panels, once all is drawn
        panels[0].set_ylabel("congestion window, packets")
        return _finish(canvas, panels, figure.title)


def model_over_delay(figure: Figure, runs: Runs) -> Canvas:
    """The lab's goodput and the model's over the shared link's delay: the fast flow above, Reno
    below, a column per buffer and variant."""
    columns = [
        (variant, buffer) for variant in _titles(figure, runs) for buffer in figure.options["lines"]
    ]
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(
            2, len(columns), figsize=(4.0 * len(columns) + 1, 6.6), squeeze=False, sharex=True,
            sharey="row",
        )  # fmt: skip
        groups = ((judges_lfn.FAST, grid[0]), (judges_lfn.RENO, grid[1]))
        for column, (variant, buffer) in enumerate(columns):
            grid[0][column].set_title(
                f"{PANELS.get(variant, variant)}, B = {buffer}", loc="left", fontsize=10
            )
            for group, row in groups:
                _model_lines(row[column], figure, runs, variant, buffer, group)
            grid[1][column].set_xlabel("one-way delay of the shared link, ms")
        grid[0][0].set_ylim(bottom=0)
        grid[1][0].set_yscale("log")
        grid[0][0].set_ylabel("goodput of HSTCP, Mbit/s")
        grid[1][0].set_ylabel("goodput of Reno, Mbit/s")
        grid[0][0].legend(fontsize=8)
        canvas.suptitle(f"{figure.title} (solid: lab, dashed: model)", x=0.125, ha="left", y=0.97)
        return canvas


def _model_lines(
    axes: Axes, figure: Figure, runs: Runs, variant: str, buffer: str, group: str
) -> None:
    for number, (access, line) in enumerate(figure.options["lines"][buffer].items()):
        found = [
            [run.record for run in _of(runs, variant, figure.options["cc"], point)]
            for _, point in line
        ]
        delays = [1e3 * units.parse("time", delay) for delay, _ in line]
        style = {"color": FLOW_COLOURS[number], "marker": MARKERS[number]}
        measure = judges_lfn.group(group)
        lab = [[measure(record) for record in records] for records in found]
        _bars(axes, delays, lab, "-", label=f"Reno's link {access}", **style)
        model = [[judges_lfn.predicted(records[0], group)[1]] for records in found]
        _bars(axes, delays, model, "--", mfc="none", **style)


# --- stations behind one access point ---------------------------------------------------------

#: Panels of figures over the number of stations: title, measure, scale, axis.
_PARTS = (
    ("a", judges_wlan.index, 1.0, "fairness index"),
    ("b", judges_wlan.mean_rtt, 1.0, "mean RTT, ms"),
    ("c", judges.total, 1e-6, "total throughput, Mbit/s"),
)
RULE_COLOURS = {2: "#e69f00", 3: "#d62728", 4: "#7b3294"}


def _line_style(number: int, line: tuple[str, str, str, int | None]) -> dict[str, Any]:
    """An algorithm by its colour; a rule to the letter by one of its own."""
    label, variant, cc, rule = line
    tint = colour(cc) if label == cc or rule is None else RULE_COLOURS[rule]
    dash = ":" if variant == "letter=1" else "-"
    return {"color": tint, "marker": MARKERS[number], "label": label, "lw": 1.3, "dash": dash}


def _stations_line(
    axes: Axes,
    runs: Runs,
    line: tuple[str, str, str, int | None],
    number: int,
    points: Mapping[float, judges.Point],
    measure: judges.Measure,
    scale: float,
) -> None:
    """A line over points; what was not measured leaves a gap."""
    _, variant, cc, rule = line
    values: dict[float, list[float]] = {}
    for x, point in points.items():
        found = _of(runs, variant, cc, judges_wlan.place(rule, point))
        measured = [measure(run.record) for run in found]
        known = [value for value in measured if value is not None]
        if known:
            values[x] = known
    if values:
        style = _line_style(number, line)
        _bars(axes, list(values), list(values.values()), scale=scale, **style)


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
            limit = next(iter(runs.values()))[0].record["limit_bps"] / 1e6
            line = row[2].axhline(limit, ls="--", color=LIMIT_COLOUR, label="limit, no ACK lost")
            row[2].legend(handles=[line], fontsize=8)
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
        canvas, found = _panels(list(panels))
        for axes, points in zip(found, panels.values(), strict=True):
            for number, line in enumerate(figure.options["lines"]):
                _stations_line(
                    axes, runs, line, number, dict(enumerate(points.values())), judges_wlan.index, 1
                )
            axes.set_xticks(range(len(points)), list(points))
            axes.set_xlabel("stations start within")
            axes.set_ylim(0, 1.05)
        found[0].set_ylabel("fairness index")
        return _finish(canvas, found, figure.title)


DRAWN: dict[str, Callable[[Figure, Runs], Canvas]] = {
    function.__name__: function
    for function in (
        goodput_over_ber, flows_over_ber, windows, estimates, goodput_time, groups_over_n,
        first_window, model_over_delay, stations_over_n, index_over_start,
    )
}  # fmt: skip
