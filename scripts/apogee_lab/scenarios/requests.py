# SPDX-License-Identifier: GPL-2.0
"""Requests: transfers of a few sizes, one after the other, alone or beside bulk flows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from . import moving, shared, testbed, traffic
from .scenario import Param, Plan, Scenario

MOST_SIZES = 64  # flow.c's

PARAMS = (
    Param(
        "sizes",
        (10_000, 100_000, 1_000_000, 10_000_000),
        "list:size",
        "sizes of the transfers, 10kB+1MB+…: each once in every round, in random order",
        1,
        1e9,
    ),
    Param("lead", 10.0, "time", "how long bulk flows run before the transfers begin", 0, 3600),
    *(p for p in shared.PARAMS if p.name in ("spread", "wired_rate", "wired_delay")),
    *testbed.LINK_PARAMS,
    *moving.PARAMS,
    *(param for param in testbed.HOST_PARAMS if param.name != "traffic"),
)

HEAD = shared.HEAD.replace(
    "satellite-shared: bulk flows that share a satellite link",
    "requests: transfers over a satellite link, bulk flows beside them",
)


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    """The first flow is the transfers', all others are bulk flows."""
    if len(values["sizes"]) > MOST_SIZES:
        raise ValueError(f"sizes: {len(values['sizes'])} given, at most {MOST_SIZES} are allowed")
    first, *others = ccs
    lead_s = values["lead"] if others else 0.0
    flows = [shared.Flow(1, first, lead_s, 0.0, values["sizes"])]
    flows += [shared.Flow(n, cc, 0.0, 0.0) for n, cc in enumerate(others, 2)]
    return shared.plan(HEAD, {**values, "traffic": "flow"}, flows, duration_s)


REQUESTS = Scenario(
    name="requests",
    help="transfers one after the other, alone or beside bulk flows: completion times",
    params=PARAMS,
    parse_cc=partial(traffic.mix, most=shared.MOST_FLOWS, flows="flows"),
    build=_build,
)
