# SPDX-License-Identifier: GPL-2.0
"""libFuzzer's targets reach the pure code, with address, undefined and integer sanitizers.

Each target begins with octets of a fixed seed and makes a fixed number of runs. The lines that all
targets together execute are counted by llvm-cov.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from tests import ROOT
from tests.fuzz import TARGETS, fuzzer_command

COVERAGE = ("-fprofile-instr-generate", "-fcoverage-mapping")
#: Target, runs, and the longest input.
RUNS = {
    "decode": (100_000, 300),
    "peers": (2_000, 400),
    "shake_wire": (60_000, 200),
    "shake_flows": (20_000, 1000),
    "windows": (10_000, 1000),
    "segment": (3_000, 1000),
    "paths": (700, 1000),
}
LEAST_PERCENT = 95.0
#: Files of which less is reached: per cent, and why.
LESS: dict[str, tuple[float, str]] = {}
PURE = ("include/apogee/", "sscop/", "shake/")


def seeds(folder: Path, longest: int) -> Path:
    """Octets to begin with, the same in each run."""
    folder.mkdir()
    octets = random.Random(1)
    for number in range(60):
        (folder / str(number)).write_bytes(octets.randbytes(longest))
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each target that has run to its end; the profile is beside it."""
    folder = tmp_path_factory.mktemp("fuzz")
    assert RUNS.keys() == TARGETS.keys()
    for target, (runs, longest) in RUNS.items():
        program = folder / target
        command = fuzzer_command(target, program, *COVERAGE)
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stderr
        corpus = seeds(folder / f"{target}-corpus", longest)
        done = subprocess.run(
            [program, f"-runs={runs}", f"-max_len={longest}", "-len_control=0", "-seed=1", corpus],
            env=os.environ | {"LLVM_PROFILE_FILE": f"{program}.raw"},
            capture_output=True, text=True, timeout=1500, check=False, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, f"{target}: {done.stderr[-2000:]}"
    return {target: folder / target for target in RUNS}


@pytest.fixture(scope="module")
def percent(programs: dict[str, Path]) -> dict[str, float]:
    """Lines executed by file of the pure code, in per cent."""
    paths = list(programs.values())
    merged = paths[0].parent / "all.profile"
    raw = [f"{path}.raw" for path in paths]
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *raw], check=True)
    objects = [word for path in paths[1:] for word in ("-object", path)]
    command = ["llvm-cov", "export", "-summary-only", f"-instr-profile={merged}", paths[0]]
    done = subprocess.run([*command, *objects], capture_output=True, text=True, check=True)
    found = {}
    for file in json.loads(done.stdout)["data"][0]["files"]:
        name = os.path.relpath(file["filename"], ROOT)
        lines = file["summary"]["lines"]
        if name.startswith(PURE) and lines["count"]:
            found[name] = lines["percent"]
            print(f"{name}\t{lines['covered']}/{lines['count']}\t{lines['percent']:.1f} %")
    return found


def test_all_headers_with_code_are_reached(percent: dict[str, float]) -> None:
    headers = {f"include/apogee/{path.name}" for path in (ROOT / "include/apogee").glob("*.h")}
    assert headers - percent.keys() == {
        "include/apogee/hstcp_table.h",
        "include/apogee/rtt_trend_table.h",
    }


def test_nearly_all_lines_are_executed(percent: dict[str, float]) -> None:
    few = {name: of for name, of in percent.items() if of < LESS.get(name, (LEAST_PERCENT,))[0]}
    assert few == {}
