# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/results/moving.md are those that the records beside it give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

import pytest

from apogee_lab.commands.paths import paths, table
from apogee_lab.results.text import cell
from tests.unit.papers.found import Record, runs

Read = Callable[[str], list[Record]]

CCS = ("star", "bbr", "cubic", "hybla")


@pytest.fixture(scope="module")
def page(root: Path) -> list[str]:
    return (root / "docs" / "results" / "moving.md").read_text().splitlines()


def row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


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
        assert [line for line in page if line.endswith(" " + row(cells[1:]))], cells


def mbits(found: Iterable[Record]) -> str:
    return cell([record["total_goodput_bps"] / 1e6 for record in found], 2)


@pytest.mark.parametrize("jitter", ["0s", "1ms", "3ms"])
def test_jitter_of_the_acks_on_leo(read: Read, page: list[str], jitter: str) -> None:
    records = read("moving/leo-jitter.jsonl")
    name = jitter.replace("0s", "0").replace("ms", " ms")
    cells = (mbits(runs(records, cc, jitter=jitter)) for cc in ("star", "bbr", "cubic"))
    assert "  " + row([name, *cells]) in page


@pytest.mark.parametrize("queue", ["15kB", "62.5kB", "625kB"])
@pytest.mark.parametrize("cc", CCS)
def test_ten_flows(read: Read, page: list[str], cc: str, queue: str) -> None:
    found = runs(read("moving/ten.jsonl"), cc, queue=queue)
    assert len(found) == 5 and all(len(record["flows"]) == 10 for record in found)
    goodputs = [sorted(f["goodput_bps"] / 1e6 for f in record["flows"]) for record in found]
    fair = [fmean(each) for each in goodputs]
    sent = sum(flow["segments"] for record in found for flow in record["flows"])
    drops = [record["queue"]["drops"] for record in found]
    timeouts = [sum(flow["timeouts"] or 0 for flow in record["flows"]) for record in found]
    cells = [
        queue, cc, mbits(found), cell([each[0] for each in goodputs], 2),
        cell([each[0] / mean for each, mean in zip(goodputs, fair, strict=True)], 2),
        cell([each[-1] / mean for each, mean in zip(goodputs, fair, strict=True)], 2),
        cell([record["jain"] for record in found], 3),
        f"{cell(drops, 0)}, {100 * sum(drops) / sent:.1f} %", cell(timeouts, 1),
    ]  # fmt: skip
    assert row(cells) in page


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
                assert row([rate, rtt, name, mbits(found["star"]), f"{limit:.1f}", *peers]) in page


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
    assert row(cells) in page


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
    assert row(cells) in page


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
    assert row([cc, other, *sizes, f"{count:.0f}", bulk]) in page
