# SPDX-License-Identifier: GPL-2.0
"""The arithmetic that the kernel has and int.h brings for user space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

u32 = st.integers(0, 2**32 - 1) | st.integers(0, 32).map(lambda bits: max(2**bits - 1, 0))
u64 = st.integers(0, 2**64 - 1) | st.integers(0, 64).map(lambda bits: max(2**bits - 1, 0))
s64 = st.integers(-(2**63) + 1, 2**63 - 1)
s32 = st.integers(-(2**31) + 1, 2**31 - 1)


@given(u64, u32.filter(bool), u64.filter(bool))
def test_quotients_are_rounded_down(
    apogee: Library, dividend: int, divisor: int, wide: int
) -> None:
    assert apogee.div_u64(dividend, divisor) == dividend // divisor
    assert apogee.div64_u64(dividend, wide) == dividend // wide


@given(s64, s32.filter(bool))
def test_signed_quotients_are_rounded_towards_zero(
    apogee: Library, dividend: int, divisor: int
) -> None:
    quotient = abs(dividend) // abs(divisor)
    negative = (dividend < 0) != (divisor < 0)
    assert apogee.div_s64(dividend, divisor) == (-quotient if negative else quotient)


@given(u64)
def test_highest_bit(apogee: Library, x: int) -> None:
    assert apogee.fls64(x) == x.bit_length()
