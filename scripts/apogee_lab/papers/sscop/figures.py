# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on SSCOP (Hara, Idoue, Kato, Suzuki), 4 to 14, and those of today.py.

Figures 1 to 3 are drawings. The paper sends 10 000 packets; here runs have a length, which costs
less where little arrives, and retransmissions are counted for 10 000 packets. Cells that differ
only in the figure share their runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..claims import Check
from ..figure import Cell, Claim, Figure, Paper
from . import tables, theory, today
from .cells import (
    ALONE,
    AUTO,
    BERS,
    BOTH,
    CC,
    MANY,
    NARROW,
    PACKET,
    PATHS,
    SIZES,
    SMALL_PACKET,
    TIMER,
    VARIANTS,
    WORST,
    Radio,
    cell,
    over_ber,
    point,
    points,
)
from .claims import (
    FEW_AGAIN,
    FROM,
    LOW,
    SINGLE,
    about,
    again,
    alike,
    as_much_alone,
    at_least,
    beside_best,
    busy,
    collapses,
    delay_hardly_matters,
    dies,
    doubling_at_worst,
    doubling_gains,
    falls_with_errors,
    falls_with_size,
    half_at_worst,
    held,
    larger_is_better,
    last_of,
    last_window,
    loses,
    near_formula,
    near_frames,
    of_headers,
    of_ideal,
    range_of,
    rises_fast,
    rises_with_size,
    sd_bytes,
    share_again,
    small_packets_are_worse,
    smaller_is_better,
    tcp_again,
    tcp_hardly_retransmits,
    tcp_unasked,
    third,
    total,
    twice,
    within_counting,
)
from .today import window_at_end

SERIES_S = 5.0

LEGEND = """\
Points have three seeds as in the paper; 1e-4 at 50 ms with a window of 72 packets has five. Where a
claim is about many points the two outermost are shown. B: bytes of payload in an SD. "Collapses" is
at most half of what there is at 1e-7 from 5e-6 on, "dies" at most 1 % of the link. "Nearly the
same" and "slightly" are within 10 %, "about" is within a quarter, "about 1.3 times" from 1.15 to
1.45, "about twice" from 1.5 to 2.5 times, "rise fast" at least fivefold from 1e-5 to 1e-4; "hardly
any" is at most 10 of 10 000 packets. Retransmissions are counted for 10 000 packets, SSCOP's by the
SDs that arrived; figure 14 leaves out copies that SSCOP sends unasked in idle time, and its 5 % are
widened to three standard deviations of counting where only few SDs were sent. The ideal is the
goodput if every SD is sent until it has arrived, headers and POLLs included, and nothing else costs
time. TCP is reno in figures 4 to 14."""

_HEADERS_WHY = (
    "an SD has 22 bytes of headers here, its Ethernet header included: at 128 B they are 15 % of "
    "the link (see the claim about what headers leave)"
)
_STALL_WHY = (
    "the last SD of a window waits for the next POLL, up to 10 s, while TCP waits for it: with a "
    f"POLL after 100 ms ([{TIMER}]) it does not"
)
_MORE_WHY = (
    "a POLL per 3000 B and in idle time finds a lost SD sooner than one per 16 SDs: see "
    f"[{TIMER}], which has the paper's"
)
_WINDOW_WHY = (
    "TCP's window takes what is lost, not the errors: of what the link allows with 128 B 11 % are "
    "lost, and with the doubled window (figures 6, 7) the loss is less"
)
_LATE_WHY = (
    "with 2048 B a window of 36 packets does not cover the time that repairs take at 5e-6: with 72 "
    "(figure 7) all sizes have 99 % of the ideal"
)
_ALIVE_WHY = "retransmissions get through now and then: 2 % of the link are left at 5e-5"
_COLLAPSE_WHY = (
    "at 20 ms a halved window of 16 packets is whole again after eight round trips of 50 ms; at 50 "
    "ms (figure 5) TCP does collapse"
)
_FULL_WHY = (
    "the link is nearly full with the single window: 2048 B have 84 to 90 % of the ideal there"
)
_BRIDGED_WHY = (
    "where a window has few SDs its end waits for the timer; the doubled one waits half as often, "
    "which gains more than 1.3 times. With a POLL per 3000 B the gain is smaller"
)

