# SPDX-License-Identifier: GPL-2.0
"""Links of the scenario satellite: frames lost by length, the receive window, ACKs' spacing."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from scipy import stats

from apogee_lab.engines import qemu, uml
from apogee_lab.scenarios import SCENARIOS
from tests.guest.modules.scripted import rows
from tests.guest.runs import Case, Run, compiled, run_cases, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

BER = 1e-5
FRAMES = 20000
#: Direction and frame length in bytes: a full frame, a middling one, ACKs without and with SACK.
LENGTHS = [("data", 1514), ("data", 700), ("ack", 66), ("ack", 94)]


@pytest.fixture(scope="module")
def blasted(build: Path, root: Path) -> Path:
    """Datagrams of each length through the satellite scenario's links."""
    satellite = SCENARIOS["satellite"]
    values = {"ber": BER, "rate": 10_000_000_000, "queue": 100_000_000}
    links = satellite.compile(values, "reno", 1.0).script
    # All frames of a length come at the same time: computing takes none on this engine.
    room = "sysctl -qw net.core.netdev_max_backlog=100000"
    lines = [room, "chmod +x /bin/peer", "APOGEE_SHELL=1 sh /lab/links.sh"]
    for direction, length in LENGTHS:
        sender, receiver, to = ("snd", "rcv", "10.0.3.2")
        if direction == "ack":
            sender, receiver, to = ("rcv", "snd", "10.0.1.1")
        lines += [
            f"ip netns exec {receiver} peer count 9 $OUT/{direction}-{length} &",
            "counter=$!",
            "sleep 0.2",
            f"ip netns exec {sender} peer blast {to} 9 {length} {FRAMES} || exit 1",
            "sleep 2",
            "kill $counter",
            "wait $counter",
        ]
    lines += ["for ns in bn sat; do tc -n $ns -s -j qdisc show >$OUT/qdisc-$ns.json; done"]
    out = build / "tests" / "loss-model"
    files = {"bin/peer": compiled(root / "tests" / "guest" / "modules" / "peer.c")}
    files["lab/links.sh"] = links.encode()
    info = uml.run_script("\n".join(lines), out=out, files=files)
    assert info.status == 0, (out / "console.log").read_text()
    return out


@pytest.mark.parametrize(("direction", "length"), LENGTHS)
def test_frame_loss_follows_the_frames_length(blasted: Path, direction: str, length: int) -> None:
    """1 - (1 - BER)^(8 L), within the 99.9 % interval of the binomial distribution."""
    ((frame, count),) = rows(blasted / f"{direction}-{length}")
    assert int(frame) == length
    loss = -math.expm1(8 * length * math.log1p(-BER))
    low, high = stats.binom.interval(0.999, FRAMES, loss)
    assert low <= FRAMES - int(count) <= high


def test_only_the_satellite_hop_loses(blasted: Path) -> None:
    """The frames that receivers miss equal netem's count; the queue drops nothing."""
    counted = [rows(blasted / f"{direction}-{length}") for direction, length in LENGTHS]
    received = sum(int(count) for lines in counted for _, count in lines)
    bn, sat = (json.loads((blasted / f"qdisc-{ns}.json").read_text()) for ns in ("bn", "sat"))
    assert sum(q["drops"] for q in bn) == 0
    dropped = sum(q["drops"] for q in sat if q["kind"] == "netem")
    assert dropped == len(LENGTHS) * FRAMES - received


CASES = {
    "window": Case({"window": 625_000, "trace": "probe"}, "reno", duration_s=6),
    "slots": Case({"ack_slot": 0.02, "trace": "probe"}, "reno", duration_s=4),
    "rate": Case({"ack_rate": 100_000, "trace": "probe"}, "reno", duration_s=5),
}
IPERF3 = {
    "flow": Case({}, "cubic", duration_s=10),
    "iperf3": Case({"traffic": "iperf3"}, "cubic", duration_s=10),
}


runs = runs_of("satellite-links", CASES)


def arrivals_of_acks(run: Run) -> list[float]:
    """Times at which the sender's stack saw a segment, in s."""
    return [event["t"] for event in run.traced("tcp_probe")]


def test_receive_window_on_the_wire(runs: dict[str, Run]) -> None:
    """The receiver advertises `window`, rounded up to the window scale, and no more."""
    run = runs["window"]
    granularity = 1 << run.sent["info"]["snd_wscale"]
    seen = [event["snd_wnd"] for event in run.traced("tcp_probe")]
    assert max(seen) - CASES["window"].values["window"] in range(granularity)
    assert seen[-1] == max(seen), "it opens and stays open"


def test_ack_slots_release_acks_in_batches(runs: dict[str, Run]) -> None:
    """20 ms: gaps within a batch are well below 1 ms, gaps between batches 20 ms or more."""
    gaps = [after - before for before, after in pairwise(arrivals_of_acks(runs["slots"]))]
    assert len(gaps) > 300
    between = [gap for gap in gaps if gap >= 1e-3]
    assert min(between) > 0.0195
    assert len(between) < len(gaps) / 4
    steady = sorted(between)[len(between) // 2]
    assert steady == pytest.approx(0.02, abs=0.0015)


def test_ack_rate_spaces_acks(runs: dict[str, Run]) -> None:
    """100 kbit/s carry a 66 B frame in 5.28 ms; a full path (10 Mbit/s) brings 413 ACKs/s."""
    times = arrivals_of_acks(runs["rate"])
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps[1:]) > 0.99 * 66 * 8 / 100e3
    busy = [gap for gap in gaps if gap < 0.02]
    assert sorted(busy)[len(busy) // 2] == pytest.approx(66 * 8 / 100e3, rel=0.01)
    full = [q for q in runs["rate"].json("qdisc-bn.json") if q["dev"] == "to-snd"]
    assert sum(q["drops"] for q in full) > 0, "its queue is bounded"


@pytest.mark.deep
def test_iperf3_and_flow_agree(build: Path) -> None:
    """Cubic's goodput at the receiver from 5 s to 9 s: within 2 %.

    Their clocks start at different times, so start-up is left out. On engine qemu, as iperf3 never
    rests, and takes long where time stands still meanwhile.
    """
    runs = run_cases(build, "satellite-iperf3", IPERF3, engine=qemu)
    intervals = runs["iperf3"].json("iperf3-server.json")["intervals"]
    received = sum(i["sum"]["bytes"] for i in intervals if 4.9 < i["sum"]["start"] < 8.9)
    assert received * 8 / 4 == pytest.approx(runs["flow"].goodput(5, 9), rel=0.02)
