# SPDX-License-Identifier: GPL-2.0
"""Responses of star and j to a peer's segments, one by one, on a real kernel.

The path is the script's: a round trip is 100 ms unless said, an ACK per ms is 8 Mbit/s.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.exchange import MSS, Exchange, exchanges, opened

pytestmark = [pytest.mark.guest, pytest.mark.uml]

ALGORITHMS = ("star", "j", "reno")
OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
NO_SACK = "sysctl net.ipv4.tcp_sack=0\n"
NO_STAMPS = "sysctl net.ipv4.tcp_timestamps=0\n"
BARE = NO_SACK + NO_STAMPS + "sysctl net.ipv4.tcp_frto=0\nsysctl net.ipv4.tcp_early_retrans=0\n"
ECN = "sysctl net.ipv4.tcp_ecn=1\n"
FAST_OPEN = "sysctl net.ipv4.tcp_fastopen=5\n"  # as a client, without a cookie


def rounds(count: int, what: str = "") -> str:
    """Round trips in which all data is acknowledged, 1 ms apart; after each an info, r0, r1, …"""
    return "".join(f"train 1000 {what}\nwait 90\ninfo r{n}\n" for n in range(count))


#: A round trip of 100 ms for a second, then one of 140 ms for 25 round trips.
LONGER = "path 1000 100 1000\ninfo before\npath 3500 140 1000\ninfo after\n"
COEXIST = "set /sys/module/tcp_star/parameters/coexist {}\n"
#: Repetitions of exchanges whose outcome might depend on the random sequence number.
OFTEN = 6
LOSSY_ROUNDS = 40
#: Times at which a judgement is switched off, 100 ms apart.
SWITCHES = 10
#: What a path carries that acknowledges a segment per ms, in B/s.
PATH_RATE = 1000 * MSS


def judged() -> dict[str, str]:
    """Exchanges in which star judges rounds, one after the other."""
    begin = COEXIST.format(1) + opened("star", bytes=6_000_000, options="sackok")
    timeout = (
        NO_STAMPS
        + "sysctl net.ipv4.tcp_frto=0\nsysctl net.ipv4.tcp_early_retrans=0\n"
        + begin
        + "path 1000 100 1000\n"
    )
    timeouts = {
        # A D-SACK tells that one was spurious; a second one comes before AEN's verdict.
        "undone": "wait 400\ninfo timeout\nack twice 0\n",
        "second": "wait 1200\ninfo timeout\n",
    }
    found = {
        f"{key}-{n}": timeout + what + LONGER
        for key, what in timeouts.items()
        for n in range(OFTEN)
    }
    mtu = (
        COEXIST.format(1)
        + opened("star", bytes=6_000_000, options="mss 1400 sackok")
        + "path 1500 100 1000\n"
    )
    return found | {
        "longer": begin + LONGER,
        "lossy": begin + "path 1500 100 1000\ninfo before\n"
        + "".join(f"path 100 100 1000 lose 10\ninfo r{n}\n" for n in range(LOSSY_ROUNDS)),
        # All that is under way is lost, as it is too large.
        "shrunk": mtu
        + "info before\npath 100 100 1000 lose 1\nshrink 1000\n"
        + "".join(f"path 150 100 1000\ninfo r{n}\n" for n in range(10)),
        "coexist": begin
        + "path 1000 100 1000\n"
        + COEXIST.format(0)
        + "path 1000 120 1000\ninfo off\n"
        + COEXIST.format(1)
        + "path 4000 140 1000\ninfo on\n",
        # A loss with a queue, and the window rests.
        "yielded": begin
        + "path 1500 100 1000\ninfo full\npath 100 100 1000 lose 30\npath 500 100 1000\n"
        + "info yielded\npath 500 100 1000\ninfo rested\n"
        + COEXIST.format(0)
        + "path 1500 100 1000\ninfo letter\n",
    } | {
        # As published from any time of a test in which the window is lowered for a round.
        f"switched-{n}": begin
        + f"path 1000 100 1000\ninfo full\npath {900 + 100 * n} 140 1000\n"
        + COEXIST.format(0)
        + "path 2000 140 1000\ninfo after\n"
        for n in range(SWITCHES)
    } | {
        "taken-up": begin
        + "path 1000 100 1000\ncc reno\npath 500 100 1000\ncc star\n"
        + "path 500 100 1000\ninfo again\npath 3000 140 1000\ninfo after\n",
    }  # fmt: skip


def duplicates(cc: str, options: str, blocks: bool) -> str:
    """Ten segments are under way; the second and third are told to have arrived, not the first."""
    told = ("sack 1001 2001", "sack 1001 3001") if blocks else ("", "")
    return (
        ("" if blocks else NO_SACK)
        + opened(cc, options=options)
        + "ack 1\ninfo before\n"
        + f"ack 1 {told[0]}\ninfo first\nack 1 {told[1]}\ninfo second\n"
    )


def scripts(cc: str) -> dict[str, str]:
    """All exchanges with a socket of an algorithm."""
    return {
        "duplicates": duplicates(cc, "", blocks=False),
        "sacked": duplicates(cc, "sackok", blocks=True),
        "marks": ECN + opened(cc, options="ece sackok") + "info r\n" + rounds(5, "ece"),
        # The window is above what ABE measures, marks bring it below, then a segment is lost.
        "mark-loss": ECN
        + opened(cc, options="ece sackok")
        + rounds(4)
        + "train 1000 ece\ntrain 1000 ece\ntrain 1000 ece\nwait 90\ninfo marked\n"
        + "ack hole 1\nack hole 2\nack hole 3\nack hole 4\ninfo lost\n"
        + "train 1000\nwait 90\ninfo later\n",
        "fast-open": FAST_OPEN
        + f"cc {cc}\nconnect fast 500\nwait 100\nsynack 501 sackok\nwrite 1000000\nwait 100\n"
        + "ack 501 data 10\ninfo answered\nack 501\ninfo again\n",
        "fast-open-refused": FAST_OPEN
        + f"cc {cc}\nconnect fast 500\nwait 100\nsynack 1 sackok\nwrite 1000000\nwait 100\n"
        + "info refused\ntrain 1000\nwait 90\ninfo after\n",
        "mtu": BARE
        + opened(cc, options="mss 1400")
        + rounds(3)
        + "shrink 1000\ninfo smaller\nwait 100\nack\ninfo once\nwait 90\n",
        "mtu-sack": NO_STAMPS
        + opened(cc, options="mss 1400 sackok")
        + rounds(3)
        + "shrink 1000\ninfo smaller\nwait 100\nack more 14000\ninfo once\nwait 90\n",
        # The SYN is lost, and then the first segment: no RTT by Karn's rule.
        "no-rtt": BARE
        + f"cc {cc}\nconnect\nwait 1500\nsynack\nwrite 1000000\nwait 3500\ninfo timeout\n"
        + "ack more 1000\ninfo partial\nwait 500\ninfo later\n",
        # A timeout; then all has arrived, the second segment twice, and a router has marked.
        "spurious-mark": ECN
        + NO_STAMPS
        + "sysctl net.ipv4.tcp_frto=0\nsysctl net.ipv4.tcp_early_retrans=0\n"
        + opened(cc, options="ece sackok")
        + rounds(4)
        + "info full\nwait 1000\ninfo timeout\nack twice 1 ece\ninfo back\n",
        "idle": opened(cc, bytes=40_000)
        + rounds(4)
        + "info full\nwait 5000\nwrite 40000\ninfo burst\nwait 90\ninfo flight\n",
        "idle-off": "sysctl net.ipv4.tcp_slow_start_after_idle=0\n"
        + opened(cc, bytes=40_000)
        + rounds(4)
        + "info full\nwait 5000\nwrite 40000\ninfo burst\n",
        # A window of two by marks; nothing of it arrives but a first segment, sent again.
        "small-timeout": ECN
        + NO_STAMPS
        + "sysctl net.ipv4.tcp_frto=0\nsysctl net.ipv4.tcp_early_retrans=0\n"
        + opened(cc, options="ece sackok")
        + rounds(5, "ece")
        + "info small\nwait 3000\nack more 1000\ninfo once\n"
        + "wait 6000\nack more 1000\ninfo twice\n",
        "unused": opened(cc, bytes=40_000)
        + rounds(3)
        + "info full\n"
        + "write 1000\nwait 100\nack\nwait 50\n" * 60
        + "info after\n",
        # ACKs of 100 ms come at once; before and after one per ms.
        # 100 ms without an ACK; then what it has held comes at once.
        "stall": opened(cc, bytes=6_000_000)
        + "path 2000 100 1000\ninfo before\nwait 100\n"
        + "".join(f"path 50 100 1000\ninfo after{n}\n" for n in range(8)),
        "slow-last-ack": f"cc {cc}\nlisten\nsyn sackok\nwait 800\nack data 10\naccept\n"
        + "write 1000000\nwait 50\ninfo first\n",
        "defer-accept": f"cc {cc}\ndefer\nlisten\nsyn sackok\nwait 50\nack 1\nwait 750\n"
        + "ack 1 data 10\naccept\nwrite 1000000\nwait 50\ninfo first\n",
        # A loss that the same ACK tells of as a mark, without a queue.
        "marked-loss": ECN
        + opened(cc, bytes=6_000_000, options="ece sackok")
        + "path 800 100 500\ninfo before\nack hole 3 ece\ninfo lost\n",
        # A path of microseconds holds no segment: ABE measures a window of 0.
        "near-idle": f"cc {cc}\nconnect\nsynack sackok\nwrite 300000\n"
        + "ack\n" * 28
        + "info full\nwait 5000\nwrite 300000\ninfo burst\n",
        "taken-up-idle": opened("reno", bytes=300_000)
        + rounds(7)
        + f"cc {cc}\ninfo full\nwait 8000\nwrite 400000\ninfo burst\n",
        # All has arrived; a D-SACK that comes after it has a mark, and calls nothing that answers.
        "idle-mark": ECN
        + opened(cc, bytes=160_000, options="ece sackok")
        + "train 1000\nwait 90\nack hole 3\nwait 90\n"
        + rounds(6)
        + "info full\nack sack 80001 81001 ece\ninfo marked\nwait 8000\nwrite 100000\nwait 90\n"
        + "info flight\nack more 1000\ninfo acked\n",
        # The first flight's ACKs are late; all has arrived, the first segment twice.
        "first-timeout": NO_STAMPS
        + "sysctl net.ipv4.tcp_frto=0\nsysctl net.ipv4.tcp_early_retrans=0\n"
        + opened(cc, bytes=3_000_000, options="sackok")
        + "wait 500\ninfo timeout\nack twice 0\ninfo back\nwait 90\n"
        + rounds(5),
        "taken-up-loss": BARE
        + opened("reno")
        + rounds(3)
        + f"wait 1000\ninfo timeout\ncc {cc}\nack more 1000\ninfo one\n",
        "offload": "offload\n" + opened(cc, options="sackok"),
    }


@pytest.fixture(scope="module")
def seen(root: Path, build: Path) -> dict[str, Exchange]:
    every = {f"{cc}-{key}": text for cc in ALGORITHMS for key, text in scripts(cc).items()}
    every |= {f"star-{key}": text for key, text in judged().items()}
    return exchanges(root, build, "exchanges", every, ALGORITHMS[:2])


def info(seen: dict[str, Exchange], key: str, name: str, what: str = "cwnd") -> int:
    return seen[key].infos[name][what]


OURS = pytest.mark.parametrize("cc", ALGORITHMS[:2])


# --- duplicate ACKs ---------------------------------------------------------------------------


@OURS
@pytest.mark.parametrize("how", ["duplicates", "sacked"])
def test_a_duplicate_ack_lets_one_new_segment_go(
    seen: dict[str, Exchange], cc: str, how: str
) -> None:
    """RFC 3042: the window stays at ten; each of the two may be followed by one segment."""
    for who in (cc, "reno"):
        run = seen[f"{who}-{how}"]
        assert [run.infos[name]["cwnd"] for name in ("before", "first", "second")] == [10] * 3
        assert run.infos["second"]["state"] == DISORDER
    new = seen[f"{cc}-{how}"].data("before", "second")
    assert 1 <= len(new) <= 2
    assert all(segment.length == MSS for segment in new)


# --- marks ------------------------------------------------------------------------------------


@OURS
def test_each_mark_takes_a_fifth(seen: dict[str, Exchange], cc: str) -> None:
    """RFC 8511: 0.8, rounded down, not below two; reno halves."""
    run = seen[f"{cc}-marks"]
    windows = [run.infos[name]["cwnd"] for name in ("r", "r0", "r1", "r2", "r3", "r4")]
    assert windows == [10, 8, 6, 4, 3, 2]
    assert [run.infos[f"r{n}"]["ssthresh"] for n in range(5)] == windows[1:]
    assert [info(seen, "reno-marks", f"r{n}") for n in range(3)] == [5, 2, 2]


@OURS
def test_a_loss_after_marks_raises_nothing(seen: dict[str, Exchange], cc: str) -> None:
    """After marks have lowered the window below ABE's share (about 95 segments)."""
    run = seen[f"{cc}-mark-loss"]
    marked, lost, later = (run.infos[name] for name in ("marked", "lost", "later"))
    assert marked["cwnd"] < 90
    assert lost["state"] == RECOVERY
    # The first retransmission may need one more than what is under way.
    assert lost["cwnd"] <= marked["cwnd"] + 1
    assert lost["ssthresh"] <= marked["cwnd"]
    assert later["cwnd"] <= marked["cwnd"] + 2, "nor does slow start afterwards"


