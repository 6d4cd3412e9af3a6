# SPDX-License-Identifier: GPL-2.0
"""Fairness among flows."""

from __future__ import annotations

import math


def jain(rates: list[float]) -> float:
    """Jain's fairness index; 1 for equal rates (and if all are 0)."""
    squares = sum(rate * rate for rate in rates)
    return round(sum(rates) ** 2 / (len(rates) * squares), 4) if squares else 1.0


def fair_shares(rates: list[float]) -> list[float]:
    """Each rate divided by the mean; 1 for each if all are 0."""
    total = math.fsum(rates)
    return [round(len(rates) * rate / total, 4) if total else 1.0 for rate in rates]
