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


@pytest.mark.parametrize("ber", BERS)
def test_star_has_most(records: Read, ber: str) -> None:
    """Seed by seed beside bbr, and in the mean beside CUBIC."""
    for place in PLACES:
        every = (rates(records, cc, *place, BERS[ber]) for cc in ("star", "bbr", "cubic"))
        star, bbr, cubic = every
        assert all(ours > theirs for ours, theirs in zip(star, bbr, strict=True)), place
        assert fmean(star) > fmean(cubic), place


def test_totals_of_two_flows(records: Read) -> None:
    totals = {
        mix: [goodput(pair(records, mix, name)) for name in QUEUES]
        for mix in ("cubic+cubic", "reno+reno", "star+cubic")
    }
    assert [f"{from_to(managed, 1)} of {tail:.1f}" for tail, *managed in totals.values()] == [
        "7.1 to 7.7 of 8.6", "5.1 to 6.5 of 7.5", "7.8 to 8.9 of 9.2"
    ]  # fmt: skip


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
    assert shares(stars, FEW[1:], 1e-7) == ".82 to .97"
    assert (either("cubic+cubic"), either("reno+reno")) == ("3.6 to 3.8", "2.6 to 3.2")
