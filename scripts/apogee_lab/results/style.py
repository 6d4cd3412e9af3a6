# SPDX-License-Identifier: GPL-2.0
"""Colours, names and files of all figures."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from ..algorithms import find  # noqa: E402
from ..base import write_whole  # noqa: E402
from ..scenarios.scenario import members  # noqa: E402
from . import table  # noqa: E402
from .text import show  # noqa: E402

#: Colours for algorithms without their own.
OTHERS = ["#aec7e8", "#98df8a", "#bcbd22", "#17becf", "#f7b6d2", "#c49c94", "#9edae5"]
LIMIT_COLOUR = "#888888"
# Colours for the flows of a single run.
FLOW_COLOURS = ["#d62728", "#0072b2", "#009e73", "#e69f00", "#7b3294", "#555555", "#56b4e9"]
MARKERS = "osD^vPX*<>hd"

STYLE = {
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "apogee",
}


def colour(cc: str) -> str:
    """The algorithm's colour; others get a spare one that depends only on the name."""
    used = set(members(cc))
    cc = used.pop() if len(used) == 1 else cc
    return find(cc).colour or OTHERS[sum(cc.encode()) % len(OTHERS)]


def in_front(cc: str) -> bool:
    """Whether the algorithm is drawn thicker than the others, and over them."""
    return find(cc).in_front


def labels(records: Sequence[dict[str, Any]], without: Iterable[str] = ()) -> list[str]:
    """A label for each record: the algorithm and the settings that vary."""
    names = [name for name in table.varying(records) if name not in set(without)]
    result = []
    for record in records:
        settings = {**record, **record["set"]}
        words = [f"{n}={show(settings[n])}" for n in names if n in settings]
        result.append(" ".join([record["cc"], *words]))
    return result


def save(figure: Figure, out: Path) -> list[Path]:
    """Write ``out`` as SVG or PNG according to its suffix; both if it has neither."""
    if out.suffix in (".svg", ".png"):
        paths = [out]
    else:
        paths = [out.with_name(out.name + ".svg"), out.with_name(out.name + ".png")]
    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            kind = path.suffix.removeprefix(".")
            extra = {"metadata": {"Date": None}} if kind == "svg" else {}
            drawn = io.BytesIO()
            with plt.rc_context(STYLE):
                figure.savefig(drawn, format=kind, bbox_inches="tight", **extra)
            write_whole(path, drawn.getvalue())
    finally:
        plt.close(figure)
    return paths
