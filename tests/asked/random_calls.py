# SPDX-License-Identifier: GPL-2.0
"""Random calls: numbers of all lengths, mixed with those of the calls that the unit tests made."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

#: Byte by byte, calls below each other.
Calls = np.ndarray[Any, np.dtype[np.uint8]]


def numbers(kind: Any, at: int = 0) -> Iterator[tuple[int, Any]]:
    """Where the numbers of a type are, and of which type each is; bit fields as one number."""
    if issubclass(kind, ctypes.Array):
        size = ctypes.sizeof(kind._type_)
        for index in range(kind._length_):
            yield from numbers(kind._type_, at + index * size)
    elif issubclass(kind, ctypes.Structure):
        fields = [(field[0], field[1]) for field in kind._fields_]  # type: ignore[misc]
        places = {getattr(kind, name).offset: of for name, of in fields}
        for offset, of in places.items():
            yield from numbers(of, at + offset)
    else:
        yield at, kind


def _any(random: np.random.Generator, kind: Any, count: int) -> Calls:
    """Numbers whose lengths are evenly spread, one in eight with all bits turned round."""
    bits = 8 * ctypes.sizeof(kind)
    if kind is ctypes.c_bool:
        bits = 1
    full = random.integers(0, 2**64, count, dtype=np.uint64) >> np.uint64(64 - bits)
    short = full >> random.integers(0, bits, count, dtype=np.uint64)
    turned = np.where(random.random(count) < 1 / 8, ~short, short)
    limit = np.uint64(2**bits - 1)
    column = (turned & limit).astype("<u8").view(np.uint8).reshape(count, 8)
    return column[:, : ctypes.sizeof(kind)]


class Known:
    """The arguments of calls that were made, by name and type."""

    def __init__(self, made: Iterable[ctypes.Structure]) -> None:
        seen: dict[tuple[str, Any], set[bytes]] = {}
        for call in made:
            data = bytes(call)
            for name, kind, at in arguments(type(call)):
                seen.setdefault((name, kind), set()).add(data[at : at + ctypes.sizeof(kind)])
        self._bytes = {
            (name, kind): np.frombuffer(b"".join(sorted(rows)), np.uint8).reshape(len(rows), -1)
            for (name, kind), rows in seen.items()
        }

    def some(self, random: np.random.Generator, name: str, kind: Any, count: int) -> Calls:
        """Bytes of this argument, each of another call; zeros if no call has such an argument."""
        rows = self._bytes.get((name, kind), np.zeros((1, ctypes.sizeof(kind)), np.uint8))
        return rows[random.integers(0, len(rows), (count, 1)), np.arange(rows.shape[1])]


def arguments(layout: type[ctypes.Structure]) -> Iterator[tuple[str, Any, int]]:
    """The arguments of a call: name, type, offset."""
    for name, kind in layout._fields_:  # type: ignore[misc]
        if name != "result":
            yield name, kind, getattr(layout, name).offset


def calls(layout: type[ctypes.Structure], known: Known, count: int, seed: int) -> list[bytes]:
    """Random calls. In half of them most numbers, in the others few, are known ones."""
    random = np.random.default_rng(seed)
    made = np.zeros((count, ctypes.sizeof(layout)), np.uint8)
    fresh = random.choice([0.1, 0.9], count)
    for name, kind, start in arguments(layout):
        made[:, start : start + ctypes.sizeof(kind)] = known.some(random, name, kind, count)
        for at, number in numbers(kind, start):
            new = random.random(count) < fresh
            made[new, at : at + ctypes.sizeof(number)] = _any(random, number, count)[new]
    return [row.tobytes() for row in made]
