# SPDX-License-Identifier: GPL-2.0
"""A slice of tests/deep/test_debug_kernel.py: a kernel with KASAN, UBSAN, lockdep and kmemleak sees
a fault that is planted, and none in a flow of each algorithm or in the devices' scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deep import test_debug_kernel as deep
from tests.deep.test_debug_kernel import built, debugged
from tests.guest.runs import run_cases

__all__ = ["built", "debugged"]  # fixtures of all tests here
pytestmark = deep.pytestmark


@pytest.mark.parametrize("kind", ["freed", "order", "leak"])
def test_a_planted_fault_is_seen(tmp_path: Path, kind: str) -> None:
    deep.test_a_planted_fault_is_seen(tmp_path, kind)


def test_flows_without_a_report(build: Path) -> None:
    """One of each algorithm, over losses, marks and an outage."""
    setting = "ber=1e-6 aqm=fq_codel tcp_ecn=1 delay=50ms event=outage@3s:500ms trace=all"
    cases = {cc: deep.case("satellite", cc, setting, 5.0) for cc in deep.CONTROLS}
    runs = run_cases(build, "debug-slice", cases)
    assert all(run.record["total_goodput_bps"] > 0 for run in runs.values())


def test_devices_without_a_report(build: Path, root: Path) -> None:
    """Their lower devices change and go, sessions and connections are made anew."""
    deep.test_sscop_without_a_report(build, root, "changes")
    deep.test_shake_without_a_report(build, root, "deaths")
