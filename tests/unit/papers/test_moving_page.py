# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/results/moving.md are those that the records beside it give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

import pytest

from apogee_lab.commands.paths import paths, table
from apogee_lab.results.text import cell
from tests.unit.papers.found import Record, TextOf, dropped, goodput, row, runs, short

Read = Callable[[str], list[Record]]

CCS = ("star", "bbr", "cubic", "hybla")


@pytest.fixture(scope="module")
def page(root: Path) -> list[str]:
    return (root / "docs" / "results" / "moving.md").read_text().splitlines()


#: Files whose records are the rows of the first two tables, and how many rows they are.
PATHS = {
    "still": 2, "longer": 3, "longest": 3, "slower-short": 1, "slower-long": 1, "ten-packets": 3,
    "policer": 2, "policer-deep": 1, "stall": 2, "outage": 2, "loss": 1, "burst": 1,
    "jitter-even": 1, "jitter-even-wide": 1, "jitter": 1, "jitter-wide": 1, "leo": 4,
    "there-and-back": 3, "down-and-up": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", PATHS)
def test_moving_paths(read: Read, page: list[str], name: str) -> None:
    """The cells; what a row is called is the page's."""
    _, *rows = table(paths(read(f"moving/{name}.jsonl")))
    assert len(rows) == PATHS[name]
    for cells in rows:
        assert [line for line in page if line.endswith(" " + row(*cells[1:]))], cells


def mbits(found: Iterable[Record]) -> str:
    return cell([record["total_goodput_bps"] / 1e6 for record in found], 2)


@pytest.mark.parametrize("jitter", ["0s", "1ms", "3ms"])
def test_jitter_of_the_acks_on_leo(read: Read, page: list[str], jitter: str) -> None:
    records = read("moving/leo-jitter.jsonl")
    name = jitter.replace("0s", "0").replace("ms", " ms")
    cells = (mbits(runs(records, cc, jitter=jitter)) for cc in ("star", "bbr", "cubic"))
    assert "  " + row(name, *cells) in page


@pytest.mark.parametrize("queue", ["15kB", "62.5kB", "625kB"])
@pytest.mark.parametrize("cc", CCS)
def test_ten_flows(read: Read, page: list[str], cc: str, queue: str) -> None:
    found = runs(read("moving/ten.jsonl"), cc, queue=queue)
    assert len(found) == 5 and all(len(record["flows"]) == 10 for record in found)
    goodputs = [sorted(f["goodput_bps"] / 1e6 for f in record["flows"]) for record in found]
    fair = [fmean(each) for each in goodputs]
    drops = [record["queue"]["drops"] for record in found]
    timeouts = [sum(flow["timeouts"] or 0 for flow in record["flows"]) for record in found]
    cells = [
        queue, cc, mbits(found), cell([each[0] for each in goodputs], 2),
        cell([each[0] / mean for each, mean in zip(goodputs, fair, strict=True)], 2),
        cell([each[-1] / mean for each, mean in zip(goodputs, fair, strict=True)], 2),
        cell([record["jain"] for record in found], 3),
        f"{cell(drops, 0)}, {dropped(found):.1f} %", cell(timeouts, 1),
    ]  # fmt: skip
    assert row(*cells) in page


def test_every_rate_and_round_trip(read: Read, page: list[str]) -> None:
    records = [*read("grid/star.jsonl"), *read("grid/peers.jsonl")]
    for rate in ("2", "10", "50", "250"):
        for delay, rtt in (("15ms", "30"), ("60ms", "120"), ("300ms", "600")):
            for ber, name in ((0.0, "0"), (1e-7, "1e-7"), (1e-6, "1e-6")):
                where = {"rate": f"{rate}mbit", "delay": delay, "ber": ber}
                found = {cc: runs(records, cc, **where) for cc in CCS}
                assert all(len(each) == 5 for each in found.values())
                limit = 100 * fmean(r["total_goodput_bps"] / r["limit_bps"] for r in found["star"])
                peers = (mbits(found[cc]) for cc in ("bbr", "hybla", "cubic"))
                assert row(rate, rtt, name, mbits(found["star"]), f"{limit:.1f}", *peers) in page


def test_where_star_is_not_the_best(read: Read, prose: str) -> None:
    """In the rows of every rate and round trip."""
    records = [*read("grid/star.jsonl"), *read("grid/peers.jsonl")]
    points = {(r["set"]["rate"], r["set"]["delay"], r["set"]["ber"]) for r in records}
    less, short = {}, {}
    for point in points:
        where = dict(zip(("rate", "delay", "ber"), point, strict=True))
        found = {cc: runs(records, cc, **where) for cc in CCS}
        star, *others = (fmean(r["total_goodput_bps"] for r in each) for each in found.values())
        share = fmean(r["total_goodput_bps"] / r["limit_bps"] for r in found["star"])
        if star / max(others) < 1 - 3.5e-4:
            less[point] = 100 * (1 - star / max(others))
        if share <= 0.97 and point[1] != "300ms":
            short[point] = share
    close = less.pop(("2mbit", "60ms", 1e-6))
    near, first, second = (
        less.pop(point)
        for point in (("10mbit", "15ms", 1e-6), ("2mbit", "15ms", 1e-7), ("2mbit", "15ms", 1e-6))
    )
    assert not less and round(first) == round(second) == 3 and list(CCS)[0] == "star"
    ((at, share),) = short.items()
    assert at == ("2mbit", "15ms", 1e-6)
    assert f"in {len(points) - 4} of the {len(points)} rows" in prose
    assert f"It is {close:.1f} % below the best at 2 Mbit/s, 120".replace("0.", ".") in prose
    assert f"30 ms and 1e-6 ({share:.3f}).".replace("0.", ".") in prose
    assert f", {near:.1f} % below bbr at 10 Mbit/s".replace("0.", ".") in prose


@pytest.mark.parametrize(("ber", "name"), [(0.0, "0"), (1e-6, "1e-6")])
def test_an_hour(read: Read, page: list[str], ber: float, name: str) -> None:
    (record,) = runs(read("moving/hour.jsonl"), "star", ber=ber)
    (flow,) = record["flows"]
    assert record["duration_s"] == 3600
    cells = [
        name, f"{flow['goodput_bps'] / 1e6:.3f}",
        f"{100 * flow['goodput_bps'] / record['limit_bps']:.1f}",
        f"{flow['rtt_ms']['mean']:.0f}", f"{flow['rtt_ms']['p99']:.0f}",
    ]  # fmt: skip
    assert row(*cells) in page


@pytest.mark.parametrize("queue", ["75kB", "250kB"])
@pytest.mark.parametrize(("ber", "name"), [(0.0, "0"), (1e-6, "1e-6")])
def test_a_trace_from_a_file(
    read: Read, page: list[str], queue: str, ber: float, name: str
) -> None:
    cells = [queue, name]
    for cc in ("star", "bbr", "cubic"):
        found = runs(read("moving/trace.jsonl"), cc, queue=queue, ber=ber)
        assert len(found) == 5
        rtt = fmean(record["flows"][0]["rtt_ms"]["mean"] for record in found)
        cells += [mbits(found), f"{rtt:.0f}"]
    assert row(*cells) in page


def times(found: list[Record], size: int) -> str:
    """Median and 95th percentile in s, means over the seeds."""
    per_seed = [
        each for record in found for each in record["requests"]["sizes"] if each["bytes"] == size
    ]
    assert len(per_seed) == len(found)
    return " / ".join(
        f"{fmean(each[key] for each in per_seed):.2f}" for key in ("median_s", "p95_s")
    )


@pytest.mark.parametrize("cc", ["star", "cubic", "bbr"])
@pytest.mark.parametrize("other", ["alone", "star", "cubic", "bbr"])
def test_requests(read: Read, page: list[str], cc: str, other: str) -> None:
    mix = cc if other == "alone" else f"{cc}+{other}"
    found = runs(read("moving/requests.jsonl"), mix)
    sizes = (times(found, size) for size in (10_000, 100_000, 1_000_000, 10_000_000))
    count = fmean(record["requests"]["transfers"] for record in found)
    bulk = "–"
    if other != "alone":
        bulk = cell([record["flows"][1]["goodput_bps"] / 1e6 for record in found], 2)
    assert row(cc, other, *sizes, f"{count:.0f}", bulk) in page


# --- what the page says of them -----------------------------------------------------------------


@pytest.fixture(scope="module")
def prose(text_of: TextOf) -> str:
    return text_of("results/moving.md")


@pytest.fixture(scope="module")
def of(read: Read) -> Callable[..., list[Record]]:
    """Runs on a moving path: file, algorithm, settings."""
    return lambda name, cc, **where: runs(read(f"moving/{name}.jsonl"), cc, **where)


Of = Callable[..., list[Record]]


def more(of: Of, name: str, **where: object) -> float:
    """Per cent that star has more than bbr."""
    return 100 * (goodput(of(name, "star", **where)) / goodput(of(name, "bbr", **where)) - 1)


def test_a_longer_path(of: Of) -> None:
    for ber in (0.0, 1e-7, 1e-6):
        assert max(CCS, key=lambda cc: goodput(of("longer", cc, ber=ber))) == "star"


def test_a_step_down(of: Of, prose: str) -> None:
    star, bbr = (
        fmean(record["queue"]["drops"] for record in of("slower-short", cc))
        for cc in ("star", "bbr")
    )
    assert f"causes {short(star / bbr, 2)} of bbr's drops with 20 packets" in prose
    assert dropped(of("slower-long", "star")) == 0


def test_ten_packets_of_queue(of: Of, prose: str) -> None:
    few, some, many = (dropped(of("ten-packets", "star", ber=ber)) for ber in (0.0, 1e-6, 1e-5))
    least, most = sorted(short(value, 1) for value in (few, some))
    assert f"drops {least} to {most} % of what is sent ({many:.1f} % at 1e-5)" in prose
    gains = [f"{more(of, 'ten-packets', ber=ber):.0f}" for ber in (0.0, 1e-6)]
    assert f"gives {' and '.join(gains)} % more goodput than bbr," in prose
    stays, *others = sorted(
        record["total_goodput_bps"] / 1e6 for record in of("ten-packets", "bbr", ber=1e-5)
    )
    gain = 100 * (goodput(of("ten-packets", "star", ber=1e-5)) / fmean(others) - 1)
    said = f"{gain:.0f} % at 1e-5 without the run in which bbr stays at {short(stays, 2)} Mbit/s"
    assert said in prose


def test_policers(of: Of, prose: str) -> None:
    shares = [f"{dropped(of('policer', 'star', ber=ber)):.1f}" for ber in (0.0, 1e-7)]
    assert f"the policer of 100 kB drops {' and '.join(shares)} %" in prose
    assert all(0 <= more(of, "policer", ber=ber) < 1.5 for ber in (0.0, 1e-7))
    deep = dropped(of("policer-deep", "star"))
    assert f"The **deep policer** drops {deep:.1f} %" in prose


def test_stalls_and_outages(read: Read, of: Of) -> None:
    still = goodput(of("still", "star", ber=0.0))
    for record in of("stall", "star", event="stall@30s:100ms") + of(
        "stall", "star", event="stall@30s:200ms"
    ):
        assert record["total_goodput_bps"] / 1e6 > 0.997 * still
        assert record["queue"]["drops"] == 0
    for event in {record["set"]["event"] for record in read("moving/outage.jsonl")}:
        best = max(goodput(of("outage", cc, event=event)) for cc in CCS)
        assert goodput(of("outage", "star", event=event)) > best - 0.1


def test_jitter(read: Read, of: Of, prose: str) -> None:
    without = goodput(runs(read("open.jsonl"), "star", ber=1e-6))
    even, wide = (goodput(of(name, "star")) for name in ("jitter-even-wide", "jitter-wide"))
    said = f"leaves {short(even / without, 2)} of the goodput without it ({without:.2f}, "
    assert said in prose
    assert f"with a deviation of 40 ms {short(wide / without, 2)}:" in prose
    assert f"bbr has {100 * (goodput(of('jitter-wide', 'bbr')) / wide - 1):.0f} % more" in prose


def test_leo(of: Of, prose: str) -> None:
    assert more(of, "leo", loss="0.01%") > 0 and more(of, "leo", loss="0.2%") > 0
    less = [f"{-more(of, 'leo', loss=loss):.1f}" for loss in ("0.5%", "1%")]
    assert f"with .5 and 1 % it has {' and '.join(less)} % less" in prose
    rtts = [
        sorted(
            fmean(record["flows"][0]["rtt_ms"]["mean"] for record in of("leo", cc, loss=loss))
            for loss in ("0.2%", "0.5%", "1%")
        )
        for cc in ("star", "bbr")
    ]
    (low, _, high), (least, _, most) = rtts
    assert f"({low:.0f} to {high:.0f} ms, bbr {least:.0f} to {most:.0f})" in prose


def test_ten_flows_at_other_round_trips(of: Of, prose: str) -> None:
    indices = {
        cc: [
            [record["jain"] for record in of("ten-delays", cc, delay=delay)]
            for delay in ("246ms", "248ms", "252ms", "256ms")
        ]
        for cc in ("star", "cubic")
    }
    first, second, third, fourth = (short(fmean(each), 2) for each in indices["star"])
    cubic = [fmean(each) for each in indices["cubic"]]
    assert (
        f"star's index is {first}, {second}, {third} and {fourth}, CUBIC's {short(min(cubic), 2)} "
        f"to {short(max(cubic), 2)} "
    ) in prose
    assert f"runs of star come to {short(min(map(min, indices['star'])), 2)}." in prose


def test_a_trace_that_is_followed(read: Read, of: Of, prose: str) -> None:
    def rtt(cc: str, queue: str, ber: float) -> float:
        found = of("trace", cc, queue=queue, ber=ber)
        return fmean(record["flows"][0]["rtt_ms"]["mean"] for record in found)

    queues = ("75kB", "250kB")
    assert all(more(of, "trace", queue=queue, ber=0.0) > 0 for queue in queues)
    longer = rtt("star", "75kB", 0.0) - rtt("bbr", "75kB", 0.0)
    assert f"at an RTT that is {longer:.0f} ms longer, with 250 kB at " in prose
    star, bbr = (f"{rtt(cc, '250kB', 0.0):.0f}" for cc in ("star", "bbr"))
    assert f"{star} instead of {bbr} ms" in prose
    ranges = []
    for cc in ("star", "bbr"):
        found = [r for r in read("moving/trace-delays.jsonl") if r["cc"] == cc]
        rtts = [record["flows"][0]["rtt_ms"]["mean"] for record in found]
        assert len({record["set"]["delay"] for record in found}) == len(rtts) == 7
        ranges.append(f"{min(rtts):.0f} to {max(rtts):.0f}")
    assert f"with a path of 52 to 68 ms it is {ranges[0]} ms, bbr's {ranges[1]}:" in prose
    less = [f"{-more(of, 'trace', queue=queue, ber=1e-6):.1f}" for queue in queues]
    shares = [short(rtt("star", queue, 1e-6) / rtt("bbr", queue, 1e-6), 2) for queue in queues]
    said = f"with 1e-6 it has {' and '.join(less)} % less at {' and '.join(shares)} of bbr's RTT."
    assert said in prose


def test_what_transfers_and_bulk_flows_get(of: Of, prose: str) -> None:
    def size(mix: str, bytes_: int, key: str) -> float:
        found = of("requests", mix)
        return fmean(
            each[key]
            for record in found
            for each in record["requests"]["sizes"]
            if each["bytes"] == bytes_
        )

    for bytes_ in (100_000, 1_000_000, 10_000_000):
        ours, theirs = (size(mix, bytes_, "median_s") for mix in ("star+cubic", "cubic+cubic"))
        assert ours < 0.5 * theirs
    slow = [f"{size(mix, 10_000_000, 'p95_s'):.0f}" for mix in ("star+cubic", "cubic+cubic")]
    assert f"take longer ({slow[0]} s, CUBIC's {slow[1]})." in prose
    bulk = [
        f"{fmean(record['flows'][1]['goodput_bps'] for record in of('requests', mix)) / 1e6:.1f}"
        for mix in ("cubic+star", "bbr+star")
    ]
    assert f"keeps {' and '.join(bulk)} Mbit/s beside transfers of CUBIC and bbr." in prose
    times = [f"{size(f'{cc}+bbr', 10_000_000, 'median_s'):.0f}" for cc in ("star", "cubic", "bbr")]
    assert f"take longer ({times[0]} s) than CUBIC's ({times[1]}) and bbr's ({times[2]})." in prose
