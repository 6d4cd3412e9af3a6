# SPDX-License-Identifier: GPL-2.0
"""The functions of include/apogee asked in BPF, by bpf_prog_test_run.

Each function that the programs of bpf/ use has a program here that makes a call of it. Two files of
calls are asked: those that the unit tests made, and random ones.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from apogee_lab.guest.cpio import libraries
from tests import ROOT
from tests.asked import calls, random_calls
from tests.bpf import flags
from tests.unit.headers.cheaders import WARNINGS, Headers, gcc

FOLDER = Path(__file__).parent

#: Functions of the devices, which are modules only.
DEVICES = ("shake_", "sscop_")

#: Random calls per function. C does not define what some of them do: those are left out.
RANDOM = 3000

#: In a guest: the answers, and the programs that the kernel has refused.
SCRIPT = """
chmod +x /lab/ask && /lab/ask /lab/calls.bpf.o /lab/calls $OUT/answers >$OUT/refused
"""

_PROGRAM = """
__attribute__((section("syscall"), used)) int call_{index}_{name}(void *context)
{{
	answer_{name}(call);
	return 0;
}}
"""
_LICENCE = 'char _license[] __attribute__((section("license"), used)) = "GPL";\n'


def functions(headers: Headers) -> dict[int, str]:
    """What is asked in BPF, by its place in calls.h."""
    names = enumerate(calls.asked(headers))
    return {index: name for index, name in names if not name.startswith(DEVICES)}


def source(headers: Headers) -> str:
    """The programs; their calls are made in place, in a variable."""
    room = max(ctypes.sizeof(calls.layout(headers, name)) for name in functions(headers).values())
    programs = [_PROGRAM.format(index=i, name=name) for i, name in functions(headers).items()]
    head = f'#include "calls.h"\n\nchar call[{room}] __attribute__((aligned(8)));\n'
    return head + "".join(programs) + "\n" + _LICENCE


def build(headers: Headers, folder: Path) -> dict[str, Path]:
    """The programs, what asks them, and what answers random calls in user space."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "calls.bpf.c"
    text.write_text(source(headers), encoding="utf-8")
    made = {name: folder / name for name in ("calls.bpf.o", "ask", "defined")}
    # -Wno-unused-function: calls.h has the calls of the devices, too
    (folder / "calls.h").write_text(calls.header(headers), encoding="utf-8")
    more = ["-Wno-unused-function", "-Wno-unused-const-variable", "-Werror"]
    # A call in BPF takes five arguments at most: what has more is to be part of its callers.
    inline = ["-mllvm", "-inline-threshold=1000"]
    command = ["clang", *flags(), *inline, "-I..", *more, "-c", text, "-o", made["calls.bpf.o"]]
    done = subprocess.run(command, cwd=ROOT / "bpf", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    gcc(*WARNINGS, FOLDER / "ask.c", "-lbpf", "-o", made["ask"])
    traps = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    gcc(
        *WARNINGS,
        *traps,
        "-I",
        folder,
        *headers.include,
        FOLDER / "defined.c",
        "-o",
        made["defined"],
    )
    return made


def prepare(headers: Headers, asked: Path, folder: Path) -> dict[str, bytes]:
    """What a guest needs, by its path there. In ``folder`` are then the answers that it has to
    give, to the calls that the unit tests made, which are in ``asked``, and to random ones.
    """
    made = build(headers, folder)
    _write_random(headers, asked / "calls", folder / "random")
    defined, answered = folder / "random-calls", folder / "random-answers"
    subprocess.run([made["defined"], folder / "random", defined, answered], check=True)
    _join(headers, [asked / "calls", defined], folder / "calls")
    _join(headers, [asked / "answers", answered], folder / "answers")
    shared = [path for path in libraries(made["ask"]) if not path.name.startswith("ld-")]
    return {
        **{f"lib/{path.name}": path.read_bytes() for path in shared},
        **{f"lab/{name}": (folder / name).read_bytes() for name in ("ask", "calls.bpf.o", "calls")},
    }


def _write_random(headers: Headers, asked: Path, out: Path) -> None:
    """Random calls of each function, made of those in the file ``asked``."""
    known = random_calls.Known(call for _, call in calls.read(headers, asked))
    with out.open("wb") as stream:
        for index, name in functions(headers).items():
            layout = calls.layout(headers, name)
            for data in random_calls.calls(layout, known, RANDOM, seed=index):
                stream.write(calls.pack(index, data))


def _join(headers: Headers, files: Sequence[Path], out: Path) -> None:
    """Join files of calls, without those of functions that are not asked in BPF."""
    wanted = functions(headers)
    with out.open("wb") as stream:
        for path in files:
            for index, data in calls.unpack(path):
                if index in wanted:
                    stream.write(calls.pack(index, data))
