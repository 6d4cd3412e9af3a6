# SPDX-License-Identifier: GPL-2.0
"""Kernels and packages for the Makefile and its scripts; each verb prints one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..base import LabError, cache_dir, reason
from ..guest.image import base_image
from ..kernels.apt import source, write_sources
from ..kernels.debian import kernel
from ..kernels.kernel import DEFAULT_KERNEL


def main(argv: Sequence[str]) -> int:
    """The Makefile's and its scripts' way to the lab's kernels; each verb prints one line.

    ``kdir``, ``release``, ``prepare [KERNEL]``; ``cache``, its folder; ``source``, the file of the
    default kernel's source package; ``sources SUITE FOLDER`` writes a sources.list of the machine's
    mirrors for another suite.
    """
    counts = {"kdir": (1, 2), "release": (1, 2), "prepare": (1, 2), "sources": (3,)}
    counts |= {"cache": (1,), "source": (1,)}
    if not argv or len(argv) not in counts.get(argv[0], ()):
        print(
            "usage: kernel_files kdir|release|prepare [KERNEL], kernel_files cache|source, "
            "kernel_files sources SUITE FOLDER",
            file=sys.stderr,
        )
        return 2
    try:
        if argv[0] == "sources":
            write_sources(Path(argv[2]), argv[1])
            print(Path(argv[2], "sources.list"))
            return 0
        if argv[0] in ("cache", "source"):
            print(cache_dir() if argv[0] == "cache" else source(DEFAULT_KERNEL))
            return 0
        k = kernel(argv[1] if len(argv) > 1 else DEFAULT_KERNEL)
        if argv[0] == "prepare":
            base_image(k)
    except LabError as error:
        print(f"kernel_files: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"kernel_files: {error.filename or ''}: {reason(error)}", file=sys.stderr)
        return 2
    print(k.headers if argv[0] == "kdir" else k.release)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