_ROWS = ("letter", TIMER, "today")
#: Bit error rates of runs with a timer of 100 ms.
_TIMED = (BERS[0], "1e-5", WORST)


def _split(
    text: str, check: Check, why: str, variants: Sequence[str] = _ROWS, more: str = ""
) -> list[Claim]:
    """A claim with a reason of its own for the paper's rules, and one for the other variants."""
    others = [variant for variant in variants if variant != "letter"]
    return [Claim(text, check, ("letter",), why), Claim(text, check, others, more)]


# --- figures 4 to 7 ---------------------------------------------------------------------------


def _both(segments: Sequence[int | str], path: Radio, bers: Sequence[str] = BERS) -> list[Cell]:
    return [each for variant in BOTH for each in over_ber(segments, path, variant, bers)]


def _throughput_cells(path: Radio) -> list[Cell]:
    return [
        *_both((ALONE, *SIZES), path),
        *over_ber((AUTO,), path, "today"),
        *over_ber(SIZES, path, TIMER, _TIMED if path in SINGLE.values() else [WORST]),
    ]


def _lines(
    more: Sequence[tuple[str, dict[str, object]]] = (),
) -> list[tuple[str, dict[str, object]]]:
    """Lines of a drawing: label, settings beside path and bit error rate."""
    lines = [(f"SSCOP, {size} B", {"segment": size, "mtu": PACKET}) for size in SIZES]
    lines.append(("SSCOP, segment=auto", {"segment": AUTO, "mtu": PACKET}))
    return [*lines, ("TCP alone", {"segment": ALONE, "mtu": PACKET}), *more]


def _ours(path: Radio) -> list[Claim]:
    return [
        Claim(
            "(ours) each size at least 95 % of the ideal below 5e-5",
            at_least(points(SIZES, BERS[:6], path), of_ideal, 0.95),
        ),
        Claim(
            "(ours) and at least 92 % from 5e-5 on",
            at_least(points(SIZES, BERS[6:], path), of_ideal, 0.92),
        ),
        Claim(
            "(ours) segment=auto within 3 % of the best size at each bit error rate",
            beside_best(AUTO, path, 0.97),
        ),
    ]


def _window_claims(path: Radio) -> list[Claim]:
    """Claims about figures 4 and 5."""
    at_worst = {
        "at 1e-4 and 128 B about 1 Mbit/s": (about(path, 128, 1e6), _MORE_WHY),
        "at 1e-4 and 2048 B about 0.3 Mbit/s": (about(path, 2048, 0.3e6), _MORE_WHY),
        "128 B lose about half from 1e-7 to 1e-4": (loses(path, 128, 0.5), _WINDOW_WHY),
        "2048 B lose about 85 % from 1e-7 to 1e-4": (loses(path, 2048, 0.85), _MORE_WHY),
    }
    return [
        Claim("TCP alone collapses above 5e-7", collapses(path), why=_COLLAPSE_WHY),
        Claim("and dies above 2e-5", dies(path), why=_ALIVE_WHY),
        *_split(
            "with SSCOP throughput is held: more than TCP alone from 5e-6 on", held(path),
            _STALL_WHY, BOTH,
        ),
        Claim(
            "from 1e-7 to 5e-6 all sizes have nearly the same",
            alike(path, BERS[:4], total), BOTH, _HEADERS_WHY,
        ),
        *_split("(ours) of what headers leave they have nearly the same",
                alike(path, BERS[:4], of_headers), _STALL_WHY, BOTH, _LATE_WHY),
        *_split("up to 1e-6 larger sizes have slightly more", larger_is_better(path), _STALL_WHY,
                BOTH),
        *_split("at 1e-4 smaller sizes have more", smaller_is_better(path), _STALL_WHY),
        *(
            claim
            for text, (check, more) in at_worst.items()
            for claim in _split(text, check, _STALL_WHY, more=more)
        ),
    ]  # fmt: skip


