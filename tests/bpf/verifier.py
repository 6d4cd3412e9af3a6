# SPDX-License-Identifier: GPL-2.0
"""What the kernels' verifiers look at, and how long loading takes.

``python3 -m tests.bpf.verifier [SUITE...]`` prints a record per kernel and algorithm, of what
``apogee-bpf load -v`` says there.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from apogee_lab.algorithms import ALGORITHMS, is_bpf
from apogee_lab.engines import qemu
from apogee_lab.kernels.debian import kernel

SUITES = ("bookworm", "trixie", "trixie-backports")
_PROGRAM = re.compile(r"^(\S+): (\d+) instructions verified, (\d+) octets, (\d+) compiled$", re.M)
_LOADED = re.compile(r": loaded in (\S+) s$", re.M)


def measure(suite: str, folder: Path) -> list[dict[str, Any]]:
    """Each program: instructions verified, octets of BPF, octets compiled; virtual seconds."""
    names = [a.bpf for a in ALGORITHMS.values() if is_bpf(a.name)]
    loads = [f"apogee-bpf load -v {name} >$OUT/{name} 2>&1 || exit 1" for name in names]
    script = "\n".join(["mount -t bpf -o mode=700 bpf /sys/fs/bpf", *loads])
    qemu.run_script(
        script, kernel=suite, out=folder / suite, extras=["apogee-bpf"], check=True,
    )  # fmt: skip
    found = []
    for name in names:
        text = (folder / suite / name).read_text()
        loaded = _LOADED.search(text)
        assert loaded, text
        programs = {one: list(map(int, numbers)) for one, *numbers in _PROGRAM.findall(text)}
        found.append(
            {
                "cc": name, "kernel": kernel(suite).release, "programs": programs,
                "loaded_s": float(loaded[1]),
            }
        )  # fmt: skip
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for suite in sys.argv[1:] or SUITES:
            for record in measure(suite, Path(folder)):
                print(json.dumps(record, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
