# SPDX-License-Identifier: GPL-2.0
"""Roughly what a run over a link of 10 Mbit/s costs: CPU seconds with engine qemu."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What a run costs beside its packets: boot, namespaces, Python.
_OVERHEAD_S = 5.5
# For so many seconds of a full link: one flow, and several with hosts of their own.
_FULL_S, _ONE_FLOW_S, _SHARED_S = 60.0, 11.0, 16.0
# Share of that at each bit error rate: algorithms that take losses for errors, and others.
_SHARES = {
    True: {1e-7: 0.8, 1e-6: 0.6, 1e-5: 0.4},
    False: {0.0: 0.9, 1e-8: 0.7, 1e-7: 0.3, 1e-6: 0.1, 1e-5: 0.05},
}
_ROBUST = {"star", "j", "bbr", "hybla"}
_SHORT_QUEUE = 0.3  # what the others reach of it with a queue of ten packets
_TRACED = 1.3


def one_flow(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> float:
    """A run of one flow."""
    return _link_s(values, ccs, duration_s, _ONE_FLOW_S)


def shared_link(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> float:
    """A run of several flows."""
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
