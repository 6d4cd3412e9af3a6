# SPDX-License-Identifier: GPL-2.0
"""The scenario lfn without a guest: its script, bad input, and its own keys of records."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures.record import RecordError
from apogee_lab.runs import request
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Plan
from tests.unit.lab.raw_folders import T0_US, bins, compute, fill, link, meta, qdisc, send_log
from tests.unit.lab.stand_ins import delays, sends

LFN = SCENARIOS["lfn"]
SHARE = 1448 / 1514  # payload of a frame


def compiled(cc: str = "star", duration_s: float = 60.0, **values: Any) -> Plan:
    """The plan for these values."""
    return LFN.compile(values, cc, duration_s)


def script(cc: str = "star", **values: Any) -> str:
    """The script for these values."""
    return compiled(cc, **values).script


def tc_weight(burst: int, least: int, packet: int) -> int:
    """How tc finds the weight of RED's average, a power of two, from the burst (its tc_red.c)."""
    wanted = burst + 1 - least / packet
    return next(
        log for log in range(1, 32) if wanted <= (1 - (1 - 0.5**log) ** burst) / 0.5**log
    )  # fmt: skip


# --- the script -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "reno"), [(2, 10), (1, 0), (0, 3), (20, 20)])
def test_hosts_and_flows(n: int, reno: int) -> None:
    """Each flow has two hosts, a slower one a switch too; there are two routers."""
    plan = compiled(n=n, reno=reno)
    names = [f"fast{i}" for i in range(1, n + 1)] + [f"reno{i}" for i in range(1, reno + 1)]
    assert [flow.name for flow in plan.flows] == names
    assert [call.flow for call in sends(plan.script)] == names
    made = re.findall(r"^for ns in (.*); do echo netns add", plan.script, re.M)[0].split()
    assert len(set(made)) == len(made) == 2 + 2 * n + 3 * reno
    assert [flow.group for flow in plan.flows] == ["fast"] * n + ["reno"] * reno
    assert [flow.port for flow in plan.flows] == list(range(5201, 5201 + n + reno))


def test_what_the_measures_are_told_of_a_flow() -> None:
    fast, slower = (flow.facts() for flow in compiled(n=1, reno=1, reno_cc="cubic").flows)
    assert fast == {
        "name": "fast1", "cc": "star", "netns": "fast1", "port": 5201, "group": "fast",
        "receiver_ns": "fast1-rcv", "entry": ["ra", "to-fast1"], "exit": ["rb", "to-fast1-rcv"],
    }  # fmt: skip
    assert slower == {
        "name": "reno1", "cc": "cubic", "netns": "reno1", "port": 5202, "group": "reno",
        "receiver_ns": "reno1-rcv", "entry": ["ra", "to-lan1"], "exit": ["rb", "to-reno1-rcv"],
        "switch": ["lan1", "to-ra"],
    }  # fmt: skip


def test_each_algorithm_goes_to_its_senders() -> None:
    plan = compiled("star+cubic", reno=2, reno_cc="bbr")
    assert [flow.cc for flow in plan.flows] == ["star", "cubic", "bbr", "bbr"]
    assert [call.cc for call in sends(plan.script)] == ["star", "cubic", "bbr", "bbr"]
    assert re.findall(r"^modprobe (\w+)", plan.script, re.MULTILINE) == ["tcp_star", "tcp_bbr"]
    assert script("star") == script("star+star")
    ours = compiled("cubic", reno=2, reno_cc="star")
    assert request.brought_modules(SCENARIOS["lfn"], [ours]) == ["tcp_star"]


def test_every_empty_path_takes_70_ms() -> None:
    """Both directions add up to 70 ms, and there are no other delay lines."""
    found = delays(script(n=2, reno=2))
    paths = []
    for host in ("fast1", "fast2", "reno1", "reno2"):
        lan = host.replace("reno", "lan")
        data = [("ra", "to-rb"), ("rb", f"to-{host}-rcv")]
        acks = [(f"{host}-rcv", "to-rb"), ("rb", "to-ra"), ("ra", f"to-{lan}")]
        own = [(host, "to-ra"), (host, f"to-{lan}"), (lan, "to-ra"), (lan, f"to-{host}")]
        paths.append([*own, *data, *acks])
    assert [sum(found.get(place, 0) for place in path) for path in paths] == [70_000] * 4
    assert set(found) <= {place for path in paths for place in path}


