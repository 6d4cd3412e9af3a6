#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print include/apogee/rtt_trend_table.h, critical values of Student's t distribution.

    scripts/student_table.py >include/apogee/rtt_trend_table.h

Degrees of freedom and critical values have no unit; a level is the chance of a false alarm on
one side. The square of a critical value is stored in 1/65536.
"""

from __future__ import annotations

from statistics import NormalDist

from apogee_lab.results.statistics import t_quantile

# The test needs 8 samples; from 30 degrees of freedom on 1 / df is interpolated.
FIRST, LAST = 6, 30
LEVELS = {"10 %": 0.1, "5 %": 0.05, "1 %": 0.01, "0.1 %": 0.001}
SCALE = 65536


def critical(level: float, df: int) -> float:
    """The t that is exceeded with the chance `level`."""
    return t_quantile(df, 1 - 2 * level)


def squares(level: float) -> list[int]:
    """Critical t^2 in 1/65536 for FIRST to LAST degrees of freedom and for infinitely many."""
    values = [critical(level, df) for df in range(FIRST, LAST + 1)]
    return [round(t * t * SCALE) for t in [*values, NormalDist().inv_cdf(1 - level)]]


def _row(name: str, level: float) -> str:
    words = [str(square) for square in squares(level)]
    lines = [", ".join(words[at : at + 8]) for at in range(0, len(words), 8)]
    body = ",\n\t\t".join(lines)
    return f"\t{{\t/* {name} */\n\t\t{body},\n\t}},\n"


def header() -> str:
    """The text of rtt_trend_table.h."""
    rows = "".join(_row(name, level) for name, level in LEVELS.items())
    return f"""\
/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Squares of the critical values of Student's t distribution, in 1/{SCALE}.
 * Written by scripts/student_table.py; don't edit.
 */
#ifndef _APOGEE_RTT_TREND_TABLE_H
#define _APOGEE_RTT_TREND_TABLE_H

#include "int.h"

/* Degrees of freedom of the first column and of the last but one; the last
 * column is the limit, the normal distribution.
 */
#define RTT_TREND_DF_FIRST	{FIRST}U
#define RTT_TREND_DF_LAST	{LAST}U

/* By level of significance on one side, as in enum rtt_trend_level. */
static const u32 rtt_trend_t2[{len(LEVELS)}][{LAST - FIRST + 2}] = {{
{rows}}};

#endif /* _APOGEE_RTT_TREND_TABLE_H */
"""


if __name__ == "__main__":
    print(header(), end="")
