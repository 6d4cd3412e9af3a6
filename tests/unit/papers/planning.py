# SPDX-License-Identifier: GPL-2.0
"""Figures' runs as they are planned, without a guest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apogee_lab.papers import schedule
from apogee_lab.papers.catalogue import choose


class NoGuest:
    """An engine that only names images."""

    DEFAULT_KERNEL = "bookworm"

    def kernels(self) -> list[str]:
        return ["bookworm"]

    def kernel(self, name: str) -> str:
        return name

    def congestion_controls(self, kernel: str) -> set[str]:
        return {"reno", "cubic", "bbr", "highspeed", "scalable", "hybla", "vegas"}

    def image_key(self, kernel: str, own: list[str], extras: Any = ()) -> str:
        return f"{kernel} {own} {extras}"


def planned(
    *names: str, seeds: Sequence[int] | None = None, duration_s: float | None = None
) -> dict[str, list[schedule.PlannedRun]]:
    """The runs of these figures for engine uml."""
    return schedule.planned_runs(choose(list(names)), seeds, duration_s, NoGuest(), "uml")
