# SPDX-License-Identifier: GPL-2.0
"""The scenario satellite-shared: its script, bad input, records, table and figures; no guest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apogee_lab import units
from apogee_lab.commands import main
from apogee_lab.measures.fairness import fair_shares, jain
from apogee_lab.measures.record import RecordError, dumps
from apogee_lab.results import over_time, plots, table
from apogee_lab.results.finished import FinishedRun
from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.shared import MOST_FLOWS
from tests.unit.lab.raw_folders import bins, compute, fill, link, meta, qdisc, send_log, write
from tests.unit.lab.stand_ins import delays, sends

SHARED = SCENARIOS["satellite-shared"]


def script(cc: str = "star", duration_s: float = 60.0, **values: Any) -> str:
    """The script for these values."""
    return SHARED.compile(values, cc, duration_s).script


# --- the script -------------------------------------------------------------------------------


def test_each_flow_has_hosts_of_its_own() -> None:
    plan = SHARED.compile({"flows": 3}, "star+cubic+reno", 60.0)
    assert [(f.name, f.cc, f.netns, f.receiver_ns, f.port) for f in plan.flows] == [
        ("flow1", "star", "snd1", "rcv1", 5201),
        ("flow2", "cubic", "snd2", "rcv2", 5202),
        ("flow3", "reno", "snd3", "rcv3", 5203),
    ]
    assert plan.flows[2].facts()["exit"] == ["sat", "to-rcv3"]
    assert plan.paths[0].data_links == (("sat", "to-rcv1"), ("sat", "to-rcv2"), ("sat", "to-rcv3"))
    assert [call[:6] for call in sends(plan.script)] == [
        ("flow1", "snd1", 0, "star", "10.0.101.2", 5201),
        ("flow2", "snd2", 0, "cubic", "10.0.102.2", 5202),
        ("flow3", "snd3", 0, "reno", "10.0.103.2", 5203),
    ]
    addresses = re.findall(r"addr add (\S+) ", plan.script)
    assert len(set(addresses)) == len(addresses) == 2 * (1 + 2 * 3)


def test_fifty_flows() -> None:
    """Each has addresses, hardware addresses and a port of its own, and the senders' first buffers
    together are no more than the 640 MiB that a guest has for them; up to 40 they are whole."""
    plan = SHARED.compile({"flows": MOST_FLOWS}, "star", 60.0)
    for found in (re.findall(r"addr add (\S+) ", plan.script),
                  re.findall(r" address (\S+) ", plan.script)):  # fmt: skip
        assert len(set(found)) == len(found) >= 1 + 2 * 50
    assert len({flow.port for flow in plan.flows}) == len(plan.paths[0].data_links) == 50
    for count, least in ((40, 2**24), (50, 40 * 2**24 // 51)):
        (wmem,) = re.findall(r"tcp_wmem='4096 (\d+) ", script(flows=count))
        assert least <= int(wmem) <= 40 * 2**24 // count


def test_names_and_flows() -> None:
    """One name stands for every flow, N*NAME for N flows of NAME; by default there are as many
    flows as the mix names."""
    assert script("star").count("modprobe tcp_star") == 1
    assert script("star") == script("star+star")
    assert script("star+3*reno") == script("star+reno+reno+reno") == script("1*star+3*reno")
    assert script("3*star") == script("star", flows=3)
    assert script("star+3*reno", flows=4) == script("star+3*reno")
    flows = SHARED.compile({}, "star+9*reno+10*cubic", 9.0).flows
    assert [f.cc for f in flows] == ["star", *["reno"] * 9, *["cubic"] * 10]
    mixes = request.parse_controls("star,star+9*reno", SHARED)
    assert mixes == ["star", "star+9*reno"]  # a record's cc is what was typed
    assert request.brought_modules(SHARED, [SHARED.compile({}, "reno+3*star", 9.0)]) == ["tcp_star"]


def test_the_queue_and_the_limit() -> None:
    assert "netem rate 10000000bit limit 417\n" in script()
    assert "netem rate 10000000bit limit 10\n" in script(queue=15_000)
    assert "netem rate 10000000bit limit 1\n" in script(queue=1500)
    plan = SHARED.compile({"delays": (0.0, 0.05)}, "star", 60.0)
    assert round(plan.limit_bps) == 9_564_069  # 10 Mbit/s x 1448 / 1514
    assert plan.paths[0].bdp_bytes == 630_000  # 10 Mbit/s x 2 (250 + 2 x 1) ms, the shorter path
    assert SHARED.compile({"flows": 1}, "star", 60.0).limit_bps == plan.limit_bps


def test_delays_are_each_flows_own() -> None:
    found = delays(script(delays=(0.0, 0.05), wired_delay=0.002))
    own = {place: delay for place, delay in found.items() if place[0] != "sat"}
    assert own == {
        ("snd1", "to-bn"): 2000, ("bn", "to-snd1"): 2000, ("rcv1", "to-sat"): 2000,
        ("snd2", "to-bn"): 52_000, ("bn", "to-snd2"): 52_000, ("rcv2", "to-sat"): 2000,
    }  # fmt: skip
    assert "dev to-rcv2 root netem delay 252000us rate 100000000bit" in script(wired_delay=0.002)
    assert " rate " not in "".join(re.findall("to-rcv1 root.*", script(wired_rate=0)))


def test_senders_go_on_until_the_last_flow_has_had_its_time(tmp_path: Path) -> None:
    # 1.5 round trips of 504 ms and 0.1 s
    together = {"spread": 0.0}
    assert [call.seconds for call in sends(script(**together))] == [60.856, 60.856]
    # From another start: the one queue that may stand (625 kB, 0.5 s) is passed twice.
    late = sends(script(start=(0.0, 10.0), **together))
    assert [call.start_s for call in late] == [0, 10]
    assert [call.seconds for call in late] == [71.856, 61.856]
    assert [call.seconds for call in sends(script())] == [62.36, 62.36]  # the last is 504 ms late
    assert sends(script(ber=1e-6, **together))[0].seconds == 61.956  # a SYN may be lost
    lost = tmp_path / "lost"
    lost.write_text("1\n")
    for may_lose in (
        {"burst_time": (2.0, 0.05)},
        {"burst": (0.01, 0.3)},
        {"loss_trace": str(lost)},
        {"event": units.parse("events", "loss:1%@0s")},
        {"event": units.parse("events", "outage@0s:500ms")},
    ):
        assert sends(script(**may_lose, **together))[0].seconds == 61.956


def test_each_flow_has_its_phase_within_a_round_trip() -> None:
    """By default, one RTT of the empty path of the flow with the shortest delay."""
    assert "$1 + 0.504 * " in script()
    assert "$1 + 0.704 * " in script(delays=(0.2, 0.1))
    assert "$1 + 2 * " in script(spread=2.0)
    assert "urandom" not in script(spread=0.0)


def test_losses_follow_the_length_as_on_the_satellite_testbed() -> None:
    values = {"ber": 1e-6, "ack_ber": 1e-7}

    def losses(text: str, dev: str) -> list[str]:
        return re.findall(rf"qdisc add dev {dev} parent .* loss (\S+)%", text)

    alone = SCENARIOS["satellite"].compile(values, "star", 60.0).script
    shared = script(**values)
    assert losses(shared, "to-rcv1") == losses(shared, "to-rcv2") == losses(alone, "to-rcv")
    assert losses(shared, "to-bn") == losses(alone, "to-bn")
    assert len(losses(alone, "to-bn")) == 8


def test_traces_take_the_senders_of_every_flow() -> None:
    text = script("star+j", trace="all")
    assert text.count("'dport >= 5201 && dport <= 5202'") == 4
    assert "events/tcp_star/*" in text
    assert "events/tcp_j/*" in text
    assert "'dport == 5201'" in script("star", trace="probe", flows=1)


def test_blackouts_drop_the_acks_of_every_flow() -> None:
    text = script(ack_blackout=(5.0, 1.0), start=(2.0, 3.0))
    assert "\nsleep $first\n{\n\tsleep 5\n" in text  # after the first SYN
    assert "sleep $first" not in script()
    for n in (1, 2):
        assert f"filter add dev to-rcv{n} ingress matchall action drop" in text
        assert f"qdisc add dev to-rcv{n} clsact" in text
    assert "filter add dev to-bn ingress" in script(data_blackout=(5.0, 1.0))


def test_lists_of_lists_make_a_product() -> None:
    settings = request.parse_settings(["start=0s,0s+10s", "queue=15kB,625kB"], SHARED)
    assert settings["start"] == [(0.0,), (0.0, 10.0)]
    mixes = request.parse_controls("star,star+highspeed", SHARED)
    assert len(list(request.product(mixes, settings, [1, 2]))) == 16
    values = request.record_values(SHARED, request.all_values(SHARED, {"start": (0.0, 10.0)}))
    assert (values["start"], values["delays"]) == ("0s+10s", "0s")


# --- records ----------------------------------------------------------------------------------

#: Two flows, the second 5 s later; 10 s from 15.5 s on are measured. Bytes in 10 ms.
LATE_US = 5_000_000
FLOWS = [flow.facts() for flow in SHARED.compile({}, "star+reno", 10.0).flows]


def sender(late_us: int, rtt: tuple[int, int], cwnd: tuple[int, int], **more: Any) -> Any:
    """A sender's log with one value of rtt and window until 15.0 s and one from then on."""
    syn_us = 10_000_000 + late_us
    times = range(syn_us + 500_000, 26_000_000, 100_000)
    samples = [[t, cwnd[t >= 15_000_000], rtt[t >= 15_000_000], 0] for t in times]
    info = {"min_rtt": 500_000, "total_retrans": 30, "data_segs_out": 1000, "snd_mss": 1000}
    times_us = {"syn_us": syn_us, "t0_us": syn_us + 500_000, "end_us": 26_200_000}
    return send_log(samples=samples, info=info, **(times_us | more))


