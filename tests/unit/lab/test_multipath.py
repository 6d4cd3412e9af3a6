# SPDX-License-Identifier: GPL-2.0
"""The scenario multipath without a guest: limits, pauses, script, bad input, records."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures.record import RecordError
from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS, bundles, longlinks
from tests.unit.lab.raw_folders import compute, fill, meta, qdisc, write
from tests.unit.lab.stand_ins import planned, shell_errors

MULTIPATH = SCENARIOS["multipath"]
FRAME = 1514
compiled = partial(planned, "multipath", duration_s=100.0)


def script(**texts: str) -> str:
    return compiled(**texts).script


# --- the limit --------------------------------------------------------------------------------


def test_the_limit_is_what_full_packets_have_of_both_rates() -> None:
    """A tunnel that is measured counts its heads; its peers are compared with the bare links."""
    shake = 20 + 8 + 12
    for texts, overhead in (
        ({}, shake + 16),
        ({"auth": "0"}, shake),
        ({"outside": "6"}, 20 + shake + 16),
        ({"via": "bonding"}, 0),
        ({"via": "mptcp"}, 0),
    ):
        for stack, head in (("today", 52), ("period", 40)):
            limit_bps = compiled(stack=stack, **texts).limit_bps
            assert limit_bps == pytest.approx(2 * 384e3 * (1500 - overhead - head) / FRAME)


def test_one_path_has_its_own_limit() -> None:
    rates = {"rate": "384kbit+192kbit+96kbit", "paths": "3"}
    alone = [compiled(via=f"path{n}", **rates).limit_bps for n in (1, 2, 3)]
    assert alone[1] == pytest.approx(alone[0] / 2)
    assert alone[2] == pytest.approx(alone[0] / 4)
    assert compiled(**rates).limit_bps == pytest.approx(sum(alone))
    assert [path.name for path in compiled(via="path2", **rates).paths] == ["path2"]


def test_loss_and_cbr_lower_the_limit_of_their_path() -> None:
    none, lossy = compiled(), compiled(loss="1%")
    assert lossy.paths[0].limit_bps == none.paths[0].limit_bps
    assert lossy.paths[1].limit_bps == pytest.approx(0.99 * none.paths[1].limit_bps)
    busy = compiled(cbr="128kbit")
    left = 384e3 - 128e3 * 1014 / 1000
    assert busy.paths[1].limit_bps == pytest.approx(none.paths[1].limit_bps * left / 384e3)


def test_what_a_queue_drops_of_cbr_may_be_the_flows() -> None:
    """The limit is what CBR leaves. Of 300 kbit/s in a queue of two frames much is dropped."""
    busy, none = compiled(cbr="300kbit").paths[1], compiled().paths[1]
    assert busy.limit_bps < 0.3 * none.limit_bps
    assert busy.ceiling == none.ceiling


def test_a_member_passes_no_more_than_its_rate() -> None:
    """The leader's own link has no member."""
    fast = compiled(rate="30mbit", member_rate="11mbit", event="rate:5mbit@50.304s")
    own, other = (path.limit_bps for path in fast.paths)
    assert own == pytest.approx(other * 17.5 / 8, rel=1e-3)
    assert fast.paths[1].ceiling.steps[0][1] == pytest.approx(
        compiled(rate="11mbit").paths[1].ceiling.steps[0][1]
    )


def test_events_are_means_over_the_run() -> None:
    """The interval begins a round trip after the SYN: 302 ms over path 1."""
    none = compiled()
    half = compiled(event1="rate:192kbit@50.302s")
    assert half.paths[0].rate_bps == pytest.approx(0.75 * 384e3)
    assert half.paths[1].rate_bps == none.paths[1].rate_bps
    both = compiled(event="loss:50%@50.302s:10s")
    assert both.paths[0].limit_bps == pytest.approx(0.95 * none.paths[0].limit_bps)
    # A pause takes its time less a frame of the rate.
    plan = compiled(event2="outage@30s:10s")
    assert plan.paths[0].rate_bps == 384e3
    assert plan.paths[1].rate_bps == pytest.approx((384e3 * 90 + 8 * FRAME) / 100)


# --- pauses -----------------------------------------------------------------------------------


def test_random_pauses_have_their_means() -> None:
    spans = longlinks.random_pauses(1, 1, 0.5, 100_000)
    lengths = [end - begin for begin, end in spans]
    gaps = [b[0] - a[1] for a, b in zip(spans, spans[1:], strict=False)]
    assert sum(lengths) / len(lengths) == pytest.approx(0.5, rel=0.03)
    assert sum(gaps) / len(gaps) == pytest.approx(5, rel=0.03)
    assert all(gap > 0 for gap in gaps)


def test_pauses_follow_the_seed_and_the_link() -> None:
    """Those that overlap are one."""
    assert longlinks.joined([(5, 6), (1, 3), (2, 4), (4, 4.5)]) == ((1, 4.5), (5, 6))
    first = longlinks.random_pauses(1, 1, 0.5, 1000)
    same = [longlinks.random_pauses(*of, 0.5, 1000) == first for of in ((1, 1), (2, 1), (1, 2))]
    assert same == [True, False, False]
    assert longlinks.random_pauses(1, 1, 0.0, 1000) == []
    assert script(outage="500ms") == script(outage="500ms")
    assert compiled(outage="500ms").script != compiled(outage="500ms", seed=2).script


