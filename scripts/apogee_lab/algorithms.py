# SPDX-License-Identifier: GPL-2.0
"""The registry of what can be measured: congestion controls, devices, tunnels.

A congestion control that is not listed can still be used if the guest's kernel has a module
``tcp_NAME``. Modules passed with ``--module`` are added at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CONTROL, DEVICE, TUNNEL = "congestion control", "device", "tunnel"


@dataclass(frozen=True)
class Algorithm:
    """A name, its kind, and the kernel module that carries it (default: ``tcp_NAME``).

    ``own``: built from this source tree. ``colour``: in all figures; if empty, a spare colour.
    ``counted``: functions that the stack calls for each ACK, for ``lab cost``. ``in_front``: drawn
    thicker than, and over, the others. ``file``: the .ko of a module passed with ``--module``.
    ``bpf``: the algorithm of this project that these BPF programs are, loaded by apogee-bpf; with a
    ``file`` they are the user's own, an object.
    """

    name: str
    kind: str = CONTROL
    module: str = ""
    own: bool = False
    colour: str = ""
    counted: tuple[str, ...] = ()
    in_front: bool = False
    file: Path | None = None
    bpf: str = ""

    def __post_init__(self) -> None:
        if not self.module and not self.bpf:
            object.__setattr__(self, "module", f"tcp_{self.name}")


_COMPOUND = ("compound_pkts_acked", "compound_cong_avoid")

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "star", own=True, colour="#c8102e", counted=("star_cong_control",), in_front=True
        ),
        Algorithm(
            "hstcp_gentle", own=True, colour="#d55e00",
            counted=("gentle_pkts_acked", "gentle_cong_avoid"),
        ),
        Algorithm("compound_plus", own=True, colour="#006d77", counted=_COMPOUND),
        Algorithm(
            "compound", module="tcp_compound_plus", own=True, colour="#83a6a9", counted=_COMPOUND
        ),
        Algorithm("bpf_star", bpf="star", colour="#f4a3a8"),
        Algorithm("bpf_gentle", bpf="hstcp_gentle", colour="#f2c194"),
        Algorithm("bpf_comp_plus", bpf="compound_plus", colour="#7fbfc4"),
        Algorithm("bpf_compound", bpf="compound", colour="#c9dada"),
        Algorithm("j", own=True, colour="#e69f00", counted=("j_cong_control",)),
        Algorithm("constant", own=True, colour="#111111"),  # the tests' reference
        Algorithm("reno3", own=True, colour="#999999"),  # the tests' Reno of the papers' time
        Algorithm("sscop", DEVICE, "sscop", own=True),
        Algorithm("shake", TUNNEL, "shake", own=True),
        Algorithm("reno", colour="#555555"),
        Algorithm("cubic", colour="#009e73", counted=("cubictcp_acked", "cubictcp_cong_avoid")),
        Algorithm("bbr", colour="#0072b2", counted=("bbr_main",)),
        Algorithm("hybla", colour="#7b3294"),
        Algorithm("westwood", colour="#56b4e9"),
        Algorithm("highspeed", colour="#8c564b", counted=("hstcp_cong_avoid",)),
        Algorithm("scalable", colour="#d6499a"),
        *map(Algorithm, "vegas illinois htcp veno bic yeah lp nv cdg dctcp".split()),
    )
}  # fmt: skip

#: Congestion controls that are built into every kernel.
BUILT_IN = ("reno", "cubic")


def find(name: str) -> Algorithm:
    """The algorithm with this name; an unlisted name is taken for a kernel congestion control."""
    return ALGORITHMS.get(name) or Algorithm(name)


def add(algorithm: Algorithm) -> None:
    """Register an algorithm, replacing any other with the same name."""
    ALGORITHMS[algorithm.name] = algorithm


def module_of(name: str) -> str:
    """The kernel module that contains an algorithm; empty for BPF programs."""
    return find(name).module


def is_bpf(name: str) -> bool:
    """Whether it consists of BPF programs."""
    return bool(find(name).bpf)


def is_brought(name: str) -> bool:
    """Whether its module is this project's or was passed by the user, not part of the kernel."""
    algorithm = find(name)
    return algorithm.own or (algorithm.file is not None and not algorithm.bpf)


def object_of(name: str) -> Path | None:
    """The object of BPF programs that the user passed."""
    algorithm = find(name)
    return algorithm.file if algorithm.bpf else None


def listed(own: bool) -> list[str]:
    """Names of the listed congestion controls: this project's and passed ones, or the kernel's."""
    return [name for name, a in ALGORITHMS.items() if a.kind == CONTROL and is_brought(name) == own]
