# SPDX-License-Identifier: GPL-2.0
"""docs/results/satellite.md says what the records beside it give."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.commands import main
from apogee_lab.results.statistics import Estimate, ratio_of
from tests.unit.papers.found import Read, Record, joined

PAGE = "results/satellite.md"
TABLES = (
    "open", "paper", "paper-20", "compress", "slowreturn", "blackout-peers", "blackout-stack",
    "aen", "aen-bare", "data-blackout", "coexist", "first", "pacing", "pacing-short",
)  # fmt: skip


@pytest.mark.parametrize("asked", [*TABLES, "--compare star open", "--compare star paper"])
def test_tables(root: Path, page: str, asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    *options, name = asked.split()
    path = root / "docs" / "results" / f"{name}.jsonl"
    assert main.main(["table", "--format", "md", *options, str(path)]) == 0
    assert joined(capsys.readouterr().out) in page


def gain(records: list[Record], over: str, ber: float) -> Estimate:
    """star's goodput over another's, less one, in per cent, from runs of the same seeds."""
    ours, theirs = (
        {r["seed"]: r["total_goodput_bps"] for r in records if (r["cc"], r["set"]["ber"]) == at}
        for at in (("star", ber), (over, ber))
    )
    seeds = ours.keys() & theirs.keys()
    found = ratio_of(*([of[seed] for seed in seeds] for of in (ours, theirs)))
    return found.mapped(lambda ratio: 100 * (ratio - 1))


def text(found: Estimate, decimals: int = 1) -> str:
    low, high = found.bounds or (0.0, 0.0)
    return f"{found.value:+.1f} % ({low:.{decimals}f} to {high:.{decimals}f})"


def test_where_star_is_above(read: Read, page: str) -> None:
    """The paper's windows: above each of the others in the mean; where not beyond chance."""
    records = read("paper.jsonl")
    others = {record["cc"] for record in records} - {"star", "constant"}
    found = {
        (cc, ber): gain(records, cc, ber) for cc in others for ber in (0, 1e-8, 1e-7, 1e-6, 1e-5)
    }
    assert all(each.value > 0 for each in found.values())
    chance = {place for place, each in found.items() if each.bounds and each.bounds[0] <= 0}
    assert chance == {("j", 1e-7), ("westwood", 1e-8)}
    assert f"over j at 1e-7, {text(found['j', 1e-7])}, and over westwood at 1e-8, " in page
    assert f"at 1e-8, {text(found['westwood', 1e-8], 0)}; over j at 1e-6 " in page
    assert f"reaches zero, {text(found['j', 1e-6])}." in page
    twenty = gain(read("paper-20.jsonl"), "j", 1e-7)
    assert f"{text(twenty)}. Relative to `constant`" in page
