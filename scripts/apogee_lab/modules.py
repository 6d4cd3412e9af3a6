# SPDX-License-Identifier: GPL-2.0
"""Modules of congestion controls: built before they are measured, their parameters checked.

The kernel silently ignores a parameter it does not know, and a module that refuses a value costs a
boot: both are told beforehand.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from . import images
from .request import UsageError
from .scenario import module_of

_INFO = re.compile(rb"(?:\A|\0)parm(type)?=([a-z][a-z0-9_]*):([^\0]*)")
_RANGE = re.compile(r"\b(\d+) (?:to|or) (\d+)\b")


def build(kernel: images.Kernel) -> None:
    """Build this project's modules for the kernel, or bring them up to date (a second's work).

    So what is measured is always the source as it stands; but without headers what was built or
    installed before.
    """
    if not kernel.buildable:
        return
    root = images.repo_root()
    out = root / "build" / "modules" / kernel.release
    done = subprocess.run(
        [root / "scripts" / "build-modules", kernel.headers, out, *kernel.make],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise images.LabError(f"the modules do not build for kernel {kernel.release}, see above")


def of_file(module: Path) -> dict[str, str]:
    """Parameters that a .ko (or .ko.xz) declares, with their descriptions."""
    data = module.read_bytes()
    if module.suffix == ".xz":
        data = lzma.decompress(data)
    found: dict[str, str] = {}
    for is_type, name, text in _INFO.findall(data):
        found.setdefault(name.decode(), "")
        if not is_type:
            found[name.decode()] = text.decode(errors="replace")
    return found


def of_control(kernel: images.Kernel, cc: str) -> dict[str, str] | None:
    """Parameters of a congestion control in this kernel; None if it is built in.

    ``modprobe`` cannot set what is built in.
    """
    name = module_of(cc)
    if images.own_modules([cc]):
        return of_file(images.module_file(name, kernel))
    found = sorted((kernel.modules / "kernel" / "net" / "ipv4").glob(f"{name}.ko*"))
    return of_file(found[0]) if found else None


def check(kernel: images.Kernel, settings: Mapping[str, list[str]]) -> None:
    """UsageError for a ``MODULE.PARAM`` that the kernel would ignore or the module refuse.

    A range is what the parameter's description says: ``1 to 1000000``, ``0 or 1``.
    """
    for key, values in settings.items():
        cc, dot, name = key.partition(".")
        if not dot:
            continue
        allowed = of_control(kernel, cc)
        if allowed is None:
            raise UsageError(f"{key}: {cc} is built into kernel {kernel.release}, it cannot be set")
        if name not in allowed:
            there = ", ".join(sorted(allowed)) or "no parameters"
            raise UsageError(f"{key}: {cc} has no parameter '{name}'; it has: {there}")
        span = _RANGE.search(allowed[name])
        for value in values if span else []:
            if not (value.isdigit() and int(span[1]) <= int(value) <= int(span[2])):
                raise UsageError(f"{key}: '{value}' is out of range, allowed: {span.group()}")
