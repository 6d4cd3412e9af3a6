# SPDX-License-Identifier: GPL-2.0
"""How much a lower device is given, sscop_budget.h, on devices that complete in different ways."""

from __future__ import annotations

import pytest

from tests.unit.headers.cheaders import Library

FRAME = 1500
LOOKS = 4000


def sent(apogee: Library, batch: int, step_us: int) -> tuple[int, int]:
    """Octets that a device sends which takes up to ``batch`` octets at each ``step_us`` of what it
    has, and completes them then; and the limit at the end."""
    state = apogee.new("sscop_budget")
    apogee.sscop_budget_init(state, 0)
    left = total = 0
    for look in range(1, LOOKS):
        while left < apogee.sscop_budget_most(state):
            apogee.sscop_budget_give(state, FRAME)
            left += FRAME
        apogee.sscop_budget_wait(state)
        now = min(left, batch)
        left -= now
        total += now
        apogee.sscop_budget_look(state, left, look * step_us)
    return total, state.limit


@pytest.mark.parametrize("frames", [1, 2, 8, 64])
def test_a_device_is_busy_however_it_completes(apogee: Library, frames: int) -> None:
    """All that it could send, but for the time in which this is found; and hardly more waits."""
    total, limit = sent(apogee, frames * FRAME, 1000)
    assert total > 0.98 * LOOKS * frames * FRAME
    assert limit <= (2 * frames + 2) * FRAME


def test_what_is_too_much_is_taken_back(apogee: Library) -> None:
    state = apogee.new("sscop_budget")
    apogee.sscop_budget_init(state, 0)
    state.limit = 100 * FRAME
    left = 0
    for look in range(1, 20_000):
        while left < apogee.sscop_budget_most(state):
            apogee.sscop_budget_give(state, FRAME)
            left += FRAME
        apogee.sscop_budget_wait(state)
        left -= FRAME
        apogee.sscop_budget_look(state, left, look * 1000)
    assert state.limit <= 4 * FRAME


def test_octets_wrap(apogee: Library) -> None:
    state = apogee.new("sscop_budget")
    apogee.sscop_budget_init(state, 0)
    for field in ("given", "done", "given_before"):
        setattr(state, field, 2**32 - 10)
    apogee.sscop_budget_give(state, FRAME)
    apogee.sscop_budget_wait(state)
    apogee.sscop_budget_look(state, 0, 1)
    assert FRAME <= state.limit <= 2 * FRAME


def test_a_device_without_more_to_send_is_given_no_more(apogee: Library) -> None:
    """Pairs of frames, completed together."""
    state = apogee.new("sscop_budget")
    apogee.sscop_budget_init(state, 0)
    for look in range(1, 1000):
        apogee.sscop_budget_give(state, FRAME)
        apogee.sscop_budget_give(state, FRAME)
        apogee.sscop_budget_look(state, 0, look * 1000)
    assert apogee.sscop_budget_most(state) == 2 * FRAME


def test_a_device_that_refuses_is_given_less_and_tried_again(apogee: Library) -> None:
    """Its queue has one frame behind the one that it sends, 1 ms each, then two."""
    state = apogee.new("sscop_budget")
    apogee.sscop_budget_init(state, 0)
    left, refused, idle = 0, 0, 0
    for ms in range(1, 20_000):
        room = (2 if ms < 10_000 else 3) * FRAME
        while not left or left < apogee.sscop_budget_most(state):
            if left + FRAME > room:
                apogee.sscop_budget_refused(state, left, ms * 1000)
                refused += 1
                continue
            apogee.sscop_budget_give(state, FRAME)
            left += FRAME
        apogee.sscop_budget_wait(state)
        left -= FRAME
        idle += not left
        apogee.sscop_budget_look(state, left, ms * 1000)
    assert refused <= 2 * 20  # once or twice a second
    assert idle < 20_000 / 50
