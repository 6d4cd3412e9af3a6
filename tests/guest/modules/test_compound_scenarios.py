# SPDX-License-Identifier: GPL-2.0
"""tcp_compound_plus at work: slow start, the rules, losses, timeouts, undo, limited flows, dips.

One path of 70 ms on scenario lfn. 578 packets at 100 Mbit/s, where the delay window grows by 14
segments per round trip; 58 at 10 Mbit/s, where a rule drains a queue in time. Every parameter is
given, so that defaults may change: without excess, dips, and an early end of slow start, unless a
case is about these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from apogee_lab.scenarios.testbed import PORT, Net
from tests.guest.modules.one_flow import DELAY_LINE, LOSE, RTT, SHORTER, flow, second
from tests.guest.runs import Case, Guests, Run, deep_ones, runs_of, timeouts

pytestmark = [pytest.mark.guest, pytest.mark.uml]

ONE = 256  # a segment
UNUSED, SLOW_START, LEFT, DELAY, RULE, DIP, DIPPED = range(7)  # enum compound_act
INFINITE = 0x7FFFFFFF  # TCP_INFINITE_SSTHRESH

#: The module's parameters, with all additions to the paper switched off.
PARAMETERS = {"gamma": 30, "alpha": 125, "beta": 500, "k": 750, "zeta": 1000, "rule": 3}
PARAMETERS |= {"letter": 0, "excess": 0, "relearn": 0, "fit": 0}
BESIDE = second("compound_plus")


def phase_ms(address: str) -> int:
    """By how much the periods of all behind a next hop are shifted: the golden ratio's hash."""
    whole = int(address.replace(":", ""), 16) * 0x9E3779B97F4A7C15
    return whole % 2**64 >> 32


def hop(wanted_ms: int) -> str:
    """A link address that shifts periods by that; 40 s is a multiple of all periods here."""
    tried = (f"02:00:00:{n >> 16:02x}:{n >> 8 & 255:02x}:{n & 255:02x}" for n in range(1 << 24))
    return next(address for address in tried if phase_ms(address) % 40_000 == wanted_ms)


def behind(address: str, senders: int = 1, v6: bool = False) -> str:
    """Shell lines: the first senders' next hop has this link address, and forgets no neighbour."""
    net = Net(v6, 1500)
    return "".join(
        f"ip -n ra link set to-fast{n} address {address}\n"
        f"ip -n fast{n} neigh replace {net.address(n, 2)} lladdr {address} dev to-ra "
        "nud permanent\n"
        f"ip -n ra neigh replace {net.address(n, 1)} lladdr {net.mac(n, 1)} dev to-fast{n} "
        "nud permanent\n"
        for n in range(1, senders + 1)
    )


#: Next hops: periods are as the clock has them, and begin 3.5 s before.
HOP, OTHER_HOP, OTHER_S = hop(0), hop(3500), 3.5


def case(
    beside: str = "",
    duration_s: float = 3.0,
    cc: str = "compound_plus",
    before: str = "",
    address: str = HOP,
    **values: Any,
) -> Case:
    """One flow; the module's parameters by their names, with an underscore before them."""
    made = flow(cc, PARAMETERS, values, duration_s, beside, before)
    linked = behind(address, values.get("n", 1), bool(values.get("ipv6")))
    return dataclasses.replace(made, linked=linked)


def note(what: str) -> str:
    """A line for events.log, with its time."""
    return f"echo \"{what} $(cut -d' ' -f1 /proc/uptime)\" >>$OUT/events.log\n"


def clock_is(second: int) -> str:
    """Shell lines: wait for that second of each ten, most of the time asleep."""
    return (
        f"sleep $((({second} + 9 - $(date +%s)) % 10))\n"
        f"until [ $(($(date +%s) % 10)) = {second} ]; do sleep 0.01; done\n"
    )


#: The queue never overflows: slow start ends by Diff alone.
DEEP = {"rate": 10_000_000, "queue": 5000}
PERIODS = {"duration_s": 24, "_rule": 4, "_relearn": 8, **DEEP}
#: A few segments, a queue of 12: losses keep the window below 20.
TINY = {"rate": 1_000_000, "queue": 12}

#: Beside a flow with a constant window, which keeps its own packets queued.
CROWD = {"cc": "compound_plus+constant", "n": 2, "_rule": 4, **DEEP}
#: That flow's window falls from 200 to 20 within 0.9 s, three round trips, in the middle of a
#: period of 10 s, like the dip of another flow. The first dip, at 0 s, did not empty the queue. The
#: dip that follows begins 0.6 s later and takes 0.4 s.
FALLS = f"""
sleep 5
{clock_is(6)}{note("others fall")}for cwnd in $(seq 190 -10 20); do
    echo $cwnd >/sys/module/tcp_constant/parameters/cwnd
    sleep 0.05
done &
"""
#: `rounds COUNT ACT`: wait until so many round trips were judged so.
ROUNDS = """
rounds() {
    ring=/sys/kernel/tracing/instances/rounds
    mkdir $ring
    echo 0 >$ring/buffer_percent
    echo 1 >$ring/events/tcp_compound_plus/compound_round/enable
    timeout 60 grep -q -m $1 "act=$2" $ring/trace_pipe
    rmdir $ring
}
"""
ENDED = f"{ROUNDS}rounds 1 {LEFT}\n"
#: The dip's first window is half of that before; its second one is small.
DIPS = f"{ROUNDS}rounds %d {DIP}\n"
OTHERS = {"constant.cwnd": 200, "_relearn": 40, "duration_s": 12, **CROWD}
OTHERS["before"] = clock_is(7)
#: What is to be added to the trace's times for those of the clock that tells the periods.
CLOCK = """
awk '/offset:/ && $2 > most { most = $2 } END { printf "%.0f", most }' /proc/timer_list \
    >$OUT/realtime
"""

