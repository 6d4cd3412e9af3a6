# SPDX-License-Identifier: GPL-2.0
"""docs/results/shake/queue.md: the queue above SHAKE, from the records beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.results import text
from tests.unit.papers.found import TextOf

Record = dict[str, Any]
FIFO, CODEL, FITS = "pfifo_fast", "fq_codel, its defaults", "fq_codel, 900 ms, 3 s"
OFF = f"{CODEL}; `repair off`"
#: Of a record's settings the name of the queue in the table, in its order.
QUEUES = {
    ("pfifo_fast", "0s", "0s", "none", 1): FIFO,
    ("fq_codel", "0s", "0s", "none", 1): CODEL,
    ("fq_codel", "900ms", "3s", "none", 1): FITS,
    ("fq_codel", "0s", "0s", "none", 0): OFF,
    ("fq_codel", "0s", "0s", "50ms", 1): f"{CODEL}; `queue 50ms`",
    ("fq_codel", "0s", "0s", "0s", 1): f"{CODEL}; `queue 0`",
}
HEAD = ["queue above", "cc", "loss", "goodput, Mbit/s", "dropped there", "of these CoDel",
        "retransmits", "RTT, ms", "ping, ms", "99 %"]  # fmt: skip
MEASURES: tuple[tuple[Callable[[Record], float], int], ...] = (
    (lambda r: r["total_goodput_bps"] / 1e6, 3),
    (lambda r: r["shake_queue"]["drops"], 1),
    (lambda r: r["shake_queue"]["drops"] - r["shake_queue"]["overlimit"], 1),
    (lambda r: r["flows"][0]["retransmits"], 1),
    (lambda r: r["flows"][0]["rtt_ms"]["mean"], 0),
    (lambda r: r["ping"]["mean_ms"], 0),
    (lambda r: r["ping"]["p99_ms"], 0),
)


def queue_of(record: Record) -> str:
    told = record["set"]
    names = ("qdisc", "qdisc_target", "qdisc_interval", "hold", "repair")
    return QUEUES[tuple(told[name] for name in names)]  # type: ignore[index]


def table(records: list[Record]) -> str:
    """Means and halves of their 95 % intervals, one row per queue, algorithm and loss."""
    rows = [HEAD]
    for cc in ("cubic", "bbr", "star"):
        for loss in ("0%", "1%"):
            for queue in QUEUES.values():
                found = [
                    record
                    for record in records
                    if (record["cc"], record["set"]["loss"], queue_of(record)) == (cc, loss, queue)
                ]
                if found:
                    seeds = [record["seed"] for record in found]
                    assert seeds == [1, 2, 3, 4, 5] or (loss == "0%" and seeds == [1, 2])
                    cells = [text.cell([pick(r) for r in found], n) for pick, n in MEASURES]
                    rows.append([queue, cc, loss.replace("%", " %"), *cells])
    return text.as_markdown(rows, left=2)


def read(root: Path, name: str) -> list[Record]:
    path = root / "docs" / "results" / "shake" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def records(root: Path) -> list[Record]:
    return read(root, "queue")


def test_the_table(root: Path, records: list[Record]) -> None:
    page = (root / "docs" / "results" / "shake" / "queue.md").read_text()
    assert f"\n{table(records).strip()}\n" in page


def test_only_codel_drops(records: list[Record]) -> None:
    """No queue was full; a FIFO and a target that fits drop nothing."""
    for record in records:
        queue = record["shake_queue"]
        assert queue["qdisc"] == record["set"]["qdisc"] and queue["overlimit"] == 0
        if queue_of(record) in (FIFO, FITS):
            assert queue["drops"] == 0


def test_what_the_page_says_of_cubic(root: Path, records: list[Record], text_of: TextOf) -> None:
    """Also shake.md's, and engines.md's drops."""

    def mean(queue: str, loss: str, pick: Callable[[Record], float]) -> float:
        found = [r for r in records if (r["cc"], r["set"]["loss"]) == ("cubic", loss)]
        return fmean(pick(r) for r in found if queue_of(r) == queue)

    def goodputs(queue: str) -> tuple[float, float]:
        none, some = (
            mean(queue, loss, lambda r: r["total_goodput_bps"]) / 1e6 for loss in ("0%", "1%")
        )
        return none, some

    def pings(queue: str) -> tuple[float, float]:
        none, some = (mean(queue, loss, lambda r: r["ping"]["mean_ms"]) for loss in ("0%", "1%"))
        return none, some

    def drops(loss: str) -> float:
        return mean(CODEL, loss, lambda r: r["shake_queue"]["drops"])

    fifo, codel, fits, off = map(goodputs, (FIFO, CODEL, FITS, OFF))
    says = [
        f"CUBIC has {codel[0]:.2f} Mbit/s without loss and {codel[1]:.2f} with 1 %, with the FIFO "
        f"{fifo[0]:.2f} and {fifo[1]:.2f}. CoDel dropped {drops('0%'):.0f} and {drops('1%'):.0f} "
        "packets in 100 s",
        f"With `repair off` CUBIC has {off[0]:.2f} Mbit/s without loss, although CoDel drops "
        f"{mean(OFF, '0%', lambda r: r['shake_queue']['drops']):.0f} packets, "
        f"and {off[1]:.2f} with 1 %",
        f"CUBIC has {fits[0]:.2f} and {fits[1]:.2f} Mbit/s, and a ping takes "
        f"{pings(FITS)[0]:.0f} and {pings(FITS)[1]:.0f} ms instead of {pings(FIFO)[0]:.0f} and "
        f"{pings(FIFO)[1]:.0f}",
    ]
    results = root / "docs" / "results"
    page = text_of("results/shake/queue.md")
    for said in says:
        assert said in page, said
    shake = text_of("shake.md")
    said = (
        f"without loss CUBIC over two paths keeps its {fifo[0]:.2f} Mbit/s, with 1 % of loss it "
        f"has {codel[1]:.2f} instead of {fifo[1]:.2f};"
    )
    assert said in shake and round(codel[0], 2) == round(fifo[0], 2)
    both = []
    for engine in ("-qemu", ""):
        lines = (results / f"engines-multipath{engine}.jsonl").read_text().splitlines()
        runs = [r for r in map(json.loads, lines) if r["set"].get("qdisc") == "fq_codel"]
        both.append(fmean(r["shake_queue"]["drops"] for r in runs))
    assert f"{both[0]:.0f} and {both[1]:.0f} packets in 100 s" in " ".join(
        (results / "engines.md").read_text().split()
    )


def test_what_the_page_says_of_the_agent_before(root: Path, text_of: TextOf) -> None:
    none, some = (
        [r for r in read(root, "queue-before") if r["set"]["loss"] == loss] for loss in ("0%", "1%")
    )
    assert len(none) == len(some) == 5
    rates = [fmean(r["total_goodput_bps"] for r in found) / 1e6 for found in (none, some)]
    timeouts = fmean(r["flows"][0]["timeouts"] for r in none)
    page = text_of("results/shake/queue.md")
    assert (
        f"CUBIC had {rates[0]:.2f} and {rates[1]:.2f} Mbit/s in these runs, with {timeouts:.0f} "
        "timeouts without loss" in page
    )


def test_runs_without_such_drops_are_as_before(root: Path, records: list[Record]) -> None:
    again = read(root, "queue-again")
    assert len(again) == 9
    for run in again:
        (before,) = (
            each
            for each in records
            if all(each[key] == run[key] for key in ("cc", "seed", "set", "duration_s"))
        )
        assert run["set"]["qdisc"] == FIFO
        assert run["flows"] == before["flows"] and run["losses"] == before["losses"]


def test_what_the_page_says_of_bbr_and_star(records: list[Record], text_of: TextOf) -> None:
    def said(cc: str) -> list[str]:
        found = [r for r in records if (r["cc"], r["set"]["loss"]) == (cc, "1%")]
        return [
            f"{fmean(r['total_goodput_bps'] for r in found if queue_of(r) == queue) / 1e6:.2f}"
            for queue in (FIFO, CODEL, FITS)
        ]

    bbr, star = said("bbr"), said("star")
    page = text_of("results/shake/queue.md")
    assert (
        f"bbr has {bbr[0]} Mbit/s with the FIFO, {bbr[1]} with fq_codel's defaults and {bbr[2]} "
        f"with 900 ms and 3 s; star has {star[0]}, {star[1]} and {star[2]}." in page
    )
