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

Record = dict[str, Any]

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


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


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
    least = 1 if not BERS[ber] else 3
    return row(name, rtt, *(alone(records, cc, least, **told) for cc in ("star", "bbr", "cubic")))


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
    least = 5 if aqm == "none" else 3
    return runs(records, mix, least, aqm=aqm, tcp_ecn=ecn, ber=ber, queue="62.5kB")


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
    files = ("gentle/groups.jsonl", "gentle/peers.jsonl") if aqm == "none" else ("aqm/lfn.jsonl",)
    records = read(results, *files)
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


# --- what choosing.md says of it --------------------------------------------------------------


def test_choosing(root: Path, results: Path) -> None:
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
    choosing = " ".join((root / "docs" / "choosing.md").read_text().split())
    assert f"{min(shares):.2f} to {max(shares):.2f} of their share".replace("0.", ".") in choosing
    assert (
        f"alone, with ECN star then has {marked:.1f} Mbit/s, without {star:.1f}, "
        f"bbr {min(bbr):.1f} to {max(bbr):.1f}" in choosing
    )
    assert f"the ten keep {min(ten):.0f} % and more" in choosing
