# SPDX-License-Identifier: GPL-2.0
"""Moving paths in a real guest: the effect of each event, compared with calculated values.

The flow has the oracle's constant window, so that the packets in flight and in the queue are known.
Frames have 1514 bytes, 1448 of them payload, except those of the handshake.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from apogee_lab.scenarios import bursts
from tests.guest.runs import Case, Run, close, parsed, run_cases

pytestmark = [pytest.mark.guest, pytest.mark.uml]

FRAME, PAYLOAD = 1514, 1448  # bytes
BITS = 8 * FRAME
SHARE = PAYLOAD / FRAME
CHANCE = 8 * 1500  # bits of IP that an opportunity of a rate trace carries

HIGH, LOW = 80, 1  # Mbit/s
FALL_S, RISE_S, TURN_S = 3.0, 5.0, 8.0  # when it falls, within 50 ms, when it rises, where it ends
CLIFF_DELAY, CLIFF_WINDOW = 0.02, 500  # s one way, segments
PINGS = 400
EVERY_S, BAD_S = 0.5, 0.05


def moved(cwnd: int, duration_s: float, scenario: str = "satellite", **texts: str) -> Case:
    """A case with parameters as text, as on the command line."""
    values = parsed(scenario, texts)
    return Case(values | {"constant.cwnd": str(cwnd)}, "constant", duration_s, scenario=scenario)


def cliff(path: Path) -> Path:
    """A trace at HIGH that falls to LOW within 50 ms and rises as fast."""
    times, sent = [], 0.0
    for ms in range(1, int(1e3 * TURN_S) + 1):
        at = ms / 1e3
        down = min(max((at - FALL_S) / 0.05, 0), 1) - min(max((at - RISE_S) / 0.05, 0), 1)
        sent += (HIGH - (HIGH - LOW) * down) * 1e3 / (8 * 1500)
        times += [ms] * (int(sent) - len(times))
    path.write_text("".join(f"{ms}\n" for ms in times))
    return path


@pytest.fixture(scope="module")
def runs(modules: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("traces")
    trace = str(cliff(folder / "cliff"))
    saw = folder / "saw"  # 40 ms, every second for 200 ms 140 ms, from there down within 100 ms
    saw.write_text("".join(f"{ms}\n" for ms in [40] * 70 + [140] * 20 + [*range(130, 30, -10)]))
    ping = f"ip netns exec snd ping -c {PINGS} -i 0.05 10.0.3.2 >$OUT/ping"
    delay = {"delay": f"{CLIFF_DELAY}s"}
    alone = {"flows": "1", "wired_rate": "0", "wired_delay": "0"}  # satellite's path; counts more
    cases = {
        "cliff": moved(CLIFF_WINDOW, 7.5, rate_trace=trace, queue="1.5MB", **delay),
        "short": moved(
            CLIFF_WINDOW, 4.5, "satellite-shared", rate_trace=trace, queue="75kB", **alone, **delay
        ),
        "saw": moved(100, 10, delay_trace=str(saw), ack_ber="1e-5"),
        "rate": moved(800, 9, event="rate:4mbit@3s:3s", queue="2MB"),
        "delay": moved(100, 8, event="delay:300ms@3s:2s"),
        "stall": moved(600, 6, event="stall@3s:300ms", trace="probe"),
        "outage": moved(100, 6, event="outage@3s:1s", delay="50ms"),
        "loss": moved(150, 10, event="loss:10%@3s:5s", rate="50mbit", delay="20ms"),
        "burst": moved(150, 10, burst="1%:25%", rate="50mbit", delay="10ms"),
        "bad": moved(150, 10, burst_time=f"{EVERY_S}s:{BAD_S}s", delay="50ms"),
        "slow": moved(100, 4, event="rate:4mbit@0s+delay:50ms@0s"),
        "lossy": moved(150, 6, event="loss:10%@0s", rate="50mbit", delay="20ms"),
        "radio": moved(
            20, 4, "radio", segment="0", window="0", event="rate:1mbit@0s+delay:20ms@0s"
        ),
        "held": moved(20, 3, "multipath", via="plain", window="0", event="outage@0s:800ms"),
        "policer": moved(
            100, 10, "satellite-shared", policer="100kB", rate="2mbit", delay="50ms", **alone
        ),
        "shared": moved(
            200, 5, "satellite-shared", event="rate:4mbit@3s+stall@2s:50ms+queue:15kB@4s",
            queue="30kB",
            delay="50ms",
        ),
        "lfn": moved(
            200, 5, "lfn", n="1", reno="0", spread="0s", rate="20mbit", event="rate:4mbit@3s",
        ),
        "jitter": Case(
            {"jitter": 0.01, "jitter_mean": 0.03, "constant.cwnd": "2"}, "constant", 22.0,
            beside=ping,
        ),
    }  # fmt: skip
    return run_cases(build, "moving", cases)


def frames_queued(run: Run, start_s: float, end_s: float) -> np.ndarray:
    """Full frames in the bottleneck's queue between two times after the first SYN."""
    times, sizes = run.queue
    at = times - run.sent["syn_us"] / 1e6
    return sizes[(at >= start_s) & (at <= end_s)] / FRAME


