# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on TCP-STAR (Obata, Taira, Ishida), 5 to 8 and 10 to 20.

Figures 1 to 4 and 9 are flow charts and drawings of the testbed. Figures that show the same point
share its cell and so its runs. That is why pairs at 1e-8 and 625 kB are traced in every figure:
figure 15 needs their estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ...results.text import show
from ...scenarios.scenario import members
from ..claims import (
    ABE,
    BERS,
    FAR,
    NEAR,
    QUARTER,
    Check,
    above,
    alternating,
    always_highest,
    back_at,
    between,
    beyond,
    estimate,
    flow_above,
    flows_equal,
    full_at,
    keeps,
    larger_and_smaller,
    later,
    less,
    same,
    slightly_below,
    swings,
    timeouts,
    under_way,
    vary_alike,
    windows_alike,
)
from ..figure import Cell, Claim, Figure, Paper
from ..variants import PERIOD, PERIOD_TEXT, listed

BER_TEXTS = ("0", "1e-8", "1e-7", "1e-6", "1e-5")
RIVALS = ("j", "highspeed", "scalable", "reno")  # the paper's, in its order
SINGLE = ("star", *RIVALS)
MODERN = ("cubic", "bbr")  # not in the paper
LONG, SHORT = "625kB", "15kB"  # queues of the router
PERIOD_BERS = ("0", "1e-8")  # also measured on the period stack
BDP_KB = 625.0
FREQUENT = 2.0  # timeouts of two flows in a run: one each
#: The filter of the published estimate was chosen on seeds 1 to 5: figure 15 is judged on others.
FRESH_SEED, FRESH_SEEDS = 6, 10

#: star by the paper's rules, unpaced as on the paper's hosts; the same, paced; as it is by default;
#: that, but unpaced.
LETTER, PACED, TODAY, UNPACED = "letter", "paced", "today", "unpaced"
MODES = (LETTER, PACED, TODAY)
_STACKS = {"period": PERIOD, "bare": {**PERIOD, "tcp_timestamps": "0", "tcp_dsack": "0"}}
_STAR = {
    LETTER: {"star.coexist": "0", "star.pacing": "0"},
    PACED: {"star.coexist": "0"},
    UNPACED: {"star.pacing": "0"},
}
LETTER_PERIOD, LETTER_BARE = "letter+period", "letter+bare"
UNPACED_PERIOD = "unpaced+period"
#: The stack without what is newer than the paper, in each mode that runs on it.
_PERIODS = ("period", LETTER_PERIOD, UNPACED_PERIOD)
VARIANTS = {
    TODAY: "Linux and star with their defaults",
    LETTER: f"Linux with its defaults, star as published ({listed(_STAR[LETTER])})",
    PACED: f"the same, but paced ({listed(_STAR[PACED])})",
    UNPACED: f"Linux and star with their defaults, but unpaced ({listed(_STAR[UNPACED])})",
    "period": f"{PERIOD_TEXT} ({listed(PERIOD)}); SACK and timestamps on; star with its defaults",
    "bare": "the period stack without timestamps and D-SACK, so that no timeout is undone",
    LETTER_PERIOD: "star as published on the period stack",
    LETTER_BARE: "star as published on the stack of [bare]",
    UNPACED_PERIOD: "star with its defaults, but unpaced, on the period stack",
}

