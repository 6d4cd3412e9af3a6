# SPDX-License-Identifier: GPL-2.0
"""A route's limit of the window (`ip route … cwnd lock N`) holds for every algorithm."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.algorithms import listed
from apogee_lab.modules import brought
from tests.guest.modules.socket_life import live, samples

pytestmark = [pytest.mark.guest, pytest.mark.uml]

CONTROLS = listed(own=True)
LIMIT = 8  # segments

#: The stack reads the limit from what it keeps of a host, which the first connection begins.
#: Bursts of ACKs let ABE measure more than the window.
SCRIPT = f"""
sysctl -qw net.ipv4.tcp_no_metrics_save=0
ip route replace 10.9.0.2/32 dev near cwnd lock {LIMIT}
head -c 100000 /dev/zero | nc $far 5201; sleep 3
tc qdisc change dev near root netem rate 10mbit delay 10ms limit 1000 loss 2%
tc -n far qdisc change dev far root netem delay 10ms slot 30ms 30ms
for cc in {" ".join(CONTROLS)}; do
	modprobe -q tcp_$cc
	peer send $far 5201 20 0:$cc >$OUT/$cc
done
"""


@pytest.fixture(scope="module")
def out(build: Path, root: Path, modules: Path) -> Path:
    return live(SCRIPT, " ".join(brought(CONTROLS)), build / "tests" / "window-limit", root)


@pytest.mark.parametrize("cc", CONTROLS)
def test_no_window_is_beyond_the_limit(out: Path, cc: str) -> None:
    seen = [sample for sample in samples(out / cc) if sample.cc == cc]
    assert len(seen) > 300
    assert max(sample.cwnd for sample in seen) == LIMIT