def test_delays_are_where_the_drawing_says() -> None:
    """A host's delay of both directions is on the return path, far_delay behind the shared link."""
    found = delays(script(n=1, reno=1, host_delay=0.003, delay=0.05, far_delay=0.02))
    assert found == {
        ("ra", "to-fast1"): 6000, ("ra", "to-lan1"): 6000, ("rb", "to-ra"): 70_000,
        ("rb", "to-fast1-rcv"): 70_000, ("rb", "to-reno1-rcv"): 70_000,
    }  # fmt: skip


def test_rates_and_queues() -> None:
    text = script(n=1, reno=1, rate=10**8, queue=417, host_rate=2 * 10**7, reno_rate=10**7,
                  reno_queue=20)  # fmt: skip
    for line in (
        "tc -n fast1 qdisc add dev to-ra root tbf rate 20000000bit burst 3028b limit 1514000b",
        "tc -n lan1 qdisc add dev to-ra root netem rate 10000000bit limit 20",
        "tc -n ra qdisc add dev to-rb root netem rate 100000000bit limit 417",
    ):
        assert f"{line}\n" in text
    assert "limit 50\n" in script()  # ns-2's default


def test_the_limit_is_what_all_links_can_carry() -> None:
    plan = compiled()
    assert plan.limit_bps == pytest.approx(1e9 * SHARE)
    assert (plan.rate_bps, plan.paths[0].bdp_bytes) == (10**9, 8_750_000)  # 1 Gbit/s x 70 ms
    alone = compiled(n=1, reno=0, rate=10**8, host_rate=5 * 10**7)
    assert alone.limit_bps == pytest.approx(5e7 * SHARE)
    assert compiled(n=0, reno=3).limit_bps == pytest.approx(3e8 * SHARE)


