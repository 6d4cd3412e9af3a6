# SPDX-License-Identifier: GPL-2.0
"""The kernel's headers in user space, as far as the sources that tests compile need them.

They are beside the lab's model (``scripts/apogee_lab/model/kernel``). The model compiles
``tcp_star.c``, the fuzzers what ``shake/`` and ``sscop/`` are made of, and a test of 32-bit
machines all of ``include/apogee``. Names and meanings are the kernel's. What a test decides itself
is declared there and defined by it: the time (``fuzz_now``, ``model_now``), whether memory is to
be had (``slab_refuses``), what another CPU does before a lock is taken.

Not to be put there: anything that the sources under test define themselves, a copy of a header with
other contents for one user, or C's library in a header that ``apogee/int.h`` needs in the kernel.
``<net/tcp.h>`` is a socket as a congestion control sees it, ``<linux/netdevice.h>`` as a tunnel
does; no source needs both.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MODEL = ROOT / "scripts" / "apogee_lab" / "model"
FOLDER = MODEL / "kernel"
INCLUDE = ["-I", FOLDER, "-I", ROOT / "include", "-I", ROOT]
#: Headers whose functions are all inline: what modules share, what a device has for itself.
PURE = ("include/apogee/*.h", "shake/core/shake_*.h", "sscop/core/sscop_*.h")


def pure(tree: Path) -> list[Path]:
    """The headers of pure code of a source tree."""
    return sorted(path for pattern in PURE for path in tree.glob(pattern))
