# SPDX-License-Identifier: GPL-2.0
"""docs/results/satellite.md says what the records beside it give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.measures.record import read_records
from apogee_lab.results.statistics import Estimate, ratio_of

TABLES = (
    "open", "paper", "paper-20", "compress", "slowreturn", "blackout-peers", "blackout-stack",
    "aen", "aen-bare", "data-blackout", "coexist", "first", "pacing", "pacing-short",
)  # fmt: skip


@pytest.fixture(scope="module")
def results(root: Path) -> Path:
    return root / "docs" / "results"


@pytest.fixture(scope="module")
def page(results: Path) -> str:
    return (results / "satellite.md").read_text()


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main.main(["table", "--format", "md", *argv]) == 0
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", TABLES)
def test_tables(results: Path, page: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, str(results / f"{name}.jsonl")) in page


@pytest.mark.parametrize("name", ["open", "paper"])
def test_star_relative_to_the_others(
    results: Path, page: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "--compare", "star", str(results / f"{name}.jsonl")) in page


def gain(records: list[dict[str, Any]], over: str, ber: float) -> Estimate:
    """star's goodput over another's, less one, in per cent, from runs of the same seeds."""
    of = {
        cc: {r["seed"]: r["total_goodput_bps"] for r in records if (r["cc"], r["set"]["ber"]) == at}
        for cc, at in ((cc, (cc, ber)) for cc in ("star", over))
    }
    seeds = of["star"].keys() & of[over].keys()
    found = ratio_of(*([of[cc][seed] for seed in seeds] for cc in ("star", over)))
    return found.mapped(lambda ratio: 100 * (ratio - 1))


def text(found: Estimate, decimals: int = 1) -> str:
    low, high = found.bounds or (0.0, 0.0)
    return f"{found.value:+.1f} % ({low:.{decimals}f} to {high:.{decimals}f})"


def test_where_star_is_above(results: Path, page: str) -> None:
    """The paper's windows: above each of the others in the mean; where not beyond chance."""
    prose = " ".join(page.split())
    records = read_records(results / "paper.jsonl")
    others = {record["cc"] for record in records} - {"star", "constant"}
    found = {
        (cc, ber): gain(records, cc, ber) for cc in others for ber in (0, 1e-8, 1e-7, 1e-6, 1e-5)
    }
    assert all(each.value > 0 for each in found.values())
    chance = {place for place, each in found.items() if each.bounds and each.bounds[0] <= 0}
    assert chance == {("j", 1e-7), ("westwood", 1e-8)}
    assert f"over j at 1e-7, {text(found['j', 1e-7])}, and over westwood at 1e-8, " in prose
    assert f"at 1e-8, {text(found['westwood', 1e-8], 0)}; over j at 1e-6 " in prose
    assert f"reaches zero, {text(found['j', 1e-6])}." in prose
    twenty = gain(read_records(results / "paper-20.jsonl"), "j", 1e-7)
    assert f"{text(twenty)}. Relative to `constant`" in prose
