# SPDX-License-Identifier: GPL-2.0
"""Shell scripts in a guest that report lines "KEY: VALUE", and what they measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from apogee_lab import modules
from apogee_lab.engines import qemu, uml
from apogee_lab.guest import plugins
from apogee_lab.kernels import qemu_kernel, uml_kernel
from tests.guest.runs import compiled

ENGINES: dict[str, Any] = {"qemu": qemu, "uml": uml}


class Told(dict[str, str]):
    """What a script has reported, and the folder of what it left."""

    def __init__(self, out: Path) -> None:
        lines = (out / "report").read_text().splitlines()
        super().__init__(line.split(": ", 1) for line in lines)
        self.out = out


def run(
    script: str,
    engine: str,
    out: Path,
    root: Path,
    *,
    module: str,
    programs: Sequence[str] = ("verified",),
    **how: Any,
) -> Told:
    """Run a script in a guest with modules and this folder's programs; its report."""
    kernel = how.get("kernel", "bookworm")
    modules.build(uml_kernel.kernel() if engine == "uml" else qemu_kernel.kernel(kernel))
    sources = root / "tests" / "guest" / "modules"
    files = {f"bin/{name}": compiled(sources / f"{name}.c") for name in programs}
    files |= plugins.guest_files() | how.pop("files", {})
    info = ENGINES[engine].run_script(script, out=out, modules=module.split(), files=files, **how)
    assert info.status == 0, (out / "console.log").read_text()[-4000:]
    return Told(out)


def reported(run: Callable[..., Told], name: str, script: str) -> Any:
    """A fixture: what a script has told, which runs once per test module."""

    @pytest.fixture(scope="module")
    def fixture(build: Path, root: Path) -> Told:
        return run(script, "uml", build / "tests" / name, root)

    return fixture


def numbers(report: dict[str, str], key: str) -> list[int]:
    return [int(word) for word in report[key].split()]


def rows(path: Path) -> list[list[str]]:
    """The words of each line of a file."""
    return [line.split() for line in path.open()]


def counts(path: Path) -> dict[str, int]:
    """What ethtool -S showed."""
    lines = path.read_text().splitlines()[1:]
    return {name.strip(): int(n) for name, n in (line.rsplit(":", 1) for line in lines)}


def drunk(out: Path, name: str = "drunk") -> list[tuple[int, int]]:
    """Octets received and octets damaged, of each TCP connection."""
    return [(int(words[1]), int(words[3])) for words in rows(out / name)]


def ticks(path: Path) -> list[tuple[int, int]]:
    """When each datagram came, ms, and its number."""
    return [(int(at), int(n)) for at, n in rows(path)]


def gap(path: Path) -> int:
    """ms without a datagram, at most."""
    return max(b[0] - a[0] for a, b in pairwise(ticks(path)))
