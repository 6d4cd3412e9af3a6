# SPDX-License-Identifier: GPL-2.0
"""Responses of star and j to a peer's segments, one by one, on a real kernel.

The scripts' language is that of tests/played/exchanges. The path is the script's: a round trip is
100 ms unless said, an ACK per ms is 8 Mbit/s.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.runs import deep_ones
from tests.played.exchanges.expected import STATES
from tests.played.exchanges.log import Log
from tests.played.exchanges.play import play_texts

pytestmark = [pytest.mark.guest, pytest.mark.uml]

OTHERS = ("hstcp_gentle", "compound", "compound_plus", "reno")
#: What is played for all is played for the first in `make check`.
FIRST, REST = ("star", "j", "hstcp_gentle"), ("compound", "compound_plus", "reno")
OPEN, _, CWR, RECOVERY, LOSS = STATES.values()
MSS = 1000
NO_STAMPS = "sysctl tcp_timestamps=0\n"
LATE_ONLY = "sysctl tcp_frto=0\nsysctl tcp_early_retrans=0\n"  # nothing before a timeout, or after
BARE = "sysctl tcp_sack=0\n" + NO_STAMPS + LATE_ONLY
ECN = "sysctl tcp_ecn=1\n"

LOSSY_ROUNDS = 40
#: Times at which a judgement is switched off, 200 ms apart.
SWITCHES = 2
#: How often a connection whose sequence numbers wrap is looked at, 200 ms apart.
WRAP_INFOS = 8
EARLY_EXIT = "file /sys/module/tcp_hstcp_gentle/parameters/early_exit=1\n"
#: What a path carries that acknowledges a segment per ms, in B/s.
PATH_RATE = 1000 * MSS


def syn(options: str = "sackOK", mss: int = MSS) -> str:
    """Options of the peer's SYN; its window is 4 MB then."""
    return f"<mss {mss},wscale 12{options and ','}{options}>"


def opened(
    octets: int = 1_000_000,
    options: str = "sackOK",
    flags: str = "S.",
    mss: int = MSS,
    rtt_ms: int = 100,
) -> str:
    """A connection has sent its first window on an empty path, a round trip ago. The SYN left some
    us after the call."""
    answer = f"< {flags} ack 1 {syn(options, mss)}"
    rtt = f"+{rtt_ms / 1000:.3f}"
    return f"connect\n{rtt}01 {answer}\nsend {octets}\n{rtt} wait\n"


def rounds(count: int, flags: str = "") -> str:
    """Round trips in which all data is acknowledged, 1 ms apart; after each an info, r0, r1, …"""
    return "".join(f"train 1000 {flags}\n+.09 info r{n}\n" for n in range(count))


def carry(ms: int, rtt_ms: int = 100, gap_us: int = 1000, lose: int = 0) -> str:
    """A path of a round trip and a rate for some time."""
    return f"path {rtt_ms}\ncarry {ms} {gap_us}{f' lose {lose}' if lose else ''}\n"


def coexist(on: int) -> str:
    """Star as changed for the sake of others, or as published."""
    return f"file /sys/module/tcp_star/parameters/coexist={on}\n"


def hole(segments: int, flags: str = "") -> str:
    """Nothing new but that so many segments behind the first one have arrived."""
    return f"< {flags}. ack una <sack una+1000:una+{1000 * (1 + segments)}>\n"


def twice(segment: int, flags: str = "") -> str:
    """All has arrived, the Nth of the segments not acknowledged so far twice."""
    return f"< {flags}. ack nxt <sack una+{1000 * segment}:una+{1000 * (segment + 1)}>\n"


#: A round trip of 100 ms for a second, then one of 140 ms for 25 round trips.
LONGER = carry(1000) + "info before\n" + carry(3500, 140) + "info after\n"


#: Played for all algorithms. Losses, and later a timeout, when all that is under way is lost, or
#: its first segment; slow start beyond what the path carries, with sequence numbers far from 2^32,
#: just below it, a flight below it.
FOR_ALL = {
    f"lost-{what}": NO_STAMPS + LATE_ONLY + opened(6_000_000) + carry(1500)
    + carry(100, lose=30) + carry(1000) + f"info full\n+{after} info timeout\n"
    + f"< . ack {arrived}\ninfo once\n"
    for what, after, arrived in (("window", 2, "una+1000"), ("first", .5, "nxt"))
} | {
    f"wrap-{name}": EARLY_EXIT + f"repair {first}\n< . ack una win 60000\nsend 6000000\n"
    + "".join(carry(200) + f"info r{n}\n" for n in range(WRAP_INFOS))
    for name, first in (("far", 5_000_000), ("below", -500), ("flight", -20_000))
}  # fmt: skip