def in_order(run: Run) -> bool:
    """Whether the receiver never queued an out-of-order segment."""
    received = run.json("nstat-rcv.json")["kernel"]
    return received["TcpExtTCPOFOQueue"] == 0 and received["TcpExtTCPDSACKOldSent"] == 0


def rtts(run: Run, start_s: float, end_s: float) -> list[float]:
    """Smoothed RTTs in s between two times after the first SYN."""
    syn = run.sent["syn_us"]
    pairs = zip(run.column("t_us"), run.column("rtt"), strict=True)
    return [rtt / 1e6 for t, rtt in pairs if start_s <= (t - syn) / 1e6 <= end_s]


def test_the_queue_of_a_cliff(runs: dict[str, Run]) -> None:
    """Of a window of 500 segments, those that the path does not hold are in the queue.

    The path holds 80 Mbit/s x 40 ms = 267 segments, and 3.3 at 1 Mbit/s. They leave at full ms, so
    that those of one or two more are under way, and an ACK waits for a second segment. The path is
    full again two round trips after each change.
    """
    run = runs["cliff"]
    path_s = 2 * CLIFF_DELAY
    for start_s, end_s, rate in (
        (1.5, FALL_S, HIGH),
        (FALL_S + 0.05 + 2 * path_s, RISE_S, LOW),
        (RISE_S + 0.05 + 2 * path_s, TURN_S, HIGH),
    ):
        each_ms = 1e3 * rate / CHANCE
        held = 1e3 * path_s * each_ms
        queue = frames_queued(run, start_s, end_s)
        assert len(queue) >= 10
        assert np.all(queue <= CLIFF_WINDOW - held + 3), (start_s, queue)
        assert np.all(queue >= CLIFF_WINDOW - held - 3 - 2 * each_ms), (start_s, queue)
    assert run.record["queue"]["drops"] == 0


def test_what_passes_a_cliff(runs: dict[str, Run]) -> None:
    """Data arrives at 80, 1 and 80 Mbit/s, in order."""
    run = runs["cliff"]
    for start_s, end_s, rate in ((1.5, 3.0, HIGH), (3.2, 5.0, LOW), (5.2, 7.0, HIGH)):
        passed = run.rate_between(start_s, end_s) * (end_s - start_s) / (8 * PAYLOAD)
        assert passed == pytest.approx(1e6 * rate * (end_s - start_s) / CHANCE, abs=2, rel=0.005)
    assert in_order(run)
    assert run.record["flows"][0]["retransmits"] == 0


def test_the_queue_of_a_cliff_is_no_longer_than_asked(runs: dict[str, Run]) -> None:
    """50 packets at any rate; others are dropped there and nowhere else."""
    run = runs["short"]
    queue = frames_queued(run, 0, 4.5)
    assert queue.max() <= 50
    assert frames_queued(run, 3.2, 4.5).max() >= 49
    record = run.record
    assert record["queue"]["drops"] > 100
    assert record["link_drops"] == 0
    assert record["flows"][0]["queue_drops"] == record["queue"]["drops"], "by the devices' counts"


def test_a_delay_that_falls_reorders_nothing(runs: dict[str, Run]) -> None:
    """From 140 to 40 ms within 100 ms, ten times. ACKs of different lengths, as some are lost."""
    run = runs["saw"]
    assert in_order(run)
    assert run.record["flows"][0]["retransmits"] == 0
    assert run.record["ack_drops"] > 0
    assert run.record["flows"][0]["rtt_ms"]["min"] == pytest.approx(80, abs=3)
    assert max(rtts(run, 1, 10)) > 0.15


def test_a_step_of_the_rate(runs: dict[str, Run]) -> None:
    """800 segments keep 10 Mbit/s full. What passes at 3 s arrives 250 ms later."""
    run = runs["rate"]
    for start_s, end_s, rate in ((2, 3.24, 10e6), (3.26, 6.24, 4e6), (6.27, 9, 10e6)):
        assert close(run.rate_between(start_s, end_s), rate * SHARE, 0.01)
    assert run.record["queue"]["drops"] == 0
    assert run.record["limit_bps"] == pytest.approx(8e6 * SHARE)