LEGEND = """\
"Nearly equal", "alike", "about" and "keeps" are within 10 % (what is under way in figures 17 and
18, where the paper's own means are 24 % apart, within a quarter). Ours must be within a quarter of
the paper's number, 8 Mbit/s from 7 to 9. In figure 8 "47 to 48 s" is from 46 s, when the ACKs are
back, to 48 and "53 s" from 52 to 54, as if the blackout began at 45 s. Timeouts are "frequent" from
one per flow and run of 60 s on. "Alike" windows have means that are. "Far above" is at least 50 %,
"slightly below" at most 10 % (figure 20, where single flows are compared: a quarter), "vary alike"
a correlation of at least 0.5 by the second, "always highest" no other above it in 95 % of the
seconds. For the paper's windows there is what is under way: beyond the receive window Linux lets
the congestion window grow to twice what is used. The swing of a series is its standard deviation
over its mean; from 20 % on it is large. It and estimates leave out the first sixth of a run.
"Alternating": the two estimates' correlation is at least 0.2 below that of estimates of different
runs. The filter of the published estimate is one of eight candidates, chosen because it meets
figure 15 on seeds 1 to 5; figure 15 is judged on seeds 6 to 15. A flow that does not recover from a
blackout, or does not fill the link, counts with the end of its run. The difference of two equal
flows is given over their mean. With one flow and without bit errors nothing is random, but the
moment of the blackout in figure 8: where an interval is "± 0.0" all runs are the same one, and the
verdict is that of one run."""


def _settings(cc: str, variant: str) -> dict[str, str]:
    """Those of a variant that concern an algorithm or a pair: the stack's, and star's if it is
    there. Runs without star are the same in all its modes."""
    mode, _, stack = variant.rpartition("+")
    settings = dict(_STACKS.get(stack, {}))
    return settings | (_STAR.get(mode or stack, {}) if "star" in members(cc) else {})


def _single(cc: str, ber: str, variant: str = TODAY) -> Cell:
    return Cell("satellite", cc, {"ber": ber, **_settings(cc, variant)}, variant)


def _singles(ccs: Sequence[str], bers: Sequence[str], variants: Sequence[str]) -> list[Cell]:
    return [_single(cc, ber, variant) for variant in variants for cc in ccs for ber in bers]


def _blackout(cc: str, variant: str) -> Cell:
    settings = {"ber": "0", "ack_blackout": "{45}s:1s", "blackout_spread": "500ms"}
    return Cell("satellite", cc, settings | _settings(cc, variant), variant)


def _pair(mix: str, ber: str, queue: str, variant: str = TODAY, trace: bool = False) -> Cell:
    settings = {"ber": ber, "queue": queue, **_settings(mix, variant)}
    if trace:
        settings["trace"] = "module"
    return Cell("satellite-shared", mix, settings, variant)


def twice(cc: str) -> str:
    """The mix of two equal flows."""
    return f"{cc}+{cc}"


def _pairs(
    mixes: Iterable[str],
    queue: str,
    variants: Sequence[str] = MODES,
    bers: Sequence[str] = BER_TEXTS,
) -> list[Cell]:
    return [_pair(mix, ber, queue, v) for v in variants for mix in mixes for ber in bers]


_TITLES = {LETTER: "as published", PACED: "as published, paced", TODAY: "default"}

# --- one flow ---------------------------------------------------------------------------------

# From the text on figure 5: gains over each at 1e-8.
_GAINS = {"reno": 1.52, "highspeed": 0.959, "scalable": 0.416, "j": 0.135}
FIGURE_5 = Figure(
    name="5",
    title="Figure 5: throughput over bit error rate, one flow",
    cells=[
        *_singles((*SINGLE, *MODERN), BER_TEXTS, MODES),
        *_singles(SINGLE, ["1e-8"], ("period", LETTER_PERIOD)),
    ],
    claims=[
        Claim("STAR highest at every BER", above("star", RIVALS), MODES),
        *(
            Claim(
                f"at 1e-8 STAR {100 * paper:+.4g} % over {cc}",
                beyond("star", cc, paper, 1e-8),
                (*MODES, "period", LETTER_PERIOD),
            )
            for cc, paper in _GAINS.items()
        ),
        Claim("at BER 0 the others nearly equal", same(RIVALS, {"ber": 0.0}), others=True),
        Claim("(ours) STAR also above cubic and bbr", above("star", MODERN), MODES),
    ],
    draw="goodput_over_ber",
)

