# SPDX-License-Identifier: GPL-2.0
"""The lab when a SYN or its answer is lost: after two the sender tries again with a new socket, and
the limit is of the interval that was measured. An answer that takes more than the 3 s of a socket
finds a later one, which waits for longer.
"""

from __future__ import annotations

import pytest

from tests.guest.runs import Case, Run, parsed, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

RTT = 0.5  # s
CASES = {
    f"{length_s:g}": Case({"ack_blackout": (0.0, length_s)}, "cubic", duration_s=8.0)
    for length_s in (0.5, 3.5)
} | {
    "far": Case({"delay": 2.0}, "cubic", duration_s=8.0),
    "third": Case({"ack_blackout": (0.0, 6.5), "tcp_timestamps": 0}, "cubic", duration_s=7.0),
}
DEAD_S, LENGTH_S = 0.5, 2.0  # a run in whose first half second nothing passes
DEAD = {
    "satellite": {"delay": "20ms"},
    "satellite-shared": {"delay": "20ms", "flows": "1"},
    "lfn": {"rate": "20mbit", "n": "1", "reno": "0", "spread": "0s"},
    "radio": {"segment": "0", "delay": "20ms"},
    "multipath": {"via": "plain", "delay1": "20ms"},
}
CASES |= {
    name: Case(
        parsed(name, {"event": f"{event}@0s:{DEAD_S}s", **texts}) | {"window": 0},
        "cubic",
        LENGTH_S,
        scenario=name,
    )
    for name, texts in DEAD.items()
    for event in ["loss:100%" if name == "multipath" else "outage"]
}


BOTH = {"event1": "loss:100%@0s:200ms", "via": "bonding", "delay1": "20ms", "delay2": "20ms"}
CASES["one-of-two"] = Case(
    parsed("multipath", {"flows": "2", **BOTH, "rate": "2mbit"}) | {"window": 0},
    "cubic",
    LENGTH_S,
    scenario="multipath",
)
runs = runs_of("lost-syn", CASES)


@pytest.mark.parametrize(
    # Sent at 0 and 1 s by the first socket, which waits 2 s more; at 3 and 4 s by the second one.
    # One socket alone would send again at 3 and 7 s, as would the receiver its answers.
    ("length_s", "at_s"),
    [(0.5, 1), (3.5, 4)],
)
def test_when_a_connection_stands(runs: dict[str, Run], length_s: float, at_s: float) -> None:
    sent = runs[f"{length_s:g}"].sent
    assert (sent["t0_us"] - sent["syn_us"]) / 1e6 == pytest.approx(at_s + RTT, abs=0.1)


def test_a_long_way_is_no_lost_syn(runs: dict[str, Run]) -> None:
    """The fourth socket sends at 9 s, as timers are late, and waits 7; the round trip is 4 s."""
    sent = runs["far"].sent
    assert (sent["t0_us"] - sent["syn_us"]) / 1e6 == pytest.approx(9 + 4, abs=0.2)


def test_the_third_socket_is_answered_by_no_cookie(runs: dict[str, Run]) -> None:
    """Without timestamps Linux's cookies leave neither a scale of the window nor SACK."""
    info = runs["third"].sent["info"]
    assert info["snd_wscale"] > 0
    assert info["options"] == 2 + 4


def test_the_second_socket_sends_as_the_first_would(runs: dict[str, Run]) -> None:
    """With the same algorithm and for as long, counted from the connection: 8 s and an RTT."""
    sent = runs["3.5"].sent
    assert sent["cc"] == "cubic"
    assert sent["info"]["delivered"] > 100
    assert (sent["end_us"] - sent["t0_us"]) / 1e6 == pytest.approx(8 + RTT, abs=0.2)


@pytest.mark.parametrize("name", DEAD)
def test_the_limit_does_not_count_what_was_before_the_interval(
    runs: dict[str, Run], name: str
) -> None:
    """The SYN is sent again after a second, so that the interval begins when the path is whole."""
    run = runs[name]
    whole = run.case.plan.paths[0].ceiling.steps[-1][1]
    assert (run.sent["t0_us"] - run.sent["syn_us"]) / 1e6 >= 1
    assert run.case.plan.limit_bps < 0.9 * whole
    assert run.record["limit_bps"] == pytest.approx(whole, rel=1e-3)
    assert 0.1 < run.record["total_goodput_bps"] / run.record["limit_bps"] <= 1.02


def test_a_flow_waits_for_the_one_whose_syn_was_lost(runs: dict[str, Run]) -> None:
    """Of two flows one begins on each path, and a path loses all for 200 ms."""
    run = runs["one-of-two"]
    begins = sorted(flow["own"]["from_s"] for flow in run.record["flows"])
    assert begins[0] < 0.5 and begins[1] > 1
    assert run.record["interval"]["over_s"] == LENGTH_S
