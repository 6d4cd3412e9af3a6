# SPDX-License-Identifier: GPL-2.0
"""`lab compare-engines`: comparison of two files of records."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import fmean

import pytest
from scipy import stats

from apogee_lab.base import LabError
from apogee_lab.commands import compare_engines, main
from apogee_lab.measures.record import read_records
from tests import ROOT

A = [9.1, 9.2, 9.4, 9.3, 9.25]
B = [9.0, 9.6, 9.5, 8.9]


def written(
    path: Path, engine: str, goodputs: list[float], ber: float = 1e-7, flows: int = 1
) -> Path:
    rows = [
        {
            "scenario": "satellite", "cc": "star", "seed": seed, "engine": engine, "kernel": "6.1",
            "duration_s": 60.0, "set": {"ber": ber, "window": "16MB"},
            "total_goodput_bps": goodput * 1e6, "limit_bps": 9.5e6, "flows": [
                {"name": f"flow{n}", "goodput_bps": goodput * 1e6 * n, "rtt_ms": {"mean": 500.0}}
                for n in range(1, flows + 1)
            ],
        }
        for seed, goodput in enumerate(goodputs, 1)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def both(tmp_path: Path) -> list[str]:
    """Files of the same goodputs, of two engines."""
    return [str(written(tmp_path / name, name, A)) for name in ("qemu", "uml")]


def test_welchs_interval() -> None:
    difference, half = compare_engines.welch(A, B)
    assert difference == pytest.approx(sum(B) / 4 - sum(A) / 5)
    # A difference as large as the interval is just not significant; freedom is rounded down.
    shifted = [value - difference + half for value in B]
    assert 0.03 < stats.ttest_ind(shifted, A, equal_var=False).pvalue <= 0.05
    assert compare_engines.welch([1.0, 1.0], [2.0, 2.0]) == (1.0, 0.0)
    tiny, usual = (
        compare_engines.welch([unit * 1, unit * 2], [unit * 1, unit * 3]) for unit in (1e-100, 1)
    )
    assert tiny == pytest.approx([1e-100 * number for number in usual])


def test_cells_that_both_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = written(tmp_path / "a", "qemu", A)
    right = written(tmp_path / "b", "uml", [value + 1 for value in A])
    assert main.main(["compare-engines", str(left), str(right)]) == 0
    out = capsys.readouterr().out
    assert "| star | 9.250 | 10.250 | +1.000 (+10.8%) |" in out
    assert out.endswith("1 rows: 0 equivalent, 1 different, 0 not shown\n")


def test_what_an_interval_shows() -> None:
    for difference, half, said in (
        (0.2, 0.2, "equivalent"),
        (-0.49, 0.01, "equivalent"),
        (0.2, 0.4, "not shown"),
        (0.6, 0.2, "not shown"),
        (-0.8, 0.2, "different"),
    ):
        for mean in (10.0, -10.0):
            assert compare_engines.verdict(difference, half, mean) == said


def test_each_of_several_flows_has_a_row(tmp_path: Path) -> None:
    found = [
        compare_engines.cells(read_records(written(tmp_path / engine, engine, values, flows=2)))
        for engine, values in (("qemu", A), ("uml", B))
    ]
    _, *rows = compare_engines.table(*found)
    assert [row[0] for row in rows] == ["star", "star: flow 1", "star: flow 2"]
    assert rows[2][1] == "18.500"
    assert {row[-1] for row in rows} == {"not shown"}


def test_settings_that_differ_are_columns(tmp_path: Path) -> None:
    """Records that lack a setting belong to those that have its default."""
    found = []
    for engine in ("qemu", "uml"):
        files = [written(tmp_path / f"{engine}{ber}", engine, A, ber) for ber in (0.0, 1e-7)]
        records = [record for path in files for record in read_records(path)]
        for record in records:
            record["set"] |= {"queue": "625kB"} if engine == "uml" else {}
        found.append(compare_engines.cells(records))
    heading, *rows = compare_engines.table(*found)
    assert heading == ["cc", "ber", "qemu", "uml", "difference", "95 %", ""]
    assert [row[:2] for row in rows] == [["star", "0"], ["star", "1e-7"]]


def test_a_setting_without_effect_has_no_value(tmp_path: Path) -> None:
    """MPTCP has no queue above SHAKE's device, whatever the record says of it."""
    found = []
    for engine in ("qemu", "uml"):
        records = read_records(written(tmp_path / engine, engine, [*A, *A, *A]))
        for at, record in enumerate(records):
            via = ("shake", "shake", "mptcp")[at % 3]
            qdisc = ("pfifo_fast", "fq_codel", "pfifo_fast")[at % 3]
            record |= {"scenario": "multipath", "set": {"via": via, "qdisc": qdisc}}
        found.append(compare_engines.cells(records))
    heading, *rows = compare_engines.table(*found, compare_engines.GOODPUT)
    assert heading[:3] == ["cc", "via", "qdisc"]
    assert [row[1:3] for row in rows] == [
        ["shake", "pfifo_fast"], ["shake", "fq_codel"], ["mptcp", "–"],
    ]  # fmt: skip