def judged() -> dict[str, str]:
    """Exchanges in which star judges rounds, one after the other."""
    begin = coexist(1) + opened(6_000_000)
    timeout = NO_STAMPS + LATE_ONLY + begin + carry(1000)
    timeouts = {
        # A D-SACK tells that one was spurious; a second one comes before AEN's verdict.
        "undone": "+.4 info timeout\n" + twice(0),
        "second": "+1.2 info timeout\n",
    }
    found = {key: timeout + what + LONGER for key, what in timeouts.items()}
    return found | {
        "longer": begin + LONGER,
        "lossy": begin + carry(1500) + "info before\n"
        + "".join(carry(100, lose=10) + f"info r{n}\n" for n in range(LOSSY_ROUNDS)),
        # All that is under way is lost, as it is too large.
        "shrunk": coexist(1) + opened(6_000_000, mss=1400) + carry(1500) + "info before\n"
        + carry(100, lose=1) + "< icmp frag_needed mtu 1000\n"
        + "".join(carry(150) + f"info r{n}\n" for n in range(10)),
        "coexist": begin + carry(1000)
        + coexist(0) + carry(1000, 120) + "info off\n"
        + coexist(1) + carry(4000, 140) + "info on\n",
        # A loss with a queue, and the window rests.
        "yielded": begin + carry(1500) + "info full\n"
        + carry(100, lose=30) + carry(500) + "info yielded\n" + carry(500) + "info rested\n"
        + coexist(0) + carry(1500) + "info letter\n",
        "taken-up": begin + carry(1000) + "cc reno\n" + carry(500)
        + "cc\n" + carry(500) + "info again\n" + carry(3000, 140) + "info after\n",
    } | {
        # As published from any time of a test in which the window is lowered for a round.
        f"switched-{n}": begin + carry(1000) + "info full\n" + carry(1000 + 200 * n, 140)
        + coexist(0) + carry(2000, 140) + "info after\n"
        for n in range(SWITCHES)
    }  # fmt: skip


