# SPDX-License-Identifier: GPL-2.0
"""RAH under TCP, in the simulation of tests/simulation/shake: the paper's two paths of 384 kbit/s,
others' packets, outages, unequal paths. "drop": an agent without needless duplicate ACKs; "ack":
the one of shake_holes.h.
"""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from tests.simulation.shake import PAYLOAD, ShakeSimulation, compile_shake

WINDOW = {"tcp": "reno", "window": 40}
DROP = WINDOW | {"drop": 1}
SACK = {"tcp": "sack", "window": 40}


@pytest.fixture(scope="module")
def shake() -> ShakeSimulation:
    return compile_shake(sanitized=True)


@pytest.fixture(scope="module")
def fast() -> ShakeSimulation:
    """Without sanitizers, for what takes long."""
    return compile_shake()


def used(done: Any, kbits: float) -> float:
    """Goodput as a share of what the paths carry."""
    assert done["refused"] == 0
    return done["goodput"] / (kbits * 1000 * PAYLOAD)


@pytest.mark.parametrize("delay", [10, 150, 230, 290])
def test_delays(shake: ShakeSimulation, delay: int) -> None:
    paths = ["384e3:150:50", f"384e3:{delay}:50"]
    dropped = shake.run(paths, **DROP)
    assert used(dropped, 768) >= 0.98
    assert dropped["needless"] == 0
    plain = shake.run(paths, **WINDOW)
    assert used(plain, 768) >= (0.98 if delay < 290 else 0.9)
    assert used(shake.run(paths, **SACK), 768) >= 0.93


@pytest.mark.parametrize("others", [128, 256])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in (1, 2))])
def test_others_packets(fast: ShakeSimulation, others: int, seed: int) -> None:
    """Without dropping, a sender without SACK is now and then misled."""
    for delay in (10, 150):
        paths = ["384e3:150:50", f"384e3:{delay}:50:0:{others}e3"]
        for options, least in ((WINDOW, 0.6), (DROP, 0.95), (SACK, 0.95)):
            assert used(fast.run(paths, seed=seed, **options), 768 - others) >= least


@pytest.mark.parametrize("seconds", [1, 3, 10])
def test_outages(fast: ShakeSimulation, seconds: int) -> None:
    """Each is noticed, and the path taken up again; Reno is slow to repair what was lost.

    How slow depends on what was under way: the mean of several phases is judged.
    """
    left = 768 - 384 * 4 * seconds / 100
    shares = []
    for phase in range(12):
        changes = [f"1:{at + 0.07 * phase:.2f}:outage={seconds}" for at in (20, 40, 60, 80)]
        done = fast.run(["384e3:150:50", "384e3:150:50"], changes, **SACK)
        shares.append(used(done, left))
        assert [path["died"] for path in done["paths"]] == [0, 4]
    assert statistics.mean(shares) >= 0.9


def test_a_rate_that_changes(fast: ShakeSimulation) -> None:
    for rate in (128e3, 1e6):
        changes = [f"1:30:rate={rate}", "1:60:rate=384e3"]
        done = fast.run(["384e3:150:50", "384e3:150:50"], changes, **DROP)
        assert used(done, 768 + (rate / 1000 - 384) * 0.3) >= 0.95


@pytest.mark.parametrize("options", [DROP, SACK])
def test_three_unequal_paths(fast: ShakeSimulation, options: dict[str, Any]) -> None:
    paths = ["384e3:150:50", "128e3:50:50", "64e3:290:50"]
    assert used(fast.run(paths, **options), 576) >= 0.95


@pytest.mark.parametrize("options", [DROP, SACK])
def test_four_unequal_paths(fast: ShakeSimulation, options: dict[str, Any]) -> None:
    paths = ["1e6:20:50", "384e3:150:50", "128e3:50:50", "256e3:290:50"]
    done = fast.run(paths, **options | {"window": 100})
    assert used(done, 1768) >= (0.95 if "drop" in options else 0.9)


@pytest.mark.parametrize(
    ("second", "window"), [pytest.param(1e9, 6000, marks=pytest.mark.deep), (200e6, 4000)]
)
def test_a_gigabit(fast: ShakeSimulation, second: float, window: int) -> None:
    """More packets under way than there are records."""
    paths = ["1e9:5:5000", f"{second}:15:5000"]
    done = fast.run(paths, seconds=8, **DROP | {"window": window})
    assert used(done, (1e9 + second) / 1000) >= 0.95


def test_9600_bits(fast: ShakeSimulation) -> None:
    """A packet takes 1.25 s; no path looks dead."""
    done = fast.run(["9.6e3:150:50", "9.6e3:290:50"], seconds=600, **DROP)
    assert used(done, 19.2) >= 0.95
    assert sum(path["died"] for path in done["paths"]) == 0


