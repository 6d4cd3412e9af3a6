# SPDX-License-Identifier: GPL-2.0
"""The calls that kernels are asked: every function is there, what is kept is what was called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import calls
from tests.asked.recorder import KEPT, Recorder
from tests.unit.headers.cheaders import Library, compile_library


@pytest.fixture
def library(root: Path) -> Library:
    return compile_library(root, root / "build" / "unit", sanitized=False)


def test_what_is_kept_is_what_was_asked_and_answered(library: Library, tmp_path: Path) -> None:
    """Numbers, a structure that changes, a result that is a row of a table."""
    recorder = Recorder(library)
    assert library.abe_window(1_250_000, 500_000, 1250) == 500
    windows = library.new("star_window", cwnd_reno=10)
    library.star_set_cwnd(windows, 7)
    library.hstcp_row(library.HSTCP_RFC3649, 39)
    recorder.write(tmp_path)

    asked, answered = (
        {name: calls.values(call) for name, call in calls.read(library.headers, tmp_path / file)}
        for file in ("calls", "answers")
    )
    window = {"bw": 1_250_000, "rtt_min_us": 500_000, "mss": 1250}
    assert asked["abe_window"] == {"result": 0, **window}
    assert answered["abe_window"] == {"result": 500, **window}
    assert asked["star_set_cwnd"]["w"]["cwnd_reno"] == 10
    assert answered["star_set_cwnd"]["w"]["cwnd_reno"] == 7
    assert answered["hstcp_row"]["result"] == {"cwnd": 118, "increase": 2, "decrease": 112}
    assert len(asked) == len(answered) == 3


def test_no_more_calls_are_kept_than_wanted(library: Library, tmp_path: Path) -> None:
    recorder = Recorder(library)
    for rtt in range(2 * KEPT):
        library.abe_interval_us(rtt)
        library.abe_interval_us(rtt)
    recorder.write(tmp_path)
    kept = [call.rtt_min_us for _, call in calls.read(library.headers, tmp_path / "calls")]
    assert len(kept) == len(set(kept)) == KEPT
    assert max(kept) > 1.5 * KEPT


def test_a_wrong_and_a_missing_answer_are_told(library: Library, tmp_path: Path) -> None:
    recorder = Recorder(library)
    for divisor in (1, 2, 3):
        library.div_u64(7, divisor)
    recorder.write(tmp_path)
    right = (tmp_path / "answers").read_bytes()
    size = len(right) // 3
    other = tmp_path / "other"
    wrong = bytearray(right)
    wrong[size + 8] += 1  # the second one's result
    for data, told in (
        (right, ""),
        (wrong, "div_u64: {'result': 4, 'dividend': 7, 'divisor': 2} instead of "),
        (right[:size], "div_u64: None instead of {'result': 3, "),
        (right + right[:size], "nothing: {'result': 7, "),
    ):
        other.write_bytes(data)
        found = calls.difference(library.headers, tmp_path / "answers", other)
        assert found.startswith(told) and bool(found) == bool(told)
