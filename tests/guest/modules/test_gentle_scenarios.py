# SPDX-License-Identifier: GPL-2.0
"""tcp_hstcp_gentle at work: slow start and its ends, growth, losses, timeouts, changes of mode.

One path of 100 Mbit/s and 70 ms, 578 packets: windows far above 38 segments, where HighSpeed TCP
and Reno part. Every parameter is given, so that defaults may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

import hstcp_table
from tests.guest.modules.one_flow import DELAY_LINE, LOSE, QUEUE, RTT, SHORTER, flow, second
from tests.guest.runs import Case, Guests, Run, deep_ones, runs_of, timeouts

pytestmark = [pytest.mark.guest, pytest.mark.uml]

PRODUCT = 100e6 * RTT / 8 / 1514  # packets the path holds
SLOW_START, HIGHSPEED, RENO = range(3)  # enum gentle_mode
TREND, LOSS, TIMEOUT, OWN_LINK, SSTHRESH, UNDO, IDLE = range(7)  # enum gentle_reason

#: The module's parameters.
PARAMETERS = {"response": 0, "level": 1, "rise": 20, "fall": 50, "confirm": 1, "samples": 0}
PARAMETERS |= {"share": 2, "early_exit": 0}
BESIDE = second("hstcp_gentle")


def case(beside: str = "", duration_s: float = 3.0, **values: Any) -> Case:
    """One flow; the module's parameters by their names, with an underscore before them."""
    return flow("hstcp_gentle", PARAMETERS, values, duration_s, beside)


#: Own link as fast as the shared one, whose queue never overflows: slow start ends without loss.
CALM = {"host_rate": 100_000_000, "queue": 5000}
SMALL = {"window": 16_000}
ONCE = LOSE + "sleep 3\nlose 0.001\n"

CASES = {
    "overflow": case(duration_s=2.5),
    "early": case(duration_s=2.5, _early_exit=1),
    "shallow": case(duration_s=2.5, _early_exit=2, queue=200),
    "own": case(duration_s=1.5, host_rate=80_000_000),
    "calm": case(duration_s=1.5, **CALM),
    "receiver": case(duration_s=1.5, window=400_000),
    "trickle": case(
        "data() { for i in 1 2 3 4 5 6 7 8 9 10; do echo; sleep 0.02; echo; sleep 0.08; done; }"
        + BESIDE,
        duration_s=1.5,
        **SMALL,
    ),
    "highspeed": case(duration_s=5, _rise=1000),
    "highspeed31": case(duration_s=4, _rise=1000, _response=1),
    "reno0": case(ONCE, duration_s=4, _share=0),
    "reno1": case(ONCE, duration_s=4, _share=1),
    "reno2": case(ONCE, duration_s=4, _share=2),
    "faster": case(
        "sleep 2\ntc -n ra qdisc change dev to-rb root netem rate 110mbit limit 417\n",
        duration_s=3.5,
    ),
    # 30 ms become 50 ms within a second: room for 165 packets more, when a few wait.
    "longer": case(
        DELAY_LINE + "sleep 2\nfor ms in $(seq 31 50); do delay ${ms}ms; sleep 0.05; done\n",
        duration_s=9,
        _early_exit=1,
    ),
    "timeout": case(LOSE + "sleep 1\nlose 0.5\n", duration_s=3, **CALM),
    # The first retransmission is lost, too.
    "twice": case(LOSE + "sleep 1\nlose 0.005\nsleep 0.05\nlose 0.5\n", duration_s=3, **CALM),
    "twice_early": case(
        LOSE + "sleep 0.42\nlose 0.005\nsleep 0.05\nlose 0.5\n", duration_s=3, **CALM
    ),
    "shorter": case(LOSE + "sleep 1\nlose 0.005\nsleep 0.05\n" + SHORTER, duration_s=3, **CALM),
    "overtaken": case(
        DELAY_LINE + "sleep 1\ndelay 70ms\nsleep 0.005\ndelay 30ms\n", duration_s=2.5, **CALM
    ),
    "late": case(DELAY_LINE + "sleep 1\ndelay 1030ms\n", duration_s=3.5, **CALM),
    # Ten segments at a time, of the third ten the first ones come late: all else has arrived.
    "burst": case(
        DELAY_LINE
        + """
data() {
    for i in 1 2 3 4 5; do
        [ $i != 3 ] || { delay 70ms; (sleep 0.0003; delay 30ms) & }
        head -c 14480 /dev/zero
        sleep 0.3
    done
}
"""
        + BESIDE,
        duration_s=2.5,
        **SMALL,
    ),
    # Both connections fill the own link, then the second one pauses.
    "idle": case(
        "data() { head -c 1000000 /dev/zero; sleep 1.5; head -c 1000000 /dev/zero; }" + BESIDE,
        duration_s=3.5,
        host_rate=20_000_000,
        window=200_000,
    ),
    "marks": case(duration_s=3, aqm="red", tcp_ecn=1),
}


