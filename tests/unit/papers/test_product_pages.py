# SPDX-License-Identifier: GPL-2.0
"""The table of each product's page is that of the records, rounded; so is what README says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

import pytest

from apogee_lab.papers.compound.claims import PLUS, RULE, index, mean_rtt
from apogee_lab.papers.compound.figures import OURS
from tests.unit.papers.found import (
    Figures,
    Read,
    Record,
    TextOf,
    from_to,
    goodput,
    joined,
    mean,
    row,
    runs,
    used,
)

Rows = Iterator[list[str]]
KINDS = ("cubic", "reno")


def test_the_readme(read: Read, root: Path) -> None:
    cubic, bbr, star = (
        f"{goodput(runs(read('open.jsonl'), cc, 5, ber=1e-6)):.2f}"
        for cc in ("cubic", "bbr", "star")
    )
    lost = 100 * (1 - (1 - 1e-6) ** (8 * 1514))
    assert (
        f"On a satellite link of 10 Mbit/s that loses {lost:.1f} % of its frames, CUBIC gets "
        f"{cubic} Mbit/s, BBR {bbr} and star {star}:"
    ) in joined((root / "README.md").read_text())


def star(read: Read, figures: Figures) -> Rows:
    """Per cent of what the link carries: star and its peers."""
    ccs = ("star", "bbr", "cubic")
    for name, ber in {"no errors": 0.0, "1e-7": 1e-7, "1e-6": 1e-6, "1e-5": 1e-5}.items():
        found = (runs(read("open.jsonl"), cc, 5, ber=ber) for cc in ccs)
        yield [f"10 Mbit/s, 500 ms, {name}", *(f"{fmean(map(used, r)):.0f}" for r in found)]
    where = {"host_rate": "10gbit", "ber": 1e-9}
    found = (runs(read("gentle/lone.jsonl"), cc, 5, **where) for cc in ccs)
    yield ["1 Gbit/s, 200 ms, 1e-9", *(f"{fmean(map(used, r)):.0f}" for r in found)]


def gentle(read: Read, figures: Figures) -> Rows:
    """Two senders: per cent of the link used, of what the ten get beside Reno, drops."""
    kept = {
        record["run"]: record
        for name in ("gentle-2", "gentle-7")
        for record in figures(name)["today"]
    }
    records = [*kept.values(), *read("gentle/peers.jsonl")]

    def ten(record: Record) -> float:
        value: float = record["groups"]["reno"]["goodput_bps"]
        return value

    plain = runs(records, "reno", 5, n=2, reno=10)
    for cc in ("reno", "hstcp_gentle", "highspeed", "cubic", "bbr"):
        ours = {"hstcp_gentle.response": None} if cc == "hstcp_gentle" else {}
        found = runs(records, cc, 5, n=2, reno=10, **ours)
        share = 100 * fmean(map(ten, found)) / fmean(map(ten, plain))
        drops = mean(found, "queue", "steady_drops")
        yield [cc, f"{mean(map(used, found)):.0f}", f"{share:.0f}", f"{drops:.0f}"]


def compound(read: Read, figures: Figures) -> Rows:
    """Twenty stations: Jain's index in a strict and in a random order; RTT, total goodput."""
    for cc in ("reno", "cubic", "bbr", "compound", PLUS):
        rule = {RULE: str(OURS)} if cc == PLUS else {}
        strict, chance = (
            [
                r
                for r in figures("compound-2")[variant]
                if r["cc"] == cc
                and r["set"]["n"] == 20
                and all(str(r["set"].get(key)) == value for key, value in rule.items())
            ]
            for variant in ("today", "random")
        )
        assert min(map(len, (strict, chance))) >= 5
        yield [
            cc, f"{fmean(map(index, strict)):.2f}", f"{fmean(map(index, chance)):.2f}",
            f"{fmean(map(mean_rtt, strict)):.0f}", f"{goodput(strict):.0f}",
        ]  # fmt: skip


