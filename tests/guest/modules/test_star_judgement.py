# SPDX-License-Identifier: GPL-2.0
"""What star takes for congestion: on paths that move, at queues hard to see.

10 Mbit/s and an RTT of 500 ms, on engine uml. Nothing but the phase is random without bit errors.
Where a bound is no aim of the algorithm the test says what was measured, with seeds 1 to 3, 101 to
103 and 201 to 203 unless it says others.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.measures.raw import RawFolder
from tests.guest.runs import records

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def runs(
    target: Path, cc: str, seconds: int, *settings: str, seeds: str = "1,2,3", of: str = "satellite"
) -> list[dict[str, Any]]:
    """Runs with an open receive window; one record for each algorithm, product and seed."""
    settings = ("window=16MB", *settings)
    return records(of, target, cc, *settings, seconds=seconds, more=f"--seed {seeds}")


def dropped(record: dict[str, Any]) -> float:
    """The share of the segments sent that the bottleneck's queue has dropped."""
    return record["queue"]["drops"] / sum(flow["segments"] for flow in record["flows"])


def mean(found: list[dict[str, Any]], cc: str, what: str = "total_goodput_bps") -> float:
    """The mean of a value over an algorithm's runs."""
    return statistics.fmean(record[what] for record in found if record["cc"] == cc)


@pytest.mark.deep
@pytest.mark.parametrize(("queue", "jain"), [("15kB", 0.69), ("62.5kB", 0.9)])
def test_ten_flows_at_a_short_queue(kept: Path, tmp_path: Path, queue: str, jain: float) -> None:
    """Jain at least 0.9 is the aim, in the median of five runs. With 62.5 kB 15 runs had 0.91 to
    0.99. With 15 kB they had 0.78 to 0.98, but in the simulation (test_star_simulated.py) single
    runs have 0.2, and the medians of five 0.72 to 0.97.

    Dropped were 4.3 to 5.3 % (15 kB) and 3.4 to 5.5 % of what is sent; the aim is 5 %.
    """
    found = runs(
        tmp_path / "r", "10*star", 120, f"queue={queue}",
        seeds="1,2,3,4,5", of="satellite-shared",
    )  # fmt: skip
    assert statistics.median(record["jain"] for record in found) >= jain
    assert statistics.fmean(map(dropped, found)) <= 0.07
    assert all(record["total_goodput_bps"] > 0.95 * record["limit_bps"] for record in found)


@pytest.mark.deep
def test_a_longer_path_with_bit_errors(kept: Path, tmp_path: Path) -> None:
    """RTT 500, after 15 s 600 ms: from 15 round trips later on 0.9 of the limit again, the aim.

    In the mean of five runs, and 16 s, as what comes late behind a repair belongs to the time
    before. 1.00 was measured.
    """
    event = ("event=delay:300ms@15s", "ber=1e-6")
    shares = []
    for record in runs(tmp_path / "r", "star", 40, *event, seeds="1,2,3,4,5"):
        raw = kept / str(record["run"])
        arrivals = RawFolder(raw).arrivals("flow1")
        zero = float(arrivals.times[0])
        late = arrivals.until(zero + 40e6) - arrivals.until(zero + 24e6)
        shares.append(float(late) * 8 / 16 / record["limit_bps"])
    assert statistics.fmean(shares) >= 0.9


def test_a_rate_that_falls_to_a_fifth(kept: Path, tmp_path: Path) -> None:
    """10 to 2 Mbit/s at 20 packets of queue: fewer drops than bbr, more goodput, in each run.

    927 drops (5 % of what is sent) were measured, and bbr's from 3866 to 6074.
    """
    found = runs(tmp_path / "r", "star,bbr", 40, "event=rate:2mbit@20s", "queue=30280B")
    drops = {cc: [r["queue"]["drops"] for r in found if r["cc"] == cc] for cc in ("star", "bbr")}
    assert max(drops["star"]) < min(drops["bbr"])
    assert mean(found, "star") > mean(found, "bbr")


def test_marks_for_another_round_trip(kept: Path, tmp_path: Path) -> None:
    """fq_codel marks by a round trip of 100 ms: goodput at least bbr's, which ignores the marks.

    8.68 Mbit/s were measured, bbr's 8.34; 7.63 while the window grew by one segment per round trip
    from a mark to the estimate.
    """
    found = runs(tmp_path / "r", "star,bbr", 60, "aqm=fq_codel", "tcp_ecn=1", seeds="1,2")
    assert mean(found, "star") > mean(found, "bbr")


def test_two_flows_with_many_bit_errors(kept: Path, tmp_path: Path) -> None:
    """BER 1e-5: each second SACK is held back for up to a millisecond, which is no queue.

    Jain at least 0.9 in the mean of four runs. 20 runs, seeds 1 to 5 and 21 to 25 with queues of
    15 and 625 kB, had 0.94 to 1.00; where such a SACK counted as a queue's, four had 0.77.
    """
    found = runs(
        tmp_path / "r", "star+star", 120, "queue=15kB", "ber=1e-5",
        seeds="1,2,3,4", of="satellite-shared",
    )  # fmt: skip
    assert statistics.fmean(record["jain"] for record in found) >= 0.9


@pytest.mark.deep
def test_a_deep_policer(kept: Path, tmp_path: Path) -> None:
    """600 kB deep: the bucket lets a wrong estimate pass for a second; then it is taken back.

    9.9 % of what is sent was dropped in 60 s; with one answer per recovery it was five of six.
    Goodput at least bbr's, the aim. The bound of the drops is missed today: 17.5 %, as star takes
    some of them for the link's losses (docs/history/star.md).
    """
    found = runs(tmp_path / "r", "star,bbr", 60, "policer=600kB")
    assert max(dropped(record) for record in found if record["cc"] == "star") <= 0.15
    assert mean(found, "star") >= mean(found, "bbr")


@pytest.mark.deep
def test_a_recovery_that_does_not_end_is_no_silence(kept: Path, tmp_path: Path) -> None:
    """Each round trip loses frames. After 924 s (tcp_retries2) the second timeout of an outage
    ended the connection: the stack took the whole recovery for time in which nothing had come."""
    (record,) = runs(
        tmp_path / "r", "star", 990, "ber=1e-5", "event=outage@950s:10s", seeds="1"
    )  # fmt: skip
    assert record["flows"][0]["timeouts"] >= 2


@pytest.mark.deep
def test_jitter_is_no_congestion(kept: Path, tmp_path: Path) -> None:
    """ACKs 60 ± 40 ms later, BER 1e-6. The aim is 0.9 of the goodput without.

    0.74 was measured, 0.33 to 0.96 in nine runs, deviation 0.20: ACKs that come close together
    raise ABE's estimate, and beside it the flow seems to have others to make room for. The bound
    is three errors of a mean of three away.
    """
    settings = ("ber=1e-6", "jitter=0s,40ms", "jitter_mean=60ms")
    found: dict[str, list[float]] = {}
    for record in runs(tmp_path / "r", "star", 40, *settings):
        found.setdefault(record["set"]["jitter"], []).append(record["total_goodput_bps"])
    still, moved = (statistics.fmean(rates) for rates in found.values())
    assert moved >= 0.35 * still
