# SPDX-License-Identifier: GPL-2.0
"""What is not in the paper: SSCOP below today's algorithms, the queue above it, windows, a step of
the bit error rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...results.statistics import mean_of
from ...results.text import NONE
from ..claims import LEAST, Check, Measure, NotMeasured, Results, Verdict, gain, percent, total
from ..figure import Cell, Claim, Figure
from . import tables
from .cells import ALONE, AUTO, BERS, CC, MANY, PATHS, SIZES, WORST, Radio, cell, point
from .claims import at_least, of_ideal, outermost, range_of

if TYPE_CHECKING:
    from ...results.finished import FinishedRun

PATH = PATHS["7"]
#: Of each algorithm the place of the bit error rate from which on SSCOP pays.
PAYS = {"reno": 1, "cubic": 1, "bbr": 4, "star": 3}
CCS = tuple(PAYS)
Extra = Callable[["FinishedRun"], dict[str, Any]]


# --- algorithms alone and above SSCOP ---------------------------------------------------------


def over_alone(cc: str, bers: Sequence[str], low: float) -> Check:
    """Goodput above SSCOP over that alone, at each bit error rate."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            over, alone = (results.values(cc, point(ber, s, PATH), total) for s in (AUTO, ALONE))
            parts.append(percent(ber, gain(over, alone), low, math.inf))
        return outermost(parts)

    return check


def pays_from(results: Results, cc: str) -> str:
    """The least bit error rate from which on SSCOP has more at every one."""
    found = NONE
    for ber in reversed(BERS):
        over, alone = (
            mean_of(results.values(cc, point(ber, s, PATH), total)).value for s in (AUTO, ALONE)
        )
        if over <= alone:
            break
        found = ber
    return found


def _alone_and_over(found: Mapping[str, Results]) -> list[str]:
    results = found.get("today", Results([]))
    rows = [["", "", *BERS, "SSCOP pays from"]]
    for cc in CCS:
        for segment, name in ((ALONE, "alone"), (AUTO, "over SSCOP")):
            cells = [
                tables.shown(results, point(ber, segment, PATH), total, 1e-6, 2, cc) for ber in BERS
            ]
            try:
                pays = "" if segment == ALONE else pays_from(results, cc)
            except NotMeasured:
                pays = NONE
            rows.append([cc, name, *cells, pays])
    text = f"Goodput in Mbit/s, {PATH.text}, segment=auto, by bit error rate."
    return tables.titled("Today's algorithms alone and over SSCOP", text, rows)


FIGURE_TODAY = Figure(
    name="today",
    title=f"Not in the paper: algorithms alone and over SSCOP ({PATH.text})",
    cells=[
        cell(ber, segment, PATH, "today", cc)
        for cc in CCS
        for segment in (ALONE, AUTO)
        for ber in BERS
    ],
    claims=[
        claim
        for cc, at in PAYS.items()
        for claim in (
            Claim(f"(ours) {cc} has more over SSCOP from {BERS[at]} on",
                  over_alone(cc, BERS[at:], LEAST)),
            Claim(f"(ours) below, SSCOP costs {cc} at most 4 %", over_alone(cc, BERS[:at], -0.04)),
        )
    ],
    draw="algorithms_over_ber",
    options={"ccs": CCS, "path": PATH, "bers": BERS},
    tables=_alone_and_over,
)  # fmt: skip


# --- the queue above SSCOP --------------------------------------------------------------------

