# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Gentle HighSpeed TCP (Tokuda, Hasegawa, Murata), 2, 3, 6 and 7.

Figures 1 and 4 are drawings of the networks, figure 5 of a window. The point N = 0, without fast
senders, is the same for every algorithm. Where a claim compares algorithms, all of them are cells
of its variant; cells that differ only in the variant share their runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ...results.text import as_markdown, cell
from .. import claims
from ..claims import Point, Results
from ..figure import OURS, Cell, Claim, Figure, Paper
from ..variants import PERIOD, PERIOD_TEXT, label, listed
from .claims import (
    ALONE,
    FAST,
    RENO,
    deviation,
    down_to,
    drops,
    early_drops,
    falls,
    group,
    group_share,
    keeps_share,
    mode_changes,
    near_model,
    over_delay,
    place,
    predicted,
    share_above,
    timeouts,
    timeouts_of,
    total_above,
    unused,
    used,
)

NS = (0, 1, 2, 5, 10)  # fast senders
HEADLINES = (2, 5)  # our own claims are judged at these
PERIOD_NS = (0, 2, 5)  # fast senders on the period stack
SACK_NS = (2, 5)  # and with SACK off alone, and on
MOST, MANY, SOME = 8, 5, 3  # seeds
DURATION_S, WARMUP = 100.0, "{80}s"
PERIOD_S, PERIOD_WARMUP = 60.0, "{40}s"
MODEL_S, MODEL_WARMUP = 80.0, "{30}s"  # figure 6
SEGMENT = 1448  # bytes
MASS = 200  # drops in the first 5 s

_NO_SACK = "tcp_sack=0"  # a variant: the default stack without SACK
_SACK = "tcp_sack=1"  # and with it, measured for the same time
_PERIOD = {**PERIOD, "tcp_sack": "0"}
_STACKS = {
    "today": {}, "period": _PERIOD, _NO_SACK: {"tcp_sack": "0"}, _SACK: {}, "letter": {},
}  # fmt: skip
_LETTER = {
    f"hstcp_gentle.{name}": value
    for name, value in {
        "response": "1", "samples": "0", "rise": "0", "fall": "0", "confirm": "1", "share": "0",
        "early_exit": "0",
    }.items()
}  # fmt: skip
VARIANTS = {
    "today": "Linux and hstcp_gentle with their defaults",
    "period": f"no SACK, {PERIOD_TEXT} ({listed(_PERIOD)}); timestamps on",
    _NO_SACK: "defaults, but no SACK (RACK and tail loss probes do nothing without it)",
    _SACK: "defaults, measured for as long as [tcp_sack=0]: 60 s after 40 s",
    "letter": f"Linux with its defaults, hstcp_gentle as published ({listed(_LETTER)})",
}
_TITLES = {"letter": "Gentle as published", "today": "Gentle with its defaults"}
#: Numbers of fast senders by the stack that they and the Reno senders run.
_NS_OF = {"today": NS, "period": PERIOD_NS, _NO_SACK: SACK_NS, _SACK: SACK_NS}
_DRAWN = ("today", "period")
_MODES = ("letter", "today")

LEGEND = """\
N is the number of fast senders, beside 10 Reno senders. Shares of the link are goodput over what it
can carry as payload, 956.4 Mbit/s; "unused" is the rest of it, as a part of 1 Gbit/s, and must be
150 to 250 Mbit/s for the paper's 200. "Not full" is below 99 %, "about 100 %" from 99 % on.
"Gains", "loses" and "the lower" must hold at every step. Timeouts are those of all fast senders of
a run after the warm-up, and so are windows. What "times out" or "falls" does so in two runs at
least; it does not if in none of five. "A mass loss" is at least 200 drops at the shared queue in
the first 5 s, "bursts" the same. Reno's throughput is not lowered "as HSTCP does" if its share is
larger by 15 points at every N. Claims about HSTCP, Reno and the model are the same in all forms of
Gentle: the first table takes them from the default stack, and in its row of the period stack, on
which Gentle was not run, from there. A window of one packet may be two when it is sampled, ten
times a second. The share of the Reno group is its goodput beside N fast senders over that beside N
fast Reno senders. "Almost exactly" is within 10 %; the model's goodput is its throughput times
0.9564, the payload share of the lab's link. "Far below its own link" is at most half of what that
carries as payload, "far below the link" at most 90 % of it."""


# --- groups over N ----------------------------------------------------------------------------


