# SPDX-License-Identifier: GPL-2.0
"""The schema of records, from the TypedDicts that declare their keys."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict


@dataclass(frozen=True)
class Key:
    """A key: its path (``flows[].rtt_ms.min``, ``groups.NAME.jain``), type, unit, meaning.

    An object that may be null has neither unit nor meaning; its own keys have them.
    """

    path: str
    type: Any
    unit: str
    meaning: str


def keys_of(declared: type, path: str = "") -> list[Key]:
    """The keys that a TypedDict declares, including those of nested TypedDicts."""
    found = []
    for name, hint in get_type_hints(declared, include_extras=True).items():
        place = f"{path}.{name}" if path else name
        if get_origin(hint) is Annotated:
            kind, unit, meaning = get_args(hint)
            found.append(Key(place, kind, unit, meaning))
        else:
            found += _inside(hint, place)
    return found


def _inside(hint: Any, place: str) -> list[Key]:
    if is_typeddict(hint):
        return keys_of(hint, place)
    if get_origin(hint) is list:
        return _inside(get_args(hint)[0], f"{place}[]")
    if get_origin(hint) is dict:
        return _inside(get_args(hint)[1], f"{place}.NAME")
    if isinstance(hint, types.UnionType):  # an object or null: the key itself may have a value
        (one,) = (kind for kind in get_args(hint) if kind is not type(None))
        return [Key(place, type(None), "", ""), *_inside(one, place)]
    raise TypeError(f"{place}: {hint} has no unit and no meaning")
