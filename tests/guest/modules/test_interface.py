# SPDX-License-Identifier: GPL-2.0
"""What the stack tells star and j beside ACKs: windows that routes give, pauses, local drops, MTUs.

The scripts' language is that of tests/played/exchanges; neighbours are in test_exchanges.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.test_exchanges import ECN, carry, coexist, opened, syn
from tests.played.exchanges.expected import STATES
from tests.played.exchanges.log import Log
from tests.played.exchanges.play import STOCK, Logs, play_texts

pytestmark = [pytest.mark.guest, pytest.mark.uml]

CWR, LOSS = STATES["CWR"], STATES["LOSS"]
STAMPS = "sackOK,TS"
#: The largest MSS that the guest's device allows.
WIDE = 1460
#: Half a second later, 50 ms of it.
LATER_ALL = "+.5 send 200000\n+.05 info first\n"


def late(answer_s: float, route: str = "") -> str:
    """An active open whose SYN-ACK comes so late; the route has such metrics."""
    metrics = f"run ip route change 10.8.0.0/24 dev wire src 10.8.0.1 {route}\n" if route else ""
    answer = f"+{answer_s} < S. ack 1 {syn(STAMPS)}\n"
    return f"{metrics}connect\n{answer}send 1000000\n+.05 info first\n"


def scripts() -> dict[str, str]:
    """Exchanges that are played for each algorithm."""
    return {
        # Its SYN leaves at 0, 1 and 3 s.
        "syn-twice": late(4),
        "route-window": late(0.8, "initcwnd 4"),
        # A window of 20 segments and more on a path of 10 ms.
        "idle": "offload\n" + opened(400 * WIDE, "", mss=WIDE, rtt_ms=10)
        + "+.01 < . ack nxt\n" * 25 + f"info full\n+5 send {80 * WIDE}\ninfo burst\n",
        # A request of 24 octets, or six, and then a lot.
        "request": opened(24) + "< . ack nxt\ninfo full\n" + LATER_ALL,
        "requests": "connect\n+.1 " + f"< S. ack 1 {syn()}\nset TCP_NODELAY 1\n" + "send 24\n" * 6
        + "+.1 < . ack una+24\n< . ack nxt\ninfo full\n" + LATER_ALL,
        # The path has become longer, and a test lowers the window for a round trip: then a router
        # marks, and another one says that segments are too large.
        "dip": coexist(1) + ECN + opened(6_000_000, flags="SE.", mss=1400) + carry(1000)
        + "info full\n" + carry(1330, 140) + "info dip\n< E. ack una+1400\ninfo marked\n"
        + "< icmp frag_needed mtu 1000\ninfo smaller\n+.05 < . ack una+1000\ninfo once\n",
        # For 20 ms two segments find room in the queue of the device, for 4 ms.
        "local": opened(6_000_000) + carry(300) + "info before\n"
        + "run tc qdisc add dev wire root netem delay 4ms limit 2\n" + carry(20)
        + "run tc qdisc change dev wire root netem limit 1000\ninfo dropped\n"
        + carry(200) + "info after\n",
    }  # fmt: skip


@pytest.fixture(scope="module")
def seen(build: Path) -> Logs:
    logs = play_texts(build / "tests" / "interface", scripts(), ("star", "j", "reno"))
    for key, log in logs.items():
        failed = {r for r in log.calls.values() if r.startswith("-")} - {"-EINPROGRESS"}
        assert not failed, key
        assert not log.damaged, key
    return logs


# --- the first window -------------------------------------------------------------------------


def first_flight(log: Log) -> int:
    """Segments that left before the first ACK."""
    return len({s.seq for s in log.payload() if s.at <= log.info("first").at})


@pytest.mark.parametrize("cc", ["star", "j", "reno"])
@pytest.mark.parametrize(("script", "window"), [("syn-twice", 1), ("route-window", 4)])
def test_the_stacks_smaller_window_stays(seen: Logs, cc: str, script: str, window: int) -> None:
    """A SYN lost twice leaves one segment (RFC 5681 3.1): star sent 38, one per 25 ms."""
    assert first_flight(seen[script, cc]) == window


# --- what an application sends ---------------------------------------------------------------


@pytest.mark.parametrize("cc", ["star", "j", "reno"])
@pytest.mark.parametrize("script", ["request", "requests"])
def test_a_request_is_no_measure_of_the_path(seen: Logs, cc: str, script: str) -> None:
    """The first ACK lifted star's window from 10 to 110, all of which left within 50 ms."""
    run = seen[script, cc]
    assert run["full"]["cwnd"] <= 16
    assert len(run.data("full", "first")) <= run["full"]["cwnd"]


# --- what is lost, or not, on this machine ------------------------------------------------------


def test_a_smaller_mtu_in_a_test_is_no_timeout(seen: Logs) -> None:
    """The window is below star's for the test: it began anew, with ten segments.

    That a window was lost is judged all the same: half of it is left.
    """
    run = seen["dip", "star"]
    assert run["dip"]["cwnd"] < 0.9 * run["full"]["cwnd"], "no test"
    assert (run["marked"]["state"], run["smaller"]["state"]) == (CWR, LOSS)
    assert run["once"]["cwnd"] >= run["marked"]["cwnd"] // 2


@pytest.mark.parametrize("cc", ["star", "j"])
def test_a_local_drop_is_a_loss_and_no_mark(seen: Logs, cc: str) -> None:
    """Window and threshold are what ABE measures, and LWC goes on.

    As after a mark, 0.8 of the window was left, and star's stayed there for ten round trips.
    """
    run = seen["local", cc]
    assert run["dropped"]["state"] == CWR
    assert run["dropped"]["ssthresh"] == pytest.approx(100, abs=10)
    assert run["after"]["cwnd"] > 0.8 * run["before"]["cwnd"] + 10


# --- time without sending ---------------------------------------------------------------------


@pytest.mark.parametrize("cc", ["j", "reno"])
def test_idle_time_shrinks_the_window_before_the_first_packet(seen: Logs, cc: str) -> None:
    """j sent 44 segments as one packet (64 kB): half of the new window are due."""
    run = seen["idle", cc]
    assert run["full"]["cwnd"] > 20
    lengths = [s.length for s in run.data("full", "burst")]
    assert lengths
    assert sum(lengths) <= 10 * WIDE
    assert max(lengths) <= 5 * WIDE


def test_no_packet_after_idle_has_more_than_half_of_a_valid_window(seen: Logs) -> None:
    run = seen["idle", "star"]
    assert run["burst"]["cwnd"] == run["full"]["cwnd"] > 20
    lengths = [s.length for s in run.data("full", "burst")]
    assert lengths
    assert max(lengths) <= run["full"]["cwnd"] // 2 * WIDE


#: Newer kernels than engine uml's call init() of a later algorithm as at the end of a handshake.
LATER = {
    "accepted": f"listen\n< S 0:0(0) {syn()}\n+.8 < . ack 1\naccept\ncc reno\ncc\n"
    "send 1000000\n+.05 info first\n",
    "taken-up": f"cc reno\nconnect\n+.8 < S. ack 1 {syn()}\nsend 1000000\n"
    "+.8 < . ack una+1000\ncc\ninfo first\n",
}


@pytest.mark.deep
def test_an_algorithm_that_comes_later_begins_no_connection(build: Path) -> None:
    """800 ms are worth 32 segments, but for an active open only, and before any data."""
    logs = play_texts(build / "tests" / "interface-later", LATER, ("star",), STOCK)
    windows = {script: log["first"]["cwnd"] for (script, _), log in logs.items()}
    assert windows == {"accepted": 10, "taken-up": 11}
