# SPDX-License-Identifier: GPL-2.0
"""The radio in a real guest: losses of each frame length, rate, delay and events, compared with
calculated values.

Where packets in flight must be known, the flow has the oracle's constant window.
"""

from __future__ import annotations

import math

import pytest

from tests.guest.runs import Case, Run, parsed, runs_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

ACK = 66  # frame of an ACK with timestamps
PACKETS = 500
PING_PAYLOADS = (14, 100, 472, 1472, 2000)  # bytes; the frames have 42 more
PINGS = 2_000


def over_radio(cc: str = "cubic", duration_s: float = 10.0, beside: str = "", **texts: str) -> Case:
    """A case with parameters as text, as on the command line; TCP alone unless told."""
    more = {"constant.cwnd": texts.pop("cwnd")} if "cwnd" in texts else {}
    values = parsed("radio", {"segment": "0", "window": "0", **texts})
    return Case(values | more, cc, duration_s, beside=beside, scenario="radio")


ECHOES = "".join(
    f"ip netns exec gw ping -q -c {PINGS} -i 0.001 -s {size} 10.0.1.2 >$OUT/ping{size}\n"
    for size in PING_PAYLOADS
)
STILL = {"rate": "10gbit", "mtu": "2100", "cwnd": "2", "sender": "gateway", "delay": "1ms"}
CASES = {
    "lengths": over_radio(
        "constant", 40, ECHOES, ber="1e-5", ack_ber="0", event="rate:1mbit@39s", **STILL
    ),
    "full": over_radio("constant", 60, ber="2e-5", ack_ber="1e-4", cwnd="40"),
    "short": over_radio("constant", 60, ber="2e-5", ack_ber="0", mtu="500", cwnd="80"),
    "window": over_radio(window="36", ping="1"),
    "gateway": over_radio(window="36", ping="1", sender="gateway"),
    "packets": over_radio(duration_s=60, packets=f"{PACKETS}", series="1s"),
    "ipv6": over_radio(ipv6="1", window="36", ping="1"),
    "moved": over_radio(
        "constant", 20, cwnd="30", queue="60kB", ping="1",
        event="rate:1mbit@4s:4s+delay:10ms@12s:4s",
    ),
    "errors": over_radio("constant", 30, cwnd="40", event="ber:1e-5@10s:10s"),
    "outage": over_radio("constant", 10, cwnd="10", event="outage@4s:1s"),
    "fq_codel": over_radio(
        duration_s=20, qdisc="fq_codel", target="5ms", interval="100ms", ping="1"
    ),
    "fifo": over_radio(duration_s=20, queue="30kB", ping="1"),
    "box": over_radio("constant", 20, cwnd="60", box="1", completion="2ms", ack_ber="0"),
    "turn": over_radio("constant", 20, cwnd="60", turn="200ms"),
}  # fmt: skip

runs = runs_of("radio", CASES)


def lost_of(ber: float, frame: int) -> float:
    """Probability that a frame is lost."""
    return 1 - (1 - ber) ** (8 * frame)


def as_likely(count: int, of: int, chance: float, sigmas: float = 5.0) -> bool:
    """Whether a binomial count is within so many standard deviations of its mean."""
    return abs(count - of * chance) <= sigmas * math.sqrt(of * chance * (1 - chance)) + 1


# --- bit errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", PING_PAYLOADS)
def test_frames_of_every_length_are_lost_as_often_as_their_bits_say(
    runs: dict[str, Run], payload: int
) -> None:
    """2000 pings, from 56 to 2042 bytes of frame; echoes come back without errors."""
    text = runs["lengths"].text(f"ping{payload}")
    sent, received = (int(words.split()[0]) for words in text.splitlines()[-2].split(", ")[:2])
    assert sent == PINGS
    assert as_likely(sent - received, sent, lost_of(1e-5, payload + 42))


@pytest.mark.parametrize(("name", "frame"), [("full", 1514), ("short", 514)])
def test_what_tcp_loses_is_counted(runs: dict[str, Run], name: str, frame: int) -> None:
    record = runs[name].record
    (flow,) = record["flows"]
    assert as_likely(record["link_drops"], flow["segments"], lost_of(2e-5, frame))
    assert record["queue"]["drops"] == 0
    assert flow["retransmits"] >= record["link_drops"] - 40  # the last window is not repaired
    if name == "full":  # ACKs have 66 to 90 bytes
        acks = runs[name].json("nstat-mh.json")["kernel"]["TcpOutSegs"]
        assert lost_of(1e-4, ACK) - 0.01 < record["ack_drops"] / acks < lost_of(1e-4, 90) + 0.01
    else:
        assert record["ack_drops"] == 0


# --- rate, delay, queue -----------------------------------------------------------------------


