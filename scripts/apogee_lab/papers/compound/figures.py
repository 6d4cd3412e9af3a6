# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Compound TCP+ (Oda, Hisamatsu, Noborio), 2 and 4, and what the paper
has not: latecomers.

Figures 1 and 3 are drawings of the networks. Each of figures 2 and 4 has three parts: a, fairness
index; b, mean RTT; c, total throughput. Compound beside which compound_plus is judged is a cell of
each variant; cells that are equal in all but the variant are one set of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import claims
from ..claims import Judge
from ..figure import Cell, Claim, Figure, Paper
from ..gentle.claims import used
from .claims import (
    PLAIN,
    PLUS,
    RULE,
    Points,
    ack_wait,
    at_least,
    constant,
    fair,
    fairer,
    falls,
    lowest,
    mean_rtt,
    no_run_below,
    over_compound,
    sags,
    stations,
)

NS = (2, 6, 10, 14, 20)
NS_4 = (2, 4, 6, 8, 10)
MANY, FEW = 5, 2  # seeds
DURATION_S, WARMUP = 60.0, "{40}s"
RULES = (2, 3, 4)
OURS = 3  # the paper's choice and the default
OTHERS = ("reno", "cubic", "bbr", "vegas")
ALIKE, LATE = "100ms", ("2s", "30s")  # within which stations start; the first is the default
LATE_NS = (10, 20)

NEAR_ONE = 0.95  # "near 1"
FALL, RISE = 0.05, 0.01  # "falls": by so much at the last point, and never above by more
SAG = (0.80, 0.98)  # "sags slightly"
FAR_BELOW = 0.6  # "far below", of Compound's
CONSTANT = 0.05
NO_MORE = 1 - 1e-6  # "lower" than Compound's, as a part of it

VARIANTS = {
    "today": "Linux as it comes, compound_plus with its defaults (rule=3), phase=fixed",
    "letter": "Linux as it comes, compound_plus without the cures for latecomers, which are not "
    "the paper's (relearn=0, excess=0)",
    "letter=1": "the same, and a rule acts wherever dwnd = 0, even if nothing waits (letter=1)",
    "period": "compound_plus as in [letter]; no RACK, no tail loss probe, no F-RTO, queues hidden "
    "from the stack (tcp_recovery=0, tcp_early_retrans=0, tcp_frto=0, tsq=0)",
    "fit": "as it comes, but Compound's slow start ends as early as Compound TCP+'s (fit=2)",
    "random": "as it comes, but phase=random: which station's ACK finds the free place in the "
    "access point's queue is chance, and not the round robin's order",
}
_SETTINGS = {
    "period": {"tcp_recovery": "0", "tcp_early_retrans": "0", "tcp_frto": "0", "tsq": "0"},
    "random": {"phase": "random"},
}
_LETTER = {f"{PLUS}.relearn": "0", f"{PLUS}.excess": "0"}
_PLUS = {
    "letter": _LETTER,
    "letter=1": _LETTER | {f"{PLUS}.letter": "1"},
    "period": _LETTER,
}
#: The paper's rules; what rule (3) is judged on, as the paper has it and as it comes.
_LETTERS = ("letter", "period")
_BOTH = ("letter", "today")
_OURS = (*_BOTH, "random")

LEGEND = """\
"holds" is decided by the means; "n.s.": the 95 % interval also reaches the other answer. Compound,
rule (3) by the letter and as it comes have five seeds on today's stack, all others two, with which
an interval is very wide (n = 4 and 8, and latecomers but for compound_plus as it comes: two as
well). (2), (3), (4) are the paper's rules. The index is Jain's. "Near 1" is from 0.95 on; it "falls
with n" if it is at least 0.05 lower at the last n than at the first, and nowhere before more than
0.01 higher; it "sags slightly" if it is from 0.80 to 0.98 at n = 20, and above Compound's. Numbers
of RTT are parts of Compound's: "below" from n = 6, "far below", at most 0.6, from n = 10 on. An RTT
is the mean over time of a station's smoothed one, then over stations; a station that starves keeps
its last. So the wait in the access point's queue is judged, too. "Lower" holds from n = 6 on, "(2)
most" from n = 10, "constant at small n" is within 5 % from n = 2 to 6, "equal" within 10 %. The
ceiling is the goodput while no ACK is lost, 23.92 Mbit/s for any n; more is possible only
because ACKs are lost. 100 s of each run are sent after the last start, the last 60 count (the
paper: 400 of 500)."""


