# SPDX-License-Identifier: GPL-2.0
"""Sentences of docs/choosing.md say what the records beside the results give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean, median

import pytest

from apogee_lab.commands import beside
from apogee_lab.papers import kept
from apogee_lab.results.statistics import mean_of, ratio_of
from tests.unit.papers.found import Record, TextOf, dropped, goodput, runs, short

Read = Callable[[str], list[Record]]


@pytest.fixture(scope="module")
def prose(text_of: TextOf) -> str:
    return text_of("choosing.md")


def used(record: Record) -> float:
    """Percent of the link."""
    return 100 * record["total_goodput_bps"] / record["limit_bps"]


def from_to(values: Iterable[float], decimals: int = 0) -> str:
    values = sorted(values)
    low, high = (f"{value:.{decimals}f}" for value in (values[0], values[-1]))
    return low if low == high else f"{low} to {high}"


# --- star -------------------------------------------------------------------------------------


LENGTHS = ("500ms", "1s", "2s", "4s")


def lost(read: Read, name: str, cc: str, length: str) -> dict[int, float]:
    """Seconds lost by an outage, by seed."""
    found = runs(read(f"outages-{name}.jsonl"), cc, **{f"{name}_blackout": f"45s:{length}"})
    return {record["seed"]: record["blackout"]["lost_s"] for record in found}


def test_who_loses_less_in_an_outage(read: Read, prose: str) -> None:
    """Beyond doubt, and in the mean: what the page lists, and no other."""
    surely, means = set(), set()
    for name in ("data", "ack"):
        for length in LENGTHS:
            star = lost(read, name, "star", length)
            for cc in ("bbr", "cubic", "hybla"):
                found = lost(read, name, cc, length)
                more = mean_of(found[seed] - star[seed] for seed in star)
                assert more.bounds
                if more.bounds[1] < 0:
                    surely.add((name, length, cc))
                elif more.value < 0:
                    means.add((name, length, cc))
                    text = f"{more.value:.2f} ± {more.bounds[1] - more.value:.2f}"
                    rates = fmean(found.values()), fmean(star.values())
    assert surely == {
        ("data", "4s", "bbr"), ("ack", "2s", "bbr"), ("ack", "4s", "bbr"),
        ("data", "500ms", "cubic"), ("ack", "500ms", "cubic"), ("ack", "1s", "cubic"),
        ("ack", "500ms", "hybla"), ("ack", "2s", "hybla"),
    }  # fmt: skip
    assert means == {("data", "500ms", "hybla")}
    said = f"in the mean without data for .5 s ({rates[0]:.2f}, star {rates[1]:.2f}: {text})."
    assert said in prose
    cubic, star = (fmean(lost(read, "data", cc, "500ms").values()) for cc in ("cubic", "star"))
    assert f"CUBIC without data for .5 s ({cubic:.2f}; star {star:.2f}) or" in prose


def test_half_of_its_share(read: Read, prose: str) -> None:
    """CUBIC beside star with a tenth of a product."""
    records = [*read("sharing-star.jsonl"), *read("sharing-others.jsonl")]
    row = beside.shares(records)["cubic", 0.0, "62.5kB"]
    seeds = sorted(row["star"])
    found = ratio_of(*([row[name][seed].other for seed in seeds] for name in ("star", beside.OWN)))
    assert found.bounds
    ratio, low, high = (f"{x:.2f}".removeprefix("0") for x in (found.value, *found.bounds))
    assert f"CUBIC with a tenth of a product about half: {ratio}, {low} to {high}." in prose


def listed(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def test_ten_flows(read: Read, prose: str) -> None:
    records = read("moving/ten.jsonl")
    queues = ("15kB", "62.5kB", "625kB")

    def jain(cc: str) -> str:
        found = [fmean(r["jain"] for r in runs(records, cc, queue=queue)) for queue in queues]
        return listed([short(value) for value in found])

    def again(cc: str) -> str:
        found = runs(read("engines-ten-qemu.jsonl"), cc, queue=queues[1])
        return short(fmean(r["jain"] for r in found))

    def largest(queue: str) -> str:
        shares = [
            max(flow["goodput_bps"] for flow in record["flows"]) * 10 / record["total_goodput_bps"]
            for record in runs(records, "star", queue=queue)
        ]
        return f"{fmean(shares):.1f}"

    def most(cc: str) -> str:
        return f"{max(dropped(runs(records, cc, queue=queue)) for queue in queues):.0f} %"

    said = (
        f"ten flows have a Jain index of {jain('star')} with a queue of .02, .1 and 1 product (bbr "
        f"{jain('bbr')}, CUBIC {jain('cubic')}; on engine `qemu` star {again('star')} and bbr "
        f"{again('bbr')} with .1 product), the largest has {listed([*map(largest, queues)])} "
        f"times a fair share in the mean, and they drop {most('star')} of what they send at "
        f"most (bbr {most('bbr')}, hybla {most('hybla')})"
    )
    assert said in prose


def test_two_flows(read: Read, prose: str) -> None:
    """Both at once with a long and with a short queue, and the second 30 s later."""
    twins, late = read("twins.jsonl"), read("late.jsonl")

    def jain(records: list[Record], queue: str, ber: float) -> list[float]:
        return [r["jain"] for r in runs(records, "star+star", queue=queue, ber=ber)]

    long = [fmean(jain(twins, "625kB", ber)) for ber in (0.0, 1e-8, 1e-7, 1e-6)]
    worst = [short(min(jain(twins, "15kB", ber))) for ber in (1e-7, 1e-6, 1e-5)]
    assert min(min(jain(twins, "15kB", ber)) for ber in (0.0, 1e-8)) > 0.9
    later = [short(fmean(jain(late, "15kB", ber))) for ber in (0.0, 1e-8, 1e-7, 1e-6, 1e-5)]
    said = (
        f"Two flows with a product of queue have {short(min(long))} and more up to 1e-6; with ten "
        f"packets single runs come to {worst[0]} at 1e-7, {worst[1]} at 1e-6 and {worst[2]} at "
        f"1e-5, and where the second flow starts 30 s later the mean is {min(later[:3])} to "
        f"{max(later[:3])} up to 1e-7, {later[3]} at 1e-6 and {later[4]} at 1e-5"
    )
    assert said in prose


def test_what_star_keeps_beside_bbr(read: Read, prose: str) -> None:
    own = [
        fmean(
            r["flows"][0]["goodput_bps"]
            for r in runs(read("sharing-star.jsonl"), "star+bbr", queue=queue, ber=0.0)
        )
        / 1e6
        for queue in ("12.5kB", "62.5kB", "312.5kB")
    ]
    least, most = (f"{value:.1f}".removeprefix("0") for value in (min(own), max(own)))
    assert f"Beside bbr star keeps {least} to {most} Mbit/s with a queue of up to half a" in prose


def test_transfers_one_after_the_other(read: Read, prose: str) -> None:
    """Medians of star's transfers over CUBIC's, 100 kB to 10 MB."""
    records = read("moving/requests.jsonl")

    def times(cc: str) -> dict[int, float]:
        found: dict[int, list[float]] = {}
        for record in runs(records, cc):
            for size in record["requests"]["sizes"]:
                found.setdefault(size["bytes"], []).extend(size["times_s"])
        return {size: median(each) for size, each in found.items() if size >= 100_000}

    cubic = times("cubic")
    ratios = [time / cubic[size] for size, time in times("star").items()]
    assert len(ratios) == 3
    said = (
        "Transfers of 100 kB to 10 MB over this link, one after the other on new connections, take "
        f"{from_to(ratios, 2)} of the time that they take with CUBIC."
    )
    assert said in prose


def test_a_longer_path(read: Read, prose: str) -> None:
    found = read("moving/longest.jsonl")
    star, cubic, hybla, bbr = (
        f"{goodput(runs(found, cc, ber=0.0)):.2f}" for cc in ("star", "cubic", "hybla", "bbr")
    )
    assert f"it has {star} Mbit/s (CUBIC {cubic}, hybla {hybla}, bbr {bbr})" in prose


def test_what_short_queues_and_policers_drop(read: Read, prose: str) -> None:
    def share(name: str, cc: str, ber: float = 0.0) -> str:
        return short(dropped(runs(read(f"moving/{name}.jsonl"), cc, ber=ber)), 1)

    few, deep = "ten-packets", "policer-deep"
    said = (
        f"Ten packets of queue drop {share(few, 'star')} % of its segments, "
        f"{share(few, 'star', 1e-5)} % at 1e-5, a policer of 100 kB "
        f"{share('policer', 'star')} %, one of 600 kB, which lets the first flight pass at the "
        f"access link's rate, {share(deep, 'star')} % (CUBIC {share(deep, 'cubic')} %)."
    )
    assert said in prose


def test_where_bbr_has_more(read: Read, prose: str) -> None:
    """Paths on which the RTT or the rate changes, with loss."""
    lossy = {"loss": "0.5%", "jitter": "0s"}
    more = [
        goodput(runs(read(f"moving/{name}.jsonl"), "bbr", **where))
        / goodput(runs(read(f"moving/{name}.jsonl"), "star", **where))
        for name, where in (
            ("leo", lossy), ("leo-jitter", lossy | {"jitter": "3ms"}), ("jitter-wide", {}),
        )
    ]  # fmt: skip
    leo, jitter, wide = (f"{100 * (ratio - 1):.0f} %" for ratio in more)
    said = (
        f"(LEO, .5 %), bbr has {leo} more, with 3 ms of jitter {jitter}; with ACK jitter that "
        f"deviates by 40 ms on 500 ms, at 1e-6, {wide}."
    )
    assert said in prose


def test_transfers_beside_bbr(read: Read, prose: str) -> None:
    def time(cc: str) -> str:
        found = [
            s["times_s"]
            for record in runs(read("moving/requests.jsonl"), f"{cc}+bbr")
            for s in record["requests"]["sizes"]
            if s["bytes"] == 10_000_000
        ]
        return f"{fmean(median(times) for times in found if times):.0f}"

    said = (
        f"star's transfers of 10 MB take {time('star')} s in the median (CUBIC's {time('cubic')}, "
        f"bbr's {time('bbr')})"
    )
    assert said in prose


# --- hstcp_gentle -----------------------------------------------------------------------------


def test_early_exit(read: Read, prose: str) -> None:
    records = read("gentle/slowstart.jsonl")
    off, on = (
        f"{fmean(r['queue']['early_drops'] for r in found):.0f}"
        for found in (
            runs(records, "hstcp_gentle", **{"hstcp_gentle.early_exit": early}) for early in (0, 1)
        )
    )
    said = f"ends slow start before it overflows the queue: {on} drops instead of {off} in the "
    assert said in prose


def lone(read: Read, cc: str, ber: float, early_exit: int | None = None) -> list[Record]:
    where = {"host_rate": "10gbit", "ber": ber, "hstcp_gentle.early_exit": early_exit}
    return runs(read("gentle/lone.jsonl"), cc, **where)


def test_alone_on_a_long_path(read: Read, prose: str) -> None:
    ours = lone(read, "hstcp_gentle", 0.0, 2)
    assert not any(record["queue"]["drops"] for record in ours)
    others = {}
    for cc in ("scalable", "cubic", "highspeed", "bbr"):
        found = lone(read, cc, 0.0)
        decimals = 1 if cc in ("scalable", "cubic") else 0
        drops = max(record["queue"]["drops"] for record in found)
        others[cc] = from_to(map(used, found), decimals), drops
    said = (
        f"it loses nothing and uses {from_to(map(used, ours), 1)} % of the first minute (scalable "
        f"{others['scalable'][0]} % with {others['scalable'][1]} drops, cubic "
        f"{others['cubic'][0]} % with {others['cubic'][1]}, highspeed {others['highspeed'][0]} %, "
        f"bbr {others['bbr'][0]} % with 400 000 and more"
    )
    assert said in prose
    assert min(record["queue"]["drops"] for record in lone(read, "bbr", 0.0)) > 400_000


def test_alone_on_a_fast_link(read: Read, prose: str) -> None:
    records = read("gentle/lone.jsonl")
    fast, same = (
        [
            f"{fmean(map(used, runs(records, cc, host_rate=host, ber=1e-9))):.1f}"
            for cc in ("star", "bbr", "cubic")
        ]
        for host in ("10gbit", "1gbit")
    )
    drops = [record["queue"]["drops"] for record in lone(read, "star", 1e-9)]
    lossy = [count for count in drops if count]
    assert (len(lossy), len(drops)) == (4, 5)
    said = (
        f"the sender's own link 10 Gbit/s, star uses {fast[0]} %, bbr {fast[1]} %, CUBIC {fast[2]} "
        f"%; behind a link of 1 Gbit/s {same[0]}, {same[1]} and {same[2]} %. With the faster link "
        f"star's start overflows the queue in four of five runs, by {from_to(lossy)} packets"
    )
    assert said in prose


def test_alone_with_rare_losses(read: Read, prose: str) -> None:
    shares = {
        (cc, early): from_to(map(used, lone(read, cc, 1e-9, early)))
        for cc, early in (
            ("hstcp_gentle", 0), ("hstcp_gentle", 2), ("highspeed", None), ("cubic", None),
            ("scalable", None), ("bbr", None),
        )
    }  # fmt: skip
    ours, steep, *others = shares.values()
    said = (
        f"At a bit error rate of 1e-9 it reached {ours} % there by default, {steep} % with "
        "`early_exit=2` (highspeed {} %, cubic {} %, scalable {} %, bbr {} %"
    ).format(*others)
    assert said in prose


# --- compound_plus ----------------------------------------------------------------------------


def test_late_starts(root: Path, prose: str) -> None:
    """Stations that start within 30 s: the defaults, and as published."""
    records = kept.read(root / "docs" / "results" / "records" / "compound.jsonl.xz")
    late = records["compound-late"]

    def index(variant: str, n: int) -> str:
        found = runs(late[variant], "compound_plus", n=n, start="30s")
        return f"{fmean(record['jain'] for record in found):.2f}"

    said = (
        f"Stations that start within 30 s reach an index of {index('today', 10)} with 10 stations "
        f"and {index('today', 20)} with 20 (as published {index('letter', 10)} and "
        f"{index('letter', 20)})."
    )
    assert said in prose


def test_stations_that_get_nothing(root: Path, prose: str) -> None:
    """Less than 0.01 Mbit/s, of twenty stations in all runs together."""
    path = root / "docs" / "results" / "records" / "compound.jsonl.xz"
    figure = kept.read(path)["compound-2"]

    def starved(variant: str, cc: str) -> tuple[int, int]:
        found = runs(figure[variant], cc, n=20)
        flows = [flow["goodput_bps"] for record in found for flow in record["flows"]]
        return sum(goodput < 1e4 for goodput in flows), len(flows)

    reno, cubic, plain, plus = (
        starved("today", cc) for cc in ("reno", "cubic", "compound", "compound_plus")
    )
    said = (
        f"{reno[0]} of reno's {reno[1]}, {cubic[0]} of CUBIC's, {plain[0]} of Compound's "
        f"{plain[1]}, one of compound_plus's {plus[1]}; with a random phase"
    )
    assert said in prose and plus[0] == 1 and cubic[1] == reno[1]
    again = starved("random", "compound")
    assert f"phase {again[0]} of Compound's {again[1]} and one of CUBIC's." in prose
    assert starved("random", "cubic")[0] == 1
    none = [(variant, cc) for variant in ("today", "random") for cc in ("vegas", "bbr")]
    assert not any(starved(*each)[0] for each in [*none, ("random", "reno")])
    assert not starved("random", "compound_plus")[0]
