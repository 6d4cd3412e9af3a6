# SPDX-License-Identifier: GPL-2.0
"""The headers of pure code (tests.kernel.PURE) as a Python library.

They hold `static inline` functions in kernel style and compile in user
space. Each of their functions gets an exported wrapper in a generated C file,
each structure a ctypes twin whose size and offsets the compiler confirms, and
each object-like macro with a number for a value becomes a constant. The
declarations are read from the preprocessed headers, so nothing here has to
follow when a function is added or changed.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from apogee_lab.base import GCC, compiled, write_whole
from tests.kernel import FOLDER, ROOT, pure

SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "s8": ctypes.c_int8,
    "s16": ctypes.c_int16,
    "s32": ctypes.c_int32,
    "s64": ctypes.c_int64,
    "void": None,
}
WARNINGS = ["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]
#: Undefined behaviour ends the process. What also looks for wrong addresses has to be loaded before
#: Python, and makes it slow.
CHECKED = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
if GCC != "gcc":  # the kernel's lists end at an entry that is none: of 32 bits, not aligned as one
    CHECKED.append("-fno-sanitize=alignment")
SANITIZERS = ["-fsanitize=address", *CHECKED]

#: Where headers are that what is compiled here may include.
HEADERS = (FOLDER, *(ROOT / name for name in ("include", "shake", "sscop", "tests/fuzz")))

_STRUCT = re.compile(r"\bstruct (\w+) \{([^{}]*)\}\s*;")
_ENUM = re.compile(r"\benum (\w*) ?\{([^{}]*)\}\s*;")
_FUNCTION = re.compile(r"\bstatic inline ([\w \*]+?)(\w+)\(([^()]*)\)\s*\{")
_DECLARATION = re.compile(r"^(?:const )?(struct |enum )?(\w+) ?(\*?) ?(\w+)?(?:\[(.+)\])?$")


class HeaderError(Exception):
    """A declaration this reader does not understand."""


def gcc(*args: str | Path, text: str | None = None, folder: Path | None = None) -> str:
    """Run the compiler; returns what it prints."""
    command = [GCC, *map(str, args)]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=folder, check=False
    )
    if done.returncode != 0:
        raise HeaderError(f"gcc {' '.join(map(str, args))}:\n{done.stderr}")
    return done.stdout


class Headers:
    """The declarations of a source tree's headers of pure code."""

    def __init__(self, tree: Path) -> None:
        self.include = ["-I", tree / "include", "-I", tree]
        headers = pure(tree)
        names_in_c = (str(header.relative_to(tree)).removeprefix("include/") for header in headers)
        self.prologue = "".join(f"#include <{name}>\n" for name in names_in_c)
        source = "\n".join(header.read_text(encoding="utf-8") for header in headers)
        text = " ".join(self._preprocess("-P").replace("_Bool", "bool").split())
        names = set(re.findall(r"\w+", source))
        self.structs: dict[str, type[ctypes.Structure]] = {}
        for name, body in _STRUCT.findall(text):
            if name in names:
                self.structs[name] = self._struct(name, body)
        self.functions = {
            name: (result.strip(), [part.strip() for part in args.split(",")])
            for result, name, args in _FUNCTION.findall(text)
            if name in names
        }
        enums = [body for name, body in _ENUM.findall(text) if name in names]
        self.constants = [
            item.split("=")[0].strip() for body in enums for item in body.split(",") if item.strip()
        ]
        self.constants += self._macros(names)

    def _preprocess(self, *flags: str) -> str:
        return gcc("-E", *flags, *self.include, "-x", "c", "-", text=self.prologue)

    def _macros(self, names: set[str]) -> list[str]:
        defined = re.findall(r"^#define ([A-Z]\w+) (.+)$", self._preprocess("-dM"), re.M)
        values = dict(defined)
        return sorted(n for n in names & set(values) if self._is_number(n, values))

    @staticmethod
    def _is_number(name: str, values: dict[str, str]) -> bool:
        words = re.findall(
            r"[A-Za-z_]\w*", re.sub(r"\b(0x)?[0-9a-fA-F]+[uUlL]*\b", "", values[name])
        )
        return values[name][0] in "(0123456789" and all(w in values for w in words)

    def _struct(self, name: str, body: str) -> type[ctypes.Structure]:
        fields: list[tuple[Any, ...]] = []
        for declaration in filter(None, (part.strip() for part in body.split(";"))):
            declared, _, bits = declaration.partition(":")
            kind, field = self.type_of(declared.strip())
            fields.append((field, kind, int(bits)) if bits else (field, kind))
        return type(name, (ctypes.Structure,), {"_fields_": fields})

    def type_of(self, declaration: str) -> tuple[Any, str]:
        """The ctypes type and the name in `const struct abe *a` or `u64 bw[2]`."""
        match = _DECLARATION.match(declaration)
        if not match:
            raise HeaderError(f"cannot read the declaration: {declaration}")
        tag, base, star, name, length = match.groups()
        if tag == "struct ":
            kind: Any = self.structs[base]
        elif tag == "enum ":
            kind = ctypes.c_uint
        elif base in SCALARS:
            kind = SCALARS[base]
        else:
            raise HeaderError(f"unknown type {base} in: {declaration}")
        if star:
            kind = ctypes.POINTER(kind)
        if length:
            kind = kind * int(length.rstrip("uUlL"))
        return kind, name or ""

    def wrappers(self, prefix: str = "call_") -> str:
        """A C file with an exported function, `call_NAME`, for each inline one."""
        lines = [self.prologue, "#include <stddef.h>"]
        for name, (result, args) in self.functions.items():
            names = ", ".join(self.type_of(arg)[1] for arg in args)
            body = f"{name}({names});" if result == "void" else f"return {name}({names});"
            lines.append(f"{result} {prefix}{name}({', '.join(args)});")
            lines.append(f"{result} {prefix}{name}({', '.join(args)}) {{ {body} }}")
        for name in self.constants:
            lines.append(f"const u64 const_{name} = (u64)({name});")
        for name, struct in self.structs.items():
            lines.append(self._assert(f"sizeof(struct {name})", ctypes.sizeof(struct)))
            for field, _, *bits in struct._fields_:  # type: ignore[misc]
                offset = getattr(struct, field).offset
                if not bits:
                    lines.append(self._assert(f"offsetof(struct {name}, {field})", offset))
        return "\n".join(lines) + "\n"

    @staticmethod
    def _assert(expression: str, value: int) -> str:
        return f'_Static_assert({expression} == {value}, "{expression}");'


