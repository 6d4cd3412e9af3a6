# SPDX-License-Identifier: GPL-2.0
"""AEN (fig. 3): the verdict's whole truth table, and its truth on simulated timeouts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

FIELDS = (
    "una_after_mark",
    "covers_probe",
    "sack_hole",
    "has_sack",
    "dsack",
    "has_tstamp",
    "echo_original",
)
WAIT, SPURIOUS, LOSS = "STAR_AEN_WAIT", "STAR_AEN_SPURIOUS", "STAR_AEN_LOSS"
VERDICTS = (WAIT, SPURIOUS, LOSS)


def verdict(apogee: Library, **evidence: bool) -> str:
    number = apogee.star_aen_verdict(apogee.new("star_aen_evidence", **evidence))
    return next(name for name in VERDICTS if getattr(apogee, name) == number)


# The truth table


def every_evidence() -> Iterator[dict[str, bool]]:
    for bits in itertools.product((False, True), repeat=len(FIELDS)):
        yield dict(zip(FIELDS, bits, strict=True))


def expected(e: dict[str, bool]) -> str:
    """The decisions of the description, first one that applies.

    1. A hole in the SACK blocks: data was lost.
    2. Nothing new is acknowledged: no answer yet.
    3. The echo tells that an original is answered, not the retransmission: what it
       covers had arrived; P_seq covered, it was all of it. Else the answer to the
       retransmission is still to come.
    4. The answer stops short of P_seq: data was lost.
    5. P_seq is covered. With SACK a D-SACK must say that the copy was not needed.
    6. Without SACK, but with timestamps, the echo would have been the original's
       if that had been answered: data was lost.
    7. Neither: P_seq <= ACK_seq alone decides, as in the paper.
    """
    old_echo = e["has_tstamp"] and e["echo_original"]
    decisions = (
        (e["sack_hole"], LOSS),
        (not e["una_after_mark"], WAIT),
        (old_echo and e["covers_probe"], SPURIOUS),
        (old_echo, WAIT),
        (not e["covers_probe"], LOSS),
        (e["has_sack"] and e["dsack"], SPURIOUS),
        (e["has_sack"], LOSS),
        (e["has_tstamp"], LOSS),
        (True, SPURIOUS),
    )
    return next(answer for applies, answer in decisions if applies)


def test_truth_table(apogee: Library) -> None:
    """All 128 combinations."""
    table = list(every_evidence())
    assert len(table) == 128
    wrong = [e for e in table if verdict(apogee, **e) != expected(e)]
    assert wrong == []


# Simulated timeouts

SENT_MS = 10
TIMEOUT_MS = 1_000


@dataclass(frozen=True)
class Answer:
    """What one ACK carries."""

    ack: int
    sacks_above: bool
    dsack: bool
    echo_ms: int


@dataclass
class Receiver:
    """RFC 9293 with SACK (2018), D-SACK (2883) and timestamps (7323)."""

    next: int = 0
    held: set[int] = field(default_factory=set)
    recent_ms: int = 0

    def arrival(self, seq: int, stamp_ms: int) -> Answer:
        duplicate = seq < self.next or seq in self.held
        if seq <= self.next:  # RFC 7323, 4.3: SEG.SEQ <= Last.ACK.sent
            self.recent_ms = max(self.recent_ms, stamp_ms)
        self.held.add(seq)
        while self.next in self.held:
            self.next += 1
        self.held = {one for one in self.held if one >= self.next}
        return Answer(self.next, bool(self.held), duplicate, self.recent_ms)


@dataclass(frozen=True)
class Flight:
    """Segments 0 to n - 1 in flight at the timeout and the fate of them and their ACKs.

    An ACK is lost, arrives before the timeout, or late, after it.
    """

    lost: tuple[bool, ...]
    acks: tuple[str, ...]
    has_sack: bool
    has_tstamp: bool

    @property
    def data_lost(self) -> bool:
        return any(self.lost)


@st.composite
def flights(draw: st.DrawFn) -> Flight:
    n = draw(st.integers(1, 6))
    lost = draw(
        st.tuples(*[st.booleans()] * n)
        | st.just((False,) * n)
        | st.integers(0, n - 1).map(lambda i: tuple(j == i for j in range(n)))
    )
    early = draw(st.integers(0, n))
    acks = [draw(st.sampled_from(["early", "lost"])) for _ in range(early)]
    acks += [draw(st.sampled_from(["late", "lost"])) for _ in range(n - early)]
    return Flight(lost, tuple(acks), draw(st.booleans()), draw(st.booleans()))


def judge(apogee: Library, flight: Flight) -> str | None:
    """The verdict of the sender, or None where there is no timeout or no answer.

    At the timeout the oldest segment not acknowledged goes out again and arrives.
    Evidence is gathered as tcp_star.c does at each ACK, until there is a verdict.
    """
    receiver = Receiver()
    una, hole_before = 0, False
    late: list[Answer] = []
    p_seq = len(flight.lost)
    for seq, (lost, fate) in enumerate(zip(flight.lost, flight.acks, strict=True)):
        if lost:
            continue
        answer = receiver.arrival(seq, SENT_MS + seq)
        if fate == "early":
            una = max(una, answer.ack)
            hole_before = answer.sacks_above and flight.has_sack
        elif fate == "late":
            late.append(answer)
    if una == p_seq:
        return None
    retransmitted_ms = TIMEOUT_MS
    mark, dsack = una, False
    for answer in [*late, receiver.arrival(una, retransmitted_ms)]:
        una = max(una, answer.ack)
        dsack = dsack or answer.dsack
        found = verdict(
            apogee,
            una_after_mark=una > mark,
            covers_probe=una >= p_seq,
            sack_hole=flight.has_sack and (hole_before or (una < p_seq and answer.sacks_above)),
            has_sack=flight.has_sack,
            dsack=flight.has_sack and dsack,
            has_tstamp=flight.has_tstamp,
            echo_original=answer.echo_ms < retransmitted_ms,
        )
        if found != WAIT:
            return found
    return WAIT


@given(flights())
def test_spurious_is_never_said_of_lost_data(apogee: Library, flight: Flight) -> None:
    """Restoring the window needs all data to have arrived.

    The exception that cannot be detected: neither SACK nor timestamps, and a single
    segment was lost, whose retransmission fills the hole.
    """
    if judge(apogee, flight) == SPURIOUS and flight.data_lost:
        assert not flight.has_sack
        assert not flight.has_tstamp
        assert sum(flight.lost) == 1


@given(flights())
def test_lost_acks_are_recognised(apogee: Library, flight: Flight) -> None:
    """All data arrived: an older echo, a D-SACK or P_seq alone says so, where one comes.

    Timestamps without SACK need the late ACK of the newest original: the copy's
    echo proves nothing. Without timestamps a late ACK passes for the answer, so
    that a partial one, or one without D-SACK where SACK is in use, means loss.
    """
    if flight.data_lost:
        return
    found = judge(apogee, flight)
    if found is None:
        return
    late = [fate == "late" for fate in flight.acks]
    if flight.has_tstamp:
        told = flight.has_sack or late[-1]
    elif flight.has_sack:
        told = not any(late)
    else:
        told = not any(late[:-1])
    assert found == (SPURIOUS if told else LOSS)


@pytest.mark.parametrize("has_sack", [False, True])
@pytest.mark.parametrize("has_tstamp", [False, True])
def test_blackout_of_acks_and_of_data(apogee: Library, has_sack: bool, has_tstamp: bool) -> None:
    """Figure 8's blackout, in both directions: all ACKs lost, all data lost."""
    n = 6
    acks = Flight((False,) * n, ("lost",) * n, has_sack, has_tstamp)
    copy_echo_only = has_tstamp and not has_sack
    assert judge(apogee, acks) == (LOSS if copy_echo_only else SPURIOUS)
    data = Flight((True,) * n, ("lost",) * n, has_sack, has_tstamp)
    assert judge(apogee, data) == LOSS


def test_the_one_case_that_cannot_be_detected(apogee: Library) -> None:
    """Only the oldest lost and the later ACKs with it: spurious without SACK and timestamps."""
    n = 4
    lost = (True, *[False] * (n - 1))
    for has_sack, has_tstamp in itertools.product((False, True), repeat=2):
        flight = Flight(lost, ("lost",) * n, has_sack, has_tstamp)
        told = has_sack or has_tstamp
        assert judge(apogee, flight) == (LOSS if told else SPURIOUS)
