# SPDX-License-Identifier: GPL-2.0
"""Plays a script in a guest; how much of a stream has arrived by when."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from tests import ROOT
from tests.guest.runs import compiled

VERIFIED = ROOT / "tests" / "guest" / "modules" / "verified.c"


@lru_cache
def _build(engine: ModuleType, kernel: str) -> None:
    """Once in a process: the sources stay as they are."""
    modules.build(engine.kernel(kernel))


def play(
    script: str,
    out: Path,
    algorithms: Sequence[str] = (),
    devices: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
    engine: ModuleType = uml,
    kernel: str = DEFAULT_KERNEL,
    **how: Any,
) -> str:
    """Play a shell script with modules that are built from the sources of now; the algorithms' are
    loaded before. What it leaves is in ``out``. Return the kernel's release.
    """
    _build(engine, kernel)
    ours = modules.brought(algorithms)
    loads = "".join(f"modprobe {name}\n" for name in ours)
    info = engine.run_script(
        loads + script, out=out, kernel=kernel, modules=[*devices, *ours], files=files, **how
    )
    assert info.status == 0, (out / "console.log").read_text()[-4000:]
    return (out / "uname").read_text().strip()


def verified() -> dict[str, bytes]:
    """The program whose streams' receivers check every octet."""
    return {"bin/verified": compiled(VERIFIED)}


class Arrived:
    """Octets of a stream that had arrived at a time; goodput is back when ``BACK`` of a rate does
    for so long as is asked."""

    BACK = 0.8

    def __init__(self, samples: Iterable[tuple[float, int]]) -> None:
        self.times, self.octets = zip(*samples, strict=True)

    def until(self, at: float) -> int:
        """Octets at a time."""
        n = bisect.bisect_right(self.times, at)
        return self.octets[n - 1] if n else 0

    def more(self, at: float) -> float | None:
        """When more had arrived than at a time; None: never."""
        had, samples = self.until(at), zip(self.times, self.octets, strict=True)
        return next((time for time, octets in samples if octets > had), None)

    def back(self, starts: Iterable[float], span: float, rate: float) -> float | None:
        """The first of these times from which on octets arrive at ``BACK`` of a rate for a span of
        time; None: none."""
        least = self.BACK * rate * span
        return next((t for t in starts if self.until(t + span) - self.until(t) >= least), None)
