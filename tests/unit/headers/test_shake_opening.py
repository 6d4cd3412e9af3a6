# SPDX-License-Identifier: GPL-2.0
"""ACKs that TCP's slow start does without, shake_opening.h, and when its window is large enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.shake_link import Link

MSS = 1448
FIRST = 2**32 - 20 * MSS  # numbers wrap in the first windows


def passed(apogee: Library, opening: object, acked: int, sent: int) -> bool:
    """Whether an ACK of so many segments passes when so many were sent."""
    high, ack = ((FIRST + 1 + count * MSS) % 2**32 for count in (sent, acked))
    return bool(apogee.shake_opening_passes(opening, high, ack))


def begun(apogee: Library) -> object:
    opening = apogee.new("shake_opening")
    apogee.shake_opening_begin(opening, FIRST)
    return opening


@pytest.mark.parametrize("window", [16, 100, 5000])
@pytest.mark.parametrize("each", [1, 2])
def test_a_round_has_less_than_eight(apogee: Library, window: int, each: int) -> None:
    """That many CUBIC looks at before it ends slow start. TCP sends two for one as ACKs pass."""
    opening, sent, known, acked, counts = begun(apogee), window, 0, 0, []
    for _ in range(4):
        end, count = sent, 0
        while acked + each <= end:
            acked += each
            if passed(apogee, opening, acked, sent):
                count += 1
                sent += 2 * (acked - known)
                known = acked
        counts.append(count)
    assert min(counts) >= 3 and max(counts) < 8
    assert sent > 10 * window  # it grows as slow start does: 16 times but for the last parts


def test_a_window_that_stays_is_no_slow_start(apogee: Library) -> None:
    """After four windows without growth; while it grows by a tenth in each it goes on."""
    opening, sent, acked, window = begun(apogee), 100, 0, 100.0
    for _ in range(20):
        for _ in range(round(window)):
            acked += 1
            passed(apogee, opening, acked, sent)
            sent = acked + round(window)
        assert not apogee.shake_opening_is_over(opening)
        window *= 1.1
    grew = acked
    while not apogee.shake_opening_is_over(opening):
        acked += 1
        passed(apogee, opening, acked, acked + round(window))
    assert 3 * window < acked - grew < 6 * window


@given(st.integers(1, 3000), st.integers(1, 3))
def test_what_is_sent_last_is_acknowledged(apogee: Library, window: int, each: int) -> None:
    """However few ACKs there are, none is missed when nothing more is under way."""
    opening = begun(apogee)
    told = [passed(apogee, opening, acked, window) for acked in range(each, window, each)]
    assert passed(apogee, opening, window, window)
    assert sum(told) <= 6 * max(1, window.bit_length())


def test_the_same_number_again_passes(apogee: Library) -> None:
    """A duplicate ACK, or one that opens the window, is never left out."""
    opening = begun(apogee)
    assert not passed(apogee, opening, 1, 100)
    assert passed(apogee, opening, 1, 100)
    assert not passed(apogee, opening, 2, 100)


def test_numbers_of_what_was_not_sent_pass(apogee: Library) -> None:
    """They are TCP's to judge."""
    opening = begun(apogee)
    assert passed(apogee, opening, 101, 100) and passed(apogee, opening, 2**20, 100)
    assert not passed(apogee, opening, 1, 100)


@pytest.mark.parametrize(
    ("known", "waits", "sated"),
    [
        ((4, 4), 0, True),
        ((4, 0), 0, False),
        ((4, 0), 29_999, False),
        ((0, 0), 120_000, False),
        ((0, 0), 120_001, True),
    ],
)
def test_when_windows_are_large_enough(
    apogee: Library, known: tuple[int, int], waits: int, sated: bool
) -> None:
    """Paths with 20 packets under way, of which some had a queue; octets wait above."""
    links = [Link(apogee, 1e6, 50_000) for _ in known]
    choices = (apogee.headers.structs["shake_choice"] * len(links))()
    for choice, link, intervals in zip(choices, links, known, strict=True):
        for _ in range(10):
            link.send(1500)
        link.est.intervals = intervals
        choice.est.contents, choice.weight = link.est, 100
    assert apogee.shake_sched_is_sated(choices, len(links), waits) is sated
