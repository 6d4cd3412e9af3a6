# SPDX-License-Identifier: GPL-2.0
"""The schema of records, from the TypedDicts that declare their keys."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
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


def problems(record: Mapping[str, Any], keys: Iterable[Key], needed: Iterable[Key]) -> list[str]:
    """Deviations of a record from its schema: undeclared keys, values of another type, missing
    required keys."""
    known = {key.path: key for key in keys}
    seen: set[str] = set()
    found = []
    for path, value in _values(record, known):
        seen.add(path)
        if path not in known:
            found.append(f"{path}: no such key is declared")
        elif not _fits(value, known[path].type):
            found.append(f"{path}: {value!r} is no {known[path].type}")
    return found + [f"{key.path}: missing" for key in needed if key.path not in seen]


def _values(value: Any, known: Mapping[str, Key], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a record with its key."""
    if isinstance(value, Mapping) and not _is_leaf(path, known):
        for name, inner in value.items():
            place = f"{path}.{name}" if path else name
            named = any(key == place or key.startswith((f"{place}.", f"{place}[")) for key in known)
            generic = any(key.startswith(f"{path}.NAME.") for key in known)
            yield from _values(inner, known, f"{path}.NAME" if generic and not named else place)
    elif isinstance(value, list) and not _is_leaf(path, known):
        for inner in value:
            yield from _values(inner, known, f"{path}[]")
    else:
        yield path, value


def _is_leaf(path: str, known: Mapping[str, Key]) -> bool:
    return path in known and bool(known[path].unit)


def _fits(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if isinstance(kind, types.UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_fits(one, get_args(kind)[0]) for one in value)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(_fits(v, get_args(kind)[1]) for v in value.values())
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return value is None if kind is type(None) else isinstance(value, kind)
