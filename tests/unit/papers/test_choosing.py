# SPDX-License-Identifier: GPL-2.0
"""README.md and docs/choosing.md say what the records beside the results give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from apogee_lab.papers import kept
from apogee_lab.papers.compound import claims as compound
from tests.unit.papers import found as among
from tests.unit.papers.found import Record, TextOf, row

Read = Callable[[str], list[Record]]

LEAST_SEEDS = 5
PLUS = "compound_plus"


@pytest.fixture(scope="module")
def choosing(root: Path) -> str:
    return (root / "docs" / "choosing.md").read_text()


def runs(
    records: Iterable[Record], cc: str, least: int = LEAST_SEEDS, **settings: Any
) -> list[Record]:
    """The runs of an algorithm with these settings, at least five seeds unless the page says."""
    found = among.runs(records, cc, **settings)
    assert len(found) >= least
    return found


def mbps(values: Iterable[float]) -> float:
    return fmean(values) / 1e6


def test_the_first_lines_of_the_readme(read: Read, root: Path) -> None:
    records = read("open.jsonl")
    lossy = {cc: runs(records, cc, ber=1e-6) for cc in ("cubic", "bbr", "star")}
    cubic, bbr, star = (
        f"{mbps(r['total_goodput_bps'] for r in found):.2f}" for found in lossy.values()
    )
    lost = 100 * (1 - (1 - 1e-6) ** (8 * 1514))
    said = (
        f"On a satellite link that loses {lost:.1f} % of its frames, CUBIC gets {cubic} of "
        f"10 Mbit/s, BBR {bbr} and star {star}:"
    )
    assert said in (root / "README.md").read_text()


@pytest.mark.parametrize("cc", ["star", "bbr", "hybla", "cubic"])
def test_alone_over_the_satellite(read: Read, choosing: str, cc: str) -> None:
    cells = []
    for ber in (0.0, 1e-8, 1e-7, 1e-6, 1e-5):
        found = runs(read("open.jsonl"), cc, ber=ber)
        goodput = mbps(r["total_goodput_bps"] for r in found)
        cells.append(f"{goodput:.2f} ({1e8 * goodput / found[0]['limit_bps']:.0f} %)")
    assert row(cc, *cells) in choosing


QUEUES = {"0.02 (8 packets)": "12.5kB", "0.1": "62.5kB", "0.5": "312.5kB", "1": "625kB"}


@pytest.mark.parametrize("other", ["cubic", "reno"])
@pytest.mark.parametrize("name", QUEUES)
def test_beside_one_other_flow(read: Read, choosing: str, name: str, other: str) -> None:
    records = [*read("sharing-star.jsonl"), *read("sharing-others.jsonl")]

    def got(mix: str, flow: int) -> float:
        found = runs(records, mix, queue=QUEUES[name], ber=0.0)
        return mbps(r["flows"][flow]["goodput_bps"] for r in found)

    own = fmean(got(f"{other}+{other}", flow) for flow in (0, 1))
    star, bbr = got(f"star+{other}", 1), got(f"bbr+{other}", 1)
    bold = "**" if star < own / 2 else ""
    cells = [
        name if other == "cubic" else "",
        other,
        f"{own:.2f}",
        f"{bold}{star:.2f}{bold} (star {got(f'star+{other}', 0):.2f})",
        f"{bbr:.2f} (bbr {got(f'bbr+{other}', 0):.2f})",
    ]
    assert row(*cells).replace("|  |", "| |") in choosing


GENTLE = {
    "reno": ("reno", {}),
    "**hstcp_gentle**": ("hstcp_gentle", {"hstcp_gentle.response": None}),
    "hstcp_gentle, as published": ("hstcp_gentle", {"hstcp_gentle.response": 1}),
    "highspeed": ("highspeed", {}),
    "cubic": ("cubic", {}),
    "scalable": ("scalable", {}),
    "bbr": ("bbr", {}),
}


@pytest.mark.parametrize("name", GENTLE)
def test_beside_ten_reno_senders(root: Path, read: Read, choosing: str, name: str) -> None:
    path = root / "docs" / "results" / "records" / "gentle.jsonl.xz"
    figure = kept.read(path)["gentle-7"]
    both = {run["run"]: run for found in figure.values() for run in found}
    records = [*both.values(), *read("gentle/peers.jsonl")]
    cc, settings = GENTLE[name]
    found = runs(records, cc, LEAST_SEEDS, n=2, reno=10, **settings)

    def reno(records: list[Record]) -> float:
        return fmean(r["groups"]["reno"]["goodput_bps"] for r in records)

    again = [
        sum(flow["steady"]["retransmits"] for flow in r["flows"] if flow["name"][:4] == "reno")
        for r in found
    ]
    cells = [
        name,
        f"{100 * fmean(r['total_goodput_bps'] / r['limit_bps'] for r in found):.1f} %",
        f"{100 * reno(found) / reno(runs(records, 'reno', n=2, reno=10)):.0f} %",
        f"{fmean(r['queue']['steady_drops'] for r in found):.0f}",
        f"{fmean(again):.0f}",
    ]
    assert row(*cells) in choosing


@pytest.mark.parametrize("cc", ["star", "bbr", "hybla", "cubic"])
@pytest.mark.parametrize("lost", ["data", "ACKs"])
def test_outages(read: Read, choosing: str, lost: str, cc: str) -> None:
    name = "data" if lost == "data" else "ack"
    cells = []
    for length in ("500ms", "1s", "2s", "4s"):
        found = runs(read(f"outages-{name}.jsonl"), cc, **{f"{name}_blackout": f"45s:{length}"})
        cells.append(f"{fmean(r['blackout']['lost_s'] for r in found):.1f}")
    said = row(lost if cc == "star" else "", cc, *cells).replace("|  |", "| |")
    assert said in choosing


@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr", "vegas", "compound", "compound_plus"])
@pytest.mark.parametrize("variant", ["today", "random"])
def test_stations_of_one_access_point(root: Path, choosing: str, variant: str, cc: str) -> None:
    """Jain's index / mean RTT in ms / total Mbit/s, with a fixed and with a random phase."""
    path = root / "docs" / "results" / "records" / "compound.jsonl.xz"
    records = kept.read(path)["compound-2"][variant]
    cells = []
    for n in (6, 10, 14, 20):
        found = runs(records, cc, n=n)
        rtts = [compound.mean_rtt(run) or 0.0 for run in found]
        total = mbps(run["total_goodput_bps"] for run in found)
        cells.append(f"{fmean(map(compound.index, found)):.2f} / {fmean(rtts):.0f} / {total:.1f}")
    name = f"**{cc}**" if cc == "compound_plus" else cc
    assert row(name + ", random" * (variant == "random"), *cells) in choosing


