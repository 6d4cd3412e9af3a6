# SPDX-License-Identifier: GPL-2.0
"""docs/results/aqm.md says what the records beside it give."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers import kept
from tests.unit.papers.found import Record, TextOf, row

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


@pytest.fixture(scope="module")
def results(root: Path) -> Path:
    return root / "docs" / "results"


@pytest.fixture(scope="module")
def page(results: Path) -> str:
    return (results / "aqm.md").read_text()


def read(results: Path, *names: str) -> list[Record]:
    return [
        json.loads(line) for name in names for line in (results / name).read_text().splitlines()
    ]


def runs(records: Iterable[Record], cc: str, least: int, **settings: Any) -> list[Record]:
    """The runs of an algorithm or mix with these settings; records older than AQMs have none."""
    found = [
        record
        for record in records
        if record["cc"] == cc
        and all(
            {"aqm": "none", "aqm_rtt": "0s", **record["set"]}.get(key) == value
            for key, value in settings.items()
        )
    ]
    assert len({record["seed"] for record in found}) == len(found) >= least, (cc, settings)
    return found


def mean(found: list[Record], *keys: str | int) -> float:
    """The mean of what is at this place of each record."""
    values = []
    for value in found:
        for key in keys:
            value = value[key]
        values.append(value)
    return fmean(values)


def marks(found: list[Record]) -> float:
    return fmean(record["queue"].get("marks", 0) for record in found)


# --- one flow ---------------------------------------------------------------------------------


def alone(records: list[Record], cc: str, least: int, **settings: Any) -> str:
    """Goodput / mean RTT / segments sent again / marks."""
    found = runs(records, cc, least, **settings)
    again = mean(found, "flows", 0, "retransmits")
    return (
        f"{mean(found, 'total_goodput_bps') / 1e6:.2f} / "
        f"{mean(found, 'flows', 0, 'rtt_ms', 'mean'):.0f} / {again:.0f} / {marks(found):.0f}"
    )


def alone_row(results: Path, ber: str, name: str, rtt: str) -> str:
    aqm, ecn = QUEUES[name]
    told = {"ber": BERS[ber], "aqm": aqm, "aqm_rtt": RTTS.get(rtt, "0s"), "tcp_ecn": ecn}
    records = read(results, "open.jsonl" if aqm == "none" else "aqm/alone.jsonl")
    return row(name, rtt, *(alone(records, cc, 5, **told) for cc in ("star", "bbr", "cubic")))


@pytest.mark.parametrize("ber", BERS)
@pytest.mark.parametrize("rtt", RTTS)
@pytest.mark.parametrize("name", QUEUES)
def test_one_flow(results: Path, page: str, name: str, rtt: str, ber: str) -> None:
    assert alone_row(results, ber, name, "–" if name == "tail drop" else rtt) in page


# --- two flows --------------------------------------------------------------------------------


def pair(results: Path, mix: str, name: str, ber: float) -> list[Record]:
    """The runs of two flows with a queue of a tenth of a product."""
    aqm, ecn = QUEUES[name]
    tail = ("sharing-star.jsonl", "sharing-others.jsonl")
    records = read(results, *(tail if aqm == "none" else ("aqm/shared.jsonl",)))
    return runs(records, mix, 5, aqm=aqm, tcp_ecn=ecn, ber=ber, queue="62.5kB")


def got(found: list[Record], flow: int) -> float:
    return mean(found, "flows", flow, "goodput_bps") / 1e6


def shared_row(results: Path, mix: str, name: str, ber: float = 0.0) -> str:
    """What both get, the second flow's relative to its own kind's, RTT, drops and marks."""
    found = pair(results, mix, name, ber)
    second = mix.partition("+")[2]
    own = "–"
    if mix != f"{second}+{second}":
        twins = pair(results, f"{second}+{second}", name, ber)
        own = f"{got(found, 1) / fmean(got(twins, n) for n in (0, 1)):.2f}"
    rtt = fmean(mean(found, "flows", n, "rtt_ms", "mean") for n in (0, 1))
    return row(
        mix,
        name,
        f"{got(found, 0):.2f}",
        f"{got(found, 1):.2f}",
        own,
        f"{rtt:.0f}",
        f"{mean(found, 'queue', 'drops'):.0f}",
        f"{marks(found):.0f}",
    )


@pytest.mark.parametrize(
    ("mix", "name"),
    [each for each in product(MIXES, QUEUES) if each != ("star+star", "tail drop")],
)
def test_two_flows(results: Path, page: str, mix: str, name: str) -> None:
    assert shared_row(results, mix, name) in page


@pytest.mark.parametrize("mix", LOSSY)
@pytest.mark.parametrize("name", FEW)
def test_two_flows_with_bit_errors(results: Path, page: str, name: str, mix: str) -> None:
    assert shared_row(results, mix, name, 1e-7) in page.partition("bit error rate of 1e-7")[2]


# --- two fast senders beside ten of Reno ------------------------------------------------------


def group(found: list[Record], name: str) -> float:
    return mean(found, "groups", name, "goodput_bps")


def lfn_row(results: Path, cc: str, name: str) -> str:
    """Use of the link, both groups, the share of the ten, RTT, drops and marks."""
    aqm, ecn = QUEUES[name]
    records = read(results, "gentle/peers.jsonl" if aqm == "none" else "aqm/lfn.jsonl")
    if aqm == "none":
        figure = kept.read(results / "records" / "gentle.jsonl.xz")["gentle-7"]
        records += figure["today"]
    told = {"aqm": aqm, "tcp_ecn": ecn, "n": 2, "hstcp_gentle.response": None}
    found, reno = (runs(records, each, 1, **told) for each in (cc, "reno"))
    return row(
        cc,
        name,
        f"{100 * fmean(r['total_goodput_bps'] / r['limit_bps'] for r in found):.1f}",
        f"{group(found, 'fast') / 1e6:.0f}",
        f"{group(found, 'reno') / 1e6:.0f}",
        f"{100 * group(found, 'reno') / group(reno, 'reno'):.0f}",
        f"{mean(found, 'flows', 0, 'rtt_ms', 'mean'):.0f}",
        f"{mean(found, 'queue', 'steady_drops'):.0f}",
        f"{marks(found):.0f}" if aqm != "none" else "–",
    )


@pytest.mark.parametrize("cc", FAST)
@pytest.mark.parametrize("name", FEW)
def test_beside_ten_reno_senders(results: Path, page: str, name: str, cc: str) -> None:
    assert lfn_row(results, cc, name) in page


# --- sentences --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prose(page: str) -> str:
    return " ".join(page.split())


def goodputs(results: Path, cc: str, aqm: str, rtt: str, ecn: int, ber: float) -> list[float]:
    """Goodputs in Mbit/s of one flow, by seed."""
    told = {"aqm": aqm, "aqm_rtt": RTTS[rtt], "tcp_ecn": ecn, "ber": ber}
    found = runs(read(results, "aqm/alone.jsonl"), cc, 5, **told)
    return [r["total_goodput_bps"] / 1e6 for r in sorted(found, key=lambda r: r["seed"])]


PLACES = list(product(("fq_codel", "cake"), RTTS, (0, 1)))


def test_one_flow_beside_tail_drop(results: Path, prose: str) -> None:
    """What star and CUBIC keep, star's RTT and what it sends again, without bit errors."""
    tail = {
        cc: mean(runs(read(results, "open.jsonl"), cc, 5, ber=0.0), "total_goodput_bps") / 1e6
        for cc in ("star", "cubic")
    }
    kept, rtts, again = [], [], []
    for aqm, rtt in product(("fq_codel", "cake"), RTTS.values()):
        told = {"aqm": aqm, "aqm_rtt": rtt, "tcp_ecn": 0, "ber": 0.0}
        found = runs(read(results, "aqm/alone.jsonl"), "star", 5, **told)
        kept.append(mean(found, "total_goodput_bps") / 1e4 / tail["star"])
        rtts.append(mean(found, "flows", 0, "rtt_ms", "mean"))
        again.append(mean(found, "flows", 0, "retransmits"))
    *others, most = sorted(
        100 * fmean(goodputs(results, "cubic", *place, 0.0)) / tail["cubic"] for place in PLACES
    )
    assert f"star keeps {min(kept):.0f} to {max(kept):.1f} % of its goodput" in prose
    assert f"to between {min(rtts):.0f} and {max(rtts):.0f} ms" in prose
    assert f"It sends {min(again):.0f} to {max(again):.0f} segments again" in prose
    assert f"keeps {others[0]:.0f} to {others[-1]:.0f} % with and without ECN, except" in prose
    assert f"except {most:.0f} % with ECN behind `fq_codel` at 500 ms" in prose


