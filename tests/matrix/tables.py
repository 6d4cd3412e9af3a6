# SPDX-License-Identifier: GPL-2.0
"""The rows as tables, on the terminal and in docs/kernels.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from apogee_lab.kernels.listed import FLAVOURS
from apogee_lab.results.text import NONE, as_markdown, as_text
from tests import ROOT
from tests.matrix.checks import COLUMNS
from tests.matrix.rows import Asked, Row, read

RECORD = ROOT / "docs/results/matrix.jsonl"
PAGE = ROOT / "docs/kernels.md"
ALL = {name for names in FLAVOURS.values() for name in names}
BEGIN, END = "<!-- matrix: begin -->\n", "<!-- matrix: end -->\n"


def _cell(why: str | None) -> str:
    if why is None:
        return NONE
    return "FAILED" if why else "ok"


def booted(rows: Sequence[Row]) -> list[list[str]]:
    """A row per kernel, with the columns that were run, and notes if there are any."""
    columns = [name for name in COLUMNS if any(name in row.cells for row in rows)]
    notes = any(row.note for row in rows)
    found = [["suite", "for", "kernel", *columns, *[""] * notes]]
    for row in rows:
        cells = [_cell(row.cells.get(name)) for name in columns]
        found.append([row.suite, row.arch, row.release or NONE, *cells, *[row.note] * notes])
    return found


def _brief(table: list[list[str]]) -> list[list[str]]:
    """Kernels of which the same can be said as one line; notes are left to the record."""
    head, *rest = table
    if "kernel" not in head:
        return table
    first, end = head.index("kernel"), len(head) - head.count("")
    kernels: dict[tuple[str, ...], list[str]] = {}
    for row in rest:
        if row[first] != NONE:
            kernels.setdefault(tuple(row[first + 1 : end]), []).append(row[first])
    return [head[first:end], *([", ".join(names), *cells] for cells, names in kernels.items())]


def listed(rows: Sequence[Row]) -> list[list[str]]:
    """A row per version and those before it with the same flavours and results."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        base = re.match(r"[^-]*(-\d+)?", row.release)
        lines.setdefault((row.suite, base[0] if base else ""), []).append(row)
    found: list[list[str]] = []
    for (suite, version), group in lines.items():
        results = [" ".join(_flavours(version, group, bad)) or NONE for bad in (False, True)]
        if found and [found[-1][0], *found[-1][2:]] == [suite, *results]:
            found[-1][1] = f"{version}, {found[-1][1]}"
        else:
            found.append([suite, version or NONE, *results])
    return [["suite", "kernels", "ok", "FAILED"], *found]


def _flavours(version: str, group: Sequence[Row], bad: bool) -> list[str]:
    names = [row.release.removeprefix(f"{version}-") for row in group if bool(row.failures) == bad]
    if set(names) == ALL:
        return ["all six"]
    return sorted(filter(None, names), key=lambda name: (name.split("-")[-1], len(name)))


def tables(rows: dict[Asked, Row], show: Callable[[list[list[str]]], str]) -> str:
    """Both."""
    texts = []
    for kind, make in {"booted": booted, "listed": listed}.items():
        if group := [row for asked, row in rows.items() if asked[0] == kind]:
            texts.append(show(make(group)))
    return "\n\n".join(texts)


def printed(rows: dict[Asked, Row]) -> str:
    """For a terminal."""
    return tables(rows, as_text)


def page() -> str:
    """The page with the tables of the record in docs/results."""
    rows = read(RECORD)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    text = tables(rows, lambda table: as_markdown(_brief(table), left=len(_brief(table)[0])))
    return f"{before}{BEGIN}\n{text}\n\n{END}{rest.split(END)[1]}"
