# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/moving-gentle.md show beside its tables."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from tests.unit.papers.found import Read, Record, runs, surely_more

OURS = "hstcp_gentle"
PEERS = ("cubic", "bbr", "highspeed", "reno")

#: Rows of the first table: file, its settings.
ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing moves": ("events", {"event": "none"}),
    "RTT 140 → 280 ms at 12 s": ("events", {"event": "delay:130ms@12s"}),
    "RTT 140 → 70 ms at 12 s": ("events", {"event": "delay:25ms@12s"}),
    "100 → 50 Mbit/s at 12 s": ("events", {"event": "rate:50mbit@12s"}),
    "50 → 100 Mbit/s at 12 s": ("events", {"event": "rate:50mbit@0s:12s"}),
    "1 s without anything at 12 s": ("events", {"event": "outage@12s:1s"}),
    "queue 83 packets": ("short", {}),
    "policer, 1250 kB deep": ("policer", {}),
    "ACK jitter, mean 20, deviation 10 ms": ("jitter", {}),
    "bursts by time, 5 ms each 5 s in the mean": ("bursts", {}),
}
#: Rows of the second table.
BESIDE = ("nothing moves", "RTT 140 → 280 ms at 12 s", "100 → 50 Mbit/s at 12 s")


def total(record: Record) -> float:
    """Mbit/s."""
    return record["total_goodput_bps"] / 1e6


def fast(record: Record) -> float:
    return record["groups"]["fast"]["goodput_bps"] / 1e6


def reno(record: Record) -> float:
    return record["groups"]["reno"]["goodput_bps"] / 1e6


def drops(record: Record) -> float:
    return record["queue"]["drops"]


def alone(read: Read, name: str, cc: str) -> list[Record]:
    file, where = ALONE[name]
    found = runs(read(f"gentle/moving/{file}.jsonl"), cc, 5, reno=0, **where)
    assert all(len(record["flows"]) == 2 for record in found)
    return found


def times_the_drops(read: Read, name: str) -> float:
    """How many times our drops bbr has."""
    ours, bbr = (fmean(map(drops, alone(read, name, cc))) for cc in (OURS, "bbr"))
    return bbr / ours


def test_who_has_more(read: Read) -> None:
    """What both pages say."""
    more = {
        cc: {
            name.partition(" at ")[0]
            for name in ALONE
            if surely_more(alone(read, name, cc), alone(read, name, OURS), total)
        }
        for cc in PEERS
    }
    longer, faster, outage = "RTT 140 → 280 ms", "50 → 100 Mbit/s", "1 s without anything"
    assert more["cubic"] == {longer, faster, outage}
    assert more["highspeed"] == more["cubic"] | {
        "nothing moves", "RTT 140 → 70 ms", "ACK jitter, mean 20, deviation 10 ms",
    }  # fmt: skip
    assert more["bbr"] == {longer, outage, "queue 83 packets", "policer, 1250 kB deep"}
    assert more["reno"] == set()
    for name in ALONE:
        own, plain = (alone(read, name, cc) for cc in (OURS, "reno"))
        assert surely_more(own, plain, total) != name.startswith(("policer", "ACK jitter"))
    times = [
        times_the_drops(read, name) for name in ALONE if name.partition(" at ")[0] in more["bbr"]
    ]
    assert (f"{min(times):.1f}", f"{max(times):.0f}") == ("5.5", "71")


def test_a_short_queue(read: Read) -> None:
    """Where nothing moves it has less of a queue than CUBIC and HighSpeed."""
    ours, *others = (
        fmean(record["queue"]["mean_bytes"] for record in alone(read, "nothing moves", cc))
        for cc in (OURS, "cubic", "highspeed")
    )
    assert ours < 0.9 * min(others)


def test_drops_of_slow_start(read: Read) -> None:
    found = alone(read, "nothing moves", OURS)
    early = [record["queue"]["early_drops"] for record in found]
    assert sum(early) == sum(map(drops, found))


def beside(read: Read, name: str, cc: str) -> list[Record]:
    _, where = ALONE[name]
    return runs(read("gentle/moving/beside.jsonl"), cc, 5, reno=2, **where)


def test_what_reno_keeps(read: Read) -> None:
    """In the mean more beside ours than beside the two that grow faster."""
    for name in BESIDE:
        ours, *others = (
            fmean(map(reno, beside(read, name, cc))) for cc in (OURS, "highspeed", "cubic")
        )
        assert ours > max(others)
