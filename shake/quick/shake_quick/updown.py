# SPDX-License-Identifier: GPL-2.0
"""up and down."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable

from . import commands, conf, devices, follow
from .conf import Conf, QuickError, UpAlreadyError, Word


def _ip(command: commands.Command) -> None:
    done = devices.run(command.argv)
    if done.returncode:
        text = devices.message(done)
        raise QuickError(f"{command.blame(text)}: {text.removeprefix('shake: ')}")
    if done.stderr:
        sys.stderr.write(done.stderr)  # others may read the key, for example


def _shell(word: Word) -> None:
    status = devices.call_shell(word.value)
    if status:
        raise QuickError(f"{word.where}: {word.key}: the command ended with status {status}")


# --- up -------------------------------------------------------------------------------------------


def _check_free(name: str) -> None:
    kind = devices.kind(name)
    if kind == "shake":
        raise UpAlreadyError(f"{name}: it is up already")
    if kind is not None:
        raise QuickError(f"{name}: a device that is no tunnel has this name")


def _check_hook(which: Conf) -> None:
    """Who follows has nobody to tell."""
    if which.hook and not os.access(which.hook, os.X_OK):
        raise which.interface.all("hook")[0].wrong("a program that may be run")


def _bring_up(which: Conf, begun: list[str]) -> follow.Follower:
    """The follower hears of all that happens from the first moment on."""

    def all_of(key: str) -> None:
        for word in which.commands(key):
            begun.append(key)
            _shell(word)

    all_of("preup")
    for command in commands.make(which):
        _ip(command)
    follower = follow.Follower(which)
    up = ["ip", "link", "set", "dev", which.name, "up"]
    _ip(commands.Command(up, which.interface.where))
    follow.sync(which)
    for command in commands.routes(which):
        _ip(command)
    all_of("postup")
    return follower


def up(given: str, foreground: bool) -> None:
    """Bring a tunnel up; what fails undoes what was done."""
    which = conf.read(given)
    begun: list[str] = []
    _check_hook(which)
    _check_free(which.name)
    _end_with(128 + signal.SIGTERM)
    with follow.claim(which.name) as claimed:
        _check_free(which.name)
        try:
            follower = _bring_up(which, begun)
        except BaseException:
            _tear_down(which, begun)
            raise
        if foreground:
            _ready()
            _follow(follower)
        elif (which.leader or which.hook) and _in_background(claimed):
            _follow(follower)
            os._exit(0)


def _ready() -> None:
    """Tell systemd that it is up."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if place:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"READY=1", place.replace("@", "\0", 1) if place[0] == "@" else place)


def _in_background(claimed: int) -> bool:
    """Whether this is the process that stays: nobody's child, with no terminal.

    The other one waits until it is known which one that is: down may follow at once.
    """
    known, told = os.pipe()
    if os.fork():
        os.close(told)
        os.read(known, 1)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    follow.tell(claimed)
    os.close(told)
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    return True


def _follow(follower: follow.Follower) -> None:
    _end_with(0)
    follower.run()


def _end_with(status: int) -> None:
    """A signal that ends it is an exception: what was begun is undone."""

    def end(*_: object) -> None:
        raise SystemExit(status)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


# --- down -----------------------------------------------------------------------------------------


def _quietly(what: Callable[[], None]) -> None:
    """The rest is undone, whatever fails."""
    try:
        what()
    except QuickError as error:
        print(f"shake-quick: {error}", file=sys.stderr)


def _remove(name: str) -> None:
    _quietly(lambda: devices.forget_tables(name))
    if devices.kind(name) == "shake":
        _quietly(lambda: devices.change(["ip", "link", "del", "dev", name]))


def _tear_down(which: Conf, begun: list[str]) -> None:
    """Undo; commands for that run only if those that they undo began."""
    for word in which.commands("predown") if "postup" in begun else []:
        _quietly(lambda word=word: _shell(word))
    _remove(which.name)
    for word in which.commands("postdown") if "preup" in begun or "postup" in begun else []:
        _quietly(lambda word=word: _shell(word))


def down(given: str) -> None:
    """Take a tunnel down. If it is down, only what is left of it goes.

    What a unit has found up is not the unit's.
    """
    unit = "SERVICE_RESULT" in os.environ
    if unit and os.environ.get("EXIT_STATUS") == str(UpAlreadyError.status):
        return
    name, _ = conf.find(given)
    was_up = devices.kind(name) == "shake"
    try:
        which = conf.read(given)
    except QuickError:
        follow.stop(name)
        _remove(name)
        raise
    follow.stop(name)
    _tear_down(which, ["preup", "postup"] if was_up else [])
