# SPDX-License-Identifier: GPL-2.0
"""Kernel modules of algorithms, this project's and the user's: build, find, check parameters.

The kernel silently ignores an unknown parameter, and a module that refuses a value costs a boot.
Both are checked before the run, as is whether a user's module can be loaded into this kernel.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from . import algorithms
from .algorithms import Algorithm, module_of
from .base import (
    LabError,
    UsageError,
    cache_dir,
    call,
    find_program,
    locked,
    reason,
    repo_root,
    run_program,
)
from .kernels.kernel import Kernel
from .units import CONTROL

_INFO = re.compile(rb"(?:\A|\0)parm(type)?=([a-z][a-z0-9_]*):([^\0]*)")
_ABOUT = re.compile(rb"(?:\A|\0)(name|vermagic|depends)=([^\0]*)")
_RANGE = re.compile(r"\b(\d+) (?:to|or) (\d+)\b")
_EM_BPF = 247
_GIVEN = re.compile(rf"(?:({CONTROL.pattern})=)?(.+)", re.S)


def module_bytes(path: Path) -> bytes:
    """The content of a module file, signature included; decompressed if it is a .ko.xz."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


# --- this project's modules -------------------------------------------------------------------


def _own_folders(top: Path) -> list[Path]:
    """Folders of the project's modules, relative to the source tree or the build tree."""
    found = [*top.glob("*/Kbuild"), *top.glob("tests/*/Kbuild")]
    return [top, *sorted(path.parent for path in found)]


def _is_source(folder: Path, name: str) -> bool:
    """Whether a module is built from this folder: from one file, or from several in one of its
    name."""
    return (folder / f"{name}.c").exists() or folder.name == name


def brought(names: Iterable[str]) -> list[str]:
    """Modules of these algorithms that are not part of the kernel, in a fixed order."""
    return sorted({module_of(name) for name in names if algorithms.is_brought(name)})


def module_file(name: str, k: Kernel) -> Path:
    """The .ko of a module: the one passed by the user, else the project's as built by `make
    modules` for this kernel, else the installed one."""
    for algorithm in algorithms.ALGORITHMS.values():
        if algorithm.module == name and algorithm.file:
            return algorithm.file
    if not any(_is_source(folder, name) for folder in _own_folders(repo_root())):
        raise LabError(f"this project has no module {name}")
    for folder in _own_folders(k.built):
        if (folder / f"{name}.ko").exists():
            return folder / f"{name}.ko"
    installed = k.installed(name)
    if installed:
        return installed
    raise LabError(f"{name}.ko is not built for {k.release}: make modules KDIR={k.headers}")