FIGURE_6 = Figure(
    name="6",
    title="Figure 6: bytes under way, BER 1e-7, one flow",
    cells=_singles(SINGLE, ["1e-7"], MODES),
    claims=[
        Claim(
            "STAR's window always highest",
            always_highest("star", RIVALS, 1e-7),
            MODES,
        ),
        Claim(
            "STAR settles near 625 kB, which the receive window does not let it exceed: at least "
            "nine tenths are under way",
            between([("mean", "star", 1e-7, under_way(0))], BDP_KB * 900, math.inf, 1e-3, " kB", 0),
            MODES,
        ),
    ],
    draw="windows",
    options={"ccs": SINGLE, "ber": 1e-7, "variants": MODES, "titles": _TITLES},
)

FIGURE_7 = Figure(
    name="7",
    title="Figure 7: bytes under way, BER 0, one flow",
    cells=_singles(SINGLE, ["0"], MODES),
    claims=[
        Claim(
            "STAR's window full within 2 s of the first data: 90 % of the link are used",
            between([("star", "star", 0.0, full_at)], 0.0, 2.0, 1, " s", 2),
            MODES,
        ),
        Claim("the others later than STAR", later("star", RIVALS, 0.0, full_at), MODES),
        Claim(
            "the others need 9 s",
            between([(cc, cc, 0.0, full_at) for cc in RIVALS], 6.75, 11.25, 1, " s", 2),
            others=True,
        ),
    ],
    draw="windows",
    options={
        "ccs": SINGLE,
        "ber": 0.0,
        "until_s": 15.0,
        "variants": MODES,
        "titles": _TITLES,
    },
)

_STACK_NAMES = (TODAY, "period", "bare")
_BLACKED_OUT = (*MODES, "period", LETTER_PERIOD, "bare", LETTER_BARE)
_DRAWN_STACKS = (LETTER, TODAY, LETTER_BARE, "bare")
_BLACKOUT_TITLES = {
    LETTER: "as published", TODAY: "default", LETTER_BARE: "as published, stack [bare]",
    "bare": "default, stack [bare]",
}  # fmt: skip

FIGURE_8 = Figure(
    name="8",
    title="Figure 8: all ACKs lost for 1 s at 45 s, one flow, BER 0",
    cells=[_blackout(cc, variant) for variant in _BLACKED_OUT for cc in SINGLE],
    claims=[
        Claim(
            "STAR is back at 47 to 48 s",
            between([("star", "star", 0.0, back_at)], 46.0, 48.0, 1, " s", 2),
            _BLACKED_OUT,
        ),
        Claim(
            "the others slow-start until 53 s",
            between([(cc, cc, 0.0, back_at) for cc in RIVALS], 52.0, 54.0, 1, " s", 2),
            _STACK_NAMES,
            others=True,
        ),
        Claim(
            "STAR is back before the others",
            later("star", RIVALS, 0.0, back_at),
            _BLACKED_OUT,
        ),
    ],
    draw="goodput_time",
    options={"ccs": SINGLE, "variants": _DRAWN_STACKS, "titles": _BLACKOUT_TITLES},
)


#: Why star is above TCP-J in a short queue: what it has that the paper's hosts had not, and the
#: variant without that.
_WHY_ABOVE = (
    "star {} here, the paper's hosts did not; without that, [{}], it is nowhere shown to be above "
    "TCP-J"
)
_PACES, _YIELDS = "paces", "yields to queues (coexist=1)"


