# SPDX-License-Identifier: GPL-2.0
"""What hosts and paths have beside, without a guest: refused values, packets, limits, scripts."""

from __future__ import annotations

from typing import Any

import pytest

from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS, sending
from apogee_lab.scenarios.scenario import Plan
from apogee_lab.scenarios.testbed import Net
from tests.unit.lab.stand_ins import shell_errors

NAMES = {"sender_qdisc", "under", "offloads", "mid_mtu", "icmp", "mss_clamp", "reorder"}
NAMES |= {"reorder_table", "tcp_mtu_probing", "tcp_notsent_lowat"}
#: The sender has a device for each of several links here, and a qdisc of its own.
NOT_OF_MULTIPATH = {"sender_qdisc", "under"}
NET = Net(False, 1500)


def plan(line: str, duration_s: float = 60.0) -> Plan:
    """The plan of a scenario with settings as typed."""
    name, cc, *texts = line.split()
    settings = request.parse_settings(texts, SCENARIOS[name])
    values = {key: value for key, (value,) in settings.items()}
    return SCENARIOS[name].compile(values, cc, duration_s)


def limit(line: str) -> float:
    (path,) = plan(line).paths
    return path.limit_bps


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_them(name: str) -> None:
    there = {param.name for param in SCENARIOS[name].params}
    assert there & NAMES == (NAMES - NOT_OF_MULTIPATH if name == "multipath" else NAMES)


def test_nothing_is_added_to_scripts_with_the_defaults() -> None:
    values = {**sending.DEFAULTS, "mtu": 1500, "ipv6": 0}
    sender = sending.Sender("snd", "bn", 1)
    assert sending.lines(values, NET, [sender], [("rcv", "to-sat")], [("bn", "to-sat")]) == []
    script = plan("satellite cubic").script
    assert not any(word in script for word in ("tcp_mtu_probing", "notsent", "advmss"))


SETTINGS = (
    *(f"under={under} mss_clamp=1000 icmp=0 mid_mtu=1280" for under in ("bridge", "vxlan", "ppp")),
    "under=macvlan ipv6=1 offloads=1 reorder=5ms reorder_table=pareto",
    "sender_qdisc=fq tcp_mtu_probing=1 tcp_notsent_lowat=16kB",
)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_script_is_shell(name: str, settings: str) -> None:
    if name == "multipath":
        settings = " ".join(w for w in settings.split() if w.split("=")[0] not in NOT_OF_MULTIPATH)
    alone = " segment=0" if name == "radio" else ""
    script = plan(f"{name} cubic {settings}{alone}").script
    assert shell_errors(script) == ""
    beside = "\n# what hosts and paths have beside\n" in script
    assert beside != (name == "multipath" and "tcp_mtu_probing" in settings)


REFUSED = [
    ("satellite cubic icmp=0", "add mid_mtu=BYTES"),
    ("satellite cubic mid_mtu=1500", "0 and 576 to 1499"),
    ("satellite cubic mid_mtu=1450 under=vxlan", "0 and 576 to 1449"),
    ("satellite cubic mid_mtu=1200 ipv6=1", "0 and 1280 to 1499"),
    ("satellite cubic mss_clamp=1460", "0 and 256 to 1459"),
    ("satellite cubic mss_clamp=1440 ipv6=1", "0 and 256 to 1439"),
    ("satellite cubic mss_clamp=255", "0 and 256 to 1459"),
    ("satellite cubic under=vxlan ipv6=1 mtu=1300", "an mtu of at least 1330"),
    ("satellite cubic under=ppp mtu=576", "an mtu of at least 584"),
    ("satellite cubic reorder_table=normal", "add reorder=TIME"),
    ("radio cubic offloads=1", "offloads: the receiver's device has no Ethernet here"),
    ("radio cubic reorder=5ms", "reorder: the receiver's device has no Ethernet here"),
    ("radio cubic sender=gateway under=ppp", "under: the sender has no router here"),
    ("radio cubic sender=gateway sender_qdisc=fq", "sender_qdisc: the sender has no"),
    ("radio cubic sender=gateway mid_mtu=1400", "mid_mtu: the sender has no router here"),
    ("multipath cubic mss_clamp=1404", "0 and 256 to 1403"),
]


