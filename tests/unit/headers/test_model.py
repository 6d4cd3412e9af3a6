# SPDX-License-Identifier: GPL-2.0
"""The model beyond bulk flows on a way back without losses: lost ACKs, its rate, outages, chunks,
bursts and timers as the kernel has them; and a scenario's options.
"""

from __future__ import annotations

from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.base import UsageError
from apogee_lab.model import options
from apogee_lab.scenarios import SCENARIOS
from tests.simulation import LINK_BPS, Simulation

MSS_BITS = 8 * 1448
ALONE: dict[str, Any] = {"rate": 10e6, "access_rate": 0, "spread": 0}


def consistent(flow: dict[str, Any]) -> bool:
    """Each segment sent is dropped, lost, under way or arrived, and what arrived is delivered, held
    or a copy."""
    left = flow["sent"] - flow["dropped"] - flow["lost"] - flow["under_way"]
    return left == flow["arrived"] == flow["delivered"] + flow["held"] + flow["duplicates"]


@pytest.mark.parametrize("flows", ["star", "cubic"])
def test_lost_acks(simulation: Simulation, flows: str) -> None:
    """A third of the ACKs lost leaves the link as full, as later ones tell the same."""
    done = simulation.run(flows, rtt=100, duration=20, ack_loss=0.33, check=True, **ALONE)
    flow = done["flows"][0]
    assert consistent(flow) and flow["duplicates"] == 0
    assert done["goodput"] > 0.93 * 10e6 * LINK_BPS


def test_lost_acks_and_lost_data(simulation: Simulation) -> None:
    """The stack's counts agree with the path's, whichever ACK is lost; --check recounts."""
    for seed in range(1, 6):
        done = simulation.run(
            "star,cubic,reno", rtt=60, queue=12, duration=15, ack_loss=0.3, loss=0.01, seed=seed,
            check=True, kernel=True, event=["5:stall=700", "9:outage=900"],
        )  # fmt: skip
        assert all(consistent(flow) for flow in done["flows"])


@pytest.mark.parametrize(("dead_s", "syn_s"), [(0.9, 1), (3.5, 4), (7.5, 9), (24.9, 31)])
def test_a_syn_of_the_labs_tool(fast: Simulation, dead_s: float, syn_s: int) -> None:
    """Three sockets of two SYNs, which wait 3 s, one of three, one of four and so on; what waited
    before is not in the round trip. 1.5 round trips later the run's 5 s begin. Timers of the
    kernel are late by up to an eighth of the longest."""
    done = fast.run(
        "reno", rtt=100, duration=5, series=0.1, kernel=True, window=50_000,
        event=["0:loss=1", f"{dead_s}:loss=0"], **ALONE,
    )  # fmt: skip
    assert done["series"][-1]["t"] == pytest.approx(syn_s + 5.15, abs=0.15 + syn_s / 32)
    assert done["flows"][0]["srtt_mean"] < 120


def test_a_long_way_is_no_lost_syn(fast: Simulation) -> None:
    """An answer after 5 s is that of the fourth socket, from 9 s on."""
    flow = fast.run("reno", rtt=5000, duration=20, kernel=True, **ALONE)["flows"][0]
    assert flow["start"] == 0 and flow["delivered"] >= 10
    assert flow["rtt_mean"] == pytest.approx(5000, abs=200)


def test_a_run_ends_where_nothing_gets_through(fast: Simulation) -> None:
    """No SYN, or no data: then the interval begins with the connection."""
    with pytest.raises(RuntimeError, match="no connection after 60 s"):
        fast.run("reno", rtt=100, duration=5, kernel=True, event="0:loss=1", **ALONE)
    done = fast.run("reno", rtt=100, duration=5, kernel=True, event="0.1:loss=1", series=1, **ALONE)
    assert done["goodput"] == done["flows"][0]["arrived"] == 0
    assert done["series"][-1]["t"] == 5


def test_one_flow_that_starves_does_not_hold_up_the_others(fast: Simulation) -> None:
    """On this path the first data of one comes after 40 minutes: it has nothing in 30 s."""
    done = fast.run(
        "star*44", kernel=True, duration=30, seed=450031, rate=4.95e6, rtt=11.4, window=100e6,
        queue=45, ber=6.03e-7, spread=0.0114, series=1,
    )  # fmt: skip
    assert done["series"][-1]["t"] < 120
    assert min(flow["goodput"] for flow in done["flows"]) == 0


