# SPDX-License-Identifier: GPL-2.0
"""The control tcp_constant, for tests only: its window never changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab.scenarios import SCENARIOS
from tests.guest.conftest import Guest

pytestmark = pytest.mark.guest


def test_window_stays_over_losses_and_timeouts(guest: Guest) -> None:
    """BER 1e-5 loses every eighth segment; 2 s without ACKs bring timeouts."""
    satellite = SCENARIOS["satellite"]
    values = {"ber": 1e-5, "ack_blackout": (4.0, 2.0), "constant.cwnd": "77"}
    plan = satellite.compile(values, "constant", 12.0)
    out = guest(plan.script, modules=["tcp_constant"])
    assert (out / "status").read_text().strip() == "0"
    sent = json.loads((out / "flow1.send.json").read_text())
    window, threshold = (sent["fields"].index(name) for name in ("snd_cwnd", "snd_ssthresh"))
    assert {sample[window] for sample in sent["samples"]} == {77}
    assert {sample[threshold] for sample in sent["samples"]} >= {77}
    assert timeouts(out) >= 2


def timeouts(out: Path) -> int:
    """Retransmission timeouts of the sender."""
    counters = json.loads((out / "nstat-snd.json").read_text())
    return counters["kernel"]["TcpExtTCPTimeouts"]
