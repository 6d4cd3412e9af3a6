# SPDX-License-Identifier: GPL-2.0
"""Tunnels with their peers, paths and counters: what the kernel tells, and a table of it."""

from __future__ import annotations

import array
import fcntl
import re
import socket
import struct
from collections.abc import Iterator
from typing import Any

from . import devices
from .conf import QuickError

_SIOCETHTOOL = 0x8946
_SET_INFO, _STRINGS, _STATS = 0x37, 0x1B, 0x1D
_STATS_SET, _NAME_OCTETS = 1, 32


def _ethtool(sock: socket.socket, name: str, request: bytes) -> bytes:
    buffer = array.array("B", request)
    address, _ = buffer.buffer_info()
    fcntl.ioctl(sock, _SIOCETHTOOL, struct.pack("16sP16x", name.encode(), address))
    return buffer.tobytes()


def counters(name: str) -> dict[str, int]:
    """What `ethtool -S` shows; empty if the device is gone."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            asked = struct.pack("=IIQI", _SET_INFO, 0, 1 << _STATS_SET, 0)
            count = struct.unpack_from("=I", _ethtool(sock, name, asked), 16)[0]
            head = struct.pack("=III", _STRINGS, _STATS_SET, count)
            names = _ethtool(sock, name, head + bytes(count * _NAME_OCTETS))[12:]
            head = struct.pack("=II", _STATS, count)
            values = _ethtool(sock, name, head + bytes(8 * count))[8:]
        except OSError:
            return {}
    words = (names[i : i + _NAME_OCTETS] for i in range(0, len(names), _NAME_OCTETS))
    keys = (word.partition(b"\0")[0].decode(errors="replace") for word in words)
    return dict(zip(keys, struct.unpack(f"={count}Q", values), strict=False))


def merged(parts: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Peers by device: each part of the kernel's dump is an object of its own."""
    found: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        found.setdefault(part["ifname"], []).extend(part.get("peers", []))
    return found


def tunnels(name: str | None = None) -> list[dict[str, Any]]:
    """All tunnels of this namespace, or one."""
    links = devices.ask("-d", "-s", "-j", "link", "show", "type", "shake")
    peers = merged(devices.ask("-j", "link", "xstats", "type", "shake"))
    found = [_tunnel(link, peers.get(link["ifname"], [])) for link in links if "ifname" in link]
    if name is None:
        return found
    found = [tunnel for tunnel in found if tunnel["ifname"] == name]
    if not found:
        raise QuickError(f"{name}: there is no tunnel of this name")
    return found


def _tunnel(link: dict[str, Any], peers: list[dict[str, Any]]) -> dict[str, Any]:
    data = dict(link.get("linkinfo", {}).get("info_data", {}))
    for key in ("paths", "peers", "path_count", "peer_count"):
        data.pop(key, None)
    stats = link.get("stats64", {})
    return {
        "ifname": link["ifname"],
        "up": "UP" in link.get("flags", []) and "NO-CARRIER" not in link.get("flags", []),
        "mtu": link.get("mtu"),
        "settings": data,
        "rx": {key: stats.get("rx", {}).get(key, 0) for key in ("bytes", "packets", "dropped")},
        "tx": {key: stats.get("tx", {}).get(key, 0) for key in ("bytes", "packets", "dropped")},
        "counters": _own(counters(link["ifname"])),
        "peers": peers,
    }


def _own(counters: dict[str, int]) -> dict[str, int]:
    """Without those of a leader's paths, which the paths have themselves."""
    return {key: n for key, n in counters.items() if not re.match(r"path\d_", key)}


# --- for people -----------------------------------------------------------------------------------


def size(octets: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if octets < 999.5 or unit == "GB":
            return f"{octets:.0f} {unit}" if unit == "B" else f"{octets:.1f} {unit}"
        octets /= 1000
    raise AssertionError


def rate(octets: float) -> str:
    bits = 8 * octets
    return f"{bits / 1e6:.2f} Mbit/s" if bits >= 1e6 else f"{bits / 1e3:.1f} kbit/s"


HEADS = ("path", "by", "state", "rtt ms", "least", "rate", "loss %", "sent", "received", "remote")


def _row(path: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    port = path.get("port")
    remote = path.get("remote") or settings.get("remote", "-")
    return [
        str(path["id"]),
        path.get("dev") or path.get("local") or "-",
        path.get("state", "-"),
        f"{path.get('srtt_us', 0) / 1e3:.1f}",
        f"{path.get('min_rtt_us', 0) / 1e3:.1f}",
        rate(path.get("throughput", 0)),
        f"{path.get('loss_ppm', 0) / 1e4:.1f}",
        size(path.get("sent_bytes", 0)),
        size(path.get("received_bytes", 0)),
        f"{remote} port {port}" if port else remote,
    ]


def columns(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _head(tunnel: dict[str, Any]) -> str:
    settings = tunnel["settings"]
    words = [f"{tunnel['ifname']}: {settings.get('role', '-')}"]
    words[0] += f" {settings['id']}" if "id" in settings else ""
    words.append("up" if tunnel["up"] else "down")
    words.append(f"mtu {tunnel['mtu']}")
    words += [f"port {settings['port']}"] if "port" in settings else []
    words.append(f"sent {size(tunnel['tx']['bytes'])}")
    words.append(f"received {size(tunnel['rx']['bytes'])}")
    return ", ".join(words)


def text(tunnels: list[dict[str, Any]]) -> Iterator[str]:
    for number, tunnel in enumerate(tunnels):
        if number:
            yield ""
        yield _head(tunnel)
        for peer in tunnel["peers"]:
            allowed = f", allows {' '.join(peer['allow'])}" if peer.get("allow") else ""
            key = "" if peer.get("has_key", True) or peer.get("public_key") else ", no key"
            yield f"  peer {peer['id']}{key}{allowed}"
            rows = [_row(path, tunnel["settings"]) for path in peer.get("paths", [])]
            for line in columns([list(HEADS), *rows]) if rows else []:
                yield f"    {line}"
