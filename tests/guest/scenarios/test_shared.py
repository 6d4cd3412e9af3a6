# SPDX-License-Identifier: GPL-2.0
"""satellite-shared in a real guest: flows share the link, drops are attributed to cause and flow.

Most flows have the oracle's constant window, so that their goodput is known.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

from apogee_lab.measures import traces
from apogee_lab.measures.raw import RawFolder
from apogee_lab.scenarios.testbed import frame_loss
from tests.guest.runs import Case, Run, close, measured, run_cases, runs_of

pytestmark = pytest.mark.guest

RTT = 0.504  # s: the hop's 250 ms and two wired links of 1 ms, both ways
FRAME, PAYLOAD = 1514, 1448  # bytes
BER = 1e-5


def shared(cc: str, duration_s: float, **values: object) -> Case:
    """A case; ``cwnd`` is the oracle's window."""
    cwnd = values.pop("cwnd", None)
    given = {**values, "constant.cwnd": str(cwnd)} if cwnd else values
    return Case(given, cc, duration_s, scenario="satellite-shared")


CASES = {
    # Without spread: else the later flow's window is still opening when the interval begins.
    "equal": shared("constant", 5, cwnd=200, spread=0.0),
    "apart": shared("constant", 6, cwnd=60, start=(0.0, 2.0), delays=(0.0, 0.1), spread=0.0),
    "errors": shared("constant", 6, cwnd=60, ber=BER),
    "tiny": shared("constant", 4, cwnd=300, queue=15_000),
    "modules": shared("star+j", 5, trace="module"),
    "probe": shared("reno", 3, trace="probe"),
    "return": shared("constant", 4, cwnd=200, ack_rate=50_000, ack_blackout=(2.0, 0.5)),
    "ipv6": shared("constant", 4, cwnd=50, ipv6=1, flows=3, data_blackout=(2.0, 0.5)),
}
IPERF3 = shared("constant", 5, cwnd=200, spread=0.0, traffic="iperf3")


runs = runs_of("satellite-shared", CASES)


def test_equal_flows_get_equal_shares(runs: dict[str, Run]) -> None:
    """200 segments each in a round trip, less than the link carries: 4.6 Mbit/s, no queue left.

    From 3 s on: the receive window opens over the first round trips.
    """
    run, record = runs["equal"], runs["equal"].record
    for flow in record["flows"]:
        arrivals = RawFolder(run.raw).arrivals(flow["name"])
        zero = float(arrivals.times[0])
        steady = arrivals.until(zero + 5e6) - arrivals.until(zero + 3e6)
        assert close(float(steady) * 8 / 2, 200 * PAYLOAD * 8 / RTT, 0.01)
        assert flow["window_bytes"]["mean"] == 200 * PAYLOAD
        assert flow["rtt_ms"]["min"] == pytest.approx(1e3 * RTT, abs=2)
        assert (flow["retransmits"], flow["timeouts"]) == (0, 0)
    assert record["jain"] > 0.999
    assert (record["queue"]["drops"], record["link_drops"], record["ack_drops"]) == (0, 0, 0)
    assert record["interval"]["over_s"] == 5


def test_starts_and_delays_are_each_flows_own(runs: dict[str, Run]) -> None:
    """The second flow: 2 s later, 100 ms farther away; 1.5 round trips until its first data.

    Its smallest RTT may hold a frame of the first flow, 1.2 ms.
    """
    run = runs["apart"]
    first, second = (run.json(f"flow{n}.send.json") for n in (1, 2))
    assert (second["syn_us"] - first["syn_us"]) / 1e6 == pytest.approx(2, abs=0.05)
    assert run.when("flow2", "start") - run.when("flow1", "start") == pytest.approx(2, abs=0.05)
    record = run.record
    near, far = record["flows"]
    assert far["rtt_ms"]["min"] - near["rtt_ms"]["min"] == pytest.approx(200, abs=1.25)
    assert far["own"]["from_s"] - near["own"]["from_s"] == pytest.approx(2.3, abs=0.05)
    assert record["interval"] == {"from_s": far["own"]["from_s"], "over_s": 6.0}
    assert far["own"]["goodput_bps"] == far["goodput_bps"]
    assert near["own"]["over_s"] == pytest.approx(6 + 2.3, abs=0.05)


def test_bit_errors_are_not_the_queues(runs: dict[str, Run]) -> None:
    """With bit errors only, losses follow from the frames' length, and the queue drops nothing."""
    record = runs["errors"].record
    assert record["queue"]["drops"] == 0
    for flow in record["flows"]:
        assert flow["queue_drops"] == 0
        loss = frame_loss(BER, FRAME)
        low, high = stats.binom.interval(0.999, flow["segments"], loss)
        assert low <= flow["link_drops"] <= high
    assert sum(flow["link_drops"] for flow in record["flows"]) == record["link_drops"]
    assert record["ack_drops"] > 0


