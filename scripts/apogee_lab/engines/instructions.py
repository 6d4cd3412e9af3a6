# SPDX-License-Identifier: GPL-2.0
"""Where a guest's instructions go: engine qemu with count.c loaded into the emulator."""

from __future__ import annotations

import re
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base import LabError
from . import qemu

#: In a guest's script: counting begins anew. It calls the function MARKER.
MARK = "hostname marked"
MARKER = "__x64_sys_sethostname"
OUTSIDE = "programs"  # what runs outside the kernel
_SYMBOL = re.compile(r"^([0-9a-f]+) [tTwW] (\S+)(?:\s+\[(\w+)\])?$", re.M)

Counts = Counter[tuple[str, str]]  # (function, module or "") -> instructions
Symbols = list[tuple[int, tuple[str, str]]]


def counted(
    script: str,
    *,
    kernel: str,
    modules: Sequence[str],
    out: Path,
    files: Mapping[str, bytes] | None = None,
) -> list[Counts]:
    """Run a script in a guest: the instructions by function before each MARK."""
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        # Functions are where they were at the last boot; modules are not.
        qemu.run_script("cat /proc/kallsyms >$OUT/symbols", out=Path(folder, "boot"), kernel=kernel)
        functions = _symbols(Path(folder, "boot", "symbols"))
        marker = [address for address, (name, _) in functions if name == MARKER]
        if not marker:
            raise LabError(f"the kernel has no function {MARKER}")
        found = Path(folder, "counts")
        qemu.run_script(
            script + "\ncat /proc/kallsyms >$OUT/symbols\n",
            kernel=kernel,
            modules=modules,
            out=out,
            files=files,
            counts=(marker[0], found),
            check=True,
        )
        symbols = _symbols(out / "symbols")
        return [_by_function(text, symbols) for text in found.read_text().split("mark\n")[1:]]


def _symbols(path: Path) -> Symbols:
    """Functions of the kernel and its modules by address."""
    found = _SYMBOL.findall(path.read_text())
    return sorted((int(address, 16), (name, module)) for address, name, module in found)


def _by_function(text: str, symbols: Symbols) -> Counts:
    counts: Counts = Counter()
    for line in text.splitlines():
        address, instructions = line.split()
        at = bisect_right(symbols, (int(address, 16), ("\x7f", ""))) - 1
        function = symbols[at][1] if int(address, 16) and at >= 0 else (OUTSIDE, "")
        counts[function] += int(instructions)
    return counts
