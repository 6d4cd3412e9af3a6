# SPDX-License-Identifier: GPL-2.0
"""The runs behind the figures of the paper on SHAKE: variants, schedulers, what becomes of ACKs.

A point is every setting of a run as its record has it, defaults included, so that no two points
share records. The variant says on which stack a flow runs and whether SHAKE keeps to the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import units
from ...scenarios import SCENARIOS
from ..claims import Point
from ..figure import Cell

MULTIPATH = SCENARIOS["multipath"]
_KINDS = {param.name: param.kind for param in MULTIPATH.params}

DURATION_S = 100.0
MANY, FEW, STEADY = 20, 5, 2  # seeds: the paper's; elsewhere; without anything random
SCHEDULERS = ("rr", "ratio", "rah")
RIVALS = SCHEDULERS[:2]
PLAIN, DROP, TDAR, AUTO = "pass", "drop", "tdar", "auto"
NEAR, EQUAL, FAR = "10ms", "150ms", "290ms"  # the second path's one-way delay
LOSS = "0.1%"  # the paper's, on both paths

#: Variants: a window of 40 packets, of 20, the device as it is on that stack, and today's stack.
LETTER, NARROW, PERIOD, TODAY = "letter", "window=20", "period", "today"
_STACK = {"stack": "period", "window": "40"}
SETTINGS: dict[str, dict[str, str]] = {
    TODAY: {},
    LETTER: _STACK,
    NARROW: {"stack": "period", "window": "20"},
    PERIOD: _STACK,
}
CCS = {TODAY: "cubic", LETTER: "reno3", NARROW: "reno3", PERIOD: "reno3"}
#: By the paper's rules RAH holds nothing back, and TCP repairs all losses.
PUBLISHED = (LETTER, NARROW)
BOTH = (PERIOD, TODAY)
VARIANTS = {
    TODAY: "TCP with Linux's defaults (cubic where no algorithm is named, windows autotuned) over "
    "SHAKE with its defaults but what a row names",
    LETTER: "SHAKE with hold=0, repair=0 and ack as named, TCP of the time (stack=period, reno3) "
    "with a window of 40 packets. Other differences from the paper, see the heads of shake_holes.h "
    "and shake_path.h, stay: losses are proved across paths, too, and dropped ACKs are made good",
    NARROW: "the same with a window of 20 packets, the simulator's default",
    PERIOD: "SHAKE with its defaults but what a row names, TCP of the time (stack=period, reno3) "
    "with a window of 40 packets, with three and four paths of 160",
}

Settings = Mapping[str, str]


def way(scheduler: str, ack: str, variant: str) -> dict[str, str]:
    """SHAKE's settings of a scheduler and of what becomes of duplicate ACKs."""
    found = {"scheduler": scheduler, "ack": ack}
    if variant in PUBLISHED:
        found["repair"] = "0"
    return found | ({"hold": "0s"} if scheduler == "rah" and variant in PUBLISHED else {})


def cell(variant: str, settings: Settings, seeds: int = FEW, cc: str | None = None) -> Cell:
    """The run of a point."""
    told = SETTINGS[variant] | settings
    return Cell("multipath", cc or CCS[variant], told, variant, DURATION_S, seeds)


def point(variant: str, settings: Settings) -> Point:
    """A point as records have it."""
    told = {
        key: units.parse(_KINDS[key], text) for key, text in (SETTINGS[variant] | settings).items()
    }
    values: dict[str, Any] = MULTIPATH.defaults() | told
    return {key: units.for_record(_KINDS[key], value) for key, value in values.items()}


def both_lose(loss: str) -> dict[str, str]:
    """The same loss on both paths."""
    return {"loss1": loss, "loss": loss}