def scripts() -> dict[str, str]:
    """Exchanges that are played for each algorithm."""
    marked = ECN + opened(flags="SE.")
    return {
        # The window is above what ABE measures, marks bring it below, then a segment is lost.
        "mark-loss": marked + rounds(4) + "train 1000 E\n" * 3 + "+.09 info marked\n"
        + hole(1) + hole(2) + hole(3) + hole(4) + "info lost\ntrain 1000\n+.09 info later\n",
        # As a client, without a cookie.
        "fast-open": "sysctl tcp_fastopen=5\nsend 500 fastopen\n"
        + f"+.1 < S. ack 501 {syn()}\nsend 1000000\n"
        + "+.1 < . 1:11(10) ack 501\ninfo answered\n< . ack 501\ninfo again\n",
        "mtu": BARE + opened(options="", mss=1400) + rounds(3) + "< icmp frag_needed mtu 1000\n"
        + "info smaller\n+.1 < . ack nxt\ninfo once\n+.09 wait\n",
        "mtu-sack": NO_STAMPS + opened(mss=1400) + rounds(3) + "< icmp frag_needed mtu 1000\n"
        + "info smaller\n+.1 < . ack una+14000\ninfo once\n+.09 wait\n",
        # The SYN is lost, and then the first segment: no RTT by Karn's rule.
        "no-rtt": BARE + f"connect\n+1.5 < S. ack 1 {syn('')}\nsend 1000000\n+3.5 info timeout\n"
        + "< . ack una+1000\ninfo partial\n+.5 info later\n",
        # A timeout; then all has arrived, the second segment twice, and a router has marked.
        "spurious-mark": NO_STAMPS + LATE_ONLY + marked + rounds(4)
        + "info full\n+1 info timeout\n" + twice(1, "E") + "info back\n",
        "idle-off": "sysctl tcp_slow_start_after_idle=0\n" + opened(40_000, "") + rounds(4)
        + "info full\n+5 send 40000\ninfo burst\n",
        # A window of two by marks; nothing of it arrives but a first segment, sent again.
        "small-timeout": NO_STAMPS + LATE_ONLY + marked + rounds(5, "E") + "info small\n"
        + "+3 < . ack una+1000\ninfo once\n+6 < . ack una+1000\ninfo twice\n",
        "unused": opened(40_000, "") + rounds(3) + "info full\n"
        + "send 1000\n+.1 < . ack nxt\n+.05 wait\n" * 60 + "info after\n",
        # 100 ms without an ACK; then what it has held comes at once. Otherwise one per ms.
        "stall": opened(6_000_000, "") + carry(2000) + "info before\n+.1 wait\n"
        + "".join(carry(50) + f"info after{n}\n" for n in range(8)),
        "slow-last-ack": f"listen\n< S 0:0(0) {syn()}\n+.8 < . 1:11(10) ack 1\naccept\n"
        + "send 1000000\n+.05 info first\n",
        # A loss that the same ACK tells of as a mark, without a queue.
        "marked-loss": ECN + opened(6_000_000, flags="SE.") + carry(800, gap_us=500)
        + "info before\n" + hole(3, "E") + "info lost\n",
        # A path of microseconds holds no segment: ABE measures a window of 0.
        "near-idle": f"connect\n< S. ack 1 {syn()}\nsend 300000\n" + "< . ack nxt\n" * 28
        + "info full\n+5 send 300000\ninfo burst\n",
        "taken-up-idle": "cc reno\n" + opened(300_000, "") + rounds(7)
        + "cc\ninfo full\n+8 send 400000\ninfo burst\n",
        # All has arrived; a D-SACK that comes after it has a mark, and calls nothing that answers.
        "idle-mark": ECN + opened(160_000, flags="SE.") + "train 1000\n+.09 wait\n"
        + hole(3) + "+.09 wait\n" + rounds(6)
        + "info full\n< E. ack nxt <sack 80001:81001>\ninfo marked\n+8 send 100000\n"
        + "+.09 info flight\n< . ack una+1000\ninfo acked\n",
        # The first flight's ACKs are late; all has arrived, the first segment twice.
        "first-timeout": NO_STAMPS + LATE_ONLY + opened(3_000_000)
        + "+.5 info timeout\n" + twice(0) + "info back\n+.09 wait\n" + rounds(5),
        "taken-up-loss": BARE + "cc reno\n" + opened(options="") + rounds(3)
        + "+1 info timeout\ncc\n< . ack una+1000\ninfo one\n",
        "offload": "offload\n" + opened(),
    }  # fmt: skip


#: Ten segments in 20 ms are less than two per ms, TSO's least.
NEAR = {"near": "offload\n" + opened(rtt_ms=20)}


class Seen:
    """Exchanges by algorithm and script, in guests that boot when one of theirs is asked for."""

    def __init__(self, out: Path) -> None:
        self._logs: dict[str, Log] = {}
        every = scripts()
        self._guests = [(out / "star", every | judged(), ("star",)), (out / "near", NEAR, OTHERS)]
        self._guests += [(out / cc, every, (cc,)) for cc in ("reno", "j")]
        self._guests += [(out / "first", FOR_ALL, FIRST), (out / "rest", FOR_ALL, REST)]

    def __getitem__(self, key: str) -> Log:
        if key not in self._logs:
            cc, _, name = key.partition("-")
            (guest,) = (one for one in self._guests if name in one[1] and cc in one[2])
            for (script, algorithm), log in play_texts(*guest).items():
                failed = {r for r in log.calls.values() if r.startswith("-")} - {"-EINPROGRESS"}
                assert not failed, script
                assert not log.damaged, script
                self._logs[f"{algorithm}-{script}"] = log
        return self._logs[key]


@pytest.fixture(scope="module")
def seen(build: Path) -> Seen:
    return Seen(build / "tests" / "exchanges")


OURS = pytest.mark.parametrize("cc", deep_ones(["star", "j"], ["j"]))
WITH_RENO = pytest.mark.parametrize("cc", deep_ones(["star", "j", "reno"], ["j"]))


