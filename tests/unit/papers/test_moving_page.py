# SPDX-License-Identifier: GPL-2.0
"""docs/results/moving.md, and choosing.md of moving paths, say what the records give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from statistics import fmean, median

import pytest

from apogee_lab.results.text import cell
from tests.unit.papers.found import (
    Read,
    Record,
    dropped,
    from_to,
    goodput,
    mean,
    runs,
    short,
    used,
)

PAGE = "results/moving.md"
CCS = ("star", "bbr", "cubic", "hybla")
#: Runs on a moving path: file, algorithm, settings.
Of = Callable[..., list[Record]]


@pytest.fixture(scope="module")
def of(read: Read) -> Of:
    return lambda name, cc, **where: runs(read(f"moving/{name}.jsonl"), cc, **where)


def mbits(found: Iterable[Record]) -> str:
    return cell([record["total_goodput_bps"] / 1e6 for record in found], 2)


def test_every_rate_and_round_trip(read: Read, page: str) -> None:
    """Where star is not the best of four."""
    records = [*read("grid/star.jsonl"), *read("grid/peers.jsonl")]
    rtts = {"15ms": "30", "60ms": "120", "300ms": "600"}
    points = list(product(("2", "10", "50", "250"), rtts, (0.0, 1e-7, 1e-6)))
    less, little = {}, {}
    for point in points:
        rate, delay, ber = point
        where = {"rate": f"{rate}mbit", "delay": delay, "ber": ber}
        found = {cc: runs(records, cc, **where) for cc in CCS}
        assert all(len(each) == 5 for each in found.values())
        star, *others = map(goodput, found.values())
        share = fmean(map(used, found["star"]))
        if star / max(others) < 1 - 3.5e-4:
            less[point] = 100 * (1 - star / max(others))
        if share <= 97 and delay != "300ms":
            little[point] = share / 100
    near, first, close, second = (
        less.pop(point)
        for point in (
            ("10", "15ms", 1e-6), ("2", "15ms", 1e-7), ("2", "60ms", 1e-6), ("2", "15ms", 1e-6)
        )
    )  # fmt: skip
    assert not less and round(first) == round(second) == 3
    ((at, share),) = little.items()
    assert at == ("2", "15ms", 1e-6)
    assert f"In {len(points) - 4} of all {len(points)} rows star has" in page
    assert (short(close, 1), short(share, 3), short(near, 1)) == (".1", ".962", ".2")


def sizes(found: list[Record], size: int) -> list[Record]:
    """What each run has of transfers of a size."""
    every = [each for record in found for each in record["requests"]["sizes"]]
    per_seed = [each for each in every if each["bytes"] == size]
    assert len(per_seed) == len(found)
    return per_seed


# --- sentences --------------------------------------------------------------------------------


def more(of: Of, name: str, *ccs: str, **where: object) -> float:
    """Per cent that star has more than bbr, or another than another."""
    ours, theirs = (goodput(of(name, cc, **where)) for cc in ccs or ("star", "bbr"))
    return 100 * (ours / theirs - 1)


def test_a_longer_path(of: Of, choosing: str) -> None:
    for ber in (0.0, 1e-7, 1e-6):
        assert max(CCS, key=lambda cc: goodput(of("longer", cc, ber=ber))) == "star"
    star, bbr, cubic, hybla = (f"{goodput(of('longest', cc, ber=0.0)):.2f}" for cc in CCS)
    assert f"it has {star} Mbit/s (CUBIC {cubic}, hybla {hybla}, bbr {bbr})" in choosing


def test_short_queues_and_policers(of: Of, choosing: str) -> None:
    star, bbr = (mean(of("slower-short", cc), "queue", "drops") for cc in ("star", "bbr"))
    assert short(star / bbr) == ".26"
    assert dropped(of("slower-long", "star")) == 0
    few, some, many = (dropped(of("ten-packets", "star", ber=ber)) for ber in (0.0, 1e-6, 1e-5))
    assert short(some, 1) == ".8"
    assert [f"{more(of, 'ten-packets', ber=ber):.0f}" for ber in (0.0, 1e-6)] == ["4", "8"]
    police = dropped(of("policer", "star", ber=0.0))
    assert all(0 <= more(of, "policer", ber=ber) < 1.5 for ber in (0.0, 1e-7))
    deep, cubic = (dropped(of("policer-deep", cc, ber=0.0)) for cc in ("star", "cubic"))
    assert (
        f"Ten packets of queue drop {short(few, 1)} % of its segments, {many:.1f} % at 1e-5, a "
        f"policer of 100 kB {police:.1f} %, one of 600 kB, which lets the first flight pass at the "
        f"access link's rate, {deep:.1f} % (CUBIC {cubic:.1f} %)."
    ) in choosing


def test_jitter_and_leo(read: Read, of: Of, choosing: str) -> None:
    without = goodput(runs(read("open.jsonl"), "star", ber=1e-6))
    even, wide = (goodput(of(name, "star")) for name in ("jitter-even-wide", "jitter-wide"))
    assert (short(even / without), short(wide / without)) == (".97", ".74")
    gain, few, some = (
        f"{more(of, name, 'bbr', 'star', **where):.0f} %"
        for name, where in (
            ("jitter-wide", {}),
            ("leo", {"loss": "0.5%", "jitter": "0s"}),
            ("leo-jitter", {"loss": "0.5%", "jitter": "3ms"}),
        )
    )
    assert more(of, "leo", loss="0.01%") > 0 and more(of, "leo", loss="0.2%") > 0
    less = [f"{-more(of, 'leo', loss=loss):.1f}" for loss in ("0.5%", "1%")]
    assert less == ["1.9", "3.8"]
    assert (
        f"(LEO, .5 %), bbr has {few} more, with 3 ms of jitter {some}; with ACK jitter that "
        f"deviates by 40 ms on 500 ms, at 1e-6, {gain}."
    ) in choosing


def listed(texts: Iterable[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}"


def test_indices_of_ten_flows(read: Read, of: Of, choosing: str) -> None:
    star, cubic = (
        [[r["jain"] for r in of("ten-delays", cc, delay=delay)]
         for delay in ("246ms", "248ms", "252ms", "256ms")]
        for cc in ("star", "cubic")
    )  # fmt: skip
    assert listed(short(fmean(each)) for each in star) == ".94, .97, .93 and .94"
    assert {short(fmean(each)) for each in cubic} <= {".96", ".97"}
    assert short(min(map(min, star))) == ".87"

    found = {cc: [of("ten", cc, queue=q) for q in ("15kB", "62.5kB", "625kB")] for cc in CCS}
    jain = {cc: listed(short(mean(each, "jain")) for each in found[cc]) for cc in CCS}
    most = {cc: f"{max(map(dropped, found[cc])):.0f} %" for cc in CCS}
    again = [
        short(mean(runs(read("engines-ten-qemu.jsonl"), cc, queue="62.5kB"), "jain"))
        for cc in ("star", "bbr")
    ]
    largest = [
        fmean(max(f["goodput_bps"] for f in r["flows"]) * 10 / r["total_goodput_bps"] for r in each)
        for each in found["star"]
    ]
    assert (
        f"ten flows have a Jain index of {jain['star']} with a queue of .02, .1 and 1 product (bbr "
        f"{jain['bbr']}, CUBIC {jain['cubic']}; on engine `qemu` star {again[0]} and bbr "
        f"{again[1]} with .1 product), the largest has {listed(f'{x:.1f}' for x in largest)} "
        f"times a fair share in the mean, and they drop {most['star']} of what they send at "
        f"most (bbr {most['bbr']}, hybla {most['hybla']})"
    ) in choosing


def test_a_trace_that_is_followed(read: Read, of: Of) -> None:
    def rtt(cc: str, queue: str, ber: float) -> float:
        return mean(of("trace", cc, queue=queue, ber=ber), "flows", 0, "rtt_ms", "mean")

    queues = ("75kB", "250kB")
    assert all(more(of, "trace", queue=queue, ber=0.0) > 0 for queue in queues)
    assert all(rtt("star", queue, 0.0) > rtt("bbr", queue, 0.0) for queue in queues)
    ranges = []
    for cc in ("star", "bbr"):
        found = [r for r in read("moving/trace-delays.jsonl") if r["cc"] == cc]
        assert len({record["set"]["delay"] for record in found}) == len(found) == 7
        ranges.append(from_to(record["flows"][0]["rtt_ms"]["mean"] for record in found))
    assert ranges == ["324 to 431", "251 to 339"]
    less = [f"{-more(of, 'trace', queue=queue, ber=1e-6):.1f}" for queue in queues]
    shares = [short(rtt("star", queue, 1e-6) / rtt("bbr", queue, 1e-6)) for queue in queues]
    assert (less, shares) == (["3.6", "3.7"], [".64", ".50"])


def test_what_transfers_and_bulk_flows_get(of: Of, choosing: str) -> None:
    def size(mix: str, bytes_: int, key: str) -> float:
        return mean(sizes(of("requests", mix), bytes_), key)

    for bytes_ in (100_000, 1_000_000, 10_000_000):
        ours, theirs = (size(mix, bytes_, "median_s") for mix in ("star+cubic", "cubic+cubic"))
        assert ours < 0.5 * theirs
    times = [f"{size(f'{cc}+bbr', 10_000_000, 'median_s'):.0f}" for cc in ("star", "cubic", "bbr")]
    assert (
        f"star's transfers of 10 MB take {times[0]} s in the median (CUBIC's {times[1]}, "
        f"bbr's {times[2]})"
    ) in choosing

    def all_times(cc: str, bytes_: int) -> float:
        return median(t for each in sizes(of("requests", cc), bytes_) for t in each["times_s"])

    ratios = [all_times("star", 10**n) / all_times("cubic", 10**n) for n in (5, 6, 7)]
    assert (
        "Transfers of 100 kB to 10 MB over this link, one after the other on new connections, take "
        f"{from_to(ratios, 2)} of the time that they take with CUBIC."
    ) in choosing
