# SPDX-License-Identifier: GPL-2.0
"""Drawings of all papers' figures show all that the committed records hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.papers.catalogue import PAPERS, choose
from apogee_lab.papers.drawings import DRAWN
from apogee_lab.results.finished import FinishedRun
from apogee_lab.results.plots import plt
from tests.unit.lab import raw_folders
from tests.unit.papers.found import Figures


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all drawings over time are made from."""
    send = raw_folders.send_log()
    send["info"]["snd_mss"] = 1448
    send["fields"] = [*send["fields"], "unacked", "sacked", "lost", "retrans"]
    send["samples"] = [[*sample, sample[1], 0, 0, 0] for sample in send["samples"]]
    return raw_folders.write(
        tmp_path_factory.mktemp("raw"),
        raw_folders.bins((10.0, 90.0, 1000)),
        send=send,
        events="ack_blackout on 55.0\n",
    )


def drawn(figures: Figures, name: str, raw: Path = Path()) -> Any:
    """The canvas of a figure."""
    (choice,) = choose([name])
    runs: dict[str, list[FinishedRun]] = {}
    for variant, records in figures(name).items():
        for record in records:
            flows = [{"name": "flow1", "port": 5201, "cc": cc} for cc in record["cc"].split("+")]
            found = FinishedRun(raw, raw_folders.meta(flows=flows), record)
            runs.setdefault(variant, []).append(found)
    return DRAWN[choice.figure.draw](choice.figure, runs)


def every() -> Iterator[Any]:
    """All figures; one of each kind of drawing in `make check`."""
    seen: set[str] = set()
    for choice in choose(list(PAPERS)):
        marks = pytest.mark.deep if choice.figure.draw in seen else ()
        seen.add(choice.figure.draw)
        yield pytest.param(choice.name, marks=marks)


@pytest.mark.parametrize("name", every())
def test_no_mean_lies_outside(figures: Figures, raw: Path, name: str) -> None:
    canvas = drawn(figures, name, raw)
    assert canvas.axes
    for axes in canvas.axes:
        low, high = axes.get_ylim()
        bars = [each for each in axes.containers if hasattr(each, "lines")]
        means = [y for each in bars for y in each.lines[0].get_ydata()]
        assert axes.has_data() and all(low <= mean <= high for mean in means), axes.get_title(
            "left"
        )
    plt.close(canvas)


@pytest.mark.parametrize("name", [n for n in PAPERS["shake"].figures if n != "10"])
def test_a_panel_for_each_chart(figures: Figures, name: str) -> None:
    canvas = drawn(figures, f"shake-{name}")
    for axes, chart in zip(
        canvas.axes, PAPERS["shake"].figures[name].options["charts"], strict=True
    ):
        assert axes.get_title(loc="left") == chart.title
        shown = [text.get_text() for text in axes.get_legend().get_texts()]
        assert shown == list(chart.lines)
    plt.close(canvas)


def test_the_limit_depends_on_contention(figures: Figures) -> None:
    """23.92 Mbit/s for any number of stations; with Bianchi's contention less and less."""
    canvas = drawn(figures, "compound-2")
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