CASES = {
    "plain": case(duration_s=12, cc="compound", **DEEP),
    "rule2": case(duration_s=12, _rule=2, **DEEP),
    "rule3": case(duration_s=12, _rule=3, **DEEP),
    "rule4": case(duration_s=12, _rule=4, **DEEP),
    "small": case(duration_s=8, **TINY),
    "letter": case(duration_s=8, _letter=1, **TINY),
    "letter2": case(duration_s=8, _letter=1, _rule=2, **TINY),
    "overflow": case(duration_s=4),
    "beta": case(duration_s=4, _beta=125),
    "timeout": case(LOSE + "sleep 2\nlose 0.5\n", duration_s=4),
    # The first retransmission is lost, too.
    "twice": case(LOSE + "sleep 2\nlose 0.005\nsleep 0.05\nlose 0.5\n", duration_s=4),
    # After a loss the delay window grows. Then the stack sends all of the window at once.
    "shorter": case(
        LOSE + "sleep 0.42\nlose 0.003\nsleep 1.2\n" + note("packets shorter") + SHORTER,
        duration_s=3, queue=5000,
    ),
    "overtaken": case(DELAY_LINE + "sleep 2\ndelay 70ms\nsleep 0.005\ndelay 30ms\n", duration_s=3),
    "late": case(DELAY_LINE + "sleep 2\ndelay 1030ms\n", duration_s=4.5),
    "marks": case(duration_s=4, aqm="red", tcp_ecn=1),
    # What is under way is bounded by the own link's queue (TSQ); then the path becomes longer.
    "own": case(
        DELAY_LINE + "sleep 2\ndelay 90ms\n", duration_s=4, host_rate=50_000_000, queue=5000
    ),
    # Both connections fill the queue; then the second one has 5 segments at a time.
    "trickle": case(
        """
ip netns exec fast1 sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
data() {
    head -c 1500000 /dev/zero
    sleep 3
    for i in $(seq 100); do
        head -c 7240 /dev/zero
        sleep 0.05
    done
}
"""
        + BESIDE,
        duration_s=11,
        **DEEP,
    ),
    # A pause, after which the stack starts slowly again.
    "idle": case(
        "data() { head -c 12000000 /dev/zero; sleep 3; head -c 6000000 /dev/zero; }" + BESIDE,
        duration_s=8,
        _gamma=500,
    ),
    "excess": case(duration_s=12, _excess=500, **DEEP),
    "fit": case(duration_s=4, _fit=1, **DEEP),
    "fit_both": case(duration_s=4, cc="compound", _fit=2, **DEEP),
    "fit_plus": case(duration_s=4, cc="compound", _fit=1, **DEEP),
    # A loss of data sent in slow start, and one of later data.
    "flight": case(LOSE + ENDED + "lose 0.01\nsleep 1\nlose 0.01\n", duration_s=4, _fit=1, **DEEP),
    "never": case(duration_s=4, cc="compound", _relearn=1, **DEEP),
    "clock": case(CLOCK, **PERIODS),
    "elsewhere": case(CLOCK, address=OTHER_HOP, **PERIODS),
    "elsewhere6": case(CLOCK, address=OTHER_HOP, ipv6=1, **PERIODS),
    # The next hop becomes another: a route or a neighbour has changed.
    "moves": case(
        CLOCK + "sleep 12\n" + note("hop moves") + behind(OTHER_HOP),
        duration_s=22, _rule=4, _relearn=2, **DEEP,
    ),
    "stations": Case(
        {"n": 4, "window": 1_000_000, "trace": "module", "compound_plus.relearn": "8"},
        "compound_plus", duration_s=25, beside=CLOCK, scenario="wlan",
    ),
    "crowd": case(CLOCK, duration_s=16, _relearn=8, **{"constant.cwnd": 500}, **CROWD),
    "others": case(CLOCK + FALLS, **OTHERS),
    # Too soon for a dip of its own, three tenths of 75 s after baseRTT was last seen.
    "learner": case(FALLS, **{**OTHERS, "_relearn": 600}),
    "loss": case(LOSE + FALLS + DIPS % 2 + "lose 0.1\n", **OTHERS),
    "silence": case(LOSE + FALLS + DIPS % 2 + "lose 0.5\n", **OTHERS),
    "undone": case(
        DELAY_LINE + FALLS + DIPS % 1 + "delay 130ms\nsleep 0.08\ndelay 30ms\n", **OTHERS
    ),
    # A large window beside a flow that comes to hold more, until a dip is given up.
    "rise": case(
        CLOCK + "sleep 2\n" + note("others rise")
        + "echo 1000 >/sys/module/tcp_constant/parameters/cwnd\n",
        duration_s=8, cc="compound_plus+constant", n=2, queue=5000, before=clock_is(7),
        _rule=4, _relearn=8, _fit=1, **{"constant.cwnd": 400},
    ),
    # The path becomes twice as long, in the middle between two dips.
    "longer": case(
        CLOCK + DELAY_LINE + "sleep 6\n" + note("path longer") + "delay 100ms\n",
        duration_s=27, before=clock_is(7), _excess=500, _relearn=2, rate=20_000_000, queue=5000,
    ),
    "alone": case(duration_s=40, _excess=500, _relearn=4, **DEEP),
    # 12 packets under way, and gamma more in the queue.
    "slow_own": case(duration_s=40, _excess=500, _relearn=2, _fit=1, rate=2_000_000, queue=5000),
    "together": case(duration_s=40, _excess=500, _relearn=8, _fit=1, n=4, **DEEP),
}  # fmt: skip