#: One case of each kind is not here: `make check` has it.
DEEP = (
    *("highspeed31", "reno0", "reno1", "twice", "twice_early", "shorter", "late", "burst", "idle"),
    *("shallow", "receiver", "own"),
)


runs = runs_of("gentle-scenarios", CASES, DEEP)


# --- evaluation of traces ---------------------------------------------------------------------


def changes(run: Run) -> list[dict[str, Any]]:
    """Changes of mode."""
    return run.traced("hstcp_gentle_mode")


def kind(change: dict[str, Any]) -> tuple[int, int, int]:
    return change["from"], change["to"], change["reason"]


@dataclass(frozen=True)
class Cut:
    """A reduction: the mode and the window in which it was found, and ssthresh by it."""

    t: float
    mode: int
    cwnd: int
    ssthresh: int


def cuts(run: Run) -> list[Cut]:
    """tcp_probe has the state before each ACK, so a change by the ACK is in the next event."""
    modes = changes(run)
    found = []
    for before, after in pairwise(run.traced("tcp_probe")):
        if after["ssthresh"] < min(before["ssthresh"], before["snd_cwnd"]):
            mode = next((m["to"] for m in reversed(modes) if m["t"] < before["t"]), SLOW_START)
            found.append(Cut(before["t"], mode, before["snd_cwnd"], after["ssthresh"]))
    return found


rows = cache(hstcp_table.rows)


def row(table: hstcp_table.Response, cwnd: int) -> hstcp_table.Row:
    return next(one for one in rows(table) if cwnd <= one.window)


def left(table: hstcp_table.Response, cwnd: int) -> int:
    """w (1 - b(w)), as Linux rounds it."""
    return cwnd - (cwnd * row(table, cwnd).decrease >> 8)