def two(raw: Path, **more: Any) -> dict[str, Any]:
    """The raw folder of two flows, and the plan's facts about them."""
    write(raw)
    queue = [json.dumps([qdisc("to-sat", 0, root=True, backlog=1000 * n)]) for n in range(170)]
    lost = [
        qdisc(f"to-rcv{n}", drops, kind)
        for n, drops in ((1, 10), (2, 5))
        for kind in ("prio", "netem")
    ]
    files = {
        "flow1.send.json": sender(0, (500_000, 600_000), (100, 200)),
        "flow2.send.json": sender(LATE_US, (0, 700_000), (0, 50), **more),
        "flow1.recv.json": {"bins": bins((10.5, 15.5, 9000), (15.5, 26.0, 6000))},
        "flow2.recv.json": {"bins": bins((15.5, 26.0, 3000))},
        "qdisc-bn.json": [qdisc("to-sat", 35)],
        "qdisc-sat.json": [*lost, qdisc("to-bn", 7)],
        "queue.jsonl": "\n".join(queue) + "\n",
        "link-bn.json": [link("lo", 9, 9), link("to-snd1", 1000, 1), link("to-snd2", 500, 1)],
        "link-sat.json": [link("to-rcv1", 1, 980), link("to-rcv2", 1, 470)],
        "nstat-snd1.json": {"kernel": {"TcpExtTCPTimeouts": 1}},
        "nstat-snd2.json": {"kernel": {"TcpExtTCPTimeouts": 4}},
        "nstat-rcv1.json": {"kernel": {"TcpExtTCPDSACKOldSent": 3, "TcpExtTCPDSACKOfoSent": 0}},
        "nstat-rcv2.json": {"kernel": {"TcpExtTCPDSACKOldSent": 0, "TcpExtTCPDSACKOfoSent": 2}},
    }
    fill(raw, files)
    return meta(scenario="satellite-shared", cc="star+reno", flows=FLOWS, receiver_ns="rcv1",
                data_links=[["sat", "to-rcv1"], ["sat", "to-rcv2"]])  # fmt: skip