@OURS
def test_a_mark_on_the_ack_that_ends_a_timeout(seen: dict[str, Exchange], cc: str) -> None:
    """star finds the timeout spurious (the D-SACK), and answers the mark from the old window."""
    run = seen[f"{cc}-spurious-mark"]
    assert run.infos["timeout"]["state"] == LOSS
    assert run.infos["back"]["state"] == CWR
    # j has no AEN: it has begun anew, with ten.
    before = run.infos["full"]["cwnd"] if cc == "star" else 10
    assert run.infos["back"]["cwnd"] == before * 4 // 5


@OURS
def test_a_mark_with_a_loss_is_answered(seen: dict[str, Exchange], cc: str) -> None:
    """No later ACK reports the mark, as CWR is sent during recovery: 0.8 of the window."""
    run = seen[f"{cc}-marked-loss"]
    assert run.infos["lost"]["state"] == RECOVERY
    assert run.infos["lost"]["ssthresh"] == run.infos["before"]["cwnd"] * 4 // 5


# --- what is lost without congestion ----------------------------------------------------------


def test_fast_open_is_no_delivery_of_2_32_segments(seen: dict[str, Exchange]) -> None:
    """The stack takes back a segment that the SYN has delivered; no window above reno's ten."""
    for name in ("answered", "again"):
        assert info(seen, "star-fast-open", name) == 10
        assert info(seen, "j-fast-open", name) == 10
        assert info(seen, "reno-fast-open", name) == 10


