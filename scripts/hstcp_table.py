#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print include/apogee/hstcp_table.h, HighSpeed TCP's response function as tables.

    scripts/hstcp_table.py >include/apogee/hstcp_table.h

Windows are in segments, a(w) is in segments per round trip, b(w) and p(w) have no unit.
Each table is made as RFC 3649's Appendix B is: the window goes up one segment at a time, and
a row is written where a(w) exceeds what it was in the row before by more than one segment.
a(w) is rounded down to whole segments, b(w) to 1/256, the unit of Linux's tcp_highspeed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

HIGH_WINDOW = 83_000
HIGH_P = 1e-7
HIGH_DECREASE = 0.1
# Where the RFC's table ends: above, b(w) goes on to zero, and a(w) turns down.
TOP = 100_000
B_SCALE = 256


@dataclass(frozen=True)
class Response:
    """A response function: Low_Window in segments, and the loss rate p(w) at window w."""

    low_window: int
    p: Callable[[float], float]

    def b(self, w: float) -> float:
        """The part of the window given up at a loss: 0.5 at Low_Window, 0.1 at 83000."""
        return (HIGH_DECREASE - 0.5) * _position(w, self.low_window) + 0.5

    def a(self, w: float) -> float:
        """The increase in segments per round trip that keeps w at the loss rate p(w)."""
        return 2 * w**2 * self.b(w) * self.p(w) / (2 - self.b(w))


@dataclass(frozen=True)
class Row:
    """The last window with one a(w): segments, segments per round trip, and b(w) in 1/256."""

    window: int
    increase: int
    decrease: int


def _position(w: float, low_window: int) -> float:
    """Where w lies between Low_Window (0) and High_Window (1) on the logarithmic scale."""
    return math.log(w / low_window) / math.log(HIGH_WINDOW / low_window)


def _rfc3649_p(w: float) -> float:
    """0.078 / w^1.2, section 5 of the RFC, with the digits Appendix B was computed with."""
    return 1 / (12.8 * w**1.2)


def _paper_p(w: float) -> float:
    """The line through (W_low, 1.5 / W_low^2) and (83000, 1e-7) in double logarithmic scale."""
    low = 1.5 / PAPER_LOW_WINDOW**2
    return low * (HIGH_P / low) ** _position(w, PAPER_LOW_WINDOW)


PAPER_LOW_WINDOW = 31
RFC3649 = Response(38, _rfc3649_p)
PAPER = Response(PAPER_LOW_WINDOW, _paper_p)


def rows(response: Response) -> list[Row]:
    """The table of one response function."""
    table = [Row(response.low_window, 1, B_SCALE // 2)]
    last = 1.0
    for window in range(response.low_window + 1, TOP):
        increase = response.a(window)
        if increase > last + 1:
            last = increase
            decrease = math.floor(response.b(window) * B_SCALE)
            table.append(Row(window, math.floor(increase), decrease))
    return table


def _array(name: str, table: list[Row]) -> str:
    body = "".join(f"\t{{ {row.window}, {row.increase}, {row.decrease} }},\n" for row in table)
    return f"static const struct hstcp_row {name}[] = {{\n{body}}};\n"


def header() -> str:
    """The text of hstcp_table.h."""
    return f"""\
/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HighSpeed TCP's response function. Written by scripts/hstcp_table.py, which
 * has the formulas; don't edit.
 */
#ifndef _APOGEE_HSTCP_TABLE_H
#define _APOGEE_HSTCP_TABLE_H

#include "int.h"

/**
 * struct hstcp_row - windows that grow alike
 * @cwnd: the last of them, in segments
 * @increase: a(w) in segments per round trip, rounded down
 * @decrease: b(w), the part of the window given up at a loss, in 1/{B_SCALE},
 *	rounded down
 */
struct hstcp_row {{
	u32 cwnd;
	u8 increase;
	u8 decrease;
}};

/* RFC 3649, Appendix B: W_low = 38, p(w) = 0.078 / w^1.2 */
{_array("hstcp_rfc3649", rows(RFC3649))}
/* The paper's section 2.2: W_low = 31, P_low = 1.5 / W_low^2, else as the RFC */
{_array("hstcp_paper", rows(PAPER))}
#endif /* _APOGEE_HSTCP_TABLE_H */
"""


if __name__ == "__main__":
    print(header(), end="")
