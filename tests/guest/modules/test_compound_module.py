# SPDX-License-Identifier: GPL-2.0
"""tcp_compound_plus as a module: both names, loading, switching, unloading, ss."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.guest.modules.socket_life import assert_held_while_live, assert_switched, life_of

pytestmark = pytest.mark.guest

MODULE = "tcp_compound_plus"
OTHER = (
    "tcp_compound_mine"  # the same with another name, but its second algorithm is "compound", too
)

#: gamma = 60: windows of up to 77 segments, of which the delay window is a part most of the time.
#: rule = 2 leads there within a few round trips.
LIFE = f"""
tc qdisc change dev near root netem rate 10mbit delay 10ms limit 150
names() {{ say "$1: $(tr ' ' '\\n' </proc/sys/net/ipv4/tcp_available_congestion_control |
    grep compound | sort | tr '\\n' ' ')"; }}
choose() {{ sysctl -qw net.ipv4.tcp_congestion_control=$1; }}
choose reno
loaded before {MODULE}
for cc in compound compound_plus; do
    ip netns exec far flow recv 5300 $OUT/socket.recv.json &
    receiver=$!
    sleep 0.1
    flow send $far 5300 --cc $cc --duration 0.5 $OUT/socket.json && say $cc: sent
    kill $receiver
    wait $receiver
    loaded $cc {MODULE}
    names $cc
    unload $cc {MODULE}
    choose $cc
    say sysctl: $(cat /proc/sys/net/ipv4/tcp_congestion_control)
    unload sysctl {MODULE}
    choose reno
    unload sysctl {MODULE}
done
modprobe tcp_compound gamma=20
say alias: gamma $(cat /sys/module/{MODULE}/parameters/gamma)
unload alias {MODULE}
insmod /other.ko
insmod /lib/modules/$(uname -r)/updates/{MODULE}.ko 2>>$OUT/clash
say clash: insmod $?
names clash
# a name that stays would make a circle of the kernel's list at the next registration
! grep -qw compound_plus /proc/sys/net/ipv4/tcp_available_congestion_control || exit 1
unload clash {OTHER}
modprobe {MODULE} gamma=60 rule=2
names alone
cat /sys/kernel/tracing/events/{MODULE}/compound_round/format >$OUT/round
peer send $far 5201 8 1:compound_plus 4:compound 7:reno >$OUT/switched &
sleep 2
unload live {MODULE}
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    ss -tin 'dport = :5201' >>$OUT/ss
    sleep 0.3
done
wait $!
unload end {MODULE}
"""


life = life_of(
    MODULE,
    LIFE,
    other=lambda modules: (
        (modules / f"{MODULE}.ko").read_bytes().replace(b"compound_plus", b"compound_mine")
    ),
)


def test_either_name_loads_the_module_and_brings_both(report: list[str]) -> None:
    """Requested by a socket, then set as the default, which holds a reference to the module."""
    assert report[0] == f"before: {MODULE} absent"
    for at, cc in ((1, "compound"), (11, "compound_plus")):
        assert report[at : at + 10] == [
            f"{cc}: sent",
            f"{cc}: {MODULE} loaded",
            f"{cc}: compound compound_plus ",
            f"{cc}: rmmod 0",
            f"{cc}: {MODULE} absent",
            f"sysctl: {cc}",
            "sysctl: rmmod 1",
            f"sysctl: {MODULE} loaded",
            "sysctl: rmmod 0",
            f"sysctl: {MODULE} absent",
        ]


def test_the_other_name_takes_parameters(report: list[str]) -> None:
    assert report[21:24] == ["alias: gamma 20", "alias: rmmod 0", f"alias: {MODULE} absent"]


def test_a_name_that_is_taken_leaves_nothing_behind(life: Path, report: list[str]) -> None:
    """If the name compound is registered, loading fails and compound_plus is not registered."""
    assert report[24:26] == ["clash: insmod 17", "clash: compound compound_mine "]
    assert "File exists" in (life / "clash").read_text()
    assert report[26:29] == [
        "clash: rmmod 0",
        f"clash: {OTHER} absent",
        "alone: compound compound_plus ",
    ]


def test_no_unloading_under_a_live_connection(life: Path, report: list[str]) -> None:
    assert_held_while_live(life, MODULE, report[29:])


def test_switching_a_live_socket(life: Path) -> None:
    assert_switched(life / "switched", ["reno", "compound_plus", "compound", "reno"])


def test_ss_shows_both_windows_and_the_queue(life: Path) -> None:
    """swnd / RTT as bw, the base RTT as mrtt, dwnd and Diff in segments as the gains."""
    text = (life / "ss").read_text()
    blocks = re.findall(r"\bcwnd:(\d+).*?bbr:\(bw:(\d+)bps,mrtt:([\d.]+)(.*?)\)", text, re.S)
    assert len(blocks) == 12, text
    delayed = fitting = 0
    for cwnd, bandwidth, base, gains in blocks:
        found = dict(re.findall(r"(\w+):([\d.]+)", gains))
        dwnd, diff = float(found.get("pacing_gain", 0)), float(found.get("cwnd_gain", 0))
        rtt = float(cwnd) * 1448 * 8 / float(bandwidth) * 1e3  # ms, of the last round trip
        assert float(base) == pytest.approx(21, abs=1.5)
        # The window is current; Diff and RTT are of the last round trip. A cut makes them differ.
        fitting += diff == pytest.approx(float(cwnd) * (1 - float(base) / rtt), rel=0.1, abs=3)
        assert 0 <= dwnd <= float(cwnd)
        delayed += dwnd > 0
    assert fitting >= 8
    assert delayed >= 8


def test_the_tracepoint_has_its_fields(life: Path) -> None:
    found = re.findall(r"field:\w+ (?!common_)(\w+);", (life / "round").read_text())
    windows = {"cwnd", "dwnd", "swnd", "ssthresh", "diff"}
    assert set(found) == {"sport", "dport", "base_rtt", "rtt", "act"} | windows
