# SPDX-License-Identifier: GPL-2.0
"""The HoleList of SHAKE's agent, shake_holes.h: the paper's figures 2 to 6, what it says in 4.4
and 6.2, and random flows against the slow model of reference_holes.py, which has all of it.

The paper's numbers are the last ones of a segment, the header's the ones behind: R = 1999 is 2000.
"""

from __future__ import annotations

import ctypes
import random
from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.reference_holes import (
    AUTO,
    DROP,
    DROP_ALL,
    MOST_DEPTH,
    NEEDED,
    PASS,
    PASS_ALL,
    RETRANSMIT,
    TDAR,
    UNDECIDED,
    UNNEEDED,
    UNSACKED,
    Flow,
)

U32 = 2**32
THETA = 5
ROOM = 64
SENT, GAP = 1, 2  # what M_AL says


class Agent:
    """What the agent knows of one flow that begins with the number ``base``; paths from 1."""

    def __init__(self, apogee: Library, *, base: int = 0, room: int = ROOM, paths: int = 2) -> None:
        self.apogee = apogee
        self.base = base
        self.hole = (apogee.headers.structs["shake_hole"] * room)()
        self.state = apogee.new("shake_holes")
        self.counts = apogee.new("shake_flow_counts")
        self.alive = (1 << paths) - 1
        self.now = 0
        self.kept = False
        apogee.shake_holes_init(self.state, self.hole, room)

    def syn(self) -> Agent:
        self._arrive(1, -1, 0, None, syn=True)
        return self

    def data(self, path: int, seq: int, end: int, mal: int | None = None, **how: bool) -> None:
        self._arrive(path, seq, end, mal, **how)

    def segment(
        self, path: int, number: int, mal: int | None = None, *, kept: bool = False
    ) -> None:
        """seg#number of the paper, 1000 octets long; M_AL as the paper has it."""
        last = None if mal is None else mal + 1 if mal else 0
        self.data(path, 1000 * (number - 1), 1000 * number, last, kept=kept)

    def _arrive(
        self,
        path: int,
        seq: int,
        end: int,
        mal: int | None,
        *,
        syn: bool = False,
        kept: bool = False,
        gap: bool = False,
    ) -> None:
        arrival = self.apogee.new(
            "shake_arrival",
            seq=(self.base + seq) % U32,
            end=(self.base + end) % U32,
            m_al=(self.base + (mal or 0)) % U32,
            has_mal=mal is not None,
            path=path - 1,
            alive=self.alive,
            syn=syn,
            kept=kept or self.kept,
            gap=gap,
            now=self.now % U32,
        )
        self.apogee.shake_holes_arrived(self.state, arrival, self.counts)

    def ack(self, ack: int, mode: int = DROP_ALL, threshold: int = THETA, **more: Any) -> int:
        given = {"window": 100, "flags": 0x10, "pure": True, "now": self.now % U32} | more
        dupack = self.apogee.new("shake_dupack", ack=(self.base + ack) % U32, **given)
        return int(self.apogee.shake_holes_ack(self.state, dupack, mode, threshold, self.counts))

    def _number(self, number: int) -> int:
        """Back to numbers that don't wrap."""
        return ctypes.c_int32(number - self.base).value

    @property
    def received(self) -> int:
        return self._number(self.state.received)

    @property
    def high(self) -> int:
        return self._number(self.state.high)

    def m_ha(self, path: int) -> int:
        return self._number(self.state.paths.end[path - 1])

    @property
    def rows(self) -> list[tuple[int, int, int, int, int, int, int, bool]]:
        """Of each hole: first, end, mode, dupack, cancel, seen, relay, asked."""
        return [
            (
                self._number(h.first),
                self._number(h.end),
                h.mode,
                h.dupack,
                h.cancel,
                h.seen,
                h.relay,
                h.asked,
            )
            for h in self.hole[: self.state.count]
        ]

    @property
    def holes(self) -> list[tuple[int, int, int]]:
        """Of each hole: first, end, mode."""
        return [row[:3] for row in self.rows]


@pytest.fixture
def agent(apogee: Library) -> Agent:
    return Agent(apogee).syn()


# --- the paper's figures ------------------------------------------------------------------------


def test_figure_2_in_order(agent: Agent) -> None:
    agent.segment(1, 1, 0)
    assert (agent.m_ha(1), agent.received) == (1000, 1000)
    agent.segment(2, 2, 0)
    assert (agent.m_ha(2), agent.received) == (2000, 2000)
    agent.segment(1, 3, 999)
    assert (agent.m_ha(1), agent.m_ha(2), agent.received) == (3000, 2000, 3000)
    assert agent.holes == []


def test_figure_3_loss_on_the_same_path(agent: Agent) -> None:
    """M_AL(1) = 2999, M_HA(1) = 1999: seg#3 is lost."""
    agent.segment(2, 1, 0)
    agent.segment(1, 2, 0)
    assert (agent.m_ha(1), agent.received) == (2000, 2000)
    agent.segment(1, 4, 2999)
    assert agent.holes == [(2000, 3000, NEEDED)]
    assert (agent.m_ha(1), agent.received) == (4000, 2000)
    assert agent.ack(2000) == PASS
    assert [agent.ack(2000) for _ in range(5)] == [PASS] * 5