def steady(run: Run, mode: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of successive windows in a mode, with nothing between them but growth."""
    stops = [*(cut.t for cut in cuts(run)), *(change["t"] for change in changes(run))]
    for one, other in pairwise(run.traced("hstcp_gentle_window")):
        stopped = any(one["t"] <= stop <= other["t"] for stop in stops)
        if one["mode"] == other["mode"] == mode and not stopped and one["cwnd"] >= one["ssthresh"]:
            yield one, other


def drops(run: Run) -> int:
    """Of the shared link's queue."""
    return sum(q["drops"] for q in run.json("qdisc-ra.json") if q["dev"] == "to-rb")


# --- slow start -------------------------------------------------------------------------------


def test_a_loss_of_hundreds_in_slow_start(runs: Guests) -> None:
    """No timeout; w/4 after recovery, then slow start up to w/2 (section 5.1.1)."""
    run = runs["overflow"]
    assert timeouts(run) == 0
    first = cuts(run)[0]
    assert first.mode == SLOW_START
    assert first.cwnd > PRODUCT + QUEUE + 200
    assert drops(run) > 200
    assert first.ssthresh == first.cwnd // 4
    (after,) = [c for c in changes(run) if c["from"] == SLOW_START]
    assert kind(after) == (SLOW_START, HIGHSPEED, SSTHRESH)
    assert after["cwnd"] == after["ssthresh"] == 2 * (first.cwnd // 4)
    low = [e for e in run.traced("tcp_probe") if first.t < e["t"] < after["t"]]
    (begin,) = [n for n, e in enumerate(low) if low[n - 1]["ssthresh"] < e["ssthresh"]]
    assert low[begin]["ssthresh"] == 2 * first.ssthresh
    assert low[begin]["snd_cwnd"] == pytest.approx(first.ssthresh, abs=2)
    window = [e["snd_cwnd"] for e in low[begin:]]
    assert max(b - a for a, b in pairwise(window)) <= 2, "one segment for each that arrives"


@pytest.mark.parametrize(
    ("name", "rate"), [pytest.param("own", 80e6, marks=pytest.mark.deep), ("calm", 100e6)]
)
def test_slow_start_ends_where_the_own_link_is_full(runs: Guests, name: str, rate: float) -> None:
    """Without a loss, once the own link is full and before the window is twice what it carries."""
    run = runs[name]
    assert run.sent["info"]["total_retrans"] == 0
    first = changes(run)[0]
    assert kind(first) == (SLOW_START, HIGHSPEED, OWN_LINK)
    holds = rate * RTT / 8 / 1514
    assert holds <= first["cwnd"] == first["ssthresh"] < 2 * holds
    assert run.goodput(0.8, 1.4) > 0.98 * rate * 1448 / 1514


@pytest.mark.parametrize("name", deep_ones(["receiver", "trickle"], DEEP))
def test_slow_start_stays_when_others_limit(runs: Guests, name: str) -> None:
    """The receiver's window; an application that writes less than a segment at a time."""
    assert changes(runs[name]) == []
    windows = runs[name].traced("hstcp_gentle_window")
    assert len(windows) > 6
    assert {e["mode"] for e in windows} == {SLOW_START}
    if name == "receiver":
        assert max(e["cwnd"] for e in windows) > 400_000 / 1448


def test_early_exit_spares_the_queue(runs: Guests) -> None:
    """Nothing is lost in the first seconds, and the full rate is reached no later."""
    late, early = runs["overflow"], runs["early"]
    assert drops(early) == 0 < drops(late)
    (first, *_) = changes(early)
    assert kind(first) == (SLOW_START, HIGHSPEED, SSTHRESH)
    assert first["ssthresh"] == pytest.approx(PRODUCT, rel=0.1)
    full = {}
    for run in (late, early):
        steps = [0.1 * n for n in range(24)]
        rates = [run.goodput(t, t + 0.1) for t in steps]
        full[run] = next(t for t, r in zip(steps, rates, strict=True) if r > 0.9e8 * 1448 / 1514)
    assert full[early] <= full[late]
    assert early.goodput(0, 2.4) > late.goodput(0, 2.4)


@pytest.mark.deep
def test_early_exit_2_grows_by_a_quarter(runs: Guests) -> None:
    """Doubling on the way to what the path holds would put half of that into the queue."""
    run = runs["shallow"]
    (end, *_) = changes(run)
    assert end["ssthresh"] == pytest.approx(PRODUCT, rel=0.1)
    assert end["ssthresh"] / 2 > 200, "else doubling would do no harm"
    assert drops(run) == 0
    windows = [e["cwnd"] for e in run.traced("hstcp_gentle_window") if e["t"] < end["t"]]
    growth = [b / a for a, b in pairwise(windows)]
    careful = next(n for n, g in enumerate(growth) if n > 3 and g < 1.5)
    assert max(growth[careful:]) < 1.3
    assert len(growth) - careful >= 4


# --- growth and losses ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("highspeed", hstcp_table.RFC3649),
        pytest.param("highspeed31", hstcp_table.PAPER, marks=pytest.mark.deep),
    ],
)
def test_highspeed_mode_is_highspeed_tcp(
    runs: Guests, name: str, table: hstcp_table.Response
) -> None:
    """a(w) segments per round trip, and w (1 - b(w)) after a loss."""
    run = runs[name]
    pairs = list(steady(run, HIGHSPEED))
    assert len(pairs) > 15
    for one, other in pairs:
        low, high = (row(table, w).increase for w in (one["cwnd"], other["cwnd"]))
        assert low - 1 <= other["cwnd"] - one["cwnd"] <= high + 1
    grown = sum(other["cwnd"] - one["cwnd"] for one, other in pairs)
    assert grown == pytest.approx(sum(row(table, o["cwnd"]).increase for o, _ in pairs), rel=0.03)
    later = [cut for cut in cuts(run) if cut.mode == HIGHSPEED]
    assert later
    for cut in later:
        assert cut.ssthresh == left(table, cut.cwnd)
        assert table == hstcp_table.RFC3649 or cut.ssthresh != left(hstcp_table.RFC3649, cut.cwnd)


