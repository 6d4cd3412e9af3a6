# SPDX-License-Identifier: GPL-2.0
"""A plan with two paths in a real guest: each path's limit, delay and queue are its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.engines import uml
from apogee_lab.runs import sweep
from tests.unit.lab.two_paths import TWO_PATHS

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_two_paths_are_measured_apart(kept: Path) -> None:
    """Both queues hold more than their path's bandwidth-delay product, so both links are full.

    A frame takes 1.5 ms of the fast path and 6 ms of the slow one; 50 of them are 75.7 kB.
    """
    runs = sweep.compile_runs(TWO_PATHS, [("cubic+reno", {}, 1)], 10.0)
    work = sweep.Sweep(
        sweep.make_jobs(TWO_PATHS, uml, "uml", uml.DEFAULT_KERNEL, runs), uml, at_once=1
    )
    work.run()
    (record,) = work.records
    assert record is not None, work.failures
    for flow, path, delay_ms in zip(record["flows"], record["paths"], (20, 200), strict=True):
        assert 0.9 * path["limit_bps"] < flow["goodput_bps"] <= path["limit_bps"]
        frame_ms = 1514 * 8000 / path["rate_bps"]
        assert delay_ms <= flow["rtt_ms"]["min"] <= delay_ms + 2 * frame_ms
        assert path["queue"]["max_bytes"] <= 50 * 1514
        waited_ms = flow["rtt_ms"]["mean"] - delay_ms
        assert path["queue"]["mean_ms"] == pytest.approx(waited_ms, rel=0.15)
    fast, slow = record["paths"]
    assert record["queue"]["drops"] == fast["queue"]["drops"] + slow["queue"]["drops"]
    assert record["losses"] == record["queue"]["drops"] > 0
    total = sum(flow["goodput_bps"] for flow in record["flows"])
    assert record["total_goodput_bps"] == pytest.approx(total)
    assert record["limit_bps"] == pytest.approx(fast["limit_bps"] + slow["limit_bps"], abs=1)