@OURS
def test_a_refused_fast_open_is_no_timeout(seen: dict[str, Exchange], cc: str) -> None:
    """The SYN's data is sent again, in TCP_CA_Loss; the window goes on as without it."""
    run = seen[f"{cc}-fast-open-refused"]
    assert run.infos["refused"]["state"] == LOSS
    assert run.infos["refused"]["cwnd"] == 10
    # star has lifted the window to what ABE measures, 8 Mbit/s over 100 ms at the least
    least = 80 if cc == "star" else 20
    assert run.infos["after"]["cwnd"] >= least


@OURS
@pytest.mark.parametrize("how", ["mtu", "mtu-sack"])
def test_a_smaller_mtu_is_no_timeout(seen: dict[str, Exchange], cc: str, how: str) -> None:
    """All packets are sent again, smaller; neither window nor threshold falls."""
    run = seen[f"{cc}-{how}"]
    before, smaller, once = (run.infos[name] for name in ("r2", "smaller", "once"))
    assert smaller["state"] == LOSS
    assert smaller["cwnd"] == before["cwnd"]
    assert once["cwnd"] >= before["cwnd"]
    assert once["ssthresh"] >= before["ssthresh"]


def test_without_an_rtt_nothing_waits_for_the_pacing(seen: dict[str, Exchange]) -> None:
    """The first ACK opens the window to ten: nine repairs and a new segment, without waiting."""
    run = seen["star-no-rtt"]
    assert run.infos["partial"]["rtt"] == 0, "there is an RTT"
    assert run.infos["partial"]["pacing"] > 1_000_000
    assert len(run.data("timeout", "partial")) == 10
    assert len(seen["reno-no-rtt"].data("timeout", "later")) >= 1