def test_the_record_of_two_flows(tmp_path: Path) -> None:
    record = compute(tmp_path, two(tmp_path))
    first, second = record["flows"]
    assert first == {
        "name": "flow1", "cc": "star", "goodput_bps": 4.8e6, "retransmits": 30, "segments": 1000,
        "timeouts": 1, "rtt_ms": {"min": 500.0, "mean": 600.0, "p99": 600.0},
        "own": {"from_s": 0.5, "over_s": 15.0, "goodput_bps": 5.6e6},  # (5 x 7.2 + 10 x 4.8) / 15
        "window_bytes": {"mean": 200_000.0, "min": 200_000, "max": 200_000},
        "queue_drops": 10,  # 1000 came, 980 + 10 entered the hop
        "link_drops": 10, "duplicates": 3, "fair_share": 1.3333,  # 4.8 of a mean of 3.6
    }  # fmt: skip
    assert second["fair_share"] == 0.6667
    assert second["goodput_bps"] == second["own"]["goodput_bps"] == 2.4e6
    assert second["own"]["from_s"] == 5.5
    assert (second["queue_drops"], second["link_drops"], second["duplicates"]) == (25, 5, 2)
    assert (second["timeouts"], second["rtt_ms"]["mean"]) == (4, 700.0)
    assert record["interval"] == {"from_s": 5.5, "over_s": 10.0}
    assert record["total_goodput_bps"] == 7.2e6
    assert record["jain"] == 0.9  # 7.2^2 / (2 (4.8^2 + 2.4^2))
    # Samples 50 (at 15.0 s) to 155 (at 25.5 s), 1000 bytes more each.
    assert record["queue"]["mean_bytes"] == 102_500.0
    assert record["queue"]["max_bytes"] == 155_000
    assert (record["queue"]["drops"], record["link_drops"], record["ack_drops"]) == (35, 15, 7)
    assert (record["losses"], record["needless_retransmits"], record["duplicates"]) == (50, 10, 5)
    assert json.loads(dumps(record)) == record


