# SPDX-License-Identifier: GPL-2.0
"""What star's judgement of congestion leads to, in the lab's model.

A bound is a target of the judgement where that is met, as its test says. Otherwise it is beyond
the worst mean (or median) of 40 groups of 5 of the seeds 1 to 200, whose range is given.
"""

from __future__ import annotations

from statistics import mean, median
from typing import Any

import pytest

from tests.simulation import LINK_BPS, Simulation

RATE_BPS = 10e6
FRAME_BITS = 8 * 1514
SEEDS = range(1, 6)
#: The scenarios satellite-shared and satellite of the lab.
SHARED: dict[str, Any] = {"rate": RATE_BPS, "rtt": 504, "duration": 120}
ALONE: dict[str, Any] = {"rate": RATE_BPS, "rtt": 500, "access_rate": 0, "spread": 0}


def limit_bps(ber: float) -> float:
    """Goodput of a full link that loses frames to bit errors."""
    return RATE_BPS * LINK_BPS * (1 - ber) ** FRAME_BITS


def seeds(
    fast: Simulation, flows: str, runs: range = SEEDS, **options: Any
) -> list[dict[str, Any]]:
    return [fast.run(flows, seed=seed, **options) for seed in runs]


def per_second(done: dict[str, Any]) -> list[float]:
    """Goodput of the only flow in bit/s, of a run with series=1."""
    return [line["flows"][0]["goodput"] for line in done["series"]]


# --- a short queue ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flows", "queue_bytes", "jain", "dropped", "utilisation"),
    [(2, 15_000, 0.9, 0.05, 0.92), (2, 62_500, 0.9, 0.05, 0.9), (10, 15_000, 0.8, 0.07, 0.98),
     pytest.param(10, 62_500, 0.9, 0.05, 0.98, marks=pytest.mark.deep)],
)  # fmt: skip
def test_a_short_queue_is_shared(
    fast: Simulation,
    flows: int,
    queue_bytes: int,
    jain: float,
    dropped: float,
    utilisation: float,
) -> None:
    """Jain .9 and 5 % of what is sent dropped are the targets, missed by ten flows at 15 kB: Jain,
    the median, is .88 to .96, and 4.6 to 6.0 % are dropped. Of two flows it is .99 there at least
    and 1.4 to 2.0 % are dropped; at 62.5 kB it is .92 at least, and 1.0 to 1.6 or, of ten, 3.4 to
    4.1 % are. Utilisation: .945, .940, .987, .986 at least. All of 20 groups.
    """
    runs = seeds(fast, f"star*{flows}", queue_bytes=queue_bytes, **SHARED)
    assert median(run["jain"] for run in runs) >= jain
    assert mean(run["dropped_share"] for run in runs) <= dropped
    assert mean(run["utilisation"] for run in runs) >= utilisation


@pytest.mark.parametrize("queue_bytes", [15_000, 62_500])
def test_a_latecomer_gets_its_share(fast: Simulation, queue_bytes: int) -> None:
    """It begins a minute after the first flow, and two minutes count a minute later: Jain .97 and
    .95 at least, the mean. At 15 kB one run has .82.
    """
    runs = seeds(
        fast, "star*2", queue_bytes=queue_bytes, start="0,60",
        **SHARED | {"duration": 180, "warmup": 120},
    )  # fmt: skip
    assert mean(run["jain"] for run in runs) >= 0.85


def test_ten_flows_after_a_fade(fast: Simulation) -> None:
    """A minute of bit errors at 1e-5, with 20 packets of queue: each flow takes what is lost for
    the link's. Afterwards the losses are the queue's, and the belief has to go again. 200 s later,
    for 100 s, Jain is .87 to .94 and 2.5 to 2.6 % are dropped, in groups; .74 and 2.8 % in
    single runs.
    """
    runs = seeds(
        fast, "star*10", queue=20, event=["100:ber=1e-5", "160:ber=0"],
        **SHARED | {"duration": 460, "warmup": 360},
    )  # fmt: skip
    assert mean(run["jain"] for run in runs) >= 0.75
    assert mean(run["dropped_share"] for run in runs) <= 0.035