# --- cells ------------------------------------------------------------------------------------


def _cell(cc: str, n: int, variant: str = "today", rule: int = OURS, start: str = "") -> Cell:
    settings = {"n": str(n), "warmup": WARMUP, **_SETTINGS.get(variant, {})}
    if start and start != ALIKE:
        settings["start"] = start
    if cc == PLAIN and variant == "fit":
        settings |= {f"{PLAIN}.fit": "2"}
    if cc == PLUS:
        settings |= {RULE: str(rule), **_PLUS.get(variant, {})}
    return Cell("wlan", cc, settings, variant, DURATION_S, _seeds(cc, n, variant, rule, start))


def _seeds(cc: str, n: int, variant: str, rule: int, start: str) -> int:
    headline = cc in (PLUS, PLAIN) and variant in _BOTH and rule == OURS
    if start in LATE:
        headline = cc == PLUS and variant == "today"
    return MANY if headline and n in NS else FEW


def _over_n(
    cc: str, variant: str, rules: Sequence[int] = (OURS,), ns: Sequence[int] = NS
) -> list[Cell]:
    return [_cell(cc, n, variant, rule) for rule in rules for n in ns]


#: A line of a drawing: label, variant, algorithm, rule (of compound_plus).
Line = tuple[str, str, str, int | None]
_COMPOUND: Line = ("compound", "today", PLAIN, None)
_AS_IT_COMES: Line = ("compound_plus", "today", PLUS, OURS)


def _rule_lines(variant: str, rules: Sequence[int] = RULES) -> list[Line]:
    return [(f"rule ({rule})", variant, PLUS, rule) for rule in rules]


def _named(variant: str, ccs: Sequence[str]) -> list[Line]:
    return [(cc, variant, cc, None) for cc in ccs]


# --- claims -----------------------------------------------------------------------------------


def _each_rule(
    text: str, judge: Callable[[int], Judge], ours: Sequence[str], why: str = ""
) -> list[Claim]:
    """A claim about each rule; (3) also where only it was run."""
    return [
        Claim(text.format(rule), judge(rule), ours if rule == OURS else _LETTERS, why)
        for rule in RULES
    ]


def _rtt_bounds(ns: Sequence[int]) -> dict[int, tuple[float, float]]:
    return {n: (0.0, FAR_BELOW if n >= 10 else NO_MORE) for n in ns if n >= 6}


_RANDOM_WHY = (
    "it is the round robin's strict order that starves stations: the free place in a full queue "
    "goes to the same ones for long; with a random phase nobody stays behind"
)
_GOODPUT_WHY = "what it has above the ceiling Compound has because its ACKs are lost"
_LATE_WHY = (
    "who joins a full queue takes the wait there for a part of the empty path's RTT, and so keeps "
    "a large window"
)
_FALL_CLAIM = "Compound's fairness index falls with n"


