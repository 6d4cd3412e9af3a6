# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Compound TCP+ (Oda, Hisamatsu, Noborio), 2 and 4, and one that the
paper does not have, late starts.

Figures 1 and 3 are drawings of the networks. Each of figures 2 and 4 has three parts: a, fairness
index; b, mean RTT; c, total throughput. Compound, with which compound_plus is compared, is a cell
of each variant; cells that differ only in the variant share their runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .. import claims
from ..claims import Check
from ..figure import Cell, Claim, Figure, Paper
from ..gentle.claims import used
from ..variants import PERIOD, PERIOD_TEXT, listed
from .claims import (
    PLAIN,
    PLUS,
    RULE,
    Points,
    ack_wait,
    at_least,
    constant,
    drops_slightly,
    fair,
    fair_few,
    fairer,
    falls,
    lowest,
    mean_rtt,
    no_run_below,
    over_compound,
    over_rule,
    queue_length,
    stations,
)

NS = (2, 6, 10, 14, 20)
NS_4 = (2, 4, 6, 8, 10)
CROWDED = (10, 14, 20)  # numbers of stations with which Compound is unfair, or nearly
SEEDS, MORE = 5, 8  # MORE where the paper's rules are compared with each other
#: Seeds of late starts as published: in the fourth and fifth a station cannot connect.
LATE_LETTER = 3
DURATION_S, WARMUP = 60.0, "{40}s"
RULES = (2, 3, 4)
OURS = 3  # the paper's choice and the default
OTHERS = ("reno", "cubic", "bbr", "vegas")
TOGETHER, LATE = "100ms", ("2s", "30s")  # stations start within; the first is the default
LATE_NS = (10, 20)

NEAR_ONE = 0.95  # "near 1"
FALL, RISE = 0.05, 0.01  # "falls": by FALL at the last point, at the others at most RISE above
SLIGHT_DROP = (0.80, 0.98)  # "drops slightly"
FAR_BELOW = 0.6  # "far below": at most this ratio to Compound's
CONSTANT = 0.05
NO_MORE = 1 - 1e-6  # "lower": at most this ratio to Compound's

_PERIOD = PERIOD | {"tsq": "0"}
_SETTINGS = {
    "period": _PERIOD,
    "random": {"phase": "random"},
    "bianchi": {"contention": "bianchi"},
}
_LETTER = {
    f"{PLUS}.{name}": value
    for name, value in {"relearn": "0", "excess": "0", "fit": "0", "letter": "1"}.items()
}
VARIANTS = {
    "today": "Linux and compound_plus with their defaults (rule=3), phase=fixed",
    "letter": "Linux with its defaults, compound_plus as in the paper: a rule acts whenever dwnd = "
    "0, even without a queue, slow start ends as Compound's does, and nothing corrects flows that "
    f"join late ({listed(_LETTER)})",
    "period": f"compound_plus as in [as published]; {PERIOD_TEXT}, no TCP small queues "
    f"({listed(_PERIOD)})",
    "fit": "defaults, but Compound's slow start ends as early as Compound TCP+'s (fit=2)",
    "random": "defaults, but phase=random: which station's ACK gets the free place in the access "
    "point's queue is random, not given by the order of the round robin",
    "bianchi": "defaults, but contention=bianchi: back-off and collisions grow with the number of "
    "stations",
}
_PLUS = {"letter": _LETTER, "period": _LETTER}
#: Variants of the claims about the paper's rules, and of those about rule (3) alone.
_LETTERS = ("letter", "period")
_BOTH = ("letter", "today")
_OURS = (*_BOTH, "random")

