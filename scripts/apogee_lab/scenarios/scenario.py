# SPDX-License-Identifier: GPL-2.0
"""What a scenario is: parameters with units, and how they are compiled to a shell script.

A scenario does not depend on any engine. It compiles its parameters to a :class:`Plan`: the text
of a shell script, and the facts that the measures need to interpret its results.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..algorithms import BUILT_IN, is_bpf, is_brought, module_of, object_of
from ..measures.measure import Measure
from . import cost
from .ceiling import Ceiling

_TIMES = re.compile(r"(?:([1-9][0-9]?)\*)?([^*]*)")

#: One end of a link: (network namespace, device).
Device = tuple[str, str]


@dataclass(frozen=True)
class Param:
    """A parameter: name, default (a value, not text), kind (see units.py) and one-line help.

    ``low`` and ``high`` are inclusive bounds. They do not apply to words and ``none``; they apply
    to both times of an event and to each item of a list. ``axis`` is the label of a plot's axis, if
    it differs from the parameter's name.
    """

    name: str
    default: Any
    kind: str
    help: str
    low: float | None = None
    high: float | None = None
    axis: str = ""


@dataclass(frozen=True)
class FlowSpec:
    """One flow: its name, congestion control, the sender's namespace and the receiver's port.

    If flows share a path: the receiver's own namespace, the device through which the flow's data
    enters the bottleneck, and the device through which it leaves the lossy link; no other flow's
    data passes these two. ``group``: the class of flows it belongs to, if any. ``switch``: the
    device of a slower link in front of the bottleneck, whose queue holds only this flow's data.
    ``sizes`` (bytes): transfers of these sizes, one after the other, instead of one bulk flow.
    ``bytes``: a bulk flow that ends when its receiver has so many; 0: at the end of the run.
    """

    name: str
    cc: str
    netns: str
    port: int
    receiver_ns: str = ""
    entry: Device | None = None
    exit: Device | None = None
    group: str = ""
    switch: Device | None = None
    sizes: tuple[int, ...] = ()
    bytes: int = 0

    def facts(self) -> dict[str, Any]:
        """The facts about the flow that the measures need; unset fields are left out."""
        found = {"name": self.name, "cc": self.cc, "netns": self.netns, "port": self.port}
        found |= {"receiver_ns": self.receiver_ns} if self.receiver_ns else {}
        found |= {"group": self.group} if self.group else {}
        found |= {"sizes": list(self.sizes)} if self.sizes else {}
        found |= {"bytes": self.bytes} if self.bytes else {}
        places = {"entry": self.entry, "exit": self.exit, "switch": self.switch}
        return found | {key: list(place) for key, place in places.items() if place}


@dataclass(frozen=True)
class Channel:
    """A channel that hosts share frame by frame, emulated by the bottleneck's HTB: the rate in
    bit/s that it charges at, the overhead in bytes that it adds to each frame, and the handles of
    its leaves: the access point's and one per flow. For each of the last flows that are downloads:
    the access point's devices by which the data comes and goes."""

    rate_bps: int
    overhead: int
    ap: str
    stations: tuple[str, ...]
    downloads: tuple[tuple[Device, Device], ...] = ()


