# SPDX-License-Identifier: GPL-2.0
"""What runs while a tunnel is up: it follows its paths' devices, and runs its hook.

A file that only root has, with the namespace's number and the tunnel's name, is locked by who does
that, and has its process. (Anybody could take a socket's name.)
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from . import devices
from .conf import Conf, QuickError, UpAlreadyError
from .netlink import Changes, Event, Events
from .tables import changes, wanted

PAUSE_S = 0.2  #: between two looks at what has changed
WAITING = 1000  #: events that wait for the hook
HOOK_S = 60  #: that it may take


# --- who it is ------------------------------------------------------------------------------------


def _place(name: str) -> Path:
    folder = Path(os.environ.get("SHAKE_QUICK_RUN", "/run/shake-quick"))
    return folder / f"{os.stat('/proc/self/ns/net').st_ino}-{name}"


@contextlib.contextmanager
def _opened(name: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    fd = os.open(_place(name), os.O_CLOEXEC | flags, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def _locked(fd: int) -> bool:
    """Whether the lock is this process's now. Children have it, too."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def claim(name: str) -> Iterator[int]:
    """Nobody else does it as long as this, or a child's, is open."""
    _place(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _opened(name, os.O_RDWR | os.O_CREAT) as fd:
        if not _locked(fd):
            raise UpAlreadyError(f"{name}: another shake-quick brings it up, or follows it")
        tell(fd)
        yield fd


def tell(fd: int) -> None:
    """It is this process that does it."""
    os.pwrite(fd, b"%10d\n" % os.getpid(), 0)


def _follower(fd: int) -> int | None:
    return None if _locked(fd) else int(os.pread(fd, 10, 0) or b"0") or None


def stop(name: str) -> None:
    """End who follows it, and wait until it has. It makes no file: there may be no room."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), _opened(name) as fd:
        pid = _follower(fd)
        if pid and pid != os.getpid():
            process = os.pidfd_open(pid)
            try:
                if _follower(fd) == pid:  # it was no other's number meanwhile
                    _end(process)
            finally:
                os.close(process)


def _end(process: int) -> None:
    with selectors.DefaultSelector() as wait:
        wait.register(process, selectors.EVENT_READ)
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal.pidfd_send_signal(process, number)
            if wait.select(5):
                return


# --- what it does ---------------------------------------------------------------------------------


def sync(conf: Conf) -> None:
    """Let rules and tables be those that are wanted now."""
    want = wanted(conf, devices.system())
    have = devices.tables(conf.name, want.routes)
    for argv in changes(have, want):
        devices.change(argv)


class Hook:
    """Runs the hook once for each event, one at a time. It is no part of who follows, who may be
    ended by it; what takes too long is killed, as others wait."""

    def __init__(self, conf: Conf, select: selectors.BaseSelector) -> None:
        self.conf, self.select = conf, select
        self.waiting: deque[Event] = deque(maxlen=WAITING)
        self.process: subprocess.Popen[bytes] | None = None
        self.until = math.inf

    def put(self, event: Event) -> None:
        self.waiting.append(event)
        self._next()

    def ended(self, fd: int) -> None:
        self.select.unregister(fd)
        os.close(fd)
        if self.process:
            self.process.wait()
        self.process, self.until = None, math.inf
        self._next()

    def check(self) -> None:
        if self.process and time.monotonic() >= self.until:
            self.until = math.inf
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def _next(self) -> None:
        while self.waiting and not self.process:
            self._start(self.waiting.popleft())

    def _start(self, event: Event) -> None:
        path = str(event.path) if event.path else "-"
        more = {
            "SHAKE_PEER": str(event.peer),
            "SHAKE_STATE": event.state,
            "SHAKE_WAS": event.was,
            "SHAKE_REMOTE": event.remote or "",
        }
        argv = [str(self.conf.hook), self.conf.name, event.event, path]
        try:
            self.process = subprocess.Popen(
                argv, env={**devices.ENVIRONMENT, **more}, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            print(f"shake-quick: {argv[0]}: {error.strerror}", file=sys.stderr, flush=True)
            return
        self.until = time.monotonic() + HOOK_S
        self.select.register(os.pidfd_open(self.process.pid), selectors.EVENT_READ, "hook")


class Follower:
    """The loop; it ends by SIGTERM, or with the device."""

    def __init__(self, conf: Conf) -> None:
        self.conf = conf
        self.ifindex = socket.if_nametoindex(conf.name)
        self.select = selectors.DefaultSelector()
        self.changes = Changes()
        self.select.register(self.changes.sock, selectors.EVENT_READ, "changes")
        self.hook = Hook(conf, self.select)
        self.events: Events | None = None
        if conf.hook:
            self.events = Events()
            self.select.register(self.events.sock, selectors.EVENT_READ, "events")

    def run(self) -> None:
        """What came before this began is not missed: the sockets are older than the first look."""
        due = 0.0
        while True:
            until = min(due, self.hook.until)
            wait = None if until == math.inf else max(until - time.monotonic(), 0)
            for key, _ in self.select.select(wait):
                if key.data == "changes":
                    changed, gone = self.changes.read()
                    if self.ifindex in gone:
                        return
                    if changed and due == math.inf:
                        due = time.monotonic() + PAUSE_S
                elif key.data == "events":
                    self._events()
                else:
                    self.hook.ended(key.fd)
            self.hook.check()
            if time.monotonic() >= due:
                due = math.inf
                self._sync()

    def _events(self) -> None:
        found, _ = self.events.read() if self.events else ([], False)
        for event in found:
            if event.ifindex == self.ifindex:
                self.hook.put(event)

    def _sync(self) -> None:
        """A device may go between the look and the change: another look comes."""
        try:
            sync(self.conf)
        except QuickError as error:
            print(f"shake-quick: {error}", file=sys.stderr, flush=True)
