# SPDX-License-Identifier: GPL-2.0
"""Several long links in a real guest: rates, delays, losses, pauses and what is counted, compared
with calculated values; SHAKE and each of its peers uses all paths.
"""

from __future__ import annotations

import math

import pytest

from tests.guest.runs import Case, Guests, deep_ones, parsed, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

FRAME_S = 1514 * 8 / 384e3
THRESHOLD = "ip netns exec al sysctl -qw net.ipv4.tcp_reordering=2\n"
BUNDLES = ("shake", "bonding", "teql", "mptcp")


def over_paths(cc: str = "cubic", duration_s: float = 20.0, linked: str = "", **texts: str) -> Case:
    """A case with parameters as text, as on the command line."""
    values = parsed("multipath", {"window": "40", **texts})
    return Case(values, cc, duration_s, scenario="multipath", linked=linked)


#: In `make check` SHAKE's IPv6 stands for that of the others, and loss of one direction for both.
DEEP = {
    *("bonding-ipv6", "teql-ipv6", "mptcp-ipv6", "four", "lossy-back", "repair=0", "repair=1"),
    *("today", "period", "codel"),
}

CASES = {
    "plain": over_paths(via="plain", delay1="100ms"),
    "path1": over_paths(via="path1"),
    "path2": over_paths(via="path2", delay2="50ms", cbr="128kbit", window="20"),
    **{via: over_paths(via=via, delay2="100ms") for via in BUNDLES},
    **{f"{via}-ipv6": over_paths(via=via, ipv6="1", outside="6" if via != "mptcp" else "4")
       for via in BUNDLES},
    "four": over_paths(duration_s=40, paths="4", window="80",
                       rate="384kbit+192kbit+768kbit+384kbit"),
    "period": over_paths("reno3", stack="period", scheduler="rr", ack="pass", delay2="10ms"),
    "today": over_paths(scheduler="rr", ack="pass", delay2="10ms"),
    "narrow": over_paths(via="plain", delay1="100ms", mtu1="1300"),
    "lossy": over_paths(duration_s=60, via="plain", loss1="2%", ack_loss="0%"),
    "lossy-back": over_paths(duration_s=60, via="plain", ack_loss="2%"),
    **{f"repair={on}": over_paths(duration_s=60, delay2="50ms", window="0", loss1="1%",
                                  loss="1%", repair=on) for on in "01"},
    **{f"mirrored-{way}": over_paths(duration_s=60, rate="2mbit", window="0", loss1="1%",
                                     loss="1%", direction=way) for way in ("up", "down")},
    **{f"held-{way}": over_paths("bbr", 15, rate="1mbit+6mbit", delay1="10ms", delay2="100ms",
                                 window="0", queue="100", hold_acks="1", direction=way)
       for way in ("up", "down")},
    "tail": over_paths(rate="2mbit", delay1="30ms", delay2="30ms", loss1="15%", loss="15%",
                       window="3"),
    "codel": over_paths(duration_s=60, delay2="150ms", window="0", qdisc="fq_codel"),
    "pause": over_paths(duration_s=30, via="plain", window="30", event1="outage@10s:3s"),
    "overflow": over_paths(via="plain", queue="10", event="outage@10s:1s"),
    "rate": over_paths(via="plain", window="20", event="rate:768kbit@10s"),
    "reno": over_paths("reno", 10, stack="period", via="plain", linked=THRESHOLD),
    "reno3": over_paths("reno3", 10, stack="period", via="plain", linked=THRESHOLD),
}  # fmt: skip

runs = runs_of("multipath", CASES, DEEP)


@pytest.mark.deep
def test_what_a_queue_drops_above_the_tunnel_is_told_at_once(runs: Guests) -> None:
    """Of it there is no copy: the agent must not hold duplicate ACKs back for one. 0.99 of the
    limit; 0.34 when it waited for copies."""
    record = runs["codel"].record
    assert record["shake_queue"]["drops"] >= 10
    assert record["total_goodput_bps"] >= 0.9 * record["limit_bps"]


def test_downloads_are_as_fast_as_uploads(runs: Guests) -> None:
    """CoDel fits data that waits for copies: .97; .79 when it fitted the paths' round trips."""
    down, up = (runs[f"mirrored-{way}"].record["total_goodput_bps"] for way in ("down", "up"))
    assert down >= 0.9 * up


