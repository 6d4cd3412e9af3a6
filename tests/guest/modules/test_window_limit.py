# SPDX-License-Identifier: GPL-2.0
"""A route's limit of the window (`ip route … cwnd lock N`) holds for every algorithm."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.algorithms import listed
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from tests.guest.modules.socket_life import LINK, samples
from tests.guest.runs import compiled

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
def out(build: Path, root: Path) -> Path:
    modules.build(uml_kernel.kernel())
    folder = build / "tests" / "window-limit"
    peer = compiled(root / "tests" / "guest" / "modules" / "peer.c")
    uml.run_script(
        LINK + SCRIPT, out=folder, modules=modules.brought(CONTROLS),
        files={"bin/peer": peer}, check=True,
    )  # fmt: skip
    return folder


@pytest.mark.parametrize("cc", CONTROLS)
def test_no_window_is_beyond_the_limit(out: Path, cc: str) -> None:
    seen = [sample for sample in samples(out / cc) if sample.cc == cc]
    assert len(seen) > 300
    assert max(sample.cwnd for sample in seen) == LIMIT
