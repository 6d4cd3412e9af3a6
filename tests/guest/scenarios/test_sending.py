# SPDX-License-Identifier: GPL-2.0
"""What hosts and paths have beside (scenarios/sending.py): each parameter's effect in a guest.

Frames have 1514 bytes, 1448 of them payload, unless the parameter says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.guest.runs import Case, Run, close, parsed, run_cases

pytestmark = [pytest.mark.guest, pytest.mark.uml]

SHOW = 'ip -n snd1 -d -j link show >"$OUT/links.json"\n'
ALONE = {"flows": "1", "wired_rate": "0", "wired_delay": "0"}
#: Counts packets of more than two frames where a sender's device takes them, and behind it.
LARGE = "protocol ip basic match 'meta(pkt_len gt 3000)' action ok"
COUNT = f"""\
tc -n snd qdisc add dev to-bn clsact
tc -n snd filter add dev to-bn egress {LARGE}
tc -n bn qdisc add dev to-snd clsact
tc -n bn filter add dev to-snd ingress {LARGE}
"""
COUNTED = """\
sleep 0.2
tc -n snd -s filter show dev to-bn egress >"$OUT/large-snd"
tc -n bn -s filter show dev to-snd ingress >"$OUT/large-bn"
"""
#: What a sender stands on, and bytes of the longest IP packet above it.
PACKETS = {"bridge": 1500, "macvlan": 1500, "vxlan": 1450, "ppp": 1492}
RATE, DELAY_S = 10e6, 0.02
TIME_S = 8 * 1514 / RATE  # a frame's
LATE_S = 5e-3
SLOT_S, FAST = 50e-6, 1e9


def said(
    cc: str = "cubic", duration_s: float = 2.0, scenario: str = "satellite", **texts: str
) -> Case:
    """A short case with parameters as text."""
    values = parsed(scenario, {"delay": f"{DELAY_S}s", **texts})
    return Case(values, cc, duration_s, scenario=scenario)


def burst(scenario: str, qdisc: str, **texts: str) -> Case:
    """ACKs come together, every 50 ms, and release what may find no room in a queue of 20."""
    how = {"ack_slot": "50ms", "queue": "30kB", "delay": "50ms"}
    return said("reno", 8.0, scenario, sender_qdisc=qdisc, **how, **texts)


@pytest.fixture(scope="module")
def runs(modules: Path, build: Path) -> dict[str, Run]:
    on_snd1 = {"scenario": "satellite-shared", **ALONE}
    fast = Case(
        parsed("satellite", {"rate": "1gbit", "delay": "2ms", "offloads": "1", "queue": "1MB"})
        | {"constant.cwnd": 600},
        "constant",
        0.3,
        beside=COUNTED,
        linked=COUNT,
    )
    cases = {
        **{under: replace(said(under=under, **on_snd1), linked=SHOW) for under in PACKETS},
        "none": burst("satellite", "none"),
        "fq": burst("satellite", "fq"),
        "shared-none": burst("satellite-shared", "none", **ALONE),
        "shared-fq": burst("satellite-shared", "fq", **ALONE),
        "fq_codel": said(sender_qdisc="fq_codel"),
        "lfn": said(
            duration_s=1.0, scenario="lfn", n="1", reno="0", rate="20mbit", sender_qdisc="fq_codel"
        ),
        "offloads": fast,
        "mid": said(mid_mtu="1400"),
        "shake": Case(parsed("multipath", {"rate": "2mbit", "mid_mtu": "1400"}) | {"window": 0},
                      "cubic", 6.0, scenario="multipath"),
        "hole": said(mid_mtu="1400", icmp="0"),
        "hole6": said(mid_mtu="1400", icmp="0", ipv6="1"),
        "probing": said(duration_s=8.0, mid_mtu="1400", icmp="0", tcp_mtu_probing="1"),
        "clamp": said(mss_clamp="1000"),
        "lowat": said(tcp_notsent_lowat="16kB"),
        "late": said(duration_s=8.0, reorder=f"{LATE_S}s"),
        "late-normal": said(duration_s=8.0, reorder=f"{LATE_S}s", reorder_table="normal"),
    }  # fmt: skip
    return run_cases(build, "sending", cases)


def mean_frame(run: Run, dev: str, way: str) -> float:
    """Mean length of the frames that the first router took in or sent by a device."""
    (link,) = [link for link in run.json("link-bn.json") if link["ifname"] == dev]
    return link["stats64"][way]["bytes"] / link["stats64"][way]["packets"]


@pytest.mark.parametrize("under", PACKETS)
def test_what_a_sender_stands_on(runs: dict[str, Run], under: str) -> None:
    """Its device is of that kind; a tunnel's packets are shorter, by what its frames have more on
    the sender's link."""
    run, packet = runs[under], PACKETS[under]
    kinds = {link["ifname"]: link.get("linkinfo", {}) for link in run.json("links.json")}
    assert kinds["over"]["info_kind"] == under
    assert run.sent["info"]["snd_mss"] == packet - 52
    outer, inner = mean_frame(run, "to-snd1", "rx"), mean_frame(run, "to-sat", "tx")
    assert outer - inner == pytest.approx(1500 - packet, abs=0.5)
    limit = RATE * (packet - 52) / (packet + 14)
    assert run.record["limit_bps"] == pytest.approx(limit)
    assert close(run.goodput(0.5), limit, 0.01)