@pytest.mark.parametrize("queue", [3, 10, 100, 4167, 20_000, 84_544])
def test_red_is_one_the_kernel_takes(queue: int) -> None:
    """Its average has 32 bits, for the maximum and the weight; tc refuses a maximum probability of
    0.02 over more than 2^31 bytes of queue."""
    given = re.search(r"red limit (\d+) min (\d+) max (\d+) .* burst (\d+)", script(
        aqm="red", queue=queue))  # fmt: skip
    assert given
    limit, least, most, burst = map(int, given.groups())
    assert limit == queue * 1514
    assert 1514 <= least <= most
    weight = tc_weight(burst, least, 1514)
    assert most.bit_length() + weight < 32
    assert (most - least) < 0.02 * 2**31
    if queue >= 100:
        assert most == limit // 2
        assert (limit // 6 - least) in (0, 1)
    if queue == 4167:
        assert weight == 9, "ns-2's"


def test_names_and_addresses_of_the_most_flows() -> None:
    """A device's name has room for 15 characters."""
    for ipv6 in (0, 1):
        text = script(n=20, reno=20, ipv6=ipv6)
        devices = re.findall(r"(?:^link add|peer name) (\S+) netns (\S+)", text, re.MULTILINE)
        assert len(set(devices)) == len(devices) == 2 * (1 + 2 * 20 + 3 * 20)
        assert max(len(name) for name, _ in devices) <= 15
        for pattern in (r"addr add (\S+)/\d+ ", r" address (\S+) (?:type|$)"):
            found = re.findall(pattern, text, re.MULTILINE)
            assert len(set(found)) == len(found) >= len(devices) / 2


def test_starts() -> None:
    def starts(**values: Any) -> list[float]:
        return [call.start_s for call in sends(script(reno=2, **values))]

    assert starts() == [0, 0, 0, 0]
    assert starts(start=(0.0, 10.0)) == [0, 10, 0, 0]
    assert starts(reno_start=(5.0,)) == [0, 0, 5, 5]
    assert starts(reno_start=(5.0, 7.0)) == [0, 0, 5, 7]
    assert starts(n=1, start=(10.0,)) == [10, 0, 0]


def test_senders_go_on_until_the_last_flow_has_had_its_time() -> None:

    def seconds(**values: Any) -> set[float]:
        return {round(call.seconds, 2) for call in sends(script(**{"spread": 0.0, **values}))}

    # Alone: two round trips and 0.1 s.
    assert seconds(n=1, reno=0) == {60.24}
    # Others may fill the queue (4167 x 1514 B, 50 ms) before SYN and data, or the SYN is lost.
    assert seconds() == {61.44}
    assert seconds(rate=10**8) == {62.35}
    assert seconds(spread=5.0) == seconds(warmup=5.0) == {66.44}
    assert seconds(reno=0, start=(0.0, 10.0)) == {71.44, 61.44}


def test_spread_is_random_and_no_longer_than_asked() -> None:
    """The script's own lines, run by the shell with starts of 5 s and one of 7 s."""
    text = script(n=8, reno=0, spread=0.5, start=(7.0, *[5.0] * 7))
    lines = re.findall(r"^(?:late\(\)|start_|first=).*$", text, re.MULTILINE)
    tell = "for i in 1 2 3 4 5 6 7 8; do eval echo \\$start_fast$i; done; echo $first"
    said = subprocess.check_output(["sh", "-c", "\n".join([*lines, tell])], text=True)
    late, *times, first = [float(word) for word in said.split()]
    assert 7 <= late < 7.5
    assert len(times) == 7
    assert all(5 <= time < 5.5 for time in times)
    assert len(set(times)) > 4
    assert first == min(times)
    assert "late()" not in script(spread=0.0)


def test_warmup_is_noted_after_the_last_start() -> None:
    text = script(warmup=20.0, start=(0.0, 10.0), reno=1)
    # 10 s the last start, up to 1 s late, one round trip of the empty path.
    assert "\tsleep 31.07\n\tnote warmup off\n\tfor ns in fast1 fast2 reno1; do " in text
    assert "warmup" not in script()


# --- records ----------------------------------------------------------------------------------

FLOWS = [flow.facts() for flow in compiled("star+cubic", reno=1).flows]
WARM = "queue_sampling on 10.0\nwarmup off 15.5\n"
#: Bytes in 10 ms before 15.5 s and from then on, retransmits then and in all, timeouts likewise.
SENT = {
    "fast1": ((9000, 6000), (150, 200), (3, 4)),
    "fast2": ((1000, 3000), (100, 100), (0, 2)),
    "reno1": ((5000, 1000), (20, 30), (1, 1)),
}


def dropped(time: float) -> int:
    """Frames the shared queue had dropped by a time."""
    return 100 * (time >= 12) + 100 * (time >= 15) + 30 * (time >= 15.5) + 20 * (time >= 20)


def three(raw: Path, events: str = WARM) -> dict[str, Any]:
    """The raw folder of three flows that begin together, and the plan's facts about them.

    Data from 10.5 to 26.2 s. The queue's last drops, 260 in all, come after its last sample.
    """
    files: dict[str, Any] = {}
    for flow, (rates, retransmits, timeouts) in SENT.items():
        times = range(T0_US, 26_200_000, 100_000)
        samples = [[t, 10, 80_000, retransmits[t > 15_500_000]] for t in times]
        info = {"min_rtt": 70_000, "total_retrans": retransmits[1], "data_segs_out": 9999,
                "snd_mss": 1000}  # fmt: skip
        files |= {
            f"{flow}.send.json": send_log(samples=samples, info=info, end_us=26_200_000),
            f"{flow}.recv.json": {
                "bins": bins((10.5, 15.5, rates[0]), (15.5, 26.2, rates[1])),
            },
            f"warmup-{flow}.json": {"kernel": {"TcpExtTCPTimeouts": timeouts[0]}},
            f"nstat-{flow}.json": {"kernel": {"TcpExtTCPTimeouts": timeouts[1],
                                              "TcpExtTCPMemoryPressures": 0}},
        }  # fmt: skip
    queue = [
        f"{time} " + json.dumps([{"dev": "to-rb", "root": True, "backlog": 1000 * (time < 15.5),
                                  "drops": dropped(time)}])
        for time in (tenth / 10 for tenth in range(100, 262))
    ]  # fmt: skip
    files |= {
        "queue.jsonl": "\n".join(queue) + "\n",
        "events.log": events,
        "qdisc-ra.json": [qdisc("to-rb", 260)],
        "qdisc-rb.json": [qdisc("to-fast1-rcv", 5), qdisc("to-ra", 0)],
        "qdisc-lan1.json": [qdisc("to-ra", 7)],
        # 1000, 500 and 300 frames came; 850, 410 and 280 entered the hop.
        "link-ra.json": [link("to-fast1", 1000, 1), link("to-fast2", 500, 1),
                         link("to-lan1", 300, 1)],
        "link-rb.json": [link("to-fast1-rcv", 1, 845), link("to-fast2-rcv", 1, 410),
                         link("to-reno1-rcv", 1, 280)],
    }  # fmt: skip
    fill(raw, files)
    return meta(scenario="lfn", cc="star+cubic", flows=FLOWS, bottleneck=["ra", "to-rb"],
                limit_bps=10e6, data_links=[flow["exit"] for flow in FLOWS],
                ack_links=[["rb", "to-ra"]])  # fmt: skip


def test_a_record_leaves_the_warm_up_out(tmp_path: Path) -> None:
    record = compute(tmp_path, three(tmp_path))
    assert record["interval"] == {"from_s": 5.5, "over_s": 10.0}
    assert [flow["goodput_bps"] for flow in record["flows"]] == [4.8e6, 2.4e6, 0.8e6]
    assert [flow["steady"] for flow in record["flows"]] == [
        {"retransmits": 50, "timeouts": 1},
        {"retransmits": 0, "timeouts": 2},
        {"retransmits": 10, "timeouts": 0},
    ]
    assert [flow["retransmits"] for flow in record["flows"]] == [200, 100, 30]
    # 230 were dropped by 15.5 s, 200 within 5 s of the first SYN; 260 in all.
    assert (record["queue"]["drops"], record["queue"]["steady_drops"]) == (260, 30)
    assert record["queue"]["early_drops"] == 200
    assert record["queue"]["mean_bytes"] == 0, "what stood before does not count"
    assert record["groups"] == {
        "fast": {"goodput_bps": 7.2e6, "jain": 0.9, "flows": 2},  # 7.2^2 / (2 (4.8^2 + 2.4^2))
        "reno": {"goodput_bps": 0.8e6, "jain": 1.0, "flows": 1},
    }
    assert record["total_goodput_bps"] == 8e6
    # Drops of a sender's switch count as losses, but not as drops of the shared queue.
    assert [flow.get("switch_drops") for flow in record["flows"]] == [None, None, 7]
    assert [flow["queue_drops"] for flow in record["flows"]] == [150, 90, 20]
    assert (record["link_drops"], record["losses"]) == (5, 5 + 260 + 7)
    assert record["needless_retransmits"] == 200 + 100 + 30 - 272


def test_without_a_warm_up_all_counts(tmp_path: Path) -> None:
    record = compute(tmp_path, three(tmp_path, events="queue_sampling on 10.0\n"))
    assert record["interval"] == {"from_s": 0.5, "over_s": 10.0}
    # 5 s of each rate
    assert [flow["goodput_bps"] for flow in record["flows"]] == [6e6, 1.6e6, 2.4e6]
    assert "steady_drops" not in record["queue"]
    assert all("steady" not in flow for flow in record["flows"])
    assert record["queue"]["early_drops"] == 200
    assert record["queue"]["mean_bytes"] > 0
    # One that ends before the last flow's data waits for it.
    record = compute(tmp_path, three(tmp_path, events="warmup off 10.2\n"))
    assert record["interval"]["from_s"] == 0.5


def test_groups_are_lfns_own(tmp_path: Path) -> None:
    record = compute(tmp_path, three(tmp_path) | {"scenario": "leo"})
    assert "groups" not in record
    assert "early_drops" not in record["queue"]
    assert [flow["fair_share"] for flow in record["flows"]] == [1.8, 0.9, 0.3]


SHORT = {"kernel": {"TcpExtTCPMemoryPressures": 1}}


@pytest.mark.parametrize(
    ("host", "counts", "said"),
    [
        ("fast2", SHORT, r"out of memory in the guest \(nstat-fast2.json"),
        ("reno1", SHORT, r"out of memory in the guest \(nstat-reno1.json"),
        ("reno1", [], "not understood"),
    ],
)
def test_a_guest_short_of_memory_and_strange_counters_measure_nothing(
    host: str, counts: Any, said: str, tmp_path: Path
) -> None:
    told = three(tmp_path)
    fill(tmp_path, {f"nstat-{host}.json": counts})
    with pytest.raises(RecordError, match=said) as error:
        compute(tmp_path, told)
    assert "\n" not in str(error.value)