# --- time without sending ---------------------------------------------------------------------


@OURS
def test_the_window_begins_anew_after_idle(seen: dict[str, Exchange], cc: str) -> None:
    """RFC 5681 4.1: after 5 s, some ten timeouts, ten segments, as reno, unless switched off."""
    for who in (cc, "reno"):
        run = seen[f"{who}-idle"]
        assert run.infos["full"]["cwnd"] >= 50
        assert len(run.data("full", "flight")) == 10
    run = seen[f"{cc}-idle-off"]
    assert run.infos["burst"]["cwnd"] == run.infos["full"]["cwnd"]


@pytest.mark.parametrize("cc", ALGORITHMS)
def test_an_unused_window_does_not_grow(seen: dict[str, Exchange], cc: str) -> None:
    """A segment at a time for 9 s: the window stays as it was, as reno's."""
    run = seen[f"{cc}-unused"]
    assert run.infos["full"]["cwnd"] >= 50
    assert run.infos["after"]["cwnd"] == run.infos["full"]["cwnd"]


@OURS
def test_a_timeout_raises_nothing(seen: dict[str, Exchange], cc: str) -> None:
    """With a window of two after marks, timeouts and losses never send ten segments at once."""
    run = seen[f"{cc}-small-timeout"]
    assert run.infos["small"]["cwnd"] == 2
    for name in ("once", "twice"):
        # and one for what the ACK acknowledges
        assert run.infos[name]["cwnd"] <= 4


