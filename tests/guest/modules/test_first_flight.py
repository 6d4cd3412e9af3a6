# SPDX-License-Identifier: GPL-2.0
"""An active open's first flight: TSO cuts it by the rate that the handshake has given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from tests.guest.modules.socket_life import LINK, SEGMENT
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.uml]

MODULES = ["tcp_hstcp_gentle", "tcp_compound_plus"]
CCS = ("hstcp_gentle", "compound", "compound_plus")
HEADERS = 14 + 20 + 32  # bytes, with timestamps
ROUND_TRIP = 0.02  # s

#: Capture each algorithm's packets before segmentation; each starts on an empty path.
SCRIPT = f"""
ethtool -K near tso on gso on
mount -t tracefs tracefs /sys/kernel/tracing
events=/sys/kernel/tracing/events/net/net_dev_queue
echo 'name == "near" && len > 100' >$events/filter
echo 1 >$events/enable
for cc in reno {" ".join(CCS)}; do
    sysctl -qw net.ipv4.tcp_congestion_control=$cc
    echo >/sys/kernel/tracing/trace
    peer send $far 5201 0.1 >$OUT/$cc
    cat /sys/kernel/tracing/trace >$OUT/$cc.trace
    sleep 2
done
"""


def first_flight(trace: Path) -> list[int]:
    """Payload in bytes of what was sent at once before an ACK came."""
    lines = re.findall(r" (\d+\.\d+): net_dev_queue: .*len=(\d+)", trace.read_text())
    start = float(lines[0][0])
    return [int(n) - HEADERS for at, n in lines if float(at) < start + ROUND_TRIP / 2]


@pytest.fixture(scope="module")
def out(build: Path, root: Path) -> Path:
    """One connection of each algorithm in one guest."""
    modules.build(uml_kernel.kernel())
    out = build / "tests" / "first-flight"
    peer = compiled(root / "tests" / "guest" / "modules" / "peer.c")
    uml.run_script(LINK + SCRIPT, out=out, modules=MODULES,
                   files={"bin/peer": peer})  # fmt: skip
    return out


@pytest.mark.parametrize("cc", CCS)
def test_the_first_flight_is_cut_as_renos(out: Path, cc: str) -> None:
    """Ten segments, two at a time: the minimum of TSO, as 2 * 10 segments in 20 ms are less than
    two per millisecond."""
    assert f" {cc} " in (out / cc).read_text()
    assert first_flight(out / "reno.trace") == [2 * SEGMENT] * 5
    assert first_flight(out / f"{cc}.trace") == [2 * SEGMENT] * 5
