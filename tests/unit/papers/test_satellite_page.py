# SPDX-License-Identifier: GPL-2.0
"""What docs/results/satellite.md says of the paper's windows."""

from __future__ import annotations

from apogee_lab.results.statistics import Estimate, ratio_of
from tests.unit.papers.found import Read, Record


def gain(records: list[Record], over: str, ber: float) -> Estimate:
    """star's goodput over another's, less one, in per cent, from runs of the same seeds."""
    ours, theirs = (
        {r["seed"]: r["total_goodput_bps"] for r in records if (r["cc"], r["set"]["ber"]) == at}
        for at in (("star", ber), (over, ber))
    )
    seeds = ours.keys() & theirs.keys()
    found = ratio_of(*([of[seed] for seed in seeds] for of in (ours, theirs)))
    return found.mapped(lambda ratio: 100 * (ratio - 1))


def test_where_star_is_above(read: Read) -> None:
    """With errors above each of the others in the mean; where not beyond chance."""
    records = read("paper.jsonl")
    others = {record["cc"] for record in records} - {"star", "constant"}
    found = {(cc, ber): gain(records, cc, ber) for cc in others for ber in (1e-8, 1e-7, 1e-6, 1e-5)}
    assert all(each.value > 0 for each in found.values())
    assert all(gain(records, cc, 0).value > 0 for cc in others - {"hybla"})
    chance = {place for place, each in found.items() if each.bounds and each.bounds[0] <= 0}
    assert chance == {("j", 1e-6), ("j", 1e-5), ("hybla", 1e-7), ("westwood", 1e-8)}
    twenty = gain(read("paper-20.jsonl"), "j", 1e-7)
    assert twenty.bounds and twenty.bounds[0] > 0 and round(twenty.value, 1) == 4.1
