# SPDX-License-Identifier: GPL-2.0
"""Tables below the page's claims: every point of the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...results.text import NONE, as_markdown, cell
from ..claims import Measure, NotMeasured, Point, Results, total
from ..variants import label
from . import theory
from .cells import (
    ALONE,
    AUTO,
    BERS,
    BOTH,
    CC,
    PACKET,
    SIZES,
    SMALL_PACKET,
    Radio,
    point,
)
from .claims import again, every_sd_again, of_ideal, sds_again

Found = Mapping[str, Results]
Tables = Callable[[Found], list[str]]


def shown(
    results: Results, at: Point, measure: Measure, scale: float, decimals: int, cc: str = CC
) -> str:
    """A point's mean with its interval, or a dash if it was not measured."""
    try:
        return cell([scale * value for value in results.values(cc, at, measure)], decimals)
    except NotMeasured:
        return NONE


def titled(title: str, text: str, rows: Sequence[Sequence[str]], left: int = 2) -> list[str]:
    """A section with a table."""
    return [f"## {title}", "", text, "", as_markdown([list(row) for row in rows], left)]


def _name(segment: int | str, packet: int = PACKET) -> str:
    if segment == ALONE:
        return "TCP alone" if packet == PACKET else f"TCP alone, {packet} B"
    return f"{segment} B" if isinstance(segment, int) else f"segment={segment}"


def _over_ber(
    found: Found,
    path: Radio,
    measure: Measure,
    scale: float,
    decimals: int,
    lines: Sequence[tuple[str, int | str, int]],
) -> list[list[str]]:
    """A row per variant, segment and packet size, a column per bit error rate."""
    rows = [["SSCOP", "segment", *BERS]]
    for variant, segment, packet in lines:
        results = found.get(variant, Results([]))
        cells = [
            shown(results, point(ber, segment, path, packet), measure, scale, decimals)
            for ber in BERS
        ]
        rows.append([NONE if segment == ALONE else label(variant), _name(segment, packet), *cells])
    return rows


def _sizes(*more: tuple[str, int | str, int]) -> list[tuple[str, int | str, int]]:
    return [(variant, size, PACKET) for variant in BOTH for size in SIZES] + list(more)


_ALONE = ("today", ALONE, PACKET)


def goodput(name: str, path: Radio) -> Tables:
    """Goodput of every point; figure 7 also as a share of the ideal."""
    more = [("today", AUTO, PACKET), _ALONE]
    if name == "5":
        more.append(("today", ALONE, SMALL_PACKET))

    def tables(found: Found) -> list[str]:
        title = f"Figure {name}: goodput in Mbit/s ({path.text})"
        rows = _over_ber(found, path, total, 1e-6, 2, _sizes(*more))
        lines = titled(title, "By bit error rate.", rows)
        if name != "7":
            return lines
        shares = _over_ber(found, path, of_ideal, 100.0, 1, _sizes(("today", AUTO, PACKET)))
        text = (
            "In percent of the best goodput that the link allows at these errors with this segment "
            "size (auto: with the best size), headers and POLLs included."
        )
        return [
            *lines,
            "",
            *titled(f"The same as a share of the ideal ({path.text})", text, shares),
        ]

    return tables


def counted(name: str, path: Radio, measure: Measure, decimals: int, what: str) -> Tables:
    """Every point of a figure of retransmissions or of utilisation."""

    def tables(found: Found) -> list[str]:
        rows = _over_ber(found, path, measure, 1.0, decimals, _sizes(_ALONE))
        title = f"Figure {name}: {what} ({path.text})"
        if measure is not again:
            return titled(title, "Share of the link.", rows)
        every = _over_ber(found, path, every_sd_again, 1.0, decimals, _sizes()[len(SIZES) :])
        rows += [[f"{first}, with copies", *rest] for first, *rest in every[1:]]
        text = (
            "For 10 000 packets. SSCOP's are answers to losses; with its defaults it also sends "
            "copies in idle time, which nobody asked for: the last lines count them, too."
        )
        return titled(title, text, rows)

    return tables


def theories(found: Found) -> list[str]:
    """Figure 14: measured, the sum over real frames, the paper's formula and its correction."""
    formulas = {
        "real frames": theory.of_frames,
        "the paper's": theory.of_the_paper,
        "corrected": theory.corrected,
    }
    rows = [["segment", "", *BERS]]
    for size in SIZES:
        for variant in BOTH:
            results = found.get(variant, Results([]))
            cells = [shown(results, point(ber, size), sds_again, 1.0, 0) for ber in BERS]
            rows.append([_name(size), f"measured, {label(variant)}", *cells])
        for name, formula in formulas.items():
            cells = [f"{formula(float(ber), size, PACKET):.0f}" for ber in BERS]
            rows.append([_name(size), name, *cells])
    text = "SSCOP's retransmissions for 10 000 packets of 1500 B, mean of the runs of all paths."
    return titled("Figure 14: retransmissions by theory and measured", text, rows)
