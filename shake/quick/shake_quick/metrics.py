# SPDX-License-Identifier: GPL-2.0
"""OpenMetrics text of all tunnels, as a textfile collector takes it, too.

That reads gauges, and counters as of no type, but nothing else that OpenMetrics has in addition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .netlink import STATES

#: of a path: key in JSON -> name, factor, what it is
GAUGES = {
    "srtt_us": ("rtt_seconds", 1e-6, "Round trip, smoothed"),
    "min_rtt_us": ("rtt_least_seconds", 1e-6, "Least round trip"),
    "throughput": ("throughput_bytes_per_second", 1, "Throughput"),
    "queue": ("queue_bytes", 1, "Bytes estimated in front of the link"),
    "mtu": ("mtu_bytes", 1, "Longest packet inside that the path takes"),
    "loss_ppm": ("loss_ratio", 1e-6, "Packets lost of late, before repair"),
}
COUNTERS = {
    "sent": ("sent_packets", "Packets sent"),
    "sent_bytes": ("sent_bytes", "Bytes sent, inside"),
    "received": ("received_packets", "Packets received"),
    "received_bytes": ("received_bytes", "Bytes received, inside"),
    "lost": ("lost_packets", "Packets sent that the other end did not get"),
    "late": ("late_packets", "Packets received behind newer ones"),
    "died": ("deaths", "Times that the path was left as dead"),
    "left": ("left_out", "Times that the path was left out, as it lost much"),
}
TRAFFIC = {"rx": "received", "tx": "sent"}

Labels = dict[str, Any]
Sample = tuple[Labels, float]


def escaped(text: object) -> str:
    return str(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def family(name: str, kind: str, tells: str, samples: list[Sample]) -> Iterator[str]:
    """A metric with its samples; none without them."""
    if not samples:
        return
    yield f"# TYPE shake_{name} {kind}"
    yield f"# HELP shake_{name} {tells}."
    for labels, value in samples:
        inside = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
        yield f"shake_{name}{'_total' if kind == 'counter' else ''}{{{inside}}} {number(value)}"


def _paths(tunnels: list[dict[str, Any]]) -> list[tuple[Labels, dict[str, Any]]]:
    return [
        ({"device": t["ifname"], "peer": peer["id"], "path": path["id"]}, path)
        for t in tunnels
        for peer in t["peers"]
        for path in peer.get("paths", [])
    ]


def _of_paths(paths: list[tuple[Labels, dict[str, Any]]]) -> Iterator[str]:
    states = [
        ({**labels, "state": state}, int(path.get("state") == state))
        for labels, path in paths
        for state in STATES
    ]
    yield from family("path_state", "gauge", "1 of the state that the path has", states)
    for key, (name, factor, tells) in GAUGES.items():
        samples = [(labels, path[key] * factor) for labels, path in paths if key in path]
        yield from family(f"path_{name}", "gauge", tells, samples)
    for key, (name, tells) in COUNTERS.items():
        counted = [(labels, path[key]) for labels, path in paths if key in path]
        yield from family(f"path_{name}", "counter", tells, counted)


def text(tunnels: list[dict[str, Any]]) -> Iterator[str]:
    up = [
        ({"device": t["ifname"], "role": t["settings"].get("role", "")}, int(t["up"]))
        for t in tunnels
    ]
    yield from family("up", "gauge", "Whether the device is up and, of a leader, registered", up)
    peers = [
        (
            {"device": t["ifname"], "peer": peer["id"]},
            sum(path.get("state") in ("alive", "lossy") for path in peer.get("paths", [])),
        )
        for t in tunnels
        for peer in t["peers"]
    ]
    yield from family("peer_paths_alive", "gauge", "Paths of the peer that are alive", peers)
    for way, name in TRAFFIC.items():
        for what in ("bytes", "packets", "dropped"):
            samples = [({"device": t["ifname"]}, t[way][what]) for t in tunnels]
            tells = f"{what.capitalize()} {name}, inside"
            yield from family(f"{name}_{what}", "counter", tells, samples)
    counted = [
        ({"device": t["ifname"], "counter": key}, value)
        for t in tunnels
        for key, value in t["counters"].items()
    ]
    yield from family("counts", "counter", "Counters of shake(8), STATISTICS", counted)
    yield from _of_paths(_paths(tunnels))
    yield "# EOF"