def test_rate_and_window(runs: dict[str, Run]) -> None:
    """36 packets of 1500 B: 2 Mbit/s are full, less the start and the pings; a frame takes 6.1 ms,
    the window 218 ms, of which the queue holds all but what travels."""
    record = runs["window"].record
    assert record["total_goodput_bps"] == pytest.approx(2e6 * 1448 / 1514, rel=0.015)
    assert record["link"]["utilisation"] == pytest.approx(1, abs=0.005)
    (flow,) = record["flows"]
    assert flow["rtt_ms"]["min"] == pytest.approx(100, abs=1)
    assert flow["rtt_ms"]["p99"] == pytest.approx(36 * 1514 * 8 / 2e3, abs=8)
    assert 100 <= record["ping"]["max_ms"] <= 36 * 1514 * 8 / 2e3 + 8
    assert (flow["retransmits"], record["losses"]) == (0, 0)


def test_the_gateway_itself_keeps_its_queue_small(runs: dict[str, Run]) -> None:
    """TCP small queues; through a gateway they are unknown."""
    own, behind = (runs[name].record for name in ("gateway", "window"))
    assert own["total_goodput_bps"] == pytest.approx(behind["total_goodput_bps"], rel=0.02)
    assert own["ping"]["p99_ms"] < behind["ping"]["p99_ms"] - 30


def test_packets_are_sent_and_no_more(runs: dict[str, Run]) -> None:
    run = runs["packets"]
    record = run.record
    assert record["flows"][0]["segments"] == PACKETS
    assert run.json("flow1.recv.json")["bytes"] == PACKETS * 1448
    assert record["total_goodput_bps"] == pytest.approx(2e6 * 1448 / 1514, rel=0.04)
    tcp = record["sequence"]["tcp"]
    assert tcp == sorted(tcp)
    assert 100 < tcp[-1] < 2e6 / 8 / 1514 + 60


def test_ipv6(runs: dict[str, Run]) -> None:
    record = runs["ipv6"].record
    assert record["total_goodput_bps"] == pytest.approx(2e6 * 1428 / 1514, rel=0.015)
    assert record["ping"]["answers"] > 80


def test_a_queue_that_keeps_delay_low(runs: dict[str, Run]) -> None:
    """fq_codel inside the rate: pings pass the flow; FIFO: 20 frames of 6.1 ms before them."""
    fair, fifo = (runs[name].record for name in ("fq_codel", "fifo"))
    assert fair["ping"]["p99_ms"] < 125
    assert fifo["ping"]["p99_ms"] > 150
    assert fifo["ping"]["max_ms"] < 100 + 21 * 6.1 + 5
    for record in (fair, fifo):
        assert record["queue"]["drops"] > 0
        assert record["flows"][0]["retransmits"] > 0


# --- events -----------------------------------------------------------------------------------


def test_rate_and_delay_move(runs: dict[str, Run]) -> None:
    """30 packets in flight; frames stay in order when the delay falls."""
    run = runs["moved"]
    full = 1448 / 1514
    assert run.rate_between(5, 8) == pytest.approx(1e6 * full, rel=0.02)
    assert run.rate_between(9, 12) == pytest.approx(2e6 * full, rel=0.02)
    assert run.rate_between(13, 16) == pytest.approx(2e6 * full, rel=0.02)
    received = run.json("nstat-mh.json")["kernel"]
    assert received["TcpExtTCPOFOQueue"] == 0
    assert run.record["flows"][0]["rtt_ms"]["min"] == pytest.approx(100, abs=60)
    assert run.record["flows"][0]["retransmits"] == 0


def test_bit_errors_begin_and_end(runs: dict[str, Run]) -> None:
    """Ten of thirty seconds lose 11.4 % of the frames; the others none."""
    run = runs["errors"]
    (flow,) = run.record["flows"]
    during = 2e6 / 8 / 1514 * 10
    assert as_likely(run.record["link_drops"], round(during), lost_of(1e-5, 1514), 6)
    lost = dict(zip(run.column("t_us"), run.column("total_retrans"), strict=True))
    syn = run.sent["syn_us"]
    assert max(n for t, n in lost.items() if t < syn + 10e6) == 0
    late = [n for t, n in lost.items() if t > syn + 22e6]
    assert late[0] == late[-1] == flow["retransmits"] > 0


def test_an_outage_loses_everything(runs: dict[str, Run]) -> None:
    run = runs["outage"]
    assert run.rate_between(4.2, 5.0) == 0
    assert run.record["link_drops"] > 0
    assert run.rate_between(7, 9) > 0


# --- modems -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "share"), [("box", 1.0), ("turn", 0.5)])
def test_a_modem_has_its_rate(runs: dict[str, Run], name: str, share: float) -> None:
    """A box with a driver that completes late has all of it, a half-duplex radio its turns."""
    got = runs[name].record["total_goodput_bps"]
    assert got == pytest.approx(share * 2e6 * 1448 / 1514, rel=0.02)
    assert runs[name].record["limit_bps"] == pytest.approx(got, rel=0.02)