LEGEND = """\
Eight seeds at n = 14 and 20 for Compound and the paper's rules, as published and by default, five
elsewhere, three for late starts as published. (2), (3), (4) are the paper's rules; what it says of
Compound TCP+ is judged of each. The index is Jain's. "Near 1" is from 0.95 on. It "falls with n" if
it is at least 0.05 lower at the last n than at the first, and at none between more than 0.01
higher; it "drops slightly" if at n = 20 it is from 0.80 to 0.98, and (our addition) above
Compound's and below (2)'s and (3)'s. RTTs are ratios to Compound's: "below" from n = 6, "far
below", at most 0.6, from n = 10 on. An RTT is the mean over time of a station's smoothed RTT, then
over stations. A starving station keeps its last value, so there is also a claim about the wait in
the access point's queue. The queue "fills" with (4), and not with (3), if it holds at least 10 %
more packets with (4) at n = 14 and 20, in the mean. "No run below" holds if none of at least five
is, and does not if two are. "Lower" holds from n = 6 on, than (3)'s from n = 10, "few stations" are
2 and 6, "constant at small n" is within 5 % from n = 2 to 6, "equal" within 10 %. The ceiling is
the goodput while no ACK is lost, 23.92 Mbit/s for any n, with [bianchi] 21.6 to 19.9; more is
possible only because ACKs are lost. Stations send for 100 s after the last start, of which the last
60 count (the paper: 400 of 500)."""


# --- cells ------------------------------------------------------------------------------------


def _cell(cc: str, n: int, variant: str = "today", rule: int = OURS, start: str = "") -> Cell:
    settings = {"n": str(n), "warmup": WARMUP, **_SETTINGS.get(variant, {})}
    if start and start != TOGETHER:
        settings["start"] = start
    if cc == PLAIN and variant == "fit":
        settings |= {f"{PLAIN}.fit": "2"}
    if cc == PLUS:
        settings |= {RULE: str(rule), **_PLUS.get(variant, {})}
    return Cell("wlan", cc, settings, variant, DURATION_S, _seeds(cc, n, variant, start))


def _seeds(cc: str, n: int, variant: str, start: str) -> int:
    if variant == "letter" and start in LATE:
        return LATE_LETTER
    compared = cc in (PLUS, PLAIN) and variant in _BOTH and n in CROWDED[1:]
    return MORE if compared and start not in LATE else SEEDS


def _over_n(
    cc: str, variant: str, rules: Sequence[int] = (OURS,), ns: Sequence[int] = NS
) -> list[Cell]:
    return [_cell(cc, n, variant, rule) for rule in rules for n in ns]


#: A line of a drawing: label, variant, algorithm, rule (of compound_plus).
Line = tuple[str, str, str, int | None]
_COMPOUND: Line = ("compound", "today", PLAIN, None)
_DEFAULT: Line = ("compound_plus", "today", PLUS, OURS)


def _rule_lines(variant: str, rules: Sequence[int] = RULES) -> list[Line]:
    return [(f"rule ({rule})", variant, PLUS, rule) for rule in rules]


def _named(variant: str, ccs: Sequence[str]) -> list[Line]:
    return [(cc, variant, cc, None) for cc in ccs]


# --- claims -----------------------------------------------------------------------------------


def _each_rule(
    text: str, check_of: Callable[[int], Check], ours: Sequence[str], why: str = ""
) -> list[Claim]:
    """A claim about each rule; (3) has variants in which the others are not run."""
    return [
        Claim(text.format(rule), check_of(rule), ours if rule == OURS else _LETTERS, why)
        for rule in RULES
    ]


def _rtt_bounds(ns: Sequence[int]) -> dict[int, tuple[float, float]]:
    return {n: (0.0, FAR_BELOW if n >= 10 else NO_MORE) for n in ns if n >= 6}