def figure_4(agent: Agent) -> None:
    agent.segment(2, 1, 0)
    agent.segment(1, 2, 0)
    agent.segment(1, 4, 1999)


def test_figure_4_another_path_is_late_or_lost(agent: Agent) -> None:
    figure_4(agent)
    assert agent.rows == [(2000, 3000, UNDECIDED, 1, 0, 0, 2, False)]
    assert (agent.m_ha(1), agent.received) == (4000, 2000)


def test_figure_5_the_hole_fills(agent: Agent) -> None:
    figure_4(agent)
    agent.segment(2, 3, 999)
    assert agent.rows == [(2000, 3000, UNNEEDED, 1, 0, 0, 2, False)]
    assert (agent.m_ha(2), agent.received) == (3000, 4000)
    assert agent.ack(2000) == PASS  # the first: A
    assert agent.ack(2000) == DROP  # 4.4.2.2: Dupack was 1
    assert agent.ack(2000) == PASS  # lost between agent and correspondent, perhaps
    assert agent.ack(4000) == PASS
    assert agent.holes == []


def test_figure_6_the_hole_is_lost(agent: Agent) -> None:
    """seg#5 by path 2: M_AL(2) = 2999, so that seg#3 is lost."""
    figure_4(agent)
    assert agent.ack(2000) == PASS
    agent.segment(2, 5, 2999)
    assert agent.holes == [(2000, 3000, NEEDED)]
    assert agent.m_ha(2) == 5000
    assert [agent.ack(2000) for _ in range(4)] == [PASS] * 4


# --- paths and connections that end -------------------------------------------------------------


def hole_of_three(agent: Agent) -> None:
    """seg#2 to 4 are missing; path 1 brought 1 and 5."""
    agent.segment(1, 1, 0)
    agent.segment(1, 5, 999)


def test_a_path_that_died_does_not_count(agent: Agent) -> None:
    figure_4(agent)
    agent.alive = 1
    agent.apogee.shake_holes_clear(agent.state, agent.alive, agent.counts)
    assert agent.holes == [(2000, 3000, NEEDED)]


def test_a_new_connection_with_the_same_ports(apogee: Library) -> None:
    agent = Agent(apogee).syn()
    hole_of_three(agent)
    agent.base = 123456789
    agent.syn()
    assert (agent.received, agent.holes) == (0, [])
    hole_of_three(agent)
    agent.syn()  # the same again changes nothing
    assert agent.holes == [(1000, 4000, UNDECIDED)]


# --- 4.4 ----------------------------------------------------------------------------------------


def undecided(agent: Agent, mode: int = DROP_ALL) -> None:
    figure_4(agent)
    assert agent.ack(2000, mode) == PASS


@pytest.mark.parametrize("threshold", [1, 2, THETA, 100])
def test_undecided_drops_until_theta_c(agent: Agent, threshold: int) -> None:
    """The ACK by which Cancel would exceed theta_c asks for a retransmission, and only that one."""
    undecided(agent)
    fates = [agent.ack(2000, threshold=threshold) for _ in range(threshold + 4)]
    assert fates == [DROP] * threshold + [RETRANSMIT] + [PASS] * 3
    assert agent.rows[0][4] == threshold
    assert agent.counts.forced == 1


@pytest.mark.parametrize(
    "change",
    [{"window": 101}, {"flags": 0x50}, {"pure": False}, {"dsack": True}],
    ids=["window", "ece", "data", "dsack"],
)
def test_what_is_no_plain_duplicate_passes(agent: Agent, change: dict[str, Any]) -> None:
    undecided(agent)
    assert agent.ack(2000, **change) == PASS
    assert agent.rows[0][4:6] == (0, 0)


@pytest.mark.parametrize(
    ("mode", "fate"), [(PASS_ALL, PASS), (DROP_ALL, UNSACKED), (TDAR, PASS), (AUTO, UNSACKED)]
)
def test_an_ack_that_advances_tells_nothing_of_the_next_hole(
    agent: Agent, mode: int, fate: int
) -> None:
    """By its SACK blocks RACK would take what is only late for lost."""
    figure_4(agent)
    assert agent.ack(2000, mode, sack=True) == fate
    assert agent.counts.unsacked == (fate == UNSACKED)
    assert agent.rows[0][4:6] == (0, 0)
    assert agent.ack(2000, mode, window=99) == PASS  # news without blocks


@pytest.mark.parametrize(
    "change", [{"sack": False}, {"dsack": True}, {"pure": False}, {"fixed": True}]
)
def test_blocks_that_stay(agent: Agent, change: dict[str, Any]) -> None:
    figure_4(agent)
    assert agent.ack(2000, AUTO, **({"sack": True} | change)) == PASS
    assert agent.counts.unsacked == 0


@pytest.mark.parametrize(("mode", "fate"), [(DROP_ALL, UNSACKED), (AUTO, PASS)])
def test_an_ack_tells_of_what_is_overdue(agent: Agent, mode: int, fate: int) -> None:
    figure_4(agent)
    agent.now += 10**7
    assert agent.ack(2000, mode, sack=True) == fate


# --- 6.2 ----------------------------------------------------------------------------------------