def _cell(cc: str, n: int, variant: str = "today") -> Cell:
    length, warmup, seeds = DURATION_S, WARMUP, MANY
    if variant in ("period", _NO_SACK, _SACK):
        length, warmup, seeds = PERIOD_S, PERIOD_WARMUP, MOST if n else SOME
    settings = {"n": str(n), "warmup": warmup, **_STACKS[variant]}
    if cc == "hstcp_gentle":
        settings |= {"trace": "module"} | (_LETTER if variant == "letter" else {})
    return Cell("lfn", cc, settings, variant, length, seeds)


def _over_n(cc: str, variant: str) -> list[Cell]:
    return [_cell(cc, n, variant) for n in _NS_OF.get(variant, NS) if n]


def _at(
    cc: str, measure: claims.Measure, ns: Sequence[int] = NS
) -> list[tuple[str, str, Point, claims.Measure]]:
    """The parts of a claim about each number of fast senders."""
    return [(f"N = {n}", *place(cc, n), measure) for n in ns]


def _beside(
    cc: str, measure: claims.Measure, ns: Sequence[int] = NS
) -> list[tuple[str, str, Point, claims.Measure]]:
    """The same without N = 0."""
    return _at(cc, measure, [n for n in ns if n])


def _on(
    stacks: Sequence[str],
    text: str,
    check: Callable[[Sequence[int]], claims.Check],
    **whys: str,
) -> list[Claim]:
    """A claim about HSTCP on these stacks; a reason for each on which it does not hold."""
    return [
        Claim(text, check(_NS_OF[variant]), (variant,), whys.get(variant, ""), others=True)
        for variant in stacks
    ]


def _on_all(text: str, check: Callable[[Sequence[int]], claims.Check], **whys: str) -> list[Claim]:
    """The same on every stack."""
    return _on(tuple(_NS_OF), text, check, **whys)


_SACK_WHY = (
    "with SACK, and RACK and tail loss probes that need it, a burst of losses is repaired in a "
    "round trip; without, it happens: [tcp_sack=0] beside [tcp_sack=1]"
)
_OWN_SWITCH_WHY = (
    "Reno's packets are lost at its own switches of 50 packets; with 10000 the default stack "
    "fills the link (above)"
)
_FULL_WITH_SACK_WHY = (
    "with SACK, and RACK and tail loss probes that need it, every run fills it; without, most runs "
    "of 60 s use less than 99 %: [tcp_sack=0] beside [tcp_sack=1]"
)


def _with_sack(why: str) -> dict[str, str]:
    """A reason for all stacks with SACK."""
    return {"today": why, _SACK: why}


FIGURE_2 = Figure(
    name="2",
    title="Figure 2: total throughput of N HSTCP senders and of 10 Reno senders",
    cells=[
        cell
        for variant in _NS_OF
        for cell in (
            *(_cell(ALONE, n, variant) for n in _NS_OF[variant] if not n),
            *_over_n("highspeed", variant),
        )
    ],
    claims=[
        *_on(
            _DRAWN,
            "N = 0: about 200 Mbit/s unused",
            lambda _: claims.between(
                _at("highspeed", unused, (0,)), 0.15, 0.25, 1000, " Mbit/s", 0
            ),
        ),
        *_on(
            _DRAWN,
            "N = 0: because the buffer of router A overflows",
            lambda _: claims.between(_at("highspeed", drops, (0,)), 1, math.inf, 1, " drops", 0),
            today=_OWN_SWITCH_WHY,
            period=_OWN_SWITCH_WHY,
        ),
        *_on_all(
            "with HSTCP the link is not full",
            lambda ns: claims.between(_beside("highspeed", used, ns), 0.0, 0.99, 100, " %", 1),
            **_with_sack(_FULL_WITH_SACK_WHY),
        ),
        *_on(
            _DRAWN,
            "the more HSTCP senders, the lower Reno's total",
            lambda ns: falls("highspeed", ns),
        ),
        *_on_all(
            "HSTCP times out",
            lambda ns: claims.happens(_beside("highspeed", timeouts, ns)),
            **_with_sack(_SACK_WHY),
        ),
    ],
    draw="groups_over_n",
    options={"ccs": ("highspeed",), "variants": _DRAWN, "ns": NS},
)