@dataclass(frozen=True)
class Path:
    """One path from a bottleneck to the receivers and back.

    ``rate_bps`` is the bottleneck's rate and ``limit_bps`` the best goodput that rate and losses
    allow; both are means over the interval if the path changes over time. ``delay_s`` is half the
    round-trip time of the empty path, ``queue_bytes`` the size of the bottleneck's queue. The
    ``*_links`` name the devices whose netem qdiscs emulate losses on the link in that direction,
    the ``*_filters`` those whose filters drop frames (blackouts). With a ``channel`` the
    bottleneck is its access point's queue, which holds ACKs, and data of downloads. ``ceiling`` is
    what it can carry at most if that depends on the time, or is more than the limit.

    If a plan has several paths, each has a ``name``, and the script writes the samples of its
    bottleneck to ``queue-NAME.jsonl``; the samples of a single path are in ``queue.jsonl``.
    """

    rate_bps: float
    delay_s: float
    limit_bps: float
    queue_bytes: int
    bottleneck: Device
    name: str = ""
    data_links: tuple[Device, ...] = ()
    ack_links: tuple[Device, ...] = ()
    data_filters: tuple[Device, ...] = ()
    ack_filters: tuple[Device, ...] = ()
    channel: Channel | None = None
    ceiling: Ceiling | None = None

    @property
    def bdp_bytes(self) -> int:
        """Bandwidth-delay product of the empty path."""
        return round(self.rate_bps * 2 * self.delay_s / 8)

    def facts(self) -> dict[str, Any]:
        """The facts about the path that the measures need."""
        found = {
            "name": self.name,
            "rate_bps": round(self.rate_bps),
            "delay_s": self.delay_s,
            "limit_bps": self.limit_bps,
            "bdp_bytes": self.bdp_bytes,
            "queue_bytes": self.queue_bytes,
            "bottleneck": list(self.bottleneck),
        }
        for kind in ("data_links", "ack_links", "data_filters", "ack_filters"):
            found[kind] = [list(place) for place in getattr(self, kind)]
        found |= {"channel": asdict(self.channel)} if self.channel else {}
        return found | ({"ceiling": self.ceiling.facts()} if self.ceiling else {})


@dataclass(frozen=True)
class Plan:
    """A compiled scenario: its script, its flows and the one or more paths that they take.

    ``timeout_virtual_s`` is the time on the guest's clock after which the run counts as failed,
    ``extras`` the programs that the guest needs in addition to the base image, ``devices`` the
    devices and tunnels (names of algorithms.py) that this plan uses, beside the scenario's.
    """

    script: str
    flows: tuple[FlowSpec, ...]
    paths: tuple[Path, ...]
    duration_s: float
    timeout_virtual_s: float
    sender_ns: str
    receiver_ns: str
    traffic: str = "flow"
    extras: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        programs = [flow.cc for flow in self.flows if is_bpf(flow.cc)]
        loaders = {"bpftool" if object_of(name) else "apogee-bpf" for name in programs}
        object.__setattr__(self, "extras", (*self.extras, *sorted(loaders)))
        names = {path.name for path in self.paths}
        if len(names) < len(self.paths) or (len(names) > 1 and "" in names):
            raise ValueError("each of several paths needs a name of its own")

    @property
    def rate_bps(self) -> float:
        """The rate of all paths together."""
        return sum(path.rate_bps for path in self.paths)

    @property
    def limit_bps(self) -> float:
        """The best goodput of all paths together."""
        return sum(path.limit_bps for path in self.paths)

    def facts(self) -> dict[str, Any]:
        """The facts about the plan that the measures need."""
        return {
            "duration_s": self.duration_s,
            "flows": [flow.facts() for flow in self.flows],
            "paths": [path.facts() for path in self.paths],
            "traffic": self.traffic,
            "receiver_ns": self.receiver_ns,
        }


@dataclass(frozen=True)
class Column:
    """A column of the table: heading, decimals, and a function from a record to its value or None.

    A scenario's own column is placed after the one named ``after``; without ``after``, it follows
    the scenario's previous column, and the first one comes before all common columns.
    """

    heading: str
    decimals: int
    value: Callable[[dict[str, Any]], float | None]
    after: str = ""


def _no_columns(_records: Sequence[dict[str, Any]]) -> Sequence[Column]:
    return ()


