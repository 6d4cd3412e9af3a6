# SPDX-License-Identifier: GPL-2.0
"""The records that a command line names, filtered by --cc, --set and --seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import UsageError
from ..results.text import show
from ..runs import request
from .options import Arguments


def records_of(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The records of these files; UsageError if they have none, LabError for a bad file."""
    found = [record for path in paths for record in _records(path)]
    if not found:
        raise UsageError("no records in " + ", ".join(paths))
    return found


def _records(path: str) -> list[dict[str, Any]]:
    """Those of one file; of records that figures were computed from, figure and variant count as
    settings."""
    if not path.endswith(".xz"):
        from ..measures.record import read_records

        return read_records(Path(path))
    from ..papers import kept

    return [
        record | {"set": {kept.FIGURE: figure, kept.VARIANT: variant} | record["set"]}
        for figure, variants in kept.read(Path(path)).items()
        for variant, records in variants.items()
        for record in records
    ]


def _same(value: Any, text: str) -> bool:
    if text in (str(value), show(value)):
        return True
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return False


def filtered(found: list[dict[str, Any]], args: Arguments) -> list[dict[str, Any]]:
    """The records that match --cc, --set and --seed; settings that came after a record have their
    defaults."""
    found = [record | {"set": request.completed(record)} for record in found]
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
        raise UsageError("no record matches --cc, --set and --seed")
    return found
