# SPDX-License-Identifier: GPL-2.0
"""Drawings show all that the committed records hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.papers import kept
from apogee_lab.papers.catalogue import choose
from apogee_lab.papers.drawings import DRAWN
from apogee_lab.results.finished import FinishedRun
from apogee_lab.results.plots import plt

#: Drawings that need no more of a run than its record.
FROM_RECORDS = (
    "goodput_over_ber", "flows_over_ber", "groups_over_n", "model_over_delay", "stations_over_n",
    "index_over_start",
)  # fmt: skip


@pytest.mark.parametrize("paper", ["star", "gentle", "compound"])
def test_no_mean_lies_outside(root: Path, tmp_path: Path, paper: str) -> None:
    drawn = 0
    for name, found in kept.read(root / "docs/results/records" / f"{paper}.jsonl.xz").items():
        (choice,) = choose([name])
        if choice.figure.draw not in FROM_RECORDS:
            continue
        runs = {v: [FinishedRun(tmp_path, {}, record) for record in found[v]] for v in found}
        canvas = DRAWN[choice.figure.draw](choice.figure, runs)
        for axes in canvas.axes:
            low, high = axes.get_ylim()
            means = [y for bars in axes.containers for y in bars.lines[0].get_ydata()]
            assert means and min(means) >= low and max(means) <= high, (
                name,
                axes.get_title("left"),
            )
            drawn += 1
        plt.close(canvas)
    assert drawn > 5


def test_the_limit_depends_on_contention(root: Path, tmp_path: Path) -> None:
    """23.92 Mbit/s for any number of stations; with Bianchi's contention less and less."""
    found = kept.read(root / "docs/results/records/compound.jsonl.xz")["compound-2"]
    (choice,) = choose(["compound-2"])
    runs = {v: [FinishedRun(tmp_path, {}, record) for record in found[v]] for v in found}
    canvas = DRAWN["stations_over_n"](choice.figure, runs)
    limits = [
        line.get_ydata()
        for axes in canvas.axes
        for line in axes.get_lines()
        if line.get_label() == "limit, no ACK lost"
    ]
    plt.close(canvas)
    *rows, bianchi = limits
    assert all(list(row) == pytest.approx([23.92] * 5, abs=0.01) for row in rows)
    assert list(bianchi) == pytest.approx([21.61, 20.80, 19.91], abs=0.01)
