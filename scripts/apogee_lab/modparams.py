# SPDX-License-Identifier: GPL-2.0
"""Which parameters a congestion control's module has: the kernel silently ignores unknown ones."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable
from pathlib import Path

from . import images
from .request import UsageError

_NAME = re.compile(rb"(?:\A|\0)parm(?:type)?=([a-z][a-z0-9_]*):")


def of_file(module: Path) -> set[str]:
    """Parameters that a .ko (or .ko.xz) declares."""
    data = module.read_bytes()
    if module.suffix == ".xz":
        data = lzma.decompress(data)
    return {name.decode() for name in _NAME.findall(data)}


def of_control(kernel_name: str, cc: str) -> set[str] | None:
    """Parameters of a congestion control in this kernel; None if it is built in.

    ``modprobe`` cannot set what is built in.
    """
    kernel = images.kernel(kernel_name)
    name = f"tcp_{cc}"
    if images.own_modules([cc]):
        return of_file(images.module_file(name, kernel))
    found = sorted((kernel.modules / "kernel" / "net" / "ipv4").glob(f"{name}.ko*"))
    return of_file(found[0]) if found else None


def check(kernel_name: str, settings: Iterable[str]) -> None:
    """UsageError for a ``MODULE.PARAM`` among the settings that the kernel would ignore."""
    for key in settings:
        cc, dot, name = key.partition(".")
        if not dot:
            continue
        allowed = of_control(kernel_name, cc)
        if allowed is None:
            raise UsageError(f"{key}: {cc} is built into kernel {kernel_name}, it cannot be set")
        if name not in allowed:
            there = ", ".join(sorted(allowed)) or "no parameters"
            raise UsageError(f"{key}: {cc} has no parameter '{name}'; it has: {there}")
