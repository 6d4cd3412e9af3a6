# SPDX-License-Identifier: GPL-2.0
"""docs/results/gentle.md says what the records beside it give."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers import kept
from apogee_lab.papers.gentle.claims import timeouts, used
from apogee_lab.results.statistics import Estimate, mean_of, ratio_of
from tests.unit.papers.found import Record, TextOf, row, runs

Measure = Callable[[Record], float]

NS = (1, 2, 5, 10)
#: The fast senders of the first table: algorithm, and whether as published.
SENDERS: dict[str, tuple[str, bool]] = {
    "reno": ("reno", False),
    "hstcp_gentle": ("hstcp_gentle", False),
    "hstcp_gentle, as published": ("hstcp_gentle", True),
    "highspeed": ("highspeed", False),
}
PEERS = ("cubic", "scalable", "bbr")


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "results" / "gentle.md").read_text()


@pytest.fixture(scope="module")
def groups(root: Path) -> list[Record]:
    """The runs on the default stack, each once."""
    figures = kept.read(root / "docs" / "results" / "records" / "gentle.jsonl.xz")
    found = {
        record["run"]: record
        for name in ("gentle-2", "gentle-7")
        for variant in ("today", "letter")
        for record in figures[name].get(variant, [])
    }
    return [*found.values(), *read(root, "peers")]


def read(root: Path, name: str) -> list[Record]:
    path = root / "docs" / "results" / "gentle" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def link(record: Record) -> float:
    return 100 * record["total_goodput_bps"] / record["limit_bps"]


def reno(record: Record) -> float:
    return record["groups"]["reno"]["goodput_bps"]


def fast_jain(record: Record) -> float:
    return record["groups"]["fast"]["jain"]


def late_drops(record: Record) -> float:
    return record["queue"]["steady_drops"]


def sent_again(record: Record) -> float:
    """By the ten, what their own switches have dropped included."""
    ten = (flow for flow in record["flows"] if flow["name"].startswith("reno"))
    return sum(flow["steady"]["retransmits"] for flow in ten)


def text(found: Estimate, decimals: int) -> str:
    """A number with half its interval, or with its bounds if they are not as far from it."""
    value = f"{found.value:.{decimals}f}"
    if found.bounds is None:
        return value
    if not all(map(math.isfinite, found.bounds)):
        return f"{value} (any)"
    halves = {f"{abs(bound - found.value):.{decimals}f}" for bound in found.bounds}
    if len(halves) == 1:
        return f"{value} ± {halves.pop()}"
    low, high = (f"{bound:.{decimals}f}" for bound in found.bounds)
    return f"{value} ({low} to {high})"


def mean(found: Iterable[Record], measure: Measure, decimals: int) -> str:
    return text(mean_of(map(measure, found)), decimals)


def relative(found: Iterable[Record], base: Iterable[Record]) -> str:
    """Per cent of what the ten get in other runs, over those of the same seeds."""
    others = {record["seed"]: record for record in base}
    pairs = [(100 * reno(r), reno(others[r["seed"]])) for r in found if r["seed"] in others]
    ours, theirs = zip(*pairs, strict=True)
    return text(ratio_of(ours, theirs), 0)


def share(records: list[Record], found: list[Record], n: int) -> str:
    """Per cent of what the ten get beside as many Reno senders."""
    if found[0]["cc"] == "reno":
        return "100"
    return relative(found, runs(records, "reno", n=n, reno=10))


def beside_reno(groups: list[Record], n: int, name: str) -> str:
    """A line of the first table."""
    cc, published = SENDERS.get(name, (name, False))
    asked: dict[str, Any] = {"n": n, "reno": 10}
    if cc == "hstcp_gentle":
        asked["hstcp_gentle.response"] = 1 if published else None
    found = runs(groups, cc, **asked)
    cells = [
        str(n), name, str(len(found)), mean(found, link, 1), share(groups, found, n),
        mean(found, late_drops, 0), mean(found, sent_again, 0),
        "–" if n == 1 else mean(found, fast_jain, 2),
    ]  # fmt: skip
    return row(*cells)


LINES = [(n, name) for n in NS for name in (*SENDERS, *(PEERS if n == 2 else ()))]


@pytest.mark.parametrize(("n", "name"), LINES)
def test_beside_ten_reno_senders(groups: list[Record], page: str, n: int, name: str) -> None:
    assert beside_reno(groups, n, name) in page


#: Tables of the first seconds: early_exit of hstcp_gentle by the name of the line.
STARTS: dict[str, tuple[str, int | None]] = {
    "hstcp_gentle, early_exit=0": ("hstcp_gentle", 0),
    **{cc: (cc, None) for cc in ("highspeed", "cubic", "reno", "bbr")},
    "hstcp_gentle, early_exit=1": ("hstcp_gentle", 1),
    "hstcp_gentle, early_exit=2": ("hstcp_gentle", 2),
}


@pytest.mark.parametrize("name", STARTS)
def test_slow_start(root: Path, page: str, name: str) -> None:
    cc, early_exit = STARTS[name]
    found = runs(read(root, "slowstart"), cc, **{"hstcp_gentle.early_exit": early_exit})
    assert len(found) >= 5
    drops = mean(found, lambda record: record["queue"]["early_drops"], 0)
    assert row(name, drops, mean(found, lambda record: record["t90_s"], 2)) in page


#: Lines of the tables of a lone flow.
LONE: dict[str, tuple[str, int | None]] = {
    "hstcp_gentle": ("hstcp_gentle", 0),
    "hstcp_gentle, early_exit=1": ("hstcp_gentle", 1),
    "hstcp_gentle, early_exit=2": ("hstcp_gentle", 2),
    **{cc: (cc, None) for cc in ("highspeed", "cubic", "scalable", "bbr", "star")},
}


def each(found: Iterable[Record], measure: Measure, decimals: int) -> str:
    """The values of all seeds."""
    return " / ".join(f"{measure(record):.{decimals}f}" for record in found)


@pytest.mark.parametrize("name", LONE)
@pytest.mark.parametrize("host_rate", ["10gbit", "1gbit"])
def test_alone_on_a_long_path(root: Path, page: str, name: str, host_rate: str) -> None:
    cc, early_exit = LONE[name]
    clean, lossy = (
        runs(
            read(root, "lone"), cc,
            **{"host_rate": host_rate, "ber": ber, "hstcp_gentle.early_exit": early_exit},
        )
        for ber in (0.0, 1e-9)
    )  # fmt: skip
    full = f"{clean[0]['t90_s']:.2f}"
    if host_rate == "10gbit":
        drops = each(clean, lambda record: record["queue"]["drops"], 0)
        cells = [name, each(clean, link, 1), drops, full, mean(lossy, link, 1)]
    elif early_exit is None:
        cells = [name, each(clean, link, 1), full, mean(lossy, link, 1)]
    else:
        cells = ["hstcp_gentle (early_exit=0, 1 and 2 alike)", each(clean, link, 1), full]
    assert row(*cells)[:-2] in page


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
def test_each_rule_disabled(root: Path, page: str, name: str) -> None:
    """Seeds 1 and 2, over the mean of five seeds with fast Reno senders."""
    settings = {f"hstcp_gentle.{key}": value for key, value in ABLATION[name].items()}
    groups = read(root, "groups")
    plain = runs(groups, "hstcp_gentle", n=2, **{"hstcp_gentle.response": None})
    found = [
        record
        for record in [*plain[:2], *read(root, "ablation")]
        if {k: v for k, v in record["set"].items() if k.startswith("hstcp")} == settings
    ]
    base = [reno(r) for r in runs(groups, "reno", n=2)]
    cells = [
        ", ".join(f"{100 * reno(r) * len(base) / math.fsum(base):.0f}" for r in found),
        ", ".join(f"{late_drops(r):.0f}" for r in found),
        ", ".join(f"{fast_jain(r):.2f}" for r in found),
    ]
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
    shown = [cell.strip() for cell in line.strip("|").split("|")]
    assert [shown[1], *shown[3:]] == cells


#: Other senders in the place of the ten behind small switches.
OTHERS: dict[str, dict[str, Any]] = {
    "10 cubic": {"reno_cc": "cubic", "reno_queue": 50},
    "10 reno, large switches": {"reno_cc": "reno", "reno_queue": 10_000},
}
BESIDE_OTHERS = {
    "10 cubic": ("cubic", "hstcp_gentle", "highspeed"),
    "10 reno, large switches": ("reno", "hstcp_gentle", "highspeed"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_beside_others(root: Path, page: str, name: str) -> None:
    records = read(root, "others")
    base = runs(records, BESIDE_OTHERS[name][0], **OTHERS[name])
    for cc in BESIDE_OTHERS[name]:
        found = runs(records, cc, **OTHERS[name])
        cells = [
            name, cc, str(len(found)), mean(found, link, 1),
            mean(found, lambda r: reno(r) / 1e6, 0),
            relative(found, base), mean(found, late_drops, 0),
            mean(found, sent_again, 0), mean(found, fast_jain, 2),
        ]  # fmt: skip
        assert row(*cells) in page


def test_it_gives_way_beside_cubic(root: Path, page: str, text_of: TextOf) -> None:
    records = read(root, "others")
    ours, cubic, highspeed = (
        fmean(
            r["groups"]["fast"]["goodput_bps"] / 1e6
            for r in runs(records, cc, **OTHERS["10 cubic"])
        )
        for cc in ("hstcp_gentle", "cubic", "highspeed")
    )
    assert (
        f"its two flows have {ours:.0f} Mbit/s together, half of an equal share (159), where two "
        f"flows of CUBIC have {cubic:.0f} and two of HighSpeed {highspeed:.0f}."
    ) in page
    choosing = text_of("choosing.md")
    said = f"two flows have {ours:.0f} Mbit/s together beside ten of CUBIC, half of an equal share"
    assert said in choosing


def by_chance(some: int, runs: int, others: int) -> float:
    """Fisher's exact test, one-sided: that all ``some`` of both kinds are among these runs."""
    return math.comb(runs, some) / math.comb(runs + others, some)


