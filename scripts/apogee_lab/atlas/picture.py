# SPDX-License-Identifier: GPL-2.0
"""An atlas as one picture: how often an algorithm has how much of the better peer, and where."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..results.style import STYLE, colour
from . import numbers
from .results import Compared
from .space import Space

LEAST, MOST = 1 / 8, 8  # ratios beyond are drawn there
TICKS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)


def draw(space: Space, cc: str, found: Sequence[Compared]) -> Figure:
    """To the left the share of paths with at most so much, to the right each path."""
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
        _distribution(left, space, cc, found)
        _places(figure, right, space, cc, found)
        peers = " and ".join(numbers.peers(found))
        figure.suptitle(
            f"{cc} beside {peers} on {len(found)} paths of {space.name}",
            x=left.get_position().x0, ha="left", parse_math=False,
        )  # fmt: skip
    return figure


def _distribution(axes: Axes, space: Space, cc: str, found: Sequence[Compared]) -> None:
    for peer in numbers.peers(found):
        ratios = [one.over(peer) for one in found if peer in one.peers]
        _steps(axes, ratios, _tint(space, peer), f"over {peer}", 1.2)
    ratios = [one.ratio for one in found]
    _steps(axes, ratios, _tint(space, cc), "over the better of them", 2.4)
    axes.axvspan(LEAST, numbers.BAD, color="#f4d9d9", lw=0, zorder=0)
    below = sum(ratio < numbers.BAD for ratio in ratios)
    axes.text(
        LEAST * 1.06, 97, f"less than {numbers.BAD:g} of the better peer:\n{below} of "
        f"{len(ratios)} paths", va="top", fontsize=9, color="#8c2d2d",
    )  # fmt: skip
    axes.axvline(1, color="#888888", lw=1)
    axes.set_xscale("log")
    axes.set_xlim(LEAST, MOST)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.set_ylim(0, 100)
    axes.set_xlabel(f"{cc}'s result over the peer's")
    axes.set_ylabel("paths with at most this, %")
    axes.legend(loc="lower right")


def _tint(space: Space, name: str) -> str:
    """The colour of an algorithm; ways have those of the cycle."""
    return f"C{space.ways.index(name)}" if space.ways else colour(name)


def _steps(axes: Axes, ratios: Sequence[float], tint: str, label: str, width: float) -> None:
    values = np.clip(np.sort(np.array(ratios, dtype=float)), LEAST, MOST)
    shares = 100 * np.arange(1, len(values) + 1) / len(values)
    axes.step(
        [LEAST, *values, MOST], [0, *shares, 100], where="post", color=tint, lw=width, label=label
    )


def _places(figure: Figure, axes: Axes, space: Space, cc: str, found: Sequence[Compared]) -> None:
    ordered = sorted(found, key=lambda one: -one.ratio)  # the worst on top
    across, up = (
        [one.path.drawn[name] for one in ordered] for name in space.axes
    )  # fmt: skip
    tints = np.log2(np.clip([one.ratio for one in ordered], 1 / 2, 2))
    dots = axes.scatter(
        across, up, c=tints, cmap="RdYlBu", norm=TwoSlopeNorm(0, -1, 1), s=42,
        edgecolors="#555555", linewidths=0.5,
    )  # fmt: skip
    for name, set_scale, axis, label in (
        (space.axes[0], axes.set_xscale, axes.xaxis, axes.set_xlabel),
        (space.axes[1], axes.set_yscale, axes.yaxis, axes.set_ylabel),
    ):
        if "log" in space.table["draw"][name]:
            set_scale("log")
            axis.set_minor_formatter(NullFormatter())
        axis.set_major_formatter(
            FuncFormatter(lambda value, _, name=name: numbers.written(space, name, value))
        )
        label(name)
    bar = figure.colorbar(dots, ax=axes, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.set_ticklabels(["½ or less", "0.7", "equal", "1.4", "2 or more"])
    bar.set_label(f"{cc}'s result over the better peer's")
