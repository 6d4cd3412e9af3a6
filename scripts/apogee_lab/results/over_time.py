# SPDX-License-Identifier: GPL-2.0
"""Figures over time, from the raw results of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from .. import units
from ..measures import traces
from ..measures.arrivals import rate_over
from ..measures.blackout import BLACKOUTS
from ..measures.record import RecordError
from .finished import FinishedRun
from .plots import _name_lines
from .style import (
    FLOW_COLOURS,
    LIMIT_COLOUR,
    OTHERS,
    STYLE,
    colour,
    in_front,
    labels,
)


def _time_axes(
    runs: Sequence[FinishedRun], span: tuple[float | None, float | None]
) -> tuple[float, float]:
    begin = span[0] or 0.0
    end = span[1] if span[1] is not None else max(run.end_s for run in runs)
    if end <= begin:
        raise RecordError(f"nothing lies between {begin:g} s and {end:g} s")
    return begin, end


_BLACKOUT_NAMES = {"ack_blackout": "ACK blackout", "data_blackout": "data blackout"}


def _shade_blackouts(axes: Axes, runs: Sequence[FinishedRun]) -> None:
    """Shade blackouts grey, from the events of the first run that has one."""
    for run in runs:
        events = {key: at - run.start_us / 1e6 for key, at in run.folder.times.items()}
        for name in BLACKOUTS:
            begin = events.get((name, "on"))
            if begin is not None:
                end = events.get((name, "off"), begin + 1)
                axes.axvspan(begin, end, color="#00000018", lw=0)
                axes.annotate(
                    _BLACKOUT_NAMES[name],
                    (begin, 1.005),
                    xycoords=("data", "axes fraction"),
                    fontsize=8,
                    color="#555555",
                )
                return


def goodput_time(
    runs: list[FinishedRun],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
    window_s: float = 0.5,
) -> Figure:
    """Goodput over time from the receivers' bins, over the last ``window_s`` seconds.

    When a hole is filled, all data behind it arrives at once; the axis ends at 1.3 times the limit,
    which cuts off such peaks. Runs that differ only in the seed become one line, their mean, with a
    band from the lowest to the highest. A single run with several flows shows each flow and the
    sum.
    """
    begin, end = _time_axes(runs, span)
    times = np.arange(begin, end + 1e-9, 0.02 if end - begin < 30 else 0.1)
    lines: dict[str, list[np.ndarray]] = {}
    tints: dict[str, str] = {}
    fronts: set[str] = set()
    for name, run in zip(labels([run.record for run in runs]), runs, strict=True):
        ends = times * 1e6 + run.start_us
        arrivals = run.arrivals()
        apart = len(runs) == 1 and len(arrivals) > 1
        name = "all flows" if apart else name
        lines.setdefault(name, []).append(rate_over(arrivals, ends, window_s) / 1e6)
        tints[name] = LIMIT_COLOUR if apart else colour(run.record["cc"])
        fronts |= {name} if not apart and in_front(run.record["cc"]) else set()
        if apart:
            flows = zip(_flows(runs), run.meta["flows"], arrivals, strict=True)
            for (flow, tint, _, _), told, arrived in flows:
                lines[flow] = [rate_over([arrived], ends, window_s) / 1e6]
                tints[flow] = tint
                fronts |= {flow} if in_front(told["cc"]) and tint == colour(told["cc"]) else set()
    limit = max(run.record["limit_bps"] for run in runs) / 1e6
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.4, 4.0))
        highest = max(float(np.max(line)) for found in lines.values() for line in found)
        axes.set_xlim(begin, end)
        axes.set_ylim(0, 1.06 * max(limit, min(highest, 1.3 * limit)))
        axes.axhline(limit, ls="--", color=LIMIT_COLOUR, lw=1.2, zorder=1)
        ends = [(limit, "limit of the path", LIMIT_COLOUR)]
        for name, found in lines.items():
            tint, front = tints[name], name in fronts
            mean = np.mean(found, axis=0)
            if len(found) > 1:
                axes.fill_between(
                    times,
                    np.min(found, axis=0),
                    np.max(found, axis=0),
                    color=tint,
                    alpha=0.15,
                    lw=0,
                )
            axes.plot(times, mean, color=tint, lw=2.0 if front else 1.2, zorder=4 if front else 3)
            ends.append((float(np.mean(mean[-max(1, len(mean) // 20) :])), name, tint))
        _shade_blackouts(axes, runs)
        axes.set_xlabel("time since the first SYN, s")
        axes.set_ylabel(f"goodput over the last {window_s:g} s, Mbit/s")
        _name_lines(axes, ends)
        if title:
            axes.set_title(title, loc="left", pad=16, parse_math=False)
    return figure


# Fields of this project's tracepoints that are drawn beside the window of a single run.
_PARTS = {
    "cwnd_reno": ("cwnd_reno", "#0072b2", "-"),
    "cwnd_abe": ("cwnd_abe", "#e69f00", "-"),
    "ssthresh": ("ssthresh", "#555555", ":"),
}
_INFINITE = 2**30


def _window_series(series: dict[str, traces.Series]) -> tuple[np.ndarray, np.ndarray]:
    """Time and congestion window, from every event that has it.

    tcp_probe has the window before an ACK is processed, the modules' tracepoints the window
    afterwards and after a timeout.
    """
    found = [
        (series[name]["t"], series[name][field])
        for name in sorted(series, key=lambda n: n != "tcp_probe")
        for field in ("snd_cwnd", "cwnd")
        if field in series[name]
    ]
    if not found:
        raise RecordError("the trace holds no congestion window")
    times = np.concatenate([t for t, _ in found])
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate([values for _, values in found])[order]


@dataclass(frozen=True)
class Line:
    """One line over time: seconds since the first SYN, values, style."""

    name: str
    tint: str
    times: np.ndarray
    values: np.ndarray
    width: float = 1.2
    dash: str = "-"


def _flows(runs: Sequence[FinishedRun]) -> list[tuple[str, str, FinishedRun, int]]:
    """(name, colour, run, number of the flow) of every flow of the runs."""
    names = labels([run.record for run in runs])
    if len(set(names)) < len(names):
        names = [f"{name} seed {run.record['seed']}" for name, run in zip(names, runs, strict=True)]
    found = []
    for name, run in zip(names, runs, strict=True):
        flows = run.meta["flows"]
        if len(flows) == 1:
            found.append((name, colour(run.record["cc"]), run, 0))
            continue
        ccs = [flow["cc"] for flow in flows]
        for index, flow in enumerate(flows):
            words = [*([name] if len(runs) > 1 else []), flow["name"]]
            words += [flow["cc"]] if len(runs) == 1 else []
            apart = len(set(ccs)) == len(ccs) and len(runs) == 1
            spare = (FLOW_COLOURS + OTHERS)[len(found) % len(FLOW_COLOURS + OTHERS)]
            found.append((" ".join(words), colour(flow["cc"]) if apart else spare, run, index))
    return found


def _inside(line: Line, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """The line between two times, starting with its value at the first."""
    known = (line.times <= end) & (line.values < _INFINITE)
    times, values = line.times[known], line.values[known]
    first = max(0, int(np.searchsorted(times, begin, side="right")) - 1)
    return np.maximum(times[first:], begin), values[first:]


def _over_time(
    runs: Sequence[FinishedRun],
    lines: Sequence[Line],
    span: tuple[float | None, float | None],
    label: str,
    title: str,
    mark: tuple[float, str],
) -> Figure:
    """Draw step lines; ``mark`` is the height and name of a horizontal line."""
    begin, end = _time_axes(runs, span)
    step = (end - begin) / 1500
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.4, 4.0))
        ends = []
        highest = 1.0
        for line in lines:
            times, values = _inside(line, begin, end)
            times, values = traces.thin(times, values, step)
            if len(times) == 0:
                continue
            axes.plot(
                times, values, color=line.tint, ls=line.dash, lw=line.width, drawstyle="steps-post"
            )
            highest = max(highest, float(values.max()))
            ends.append((float(values[-1]), line.name, line.tint))
        axes.set_xlim(begin, end)
        axes.set_ylim(0, 1.06 * highest)
        height, name = mark
        if 0 < height < 1.06 * highest:
            axes.axhline(height, ls="--", color=LIMIT_COLOUR, lw=1.2, zorder=1)
            ends.append((height, name, LIMIT_COLOUR))
        _shade_blackouts(axes, runs)
        axes.set_xlabel("time since the first SYN, s")
        axes.set_ylabel(label)
        _name_lines(axes, ends)
        if title:
            axes.set_title(title, loc="left", pad=16, parse_math=False)
    return figure


def window(
    runs: list[FinishedRun],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """Congestion window over time, in segments, from the trace of each run, a line per flow.

    For a single flow whose module has a tracepoint, the parts of its window are drawn, too.
    """
    flows = _flows(runs)
    lines = []
    for name, tint, run, index in flows:
        series = run.trace(index)
        start = run.start_us / 1e6
        times, values = _window_series(series)
        front = 1.8 if in_front(run.record["cc"]) else 1.2
        lines.append(Line(name, tint, times - start, values, front))
        if len(flows) == 1:
            lines += _parts(series, start)
    pipe = runs[0].record["bdp_bytes"] / runs[0].record["set"].get("mtu", 1500)
    mark = (pipe, "bandwidth-delay product")
    return _over_time(runs, lines, span, "congestion window, segments", title, mark)


def mean_held(times: np.ndarray, values: np.ndarray, begin: float, end: float) -> float:
    """Mean over time of a step function, where it has a value."""
    edges = np.append(np.clip(times, begin, end), end)
    held = np.diff(edges)
    return float((values * held).sum() / held.sum()) if held.sum() > 0 else math.nan


def abe(
    runs: list[FinishedRun],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """The bandwidth estimate ABE over time, a line per flow whose module traces it, with its mean.

    The mean is over the time shown.
    """
    begin, end = _time_axes(runs, span)
    lines = []
    for name, tint, run, index in _flows(runs):
        for fields in run.trace(index).values():
            if "bw" in fields:
                times, rate = fields["t"] - run.start_us / 1e6, fields["bw"] * 8 / 1e6
                mean = mean_held(times, rate, begin, end)
                lines.append(Line(f"{name}, mean {mean:.2f}", tint, times, rate))
    if not lines:
        raise RecordError(
            "no trace holds a bandwidth estimate: run star or j with --set trace=module"
        )
    rate = units.parse("rate", str(runs[0].record["set"].get("rate", "0")))
    mark = (float(rate) / 1e6, "rate of the bottleneck")  # type: ignore[arg-type]
    return _over_time(runs, lines, span, "bandwidth estimate, Mbit/s", title, mark)


def _parts(series: dict[str, traces.Series], start: float) -> list[Line]:
    found = []
    for event, fields in series.items():
        if event != "tcp_probe":
            for field, (name, tint, dash) in _PARTS.items():
                if field in fields:
                    found.append(Line(name, tint, fields["t"] - start, fields[field], 1.0, dash))
    return found
