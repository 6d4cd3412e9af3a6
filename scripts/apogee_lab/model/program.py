# SPDX-License-Identifier: GPL-2.0
"""The model's program: built when it is first asked for, and run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base import call, compiled, repo_root
from ..kernels import uml_kernel

FOLDER = Path(__file__).parent
#: What is compiled of the kernel's source.
KERNEL_FILES = ("net/ipv4/tcp_bbr.c", "net/ipv4/tcp_cubic.c", "lib/win_minmax.c")
#: The algorithms that it has.
CONTROLS = ("star", "hstcp_gentle", "compound_plus", "compound", "bbr", "cubic", "reno")


@lru_cache
def program() -> Path:
    """The program, with the algorithms of the kernel of engine uml, which is built if need be."""
    kernel = uml_kernel.kernel().root / "source"
    include = repo_root() / "include"
    return compiled(
        "model",
        sorted(FOLDER.glob("*.c")),
        "",
        ["-std=gnu11", "-DMODEL_KERNEL", f"-I{FOLDER / 'kernel'}", f"-I{include}", f"-I{kernel}",
         "-Wl,--no-as-needed", "-lm"],  # named before the sources
        [
            *sorted((FOLDER / "kernel").rglob("*.h")),
            *sorted(include.rglob("*.h")),
            *sorted(repo_root().glob("tcp_*.c")),
            *(kernel / name for name in KERNEL_FILES),
        ],
    )  # fmt: skip


def run(options: Sequence[str]) -> dict[str, Any]:
    """What the program prints: rates in bit/s, RTTs in ms, counts in segments."""
    return json.loads(call([program(), *options], "model"))
