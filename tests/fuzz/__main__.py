# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.fuzz decode|peers SECONDS``: run a libFuzzer target.

Inputs that it keeps are in build/fuzz, those that fail in the working directory.
"""

from __future__ import annotations

import subprocess
import sys

from tests.fuzz import ROOT, TARGETS, find_clang, fuzzer_command


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in TARGETS or not arguments[1].isdigit():
        print("usage: python3 -m tests.fuzz decode|peers SECONDS", file=sys.stderr)
        return 2
    if not find_clang():
        print("tests.fuzz: clang is missing; apt-get install clang", file=sys.stderr)
        return 1
    name, seconds = arguments
    program = ROOT / "build" / "fuzz" / name
    corpus = ROOT / "build" / "fuzz" / f"corpus_{name}"
    corpus.mkdir(parents=True, exist_ok=True)
    if subprocess.run(fuzzer_command(name, program), check=False).returncode:
        return 1
    command = [program, f"-max_total_time={seconds}", "-max_len=300", corpus]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
