# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on SHAKE (Ogino, Ishihara), 9 to 14, and those of ours.py.

Figures 1 to 8 are drawings. Section 6 has the second path at 150 to 290 ms, 6.2 at 10 ms: figures
11 and 12 are run at 10 and at 150 ms. Points that differ only in the figure share their runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from ..claims import FAR as FAR_ABOVE
from ..claims import LEAST, total
from ..claims import NEAR as NEARLY
from ..figure import Claim, Figure, Paper
from . import ours
from .cells import (
    AUTO,
    DROP,
    EQUAL,
    FAR,
    FEW,
    LETTER,
    LOSS,
    MANY,
    NARROW,
    NEAR,
    PLAIN,
    RIVALS,
    SCHEDULERS,
    TDAR,
    TODAY,
    VARIANTS,
    both_lose,
    way,
)
from .charts import Chart, over_points, runs, tables
from .claims import (
    Pairs,
    differences,
    gains,
    mean_window,
    over_best,
    share_needless,
    suffers_more,
)

LEGEND = """\
With the seeds of a full run, points on which a claim of the paper about loss or pauses hangs have
20, as in the paper, others five, those without anything random two: such runs are alike, and "± 0"
says nothing of how much timing matters. Where a claim is about many points the two outermost are
shown. A line is named by its scheduler (rr: round robin; ratio: delay ratio; rah) and by what
becomes of duplicate ACKs that the agent holds for needless: pass, drop, tdar, or auto, SHAKE's
default, which chooses by itself. "Little" is within 10 %, "far above" is by at least 50 %, "far
below" by 10. Needless are retransmissions that arrive although the receiver has their data, with
timestamps also data that comes too late to be taken (scenarios.md). Goodput counts TCP's payload;
each packet has 56 bytes of SHAKE's headers (IPv4, UDP, SHAKE's own 12, a tag of 16)."""

ACKS = (PLAIN, DROP, TDAR)
SEEN = (LETTER, NARROW, TODAY)
PANELS = {
    LETTER: "as published, window 40",
    NARROW: "as published, window 20",
    TODAY: "default (cubic)",
}


def _lines(
    variant: str, acks: Sequence[str], schedulers: Sequence[str] = SCHEDULERS
) -> dict[str, Mapping[str, str]]:
    """Each scheduler with each treatment of ACKs; today's with the device's own choice, too."""
    found = {f"{s} {a}": way(s, a, variant) for s in schedulers for a in acks}
    return found | ({f"rah {AUTO}": way("rah", AUTO, variant)} if variant == TODAY else {})


def _many(lines: Sequence[str], points: Sequence[str]) -> dict[tuple[str, str], int]:
    return {(line, at): MANY for line in lines for at in points}


# --- figures 9 and 10 -------------------------------------------------------------------------

_DELAYS = {
    LETTER: (EQUAL, "210ms", "230ms", FAR),
    NARROW: (EQUAL, "230ms", FAR),
    TODAY: (EQUAL, "230ms", FAR),
}
_WINDOWS_AT = "230ms"


def _nine(variant: str) -> Chart:
    lines = _lines(variant, (PLAIN, DROP))
    many = _many(list(lines), (EQUAL, FAR)) if variant == LETTER else {}
    if variant != TODAY:
        many |= _many((f"rr {PLAIN}", f"rr {DROP}"), (_WINDOWS_AT,))
    return Chart(
        PANELS[variant], variant, "delay of path 2",
        {delay: {"delay2": delay, **both_lose(LOSS)} for delay in _DELAYS[variant]},
        lines, seeds=many,
    )  # fmt: skip


NINE = {variant: _nine(variant) for variant in SEEN}


def _pairs(chart: Chart, a: str, b: str, points: Iterable[str]) -> Pairs:
    """Two lines at each point."""
    return {at: chart.pair(a, b, at) for at in points}


def _of_schedulers(
    chart: Chart, a: str, b: str, schedulers: Sequence[str], points: Iterable[str]
) -> Pairs:
    """Two treatments of ACKs, with each scheduler at each point."""
    return {
        f"{s} {at}": chart.pair(f"{s} {a}", f"{s} {b}", at) for s in schedulers for at in points
    }


def _nine_claims(variant: str) -> list[Claim]:
    chart = NINE[variant]
    small = [at for at in chart.points if at in (EQUAL, "210ms")]
    return [
        Claim(f"RAH has the highest goodput at every delay, {said}",
              over_best(chart.beside(f"rah {ack}", [f"{s} {ack}" for s in RIVALS]), LEAST),
              (variant,))
        for ack, said in ((PLAIN, "without dropping"), (DROP, "with dropping"))
    ] + [
        Claim(f"at {FAR} every scheduler has more with dropping",
              gains(_of_schedulers(chart, DROP, PLAIN, SCHEDULERS, [FAR]), LEAST), (variant,)),
        Claim("up to 210 ms dropping costs little",
              gains(_of_schedulers(chart, DROP, PLAIN, SCHEDULERS, small), -NEARLY, 0.0),
              (variant,)),
    ]  # fmt: skip