#: The queue above SSCOP by its name in the table: the scenario's, and others. One is advised.
FIFO, ADVISED = "FIFO", "fq_codel, 300 ms, 1 s"
QUEUES = {
    FIFO: {"qdisc_limit": "1000"},
    "FIFO, 100 packets": {"qdisc_limit": "100"},
    "fq_codel, its defaults": {"qdisc": "fq_codel"},
    "fq_codel, 100 ms, 500 ms": {"qdisc": "fq_codel", "target": "100ms", "interval": "500ms"},
    ADVISED: {"qdisc": "fq_codel", "target": "300ms", "interval": "1s"},
}
_FIFO_WHY = (
    "a ping waits behind TCP's window in a FIFO, and that takes longer than on a link without "
    "errors: see the same claim with fq_codel"
)
_RECORDED = {"target": "0s", "interval": "0s", "qdisc_limit": 0, "qdisc": "pfifo"}
QUEUE_CCS = ("cubic", "bbr")
LIMITED, TUNED = 72, 0  # TCP's window in packets; autotuned
WINDOW_MS = LIMITED * 1514 * 8 / 2e6 * 1e3  # a window's time on the link
PING_MS = 3 * 100 + WINDOW_MS


def _queue_point(name: str, window: int, ber: str = WORST) -> dict[str, object]:
    words = _RECORDED | QUEUES[name]
    words["qdisc_limit"] = int(words["qdisc_limit"])
    return {**point(ber, AUTO), "window": window, "delay": PATH.delay, "ping": 1, **words}


def _queue_cell(name: str, cc: str, window: int) -> Cell:
    plain = cell(WORST, AUTO, Radio(PATH.delay, window), "today", cc)
    seeds = MANY if window == LIMITED and name in (FIFO, ADVISED) else plain.seeds
    return replace(plain, settings={**plain.settings, "ping": "1", **QUEUES[name]}, seeds=seeds)


def _ping(key: str) -> Measure:
    return lambda record: record.get("ping", {}).get(key)


def _rtt(key: str) -> Measure:
    return lambda record: record["flows"][0]["rtt_ms"][key]


_COLUMNS: dict[str, tuple[Measure, float, int]] = {
    "goodput Mbit/s": (total, 1e-6, 2),
    "RTT ms": (_rtt("mean"), 1.0, 0),
    "RTT 99 % ms": (_rtt("p99"), 1.0, 0),
    "ping ms": (_ping("mean_ms"), 1.0, 0),
    "ping 99 % ms": (_ping("p99_ms"), 1.0, 0),
    "ping max ms": (_ping("max_ms"), 1.0, 0),
}


def _queues(found: Mapping[str, Results]) -> list[str]:
    results = found.get("today", Results([]))
    rows = [["queue", "TCP", "window", *_COLUMNS]]
    for window, said in ((LIMITED, f"{LIMITED} packets"), (TUNED, "autotuned")):
        for cc in QUEUE_CCS:
            for name in QUEUES:
                at = _queue_point(name, window)
                cells = [tables.shown(results, at, *column, cc) for column in _COLUMNS.values()]
                rows.append([name, cc, said, *cells])
    text = (
        f"At 1e-4, {PATH.delay} each way, segment=auto, a ping every 100 ms beside the flow. "
        "Of fq_codel target and interval are named. The RTTs are TCP's, smoothed."
    )
    return tables.titled("The queue above SSCOP", text, rows, 3)


FIGURE_QUEUE = Figure(
    name="queue",
    title="Not in the paper: the queue above SSCOP (1e-4, 50ms)",
    cells=[
        _queue_cell(name, cc, window)
        for window in (LIMITED, TUNED)
        for cc in QUEUE_CCS
        for name in QUEUES
    ],
    claims=[
        claim
        for queue, why in ((FIFO, _FIFO_WHY), (ADVISED, ""))
        for claim in (
            Claim(
                f"(ours) {queue}: 99 % of the pings beside cubic below {PING_MS:.0f} ms, three "
                "times the path's RTT and a window's time",
                range_of({"": _queue_point(queue, LIMITED)}, _ping("p99_ms"), 0, PING_MS, 1, " ms",
                         0, "cubic"),
                why=why,
            ),
            Claim(
                f"(ours) {queue}: no ping takes longer than 1 s",
                range_of({"": _queue_point(queue, LIMITED)}, _ping("max_ms"), 0, 1000, 1, " ms",
                         0, "cubic"),
                why=why,
            ),
        )
    ],
    draw="bars",
    options={
        "bars": {
            (f"{name}, {cc}, {'autotuned' if window == TUNED else window}"):
                (cc, _queue_point(name, window))
            for window in (LIMITED, TUNED)
            for cc in QUEUE_CCS
            for name in QUEUES
        },
        "panels": {name: _COLUMNS[name] for name in ("goodput Mbit/s", "RTT ms", "ping 99 % ms")},
    },
    tables=_queues,
)  # fmt: skip