@pytest.mark.parametrize("share", deep_ones([0, 1, 2], [0, 1]))
def test_reno_mode_grows_like_reno(runs: Guests, share: int) -> None:
    """One segment per round trip; with share=2 3 b / (2 - b). A loss takes b(w), or half."""
    run = runs[f"reno{share}"]
    pairs = list(steady(run, RENO))
    assert len(pairs) > 12
    expected = 0.0
    for one, _ in pairs:
        b = row(hstcp_table.RFC3649, one["cwnd"]).decrease / 256
        expected += 3 * b / (2 - b) if share == 2 else 1
    grown = sum(other["cwnd"] - one["cwnd"] for one, other in pairs)
    assert grown == pytest.approx(expected, abs=2)
    at = run.when("fast1", "start") + 3
    (cut,) = [cut for cut in cuts(run) if at < cut.t < at + 0.5]
    assert cut.mode == RENO
    assert cut.ssthresh == (cut.cwnd // 2 if share == 1 else left(hstcp_table.RFC3649, cut.cwnd))
    back = next(c for c in changes(run) if c["t"] > cut.t)
    assert kind(back) == (RENO, HIGHSPEED, LOSS)
    assert back["cwnd"] == cut.ssthresh


def test_a_falling_queue_leads_back_to_highspeed_mode(runs: Guests) -> None:
    """The link becomes faster: 10 %, 7 ms of RTT. A queue that grows again, to Reno mode."""
    run = runs["faster"]
    at = run.when("fast1", "start") + 2
    later = [c for c in changes(run) if c["t"] > at - 0.1]
    assert kind(later[0]) == (RENO, HIGHSPEED, TREND)
    assert later[0]["t"] - at < 0.5
    assert {c["reason"] for c in changes(run) if c["to"] == RENO} == {TREND}


def test_a_longer_path_is_no_queue(runs: Guests) -> None:
    """The RTT rises by 20 ms, more than a queue had made of it, and nothing can fall any more. Reno
    mode goes on for 8 segments, for which it takes a second, and two are allowed. Then a(w) fills
    what is free, which Reno mode would take 15 s for."""
    run = runs["longer"]
    at = run.when("fast1", "start") + 3.1
    before = [c for c in changes(run) if c["t"] < at]
    assert (before[-1]["to"], before[-1]["reason"]) == (RENO, TREND)
    back = next(c for c in changes(run) if c["t"] > at)
    assert kind(back) == (RENO, HIGHSPEED, TREND)
    assert back["t"] - at < 2
    assert run.goodput(7, 8.9) > 0.98e8 * 1448 / 1514


# --- timeouts, undo, marks --------------------------------------------------------------------


@pytest.mark.parametrize("name", deep_ones(["timeout", "twice", "twice_early"], DEEP))
def test_a_timeout_is_slow_start_to_half(runs: Guests, name: str) -> None:
    """From one segment to half of the window, in HighSpeed mode from there; amid recovery, too."""
    run = runs[name]
    assert timeouts(run) >= 1
    assert run.counter("TcpExtTCPSackRecovery") == (0 if name == "timeout" else 1)
    first = cuts(run)[0]
    probes = [e for e in run.traced("tcp_probe") if e["t"] > first.t]
    down = next(n for n, e in enumerate(probes) if e["snd_cwnd"] == 1)
    slow = [e for e in probes[down:] if e["snd_cwnd"] < e["ssthresh"]]
    assert {e["ssthresh"] for e in slow} == {first.cwnd // 2}
    told = [c for c in changes(run) if c["t"] > first.t]
    if first.mode != SLOW_START:
        assert kind(told.pop(0)) == (first.mode, SLOW_START, TIMEOUT)
    assert kind(told[0]) == (SLOW_START, HIGHSPEED, SSTHRESH)
    assert told[0]["cwnd"] == told[0]["ssthresh"] == first.cwnd // 2


@pytest.mark.deep
def test_shorter_packets_are_no_timeout(runs: Guests) -> None:
    """Amid recovery the stack sends again what is too long for the path, by the window as it is."""
    run = runs["shorter"]
    assert timeouts(run) == 0
    assert run.counter("TcpExtTCPSackRecovery") >= 1
    assert run.sent["info"]["pmtu"] == 1400
    assert TIMEOUT not in {c["reason"] for c in changes(run)}


def test_a_loss_that_was_none_changes_nothing(runs: Guests) -> None:
    """After reordering the stack undoes the reduction: window, ssthresh and mode are restored."""
    run = runs["overtaken"]
    assert run.counter("TcpExtTCPPartialUndo") + run.counter("TcpExtTCPFullUndo") > 0
    (first,) = changes(run)
    assert first["reason"] == OWN_LINK
    end = run.sent["info"]
    assert first["cwnd"] <= end["snd_cwnd"] <= first["cwnd"] + 10
    assert end["snd_ssthresh"] == first["ssthresh"]


@pytest.mark.deep
def test_undone_at_the_end_of_recovery(runs: Guests) -> None:
    """If all other data has arrived, recovery ends with the undo, and slow start continues."""
    run = runs["burst"]
    assert run.counter("TcpExtTCPFullUndo") == 1
    assert {e["mode"] for e in run.traced("hstcp_gentle_window")} == {SLOW_START}
    assert [c for c in changes(run) if c["to"] != SLOW_START] == []


@pytest.mark.deep
def test_a_timeout_that_was_none_restores_mode_and_window(runs: Guests) -> None:
    run = runs["late"]
    assert (timeouts(run), run.counter("TcpExtTCPLossUndo")) == (1, 1)
    down = next(c for c in changes(run) if c["reason"] == TIMEOUT)
    back = next(c for c in changes(run) if c["t"] > down["t"])
    assert kind(back) == (SLOW_START, down["from"], UNDO)
    assert run.sent["info"]["snd_cwnd"] >= down["cwnd"]


@pytest.mark.deep
def test_an_idle_flow_starts_slowly_again(runs: Guests) -> None:
    """The stack lowers the window and keeps ssthresh: slow start in either mode.

    Slow start ends where the first one did: at ssthresh, or by the own link some ACKs before.
    """
    told = changes(runs["idle"])
    assert kind(told[0])[::2] == (SLOW_START, OWN_LINK)
    (at,) = [n for n, c in enumerate(told) if c["to"] == SLOW_START]
    again, back = told[at : at + 2]
    assert again["from"] != SLOW_START
    assert again["reason"] == IDLE
    assert again["cwnd"] < again["ssthresh"]
    assert back["reason"] in (SSTHRESH, OWN_LINK)
    assert again["ssthresh"] - 4 <= back["cwnd"] <= again["ssthresh"]
    assert back["cwnd"] == again["ssthresh"] or back["reason"] == OWN_LINK


def test_marks_are_answered_like_losses(runs: Guests) -> None:
    """RED marks: w/4 in slow start, nothing lost, nothing sent again."""
    run = runs["marks"]
    assert run.sent["info"]["delivered_ce"] > 0
    assert run.sent["info"]["total_retrans"] == 0
    found = cuts(run)
    assert found
    for cut in found:
        whole = cut.cwnd // 4 if cut.mode == SLOW_START else left(hstcp_table.RFC3649, cut.cwnd)
        assert cut.ssthresh == whole
