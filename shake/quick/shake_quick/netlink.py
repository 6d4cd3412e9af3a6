# SPDX-License-Identifier: GPL-2.0
"""Netlink: events of tunnels (shake/uapi.h), and changes of links, addresses and routes."""

from __future__ import annotations

import ipaddress
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from .conf import QuickError

_GENERIC, _SOL_NETLINK, _ADD_MEMBERSHIP = 16, 270, 1
_CONTROL, _GET_FAMILY, _ERROR = 16, 3, 2
_FAMILY_ID, _FAMILY_NAME, _FAMILY_GROUPS, _GROUP_NAME, _GROUP_ID = 1, 2, 7, 1, 2
_HEAD, _GENERIC_HEAD = struct.Struct("=IHHII"), struct.Struct("=BBH")
_ROOM = 1 << 16

#: Commands and attributes of the family "shake".
CMD_PATH, CMD_PEER, CMD_MOVED = 1, 2, 3
IFINDEX, IFNAME, PEER, PATH, STATE, WAS, REMOTE, PORT, AT, _PAD, LOST = range(1, 12)
#: enum shake_path_state
STATES = ("absent", "joining", "alive", "dead", "refused", "lossy")


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        if length < 4 or length > len(data):
            return
        yield number & 0x3FFF, data[4:length]
        data = data[length + 3 & ~3 :]


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and content of each message of a datagram."""
    while len(data) >= _HEAD.size:
        length, kind, *_ = _HEAD.unpack_from(data)
        if length < _HEAD.size or length > len(data):
            return
        yield kind, data[_HEAD.size : length]
        data = data[length + 3 & ~3 :]


def _packed(number: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), number) + data + b"\0" * (-len(data) % 4)


# --- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """What became of a path or, without one, of a peer. `event` is a path's state, moved,
    peer-alive or peer-dead."""

    time: float  #: s since 1970
    ifindex: int
    ifname: str
    event: str
    peer: int
    path: int | None
    state: str
    was: str
    remote: str | None
    port: int | None
    lost: int  #: events behind it that are not told

    def line(self) -> str:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.time))
        words = [f"{at}.{int(self.time * 1000) % 1000:03}", self.ifname, f"peer {self.peer}"]
        words += [f"path {self.path}"] if self.path else []
        words += ["moved", self.state] if self.event == "moved" else [self.state, "was", self.was]
        words += [f"remote {self.remote} port {self.port}"] if self.remote else []
        return " ".join(words) + (f" ({self.lost} behind it lost)" if self.lost else "")


def state_name(number: int) -> str:
    return STATES[number] if number < len(STATES) else str(number)


def _integer(found: dict[int, bytes], number: int) -> int:
    return int.from_bytes(found.get(number, b""), "little" if _LITTLE else "big")


_LITTLE = struct.pack("=H", 1) == b"\1\0"


def event_of(content: bytes, offset: float) -> Event | None:
    """A message's event; `offset`: s from the boot's clock to that of 1970."""
    if len(content) < _GENERIC_HEAD.size:
        return None
    command = content[0]
    found = dict(attributes(content[_GENERIC_HEAD.size :]))
    if command not in (CMD_PATH, CMD_PEER, CMD_MOVED):
        return None
    state = state_name(_integer(found, STATE))
    remote = found.get(REMOTE)
    return Event(
        time=_integer(found, AT) / 1e9 + offset,
        ifindex=_integer(found, IFINDEX),
        ifname=found.get(IFNAME, b"").rstrip(b"\0").decode(errors="replace"),
        event={CMD_PATH: state, CMD_PEER: f"peer-{state}", CMD_MOVED: "moved"}[command],
        peer=_integer(found, PEER),
        path=_integer(found, PATH) or None,
        state=state,
        was=state_name(_integer(found, WAS)),
        remote=str(ipaddress.ip_address(remote)) if remote and len(remote) in (4, 16) else None,
        port=_integer(found, PORT) if remote else None,
        lost=_integer(found, LOST),
    )


class Events:
    """The events of all tunnels of this namespace."""

    def __init__(self) -> None:
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _GENERIC)
        self.sock.bind((0, 0))
        self.family, group = self._find()
        self.sock.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)
        self.sock.setblocking(False)

    def _find(self) -> tuple[int, int]:
        """Numbers of the family and of its group."""
        body = _GENERIC_HEAD.pack(_GET_FAMILY, 1, 0) + _packed(_FAMILY_NAME, b"shake\0")
        self.sock.send(_HEAD.pack(_HEAD.size + len(body), _CONTROL, 1, 1, 0) + body)
        for kind, content in messages(self.sock.recv(_ROOM)):
            if kind != _CONTROL:
                continue
            found = dict(attributes(content[_GENERIC_HEAD.size :]))
            for _, entry in attributes(found.get(_FAMILY_GROUPS, b"")):
                group = dict(attributes(entry))
                if group.get(_GROUP_NAME) == b"events\0":
                    return _integer(found, _FAMILY_ID), _integer(group, _GROUP_ID)
        raise QuickError("the module shake is not loaded, or has no events: modprobe shake")

    def read(self) -> tuple[list[Event], bool]:
        """What has come, and whether there was no room for more."""
        found, lost = [], False
        offset = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        while True:
            try:
                data = self.sock.recv(_ROOM)
            except BlockingIOError:
                return found, lost
            except OSError:  # ENOBUFS
                lost = True
                continue
            for kind, content in messages(data):
                event = event_of(content, offset) if kind == self.family else None
                found += [event] if event else []


# --- links, addresses, routes, rules ------------------------------------------------------------

_NEW_ROUTE, _DEL_ROUTE, _DEL_LINK = 24, 25, 17
#: links; addresses, routes and rules of IPv4 and IPv6
_GROUPS = 0x1 | 0x10 | 0x40 | 0x80 | 0x100 | 0x400 | 0x40000


class Changes:
    """What may change a path's default route or addresses, or the rules."""

    def __init__(self) -> None:
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.sock.bind((0, _GROUPS))
        self.sock.setblocking(False)

    def read(self) -> tuple[bool, set[int]]:
        """Whether something has changed, and numbers of devices that are gone."""
        changed, gone = False, set()
        while True:
            try:
                data = self.sock.recv(_ROOM)
            except BlockingIOError:
                return changed, gone
            except OSError:  # ENOBUFS: anything may have
                changed = True
                continue
            for kind, content in messages(data):
                # of a route only the default one; struct rtmsg has its length second
                changed |= kind not in (_NEW_ROUTE, _DEL_ROUTE) or content[1:2] == b"\0"
                if kind == _DEL_LINK and len(content) >= 8 and content[0] == 0:
                    gone.add(struct.unpack_from("=i", content, 4)[0])