@OURS
@pytest.mark.parametrize("how", ["near-idle", "taken-up-idle"])
def test_it_begins_anew_without_an_estimate(seen: dict[str, Exchange], cc: str, how: str) -> None:
    """ABE's share being 0 is no reason to send hundreds of segments after idle."""
    run = seen[f"{cc}-{how}"]
    assert run.infos["full"]["cwnd"] >= 200
    assert run.infos["burst"]["cwnd"] == 10


@OURS
def test_a_mark_from_before_idle_raises_nothing(seen: dict[str, Exchange], cc: str) -> None:
    """The mark is answered by the new flight's first ACK: not with 0.8 of the old window."""
    run = seen[f"{cc}-idle-mark"]
    assert run.infos["full"]["cwnd"] >= 50
    assert run.infos["marked"]["state"] == CWR
    assert run.infos["flight"]["cwnd"] == 10
    assert run.infos["acked"]["cwnd"] <= 11


def test_slow_start_ends_after_a_spurious_first_timeout(seen: dict[str, Exchange]) -> None:
    """The path's product is 100 segments; by then no ssthresh was known (it was 3096)."""
    run = seen["star-first-timeout"]
    assert run.infos["timeout"]["state"] == LOSS
    assert run.infos["back"]["ssthresh"] < 1000
    assert run.infos["r4"]["cwnd"] <= 200


@OURS
def test_taken_up_after_a_timeout_it_starts_slowly(seen: dict[str, Exchange], cc: str) -> None:
    """From reno's one segment the first ACK leads to two (it was 102)."""
    run = seen[f"{cc}-taken-up-loss"]
    assert run.infos["timeout"]["state"] == LOSS
    assert run.infos["one"]["cwnd"] <= 2


# --- misleading ACKs --------------------------------------------------------------------------


def test_a_stall_of_acks_is_no_bandwidth(seen: dict[str, Exchange]) -> None:
    """100 ms of ACKs at once, 8 Mbit/s otherwise: the window hardly moves (it was eight times)."""
    run = seen["star-stall"]
    before = run.infos["before"]["cwnd"]
    assert before == pytest.approx(120, rel=0.15), "the path's product is 100"
    assert max(run.infos[f"after{n}"]["cwnd"] for n in range(8)) <= 1.1 * before


@OURS
@pytest.mark.parametrize("how", ["slow-last-ack", "defer-accept"])
def test_a_late_last_ack_is_no_long_path(seen: dict[str, Exchange], cc: str, how: str) -> None:
    """A handshake of 800 ms, by the peer's choice: ten segments, not 32."""
    assert len(seen[f"{cc}-{how}"].data()) == 10


@OURS
def test_the_first_flight_is_cut_by_tso_as_renos(seen: dict[str, Exchange], cc: str) -> None:
    """Two segments at a time on a path of 100 ms."""
    assert {segment.length for segment in seen[f"{cc}-offload"].data()} == {2 * MSS}
    assert {segment.length for segment in seen["reno-offload"].data()} == {2 * MSS}