def test_a_sender_that_stops_early_ends_the_interval(tmp_path: Path) -> None:
    record = compute(tmp_path, two(tmp_path, end_us=24_500_000))
    assert record["interval"] == {"from_s": 5.5, "over_s": 9.0}
    assert [flow["goodput_bps"] for flow in record["flows"]] == [4.8e6, 2.4e6]
    told = two(tmp_path, end_us=15_400_000)
    with pytest.raises(RecordError, match="at the same time"):
        compute(tmp_path, told)


def test_shares_that_do_not_add_up_are_unknown(tmp_path: Path) -> None:
    told = two(tmp_path)
    fill(tmp_path, {"qdisc-bn.json": [qdisc("to-sat", 36)]})
    record = compute(tmp_path, told)
    assert [flow["queue_drops"] for flow in record["flows"]] == [None, None]
    assert [flow["link_drops"] for flow in record["flows"]] == [10, 5]
    (tmp_path / "link-bn.json").write_text("[]")
    with pytest.raises(RecordError, match="link-bn.json has no to-snd1"):
        compute(tmp_path, told)


def test_a_flow_that_got_nothing_through(tmp_path: Path) -> None:
    told = two(tmp_path)
    (tmp_path / "flow2.recv.json").write_text('{"bins": []}')
    record = compute(tmp_path, told)
    assert [flow["goodput_bps"] for flow in record["flows"]] == [4.8e6, 0]
    assert record["interval"]["from_s"] == 5.5  # its handshake's end instead of data
    assert record["jain"] == 0.5


def test_two_flows_with_iperf3(tmp_path: Path) -> None:
    told = two(tmp_path) | {"traffic": "iperf3"}
    (tmp_path / "events.log").write_text("flow1 start 10.0\nflow2 start 15.0\n")
    for n, megabytes in ((1, 0.6), (2, 0.3)):
        server = {"intervals": [{"sum": {"start": i, "end": i + 1.0, "bytes": megabytes * 1e6}}
                                for i in range(20)]}  # fmt: skip
        sent = {"bytes": 1000, "retransmits": n, "min_rtt": 500_000}
        client = {"start": {}, "intervals": [{"streams": [{"rtt": 600_000}]}] * 20,
                  "end": {"streams": [{"sender": sent}]}}  # fmt: skip
        named = {f"flow{n}.iperf3-server.json": server, f"flow{n}.iperf3-client.json": client}
        fill(tmp_path, named)
    record = compute(tmp_path, told)
    # 15.5 to 25.5 s: half of the second flow's first second came within half a second.
    assert [flow["goodput_bps"] for flow in record["flows"]] == [4.8e6, 2.52e6]
    assert [flow["retransmits"] for flow in record["flows"]] == [1, 2]
    assert record["t90_s"] is None


# --- table and figures ------------------------------------------------------------------------