FIGURE_9 = over_points(
    "9",
    "Figure 9: goodput over the delay of the second path (0.1 % lost on both)",
    NINE.values(),
    [
        *(claim for variant in SEEN for claim in _nine_claims(variant)),
        Claim("(ours) RAH with ack=auto has at least 95 % of the best at every delay",
              over_best(NINE[TODAY].beside(f"rah {AUTO}", _lines(LETTER, (PLAIN, DROP))), -0.05)),
    ],
    "Figure 9: over the delay of the second path",
)  # fmt: skip


def _ten(variant: str) -> Chart:
    return Chart(
        PANELS[variant], variant, "delay of path 2",
        {_WINDOWS_AT: NINE[variant].points[_WINDOWS_AT]},
        {f"rr {ack}": way("rr", ack, variant) for ack in (PLAIN, DROP)},
        default=FEW if variant == TODAY else MANY,
    )  # fmt: skip


TEN = {variant: _ten(variant) for variant in SEEN}


def _ten_claims(variant: str) -> list[Claim]:
    chart = TEN[variant]
    plain, drop = (chart.subject(f"rr {ack}", _WINDOWS_AT) for ack in (PLAIN, DROP))
    return [
        Claim("without dropping at least half of what is sent again is needless (paper: 10 of 15)",
              share_needless({"": plain}, 0.5, 1.0), (variant,)),
        Claim("with dropping only what was lost is sent again: of 20 at most 1 is needless",
              share_needless({"": drop}, 0.0, 0.05), (variant,)),
        Claim("with dropping the window is larger",
              gains({"": (drop, plain)}, LEAST, measure=mean_window), (variant,)),
    ]  # fmt: skip


FIGURE_10 = Figure(
    name="10",
    title="Figure 10: the congestion window with round robin (second path at 230 ms, 0.1 % lost)",
    cells=runs(list(TEN.values())),
    claims=[claim for variant in SEEN for claim in _ten_claims(variant)],
    draw="cwnd_over_time",
    options={"charts": list(TEN.values())},
    tables=tables("Figure 10: round robin at 230 ms", list(TEN.values())),
)


# --- figures 11 and 12 ------------------------------------------------------------------------

_LOSSES = {LETTER: (LOSS, "0.5%", "1%"), NARROW: ("1%",), TODAY: (LOSS, "0.5%", "1%")}


def _over_loss(variant: str, delay: str, acks: Sequence[str]) -> Chart:
    schedulers = SCHEDULERS if variant == LETTER else ("rr", "rah")
    lines = _lines(variant, acks, schedulers)
    many = {}
    if variant == LETTER:
        many = _many([f"{s} {a}" for s in ("rr", "rah") for a in acks], ["1%"])
        many |= _many([f"rr {ack}" for ack in acks if ack != PLAIN], ["0.5%"])
    return Chart(
        f"{PANELS[variant]}, {delay}", variant, "loss of path 2",
        {loss: {"delay2": delay, "loss1": LOSS, "loss": loss} for loss in _LOSSES[variant]},
        lines, seeds=many,
    )  # fmt: skip


def _by_delay(acks: Sequence[str]) -> dict[tuple[str, str], Chart]:
    return {(v, d): _over_loss(v, d, acks) for d in (NEAR, EQUAL) for v in SEEN}


ELEVEN = _by_delay((PLAIN, DROP))
TWELVE = _by_delay(ACKS)


def _eleven_claims(variant: str, delay: str) -> list[Claim]:
    chart = ELEVEN[variant, delay]
    pairs = _of_schedulers(chart, DROP, PLAIN, ("rr", "rah"), ["1%"])
    return [
        Claim(f"{delay}: at 1 % goodput with dropping is far below that without",
              gains(pairs, -math.inf, -NEARLY), (variant,)),
        Claim(f"{delay}: at 1 % dropping costs round robin more than RAH",
              suffers_more(pairs["rr 1%"], pairs["rah 1%"]), (variant,)),
    ]  # fmt: skip


_CHARTS_11, _CHARTS_12 = list(ELEVEN.values()), list(TWELVE.values())
FIGURE_11 = over_points(
    "11",
    "Figure 11: goodput over the loss of the second path, dropping",
    _CHARTS_11,
    [claim for key in ELEVEN for claim in _eleven_claims(*key)],
)


