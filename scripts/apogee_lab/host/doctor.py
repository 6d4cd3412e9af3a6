# SPDX-License-Identifier: GPL-2.0
"""``lab doctor``: what is missing on this machine, and the command that installs it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..base import LabError, cache_dir, find_program, megabytes, repo_root
from ..engines import host
from ..guest.image import PROGRAMS
from ..kernels import debian, uml_kernel
from ..kernels.kernel import SUITES

DISK_MB = 3000  # kernels, images and the results of a sweep
GUEST_MB = 1200  # memory of one guest with its emulator

# What the lab runs on the host -> Debian package.
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    **PROGRAMS,
    "iperf3": "iperf3",
    "gcc": "gcc",
    "gcc-12": "gcc-12",
    "make": "make",
    "modinfo": "kmod",
    "depmod": "kmod",
    "strip": "binutils",
    "ldd": "libc-bin",
    "taskset": "util-linux",
    "setpriv": "util-linux",
    "flock": "util-linux",
    "tar": "tar",
    "xz": "xz-utils",
    "zstd": "zstd",
    "dpkg-deb": "dpkg",
}
LIBRARIES = {
    "numpy": "python3-numpy",
    "matplotlib": "python3-matplotlib",
    "tqdm": "python3-tqdm",
    "jinja2": "python3-jinja2",
    "jsonschema": "python3-jsonschema",
}
# Needed by engine uml besides the lab's programs.
FOR_UML = {name: uml_kernel.PROGRAMS[name] for name in ("flex", "bison", "bc")}
# Needed by the tests and the static checks, not by the lab.
FOR_TESTS = {
    "bpftrace": "bpftrace",
    "mandoc": "mandoc",
    "openssl": "openssl",
    "sparse": "sparse",
    "shellcheck": "shellcheck",
}
LIBRARIES_FOR_TESTS = {
    "pytest": "python3-pytest",
    "xdist": "python3-pytest-xdist",
    "pytest_timeout": "python3-pytest-timeout",
    "hypothesis": "python3-hypothesis",
    "scipy": "python3-scipy",
}
UML, HOST, TESTS = "engine uml", "engine host", "tests"


@dataclass(frozen=True)
class Finding:
    """One requirement: whether it is met, and the package or advice if not.

    ``only_for`` names the only part that needs it; it is empty if the lab itself does.
    """

    what: str
    there: bool
    package: str = ""
    advice: str = ""
    only_for: str = ""


def _has_program(name: str, package: str) -> bool:
    try:
        find_program(name, package)
    except LabError:
        return False
    return True


def _has_library(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _folder_that_exists(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _space(what: str, folder: Path) -> Finding:
    """Whether there is room for more in a folder, which need not exist yet."""
    there = _folder_that_exists(folder)
    free = shutil.disk_usage(there).free // 1_000_000
    return Finding(
        f"{what} in {folder}, {free / 1000:.1f} GB free",
        free >= DISK_MB and os.access(there, os.W_OK),
        advice=f"{DISK_MB / 1000:g} GB in a writable folder are needed",
    )


def _machine() -> list[Finding]:
    machine = platform.machine()
    found = [
        Finding(
            f"processor {machine}",
            machine == "x86_64",
            advice="the lab's programs are built for x86_64: use an x86_64 machine",
        ),
        _space("results", repo_root() / "build"),
        _space(f"cache of {megabytes(cache_dir()) / 1000:.1f} GB", cache_dir()),
    ]
    memory = _memory_mb()
    if memory is not None:
        found.append(
            Finding(
                f"{memory / 1000:.1f} GB memory, enough for {memory // GUEST_MB} guests at once",
                memory >= GUEST_MB,
                advice="one guest takes 1.2 GB; choose --jobs accordingly",
            )
        )
    return found


def _memory_mb() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 // 1_000_000
    return None


def _packages() -> list[Finding]:
    found = [Finding(n, _has_program(n, package), package) for n, package in PROGRAMS.items()]
    libc = any(Path(top).glob("*/libc.a") for top in ("/usr/lib", "/usr/lib64"))
    found.append(Finding("static C library", libc, "libc6-dev"))
    found += [Finding(f"Python's {n}", _has_library(n), p) for n, p in LIBRARIES.items()]
    for programs, user in ((FOR_UML, UML), (FOR_TESTS, TESTS)):
        found += [Finding(n, _has_program(n, p), p, only_for=user) for n, p in programs.items()]
    found += [
        Finding(f"Python's {n}", _has_library(n), p, only_for=TESTS)
        for n, p in LIBRARIES_FOR_TESTS.items()
    ]
    return found


def _kernels() -> Finding:
    cached = [name for name in debian.kernels() if name not in SUITES]
    if cached:
        return Finding(f"kernel {', '.join(cached)}", True)
    apt = shutil.which("apt-get") is not None
    return Finding(
        "kernel: none yet" + (", the first run gets it with apt" if apt else ""),
        apt,
        advice="the guest's kernel comes from apt: use a Debian machine, or copy "
        f"{cache_dir()} from one",
    )


def _uml_kernel() -> Finding:
    built = [name for name in uml_kernel.kernels() if name not in uml_kernel.BUILDABLE]
    if built:
        return Finding(f"kernel of engine uml {', '.join(built)}", True, only_for=UML)
    return Finding("kernel of engine uml: none yet, the first run builds it", True, only_for=UML)


def _host() -> Finding:
    why = host.unfit()
    return Finding(
        f"features of kernel {host.DEFAULT_KERNEL} that engine host needs",
        not why,
        advice=why,
        only_for=HOST,
    )


def find() -> list[Finding]:
    """All requirements, in the order in which they are printed."""
    return [*_machine(), *_packages(), _kernels(), _uml_kernel(), _host()]


def main() -> int:
    """Print all requirements; 0 if the lab can run here, 1 if something is missing."""
    found = find()
    for finding in found:
        lack = f"missing, for {finding.only_for} only" if finding.only_for else "MISSING"
        state = "ok" if finding.there else lack
        print(f"{finding.what}: {state}")
        if not finding.there and finding.advice:
            print(f"    {finding.advice}")
    print("not needed: KVM; for engine host only: root, and a kernel that loads modules")
    missing = [finding for finding in found if not finding.there]
    lacking = [finding for finding in missing if not finding.only_for]
    sudo = "" if os.geteuid() == 0 else "sudo "
    users = (("", "the lab needs"), (UML, f"{UML} also needs"), (TESTS, "the tests also need"))
    for user, text in users:
        packages = sorted({f.package for f in missing if f.package and f.only_for == user})
        if packages:
            command = f"{sudo}apt-get install --no-install-recommends {' '.join(packages)}"
            print(f"\n{text}:\n    {command}", file=sys.stderr)
    if lacking:
        print(f"\n{len(lacking)} missing", file=sys.stderr)
    return 1 if lacking else 0
