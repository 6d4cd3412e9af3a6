# SPDX-License-Identifier: GPL-2.0
"""The lab's sender when SYN-ACKs are lost: after two, it tries again with a new socket. One that
takes more than the 3 s of a socket finds a later one, which waits for longer.
"""

from __future__ import annotations

import pytest

from tests.guest.runs import Case, Run, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

RTT = 0.5  # s
CASES = {
    f"{length_s:g}": Case({"ack_blackout": (0.0, length_s)}, "cubic", duration_s=8.0)
    for length_s in (0.5, 3.5)
} | {
    "far": Case({"delay": 2.0}, "cubic", duration_s=8.0),
    "third": Case({"ack_blackout": (0.0, 6.5), "tcp_timestamps": 0}, "cubic", duration_s=7.0),
}


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
