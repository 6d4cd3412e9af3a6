# SPDX-License-Identifier: GPL-2.0
"""What the records of docs/results/sharing.md show beside its tables."""

from __future__ import annotations

from tests.unit.papers.found import (
    Read,
    runs,
    short,
)

ERRORS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)


def test_two_star_flows(read: Read) -> None:
    """Both at once with a long and with a short queue, and the second 30 s later."""

    def found(name: str, queue: str) -> list[list[float]]:
        at = (runs(read(f"{name}.jsonl"), "star+star", 5, queue=queue, ber=ber) for ber in ERRORS)
        return [[record["jain"] for record in each] for each in at]

    def means(name: str, queue: str) -> list[str]:
        return [short(sum(each) / len(each)) for each in found(name, queue)]

    long, tight = (means("twins", queue) for queue in ("625kB", "15kB"))
    assert min(map(float, long + tight)) > 0.97
    assert min(means("late", "625kB")) == ".99"