# --- windows ----------------------------------------------------------------------------------

TCP_WINDOWS = (18, 36, 72, 144, 288)
SDS = (256, 512, 768, 1024, 2048)
WINDOW_BERS = ("1e-6", "1e-4")


def _fifo(window: int) -> int:
    """Packets in the FIFO above SSCOP: with what is large, none may be dropped there."""
    return 1000 if window > LIMITED else 0


def _tcp_window_point(window: int, ber: str) -> dict[str, object]:
    own = {"sscop_window": 1024, "qdisc_limit": _fifo(window)}
    return point(ber, AUTO, Radio(PATH.delay, window)) | own


def _tcp_window_cell(window: int, ber: str) -> Cell:
    plain = cell(ber, AUTO, Radio(PATH.delay, window))
    own = {"qdisc_limit": str(_fifo(window))} if _fifo(window) else {}
    return replace(plain, settings={**plain.settings, **own})


def _sds_point(sds: int, ber: str) -> dict[str, object]:
    return point(ber, SIZES[0], PATH) | {"sscop_window": sds}


def _sds_cell(sds: int, ber: str) -> Cell:
    plain = cell(ber, SIZES[0], PATH)
    own = {} if sds == 1024 else {"sscop_window": str(sds)}
    return replace(plain, settings={**plain.settings, **own})


def _window_rows(
    results: Results, at: Callable[[int, str], dict[str, object]], windows: Sequence[int]
) -> list[list[str]]:
    rows = [["window", "bit error rate", "goodput Mbit/s", "% of ideal", "RTT ms", "RTT 99 % ms"]]
    for ber in WINDOW_BERS:
        for window in windows:
            where = at(window, ber)
            cells = [
                tables.shown(results, where, total, 1e-6, 2),
                tables.shown(results, where, of_ideal, 100.0, 1),
                tables.shown(results, where, _rtt("mean"), 1.0, 0),
                tables.shown(results, where, _rtt("p99"), 1.0, 0),
            ]
            rows.append([str(window), ber, *cells])
    return rows


def _windows(found: Mapping[str, Results]) -> list[str]:
    results = found.get("today", Results([]))
    return [
        *tables.titled(
            "TCP's window above SSCOP",
            f"In packets; {PATH.delay} each way, segment=auto, {CC}.",
            _window_rows(results, _tcp_window_point, TCP_WINDOWS),
        ),
        "",
        *tables.titled(
            "SSCOP's window",
            f"In SDs of {SIZES[0]} B; {PATH.text}, {CC}.",
            _window_rows(results, _sds_point, SDS),
        ),
    ]


FIGURE_WINDOW = Figure(
    name="window",
    title="Not in the paper: TCP's window and SSCOP's (50ms)",
    cells=[
        *(_tcp_window_cell(window, ber) for window in TCP_WINDOWS for ber in WINDOW_BERS),
        *(_sds_cell(sds, ber) for sds in SDS for ber in WINDOW_BERS),
    ],
    claims=[
        Claim(
            "(ours) a window of 512 SDs of 128 B limits throughput at 1e-4: below 90 % of the "
            "ideal",
            range_of({"": _sds_point(512, WORST)}, of_ideal, 0, 0.9, 100, " %", 1),
        ),
        Claim(
            "(ours) one of 1024 SDs does not: at least 92 %",
            at_least({"": _sds_point(1024, WORST)}, of_ideal, 0.92),
        ),
    ],
    draw="bars",
    options={
        "bars": {
            f"{what} {window}, {ber}": (CC, at(window, ber))
            for what, windows, at in (
                ("TCP", TCP_WINDOWS, _tcp_window_point), ("SSCOP", SDS, _sds_point)
            )
            for ber in WINDOW_BERS
            for window in windows
        },
        "panels": {
            "goodput Mbit/s": (total, 1e-6, 2),
            "% of ideal": (of_ideal, 100.0, 1),
            "RTT ms": (_rtt("mean"), 1.0, 0),
        },
    },
    tables=_windows,
)  # fmt: skip