def station(records: Iterable[Record], cc: str, name: str = "station") -> float:
    """Mean goodput in Mbit/s of the stations with an algorithm, or of the downloads."""
    flows = [flow for record in records for flow in record["flows"]]
    return mbps(f["goodput_bps"] for f in flows if f["cc"] == cc and f["name"].startswith(name))


def test_stations_beside_others(read: Read, choosing: str) -> None:
    """Three or seven stations each, with a fixed phase; below 0.1 Mbit/s is nothing."""
    records = read("compound/mixes.jsonl")
    got = {}
    for each, peer in ((3, "cubic"), (3, "bbr"), (7, "cubic")):
        found = runs(records, f"{each}*compound_plus+{each}*{peer}", phase="fixed")
        got[each, peer] = (
            f"{station(found, 'compound_plus'):.2f}", f"{station(found, peer):.2f}"
        )  # fmt: skip
    ours = [flow for r in found for flow in r["flows"] if flow["cc"] == "compound_plus"]
    starved = sum(flow["goodput_bps"] < 1e5 for flow in ours)
    three, bbr, seven = got.values()
    said = (
        f"with three stations of each it has {three[0]} Mbit/s beside CUBIC's {three[1]} and "
        f"{bbr[0]} beside BBR's {bbr[1]}, with seven of each {seven[0]} beside CUBIC's {seven[1]}, "
        f"and {starved} of {len(ours)} stations (five runs) get less than 0.1 "
    )
    assert said in " ".join(choosing.split())
    pairs = []
    for each in (3, 7):
        found = runs(records, f"{each}*compound+{each}*cubic", phase="fixed")
        pairs.append((f"{station(found, 'compound'):.2f}", f"{station(found, 'cubic'):.2f}"))
    (few, peers), (many, theirs) = pairs
    said = f"with three of each ({few} and {peers}), not with seven ({many} and {theirs})."
    assert said in " ".join(choosing.split())


