#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Write the table of the keys that all records have into docs/records.md, from where the measures
declare them; or print all keys, by the scenarios whose records may have them.

    PYTHONPATH=scripts scripts/record_table.py [--all]

What stands between the lines `<!-- schema: begin -->` and `<!-- schema: end -->` is replaced.
"""

from __future__ import annotations

import sys
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


def _table(keys: list[Key]) -> str:
    """A row for each meaning."""
    meant: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        meant.setdefault((key.unit, key.meaning), []).append(f"`{key.path}`")
    rows = [[", ".join(paths), unit, text] for (unit, text), paths in meant.items() if unit]
    return as_markdown([["key", "unit", "meaning"], *rows], left=3) + "\n"


def parts() -> dict[str, list[Key]]:
    """Keys by the scenarios whose records may have them; first those of all."""
    found = {" ".join(SCENARIOS): keys_of(Record)}
    for measure, names in users().items():
        found.setdefault(" ".join(names), []).extend(keys_of(measure.keys))
    return found


def table() -> str:
    """Keys of all scenarios' records."""
    return _table(parts()[" ".join(SCENARIOS)])


def written(page: str) -> str:
    """The page with its table anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    if sys.argv[1:] == ["--all"]:
        print("\n".join(f"{names}:\n\n{_table(keys)}" for names, keys in parts().items()), end="")
    else:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