def _twelve_claims(variant: str, delay: str) -> list[Claim]:
    chart = TWELVE[variant, delay]
    lossy = [at for at in chart.points if at != LOSS]
    pairs = _pairs(chart, f"rr {TDAR}", f"rr {DROP}", lossy)
    return [
        Claim(f"{delay}: from 0.5 % on TDAR gives round robin more than dropping",
              gains(pairs, LEAST), (variant,)),
        Claim(f"{delay}: by 5 to 20 kbit/s",
              differences(pairs, 5e3, 20e3, total, 1e-3, " kbit/s"), (variant,)),
        Claim(f"{delay}: with TDAR round robin has at most little less than without dropping",
              gains(_pairs(chart, f"rr {TDAR}", f"rr {PLAIN}", lossy), -NEARLY), (variant,)),
    ]  # fmt: skip


FIGURE_12 = over_points(
    "12",
    "Figure 12: goodput over the loss of the second path, dropping and TDAR",
    _CHARTS_12,
    [claim for key in TWELVE for claim in _twelve_claims(*key)],
    "Figures 11 and 12: over the loss of the second path",
)


# --- figure 13 --------------------------------------------------------------------------------

_CBRS = ("64kbit", "128kbit", "256kbit")
_SHOWN = (LETTER, TODAY)


def _thirteen(variant: str) -> Chart:
    acks = (PLAIN, TDAR) if variant == LETTER else (PLAIN,)
    points = {cbr: {"cbr": cbr, **both_lose(LOSS)} for cbr in _CBRS}
    return Chart(PANELS[variant], variant, "rate of the UDP flow", points, _lines(variant, acks))


THIRTEEN = {variant: _thirteen(variant) for variant in _SHOWN}


def _thirteen_claims(variant: str) -> list[Claim]:
    chart = THIRTEEN[variant]
    best = chart.beside(f"rah {PLAIN}", [f"{s} {PLAIN}" for s in RIVALS])
    return [
        Claim("RAH has the highest goodput at every rate", over_best(best, LEAST), (variant,)),
        Claim("RAH is far above the others", over_best(best, FAR_ABOVE), (variant,)),
    ]  # fmt: skip


FIGURE_13 = over_points(
    "13",
    "Figure 13: goodput beside a UDP flow on the second path (150 ms, 0.1 % lost)",
    THIRTEEN.values(),
    [claim for variant in _SHOWN for claim in _thirteen_claims(variant)],
    "Figure 13: beside a UDP flow",
)  # fmt: skip


# --- figure 14 --------------------------------------------------------------------------------

_PAUSES = {LETTER: ("250ms", "500ms", "750ms", "1s"), TODAY: ("250ms", "1s")}
_SHORT, _LONG = "250ms", "1s"


def _fourteen(variant: str) -> Chart:
    lines = _lines(variant, (PLAIN, TDAR), ("rr", "rah"))
    if variant == LETTER:
        lines[f"rr {DROP}"] = way("rr", DROP, variant)
    many = _many((f"rr {PLAIN}", f"rr {TDAR}", f"rah {PLAIN}"), (_SHORT, _LONG))
    points = {pause: {"outage": pause, **both_lose(LOSS)} for pause in _PAUSES[variant]}
    return Chart(
        PANELS[variant], variant, "mean pause", points, lines,
        seeds=many if variant == LETTER else {},
    )  # fmt: skip


FOURTEEN = {variant: _fourteen(variant) for variant in _SHOWN}


def _fourteen_claims(variant: str) -> list[Claim]:
    chart = FOURTEEN[variant]
    ahead = _pairs(chart, f"rah {PLAIN}", f"rr {PLAIN}", chart.points)
    relayed = _pairs(chart, f"rr {TDAR}", f"rr {PLAIN}", [_SHORT, _LONG])
    longer = {
        f"{name} {a} to {b}": (
            chart.subject(f"{name} {PLAIN}", b),
            chart.subject(f"{name} {PLAIN}", a),
        )
        for name in ("rr", "rah")
        for a, b in itertools.pairwise(chart.points)
    }
    return [
        Claim("goodput falls as pauses grow", gains(longer, -math.inf, -LEAST), (variant,)),
        Claim("with pauses of 1 s RAH has more than round robin",
              gains({_LONG: ahead[_LONG]}, LEAST), (variant,)),
        Claim("with pauses of 250 ms round robin has more",
              gains({_SHORT: ahead[_SHORT]}, -math.inf, -LEAST), (variant,)),
        Claim("TDAR gives round robin 5 to 10 %", gains(relayed, 0.05, 0.10), (variant,)),
    ]  # fmt: skip


FIGURE_14 = over_points(
    "14",
    "Figure 14: goodput with pauses of both links (150 ms, 0.1 % lost)",
    FOURTEEN.values(),
    [claim for variant in _SHOWN for claim in _fourteen_claims(variant)],
    "Figure 14: with pauses of both links",
)

_FIGURES = (
    FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, *ours.FIGURES,
)  # fmt: skip

SHAKE = Paper(
    name="shake",
    title="SHAKE, TCP over several paths (Ogino, Ishihara)",
    figures={figure.name: figure for figure in _FIGURES},
    forms={"as published": LETTER, "default": TODAY},
    variants=VARIANTS,
    legend=LEGEND,
)
