# SPDX-License-Identifier: GPL-2.0
"""Figures from records and from the raw results of single runs (matplotlib, SVG and PNG)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from . import records as measures  # noqa: E402
from . import table, traces, units  # noqa: E402
from .records import RecordError  # noqa: E402
from .scenario import members  # noqa: E402

# One colour per algorithm in every figure.
COLOURS = {
    "star": "#c8102e",
    "hstcp_gentle": "#d55e00",
    "compound_plus": "#006d77",
    "compound": "#83a6a9",
    "j": "#e69f00",
    "bbr": "#0072b2",
    "cubic": "#009e73",
    "hybla": "#7b3294",
    "reno": "#555555",
    "westwood": "#56b4e9",
    "highspeed": "#8c564b",
    "scalable": "#d6499a",
    "constant": "#111111",
}
OTHERS = ["#aec7e8", "#98df8a", "#bcbd22", "#17becf", "#f7b6d2", "#c49c94", "#9edae5"]
LIMIT_COLOUR = "#888888"
# Flows of one run whose algorithms are the same.
FLOW_COLOURS = ["#d62728", "#0072b2", "#009e73", "#e69f00", "#7b3294", "#555555", "#56b4e9"]
MARKERS = "osD^vPX*<>hd"

STYLE = {
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "apogee",
}


@dataclass(frozen=True)
class Run:
    """One run with its raw folder: what the figures over time are drawn from."""

    raw: Path
    meta: dict[str, Any]
    record: dict[str, Any]

    @classmethod
    def load(cls, raw: Path) -> Run:
        """The finished run in this folder; RecordError if it is none."""
        try:
            meta = json.loads((raw / "run.json").read_text(encoding="utf-8"))["meta"]
            record = json.loads((raw / "record.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError):
            raise RecordError(f"{raw} is not the folder of a finished run") from None
        return cls(raw, meta, record)

    @property
    def start_us(self) -> int:
        """Time of the first SYN."""
        sends = (self.raw / f"{flow['name']}.send.json" for flow in self.meta["flows"])
        return min(json.loads(path.read_text(encoding="utf-8"))["syn_us"] for path in sends)

    @property
    def end_s(self) -> float:
        """Seconds from the first SYN to the end of what was measured."""
        interval = self.record.get("interval", {"from_s": 0.0, "over_s": self.record["duration_s"]})
        return interval["from_s"] + interval["over_s"]

    def arrivals(self) -> list[measures.Arrivals]:
        """What each flow's receiver had over time."""
        return [measures.read_arrivals(self.raw, flow["name"]) for flow in self.meta["flows"]]

    def trace(self, flow: int = 0) -> dict[str, traces.Series]:
        """The series of one flow; RecordError if nothing was traced."""
        path = self.raw / "trace.txt"
        series = traces.read(path, self.meta["flows"][flow]["port"]) if path.exists() else {}
        if not series:
            raise RecordError(
                f"run {self.record['run']} ({self.record['cc']}) has no trace: run it with "
                "--set trace=probe or --set trace=all"
            )
        if not traces.whole(self.raw):
            raise RecordError(
                f"the trace of run {self.record['run']} is not whole: trace a shorter run"
            )
        return series


def colour(cc: str) -> str:
    """The algorithm's colour; names without one of their own get a stable spare one."""
    used = set(members(cc))
    cc = used.pop() if len(used) == 1 else cc
    if cc in COLOURS:
        return COLOURS[cc]
    return OTHERS[sum(cc.encode()) % len(OTHERS)]


def labels(records: Sequence[dict[str, Any]], without: Iterable[str] = ()) -> list[str]:
    """What tells each record from the others: the algorithm and the settings that vary."""
    names = [name for name in table.varying(records) if name not in set(without)]
    result = []
    for record in records:
        settings = {**record, **record["set"]}
        words = [f"{n}={table.show(settings[n])}" for n in names if n in settings]
        result.append(" ".join([record["cc"], *words]))
    return result


def save(figure: Figure, out: Path) -> list[Path]:
    """Write ``out`` as its ending says, or both SVG and PNG if it has none of the two."""
    if out.suffix in (".svg", ".png"):
        paths = [out]
    else:
        paths = [out.with_name(out.name + ".svg"), out.with_name(out.name + ".png")]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        extra = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
        with plt.rc_context(STYLE):
            figure.savefig(path, bbox_inches="tight", **extra)
    plt.close(figure)
    return paths