def test_a_download_beside_six_uploads(read: Read, choosing: str) -> None:
    records = read("compound/downloads.jsonl")

    def download(cc: str, gamma: int | None = None) -> float:
        settings = {"down": 1, "phase": "fixed", "compound_plus.gamma": gamma}
        return station(runs(records, cc, **settings), "cubic", "download")

    others = [download(cc) for cc in ("compound", "cubic", "reno", "bbr")]
    assert max(others) < 0.01
    ours, gentle = download("compound_plus"), download("compound_plus", 10)
    said = f"has {ours:.2f} Mbit/s, with `gamma=10` {gentle:.1f}, and less than 0.01"
    assert said in " ".join(choosing.split())
    uploads = [
        station(runs(records, PLUS, down=1, phase="fixed", **{f"{PLUS}.gamma": gamma}), PLUS)
        for gamma in (10, None)
    ]
    said = f"With `gamma=10` an upload has {uploads[0]:.1f} Mbit/s instead of {uploads[1]:.1f}."
    assert said in " ".join(choosing.split())


def test_a_lossy_link(read: Read, root: Path) -> None:
    """CUBIC alone (segment=0) and over sscop."""
    found = {
        (ber, segment): mbps(
            run["total_goodput_bps"]
            for run in runs(read("sscop/readme.jsonl"), "cubic", ber=ber, segment=segment)
        )
        for ber in (1e-5, 1e-4)
        for segment in (0, "auto")
    }
    said = (
        f"At 2 Mbit/s, 50 ms and a bit error rate of 1e-5, CUBIC alone has {found[1e-5, 0]:.2f} "
        f"Mbit/s, over `sscop` {found[1e-5, 'auto']:.2f}; at 1e-4, {found[1e-4, 0]:.2f} and "
        f"{found[1e-4, 'auto']:.2f} "
    )
    assert said in " ".join((root / "README.md").read_text().split())


#: Records of peers whose return path is impaired, and what impairs it.
RETURN_PATHS = {
    "compress-peers.jsonl": {"ack_slot": "20ms"},
    "slowreturn-peers.jsonl": {"ack_rate": "500kbit"},
}


@pytest.mark.parametrize("cc", ["star", "bbr", "cubic"])
@pytest.mark.parametrize("name", RETURN_PATHS)
def test_impaired_return_paths(read: Read, root: Path, name: str, cc: str) -> None:
    """satellite.md's tables of peers whose ACKs come every 20 ms or through 500 kbit/s."""
    page = (root / "docs" / "results" / "satellite.md").read_text()
    _, _, table, *_ = page.partition(f"]({name})")[2].split("\n\n")  # the commands are between
    cells = []
    for ber in (0.0, 1e-8, 1e-7, 1e-6, 1e-5):
        found = runs(read(name), cc, ber=ber, **RETURN_PATHS[name])
        cells.append(f"{mbps(run['total_goodput_bps'] for run in found):.2f}")
    assert row(cc, *cells) in table


def test_slow_return_path(read: Read, text_of: TextOf) -> None:
    """What satellite.md says of star and bbr beside the runs with open windows."""
    page = text_of("results/satellite.md")

    def goodput(names: Iterable[str], cc: str, ber: float) -> float:
        found = (run for name in names for run in runs(read(name), cc, ber=ber))
        return mbps(run["total_goodput_bps"] for run in found)

    peers, both = ["slowreturn-peers.jsonl"], ["slowreturn-peers.jsonl", "slowreturn.jsonl"]
    less = [
        f"{100 * (1 - goodput(slow, cc, 1e-5) / goodput([fast], cc, 1e-5)):.1f} % less"
        for slow, fast, cc in (
            (peers, "open.jsonl", "star"),
            (both, "open.jsonl", "star"),
            (peers, "open.jsonl", "bbr"),
            (peers, "engines-open.jsonl", "star"),
        )
    ]
    assert f"Mbit/s at 1e-5, {less[0]} than with open windows" in page
    assert f"the ten runs of both tables have {less[1]}. bbr has {less[2]} there;" in page
    assert f"([engines-open.jsonl](engines-open.jsonl)) star has {less[3]}." in page
    clear, some, many = (
        f"{goodput(peers, 'star', ber) / goodput(peers, 'bbr', ber):.2f}"
        for ber in (0.0, 1e-6, 1e-5)
    )
    assert f"star has {clear} of bbr's goodput without errors, {some} at 1e-6" in page
    assert f"{some} at 1e-6 and {many} at 1e-5." in page
