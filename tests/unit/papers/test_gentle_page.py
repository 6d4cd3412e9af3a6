# SPDX-License-Identifier: GPL-2.0
"""docs/results/gentle.md says what the records give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers.claims import Part
from apogee_lab.papers.gentle import claims
from apogee_lab.results.statistics import mean_of, ratio_of
from tests.unit.papers.found import Figures, Read, Record, TextOf, from_to, row, runs, used

PAGE = "results/gentle.md"
Measure = Callable[[Record], float]

#: The fast senders of the first table: algorithm, and its settings.
SENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "hstcp_gentle": ("hstcp_gentle", {"hstcp_gentle.response": None}),
    "hstcp_gentle, as published": ("hstcp_gentle", {"hstcp_gentle.response": 1}),
    **{cc: (cc, {}) for cc in ("reno", "highspeed", "cubic", "scalable", "bbr")},
}
LINES = [
    (n, name)
    for n in (1, 2, 5, 10)
    for name in SENDERS
    if n == 2 or name not in ("cubic", "scalable", "bbr")
]


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


def fast_jain(record: Record) -> float:
    return record["groups"]["fast"]["jain"]


def late_drops(record: Record) -> float:
    return record["queue"]["steady_drops"]


def sent_again(record: Record) -> float:
    """By the ten, what their own switches have dropped included."""
    ten = (flow for flow in record["flows"] if flow["name"].startswith("reno"))
    return sum(flow["steady"]["retransmits"] for flow in ten)


def mean(found: Iterable[Record], measure: Measure, decimals: int) -> str:
    return str(Part("", mean_of(map(measure, found)), decimals=decimals))


def relative(found: Iterable[Record], base: Iterable[Record]) -> str:
    """Per cent of what the ten get in other runs, over those of the same seeds."""
    others = {record["seed"]: record for record in base}
    pairs = [(100 * reno(r), reno(others[r["seed"]])) for r in found if r["seed"] in others]
    ours, theirs = zip(*pairs, strict=True)
    return str(Part("", ratio_of(ours, theirs), decimals=0))


@pytest.mark.parametrize(("n", "name"), LINES)
def test_beside_ten_reno_senders(groups: list[Record], page: str, n: int, name: str) -> None:
    cc, settings = SENDERS[name]
    found, plain = runs(groups, cc, n=n, reno=10, **settings), runs(groups, "reno", n=n, reno=10)
    share = "100" if cc == "reno" else relative(found, plain)
    cells = [
        str(n), name, str(len(found)), mean(found, used, 1), share, mean(found, late_drops, 0),
        mean(found, sent_again, 0), "–" if n == 1 else mean(found, fast_jain, 2),
    ]  # fmt: skip
    assert row(*cells) in page
    assert n != 2 or len(found) >= 5


#: Lines of the tables of the first seconds, and of a lone flow: early_exit of hstcp_gentle.
EARLY = {f"hstcp_gentle, early_exit={n}": ("hstcp_gentle", n) for n in (0, 1, 2)}
STARTS: dict[str, tuple[str, int | None]] = {
    **EARLY, **{cc: (cc, None) for cc in ("highspeed", "cubic", "reno", "bbr")},
}  # fmt: skip
LONE: dict[str, tuple[str, int | None]] = {
    **EARLY, **{cc: (cc, None) for cc in ("highspeed", "cubic", "scalable", "bbr", "star")},
}  # fmt: skip


def test_slow_start(read: Read, page: str) -> None:
    drops = {}
    for name, (cc, early_exit) in STARTS.items():
        found = runs(
            read("gentle/slowstart.jsonl"), cc, 5, **{"hstcp_gentle.early_exit": early_exit}
        )
        drops[name] = mean(found, lambda record: record["queue"]["early_drops"], 0)
        assert row(name, drops[name], mean(found, lambda record: record["t90_s"], 2)) in page


def lone(
    read: Read, cc: str, ber: float, early_exit: int | None = None, host_rate: str = "10gbit"
) -> list[Record]:
    where = {"host_rate": host_rate, "ber": ber, "hstcp_gentle.early_exit": early_exit}
    return runs(read("gentle/lone.jsonl"), cc, **where)


def drops_of(found: list[Record]) -> list[int]:
    return [record["queue"]["drops"] for record in found]


@pytest.mark.parametrize("name", LONE)
@pytest.mark.parametrize("host_rate", ["10gbit", "1gbit"])
def test_alone_on_a_long_path(read: Read, page: str, name: str, host_rate: str) -> None:
    cc, early_exit = LONE[name]
    clean, lossy = (lone(read, cc, ber, early_exit, host_rate) for ber in (0.0, 1e-9))
    full = f"{clean[0]['t90_s']:.2f}"
    shares = " / ".join(f"{used(record):.1f}" for record in clean)
    if host_rate == "10gbit":
        cells = [shares, " / ".join(map(str, drops_of(clean))), full, mean(lossy, used, 1)]
        assert row(name.removesuffix(", early_exit=0"), *cells)[:-2] in page
    elif early_exit is None:
        assert row(name, shares, full, mean(lossy, used, 1))[:-2] in page
    else:
        assert row("hstcp_gentle (early_exit=0, 1 and 2 alike)", shares, full)[:-2] in page


#: Rules that are disabled: the settings that differ from the defaults.
ABLATION: dict[str, dict[str, int]] = {
    "defaults": {},
    "rise=0": {"rise": 0},
    "fall=0": {"fall": 0},
    "rise=0 fall=0": {"rise": 0, "fall": 0},
    "samples=0": {"samples": 0},
    "confirm=2": {"confirm": 2},
    "share=0 (the paper's b(w) in Reno mode)": {"share": 0},
    "share=2 (b(w), and more growth for it)": {"share": 2},
}


@pytest.mark.parametrize("name", ABLATION)
def test_each_rule_disabled(read: Read, page: str, name: str) -> None:
    """Seeds 1 and 2, over the mean of five seeds with fast Reno senders."""
    settings = {f"hstcp_gentle.{key}": value for key, value in ABLATION[name].items()}
    groups = read("gentle/groups.jsonl")
    plain = runs(groups, "hstcp_gentle", n=2, **{"hstcp_gentle.response": None})
    found = [
        record
        for record in [*plain[:2], *read("gentle/ablation.jsonl")]
        if {k: v for k, v in record["set"].items() if k.startswith("hstcp")} == settings
    ]
    base = fmean(map(reno, runs(groups, "reno", n=2)))
    cells = [
        ", ".join(f"{100 * reno(r) / base:.0f}" for r in found),
        ", ".join(f"{late_drops(r):.0f}" for r in found),
        ", ".join(f"{fast_jain(r):.2f}" for r in found),
    ]
    first, _, *others = page.partition(f"| {name} | ")[2].split(" | ")[:4]
    assert [first, *others] == cells


#: Other senders in the place of the ten behind small switches.
OTHERS: dict[str, dict[str, Any]] = {
    "10 cubic": {"reno_cc": "cubic", "reno_queue": 50},
    "10 reno, large switches": {"reno_cc": "reno", "reno_queue": 10_000},
}


@pytest.mark.parametrize("name", OTHERS)
def test_beside_others(read: Read, page: str, name: str) -> None:
    at = OTHERS[name]
    own = at["reno_cc"]
    found = {
        cc: runs(read("gentle/others.jsonl"), cc, **at) for cc in (own, "hstcp_gentle", "highspeed")
    }
    for cc, some in found.items():
        cells = [
            name, cc, str(len(some)), mean(some, used, 1), mean(some, reno, 0),
            relative(some, found[own]), mean(some, late_drops, 0), mean(some, sent_again, 0),
            mean(some, fast_jain, 2),
        ]  # fmt: skip
        assert row(*cells) in page
    if own == "cubic":
        cubic, ours, highspeed = (f"{fmean(map(fast, some)):.0f}" for some in found.values())
        assert (
            f"its two flows have {ours} Mbit/s together, half of an equal share (159), where two "
            f"flows of CUBIC have {cubic} and two of HighSpeed {highspeed}."
        ) in page


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
    assert f"one does in {period[0]} of {period[1]} runs, and its window falls to one" in said
    assert f"a sender times out by default in none of {usual[1]} runs" in said
    # Fisher's exact test: that all who time out are among the runs without SACK.
    chance = math.comb(alone[1], alone[0]) / math.comb(alone[1] + beside[1], alone[0])
    assert (
        f"a sender times out in {alone[0]} of {alone[1]} runs (`[tcp_sack=0]`), with it in none of "
        f"{beside[1]} of the same length (`[tcp_sack=1]`) (Fisher's exact test, one-sided: p = "
        f"{chance:.3f})"
    ) in said
    assert f"{less[0]} of the {alone[1]} runs without SACK use less than 99 %" in said
    two, five = (
        f"{fmean(used(r) for r in found['tcp_sack=0'] if r['set']['n'] == n):.1f}" for n in (2, 5)
    )
    assert f"({two} and {five} % with two and five senders)" in said


def test_the_unused_part_without_fast_senders(read: Read, figures: Figures, said: str) -> None:
    """With 50 packets in each switch, and with 10000."""
    found = [r for r in figures("gentle-2")["today"] if r["set"]["n"] == 0]
    large = read("gentle/n0-switches.jsonl")
    assert len(large) == 5 and all(r["set"]["reno_queue"] == 10_000 for r in large)
    assert min(map(used, large)) > 99.99
    assert not any(r["queue"]["drops"] for r in [*found, *large])
    unused = fmean(1000 - 10 * used(r) for r in found)
    assert f"(N = 0) {unused:.0f} Mbit/s are unused because of the switches" in said


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
    assert f"In none of the {len(small)} runs does the shared queue drop a packet" in said
    assert f"through up to {most} timeouts" in said
    assert f"In {sum(map(locked_out, small))} of the {len(small)} runs this lasts" in said
    assert f"{sum(map(locked_out, large))} run of {len(large)} with 16667 packets" in said
    rates = from_to(flow["goodput_bps"] / 1e6 for flow in firsts)
    assert (
        f"In the other {len(others)} HSTCP loses packets, too, in {early} of them before the 80 s "
        f"that count, and has {rates} Mbit/s."
    ) in said
    found = read("gentle/ownlink.jsonl")
    assert len(found) >= 2
    assert f"{mean(found, fast, 0)} and {mean(found, reno, 1)} Mbit/s" in said
