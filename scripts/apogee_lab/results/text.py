# SPDX-License-Identifier: GPL-2.0
"""Values and tables as text."""

from __future__ import annotations

from typing import Any

from .statistics import mean_interval

Record = dict[str, Any]
NONE = "–"


def show(value: Any) -> str:
    """A setting's value in its usual notation: 1e-7, not 1e-07."""
    if value is None:
        return NONE
    if isinstance(value, float):
        text = f"{value:.10g}"
        return text.replace("e-0", "e-").replace("e+0", "e+")
    return str(value)


def cell(values: list[float], decimals: int) -> str:
    """``9.43 ± 0.02``; a single value has no interval."""
    if not values:
        return NONE
    mean, half = mean_interval(values)
    mean = round(mean, decimals) + 0.0
    return f"{mean:.{decimals}f}" + ("" if half is None else f" ± {half:.{decimals}f}")


def as_text(table: list[list[str]]) -> str:
    """A table aligned with spaces: words to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_markdown(table: list[list[str]], left: int = 1) -> str:
    """A Markdown table; its first ``left`` columns are left-aligned, the others right-aligned."""
    lines = ["| " + " | ".join(row) + " |" for row in table]
    lines.insert(1, "|" + "---|" * left + "---:|" * (len(table[0]) - left))
    return "\n".join(lines)
