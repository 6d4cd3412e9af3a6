# SPDX-License-Identifier: GPL-2.0
"""AEN in the guest: what restores the window after a timeout, and when it must not be restored.

With SACK (D-SACK) or timestamps today's stack undoes a spurious timeout by itself, in the same ACK
and before AEN is asked: then the counter TCPLossUndo moves and no verdict is traced. AEN decides
where neither is there.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from apogee_lab.measures.blackout import blackout
from tests.guest.runs import Case, Guests, Run, deep_ones, parsed, runs_of, timeouts

pytestmark = pytest.mark.guest

INITIAL_WINDOW = 10  # segments (TCP_INIT_CWND)

#: A slow link is sufficient, as AEN does not depend on the rate. No tail loss probe, no F-RTO.
PLAIN = {
    "rate": 2_000_000,
    "queue": 125_000,
    "trace": "module",
    "tcp_frto": 0,
    "tcp_early_retrans": 0,
}
NO_STAMPS = {"tcp_timestamps": 0}
NO_SACK = {"tcp_sack": 0}
NO_DSACK = {"tcp_dsack": 0}
OFF = {"star.aen": "0"}
ACKS_LOST = {"ack_blackout": (3.0, 1.0)}
DATA_LOST = {"data_blackout": (3.0, 1.0)}
LONG = {"ack_blackout": (3.0, 3.0)}


def case(*changes: dict[str, Any], duration_s: float = 6.5, beside: str = "") -> Case:
    values = dict(PLAIN)
    for change in changes:
        values |= change
    return Case(values, duration_s=duration_s, beside=beside)


#: Where the receiver's namespace begins, exactly one data segment is lost; ACKs for 1 s from then.
OLDEST_LOST = """
modprobe -a sch_ingress cls_matchall act_gact
tc -n rcv qdisc add dev to-sat clsact
sleep 4
tc -n rcv -batch - <<END
filter add dev to-sat ingress matchall action drop
filter add dev to-sat egress matchall action drop
END
until tc -n rcv -s filter show dev to-sat ingress | grep -q "Sent [1-9]"; do sleep 0.001; done
tc -n rcv filter del dev to-sat ingress
sleep 1
tc -n rcv -s -j filter show dev to-sat egress >$OUT/acks.json
tc -n rcv -s -j qdisc show dev to-sat >$OUT/both.json
tc -n rcv filter del dev to-sat egress
"""
#: ACKs are lost for 1 s, and meanwhile, behind segments that arrive, data for 50 ms.
HOLE = """
modprobe -a sch_ingress cls_matchall act_gact
tc -n rcv qdisc add dev to-sat clsact
sleep 4
tc -n rcv filter add dev to-sat egress matchall action drop
sleep 0.1
tc -n rcv filter add dev to-sat ingress matchall action drop
sleep 0.05
tc -n rcv filter del dev to-sat ingress
sleep 0.85
tc -n rcv filter del dev to-sat egress
"""
#: 12 ms between segments: time enough to lose a single one; nothing lost at the queue before.
SLOWER = {"rate": 1_000_000, "queue": 1_000_000}

CASES = {
    "acks": case(ACKS_LOST),
    "acks-stamps": case(ACKS_LOST, NO_SACK),
    "acks-sack": case(ACKS_LOST, NO_STAMPS),
    "acks-bare": case(ACKS_LOST, NO_STAMPS, NO_SACK),
    "acks-nodsack": case(ACKS_LOST, NO_STAMPS, NO_DSACK),
    "acks-nodsack-stamps": case(ACKS_LOST, NO_DSACK),
    "off": case(ACKS_LOST, OFF),
    "off-sack": case(ACKS_LOST, NO_STAMPS, OFF),
    "off-bare": case(ACKS_LOST, NO_STAMPS, NO_SACK, OFF),
    "long-nodsack": case(LONG, NO_STAMPS, NO_DSACK, duration_s=8),
    "long-bare": case(LONG, NO_STAMPS, NO_SACK, duration_s=8),
    "data": case(DATA_LOST),
    "data-sack": case(DATA_LOST, NO_STAMPS),
    "data-stamps": case(DATA_LOST, NO_SACK),
    "data-bare": case(DATA_LOST, NO_STAMPS, NO_SACK),
    "oldest": case(SLOWER, beside=OLDEST_LOST),
    "oldest-sack": case(SLOWER, NO_STAMPS, beside=OLDEST_LOST),
    "oldest-stamps": case(SLOWER, NO_SACK, beside=OLDEST_LOST),
    "oldest-bare": case(SLOWER, NO_STAMPS, NO_SACK, beside=OLDEST_LOST),
    "hole-sack": case(SLOWER, NO_STAMPS, beside=HOLE),
    "hole-nodsack": case(SLOWER, NO_STAMPS, NO_DSACK, beside=HOLE),
    "hole-bare": case(SLOWER, NO_STAMPS, NO_SACK, beside=HOLE),
}


#: One case of each kind is not here: `make check` has it.
DEEP = (
    *("acks-stamps", "acks-sack", "off", "off-sack", "long-bare", "data-sack", "data-stamps"),
    *("oldest-sack", "oldest-stamps", "hole-bare"),
)


runs = runs_of("star-aen", CASES, DEEP)


def around(run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The last ACK before the long silence, and all ACKs after it."""
    acks = run.traced("star_ack")
    gaps = [after["t"] - before["t"] for before, after in zip(acks, acks[1:], strict=False)]
    at = gaps.index(max(gaps))
    assert gaps[at] > 0.7, "there was no silence"
    return acks[at], acks[at + 1 :]


