# SPDX-License-Identifier: GPL-2.0
"""What the unit tests ask the functions of include/apogee, kept to ask a kernel the same.

A call is a structure of C: the result, then the arguments, those that are passed by reference
in full. As bytes it is what tests/answers takes. Its calls.h, which has the structures and makes
the calls, is written by

    python3 -m tests.unit.headers.answers >tests/answers/calls.h
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.unit.headers.cheaders import Headers, Library

#: Calls kept per function; the probability of keeping another one falls with the number seen.
KEPT = 1000
_HEAD = struct.Struct("=II")
_LINE = 80

Answer = tuple[str, ctypes.Structure]


def layout(headers: Headers, name: str) -> type[ctypes.Structure]:
    """The structure of a call of a function, as calls.h declares it."""
    result, arguments = headers.functions[name]
    fields = [] if result == "void" else [("result", _pointed(headers.type_of(result)[0]))]
    fields += [(n, _pointed(kind)) for kind, n in map(headers.type_of, arguments)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _holds_pointer(kind: Any) -> bool:
    if issubclass(kind, ctypes.Array):
        return _holds_pointer(kind._type_)
    fields = getattr(kind, "_fields_", [])
    return issubclass(kind, ctypes._Pointer) or any(_holds_pointer(field[1]) for field in fields)


def asked(headers: Headers) -> list[str]:
    """The functions whose arguments are all there is: none points to room of the caller's."""
    return [name for name in headers.functions if not _holds_pointer(layout(headers, name))]


def _pointed(kind: Any) -> Any:
    """What a pointer points to, everything else itself."""
    return getattr(kind, "_type_", kind) if issubclass(kind, ctypes._Pointer) else kind


def _plain(value: Any) -> Any:
    """The object behind a reference, if it is one."""
    if isinstance(value, ctypes._Pointer):
        return value.contents
    return getattr(value, "_obj", value)


@dataclass
class _Sample:
    """Calls of one function: bytes of the arguments -> bytes of the answer."""

    layout: type[ctypes.Structure]
    seen: int = 0
    calls: dict[bytes, bytes] = field(default_factory=dict)


class Recorder:
    """Puts itself before the functions of a library and keeps what passes."""

    def __init__(self, library: Library) -> None:
        headers = library.headers
        self._random = random.Random(0)
        self._samples = {name: _Sample(layout(headers, name)) for name in asked(headers)}
        for name, sample in self._samples.items():
            setattr(library, name, partial(self._call, sample, getattr(library, name)))

    def _call(self, sample: _Sample, function: Callable[..., Any], *arguments: Any) -> Any:
        sample.seen += 1
        full = len(sample.calls) == KEPT
        if full and self._random.random() * sample.seen >= KEPT:
            return function(*arguments)
        before = self._bytes(sample.layout, arguments)
        result = function(*arguments)
        if before not in sample.calls:
            if full:
                del sample.calls[next(iter(sample.calls))]
            sample.calls[before] = self._bytes(sample.layout, arguments, result)
        return result

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
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "calls").open("wb") as calls, (folder / "answers").open("wb") as answers:
            for index, sample in enumerate(self._samples.values()):
                for before, after in sample.calls.items():
                    calls.write(pack(index, before))
                    answers.write(pack(index, after))


def pack(index: int, data: bytes) -> bytes:
    """A call as it is in a file: of which function of asked(), the bytes of its structure."""
    return _HEAD.pack(index, len(data)) + data + b"\0" * (-len(data) % 8)


def unpack(path: Path) -> Iterator[tuple[int, bytes]]:
    """What was packed into a file."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        index, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield index, data[at : at + size]
        at += size + -size % 8


def read(headers: Headers, path: Path) -> Iterator[Answer]:
    """The calls in a file: function, structure."""
    names = asked(headers)
    layouts = [layout(headers, name) for name in names]
    for index, data in unpack(path):
        yield names[index], layouts[index].from_buffer_copy(data)


def values(call: Any) -> Any:
    """The numbers of a structure, without what lies between them."""
    if isinstance(call, ctypes.Array):
        return [values(one) for one in call]
    if not isinstance(call, ctypes.Structure):
        return call
    return {name: values(getattr(call, name)) for name, *_ in call._fields_}  # type: ignore[misc]


def difference(headers: Headers, wanted: Path, got: Path) -> str:
    """The first answer in which two files differ, empty if none does."""
    pairs = zip_longest(read(headers, wanted), read(headers, got), fillvalue=("nothing", None))
    for (function, one), (_, other) in pairs:
        if bytes(one or b"") == bytes(other or b""):
            continue
        if values(one) != values(other):  # not what lies between them
            return f"{function}: {values(other)} instead of {values(one)}"
    return ""


# --- calls.h ----------------------------------------------------------------------------------


def header(headers: Headers) -> str:
    """The text of calls.h."""
    parts = [
        "/* SPDX-License-Identifier: GPL-2.0 */\n"
        "/* Calls of include/apogee. Written by tests/unit/headers/answers.py; don't edit. */\n"
        "#ifndef _APOGEE_ANSWERS_CALLS_H\n#define _APOGEE_ANSWERS_CALLS_H\n",
        "".join(line + "\n" for line in headers.prologue.splitlines()),
        *(_call_text(headers, name) for name in asked(headers)),
        "static const struct {\n\tvoid (*make)(void *call);\n\tu32 size;\n} answer_calls[] = {\n"
        + "".join(
            f"\t{{ answer_{name}, sizeof(struct answer_{name}) }},\n" for name in asked(headers)
        )
        + "};\n",
        "#endif /* _APOGEE_ANSWERS_CALLS_H */\n",
    ]
    return "\n".join(parts)


def _call_text(headers: Headers, name: str) -> str:
    """One function's structure, and the function that makes the call."""
    result, arguments = headers.functions[name]
    members = [] if result == "void" else [f"{_value_type(result)} result"]
    members += [_value_type(argument) for argument in arguments]
    passed = [
        ("&c->" if "*" in argument else "c->") + headers.type_of(argument)[1]
        for argument in arguments
    ]
    if result == "void":
        head = f"\t{name}("
    else:
        head = f"\tc->result = {'*' if '*' in result else ''}{name}("
    return (
        f"struct answer_{name} {{\n"
        + "".join(f"\t{member};\n" for member in members)
        + f"}};\n\nstatic void answer_{name}(void *call)\n{{\n\tstruct answer_{name} *c = call;\n\n"
        + _wrapped(head, passed)
        + "}\n"
    )


def _value_type(declaration: str) -> str:
    """`struct abe a` for `const struct abe *a`."""
    return declaration.removeprefix("const ").replace("*", "").replace("  ", " ").strip()


def _wrapped(head: str, passed: list[str]) -> str:
    """A call over as many lines as it needs, aligned behind its parenthesis."""
    indent = len(head) + 7
    lines, line = [], head
    for index, text in enumerate(passed):
        text += ");" if index == len(passed) - 1 else ","
        if len(line.expandtabs(8)) + len(text) + 1 > _LINE:
            lines.append(line.rstrip())
            line = "\t" * (indent // 8) + " " * (indent % 8)
        elif index:
            line += " "
        line += text
    return "\n".join([*lines, line]) + "\n"


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    sys.stdout.write(header(Headers(root / "include")))
