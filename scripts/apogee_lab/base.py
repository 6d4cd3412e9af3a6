# SPDX-License-Identifier: GPL-2.0
"""Shared by all packages of the lab: errors, the cache, locks, host programs, files."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

#: The lab's own sources.
LAB = Path(__file__).resolve().parent

#: How many versions of a program the cache keeps.
PROGRAMS_KEPT = 16
_HASH = 12 * "[0-9a-f]"

SHOWN = 1000  # characters of a message to a user

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1

_BIN_DIRS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")

#: What compiles C that this machine runs: where Python runs in qemu-user, one for that machine.
GCC = os.environ.get("APOGEE_GCC", "gcc")


class LabError(Exception):
    """An error that the user can fix; its text is one line."""


def repo_root() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[2]


def _user_caches() -> Path:
    """The folder in which a user's programs keep what can be made again."""
    top = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if top.is_absolute():
        return top
    try:
        home = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        raise LabError("this user has no home for the cache: set APOGEE_CACHE") from None
    return Path(home, ".cache")


def cache_dir() -> Path:
    """Where kernels and images are kept, for all working copies of a user: ``APOGEE_CACHE``, else
    ``apogee`` in the user's folder of caches.

    LabError for a folder that the kernel's makefiles do not take.
    """
    folder = Path(os.environ.get("APOGEE_CACHE") or _user_caches() / "apogee")
    if re.search(r"[\s:]", str(folder.absolute())):
        raise LabError(
            f"{folder}: no kernel can be kept in a folder with blanks or colons: "
            "set APOGEE_CACHE to another one"
        )
    return folder


PATIENCE_S = 30.0  # from which on a user hears of any wait


def _lock(handle: BinaryIO, waiting: str) -> None:
    """Lock a file exclusively; if another process has it, wait for it. These words say so at once,
    unless they are empty, and the file's name if it takes long."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting:
            print(waiting, file=sys.stderr, flush=True)
        late = f"waiting for another process, which holds {handle.name}"
        timer = threading.Timer(PATIENCE_S, print, [late], {"file": sys.stderr, "flush": True})
        timer.start()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        finally:
            timer.cancel()


def _alone(path: Path, waiting: str = "") -> BinaryIO:
    """A file that no other process writes meanwhile: what a killed one has left, or a new one."""
    while True:
        handle = path.open("ab")
        _lock(handle, waiting)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                return handle
        handle.close()  # its last user has renamed or removed it


@contextlib.contextmanager
def locked(name: str, waiting: str = "") -> Iterator[int]:
    """Hold an exclusive lock with this name in the cache, or this path; other processes wait.

    Yields the lock's file: a program that inherits it holds the lock, too.
    """
    path = cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path, waiting) as handle:
        yield handle.fileno()


_HELD: dict[Path, int] = {}


def hold(path: Path) -> None:
    """Keep others from removing this file or folder of the cache until the process ends."""
    if path not in _HELD:
        gone = LabError(f"{path}: another process has removed it: begin again")
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            raise gone from None
        fcntl.flock(handle, fcntl.LOCK_SH)
        if not os.fstat(handle).st_nlink:
            os.close(handle)
            raise gone
        _HELD[path] = handle


@contextlib.contextmanager
def if_free(path: Path) -> Iterator[bool]:
    """Whether no other process has a lock on this file or folder, or runs it; meanwhile none gets
    one."""
    with contextlib.ExitStack() as stack:
        try:  # NFS locks a file for one process only if that may write it
            handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.ETXTBSY):
                raise
            free = False
        yield free


def megabytes(path: Path) -> float:
    """What a file or a folder takes on the disk, in MB; 0 if it is not there."""
    # It complains of what another process removes meanwhile.
    command = ["du", "-s", "--block-size=1", "--", path]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return int(said.split()[0]) / 1e6 if said else 0.0


def mark(path: Path, text: str = "") -> None:
    """Write the file that says that what lies beside it is complete, which is on the disk then."""
    os.sync()
    write_whole(path, text)


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


@lru_cache
def version_of(program: str) -> str:
    """The full version that a compiler or linker tells; empty if it is not installed."""
    try:
        return call([find_program(program, ""), "--version"], program).partition("\n")[0]
    except LabError:
        return ""


def key_of(*parts: str | bytes) -> str:
    """A short hash of everything that a thing in the cache was made of."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d " % len(data) + data)
    return digest.hexdigest()[:12]


def _remove_oldest(folder: Path, pattern: str) -> None:
    """Of files in the cache those that were not used for longest, but not what is used now."""

    def used(path: Path) -> float:
        return path.stat().st_mtime

    for path in sorted(folder.glob(pattern), key=used)[:-PROGRAMS_KEPT]:
        with if_free(path) as free:
            if free:
                path.unlink()


def compiled(
    name: str,
    sources: Sequence[Path],
    suffix: str,
    flags: Sequence[str],
    more_headers: Sequence[Path] = (),
    compiler: str = GCC,
) -> Path:
    """The binary that the compiler builds from these C files, rebuilt when they, their headers, the
    flags or the compiler change.

    ``more_headers`` are those that are not beside a source. Without a compiler it is one that was
    built of the same by another. The cache keeps the PROGRAMS_KEPT that were used last.
    """
    flags = ["-O2", "-Wall", *flags]
    beside = {path for source in sources for path in source.parent.glob("*.h")}
    files = [*sorted(beside), *more_headers, *sources]
    # Of all working copies that have the same.
    anywhere = (flag.replace(str(repo_root()), ".") for flag in flags)
    made_of = key_of(*anywhere, *(path.read_bytes() for path in files))
    folder, version = cache_dir(), version_of(compiler)
    # libc's version is what its ldd tells: static programs have a part of it inside.
    binary = folder / f"{name}-{made_of}-{key_of(version, version_of('ldd'))}{suffix}"
    if not version:
        binary = next(folder.glob(f"{name}-{made_of}-{_HASH}{suffix}"), binary)
    if not binary.exists():
        with locked(name):
            if not binary.exists():
                part = binary.with_name(binary.name + ".part")
                program = find_program(compiler, f"{compiler} libc6-dev")
                call([program, *flags, "-o", part, *sources], f"compiling {name}")
                with part.open("rb") as handle:
                    os.fsync(handle.fileno())
                part.rename(binary)
                _remove_oldest(folder, f"{name}-{_HASH}-{_HASH}{suffix}")
    with contextlib.suppress(OSError):  # the cache may be one that is only read
        os.utime(binary)
    hold(binary)
    return binary


@lru_cache
def _file_hash(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001
    return hashlib.sha256(path.read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    """sha256 of a file, computed once per version of it."""
    info = path.stat()
    return _file_hash(path, info.st_size, info.st_mtime_ns)


def read_regular(path: Path) -> bytes:
    """A file's content; OSError for what may block or has no end, such as pipes and devices."""
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise OSError(errno.EINVAL, "neither pipes nor devices are read, only files")
    return path.read_bytes()


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: readers see the old content or the new, never a part."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with _alone(beside) as handle:
            try:
                handle.truncate(0)
                handle.write(content.encode() if isinstance(content, str) else content)
                handle.flush()
                os.fsync(handle.fileno())  # else a power cut may leave an empty file
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
