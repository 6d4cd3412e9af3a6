# SPDX-License-Identifier: GPL-2.0
"""Plug-ins of iproute2's ip for types of link of the project's own: ``*/iproute2/link_TYPE.c``.

``ip`` loads ``link_TYPE.so`` from the folder named by ``IP_LIB_DIR``, or from its built-in one.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..base import GCC, cache_dir, compiled, hold, locked, repo_root

#: Flags in addition to those of :func:`compiled`; scripts/ip-plugins has the same.
_FLAGS = ("-shared", "-fPIC", "-Wextra")

#: Where the guest's ``ip`` is told to look for them.
GUEST_FOLDER = "lib/ip"


def sources() -> list[Path]:
    """The plug-ins' sources."""
    return sorted(repo_root().glob("*/iproute2/link_*.c"))


def plugins(compiler: str = GCC) -> dict[str, Path]:
    """File names, as ``ip`` looks for them, and the plug-ins, compiled in the cache."""
    found = {}
    for source in sources():
        folders = (source.parent.parent, repo_root() / "include" / "iproute2")
        headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
        found[f"{source.stem}.so"] = compiled(
            source.stem, [source], ".so", _FLAGS, headers, compiler
        )
    return found


def folder() -> Path:
    """A folder of the cache with the plug-ins, for ``IP_LIB_DIR`` on this machine."""
    found = plugins()
    place = cache_dir() / "-".join(["ip", *(path.stem for path in found.values())])
    with locked("ip"):
        place.mkdir(exist_ok=True)
        for name, path in found.items():
            link = place / name
            wanted = os.path.relpath(path, place)
            if not link.is_symlink() or os.readlink(link) != wanted:
                link.unlink(missing_ok=True)  # points to where the cache was before
                link.symlink_to(wanted)
        hold(place)
    return place


def guest_files(compiler: str = GCC) -> dict[str, bytes]:
    """The plug-ins as files of a guest: path in the guest -> contents.

    Scripts of the guest need ``IP_LIB_DIR=/lib/ip`` in their environment.
    """
    return {f"{GUEST_FOLDER}/{name}": path.read_bytes() for name, path in plugins(compiler).items()}