#: One case of each kind is not here: `make check` has it.
DEEP_CASES = (
    *("beta", "twice", "shorter", "late", "own", "trickle", "idle", "fit_both", "fit_plus"),
    *("never", "letter2", "undone", "alone", "elsewhere", "elsewhere6", "moves", "stations"),
    *("crowd", "others", "learner", "silence", "rise", "longer", "slow_own", "together"),
)
deep = pytest.mark.deep


runs = runs_of("compound-scenarios", CASES, DEEP_CASES)


# --- evaluation of traces ---------------------------------------------------------------------


def rounds(run: Run) -> list[dict[str, Any]]:
    return run.traced("compound_round")


def judged(run: Run) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of successive round trips in congestion avoidance, with no loss between them."""
    stops = [one["t"] for one, _ in cuts(run)]
    for one, other in pairwise(rounds(run)):
        whole = one["act"] in (LEFT, DELAY, RULE) and other["act"] in (DELAY, RULE)
        if whole and not any(one["t"] <= stop <= other["t"] for stop in stops):
            yield one, other


def cuts(run: Run) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Reductions by a loss: the events of tcp_probe before and after.

    It has the state before each ACK, so a change by the ACK is in the next event. The module
    itself lowers ssthresh only to the window or below by a round trip's step.
    """
    found = []
    own = [one["t"] for one in rounds(run)]
    for before, after in pairwise(run.traced("tcp_probe")):
        lowered = after["ssthresh"] < min(before["ssthresh"], before["snd_cwnd"])
        if lowered and not any(before["t"] <= t < after["t"] for t in own):
            found.append((before, after))
    return found


def left_at(told: list[dict[str, Any]]) -> int:
    """Where slow start has ended."""
    return next(n for n, one in enumerate(told) if one["act"] == LEFT)


def last_before(run: Run, t: float) -> dict[str, Any]:
    """The last round trip that was judged before a time."""
    return [one for one in rounds(run) if one["t"] <= t][-1]


# --- slow start -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "rule2", "rule3", "rule4"])
def test_slow_start_ends_where_packets_wait(runs: Guests, name: str) -> None:
    """Without a loss, once Diff has reached gamma, and it does not come back."""
    run = runs[name]
    assert run.sent["info"]["total_retrans"] == 0
    told = rounds(run)
    (at,) = [n for n, one in enumerate(told) if one["act"] == LEFT]
    assert {one["act"] for one in told[:at]} <= {UNUSED, SLOW_START}
    assert all(one["dwnd"] == 0 and one["ssthresh"] == INFINITE for one in told[:at])
    assert all(one["diff"] < 30 * ONE for one in told[:at])
    assert told[at]["diff"] >= 30 * ONE
    assert told[at]["ssthresh"] == told[at]["swnd"]
    assert {one["act"] for one in told[at + 1 :]} <= {DELAY, RULE}
    later = [e for e in run.traced("tcp_probe") if e["t"] > told[at]["t"]]
    assert all(e["snd_cwnd"] >= e["ssthresh"] for e in later)