_RANDOM_WHY = (
    "stations starve because of the strict order of the round robin: the free place in a full "
    "queue goes to the same ones for a long time; with a random phase hardly a station starves"
)
_GOODPUT_WHY = "Compound is above the ceiling because its ACKs are lost"
_LATE_WHY = (
    "a flow that joins late mistakes the standing queue for path delay, and so keeps a large window"
)
FULL_WHY = (
    "with (2), (3) and Compound it is full, too: 99.4 packets or more of 100 in the mean at n = 14 "
    "and 20"
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
        *_over_n(PLAIN, "period"),
        *_over_n(PLUS, "period", RULES),
        *(cell for cc in (PLAIN, PLUS, *OTHERS) for cell in _over_n(cc, "random")),
        *(cell for cc in (PLAIN, PLUS, "cubic") for cell in _over_n(cc, "bianchi", ns=CROWDED)),
    ],
    claims=[
        Claim(_FALL_CLAIM, falls(PLAIN, NS, FALL, RISE), ("today", "period"), others=True),
        Claim(_FALL_CLAIM, falls(PLAIN, NS, FALL, RISE), ("random",), _RANDOM_WHY, True),
        *(
            Claim(
                f"index of ({rule}) stays near 1",
                fair(rule, dict.fromkeys(stations(NS), NEAR_ONE), stations(NS)),
                (*_LETTERS, "today", "random") if rule == OURS else _LETTERS,
            )
            for rule in (2, 3)
        ),
        Claim(
            "Compound and Compound TCP+ are fair with few stations",
            fair_few((2, 6), RULES, NEAR_ONE),
            _LETTERS,
        ),
        Claim(
            "index of (4) drops slightly",
            drops_slightly(4, NS[-1], *SLIGHT_DROP, (2, 3)),
            _LETTERS,
        ),
        Claim(
            "(4) fills the access point's queue, (3) does not",
            over_rule(
                4, OURS, queue_length, dict.fromkeys(CROWDED[1:], (1 + claims.NEAR, math.inf))
            ),
            _LETTERS,
            FULL_WHY,
        ),
        *_each_rule(
            "mean RTT of ({}) far below Compound's",
            lambda rule: over_compound(rule, mean_rtt, _rtt_bounds(NS)),
            (*_LETTERS, "today"),
        ),
        *_each_rule(
            "total throughput of ({}) lower than Compound's",
            lambda rule: over_compound(
                rule, claims.total, dict.fromkeys(NS[1:], (0.0, NO_MORE)), decimals=3
            ),
            (*_LETTERS, "today"),
        ),
        Claim(
            "total throughput of (2) lower than (3)'s",
            lowest(2, (OURS,), CROWDED, claims.total),
            _LETTERS,
        ),
        Claim(
            "total throughput constant at small n",
            constant(RULES, (2, 6), claims.total, CONSTANT),
            _LETTERS,
            "with a rule that only holds the window the access point loses ACKs from n = 6 on, "
            "which leaves more airtime to data",
        ),
        Claim(
            "(ours) index at least 0.99 up to n = 14",
            fair(OURS, dict.fromkeys(stations(NS[:-1]), 0.99), stations(NS)),
            _OURS,
        ),
        Claim(
            "(ours) index at least 0.95 at n = 20",
            fair(OURS, {"n = 20": NEAR_ONE}, stations(NS)),
            (*_OURS, "bianchi"),
        ),
        Claim(
            "(ours) and no run below 0.90",
            no_run_below(OURS, NS[-1], 0.90),
            (*_OURS, "bianchi"),
        ),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            (*_BOTH, "bianchi"),
        ),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            ("fit",),
            "much of Compound's unfairness comes from the late end of its slow start",
        ),
        Claim(
            "(ours) index at least 0.15 above Compound's at n = 20",
            fairer(OURS, stations(NS[-1:]), 0.15),
            ("random",),
            "with a random phase Compound is nearly fair itself",
        ),
        Claim(
            "(ours) an ACK's wait at the access point at most 0.6 of Compound's",
            over_compound(OURS, ack_wait, dict.fromkeys(CROWDED, (0.0, FAR_BELOW))),
            (*_OURS, "bianchi"),
        ),
        Claim(
            "(ours) total throughput at least 0.9 of Compound's",
            over_compound(OURS, claims.total, dict.fromkeys(NS, (0.9, math.inf)), decimals=3),
            _OURS,
            _GOODPUT_WHY,
        ),
        Claim(
            "(ours) and at least 99 % of the ceiling",
            at_least(OURS, stations(NS), used, 0.99),
            _OURS,
            "window reductions cost 2 % where few stations share the path",
        ),
        Claim(
            "(ours) reno's index falls with n, too",
            falls("reno", NS, FALL, RISE),
            others=True,
        ),
        Claim(
            "(ours) reno's index falls with n, too",
            falls("reno", NS, FALL, RISE),
            ("random",),
            _RANDOM_WHY,
            others=True,
        ),
    ],
    draw="stations_over_n",
    options={
        "rows": {
            "the paper's rules, default stack": [
                _COMPOUND,
                *_rule_lines("letter"),
                _DEFAULT,
            ],
            "beside others, default stack": [
                _COMPOUND, _DEFAULT, *_named("today", OTHERS),
            ],
            "the same end of slow start, default stack": [
                ("compound", "fit", PLAIN, None),
                ("compound_plus", "fit", PLUS, OURS),
            ],
            "the paper's rules, period stack": [
                ("compound", "period", PLAIN, None),
                *_rule_lines("period"),
            ],
            "random phase, default stack": [
                ("compound", "random", PLAIN, None),
                ("compound_plus", "random", PLUS, OURS),
                *_named("random", OTHERS),
            ],
            "Bianchi's contention, default stack": [
                ("compound", "bianchi", PLAIN, None),
                ("compound_plus", "bianchi", PLUS, OURS),
                ("cubic", "bianchi", "cubic", None),
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
            why="ten stations are too few for that here: see figure 2",
            others=True,
        ),
        Claim(
            "index of Compound TCP+ stays near 1",
            fair(OURS, dict.fromkeys(stations(NS_4), NEAR_ONE), stations(NS_4)),
            _BOTH,
        ),
        Claim(
            "mean RTT of Compound TCP+ far below Compound's",
            over_compound(OURS, mean_rtt, _rtt_bounds(NS_4)),
            _BOTH,
        ),
        Claim(
            "total throughput of Compound TCP+ equal to Compound's",
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
            "": [_COMPOUND, *_rule_lines("letter", (OURS,)), _DEFAULT],
        },
        "ns": NS_4,
    },
)