# --- a step of the bit error rate -------------------------------------------------------------

STEP_AT, STEP_LONG, ADAPTS = 20, 20, 5  # seconds
GOOD = "1e-6"
#: The spans that count, in seconds: after each step, less the time to adapt.
SPANS = {
    "bad": (STEP_AT + ADAPTS, STEP_AT + STEP_LONG), "good": (STEP_AT + STEP_LONG + ADAPTS, 60),
}  # fmt: skip
EVENT = f"ber:{WORST}@{{{STEP_AT}}}s:{{{STEP_LONG}}}s"


def goodput_in_spans(run: FinishedRun) -> dict[str, Any]:
    """Goodput in each of the spans, which scale with the run."""
    (arrivals,) = run.arrivals()
    scale = run.record["duration_s"] / 60
    found = {}
    for name, (begin, end) in SPANS.items():
        times = [run.start_us + 1e6 * scale * at for at in (begin, end)]
        first, last = arrivals.until(times)
        found[name] = 8 * float(last - first) / (scale * (end - begin))
    return {"spans": found}


def _span(name: str) -> Measure:
    return lambda record: record["spans"][name]


def _adapts(name: str, ber: str) -> Check:
    """In a span segment=auto has at least 97 % of the best fixed size without a step."""

    def check(results: Results) -> Verdict:
        fixed = {size: results.values(CC, point(ber, size, PATH), _span(name)) for size in SIZES}
        best = max(SIZES, key=lambda size: fmean(fixed[size]))
        ours = [
            record["spans"][name]
            for record in results.of(CC, point(GOOD, AUTO, PATH))
            if record["set"]["event"] != "none"
        ]
        if not ours:
            raise NotMeasured("the step")
        label = f"over {best} B"
        return outermost([percent(label, gain(ours, fixed[best]), -0.03, math.inf)])

    return check


def _step_cell() -> Cell:
    plain = cell(GOOD, AUTO, PATH, seeds=MANY)
    return replace(plain, settings={**plain.settings, "event": EVENT})


FIGURE_STEP = Figure(
    name="step",
    title=f"Not in the paper: the bit error rate rises to 1e-4 for 20 s ({PATH.text})",
    cells=[_step_cell(), *(cell(ber, size, PATH) for ber in (GOOD, WORST) for size in SIZES)],
    claims=[
        Claim(
            "(ours) 5 s after the rise segment=auto is within 3 % of the best size at 1e-4",
            _adapts("bad", WORST),
        ),
        Claim(
            "(ours) 5 s after the fall it is within 3 % of the best size at 1e-6",
            _adapts("good", GOOD),
        ),
    ],
    draw="goodput_around_step",
    options={"cc": CC, "path": PATH, "bers": (GOOD, WORST), "sizes": (SIZES[0], SIZES[-1])},
    extra=goodput_in_spans,
)

FIGURES = (FIGURE_TODAY, FIGURE_QUEUE, FIGURE_WINDOW, FIGURE_STEP)


def window_at_end(until_s: float) -> Extra:
    """TCP's window in packets so many seconds after the SYN, if it has not been closed before."""

    def extra(run: FinishedRun) -> dict[str, Any]:
        from ...measures.raw import samples_of

        send = run.folder.sender(run.meta["flows"][0]["name"])
        times = (samples_of(send, "t_us") - send["syn_us"]) / 1e6
        return {"window_at_end": float(samples_of(send, "snd_cwnd")[times <= until_s][-1])}

    return extra