# --- ack=auto -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late", "lost", "choice"),
    [
        (0, 0, DROP_ALL),
        (1, 0, DROP_ALL),
        (0, 3, DROP_ALL),
        (0, 4, PASS_ALL),
        (1, 6, DROP_ALL),
        (1, 7, PASS_ALL),
        (5, 5, DROP_ALL),
    ],
)
def test_choice_by_what_was_seen(apogee: Library, late: int, lost: int, choice: int) -> None:
    assert apogee.shake_holes_choose(apogee.new("shake_holes", late=late, lost=lost)) == choice


def late_hole(agent: Agent, first: int, depth: int) -> None:
    """seg#first comes by path 2 after ``depth`` others."""
    for number in range(first + 1, first + 1 + depth):
        mal = 1000 * (number - (1 if number > first + 1 else 2)) - 1
        agent.segment(1, number, mal)
    agent.segment(2, first, agent.m_ha(2) - 1)


@pytest.mark.parametrize(("late", "depth"), [(8, 8), (200, 200), (300, 200)])
def test_auto_learns_to_drop(agent: Agent, late: int, depth: int) -> None:
    """Twice what was late, up to a limit, and theta_c."""
    agent.segment(1, 1, 0)
    late_hole(agent, 2, late)
    assert (agent.state.late, agent.state.lost, agent.state.depth) == (1, 0, depth)
    end = 1000 * (late + 2)
    agent.ack(end)
    agent.segment(1, late + 4, end - 1)
    fates = [agent.ack(end, AUTO) for _ in range(THETA + 2 * depth + 2)]
    assert fates == [DROP] * (THETA + 2 * depth) + [RETRANSMIT, PASS]


@pytest.mark.parametrize(("late_us", "waits"), [(0, 1_000_000), (40_000, 180_000)])
def test_auto_asks_for_what_is_overdue(agent: Agent, late_us: int, waits: int) -> None:
    """Twice what data was late and 100 ms; before any was late, 1 s."""
    agent.state.lateness, agent.state.depth = late_us, 100
    figure_4(agent)
    agent.ack(2000)
    agent.now += waits
    assert [agent.ack(2000, AUTO) for _ in range(20)] == [DROP] * 20
    agent.now += 1
    assert [agent.ack(2000, AUTO) for _ in range(3)] == [RETRANSMIT, PASS, PASS]
    assert agent.counts.forced == 1


def test_no_hole_is_overdue_before_the_longest_way_takes(agent: Agent) -> None:
    """Data was 40 ms late, but a way takes 325 ms longer than another."""
    agent.state.lateness, agent.state.depth, agent.state.apart = 40_000, 100, 325_000
    figure_4(agent)
    agent.ack(2000)
    agent.now += 425_000
    assert agent.ack(2000, AUTO) == DROP
    agent.now += 1
    assert agent.ack(2000, AUTO) == RETRANSMIT


def test_lateness_is_learned(agent: Agent) -> None:
    figure_4(agent)
    agent.now += 80_000
    agent.segment(2, 3, 1999)
    assert agent.state.lateness == 80_000
    agent.segment(1, 6, 3999)
    agent.now += 40_000
    agent.segment(2, 5, 2999)
    assert agent.state.lateness == 75_000


def test_what_was_asked_for_too_soon_is_waited_for_longer(agent: Agent) -> None:
    """The way became longer: what was sent first comes second, and teaches to wait."""
    agent.state.lateness = 40_000
    figure_4(agent)
    agent.ack(2000)
    agent.now += 180_001
    assert agent.ack(2000, AUTO) == RETRANSMIT
    agent.segment(1, 3, 3999)
    agent.segment(2, 3, 1999)
    assert agent.state.lateness == 180_000


def test_drop_waits_for_the_number_alone(agent: Agent) -> None:
    figure_4(agent)
    agent.ack(2000)
    agent.now += 10**7
    assert [agent.ack(2000, DROP_ALL) for _ in range(6)] == [DROP] * 5 + [RETRANSMIT]


# --- copies -------------------------------------------------------------------------------------

PATIENCE, LEAST, MOST = 2_000_000, 100_000, 4_000_000


def proved(agent: Agent) -> None:
    """Figure 6 with copies: seg#3 proves to be lost; 1 s later its duplicates come."""
    figure_4(agent)
    agent.segment(2, 5, 2999, kept=True)
    assert agent.holes[0][2] == NEEDED
    agent.now += 10**6


@pytest.mark.parametrize("mode", [DROP_ALL, TDAR, AUTO])
def test_duplicates_are_dropped_while_a_copy_is_to_come(agent: Agent, mode: int) -> None:
    agent.now = U32 - 10**6  # the clock wraps
    proved(agent)
    agent.ack(2000, PASS_ALL)
    assert [agent.ack(2000, mode) for _ in range(40)] == [DROP] * 40
    agent.now += PATIENCE
    assert [agent.ack(2000, mode) for _ in range(3)] == [RETRANSMIT, PASS, PASS]
    assert (agent.counts.dropped_mending, agent.counts.repaired) == (40, 1)


def in_turn(agent: Agent, *lost: int, to: int, ahead: int = 0) -> None:
    """Segments by two paths in turn, odd numbers by the first; ``ahead`` lost above the tunnel."""
    last = {1: 0, 2: 0}
    path = 2
    for number in range(1, to + 1):
        if number == ahead:
            continue
        path = 3 - path
        if number not in lost:
            agent.segment(path, number, last[path], kept=True)
        last[path] = 1000 * number - 1