# --- late starts ------------------------------------------------------------------------------


def _late_points(ns: Sequence[int], starts: Sequence[str]) -> Points:
    return {f"n = {n}, {start}": {"n": n, "start": start} for n in ns for start in starts}


_LATE = _late_points(LATE_NS, LATE)
_LATE_BOUNDS = {label: 0.95 if point["n"] == 10 else 0.9 for label, point in _LATE.items()}

FIGURE_LATE = Figure(
    name="late",
    title="Late starts (not in the paper): fairness index over the time in which stations start",
    cells=[
        _cell(PLUS, n, variant, OURS, start)
        for variant in _BOTH
        for n in LATE_NS
        for start in (TOGETHER, *LATE)
    ],
    claims=[
        Claim(
            "(ours) late starts: index at least 0.95 at n = 10, 0.9 at n = 20",
            fair(OURS, _LATE_BOUNDS, _LATE),
            _BOTH,
            _LATE_WHY,
        ),
    ],
    draw="index_over_start",
    options={
        "lines": [*_rule_lines("letter", (OURS,)), _DEFAULT],
        "panels": {
            f"n = {n}": {start: {"n": n, "start": start} for start in (TOGETHER, *LATE)}
            for n in LATE_NS
        },
    },
)

COMPOUND = Paper(
    name="compound",
    title="Compound TCP+ (Oda, Hisamatsu, Noborio)",
    figures={figure.name: figure for figure in (FIGURE_2, FIGURE_4, FIGURE_LATE)},
    forms={"as published": "letter", "default": "today"},
    variants=VARIANTS,
    legend=LEGEND,
)