FIGURE_3 = Figure(
    name="3",
    title="Figure 3: window of the first of 5 HSTCP senders",
    cells=[_cell("highspeed", 5, variant) for variant in _NS_OF],
    claims=[
        *_on_all(
            "a mass loss in the first slow start",
            lambda _: claims.between(_at("highspeed", early_drops, (5,)), MASS, 1e9, 1, "", 0),
        ),
        *_on_all(
            "at overflow the window falls to one packet",
            lambda _: claims.happens(_at("highspeed", down_to(2 * SEGMENT), (5,))),
            **_with_sack(_SACK_WHY),
        ),
        *_on_all(
            "by timeouts",
            lambda _: claims.happens(_at("highspeed", timeouts, (5,))),
            **_with_sack(_SACK_WHY),
        ),
    ],
    draw="first_window",
    options={"cc": "highspeed", "point": {"n": 5}, "variants": _DRAWN},
)  # fmt: skip

_SHARE_WHY = (
    "as published, Gentle grows as HSTCP does after a loss until the RTTs of a window have risen"
)

FIGURE_7 = Figure(
    name="7",
    title="Figure 7: total throughput of N fast senders and of 10 Reno senders",
    cells=[
        cell
        for variant in _MODES
        for cell in (
            _cell(ALONE, 0, variant),
            *(
                each
                for cc in ("hstcp_gentle", "highspeed", "reno")
                for each in _over_n(cc, variant)
            ),
        )
    ],
    claims=[
        Claim(
            "Gentle uses about 100 % of the link",
            claims.between(_beside("hstcp_gentle", used), 0.99, 1.01, 100, " %", 1),
            _MODES,
        ),
        Claim(
            "the throughput is higher than HSTCP's (abstract)",
            total_above("hstcp_gentle", "highspeed", [n for n in NS if n]),
            _MODES,
            "with SACK HSTCP fills the link (figure 2), so none can have more; not run without",
        ),
        Claim(
            "no packets are dropped in bursts",
            claims.between(_beside("hstcp_gentle", early_drops), 0, MASS - 1, 1, "", 0),
            _MODES,
            "slow start, which Gentle leaves as it is (early_exit=0), overflows the queue",
        ),
        Claim(
            "and has no timeouts",
            claims.between(_beside("hstcp_gentle", timeouts), 0, 0, 1, "", 1),
            _MODES,
        ),
        Claim(
            "it does not lower Reno's throughput as HSTCP does",
            share_above("hstcp_gentle", "highspeed", [n for n in NS if n], 0.15),
            _MODES,
            _SHARE_WHY,
        ),
        Claim(
            "(ours) Reno keeps at least 90 % of its share beside 2, 85 % beside 5",
            keeps_share("hstcp_gentle", {2: 0.9, 5: 0.85}),
        ),
        Claim(
            "(ours) a flow changes its mode at most once in 5 s",
            claims.between(_at("hstcp_gentle", mode_changes(5.0), HEADLINES), 0, 1, 1, "", 2),
            _MODES,
            "successive queueing delays are correlated; as published the test covers thousands of "
            "them, among which some trend is nearly always significant",
        ),
    ],
    draw="groups_over_n",
    options={
        "ccs": ("hstcp_gentle", "highspeed", "reno"),
        "variants": _MODES,
        "titles": _TITLES,
        "ns": NS,
        "counted": ("hstcp_gentle", "hstcp_gentle_mode"),
    },
)

# --- model and lab ----------------------------------------------------------------------------

#: Reno's own links by stack.
ACCESSES = {
    "today": ("100mbit", "12mbit", "1.5mbit"),
    "period": ("100mbit",),
    _NO_SACK: ("100mbit",),
}
#: Buffers in packets by delay: the paper's number, and (ours) its explanation of that number for
#: 25 ms, twice the shared link's rate times its delay.
BUFFERS = {
    "4167 packets": {"5ms": 4167, "25ms": 4167, "100ms": 4167},
    "2 × rate × delay": {"5ms": 833, "25ms": 4167, "100ms": 16667},
}
PAPERS_BUFFER = "4167 packets"


_MODEL_HSTCP = "the model predicts HSTCP almost exactly"
_MODEL_RENO = "the model predicts Reno almost exactly"
_MODEL_SACK = "(ours) with one reduction for all losses of a window the model predicts HSTCP"
_GAINS, _LOSES = "HSTCP gains with delay", "Reno loses with delay"
_BOTH_FAR = "both are far below the link at the shortest delay"
_TIME_OUT = ("HSTCP times out at the shortest delay", "Reno times out there, too")
_RENO_FAR = "Reno is far below its own link's 100 Mbit/s"
_LOSES_WHY = "behind 1.5 Mbit/s it fills its link at every delay, in the model too"
LONG = "100ms"  # at this delay seeds differ most