@pytest.mark.parametrize("mode", [DROP_ALL, TDAR, AUTO])
def test_what_was_lost_in_front_of_the_leader_has_no_copy(agent: Agent, mode: int) -> None:
    """Both paths have brought later data and miss nothing: TCP is told at once."""
    in_turn(agent, to=6, ahead=3)
    assert [hole[:3] for hole in agent.holes] == [(2000, 3000, NEEDED)]
    agent.ack(2000, mode)
    first = RETRANSMIT if mode == AUTO else PASS
    assert [agent.ack(2000, mode) for _ in range(3)] == [first, PASS, PASS]
    assert agent.counts.dropped_mending == 0


def awaits_a_copy(agent: Agent, ack: int) -> None:
    agent.ack(ack, AUTO)
    assert [agent.ack(ack, AUTO) for _ in range(5)] == [DROP] * 5


@pytest.mark.parametrize("lost", [(3,), (3, 4), (3, 5), (3, 4, 5, 6), (4, 6, 8)])
def test_what_was_lost_on_a_path_has_one(agent: Agent, lost: tuple[int, ...]) -> None:
    """Also what M_AL alone doesn't prove: the first of two losses in a row on a path."""
    in_turn(agent, *lost, to=12)
    assert {hole[2] for hole in agent.holes} == {NEEDED}
    awaits_a_copy(agent, 1000 * (lost[0] - 1))


def test_a_loss_shown_before_its_hole_opens(agent: Agent) -> None:
    """seg#1, sent again behind it, brings the M_AL of seg#3."""
    agent.segment(1, 1, 0, kept=True)
    agent.segment(2, 2, 0, kept=True)
    agent.segment(1, 1, 2999, kept=True)
    agent.segment(2, 4, 1999, kept=True)
    awaits_a_copy(agent, 2000)


def test_what_is_left_of_a_hole_was_shown_too(apogee: Library) -> None:
    """seg#3 is late on path 3; seg#4, in the same hole, and seg#6 are lost on path 1."""
    agent = Agent(apogee, paths=3).syn()
    for path, number, mal in ((1, 1, 0), (2, 2, 0), (2, 5, 1999), (1, 7, 5999), (3, 3, 0)):
        agent.segment(path, number, mal, kept=True)
    agent.segment(3, 8, 2999, kept=True)
    agent.segment(2, 9, 4999, kept=True)
    awaits_a_copy(agent, 3000)


def test_a_path_of_which_nothing_is_known_shows_losses(agent: Agent) -> None:
    """The agent sees the flow from seg#3 on; seg#4 is lost on path 2."""
    agent.state.paths.known = 0
    for path, number, mal in ((1, 3, 999), (1, 5, 2999), (2, 6, 3999), (1, 7, 4999)):
        agent.segment(path, number, mal, kept=True)
    awaits_a_copy(agent, 3000)


def test_a_loss_elsewhere_shows_nothing(agent: Agent) -> None:
    """seg#3 was lost in front of the leader, seg#5 on path 1, before the hole of seg#3 is clear."""
    for path, number, mal in ((1, 1, 0), (2, 2, 0), (1, 4, 999), (1, 6, 4999), (2, 7, 1999)):
        agent.segment(path, number, mal, kept=True)
    assert [hole[2] for hole in agent.holes] == [NEEDED, NEEDED]
    agent.ack(2000, DROP_ALL)
    assert [agent.ack(2000, DROP_ALL) for _ in range(3)] == [PASS] * 3


def test_blocks_are_hidden_while_a_copy_is_to_come(agent: Agent) -> None:
    proved(agent)
    assert agent.ack(2000, AUTO, sack=True) == UNSACKED
    agent.now += PATIENCE
    assert agent.ack(2000, AUTO, flags=0x50, sack=True) == PASS


def test_pass_waits_for_no_copy(agent: Agent) -> None:
    proved(agent)
    assert [agent.ack(2000, PASS_ALL) for _ in range(9)] == [PASS] * 9


def test_duplicates_behind_a_copy_are_dropped(agent: Agent) -> None:
    """Those that were on their way when it came, and no more."""
    proved(agent)
    agent.ack(2000, AUTO)
    for number in (6, 7, 8):
        agent.segment(1, number, 1000 * (number - 1) - 1, kept=True)
    assert agent.ack(2000, AUTO) == DROP
    agent.segment(2, 3, 1999, kept=True)
    assert agent.holes[0][2] == UNNEEDED
    assert [agent.ack(2000, AUTO) for _ in range(5)] == [DROP] * 4 + [PASS]
    assert (agent.counts.holes_mended, agent.counts.holes_late) == (1, 0)


