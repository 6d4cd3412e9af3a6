# SPDX-License-Identifier: GPL-2.0
"""Charts: lines over points, from which drawings, tables and runs of a figure are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...results.text import NONE, as_markdown, cell
from ..claims import Measure, NotMeasured, Results, total
from ..figure import Cell, Claim, Figure
from . import cells
from .cells import FEW, Settings
from .claims import Subject, needless_share, of_limit

Tables = Callable[[Mapping[str, Results]], list[str]]
#: What tables show of a point: measure, scale, decimals.
COLUMNS: dict[str, tuple[Measure, float, int]] = {
    "Goodput in kbit/s": (total, 1e-3, 0),
    "Goodput in % of what the paths have left": (of_limit, 100.0, 1),
    "Needless retransmissions for 1000 segments": (needless_share, 1.0, 1),
}
#: What a drawing shows.
KBITS = {"measure": total, "scale": 1e-3, "label": "goodput, kbit/s"}
USUAL = ("Goodput in kbit/s", "Needless retransmissions for 1000 segments")


@dataclass(frozen=True)
class Chart:
    """A panel: a line per way of sending, over points; ``seeds`` of points that have others than
    ``default``, by line and point; ``leave_out``: points that a line does not have. The algorithm
    is the variant's unless ``cc`` names it."""

    title: str
    variant: str
    over: str
    points: Mapping[str, Settings]
    lines: Mapping[str, Settings]
    cc: str | None = None
    seeds: Mapping[tuple[str, str], int] = field(default_factory=dict)
    default: int = FEW
    leave_out: frozenset[tuple[str, str]] = frozenset()

    @property
    def algorithm(self) -> str:
        """The flows' congestion control."""
        return self.cc or cells.CCS[self.variant]

    def has(self, line: str, at: str) -> bool:
        """Whether a line has this point."""
        return (line, at) not in self.leave_out

    def settings(self, line: str, at: str) -> Settings:
        """A point's settings; those of the line come last."""
        return {**self.points[at], **self.lines[line]}

    def subject(self, line: str, at: str) -> Subject:
        """Algorithm and point, for claims."""
        return self.algorithm, cells.point(self.variant, self.settings(line, at))

    def pair(self, a: str, b: str, at: str) -> tuple[Subject, Subject]:
        """Two lines at a point."""
        return self.subject(a, at), self.subject(b, at)

    def beside(
        self, line: str, rivals: Iterable[str], points: Iterable[str] | None = None
    ) -> dict[str, tuple[Subject, dict[str, Subject]]]:
        """A line and its rivals at each point, for ``over_best``."""
        return {
            at: (self.subject(line, at), {name: self.subject(name, at) for name in rivals})
            for at in (self.points if points is None else points)
        }

    def cells(self) -> list[Cell]:
        """The runs."""
        return [
            cells.cell(
                self.variant, self.settings(line, at),
                self.seeds.get((line, at), self.default), self.cc,
            )
            for line in self.lines
            for at in self.points
            if self.has(line, at)
        ]  # fmt: skip

    def values(self, results: Results, line: str, at: str, measure: Measure) -> list[float] | None:
        """A point's values; None if it was not measured."""
        try:
            return results.values(*self.subject(line, at), measure)
        except NotMeasured:
            return None

    def rows(self, results: Results, column: tuple[Measure, float, int]) -> list[list[str]]:
        """A row per line, a column per point."""
        measure, scale, decimals = column
        found = [[self.over, *self.points]]
        for line in self.lines:
            row = [line]
            for at in self.points:
                values = self.values(results, line, at, measure) if self.has(line, at) else None
                row.append(cell([scale * v for v in values], decimals) if values else NONE)
            found.append(row)
        return found


def runs(charts: Sequence[Chart]) -> list[Cell]:
    """The runs of all charts."""
    return [each for chart in charts for each in chart.cells()]


def tables(title: str, charts: Sequence[Chart], columns: Sequence[str] = USUAL) -> Tables:
    """A function that makes the tables of a figure's charts."""

    def made(found: Mapping[str, Results]) -> list[str]:
        lines = [f"## {title}"]
        for chart in charts:
            results = found.get(chart.variant, Results([]))
            for name in columns:
                lines += ["", f"{name}; {chart.title}.", ""]
                lines.append(as_markdown(chart.rows(results, COLUMNS[name])))
        return lines

    return made


def over_points(
    name: str,
    title: str,
    charts: Iterable[Chart],
    claims: list[Claim],
    heading: str | None = None,
    *,
    columns: Sequence[str] = USUAL,
    shown: Mapping[str, Any] = KBITS,
) -> Figure:
    """A figure with these charts' runs and drawing, and their tables below a heading."""
    panels = list(charts)
    return Figure(
        name=name,
        title=title,
        cells=runs(panels),
        claims=claims,
        draw="charts_over_points",
        options={"charts": panels, **shown},
        tables=tables(heading, panels, columns) if heading else None,
    )
