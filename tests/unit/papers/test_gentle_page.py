# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/gentle.md and figures-gentle.md show beside their tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

import pytest

from apogee_lab.papers.gentle import claims
from tests.unit.papers.found import Figures, Read, Record, TextOf, from_to, runs, used

PAGE = "results/gentle.md"
Measure = Callable[[Record], float]


@pytest.fixture(scope="module")
def said(text_of: TextOf) -> str:
    return text_of("results/figures-gentle.md")


@pytest.fixture(scope="module")
def groups(read: Read, figures: Figures) -> list[Record]:
    """The runs on the default stack, each once."""
    found = {
        record["run"]: record
        for name in ("gentle-2", "gentle-7")
        for variant in ("today", "letter")
        for record in figures(name).get(variant, [])
    }
    return [*found.values(), *read("gentle/peers.jsonl")]


def group(name: str) -> Measure:
    """A group's goodput in Mbit/s."""
    return lambda record: record["groups"][name]["goodput_bps"] / 1e6


reno, fast = group("reno"), group("fast")


def lone(read: Read, cc: str, ber: float, early_exit: int | None = None) -> list[Record]:
    where = {"host_rate": "10gbit", "ber": ber, "hstcp_gentle.early_exit": early_exit}
    return runs(read("gentle/lone.jsonl"), cc, **where)


def drops_of(found: list[Record]) -> list[int]:
    return [record["queue"]["drops"] for record in found]


def test_choosing_of_a_lone_flow(read: Read) -> None:
    ours = lone(read, "hstcp_gentle", 0.0, 2)
    assert not any(drops_of(ours))
    assert min(drops_of(lone(read, "bbr", 0.0))) > 400_000
    drops = drops_of(lone(read, "star", 1e-9))
    lossy = [count for count in drops if count]
    assert (len(lossy), len(drops)) == (4, 5)


def test_beside_others(read: Read) -> None:
    """Two fast senders beside ten of CUBIC."""
    found = read("gentle/others.jsonl")
    cubic, highspeed = (
        f"{fmean(map(fast, runs(found, cc, 5, reno_cc='cubic', reno_queue=50))):.0f}"
        for cc in ("cubic", "highspeed")
    )
    assert (cubic, highspeed) == ("251", "292")


# --- what figures-gentle.md says --------------------------------------------------------------


def test_timeouts_without_sack(figures: Figures, said: str) -> None:
    """Of figure 2 on the three stacks."""
    found = figures("gentle-2")

    def having(variant: str, *ns: int) -> tuple[int, int]:
        some = [r for r in found[variant] if r["set"]["n"] in ns]
        return sum(claims.timeouts(r) > 0 for r in some), len(some)

    period, usual = having("period", 2, 5), having("today", 1, 2, 5, 10)
    alone, beside = having("tcp_sack=0", 2, 5), having("tcp_sack=1", 2, 5)
    assert usual[0] == beside[0] == 0
    less = [sum(used(r) < 99 for r in found[f"tcp_sack={on}"]) for on in (0, 1)]
    assert less[1] == 0
    assert (period, usual[1]) == ((7, 16), 20)
    # Fisher's exact test: that all who time out are among the runs without SACK.
    chance = math.comb(alone[1], alone[0]) / math.comb(alone[1] + beside[1], alone[0])
    assert (
        f"senders time out in {alone[0]} of {alone[1]} runs without it and in none of {beside[1]} "
        f"with it (Fisher's exact test, one-sided: p = {chance:.3f})"
    ) in said
    assert less[0] == 10


def test_the_unused_part_without_fast_senders(read: Read, figures: Figures) -> None:
    """With 50 packets in each switch, and with 10000."""
    found = [r for r in figures("gentle-2")["today"] if r["set"]["n"] == 0]
    large = read("gentle/n0-switches.jsonl")
    assert len(large) == 5 and all(r["set"]["reno_queue"] == 10_000 for r in large)
    assert min(map(used, large)) > 99.99
    assert not any(r["queue"]["drops"] for r in [*found, *large])
    assert 211 < fmean(1000 - 10 * used(r) for r in found) < 213


def locked_out(record: Record) -> bool:
    """Whether HSTCP keeps the queue full: it holds 98 % of its limit in the mean."""
    return record["queue"]["mean_bytes"] > 0.98 * record["set"]["queue"] * 1514


def test_seeds_that_differ(read: Read, figures: Figures, said: str) -> None:
    """Figure 6 at 100 ms on the default stack, and with HSTCP behind 10 Gbit/s."""
    far = [r for r in figures("gentle-6")["today"] if r["set"]["delay"] == "100ms"]
    small = [r for r in far if r["set"]["queue"] == 4167]
    large = [r for r in far if (r["set"]["queue"], r["set"]["reno_rate"]) == (16667, "12mbit")]
    assert {r["queue"]["early_drops"] for r in small} == {0}
    others = [r for r in small if not locked_out(r)]
    firsts = [r["flows"][0] for r in others]
    assert all(flow["retransmits"] for flow in firsts)
    early = sum(not flow["steady"]["retransmits"] for flow in firsts)
    most = max(r["flows"][1]["timeouts"] for r in small)
    assert (most, early, len(others)) == (7, 5, 10)
    assert f"In {sum(map(locked_out, small))} of {len(small)} runs HSTCP keeps the queue" in said
    assert (sum(map(locked_out, large)), len(large)) == (1, 5)
    assert from_to(flow["goodput_bps"] / 1e6 for flow in firsts) == "440 to 832"
    assert not any(map(locked_out, read("gentle/ownlink.jsonl")))