@pytest.mark.parametrize(
    ("before", "took", "patience"),
    [
        (0, 300_000, PATIENCE - (PATIENCE - 800_000) // 8),
        (0, 1_500_000, 3_800_000),
        (0, 10**9, MOST),
        (0, 0, PATIENCE - (PATIENCE - 50_000) // 8),
        (LEAST, 0, LEAST),
    ],
)
def test_patience_is_learned(agent: Agent, before: int, took: int, patience: int) -> None:
    """Two and a half times what a copy took and 50 ms, at once if that is more, by an eighth if
    less; of its path alone."""
    agent.state.patience[1] = before
    proved(agent)
    agent.now += took - 10**6
    agent.segment(2, 3, 1999, kept=True)
    assert list(agent.state.patience)[:3] == [0, patience, 0]


def test_a_path_without_copies_takes_none_from_others(agent: Agent) -> None:
    """seg#3 and seg#5 are lost on path 2; seg#8, without a copy before it, makes both clear."""
    for path, number, mal, kept in (
        (1, 1, 0, True),
        (2, 2, 0, True),
        (1, 4, 999, True),
        (1, 6, 3999, True),
        (2, 7, 4999, True),
        (1, 8, 5999, False),
    ):
        agent.segment(path, number, mal, kept=kept)
    awaits_a_copy(agent, 2000)


@pytest.mark.parametrize("dies", [False, True])
def test_a_path_that_died_has_no_copies(apogee: Library, dies: bool) -> None:
    """seg#3 and seg#5 are lost on path 2; the first is clear when something comes by path 3."""
    agent = Agent(apogee, paths=3).syn()
    for path, number, mal in ((1, 1, 0), (2, 2, 0), (1, 4, 999), (2, 7, 4999)):
        agent.segment(path, number, mal, kept=True)
    assert agent.holes[0][2] == UNDECIDED
    if dies:
        apogee.shake_holes_lose_path(agent.state, 1, 0b101, agent.counts)
    agent.segment(3, 8, 0)
    agent.ack(2000, DROP_ALL)
    assert agent.ack(2000, DROP_ALL) == (PASS if dies else DROP)


def test_what_was_only_late_teaches_no_patience(apogee: Library) -> None:
    """seg#3 is late on path 3; seg#4, in the same hole, is lost on path 1, and comes as a copy."""
    agent = Agent(apogee, paths=3).syn()
    for path, number, mal in ((1, 1, 0), (2, 2, 0), (2, 5, 1999), (1, 6, 3999)):
        agent.segment(path, number, mal, kept=True)
    assert agent.holes == [(2000, 4000, NEEDED)]
    agent.segment(3, 3, 0, kept=True)
    assert (any(agent.state.patience), agent.counts.holes_mended) == (False, 0)
    agent.segment(1, 4, 999, kept=True)
    assert (agent.state.patience[0] > 0, agent.counts.holes_mended) == (True, 1)


def test_what_tcp_sent_again_teaches_no_patience(agent: Agent) -> None:
    proved(agent)
    agent.segment(1, 3, 4999, kept=True)
    assert (any(agent.state.patience), agent.counts.holes_mended) == (False, 0)


@pytest.mark.parametrize("mode", [DROP_ALL, TDAR, AUTO])
def test_what_was_asked_for_is_waited_for_no_longer(agent: Agent, mode: int) -> None:
    """theta_c has made TCP retransmit; its recovery needs the ACKs, whatever is proved then."""
    figure_4(agent)
    agent.ack(2000, PASS_ALL)
    assert RETRANSMIT in [agent.ack(2000, mode) for _ in range(12)]
    agent.segment(2, 5, 2999, kept=True)
    assert [agent.ack(2000, mode) for _ in range(4)] == [PASS] * 4
    assert agent.counts.dropped_mending == 0


def test_what_made_tcp_retransmit_is_waited_for_no_longer(agent: Agent) -> None:
    """The same after duplicates that auto has let pass."""
    agent.state.lost = 20
    figure_4(agent)
    agent.ack(2000, PASS_ALL)
    assert [agent.ack(2000, AUTO) for _ in range(3)] == [PASS] * 3
    agent.segment(2, 5, 2999, kept=True)
    assert DROP not in [agent.ack(2000, AUTO) for _ in range(4)]


@pytest.mark.parametrize("back", [1, 1000])
def test_the_clocks_of_two_cpus(agent: Agent, back: int) -> None:
    """An ACK or a segment whose time was taken before that of the one that proved the loss."""
    agent.now = 10**6
    figure_4(agent)
    agent.ack(2000, PASS_ALL)
    agent.segment(2, 5, 2999, kept=True)
    agent.now -= back
    assert agent.ack(2000, AUTO) == DROP
    agent.segment(2, 3, 1999, kept=True)
    assert max(agent.state.patience) <= PATIENCE


def test_a_copy_behind_tcps_own_teaches_nothing(agent: Agent) -> None:
    """It comes second, but what it repairs was lost, not late."""
    proved(agent)
    agent.segment(1, 3, 9999, kept=True)
    agent.segment(2, 3, 1999, kept=True)
    assert (agent.state.late, agent.state.depth) == (0, 0)


def test_old_events_fade(apogee: Library) -> None:
    agent = Agent(apogee).syn()
    agent.segment(1, 1, 0)
    first = 2
    for _ in range(100):
        late_hole(agent, first, 4)
        first += 5
        agent.ack(1000 * (first - 1))
    assert agent.holes == []
    assert agent.state.late < apogee.SHAKE_HOLES_EVENTS


# --- room, wrap-around --------------------------------------------------------------------------


def test_without_room_all_passes(apogee: Library) -> None:
    agent = Agent(apogee, room=2).syn()
    agent.segment(1, 1, 0)
    for number in (3, 5, 7, 9):
        agent.segment(1, number, 1000 * (number - 2) - 1)
    assert agent.holes == [(1000, 2000, UNDECIDED), (3000, 4000, UNDECIDED)]
    assert agent.counts.holes_refused == 2
    agent.segment(2, 2, 0)
    agent.segment(2, 4, 1999)
    assert agent.received == 9000
    agent.ack(5000)
    assert [agent.ack(5000) for _ in range(9)] == [PASS] * 9


def test_filled_holes_make_room(apogee: Library) -> None:
    """While one is open, no hole of 500 that are late finds the list full."""
    agent = Agent(apogee).syn()
    agent.segment(1, 1, 0)
    agent.segment(1, 3, 999)  # 2 comes by path 3 some time
    for number in range(4, 1004, 2):
        agent.segment(1, number + 1, 1000 * (number - 1) - 1)
        agent.segment(2, number, 1000 * (number - 2) - 1 if number > 4 else 0)
    assert agent.counts.holes == 501
    assert agent.counts.holes_refused == 0
    assert agent.holes[0][:2] == (1000, 2000)
    assert agent.received == 1000


def test_without_room_the_rest_of_a_hole_is_forgotten(apogee: Library) -> None:
    agent = Agent(apogee, room=1).syn()
    hole_of_three(agent)
    agent.alive = 0
    agent.segment(2, 3, 0)
    assert agent.holes == [(1000, 2000, UNDECIDED)]
    agent.segment(2, 2, 2999)
    assert (agent.holes, agent.received) == ([(1000, 2000, UNNEEDED)], 5000)


def test_no_more_holes_than_256(apogee: Library) -> None:
    agent = Agent(apogee, room=1000).syn()
    for number in range(2, 1000, 2):
        agent.segment(1, number, max(1000 * (number - 2) - 1, 0))
    assert agent.state.count == apogee.SHAKE_HOLES_MAX == 256


def test_a_path_idle_for_half_the_numbers(apogee: Library) -> None:
    """Its M_HA would be ahead of the flow; so would holes that no ACK ever deletes, and A."""
    agent = Agent(apogee).syn()
    undecided(agent)
    sent = 4000
    while sent < 5 * 2**30:
        agent.base = (agent.base + 2**20) % U32
        sent += 2**20
        agent.data(1, 4000 - 2**16, 4000)
    assert agent.state.paths.known == 1
    assert not agent.state.has_acked
    assert all(first > -(2**30) - 4000 for first, _, _ in agent.holes)
    agent.data(2, 4000, 5000, None)
    agent.data(2, 6000, 7000, 6000)
    assert agent.holes[-1] == (5000, 6000, NEEDED)


# --- the leader's end ---------------------------------------------------------------------------


class Leader:
    """M_AL of one flow."""

    def __init__(self, apogee: Library) -> None:
        self.apogee = apogee
        self.state = apogee.new("shake_sends")

    def send(self, path: int, seq: int, end: int, *, syn: bool = False) -> int | None:
        m_al = ctypes.c_uint32(0)
        self.says = self.apogee.shake_sends_next(
            self.state, path - 1, seq % U32, end % U32, syn, ctypes.byref(m_al)
        )
        return m_al.value if self.says else None


def test_m_al_is_the_highest_sent_on_the_path(apogee: Library) -> None:
    leader = Leader(apogee)
    assert leader.send(1, -1, 0, syn=True) is None
    sent = [leader.send(*one) for one in ((1, 0, 1000), (2, 1000, 2000), (1, 2000, 3000))]
    assert sent == [0, 0, 1000]
    assert leader.send(1, 0, 1000) == 3000  # a retransmission
    assert leader.send(2, 3000, 4000) == 2000


def test_m_al_of_what_is_sent_again_is_the_highest_of_all_paths(apogee: Library) -> None:
    leader = Leader(apogee)
    leader.send(1, -1, 0, syn=True)
    for one in ((1, 0, 1000), (2, 1000, 2000), (1, 2000, 3000)):
        leader.send(*one)
    assert leader.send(2, 0, 1000) == 3000
    assert leader.send(2, 3000, 4000) == 2000


def test_behind_a_gap_m_al_is_where_it_begins(apogee: Library) -> None:
    leader = Leader(apogee)
    leader.send(1, -1, 0, syn=True)
    for one in ((1, 0, 1000), (2, 1000, 2000)):
        leader.send(*one)
    assert leader.says == SENT
    assert (leader.send(1, 5000, 6000), leader.says) == (2000, GAP)
    assert (leader.send(1, 2000, 3000), leader.says) == (6000, SENT)  # it comes after all
    assert (leader.send(2, 6000, 7000), leader.says) == (2000, SENT)


def test_what_the_leader_never_had_is_needed_at_once(agent: Agent) -> None:
    """What is only late in front of it stays undecided, and no copy is waited for."""
    agent.segment(1, 1, 0)
    agent.data(1, 5000, 6000, 3000, kept=True, gap=True)
    assert agent.holes == [(1000, 3000, UNDECIDED), (3000, 5000, NEEDED)]
    agent.data(2, 1000, 3000, 0)
    wait = ctypes.c_uint32(0)
    assert agent.apogee.shake_holes_turn(agent.state, agent.now, ctypes.byref(wait)) == 6000
    assert agent.ack(3000, AUTO) == PASS
    assert agent.ack(3000, AUTO) == RETRANSMIT


def test_a_gap_whose_segment_is_late(agent: Agent) -> None:
    """What was sent behind it has come, and a third path may bring the rest."""
    agent.alive = 7
    agent.segment(1, 1, 0)
    agent.segment(2, 7, 0)
    agent.data(2, 8000, 9000, 8000, kept=True)
    assert agent.holes == [(1000, 6000, UNDECIDED), (7000, 8000, NEEDED)]
    agent.data(1, 4000, 5000, 2000, gap=True)
    assert agent.holes == [
        (1000, 2000, UNDECIDED),
        (2000, 4000, NEEDED),
        (4000, 5000, UNNEEDED),
        (5000, 6000, UNDECIDED),
        (7000, 8000, NEEDED),
    ]


def test_what_is_sent_again_shows_no_loss(agent: Agent) -> None:
    figure_4(agent)
    agent.segment(2, 1, 3999)
    assert agent.holes == [(2000, 3000, UNDECIDED)]
    agent.segment(2, 3, 1999)
    assert agent.counts.holes_lost == 0


def test_no_m_al_where_the_syn_was_not_seen(apogee: Library) -> None:
    leader = Leader(apogee)
    sent = [leader.send(*one) for one in ((1, 0, 9), (2, 9, 18), (1, 18, 27), (2, 27, 36))]
    assert sent == [None, None, 9, 18]


def test_m_al_of_a_path_idle_for_half_the_numbers(apogee: Library) -> None:
    leader = Leader(apogee)
    leader.send(2, 0, 1000)
    for seq in range(1000, 3 * 2**30, 2**24):
        leader.send(1, seq, seq + 2**24)
    assert leader.send(2, seq + 2**24, seq + 2**24 + 1000) is None


# --- random flows -------------------------------------------------------------------------------

offsets = st.integers(0, 60)
data = st.tuples(
    st.just("data"), st.integers(1, 3), offsets, st.integers(1, 9), st.none() | offsets
)
acks = st.tuples(
    st.just("ack"),
    offsets,
    st.integers(0, 3),
    st.sampled_from([0, 0, 0, 1]),
    st.integers(0, 7),
    st.booleans(),
)
again = st.tuples(st.just("again"), st.integers(1, 12), st.integers(0, 3), st.booleans())
events = st.lists(data | data | acks | again, max_size=60)
bases = st.sampled_from([0, 5, 2**31 - 30, U32 - 30]) | st.integers(0, U32 - 1)


def compare(agent: Agent, flow: Flow) -> None:
    assert agent.rows == flow.rows()
    if flow.base is None:
        return
    assert (agent.received, agent.high) == (flow.received(), flow.high)
    state = agent.state
    assert (state.late, state.lost, state.depth) == (flow.late, flow.lost, flow.depth)
    assert {p: agent.m_ha(p + 1) for p in range(8) if state.paths.known >> p & 1} == flow.paths


def check_list(agent: Agent, room: int) -> None:
    """Sorted, disjoint, within bounds; R is the lowest number missing."""
    holes = agent.holes
    assert len(holes) <= room
    ends = [end for first, end, _ in holes for end in (first, end)]
    assert ends == sorted(ends)
    assert all(first < end <= agent.high for first, end, _ in holes)
    missing = [first for first, _, mode in holes if mode != UNNEEDED]
    assert agent.received == min(missing, default=agent.high)


def play(agent: Agent, flow: Flow | None, script: list[tuple[Any, ...]]) -> None:
    last = 0
    for kind, *rest in script:
        if kind == "data":
            path, seq, length, mal = rest
            agent.data(path, seq, seq + length, mal)
            if flow:
                flow.arrives(path - 1, seq, seq + length, mal)
        else:
            times = 1
            if kind == "ack":
                last, mode, window, plain, sack = rest
            else:
                (times, mode, sack), window, plain = rest, 0, 1
            for _ in range(times):
                kind_of = {"window": window, "sack": sack}
                fate = agent.ack(last, mode, 3, pure=bool(plain), **kind_of)
                if flow:
                    wanted = flow.acknowledged(
                        last, mode=mode, threshold=3, plain=bool(plain), **kind_of
                    )
                    assert fate == wanted
        if flow:
            compare(agent, flow)
        check_list(agent, ROOM if flow else len(agent.hole))


@given(events, bases, st.integers(0, 7), st.booleans())
def test_against_the_slow_model(
    apogee: Library, script: list[tuple[Any, ...]], base: int, alive: int, syn: bool
) -> None:
    agent, flow = Agent(apogee, base=base), Flow(alive=alive)
    agent.alive = alive
    if syn:
        agent.syn()
        flow.syn(-1)
    play(agent, flow, script)


@given(events, bases, st.integers(1, 6))
def test_little_room(apogee: Library, script: list[tuple[Any, ...]], base: int, room: int) -> None:
    play(Agent(apogee, base=base, room=room).syn(), None, script)


u32 = st.integers(0, U32 - 1)
hostile = st.lists(st.tuples(st.integers(0, 9), u32, u32, st.none() | u32, u32), max_size=60)


@given(hostile)
def test_any_numbers(apogee: Library, script: list[tuple[Any, ...]]) -> None:
    agent = Agent(apogee, room=16)
    for path, seq, end, mal, ack in script:
        agent.data(path, seq, end, mal)
        agent.ack(ack, AUTO)
        agent.base = agent.state.high  # so that numbers are near
        holes = agent.rows
        assert len(holes) <= 16
        ends = [end for row in holes for end in row[:2]]
        assert ends == sorted(ends)
        agent.base = 0


@given(
    events,
    bases,
    st.integers(1, 3),
    st.integers(1, 20),
    st.integers(0, MOST_DEPTH),
    st.booleans(),
)
def test_no_ack_is_dropped_for_ever(
    apogee: Library,
    script: list[tuple[Any, ...]],
    base: int,
    mode: int,
    threshold: int,
    depth: int,
    kept: bool,
) -> None:
    """Whatever happened: of enough duplicates of A one asks for what is missing, or all pass, once
    no copy can come any more.
    """
    agent = Agent(apogee, base=base).syn()
    agent.kept = kept
    play(agent, None, script)
    agent.state.depth = depth
    agent.now += MOST
    ack = agent.received
    agent.ack(ack, PASS_ALL)
    most = threshold + (2 * depth if mode == AUTO else 0)
    relayed = apogee.SHAKE_HOLES_RELAY if mode == TDAR else 0
    fates = [agent.ack(ack, mode, threshold) for _ in range(most + relayed + 1)]
    assert fates.count(DROP) <= most
    assert fates[-1] != DROP
    if DROP in fates:
        assert fates.count(RETRANSMIT) == 1
        assert DROP not in fates[fates.index(RETRANSMIT) :]


class Paths:
    """Paths that keep order: one segment leaves each tick, by a path drawn at random."""

    def __init__(self, agent: Agent, leader: Leader, delays: list[int], seed: int) -> None:
        self.agent, self.leader, self.delays = agent, leader, delays
        self.random = random.Random(seed)
        self.flying: list[deque[tuple[int, int, int | None]]] = [deque() for _ in delays]
        self.lost: set[int] = set()

    def run(self, count: int, loss: float) -> None:
        for tick in range(count + max(self.delays)):
            for index, flying in enumerate(self.flying):
                if flying and flying[0][0] <= tick:
                    _, seq, mal = flying.popleft()
                    self.agent.data(index + 1, seq, seq + 1, mal)
            if tick < count:
                path = self.random.randrange(len(self.delays))
                mal = self.leader.send(path + 1, tick, tick + 1)
                if self.random.random() < loss:
                    self.lost.add(tick)
                else:
                    self.flying[path].append((tick + self.delays[path], tick, mal))


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(0, 2**16))
def test_nothing_late_is_taken_as_lost(apogee: Library, delays: list[int], seed: int) -> None:
    agent = Agent(apogee, room=256, paths=len(delays)).syn()
    leader = Leader(apogee)
    leader.send(1, -1, 0, syn=True)
    Paths(agent, leader, delays, seed).run(200, 0)
    assert agent.received == 200
    assert agent.counts.holes_lost == agent.counts.holes_refused == 0


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(0, 2**16))
def test_what_is_lost_is_known_when_all_paths_went_on(
    apogee: Library, delays: list[int], seed: int
) -> None:
    """All that is missing below what every path has brought is needed, and was lost."""
    agent = Agent(apogee, room=256, paths=len(delays)).syn()
    leader = Leader(apogee)
    leader.send(1, -1, 0, syn=True)
    paths = Paths(agent, leader, delays, seed)
    paths.run(200, 0.1)
    least = min(agent.m_ha(path + 1) for path in range(len(delays)))
    missing = {
        number for first, end, mode in agent.holes if mode != UNNEEDED
        for number in range(first, end)
    }  # fmt: skip
    assert {n for n in paths.lost if n < agent.high} == missing
    for first, _, mode in agent.holes:
        assert mode in (UNNEEDED, NEEDED) or first >= least


