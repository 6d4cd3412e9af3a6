# SPDX-License-Identifier: GPL-2.0
"""The satellite link by another name, with a column of its own."""

from __future__ import annotations

from dataclasses import replace

from .satellite import SATELLITE
from .scenario import Column

TOY = replace(
    SATELLITE,
    name="toy",
    help="one flow over a short, slow link",
    params=tuple(
        replace(param, default={"rate": 2_000_000, "delay": 0.02}.get(param.name, param.default))
        for param in SATELLITE.params
    ),
    columns=lambda _records: (Column("toy peak kB", 0, lambda r: r["queue"]["max_bytes"] / 1e3),),
)
