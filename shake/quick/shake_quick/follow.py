# SPDX-License-Identifier: GPL-2.0
"""What runs while a tunnel is up: it follows its paths' devices, and runs its hook.

A socket of the namespace with the tunnel's name, in no file system, says who that is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque

from . import devices
from .conf import Conf, QuickError
from .netlink import Changes, Event, Events
from .tables import changes, wanted

PAUSE_S = 0.2  #: between two looks at what has changed
WAITING = 1000  #: events that wait for the hook


# --- who it is ------------------------------------------------------------------------------------


def _place(name: str) -> str:
    return f"\0shake-quick/{name}"


def claim(name: str) -> socket.socket:
    """Nobody else does it as long as this is open."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(_place(name))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise QuickError(f"{name}: another shake-quick brings it up, or follows it") from None
        raise
    sock.listen()
    return sock


def _follower(name: str) -> int | None:
    """Its process, as the kernel says."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        try:
            sock.connect(_place(name))
        except OSError:
            return None
        got = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _ = struct.unpack("=iII", got)
    return pid if uid in (0, os.geteuid()) and pid != os.getpid() else None


def stop(name: str) -> None:
    """End who follows it, and wait until it has."""
    pid = _follower(name)
    if not pid:
        return
    with contextlib.suppress(OSError):
        fd = os.pidfd_open(pid)
        signal.pidfd_send_signal(fd, signal.SIGTERM)
        with selectors.DefaultSelector() as wait:
            wait.register(fd, selectors.EVENT_READ)
            if not wait.select(5):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
        os.close(fd)


# --- what it does ---------------------------------------------------------------------------------


def sync(conf: Conf) -> None:
    """Let rules and tables be those that are wanted now."""
    want = wanted(conf, devices.system())
    have = devices.tables(conf.name, want.routes)
    for argv in changes(have, want):
        devices.change(argv)


class Hook:
    """Runs the hook once for each event, one at a time."""

    def __init__(self, conf: Conf, select: selectors.BaseSelector) -> None:
        self.conf, self.select = conf, select
        self.waiting: deque[Event] = deque(maxlen=WAITING)
        self.process: subprocess.Popen[bytes] | None = None

    def put(self, event: Event) -> None:
        self.waiting.append(event)
        self._next()

    def ended(self, fd: int) -> None:
        self.select.unregister(fd)
        os.close(fd)
        if self.process:
            self.process.wait()
        self.process = None
        self._next()

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
                argv, env={**devices.ENVIRONMENT, **more}, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            print(f"shake-quick: {argv[0]}: {error.strerror}", file=sys.stderr, flush=True)
            return
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
        due: float | None = 0.0
        while True:
            wait = None if due is None else max(due - time.monotonic(), 0)
            for key, _ in self.select.select(wait):
                if key.data == "changes":
                    changed, gone = self.changes.read()
                    if self.ifindex in gone:
                        return
                    if changed and due is None:
                        due = time.monotonic() + PAUSE_S
                elif key.data == "events":
                    self._events()
                else:
                    self.hook.ended(key.fd)
            if due is not None and time.monotonic() >= due:
                due = None
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
