# SPDX-License-Identifier: GPL-2.0
"""docs/results/aqm.md says what the records give."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import product
from statistics import fmean
from typing import Any

import pytest

from tests.unit.papers.found import (
    Figures,
    Read,
    Record,
    from_to,
    goodput,
    mean,
    row,
    runs,
    used,
)

PAGE = "results/aqm.md"
#: Lines of the tables: the queue, its aqm and the flows' tcp_ecn.
QUEUES = {
    "tail drop": ("none", 0),
    "fq_codel": ("fq_codel", 0),
    "fq_codel, ECN": ("fq_codel", 1),
    "cake": ("cake", 0),
    "cake, ECN": ("cake", 1),
}
RTTS = {"100 ms": "0s", "500 ms": "500ms"}
BERS = {"0": 0.0, "1e-6": 1e-6}
MIXES = ("star+cubic", "star+reno", "star+star", "bbr+cubic", "cubic+cubic", "reno+reno")
LOSSY = ("star+cubic", "star+reno", "cubic+cubic", "reno+reno")
FEW = ("tail drop", "fq_codel", "fq_codel, ECN")
FAST = ("hstcp_gentle", "highspeed", "cubic", "reno")
#: Places in a record.
RTT, AGAIN = ("flows", 0, "rtt_ms", "mean"), ("flows", 0, "retransmits")
DROPS = ("queue", "drops")


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


def marks(found: list[Record]) -> float:
    return fmean(record["queue"].get("marks", 0) for record in found)


def alone(records: Read, cc: str, **settings: Any) -> list[Record]:
    name = "open.jsonl" if settings["aqm"] == "none" else "aqm/alone.jsonl"
    return runs(records(name), cc, 5, **settings)


@pytest.mark.parametrize("ber", BERS)
@pytest.mark.parametrize("rtt", RTTS)
@pytest.mark.parametrize("name", QUEUES)
def test_one_flow(records: Read, page: str, name: str, rtt: str, ber: str) -> None:
    """Goodput / mean RTT / segments sent again / marks."""
    tail = name == "tail drop"
    settings = {"ber": BERS[ber], "aqm_rtt": "0s" if tail else RTTS[rtt], **told(name)}
    cells = []
    for cc in ("star", "bbr", "cubic"):
        found = alone(records, cc, **settings)
        wait, again = mean(found, *RTT), mean(found, *AGAIN)
        cells.append(f"{goodput(found):.2f} / {wait:.0f} / {again:.0f} / {marks(found):.0f}")
    assert row(name, "–" if tail else rtt, *cells) in page


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


def shared_row(records: Read, mix: str, name: str, ber: float = 0.0) -> str:
    """What both get, the second flow's share, RTT, drops and marks."""
    found = pair(records, mix, name, ber)
    first, second = mix.split("+")
    rtt = fmean(mean(found, "flows", n, "rtt_ms", "mean") for n in (0, 1))
    cells = [f"{goodput(found, n):.2f}" for n in (0, 1)]
    cells.append("–" if first == second else f"{share(records, mix, name, ber):.2f}")
    cells += [f"{value:.0f}" for value in (rtt, mean(found, *DROPS), marks(found))]
    return row(mix, name, *cells)


PAIRS = [(*pair, 0.0) for pair in product(MIXES, QUEUES) if pair != ("star+star", "tail drop")]
PAIRS += [(*pair, 1e-7) for pair in product(LOSSY, FEW)]


@pytest.mark.parametrize(("mix", "name", "ber"), PAIRS)
def test_two_flows(records: Read, page: str, mix: str, name: str, ber: float) -> None:
    table = page.partition("bit error rate of 1e-7")[2] if ber else page
    assert shared_row(records, mix, name, ber) in table


def fast(records: Read, figures: Figures, cc: str, name: str) -> list[Record]:
    if name != "tail drop":
        every = records("aqm/lfn.jsonl")
    else:
        every = [*records("gentle/peers.jsonl"), *figures("gentle-7")["today"]]
    return runs(every, cc, n=2, **told(name), **{"hstcp_gentle.response": None})


