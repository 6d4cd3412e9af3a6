# SPDX-License-Identifier: GPL-2.0
"""The runs behind the figures of the paper on SSCOP: paths, segments, error rates, variants.

A point is a path, a segment size and a bit error rate; segment 0 is TCP alone. The rules of SSCOP
are the variant's, so runs of TCP alone are common to all variants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..claims import Point
from ..figure import Cell
from ..variants import listed

SIZES = (128, 256, 512, 1024, 2048)  # payload of an SD, bytes
BERS = ("1e-7", "5e-7", "1e-6", "5e-6", "1e-5", "2e-5", "5e-5", "1e-4")
WORST = "1e-4"
PACKET, SMALL_PACKET = 1500, 500  # TCP's, with headers
ALONE, AUTO = 0, "auto"  # segments: TCP alone; chosen by SSCOP
CC = "reno"  # of the paper's figures
FEW, MANY = 3, 5  # seeds: the paper's three
DURATION_S = 60.0

#: The rules of the paper, and those of the two variants that take one of them back.
_PUBLISHED = {
    "sscop_window": "512", "poll_bytes": "0", "poll_sd": "16", "poll_time": "10s", "poll_idle": "0",
}  # fmt: skip
_OURS = "sscop_window=1024, poll_bytes=3000, poll_time=100ms, poll_idle=10ms"
TIMER, NARROW = "poll_time=100ms", "sscop_window=512"
SETTINGS: dict[str, dict[str, str]] = {
    "today": {"sscop_window": "1024"},  # as much as is needed on these paths
    "letter": _PUBLISHED,
    TIMER: _PUBLISHED | {"poll_time": "100ms"},
    NARROW: {"sscop_window": "512"},
}
VARIANTS = {
    "today": f"Linux and SSCOP with their defaults, but for the window ({_OURS})",
    "letter": f"SSCOP by the paper's rules ({listed(_PUBLISHED)}): a POLL per 16 SDs or 10 s",
    TIMER: "the same, but after 100 ms without a POLL one is sent",
    NARROW: "SSCOP with its defaults, but the paper's window",
}
BOTH = ("letter", "today")


@dataclass(frozen=True)
class Radio:
    """A path of the paper: one-way delay, TCP's window in packets."""

    delay: str
    window: int

    def settings(self) -> dict[str, str]:
        """As the command line has it."""
        return {"delay": self.delay, "window": str(self.window)}

    def point(self) -> dict[str, object]:
        """As records have it."""
        return {"delay": self.delay, "window": self.window}

    @property
    def text(self) -> str:
        """For a title."""
        return f"{self.delay}, window of {self.window} packets"


#: The paths by their figure.
PATHS = {"4": Radio("20ms", 16), "5": Radio("50ms", 36), "6": Radio("20ms", 32),
         "7": Radio("50ms", 72)}  # fmt: skip


def point(
    ber: str, segment: int | str, path: Radio | None = None, packet: int = PACKET
) -> dict[str, object]:
    """A point; without a path that of all paths."""
    found: dict[str, object] = {"ber": float(ber), "segment": segment, "mtu": packet}
    return found | (path.point() if path else {})


def cell(
    ber: str,
    segment: int | str,
    path: Radio,
    variant: str = "today",
    cc: str = CC,
    packet: int = PACKET,
    seeds: int = FEW,
) -> Cell:
    """The run of a point."""
    settings = {"ber": ber, "segment": str(segment), **path.settings()}
    if packet != PACKET:
        settings["mtu"] = str(packet)
    if segment != ALONE:
        settings |= SETTINGS[variant]
    if ber == WORST and path == PATHS["7"] and segment != ALONE:
        seeds = max(seeds, MANY)
    return Cell("radio", cc, settings, variant, DURATION_S, seeds)


def over_ber(
    segments: Sequence[int | str], path: Radio, variant: str, bers: Sequence[str] = BERS
) -> list[Cell]:
    """A cell for each segment and bit error rate."""
    return [cell(ber, segment, path, variant) for segment in segments for ber in bers]


def points(
    segments: Sequence[int | str], bers: Sequence[str], path: Radio | None
) -> Mapping[str, Point]:
    """Points by their label in the table."""
    return {
        f"{segment} B, {ber}": point(ber, segment, path) for segment in segments for ber in bers
    }