def test_a_step_of_the_delay(runs: dict[str, Run]) -> None:
    """500, 600 and again 500 ms, without reordering."""
    run = runs["delay"]
    assert min(rtts(run, 1, 3)) == pytest.approx(0.5, abs=0.02)
    assert min(rtts(run, 4, 5)) == pytest.approx(0.6, abs=0.02)
    assert min(rtts(run, 6.5, 8)) == pytest.approx(0.5, abs=0.02)
    assert in_order(run)
    assert run.record["flows"][0]["retransmits"] == 0


def test_a_stall_lets_all_go_at_once(runs: dict[str, Run]) -> None:
    """600 segments keep the link full, so ACKs arrive evenly. None arrives during the stall; those
    held, as many as usual in 300 ms, arrive within a millisecond (± one ACK interval)."""
    run = runs["stall"]
    begin = run.sent["syn_us"] / 1e6 + 3.0
    times = np.array([event["t"] for event in run.traced("tcp_probe")])
    before, after = times[times < begin + 0.15].max(), times[times > begin + 0.15].min()
    assert before <= begin + 0.005
    assert after - begin == pytest.approx(0.3, abs=0.005)
    held = np.sum((times >= after) & (times < after + 0.001))
    usual = np.sum((times >= begin - 1) & (times < begin)) * 0.3
    assert held == pytest.approx(usual, abs=3, rel=0.02)
    assert np.sum((times > before) & (times < after)) == 0


def test_an_outage_takes_all_both_ways(runs: dict[str, Run]) -> None:
    """For a second nothing arrives except frames already on the hop; both directions lose."""
    run = runs["outage"]
    assert run.rate_between(3.06, 4.05) == 0
    assert run.rate_between(2, 3) > 0
    assert run.rate_between(4.05, 6) > 0
    assert set(run.column("snd_cwnd")) == {100}, "the oracle's window stays over timeouts"
    record = run.record
    assert record["link_drops"] > 0
    assert record["ack_drops"] > 0
    assert record["queue"]["drops"] == 0


def within(found: float, share: float, count: float, spread: float = 1.0) -> bool:
    """Whether a measured share is within 4 standard deviations (exceeded once in 15 000 times).

    ``spread`` is the factor by which bursts raise the variance.
    """
    return abs(found - share) <= 4 * math.sqrt(spread * share * (1 - share) / count)


def test_a_step_of_the_loss(runs: dict[str, Run]) -> None:
    """10 % of what enters the hop in the five seconds; nothing in the other five."""
    run = runs["loss"]
    (ifb,) = [q for q in run.json("qdisc-sat.json") if q["dev"] == "data-hop" and "root" in q]
    drops = ifb["drops"]
    assert run.record["link_drops"] == drops
    assert run.record["queue"]["drops"] == 0
    syn = run.sent["syn_us"]
    arrived = (run.arrivals.until(syn + 8.02e6) - run.arrivals.until(syn + 3.02e6)) / PAYLOAD
    assert within(drops / (drops + arrived), 0.1, drops + arrived, spread=2), "holes fill in later"
    assert run.record["flows"][0]["timeouts"] == 0 or drops > 0


def test_burst_loss_has_its_share(runs: dict[str, Run]) -> None:
    """P / (P + R); its variance is (1 + l) / (1 - l) times an even one's, l = 1 - P - R."""
    run = runs["burst"]
    segments = run.record["flows"][0]["segments"]
    into, out = 0.01, 0.25
    left = 1 - into - out
    share = run.record["link_drops"] / segments
    assert segments > 10_000
    assert within(share, into / (into + out), segments, (1 + left) / (1 - left))


def test_bad_times_lose_what_is_on_the_hop_in_them_and_nothing_else(runs: dict[str, Run]) -> None:
    """150 segments are more than the path holds, 83, so that the link sends all the time, but while
    TCP waits for an ACK of what it has lost: no more is lost than the link sends in bad times, and
    a frame at each end."""
    run = runs["bad"]
    sends_s = (run.sent["end_us"] - run.sent["syn_us"]) / 1e6
    values = {"burst_time": (EVERY_S, BAD_S), "seed": 1}
    spans = [span for span in bursts.bad_times(values, sends_s) if span[0] < sends_s]
    most = sum((end - begin) * 10e6 / BITS + 2 for begin, end in spans)
    assert 0.5 * most < run.record["link_drops"] <= most
    assert run.record["queue"]["drops"] == 0
    assert run.record["ack_drops"] == 0


