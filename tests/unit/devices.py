# SPDX-License-Identifier: GPL-2.0
"""The machines of sscop/ and shake/, and what tests/fuzz has around them, as Python libraries.

Functions and structures are read from the headers, as those of include/apogee are (cheaders.py).
What only C's library defines is a pointer here, or left out.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import BUILD, ROOT, fuzz, kernel
from tests.unit.headers import cheaders

OWN = {
    kernel.FOLDER / "linux",
    *(ROOT / at for at in ("include/apogee", "shake", "shake/core", "sscop", "sscop/core")),
}
#: "sanitized" needs libasan preloaded.


class DeviceHeaders(cheaders.Headers):
    """The declarations of headers, and of those of ours that they include."""

    def __init__(self, headers: Sequence[Path]) -> None:
        self.prologue = "".join(f'#include "{header}"\n' for header in headers)
        text = self._own(OWN | {header.parent for header in headers}).replace("_Bool", "bool")
        text = " ".join(text.split())
        self.structs: dict[str, type[ctypes.Structure]] = {}
        self.functions = {}
        self.constants = []
        self.numbers: dict[str, int] = {}
        for _, body in cheaders._ENUM.findall(text):
            number = -1
            for name, value in re.findall(r"(\w+)(?: = ([^,]+))?", body):
                number = self._number(value) if value else number + 1
                self.numbers[name] = number
        for name, body in cheaders._STRUCT.findall(text):
            if self._known([part.strip() for part in body.split(";")[:-1]]):
                self.structs[name] = self._struct(name, body)
        while "{" in text:
            text = re.sub(r"\{[^{}]*\}", ";", text)
        for result, name, args in re.findall(r"([\w ]+[ *])(\w+)\(([^()]*)\) ?;", text):
            result = result.replace("static inline", "").strip()
            given = [] if args == "void" else [arg.strip() for arg in args.split(",")]
            if self._known([result, *given]):
                self.functions[name] = (result, given)

    def _own(self, folders: set[Path]) -> str:
        text = cheaders.gcc("-E", *fuzz.INCLUDE, "-x", "c", "-", text=self.prologue)
        lines, ours = [], False
        for line in text.splitlines():
            if line.startswith("# "):
                ours = Path(line.split('"')[1]).resolve().parent in folders
            elif ours:
                lines.append(line)
        return "\n".join(lines)

    def _known(self, declarations: Sequence[str]) -> bool:
        try:
            return bool([self.type_of(declaration) for declaration in declarations])
        except (cheaders.HeaderError, KeyError):
            return False

    def _number(self, text: str) -> int:
        return eval(re.sub(r"(?<=\d)[uUlL]+", "", text), {}, self.numbers)

    def type_of(self, declaration: str) -> tuple[Any, str]:
        scalar, *lengths = re.sub(r"\]? *$", "", declaration).replace("]", "").split("[")
        try:
            kind, name = super().type_of(scalar.strip())
        except (cheaders.HeaderError, KeyError):
            if "*" not in scalar:
                raise
            kind, name = ctypes.c_void_p, re.findall(r"\*+ ?(\w*)", scalar)[0]
        for length in reversed(lengths):
            kind = kind * (self._number(length) if length else 0)
        return kind, name


def build(name: str, declared: DeviceHeaders, sources: Sequence[str | Path]) -> cheaders.Library:
    """Compile and load sources, with all that the headers declare."""
    libraries = [one for one in sources if isinstance(one, str)]
    files = [one for one in sources if isinstance(one, Path)]
    flags = [*cheaders.WARNINGS, *cheaders.CHECKED, *fuzz.INCLUDE, *libraries]
    text = declared.wrappers().replace(f"{ROOT}/", "")  # of any working copy
    made = cheaders.compile_text(name, text, BUILD / "unit", flags, files)
    return cheaders.Library(declared, made)
