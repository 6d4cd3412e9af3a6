# SPDX-License-Identifier: GPL-2.0
"""libFuzzer's targets reach the pure code, with address, undefined and integer sanitizers.

Each target begins with octets of a fixed seed and makes a fixed number of runs. The lines that all
targets together execute are counted by llvm-cov.
"""

from __future__ import annotations

import os
import random
import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests import ROOT
from tests.fuzz import TARGETS, build_fuzzer, run_fuzzer
from tests.kernel import pure
from tests.unit.shake.flows_core import Packet

pytestmark = [pytest.mark.deep, pytest.mark.xdist_group("fuzz")]

COVERAGE = ("-fprofile-instr-generate", "-fcoverage-mapping")
#: Target, runs, and the longest input.
RUNS = {
    "decode": (100_000, 300),
    "peers": (2_000, 400),
    "shake_wire": (400_000, 200),
    "shake_flows": (5_000, 60_000),
    "shake_control": (3_000, 400),
    "windows": (10_000, 1000),
    "segment": (3_000, 1000),
    "intake": (10_000, 1000),
    "holes": (4_000, 1000),
    "paths": (700, 1000),
}
LEAST_PERCENT = 95.0
#: Of what belongs to the device around the machines: memory refused in the middle, users' errors
#: and what is inside packets are for the tests in the kernel.
LEAST_OF = {"shake/peer.c": 80.0, "shake/receive.c": 80.0, "shake/settings.c": 50.0}
PURE = ("include/apogee/", "sscop/", "shake/")
NO_CODE = re.compile(r"\s*(#define|//|/\*|\*( |/|$)|$)")


def random_octets(longest: int) -> list[bytes]:
    """The same in each run."""
    octets = random.Random(1)
    return [octets.randbytes(min(longest, 1000)) for _ in range(60)]


def flows() -> list[bytes]:
    """For shake_flows: packets of each kind, by each path, what becomes of their ACKs; flows and
    holes of more than the room there is."""
    stamps = bytes([1, 1, 8, 10]) + bytes(8)
    sack = bytes([1, 1, 5, 18]) + struct.pack(">IIII", 3000, 4000, 6000, 7000)
    dsack = bytes([1, 1, 5, 18]) + struct.pack(">IIII", 3000, 3500, 3000, 4000)
    options = (
        b"",
        stamps,
        sack,
        stamps + sack,
        dsack,
        b"\x01\x1d\x08" + bytes(6) + sack,
        b"\x02\x01",
    )
    found = []
    for extensions in ((), ((0, bytes(6)), (60, bytes(14))), ((44, bytes(6)),)):
        ends = {"source": "2001:db8::1", "destination": "2001:db8::9"} if extensions else {}
        for option in options:
            packet = Packet(data=bytes(8), extensions=extensions, options=option, **ends)
            steps = [
                (2, packet),
                *((path << 3, replace(packet, seq=1000 + 24 * path)) for path in range(1, 4)),
            ]
            steps += [(what, packet.back(ack=1008, options=option)) for what in (3, 4, 4)]
            steps += [(8, replace(packet, flags=flags)) for flags in (2, 1, 0x12, 4)]
            found.append(
                b"".join(bytes([what, 130, len(p.octets)]) + p.octets for what, p in steps)
            )
    many = [replace(Packet(data=b"x"), ports=(port, 80)).octets for port in range(1, 1200)]
    gaps = [replace(Packet(data=b"x"), seq=1000 + 16 * number).octets for number in range(400)]
    for one_path in (many, gaps):
        for what in (8, 9):
            found.append(b"".join(bytes([what, 130, len(one)]) + one for one in one_path))
    return found


def registrations() -> list[bytes]:
    """For shake_wire: each type with each length."""
    return [
        bytes([auth, kind << 4, 1]) + bytes(length)
        for auth in (0, 1, 3, 4)
        for kind in range(10)
        for length in range(140)
    ]


SEEDS: dict[str, Callable[[], list[bytes]]] = {"shake_flows": flows, "shake_wire": registrations}


def seeds(target: str, folder: Path, longest: int) -> Path:
    """A corpus to begin with."""
    folder.mkdir()
    inputs = random_octets(longest) + SEEDS.get(target, list)()
    for number, octets in enumerate(inputs):
        (folder / str(number)).write_bytes(octets)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each target that has run to its end; the profile is beside it."""
    folder = tmp_path_factory.mktemp("fuzz")
    assert RUNS.keys() == TARGETS.keys()
    for target, (runs, longest) in RUNS.items():
        program = build_fuzzer(target, folder / target, *COVERAGE)
        corpus = seeds(target, folder / f"{target}-corpus", longest)
        words = [f"-runs={runs}", f"-max_len={longest}", "-len_control=0", "-seed=1", corpus]
        run_fuzzer(program, *words, LLVM_PROFILE_FILE=f"{program}.raw")
    return {target: folder / target for target in RUNS}


def executed(program: Path) -> dict[str, dict[int, bool]]:
    """By file of the pure code: its lines of code, and whether this target executes them."""
    profile = f"{program}.profile"
    subprocess.run(["llvm-profdata", "merge", "-o", profile, f"{program}.raw"], check=True)
    command = ["llvm-cov", "export", "-format=lcov", f"-instr-profile={profile}", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, dict[int, bool]] = {}
    for line in done.stdout.splitlines():
        kind, _, value = line.partition(":")
        if kind == "SF":
            name = os.path.relpath(value, ROOT)
            text = Path(value).read_text(encoding="utf-8").splitlines()
        elif kind == "DA" and name.startswith(PURE):
            number, count = map(int, value.split(",")[:2])
            # llvm-cov takes all lines of a function without calls for code, and a macro it uses
            if not NO_CODE.match(text[number - 1]):
                found.setdefault(name, {})[number] = count > 0
    return found


@pytest.fixture(scope="module")
def percent(programs: dict[str, Path]) -> dict[str, float]:
    """Lines executed by any target, by file of the pure code, in per cent."""
    lines: dict[str, dict[int, bool]] = {}
    for program in programs.values():
        for name, by in executed(program).items():
            all_lines = lines.setdefault(name, {})
            for number, hit in by.items():
                all_lines[number] = all_lines.get(number, False) or hit
    found = {}
    for name, by in sorted(lines.items()):
        found[name] = 100 * sum(by.values()) / len(by)
        missing = [number for number, hit in sorted(by.items()) if not hit]
        print(f"{name}\t{sum(by.values())}/{len(by)}\t{found[name]:.1f} %\tnot: {missing}")
    return found


def test_all_headers_with_code_are_reached(percent: dict[str, float]) -> None:
    headers = {str(path.relative_to(ROOT)) for path in pure(ROOT)}
    assert headers - percent.keys() == {
        "include/apogee/hstcp_table.h",
        "include/apogee/rtt_trend_table.h",
    }


def test_nearly_all_lines_are_executed(percent: dict[str, float]) -> None:
    few = {name: of for name, of in percent.items() if of < LEAST_OF.get(name, LEAST_PERCENT)}
    assert few == {}
