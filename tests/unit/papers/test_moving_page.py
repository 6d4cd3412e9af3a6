# SPDX-License-Identifier: GPL-2.0
"""docs/results/moving.md says what the records give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from statistics import fmean

import pytest

from apogee_lab.commands.paths import paths, table
from apogee_lab.results.text import cell
from tests.unit.papers.found import (
    Read,
    Record,
    dropped,
    from_to,
    goodput,
    mean,
    row,
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


#: Files whose records are the rows of the first two tables, and how many rows they are.
PATHS = {
    "still": 2, "longer": 3, "longest": 3, "slower-short": 1, "slower-long": 1, "ten-packets": 3,
    "policer": 2, "policer-deep": 1, "stall": 2, "outage": 2, "loss": 1, "burst": 1,
    "burst-time": 1, "jitter-even": 1, "jitter-even-wide": 1, "jitter": 1, "jitter-wide": 1,
    "leo": 4, "there-and-back": 3, "down-and-up": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", PATHS)
def test_moving_paths(read: Read, page: str, name: str) -> None:
    """The cells; what a row is called is the page's."""
    _, *rows = table(paths(read(f"moving/{name}.jsonl")))
    assert len(rows) == PATHS[name]
    for cells in rows:
        assert f" {row(*cells[1:])}" in page


def mbits(found: Iterable[Record]) -> str:
    return cell([record["total_goodput_bps"] / 1e6 for record in found], 2)


def test_jitter_of_the_acks_on_leo(of: Of, page: str) -> None:
    for jitter, name in (("0s", "0"), ("1ms", "1 ms"), ("3ms", "3 ms")):
        cells = (mbits(of("leo-jitter", cc, jitter=jitter)) for cc in CCS[:3])
        assert row(name, *cells) in page


@pytest.mark.parametrize("queue", ["15kB", "62.5kB", "625kB"])
@pytest.mark.parametrize("cc", CCS)
def test_ten_flows(of: Of, page: str, cc: str, queue: str) -> None:
    found = of("ten", cc, queue=queue)
    assert len(found) == 5 and all(len(record["flows"]) == 10 for record in found)
    goodputs = [sorted(f["goodput_bps"] / 1e6 for f in record["flows"]) for record in found]
    drops = [record["queue"]["drops"] for record in found]
    timeouts = [sum(flow["timeouts"] or 0 for flow in record["flows"]) for record in found]
    cells = [
        queue, cc, mbits(found), cell([each[0] for each in goodputs], 2),
        cell([each[0] / fmean(each) for each in goodputs], 2),
        cell([each[-1] / fmean(each) for each in goodputs], 2),
        cell([record["jain"] for record in found], 3),
        f"{cell(drops, 0)}, {dropped(found):.1f} %", cell(timeouts, 1),
    ]  # fmt: skip
    assert row(*cells) in page


def test_every_rate_and_round_trip(read: Read, page: str) -> None:
    """The rows, and where star is not the best of them."""
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
        peers = (mbits(found[cc]) for cc in ("bbr", "hybla", "cubic"))
        cells = [rate, rtts[delay], f"{ber:.0e}".replace("e-0", "e-") if ber else "0"]
        assert row(*cells, mbits(found["star"]), f"{share:.1f}", *peers) in page
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
    assert f"in {len(points) - 4} of the {len(points)} rows" in page
    assert f"It is {short(close, 1)} % below the best at 2 Mbit/s, 120" in page
    assert f"30 ms and 1e-6 ({short(share, 3)})." in page
    assert f", {short(near, 1)} % below bbr at 10 Mbit/s" in page


def test_an_hour(of: Of, page: str) -> None:
    for ber, name in ((0.0, "0"), (1e-6, "1e-6")):
        (record,) = of("hour", "star", ber=ber)
        (flow,) = record["flows"]
        assert record["duration_s"] == 3600
        rtt = flow["rtt_ms"]
        cells = [f"{flow['goodput_bps'] / 1e6:.3f}", f"{used(record):.1f}", f"{rtt['mean']:.0f}"]
        assert row(name, *cells, f"{rtt['p99']:.0f}") in page


@pytest.mark.parametrize("queue", ["75kB", "250kB"])
@pytest.mark.parametrize(("ber", "name"), [(0.0, "0"), (1e-6, "1e-6")])
def test_a_trace_from_a_file(of: Of, page: str, queue: str, ber: float, name: str) -> None:
    cells = []
    for cc in CCS[:3]:
        found = of("trace", cc, queue=queue, ber=ber)
        assert len(found) == 5
        cells += [mbits(found), f"{mean(found, 'flows', 0, 'rtt_ms', 'mean'):.0f}"]
    assert row(queue, name, *cells) in page


def sizes(found: list[Record], size: int) -> list[Record]:
    """What each run has of transfers of a size."""
    every = [each for record in found for each in record["requests"]["sizes"]]
    per_seed = [each for each in every if each["bytes"] == size]
    assert len(per_seed) == len(found)
    return per_seed


@pytest.mark.parametrize("cc", CCS[:3])
@pytest.mark.parametrize("other", ["alone", *CCS[:3]])
def test_requests(of: Of, page: str, cc: str, other: str) -> None:
    """Median and 95th percentile in s, means over the seeds."""
    found = of("requests", cc if other == "alone" else f"{cc}+{other}")
    times = [
        " / ".join(f"{mean(sizes(found, 10**n), key):.2f}" for key in ("median_s", "p95_s"))
        for n in (4, 5, 6, 7)
    ]
    bulk = "–"
    if other != "alone":
        bulk = cell([record["flows"][1]["goodput_bps"] / 1e6 for record in found], 2)
    assert row(cc, other, *times, f"{mean(found, 'requests', 'transfers'):.0f}", bulk) in page