@pytest.mark.parametrize(("line", "words"), REFUSED)
def test_refused(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plan(line)


@pytest.mark.parametrize(
    ("settings", "packet"),
    [
        ({}, 1500),
        ({"under": "bridge"}, 1500),
        ({"under": "vxlan"}, 1450),
        ({"under": "ppp"}, 1492),
        ({"mss_clamp": 1000}, 1040),
        ({"mss_clamp": 1000, "ipv6": 1}, 1060),
        ({"mid_mtu": 1300, "under": "vxlan"}, 1300),
        ({"mss_clamp": 1000, "mid_mtu": 1040}, 1040),
        ({"mtu": 9000, "under": "vxlan"}, 8950),
    ],
)
def test_the_longest_packet(settings: dict[str, Any], packet: int) -> None:
    assert sending.packet({"mtu": 1500, "ipv6": 0, **settings}) == packet


def test_no_smaller_packet_than_the_smallest() -> None:
    """The message does not offer 576 to 575."""
    with pytest.raises(ValueError, match="mid_mtu: senders use 576, and no smaller one is allowed"):
        plan("satellite cubic mtu=576 mid_mtu=600")


def test_limits_are_those_of_the_packets() -> None:
    """Payload over frame at the bottleneck; 52 B of headers, 14 of Ethernet's."""
    assert limit("satellite cubic under=vxlan") == pytest.approx(1e7 * 1398 / 1464)
    assert limit("satellite-shared cubic under=ppp") == pytest.approx(1e7 * 1440 / 1506)
    assert limit("lfn cubic mid_mtu=1400") == pytest.approx(1e9 * 1348 / 1414)
    assert limit("radio cubic segment=0 mss_clamp=1000") == pytest.approx(2e6 * 988 / 1054)
    # a tunnel of 56 B in what fits the routers
    paths = plan("multipath cubic mid_mtu=1400").paths
    assert [path.limit_bps for path in paths] == [pytest.approx(384e3 * 1292 / 1414)] * 2
    # at 54 Mbit/s with 50 B more under each packet, in whole symbols of 27 B: as long as without
    full, tunnelled = limit("wlan cubic"), limit("wlan cubic under=vxlan")
    assert full * 1398 / 1448 * 0.98 < tunnelled <= full * 1398 / 1448


def test_lost_frames_are_as_long_as_those_sent() -> None:
    """A frame of 1054 B has a band of its own, with its loss at that bit error rate."""
    script = plan("satellite cubic mss_clamp=1000 ber=1e-6").script
    assert "meta(pkt_len eq 1054)" in script
    assert f"loss {100 * (1 - (1 - 1e-6) ** (8 * 1054)):.6g}"[:12] in script


@pytest.mark.parametrize(("table", "more_s"), [("uniform", 0.2), ("pareto", 0.5)])
def test_a_sender_goes_on_for_the_latest_frame(table: str, more_s: float) -> None:
    """The interval begins with the first data, which may be late by twice or five times 100 ms."""
    late = plan(f"satellite cubic reorder=100ms reorder_table={table} traffic=flow").script
    assert f"--duration {60.6 + more_s:g} " in late
    assert "--duration 60.6 " in plan("satellite cubic").script


def test_a_delay_line_on_the_sender_s_device_leaves_room_above_it() -> None:
    script = plan("satellite-shared cubic sender_qdisc=fq").script
    assert "link add over link to-bn type macvlan mode passthru" in script
    assert "tc -n snd1 qdisc add dev over root fq" in script
    assert "tc -n snd qdisc add dev to-bn root fq" in plan("satellite cubic sender_qdisc=fq").script
    inside = plan("lfn cubic sender_qdisc=fq").script
    assert "tc -n fast1 qdisc add dev to-ra root handle 1: tbf" in inside
    assert "tc -n fast1 qdisc add dev to-ra parent 1:1 fq" in inside
    assert "tc -n reno1 qdisc add dev to-lan1 root fq" in inside
