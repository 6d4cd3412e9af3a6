# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on Gentle HighSpeed TCP (Tokuda, Hasegawa, Murata), 2, 3, 6 and 7.

Figures 1 and 4 are drawings of the networks, figure 5 of a window. The point N = 0, without fast
senders, is the same for every algorithm. Where a claim compares algorithms, all of them are cells
of its variant; cells that differ only in the variant share their runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...results.text import as_markdown, cell
from .. import claims
from ..claims import Point, Results
from ..figure import Cell, Claim, Figure, Paper
from ..variants import PERIOD, PERIOD_TEXT, label, listed
from .claims import (
    ALONE,
    FAST,
    RENO,
    deviation,
    early_drops,
    falls,
    group,
    keeps_share,
    least_window,
    mode_changes,
    near_model,
    over_delay,
    own_timeouts,
    place,
    predicted,
    share_above,
    timeouts,
    unused,
    used,
)

NS = (0, 1, 2, 5, 10)  # fast senders
HEADLINES = (2, 5)  # these points have all seeds
MANY, FEW = 5, 2  # seeds
DURATION_S, WARMUP = 100.0, "{80}s"
MODEL_S, MODEL_WARMUP = 80.0, "{30}s"  # figure 6
_MODEL_STACKS = ("today",)
SEGMENT = 1448  # bytes

_STACKS = {"today": {}, "period": PERIOD, "letter": {}}
_LETTER = {
    f"hstcp_gentle.{name}": value
    for name, value in {
        "response": "1", "samples": "0", "rise": "0", "fall": "0", "confirm": "1", "share": "0",
        "early_exit": "0",
    }.items()
}  # fmt: skip
VARIANTS = {
    "today": "Linux and hstcp_gentle with their defaults",
    "period": f"{PERIOD_TEXT} ({listed(PERIOD)}); SACK and timestamps on",
    "letter": f"Linux with its defaults, hstcp_gentle as published ({listed(_LETTER)})",
}
_TITLES = {"letter": "Gentle as published", "today": "Gentle with its defaults"}
_BOTH = ("today", "period")
_MODES = ("letter", "today")

LEGEND = """\
The points N = 2 and 5 have five seeds (two on the period stack), all others two, with which an
interval is wide. N is the number of fast senders, beside 10 Reno senders. Shares of the link are
goodput over what it can carry as payload, 956.4 Mbit/s; "unused" is the rest of it, as a part of 1
Gbit/s, and must be 150 to 250 Mbit/s for the paper's 200. "Not full" is below 99 %, "about 100 %"
from 99 % on. "Gains", "loses" and "the lower" must hold at every step. Timeouts are those of all
fast senders of a run after the warm-up (figure 3: of the first), and so are windows. "A mass loss"
is at least 200 drops at the shared queue in the first 5 s. A window of one packet may be two when
it is sampled, ten times a second. The share of the Reno group is its goodput beside N fast senders
over that beside N fast Reno senders. "Almost exactly" is within 10 %; the model's goodput is its
throughput times 0.9564, the payload share of the lab's link."""


# --- groups over N ----------------------------------------------------------------------------


def _cell(cc: str, n: int, variant: str = "today") -> Cell:
    settings = {"n": str(n), "warmup": WARMUP, **_STACKS[variant]}
    if cc == "hstcp_gentle":
        settings |= {"trace": "module"} | (_LETTER if variant == "letter" else {})
    seeds = MANY if n in HEADLINES and variant != "period" else FEW
    return Cell("lfn", cc, settings, variant, DURATION_S, seeds)


def _over_n(cc: str, variant: str) -> list[Cell]:
    return [_cell(cc, n, variant) for n in NS[1:]]


def _at(
    cc: str, measure: claims.Measure, ns: tuple[int, ...] = NS[1:]
) -> list[tuple[str, str, Point, claims.Measure]]:
    """The parts of a claim about each number of fast senders."""
    return [(f"N = {n}", *place(cc, n), measure) for n in ns]