def test_star_ahead_of_bbr(results: Path, prose: str) -> None:
    """Seed by seed at 1e-6; where it is behind, the page gives both goodputs."""
    behind = {}
    for place in PLACES:
        star, bbr = (goodputs(results, cc, *place, 1e-6) for cc in ("star", "bbr"))
        pairs = [pair for pair in zip(star, bbr, strict=True) if pair[0] <= pair[1]]
        if pairs:
            behind[place] = pairs
    ((star, bbr),) = behind.pop(("fq_codel", "100 ms", 1))
    assert f"behind `fq_codel` ({star:.2f} Mbit/s, bbr {bbr:.2f})" in prose
    three = behind.pop(("cake", "100 ms", 1))
    ours, theirs = ([pair[n] for pair in three] for n in (0, 1))
    said = f"({min(ours):.2f} to {max(ours):.2f}, bbr {min(theirs):.2f} to {max(theirs):.2f})"
    assert len(three) == 3 and said in prose and not behind


def test_what_ecn_costs(results: Path, prose: str) -> None:
    cost = {
        (aqm, rtt, ber): 100
        * (1 - fmean(goodputs(results, "star", aqm, rtt, 1, ber)) / fmean(without))
        for aqm, rtt, ber in product(("fq_codel", "cake"), RTTS, BERS.values())
        if (without := goodputs(results, "star", aqm, rtt, 0, ber))
    }
    assert f"{cost['fq_codel', '100 ms', 0.0]:.0f} % less than without ECN and 6 % less" in prose
    lossy = [f"{cost[aqm, '100 ms', 1e-6]:.0f}" for aqm in ("fq_codel", "cake")]
    assert f"at 1e-6 it has {lossy[0]} and {lossy[1]} % less than without ECN" in prose
    told = [value for (_, rtt, _), value in cost.items() if rtt == "500 ms"]
    assert f"At 500 ms ECN costs {min(told):.0f} to {max(told):.0f} %." in prose


