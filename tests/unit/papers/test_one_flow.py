# SPDX-License-Identifier: GPL-2.0
"""What star.md says of outages; impaired return paths."""

from __future__ import annotations

from collections.abc import Iterable

from apogee_lab.results.statistics import mean_of
from tests.unit.papers.found import Read, TextOf, goodput, runs

BERS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)
CCS = ("star", "bbr", "hybla", "cubic")


def lost(read: Read, name: str, cc: str, length: str) -> dict[int, float]:
    """Seconds lost by an outage, by seed."""
    found = runs(read(f"outages-{name}.jsonl"), cc, 5, **{f"{name}_blackout": f"45s:{length}"})
    return {record["seed"]: record["blackout"]["lost_s"] for record in found}


def test_outages(read: Read, text_of: TextOf) -> None:
    """Where bbr loses less than star beyond doubt, and nobody else does for so long."""
    surely = set()
    for name in ("data", "ack"):
        for length in ("500ms", "1s", "2s", "4s"):
            star = lost(read, name, "star", length)
            for cc in CCS[1:]:
                found = lost(read, name, cc, length)
                more = mean_of(found[seed] - star[seed] for seed in star)
                if more.bounds and more.bounds[1] < 0:
                    surely.add((name, length, cc))
    assert surely == {
        ("ack", "4s", "bbr"), ("data", "500ms", "cubic"), ("ack", "500ms", "cubic"),
        ("ack", "500ms", "hybla"), ("ack", "1s", "cubic"), ("ack", "2s", "hybla"),
    }  # fmt: skip
    said = "bbr loses less after 4 s without ACKs"
    assert said in text_of("star.md")


def test_slow_return_path(read: Read) -> None:
    """star and bbr beside the runs with open windows."""

    def at(names: Iterable[str], cc: str, ber: float) -> float:
        return goodput(run for name in names for run in runs(read(name), cc, 5, ber=ber))

    peers, both = ["slowreturn-peers.jsonl"], ["slowreturn-peers.jsonl", "slowreturn.jsonl"]
    less = [
        1 - at(slow, cc, 1e-5) / at([fast], cc, 1e-5)
        for slow, fast, cc in (
            (peers, "open.jsonl", "star"),
            (both, "open.jsonl", "star"),
            (peers, "open.jsonl", "bbr"),
            (peers, "engines-open.jsonl", "star"),
        )
    ]
    assert all(0 < part < 0.03 for part in less)
    more = [at(peers, "star", ber) / at(peers, "bbr", ber) for ber in (0.0, 1e-6, 1e-5)]
    assert [f"{ratio:.2f}" for ratio in more] == ["1.10", "1.15", "1.28"]