def test_a_pause_holds_both_ends_of_its_link() -> None:
    """The bucket fills in the meantime: the end comes later by a frame's time, 31.5 ms."""
    text = script(event2="outage@30s:1s")
    plug = "qdisc change dev to-net2 parent 1:1 handle 2: plug"
    assert text.count(f"\n30 {plug} block\n31.0315 {plug} release_indefinite\n") == 2
    assert "flow replay ${senders##* } <<'END' | tc -n am2 -batch -" in text
    assert "flow replay ${senders##* } <<'END' | tc -n ha -batch -" in text
    assert "to-net1 parent 1:1" not in text
    assert text.count(f"tc -n am2 {plug} release_indefinite") == 2  # at first, and at the end
    assert "plug" not in script()


# --- the script -------------------------------------------------------------------------------


def test_shake_has_its_words() -> None:
    own = {"scheduler": "ratio", "ratio_theta": "0.75", "ack": "tdar", "threshold": "7"}
    text = script(**own, interval="500ms")
    words = "scheduler ratio theta 75 ack tdar threshold 7 auth on encrypt off interval 500000us\n"
    assert f"type shake role agent {words}" in text
    assert f"type shake role leader id 1 {words}" in text
    assert "type shake peer 1 key $key allow 10.0.50.1/32\n" in text
    assert "type shake path 2 dev to-am2 remote 10.0.32.2\n" in text
    assert "\nmodprobe shake\n" in text
    assert "\nrm $key\n" in text
    assert "key" not in script(auth="0").partition("# SHAKE")[2].partition("# end hosts")[0]


def test_drop_and_tdar_are_words_of_ack() -> None:
    for mode, settings in {
        "auto": [{}],
        "pass": [{"ack": "pass"}, {"drop": "0"}],
        "drop": [{"drop": "1"}, {"drop": "1", "tdar": "0"}],
        "tdar": [{"drop": "1", "tdar": "1"}, {"tdar": "1"}],
    }.items():
        assert all(f" ack {mode} " in script(**texts) for texts in settings), mode


def test_the_leader_alone_holds_back_and_has_a_queue() -> None:
    assert " queue " not in script()
    for text, word in (("0s", "0us"), ("300ms", "300000us")):
        lines = [line for line in script(hold=text).split("\n") if f" queue {word}" in line]
        assert len(lines) == 1 and " role leader " in lines[0]
    longer = {"qdisc": "fq_codel", "qdisc_target": "900ms", "qdisc_interval": "3s"}
    for texts, words in (
        ({}, "pfifo_fast"),
        ({"via": "path2"}, "pfifo_fast"),
        ({"qdisc": "fq_codel"}, "fq_codel"),
        (longer, "fq_codel target 900000us interval 3000000us"),
    ):
        text = script(**texts)
        assert text.count(f"\ntc -n al qdisc add dev shake0 root {words}\n") == 1
        assert text.count("dev shake0 root") == 1
    for texts in ({"qdisc": "default"}, *({"via": via} for via in bundles.VIAS[1:5])):
        assert "dev shake0 root" not in script(**texts)


def test_peers() -> None:
    """They need no module of the project."""
    assert request.brought_modules(MULTIPATH, [compiled(via="bonding")]) == []
    assert request.brought_modules(MULTIPATH, [compiled()]) == ["shake"]
    assert request.brought_modules(MULTIPATH, [compiled("reno3")]) == ["shake", "tcp_reno3"]
    # A peer has a tunnel for each path.
    bonded = script(via="bonding", paths="3")
    assert bonded.count(" type gretap ") == 6
    assert bonded.count(" mode balance-rr ") == 2
    outside = script(via="teql", outside="6")
    assert outside.count(" type ip6gre ") == 4
    assert "max_equalizers=2" in outside
    # MPTCP sends from each address.
    text = script(via="mptcp", paths="3")
    assert "flow mptcp" in text
    assert "mptcp endpoint add 10.0.11.1 " not in text  # the first subflow's
    for path in (2, 3):
        assert f"mptcp endpoint add 10.0.1{path}.1 dev to-am{path} subflow\n" in text
        assert f"rule add from 10.0.1{path}.1 table 10{path}\n" in text


def test_the_window_is_in_packets_of_the_bundle_and_the_stack_the_period_s() -> None:
    assert f" window {20 * (1500 - 56 - 40)}\n" in script(stack="period", window="20")
    assert f" window {40 * 1448}\n" in script(via="mptcp", window="40")
    assert " window " not in script()
    text = script(stack="period")
    for word in ("tcp_sack=0", "tcp_recovery=0", "tcp_timestamps=0", "tcp_max_reordering=3"):
        assert f"net.ipv4.{word}" in text
    assert "tcp_max_reordering" not in script()