@pytest.mark.parametrize("place", ["", "shared-"])
def test_fq_paces(runs: dict[str, Run], place: str) -> None:
    """At full rate 50 ms hold 41 frames. Half of them at most come through if they come at once,
    and half of what is left after each loss; paced, all do until the window is too large."""
    limit = RATE * 1448 / 1514
    assert runs[f"{place}none"].goodput() < 0.3 * limit
    assert runs[f"{place}fq"].goodput() > 0.6 * limit


def qdiscs(run: Run, ns: str) -> dict[str, dict[str, Any]]:
    """The qdiscs of a namespace by kind."""
    return {qdisc["kind"]: qdisc for qdisc in run.json(f"qdisc-{ns}.json")}


def test_fq_codel_has_all_the_sender_s_frames(runs: dict[str, Run]) -> None:
    (alone, fast) = (qdiscs(runs[name], ns) for name, ns in (("fq_codel", "snd"), ("lfn", "fast1")))
    assert alone["fq_codel"]["root"]
    assert alone["fq_codel"]["packets"] >= runs["fq_codel"].sent["info"]["data_segs_out"]
    assert fast["fq_codel"]["parent"] == "1:1"
    assert fast["tbf"]["packets"] == fast["fq_codel"]["packets"] > 1000


def test_a_nic_merges_what_comes_within_its_pause(runs: dict[str, Run]) -> None:
    """Frames take 12.1 us. The first after an interrupt waits for 50 us, so that an interrupt has
    the frames of 50 us, or one more; an ACK answers each."""
    run = runs["offloads"]
    received = run.json("nstat-rcv.json")["kernel"]
    merged = run.sent["info"]["data_segs_out"] / received["IpInReceives"]
    in_slot = SLOT_S * FAST / (8 * 1514)
    assert in_slot - 0.3 < merged < in_slot + 1.1
    assert close(received["TcpOutSegs"], received["IpInReceives"], 0.05)


def test_a_sender_s_device_cuts_what_tcp_hands_it(runs: dict[str, Run]) -> None:
    """TCP makes large packets though its device's offloads are off; none is on the wire."""
    large = {ns: runs["offloads"].text(f"large-{ns}") for ns in ("snd", "bn")}
    (sent,), (passed,) = (re.findall(r"Sent \d+ bytes (\d+) pkt", text) for text in large.values())
    assert int(sent) > 1000
    assert int(passed) == 0


def test_a_smaller_mtu_in_the_middle_is_learnt(runs: dict[str, Run]) -> None:
    run = runs["mid"]
    assert (run.sent["info"]["pmtu"], run.sent["info"]["snd_mss"]) == (1400, 1348)
    assert run.record["limit_bps"] == pytest.approx(RATE * 1348 / 1414)
    assert close(run.goodput(0.5), RATE * 1348 / 1414, 0.01)


def test_shake_learns_what_its_links_routers_pass_on(runs: dict[str, Run]) -> None:
    """Less its head and tag of 56 B, and 52 of TCP/IP's."""
    assert runs["shake"].sent["info"]["snd_mss"] == 1400 - 56 - 52
    assert runs["shake"].arrivals.counts[-1] > 20 * 1292


def test_without_icmp_the_path_is_a_black_hole(runs: dict[str, Run]) -> None:
    for name in ("hole", "hole6"):
        assert runs[name].arrivals.counts[-1] == 0
        assert runs[name].sent["info"]["pmtu"] == 1500


def test_probing_finds_the_way_out_of_a_black_hole(runs: dict[str, Run]) -> None:
    run = runs["probing"]
    assert run.sent["info"]["snd_mss"] <= 1348
    assert run.rate_between(7, 8) > 0.9 * RATE * 972 / 1038  # of tcp_base_mss, 1024


def test_the_clamp_is_in_both_syns(runs: dict[str, Run]) -> None:
    run = runs["clamp"]
    assert (run.sent["info"]["snd_mss"], run.sent["info"]["advmss"]) == (988, 988)
    assert run.record["limit_bps"] == pytest.approx(RATE * 988 / 1054)
    assert close(run.goodput(0.5), RATE * 988 / 1054, 0.01)


def test_what_is_not_sent_has_a_bound(runs: dict[str, Run]) -> None:
    """The last segment before the bound may be a large one, of 64 kB."""
    assert max(runs["lowat"].column("notsent_bytes")) < 16_000 + 65_536
    assert max(runs["mid"].column("notsent_bytes")) > 500_000


@pytest.mark.parametrize("table", ["", "-normal"])
def test_reordering_as_drawn(runs: dict[str, Run], table: str) -> None:
    """Of frames a frame's time apart, each with its own delay, as many come behind a gap as of an
    independent draw: .54 and .68. Some 7000 segments, of which .519 to .530 did in six runs.
    """
    run = runs[f"late{table}"]
    dice = np.random.default_rng(1)
    count = 100_000
    late = dice.normal(LATE_S, LATE_S, count) if table else dice.uniform(0, 2 * LATE_S, count)
    order = np.argsort(np.arange(count) * TIME_S + np.maximum(late, 0), kind="stable")
    due = behind = 0
    there = np.zeros(count + 1, bool)
    for frame in order:
        there[frame] = True
        behind += frame > due
        while there[due]:
            due += 1
    received = run.json("nstat-rcv.json")["kernel"]
    share = received["TcpExtTCPOFOQueue"] / run.sent["info"]["data_segs_out"]
    assert close(share, behind / count, 0.1)
