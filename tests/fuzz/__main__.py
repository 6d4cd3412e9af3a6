# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.fuzz TARGET SECONDS``: run a libFuzzer target.

Inputs that it keeps are in build/fuzz, those that fail in the working directory.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from tests import BUILD
from tests.fuzz import TARGETS, fuzzer_command


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in TARGETS or not arguments[1].isdigit():
        print(f"usage: python3 -m tests.fuzz {'|'.join(TARGETS)} SECONDS", file=sys.stderr)
        return 2
    if not shutil.which("clang"):
        print("tests.fuzz: clang is missing; scripts/setup check installs it", file=sys.stderr)
        return 1
    name, seconds = arguments
    program = BUILD / "fuzz" / name
    corpus = BUILD / "fuzz" / f"corpus_{name}"
    corpus.mkdir(parents=True, exist_ok=True)
    if subprocess.run(fuzzer_command(name, program), check=False).returncode:
        return 1
    command = [program, f"-max_total_time={seconds}", "-max_len=300", corpus]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