def _name_lines(axes: Axes, ends: list[tuple[float, str, str]], end: float = 1.0) -> None:
    """Names right of the lines' ends, each at its height, pushed apart where they would collide.

    The lines end at ``end``, a fraction of the axes' width; a thin stroke leads to the name.
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
    """Where each value stands on the x axis, and whether that axis is logarithmic with 0 apart.

    Numbers that span a factor of 100 or more are placed by their logarithm, 0 one step before the
    smallest; other numbers as they are; words one after the other.
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
            f"a record of {record['cc']} has no parameter '{key}'; it has: "
            + ", ".join(record["set"])
        )
    return record["set"][key]


def goodput_over(records: list[dict[str, Any]], over: str, title: str = "") -> Figure:
    """Mean goodput over one parameter, a line per algorithm, 95 % intervals, the path's limit.

    Further scenario parameters that vary get a panel each, parameters of modules a line each.
    """
    values = list(dict.fromkeys(_value(record, over) for record in records))
    if all(isinstance(v, int | float) for v in values):
        values.sort()
    place, logarithmic = _positions(values)
    varying = [n for n in table.varying(records) if n != over]
    panel_names = [n for n in varying if "." not in n]

    def panel_of(record: dict[str, Any]) -> str:
        settings = {**record, **record["set"]}
        return ", ".join(f"{n} = {table.show(settings.get(n))}" for n in panel_names)

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
            axes.set_title(panel or title, loc="left", fontsize=10)
            _value_axis(axes, over, values, place, logarithmic)
            _goodput_lines(axes, inside, over, values, place, [*panel_names, over])
        grid[0][0].set_ylabel("goodput, Mbit/s")
        if title and any(panels):
            figure.suptitle(title, x=grid[0][0].get_position().x0, ha="left", y=1.0)
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
        means, halves = zip(*(table.mean_interval(found) for _, found in cells), strict=True)
        cc = ccs[name]
        front = cc == "star"
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


_AXIS_NAMES = {
    "ber": "bit error rate",
    "rate": "rate of the bottleneck",
    "delay": "one-way delay",
    "queue": "bottleneck's queue",
    "window": "windows of sender and receiver",
    "ack_rate": "rate of the return path",
    "ack_slot": "interval at which the return path releases ACKs",
}


def _value_axis(
    axes: Axes, over: str, values: list[Any], place: dict[str, float], logarithmic: bool
) -> None:
    axes.set_xlabel(_AXIS_NAMES.get(over, over))
    ticks = [place[repr(v)] for v in values]
    axes.set_xticks(ticks, [_tick(v) if logarithmic else table.show(v) for v in values])
    axes.minorticks_off()
    if logarithmic and 0 in values:
        # 0 has no place on a logarithmic axis: two strokes mark the gap.
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
    return table.show(value)


# --- single runs over time --------------------------------------------------------------------


def _time_axes(runs: Sequence[Run], span: tuple[float | None, float | None]) -> tuple[float, float]:
    begin = span[0] or 0.0
    end = span[1] if span[1] is not None else max(run.end_s for run in runs)
    if end <= begin:
        raise RecordError(f"nothing lies between {begin:g} s and {end:g} s")
    return begin, end


_BLACKOUT_NAMES = {"ack_blackout": "ACK blackout", "data_blackout": "data blackout"}


