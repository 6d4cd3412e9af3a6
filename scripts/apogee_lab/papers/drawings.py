# SPDX-License-Identifier: GPL-2.0
"""Every drawing function by the name that figures use (``Figure.draw``)."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure as Canvas

from .compound.draw import index_over_start, stations_over_n
from .draw import Runs
from .figure import Figure
from .gentle.draw import first_window, groups_over_n, model_over_delay
from .shake.draw import charts_over_points, cwnd_over_time
from .sscop.draw import (
    algorithms_over_ber,
    bars,
    goodput_around_step,
    lines_over_ber,
    sequence_over_time,
    theory_over_ber,
)
from .star.draw import estimates, flows_over_ber, goodput_over_ber, goodput_time, windows

DRAWN: dict[str, Callable[[Figure, Runs], Canvas]] = {
    function.__name__: function
    for function in (
        goodput_over_ber, flows_over_ber, windows, estimates, goodput_time, groups_over_n,
        first_window, model_over_delay, stations_over_n, index_over_start, lines_over_ber,
        sequence_over_time, theory_over_ber, algorithms_over_ber, bars, goodput_around_step,
        charts_over_points, cwnd_over_time,
    )
}  # fmt: skip
