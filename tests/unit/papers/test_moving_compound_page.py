# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/moving-compound.md show beside its tables."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

from apogee_lab.results.text import cell
from tests.unit.papers.found import Read, Record, runs, surely_more

OURS = "compound_plus"

#: Rows of the first table, stations at an access point: file, its settings.
RADIO: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing moves": ("still", {"phase": "fixed"}),
    "ACKs at random times of a round": ("still", {"phase": "random"}),
    "they come within 20 s": ("come", {}),
    "radio of 12 Mbit/s": ("slow-radio", {}),
    "wire of 10 Mbit/s, slower than the radio": ("slow-wire", {}),
    "wire of 150 ms": ("long-wire", {}),
}
#: Rows of the second table, three flows on a wire.
WIRE: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing moves": ("events", {"event": "none"}),
    "RTT 124 → 244 ms at 12 s": ("events", {"event": "delay:120ms@12s"}),
    "20 → 10 Mbit/s at 12 s": ("events", {"event": "rate:10mbit@12s"}),
    "10 → 20 Mbit/s at 12 s": ("events", {"event": "rate:10mbit@0s:12s"}),
    "1 s without anything at 12 s": ("events", {"event": "outage@12s:1s"}),
    "policer, 150 kB deep": ("policer", {}),
    "ACK jitter, mean 20, deviation 10 ms": ("jitter", {}),
    "bursts by time, 10 ms each 5 s in the mean": ("bursts", {}),
}


#: Files of a table, peers, number of flows.
TABLES = {"radio": (RADIO, ("cubic", "reno", "bbr"), 6), "wire": (WIRE, ("cubic", "bbr"), 3)}


def total(record: Record) -> float:
    """Mbit/s."""
    return record["total_goodput_bps"] / 1e6


def rtt(record: Record) -> float:
    """Mean of the flows, ms."""
    return fmean(flow["rtt_ms"]["mean"] for flow in record["flows"])


def jain(record: Record) -> float:
    return record["jain"]


def earlier(record: Record) -> float:
    """More is better."""
    return -rtt(record)


def of(read: Read, table: str, name: str) -> dict[str, list[Record]]:
    """The runs by algorithm, ours first."""
    rows, peers, flows = TABLES[table]
    file, where = rows[name]
    records = read(f"compound/moving/{file}.jsonl")
    found = {cc: runs(records, cc, 5, **where) for cc in (OURS, *peers)}
    assert all(len(record["flows"]) == flows for some in found.values() for record in some)
    return found


def better(read: Read, table: str, cc: str, measure: Callable[[Record], float]) -> set[str]:
    """Rows in which a peer is surely better."""
    names, _, _ = TABLES[table]
    found = {name: of(read, table, name) for name in names}
    return {name for name, some in found.items() if surely_more(some[cc], some[OURS], measure)}


def test_who_is_better_beside_a_radio(read: Read) -> None:
    slow = {"radio of 12 Mbit/s", "wire of 10 Mbit/s, slower than the radio"}
    assert better(read, "radio", "cubic", total) == better(read, "radio", "reno", total)
    assert better(read, "radio", "cubic", total) == set(RADIO)
    assert better(read, "radio", "bbr", total) == set(RADIO) - slow
    assert not better(read, "radio", "cubic", earlier) | better(read, "radio", "reno", earlier)
    assert better(read, "radio", "bbr", earlier) == {"wire of 10 Mbit/s, slower than the radio"}
    for name in RADIO:
        assert fmean(map(jain, of(read, "radio", name)[OURS])) > 0.995
    some = of(read, "radio", "wire of 10 Mbit/s, slower than the radio")
    assert min(fmean(map(rtt, some[cc])) for cc in ("cubic", "reno")) > 2000


def test_who_is_better_on_a_wire(read: Read) -> None:
    assert set(WIRE) - better(read, "wire", "cubic", total) == {
        "bursts by time, 10 ms each 5 s in the mean"
    }
    moves = {"20 → 10 Mbit/s at 12 s", "10 → 20 Mbit/s at 12 s"}
    assert set(WIRE) - better(read, "wire", "bbr", total) == moves
    for name in WIRE:
        ours, *others = of(read, "wire", name).values()
        lower = [fmean(map(rtt, ours)) < fmean(map(rtt, some)) for some in others]
        assert all(lower) or name.startswith("policer")
        assert all(fmean(map(jain, ours)) >= fmean(map(jain, some)) for some in others)


def test_a_longer_path(read: Read) -> None:
    found = runs(read("compound/moving/longer.jsonl"), OURS, 5)
    assert {record["duration_s"] for record in found} == {120.0}
    assert cell(list(map(total, found)), 2) == "13.56 ± 0.53"
    # What is left of 30 s for the 18 after the change.
    before, both = (
        fmean(map(total, of(read, "wire", name)[OURS]))
        for name in ("nothing moves", "RTT 124 → 244 ms at 12 s")
    )
    assert (30 * both - 12 * before) / 18 < 20 / 2
    slow = of(read, "radio", "wire of 10 Mbit/s, slower than the radio")
    assert round(fmean(map(rtt, slow["cubic"])) / fmean(map(rtt, slow[OURS]))) == 13
