# SPDX-License-Identifier: GPL-2.0
"""The functions of include/apogee asked on machines of other kinds, by qemu-user.

A big-endian machine gets its calls as it lays them out, bit fields from the highest bit down.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.asked import bpf, calls, random_calls
from tests.unit.headers.cheaders import WARNINGS, Headers, gcc

#: As in bpf.py: undefined behaviour traps.
TRAPS = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
RANDOM = 1000  # calls per function


@dataclass(frozen=True)
class Machine:
    """What compiles for it, what runs it, and whether its numbers are turned round."""

    compiler: str
    runs: str
    big_endian: bool

    @property
    def there(self) -> bool:
        """Whether this machine has both programs."""
        return all(map(shutil.which, (self.compiler, self.runs)))


MACHINES = {
    "s390x": Machine("s390x-linux-gnu-gcc", "qemu-s390x", big_endian=True),
    "armhf": Machine("arm-linux-gnueabihf-gcc", "qemu-arm", big_endian=False),
}


def other_end(kind: Any) -> Any:
    """A type as a big-endian machine has it."""
    if issubclass(kind, ctypes.Array):
        return other_end(kind._type_) * kind._length_
    if not issubclass(kind, ctypes.Structure):
        return ctypes.c_ubyte if kind is ctypes.c_bool else kind
    fields = [(field[0], other_end(field[1]), *field[2:]) for field in kind._fields_]  # type: ignore[misc]
    return type(kind.__name__, (ctypes.BigEndianStructure,), {"_fields_": fields})


def _copied(source: Any, to: Any) -> None:
    """All numbers of a structure or an array, to the same of the other layout."""
    names: Any = range(len(source)) if isinstance(source, ctypes.Array) else None
    for name in names or [field[0] for field in source._fields_]:
        value = source[name] if names else getattr(source, name)
        if isinstance(value, (ctypes.Structure, ctypes.Array)):
            _copied(value, to[name] if names else getattr(to, name))
        elif names:
            to[name] = value
        else:
            setattr(to, name, value)


def _turned_file(headers: Headers, source: Path, out: Path, to_big: bool) -> None:
    """Calls for a big-endian machine, or from one."""
    little = [calls.layout(headers, name) for name in calls.asked(headers)]
    big = [other_end(kind) for kind in little]
    ours, theirs = (little, big) if to_big else (big, little)
    order = "big" if to_big else "little"
    with out.open("wb") as stream:
        for index, data in _unpacked(source, "little" if to_big else "big"):
            made = theirs[index]()
            _copied(ours[index].from_buffer_copy(data), made)
            head = index.to_bytes(4, order) + len(data).to_bytes(4, order)
            stream.write(head + bytes(made) + b"\0" * (-len(data) % 8))


def _unpacked(path: Path, order: Any) -> Iterator[tuple[int, bytes]]:
    data, at = path.read_bytes(), 0
    while at < len(data):
        index, size = (int.from_bytes(data[at + k : at + k + 4], order) for k in (0, 4))
        yield index, data[at + 8 : at + 8 + size]
        at += 8 + size + -size % 8


def _write_random(headers: Headers, made: Iterable[Path], out: Path) -> None:
    known = random_calls.Known(call for path in made for _, call in calls.read(headers, path))
    with out.open("wb") as stream:
        for index, name in bpf.functions(headers).items():  # the devices' have preconditions
            layout = calls.layout(headers, name)
            for data in random_calls.calls(layout, known, RANDOM, seed=index):
                stream.write(calls.pack(index, data))


def difference(headers: Headers, machine: Machine, made: Iterable[Path], folder: Path) -> str:
    """Let a machine make random calls, mixed with those in the files ``made``, that C defines here;
    the first answer that differs."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calls.h").write_text(calls.header(headers), encoding="utf-8")
    source = Path(__file__).with_name("defined.c")
    words = [*WARNINGS, *TRAPS, "-I", folder, *headers.include, source, "-o"]
    gcc(*words, folder / "here")
    command = [machine.compiler, "-static", *words, folder / "there"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = {name: folder / name for name in ("random", "calls", "wanted", "sent", "kept", "got")}
    _write_random(headers, made, files["random"])
    run = [folder / "here", files["random"], files["calls"], files["wanted"]]
    subprocess.run(list(map(str, run)), check=True)
    if machine.big_endian:
        _turned_file(headers, files["calls"], files["sent"], to_big=True)
    else:
        shutil.copy(files["calls"], files["sent"])
    run = [machine.runs, folder / "there", files["sent"], files["kept"], files["got"]]
    subprocess.run(list(map(str, run)), check=True)
    answers = files["got"]
    if machine.big_endian:
        _turned_file(headers, files["got"], folder / "answers", to_big=False)
        answers = folder / "answers"
    return calls.difference(headers, files["wanted"], answers)
