# SPDX-License-Identifier: GPL-2.0
"""States of judge.h and rounds, for its tests.

RTTs are in us, windows and counts in segments, ages of timestamps in 256 us, how much longer the
way back is in 16 us, clocks in 131072 us.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1
NONE = U32_MAX
BASE = 512_000  # a sixteenth and an eighth of it are whole numbers
LINK = 12  # what a link is believed to lose at first, in 1/1024
MOST = 96  # and at most
FEW = 20  # where the smoothed RTT does not show an empty queue
CLOCK = 2**17
RENEW = 10_000_000 // CLOCK  # 76
EVERY = 16  # rounds

u32 = st.integers(0, U32_MAX) | st.sampled_from([0, 1, U32_MAX])
u16 = st.integers(0, 2**16 - 1) | st.just(0)
u8 = st.integers(0, 255)
links = st.integers(LINK, MOST)
flag = st.integers(0, 1)


def judge(apogee: Library, **fields: Any) -> Any:
    """What judge_init() leaves at the time 0, but for the fields."""
    begin = {"base_us": BASE, "least_us": NONE, "last_us": NONE, "link": LINK, "ticks": 1}
    return apogee.new("judge_state", **begin | fields)


def a_round(apogee: Library, sent: int, lost: int, **fields: Any) -> Any:
    """A round trip of a window that was sent in full and fills the path, without a queue."""
    given_ = {"cwnd": sent, "path": sent, "rtt_us": BASE, "limited": True}
    return apogee.new("judge_round", delivered=sent - lost, lost=lost, **given_ | fields)


def path_us(base: int, back: int) -> int:
    """The path's RTT with what the way back is longer."""
    return min(base + 16 * back, U32_MAX)


def is_empty(rtt: int, base: int, packet: int) -> bool:
    """Two packets, an eighth of the least RTT at most, or half a millisecond above that."""
    return rtt <= base + max(min(2 * packet, base // 8), 500)


#: What is counted, and up to where.
BOUNDS = {"test": 3, "standing": 4, "skip": 2, "rest": 8, "renew": 3}
FLAGS = ("dip", "queue", "alone", "large", "empty", "learns", "over", "ticks", "half")
states = st.fixed_dictionaries(
    dict.fromkeys(("base_us", "least_us", "last_us", "low_us"), u32)
    | dict.fromkeys(("age", "back"), u16)
    | dict.fromkeys(("excess", "fall", "seen", "mark"), u8)
    | {"link": links}
    | {name: st.integers(0, most) for name, most in BOUNDS.items()}
    | dict.fromkeys(FLAGS, flag)
)


def way_back(apogee: Library, j: Any, now: int, stamp: int, most: int) -> int:
    """An ACK's timestamp, evaluated as tcp_star.c does."""
    if not apogee.judge_in_time(j, now, stamp, most):
        apogee.judge_see_clock(j, now, stamp, most)
    return apogee.judge_way_back(j, now, stamp, most)


def renew_after(rtt: int) -> int:
    """Without it for so long the path's RTT is measured anew, in 131072 us: ten seconds, or sixteen
    rounds up to 127.
    """
    return max(RENEW, min(EVERY * rtt // CLOCK, 127))