def test_a_goodput_of_zero(tmp_path: Path) -> None:
    """No share of it can be given; two that are always 0 are equivalent."""
    for other, said in (([0.0, 0.0], "equivalent"), ([1.0, 2.0], "not shown")):
        left = written(tmp_path / "a", "qemu", [0.0, 0.0])
        right = written(tmp_path / "b", "uml", other)
        found = [compare_engines.cells(read_records(path)) for path in (left, right)]
        _, row = compare_engines.table(*found)
        assert row[1] == "0.000" and row[3].endswith(" (–)") and row[-1] == said


def test_other_columns_of_the_table(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["compare-engines", *both, "--columns", "RTT ms,goodput Mbit/s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    same = "| star: RTT ms | 500.000 | 500.000 | +0.000 (+0.0%) | ± 0.000 | equivalent |"
    assert lines[2] == same and lines[3].startswith("| star | 9.250 |")


def test_headings_with_commas(both: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A heading may have a comma, spaces around one do not matter, a column is compared once."""
    known = ["AP queue, packets", "AP queue", "RTT ms", "Jain"]
    for text, wanted in (
        ("AP queue, packets", known[:1]),
        ("Jain,AP queue, packets, RTT ms", ["Jain", "AP queue, packets", "RTT ms"]),
        ("AP queue,Jain, Jain", ["AP queue", "Jain"]),
    ):
        assert compare_engines.separate(text, known) == wanted
    for text in ("beauty", "", "RTT ms,", "RTT ms,packets"):
        assert main.main(["compare-engines", *both, "--columns", text]) == 2
        said = f"no column '{text.rpartition(',')[2]}'; choose from: goodput Mbit/s,"
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("engines", [("qemu", "qemu"), ("qemu", "uml")])
def test_a_seed_counts_once(
    tmp_path: Path, engines: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of the same runs twice, or of two engines: ten seeds would be five."""
    one, other = (written(tmp_path / f"{n}", name, A) for n, name in enumerate(engines))
    both = tmp_path / "both"
    both.write_text(one.read_text() + other.read_text())
    assert main.main(["compare-engines", str(both), str(one)]) == 2
    assert "has star with the same settings and seed 1 twice" in capsys.readouterr().err


def test_records_of_a_scenario_that_is_gone(tmp_path: Path) -> None:
    records = read_records(written(tmp_path / "a", "qemu", A))
    found = compare_engines.cells([record | {"scenario": "gone"} for record in records])
    _, row = compare_engines.table(found, found)
    assert row[-1] == "equivalent"


def test_nothing_in_common_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = written(tmp_path / "a", "qemu", A)
    for right in (written(tmp_path / "b", "uml", A, ber=0.0), tmp_path / "none"):
        assert main.main(["compare-engines", str(left), str(right)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(LabError, match="two seeds or more"):
        compare_engines.table({}, {})


RESULTS = ROOT / "docs" / "results"
PAGE = (RESULTS / "engines.md").read_text()


def test_the_page_counts_the_rows_of_its_commands() -> None:
    """Those of the table, which test_result_tables.py compares with what the commands print."""
    found = re.findall(r"^\| [\w-]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.M)
    assert len(found) >= 20
    rows, same, other, neither = (sum(map(int, numbers)) for numbers in zip(*found, strict=True))
    said = f"**Of {rows} rows {same} are equivalent, {other or 'none'} is different**, and for "
    assert f"{said}{neither} " in PAGE


def test_what_the_page_says_of_single_runs() -> None:
    """bbr's run with a timeout, and the smallest RTTs."""
    records = read_records(RESULTS / "engines-open.jsonl")
    bbr = [r for r in records if r["cc"] == "bbr" and r["set"]["ber"] == 1e-5]
    odd, *others = sorted((r["total_goodput_bps"] / 1e6, r["seed"]) for r in bbr)
    assert (f"{odd[0]:.2f}", odd[1]) == ("0.56", 3)
    assert len(others) == 4 and f"{fmean(goodput for goodput, _ in others):.2f}" == "6.39"
    least = sorted(
        r["flows"][0]["rtt_ms"]["min"]
        for r in (*records, *read_records(RESULTS / "engines-paper.jsonl"))
        if r["set"]["ber"] == 0
    )
    assert f"| {least[0]:.2f} to {least[-1]:.2f}, " in PAGE
    full = read_records(RESULTS / "engines-lfn-gigabit-qemu.jsonl")
    used = [
        100 * fmean(r["total_goodput_bps"] / r["limit_bps"] for r in full if r["cc"] == cc)
        for cc in ("reno", "hstcp_gentle")
    ]
    assert f"| {used[0]:.0f} and {used[1]:.0f} % | 99 to 100 % " in PAGE
    assert not any(r["queue"]["drops"] for r in full)
