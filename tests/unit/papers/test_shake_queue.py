# SPDX-License-Identifier: GPL-2.0
"""docs/results/shake/queue.md: the queue above SHAKE, from the records beside it."""

from __future__ import annotations

from statistics import fmean

import pytest

from tests.unit.papers.found import Read, Record, goodput, mean

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


def test_what_the_queues_cost(read: Read, records: list[Record]) -> None:
    """And what CoDel drops by both engines."""
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
    assert (codel, fifo, fits, off) == (
        ["0.70", "0.60"], ["0.70", "0.69"], ["0.70", "0.69"], ["0.70", "0.53"]
    )  # fmt: skip
    assert (drops, drops_off) == (["51", "60"], ["51", "13"])
    assert (pings, waits) == (["484", "491"], ["546", "551"])
    assert (bbr, star) == (["0.66", "0.66", "0.66"], ["0.68", "0.61", "0.68"])
    assert codel[0] == fifo[0]
    both = [
        fmean(r["shake_queue"]["drops"] for r in read(name) if r["set"].get("qdisc") == "fq_codel")
        for name in ("engines-multipath-qemu.jsonl", "engines-multipath.jsonl")
    ]
    assert [f"{drops:.0f}" for drops in both] == ["55", "59"]


def test_runs_without_such_drops_are_as_before(read: Read, records: list[Record]) -> None:
    again = read("shake/queue-again.jsonl")
    assert len(again) == 9
    same = ("cc", "seed", "set", "duration_s")
    for run in again:
        (before,) = (each for each in records if all(each[key] == run[key] for key in same))
        assert run["set"]["qdisc"] == FIFO
        assert run["flows"] == before["flows"] and run["losses"] == before["losses"]


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_fast_link_with_a_short_queue(read: Read, way: str) -> None:
    """bbr has less over the tunnel, CUBIC more."""
    found = {
        (cc, via): goodput(
            r
            for r in read("shake/fast.jsonl")
            if (r["cc"], r["set"]["direction"], r["set"]["via"]) == (cc, way, via)
        )
        for cc in ("bbr", "cubic")
        for via in ("path1", "plain")
    }
    assert found["bbr", "path1"] < found["bbr", "plain"]
    assert found["cubic", "path1"] > found["cubic", "plain"]
