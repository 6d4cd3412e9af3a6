# SPDX-License-Identifier: GPL-2.0
"""Calls of the functions of include/apogee as bytes, and the C that makes them.

A call is a structure of C: the result, then the arguments, those that are passed by reference
in full. The C is generated where it is compiled, for a kernel module or for BPF programs:

    PYTHONPATH=scripts python3 -m tests.asked.calls >calls.h
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.unit.headers.cheaders import Headers

_HEAD = struct.Struct("=II")

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


def write(folder: Path, made: Mapping[int, Mapping[bytes, bytes]]) -> None:
    """Files ``calls`` and ``answers``: of each function the calls before and after."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, at in (("calls", 0), ("answers", 1)):
        with (folder / file).open("wb") as stream:
            for index, of in made.items():
                stream.writelines(pack(index, pair[at]) for pair in of.items())


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

_HEADER = """\
/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of include/apogee, written by tests/asked/calls.py. */
#ifndef _APOGEE_ASKED_CALLS_H
#define _APOGEE_ASKED_CALLS_H

{includes}
{calls}
static const struct {{
	void (*make)(void *call);
	u32 size;
}} answer_calls[] = {{
{table}}};

#endif /* _APOGEE_ASKED_CALLS_H */
"""
_CALL = """\
struct answer_{name} {{
{members}}};

static void answer_{name}(void *call)
{{
	struct answer_{name} *c = call;

	{result}{name}({arguments});
}}
"""


def header(headers: Headers) -> str:
    """The text of calls.h."""
    names = asked(headers)
    return _HEADER.format(
        includes=headers.prologue,
        calls="\n".join(_call_text(headers, name) for name in names),
        table="".join(f"\t{{ answer_{name}, sizeof(struct answer_{name}) }},\n" for name in names),
    )


def _call_text(headers: Headers, name: str) -> str:
    """One function's structure, and the function that makes the call."""
    result, arguments = headers.functions[name]
    members = [] if result == "void" else [f"{_value_type(result)} result"]
    members += map(_value_type, arguments)
    passed = [f"{'&' * ('*' in one)}c->{headers.type_of(one)[1]}" for one in arguments]
    return _CALL.format(
        name=name,
        members="".join(f"\t{member};\n" for member in members),
        result="" if result == "void" else "c->result = " + "*" * ("*" in result),
        arguments=", ".join(passed),
    )


def _value_type(declaration: str) -> str:
    """`struct abe a` for `const struct abe *a`."""
    return " ".join(declaration.removeprefix("const ").replace("*", "").split())


if __name__ == "__main__":
    sys.stdout.write(header(Headers(ROOT)))
