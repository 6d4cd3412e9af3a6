# SPDX-License-Identifier: GPL-2.0
"""The matrix as a picture, for pages that show no table well."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from ..base import write_whole
from ..results.style import STYLE
from . import text
from .card import Card
from .criteria import TEXT
from .verdict import MET, NONE, NOT_JUDGED, UNMET, UNSHOWN

FILL = {
    MET: "#b8e0bf", UNMET: "#e98b8b", UNSHOWN: "#f3e2a0", NONE: "#e4e4e4", NOT_JUDGED: "#e4e4e4",
    TEXT: "#ffffff",
}  # fmt: skip


def save(card: Card, path: Path) -> None:
    """Draw the matrix: a row per section, a column per algorithm; equal cards give equal bytes."""
    names, rows = card["algorithms"], card["criteria"]
    with plt.rc_context({**STYLE, "svg.hashsalt": "card", "svg.fonttype": "none"}):
        figure, axes = plt.subplots(figsize=(4.2 + 0.95 * len(names), 0.8 + 0.27 * len(rows)))
        for y, one in enumerate(rows):
            for x, name in enumerate(names):
                word = one["verdicts"][name]
                axes.add_patch(Rectangle((x, y), 1, 1, facecolor=FILL[word], edgecolor="white"))
                axes.text(
                    x + 0.5, y + 0.55, text.SHORT[word], ha="center", va="center", fontsize=7.5
                )
        axes.set_xlim(0, len(names))
        axes.set_ylim(len(rows), 0)
        axes.set_xticks([x + 0.5 for x in range(len(names))], names, fontsize=8, rotation=30)
        axes.set_yticks(
            [y + 0.5 for y in range(len(rows))],
            [f"{one['section']} {one['title']}" for one in rows],
            fontsize=8, parse_math=False,
        )  # fmt: skip
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(False)
        for side in axes.spines.values():
            side.set_visible(False)
        write_whole(path, _svg(figure))
        plt.close(figure)


def _svg(figure: plt.Figure) -> bytes:
    import io

    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    return buffer.getvalue()