def test_no_scheduler_is_better(fast: ShakeSimulation) -> None:
    paths = ["384e3:150:50", "384e3:290:50"]
    best = fast.run(paths, **WINDOW)["goodput"]
    for scheduler in ("rr", "ratio"):
        assert fast.run(paths, scheduler=scheduler, **WINDOW)["goodput"] < best


@pytest.mark.parametrize("delay", [100, 250, 600])
def test_a_way_that_becomes_longer(fast: ShakeSimulation, delay: int) -> None:
    """An old least round trip makes the paths look full, but not for long."""
    changes = [f"{path}:30:delay={delay}" for path in (0, 1)]
    paths = ["384e3:10:50", "384e3:30:50"]
    done = fast.run(paths, changes, base=32, **SACK | {"window": 100})
    free = fast.run(paths, changes, base=32, queue=0, **SACK | {"window": 100})
    assert done["goodput"] >= (0.8 if delay < 600 else 0.55) * free["goodput"]


@pytest.mark.parametrize("others", [10, 20, 30])
def test_others_flows(fast: ShakeSimulation, others: int) -> None:
    """Flows that fill the links' queues, of so many packets each, leave as much to paths that
    hold packets back as to others, within a third or so.
    """
    changes = [f"{path}:20:flow={others}" for path in (0, 1)]
    paths = ["384e3:150:50", "384e3:10:50"]
    done = fast.run(paths, changes, base=20, **SACK | {"window": 100})
    free = fast.run(paths, changes, base=20, queue=0, **SACK | {"window": 100})
    assert done["goodput"] >= 0.6 * free["goodput"]


@pytest.mark.parametrize("delay", [10, 290])
def test_no_queue_overflows(fast: ShakeSimulation, delay: int) -> None:
    """Packets are held back before the links lose them, whatever TCP's window is."""
    paths = ["384e3:150:50", f"384e3:{delay}:50"]
    options = {"tcp": "cubic", "window": 1000}
    done = fast.run(paths, **options)
    assert used(done, 768) >= 0.96
    assert [path["dropped"] for path in done["paths"]] == [0, 0]
    free = fast.run(paths, queue=0, **options)
    assert sum(path["dropped"] for path in free["paths"]) > 100


@pytest.mark.parametrize(
    "paths",
    [
        ["29.4e6:87:865", "13.6e6:55:865"],
        ["5e6:30:200", "20e6:100:200"],
        ["40e6:60:865", "1e6:10:50"],
    ],
)
def test_a_longer_way_does_not_end_slow_start(fast: ShakeSimulation, paths: list[str]) -> None:
    """HyStart sees no longer round trips before both paths are full."""
    options = {"tcp": "cubic", "ack": "auto", "window": 8000, "hystart": 1}
    done = fast.run(paths, start=1, base=1, seconds=11, **options)
    assert used(done, sum(float(path.split(":")[0]) for path in paths) / 1000) >= 0.8


# --- duplicate ACKs -----------------------------------------------------------------------------


@pytest.mark.parametrize("window", [20, 40])
@pytest.mark.parametrize("scheduler", ["rr", "ratio", "rah"])
@pytest.mark.parametrize("ack", ["drop", "auto"])
def test_without_loss_nothing_is_sent_again(
    fast: ShakeSimulation, ack: str, scheduler: str, window: int
) -> None:
    for delay in range(10, 300, 40):
        paths = ["384e3:150:50", f"384e3:{delay}:50"]
        done = fast.run(paths, tcp="reno", window=window, scheduler=scheduler, ack=ack)
        assert done["retransmits"] * 1000 <= done["segments"]


def test_four_paths_are_late_by_more_than_theta_c(fast: ShakeSimulation) -> None:
    paths = ["384e3:150:50", "192e3:250:50", "512e3:80:50", "256e3:10:50"]
    drop = fast.run(paths, ack="drop", **WINDOW)
    auto = fast.run(paths, ack="auto", **WINDOW)
    assert drop["forced"] > 0
    assert (auto["forced"], auto["retransmits"]) == (0, 0)
    assert auto["goodput"] > drop["goodput"]


@pytest.mark.parametrize("loss", [0.001, pytest.param(0.005, marks=pytest.mark.deep), 0.01])
@pytest.mark.parametrize("delay", [10, pytest.param(150, marks=pytest.mark.deep), 290])
def test_auto_is_as_good_as_the_best(fast: ShakeSimulation, delay: int, loss: float) -> None:
    """Within the error of 20 seeds of 100 s, and with few segments sent twice."""
    paths = ["384e3:150:50:0.001", f"384e3:{delay}:50:{loss}"]
    runs = {
        ack: [fast.run(paths, seed=seed, ack=ack, **WINDOW) for seed in range(1, 21)]
        for ack in ("pass", "drop", "tdar", "auto")
    }
    goodputs = {ack: statistics.mean(run["goodput"] for run in runs[ack]) for ack in runs}
    assert goodputs["auto"] >= 0.95 * max(goodputs.values())
    assert statistics.mean(run["needless"] for run in runs["auto"]) <= 15