_REPAIR_WHY = (
    "SACK repairs a burst of losses in one round trip; the paper's Reno retransmits two segments "
    "and then waits for a timeout"
)

FIGURE_2 = Figure(
    name="2",
    title="Figure 2: total throughput of N HSTCP senders and of 10 Reno senders",
    cells=[
        cell
        for variant in _BOTH
        for cell in (_cell(ALONE, 0, variant), *_over_n("highspeed", variant))
    ],
    claims=[
        Claim(
            "N = 0: about 200 Mbit/s unused",
            claims.between(_at("highspeed", unused, (0,)), 0.15, 0.25, 1000, " Mbit/s", 0),
            _BOTH,
            others=True,
        ),
        Claim(
            "with HSTCP the link is not full",
            claims.between(_at("highspeed", used), 0.0, 0.99, 100, " %", 1),
            _BOTH,
            _REPAIR_WHY,
            others=True,
        ),
        Claim(
            "the more HSTCP senders, the lower Reno's total",
            falls("highspeed", NS),
            _BOTH,
            others=True,
        ),
        Claim(
            "HSTCP times out",
            claims.between(_at("highspeed", timeouts), 1, 1e9, 1, "", 1),
            _BOTH,
            _REPAIR_WHY,
            others=True,
        ),
    ],
    draw="groups_over_n",
    options={"ccs": ("highspeed",), "variants": _BOTH, "ns": NS},
)