def _point(access: str, delay: str, buffer: int) -> Point:
    return {"reno_rate": access, "delay": delay, "queue": buffer}


def _lines(buffer: str, variant: str = "today") -> dict[str, list[tuple[str, Point]]]:
    """The points with a buffer by access rate, in the order of their delays."""
    sizes = BUFFERS[buffer].items()
    return {
        access: [(delay, _point(access, delay, size)) for delay, size in sizes]
        for access in ACCESSES[variant]
    }


def _points(buffer: str, variant: str = "today") -> dict[str, Point]:
    """The points with a buffer by name."""
    return {
        f"{access}, {delay}": point
        for access, line in _lines(buffer, variant).items()
        for delay, point in line
    }


def _pair(point: Point, variant: str) -> Cell:
    settings = {key: str(value) for key, value in point.items()}
    settings |= {"n": "1", "reno": "1", "warmup": MODEL_WARMUP, **_STACKS[variant]}
    seeds = MANY if point["delay"] == LONG and variant == "today" else SOME
    return Cell("lfn", "highspeed", settings, variant, MODEL_S, seeds)


_RENO_WHY = (
    "probably: the model shares losses in proportion to the windows; in the lab Reno, which has "
    "8.3 % of the data at most, has a larger part of the drops (below), and loses at its own "
    "switch, too"
)
_HSTCP_WHY = (
    "in the model three losses in a window are a timeout, and an overflow costs more; with SACK "
    "it is one reduction: see (ours)"
)
_LONG_WHY = "at 100 ms the queue holds less than a quarter of the path, and seeds differ (above)"
_TIMEOUTS_WHY = "the paper's reason is timeouts; with SACK no flow has one here after its start"
_NO_TIMEOUT_WHY = (
    "with SACK, and RACK and tail loss probes that need it, a burst of losses is repaired in a "
    "round trip; without, it happens: [tcp_sack=0]"
)
_NOT_AT_SHORT_WHY = "nor in the model at 5 ms, where it has 78 % of it with this queue"
_NOR_MODEL_WHY = "nor in the model, where both together have 96 to 97 % of the rate with this queue"
_FULL_WHY = (
    "with SACK both together fill the link at every delay (below), so HSTCP gains only what Reno "
    "loses: some per cent behind 100 Mbit/s, nothing behind 12 and 1.5"
)
#: Reasons by buffer and stack.
_MODEL_WHYS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("4167 packets", "today"): {
        _MODEL_HSTCP: _HSTCP_WHY,
        _MODEL_RENO: _RENO_WHY,
        _MODEL_SACK: _LONG_WHY,
        _BOTH_FAR: _NOR_MODEL_WHY,
        _TIME_OUT[0]: _NO_TIMEOUT_WHY,
        _GAINS: "both together fill the link at 5 and 25 ms, so there is little to gain; at "
        "100 ms seeds differ (above)",
        _LOSES: _LOSES_WHY,
    },
    ("4167 packets", "period"): {_MODEL_RENO: _RENO_WHY, _BOTH_FAR: _NOR_MODEL_WHY},
    ("4167 packets", _NO_SACK): {_MODEL_RENO: _RENO_WHY, _BOTH_FAR: _NOR_MODEL_WHY},
    ("2 × rate × delay", "today"): {
        _MODEL_HSTCP: _HSTCP_WHY,
        _MODEL_RENO: _RENO_WHY,
        _RENO_FAR: _NOT_AT_SHORT_WHY,
        _BOTH_FAR: _TIMEOUTS_WHY,
        **dict.fromkeys(_TIME_OUT, _NO_TIMEOUT_WHY),
        _GAINS: _FULL_WHY,
        _LOSES: _LOSES_WHY,
    },
    ("2 × rate × delay", "period"): {_MODEL_RENO: _RENO_WHY, _RENO_FAR: _NOT_AT_SHORT_WHY},
    ("2 × rate × delay", _NO_SACK): {_MODEL_RENO: _RENO_WHY, _RENO_FAR: _NOT_AT_SHORT_WHY},
}
_NAMES = {FAST: "HSTCP", RENO: "Reno"}
SHORT = "5ms"


