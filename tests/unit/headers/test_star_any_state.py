# SPDX-License-Identifier: GPL-2.0
"""No state of star's judgement and window keeps a lone flow from its path, in the lab's model.

Five seconds after its beginning a flow is put into any state: beliefs and windows of the documented
ranges, see ``tests/simulation/star``.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.simulation import LINK_BPS, Simulation
from tests.simulation.star import compile_any_state

FRAME_BITS = 8 * 1514
ANY_S = 5.0
#: The path's RTT is measured anew after ten seconds; the rest is said in round trips.
RENEW_S = 10.0
ROUNDS = 60


@pytest.fixture(scope="module")
def any_state() -> Simulation:
    return compile_any_state()


def a_path(seed: int) -> tuple[dict[str, Any], float]:
    """A still path, or one that loses up to 10 % of the frames, and whose ACKs come in half of the
    cases up to a quarter of the RTT late; and what goodput it has room for, in bit/s. Queues are
    of ten packets at least and a quarter to twice a product.
    """
    draw = random.Random(seed)
    rate, rtt_s = 2e6 * 10 ** draw.uniform(0, 1), 0.04 * 10 ** draw.uniform(0, 1.1)
    product = rate * rtt_s / FRAME_BITS
    options: dict[str, Any] = {
        "rate": round(rate),
        "rtt": round(1e3 * rtt_s, 1),
        "queue": max(10, int(product * 2 ** draw.uniform(-2, 1))),
    }
    what, lost = draw.randrange(4), 0.0
    if what:
        lost = 10 ** draw.uniform(-3.5, -1)
    if what > 1:
        half_ms = 1e3 * rtt_s / 8 * draw.random()
        options["ack_jitter"] = f"{half_ms:.2f},{half_ms / 3**0.5:.2f}"
    options["loss"] = round(lost, 5)
    return options, rate * LINK_BPS * (1 - lost)


def part(any_state: Simulation, seed: int) -> float:
    """What a flow has of its path's goodput once its state should be over."""
    options, limit_bps = a_path(seed)
    rounds_s = ROUNDS * options["rtt"] / 1e3
    begins_s = ANY_S + RENEW_S + rounds_s
    done = any_state.run(
        "star", seed=seed, access_rate=0, spread=0, warmup=f"{begins_s:.3f}",
        duration=f"{begins_s + rounds_s:.3f}", **options,
    )  # fmt: skip
    return float(done["goodput"]) / limit_bps


@pytest.mark.parametrize(
    "seeds", [range(1, 81), pytest.param(range(81, 1001), marks=pytest.mark.deep)]
)
def test_any_state_is_left(any_state: Simulation, seeds: range) -> None:
    """.85 of what arrives is the target, within ten seconds and 60 round trips. Of 3000 paths 54
    miss it, all but three with .73 to .84: most have jitter. So many may, and four standard
    deviations more. The three, with 6 to 9 % lost, have .47 to .67.
    """
    parts = sorted((part(any_state, seed), seed) for seed in seeds)
    few = [(round(of, 3), a_path(seed)[0]) for of, seed in parts if of < 0.85]
    due = 0.02 * len(seeds)
    assert len(few) <= due + 4 * due**0.5, few
    assert parts[0][0] >= 0.25, few