@pytest.mark.parametrize("ber", [0, 1e-6])
def test_alone_with_a_queue_of_ten_packets(fast: Simulation, ber: float) -> None:
    """5 % dropped is the target; it is 1.5 to 1.6 %, at 1e-6 1.8 % at most. Goodput is .90 of the
    link's without errors and .87 to .88 at 1e-6, of 60 s with the start: a fifth of the window each
    time.
    """
    runs = seeds(fast, "star", queue=10, ber=ber, duration=60, **ALONE)
    assert mean(run["dropped_share"] for run in runs) <= 0.022
    assert mean(run["goodput"] for run in runs) >= 0.85 * RATE_BPS * LINK_BPS


# --- alone --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ber", "share"), [(0, 0.97), (1e-7, 0.97), (1e-6, 0.96), (3e-6, 0.91), (1e-5, 0.91)]
)
def test_bit_errors_cost_what_they_take(fast: Simulation, ber: float, share: float) -> None:
    """Of 60 s, the start included: .982, .973, .969, .926 and .923 of the limit at least. Single
    runs have .912 of it at 3e-6 and .896 at 1e-5.
    """
    runs = seeds(fast, "star", ber=ber, duration=60, **ALONE)
    assert mean(run["goodput"] for run in runs) >= share * limit_bps(ber)


def test_bursts_cost_what_they_take(fast: Simulation) -> None:
    """Five frames each, one in 200 on the whole: .977 to .988 of what arrives, of 120 s. Single
    runs have .964.
    """
    runs = seeds(fast, "star", bursts="0.001,0.2", duration=120, **ALONE)
    arrives = RATE_BPS * LINK_BPS * (1 - 0.001 / 0.201)
    assert mean(run["goodput"] for run in runs) >= 0.95 * arrives


@pytest.mark.parametrize("dead_s", [0.1, 0.3, 0.6])
def test_a_path_that_was_dead_for_a_moment(fast: Simulation, dead_s: float) -> None:
    """Up to a round trip and more, at any time of a round: no congestion, and two seconds later
    nearly all is as before. The means are .95 to .99, the least .83.
    """
    parts = []
    for phase in range(40):
        at = 24 + 0.37 * phase
        events = [f"{at:.2f}:loss=1", f"{at + dead_s:.2f}:loss=0"]
        done = fast.run("star", event=events, series=1, duration=50, **ALONE)
        parts.append(mean(per_second(done)[int(at) + 2 : int(at) + 12]) / (RATE_BPS * LINK_BPS))
        assert done["flows"][0]["timeouts"] == 0
    assert mean(parts) >= 0.9
    assert min(parts) >= 0.75


@pytest.mark.parametrize("ber", [0, 1e-6])
@pytest.mark.parametrize("rtt_ms", [600, 1200])
def test_a_longer_path_is_no_queue(fast: Simulation, rtt_ms: int, ber: float) -> None:
    """.9 of the limit again within 15 round trips, the target, for 5 s. The median, of
    which the worst are 3 s, and 12 s to 1200 ms: at 1e-6 one run takes 26 s there.
    """
    step_s = 20
    took = []
    for run in seeds(
        fast, "star", ber=ber, event=f"{step_s}:rtt={rtt_ms}", series=1, duration=60, **ALONE
    ):
        rates = per_second(run)[step_s:]
        back = [
            second
            for second in range(len(rates) - 4)
            if mean(rates[second : second + 5]) >= 0.9 * limit_bps(ber)
        ]
        took.append(back[0] if back else float("inf"))
    assert median(took) <= 15 * rtt_ms / 1000


def test_a_slower_link_with_a_short_queue(fast: Simulation) -> None:
    """From 10 to 2 Mbit/s with 20 packets: at most 5 % of all sent is dropped; it is 3.4 %. A
    sender that goes on at five times the rate would lose four segments of five there.
    """
    events = ["30:rate=2e6", "30:queue=20"]
    done = fast.run("star", event=events, series=1, duration=60, **ALONE)
    assert done["dropped_share"] <= 0.05
    assert mean(per_second(done)[-10:]) >= 0.9 * 2e6 * LINK_BPS


@pytest.mark.parametrize("ber", [0, pytest.param(1e-6, marks=pytest.mark.deep)])
def test_an_hour_with_a_deep_buffer(fast: Simulation, ber: float) -> None:
    """8 products of queue. The RTT of no minute ends above 1.25 of the path's: 1.15 without errors,
    1.14 at 1e-6. And none has less than .9 of the limit: .99.
    """
    done = fast.run("star", queue_bytes=5_000_000, ber=ber, duration=3600, series=60, **ALONE)
    for line in done["series"][1:]:
        assert line["flows"][0]["rtt"] <= 1.25 * ALONE["rtt"]
        assert line["flows"][0]["goodput"] >= 0.9 * limit_bps(ber)


