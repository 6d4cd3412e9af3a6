# SPDX-License-Identifier: GPL-2.0
"""Paths of public complaints that bbr does better than star, each as a kind: ten random paths of
it, in the lab's model, which has the kernel's bbr.

The target is bbr's goodput, from the beginning, at no more than its RTT. It is missed by little, so
a bound is beyond the worst of ten such groups.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from apogee_lab.atlas import traces
from apogee_lab.model import options, program
from apogee_lab.scenarios import SCENARIOS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

PATHS = range(1, 11)
WINDOW = 16_000_000

Drawn = tuple[str, dict[str, Any], float]  # scenario, values, duration in s


def slots(dice: random.Random) -> Drawn:
    """ACKs in aggregates on a short path, as of Wi-Fi."""
    delay, rate = dice.uniform(0.005, 0.02), dice.choice((20e6, 50e6, 100e6))
    queue = int(rate / 8 * 2 * delay * dice.uniform(0.5, 2))
    slot = 2 * delay * dice.uniform(0.3, 1.5)
    drawn = {"rate": int(rate), "delay": delay, "queue": queue, "ack_slot": slot}
    return "satellite", drawn, 20


def cellular(dice: random.Random) -> Drawn:
    """A rate that wanders, and falls to nothing for a second now and then."""
    delay, queue = dice.uniform(0.01, 0.05), dice.choice((150_000, 625_000))
    trace = traces.cellular(dice, dice.choice((5e6, 20e6, 50e6)), 45)
    drawn = {"delay": delay, "queue": queue, "rate_trace": str(traces.written(trace))}
    return "satellite", drawn, 30


def leo(dice: random.Random) -> Drawn:
    """Half a percent of the data lost, and 3 ms of jitter for the ACKs of every second path."""
    jitter = dice.choice((0, 0.003))
    return "leo", {"loss": 0.005, "jitter_mean": 2 * jitter, "jitter": jitter}, 15


def figures(drawn: Drawn, seed: int, cc: str) -> tuple[float, float, float]:
    """Goodput, that of the first 2.5 s, and the mean of the smoothed RTT."""
    scenario, values, duration_s = drawn
    every = {**SCENARIOS[scenario].defaults(), **values, "window": WINDOW, "seed": seed}
    words = options.of(scenario, every, cc, duration_s)
    done = program.run([*words, "--series", "0.1"])
    first = mean(line["flows"][0]["goodput"] for line in done["series"][:25])
    return done["goodput"], first, done["flows"][0]["srtt_mean"]


@pytest.mark.parametrize(
    ("draw", "goodput", "first", "rtt"),
    [(slots, 0.93, 0.85, 1.25), (cellular, 0.95, 0.95, 1.3), (leo, 0.94, 0.9, 0.75)],
)
def test_star_as_bbr(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    draw: Callable[[random.Random], Drawn],
    goodput: float,
    first: float,
    rtt: float,
) -> None:
    """The mean of star over bbr is .98 to 1.01, 1.00 to 1.14 and .969 to .979 of the goodput, .95
    to .99, 1.04 to 1.23 and .979 to .996 of that of the first 2.5 s, and 1.02 to 1.14, .83 to 1.21
    and .52 to .56 of the RTT."""
    monkeypatch.setattr(traces, "FOLDER", tmp_path)
    paths = [(draw(random.Random(seed)), seed) for seed in PATHS]
    pairs = [[figures(*path, cc) for cc in ("star", "bbr")] for path in paths]
    ratios = [[one / other for one, other in zip(*pair, strict=True)] for pair in pairs]
    means = [mean(each) for each in zip(*ratios, strict=True)]
    assert means[0] > goodput and means[1] > first and means[2] < rtt, means