def test_totals_and_shares_of_two_flows(results: Path, prose: str) -> None:
    def totals(mix: str, names: Iterable[str]) -> list[float]:
        every = (pair(results, mix, name, 0.0) for name in names)
        return [mean(found, "total_goodput_bps") / 1e6 for found in every]

    managed = [name for name in QUEUES if name != "tail drop"]
    said = []
    for mix in ("cubic+cubic", "reno+reno", "star+cubic"):
        found, (tail,) = totals(mix, managed), totals(mix, ["tail drop"])
        said.append((f"{min(found):.1f} to {max(found):.1f}", f"instead of {tail:.1f}"))
    cubic, reno, star = said
    assert f"two CUBIC flows together have {cubic[0]} Mbit/s {cubic[1]}" in prose
    assert f"two Reno flows {reno[0]} {reno[1]}, star and CUBIC {star[0]} {star[1]}" in prose
    fq, marked, cake, both = totals("star+cubic", managed)
    lost = f"{100 * (1 - marked / fq):.0f} and {100 * (1 - both / cake):.0f} %"
    assert f"ECN costs star and CUBIC together {lost} (`fq_codel`, CAKE)" in prose
    least = [
        min(flow["fair_share"] for flow in r["flows"])
        for r in pair(results, "star+star", "fq_codel, ECN", 0.0)
    ]
    assert f"smaller one has {min(least):.2f} to {max(least):.2f} of".replace("0.", ".") in prose