FIGURE_2 = Figure(
    name="2",
    title="Figure 2: fairness index, mean RTT and total throughput over the number of stations",
    cells=[
        *_over_n(PLAIN, "today"),
        *_over_n(PLUS, "today"),
        *(cell for cc in OTHERS for cell in _over_n(cc, "today")),
        *_over_n(PLAIN, "letter"),
        *_over_n(PLUS, "letter", RULES),
        *_over_n(PLAIN, "fit"),
        *_over_n(PLUS, "fit"),
        *_over_n(PLAIN, "letter=1"),
        *_over_n(PLUS, "letter=1"),
        *_over_n(PLAIN, "period"),
        *_over_n(PLUS, "period", RULES),
        *_over_n("reno", "period"),
        *(cell for cc in (PLAIN, PLUS, "reno") for cell in _over_n(cc, "random")),
    ],
    claims=[
        Claim(_FALL_CLAIM, falls(PLAIN, NS, FALL, RISE), ("today", "period")),
        Claim(_FALL_CLAIM, falls(PLAIN, NS, FALL, RISE), ("random",), _RANDOM_WHY),
        *(
            Claim(
                f"({rule}) stays near 1",
                fair(rule, dict.fromkeys(stations(NS), NEAR_ONE), stations(NS)),
                (*_LETTERS, "letter=1", "today", "random") if rule == OURS else _LETTERS,
            )
            for rule in (2, 3)
        ),
        Claim("(4) sags slightly", sags(4, NS[-1], *SAG), _LETTERS),
        *_each_rule(
            "mean RTT of ({}) far below Compound's",
            lambda rule: over_compound(rule, mean_rtt, _rtt_bounds(NS)),
            (*_LETTERS, "letter=1", "today"),
        ),
        *_each_rule(
            "total throughput of ({}) lower than Compound's",
            lambda rule: over_compound(
                rule, claims.total, dict.fromkeys(NS[1:], (0.0, NO_MORE)), decimals=3
            ),
            (*_LETTERS, "letter=1", "today"),
        ),
        Claim("that of (2) most", lowest(2, (3, 4), NS[2:], claims.total), _LETTERS),
        Claim(
            "total throughput constant at small n",
            constant(RULES, (2, 6), claims.total, CONSTANT),
            _LETTERS,
            "a rule that only holds the window lets the access point lose ACKs from n = 6 on; what "
            "they would take leaves airtime to data",
        ),
        Claim(
            "(ours) index at least 0.99 up to n = 14",
            fair(OURS, dict.fromkeys(stations(NS[:-1]), 0.99), stations(NS)),
            _OURS,
        ),
        Claim(
            "(ours) index at least 0.95 at n = 20",
            fair(OURS, {"n = 20": NEAR_ONE}, stations(NS)),
            _OURS,
        ),
        Claim("(ours) and no run below 0.90", no_run_below(OURS, NS[-1], 0.90), _OURS),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            _BOTH,
        ),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            ("fit",),
            "much of Compound's unfairness comes from the end of its slow start",
        ),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            ("random",),
            "with a random phase Compound is nearly fair itself",
        ),
        Claim(
            "(ours) an ACK's wait at the access point at most 0.6 of that with Compound",
            over_compound(OURS, ack_wait, dict.fromkeys(NS[2:], (0.0, FAR_BELOW))),
            _OURS,
        ),
        Claim(
            "(ours) total throughput at least 0.9 of Compound's",
            over_compound(OURS, claims.total, {n: (0.9, float("inf")) for n in NS}, decimals=3),
            _OURS,
            _GOODPUT_WHY,
        ),
        Claim(
            "(ours) and at least 99 % of the ceiling",
            at_least(OURS, stations(NS), used, 0.99),
            (*_OURS, "letter=1"),
            "dips cost 2 % where few share the path",
        ),
        Claim(
            "(ours) reno's index falls with n, too",
            falls("reno", NS, FALL, RISE),
            ("today", "period"),
        ),
        Claim(
            "(ours) reno's index falls with n, too",
            falls("reno", NS, FALL, RISE),
            ("random",),
            _RANDOM_WHY,
        ),
    ],
    draw="stations_over_n",
    options={
        "rows": {
            "the paper's rules, today's stack": [
                _COMPOUND,
                *_rule_lines("letter"),
                ("rule (3), letter=1", "letter=1", PLUS, OURS),
                _AS_IT_COMES,
            ],
            "beside others, today's stack": [
                _COMPOUND, _AS_IT_COMES, *_named("today", OTHERS),
            ],
            "the same end of slow start, today's stack": [
                ("compound", "fit", PLAIN, None),
                ("compound_plus", "fit", PLUS, OURS),
            ],
            "the paper's rules, period stack": [
                ("compound", "period", PLAIN, None),
                *_rule_lines("period"),
                ("reno", "period", "reno", None),
            ],
            "random phase, today's stack": [
                ("compound", "random", PLAIN, None),
                ("compound_plus", "random", PLUS, OURS),
                ("reno", "random", "reno", None),
            ],
        },
        "ns": NS,
    },
)  # fmt: skip

