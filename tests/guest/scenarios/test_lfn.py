# SPDX-License-Identifier: GPL-2.0
"""The scenario lfn in real guests of engine uml, scaled down to 100 Mbit/s.

The round trip of the empty path is 70 ms; a bandwidth-delay product is then 578 frames.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.engines import uml
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from apogee_lab.measures.record import RecordError
from tests.guest.runs import Case, Run, close, records

pytestmark = [pytest.mark.guest, pytest.mark.uml]

RTT_MS = 70
#: One fast sender whose own link is no limit.
ALONE = ("n=1", "reno=0", "rate=100mbit", "queue=600")
lfn = partial(records, "lfn")


def test_one_fast_flow_fills_the_path(kept: Path, tmp_path: Path) -> None:
    """The limit is the flow's own link or the shared one, whichever is slower.

    The sender's stack knows when its own link is busy: packets wait in the socket, so there is
    neither loss nor queuing delay.
    """
    one, own = lfn(tmp_path / "r", "cubic", *ALONE, "warmup=3s", "host_rate=1gbit,50mbit")
    for record in (one, own):
        assert close(record["total_goodput_bps"], record["limit_bps"], 0.01)
        assert close(record["flows"][0]["rtt_ms"]["min"], RTT_MS, 0.01)
    assert close(own["limit_bps"], one["limit_bps"] / 2, 1e-6)
    assert one["queue"]["max_bytes"] > 500 * 1514
    assert (own["queue"]["drops"], own["flows"][0]["retransmits"]) == (0, 0)
    assert own["queue"]["max_bytes"] <= 10 * 1514
    assert own["flows"][0]["rtt_ms"]["p99"] < RTT_MS + 5


def test_a_slower_flow_loses_at_its_switch(kept: Path, tmp_path: Path) -> None:
    """10 Mbit/s and its queue of 50 packets are in front of a shared link that is never full."""
    settings = ("n=0", "reno=1", "reno_rate=10mbit", "rate=100mbit", "warmup=5s")
    (record,) = lfn(tmp_path / "r", "reno", *settings, seconds=10)
    (flow,) = record["flows"]
    assert close(record["limit_bps"], 10e6 * 1448 / 1514, 1e-6)
    assert 0.8 * record["limit_bps"] < flow["goodput_bps"] <= record["limit_bps"]
    assert close(flow["rtt_ms"]["min"], RTT_MS, 0.01)
    assert flow["switch_drops"] > 0
    assert record["queue"]["drops"] == record["link_drops"] == flow["queue_drops"] == 0
    assert flow["retransmits"] == record["losses"] == flow["switch_drops"]
    assert record["needless_retransmits"] == 0
    assert set(record["groups"]) == {"reno"}


def test_drops_are_shared_out_and_grouped(kept: Path, tmp_path: Path) -> None:
    """Two fast flows and three of 20 Mbit/s: each drop of the shared queue belongs to one flow."""
    settings = ("reno=3", "reno_rate=20mbit", "rate=100mbit", "queue=100", "warmup=5s")
    (record,) = lfn(tmp_path / "r", "highspeed+reno", *settings)
    flows, queue = record["flows"], record["queue"]
    assert sum(flow["queue_drops"] for flow in flows) == queue["drops"] > 0
    assert [("switch_drops" in flow) for flow in flows] == [False] * 2 + [True] * 3
    assert 0 < queue["early_drops"] <= queue["drops"]
    assert 0 <= queue["steady_drops"] < queue["drops"]
    for flow in flows:
        assert 0 <= flow["steady"]["retransmits"] <= flow["retransmits"]
    fast, slower = (record["groups"][name]["goodput_bps"] for name in ("fast", "reno"))
    assert close(fast + slower, record["total_goodput_bps"], 1e-6)
    assert (record["groups"]["fast"]["flows"], record["groups"]["reno"]["flows"]) == (2, 3)
    assert record["interval"]["over_s"] == 5


@pytest.mark.deep
def test_seeds_differ_by_the_starts(kept: Path, tmp_path: Path) -> None:
    """Nothing else is random: with equal starts, records do not depend on the seed."""

    def results(name: str, seeds: str, spread: str) -> list[dict[str, Any]]:
        settings = ("n=1", "reno=1", "rate=20mbit", "queue=100", f"spread={spread}")
        found = lfn(tmp_path / name, "reno", *settings, seconds=2, more=f"--seed {seeds} --fresh")
        same = {"run": "", "seed": 0}
        return [record | {"wall_s": 0} | same for record in found]

    first, second = results("once", "1,2", "1s")
    assert first["flows"] != second["flows"]
    assert results("again", "1", "1s") == [first]
    one, two = results("together", "1,2", "0s")
    assert one == two


@pytest.mark.parametrize("codel", ["fq_codel", pytest.param("cake", marks=pytest.mark.deep)])
def test_aqm_keeps_the_queue_short(kept: Path, tmp_path: Path, codel: str) -> None:
    """Tail drop allows a standing queue of one bandwidth-delay product; CoDel's target is 5 ms."""
    settings = (*ALONE, "warmup=5s", f"aqm=none,red,{codel}")
    records = lfn(tmp_path / "r", "reno", *settings, seconds=10)
    tail, red, short = (record["queue"]["mean_ms"] for record in records)
    assert red < tail
    assert short < min(5, red)
    for record in records:
        assert record["queue"]["drops"] > 0
        assert record["flows"][0]["queue_drops"] == record["queue"]["drops"]


@pytest.mark.parametrize("aqm", ["red", pytest.param("cake", marks=pytest.mark.deep)])
def test_a_queue_that_marks_drops_less(kept: Path, tmp_path: Path, aqm: str) -> None:
    """The end of slow start: fq_codel's queue overflows there, with marks or without."""
    dropped, marked = lfn(tmp_path / "r", "reno", *ALONE, f"aqm={aqm}", "tcp_ecn=0,1", seconds=10)
    assert marked["flows"][0]["retransmits"] < dropped["flows"][0]["retransmits"]


def test_a_run_without_memory_fails(tmp_path: Path) -> None:
    """The senders go on below the path's rate; the run fails instead of giving a wrong record."""
    case = Case({"n": 1, "reno": 0, "rate": 10**8, "spread": 0.0}, "cubic", 5.0, scenario="lfn")
    plenty, short = "tcp_mem='1000000 1000000 1000000'", "tcp_mem='200 400 20000'"
    assert plenty in case.plan.script
    plan = replace(case.plan, script=case.plan.script.replace(plenty, short))
    uml.run(plan, seed=1, kernel=DEFAULT_KERNEL, modules=[], out=tmp_path / "raw")
    with pytest.raises(RecordError, match="TCP ran out of memory in the guest"):
        _ = Run(case, tmp_path / "raw").record


@pytest.mark.deep
def test_iperf3_agrees(kept: Path, tmp_path: Path) -> None:
    """A fast and a slower flow, 50 Mbit/s, 5 s: within 3 %, as iperf3 counts by the second."""
    settings = ("n=1", "reno=1", "rate=50mbit", "reno_rate=10mbit", "traffic=flow,iperf3")
    ours, theirs = lfn(tmp_path / "r", "cubic", *settings, "spread=0s", seconds=5)
    for one, other in zip(ours["flows"], theirs["flows"], strict=True):
        assert close(one["goodput_bps"], other["goodput_bps"], 0.03)
        assert one["retransmits"] == other["retransmits"]