@pytest.mark.parametrize("now", [0, 2**31 - 1, 2**31, U32 - 1])
def test_a_clock_begins_anywhere(apogee: Library, now: int) -> None:
    agent = Agent(apogee)
    agent.now = now
    agent.syn()
    agent.data(1, 0, 1000, 0)
    assert agent.state.now == now
    agent.now = (now + 5) % U32
    agent.ack(1000)
    assert agent.state.now == agent.now
    agent.state.base = 77
    agent.syn()
    assert agent.state.now == agent.now


# --- bounds ---------------------------------------------------------------------------------------


def test_the_rest_of_a_hole_is_as_old_as_the_hole(agent: Agent) -> None:
    """What is still missing of it is overdue when it would have been."""
    agent.segment(1, 1)
    agent.segment(2, 4)
    agent.now = 700_000
    agent.segment(1, 2)
    assert agent.holes == [(1000, 2000, UNNEEDED), (2000, 3000, UNDECIDED)]
    assert [hole.since for hole in agent.hole[:2]] == [0, 0]


def test_a_segment_has_one_octet_to_those_of_a_packet(agent: Agent) -> None:
    """With SYN and FIN 65 537 numbers at most. None at all is a pure ACK, no nonsense."""
    longest = 0x10001
    agent.data(1, 0, longest)
    agent.data(1, longest, longest + 1)
    agent.data(2, longest + 5, longest + 5)
    assert (agent.received, agent.high, agent.counts.senseless) == (longest + 1, longest + 1, 0)
    assert agent.holes == []
    agent.data(1, longest + 1, 2 * longest + 2)
    assert (agent.received, agent.counts.senseless) == (longest + 1, 1)