# --- star's judgement of rounds ---------------------------------------------------------------


def rate(run: Exchange, begin: str, end: str) -> float:
    """The rate at which the peer acknowledged data between two infos, in B/s."""
    (first, last), (start, stop) = (
        [run.infos[name]["acked"] for name in (begin, end)],
        [run.infos_at[name] for name in (begin, end)],
    )
    return 1e6 * (last - first) / (stop - start)


def assert_follows(run: Exchange, name: str = "after") -> None:
    """The path's RTT is taken for 140 ms, to a sixteenth: from there on it would be a queue's."""
    assert 140_000 <= run.infos[name]["base"] <= 148_750


def test_a_longer_path_is_adopted(seen: dict[str, Exchange]) -> None:
    """Within 25 round trips; 0.91 of what the path carries was measured, with the test's dip."""
    run = seen["star-longer"]
    assert 100_000 <= run.infos["before"]["base"] <= 106_250
    assert_follows(run)
    assert rate(run, "before", "after") > 0.85 * PATH_RATE


@pytest.mark.parametrize("n", range(OFTEN))
@pytest.mark.parametrize("what", ["undone", "second"])
def test_rounds_go_on_after_a_timeout(seen: dict[str, Exchange], what: str, n: int) -> None:
    """One that the stack undoes before AEN is asked, and one that another follows.

    What AEN has noted of it, a sequence number, is no end of a round: none ended any more.
    """
    run = seen[f"star-{what}-{n}"]
    assert run.infos["timeout"]["state"] == LOSS
    assert run.infos["before"]["state"] == OPEN
    assert_follows(run)


def test_a_cut_for_losses_that_stay_is_taken_back(seen: dict[str, Exchange]) -> None:
    """Every tenth segment is lost, whatever the window: it is that of the path, 100, again.

    0.95 of what the path carries was measured. Cut after cut it would be empty.
    """
    run = seen["star-lossy"]
    windows = [run.infos[f"r{n}"]["cwnd"] for n in range(LOSSY_ROUNDS)]
    assert min(windows) < 0.9 * run.infos["before"]["cwnd"], "nothing was cut"
    assert windows[-1] >= 100
    assert rate(run, "before", f"r{LOSSY_ROUNDS - 1}") > 0.9 * PATH_RATE


def test_a_smaller_mtu_is_no_excess_of_losses(seen: dict[str, Exchange]) -> None:
    """A window's segments are lost and sent again, smaller: the path stays full, 100 of them.

    A queue stands before and after, and may be tested: that leaves what is not in it.
    """
    run = seen["star-shrunk"]
    windows = [run.infos[f"r{n}"]["cwnd"] for n in range(10)]
    assert min(windows) >= 100
    assert run.infos["r0"]["state"] == LOSS


def test_the_judgement_goes_on_with_coexist(seen: dict[str, Exchange]) -> None:
    """As published and back: then the longer path is adopted as without the switch."""
    run = seen["star-coexist"]
    assert run.infos["off"]["base"] <= 106_250
    assert_follows(run, "on")
    assert rate(run, "off", "on") > 0.85 * PATH_RATE


def test_the_letter_ends_an_answer_to_congestion(seen: dict[str, Exchange]) -> None:
    """A window that has yielded rests; as published, slow start begins above ABE's share."""
    run = seen["star-yielded"]
    full, yielded, rested, letter = (
        run.infos[name]["cwnd"] for name in ("full", "yielded", "rested", "letter")
    )
    assert rested == yielded < full
    assert letter > rested + 50


@pytest.mark.parametrize("n", range(SWITCHES))
def test_nothing_of_a_test_is_left_when_it_is_switched_off(
    seen: dict[str, Exchange], n: int
) -> None:
    """A test lowers the window to three quarters, for a round: 2 s later it is back."""
    run = seen[f"star-switched-{n}"]
    assert run.infos["after"]["cwnd"] >= run.infos["full"]["cwnd"]


def test_the_judgement_begins_anew_with_the_algorithm(seen: dict[str, Exchange]) -> None:
    """Star, reno for five round trips, star again: it knows the path's RTT from the stack."""
    run = seen["star-taken-up"]
    assert 100_000 <= run.infos["again"]["base"] <= 106_250
    assert_follows(run)
    assert rate(run, "again", "after") > 0.85 * PATH_RATE