@dataclass(frozen=True)
class Scenario:
    """A named experiment and everything specific to it.

    ``parse_cc`` splits a ``--cc`` item into the flows' algorithms; ``build`` compiles the plan.
    Both raise ValueError for invalid input. ``devices``: devices and tunnels (names of
    algorithms.py) that it uses in addition to the flows' algorithms; their module parameters can be
    set. ``measures``: its own, in addition to those of every record. ``columns``: the table's extra
    columns for some of its records. ``without``: headings of common columns that do not apply.
    ``idle``: parameters without effect beside these values. ``cost``: an estimate of a run's CPU
    seconds with engine qemu, from its values, its flows' algorithms and its duration in s.
    """

    name: str
    help: str
    params: tuple[Param, ...]
    parse_cc: Callable[[str], tuple[str, ...]]
    build: Callable[[Mapping[str, Any], tuple[str, ...], float], Plan]
    duration_s: float = 60.0
    devices: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    columns: Callable[[Sequence[dict[str, Any]]], Sequence[Column]] = _no_columns
    without: frozenset[str] = frozenset()
    idle: Callable[[Mapping[str, Any]], frozenset[str]] = lambda _values: frozenset()
    cost: Callable[[Mapping[str, Any], tuple[str, ...], float], float] = cost.shared_link

    def flows(self, cc: str) -> tuple[str, ...]:
        """The congestion control of each flow."""
        return self.parse_cc(cc)

    def defaults(self) -> dict[str, Any]:
        """Every parameter's default value."""
        return {p.name: p.default for p in self.params}

    def axis(self, name: str) -> str:
        """The label of a plot's axis over a parameter of the scenario or of a module."""
        return next((p.axis for p in self.params if p.name == name and p.axis), name)

    def cost_s(self, values: Mapping[str, Any], cc: str, duration_s: float) -> float:
        """Estimated CPU seconds of a run with engine qemu; missing values are the defaults."""
        return self.cost({**self.defaults(), **values}, self.flows(cc), duration_s)

    def compile(self, values: Mapping[str, Any], cc: str, duration_s: float, seed: int = 1) -> Plan:
        """The plan for these values (missing ones: defaults; ``module.parameter`` keys allowed).

        ``build`` also gets the run's seed, as the value ``seed``.
        """
        every = {**self.defaults(), **values, "seed": seed}
        return self.build(every, self.flows(cc), duration_s)


def members(mix: str) -> tuple[str, ...]:
    """``"star+2*reno"`` -> ``("star", "reno", "reno")``; ValueError if it is not a valid mix."""
    found: list[str] = []
    for item in mix.split("+"):
        match = _TIMES.fullmatch(item)
        if not match:
            raise ValueError(f"--cc {mix}: '{item}' is neither NAME nor N*NAME, N from 1 to 99")
        found += [match.group(2)] * int(match.group(1) or 1)
    return tuple(found)


_BPF_FILES = "grep -q ' /sys/fs/bpf ' /proc/mounts || mount -t bpf -o mode=700 bpf /sys/fs/bpf"


def module_lines(values: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """Lines that load algorithms and devices, with the parameters given as ``name.param``.

    Algorithms of one module share its parameters.
    """
    loads = {name: _load(name) for name in names if name not in BUILT_IN or is_brought(name)}
    settings: dict[str, dict[str, Any]] = {load: {} for load in loads.values()}
    for key in sorted(values):
        owner, dot, param = key.partition(".")
        if not dot:
            continue
        if owner not in names:
            raise ValueError(f"{key}: no flow uses {owner} here")
        if owner not in loads or object_of(owner):
            raise ValueError(f"{key}: {owner} is built into the kernel, it cannot be set")
        found = settings[loads[owner]]
        if found.setdefault(param, values[key]) != values[key]:
            raise ValueError(f"{key}: {module_of(owner)} has one {param} for all its algorithms")
    bpf = [_BPF_FILES] if any(map(is_bpf, names)) else []
    return bpf + [
        " ".join([load, *(f"{name}={value}" for name, value in words.items())])
        for load, words in settings.items()
    ]


def _load(name: str) -> str:
    """The command that loads an algorithm or a device; an object is in it."""
    if file := object_of(name):
        place, text = f"/tmp/{name}.bpf.o", base64.encodebytes(file.read_bytes()).decode()
        return (
            f"base64 -d >{place} <<'END'\n{text}END\nbpftool struct_ops register {place} >/dev/null"
        )
    return f"apogee-bpf load {name}" if is_bpf(name) else f"modprobe {module_of(name)}"
