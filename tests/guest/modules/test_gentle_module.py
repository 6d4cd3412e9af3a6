# SPDX-License-Identifier: GPL-2.0
"""tcp_hstcp_gentle as a module: switching, unloading, ss."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hstcp_table
from tests.guest.modules.socket_life import assert_held_while_live, assert_switched, life_of

pytestmark = pytest.mark.guest

MODULE = "tcp_hstcp_gentle"

#: A queue of 150 packets, 180 ms: windows of 100 segments and more, and a loss now and then.
LIFE = """
tc qdisc change dev near root netem rate 10mbit delay 10ms limit 150
sysctl -qw net.ipv4.tcp_congestion_control=reno
modprobe tcp_hstcp_gentle share=2 response=0
events=/sys/kernel/tracing/events/tcp_hstcp_gentle
cat $events/hstcp_gentle_window/format >$OUT/window
cat $events/hstcp_gentle_mode/format >$OUT/mode
peer send $far 5201 6 1.5:hstcp_gentle 4.5:reno >$OUT/switched &
sleep 2
unload live tcp_hstcp_gentle
for i in 1 2 3 4 5 6 7 8; do
    ss -tin 'dport = :5201' >>$OUT/ss
    sleep 0.3
done
wait $!
unload end tcp_hstcp_gentle
"""


life = life_of(MODULE, LIFE)


def test_no_unloading_under_a_live_connection(life: Path, report: list[str]) -> None:
    assert_held_while_live(life, MODULE, report)


def test_switching_a_live_socket(life: Path) -> None:
    assert_switched(life / "switched", ["reno", "hstcp_gentle", "reno"])


def test_ss_shows_mode_and_gains(life: Path) -> None:
    """bw is the window per RTT, pacing_gain the share that a loss leaves, cwnd_gain the growth.

    a(w) segments per round trip in HighSpeed mode, 3 b / (2 - b) in Reno mode (share=2), which is
    where a flow with a standing queue is most of the time.
    """
    text = (life / "ss").read_text()
    form = r"cwnd:(\d+).*?bbr:\(bw:(\d+)bps,mrtt:([\d.]+),pacing_gain:([\d.]+),cwnd_gain:([\d.]+)"
    shown = [tuple(map(float, found)) for found in re.findall(form, text, re.S)]
    assert len(shown) == 8, text
    assert text.count(" hstcp_gentle ") == 8
    rows = hstcp_table.rows(hstcp_table.RFC3649)
    reno = 0
    for cwnd, bandwidth, rtt_min, pacing_gain, cwnd_gain in shown:
        row = next(one for one in rows if cwnd <= one.window)
        b = row.decrease / 256
        # The RTT of one ACK: the queue may be shorter or longer than the window says.
        assert 0.5 * 10e6 < bandwidth < 2 * 10e6
        assert rtt_min == pytest.approx(21, abs=1.5)
        assert pacing_gain == pytest.approx(1 - b, abs=1 / cwnd + 1 / 256)
        in_reno = cwnd_gain == pytest.approx(3 * b / (2 - b), abs=1 / cwnd + 1 / 256)
        assert in_reno or cwnd_gain == row.increase
        reno += in_reno
    assert reno > 4


def test_tracepoints_have_their_fields(life: Path) -> None:
    both = {"sport", "dport", "cwnd", "ssthresh"}
    fields = {
        "window": both | {"mode", "verdict", "change", "samples", "rtt", "rtt_min"},
        "mode": both | {"from", "to", "reason"},
    }
    for event, names in fields.items():
        found = re.findall(r"field:\w+ (?!common_)(\w+);", (life / event).read_text())
        assert set(found) == names, event