@pytest.mark.parametrize("way", ["up", "down"])
def test_bbr_fills_a_far_path_beside_a_near_one(runs: Guests, way: str) -> None:
    """5.5 to 5.9 Mbit/s in three runs each; 2.9 to 4.0 when it saw the near one's round trip."""
    record = runs[f"held-{way}"].record
    assert record["total_goodput_bps"] >= 5e6
    assert record["shake"]["al" if way == "up" else "ha"]["acks_held"] >= 5


# --- the links --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "path1"])
def test_one_path_reaches_its_limit(runs: Guests, name: str) -> None:
    """40 packets are 1.26 s of the link. The interval may begin or end with one frame more."""
    record = runs[name].record
    assert 0.99 <= record["total_goodput_bps"] / record["limit_bps"] <= 1 + 2 * FRAME_S / 20
    assert record["losses"] == record["needless_retransmits"] == 0
    assert [link["name"] for link in record["long_links"]] == ["path1"]


def test_a_sender_hears_that_a_link_is_narrower(runs: Guests) -> None:
    """It sends 1300 B from then on; the limit is that of such packets."""
    record = runs["narrow"].record
    assert 0.98 <= record["total_goodput_bps"] / record["limit_bps"] <= 1 + 2 * FRAME_S / 20


def test_a_flow_beside_cbr_has_what_that_leaves(runs: Guests) -> None:
    """While the queue fills with the window, 0.63 s, CBR's packets in it are still to come."""
    record = runs["path2"].record
    waiting = 128e3 * 20 * FRAME_S / 20
    assert abs(record["total_goodput_bps"] - record["limit_bps"]) <= waiting + 0.01 * 384e3
    assert record["losses"] == record["needless_retransmits"] == 0
    assert [link["name"] for link in record["long_links"]] == ["path2"]


def test_round_trips(runs: Guests) -> None:
    """100 ms and 1 ms each way; 1 ms more to a member, and frames of 11 Mbit/s. The first frame
    leaves at once."""
    assert runs["plain"].record["flows"][0]["rtt_ms"]["min"] == pytest.approx(202, abs=1)
    assert runs["path2"].record["flows"][0]["rtt_ms"]["min"] == pytest.approx(104, abs=2)


def test_cbr_is_counted_at_both_ends(runs: Guests) -> None:
    """1000 B every 62.5 ms, as long as the flow sends."""
    run = runs["path2"]
    cbr = run.record["cbr"]
    sent_s = (run.sent["end_us"] - run.sent["syn_us"]) / 1e6
    assert cbr["sent"] == pytest.approx(sent_s / 0.0625, abs=2)
    assert cbr["lost"] == 0
    assert run.json("cbr.recv.json")["bytes"] == cbr["received"] * 972


@pytest.mark.parametrize(
    ("name", "key"),
    [("lossy", "lost"), pytest.param("lossy-back", "back_lost", marks=pytest.mark.deep)],
)
def test_losses_are_as_likely_as_asked(runs: Guests, name: str, key: str) -> None:
    """2 % of the frames of one direction, within five standard deviations; none of the other."""
    record = runs[name].record
    (link,) = record["long_links"]
    other = {"lost": "back_lost", "back_lost": "lost"}[key]
    acks = runs[name].json("nstat-cn.json")["kernel"]["TcpOutSegs"]
    frames = link["frames"] if key == "lost" else acks
    wanted = 0.02 * frames
    assert abs(link[key] - wanted) <= 5 * math.sqrt(wanted) + 1
    assert link[other] == 0


# --- pauses -----------------------------------------------------------------------------------


def test_a_pause_holds_and_loses_nothing(runs: Guests) -> None:
    """What was sent before travels for 151 ms; then nothing arrives until the pause is over."""
    run = runs["pause"]
    zero = (run.sent["syn_us"] - float(run.arrivals.times[0])) / 1e6
    held = (zero + 10 + 0.151 + FRAME_S, zero + 13 + 0.151)
    assert run.goodput(held[0] + 0.02, held[1] - 0.02) == 0
    assert run.goodput(held[0] - 1.05, held[0] - 0.05) > 0.9 * 360e3
    assert run.goodput(held[1] + 0.05, held[1] + 1.05) > 0.9 * 360e3
    record = run.record
    assert record["losses"] == 0
    assert 0.97 <= record["total_goodput_bps"] / record["limit_bps"] <= 1


