# SPDX-License-Identifier: GPL-2.0
"""Leo: satellite-shared's testbed over a low-orbit constellation whose path changes all the time.

Rates and delays are drawn from the run's seed: each seed is a different path, the same for all
algorithms. Every 15 s, from a random time on, the terminal is handed over to another satellite:

- Rate: a new value every 50 ms, 3/4 of a draw for these 50 ms plus 1/4 of a draw for the 15 s.
  A draw lies between ``rate_low`` and ``rate_high`` and has the mean ``rate``: it is uniform above
  the mean with probability (rate - rate_low) / (rate_high - rate_low), else uniform below it.
- One-way delay: ``delay``, except that it jumps to ``spike`` at each handover and falls back
  linearly within 200 ms.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .. import units
from ..measures import sharing
from . import moving, shared, traffic
from .scenario import Param, Plan, Scenario
from .tracefiles import Steps

RATE_STEPS = 20  # per second
SATELLITE_S = 15.0
SPIKE_MS, SPIKE_STEP_MS = 200, 10

OWN = {
    "flows": 1,
    "wired_rate": 0,
    "wired_delay": 0.0,
    "rate": 49_000_000,
    "delay": 0.01,
    "queue": 750_000,
    "window": 16_000_000,
}
PARAMS = (
    *(replace(p, default=OWN.get(p.name, p.default)) for p in shared.PARAMS),
    Param("rate_low", 32_000_000, "rate", "lowest rate (rate is the mean)", 9600, 100e9),
    Param("rate_high", 68_000_000, "rate", "highest rate", 9600, 100e9),
    Param("spike", 0.045, "time", "one-way delay right after a handover", 0, 10),
    Param("loss", 0.0001, "share", "share of data frames lost", 0, 1),
)


def rates(values: Mapping[str, Any], dice: random.Random, first_s: float, until_s: float) -> Steps:
    """The rate in bit/s of each 50 ms."""
    low, mean, high = values["rate_low"], values["rate"], values["rate_high"]

    def draw() -> float:
        above = dice.random() * (high - low) < mean - low
        return dice.uniform(mean, high) if above else dice.uniform(low, mean)

    steps: Steps = []
    turn, of_turn = 0, draw()
    for number in range(int(until_s * RATE_STEPS) + 1):
        at = number / RATE_STEPS
        if at >= first_s + turn * SATELLITE_S:
            turn, of_turn = turn + 1, draw()
        steps.append((at, float(round((3 * draw() + of_turn) / 4))))
    return steps


def delays(values: Mapping[str, Any], first_s: float, until_s: float) -> Steps:
    """The one-way delay in s, with its spikes."""
    rest, spike = values["delay"], values["spike"]
    steps: Steps = [(0.0, rest)]
    count = SPIKE_MS // SPIKE_STEP_MS
    at = first_s
    while at < until_s:
        for n in range(count + 1):
            value = spike + (rest - spike) * n / count
            steps.append((round(at + n * SPIKE_STEP_MS / 1e3, 3), round(value, 6)))
        at += SATELLITE_S
    return steps


def path(values: Mapping[str, Any], until_s: float) -> tuple[Steps | None, Steps | None]:
    """Rates and delays: drawn from the seed, delays from the trace if given."""
    _, given_delays = moving.traced(values, until_s)
    dice = random.Random(values["seed"])
    first_s = round(dice.uniform(0.01, SATELLITE_S), 2)
    return (
        rates(values, dice, first_s, until_s),
        given_delays or delays(values, first_s, until_s),
    )


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    if not values["rate_low"] <= values["rate"] <= values["rate_high"]:
        low, high = (units.format("rate", values[f"rate_{end}"]) for end in ("low", "high"))
        raise ValueError(f"rate must lie between rate_low ({low}) and rate_high ({high})")
    return shared.build(values, ccs, duration_s, path)


LEO = Scenario(
    name="leo",
    help="flows over satellites in low orbit: rate and delay change all the time, frames are lost",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=shared.MOST_FLOWS, flows="flows"),
    build=_build,
    measures=(*shared.MEASURES, sharing.FAIR),
)