# --- marks ------------------------------------------------------------------------------------


@OURS
def test_a_loss_after_marks_raises_nothing(seen: Seen, cc: str) -> None:
    """After marks have lowered the window below ABE's share (about 95 segments)."""
    run = seen[f"{cc}-mark-loss"]
    marked, lost, later = (run[name] for name in ("marked", "lost", "later"))
    assert marked["cwnd"] < 90
    assert lost["state"] == RECOVERY
    # The first retransmission may need one more than what is under way.
    assert lost["cwnd"] <= marked["cwnd"] + 1
    assert lost["ssthresh"] <= marked["cwnd"]
    assert later["cwnd"] <= marked["cwnd"] + 2, "nor does slow start afterwards"


@OURS
def test_a_mark_on_the_ack_that_ends_a_timeout(seen: Seen, cc: str) -> None:
    """star finds the timeout spurious (the D-SACK), and answers the mark from the old window."""
    run = seen[f"{cc}-spurious-mark"]
    assert run["timeout"]["state"] == LOSS
    assert run["back"]["state"] == CWR
    # j has no AEN: it has begun anew, with ten.
    before = run["full"]["cwnd"] if cc == "star" else 10
    assert run["back"]["cwnd"] == before * 4 // 5


@OURS
def test_a_mark_with_a_loss_is_answered(seen: Seen, cc: str) -> None:
    """No later ACK reports the mark, as CWR is sent during recovery: 0.8 of the window."""
    run = seen[f"{cc}-marked-loss"]
    assert run["lost"]["state"] == RECOVERY
    assert run["lost"]["ssthresh"] == run["before"]["cwnd"] * 4 // 5


# --- what is lost without congestion ----------------------------------------------------------


@WITH_RENO
def test_fast_open_is_no_delivery_of_2_32_segments(seen: Seen, cc: str) -> None:
    """The stack takes back a segment that the SYN has delivered; no window above reno's ten."""
    for name in ("answered", "again"):
        assert seen[f"{cc}-fast-open"][name]["cwnd"] == 10


@OURS
@pytest.mark.parametrize("how", ["mtu", "mtu-sack"])
def test_a_smaller_mtu_is_no_timeout(seen: Seen, cc: str, how: str) -> None:
    """All packets are sent again, smaller; neither window nor threshold falls."""
    run = seen[f"{cc}-{how}"]
    before, smaller, once = (run[name] for name in ("r2", "smaller", "once"))
    assert smaller["state"] == LOSS
    assert smaller["cwnd"] == before["cwnd"]
    assert once["cwnd"] >= before["cwnd"]
    assert once["ssthresh"] >= before["ssthresh"]


def test_without_an_rtt_nothing_waits_for_the_pacing(seen: Seen) -> None:
    """The first ACK opens the window to ten: nine repairs and a new segment, without waiting."""
    run = seen["star-no-rtt"]
    assert run["partial"]["rtt"] == 0, "there is an RTT"
    assert run["partial"]["pacing"] > 1_000_000
    assert len(run.data("timeout", "partial")) == 10
    assert len(seen["reno-no-rtt"].data("timeout", "later")) >= 1


# --- time without sending ---------------------------------------------------------------------


@OURS
def test_the_window_stays_over_idle_if_asked_for(seen: Seen, cc: str) -> None:
    run = seen[f"{cc}-idle-off"]
    assert run["burst"]["cwnd"] == run["full"]["cwnd"] >= 50


@WITH_RENO
def test_an_unused_window_does_not_grow(seen: Seen, cc: str) -> None:
    """A segment at a time for 9 s: the window stays as it was, as reno's."""
    run = seen[f"{cc}-unused"]
    assert run["after"]["cwnd"] == run["full"]["cwnd"] >= 50


@OURS
def test_a_timeout_raises_nothing(seen: Seen, cc: str) -> None:
    """With a window of two after marks, timeouts and losses never send ten segments at once."""
    run = seen[f"{cc}-small-timeout"]
    assert run["small"]["cwnd"] == 2
    for name in ("once", "twice"):
        # and one for what the ACK acknowledges
        assert run[name]["cwnd"] <= 4