def test_the_table_shows_each_of_two_flows(tmp_path: Path) -> None:
    record = compute(tmp_path, two(tmp_path))
    cells = dict(zip(*table.rows([record]), strict=True))
    assert [cells[name] for name in ("cc", "goodput Mbit/s", "flow 1", "flow 2", "Jain")] == [
        "star+reno", "7.200", "4.800", "2.400", "0.900",
    ]  # fmt: skip
    assert (cells["queue drops"], cells["link drops"], cells["timeouts"]) == ("35", "15", "5.0")
    assert (cells["least share"], cells["largest share"]) == ("0.67", "1.33")
    assert not {"least flow", "flow 1's share"} & cells.keys()
    third = record["flows"][1] | {"goodput_bps": 1.2e6}
    record["flows"] = [*record["flows"], third]
    cells = dict(zip(*table.rows([record]), strict=True))
    assert (cells["mean flow"], cells["least flow"]) == ("2.800", "1.200")
    assert "flow 1" not in cells
    assert cells["flow 1's share"] == "1.33"  # star beside two of reno


def test_shares_of_a_fair_one() -> None:
    """Each flow's goodput over the mean; their sum is their number."""
    assert jain([4.0, 2.0, 2.0]) == 0.8889  # 64 / (3 x 24)
    assert (jain([5.0, 5.0, 5.0]), jain([1.0, 0.0, 0.0, 0.0]), jain([0.0, 0.0])) == (1, 0.25, 1)
    assert fair_shares([6.0, 3.0, 3.0]) == [1.5, 0.75, 0.75]
    assert fair_shares([0.0, 8.0]) == [0.0, 2.0]
    assert fair_shares([0.0, 0.0]) == [1.0, 1.0]


ACK = "  <idle>-0  [000] ..s2.  {t}: {event}: sport=1 dport={port} cwnd={cwnd} bw={bw} state=open\n"


def run_of(folder: Path, trace: str) -> FinishedRun:
    """A finished run of two flows with this trace."""
    told = two(folder)
    (folder / "trace.txt").write_text(trace)
    (folder / "run.json").write_text(json.dumps({"meta": told}))
    (folder / "record.json").write_text(dumps(compute(folder, told)))
    return FinishedRun.load(folder)


def names(figure: plots.Figure) -> set[str]:
    return {text.get_text() for text in figure.axes[0].texts}


def test_figures_of_two_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        ACK.format(t=10.5, event="star_ack", port=5201, cwnd=300, bw=1_250_000),
        ACK.format(t=15.5, event="star_ack", port=5201, cwnd=400, bw=1_000_000),
        ACK.format(t=15.6, event="tcp_probe", port=5202, cwnd=80, bw=0)
        .replace("cwnd=", "snd_cwnd=").replace(" bw=0", ""),
    ]  # fmt: skip
    run = run_of(tmp_path / "mix", "".join(lines))
    assert (run.start_us, run.end_s) == (10_000_000, 15.5)
    window = over_time.window([run])
    assert {"flow1 star", "flow2 reno"} <= names(window)
    assert window.axes[0].get_xlim() == (0, 15.5)
    # 10 Mbit/s for 5 s, then 8 for 10 s; reno tells no estimate.
    assert "flow1 star, mean 8.67" in names(over_time.abe([run]))
    assert "flow1 star, mean 8.00" in names(over_time.abe([run], span=(6.0, 10.0)))
    assert {"flow1 star", "flow2 reno", "all flows"} <= names(over_time.goodput_time([run]))
    other = FinishedRun(run.raw, run.meta, run.record | {"seed": 2})
    assert names(over_time.window([run, other])) >= {
        f"star+reno seed {seed} flow{n}" for seed in (1, 2) for n in (1, 2)
    }
    blind = run_of(tmp_path / "none", lines[2].replace("5202", "5201") + lines[2])
    with pytest.raises(RecordError, match="trace=module"):
        over_time.abe([blind])
    monkeypatch.chdir(tmp_path)
    assert main.main(["plot", "abe", "mix", "-o", "abe.svg"]) == 0
    assert capsys.readouterr().out == "abe.svg\n"


def test_means_over_time() -> None:
    times, values = np.array([1.0, 3.0]), np.array([10.0, 20.0])
    assert over_time.mean_held(times, values, 0.0, 4.0) == pytest.approx(40 / 3)
    assert over_time.mean_held(times, values, 2.0, 4.0) == 15.0
