# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/aqm show beside the page's tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import product
from statistics import fmean
from typing import Any

import pytest

from tests.unit.papers.found import (
    Read,
    Record,
    from_to,
    goodput,
    mean,
    runs,
)

#: Queues: their aqm and the flows' tcp_ecn.
QUEUES = {
    "tail drop": ("none", 0),
    "fq_codel": ("fq_codel", 0),
    "fq_codel, ECN": ("fq_codel", 1),
    "cake": ("cake", 0),
    "cake, ECN": ("cake", 1),
}
RTTS = {"100 ms": "0s", "500 ms": "500ms"}
BERS = {"0": 0.0, "1e-6": 1e-6}
FEW = ("tail drop", "fq_codel", "fq_codel, ECN")
#: Places in a record.
RTT, AGAIN = ("flows", 0, "rtt_ms", "mean"), ("flows", 0, "retransmits")


def told(name: str) -> dict[str, Any]:
    """Settings of a queue."""
    aqm, ecn = QUEUES[name]
    return {"aqm": aqm, "tcp_ecn": ecn}


@pytest.fixture(scope="module")
def records(read: Read) -> Read:
    """Reads records; those that are older than AQMs have none."""

    def of(name: str) -> list[Record]:
        defaults = {"aqm": "none", "aqm_rtt": "0s"}
        return [record | {"set": defaults | record["set"]} for record in read(name)]

    return functools.cache(of)


def alone(records: Read, cc: str, **settings: Any) -> list[Record]:
    name = "open.jsonl" if settings["aqm"] == "none" else "aqm/alone.jsonl"
    return runs(records(name), cc, 5, **settings)


def pair(records: Read, mix: str, name: str, ber: float = 0.0) -> list[Record]:
    """The runs of two flows with a queue of a tenth of a product."""
    tail = ("sharing-star.jsonl", "sharing-others.jsonl")
    files = tail if name == "tail drop" else ("aqm/shared.jsonl",)
    every = [record for file in files for record in records(file)]
    return runs(every, mix, 5, ber=ber, queue="62.5kB", **told(name))


def share(records: Read, mix: str, name: str, ber: float = 0.0) -> float:
    """What the second flow gets, relative to one beside its own kind."""
    second = mix.partition("+")[2]
    twins = pair(records, f"{second}+{second}", name, ber)
    own = fmean(goodput(twins, n) for n in (0, 1))
    return round(goodput(pair(records, mix, name, ber), 1) / own, 2)


# --- sentences --------------------------------------------------------------------------------

#: Places of a lone flow: AQM, its RTT, ECN.
PLACES = list(product(("fq_codel", "cake"), RTTS, (0, 1)))


def rates(records: Read, cc: str, aqm: str, rtt: str, ecn: int, ber: float) -> list[float]:
    """Goodputs in Mbit/s of one flow, by seed."""
    found = alone(records, cc, aqm=aqm, aqm_rtt=RTTS[rtt], tcp_ecn=ecn, ber=ber)
    return [record["total_goodput_bps"] / 1e6 for record in found]


def test_one_flow_beside_tail_drop(records: Read) -> None:
    """What star and CUBIC keep, star's RTT and what it sends again, without bit errors."""
    tail = {cc: goodput(alone(records, cc, aqm="none", ber=0.0)) for cc in ("star", "cubic")}
    found = [
        alone(records, "star", aqm=aqm, aqm_rtt=RTTS[rtt], tcp_ecn=ecn, ber=0.0)
        for aqm, rtt, ecn in PLACES
        if not ecn
    ]
    kept = [100 * goodput(each) / tail["star"] for each in found]
    *others, most = sorted(
        100 * fmean(rates(records, "cubic", *at, 0.0)) / tail["cubic"] for at in PLACES
    )
    assert (f"{min(kept):.0f}", f"{max(kept):.1f}") == ("94", "99.5")
    assert from_to(mean(each, *RTT) for each in found) == "505 to 546"
    assert from_to(mean(each, *AGAIN) for each in found) == "163 to 459"
    assert (from_to(others), f"{most:.0f}") == ("49 to 79", "91")


def test_star_ahead_of_bbr(records: Read) -> None:
    """Seed by seed at 1e-6, but with ECN at 100 ms."""
    behind = {}
    for place in PLACES:
        star, bbr = (rates(records, cc, *place, 1e-6) for cc in ("star", "bbr"))
        if pairs := [pair for pair in zip(star, bbr, strict=True) if pair[0] <= pair[1]]:
            behind[place] = pairs
    assert {place: len(pairs) for place, pairs in behind.items()} == {
        ("fq_codel", "100 ms", 1): 1,
        ("cake", "100 ms", 1): 3,
    }


def test_what_ecn_costs(records: Read) -> None:
    def cost(aqm: str, rtt: str, ber: float) -> float:
        without, ecn = (fmean(rates(records, "star", aqm, rtt, n, ber)) for n in (0, 1))
        return 100 * (1 - ecn / without)

    assert round(cost("fq_codel", "100 ms", 0.0)) == 11
    assert [round(cost(aqm, "100 ms", 1e-6)) for aqm in ("fq_codel", "cake")] == [5, 7]
    told = from_to(cost(*at) for at in product(("fq_codel", "cake"), ["500 ms"], BERS.values()))
    assert told == "1 to 3"


def test_totals_of_two_flows(records: Read) -> None:
    totals = {
        mix: [goodput(pair(records, mix, name)) for name in QUEUES]
        for mix in ("cubic+cubic", "reno+reno", "star+cubic")
    }
    assert [f"{from_to(managed, 1)} of {tail:.1f}" for tail, *managed in totals.values()] == [
        "7.1 to 7.7 of 8.6", "5.1 to 6.5 of 7.5", "7.7 to 8.8 of 9.2"
    ]  # fmt: skip
    _, fq, marked, cake, both = totals["star+cubic"]
    assert [f"{100 * (1 - a / b):.0f}" for a, b in ((marked, fq), (both, cake))] == ["9", "12"]
    least = [
        min(flow["fair_share"] for flow in record["flows"])
        for record in pair(records, "star+star", "fq_codel, ECN")
    ]
    assert from_to(least, 2) == "0.83 to 0.91"


def test_ranges_over_the_queues(records: Read) -> None:
    """Shares of the second flow, and what each has of two of a kind."""
    managed = [name for name in QUEUES if name != "tail drop"]
    stars = ("star+cubic", "star+reno")

    def shares(mixes: Iterable[str], names: Iterable[str], ber: float = 0.0) -> str:
        found = (share(records, mix, name, ber) for mix, name in product(mixes, names))
        return from_to(found, 2).replace("0.", ".")

    def either(mix: str) -> str:
        found = (pair(records, mix, name) for name in managed)
        return from_to((goodput(each) / 2 for each in found), 1)

    assert shares(["bbr+cubic"], managed) == ".77 to .87"
    assert shares(stars, FEW[1:], 1e-7) == ".85 to .98"
    assert (either("cubic+cubic"), either("reno+reno")) == ("3.6 to 3.8", "2.6 to 3.2")