def _doubled_claims(path: Radio, single: Radio) -> list[Claim]:
    """Claims about figures 6 and 7."""
    return [
        *_split("slightly more than with the single window", doubling_gains(path, single),
                _STALL_WHY, BOTH),
        *(
            Claim("at 1e-4 about 1.3 times as much, every size", doubling_at_worst(path, single),
                  (variant,), why)
            for variant, why in (
                ("letter", _STALL_WHY), (TIMER, _BRIDGED_WHY), ("today", _FULL_WHY)
            )
        ),
    ]  # fmt: skip


def _throughput(name: str, claims: Sequence[Claim], cells: Sequence[Cell] = ()) -> Figure:
    path = PATHS[name]
    return Figure(
        name=name,
        title=f"Figure {name}: throughput over the bit error rate ({path.text})",
        cells=[*_throughput_cells(path), *cells],
        claims=claims,
        draw="lines_over_ber",
        options={
            "lines": _lines(), "path": path, "measure": total, "scale": 1e-6, "cc": CC,
            "label": "goodput, Mbit/s", "variants": BOTH, "bers": BERS,
        },
        tables=tables.goodput(name, path),
    )  # fmt: skip


FIGURE_4 = _throughput("4", _window_claims(PATHS["4"]))

_SMALL = [
    cell(ber, ALONE, PATHS["5"], variant, packet=SMALL_PACKET) for variant in BOTH for ber in BERS
]
_FIVE = _throughput(
    "5",
    [
        *_window_claims(PATHS["5"]),
        Claim(
            "TCP alone with packets of 500 B has less still, while it works",
            small_packets_are_worse(PATHS["5"]),
        ),
    ],
    _SMALL,
)
FIGURE_5 = replace(
    _FIVE,
    options={
        **_FIVE.options,
        "lines": _lines([("TCP alone, 500 B", {"segment": ALONE, "mtu": SMALL_PACKET})]),
    },
)


def _single_cells(path: Radio) -> list[Cell]:
    """What the claims about a doubled window are measured against."""
    return [
        *_both(SIZES, path),
        *over_ber(SIZES, path, TIMER, [WORST]),
    ]


FIGURE_6 = _throughput("6", _doubled_claims(PATHS["6"], SINGLE["6"]), _single_cells(SINGLE["6"]))

_WIDE = PATHS["7"]
_TOP = {"": point(WORST, 128, _WIDE)}
FIGURE_7 = _throughput(
    "7",
    [
        *_doubled_claims(_WIDE, SINGLE["7"]),
        *_split("at 1e-4 and 128 B about 1.2 Mbit/s", about(_WIDE, 128, 1.2e6), _STALL_WHY,
                (*_ROWS, NARROW)),
        Claim(
            "(ours) and at least that", range_of(_TOP, total, 1.2e6, 9e9, 1e-6, " Mbit/s", 2),
            (NARROW, "today"),
        ),
        *_ours(_WIDE),
        Claim(
            "(ours) up to 1e-6 and with 256 B at least 98 % of what headers leave",
            at_least(points([256], LOW, _WIDE), of_headers, 0.98),
        ),
    ],
    [*_single_cells(SINGLE["7"]), cell(WORST, 128, _WIDE, NARROW)],
)  # fmt: skip


# --- figures 8 and 9 --------------------------------------------------------------------------


def _series_cell(size: int, variant: str) -> Cell:
    plain = cell(WORST, size, PATHS["5"], variant)
    settings = {**plain.settings, "series": f"{SERIES_S:g}s"}
    return replace(plain, settings=settings, duration_s=SERIES_S + 1, seeds=MANY)


_SERIES = [_series_cell(size, variant) for variant in _ROWS for size in SIZES]


def _series_figure(name: str, of: str, claims: Sequence[Claim], **options: object) -> Figure:
    return Figure(
        name=name,
        title=f"Figure {name}: sequence numbers of {of} over time (1e-4, {PATHS['5'].text})",
        cells=_SERIES,
        claims=claims,
        draw="sequence_over_time",
        options={"path": PATHS["5"], "cc": CC, "variants": _ROWS, "until_s": SERIES_S, **options},
        extra=window_at_end(SERIES_S),
    )


