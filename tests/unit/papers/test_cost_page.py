# SPDX-License-Identifier: GPL-2.0
"""The table of docs/results/cost.md is that of the records beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from apogee_lab.algorithms import ALGORITHMS
from tests.unit.papers.found import Record

NONE = "–"


def shown(found: list[Record], cc: str, ber: float) -> str:
    values = [f"{r['instructions']:.0f}" for r in found if (r["cc"], r["ber"]) == (cc, ber)]
    assert len(values) <= 1
    return values[0] if values else NONE


@pytest.mark.parametrize("cc", [*sorted(a for a in ALGORITHMS if ALGORITHMS[a].counted), "reno"])
def test_instructions_per_ack(read: Callable[[str], list[Record]], root: Path, cc: str) -> None:
    own, whole = read("cost.jsonl"), read("cost-whole.jsonl")
    cells = [shown(found, cc, ber) for found in (own, whole) for ber in (0.0, 1e-6)]
    functions = [str(len(r["functions"])) for r in own if r["cc"] == cc]
    assert NONE not in cells[2:]
    row = f"| {' | '.join([cc, *cells, functions[0] if functions else NONE])} |"
    assert row in (root / "docs" / "results" / "cost.md").read_text()