def build(kernel: Kernel) -> None:
    """Build this project's modules for the kernel, or bring them up to date.

    Runs therefore always use the current source. What another working copy has built of the same is
    copied. Without kernel headers, modules that were built or installed earlier are used.
    """
    if not kernel.buildable:
        return
    kept = cache_dir().absolute() / "modules" / kernel.built.name
    script = repo_root() / "scripts" / "build-modules"
    done = run_program(
        [script, "--kept", kept, kernel.headers, kernel.built, *kernel.make],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    if done.returncode == 2:
        raise LabError(done.stdout.strip().splitlines()[-1])
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise LabError(f"the modules do not build for kernel {kernel.release}, see above")


# --- the kernel's modules ---------------------------------------------------------------------


def stock_controls(k: Kernel) -> set[str]:
    """Names of the kernel's own congestion controls."""
    names = {p.name.partition(".ko")[0] for p in (k.modules / "kernel/net/ipv4").glob("tcp_*.ko*")}
    return {n.removeprefix("tcp_") for n in names if n != "tcp_diag"} | set(algorithms.BUILT_IN)


# --- modules passed by the user ---------------------------------------------------------------


def give(text: str, k: Kernel) -> Algorithm:
    """Register the algorithm of a user's module: ``[NAME=]PATH`` of a .ko, of its source folder, or
    of an object of BPF programs (.bpf.o).

    A folder with a Kbuild or Makefile is copied and built for this kernel. NAME is the algorithm's
    name if it differs from the module's name without ``tcp_``. UsageError (one line) if it is not
    a module or cannot be loaded into this kernel.
    """
    match = None if Path(text).exists() else _GIVEN.fullmatch(text)
    path = Path(match[2] if match else text)
    if not text or not (path.is_file() or path.is_dir()):
        raise UsageError(f"--module {text}: no such file or folder")
    said = match[1] if match and match[1] else ""
    if path.suffix == ".o":
        return _give_object(path, said)
    file = _built_of(path, said, k) if path.is_dir() else path
    module = _checked(file, k)
    name = said or module.removeprefix("tcp_")
    if name in algorithms.BUILT_IN:
        raise UsageError(f"--module {path}: {name} is built into every kernel; rename the module's")
    if not _registers(file, name):
        raise UsageError(f"--module {path}: it has no congestion control {name}; say NAME={path}")
    listed = algorithms.find(name)
    given = Algorithm(name, listed.kind, module, colour=listed.colour, file=file.absolute())
    algorithms.add(given)
    return given


def _registers(file: Path, name: str) -> bool:
    """Whether a congestion control of this name can be in a module: its field ends in zeros."""
    word = rb"(?<![a-z0-9_-])" + name.encode() + rb"\0"
    return re.search(word, module_bytes(file)) is not None


def _give_object(path: Path, name: str) -> Algorithm:
    """Register the algorithm of BPF programs (struct_ops); NAME as it registers itself."""
    where = f"--module {path}"
    found = _names_in(path.read_bytes())
    if not found:
        raise UsageError(f"{where}: no object of BPF programs with a congestion control")
    if len(found) > 1 and name not in found:
        raise UsageError(f"{where}: say NAME={path}, one of {', '.join(found)}")
    name = name or found[0]
    if name not in found:
        raise UsageError(f"{where}: its congestion control is called {found[0]}, not {name}")
    given = Algorithm(name, bpf=name, file=path.absolute(), colour=algorithms.find(name).colour)
    algorithms.add(given)
    return given


def _names_in(data: bytes) -> list[str]:
    """The names in the struct_ops of an object of BPF programs, little-endian ELF64."""
    if data[:6] != b"\x7fELF\x02\x01" or int.from_bytes(data[18:20], "little") != _EM_BPF:
        return []
    try:
        offset, size, count, strings = struct.unpack_from("<40xQ10xHHH", data)
        heads = [struct.unpack_from("<II16xQQ", data, offset + size * n) for n in range(count)]
    except struct.error:
        return []
    found = []
    for word, _kind, at, length in heads:
        start = heads[strings][2] + word
        if data[start:].startswith(b".struct_ops"):
            found += re.findall(
                rb"(?<![\x20-\x7e])[a-z][a-z0-9_-]{1,14}(?=\0)", data[at : at + length]
            )
    return [name.decode() for name in dict.fromkeys(found)]


def _built_of(folder: Path, name: str, k: Kernel) -> Path:
    """Build a folder's source for this kernel, in a copy; the path of the .ko, of several that
    with this congestion control."""
    if not any((folder / name).is_file() for name in ("Kbuild", "Makefile")):
        raise UsageError(f"--module {folder}: the folder has no Kbuild and no Makefile")
    place = hashlib.sha256(f"{folder.resolve()}{name and chr(0) + name}".encode()).hexdigest()[:12]
    copy = k.built / "given" / place
    if copy.is_relative_to(folder.resolve()):
        raise UsageError(f"--module {folder}: the lab's own build is in that folder")
    with locked(f"{copy.parent}"):  # other runs may need what an earlier build left
        built = _build_copy(folder, copy, name, k)
        file = copy.with_suffix(".ko")
        if not file.exists() or file.read_bytes() != built.read_bytes():
            built.replace(file)
    return file


def _build_copy(folder: Path, copy: Path, name: str, k: Kernel) -> Path:
    """Copy a folder, build it there; the .ko, of several that with this congestion control."""
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(
            folder, copy, ignore_dangling_symlinks=True,
            ignore=shutil.ignore_patterns("*.ko", "*.o", "*.cmd", ".git"),
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"--module {folder}: cannot be copied: {reason(error)}") from None
    make = ["make", "-C", k.headers, f"M={copy}", "CONFIG_DEBUG_INFO_BTF_MODULES=", *k.make]
    done = run_program(
        [*make, "modules"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise UsageError(f"--module {folder}: does not build for kernel {k.release}, see above")
    every = sorted(copy.rglob("*.ko"))
    found = [file for file in every if name and _registers(file, name)] or every
    if len(found) != 1:
        names = ", ".join(path.name for path in every) or "none"
        hint = f"; say NAME={folder}" if every and not name else ""
        raise UsageError(f"--module {folder}: one module is needed, its build makes {names}{hint}")
    return found[0]


def _checked(file: Path, k: Kernel) -> str:
    """A module's name; UsageError if this kernel would not load it."""
    where = f"--module {file}"
    try:
        data = module_bytes(file)
    except (OSError, lzma.LZMAError) as error:
        raise UsageError(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    about = {key.decode(): text.decode(errors="replace") for key, text in _ABOUT.findall(data)}
    if not data.startswith(b"\x7fELF") or not {"name", "vermagic"} <= about.keys():
        raise UsageError(f"{where}: not a kernel module")
    release = about["vermagic"].split()[0]
    if release != k.release:
        raise UsageError(
            f"{where}: built for kernel {release}, this one is {k.release}; "
            "give the folder of its source to have it built"
        )
    if k.vmlinux.exists():
        with k.vmlinux.open("rb") as kernel:
            if kernel.read(20)[18:20] != data[18:20]:  # e_machine
                raise UsageError(f"{where}: built for another kind of machine")
    missing = _unresolved(file, k) if file.suffix == ".ko" else []
    if missing:
        raise UsageError(f"{where}: kernel {k.release} has no {', '.join(missing)}")
    return about["name"].replace("-", "_")


def _unresolved(file: Path, k: Kernel) -> list[str]:
    """Symbols that a module needs but neither the kernel nor its modules export."""
    exports = k.headers / "Module.symvers"
    if not exports.exists():
        return []
    there = {line.split("\t")[1] for line in exports.read_text().splitlines()}
    listing = call([find_program("nm", "binutils"), "--undefined-only", file], "nm")
    needed = re.findall(r"^\s*U (\S+)$", listing, re.M)
    return sorted(set(needed) - there)


# --- module parameters ------------------------------------------------------------------------


def of_file(module: Path) -> dict[str, str]:
    """Parameters that a .ko (or .ko.xz) declares, with their descriptions."""
    found: dict[str, str] = {}
    for is_type, name, text in _INFO.findall(module_bytes(module)):
        found.setdefault(name.decode(), "")
        if not is_type:
            found[name.decode()] = text.decode(errors="replace")
    return found


def of_control(kernel: Kernel, name: str) -> dict[str, str] | None:
    """Parameters of an algorithm's module in this kernel; None if it is built in.

    ``modprobe`` cannot set what is built in. BPF programs have those of their module.
    """
    name = algorithms.find(name).bpf or name
    module = module_of(name)
    if algorithms.is_brought(name):
        return of_file(module_file(module, kernel))
    found = sorted((kernel.modules / "kernel" / "net" / "ipv4").glob(f"{module}.ko*"))
    return of_file(found[0]) if found else None


def check(kernel: Kernel, settings: Mapping[str, list[str]]) -> None:
    """UsageError for a ``MODULE.PARAM`` that the kernel would ignore or the module would refuse.

    The range is read from the parameter's description: ``1 to 1000000``, ``0 or 1``.
    """
    for key, values in settings.items():
        owner, dot, name = key.partition(".")
        if not dot:
            continue
        allowed = of_control(kernel, owner)
        if allowed is None:
            raise UsageError(
                f"{key}: {owner} is built into kernel {kernel.release}, it cannot be set"
            )
        if name not in allowed:
            there = ", ".join(sorted(allowed)) or "no parameters"
            raise UsageError(f"{key}: unknown parameter '{name}' of {owner}; choose from: {there}")
        span = _RANGE.search(allowed[name])
        for value in values if span else []:
            number = int(value) if re.fullmatch("[0-9]{1,18}", value) else -1
            if not int(span[1]) <= number <= int(span[2]):
                raise UsageError(f"{key}: '{value}' is out of range, allowed: {span.group()}")