def test_a_slow_way_back(simulation: Simulation) -> None:
    """ACKs for two segments need more than the way back has, so its queue of 20 is full: they wait
    for the 19 before them and their own 66 B. What is left of them still fills the link.
    """
    rate = 10e6 * 66 / (1514 * 5)
    done = simulation.run("reno", rtt=100, duration=30, ack_rate=rate, queue=20, **ALONE)
    flow = done["flows"][0]
    waits_ms = 1e3 * 20 * 8 * 66 / rate
    queue_ms = 1e3 * 20 * 8 * 1514 / 10e6
    assert done["goodput"] > 0.7 * 10e6 * LINK_BPS
    assert 100 + 0.7 * waits_ms < flow["rtt_mean"] < 100 + waits_ms + queue_ms


def test_an_outage_loses_what_enters_the_hop(simulation: Simulation) -> None:
    """Of 0.4 s at 10 Mbit/s: 330 segments, as a flow with a standing queue sends on for its round
    trip. ACKs sent meanwhile are lost as well, so that it knows of nothing.
    """
    done = simulation.run(
        "reno", rtt=500, duration=15, window=900_000, event="10:outage=400", check=True, **ALONE
    )
    flow = done["flows"][0]
    assert consistent(flow)
    assert flow["lost"] == pytest.approx(0.4 * 10e6 / (8 * 1514), rel=0.03)