# --- records ----------------------------------------------------------------------------------

COUNTERS = "NIC statistics:\n     dropped_tag: 0\n     path1_lost: 3\n"


def folder(raw: Path, **counters: int) -> dict[str, Any]:
    """A raw folder of a run with two paths and a UDP flow; the plan's facts."""
    write(raw)
    plan = compiled(duration_s=10.0, cbr="128kbit", rate="6mbit")

    def row(dev: str, kind: str, drops: int, packets: int = 0) -> dict[str, Any]:
        more = {"root": True, "packets": packets, "bytes": 1514 * packets, "backlog": 0}
        return qdisc(dev, drops, kind, **more)

    queue = row("shake0", "fq_codel", 9, 700) | {"drop_overlimit": 2, "ecn_mark": 1}
    files = {
        "shake-al.txt": COUNTERS,
        "shake-ha.txt": COUNTERS,
        "qdisc-al.json": [row("to-modem", "noqueue", 0), queue],
        "qdisc-modem.json": [row("to-net1", "tbf", 2, 500)],
        "qdisc-am2.json": [row("to-net2", "tbf", 1, 400)],
        "qdisc-net1.json": [row("to-ha", "netem", 3), row("to-modem", "netem", 4)],
        "qdisc-net2.json": [row("to-ha", "netem", 5), row("to-am2", "netem", 6)],
        "qdisc-ha.json": [row("to-net1", "tbf", 1), row("to-net2", "tbf", 0)],
        "nstat-al.json": {"kernel": {"TcpExtTCPTimeouts": 2}},
        "nstat-cn.json": {"kernel": counters},
        "cbr.send.json": {"sent": 160, "refused": 2, "first_us": 0, "end_us": 10},
        "cbr.recv.json": {"packets": 158, "bytes": 158 * 972},
    }
    fill(raw, files)
    return meta(**plan.facts() | {"scenario": "multipath"})


def test_the_record_of_two_paths(tmp_path: Path) -> None:
    facts = folder(tmp_path, TcpExtDelayedACKLost=4, TcpExtTCPOFOMerge=2, TcpExtPAWSEstab=1)
    record = compute(tmp_path, facts)
    assert record["long_links"] == [
        {"name": "path1", "frames": 500, "bytes": 500 * 1514, "queue_drops": 2, "lost": 3,
         "back_lost": 5},
        {"name": "path2", "frames": 242, "bytes": 400 * 1514 - 158 * 1014, "queue_drops": 1,
         "lost": 5, "back_lost": 6},
    ]  # fmt: skip
    assert record["cbr"] == {"sent": 162, "received": 158, "lost": 4}
    assert record["twice"] == {"below": 4, "above": 2, "subflows": 0, "stale": 1}
    assert record["needless_retransmits"] == 6  # with 7 lost, 12 retransmitted
    assert record["shake_queue"] == {
        "qdisc": "fq_codel", "packets": 700, "drops": 9, "overlimit": 2, "marks": 1,
    }  # fmt: skip
    assert record["losses"] == 11 - 4 + 9
    assert record["shake"] == {ns: {"dropped_tag": 0, "path1_lost": 3} for ns in ("al", "ha")}
    columns = {column.heading: column.value(record) for column in MULTIPATH.columns([record])}
    assert columns["path 1 %"] == pytest.approx(100 * 500 / 742)
    assert (columns["path 3 %"], columns["lost"], columns["CBR lost"]) == (None, 11, 4)


@pytest.mark.parametrize(("stale", "wanted"), [(0, 2), (1, 3), (9, 5)])
def test_stale_segments_count_as_far_as_losses_do_not_explain(
    tmp_path: Path, stale: int, wanted: int
) -> None:
    """12 retransmitted, 7 lost, 2 arrived twice: 3 are left. SHAKE's own queue drops nothing."""
    facts = folder(tmp_path, TcpExtDelayedACKLost=2, TcpExtPAWSEstab=stale)
    (tmp_path / "qdisc-al.json").unlink()
    assert compute(tmp_path, facts)["needless_retransmits"] == wanted


def test_a_record_without_its_counters_is_refused(tmp_path: Path) -> None:
    facts = folder(tmp_path)
    (tmp_path / "shake-ha.txt").write_text("no stats available\n")
    with pytest.raises(RecordError, match=r"shake-ha\.txt has no counters"):
        compute(tmp_path, facts)


def test_pings_stop_before_the_counters_are_read(tmp_path: Path) -> None:
    text = script(ping="1")
    assert 'ip netns exec al ping -i 0.5 10.0.40.2 >"$OUT/ping.txt" &' in text
    assert text.index("kill $ping") < text.index("ethtool -S")
    assert shell_errors(text) == "" and "ping" not in script()
    facts = folder(tmp_path)
    assert "ping" not in compute(tmp_path, facts)
    (tmp_path / "ping.txt").write_text("64 bytes from 10.0.40.2: icmp_seq=1 ttl=63 time=302 ms\n")
    assert compute(tmp_path, facts)["ping"]["mean_ms"] == 302
