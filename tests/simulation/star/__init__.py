# SPDX-License-Identifier: GPL-2.0
"""A flow of star in any state: the lab's model with any_state.c in place of its star_module.c."""

from __future__ import annotations

from pathlib import Path

from apogee_lab.base import compiled
from tests.kernel import INCLUDE, MODEL, ROOT
from tests.simulation import Simulation
from tests.unit.headers.cheaders import WARNINGS


def compile_any_state() -> Simulation:
    """Build the program."""
    model = [path for path in MODEL.glob("*.c") if path.name != "star_module.c"]
    sources = sorted([*model, Path(__file__).parent / "any_state.c"])
    flags = [*WARNINGS, *map(str, INCLUDE), f"-I{MODEL}", "-Wl,--no-as-needed", "-lm"]
    others = [*MODEL.rglob("*.h"), *(ROOT / "include").rglob("*.h"), *ROOT.glob("tcp_*.c")]
    return Simulation(compiled("simulation", sources, "", flags, sorted(others)))
