# SPDX-License-Identifier: GPL-2.0
"""Fixtures that run scripts in guests with the current source's modules."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apogee_lab import modules as lab_modules
from apogee_lab.engines import qemu, uml
from apogee_lab.kernels import debian, uml_kernel
from apogee_lab.kernels.kernel import Kernel
from apogee_lab.runs import sweep

#: Runs a shell script in a guest, `guest("modprobe tcp_star", modules=["tcp_star"])`; more keywords
#: as for uml.run_script. Returns the folder of what the script left in $OUT; the exit status of
#: the script is in its file `status`, the kernel's log in `dmesg.txt`.
Guest = Callable[..., Path]


#: Added to the seed of every guest, to check that tests pass with other seeds, too.
SHIFT = int(os.environ.get("APOGEE_SEED_SHIFT", "0"))


def shift_seeds(patch: pytest.MonkeyPatch, shift: int) -> None:
    """Shift the seed of every guest from now on."""
    for engine in (qemu, uml):
        start = engine._start
        patch.setattr(
            engine, "_start", lambda k, seed, *more, start=start: start(k, seed + shift, *more)
        )


@pytest.fixture(scope="session", autouse=True)
def shifted_seeds() -> Iterator[None]:
    """All seeds of this session are APOGEE_SEED_SHIFT larger."""
    with pytest.MonkeyPatch.context() as patch:
        shift_seeds(patch, SHIFT)
        yield


def built_for(kernel: Kernel) -> Path:
    """The folder with the current source's modules for a kernel."""
    lab_modules.build(kernel)
    return kernel.built


@pytest.fixture(scope="session")
def modules() -> Path:
    """The modules for engine uml's kernel, on which tests run unless they say why not."""
    return built_for(uml_kernel.kernel())


@pytest.fixture(scope="session")
def stock_modules() -> Path:
    """The modules for Debian's kernel on engine qemu."""
    return built_for(debian.kernel())


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that replaces build/runs."""
    monkeypatch.setattr(sweep, "RUNS", tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def guest(modules: Path, build: Path, request: pytest.FixtureRequest) -> Guest:
    """A function that runs a script in a guest; results stay in build/tests/TEST."""
    name = re.sub(r"[^\w.-]+", "-", request.node.name)
    count = 0

    def run(script: str, **options: object) -> Path:
        nonlocal count
        count += 1
        out = build / "tests" / f"{name}.{count}"
        uml.run_script(script, out=out, **options)
        return out

    return run
