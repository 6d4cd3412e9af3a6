# SPDX-License-Identifier: GPL-2.0
"""The table of docs/results/cost.md is that of the records beside it."""

from __future__ import annotations

import pytest

from apogee_lab.algorithms import ALGORITHMS
from tests.unit.papers.found import Read, row

PAGE = "results/cost.md"


@pytest.mark.parametrize("cc", [*sorted(a for a in ALGORITHMS if ALGORITHMS[a].counted), "reno"])
def test_instructions_per_ack(read: Read, page: str, cc: str) -> None:
    own, whole = (
        {r["ber"]: r for r in read(name) if r["cc"] == cc}
        for name in ("cost.jsonl", "cost-whole.jsonl")
    )
    cells = [
        f"{r[ber]['instructions']:.0f}" if ber in r else "–"
        for r in (own, whole)
        for ber in (0.0, 1e-6)
    ]
    assert "–" not in cells[2:]
    functions = str(len(own[0.0]["functions"])) if own else "–"
    assert row(cc, *cells, functions) in page
