# SPDX-License-Identifier: GPL-2.0
"""Random rate traces of the kind that cellular links have, in Mahimahi's format.

The logarithm of the rate wanders about its mean and is pulled back to it; now and then the link
fades to nothing for a second or so.
"""

from __future__ import annotations

import hashlib
import math
import random
from pathlib import Path

from ..base import repo_root, write_whole
from ..scenarios.opportunities import OCTETS

FOLDER = repo_root() / "build" / "atlas"

STEP_MS = 100
PULL = 0.05  # of the way back to the mean, per step
SPREAD = 0.6  # standard deviation of the rate's logarithm
FADES_S = 12.0  # mean time between two fades
FADE_S = 1.0  # mean length of a fade


def cellular(dice: random.Random, mean_bps: float, length_s: float) -> list[int]:
    """Times (ms) at which the link can send 1500 bytes; ``mean_bps`` is the mean outside fades."""
    step = SPREAD * math.sqrt(2 * PULL)
    off, wander, fades_until, bits = 0, dice.gauss(0, SPREAD), 0.0, 0.0
    times: list[int] = []
    while off < length_s * 1e3:
        at_s = off / 1e3
        if at_s >= fades_until and dice.random() < STEP_MS / 1e3 / FADES_S:
            fades_until = at_s + dice.expovariate(1 / FADE_S)
        wander += -PULL * wander + dice.gauss(0, step)
        rate = mean_bps * math.exp(wander - SPREAD**2 / 2) * (at_s >= fades_until)
        for ms in range(off + 1, off + STEP_MS + 1):
            bits += rate / 1e3
            times += [ms] * int(bits // (8 * OCTETS))
            bits %= 8 * OCTETS
        off += STEP_MS
    return [*times, off]


def written(times: list[int]) -> Path:
    """A file with this trace, named after its contents; relative to the folder of work if below."""
    text = "".join(f"{ms}\n" for ms in times)
    path = FOLDER / f"trace-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