def _on_stacks(
    text: str, check_of: Callable[[Sequence[float]], Check], bers: Sequence[float]
) -> list[Claim]:
    """A claim about star and TCP-J in a short queue, on the default stack and on the period
    stack, with all that the defaults add to the published form and with a part of it."""
    fewer = [ber for ber in bers if ber in map(float, PERIOD_BERS)]

    def of(variant: str, bers: Sequence[float], more: str, without: str) -> Claim:
        return Claim(text, check_of(bers), (variant,), _WHY_ABOVE.format(more, without))

    both = f"{_PACES} and {_YIELDS}"
    return [
        Claim(text, check_of(bers), (LETTER,)),
        of(PACED, bers, _PACES, "as published"),
        of(TODAY, bers, both, "as published"),
        of(UNPACED, bers, _YIELDS, "as published"),
        of("period", fewer, both, LETTER_PERIOD),
        Claim(text, check_of(fewer), (LETTER_PERIOD,)),
        of(UNPACED_PERIOD, fewer, _YIELDS, LETTER_PERIOD),
    ]


# --- two equal flows --------------------------------------------------------------------------

_TWO = [twice(cc) for cc in SINGLE]
_FAIR = ("star", "j", "highspeed")  # the paper's figures 12 and 16

FIGURE_10 = Figure(
    name="10",
    title="Figure 10: total throughput of two equal flows, queue 625 kB",
    cells=_pairs(_TWO, LONG),
    claims=[Claim("STAR highest at every BER", above("star+star", _TWO[1:]), MODES)],
    draw="goodput_over_ber",
)


def _timeouts_frequent(bers: Sequence[float]) -> Check:
    return between(
        [(show(ber), "star+star", {"ber": ber}, timeouts) for ber in bers],
        FREQUENT, math.inf, 1, "", 1,
    )  # fmt: skip


_FREQUENT = "up to 1e-6 because timeouts after lost data are frequent"
_FEW_WHY = (
    "RACK, tail loss probes and F-RTO repair the losses; without them [letter+period] has many"
)
_TIMEOUTS_FREQUENT = (
    Claim(_FREQUENT, _timeouts_frequent(BERS[:-1]), MODES, _FEW_WHY),
    Claim(_FREQUENT, _timeouts_frequent([float(ber) for ber in PERIOD_BERS]), _PERIODS),
)

FIGURE_11 = Figure(
    name="11",
    title="Figure 11: total throughput of two equal flows, queue 15 kB",
    cells=[
        *_pairs(_TWO, SHORT),
        *_pairs(("star+star", "j+j"), SHORT, (UNPACED,)),
        *_pairs(("star+star", "j+j"), SHORT, _PERIODS, PERIOD_BERS),
    ],
    claims=[
        Claim(
            "STAR above HSTCP, Scalable and NewReno at every BER",
            above("star+star", _TWO[2:]),
            MODES,
        ),
        *_on_stacks(
            "STAR slightly below TCP-J up to 1e-6",
            lambda bers: slightly_below("star+star", "j+j", bers),
            BERS[:-1],
        ),
        Claim("but not at 1e-5", above("star+star", ["j+j"], [1e-5], 0.0), (*MODES, UNPACED)),
        *_TIMEOUTS_FREQUENT,
    ],
    draw="goodput_over_ber",
)


def _queued(queue: str) -> list[dict[str, object]]:
    """The points of the bit error rates with a queue, as records have it."""
    return [{"ber": ber, "queue": queue} for ber in BERS]


def _fairness(name: str, queue: str, more: Sequence[Claim] = ()) -> Figure:
    size = queue.replace("kB", " kB")
    return Figure(
        name=name,
        title=f"Figure {name}: throughput of each of two equal flows, queue {size}",
        cells=[
            *_pairs([twice("star")], queue),
            *_pairs([twice(cc) for cc in (*_FAIR[1:], "scalable")], queue, [TODAY]),
            *(_pairs([twice("star")], LONG) if more else ()),
        ],
        claims=[
            *(
                Claim(
                    f"the two {cc} flows nearly equal at every BER",
                    flows_equal(twice(cc), _queued(queue)),
                    MODES if cc == "star" else (TODAY,),
                    others=cc != "star",
                )
                for cc in _FAIR
            ),
            Claim(
                "two Scalable flows have nearly what two HSTCP flows have (footnote 5)",
                same([twice("highspeed"), twice("scalable")], *_queued(queue)),
                others=True,
            ),
            *more,
        ],
        draw="flows_over_ber",
        options={
            "only": {"queue": queue},
            "ccs": [twice(cc) for cc in (*_FAIR, "scalable")],
            "titles": _TITLES,
        },
    )