FIGURE_3 = Figure(
    name="3",
    title="Figure 3: window of the first of 5 HSTCP senders",
    cells=[_cell("highspeed", 5, variant) for variant in _BOTH],
    claims=[
        Claim(
            "a mass loss in the first slow start",
            claims.between(_at("highspeed", early_drops, (5,)), 200, 1e9, 1, "", 0),
            _BOTH,
            others=True,
        ),
        Claim(
            "at overflow the window falls to one packet",
            claims.between(
                _at("highspeed", least_window, (5,)),
                0, 2 * SEGMENT, 1 / SEGMENT, " packets", 0,
            ),
            _BOTH,
            _REPAIR_WHY,
            others=True,
        ),
        Claim(
            "by timeouts",
            claims.between(_at("highspeed", own_timeouts, (5,)), 1, 1e9, 1, "", 1),
            _BOTH,
            _REPAIR_WHY,
            others=True,
        ),
    ],
    draw="first_window",
    options={"cc": "highspeed", "point": {"n": 5}, "variants": _BOTH},
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
            claims.between(_at("hstcp_gentle", used), 0.99, 1.01, 100, " %", 1),
            _MODES,
        ),
        Claim(
            "and has no timeouts",
            claims.between(_at("hstcp_gentle", timeouts), 0, 0, 1, "", 1),
            _MODES,
        ),
        Claim(
            "it does not lower Reno's throughput as HSTCP does: Reno's share is larger by at "
            "least 15 points",
            share_above("hstcp_gentle", "highspeed", HEADLINES, 0.15),
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
            "them, among which some trend is always significant",
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

ACCESSES = ("100mbit", "12mbit", "1.5mbit")
#: Buffers in packets by delay: the paper's number, and its explanation of that number for 25 ms,
#: twice the shared link's rate times its delay.
BUFFERS = {
    "4167 packets": {"5ms": 4167, "25ms": 4167, "100ms": 4167},
    "2 × rate × delay": {"5ms": 833, "25ms": 4167, "100ms": 16667},
}


def _point(access: str, delay: str, buffer: int) -> Point:
    return {"reno_rate": access, "delay": delay, "queue": buffer}


def _lines(buffer: str) -> dict[str, list[tuple[str, Point]]]:
    """The points with a buffer by access rate, in the order of their delays."""
    sizes = BUFFERS[buffer].items()
    return {
        access: [(delay, _point(access, delay, size)) for delay, size in sizes]
        for access in ACCESSES
    }


def _points(buffer: str) -> dict[str, Point]:
    """The nine points with a buffer by name."""
    return {
        f"{access}, {delay}": point
        for access, line in _lines(buffer).items()
        for delay, point in line
    }


def _pair(point: Point, variant: str) -> Cell:
    settings = {key: str(value) for key, value in point.items()}
    settings |= {"n": "1", "reno": "1", "warmup": MODEL_WARMUP, **_STACKS[variant]}
    return Cell("lfn", "highspeed", settings, variant, MODEL_S, FEW)


_NAMES = {FAST: "HSTCP", RENO: "Reno"}
_MODEL_WHY = (
    "the model ends each cycle with a timeout, which SACK avoids in the lab; and Linux's highspeed "
    "has W_low = 38 and grows per ACK, half as fast where ACKs are delayed"
)
_GAINS_WHY = {
    "4167 packets": "with a fixed buffer it loses in the model too: on a longer path the buffer "
    "covers less of the window's reduction after a loss",
}
_LOSES_WHY = "behind 1.5 Mbit/s it fills its link at every delay, in the model too"


def _model_claims(buffer: str) -> list[Claim]:
    points, lines = _points(buffer), _lines(buffer)
    return [
        Claim(
            f"the model predicts HSTCP almost exactly (B = {buffer})",
            near_model("highspeed", points, FAST),
            _MODEL_STACKS,
            _MODEL_WHY,
            others=True,
        ),
        Claim(
            f"the model predicts Reno almost exactly (B = {buffer})",
            near_model("highspeed", points, RENO),
            _MODEL_STACKS,
            others=True,
        ),
        Claim(
            f"HSTCP gains with delay (B = {buffer})",
            over_delay("highspeed", lines, FAST, gains=True),
            _MODEL_STACKS,
            _GAINS_WHY.get(buffer, ""),
            others=True,
        ),
        Claim(
            f"Reno loses with delay (B = {buffer})",
            over_delay("highspeed", lines, RENO, gains=False),
            _MODEL_STACKS,
            _LOSES_WHY,
            others=True,
        ),
    ]


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


def compared(found: Mapping[str, Results]) -> list[str]:
    """Figure 6 as a table: every point of every stack, the lab beside the model."""
    rows = [
        ["stack", "B", "access", "delay"]
        + [f"{_NAMES[name]}, {what}" for name in _NAMES for what in ("lab", "model", "deviation")]
    ]
    for variant, results in found.items():
        for buffer in BUFFERS:
            for access, line in _lines(buffer).items():
                for delay, point in line:
                    cells = [_compared(results, point, name) for name in _NAMES]
                    rows.append([label(variant), buffer, access, delay, *cells[0], *cells[1]])
    return [
        "## Figure 6: model and lab",
        "",
        "Goodput in Mbit/s; in parentheses the throughput of the model "
        "(`scripts/lab hstcp-model`), whose packets have no headers.",
        "",
        as_markdown(rows),
    ]


FIGURE_6 = Figure(
    name="6",
    title="Figure 6: model and lab, one HSTCP and one Reno sender",
    cells=[
        _pair(point, variant)
        for variant in _MODEL_STACKS
        for buffer in BUFFERS
        for point in _points(buffer).values()
    ],
    claims=[claim for buffer in BUFFERS for claim in _model_claims(buffer)],
    draw="model_over_delay",
    options={
        "lines": {buffer: _lines(buffer) for buffer in BUFFERS},
        "cc": "highspeed",
        "variants": _MODEL_STACKS,
    },
    tables=compared,
)

GENTLE = Paper(
    name="gentle",
    title="Gentle HighSpeed TCP (Tokuda, Hasegawa, Murata)",
    figures={figure.name: figure for figure in (FIGURE_2, FIGURE_3, FIGURE_6, FIGURE_7)},
    forms={"as published": "letter", "default": "today"},
    variants=VARIANTS,
    legend=LEGEND,
)