def test_timeouts_without_sack(root: Path, text_of: TextOf) -> None:
    """What figures-gentle.md says of figure 2 on the three stacks."""
    found = kept.read(root / "docs" / "results" / "records" / "gentle.jsonl.xz")["gentle-2"]

    def having(variant: str, *ns: int) -> tuple[int, int]:
        some = [r for r in found[variant] if r["set"]["n"] in ns]
        return sum(timeouts(r) > 0 for r in some), len(some)

    period, usual = having("period", 2, 5), having("today", 1, 2, 5, 10)
    alone, beside = having("tcp_sack=0", 2, 5), having("tcp_sack=1", 2, 5)
    assert usual[0] == beside[0] == 0
    less = [sum(used(r) < 0.99 for r in found[f"tcp_sack={on}"]) for on in (0, 1)]
    assert less[1] == 0
    prose = text_of("results/figures-gentle.md")
    assert f"one does in {period[0]} of {period[1]} runs, and its window falls to one" in prose
    assert f"a sender times out by default in none of {usual[1]} runs" in prose
    chance = f"(Fisher's exact test, one-sided: p = {by_chance(*alone, beside[1]):.3f})"
    assert (
        f"a sender times out in {alone[0]} of {alone[1]} runs (`[tcp_sack=0]`), with it in none of "
        f"{beside[1]} of the same length (`[tcp_sack=1]`) {chance}"
    ) in prose
    assert f"{less[0]} of the {alone[1]} runs without SACK use less than 99 %" in prose
    two, five = (
        f"{100 * fmean(used(r) for r in found['tcp_sack=0'] if r['set']['n'] == n):.1f}"
        for n in (2, 5)
    )
    assert f"({two} and {five} % with two and five senders)" in prose