FIGURE_4 = Figure(
    name="4",
    title="Figure 4: fairness index, mean RTT and total throughput of up to ten stations",
    cells=[
        *_over_n(PLAIN, "today", ns=NS_4),
        *_over_n(PLUS, "today", ns=NS_4),
        *_over_n(PLAIN, "letter", ns=NS_4),
        *_over_n(PLUS, "letter", ns=NS_4),
    ],
    claims=[
        Claim(
            _FALL_CLAIM,
            falls(PLAIN, NS_4, FALL, RISE),
            why="ten stations are too few for it here: see figure 2",
        ),
        Claim(
            "the index of + stays near 1",
            fair(OURS, dict.fromkeys(stations(NS_4), NEAR_ONE), stations(NS_4)),
            _BOTH,
        ),
        Claim(
            "mean RTT of + far below Compound's",
            over_compound(OURS, mean_rtt, _rtt_bounds(NS_4)),
            _BOTH,
        ),
        Claim(
            "total throughput of + equal to Compound's",
            over_compound(
                OURS, claims.total, dict.fromkeys(NS_4, (1 - claims.NEAR, 1 + claims.NEAR)), 3
            ),
            _BOTH,
            _GOODPUT_WHY,
        ),
    ],
    draw="stations_over_n",
    options={
        "rows": {
            "": [_COMPOUND, *_rule_lines("letter", (OURS,)), _AS_IT_COMES],
        },
        "ns": NS_4,
    },
)

# --- latecomers -------------------------------------------------------------------------------


def _late_points(ns: Sequence[int], starts: Sequence[str]) -> Points:
    return {f"n = {n}, {start}": {"n": n, "start": start} for n in ns for start in starts}


_LATE = _late_points(LATE_NS, LATE)
_LATE_BOUNDS = {label: 0.95 if point["n"] == 10 else 0.9 for label, point in _LATE.items()}

FIGURE_LATE = Figure(
    name="late",
    title="Latecomers (not in the paper): fairness index over the time within which stations start",
    cells=[
        _cell(cc, n, variant, OURS, start)
        for variant in _BOTH
        for cc in (PLAIN, PLUS)
        for n in LATE_NS
        for start in (ALIKE, *LATE)
    ],
    claims=[
        Claim(
            "(ours) latecomers: index at least 0.95 at n = 10, 0.9 at n = 20",
            fair(OURS, _LATE_BOUNDS, _LATE),
            _BOTH,
            _LATE_WHY,
        ),
        Claim(
            "(ours) and not below Compound's by more than 0.01",
            fairer(OURS, _LATE, -0.01),
            _BOTH,
            _LATE_WHY,
        ),
    ],
    draw="index_over_start",
    options={
        "lines": [_COMPOUND, *_rule_lines("letter", (OURS,)), _AS_IT_COMES],
        "panels": {
            f"n = {n}": {start: {"n": n, "start": start} for start in (ALIKE, *LATE)}
            for n in LATE_NS
        },
    },
)

COMPOUND = Paper(
    name="compound",
    title="Compound TCP+ (Oda, Hisamatsu, Noborio)",
    figures={figure.name: figure for figure in (FIGURE_2, FIGURE_4, FIGURE_LATE)},
    variants=VARIANTS,
    legend=LEGEND,
)