FIGURE_8 = _series_figure(
    "8",
    "TCP",
    [
        *_split("the larger the segment, the fewer packets TCP has sent",
                falls_with_size(PATHS["5"], last_of("tcp")), _STALL_WHY),
        *_split(
            "with 2048 B TCP sends hardly anything: at most a third of what it sends with 128 B",
            third(PATHS["5"], last_of("tcp")), _STALL_WHY, more=_MORE_WHY,
        ),
        *_split(
            "with 2048 B slow start is not over after 5 s: the window is below 36 packets",
            range_of({"": point(WORST, 2048, PATHS["5"])}, last_window, 0, 35.5, 1, " packets", 0),
            _STALL_WHY,
            more="Linux begins with ten packets and counts bytes: no packet is lost, so three "
            "round trips are enough",
        ),
    ],
    key="tcp", label="packets sent",
)  # fmt: skip

FIGURE_9 = _series_figure(
    "9",
    "SSCOP",
    [
        *_split("the larger the segment, the more SDs are sent again",
                rises_with_size(PATHS["5"], share_again), _STALL_WHY),
        *_split("and the less new data SSCOP has sent",
                falls_with_size(PATHS["5"], sd_bytes), _STALL_WHY),
    ],
    key="sd", label="SDs sent for the first time",
)  # fmt: skip


# --- figures 10 to 13 -------------------------------------------------------------------------

_ALMOST = "TCP above SSCOP retransmits hardly any packet"
_PROBES_WHY = "while the link stalls TCP's timer expires, or it sends a probe"


def _again_claims(path: Radio) -> list[Claim]:
    return [
        *_split("SSCOP's retransmissions rise fast from 1e-5 on", rises_fast(path), _STALL_WHY),
        *_split("at 1e-4 2048 B have about twice those of 128 B", twice(path), _STALL_WHY),
        *_split(_ALMOST, tcp_hardly_retransmits(path, BERS, FEW_AGAIN, tcp_again), _PROBES_WHY,
                BOTH),
        *_split(
            "(ours) up to 1e-5 at most 1 of 10 000 packets, TCP's own probes aside",
            tcp_hardly_retransmits(path, BERS[:5], 1.0, tcp_unasked), _PROBES_WHY, BOTH,
        ),
        Claim("up to 2e-5 TCP alone retransmits about as much", as_much_alone(path), BOTH),
    ]  # fmt: skip


def _counted(
    name: str, path: Radio, what: str, claims: Sequence[Claim], **options: object
) -> Figure:
    return Figure(
        name=name,
        title=f"Figure {name}: {what} over the bit error rate ({path.text})",
        cells=[*_both((ALONE, *SIZES), path), *over_ber(SIZES, path, TIMER, _TIMED)],
        claims=claims,
        draw="lines_over_ber",
        options={
            "lines": [line for line in _lines() if line[1]["segment"] != AUTO],
            "path": path, "cc": CC, "variants": BOTH, "bers": BERS, **options,
        },
        tables=tables.counted(name, path, options["measure"], options["decimals"], what),
    )  # fmt: skip


_AGAIN = {
    "measure": again, "scale": 1.0, "label": "retransmissions for 10 000 packets", "log": True,
    "decimals": 0,
}  # fmt: skip
_BUSY = {"measure": busy, "scale": 100.0, "label": "link used, %", "decimals": 3}


def _longer(name: str, what: str, claims: list[Claim], said: str, **options: Any) -> Figure:
    """The same on the longer path; the shorter one's runs show that the delay hardly matters."""
    long, short = PATHS["5"], PATHS["4"]
    same = _split(said, delay_hardly_matters(long, short, options["measure"]), _STALL_WHY, BOTH)
    figure = _counted(name, long, what, [*claims, *same], **options)
    return replace(figure, cells=[*figure.cells, *_both(SIZES, short, FROM)])


