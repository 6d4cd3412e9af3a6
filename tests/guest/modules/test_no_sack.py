# SPDX-License-Identifier: GPL-2.0
"""ABE's estimate without SACK: a timeout makes the stack forget what it has counted (recount.h)."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.engines import uml
from tests.guest.runs import Case, Run, run_cases, timeouts

pytestmark = [pytest.mark.guest, pytest.mark.uml]

LINK_RATE = 5e6  # bit/s
PAYLOAD = 1448 / 1514
CASES = {
    cc: Case(
        {"trace": "module", "rate": int(LINK_RATE), "delay": 0.05, "ber": 2e-5, "tcp_sack": 0},
        cc=cc,
        duration_s=20,
    )
    for cc in ("star", "j")
}


@pytest.fixture(scope="module")
def runs(modules: Path, build: Path) -> dict[str, Run]:
    return run_cases(build, "no-sack", CASES, engine=uml)


@pytest.mark.parametrize("cc", CASES)
def test_the_estimate_stays_at_the_links_rate(runs: dict[str, Run], cc: str) -> None:
    """One frame in five is lost: a window and more is counted at once when a hole is filled.

    Counted twice, it would make j's estimate 4 times the link's rate here, star's 1.08 times.
    """
    acks = runs[cc].traced(f"{cc}_ack")
    late = [ack["bw"] * 8 for ack in acks if ack["t"] > acks[0]["t"] + 1]
    assert timeouts(runs[cc]) >= 2
    assert max(late) < 1.05 * LINK_RATE * PAYLOAD
