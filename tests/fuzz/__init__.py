# SPDX-License-Identifier: GPL-2.0
"""Parts of the modules in user space: SSCOP's peers in virtual time, and libFuzzer's targets.

``python3 -m tests.fuzz TARGET SECONDS`` runs a target (clang and its libclang-rt). fuzz_NAME.c is a
target, world.c and its neighbours are what the machines stand on. In: octets. Out: an abort with
the input that made it, or nothing. The modules' files are compiled as they are, against the headers
of tests/kernel. wraps.txt names what may wrap: a line there needs its reason.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from apogee_lab.base import compiled
from tests.kernel import FOLDER as HEADERS
from tests.kernel import INCLUDE, ROOT
from tests.patience import run_within

FOLDER = Path(__file__).parent
#: CPU seconds after which a target hangs.
FUZZING_S = 3600
CORE = [
    ROOT / "sscop/core" / f"{name}.c"
    for name in (
        "pdu",
        "clock",
        "connection",
        "transmitter",
        "receiver",
        "classes",
        "class_receiver",
    )
]
WORLD = [
    FOLDER / f"{name}.c" for name in ("crc32c", "world", "wire", "segments", "settle", "script")
]
SHAKE_WIRE = [
    *(ROOT / "shake/core" / f"{name}.c" for name in ("wire", "session", "noise", "guard")),
    "-lsodium",
]
SHAKE_FLOWS = [ROOT / "shake/core/segment.c", ROOT / "shake/flows.c"]
SHAKE_DEVICE = [
    *(
        ROOT / "shake" / f"{name}.c"
        for name in (
            "control",
            "mtu",
            "path",
            "peer",
            "read",
            "receive",
            "register",
            "settings",
            "sockets",
            "timer",
            "wake",
            "way",
        )
    ),
    *SHAKE_FLOWS,
    FOLDER / "shake_world.c",
    *SHAKE_WIRE,
    '-DKBUILD_MODNAME="shake"',
    *(f"-Wl,--wrap=shake_{name}" for name in ("noise_dh", "shared_of", "public_of")),
]
FUZZER = [
    "-fsanitize=fuzzer,address,undefined,unsigned-integer-overflow,implicit-conversion",
    "-fno-sanitize-recover=all",
    f"-fsanitize-ignorelist={FOLDER / 'wraps.txt'}",
]
FLAGS = ["-std=gnu11", "-O2", "-g", *FUZZER]
#: What is compared tells nothing of what a script does, and costs three quarters of a run.
NO_COMPARISONS = "-fno-sanitize-coverage=trace-cmp"
TARGETS = {
    "decode": [CORE[0], WORLD[0]],
    "peers": [*CORE, *WORLD, NO_COMPARISONS],
    "shake_wire": SHAKE_WIRE,
    "shake_flows": SHAKE_FLOWS,
    "shake_control": SHAKE_DEVICE,
    "windows": ["-lm"],
    "segment": ["-lm"],
    "intake": [],
    "paths": ["-lm"],
    "holes": [],
}


def fuzzer_command(name: str, target: Path, *more: str) -> list[str]:
    """How to build libFuzzer's target ``name``; ``more`` are other flags."""
    sources = [FOLDER / f"fuzz_{name}.c", *TARGETS[name]]
    words = ["clang", *FLAGS, *more, *INCLUDE, *sources, "-o", target]
    return [str(word) for word in words]


def build_fuzzer(name: str, program: Path, *more: str) -> Path:
    """libFuzzer's target ``name``, compiled."""
    done = subprocess.run(
        fuzzer_command(name, program, *more), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return program


def kept_fuzzer(name: str, program: Path, *more: str) -> Path:
    """The same from the lab's cache. Another working copy may have compiled it: it is its files
    that a stack names."""
    given = [FOLDER / f"fuzz_{name}.c", *TARGETS[name]]
    sources = [one for one in given if isinstance(one, Path)]
    libraries = [one for one in given if isinstance(one, str)]
    folders = (FOLDER, HEADERS, ROOT / "include", ROOT / "sscop", ROOT / "shake")
    others = [FOLDER / "wraps.txt", *(path for top in folders for path in top.rglob("*.h"))]
    flags = [*FLAGS, *more, *map(str, INCLUDE), "-Wl,--no-as-needed", *libraries]
    program.symlink_to(compiled("fuzzer", sources, "", flags, sorted(others), "clang"))
    return program


def run_fuzzer(program: Path, *words: str | Path, **environment: str) -> None:
    """Run a target in its folder, where it leaves an input that fails."""
    environ = os.environ | environment
    done = run_within(FUZZING_S, [program, *words], env=environ, cwd=program.parent)
    assert done.returncode == 0, f"{program.name}: {done.stderr[-2000:]}"


def play(program: Path, inputs: Iterable[bytes]) -> None:
    """Each input once."""
    folder = Path(tempfile.mkdtemp(dir=program.parent))
    for number, octets in enumerate(inputs):
        (folder / str(number)).write_bytes(octets)
    run_fuzzer(program, "-runs=0", folder)
