# SPDX-License-Identifier: GPL-2.0
"""Signals that end the lab raise KeyboardInterrupt, so that active runs are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interrupted_by(*signals: signal.Signals) -> Iterator[None]:
    """Within the block these signals raise KeyboardInterrupt, even if they were ignored before.

    The previous handlers are restored at the end. For the main thread only.
    """
    before = {each: signal.signal(each, _raise) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def held_back(*signals: signal.Signals) -> Iterator[None]:
    """These signals are handled at the end of the block. For the main thread only.

    To block them there is not enough: another thread may take them, tqdm's for instance, and Python
    calls the handler in this one.
    """
    came: list[int] = []
    before = {each: signal.signal(each, lambda number, _: came.append(number)) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in came:
            signal.raise_signal(number)
