# SPDX-License-Identifier: GPL-2.0
"""Plans with several paths: limits and measures of each, with the toy scenario of two_paths.py."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import apogee_lab
from apogee_lab.measures.compute import compute
from apogee_lab.results import table
from tests.unit.lab.raw_folders import LINK_PATH, fill, meta, qdisc, send_log, steady, write
from tests.unit.lab.stand_ins import shell_errors
from tests.unit.lab.two_paths import TWO_PATHS

PLAN = TWO_PATHS.compile({}, "cubic+reno", 10.0)
SHARE = 1448 / 1514  # payload of a frame


def test_limits_and_rates_are_the_paths_sums() -> None:
    assert (PLAN.rate_bps, PLAN.limit_bps) == (10e6, pytest.approx(10e6 * SHARE))
    assert [path.bdp_bytes for path in PLAN.paths] == [20_000, 50_000]
    assert [path["name"] for path in PLAN.facts()["paths"]] == ["fast", "slow"]


def test_each_paths_queue_is_sampled_into_a_file_of_its_own() -> None:
    assert shell_errors(PLAN.script) == ""
    for name in ("fast", "slow"):
        assert f'tc -n {name} -s -j -batch - >"$OUT/queue-{name}.jsonl" &' in PLAN.script
    assert '"$OUT/queue.jsonl"' not in PLAN.script


@pytest.mark.parametrize("names", [("", ""), ("a", "a"), ("", "a")])
def test_several_paths_need_names(names: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="needs a name of its own"):
        replace(PLAN, paths=tuple(replace(LINK_PATH, name=name) for name in names))


def two(raw: Path) -> dict[str, Any]:
    """8 Mbit/s and a queue of 20 kB over the fast path, 1.6 Mbit/s and 4 kB over the slow one."""
    write(raw)
    (raw / "queue.jsonl").unlink()
    for flow, count in (("flow1", 10_000), ("flow2", 2000)):
        fill(raw, {f"{flow}.send.json": send_log(), f"{flow}.recv.json": {"bins": steady(count)}})
    for name, backlog, drops, ack_drops in (("fast", 20_000, 6, 3), ("slow", 4000, 1, 0)):
        queue = [{"dev": "to-rcv", "root": True, "backlog": backlog, "drops": drops}]
        lines = [f"{tenth / 10} {json.dumps(queue)}\n" for tenth in range(100, 210)]
        counted = [qdisc("to-rcv", drops), qdisc("to-snd", ack_drops)]
        fill(raw, {f"queue-{name}.jsonl": "".join(lines), f"qdisc-{name}.json": counted})
    return meta(scenario="two-paths", cc="cubic+reno") | PLAN.facts()


def test_a_record_of_two_paths(tmp_path: Path) -> None:
    record = compute(tmp_path, two(tmp_path), TWO_PATHS.measures)
    fast, slow = record["paths"]
    assert (fast["name"], fast["rate_bps"], fast["bdp_bytes"]) == ("fast", 8_000_000, 20_000)
    assert (fast["delay_s"], fast["queue_bytes"]) == (0.01, 75_000)
    assert fast["queue"] == {
        "mean_bytes": 20_000.0, "mean_ms": 20.0, "max_bytes": 20_000, "drops": 6,
    }  # fmt: skip
    assert slow["queue"] == {
        "mean_bytes": 4000.0, "mean_ms": 16.0, "max_bytes": 4000, "drops": 1,
    }  # fmt: skip
    assert record["queue"] == {
        "mean_bytes": 24_000.0, "mean_ms": 19.2, "max_bytes": 20_000, "drops": 7,
    }  # fmt: skip
    assert [path["ack_drops"] for path in record["paths"]] == [3, 0]
    assert (record["ack_drops"], record["link_drops"], record["losses"]) == (3, 0, 7)
    assert (record["limit_bps"], record["bdp_bytes"]) == (round(10e6 * SHARE, 1), 70_000)
    assert record["total_goodput_bps"] == 9.6e6
    assert record["t90_s"] is not None, "both together reach nine tenths of both limits"
    cells = dict(zip(*table.rows([record]), strict=True))  # of a scenario that it does not know
    assert (cells["flow 1"], cells["flow 2"], cells["queue drops"]) == ("8.000", "1.600", "7")


def test_scenarios_compile_without_what_measures_need() -> None:
    """`lab script` also works where numpy is not installed."""
    code = "import sys; sys.modules['numpy'] = None; import apogee_lab.scenarios"
    folder = Path(apogee_lab.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