def sscop(read: Read, figures: Figures) -> Rows:
    """Mbit/s alone and over SSCOP; where README's former numbers are, they agree."""
    today = figures("sscop-today")["today"]
    for name, ber in {"1e-7": 1e-7, "1e-6": 1e-6, "1e-5": 1e-5, "5e-5": 5e-5, "1e-4": 1e-4}.items():
        cells = [
            f"{goodput(runs(today, cc, 3, ber=ber, segment=segment)):.1f}"
            for cc in ("cubic", "bbr")
            for segment in (0, "auto")
        ]
        if ber in (1e-5, 1e-4):
            five = (
                runs(read("sscop/readme.jsonl"), "cubic", 5, ber=ber, segment=s)
                for s in (0, "auto")
            )
            assert cells[:2] == [f"{goodput(r):.1f}" for r in five]
        yield [name, *cells]


def shake(read: Read, figures: Figures) -> Rows:
    """kbit/s of CUBIC over two links of 384 kbit/s."""
    peers = figures("shake-peers")["today"]
    for loss, delay in (("0%", 10), ("0%", 290), ("1%", 10), ("1%", 150), ("1%", 290)):
        where = {"loss": loss, "delay2": f"{delay}ms", "repair": 1, "auth": 1}
        yield [
            f"{loss.replace('%', ' %')}, {delay} ms",
            *(
                f"{1000 * goodput(runs(peers, 'cubic', 2, via=via, **where)):.0f}"
                for via in ("plain", "bonding", "mptcp", "shake")
            ),
        ]


PAGES: dict[str, Callable[[Read, Figures], Rows]] = {
    "star.md": star, "gentle.md": gentle, "compound.md": compound, "sscop.md": sscop,
    "shake.md": shake,
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_the_table_of_a_page(read: Read, figures: Figures, text_of: TextOf, name: str) -> None:
    wanted = [row(*cells) for cells in PAGES[name](read, figures)]
    assert len(wanted) == 5
    assert " ".join(wanted) in text_of(name)


#: What a page answers, in this order.
QUESTIONS = (
    "What it is for.", "What you gain.", "When not.", "How to start.",
    "How to see that it works.", "How to undo it.",
)  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_one_screen(root: Path, name: str) -> None:
    """Fifty lines with one table, which answer six questions."""
    _, *lines = (root / "docs" / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50
    assert tuple(re.findall(r"^\*\*(.*?)\*\*", "\n".join(lines), re.M)) == QUESTIONS
    assert sum(line.lstrip().startswith("|") for line in lines) == 2 + 5


def test_where_star_is_not_to_be_used(read: Read, text_of: TextOf) -> None:
    """Queues in which another flow keeps less than it has beside its own kind."""
    records = [*read("sharing-star.jsonl"), *read("sharing-others.jsonl")]
    queues = {0.02: "12.5kB", 0.1: "62.5kB", 0.5: "312.5kB", 1: "625kB"}
    less: dict[str, list[float]] = {}
    for other in KINDS:
        for part, size in queues.items():
            own = goodput(runs(records, f"{other}+{other}", 5, queue=size, ber=0.0)) / 2
            if goodput(runs(records, f"star+{other}", 5, queue=size, ber=0.0), 1) < own:
                less.setdefault(other, []).append(part)
    assert less == {"cubic": [0.02, 0.1], "reno": [*queues]}
    assert (
        "CUBIC loses part of its share where the queue is shorter than half a bandwidth-delay "
        "product, Reno in longer ones, too"
    ) in text_of("star.md")


def test_transfers_over_a_satellite(read: Read, text_of: TextOf) -> None:
    """star's beside CUBIC's, on new connections one after the other."""

    def median_of(cc: str, size: int) -> float:
        times = sorted(
            time
            for record in runs(read("moving/requests.jsonl"), cc)
            for one in record["requests"]["sizes"]
            if one["bytes"] == size
            for time in one["times_s"]
        )
        half = len(times) // 2
        return times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2

    ratios = [median_of("star", 10**n) / median_of("cubic", 10**n) for n in (5, 6, 7)]
    assert f"take {from_to(ratios, 1)} of the time that they take with CUBIC" in text_of("star.md")


def test_what_sscop_costs_without_need(figures: Figures, text_of: TextOf) -> None:
    """Of all algorithms at 1e-7."""
    today = figures("sscop-today")["today"]
    costs = [
        1 - goodput(runs(today, cc, ber=1e-7, segment="auto")) / alone
        for cc in ("reno", "cubic", "bbr", "star")
        for alone in [goodput(runs(today, cc, ber=1e-7, segment=0))]
    ]
    assert f"it costs up to {100 * max(costs):.1f} % of the goodput" in text_of("sscop.md")
