# SPDX-License-Identifier: GPL-2.0
"""requests in a real guest: calculated completion times, a lost SYN, bytes, a bulk flow."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.guest.runs import Case, Run, parsed, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

RTT = 0.504  # s: the hop's 250 ms and two wired links of 1 ms, both ways
FRAME_S = 1514 * 8 / 10e6  # a full frame at the bottleneck
SMALL_S = 0.002  # the handshake's frames, and a full frame on the wired links
PAYLOAD = 1448
DELAYED_ACK_S = 0.04
SIZES = (10_000, 100_000)


def transfers(cc: str, duration_s: float, **values: object) -> Case:
    return Case({"sizes": SIZES, **values}, cc, duration_s, scenario="requests")


CASES = {
    "idle": transfers("cubic", 12),
    "syn": transfers("cubic", 4, sizes=(10_000,), data_blackout=(0.0, 0.9)),
    "errors": transfers("star", 12, ber=1e-5),
    "beside": transfers("cubic+star", 10, lead=5.0),
    "kept": transfers("cubic", 6, sizes=(100_000,), persistent=1),
    "rested": transfers("cubic", 20, sizes=(100_000,), persistent=1, idle=15.0),
    "moving": transfers(
        "cubic",
        8,
        **parsed("requests", {"sizes": "10kB", "event": "delay:500ms@4s", "period": "1s"}),
    ),
    "paced": transfers("cubic+star", 9, period=4.0, lead=0.0, rate=100_000_000),
}


runs = runs_of("requests", CASES)


def times(run: Run) -> dict[int, list[float]]:
    """The completion times of each size."""
    return {one["bytes"]: one["times_s"] for one in run.record["requests"]["sizes"]}


def test_a_path_moves_with_no_other_flow(runs: dict[str, Run]) -> None:
    """One and a half round trips of 504 ms, and of 1004 ms for what begins after 4 s."""
    found = times(runs["moving"])[10_000]
    assert found[0] == pytest.approx(1.5 * RTT, abs=0.02)
    assert found[-1] == pytest.approx(1.5 * (RTT + 0.5), abs=0.02)


def test_completion_times_are_those_of_slow_start(runs: dict[str, Run]) -> None:
    """One round trip for the handshake, half of one for the last flight, one for each before.

    10 kB are 7 segments, less than the first window of 10; 100 kB are 70: flights of 10, 20 and 40.
    The bounds differ by the transmission time and one ACK that may be delayed.
    """
    found = times(runs["idle"])
    assert set(found) == set(SIZES)
    for took in found[10_000]:
        assert 0 <= took - 1.5 * RTT <= 7 * FRAME_S + SMALL_S
    for took in found[100_000]:
        assert 0 <= took - 3.5 * RTT <= 70 * FRAME_S + SMALL_S + DELAYED_ACK_S
    record = runs["idle"].record
    assert (record["losses"], record["flows"][0]["retransmits"]) == (0, 0)


def test_a_lost_syn_costs_a_second(runs: dict[str, Run]) -> None:
    """The first timer is 1 s; the kernel's timers of that length are up to 36 ms late at 250 Hz."""
    first, *others = times(runs["syn"])[10_000]
    assert runs["syn"].record["link_drops"] == 1
    for took in others:
        assert 0 <= took - 1.5 * RTT <= 7 * FRAME_S + SMALL_S
        assert 1.0 - SMALL_S <= first - took <= 1.036 + SMALL_S


def test_a_kept_connection_keeps_its_window_until_it_rests(runs: dict[str, Run]) -> None:
    """The first chunk takes flights of 10, 20 and 40 segments, which leaves a window of 80: the
    next ones are a flight each, half a round trip. After 15 s the window is that of a new
    connection, as the kernel halves it for each timer that has passed."""
    flight = 70 * FRAME_S + SMALL_S
    first, *others = times(runs["kept"])[100_000]
    assert len(others) >= 3
    for took in (first, *times(runs["rested"])[100_000]):
        assert 0 <= took - 2.5 * RTT <= flight + DELAYED_ACK_S
    for took in others:
        assert 0 <= took - 0.5 * RTT <= flight
    begun = [at / 1e6 for at, _ in runs["rested"].sent["transfers"]]
    ended = [at / 1e6 for _, at in runs["rested"].json("flow1.recv.json")["transfers"]]
    assert len(begun) == 2
    assert begun[1] - ended[0] == pytest.approx(15 + 0.5 * RTT, abs=SMALL_S)


def test_transfers_begin_in_time(runs: dict[str, Run]) -> None:
    """Every 4 s, and a bulk flow beside them goes on for as long as no further one is due."""
    run = runs["paced"]
    begun = [at for at, _ in run.sent["transfers"]]
    assert [round((at - begun[0]) / 1e6, 2) for at in begun] == [4.0 * n for n in range(len(begun))]
    assert len(begun) >= 3
    assert run.record["interval"]["over_s"] == 9


@pytest.mark.parametrize("name", CASES)
def test_what_was_sent_has_arrived(runs: dict[str, Run], name: str) -> None:
    """All bytes arrive, each round has every size once, no transfer is faster than the path."""
    run = runs[name]
    sent = [size for _, size in run.sent["transfers"]]
    record = run.record
    sizes = sorted(set(sent))
    for start in range(0, len(sent), len(sizes)):
        assert max(Counter(sent[start : start + len(sizes)]).values()) == 1
    assert sum(sent) == record["requests"]["bytes"] == run.json("flow1.recv.json")["bytes"]
    assert len(sent) == record["requests"]["transfers"] >= (2 if name == "rested" else 3)
    assert record["flows"][0]["segments"] >= sum(math.ceil(size / PAYLOAD) for size in sent)
    trips = 0.5 if run.record["set"].get("persistent") else 1.5
    assert all(took >= trips * RTT for own in times(run).values() for took in own)
    if name == "errors":  # about one full frame in nine is lost
        assert record["link_drops"] > 0
        assert record["flows"][0]["retransmits"] > 0


def test_a_bulk_flow_runs_before_and_as_long_as_the_transfers(runs: dict[str, Run]) -> None:
    run = runs["beside"]
    record, bulk = run.record, run.json("flow2.send.json")
    ended = [last for _, last in run.json("flow1.recv.json")["transfers"]][-1]
    assert run.sent["syn_us"] - bulk["syn_us"] == pytest.approx(5e6, abs=2e6 * RTT)
    assert 0 <= (bulk["end_us"] - ended) / 1e6 <= 3 * RTT
    assert record["interval"]["over_s"] == 10
    assert record["total_goodput_bps"] <= 1.01 * record["limit_bps"]
    assert record["flows"][1]["goodput_bps"] > 0.25 * record["limit_bps"], "a half of its half"