def test_ranges_over_the_queues(results: Path, prose: str) -> None:
    """What single flows of a pair get, their shares, and what the queues drop."""

    def over(of: Any, mixes: Iterable[str], names: Iterable[str], digits: int = 1) -> str:
        found = sorted(of(mix, name) for mix, name in product(mixes, names))
        low, high = (f"{value:.{digits}f}" for value in (found[0], found[-1]))
        return f"{low} to {high}".replace("0.", ".")

    def share(mix: str, name: str, ber: float = 0.0) -> float:
        return float(shared_row(results, mix, name, ber).split(" | ")[4])

    def first(mix: str, name: str) -> float:
        return got(pair(results, mix, name, 0.0), 0)

    def either(mix: str, name: str) -> float:
        return fmean(got(pair(results, mix, name, 0.0), n) for n in (0, 1))

    def drops(mix: str, name: str) -> float:
        return mean(pair(results, mix, name, 0.0), "queue", "drops") / 100

    managed = [name for name in QUEUES if name != "tail drop"]
    plain, ecn = (["fq_codel", "cake"], ["fq_codel, ECN", "cake, ECN"])
    stars = ("star+cubic", "star+reno")
    assert f"behind the AQMs {over(share, stars, managed, 2)}; CUBIC" in prose
    assert f"beside bbr ({over(share, ['bbr+cubic'], managed, 2)})" in prose
    lossy = over(lambda mix, name: share(mix, name, 1e-7), stars, FEW[1:], 2)
    assert f"At 1e-7 they keep {lossy} behind" in prose
    own = [over(either, [mix], managed) for mix in ("cubic+cubic", "reno+reno")]
    assert f"({own[0]} and {own[1]} of 4.8 Mbit/s)" in prose
    cubic, reno = ([over(first, [mix], names) for names in (ecn, plain)] for mix in stars)
    bbr = over(first, ["bbr+cubic"], managed)
    assert (
        f"has {cubic[0]} Mbit/s instead of {cubic[1]}, less than bbr in its place ({bbr})" in prose
    )
    assert f"beside Reno {reno[0]} instead of {reno[1]}." in prose
    lost = sorted(round(drops("bbr+cubic", name)) * 100 for name in managed)
    most = max(round(drops("star+cubic", name)) * 100 for name in managed)
    assert f"lose {lost[0]} to {lost[-1]} packets in the mean of the seeds, star and CUBIC" in prose
    assert f"star and CUBIC {most} at most" in prose


def test_beginning_of_the_fast_senders(results: Path, prose: str) -> None:
    lost = {
        cc: [
            mean(runs(read(results, "aqm/lfn.jsonl"), cc, 1, tcp_ecn=ecn), "queue", "early_drops")
            for ecn in (0, 1)
        ]
        for cc in FAST
    }
    assert lost["cubic"] == [15, 0]
    (ours, marked), (fast, too), (reno, both) = (
        [f"{value:.0f}" for value in lost[cc]] for cc in ("hstcp_gentle", "highspeed", "reno")
    )
    assert f"`hstcp_gentle` loses {ours} packets, with ECN {marked}, HighSpeed {fast}" in prose
    assert f"and {too}, CUBIC 15 and none, Reno " in prose
    assert f"Reno {reno[:-3]} {reno[-3:]} and {both[:-3]} {both[-3:]};" in prose


# --- what choosing.md says of it --------------------------------------------------------------


def test_choosing(results: Path, text_of: TextOf) -> None:
    shares = [
        float(shared_row(results, f"star+{other}", name).split(" | ")[4])
        for other in ("cubic", "reno")
        for name in QUEUES
        if name != "tail drop"
    ]
    records = read(results, "aqm/alone.jsonl")
    told = {"aqm": "fq_codel", "aqm_rtt": "0s", "ber": 0.0}
    (star, marked), bbr = (
        [
            mean(runs(records, cc, 1, tcp_ecn=ecn, **told), "total_goodput_bps") / 1e6
            for ecn in (0, 1)
        ]
        for cc in ("star", "bbr")
    )
    ten = [
        float(lfn_row(results, cc, name).split(" | ")[5])
        for cc in ("highspeed", "cubic")
        for name in FEW[1:]
    ]
    choosing = text_of("choosing.md")
    kept_shares = f"CUBIC and Reno keep {min(shares):.2f} to {max(shares):.2f} of their share"
    assert kept_shares.replace("0.", ".") in choosing
    assert (
        f"alone behind `fq_codel`, with ECN star then has {marked:.1f} Mbit/s, without {star:.1f}, "
        f"bbr {min(bbr):.1f} to {max(bbr):.1f}" in choosing
    )
    assert f"the ten keep {min(ten):.0f} % and more" in choosing