def _model_claims(buffer: str, variant: str) -> list[Claim]:
    points, lines = _points(buffer, variant), _lines(buffer, variant)
    whys = _MODEL_WHYS.get((buffer, variant), {})

    def about(text: str, check: claims.Check) -> Claim:
        shown = text if buffer == PAPERS_BUFFER else f"{OURS} {text.removeprefix(f'{OURS} ')}"
        return Claim(f"{shown} (B = {buffer})", check, (variant,), whys.get(text, ""), others=True)

    return [
        about(_MODEL_HSTCP, near_model("highspeed", points, FAST)),
        about(_MODEL_SACK, near_model("highspeed", points, FAST, sack=True)),
        about(_MODEL_RENO, near_model("highspeed", points, RENO)),
        about(_GAINS, over_delay("highspeed", lines, FAST, gains=True)),
        about(_LOSES, over_delay("highspeed", lines, RENO, gains=False)),
        about(
            _RENO_FAR,
            claims.between(
                [
                    (delay, "highspeed", point, group_share(RENO))
                    for delay, point in lines["100mbit"]
                ],
                0.0, claims.FAR, 100, " %", 1,
            ),
        ),
        about(
            _BOTH_FAR,
            claims.between(
                [
                    (access, "highspeed", point, used)
                    for access, line in lines.items()
                    for delay, point in line
                    if delay == SHORT
                ],
                0.0, 1 - claims.NEAR, 100, " %", 1,
            ),
        ),
        *(
            about(
                text,
                claims.happens(
                    [
                        (access, "highspeed", line[0][1], timeouts_of(flow))
                        for access, line in lines.items()
                    ]
                ),
            )
            for flow, text in enumerate(_TIME_OUT)
        ),
    ]  # fmt: skip


def _compared(results: Results, point: Point, name: str) -> list[str]:
    """Lab, model and deviation of one group at one point."""
    lab = results.values("highspeed", point, group(name))
    throughput, model = predicted(results.of("highspeed", point)[0], name)
    apart = str(claims.percent("", deviation(results, "highspeed", point, name), 0.0, 0.0))
    return [
        cell([rate / 1e6 for rate in lab], 1),
        f"{model / 1e6:.1f} ({throughput / 1e6:.1f})",
        apart,
    ]


def _drops(results: Results, point: Point) -> str:
    """What the shared queue dropped of HSTCP and of Reno, in all runs of a point together."""
    runs = results.of("highspeed", point)
    return " + ".join(
        str(sum(run["flows"][flow]["queue_drops"] for run in runs)) for flow in range(len(_NAMES))
    )


def compared(found: Mapping[str, Results]) -> list[str]:
    """Figure 6 as a table: every point of every stack, the lab beside the model."""
    rows = [
        ["stack", "B", "access", "delay"]
        + [f"{_NAMES[name]}, {what}" for name in _NAMES for what in ("lab", "model", "deviation")]
        + ["drops"]
    ]
    for variant, results in found.items():
        for buffer in BUFFERS:
            for access, line in _lines(buffer, variant).items():
                for delay, point in line:
                    cells = [_compared(results, point, name) for name in _NAMES]
                    rows.append(
                        [
                            label(variant),
                            buffer,
                            access,
                            delay,
                            *cells[0],
                            *cells[1],
                            _drops(results, point),
                        ]
                    )
    return [
        "## Figure 6: model and lab",
        "",
        "Goodput in Mbit/s; in parentheses the throughput of the model "
        "(`scripts/lab hstcp-model`), whose packets have no headers. Drops are those of the shared "
        "queue, HSTCP's + Reno's, from the start on, all seeds together; Reno's own switch drops "
        "more.",
        "",
        as_markdown(rows),
    ]


FIGURE_6 = Figure(
    name="6",
    title="Figure 6: model and lab, one HSTCP and one Reno sender",
    cells=[
        _pair(point, variant)
        for variant in ACCESSES
        for buffer in BUFFERS
        for point in _points(buffer, variant).values()
    ],
    claims=[
        claim
        for buffer in BUFFERS
        for pair in zip(*(_model_claims(buffer, variant) for variant in ACCESSES), strict=True)
        for claim in pair
    ],
    draw="model_over_delay",
    options={
        "lines": {buffer: _lines(buffer) for buffer in BUFFERS},
        "cc": "highspeed",
        "variants": ("today",),
    },
    tables=compared,
)

GENTLE = Paper(
    name="gentle",
    title="Gentle HighSpeed TCP (Tokuda, Hasegawa, Murata)",
    figures={figure.name: figure for figure in (FIGURE_2, FIGURE_3, FIGURE_6, FIGURE_7)},
    forms={"as published": "letter", "period stack": "period", "default": "today"},
    variants=VARIANTS,
    legend=LEGEND,
)
