# SPDX-License-Identifier: GPL-2.0
"""Runs among records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]


def runs(records: Iterable[Record], cc: str, **settings: Any) -> list[Record]:
    """The runs of an algorithm with these settings (None: not set), by seed."""
    found = [
        record
        for record in records
        if record["cc"] == cc
        and all(record["set"].get(key) == value for key, value in settings.items())
    ]
    assert found and len({record["seed"] for record in found}) == len(found)
    return sorted(found, key=lambda record: record["seed"])
