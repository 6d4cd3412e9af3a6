#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the table of a record's keys into docs/records.md, from where the measures declare them.

    scripts/record_table.py

What stands between the lines `<!-- schema: begin -->` and `<!-- schema: end -->` is replaced.
"""

from __future__ import annotations

from pathlib import Path

from apogee_lab.measures.measure import Measure
from apogee_lab.measures.record import Record
from apogee_lab.measures.schema import Key, keys_of
from apogee_lab.results.text import as_markdown
from apogee_lab.scenarios import SCENARIOS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "records.md"
BEGIN, END = "<!-- schema: begin -->\n", "<!-- schema: end -->\n"


def users() -> dict[Measure, list[str]]:
    """The scenarios that have a measure, in the order in which measures first appear."""
    found: dict[Measure, list[str]] = {}
    for scenario in SCENARIOS.values():
        for measure in scenario.measures:
            found.setdefault(measure, []).append(scenario.name)
    return found


def _rows(keys: list[Key], scenarios: str) -> list[list[str]]:
    return [[f"`{k.path}`", k.unit, scenarios, k.meaning] for k in keys if k.unit]


def table() -> str:
    """Every key with its unit, the scenarios whose records may have it, its meaning."""
    rows = [["key", "unit", "scenarios", "meaning"]]
    rows += _rows(keys_of(Record), "all")
    for measure, names in users().items():
        rows += _rows(keys_of(measure.keys), " ".join(f"`{name}`" for name in names))
    return as_markdown(rows, left=4) + "\n"


def written(page: str) -> str:
    """The page with its table anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