def _shade_blackouts(axes: Axes, runs: Sequence[Run]) -> None:
    """Grey where a blackout was, from the events of the first run that has one."""
    for run in runs:
        events = {
            (n, what): at - run.start_us / 1e6 for n, what, at in measures.read_events(run.raw)
        }
        for name in measures.BLACKOUTS:
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
    runs: list[Run],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
    window_s: float = 0.5,
) -> Figure:
    """Goodput over time from the receivers' bins, over the last ``window_s`` seconds.

    When a hole fills, all behind it arrives at once: such peaks are cut off at 1.3 times the limit.
    Runs that differ in nothing but the seed become one line, their mean, in a band from the
    lowest to the highest. One run alone with several flows shows each of them and their sum.
    """
    begin, end = _time_axes(runs, span)
    times = np.arange(begin, end + 1e-9, 0.02 if end - begin < 30 else 0.1)
    lines: dict[str, list[np.ndarray]] = {}
    tints: dict[str, str] = {}
    for name, run in zip(labels([run.record for run in runs]), runs, strict=True):
        ends = times * 1e6 + run.start_us
        arrivals = run.arrivals()
        apart = len(runs) == 1 and len(arrivals) > 1
        name = "all flows" if apart else name
        lines.setdefault(name, []).append(measures.rate_over(arrivals, ends, window_s) / 1e6)
        tints[name] = LIMIT_COLOUR if apart else colour(run.record["cc"])
        if apart:
            for (flow, tint, _, _), arrived in zip(_flows(runs), arrivals, strict=True):
                lines[flow] = [measures.rate_over([arrived], ends, window_s) / 1e6]
                tints[flow] = tint
    limit = max(run.record["limit_bps"] for run in runs) / 1e6
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.4, 4.0))
        highest = max(float(np.max(line)) for found in lines.values() for line in found)
        axes.set_xlim(begin, end)
        axes.set_ylim(0, 1.06 * max(limit, min(highest, 1.3 * limit)))
        axes.axhline(limit, ls="--", color=LIMIT_COLOUR, lw=1.2, zorder=1)
        ends = [(limit, "limit of the path", LIMIT_COLOUR)]
        for name, found in lines.items():
            tint, front = tints[name], tints[name] == COLOURS["star"]
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
            axes.set_title(title, loc="left", pad=16)
    return figure


# Series of our modules' tracepoints drawn beside the window when one run is shown alone.
_PARTS = {
    "cwnd_reno": ("cwnd_reno", "#0072b2", "-"),
    "cwnd_abe": ("cwnd_abe", "#e69f00", "-"),
    "ssthresh": ("ssthresh", "#555555", ":"),
}
_INFINITE = 2**30


def _window_series(series: dict[str, traces.Series]) -> tuple[np.ndarray, np.ndarray]:
    """Time and congestion window, from every event that tells it.

    tcp_probe tells the window an ACK finds, the modules' tracepoints the one it leaves behind, and
    the one a timeout has set.
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
    """One line over time: seconds since the first SYN, values, how it is drawn."""

    name: str
    tint: str
    times: np.ndarray
    values: np.ndarray
    width: float = 1.2
    dash: str = "-"


def _flows(runs: Sequence[Run]) -> list[tuple[str, str, Run, int]]:
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
    """The line between two times, with the value that holds at the first."""
    known = (line.times <= end) & (line.values < _INFINITE)
    times, values = line.times[known], line.values[known]
    first = max(0, int(np.searchsorted(times, begin, side="right")) - 1)
    return np.maximum(times[first:], begin), values[first:]


def _over_time(
    runs: Sequence[Run],
    lines: Sequence[Line],
    span: tuple[float | None, float | None],
    label: str,
    title: str,
    mark: tuple[float, str],
) -> Figure:
    """Lines that hold their values between events; ``mark`` is a height and its name."""
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
            axes.set_title(title, loc="left", pad=16)
    return figure


def window(
    runs: list[Run],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """Congestion window over time, in segments, from the trace of each run, a line per flow.

    One flow alone whose module has a tracepoint also shows the parts of its window.
    """
    flows = _flows(runs)
    lines = []
    for name, tint, run, index in flows:
        series = run.trace(index)
        start = run.start_us / 1e6
        times, values = _window_series(series)
        front = 1.8 if run.record["cc"] == "star" else 1.2
        lines.append(Line(name, tint, times - start, values, front))
        if len(flows) == 1:
            lines += _parts(series, start)
    pipe = runs[0].record["bdp_bytes"] / runs[0].record["set"].get("mtu", 1500)
    mark = (pipe, "bandwidth-delay product")
    return _over_time(runs, lines, span, "congestion window, segments", title, mark)


def mean_held(times: np.ndarray, values: np.ndarray, begin: float, end: float) -> float:
    """Mean over time of a value that holds between its events, where it has one."""
    edges = np.append(np.clip(times, begin, end), end)
    held = np.diff(edges)
    return float((values * held).sum() / held.sum()) if held.sum() > 0 else math.nan


def abe(
    runs: list[Run],
    title: str = "",
    span: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """The bandwidth estimate ABE over time, a line per flow whose module tells it, with its mean.

    The mean is taken over the time shown.
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