def test_a_pause_does_not_enlarge_the_queue(runs: Guests) -> None:
    """Ten packets wait; the rest of the window of 40 is dropped."""
    record = runs["overflow"].record
    assert record["queue"]["max_bytes"] <= 10 * 1514
    assert record["queue"]["drops"] > 0


def test_a_rate_that_changes(runs: Guests) -> None:
    run = runs["rate"]
    assert run.goodput(4, 9) == pytest.approx(384e3 * 1448 / 1514, rel=0.01)
    assert run.goodput(12, 19) == pytest.approx(20 * 1448 * 8 / 0.319, rel=0.06)


# --- bundles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", deep_ones([*BUNDLES, *(f"{via}-ipv6" for via in BUNDLES)], DEEP))
def test_every_bundle_uses_both_paths(runs: Guests, name: str) -> None:
    record = runs[name].record
    frames = [link["frames"] for link in record["long_links"]]
    assert min(frames) > 0.4 * sum(frames)
    assert record["total_goodput_bps"] > 0.8 * record["limit_bps"]


@pytest.mark.deep
def test_shake_uses_four_unequal_paths(runs: Guests) -> None:
    """Frames in proportion to 384, 192, 768 and 384 kbit/s."""
    record = runs["four"].record
    frames = [link["frames"] for link in record["long_links"]]
    shares = [count / sum(frames) for count in frames]
    assert shares == pytest.approx([2 / 9, 1 / 9, 4 / 9, 2 / 9], abs=0.05)
    assert record["total_goodput_bps"] > 0.85 * record["limit_bps"]


def test_shake_tells_what_it_counted(runs: Guests) -> None:
    counters = runs["shake"].record["shake"]
    assert counters["ha"]["registered"] == 2
    assert counters["al"]["path1_sent"] > 100
    assert counters["al"]["dropped_tag"] == counters["ha"]["dropped_tag"] == 0


# --- what is counted --------------------------------------------------------------------------


@pytest.mark.deep
def test_what_arrived_twice_is_exact(runs: Guests) -> None:
    """With SACK by D-SACK. Without loss each retransmission is needless, but for those under way at
    the end, at most a window."""
    today = runs["today"].record
    assert today["twice"]["below"] + today["twice"]["above"] == today["duplicates"] > 0
    for record in (today, runs["period"].record):
        sent = record["flows"][0]["retransmits"]
        assert record["losses"] == 0
        assert sent > 20
        assert sent - 40 <= record["needless_retransmits"] <= sent
    assert runs["period"].record["twice"]["stale"] == 0


@pytest.mark.deep
def test_losses_that_are_repaired(runs: Guests) -> None:
    """Nearly all copies fill their holes, and TCP has more goodput: 3 to 50 % in 20 runs."""
    without, repaired = (runs[f"repair={on}"].record for on in "01")
    leader, agent = repaired["shake"]["al"], repaired["shake"]["ha"]
    assert leader["repair_sent"] >= 30
    assert agent["flows_holes_mended"] >= 0.8 * leader["repair_sent"]
    assert agent["flows_dropped_mending"] > agent["flows_holes_mended"]
    assert repaired["total_goodput_bps"] > without["total_goodput_bps"]
    assert (
        without["shake"]["al"]["repair_sent"] == without["shake"]["ha"]["flows_holes_mended"] == 0
    )


def test_a_probe_follows_what_may_be_lost_last(runs: Guests) -> None:
    """Nothing else tells soon that the last packet of a small window is lost, or its copy: 130
    kbit/s without."""
    assert runs["tail"].record["total_goodput_bps"] > 160e3


def test_reno3_keeps_its_threshold(runs: Guests) -> None:
    """Both begin with what the sysctl says."""
    assert runs["reno"].sent["info"]["reordering"] == 2
    assert runs["reno3"].sent["info"]["reordering"] == 3