@OURS
@pytest.mark.parametrize("how", ["near-idle", "taken-up-idle"])
def test_it_begins_anew_without_an_estimate(seen: Seen, cc: str, how: str) -> None:
    """ABE's share being 0 is no reason to send hundreds of segments after idle."""
    run = seen[f"{cc}-{how}"]
    assert run["full"]["cwnd"] >= 200
    assert run["burst"]["cwnd"] == 10


def test_a_mark_from_before_idle_raises_nothing(seen: Seen) -> None:
    """j's window has become invalid: the mark takes no 0.8 of the old one. star's is still valid:
    the mark takes a fifth of it before anything is sent.
    """
    for cc, left in (("star", 0.8), ("j", 0)):
        run = seen[f"{cc}-idle-mark"]
        assert run["full"]["cwnd"] >= 50
        assert run["marked"]["state"] == CWR
        assert run["flight"]["cwnd"] == max(int(left * run["full"]["cwnd"]), 10)
        assert run["acked"]["cwnd"] <= run["flight"]["cwnd"] + 1


def test_slow_start_ends_after_a_spurious_first_timeout(seen: Seen) -> None:
    """The path's product is 100 segments; by then no ssthresh was known (it was 3096). The next
    flight's ACKs are the first that measure the path.
    """
    run = seen["star-first-timeout"]
    assert run["timeout"]["state"] == LOSS
    assert run["r0"]["ssthresh"] < 200
    assert run["r4"]["cwnd"] <= 200


@OURS
def test_taken_up_after_a_timeout_it_starts_slowly(seen: Seen, cc: str) -> None:
    """From reno's one segment the first ACK leads to two (it was 102)."""
    run = seen[f"{cc}-taken-up-loss"]
    assert run["timeout"]["state"] == LOSS
    assert run["one"]["cwnd"] <= 2


@pytest.mark.parametrize("cc", ["star", "j"])
def test_a_timeout_after_losses_begins_anew(seen: Seen, cc: str) -> None:
    """Nothing tells of lost ACKs: from ten segments, and the first ACK adds at most one."""
    run = seen[f"{cc}-lost-window"]
    assert run["full"]["cwnd"] >= 60
    assert run["timeout"]["state"] == LOSS
    assert run["once"]["cwnd"] <= 11


def test_a_first_segment_that_is_lost_is_no_lost_ack(seen: Seen) -> None:
    """Its retransmission fills the hole, which no D-SACK denies: the old window does not return."""
    run = seen["star-lost-first"]
    assert run["timeout"]["retransmits"] == 1
    assert run["once"]["cwnd"] <= run["timeout"]["ssthresh"] < run["full"]["cwnd"]


@pytest.mark.parametrize("cc", deep_ones([*FIRST, *REST], REST))
@pytest.mark.parametrize("where", ["below", "flight"])
def test_sequence_numbers_may_wrap(seen: Seen, cc: str, where: str) -> None:
    """As without: times of two exchanges differ by some us, so that windows are a segment apart."""
    plain, wrapped = seen[f"{cc}-wrap-far"], seen[f"{cc}-wrap-{where}"]
    assert plain["r0"]["cwnd"] > 10, "nothing is acknowledged"
    for n in range(WRAP_INFOS):
        assert wrapped[f"r{n}"]["cwnd"] == pytest.approx(plain[f"r{n}"]["cwnd"], abs=2)


# --- misleading ACKs --------------------------------------------------------------------------


def test_a_stall_of_acks_is_no_bandwidth(seen: Seen) -> None:
    """100 ms of ACKs at once, 8 Mbit/s otherwise: the window hardly moves (it was eight times)."""
    run = seen["star-stall"]
    before = run["before"]["cwnd"]
    assert before == pytest.approx(120, rel=0.15), "the path's product is 100"
    assert max(run[f"after{n}"]["cwnd"] for n in range(8)) <= 1.1 * before


@OURS
def test_a_late_last_ack_is_no_long_path(seen: Seen, cc: str) -> None:
    """A handshake of 800 ms, by the peer's choice: ten segments, not 32."""
    assert len(seen[f"{cc}-slow-last-ack"].payload()) == 10


