# SPDX-License-Identifier: GPL-2.0
"""Figures' runs as they are planned, without a guest, and verdicts without doubt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from apogee_lab.papers import claims, schedule
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


def surely(check: claims.Check, records: Iterable[dict[str, Any]]) -> bool:
    """Whether a claim holds for records so often repeated that their means leave no doubt."""
    runs = list(records)
    often = [record | {"seed": record["seed"] + 1000 * n} for n in range(20) for record in runs]
    verdict = check(claims.Results(often)).holds
    assert verdict in (claims.YES, claims.NO)
    return verdict == claims.YES
