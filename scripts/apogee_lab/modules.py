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
from collections.abc import Iterable, Mapping
from pathlib import Path

from .algorithms import module_of
from .base import LabError, UsageError, repo_root
from .kernels.kernel import Kernel

# --- images -----------------------------------------------------------------------------------


def module_bytes(path: Path) -> bytes:
    """A module as the kernel takes it, its signature included; packages may compress it by xz."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


# --- our modules ------------------------------------------------------------------------------


def _own_folders(top: Path) -> list[Path]:
    """Where the project's modules are, below the source tree or what was built from it."""
    return [top, *sorted(folder.parent for folder in top.glob("tests/*/Kbuild"))]


def is_own(name: str) -> bool:
    """Whether a module of this name is built from this source tree."""
    return any((folder / f"{name}.c").exists() for folder in _own_folders(repo_root()))


def own_modules(ccs: Iterable[str]) -> list[str]:
    """Modules of this project among the congestion controls a run uses, in a fixed order."""
    return sorted({module_of(cc) for cc in ccs if is_own(module_of(cc))})


def module_file(name: str, k: Kernel) -> Path:
    """The .ko of one of the project's modules, as `make modules` left it for this kernel; else one
    that is installed."""
    if not is_own(name):
        raise LabError(f"there is no module {name} in this project")
    for folder in _own_folders(k.built):
        if (folder / f"{name}.ko").exists():
            return folder / f"{name}.ko"
    installed = k.installed(name)
    if installed:
        return installed
    raise LabError(f"{name}.ko is not built for {k.release}: make modules KDIR={k.headers}")


def stock_controls(k: Kernel) -> set[str]:
    """Names the kernel offers, without this project's."""
    names = {p.name.partition(".ko")[0] for p in (k.modules / "kernel/net/ipv4").glob("tcp_*.ko*")}
    return {n.removeprefix("tcp_") for n in names if n not in ("tcp_diag",)} | {"reno", "cubic"}


_INFO = re.compile(rb"(?:\A|\0)parm(type)?=([a-z][a-z0-9_]*):([^\0]*)")
_RANGE = re.compile(r"\b(\d+) (?:to|or) (\d+)\b")


def build(kernel: Kernel) -> None:
    """Build this project's modules for the kernel, or bring them up to date (a second's work).

    So what is measured is always the source as it stands; but without headers what was built or
    installed before.
    """
    if not kernel.buildable:
        return
    root = repo_root()
    out = root / "build" / "modules" / kernel.release
    done = subprocess.run(
        [root / "scripts" / "build-modules", kernel.headers, out, *kernel.make],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise LabError(f"the modules do not build for kernel {kernel.release}, see above")


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


def of_control(kernel: Kernel, cc: str) -> dict[str, str] | None:
    """Parameters of a congestion control in this kernel; None if it is built in.

    ``modprobe`` cannot set what is built in.
    """
    name = module_of(cc)
    if own_modules([cc]):
        return of_file(module_file(name, kernel))
    found = sorted((kernel.modules / "kernel" / "net" / "ipv4").glob(f"{name}.ko*"))
    return of_file(found[0]) if found else None


def check(kernel: Kernel, settings: Mapping[str, list[str]]) -> None:
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