def test_what_holds_from_the_first_syn_on(runs: dict[str, Run]) -> None:
    """Rate, delay and losses are those of the events from the first frame to the last."""
    slow = runs["slow"]
    assert close(slow.rate_between(0.5, 4), 4e6 * SHARE, 0.01)
    assert slow.record["flows"][0]["rtt_ms"]["min"] == pytest.approx(100, abs=4)
    assert slow.record["limit_bps"] == pytest.approx(4e6 * SHARE)
    lossy = runs["lossy"].record
    assert within(lossy["link_drops"] / lossy["flows"][0]["segments"], 0.1,
                  lossy["flows"][0]["segments"])  # fmt: skip
    radio = runs["radio"]
    assert close(radio.rate_between(0.5, 4), 1e6 * SHARE, 0.01)
    assert radio.record["flows"][0]["rtt_ms"]["min"] < 2 * 20 + 8 * 2 * FRAME / 1e3
    held = runs["held"]
    first_s = (float(held.arrivals.times[0]) - held.sent["syn_us"]) / 1e6
    assert first_s >= 0.8 + 3 * 0.15


def test_a_policer_passes_depth_and_rate(runs: dict[str, Run]) -> None:
    """100 segments in 100 ms are six times the rate, and all beyond the bucket is dropped. Passed:
    never more than 100 kB and 2 Mbit/s and a frame, and 95 % of it while more is offered."""
    run = runs["policer"]
    record = run.record
    (root,) = [q for q in run.json("qdisc-bn.json") if q["kind"] == "htb"]
    seconds = (run.sent["end_us"] - run.sent["syn_us"]) / 1e6
    most = 100_000 + 2e6 / 8 * seconds
    assert 0.95 * most <= root["bytes"] <= most + FRAME
    drops = record["queue"]["drops"]
    assert drops > 100
    assert record["flows"][0]["queue_drops"] == drops, "by the devices' counts"
    assert frames_queued(run, 0, 10).max() <= 2
    assert record["link_drops"] == 0


def test_several_flows_and_a_rate_that_falls(runs: dict[str, Run]) -> None:
    """The shares of the queue's drops still add up, flow by flow. 20 packets, then 10."""
    record = runs["shared"].record
    assert record["queue"]["drops"] > 0
    assert sum(flow["queue_drops"] for flow in record["flows"]) == record["queue"]["drops"]
    assert all(flow["link_drops"] == 0 for flow in record["flows"])
    assert frames_queued(runs["shared"], 3, 4).max() > 15
    assert 5 <= frames_queued(runs["shared"], 4.1, 5).max() <= 10, "the queue moved, too"


def test_lfns_shared_link_moves(runs: dict[str, Run]) -> None:
    """200 segments in 70 ms are more than both rates."""
    run = runs["lfn"]
    assert close(run.rate_between(2, 3), 20e6 * SHARE, 0.01)
    assert close(run.rate_between(3.1, 5), 4e6 * SHARE, 0.02)


def test_jitter_has_its_mean_and_deviation(runs: dict[str, Run]) -> None:
    """Pings 50 ms apart, which nothing can bring closer than they are drawn: 530 ± 10 ms.

    The deviation of a sample of an even distribution deviates by sqrt(.8 / 4 n) of itself.
    """
    text = runs["jitter"].text("ping")
    times = np.array([float(t) for t in re.findall(r"time=([\d.]+)", text)])
    assert len(times) > 0.9 * PINGS
    assert times.mean() == pytest.approx(530, abs=4 * 10 / math.sqrt(len(times)) + 1)
    assert times.std() == pytest.approx(10, rel=4 * math.sqrt(0.8 / 4 / len(times)))
    assert times.max() <= 530 + 17.4 + 2
    assert times.min() >= 530 - 17.4


@pytest.mark.deep
def test_iperf3_moves_too(build: Path, modules: Path) -> None:
    """Events replayed by the shell. iperf3 counts whole seconds; 200 segments are in the queue."""
    case = moved(200, 6, event="rate:2mbit@3s", delay="50ms", traffic="iperf3")
    record = run_cases(build, "moving-iperf3", {"iperf3": case})["iperf3"].record
    found = record["limit_bps"]
    assert close(found, (2.9 * 10e6 + 3.1 * 2e6) / 6 * SHARE, 1e-6)
    assert close(record["total_goodput_bps"], found, 0.1)


#: Shell: kill what waits for a change 2 s after the first SYN.
KILLED = """\
sleep 0.5
for p in /proc/[0-9]*; do
	if tr '\\0' ' ' <$p/cmdline | grep -qs '^sleep 2.000000'; then
		kill -9 $(sed -n 's/^PPid:.//p' $p/status)
	fi
done
"""


def test_a_run_with_iperf3_fails_whose_changes_are_not_played(build: Path, modules: Path) -> None:
    case = moved(5, 3, event="rate:2mbit@2s", delay="5ms", traffic="iperf3")
    with pytest.raises(AssertionError, match="rate: what moves the path has died"):
        run_cases(build, "moving-killed", {"killed": replace(case, beside=KILLED)})