def kept_by_ten(records: Read, figures: Figures, cc: str, name: str) -> float:
    """Per cent of what the ten get beside two of Reno."""
    ours, theirs = (
        mean(fast(records, figures, each, name), "groups", "reno", "goodput_bps")
        for each in (cc, "reno")
    )
    return 100 * ours / theirs


@pytest.mark.parametrize("cc", FAST)
@pytest.mark.parametrize("name", FEW)
def test_beside_ten_reno_senders(
    records: Read, figures: Figures, page: str, name: str, cc: str
) -> None:
    """Use of the link, both groups, the share of the ten, RTT, drops and marks."""
    found = fast(records, figures, cc, name)
    groups = (mean(found, "groups", group, "goodput_bps") / 1e6 for group in ("fast", "reno"))
    cells = [
        f"{fmean(map(used, found)):.1f}",
        *(f"{value:.0f}" for value in groups),
        f"{kept_by_ten(records, figures, cc, name):.0f}",
        f"{mean(found, *RTT):.0f}",
        f"{mean(found, 'queue', 'steady_drops'):.0f}",
        "–" if name == "tail drop" else f"{marks(found):.0f}",
    ]
    assert row(cc, name, *cells) in page


# --- sentences --------------------------------------------------------------------------------

#: Places of a lone flow: AQM, its RTT, ECN.
PLACES = list(product(("fq_codel", "cake"), RTTS, (0, 1)))


def rates(records: Read, cc: str, aqm: str, rtt: str, ecn: int, ber: float) -> list[float]:
    """Goodputs in Mbit/s of one flow, by seed."""
    found = alone(records, cc, aqm=aqm, aqm_rtt=RTTS[rtt], tcp_ecn=ecn, ber=ber)
    return [record["total_goodput_bps"] / 1e6 for record in found]


def test_one_flow_beside_tail_drop(records: Read, page: str) -> None:
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
    assert f"star keeps {min(kept):.0f} to {max(kept):.1f} % of its goodput" in page
    waits = from_to(mean(each, *RTT) for each in found).replace("to", "and")
    assert f"to between {waits} ms" in page
    assert f"It sends {from_to(mean(each, *AGAIN) for each in found)} segments again" in page
    assert f"keeps {from_to(others)} % with and without ECN, except" in page
    assert f"except {most:.0f} % with ECN behind `fq_codel` at 500 ms" in page


def test_star_ahead_of_bbr(records: Read, page: str) -> None:
    """Seed by seed at 1e-6; where it is behind, the page gives both goodputs."""
    behind = {}
    for place in PLACES:
        star, bbr = (rates(records, cc, *place, 1e-6) for cc in ("star", "bbr"))
        if pairs := [pair for pair in zip(star, bbr, strict=True) if pair[0] <= pair[1]]:
            behind[place] = pairs
    ((star, bbr),) = behind.pop(("fq_codel", "100 ms", 1))
    assert f"behind `fq_codel` ({star:.2f} Mbit/s, bbr {bbr:.2f})" in page
    three = behind.pop(("cake", "100 ms", 1))
    ours, theirs = (from_to(found, 2) for found in zip(*three, strict=True))
    assert len(three) == 3 and f"({ours}, bbr {theirs})" in page and not behind


def test_what_ecn_costs(records: Read, page: str) -> None:
    def cost(aqm: str, rtt: str, ber: float) -> float:
        without, ecn = (fmean(rates(records, "star", aqm, rtt, n, ber)) for n in (0, 1))
        return 100 * (1 - ecn / without)

    assert f"{cost('fq_codel', '100 ms', 0.0):.0f} % less than without ECN and 6 % less" in page
    fq, cake = (f"{cost(aqm, '100 ms', 1e-6):.0f}" for aqm in ("fq_codel", "cake"))
    assert f"at 1e-6 it has {fq} and {cake} % less than without ECN" in page
    told = from_to(cost(*at) for at in product(("fq_codel", "cake"), ["500 ms"], BERS.values()))
    assert f"At 500 ms ECN costs {told} %." in page


