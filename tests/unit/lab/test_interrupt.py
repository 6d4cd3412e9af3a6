# SPDX-License-Identifier: GPL-2.0
"""Signals that interrupt the lab."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from apogee_lab.runs.interrupt import held_back, interrupted_by

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("which", BOTH)
def test_a_signal_raises_even_if_it_was_ignored(which: signal.Signals) -> None:
    before = [signal.signal(each, signal.SIG_IGN) for each in BOTH]
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_by(*BOTH):
            os.kill(os.getpid(), which)
        assert [signal.getsignal(each) for each in BOTH] == [signal.SIG_IGN] * 2
        os.kill(os.getpid(), which)  # is ignored again
    finally:
        for each, handler in zip(BOTH, before, strict=True):
            signal.signal(each, handler)


def test_other_signals_keep_their_handlers() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupted_by(signal.SIGTERM):
        assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("which", BOTH)
def test_a_signal_is_held_back(which: signal.Signals) -> None:
    """Also if a thread takes it in which it is not blocked."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    done = 0
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_by(*BOTH), held_back(*BOTH):
            signal.pthread_sigmask(signal.SIG_BLOCK, BOTH)
            os.kill(os.getpid(), which)
            done = sum(range(100_000))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, BOTH)
    finally:
        ended.set()
        thread.join()
    assert done