def verdicts(run: Run) -> list[str]:
    """AEN's verdicts; "wait" is how each check begins."""
    return [event["verdict"] for event in run.traced("star_aen")]


def undone_by_stack(run: Run) -> bool:
    return run.counter("TcpExtTCPLossUndo") > 0


def restored(run: Run) -> bool:
    """Window and threshold of before with the first ACK.

    It may add a segment, and as it is for the whole flight without a queue 1 / cwnd_reno for each.
    What the stack itself undoes has a threshold of three quarters of the window at least.
    """
    before, after = around(run)
    threshold = before["ssthresh"]
    if undone_by_stack(run):
        threshold = max(threshold, before["cwnd"] // 2 + before["cwnd"] // 4)
    flight_adds = 0 if before["queue"] else before["cwnd"] // before["cwnd_reno"]
    return (
        before["cwnd"] <= after[0]["cwnd"] <= before["cwnd"] + flight_adds + 1
        and after[0]["ssthresh"] == threshold
    )


def not_restored(run: Run) -> bool:
    """Slow start, credited with the flight that one ACK acknowledges: up to ssthresh, not beyond.

    But for what the rest of the flight adds in congestion avoidance: cwnd_reno, from 1 on, by one
    for as many segments as it has, so the root of twice the flight at the most.
    """
    before, after = around(run)
    window, threshold = after[0]["cwnd"], after[0]["ssthresh"]
    return window < before["cwnd"] - 2 and window <= threshold + 1 + (2 * before["cwnd"]) ** 0.5


ONE, SOME, TWO = range(1, 2), range(1, 10), range(2, 10)
SPURIOUS, LOSS, NOTHING = "spurious", "loss", ""
#: Timeouts; AEN's verdict, without aen not even that it waits; whether the stack has undone the
#: timeout; whether the window is that of before.
CAME_OF = {
    # One timeout and its probe: restored by the stack with D-SACK or timestamps, else by AEN.
    **dict.fromkeys(("acks", "acks-stamps", "acks-sack"), (ONE, NOTHING, True, True)),
    "acks-bare": (ONE, SPURIOUS, False, True),
    # The copy may have been needed: loss, unless a timestamp says which copy was answered.
    "acks-nodsack": (ONE, LOSS, False, False),
    "acks-nodsack-stamps": (ONE, NOTHING, True, True),
    # Without aen. The window is no smaller than ssthresh, though: the one ACK of the whole flight
    # is credited in slow start, as for every algorithm of today's stack.
    **dict.fromkeys(("off", "off-sack"), (ONE, None, True, True)),
    "off-bare": (ONE, None, False, False),
    # 3 s without ACKs, no data lost: only the second timeout indicates a loss.
    **dict.fromkeys(("long-nodsack", "long-bare"), (TWO, LOSS, False, False)),
    # Data.
    **dict.fromkeys(("data", "data-sack", "data-stamps", "data-bare"), (SOME, LOSS, False, False)),
    # The retransmission fills the hole, the ACK covers P_seq: only timestamps and D-SACK help.
    **dict.fromkeys(("oldest", "oldest-sack", "oldest-stamps"), (ONE, LOSS, False, False)),
    # Lost ACKs and, behind data that arrived, lost data.
    **dict.fromkeys(("hole-nodsack", "hole-bare"), (SOME, LOSS, False, False)),
}


@pytest.mark.parametrize("name", deep_ones(CAME_OF, DEEP))
def test_what_comes_of_a_timeout(runs: Guests, name: str) -> None:
    run = runs[name]
    count, verdict, undone, kept = CAME_OF[name]
    said = verdicts(run)
    assert timeouts(run) in count
    assert said == [] or verdict is not None
    assert (SPURIOUS in said) == (verdict == SPURIOUS)
    assert said[-1] == LOSS if verdict == LOSS else LOSS not in said
    assert undone_by_stack(run) == undone
    assert (restored if kept else not_restored)(run), around(run)[1][0]


@pytest.mark.parametrize("name", deep_ones(["acks", "acks-stamps", "acks-sack", "acks-bare"], DEEP))
def test_nothing_but_the_probe_is_sent_again(runs: Guests, name: str) -> None:
    assert runs[name].sent["info"]["total_retrans"] == 1


@pytest.mark.parametrize("name", deep_ones(["data", "data-sack", "data-stamps", "data-bare"], DEEP))
def test_lost_data_is_never_answered_by_restoring(runs: Guests, name: str) -> None:
    """ssthresh is what ABE measured, slow start begins at the initial window."""
    run = runs[name]
    before, after = around(run)
    assert after[0]["cwnd"] == INITIAL_WINDOW
    assert after[0]["ssthresh"] == pytest.approx(before["cwnd_abe"], abs=1)
    flight = [ack["cwnd"] for ack in after if ack["t"] < after[0]["t"] + 0.45]
    assert max(flight) < before["cwnd"] / 2, "not within a round trip"
    lost = sum(q["drops"] for q in run.json("qdisc-sat.json") if q["kind"] == "clsact")
    assert run.sent["info"]["total_retrans"] >= lost > 10


def test_the_one_case_that_cannot_be_told_apart(runs: Guests) -> None:
    """Without SACK and timestamps a lost segment looks like lost ACKs (documented exception)."""
    run = runs["oldest-bare"]
    assert verdicts(run)[-1] == SPURIOUS
    before, after = around(run)
    assert after[0]["ssthresh"] == before["ssthresh"]


@pytest.mark.parametrize(
    "name", deep_ones(["oldest", "oldest-sack", "oldest-stamps", "oldest-bare"], DEEP)
)
def test_the_oldest_segment_alone_was_lost(runs: Guests, name: str) -> None:
    """No ACK of the 1 s came through, one retransmission repaired it."""
    run = runs[name]
    both = next(q["drops"] for q in run.json("both.json") if q["kind"] == "clsact")
    acks = max(
        action["stats"]["drops"]
        for rule in run.json("acks.json")
        for action in rule.get("options", {}).get("actions", [])
    )
    assert both - acks == timeouts(run) == run.sent["info"]["total_retrans"] == 1


@pytest.mark.parametrize("name", deep_ones(["hole-nodsack", "hole-bare"], DEEP))
def test_slow_start_follows_a_partial_ack_or_sack_hole(runs: Guests, name: str) -> None:
    assert around(runs[name])[1][0]["cwnd"] <= INITIAL_WINDOW + 1


def test_an_undo_by_the_stack_does_not_survive_a_hole(runs: Guests) -> None:
    """With D-SACK the stack undoes the timeout, SACK then shows the hole: answered at once.

    By CWS, or by yielding if a queue stands.
    """
    run = runs["hole-sack"]
    before, after = around(run)
    assert undone_by_stack(run)
    assert SPURIOUS not in verdicts(run)
    recovery = [ack for ack in after if ack["state"] == "recovery"]
    assert recovery
    assert recovery[0]["t"] - after[0]["t"] < 0.6, "within a round trip"
    assert recovery[0]["ssthresh"] < before["cwnd"] - 10
    assert recovery[0]["ssthresh"] == recovery[0]["cwnd_abe"] or recovery[0]["mode"] == "yield"
    assert max(ack["cwnd"] for ack in recovery) <= before["cwnd"] + 1


# --- in recovery --------------------------------------------------------------------------------

#: With these bit errors the flow is always in recovery when its path becomes longer.
RECOVERING = {
    "rate": "20mbit", "delay": "40ms", "queue": "200kB", "ber": "5e-6", "trace": "module",
}  # fmt: skip
LONGER = {
    event: Case(parsed("satellite", RECOVERING | {"event": event}), duration_s=11)
    for event in ("delay:600ms@4s", "delay:600ms@5s", "delay:800ms@6s", "delay:800ms@8s")
}


longer = runs_of("star-aen-recovery", LONGER)


@pytest.mark.parametrize("name", LONGER)
def test_a_spurious_timeout_in_recovery(longer: dict[str, Run], name: str) -> None:
    """What it has marked as lost is no congestion: the window stays, but for the answer to one
    loss, within two of the new round trips.
    """
    run = longer[name]
    acks = run.traced("star_ack")
    at = next(i for i, ack in enumerate(acks) if ack["state"] == "loss")
    assert (acks[at - 1]["state"], timeouts(run)) == ("recovery", 1)
    windows = [
        ack["cwnd_reno"] + ack["cwnd_abe"] * (ack["mode"] in {"start", "cruise"})
        for ack in acks[at - 1 :]
        if ack["t"] < acks[at]["t"] + 2
    ]
    assert min(windows) >= windows[0] * 3 // 4


# --- figure 8 -----------------------------------------------------------------------------------

FIGURE_8 = {
    f"frto{frto}-er{early}-ts{stamps}": Case(
        {
            "ack_blackout": (10.0, 1.0),
            "tcp_frto": frto,
            "tcp_early_retrans": early,
            "tcp_timestamps": stamps,
        },
        duration_s=14.5,
    )
    for frto, early, stamps in product((0, 2), (0, 3), (0, 1))
}


#: Neither, one, and all of the stack's own means stay in `make check`.
MIXED = set(FIGURE_8) - {"frto0-er0-ts0", "frto2-er3-ts1", "frto0-er0-ts1"}


figure_8 = runs_of("star-figure-8", FIGURE_8, MIXED)


@pytest.mark.parametrize("name", deep_ones(FIGURE_8, MIXED))
def test_figure_8(figure_8: Guests, name: str) -> None:
    """The issue's bounds: at most 1.6 s worth of goodput lost, back above 90 % within 3 s.

    1.2 s is the least possible. The blackout begins at 10 s instead of 45 s to keep the test short:
    the start-up is over by then and the retransmission timeout has settled.
    """
    run = figure_8[name]
    start, end = run.when("ack_blackout", "on"), run.when("ack_blackout", "off")
    until = float(run.arrivals.times[0]) + (run.case.duration_s - 1) * 1e6
    limit = run.case.plan.limit_bps
    cost = blackout([run.arrivals], start * 1e6, end - start, until, limit)
    assert cost["recovered"]
    assert 0.9 < cost["lost_s"] <= 1.6
    assert cost["below90_s"] <= 3.0
