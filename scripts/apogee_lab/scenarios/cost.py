# SPDX-License-Identifier: GPL-2.0
"""Estimated CPU seconds of a run over a 10 Mbit/s link with engine qemu."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Fixed cost of a run: boot, namespaces, Python.
_OVERHEAD_S = 5.5
# Cost of _FULL_S seconds of a full link: with one flow, and with several flows and their hosts.
_FULL_S, _ONE_FLOW_S, _SHARED_S = 60.0, 11.0, 16.0
# Utilisation at each bit error rate: algorithms that tolerate random loss (True), and others.
_SHARES = {
    True: {1e-7: 0.8, 1e-6: 0.6, 1e-5: 0.4},
    False: {0.0: 0.9, 1e-8: 0.7, 1e-7: 0.3, 1e-6: 0.1, 1e-5: 0.05},
}
_ROBUST = {"star", "j", "bbr", "hybla"}
_SHORT_QUEUE = 0.3  # utilisation of the others with a queue of ten packets
_TRACED = 1.3


def one_flow(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> float:
    """Cost of a run with one flow."""
    return _link_s(values, ccs, duration_s, _ONE_FLOW_S)


def shared_link(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> float:
    """Cost of a run with several flows."""
    return _link_s(values, ccs, duration_s, _SHARED_S)


def _link_s(
    values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float, full_s: float
) -> float:
    robust = bool(_ROBUST & set(ccs))
    share = _SHARES[robust].get(values.get("ber", 0.0), 1.0)
    if not robust and values.get("queue") == 15_000:
        share = min(share, _SHORT_QUEUE)
    traced = _TRACED if values.get("trace", "none") != "none" else 1.0
    return _OVERHEAD_S + full_s * share * traced * duration_s / _FULL_S
