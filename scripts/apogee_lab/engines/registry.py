# SPDX-License-Identifier: GPL-2.0
"""The engines by name."""

from __future__ import annotations

import importlib
from typing import Any

from ..base import UsageError

ENGINES = ("qemu", "uml", "host")
ALONE = ("host",)  # engines in real time: runs side by side would disturb each other

#: What an engine's virtual CPU, which carries the packets of all hosts, carries at least, bit/s.
CARRIES_BPS = {"qemu": 300_000_000}


def engine_of(name: str) -> Any:
    """The module of an engine; UsageError if the name is unknown."""
    if name not in ENGINES:
        raise UsageError(f"unknown engine '{name}'; choose from: {', '.join(ENGINES)}")
    return importlib.import_module(f"apogee_lab.engines.{name}")