# --- beside others ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "queue", "late", "theirs"),
    [(10e6, 34, {"ack_slot": 10}, 2.5e6), (50e6, 83, {"ack_jitter": "4,2"}, 7.5e6)],
)
def test_jitter_hides_no_other_flow(
    fast: Simulation, rate: float, queue: int, late: dict[str, Any], theirs: float
) -> None:
    """CUBIC at 40 ms has 2.9 and 8.5 to 10.5 Mbit/s, .5 and 4 if all that the RTT is above its
    least is jitter.
    """
    path = {"access_rate": 0, "spread": 0, "window": 100_000_000, "duration": 60}
    runs = seeds(fast, "star,cubic", rate=rate, rtt=40, queue=queue, **late, **path)
    assert mean(run["flows"][1]["goodput"] for run in runs) >= theirs


def test_twenty_flows_with_jitter_share(fast: Simulation) -> None:
    """Jain's index is .77 to .97, and .29 if all that the RTT is above its least is jitter."""
    path = {"access_rate": 0, "spread": 0, "window": 100_000_000, "duration": 40}
    runs = seeds(
        fast, "star*20", range(1, 4), rate=50e6, rtt=40, queue=166, ack_jitter="5,3", **path
    )
    assert mean(run["jain"] for run in runs) >= 0.65


@pytest.mark.parametrize(
    ("rate", "rtt", "queue", "ack_rate", "ack_queue"),
    [
        (20.8e6, 8, 27, 243e3, 20),
        (144e6, 76, 27, 515e3, 20),
        (10e6, 100, 84, 120e3, 50),
        (3e6, 30, 12, 30e3, 20),
    ],
)
def test_a_slow_way_back_is_no_queue(
    fast: Simulation, rate: float, rtt: float, queue: int, ack_rate: float, ack_queue: int
) -> None:
    """It carries fewer ACKs than one of two segments: CUBIC's goodput or up to a fifth more, .3 to
    .9 of it if the ACKs' queue is taken for one on the way there.
    """
    ways = {"ack_rate": ack_rate, "ack_queue": ack_queue, "access_rate": 0, "spread": 0}
    path = {"rate": rate, "rtt": rtt, "queue": queue, "window": 100_000_000, "duration": 30}
    star, cubic = (fast.run(cc, **ways, **path)["goodput"] for cc in ("star", "cubic"))
    assert star >= 0.95 * cubic


def test_jitter_hides_no_queue_of_its_own(fast: Simulation) -> None:
    """With 8 bandwidth-delay products of queue the RTT is 1.2 s in the mean, and 2.3 s if jitter
    keeps the path's RTT from being measured anew.
    """
    (run,) = seeds(fast, "star", range(1, 2), queue=3336, ack_jitter="60,40", duration=300, **ALONE)
    assert run["flows"][0]["rtt_mean"] <= 2000


@pytest.mark.parametrize(
    ("other", "queue_bytes", "theirs", "ours"),
    [
        ("cubic", 625_000, 0.5, 0.5),
        ("reno", 312_500, 0.5, 0.5),
        pytest.param("cubic", 312_500, 0.5, 0.5, marks=pytest.mark.deep),
        pytest.param("cubic", 1_250_000, 0.5, 0.37, marks=pytest.mark.deep),
        pytest.param("reno", 625_000, 0.5, 0.5, marks=pytest.mark.deep),
        pytest.param("reno", 1_250_000, 0.5, 0.5, marks=pytest.mark.deep),
    ],
)
def test_beside_others(
    fast: Simulation, other: str, queue_bytes: int, theirs: float, ours: float
) -> None:
    """The other keeps .5 of what it has beside its own kind, and star .5 of a fair share: the
    targets, with half a product, one and two of queue. Missed beside cubic at two products: .39 to
    .50. 10 seeds, and 4 groups of 5.
    """
    runs = range(1, 11)
    mixed = seeds(fast, f"star,{other}", runs, queue_bytes=queue_bytes, **SHARED)
    alike = seeds(fast, f"{other}*2", runs, queue_bytes=queue_bytes, **SHARED)
    own = mean(run["goodput"] / 2 for run in alike)
    assert mean(run["flows"][1]["goodput"] for run in mixed) >= theirs * own
    assert mean(run["flows"][0]["goodput"] for run in mixed) >= ours * limit_bps(0) / 2