@pytest.mark.parametrize("flows", ["star", "cubic", "reno"])
def test_chunks(simulation: Simulation, flows: str) -> None:
    """An application that writes 100 kB every 2 s gets that, whole segments of it."""
    segments = -(-100_000 // 1448)
    done = simulation.run(
        flows, rtt=80, duration=40, source="100000,2", check=True, kernel=True, **ALONE
    )
    flow = done["flows"][0]
    assert consistent(flow)
    assert 20 * segments <= flow["delivered"] <= 21 * segments
    assert flow["retransmits"] == 0


def test_transfers(simulation: Simulation) -> None:
    """Chunks of 70 segments: the first one in flights of 10, 20 and 40, the next ones in one of the
    window of 80 that this leaves; behind 15 s of rest the window is the first again."""
    flight_s = 70 * 8 * 1514 / 10e6
    times: dict[int, list[float]] = {}
    for idle in (0, 15):
        done = simulation.run(
            "cubic", rtt=500, duration=20, transfers=f"100000:0,{idle}", check=True, kernel=True,
            **ALONE,
        )  # fmt: skip
        assert consistent(done["flows"][0])
        assert {size for size, _ in done["transfers"]} == {100_000}
        times[idle] = [took for _, took in done["transfers"]]
    assert len(times[0]) > 20 and len(times[15]) == 2
    for took in (times[0][0], *times[15]):
        assert 2.5 * 0.5 < took < 2.5 * 0.5 + flight_s + 0.04  # an ACK may be delayed
    for took in times[0][1:]:
        assert 0.25 < took < 0.25 + flight_s + 0.001


def test_the_last_of_many_outages(fast: Simulation) -> None:
    """Two thirds of the time behind 99 short ones."""
    short = [f"{0.01 * n:.2f}:outage=1" for n in range(1, 100)]
    done = fast.run("reno", rtt=10, duration=15, event=[*short, "4:outage=10000"], **ALONE)
    assert done["goodput"] < 0.4 * 10e6


def test_a_transfer_is_not_of_full_segments(simulation: Simulation) -> None:
    """1000 bytes are a frame of 1066, 1449 one of 1514 and one of 67. The goodput is of bytes: ten
    transfers begin in the 10 s behind the first data."""
    for size, frames in ((1000, 1066), (1449, 1514 + 67)):
        done = simulation.run(
            "cubic", rtt=40, duration=10.5, transfers=f"{size}:1,0", check=True, kernel=True,
            **ALONE | {"rate": 64e3},
        )  # fmt: skip
        for _, took in done["transfers"]:
            assert took == pytest.approx(0.02 + 8 * frames / 64e3, abs=1e-3)
        assert done["goodput"] == pytest.approx(10 * size * 8 / 10.5, abs=size * 8 / 10.5)


def test_transfers_in_rounds_beside_a_bulk_flow(simulation: Simulation) -> None:
    """Each round has every size once, one begins every 2 s at the soonest, and the last one, which
    the end comes upon, is completed: of 20 s none is left out."""
    sizes = {1000, 30_000, 3_000_000}
    found = simulation.run(
        "star,reno", rtt=50, duration=20, start="1,0", transfers="1000,30000,3000000:2,0",
        kernel=True, check=True, rate=10e6, spread=0,
    )["transfers"]  # fmt: skip
    for first in range(0, len(found) - 2, 3):
        assert {size for size, _ in found[first : first + 3]} == sizes
    assert 3 <= len(found) <= 11
    assert sum(max(took, 2.0) for _, took in found) >= 20
    assert all(took > 0.025 + 8 * size / 10e6 for size, took in found)


def test_bursts_of_a_paced_flow(fast: Simulation) -> None:
    """In a queue of a single packet the second segment of each pair that the kernel hands down at
    once is dropped; paced one by one most get through."""
    shares = []
    for kernel in ({}, {"kernel": True}):
        flow = fast.run("star", rtt=40, queue=1, duration=20, **kernel, **ALONE)["flows"][0]
        shares.append(flow["delivered"])
    assert shares[1] < 0.85 * shares[0]


# --- a scenario's options -----------------------------------------------------------------------


def words(scenario: str, cc: str = "star", seed: int = 1, **texts: str) -> dict[str, Any]:
    """The options by name, those given several times as lists."""
    kinds = {param.name: param.kind for param in SCENARIOS[scenario].params}
    values = {name: units.parse(kinds[name], text) for name, text in texts.items()}
    given = options.of(scenario, {**values, "seed": seed}, cc, 30.0)
    found: dict[str, Any] = {}
    rest = iter(word for word in given if word != "--kernel")
    for option in rest:
        found.setdefault(option.removeprefix("--"), []).append(next(rest))
    return {k: v if k in ("event", "param") else v[0] for k, v in found.items()}


def test_a_still_path() -> None:
    found = words("satellite", rate="5mbit", delay="20ms", queue="30kB", ber="1e-6", ack_ber="0")
    assert {k: found[k] for k in ("flows", "rate", "rtt", "queue", "burst-bytes", "ber")} == {
        "flows": "star", "rate": "5000000", "rtt": "40", "queue": "20", "burst-bytes": "0",
        "ber": "1e-06",
    }  # fmt: skip
    assert (found["ack-loss"], found["access-rate"], found["spread"]) == ("0", "0", "0")
    # 66 B of 1e-4 errors per bit
    lost = float(words("satellite", ack_ber="1e-4")["ack-loss"])
    assert lost == pytest.approx(1 - (1 - 1e-4) ** 528)


def test_a_path_that_moves() -> None:
    event = "rate:2mbit@5s:2s+delay:300ms@9s+outage@12s:1s+stall@20s:250ms"
    found = words("satellite", event=event, jitter="10ms", jitter_mean="20ms", policer="0")
    assert sorted(found["event"]) == sorted([
        "5:rate=2000000", "7:rate=10000000", "9:rtt=600", "12:outage=1000", "20:stall=250",
    ])  # fmt: skip
    assert found["burst-bytes"] == "3028"
    assert found["ack-jitter"] == "20,10"


def test_flows_that_share() -> None:
    found = words(
        "satellite-shared", "star+2*cubic", delays="0s+50ms+10ms", start="0s+3s+0s", delay="98ms"
    )
    assert (found["flows"], found["start"], found["delays"]) == (
        "star,cubic,cubic", "0,3,0", "0,50,10"
    )  # fmt: skip
    assert (found["rtt"], found["access-rate"], found["spread"]) == ("200", "100000000", "0.2")


def test_transfers_of_requests() -> None:
    chunks = {"persistent": "1", "sizes": "1kB+20kB", "period": "4s", "lead": "5s"}
    found = words("requests", "star+cubic", **chunks)
    assert (found["flows"], found["start"]) == ("star,cubic", "5,0")
    assert found["transfers"] == "1000,20000:4,0"
    found = words("requests", "star", persistent="1", idle="30s", lead="5s")
    assert (found["start"], found["transfers"]) == ("0", "10000,100000,1000000,10000000:0,30")


def test_each_seed_of_leo_is_a_path() -> None:
    one, same, other = (words("leo", seed=seed)["event"] for seed in (1, 1, 2))
    assert one == same != other
    assert sum(":rate=" in event for event in one) > 500


@pytest.mark.parametrize(
    ("scenario", "cc", "texts", "says"),
    [
        ("lfn", "star", {}, "the model has no scenario lfn, only satellite"),
        ("satellite", "hybla", {}, "the model has no hybla; choose from: star, hstcp_gentle"),
        ("satellite", "star", {"tcp_sack": "0"}, "the model has no parameter tcp_sack"),
        ("satellite", "star", {"ack_blackout": "3s:1s"}, "no parameter ack_blackout"),
        ("requests", "star", {}, "transfers on one connection only: add persistent=1"),
    ],
)
def test_what_the_model_cannot_do(scenario: str, cc: str, texts: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        words(scenario, cc, **texts)