FIGURE_12 = _fairness("12", LONG)
FIGURE_16 = _fairness(
    "16",
    SHORT,
    [
        Claim(
            "STAR's throughput below that of figure 12",
            less("star+star", zip(_queued(SHORT), _queued(LONG), strict=True)),
            MODES,
        )
    ],
)

_CALM = (
    "by default (coexist=1) the estimate is the largest rate of four to eight round trips, and "
    "star grows as Reno does while a queue stands; without that, [paced], "
)
_CALM_WINDOW_WHY = f"{_CALM}what is under way has large swings"
_CALM_ESTIMATE_WHY = f"{_CALM}the estimates vary, whether largely is not shown"


def _windows(name: str, ber: float, queue: str, claims: Sequence[Claim], trace: bool) -> Figure:
    text = f"{ber:g}".replace("e-0", "e-")
    size = queue.replace("kB", " kB")
    return Figure(
        name=name,
        title=f"Figure {name}: bytes under way of two STAR flows, BER {text}, queue {size}",
        cells=[_pair("star+star", text, queue, variant, trace) for variant in MODES],
        claims=claims,
        draw="windows",
        options={
            "ccs": ("star+star",), "ber": ber, "variants": MODES, "titles": _TITLES,
            "traced": trace,
        },
    )  # fmt: skip


FIGURE_13 = _windows(
    "13", 0.0, LONG,
    [
        Claim("the windows alike", windows_alike("star+star", 0.0), MODES),
        Claim("and stable", swings("star+star", 0.0, large=False), MODES),
    ],
    False,
)  # fmt: skip

FIGURE_14 = _windows(
    "14", 1e-8, LONG,
    [
        Claim("large swings", swings("star+star", 1e-8, large=True), MODES, _CALM_WINDOW_WHY),
        Claim("but they vary alike", vary_alike("star+star", 1e-8), MODES),
        Claim("their means alike", windows_alike("star+star", 1e-8), MODES),
        Claim(
            "not around half the bandwidth-delay product (312 kB)",
            between(
                [(f"flow {n + 1}", "star+star", 1e-8, under_way(n)) for n in (0, 1)],
                1.25e3 * BDP_KB / 2, math.inf, 1e-3, " kB", 0,
            ),
            MODES,
        ),
    ],
    False,
)  # fmt: skip

_TRAINS_WHY = (
    "the paper gives no filter; TCP-J and, by default, star take the largest rate of an ACK train "
    "in four to eight round trips, which is the link's; as published star takes the larger of two "
    "samples, which pacing lowers (algorithms.md compares eight)"
)


def _estimates(mix: str) -> Check:
    return between(
        [(f"flow {n + 1}", mix, 1e-8, estimate(n)) for n in (0, 1)],
        7e6, 9e6, 1e-6, " Mbit/s", 2,
    )  # fmt: skip


def _fresh(cell: Cell) -> Cell:
    return replace(cell, seeds=FRESH_SEEDS, first_seed=FRESH_SEED)


FIGURE_15 = Figure(
    name="15",
    title="Figure 15: bandwidth estimates of two flows, BER 1e-8, queue 625 kB",
    cells=[
        *(_fresh(_pair("star+star", "1e-8", LONG, variant, trace=True)) for variant in MODES),
        _fresh(_pair("j+j", "1e-8", LONG, trace=True)),
    ],
    claims=[
        Claim("about 8 Mbit/s each, not 5", _estimates("star+star"), MODES, _TRAINS_WHY),
        Claim("alternating", alternating("star+star", 1e-8), MODES),
        Claim("TCP-J's the same", _estimates("j+j"), why=_TRAINS_WHY, others=True),
        Claim("TCP-J's alternating, too", alternating("j+j", 1e-8), others=True),
    ],
    draw="estimates",
    options={"ber": 1e-8, "variants": MODES, "titles": _TITLES},
)

