# SPDX-License-Identifier: GPL-2.0
"""README.md, and choosing.md of one flow, say what the records give.

What choosing.md says beside another page of results is in the tests of that page.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from apogee_lab.papers.claims import Part
from apogee_lab.results.statistics import mean_of
from tests.unit.papers.found import Read, goodput, joined, mean, row, runs, used

PAGE = "choosing.md"
BERS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)
CCS = ("star", "bbr", "hybla", "cubic")


def test_the_readme(read: Read, root: Path) -> None:
    """CUBIC alone (segment=0) and over sscop on the radio link."""
    cubic, bbr, star = (
        f"{goodput(runs(read('open.jsonl'), cc, 5, ber=1e-6)):.2f}"
        for cc in ("cubic", "bbr", "star")
    )
    lost = 100 * (1 - (1 - 1e-6) ** (8 * 1514))
    alone, over, lossy, much = (
        f"{goodput(runs(read('sscop/readme.jsonl'), 'cubic', 5, ber=ber, segment=segment)):.2f}"
        for ber in (1e-5, 1e-4)
        for segment in (0, "auto")
    )
    readme = joined((root / "README.md").read_text())
    assert (
        f"On a satellite link that loses {lost:.1f} % of its frames, CUBIC gets {cubic} of "
        f"10 Mbit/s, BBR {bbr} and star {star}:"
    ) in readme
    assert (
        f"At 2 Mbit/s, 50 ms and a bit error rate of 1e-5, CUBIC alone has {alone} Mbit/s, over "
        f"`sscop` {over}; at 1e-4, {lossy} and {much} "
    ) in readme


def test_alone_over_the_satellite(read: Read, page: str) -> None:
    for cc in CCS:
        found = [runs(read("open.jsonl"), cc, 5, ber=ber) for ber in BERS]
        cells = (f"{goodput(r):.2f} ({mean(map(used, r)):.0f} %)" for r in found)
        assert row(cc, *cells) in page


def lost(read: Read, name: str, cc: str, length: str) -> dict[int, float]:
    """Seconds lost by an outage, by seed."""
    found = runs(read(f"outages-{name}.jsonl"), cc, 5, **{f"{name}_blackout": f"45s:{length}"})
    return {record["seed"]: record["blackout"]["lost_s"] for record in found}


def test_outages(read: Read, page: str) -> None:
    """The table; who loses less than star, beyond doubt and in the mean."""
    surely, means = set(), {}
    for name, title in (("data", "data"), ("ack", "ACKs")):
        cells: dict[str, list[str]] = {cc: [] for cc in CCS}
        for length in ("500ms", "1s", "2s", "4s"):
            star = lost(read, name, "star", length)
            for cc in CCS:
                found = lost(read, name, cc, length)
                rate = sum(found.values()) / len(found)
                cells[cc].append(f"{rate:.1f}")
                more = mean_of(found[seed] - star[seed] for seed in star)
                assert more.bounds
                if more.bounds[1] < 0:
                    surely.add((name, length, cc))
                elif more.value < 0:
                    text = str(Part("", more, decimals=2))
                    means[name, length, cc] = f"{rate:.2f}", text
        for cc in CCS:
            assert row(title if cc == "star" else "", cc, *cells[cc]) in page
    assert surely == {
        ("data", "4s", "bbr"), ("ack", "2s", "bbr"), ("ack", "4s", "bbr"),
        ("data", "500ms", "cubic"), ("ack", "500ms", "cubic"), ("ack", "1s", "cubic"),
        ("ack", "500ms", "hybla"), ("ack", "2s", "hybla"),
    }  # fmt: skip
    cubic, own = (
        f"{mean(lost(read, 'data', cc, '500ms').values()):.2f}" for cc in ("cubic", "star")
    )
    assert f"CUBIC without data for .5 s ({cubic}; star {own}) or" in page
    assert list(means) == [("data", "500ms", "hybla")]
    rate, text = means["data", "500ms", "hybla"]
    assert f"in the mean without data for .5 s ({rate}, star {own}: {text})." in page


def test_slow_return_path(read: Read) -> None:
    """star and bbr beside the runs with open windows."""

    def at(names: Iterable[str], cc: str, ber: float) -> float:
        return goodput(run for name in names for run in runs(read(name), cc, 5, ber=ber))

    peers, both = ["slowreturn-peers.jsonl"], ["slowreturn-peers.jsonl", "slowreturn.jsonl"]
    less = [
        f"{100 * (1 - at(slow, cc, 1e-5) / at([fast], cc, 1e-5)):.1f}"
        for slow, fast, cc in (
            (peers, "open.jsonl", "star"),
            (both, "open.jsonl", "star"),
            (peers, "open.jsonl", "bbr"),
            (peers, "engines-open.jsonl", "star"),
        )
    ]
    assert less == ["1.9", "1.6", "2.6", "2.7"]
    more = [at(peers, "star", ber) / at(peers, "bbr", ber) for ber in (0.0, 1e-6, 1e-5)]
    assert [f"{ratio:.2f}" for ratio in more] == ["1.10", "1.15", "1.27"]
