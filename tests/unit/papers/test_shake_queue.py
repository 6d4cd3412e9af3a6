# SPDX-License-Identifier: GPL-2.0
"""docs/results/shake/queue.md: the queue above SHAKE, from the records beside it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import pytest

from apogee_lab.results import text
from tests.unit.papers.found import Read, Record, TextOf, goodput, joined, mean

PAGE = "results/shake/queue.md"
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
LOSSES = ("0%", "1%")


def queue_of(record: Record) -> str:
    told = record["set"]
    names = ("qdisc", "qdisc_target", "qdisc_interval", "hold", "repair")
    return QUEUES[tuple(told[name] for name in names)]  # type: ignore[index]


@pytest.fixture(scope="module")
def records(read: Read) -> list[Record]:
    return read("shake/queue.jsonl")


def runs(records: list[Record], cc: str, loss: str, queue: str) -> list[Record]:
    return [r for r in records if (r["cc"], r["set"]["loss"], queue_of(r)) == (cc, loss, queue)]


def test_the_table(page: str, records: list[Record]) -> None:
    """Means and halves of their 95 % intervals, one row per queue, algorithm and loss."""
    rows = [HEAD]
    for cc in ("cubic", "bbr", "star"):
        for loss in LOSSES:
            for queue in QUEUES.values():
                if found := runs(records, cc, loss, queue):
                    seeds = [record["seed"] for record in found]
                    assert seeds == [1, 2, 3, 4, 5] or (loss == "0%" and seeds == [1, 2])
                    cells = [text.cell([pick(r) for r in found], n) for pick, n in MEASURES]
                    rows.append([queue, cc, loss.replace("%", " %"), *cells])
    assert joined(text.as_markdown(rows, left=2)) in page


def test_what_the_page_says(read: Read, records: list[Record], page: str, text_of: TextOf) -> None:
    """Also engines.md of the drops."""
    fifo, codel, fits, off = (
        [f"{goodput(runs(records, 'cubic', loss, queue)):.2f}" for loss in LOSSES]
        for queue in (FIFO, CODEL, FITS, OFF)
    )
    drops, drops_off = (
        [f"{mean(runs(records, 'cubic', loss, q), 'shake_queue', 'drops'):.0f}" for loss in LOSSES]
        for q in (CODEL, OFF)
    )
    pings, waits = (
        [f"{mean(runs(records, 'cubic', loss, q), 'ping', 'mean_ms'):.0f}" for loss in LOSSES]
        for q in (FITS, FIFO)
    )
    bbr, star = (
        [f"{goodput(runs(records, cc, '1%', queue)):.2f}" for queue in (FIFO, CODEL, FITS)]
        for cc in ("bbr", "star")
    )
    earlier = [[r for r in read("shake/queue-before.jsonl") if r["set"]["loss"] == loss]
               for loss in LOSSES]  # fmt: skip
    assert list(map(len, earlier)) == [5, 5]
    before = [f"{goodput(found):.2f}" for found in earlier]
    for said in (
        f"CUBIC has {codel[0]} Mbit/s without loss and {codel[1]} with 1 %, with the FIFO "
        f"{fifo[0]} and {fifo[1]}. CoDel dropped {drops[0]} and {drops[1]} packets in 100 s",
        f"With `repair off` CUBIC has {off[0]} Mbit/s without loss, although CoDel drops "
        f"{drops_off[0]} packets, and {off[1]} with 1 %",
        f"CUBIC has {fits[0]} and {fits[1]} Mbit/s, and a ping takes {pings[0]} and {pings[1]} ms "
        f"instead of {waits[0]} and {waits[1]}",
        f"CUBIC had {before[0]} and {before[1]} Mbit/s in these runs, with "
        f"{mean(earlier[0], 'flows', 0, 'timeouts'):.0f} timeouts without loss",
        f"bbr has {bbr[0]} Mbit/s with the FIFO, {bbr[1]} with fq_codel's defaults and {bbr[2]} "
        f"with 900 ms and 3 s; star has {star[0]}, {star[1]} and {star[2]}.",
    ):
        assert said in page
    assert codel[0] == fifo[0]
    both = [
        fmean(r["shake_queue"]["drops"] for r in read(name) if r["set"].get("qdisc") == "fq_codel")
        for name in ("engines-multipath-qemu.jsonl", "engines-multipath.jsonl")
    ]
    assert f"{both[0]:.0f} and {both[1]:.0f} packets in 100 s" in text_of("results/engines.md")


def test_runs_without_such_drops_are_as_before(read: Read, records: list[Record]) -> None:
    again = read("shake/queue-again.jsonl")
    assert len(again) == 9
    same = ("cc", "seed", "set", "duration_s")
    for run in again:
        (before,) = (each for each in records if all(each[key] == run[key] for key in same))
        assert run["set"]["qdisc"] == FIFO
        assert run["flows"] == before["flows"] and run["losses"] == before["losses"]