@pytest.mark.parametrize(
    "run",
    deep_ones(
        ["star-offload", "j-offload", "reno-offload", *(f"{cc}-near" for cc in OTHERS)],
        ["j-offload"],
    ),
)
def test_the_first_flight_is_cut_by_tso_as_renos(seen: Seen, run: str) -> None:
    """Two segments at a time."""
    assert [segment.length for segment in seen[run].payload()] == [2 * MSS] * 5


# --- star's judgement of rounds ---------------------------------------------------------------


def rate(run: Log, begin: str, end: str) -> float:
    """The rate at which the peer acknowledged data between two infos, in B/s."""
    span = run.info(end).at - run.info(begin).at
    return (run.acked(end) - run.acked(begin)) / span


def assert_follows(run: Log, name: str = "after") -> None:
    """The path's RTT is taken for 140 ms, to a sixteenth: from there on it would be a queue's."""
    assert 140_000 <= run[name]["base"] <= 148_750


def test_a_longer_path_is_adopted(seen: Seen) -> None:
    """Within 25 round trips; 0.91 of what the path carries was measured, with the test's dip."""
    run = seen["star-longer"]
    assert 100_000 <= run["before"]["base"] <= 106_250
    assert_follows(run)
    assert rate(run, "before", "after") > 0.85 * PATH_RATE


@pytest.mark.parametrize("what", ["undone", "second"])
def test_rounds_go_on_after_a_timeout(seen: Seen, what: str) -> None:
    """One that the stack undoes before AEN is asked, and one that another follows.

    What AEN has noted of it, a sequence number, is no end of a round: none ended any more.
    """
    run = seen[f"star-{what}"]
    assert run["timeout"]["state"] == LOSS
    assert run["before"]["state"] == OPEN
    assert_follows(run)


def test_losses_that_stay_are_the_links(seen: Seen) -> None:
    """Every tenth segment is lost, whatever the window: it is that of the path, 100, again.

    A window that fills the path rests for 24 rounds, at 15/16 of the estimate at least: 0.9 * 94 of
    100 arrive, 0.85 of what the path carries. Cut after cut it would be empty.
    """
    run = seen["star-lossy"]
    windows = [run[f"r{n}"]["cwnd"] for n in range(LOSSY_ROUNDS)]
    assert min(windows) < 0.9 * run["before"]["cwnd"], "nothing was cut"
    assert windows[-1] >= 100
    assert rate(run, "before", f"r{LOSSY_ROUNDS - 1}") > 0.84 * PATH_RATE


def test_a_smaller_mtu_is_no_excess_of_losses(seen: Seen) -> None:
    """A window's segments are lost and sent again, smaller: the path stays full, 100 of them.

    A queue stands before and after, and may be tested: that leaves what is not in it.
    """
    run = seen["star-shrunk"]
    windows = [run[f"r{n}"]["cwnd"] for n in range(10)]
    assert min(windows) >= 100
    assert run["r0"]["state"] == LOSS


def test_the_judgement_goes_on_with_coexist(seen: Seen) -> None:
    """As published and back: then the longer path is adopted as without the switch."""
    run = seen["star-coexist"]
    assert run["off"]["base"] <= 106_250
    assert_follows(run, "on")
    assert rate(run, "off", "on") > 0.85 * PATH_RATE


def test_the_letter_ends_an_answer_to_congestion(seen: Seen) -> None:
    """A window that has yielded rests; as published, slow start begins above ABE's share."""
    run = seen["star-yielded"]
    full, yielded, rested, letter = (
        run[name]["cwnd"] for name in ("full", "yielded", "rested", "letter")
    )
    assert rested == yielded < full
    assert letter > rested + 50


@pytest.mark.parametrize("n", range(SWITCHES))
def test_nothing_of_a_test_is_left_when_it_is_switched_off(seen: Seen, n: int) -> None:
    """A test lowers the window to three quarters, for a round: 2 s later it is back."""
    run = seen[f"star-switched-{n}"]
    assert run["after"]["cwnd"] >= run["full"]["cwnd"]


def test_the_judgement_begins_anew_with_the_algorithm(seen: Seen) -> None:
    """Star, reno for five round trips, star again: it knows the path's RTT from the stack."""
    run = seen["star-taken-up"]
    assert 100_000 <= run["again"]["base"] <= 106_250
    assert_follows(run)
    assert rate(run, "again", "after") > 0.85 * PATH_RATE