FRAME = 1514  # bytes of a packet in the queue


def locked_out(record: Record) -> bool:
    """Whether HSTCP keeps the queue full: it holds 98 % of its limit in the mean."""
    return record["queue"]["mean_bytes"] > 0.98 * record["set"]["queue"] * FRAME


def test_the_unused_part_without_fast_senders(root: Path, text_of: TextOf) -> None:
    """With 50 packets in each switch, and with 10000."""
    path = root / "docs" / "results" / "records" / "gentle.jsonl.xz"
    found = [r for r in kept.read(path)["gentle-2"]["today"] if r["set"]["n"] == 0]
    large = read(root, "n0-switches")
    assert len(large) == 5 and all(r["set"]["reno_queue"] == 10_000 for r in large)
    assert min(map(used, large)) > 0.9999
    assert not any(r["queue"]["drops"] for r in [*found, *large])
    unused = 1000 * fmean(1 - used(r) for r in found)
    prose = text_of("results/figures-gentle.md")
    assert f"(N = 0) {unused:.0f} Mbit/s are unused because of the switches" in prose


def test_seeds_that_differ(root: Path, text_of: TextOf) -> None:
    """What figures-gentle.md says of figure 6 at 100 ms on the default stack."""
    figures = kept.read(root / "docs" / "results" / "records" / "gentle.jsonl.xz")
    far = [r for r in figures["gentle-6"]["today"] if r["set"]["delay"] == "100ms"]
    small = [r for r in far if r["set"]["queue"] == 4167]
    large = [r for r in far if (r["set"]["queue"], r["set"]["reno_rate"]) == (16667, "12mbit")]
    assert {r["queue"]["early_drops"] for r in small} == {0}
    others = [r for r in small if not locked_out(r)]
    firsts = [r["flows"][0] for r in others]
    assert all(flow["retransmits"] for flow in firsts)
    early = sum(not flow["steady"]["retransmits"] for flow in firsts)
    rates = [flow["goodput_bps"] / 1e6 for flow in firsts]
    most = max(r["flows"][1]["timeouts"] for r in small)
    prose = text_of("results/figures-gentle.md")
    assert f"In none of the {len(small)} runs does the shared queue drop a packet" in prose
    assert f"through up to {most} timeouts" in prose
    assert f"In {sum(map(locked_out, small))} of the {len(small)} runs this lasts" in prose
    assert f"{sum(map(locked_out, large))} run of {len(large)} with 16667 packets" in prose
    assert (
        f"In the other {len(others)} HSTCP loses packets, too, in {early} of them before the 80 s "
        f"that count, and has {min(rates):.0f} to {max(rates):.0f} Mbit/s."
    ) in prose


def test_a_link_of_its_own_that_is_faster(root: Path, page: str) -> None:
    """Figure 6's point of 100 ms with HSTCP behind 10 Gbit/s."""
    found = read(root, "ownlink")
    assert len(found) >= 2
    fast = mean(found, lambda r: r["groups"]["fast"]["goodput_bps"] / 1e6, 0)
    slow = mean(found, lambda r: reno(r) / 1e6, 1)
    said = (root / "docs" / "results" / "figures-gentle.md").read_text()
    assert f"{fast} and {slow} Mbit/s" in " ".join(said.split())