class Library:
    """The compiled headers: functions, structures and constants by their C names.

    ``lib.abe_bw(a)`` calls a function; structures are passed by reference as they
    are. ``lib.new("abe", mss=1448)`` makes a structure, zeroed but for the fields
    named. ``lib.ABE_EPOCH`` is a macro's or an enumerator's number. ``lib.headers``
    are the declarations.
    """

    def __init__(self, headers: Headers, shared_object: Path) -> None:
        self.headers = headers
        dll = ctypes.CDLL(str(shared_object))
        for name, (result, args) in headers.functions.items():
            function = dll[f"call_{name}"]
            function.restype = headers.type_of(result)[0]
            function.argtypes = [headers.type_of(arg)[0] for arg in args]
            setattr(self, name, function)
        for name in headers.constants:
            setattr(self, name, ctypes.c_uint64.in_dll(dll, f"const_{name}").value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"no function or constant {name}")

    def new(self, struct: str, **fields: Any) -> Any:
        """A structure, zeroed but for the fields named."""
        made = self.headers.structs[struct]()
        for name, value in fields.items():
            if not hasattr(made, name):
                raise AttributeError(f"struct {struct} has no field {name}")
            setattr(made, name, value)
        return made


def build_library(tree: Path, folder: Path, *, sanitized: bool) -> Path:
    """Compile the headers, preprocessed into the folder, which processes may share. Their names in
    it are those below the source tree: the lab's cache has one library for all working copies."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = [*WARNINGS, *(SANITIZERS if sanitized else CHECKED), "-shared", "-fPIC"]
    words = ("-E", "-I", "include", "-I", ".", "-x", "c", "-")
    text = gcc(*words, text=Headers(tree).wrappers(), folder=tree)
    source = folder / "headers.c"
    write_whole(source, text)
    return compiled("headers", [source], ".so", flags)


def compile_text(
    name: str, text: str, folder: Path, flags: Sequence[str | Path], more: Sequence[Path] = ()
) -> Path:
    """The library of generated C, which is written into the folder, and of other C files."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.c", text)
    headers = [path for top in HEADERS for path in top.rglob("*.h")]
    flags = [*map(str, flags), "-shared", "-fPIC", "-Wl,--no-as-needed"]
    sources, others = [folder / f"{name}.c", *more], [*headers, *ROOT.glob("tcp_*.c")]
    return compiled("test-library", sources, ".so", flags, sorted(others))


def compile_library(tree: Path, folder: Path, *, sanitized: bool) -> Library:
    """Build and load the headers; ``sanitized`` needs libasan preloaded."""
    return Library(Headers(tree), build_library(tree, folder, sanitized=sanitized))


def undefined_symbols_32bit(tree: Path, stubs: Path, folder: Path) -> set[str]:
    """What the headers call when built as kernel code for a 32-bit machine.

    ``stubs`` stands in for the kernel's own headers and leaves its 64-bit
    division helpers undefined, so what else is undefined the compiler put in.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "headers32.c"
    headers = Headers(tree)
    text = headers.wrappers().split("_Static_assert", 1)[0]
    source.write_text(text, encoding="utf-8")
    target = folder / "headers32.o"
    flags = [*WARNINGS, "-m32", "-ffreestanding", "-fno-pic", "-D__KERNEL__"]
    gcc(*flags, "-I", stubs, *headers.include, "-c", source, "-o", target)
    listed = subprocess.run(
        ["nm", "--undefined-only", str(target)], capture_output=True, text=True, check=True
    )
    return {line.split()[-1] for line in listed.stdout.splitlines()}
