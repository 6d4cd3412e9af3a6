# SPDX-License-Identifier: GPL-2.0
"""What unit tests ask the functions of include/apogee, kept to ask it elsewhere."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.asked.calls import asked, layout, write
from tests.unit.headers.cheaders import Library

#: Calls kept per function; the probability of keeping another one falls with the number seen.
KEPT = 1000
#: Octets of them: a kernel is asked about 64 MiB of calls at most, and some have 49 kB.
KEPT_OCTETS = 8 * 2**20


def _plain(value: Any) -> Any:
    """The object behind a reference, if it is one."""
    if isinstance(value, ctypes._Pointer):
        return value.contents
    return getattr(value, "_obj", value)


@dataclass
class _Sample:
    """Calls of one function: bytes of the arguments -> bytes of the answer."""

    layout: type[ctypes.Structure]
    most: int
    seen: int = 0
    calls: dict[bytes, bytes] = field(default_factory=dict)


class Recorder:
    """Puts itself before the functions of a library and keeps what passes."""

    def __init__(self, library: Library) -> None:
        headers = library.headers
        self._random = random.Random(0)
        self._samples = {name: self._sample(layout(headers, name)) for name in asked(headers)}
        for name, sample in self._samples.items():
            setattr(library, name, partial(self._call, sample, getattr(library, name)))

    def _call(self, sample: _Sample, function: Callable[..., Any], *arguments: Any) -> Any:
        sample.seen += 1
        full = len(sample.calls) == sample.most
        if full and self._random.random() * sample.seen >= sample.most:
            return function(*arguments)
        before = self._bytes(sample.layout, arguments)
        result = function(*arguments)
        if before not in sample.calls:
            if full:
                del sample.calls[next(iter(sample.calls))]
            sample.calls[before] = self._bytes(sample.layout, arguments, result)
        return result

    @staticmethod
    def _sample(layout: type[ctypes.Structure]) -> _Sample:
        return _Sample(layout, min(KEPT, KEPT_OCTETS // max(ctypes.sizeof(layout), 1)))

    @staticmethod
    def _bytes(
        layout: type[ctypes.Structure], arguments: tuple[Any, ...], result: Any = 0
    ) -> bytes:
        call = layout()
        names = [name for name, *_ in layout._fields_]  # type: ignore[misc]
        values = [_plain(value) for value in arguments]
        if names[0] == "result":
            values.insert(0, _plain(result))
        for name, value in zip(names, values, strict=True):
            if name != "result" or value:
                setattr(call, name, getattr(value, "value", value))
        return bytes(call)

    def write(self, folder: Path) -> None:
        """``calls``, what to ask a kernel, and ``answers``, what it has to give back."""
        write(folder, {i: sample.calls for i, sample in enumerate(self._samples.values())})