# --- sentences --------------------------------------------------------------------------------


def more(of: Of, name: str, *ccs: str, **where: object) -> float:
    """Per cent that star has more than bbr, or another than another."""
    ours, theirs = (goodput(of(name, cc, **where)) for cc in ccs or ("star", "bbr"))
    return 100 * (ours / theirs - 1)


def test_a_longer_path(of: Of) -> None:
    for ber in (0.0, 1e-7, 1e-6):
        assert max(CCS, key=lambda cc: goodput(of("longer", cc, ber=ber))) == "star"


def test_short_queues_and_policers(of: Of, page: str) -> None:
    star, bbr = (mean(of("slower-short", cc), "queue", "drops") for cc in ("star", "bbr"))
    assert f"causes {short(star / bbr)} of bbr's drops with 20 packets" in page
    assert dropped(of("slower-long", "star")) == 0
    few, some, many = (dropped(of("ten-packets", "star", ber=ber)) for ber in (0.0, 1e-6, 1e-5))
    least, most = sorted(short(value, 1) for value in (few, some))
    assert f"drops {least} to {most} % of what is sent ({many:.1f} % at 1e-5)" in page
    gains = [f"{more(of, 'ten-packets', ber=ber):.0f}" for ber in (0.0, 1e-6)]
    assert f"gives {' and '.join(gains)} % more goodput than bbr," in page
    stays, *others = sorted(
        record["total_goodput_bps"] / 1e6 for record in of("ten-packets", "bbr", ber=1e-5)
    )
    gain = 100 * (goodput(of("ten-packets", "star", ber=1e-5)) / fmean(others) - 1)
    said = f"{gain:.0f} % at 1e-5 without the run in which bbr stays at {short(stays)} Mbit/s"
    assert said in page
    police, lossy = (dropped(of("policer", "star", ber=ber)) for ber in (0.0, 1e-7))
    assert f"the policer of 100 kB drops {police:.1f} and {lossy:.1f} %" in page
    assert all(0 <= more(of, "policer", ber=ber) < 1.5 for ber in (0.0, 1e-7))
    deep = dropped(of("policer-deep", "star", ber=0.0))
    assert f"The **deep policer** drops {deep:.1f} %" in page


def test_jitter_and_leo(read: Read, of: Of, page: str) -> None:
    without = goodput(runs(read("open.jsonl"), "star", ber=1e-6))
    even, wide = (goodput(of(name, "star")) for name in ("jitter-even-wide", "jitter-wide"))
    assert f"leaves {short(even / without)} of the goodput without it ({without:.2f}, " in page
    assert f"with a deviation of 40 ms {short(wide / without)}:" in page
    gain = f"{more(of, 'jitter-wide', 'bbr', 'star'):.0f} %"
    assert f"bbr has {gain} more" in page
    assert more(of, "leo", loss="0.01%") > 0 and more(of, "leo", loss="0.2%") > 0
    less = [f"{-more(of, 'leo', loss=loss):.1f}" for loss in ("0.5%", "1%")]
    assert f"with .5 and 1 % it has {' and '.join(less)} % less" in page
    ours, theirs = (
        [mean(of("leo", cc, loss=loss), "flows", 0, "rtt_ms", "mean")
         for loss in ("0.2%", "0.5%", "1%")]
        for cc in ("star", "bbr")
    )  # fmt: skip
    assert f"({from_to(ours)} ms, bbr {from_to(theirs)})" in page


def listed(texts: Iterable[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}"


def test_indices_of_ten_flows(of: Of, page: str) -> None:
    star, cubic = (
        [[r["jain"] for r in of("ten-delays", cc, delay=delay)]
         for delay in ("246ms", "248ms", "252ms", "256ms")]
        for cc in ("star", "cubic")
    )  # fmt: skip
    means = listed(short(fmean(each)) for each in star)
    others = sorted(short(fmean(each)) for each in cubic)
    assert f"star's index is {means}, CUBIC's {others[0]} to {others[-1]} " in page
    assert f"runs of star come to {short(min(map(min, star)))}." in page


def test_a_trace_that_is_followed(read: Read, of: Of, page: str) -> None:
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
    assert f"a path of 52 to 68 ms it is {ranges[0]} ms, bbr's {ranges[1]}:" in page
    less = [f"{-more(of, 'trace', queue=queue, ber=1e-6):.1f}" for queue in queues]
    shares = [short(rtt("star", queue, 1e-6) / rtt("bbr", queue, 1e-6)) for queue in queues]
    said = f"With 1e-6 star has {' and '.join(less)} % less at {' and '.join(shares)} of bbr's RTT."
    assert said in page


def test_what_transfers_and_bulk_flows_get(of: Of, page: str) -> None:
    def size(mix: str, bytes_: int, key: str) -> float:
        return mean(sizes(of("requests", mix), bytes_), key)

    for bytes_ in (100_000, 1_000_000, 10_000_000):
        ours, theirs = (size(mix, bytes_, "median_s") for mix in ("star+cubic", "cubic+cubic"))
        assert ours < 0.5 * theirs
    slow = [f"{size(mix, 10_000_000, 'p95_s'):.0f}" for mix in ("star+cubic", "cubic+cubic")]
    assert f"take longer ({slow[0]} s, CUBIC's {slow[1]})." in page
    bulk = [f"{goodput(of('requests', mix), 1):.1f}" for mix in ("cubic+star", "bbr+star")]
    assert f"keeps {' and '.join(bulk)} Mbit/s beside transfers of CUBIC and bbr." in page
    times = [f"{size(f'{cc}+bbr', 10_000_000, 'median_s'):.0f}" for cc in ("star", "cubic", "bbr")]
    assert f"take longer ({times[0]} s) than CUBIC's ({times[1]}) and bbr's ({times[2]})." in page
