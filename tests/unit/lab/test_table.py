# SPDX-License-Identifier: GPL-2.0
"""The table: intervals, rows, columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from apogee_lab.results import table
from apogee_lab.results.statistics import (
    Estimate,
    around,
    mean_interval,
    mean_of,
    ratio_of,
    share_of,
    t_quantile,
    wider,
)
from apogee_lab.results.text import NONE, cell, show
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab.raw_folders import compute, meta, write


def record(raw: Path, cc: str, seed: int, goodput: float, **settings: Any) -> dict[str, Any]:
    """A record with this goodput in Mbit/s."""
    found = compute(raw, meta(cc=cc, seed=seed, set={"ber": 0.0, **settings}))
    found["total_goodput_bps"] = found["flows"][0]["goodput_bps"] = goodput * 1e6
    return found


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return write(tmp_path)


def test_quantiles_of_student() -> None:
    # From the printed tables, then from scipy.
    for freedom, value in ((1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)):
        assert round(t_quantile(freedom), 3) == value
    for freedom in [*range(1, 50), 99, 100, 999]:
        expected = stats.t.ppf(0.975, freedom)
        assert t_quantile(freedom) == pytest.approx(expected, rel=1e-6)
        # A sixtieth of 5 %; of one degree of freedom that is 764.
        expected = stats.t.ppf(1 - 0.025 / 60, freedom)
        assert t_quantile(freedom, 1 - 0.05 / 60) == pytest.approx(expected, rel=1e-6)


def test_intervals() -> None:
    # s = 1, t(0.975, 2) = 4.3027, 4.3027 / sqrt(3) = 2.4841
    mean, half = mean_interval([9.0, 10.0, 11.0])
    assert (mean, round(half or 0, 4)) == (10.0, 2.4841)
    # s^2 = 2.5, t(0.975, 4) = 2.7764, 2.7764 * sqrt(2.5 / 5) = 1.9632
    mean, half = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (mean, round(half or 0, 4)) == (3.0, 1.9632)
    assert mean_interval([7.0]) == (7.0, None)
    assert mean_interval([7.0, 7.0]) == (7.0, 0.0)


def test_intervals_of_other_levels() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    for level in (0.9, 0.95, 0.9975):
        wanted = stats.t.interval(level, 4, 3.0, stats.sem(values))
        for found in (mean_of(values), mean_of([v + 1 for v in values]).plus(-1)):
            assert found.at and found.at(level) == pytest.approx(wanted, rel=1e-6)
        normal = around(3.0, stats.norm.ppf(0.975)).at
        assert normal and normal(level) == pytest.approx(stats.norm.interval(level, 3.0))
    assert mean_of([7.0]).at is None and mean_of([7.0]).plus(1).at is None


@pytest.mark.parametrize(("found", "count"), [(0, 5), (2, 5), (5, 5), (37, 60)])
def test_the_interval_of_a_share(found: int, count: int) -> None:
    """It has a width even if the share is 0 or 1."""
    share = share_of(found, count)
    assert share.value == found / count and share.at
    for level in (0.95, 0.99):
        wanted = stats.binomtest(found, count).proportion_ci(level, "wilson")
        assert share.at(level) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert share_of(0, 0) == Estimate(0.0) and share_of(0, 0).bounds is None


@pytest.mark.parametrize(("found", "count", "whole"), [(2, 1, 1), (120, 100, 100), (-1, 3, 0)])
def test_a_count_that_exceeds_all(found: int, count: int, whole: int) -> None:
    """Two hosts count the one and the other: the share is still one."""
    share = share_of(found, count)
    assert share == share_of(whole, count) and share.bounds == share_of(whole, count).bounds


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e170])
def test_a_ratio_has_no_unit(unit: float) -> None:
    a, b = [3.0, 5.0, 4.0, 6.5], [2.0, 2.5, 2.3, 2.2]
    found = ratio_of([unit * x for x in a], [unit * x for x in b])
    assert found.bounds == pytest.approx(ratio_of(a, b).bounds)


def test_the_wider_interval() -> None:
    narrow, wide = around(3.0, 1.0), around(5.0, 2.5)
    assert wider(narrow, wide).value == 3.0
    assert wider(narrow, wide).bounds == (2.0, 7.5)
    assert wider(narrow, Estimate(5.0)).bounds is None


def test_one_row_per_algorithm_and_settings(raw: Path) -> None:
    found = [
        record(raw, cc, seed, goodput + seed - 2, ber=ber, window="16MB")
        for ber, goodput in ((0.0, 9.0), (1e-7, 6.0))
        for cc in ("star", "cubic")
        for seed in (1, 2, 3)
    ]
    heading, *body = table.rows(found)
    assert heading[:4] == ["cc", "ber", "goodput Mbit/s", "% of limit"]
    assert [row[:3] for row in body] == [
        ["star", "0", "9.000 ± 2.484"],
        ["cubic", "0", "9.000 ± 2.484"],
        ["star", "1e-7", "6.000 ± 2.484"],
        ["cubic", "1e-7", "6.000 ± 2.484"],
    ]
    assert body[2][3] == "62.5 ± 25.9"  # 6 of 9.6 Mbit/s


def test_some_columns_across_a_setting(raw: Path) -> None:
    found = [
        record(raw, cc, seed, goodput, ber=ber, window="16MB")
        for ber, goodput in ((0.0, 9.0), (1e-7, 6.0))
        for cc in ("star", "cubic")[: 1 if ber else 2]
        for seed in (1, 2)
    ]
    wanted = [c for c in table.columns(found) if c.heading in ("goodput Mbit/s", "timeouts")]
    assert table.rows(found, wanted)[0] == ["cc", "ber", "goodput Mbit/s", "timeouts"]
    assert table.across(found, "ber", wanted[:1]) == [
        ["cc", "0", "1e-7"],
        ["star", "9.000 ± 0.000", "6.000 ± 0.000"],
        ["cubic", "9.000 ± 0.000", NONE],
    ]
    assert table.across(found, "cc", wanted)[1] == [
        "0", "9.000 ± 0.000 / 2.0 ± 0.0", "9.000 ± 0.000 / 2.0 ± 0.0"
    ]  # fmt: skip


def test_the_other_columns(raw: Path) -> None:
    heading, row = table.rows([record(raw, "star", 1, 9.6)])
    assert dict(zip(heading, row, strict=True)) == {
        "cc": "star", "goodput Mbit/s": "9.600", "% of limit": "100.0", "retransmits": "12",
        "needless %": "0.05", "timeouts": "2.0",  # 4 of 8000
        "queue % of BDP": "4.8", "RTT ms": "550", "to 90 % s": "0.45",  # 30 of 625 kB
    }  # fmt: skip


def test_columns_without_values_are_left_out(raw: Path) -> None:
    plain = record(raw, "star", 1, 9.0)
    dark = record(raw, "star", 1, 8.0, ack_blackout="45s:1s")
    dark["blackout"] = {"below90_s": 2.5, "lost_s": 1.25}
    dark["t90_s"] = plain["t90_s"] = None
    heading, first, second = table.rows([plain, dark])
    assert "to 90 % s" not in heading
    assert "Jain" not in heading
    assert dict(zip(heading, first, strict=True))["lost s"] == NONE
    assert dict(zip(heading, second, strict=True))["below 90 % s"] == "2.50"


def test_rows_of_different_size_say_how_many_runs(raw: Path) -> None:
    found = [record(raw, "star", seed, 9.0) for seed in (1, 2)] + [record(raw, "bbr", 1, 8.0)]
    found[0]["t90_s"] = None
    heading, first, second = table.rows(found)
    assert heading[1] == "runs"
    assert (first[1], second[1]) == ("2", "1")
    assert dict(zip(heading, first, strict=True))["to 90 % s"] == "0.45 (1 of 2)"


def test_a_modules_parameter_is_missing_elsewhere(raw: Path) -> None:
    found = [record(raw, "star", 1, 9.0, **{"star.aen": n}) for n in (0, 1)]
    found.append(record(raw, "cubic", 1, 5.0))
    shown = [row[:2] for row in table.rows(found)[1:]]
    assert shown == [["star", "0"], ["star", "1"], ["cubic", NONE]]


def test_ratios(raw: Path) -> None:
    found = [
        record(raw, cc, 1, goodput, ber=ber)
        for ber, star, reno in ((0.0, 9.0, 9.0), (1e-8, 8.82, 3.5))
        for cc, goodput in (("star", star), ("reno", reno))
    ]
    assert table.ratios(found, "star") == [
        ["ber", "star over reno"],
        ["0", "+0.0 %"],
        ["1e-8", "+152.0 %"],
    ]
    assert table.ratios(found[:3], "star")[2] == ["1e-8", NONE]


def test_caption_and_forms(raw: Path) -> None:
    found = [record(raw, "star", seed, 9.0) for seed in (1, 2)]
    text = table.render(found)
    assert text.splitlines()[0] == (
        "satellite, 10 s, Linux 6.1.0-99-amd64, limit 9.600 Mbit/s, mean ± 95 % interval of 2 seeds"
    )
    marked = table.render(found, "md").splitlines()
    assert marked[2].startswith("| cc | goodput Mbit/s |")
    assert marked[3].startswith("|---|---:|")
    assert marked[4].startswith("| star | 9.000 ± 0.000 |")


def test_how_values_are_shown() -> None:
    assert [show(v) for v in (1e-7, 0.0, 2.5e-06, "45s:1s", None, 3)] == [
        "1e-7", "0", "2.5e-6", "45s:1s", NONE, "3",
    ]  # fmt: skip
    assert cell([-0.0001, 0.0001], 2) == "0.00 ± 0.00"


def test_groups_of_flows_have_columns_of_their_own(raw: Path) -> None:
    """The groups' goodput and the queue's drops, but no mean over flows of different kinds."""
    one = record(raw, "star", 1, 9.0)
    one["flows"] = [{**one["flows"][0], "steady": {"timeouts": 2}} for _ in range(3)]
    one["queue"] |= {"early_drops": 30, "steady_drops": 4}
    plain, *_ = table.rows([one])
    assert "mean flow" in plain
    one["scenario"] = "lfn"
    one["groups"] = {"fast": {"goodput_bps": 8e6}, "reno": {"goodput_bps": 1e6}}
    heading, row = table.rows([one])
    cells = dict(zip(heading, row, strict=True))
    assert (cells["fast flows"], cells["Reno flows"]) == ("8.0", "1.0")
    assert (cells["in first 5 s"], cells["after warm-up"]) == ("30", "4")
    assert cells["timeouts after warm-up"] == "6.0"
    assert not {"mean flow", "least flow"} & set(heading)


def test_columns_of_scenarios_stand_where_they_say(raw: Path) -> None:
    """Also in a table of several scenarios, where each has values only in its own columns."""
    sizes = [{"bytes": 1000, "median_s": 0.5, "p95_s": 0.6}]
    lfn, requests, plain = (record(raw, "star", 1, 9.0) for _ in range(3))
    for one in (lfn, requests):
        one["flows"] = one["flows"] * 2
    lfn |= {"scenario": "lfn", "groups": {"fast": {"goodput_bps": 8e6}}}
    requests |= {"scenario": "requests", "requests": {"transfers": 7, "sizes": sizes}}
    heading, *rows = table.rows([lfn, requests, plain])
    ours = ["1kB median s", "1kB 95 % s", "goodput Mbit/s", "% of limit", "flow 1", "flow 2",
            "fast flows", "bulk Mbit/s", "transfers", "Jain"]  # fmt: skip
    assert heading[2:12] == ours
    cells = [dict(zip(heading, row, strict=True)) for row in rows]
    assert [row["fast flows"] for row in cells] == ["8.0", NONE, NONE]
    assert [row["transfers"] for row in cells] == [NONE, "7", NONE]
    assert [row["flow 1"] for row in cells] == ["9.000", NONE, NONE], "no use beside transfers"


def test_scenarios_columns_name_columns_that_exist() -> None:
    common = {column.heading for column in table.COLUMNS}
    for scenario in SCENARIOS.values():
        assert scenario.without <= common
        assert {column.after for column in scenario.columns([])} <= common | {""}


def test_lost_acks_are_a_part_of_those_that_came(raw: Path) -> None:
    one = record(raw, "star", 1, 9.0)
    plain, *_ = table.rows([one])
    assert "ACKs lost %" not in plain
    one["scenario"] = "wlan"
    one["queue"]["mean_packets"] = 5
    wanted = ("25.0", "0.0", "0.0", "100.0")
    for (drops, frames), percent in zip(((30, 90), (0, 90), (0, 0), (5, 0)), wanted, strict=True):
        one["medium"] = {"ap_drops": drops, "ap_frames": frames}
        heading, row = table.rows([one])
        assert dict(zip(heading, row, strict=True))["ACKs lost %"] == percent
