# SPDX-License-Identifier: GPL-2.0
"""Variants of a figure's runs: the settings that the papers share, and the names that are shown.

A variant is a key of its paper's ``VARIANTS`` and of the results; it says on which stack or in
which mode a cell runs.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The stack of the papers' time: what Linux has added since is off.
PERIOD = {"tcp_recovery": "0", "tcp_early_retrans": "0", "tcp_frto": "0"}
PERIOD_TEXT = "no RACK, no tail loss probe, no F-RTO"

#: Shown for a variant; the others are shown by their keys.
_LABELS = {
    "today": "default",
    "letter": "as published",
}


def label(variant: str) -> str:
    """The name of a variant in tables."""
    return _LABELS.get(variant, variant)


def listed(settings: Mapping[str, str]) -> str:
    """Settings in prose: ``tcp_recovery=0, tcp_frto=0``."""
    return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in settings.items())
