# SPDX-License-Identifier: GPL-2.0
"""Signals that end the lab: they raise KeyboardInterrupt, so that runs under way are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def interrupted_by(*signals: signal.Signals) -> Iterator[None]:
    """In its block these signals raise KeyboardInterrupt, even if they were ignored before.

    The previous handlers are set again at the end. Only the main thread may use it.
    """
    before = {each: signal.signal(each, _raise) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
