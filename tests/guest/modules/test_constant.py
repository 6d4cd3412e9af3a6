# SPDX-License-Identifier: GPL-2.0
"""The control tcp_constant, for tests only: its window never changes, its parameter has a range."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab.scenarios import SCENARIOS
from tests.guest.conftest import Guest

pytestmark = pytest.mark.guest

RANGE = "tcp_constant: parameter cwnd must be 2 to 1048576"


def test_window_range_is_enforced(guest: Guest) -> None:
    out = guest(
        """
        parameter=/sys/module/tcp_constant/parameters/cwnd
        for value in 1 1048577 -5 many; do
            modprobe tcp_constant cwnd=$value 2>>error && echo "loaded with $value"
        done
        modprobe tcp_constant cwnd=2 && cat $parameter
        for value in 1048576 0 1048577 4294967298 ''; do
            echo "$value" >$parameter || echo "refused $value"
        done
        cat $parameter
        """,
        modules=["tcp_constant"],
    )
    console = (out / "console.log").read_text().replace("\r", "").splitlines()
    assert [line for line in console if line.isdigit()] == ["2", "1048576"]
    assert not [line for line in console if line.startswith("loaded")]
    refused = [line.removeprefix("refused") for line in console if line.startswith("refused")]
    assert [text.strip() for text in refused] == ["0", "1048577", "4294967298", ""]
    assert (out / "error").read_text().count("Invalid argument") == 4
    assert (out / "dmesg.txt").read_text().count(RANGE) >= 8


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
