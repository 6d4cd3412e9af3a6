# SPDX-License-Identifier: GPL-2.0
"""Downloads over several long links in a real guest: what multipath's direction=down changes."""

from __future__ import annotations

import math
from functools import partial

import pytest

from tests.guest.runs import Guests, deep_ones, runs_of
from tests.guest.scenarios.test_multipath import BUNDLES, FRAME_S, over_paths

pytestmark = [pytest.mark.guest, pytest.mark.uml]

DEEP = {"bonding", "teql", "ipv6", "up", "mid-mtu"}

down = partial(over_paths, direction="down")
CASES = {
    **{via: down(via=via, delay2="100ms") for via in BUNDLES},
    "ipv6": down(ipv6="1", outside="6", delay2="100ms"),
    "path2": down(via="path2", delay2="50ms", cbr="128kbit", window="20"),
    "lossy": down(duration_s=30, via="plain", loss1="4%", ack_loss="0%"),
    "pause": down(via="plain", window="30", event1="outage@8s:3s"),
    "repair": down(rate="2mbit", delay1="20ms", delay2="60ms", loss1="1%", loss="1%", window="0"),
    "far": down(rate="527kbit+4.48mbit", delay1="309ms", delay2="11ms", queue="59", window="0"),
    "narrow": down(
        rate="10mbit+1mbit", delay1="20ms", delay2="20ms", mtu2="900", queue="20", window="0"
    ),
    "up": over_paths(via="plain", delay1="100ms"),
    "plain": down(via="plain", delay1="100ms"),
    "mid-mtu": down(window="0", mid_mtu="1400"),
}

runs = runs_of("multipath-down", CASES, DEEP)


@pytest.mark.parametrize("name", deep_ones([*BUNDLES, "ipv6"], DEEP))
def test_every_bundle_uses_both_paths(runs: Guests, name: str) -> None:
    """The correspondent sends, and the agent's devices hold what waits."""
    run = runs[name]
    record = run.record
    frames = [link["frames"] for link in record["long_links"]]
    assert min(frames) > 0.4 * sum(frames)
    assert record["total_goodput_bps"] > 0.8 * record["limit_bps"]
    assert run.json("nstat-al.json")["kernel"]["TcpInSegs"] > 0.5 * record["flows"][0]["segments"]
    sent = {qdisc["dev"]: qdisc["bytes"] for qdisc in run.json("qdisc-ha.json") if "root" in qdisc}
    back = [row for ns in ("modem", "am2") for row in run.json(f"qdisc-{ns}.json")
            if row["kind"] == "tbf"]  # fmt: skip
    assert sent["to-net1"] + sent["to-net2"] > 5 * sum(row["bytes"] for row in back)


def test_a_download_beside_cbr_has_what_that_leaves(runs: Guests) -> None:
    """Its packets go the same way, to the member; the window of 20 packets is the leader's. The
    queue holds these at most, what CBR sends in the time that they all take, and a frame of each;
    less, as the agent holds them back."""
    record = runs["path2"].record
    waiting = 128e3 * 20 * FRAME_S / 20
    assert abs(record["total_goodput_bps"] - record["limit_bps"]) <= waiting + 0.01 * 384e3
    assert record["cbr"]["sent"] == record["cbr"]["received"] > 300
    assert record["losses"] == record["needless_retransmits"] == 0
    own = 20 * 1514 / (1 - 128e3 * 1.014 / 384e3)
    assert record["queue"]["max_bytes"] <= own + 1514 + 1014
    assert record["flows"][0]["rtt_ms"]["min"] == pytest.approx(104, abs=2)


def test_losses_are_those_of_the_data(runs: Guests) -> None:
    """4 % of the frames to the leader, within five standard deviations; none of its ACKs."""
    (link,) = runs["lossy"].record["long_links"]
    wanted = 0.04 * link["frames"]
    assert abs(link["lost"] - wanted) <= 5 * math.sqrt(wanted) + 1
    assert link["back_lost"] == 0
    assert runs["lossy"].record["losses"] == link["lost"]


def test_a_pause_holds_downloads(runs: Guests) -> None:
    """What was sent before travels for 151 ms; then nothing arrives until the pause is over."""
    run = runs["pause"]
    zero = (run.sent["syn_us"] - float(run.arrivals.times[0])) / 1e6
    assert run.goodput(zero + 8 + 0.151 + FRAME_S + 0.02, zero + 11 + 0.131) == 0
    assert run.goodput(zero + 11.2, zero + 12.2) > 0.9 * 360e3
    assert run.record["losses"] == 0
    assert 0.95 <= run.record["total_goodput_bps"] / run.record["limit_bps"] <= 1


@pytest.mark.deep
def test_one_path_carries_as_much_either_way(runs: Guests) -> None:
    up, down = (runs[name].record for name in ("up", "plain"))
    assert down["total_goodput_bps"] == pytest.approx(up["total_goodput_bps"], rel=0.01)
    assert down["flows"][0]["rtt_ms"]["min"] == pytest.approx(
        up["flows"][0]["rtt_ms"]["min"], abs=1
    )


@pytest.mark.deep
def test_a_smaller_mtu_behind_the_agent_is_found(runs: Guests) -> None:
    """Packets that are too long at first are answered, and shorter ones follow."""
    record = runs["mid-mtu"].record
    assert record["total_goodput_bps"] > 0.5 * record["limit_bps"]
    assert max(link["bytes"] / link["frames"] for link in record["long_links"]) < 1414


def test_a_download_is_repaired_held_back_and_put_in_order(runs: Guests) -> None:
    """As an upload is: losses cost little, and the links' queues stay short."""
    record = runs["repair"].record
    agent, leader = record["shake"]["ha"], record["shake"]["al"]
    assert record["total_goodput_bps"] > 0.75 * record["limit_bps"]
    assert agent["repair_sent"] > 10 and agent["held_back"] > 10
    assert leader["flows_holes_mended"] > 5
    assert record["queue"]["mean_ms"] < 150


def test_what_is_sent_again_makes_nothing_else_look_lost(runs: Guests) -> None:
    """The agent drops what a flow has too much, and TCP sends it again by the short way: if that
    went on before what the long one still carries, TCP sent all of it again, 600 segments."""
    record = runs["far"].record
    assert record["needless_retransmits"] < 100
    assert record["total_goodput_bps"] > 0.75 * record["limit_bps"]


def test_room_of_a_path_that_is_too_narrow_is_none(runs: Guests) -> None:
    """Nobody is told of 900 octets, so that it takes nothing: what waited for room on any path then
    overflowed the other one's queue, by 1300 packets of 10 s."""
    record = runs["narrow"].record
    assert record["queue"]["drops"] < 200
    assert record["total_goodput_bps"] > 0.85 * 10e6