FIGURE_10 = _counted("10", PATHS["4"], "retransmissions", _again_claims(PATHS["4"]), **_AGAIN)
FIGURE_11 = _longer(
    "11", "retransmissions", _again_claims(PATHS["5"]),
    "the delay hardly matters: as many at 20 ms", **_AGAIN,
)  # fmt: skip

_USED_WHY = (
    "with a POLL per 3000 B and in idle time hardly any time is lost to waiting, and what is left "
    "goes into copies of SDs that were lost before: the link is busy"
)
_FEW_WHY = (
    "the more SDs a window has, the less often its end waits for the timer: 2048 B use the least "
    "of the link, 128 B the most"
)
_COPIES_WHY = (
    "at 1e-4 the link is idle at times with 128 B, which TCP's window leaves so; with larger sizes "
    "copies of lost SDs fill that time"
)


def _busy_claims(path: Radio) -> list[Claim]:
    half = half_at_worst(path)
    return [
        *_split("all sizes use the link nearly alike", alike(path, BERS, busy), _STALL_WHY, BOTH,
                _COPIES_WHY),
        *_split("less, the more errors", falls_with_errors(path), _STALL_WHY, BOTH, _USED_WHY),
        *(
            Claim("at 1e-4 about half of the link, every size", half, (variant,), why)
            for variant, why in (
                ("letter", _STALL_WHY), (TIMER, _FEW_WHY), ("today", _USED_WHY)
            )
        ),
    ]  # fmt: skip


FIGURE_12 = _counted("12", PATHS["4"], "utilisation", _busy_claims(PATHS["4"]), **_BUSY)
FIGURE_13 = _longer(
    "13", "utilisation", _busy_claims(PATHS["5"]),
    "the delay hardly matters: as much at 20 ms", **_BUSY,
)  # fmt: skip


# --- figure 14 --------------------------------------------------------------------------------

_PAPER_WHY = (
    "its last step leaves out the factor 1 - (1-e)^n, the chance of a loss: this is the number of "
    "all transmissions"
)
_CORRECTED_WHY = (
    "real packets do not fill their last SD (1500 B in 2048), and an SD's headers are hit, too"
)

_SHORT_WHY = (
    "where the link stalls a run carries few packets, and at its end many of its losses have not "
    f"been repaired: see [{TIMER}]"
)

FIGURE_14 = Figure(
    name="14",
    title="Figure 14: retransmissions by theory and measured (runs of figures 4 to 7)",
    cells=[
        each
        for path in PATHS.values()
        for each in (*_both(SIZES, path), *over_ber(SIZES, path, TIMER, [WORST]))
    ],
    claims=[
        *_split("(ours) from 1e-5 on measured within 5 % of the sum over the real frames",
                near_frames(FROM), _SHORT_WHY, BOTH),
        Claim(
            "(ours) at 1e-4 measured within 5 % of the sum over the real frames",
            near_frames([WORST]), (TIMER,),
        ),
        Claim(
            "(ours) below as close as counts of random events can be, 3 standard deviations",
            within_counting(BERS[:4]), BOTH,
        ),
        Claim(
            "the paper's formula N/(n(1-e)^n) is nearly what is measured, from 1e-5 on",
            near_formula(theory.of_the_paper, FROM), BOTH, _PAPER_WHY,
        ),
        Claim(
            "(ours) so is its correction N/n (1-(1-e)^n)/(1-e)^n",
            near_formula(theory.corrected, FROM), BOTH, _CORRECTED_WHY,
        ),
    ],
    draw="theory_over_ber",
    options={"cc": CC, "variants": BOTH, "bers": BERS, "sizes": SIZES},
    tables=tables.theories,
)  # fmt: skip

_FIGURES = (
    FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12,
    FIGURE_13, FIGURE_14, *today.FIGURES,
)  # fmt: skip

SSCOP = Paper(
    name="sscop",
    title="SSCOP for TCP over radio (Hara, Idoue, Kato, Suzuki)",
    figures={figure.name: figure for figure in _FIGURES},
    forms={"as published": "letter", "default": "today"},
    variants=VARIANTS,
    legend=LEGEND,
)
