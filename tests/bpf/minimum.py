# SPDX-License-Identifier: GPL-2.0
"""Guest instructions per ACK of the least that a congestion control costs as BPF.

``python3 -m tests.bpf.minimum`` prints records as `lab cost --whole --json - bpf_minimum` would, if
apogee-bpf had it: ``minimum.bpf.c`` is CUBIC by the kernel's own functions, called by BPF programs.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import tempfile
from pathlib import Path

from apogee_lab import algorithms
from apogee_lab.commands import cost
from apogee_lab.kernels.debian import kernel
from apogee_lab.scenarios.scenario import Plan
from tests import ROOT
from tests.bpf import FOLDER, flags

NAME = "bpf_minimum"
OBJECT = "lab/minimum.bpf.o"
SEED, DURATION_S = 1, 20.0


def build() -> bytes:
    """The object, as apogee-bpf's own are compiled."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "minimum.bpf.o"
        command = ["clang", *flags(), "-I.", "-Werror", "-c", FOLDER / "minimum.bpf.c", "-o", out]
        subprocess.run(command, cwd=ROOT / "bpf", check=True)
        return out.read_bytes()


def plan_of(ber: float, seconds: float) -> Plan:
    """As cost.plan_of()'s, with the object loaded by bpftool."""
    algorithms.add(algorithms.Algorithm(NAME, bpf="cubic"))
    try:
        plan = cost.plan_of(NAME, ber, seconds)
    finally:
        del algorithms.ALGORITHMS[NAME]
    load = f"bpftool struct_ops register /{OBJECT} >$OUT/registered 2>&1"
    script = plan.script.replace(f"apogee-bpf load {NAME}", load)
    return dataclasses.replace(plan, script=script, extras=("bpftool",))


def measure(ber: float, seconds: float) -> dict[str, float]:
    """As cost.measure()."""
    return cost.measure(plan_of(ber, seconds), cost.WHOLE, SEED, files={OBJECT: build()})


def main() -> None:
    for ber in (0.0, 1e-6):
        record = {
            "cc": NAME, "ber": ber, "seed": SEED, "duration_s": DURATION_S, "engine": "qemu",
            "kernel": kernel().release, "functions": list(cost.WHOLE), **measure(ber, DURATION_S),
        }  # fmt: skip
        print(json.dumps(record, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
