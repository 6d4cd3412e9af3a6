# SPDX-License-Identifier: GPL-2.0
"""The folder a run works in, and what becomes of the results in it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import LabError, reason
from . import log

TAIL_LINES = 20  # of a console, to a user

_WORK = ".run-"  # working folders beside the results: .run-PID-...
_ENGINES_OWN = re.compile(r"apogee: |(\[ *[\d.]+\] )?reboot: ")


class GuestFailed(Exception):
    """A run that failed: a guest that hung or panicked, a fault in the kernel's log, a script.

    ``console_tail`` shows more of it: the console's last lines, or the kernel's log from its report
    on. ``hung``: the guest did not come to its end and had to be killed.
    """

    def __init__(self, reason: str, console_tail: list[str], hung: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.console_tail = console_tail
        self.hung = hung

    def __reduce__(self) -> tuple[type, tuple[str, list[str], bool]]:
        return (type(self), (self.reason, self.console_tail, self.hung))


@dataclass(frozen=True)
class RunInfo:
    """How long a run took: wall seconds with boot, the guest's seconds since its boot."""

    wall_s: float
    virtual_s: float
    status: int = 0


@dataclass(frozen=True)
class Work:
    """A run's working folder: what the guest boots from, its console, the archive that it leaves,
    the files from that and the kernel's log among them; ``brought``: see log.verdict()."""

    folder: Path
    brought: Sequence[str] | None = None

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def dmesg(self) -> Path:
        return self.out / "dmesg.txt"

    def said(self) -> str:
        """What is on the console."""
        return self.console.read_text(errors="replace")

    def last_report(self) -> log.Report | None:
        """What the kernel reported on the console of a guest that did not come to its end."""
        return log.verdict(log.last_words(self.said()), self.brought)

    def failed(self, *reasons: str | log.Report | None, hung: bool = False) -> GuestFailed:
        """A failure with the console's last lines; more of them if the kernel reported a fault."""
        told = [reason for reason in reasons if reason]
        count = TAIL_LINES if all(isinstance(reason, str) for reason in told) else log.SHOWN_LINES
        lines = self.said().replace("\r", "").splitlines()
        shown = [line for line in lines if line.strip() and not _ENGINES_OWN.match(line)]
        return GuestFailed("; ".join(map(str, told)), shown[-count:], hung)


@contextlib.contextmanager
def working_folder(out: Path, brought: Sequence[str] | None = None) -> Iterator[Work]:
    """A run's working folder beside its results, removed in the end; LabError for a bad disk."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(out.parent)
        with tempfile.TemporaryDirectory(prefix=f"{_WORK}{os.getpid()}-", dir=out.parent) as tmp:
            yield Work(Path(tmp), brought)
    except OSError as error:
        where = error.filename or out.parent
        raise LabError(f"{where}: {reason(error)}") from None


def _remove_stale(folder: Path) -> None:
    """Remove working folders whose process was killed before it could."""
    for path in folder.glob(f"{_WORK}*"):
        pid = path.name.removeprefix(_WORK).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(path, ignore_errors=True)


def write_initrd(path: Path, base: Sequence[Path], overlay: bytes) -> None:
    """Several archives one after the other are one root file system."""
    with path.open("wb") as handle:
        for image in base:
            with image.open("rb") as source:
                shutil.copyfileobj(source, handle, 1 << 20)
        handle.write(overlay)


def collect(work: Work) -> None:
    """Unpack the archive that the guest wrote."""
    work.out.mkdir()
    try:
        with tarfile.open(work.results, "r:") as archive:
            for member in archive:
                _unpack(archive, member, work.out)
    except tarfile.TarError as error:
        raise work.failed(f"the guest's results cannot be read: {error}") from None
    if not ((work.out / "status").exists() and work.dmesg.exists()):
        raise work.failed("the guest's results are not complete")


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, out: Path) -> None:
    """One file of an archive; what is no file or would lie outside the folder is left out."""
    name = Path(member.name)
    if not member.isfile() or name.is_absolute() or ".." in name.parts:
        return
    target = out / name
    target.parent.mkdir(parents=True, exist_ok=True)
    source = archive.extractfile(member)
    with target.open("wb") as handle:
        shutil.copyfileobj(source, handle, 1 << 20)  # type: ignore[arg-type]


def keep(work: Work, info: RunInfo, out: Path, check: bool) -> RunInfo:
    """Give the results their final place.

    GuestFailed if the kernel reported a fault, whatever the script says; with ``check`` also if the
    script failed.
    """
    shutil.copy(work.console, work.out / "console.log")
    dmesg = work.dmesg.read_text(errors="replace") if work.dmesg.exists() else ""
    report = log.verdict([*log.logged(dmesg), *log.stamped(work.said())], work.brought)
    if report:
        raise GuestFailed(str(report), list(report.log))
    status = int((work.out / "status").read_text())
    if check and status:
        failure = work.failed(f"the guest's script ended with status {status}")
        words = [line for line in failure.console_tail if not log.stamped(line)]
        last = f": {words[-1].strip()}" if words else ""
        raise GuestFailed(failure.reason + last, failure.console_tail)
    shutil.rmtree(out, ignore_errors=True)
    work.out.rename(out)
    return RunInfo(info.wall_s, info.virtual_s, status)
