# SPDX-License-Identifier: GPL-2.0
"""compound_plus on ten stations of one access point: flows that join late or start together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.guest.runs import records

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.deep]


def wlan(target: Path, cc: str, *settings: str) -> list[dict[str, Any]]:
    return records("wlan", target, cc, "n=10", *settings, seconds=20)


def mean_rtt_ms(record: dict[str, Any]) -> float:
    """Over time, then over stations."""
    found = [flow["rtt_ms"]["mean"] for flow in record["flows"]]
    return sum(found) / len(found)


def test_latecomers_share_alike(kept: Path, tmp_path: Path) -> None:
    """A flow that joins late learns the empty path's RTT by dips, within 30 s. Jain's index was
    1.00; without dips and excess 0.73 to 0.85."""
    late = ("start=2s", "warmup=30s")
    (cured,) = wlan(tmp_path / "cured", "compound_plus", *late)
    letter = ("compound_plus.relearn=0", "compound_plus.excess=0")
    (by_letter,) = wlan(tmp_path / "letter", "compound_plus", *late, *letter)
    assert cured["jain"] >= 0.95
    assert by_letter["jain"] < 0.95


def test_equal_starts_share_alike_with_a_short_queue(kept: Path, tmp_path: Path) -> None:
    """Measured: 1.00, and .47 of Compound's RTT."""
    plain, plus = wlan(tmp_path / "r", "compound,compound_plus", "warmup=30s")
    assert plus["jain"] >= 0.99
    assert mean_rtt_ms(plus) <= 0.6 * mean_rtt_ms(plain)
    # While no ACK is lost, whose airtime is Compound's then.
    assert plus["total_goodput_bps"] > 0.97 * plus["limit_bps"]