def test_totals_of_two_flows(records: Read, page: str) -> None:
    totals = {
        mix: [goodput(pair(records, mix, name)) for name in QUEUES]
        for mix in ("cubic+cubic", "reno+reno", "star+cubic")
    }
    cubic, reno, star = (
        f"{from_to(managed, 1)} Mbit/s instead of {tail:.1f}" for tail, *managed in totals.values()
    )
    assert f"two CUBIC flows together have {cubic}" in page
    reno, star = (text.replace(" Mbit/s", "") for text in (reno, star))
    assert f"two Reno flows {reno}, star and CUBIC {star}" in page
    _, fq, marked, cake, both = totals["star+cubic"]
    lost = f"{100 * (1 - marked / fq):.0f} and {100 * (1 - both / cake):.0f} %"
    assert f"ECN costs star and CUBIC together {lost} (`fq_codel`, CAKE)" in page
    least = [
        min(flow["fair_share"] for flow in record["flows"])
        for record in pair(records, "star+star", "fq_codel, ECN")
    ]
    assert f"smaller one has {from_to(least, 2)} of".replace("0.", ".") in page


def test_ranges_over_the_queues(records: Read, page: str) -> None:
    """What single flows of a pair get, their shares, and what the queues drop."""
    managed = [name for name in QUEUES if name != "tail drop"]
    plain, ecn = (["fq_codel", "cake"], ["fq_codel, ECN", "cake, ECN"])
    stars = ("star+cubic", "star+reno")

    def shares(mixes: Iterable[str], names: Iterable[str], ber: float = 0.0) -> str:
        found = (share(records, mix, name, ber) for mix, name in product(mixes, names))
        return from_to(found, 2).replace("0.", ".")

    def first(mix: str, names: Iterable[str]) -> str:
        return from_to((goodput(pair(records, mix, name), 0) for name in names), 1).replace(
            "0.", "."
        )

    def either(mix: str) -> str:
        found = (pair(records, mix, name) for name in managed)
        return from_to((goodput(each) / 2 for each in found), 1)

    def drops(mix: str) -> list[int]:
        """In hundreds."""
        return sorted(100 * round(mean(pair(records, mix, name), *DROPS) / 100) for name in managed)

    assert f"behind the AQMs {shares(stars, managed)}; CUBIC" in page
    assert f"beside bbr ({shares(['bbr+cubic'], managed)})" in page
    assert f"At 1e-7 they keep {shares(stars, FEW[1:], 1e-7)} behind" in page
    assert f"({either('cubic+cubic')} and {either('reno+reno')} of 4.8 Mbit/s)" in page
    cubic, reno = ([first(mix, names) for names in (ecn, plain)] for mix in stars)
    bbr = first("bbr+cubic", managed)
    assert (
        f"has {cubic[0]} Mbit/s instead of {cubic[1]}, less than bbr in its place ({bbr})" in page
    )
    assert f"beside Reno {reno[0]} instead of {reno[1]}." in page
    assert f"lose {from_to(drops('bbr+cubic'))} packets in the mean of the seeds, star" in page
    assert f"star and CUBIC {drops('star+cubic')[-1]} at most" in page


def test_fast_senders(records: Read, figures: Figures, page: str) -> None:
    (ours, marked), (high, too), cubic, (reno, both) = (
        [
            f"{mean(fast(records, figures, cc, name), 'queue', 'early_drops'):.0f}"
            for name in FEW[1:]
        ]
        for cc in FAST
    )
    assert cubic == ["15", "0"]
    assert f"`hstcp_gentle` loses {ours} packets, with ECN {marked}, HighSpeed {high}" in page
    assert f"and {too}, CUBIC 15 and none, Reno " in page
    assert f"Reno {reno[:-3]} {reno[-3:]} and {both[:-3]} {both[-3:]};" in page
