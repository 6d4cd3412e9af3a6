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


def _part(keys: list[Key], title: str) -> str:
    rows = [[f"`{k.path}`", k.unit, k.meaning] for k in keys if k.unit]
    table = as_markdown([["key", "unit", "meaning"], *rows], left=3)
    return f"{title}:\n\n{table}\n" if rows else ""


def _named(names: list[str]) -> str:
    """All scenarios, all but one, or a list."""
    others = [name for name in SCENARIOS if name not in names]
    if len(others) < 2:
        return "All scenarios" + "".join(f" but `{name}`" for name in others)
    return ", ".join(f"`{name}`" for name in names)


def table() -> str:
    """Every key with its unit and meaning, by the scenarios whose records may have it."""
    parts: dict[str, list[Key]] = {"All scenarios": keys_of(Record)}
    for measure, names in users().items():
        parts.setdefault(_named(names), []).extend(keys_of(measure.keys))
    return "\n".join(
        _part(keys, title) for title, keys in parts.items() if any(k.unit for k in keys)
    )


def written(page: str) -> str:
    """The page with its table anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
