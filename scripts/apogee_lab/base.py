# SPDX-License-Identifier: GPL-2.0
"""Shared by all packages of the lab: errors, the cache, locks, host programs, files."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

#: The lab's own sources.
LAB = Path(__file__).resolve().parent

SHOWN = 1000  # characters of a message to a user

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1

_BIN_DIRS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")


class LabError(Exception):
    """An error that the user can fix; its text is one line."""


def repo_root() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[2]


def cache_dir() -> Path:
    """Where kernels and images are kept (``APOGEE_CACHE`` or ``build/cache``).

    LabError for a folder that the kernel's makefiles do not take.
    """
    folder = Path(os.environ.get("APOGEE_CACHE") or repo_root() / "build" / "cache")
    if re.search(r"[\s:]", str(folder.absolute())):
        raise LabError(
            f"{folder}: no kernel can be kept in a folder with blanks or colons: "
            "set APOGEE_CACHE to another one"
        )
    return folder


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold an exclusive lock with this name in the cache; other processes wait."""
    path = cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def find_program(name: str, package: str) -> Path:
    """Path of a host program; LabError names the package to install if it is missing."""
    for folder in _BIN_DIRS:
        path = Path(folder, name)
        if path.exists():
            return path
    found = shutil.which(name)
    if found:
        return Path(found)
    raise LabError(f"{name} is not installed: apt-get install {package}")


def reason(error: OSError) -> str:
    """What an OSError says; of shutil's, which hold a list of (from, to, why), the first."""
    if error.strerror is None and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][2])
    return error.strerror or str(error)


def need_space(folder: Path, megabytes: int) -> None:
    """LabError unless this much is free. apt waits for ever when it fills a disk."""
    free = shutil.disk_usage(folder).free // 1_000_000
    if free < megabytes:
        raise LabError(f"{folder}: {megabytes} MB of space are needed, {free} are left")


def end_with_parent(how: signal.Signals, parent: int) -> None:
    """From now on this process gets the signal when its parent ends, even if that is killed.

    It ends at once if the parent has ended already.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(1)


def start_program(
    argv: Sequence[str | Path], *, ending: signal.Signals = signal.SIGTERM, **kwargs: Any
) -> subprocess.Popen[Any]:
    """A program that gets a signal when the lab ends; LabError if it is not installed."""
    tied = partial(end_with_parent, ending, os.getpid())
    try:
        return subprocess.Popen([str(a) for a in argv], preexec_fn=tied, **kwargs)
    except FileNotFoundError:
        folder = Path(kwargs.get("cwd") or ".")
        if not folder.is_dir():
            raise LabError(f"{argv[0]}: there is no folder {folder} to run it in") from None
        raise LabError(f"{argv[0]} is not installed; see scripts/lab doctor") from None


def run_program(
    argv: Sequence[str | Path], *, ending: signal.Signals = signal.SIGTERM, **kwargs: Any
) -> subprocess.CompletedProcess[Any]:
    """Run such a program to its end; it gets the signal if the lab gives up as well."""
    with start_program(argv, ending=ending, **kwargs) as process:
        try:
            output, errors = process.communicate()
        except BaseException:
            process.send_signal(ending)
            raise
    return subprocess.CompletedProcess(argv, process.returncode, output, errors)


def call(argv: Sequence[str | Path], what: str, **kwargs: object) -> str:
    """Run a program and return its standard output; LabError with its last line if it fails."""
    env = {**os.environ, "LC_ALL": "C"}
    pipe = subprocess.PIPE
    try:
        done = run_program(argv, stdout=pipe, stderr=pipe, text=True, env=env, **kwargs)
    except LabError as error:
        raise LabError(f"{what}: {error}") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        raise LabError(f"{what}: {lines[-1]}")
    return done.stdout


def compiled(
    name: str,
    sources: Sequence[Path],
    suffix: str,
    flags: Sequence[str],
    more_headers: Sequence[Path] = (),
) -> Path:
    """The binary that gcc builds from these C files, rebuilt when they or their headers change.

    ``more_headers`` are those that are not beside a source.
    """
    beside = {path for source in sources for path in source.parent.glob("*.h")}
    headers = [*sorted(beside), *more_headers]
    text = b"".join(path.read_bytes() for path in [*headers, *sources])
    binary = cache_dir() / f"{name}-{hashlib.sha256(text).hexdigest()[:12]}{suffix}"
    if binary.exists():
        return binary
    with locked(name):
        if not binary.exists():
            part = binary.with_name(binary.name + ".part")
            gcc = find_program("gcc", "gcc libc6-dev")
            call([gcc, "-O2", "-Wall", *flags, "-o", part, *sources], f"compiling {name}")
            part.rename(binary)
    return binary


@lru_cache
def _file_hash(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001
    return hashlib.sha256(path.read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    """sha256 of a file, computed once per version of it."""
    info = path.stat()
    return _file_hash(path, info.st_size, info.st_mtime_ns)


def _alone(path: Path) -> BinaryIO:
    """A file that no other process writes meanwhile: what a killed one has left, or a new one."""
    while True:
        handle = path.open("ab")
        fcntl.flock(handle, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                return handle
        handle.close()  # its last user has renamed or removed it


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: readers see the old content or the new, never a part."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with _alone(beside) as handle:
            try:
                handle.truncate(0)
                handle.write(content.encode() if isinstance(content, str) else content)
                handle.flush()
                beside.replace(path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


class UsageError(LabError):
    """Invalid input from the user; one line that says what to change."""


def one_line(message: object) -> str:
    """A message as one line for people: control characters and half characters are escaped, and of
    more than a screen only both ends are shown."""
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(message)
    )
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 203]} … {text[-200:]}"


def sources_hash(*places: str) -> str:
    """Hash of the Python files in these folders of the lab (or of single files)."""
    digest = hashlib.sha256()
    for place in places:
        path = LAB / place
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(f"{os.path.relpath(source, LAB)} ".encode() + source.read_bytes())
    return digest.hexdigest()[:16]