@pytest.mark.parametrize("name", deep_ones(["fit", "fit_both"], DEEP_CASES))
def test_slow_start_ends_early(runs: Guests, name: str) -> None:
    """After eight RTT samples of a round trip, at swnd - Diff + gamma, taken of half of the window
    at its beginning, with which their packets were sent."""
    told = rounds(runs[name])
    at = left_at(told)
    before, left = told[at - 1], told[at]
    assert left["t"] - before["t"] < RTT / 2
    assert left["diff"] / ONE == pytest.approx(
        before["swnd"] * (1 - left["base_rtt"] / left["rtt"]), abs=1 / ONE
    )
    assert left["swnd"] == fitted(before["swnd"] // 2, left["diff"] // 2) == left["ssthresh"]
    assert (left["cwnd"], left["dwnd"]) == (left["swnd"] * ONE, 0)
    assert all(one["swnd"] < left["ssthresh"] for one in told[: at - 2])


@pytest.mark.parametrize("name", deep_ones(["rule3", "fit_plus"], DEEP_CASES))
def test_slow_start_keeps_its_window_unless_fitted(runs: Guests, name: str) -> None:
    """compound_plus with fit=0, compound with fit=1: at the end of a round trip, doubled."""
    told = rounds(runs[name])
    at = left_at(told)
    assert told[at]["swnd"] == told[at]["ssthresh"] == 2 * told[at - 1]["swnd"]
    early = rounds(runs["fit"])
    assert told[at]["swnd"] > 2 * early[left_at(early)]["swnd"]


def test_the_fitted_window_leaves_gamma_waiting(runs: Guests) -> None:
    """The first Diff measured with it is at most gamma and a tenth of the path's product. The rule
    applies only to RTTs measured with it: what ended slow start is not answered twice."""
    told = rounds(runs["fit"])
    left, after, measured = told[left_at(told) :][:3]
    assert measured["diff"] < 36 * ONE
    assert not (after["act"] == RULE and after["diff"] == left["diff"])


def test_a_flight_is_answered_once(runs: Guests) -> None:
    """A loss of what slow start had sent by its early end leaves half of the window that had sent
    it, not of what was left of that; a later one takes half."""
    run = runs["flight"]
    assert (run.counter("TcpExtTCPSackRecovery"), timeouts(run)) == (2, 0)
    told = rounds(run)
    at = left_at(told)
    left, after = told[at : at + 2]
    assert after["t"] - left["t"] > 2 * RTT, "recovery, in which nothing is judged"
    sent = [e["snd_cwnd"] for e in run.traced("tcp_probe") if e["t"] <= left["t"]][-1]
    assert after["swnd"] == pytest.approx(min(left["swnd"], sent / 2), abs=1.01)
    before, cut = cuts(run)[-1]
    assert cut["t"] - left["t"] > 1
    assert cut["ssthresh"] == pytest.approx(before["snd_cwnd"] / 2, abs=1.01)


# --- the rules --------------------------------------------------------------------------------


def test_every_round_trip_is_as_the_equations_have_it(runs: Guests) -> None:
    """Diff, both windows, what is sent: from the events alone."""
    seen = {DELAY: 0, RULE: 0}
    for name in ("plain", "rule2", "rule3", "rule4", "overflow", "excess"):
        rule = {"plain": 0, "rule2": 2, "rule4": 4}.get(name, 3)
        for one, other in judged(runs[name]):
            seen[other["act"]] += 1
            assert other["swnd"] == -(-(other["cwnd"] + other["dwnd"]) // ONE)
            diff = one["swnd"] * (1 - other["base_rtt"] / other["rtt"])
            assert other["diff"] / ONE == pytest.approx(diff, abs=1 / ONE)
            change = (other["dwnd"] - one["dwnd"]) / ONE
            if other["diff"] >= 30 * ONE:
                assert other["dwnd"] == max(one["dwnd"] - other["diff"], 0)
            else:
                # The window as it was before this step.
                swnd = one["swnd"] + (other["cwnd"] - one["cwnd"]) / ONE
                assert change == pytest.approx(max(swnd**0.75 / 8 - 1, 0), abs=0.02)
            crowded = other["dwnd"] == 0 and other["diff"] >= 30 * ONE
            assert (other["act"] == RULE) == (crowded and rule != 0)
            before, after = one["cwnd"], other["cwnd"]
            held = one["act"] == RULE or (one["act"] == LEFT and rule != 0)
            grown = before if held else before + ONE
            if other["act"] == RULE:
                applied = {2: -(-grown * 2 // (3 * ONE)) * ONE, 3: grown - ONE // 2, 4: grown}
                excess = (other["diff"] - 30 * ONE) // 2 if name == "excess" else 0
                assert abs(after - (applied[rule] - excess)) <= ONE
            else:
                assert abs(after - grown) <= ONE
    assert seen[DELAY] > 100
    assert seen[RULE] > 50


@pytest.mark.parametrize(("name", "step"), [("rule3", -ONE // 2), ("rule4", 0)])
def test_a_held_window_changes_by_the_rule_alone(runs: Guests, name: str, step: int) -> None:
    """While dwnd = 0 and packets wait, the window never grows between two reductions."""
    pairs = [(a, b) for a, b in judged(runs[name]) if a["act"] == b["act"] == RULE]
    assert len(pairs) > 20
    assert {b["cwnd"] - a["cwnd"] for a, b in pairs} == {step}


def test_dwnd_leaves_zero_again(runs: Guests) -> None:
    """Once the queue is empty, the delay window grows, and the loss window with it."""
    run = runs["rule2"]
    back = [(a, b) for a, b in judged(run) if a["act"] == RULE and b["act"] == DELAY]
    assert back
    for _, after in back:
        assert after["dwnd"] > 0
    assert [1 for a, b in judged(run) if a["act"] == b["act"] == DELAY and b["cwnd"] > a["cwnd"]]


def test_the_queue_that_each_leaves(runs: Guests) -> None:
    """Compound TCP fills it, rule 4 keeps it, rule 3 drains it slowly, rule 2 at once to gamma."""
    names = ("plain", "rule2", "rule3", "rule4", "excess")
    rtt = {name: rounds(runs[name])[-1]["rtt"] for name in names}
    assert rtt["rule2"] < rtt["rule3"] < rtt["rule4"] < rtt["plain"]
    assert rtt["excess"] < rtt["rule3"]
    holds = 10e6 * RTT / 8 / 1514
    assert rtt["rule2"] / 1e6 < RTT * (holds + 60) / holds
    assert rtt["excess"] / 1e6 < RTT * (holds + 40) / holds
    for name in rtt:
        assert runs[name].goodput(3, 11) > 0.95 * 10e6 * 1448 / 1514


@pytest.mark.parametrize("name", deep_ones(["letter", "letter2"], DEEP_CASES))
def test_never_below_two_segments(runs: Guests, name: str) -> None:
    """Reductions by half and by two thirds lower the window to two, where it stays."""
    ruled = [one for one in rounds(runs[name]) if one["act"] == RULE]
    assert min(one["cwnd"] for one in ruled) == ruled[-1]["cwnd"] == 2 * ONE
    assert ruled[-1]["swnd"] == 2


def test_the_letter_starves_a_small_flow(runs: Guests) -> None:
    """Up to 16 segments dwnd stays 0: as published, the window shrinks to 2, else it grows."""
    assert rounds(runs["letter"])[-1]["swnd"] == 2
    grown = [b["cwnd"] - a["cwnd"] for a, b in judged(runs["small"]) if b["diff"] < 30 * ONE]
    assert sum(grown) > 5 * ONE
    assert runs["letter"].goodput(4, 7.5) < 0.5 * runs["small"].goodput(4, 7.5)


# --- losses, timeouts, undo, marks ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "left"), [("overflow", 0.5), pytest.param("beta", 0.875, marks=deep)]
)
def test_a_loss_takes_beta(runs: Guests, name: str, left: float) -> None:
    """ssthresh = swnd (1 - beta), of which the loss window has cwnd / 2, each time."""
    run = runs[name]
    told = cuts(run)
    for before, after in told:
        assert after["ssthresh"] == pytest.approx(left * before["snd_cwnd"], abs=1.01)
    first = next(one for one in rounds(run) if one["t"] > told[0][1]["t"])
    halved = [after for _, after in told if after["t"] < first["t"]]
    cwnd = told[0][0]["snd_cwnd"] >> len(halved)  # of slow start: swnd was cwnd
    # A few segments arrive between recovery and the end of the first round trip.
    assert first["cwnd"] / ONE == pytest.approx(cwnd, abs=2)
    assert run.sent["info"]["total_retrans"] > 0
    assert timeouts(run) == 0


@pytest.mark.parametrize("name", deep_ones(["timeout", "twice"], DEEP_CASES))
def test_a_timeout_is_slow_start_without_a_delay_window(runs: Guests, name: str) -> None:
    """From one segment to ssthresh; there the delay window begins at 0."""
    run = runs[name]
    assert timeouts(run) >= 1
    at = run.when("fast1", "start") + 2
    assert last_before(run, at)["dwnd"] > 30 * ONE
    probes = [e for e in run.traced("tcp_probe") if e["t"] > at]
    down = next(n for n, e in enumerate(probes) if e["snd_cwnd"] == 1)
    first = next(one for one in rounds(run) if one["t"] > probes[down]["t"])
    slow = [e["snd_cwnd"] for e in probes[down:] if e["t"] < first["t"]]
    assert slow == sorted(slow)
    assert first["cwnd"] / ONE == pytest.approx(first["ssthresh"], abs=3)
    assert first["dwnd"] / ONE <= first["swnd"] ** 0.75 / 8 - 1


@deep
def test_shorter_packets_are_no_congestion(runs: Guests) -> None:
    """The stack retransmits packets that are too long for the path, as after a timeout, but keeps
    the window: loss window and delay window are unchanged."""
    run = runs["shorter"]
    assert run.sent["info"]["total_retrans"] > 0
    assert timeouts(run) == 0
    at = run.when("packets", "shorter")
    before = last_before(run, at)
    after = next(one for one in rounds(run) if one["t"] > at + RTT)
    assert before["dwnd"] > 30 * ONE
    assert after["dwnd"] >= before["dwnd"]


@pytest.mark.parametrize("name", deep_ones(["overtaken", "late"], DEEP_CASES))
def test_undo_restores_both_windows(runs: Guests, name: str) -> None:
    """After reordering, and after a spurious timeout."""
    run = runs[name]
    undone = ("TcpExtTCPPartialUndo", "TcpExtTCPFullUndo", "TcpExtTCPLossUndo")
    assert sum(run.counter(counter) for counter in undone) > 0
    assert timeouts(run) == (name == "late")
    at = run.when("fast1", "start") + 2
    before = last_before(run, at + 0.1)
    lowered = next(e for e in run.traced("tcp_probe") if e["ssthresh"] < before["swnd"] * 0.8)
    assert lowered
    after = next(one for one in rounds(run) if one["t"] > at + 0.2)
    assert before["dwnd"] > 10 * ONE
    assert after["dwnd"] >= before["dwnd"] - 2 * ONE
    assert after["cwnd"] >= before["cwnd"] - 2 * ONE


def test_marks_are_answered_like_losses(runs: Guests) -> None:
    run = runs["marks"]
    assert run.sent["info"]["delivered_ce"] > 0
    assert run.sent["info"]["total_retrans"] == 0
    found = cuts(run)
    assert found
    for before, after in found:
        assert after["ssthresh"] == pytest.approx(before["snd_cwnd"] / 2, abs=1.01)


# --- flows limited otherwise ------------------------------------------------------------------


@deep
def test_a_flow_that_its_own_link_limits_shrinks(runs: Guests) -> None:
    """TSQ holds packets back, so the window is never full; the rule lowers it all the same."""
    run = runs["own"]
    at = run.when("fast1", "start") + 2
    later = [one for one in rounds(run) if one["t"] > at + 0.3]
    ruled = [one for one in later if one["act"] == RULE]
    assert len(ruled) > 5
    assert ruled[-1]["cwnd"] < ruled[0]["cwnd"]


@deep
def test_a_flow_that_its_application_limits_keeps_its_window(runs: Guests) -> None:
    """Diff of an unused window is ignored, however long the RTT."""
    told = rounds(runs["trickle"])
    last = next(n for n in range(len(told), 0, -1) if told[n - 1]["act"] != UNUSED)
    idle = told[last:]
    assert len(idle) > 5
    assert max(one["rtt"] for one in idle) > 1.5 * min(one["base_rtt"] for one in idle)
    kept = told[last - 1]
    assert kept["swnd"] > 100
    assert kept["swnd"] * (1 - kept["base_rtt"] / idle[-1]["rtt"]) > 30, "the rule would have acted"
    assert {(one["cwnd"], one["dwnd"]) for one in idle} == {(idle[0]["cwnd"], idle[0]["dwnd"])}
    assert idle[0]["swnd"] >= kept["swnd"]


@deep
def test_an_idle_flow_starts_slowly_again(runs: Guests) -> None:
    """The stack lowers the window and keeps ssthresh: no delay window until it is back there."""
    told = rounds(runs["idle"])
    ((before, after),) = [(a, b) for a, b in pairwise(told) if a["ssthresh"] < b["ssthresh"]]
    assert before["dwnd"] > 30 * ONE
    assert after["swnd"] <= before["swnd"] / 2
    assert after["swnd"] < after["ssthresh"]
    assert after["dwnd"] == 0
    assert after["cwnd"] == after["swnd"] * ONE


# --- dips -------------------------------------------------------------------------------------


def fitted(swnd: int, diff: int) -> int:
    return max(int(swnd - diff / ONE + 30), 2)


def dips(run: Run, port: int = PORT) -> list[list[dict[str, Any]]]:
    """Of each dip of a flow that was not cut short: the round trip before, its own, its end."""
    found: list[list[dict[str, Any]]] = []
    told = [one for one in rounds(run) if one["dport"] == port]
    for before, one in pairwise(told):
        if one["act"] == DIP and before["act"] != DIP:
            found.append([before, one])
        elif one["act"] in (DIP, DIPPED):
            found[-1].append(one)
    return [each for each in found if each[-1]["act"] == DIPPED]


def turn(run: Run, t: float, period_s: float, shifted_s: float = 0) -> int:
    """The number of a period of the shared clock."""
    return int((t + int(run.text("realtime")) / 1e9 + shifted_s) // period_s)


@pytest.mark.parametrize("name", deep_ones(["rule4", "never"], DEEP_CASES))
def test_no_dips_unless_asked_for(runs: Guests, name: str) -> None:
    """No dips with relearn=0 despite a standing queue, and none with Compound TCP."""
    told = rounds(runs[name])
    assert not {DIP, DIPPED} & {one["act"] for one in told}
    assert max(one["diff"] for one in told) > 30 * ONE


@pytest.mark.parametrize(
    ("name", "n", "shifted_s"),
    [
        *(("clock", n, 0) for n in range(4)),
        pytest.param("crowd", 1, 0, marks=deep),
        *(pytest.param("elsewhere", n, OTHER_S, marks=deep) for n in range(4)),
        *(pytest.param("elsewhere6", n, OTHER_S, marks=deep) for n in range(4)),
    ],
)
def test_dips_begin_as_a_period_does(runs: Guests, name: str, n: int, shifted_s: float) -> None:
    """Dip number n, from 0 on: periods of 1, 2, 4, 8 s; in the first round trip to end in one. Also
    the first one, after slow start, and that of a crowd, after a dip longer than three tenths of
    the next period, whose number is another. Behind another next hop it is half a second or more
    from the clock's multiples."""
    run = runs[name]
    before, begin, *_ = dips(run)[n]
    period_s = min(2**n, 8)
    old, new = (turn(run, one["t"], period_s, shifted_s) for one in (before, begin))
    assert new == old + 1


@deep
def test_dips_follow_the_next_hop_that_is(runs: Guests) -> None:
    """The next hop changes during the connection; the change itself does not begin a dip."""
    run = runs["moves"]
    at = run.when("hop", "moves")
    found = [(before, begin) for before, begin, *_ in dips(run)[3:]]
    old, new = [d for d in found if d[1]["t"] < at], [d for d in found if d[1]["t"] > at]
    assert len(old) >= 2
    assert len(new) >= 3
    for shifted_s, told in ((0, old), (OTHER_S, new)):
        for before, begin in told:
            one, other = (turn(run, each["t"], 2, shifted_s) for each in (before, begin))
            assert other == one + 1


@deep
def test_stations_of_one_access_point_dip_together(runs: Guests) -> None:
    """All four, in the two round trips after a period's begin by the access point's address. The
    period is the longest one by then, and the last that no dip was cut short in."""
    run = runs["stations"]
    shifted_s = phase_ms("02:00:00:00:00:02") / 1e3
    begins = [[begin for _, begin, *_ in dips(run, PORT + n)] for n in range(4)]
    last = min(turn(run, told[-1]["t"], 8, shifted_s) for told in begins)
    start = last * 8 - shifted_s - int(run.text("realtime")) / 1e9
    for told in begins:
        after = [begin for begin in told if 0 <= begin["t"] - start < 8]
        assert len(after) == 1
        assert after[0]["t"] - start < 2 * after[0]["rtt"] / 1e6


@deep
def test_a_dip_that_changes_nothing_is_given_up(runs: Guests) -> None:
    """Half the window for three round trips, then slow start to the window that queues gamma."""
    told = rounds(runs["crowd"])
    for before, begin, *later in dips(runs["crowd"]):
        assert begin["swnd"] == begin["ssthresh"] == max(before["swnd"] // 2, 10)
        *other, end = later
        assert [one["swnd"] for one in other] == [begin["swnd"]] * 2
        assert end["rtt"] * 8 > begin["rtt"] * 7
        swnd = -(-(begin["cwnd"] + begin["dwnd"]) // ONE)
        diff = max(swnd * (1 - end["base_rtt"] / begin["rtt"]), 0)
        assert end["diff"] / ONE == pytest.approx(diff, abs=1 / ONE)
        assert end["ssthresh"] == min(swnd, fitted(swnd, end["diff"]))
        assert (end["swnd"], end["dwnd"]) == (begin["swnd"], 0)
        after = [one for one in told if one["t"] > end["t"]]
        back = next((one for one in after if one["act"] not in (SLOW_START, UNUSED)), None)
        if back and back["act"] != DIP:
            assert back["act"] in (LEFT, DELAY, RULE)
            assert back["swnd"] >= min(end["ssthresh"], end["swnd"]) or back["act"] == RULE
            assert back["t"] - end["t"] < 3 * begin["rtt"] / 1e6


@deep
def test_slow_start_after_a_dip_is_not_ended_by_half_of_the_dips_window(
    runs: Guests,
) -> None:
    """RTTs right after a dip are of packets that were sent with the dip's whole window."""
    run = runs["rise"]
    at = run.when("others", "rise")
    *_, end = next(d for d in dips(run) if d[1]["t"] > at)
    assert end["ssthresh"] > end["swnd"], "slow start leads back"
    after = next(
        one for one in rounds(run) if one["t"] > end["t"] and one["act"] not in (UNUSED, SLOW_START)
    )
    diff = end["swnd"] * (1 - after["base_rtt"] / after["rtt"])
    assert diff >= 30, "packets wait already"
    assert after["swnd"] >= min(end["ssthresh"], fitted(end["swnd"], round(diff * ONE))) - 1


@deep
def test_a_flow_that_is_alone_drains_its_own_queue(runs: Guests) -> None:
    """Half of 58 + gamma is less than the path holds: the dip is not given up, and sees baseRTT,
    which does not rise. Not so the first one, from the 320 that slow start has left."""
    _, *found = dips(runs["alone"])
    assert len(found) > 5
    for before, *_, end in found:
        assert end["rtt"] < before["base_rtt"] * 9 / 8
    last = rounds(runs["alone"])[-1]
    assert last["base_rtt"] == pytest.approx(RTT * 1e6, rel=0.01)
    assert last["diff"] / ONE == pytest.approx(30, abs=4)


@deep
def test_a_dip_with_others_drains_the_queue(runs: Guests) -> None:
    """It begins where the RTT falls, in the middle of a period; three round trips, of which the
    last sees the empty path; slow start leads back."""
    run = runs["others"]
    at = run.when("others", "fall")
    before, begin, second, third, end = next(d for d in dips(run) if d[1]["t"] > at)
    assert turn(run, begin["t"], 10) == turn(run, at, 10)
    assert 0.2 < begin["t"] - at < 1
    assert begin["rtt"] < before["rtt"]
    assert begin["swnd"] == before["swnd"] // 2
    window = max(int(before["swnd"] * begin["base_rtt"] / begin["rtt"]) // 4, 10)
    assert second["swnd"] == third["swnd"] == min(before["swnd"] // 2, window)
    assert second["rtt"] <= begin["rtt"] * 7 / 8
    # A full packet's time to be sent is what the handshake's RTT lacks.
    assert end["rtt"] == pytest.approx(end["base_rtt"] + 1514 * 8 / 10, rel=0.02)
    assert end["ssthresh"] == fitted(before["swnd"], end["diff"])
    after = [one for one in rounds(run) if one["t"] > end["t"]]
    slow = [one["swnd"] for one in after[:2]]
    assert slow == [2 * end["swnd"], 4 * end["swnd"]]
    assert after[2]["act"] == DELAY
    # Not below it again, but for a rule's step.
    assert min(one["swnd"] for one in after[2:10]) >= end["ssthresh"] - 1
    assert run.sent["info"]["total_retrans"] == 0


@deep
def test_who_learns_follows_others_at_once(runs: Guests) -> None:
    """A flow follows in its first dip, although it has seen baseRTT seconds before."""
    run = runs["learner"]
    (before, begin, *_), *_ = dips(run)
    assert 0.2 < begin["t"] - run.when("others", "fall") < 1
    assert begin["rtt"] < before["rtt"]


def cut_short(run: Run) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """Of the dip that followed others and was ended by a loss: before it, its last, after it."""
    at = run.when("others", "fall")
    told = [one for one in rounds(run) if one["t"] > at]
    begin = next(n for n, one in enumerate(told) if one["act"] == DIP)
    last = next(n for n in range(begin, len(told)) if told[n + 1]["act"] != DIP)
    assert told[last + 1]["act"] != DIPPED
    return told[begin - 1], told[last], told[last + 1 :]


def of_first(run: Run) -> list[dict[str, Any]]:
    """tcp_probe of the first flow."""
    return [e for e in run.traced("tcp_probe") if str(e["dest"]).endswith(f":{PORT}")]


def test_a_loss_ends_a_dip(runs: Guests) -> None:
    """The threshold is half of the window before the dip, not half of the dip's window."""
    run = runs["loss"]
    assert timeouts(run) == 0
    before, last, after = cut_short(run)
    assert run.sent["info"]["total_retrans"] > 0
    first = after[0]
    assert first["ssthresh"] == before["swnd"] // 2
    probes = [e for e in of_first(run) if last["t"] < e["t"] < first["t"]]
    assert before["swnd"] // 2 in {e["ssthresh"] for e in probes}
    assert first["cwnd"] / ONE == pytest.approx(before["swnd"] // 2, abs=3)


@deep
def test_a_timeout_ends_a_dip(runs: Guests) -> None:
    """One segment, then slow start to half of the window before the dip."""
    run = runs["silence"]
    assert timeouts(run) >= 1
    before, last, after = cut_short(run)
    probes = [e for e in of_first(run) if last["t"] < e["t"] < after[0]["t"]]
    assert min(e["snd_cwnd"] for e in probes) == 1
    assert probes[-1]["ssthresh"] == before["swnd"] // 2
    assert after[0]["dwnd"] / ONE < 2


@deep
def test_undo_ends_a_dip(runs: Guests) -> None:
    """Reordering during the dip: slow start to the window that the dip would have led to."""
    run = runs["undone"]
    undone = ("TcpExtTCPPartialUndo", "TcpExtTCPFullUndo", "TcpExtTCPDSACKUndo")
    assert sum(run.counter(counter) for counter in undone) > 0
    assert timeouts(run) == 0
    before, last, (after, *_) = cut_short(run)
    assert last["swnd"] == before["swnd"] // 2
    assert after["act"] in (SLOW_START, DELAY, RULE)
    assert after["swnd"] >= last["swnd"]
    assert max(after["swnd"], after["ssthresh"]) >= fitted(before["swnd"], before["diff"]) - 2


@deep
def test_base_rtt_rises_where_others_never_leave(runs: Guests) -> None:
    """After the fourth dip that did not reach it, to the least RTT of these dips, not before."""
    run = runs["crowd"]
    found = dips(run)
    seen = [min(one["rtt"] for one in each[2:]) for each in found[:4]]
    first = found[0][0]["base_rtt"]
    assert first == pytest.approx(RTT * 1e6, rel=0.01)
    until = [one for one in rounds(run) if one["t"] < found[3][-1]["t"]]
    assert {one["base_rtt"] for one in until[3:]} == {first}
    assert found[3][-1]["base_rtt"] == min(seen)
    assert min(seen) > 5 * first


@deep
def test_a_longer_path_is_learnt(runs: Guests) -> None:
    """70 ms, then 140: after four dips, in four periods of 2 s and what is left of the one that
    ran. Until then gamma of 231 packets are what the flow has under way beyond half of its window;
    then all of the path again."""
    run = runs["longer"]
    at = run.when("path", "longer")
    raised = next(one for one in rounds(run) if one["base_rtt"] > 1.9 * RTT * 1e6)
    assert raised["base_rtt"] == pytest.approx(2 * RTT * 1e6, rel=0.01)
    assert raised["act"] == DIPPED
    assert len([d for d in dips(run) if at < d[-1]["t"] <= raised["t"]]) == 4
    assert raised["t"] - at < 5 * 2
    # Diff < gamma means swnd < 60 with RTT twice baseRTT, and 231 fill the path: 26 %; grown past
    # it by a round trip's step now and then.
    assert run.goodput(8, 12) < 0.35 * 20e6
    # From 60 to 231 by 3 to 7 segments per round trip of 0.14 s: 6 s.
    assert run.goodput(22, 26) > 0.9 * 20e6 * 1448 / 1514


@deep
@pytest.mark.parametrize(("name", "flows", "settled"), [("slow_own", 1, 0), ("together", 4, 40)])
def test_a_flows_own_queue_does_not_become_base_rtt(
    runs: Guests, name: str, flows: int, settled: int
) -> None:
    """On a slow path; and of several flows, of which four times 10 segments are fewer than the 58
    that the path holds: a dip would drain it."""
    assert len(dips(runs[name])) > 5 or flows > 1
    told = rounds(runs[name])
    assert {one["dport"] for one in told} == {PORT + n for n in range(flows)}
    assert max(one["base_rtt"] for one in told[settled:]) < RTT * 1e6 * 9 / 8
