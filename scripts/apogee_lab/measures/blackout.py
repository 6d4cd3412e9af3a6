# SPDX-License-Identifier: GPL-2.0
"""Recovery time and lost goodput of a blackout."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrivals import BIN_US, Arrivals, rate_over

BLACKOUTS = ("ack_blackout", "data_blackout")  # events; if a run has both, the first counts
BLACKOUT_WINDOW_S = 0.2  # sliding window for goodput after a blackout
BLACKOUT_STEADY_S = 1.0  # the dip ends when goodput has stayed at 90 % for this long
BLACKOUT_FALL_S = 2.0  # a dip that begins later than this after the blackout is ignored
BLACKOUT_SPAN_S = 15.0  # lost goodput is summed over this time from the blackout's start


def blackout(
    arrivals: list[Arrivals], start_us: float, length_s: float, end_us: float, limit_bps: float
) -> dict[str, Any]:
    """What a blackout of ``length_s`` from ``start_us`` cost, in a run that ended at ``end_us``.

    ``below90_s``: seconds from the start of the blackout until goodput is back. Goodput is taken
    over a sliding window of 0.2 s; it is back at the end of the first window, after it fell below
    90 % of the limit, from which on every window stays at 90 % or more for 1 s (or to the end of
    the run). 0 when it does not fall within 2 s of the blackout's end; the time to the end of the
    run, with ``recovered`` false, when it never comes back.

    ``lost_s``: seconds worth of goodput lost, (limit x time - received) / limit over the 15 s from
    the blackout's start (or to the end of the run, if that comes first).
    """
    ends = np.arange(start_us, end_us + 1, BIN_US, dtype=np.float64)
    low = rate_over(arrivals, ends, BLACKOUT_WINDOW_S) < 0.9 * limit_bps
    back = _back(low, length_s)
    recovered = not back or back < len(ends)
    until_us = (float(ends[back]) if recovered else end_us) if back else start_us
    span_end = min(start_us + BLACKOUT_SPAN_S * 1e6, end_us)
    span = (span_end - start_us) / 1e6
    received = sum(float(flow.until(span_end) - flow.until(start_us)) for flow in arrivals) * 8
    return {
        "below90_s": round((until_us - start_us) / 1e6, 3),
        "recovered": recovered,
        "lost_s": round((limit_bps * span - received) / limit_bps, 4),
        "over_s": round(span, 3),
    }


def _back(low: np.ndarray, length_s: float) -> int:
    """The first of the windows, which begin with the blackout, from which on goodput is back; their
    number if it never comes back. ``low`` tells of each whether goodput was below 90 %."""
    fallen = np.nonzero(low)[0]
    if not len(fallen) or fallen[0] > (length_s + BLACKOUT_FALL_S) * 1e6 / BIN_US:
        return 0
    steady = np.nonzero(np.diff(fallen) > round(BLACKOUT_STEADY_S * 1e6 / BIN_US))[0]
    return int(fallen[steady[0] if len(steady) else -1]) + 1
