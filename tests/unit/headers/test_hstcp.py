# SPDX-License-Identifier: GPL-2.0
"""HighSpeed TCP's response function: the RFC's table, Linux's, and the formulas."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hstcp_table
from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1

# RFC 3649, Appendix B, table 12: w, a(w) and b(w) as printed, to two digits.
RFC3649 = """
38 1 0.50      118 2 0.44     221 3 0.41     347 4 0.38     495 5 0.37     663 6 0.35
851 7 0.34     1058 8 0.33    1284 9 0.32    1529 10 0.31   1793 11 0.30   2076 12 0.29
2378 13 0.28   2699 14 0.28   3039 15 0.27   3399 16 0.27   3778 17 0.26   4177 18 0.26
4596 19 0.25   5036 20 0.25   5497 21 0.24   5979 22 0.24   6483 23 0.23   7009 24 0.23
7558 25 0.22   8130 26 0.22   8726 27 0.22   9346 28 0.21   9991 29 0.21   10661 30 0.21
11358 31 0.20  12082 32 0.20  12834 33 0.20  13614 34 0.19  14424 35 0.19  15265 36 0.19
16137 37 0.19  17042 38 0.18  17981 39 0.18  18955 40 0.18  19965 41 0.17  21013 42 0.17
22101 43 0.17  23230 44 0.17  24402 45 0.16  25618 46 0.16  26881 47 0.16  28193 48 0.16
29557 49 0.15  30975 50 0.15  32450 51 0.15  33986 52 0.15  35586 53 0.14  37253 54 0.14
38992 55 0.14  40808 56 0.14  42707 57 0.13  44694 58 0.13  46776 59 0.13  48961 60 0.13
51258 61 0.13  53677 62 0.12  56230 63 0.12  58932 64 0.12  61799 65 0.12  64851 66 0.11
68113 67 0.11  71617 68 0.11  75401 69 0.10  79517 70 0.10  84035 71 0.10  89053 72 0.10
94717 73 0.09
""".split()

# What Linux's tcp_highspeed does at a window: a(w) per round trip, b(w) in 1/256
# (net/ipv4/tcp_highspeed.c, whose table ends with the row of 89053). Both sides of a step,
# and windows between.
LINUX = """
2 1 128      38 1 128     39 2 112     100 2 112    118 2 112    119 3 104    500 6 89
663 6 89     1000 8 83    1500 10 78   2079 13 72   4167 18 65   4178 19 64   8333 27 55
10661 30 52  12500 33 50  30000 50 38  53677 62 31  75402 70 26  83000 71 25  89053 72 24
""".split()

windows = st.integers(0, 2**20) | st.integers(0, U32_MAX) | st.sampled_from([0, 1, 2, U32_MAX])
FORMULAS = {"HSTCP_RFC3649": hstcp_table.RFC3649, "HSTCP_PAPER": hstcp_table.PAPER}
ROWS = {table: hstcp_table.rows(formula) for table, formula in FORMULAS.items()}
tables = st.sampled_from([*FORMULAS])


def row(apogee: Library, table: str, window: int) -> tuple[int, int, int]:
    """Last window, a(w), and b(w) in 1/256 of the row that holds for a window."""
    found = apogee.hstcp_row(getattr(apogee, table), window).contents
    return found.cwnd, found.increase, found.decrease


def test_the_table_is_what_the_script_writes(root: Path) -> None:
    committed = (root / "include/apogee/hstcp_table.h").read_text(encoding="utf-8")
    assert committed == hstcp_table.header()


def test_equals_the_rfcs_appendix_row_by_row(apogee: Library) -> None:
    """w and a(w) exactly, b(w) in the two digits printed; and no row more."""
    printed = list(zip(*[iter(RFC3649)] * 3, strict=True))
    made = ROWS["HSTCP_RFC3649"]
    exact = [hstcp_table.RFC3649.b(one.window) for one in made]
    assert printed == [
        (str(one.window), str(one.increase), f"{b:.2f}") for one, b in zip(made, exact, strict=True)
    ]
    for (window, increase, _), b in zip(printed, exact, strict=True):
        expected = int(window), int(increase), math.floor(b * 256)
        assert row(apogee, "HSTCP_RFC3649", int(window)) == expected


def test_equals_linux(apogee: Library) -> None:
    """Increase and the window after a loss, w - (w * md >> 8) and at least 2, as it computes it."""
    for window, increase, decrease in zip(*[iter(map(int, LINUX))] * 3, strict=True):
        assert apogee.hstcp_increase(apogee.HSTCP_RFC3649, window) == increase
        after = max(window - (window * decrease >> 8), 2)
        assert apogee.hstcp_ssthresh(apogee.HSTCP_RFC3649, window) == after


def test_equals_the_papers_formula_row_by_row(apogee: Library) -> None:
    """Section 2.2 with W_low = 31 and P_low = 1.5 / 31^2 put in; rows counted as the RFC's are."""
    w = np.arange(31, 100_000)
    x = np.log(w / 31) / math.log(83_000 / 31)
    p = np.exp(x * math.log(1e-7 * 31**2 / 1.5)) * 1.5 / 31**2
    b = 0.5 - 0.4 * x
    a = 2 * w**2 * b * p / (2 - b)
    assert a[0] == pytest.approx(1)
    index = 0
    for increase in range(1, 76):
        expected = int(w[index]), increase, int(b[index] * 256)
        assert row(apogee, "HSTCP_PAPER", int(w[index])) == expected
        above = np.flatnonzero(a > max(a[index], 1) + 1)
        index = above[0] if len(above) else -1
    assert index == -1


def test_grows_like_the_rfcs_table_6_and_faster(apogee: Library) -> None:
    """Windows after so many round trips from 1 without a loss, by the RFC's formula and here.

    Reading the table upwards, as Linux does, is up to a segment per round trip ahead.
    """
    rfc = {100: 131, 200: 475, 500: 3_601, 1_000: 17_409, 2_000: 72_754}
    most = {100: 1.39, 200: 1.37, 500: 1.22, 1_000: 1.12, 2_000: 1.06}
    window = 1
    for rtt in range(1, 2_001):
        if rtt in rfc:
            assert rfc[rtt] < window < most[rtt] * rfc[rtt]
        window += apogee.hstcp_increase(apogee.HSTCP_RFC3649, window)


@given(tables, st.integers(38, 94_717))
def test_keeps_near_the_formula(apogee: Library, table: str, window: int) -> None:
    """a(w) at most one segment ahead, or a tenth behind; b(w) at most 1/16 below, 1/256 rounding.

    What is behind comes from the way the RFC counts its rows, from one a(w) to the next above
    it by one: the fractions add up.
    """
    formula = FORMULAS[table]
    _, increase, decrease = row(apogee, table, window)
    assert -0.1 < increase - formula.a(window) < 1.05
    assert -1 / 16 < decrease / 256 - formula.b(window) <= 0


@given(tables, windows | st.integers(38, 94_717))
def test_any_window(apogee: Library, table: str, window: int) -> None:
    """By the first row whose window is not below, or the last; after a loss, exact numbers."""
    which, rows = getattr(apogee, table), ROWS[table]
    held = next((one for one in rows if window <= one.window), rows[-1])
    assert row(apogee, table, window) == (held.window, held.increase, held.decrease)
    assert apogee.hstcp_increase(which, window) == held.increase
    after = apogee.hstcp_ssthresh(which, window)
    assert after == max(math.ceil(window - window * held.decrease / 256), 2)