FIGURE_17 = _windows(
    "17", 0.0, SHORT,
    [
        Claim("large swings", swings("star+star", 0.0, large=True), MODES, _CALM_WINDOW_WHY),
        Claim(
            "the estimates swing, too",
            swings("star+star", 0.0, True, ABE),
            MODES,
            _CALM_ESTIMATE_WHY,
        ),
        Claim(
            "means nearly equal, as 266 and 210 kB",
            larger_and_smaller("star+star", 0.0, 266e3, 210e3),
            MODES,
        ),
    ],
    True,
)  # fmt: skip

FIGURE_18 = _windows(
    "18", 1e-8, SHORT,
    [
        Claim("large swings", swings("star+star", 1e-8, large=True), MODES, _CALM_WINDOW_WHY),
        Claim(
            "the estimates swing, too",
            swings("star+star", 1e-8, True, ABE),
            MODES,
            _CALM_ESTIMATE_WHY,
        ),
        Claim("means alike", windows_alike("star+star", 1e-8, QUARTER), MODES),
    ],
    True,
)  # fmt: skip

# --- two different flows ----------------------------------------------------------------------

_MIXES = ("star+j", "star+highspeed")


def _like_j(bers: Sequence[float]) -> Check:
    return flow_above("star+j", bers, -NEAR, NEAR)


def _slightly_below_j(bers: Sequence[float]) -> Check:
    return flow_above("star+j", bers, -QUARTER, 0.0)


_FAR_ABOVE = Claim("STAR far above HSTCP", flow_above("star+highspeed", BERS, FAR), MODES)


FIGURE_19 = Figure(
    name="19",
    title="Figure 19: STAR beside TCP-J, STAR beside HSTCP, queue 625 kB",
    cells=[
        *_pairs(_MIXES, LONG),
        *_pairs(("j+j", "highspeed+highspeed"), LONG),
    ],
    claims=[
        Claim("STAR about equal to TCP-J", _like_j(BERS), MODES),
        _FAR_ABOVE,
        Claim(
            "TCP-J keeps what it gets beside its own kind",
            keeps("star+j", "j+j"),
            MODES,
            "by default STAR yields to the queue that TCP-J keeps full (coexist=1): it gets more",
        ),
        Claim(
            "HSTCP keeps what it gets beside its own kind",
            keeps("star+highspeed", "highspeed+highspeed"),
            MODES,
        ),
    ],
    draw="flows_over_ber",
    options={"ccs": _MIXES, "titles": _TITLES},
)

FIGURE_20 = Figure(
    name="20",
    title="Figure 20: STAR beside TCP-J, STAR beside HSTCP, queue 15 kB",
    cells=[
        *_pairs(_MIXES, SHORT),
        *_pairs(["star+j"], SHORT, (UNPACED,)),
        *_pairs(["star+j"], SHORT, _PERIODS, PERIOD_BERS),
    ],
    claims=[
        *_on_stacks("STAR about equal to TCP-J, slightly below it", _slightly_below_j, BERS),
        _FAR_ABOVE,
    ],
    draw="flows_over_ber",
    options={"ccs": _MIXES, "titles": _TITLES},
)

STAR = Paper(
    name="star",
    title="TCP-STAR (Obata, Taira, Ishida)",
    figures={
        figure.name: figure
        for figure in (
            FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13,
            FIGURE_14, FIGURE_15, FIGURE_16, FIGURE_17, FIGURE_18, FIGURE_19, FIGURE_20,
        )
    },
    forms={"as published": LETTER, "as published, paced": PACED, "default": TODAY},
    variants=VARIANTS,
    legend=LEGEND,
)  # fmt: skip
