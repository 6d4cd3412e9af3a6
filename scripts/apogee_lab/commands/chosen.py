# SPDX-License-Identifier: GPL-2.0
"""Records that a command line names, and which of them it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base import UsageError
from ..results.text import show
from .options import Arguments


def records_of(paths: Iterable[str]) -> list[dict[str, Any]]:
    from ..measures.record import read_records

    found = [record for path in paths for record in read_records(Path(path))]
    if not found:
        raise UsageError("there are no records in " + ", ".join(paths))
    return found


def _same(value: Any, text: str) -> bool:
    if text in (str(value), show(value)):
        return True
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return False


def filtered(found: list[dict[str, Any]], args: Arguments) -> list[dict[str, Any]]:
    """The records that --cc, --set and --seed leave."""
    if args.cc:
        found = [record for record in found if record["cc"] in args.cc.split(",")]
    if args.seed:
        found = [record for record in found if str(record["seed"]) in args.seed.split(",")]
    for text in args.set:
        key, equals, listed = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: KEY=VALUE is needed")
        if not any(key in record["set"] for record in found):
            raise UsageError(f"--set {text}: no record has a parameter '{key}'")
        found = [
            record
            for record in found
            if key not in record["set"]
            and "." in key
            or any(_same(record["set"].get(key), item) for item in listed.split(","))
        ]
    if not found:
        raise UsageError("no record is left by --cc, --set and --seed")
    return found