def test_a_short_queue_is_not_bit_errors(runs: dict[str, Run]) -> None:
    """Ten packets for bursts of 300: only the queue drops frames, and each flow has its share.

    Each lost frame is sent again, except those in flight at the end.
    """
    record = runs["tiny"].record
    assert record["link_drops"] == record["ack_drops"] == 0
    shares = [flow["queue_drops"] for flow in record["flows"]]
    assert sum(shares) == record["queue"]["drops"] > 100
    assert min(shares) > 0
    for flow in record["flows"]:
        assert flow["link_drops"] == 0
        assert flow["queue_drops"] - 300 <= flow["retransmits"] <= flow["queue_drops"]
    assert record["queue"]["max_bytes"] <= 10 * FRAME


def test_traces_hold_every_flow(runs: dict[str, Run]) -> None:
    """The window and the estimate of both flows, each by its own event."""
    run = runs["modules"]
    assert run.record["flows"][0]["cc"] == "star"
    for port, event in ((5201, "star_ack"), (5202, "j_ack")):
        series = traces.by_port(run.raw / "trace.txt", [port])[port]
        assert series.keys() - {"star_aen"} == {event}
        assert len(series[event]["cwnd"]) > 100
        assert series[event]["bw"].max() * 8 > 1e6
    for port in (5201, 5202):
        series = traces.by_port(runs["probe"].raw / "trace.txt", [port])[port]
        assert series.keys() == {"tcp_probe"}
        assert len(series["tcp_probe"]["snd_cwnd"]) > 10


def test_one_return_path_for_all(runs: dict[str, Run]) -> None:
    """50 kbit/s carry 95 ACKs of 66 B per second of all flows together; the rest is dropped."""
    run = runs["return"]
    (path,) = [q for q in run.json("qdisc-bn.json") if q["dev"] == "ack-path"]
    spent = run.sent["end_us"] - run.sent["syn_us"]
    assert 0.5 * 50e3 < path["bytes"] * 8 / (spent / 1e6) < 50e3
    assert path["drops"] > 0
    assert run.record["blackout"]["direction"] == "ack"
    assert run.record["ack_drops"] > 0, "the blackout's"


def test_ipv6_and_a_data_blackout(runs: dict[str, Run]) -> None:
    """Three flows move data; frames dropped by the blackout count for the link, not for a flow."""
    record = runs["ipv6"].record
    for flow in record["flows"]:
        assert 0.3 < flow["goodput_bps"] / (50 * PAYLOAD * 8 / RTT) < 1
    assert record["blackout"]["direction"] == "data"
    assert record["link_drops"] > 0
    assert record["queue"]["drops"] == 0
    assert [flow["queue_drops"] for flow in record["flows"]] == [None] * 3


@pytest.mark.deep
def test_iperf3_agrees(runs: dict[str, Run], build: Path) -> None:
    """Within 5 % of the lab's own tool, as iperf3 counts once a second."""
    theirs = run_cases(build, "shared-iperf3", {"iperf3": IPERF3}, extras=["iperf3"])["iperf3"]
    for one, other in zip(theirs.record["flows"], runs["equal"].record["flows"], strict=True):
        assert close(one["goodput_bps"], other["goodput_bps"], 0.05)


@pytest.mark.uml
@pytest.mark.deep
def test_one_against_forty_nine(kept: Path, tmp_path: Path) -> None:
    """Fifty flows named by --cc: each has its share, and each drop belongs to one flow."""
    errors = ("--set", "ber=1e-6", "--set", "ack_ber=0", "--set", "queue=75kB")
    mix = ("--cc", "constant+49*reno", "--set", "constant.cwnd=20", *errors, "--duration", "5")
    (record,) = measured(tmp_path / "r.jsonl", *mix, scenario="satellite-shared")
    flows = record["flows"]
    assert record["cc"] == "constant+49*reno"
    assert [flow["cc"] for flow in flows] == ["constant", *["reno"] * 49]
    rates = [flow["goodput_bps"] for flow in flows]
    assert sum(rates) == pytest.approx(record["total_goodput_bps"], abs=1)
    assert sum(rates) > 0.8 * record["limit_bps"]
    squares = sum(rate**2 for rate in rates)
    assert record["jain"] == pytest.approx(sum(rates) ** 2 / (50 * squares), abs=1e-4)
    assert sum(flow["fair_share"] for flow in flows) == pytest.approx(50, abs=0.01)
    assert flows[0]["window_bytes"] == {"mean": 20 * PAYLOAD, "min": 20 * PAYLOAD,
                                        "max": 20 * PAYLOAD}  # fmt: skip
    assert sum(flow["queue_drops"] for flow in flows) == record["queue"]["drops"] > 0
    assert sum(flow["link_drops"] for flow in flows) == record["link_drops"] > 0
