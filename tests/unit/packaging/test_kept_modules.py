# SPDX-License-Identifier: GPL-2.0
"""Modules that one working copy has built are there for another of the same content."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.packaging.test_install import Machine

#: Builds two modules, never the same bytes twice.
BUILDS = """modules:
	@echo built >>$(M)/log; mkdir -p $(M)/toy
	@for name in tcp_j toy/toy; do head -c 999 /dev/urandom >$(M)/$$name.ko; done
"""
MODULES = ("tcp_j.ko", "toy/toy.ko")


class Copies:
    """Working copies with a cache in common; each builds in a folder of its own."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.start = folder / "cache" / "modules" / "0.0.0"

    def new(self, name: str) -> Machine:
        (self.folder / name).mkdir()
        machine = Machine(self.root, self.folder / name)
        toy = machine.tree / "toy"
        toy.mkdir()
        (toy / "Kbuild").touch()
        header = machine.tree / "include" / "apogee" / "star.h"
        header.parent.mkdir(parents=True)
        header.touch()
        machine.headers(BUILDS)
        (machine.kdir / "include" / "config" / "auto.conf").touch()
        return machine

    def builds(self, machine: Machine, *words: str) -> int:
        """How often make builds."""
        log = out(machine) / "log"
        log.unlink(missing_ok=True)
        command = ["--product", "--kept", self.start, machine.kdir, out(machine), *words]
        done = machine.run("build-modules", *command)
        assert (done.returncode, done.stderr) == (0, "")
        return len(log.read_text().split()) if log.exists() else 0

    def entries(self) -> list[Path]:
        return sorted(path.parent for path in self.start.parent.glob("*/complete"))


def out(machine: Machine) -> Path:
    return machine.tree / "build" / "of it"


def made(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in MODULES]


@pytest.fixture
def copies(root: Path, tmp_path: Path) -> Copies:
    return Copies(root, tmp_path)


def test_another_working_copy_takes_them(copies: Copies) -> None:
    """Whatever times its files have; a change after that is built."""
    first, second = copies.new("first"), copies.new("second")
    assert copies.builds(first) == 1
    for path in second.tree.rglob("*.c"):
        os.utime(path, (1e9, 1e9))
    assert [copies.builds(second), copies.builds(second)] == [0, 0]
    assert made(out(second)) == made(out(first)) == made(*copies.entries())
    assert (out(second) / "toy" / "Kbuild").exists(), "it tells the lab where modules are"
    (second.tree / "tcp_j.c").write_text("int j;\n")
    assert [copies.builds(second), copies.builds(first)] == [1, 0]
    assert made(out(second)) != made(out(first))


def changes(machine: Machine) -> dict[str, Callable[[], object]]:
    """What modules are made of."""
    generated = machine.kdir / "include" / "generated"
    return {
        "header": lambda: (machine.tree / "include/apogee/star.h").write_text("int x;\n"),
        "another source": lambda: (machine.tree / "toy" / "more.c").touch(),
        "name": lambda: (machine.tree / "tcp_j.c").rename(machine.tree / "tcp_k.c"),
        "configuration": lambda: (machine.kdir / "include/config/auto.conf").write_text("A=y\n"),
        "exports": lambda: (machine.kdir / "Module.symvers").write_text("0x1\tx\n"),
        "revision": lambda: (generated / "utsversion.h").write_text("#define UTS_VERSION 2\n"),
        "compiler": lambda: machine.program("gcc", "echo gcc 99.1"),
        "linker": lambda: machine.program("ld", "echo ld 99.1"),
        "pahole": lambda: machine.program("pahole", "echo v9.99"),
    }


def test_what_is_made_of_something_else_is_built(copies: Copies) -> None:
    assert copies.builds(copies.new("first")) == 1
    for change in changes(copies.new("list")):
        machine = copies.new(change)
        changes(machine)[change]()
        assert copies.builds(machine) == 1, change
    other = copies.new("words")
    assert [copies.builds(other, "W=1"), copies.builds(other)] == [1, 0]


def test_the_kernel_s_own_compiler_counts(copies: Copies) -> None:
    first, second = copies.new("first"), copies.new("second")
    for machine, version in ((first, 1), (second, 2)):
        (machine.kdir / ".kernelvariables").write_text("CC = $(CROSS_COMPILE)gcc-99\n")
        machine.program("gcc-99", f"echo gcc 99.{version}")
        assert copies.builds(machine) == 1


@pytest.mark.parametrize("what", ["module", "complete", "list"])
def test_half_of_them_are_not_taken(copies: Copies, what: str) -> None:
    assert copies.builds(copies.new("first")) == 1
    (entry,) = copies.entries()
    file = entry / {"module": "toy/toy.ko"}.get(what, "complete")
    if what == "complete":
        file.unlink()
    else:
        os.truncate(file, 10)
    left = entry.parent / "part.aB3xYz"
    left.mkdir()
    second = copies.new("second")
    assert copies.builds(second) == 1
    assert made(out(second)) == made(*copies.entries())
    assert not left.exists()
    assert copies.builds(copies.new("third")) == 0


def test_modules_without_a_source_are_not_kept(copies: Copies) -> None:
    """They are of sources that are gone."""
    machine = copies.new("first")
    copies.builds(machine)
    for name in ("tcp_gone.ko", "gone/gone.ko", "given/mine.ko"):
        (out(machine) / name).parent.mkdir(parents=True, exist_ok=True)
        (out(machine) / name).touch()
    (machine.tree / "tcp_j.c").write_text("//\n")
    assert (copies.builds(machine), len(copies.entries())) == (1, 2)
    for entry in copies.entries():
        assert sorted(str(path.relative_to(entry)) for path in entry.rglob("*.ko")) == [*MODULES]


def test_a_source_that_is_edited_during_the_build(copies: Copies) -> None:
    machine = copies.new("first")
    edit = f"echo >>{machine.tree}/tcp_j.c"
    machine.headers(f"{BUILDS}\t@[ -e $(M)/edited ] || {{ touch $(M)/edited; {edit}; }}\n")
    assert (copies.builds(machine), copies.entries()) == (1, [])
    assert (copies.builds(machine), len(copies.entries())) == (1, 1)


def test_a_source_with_its_old_time_is_compiled(copies: Copies) -> None:
    """Make would find its object newer."""
    machine = copies.new("first")
    source, thing = machine.tree / "tcp_j.c", out(machine) / "tcp_j.o"
    copies.builds(machine)
    thing.touch()
    shutil.copy(source, copies.folder / "old")
    os.utime(copies.folder / "old", (1e9, 1e9))
    (copies.folder / "old").rename(source)
    shutil.rmtree(copies.start.parent)
    assert (copies.builds(machine), thing.exists()) == (1, False)


def test_those_not_taken_for_longest_go(copies: Copies) -> None:
    machine = copies.new("first")
    copies.builds(machine)
    (taken,) = copies.entries()
    names = [f"{copies.start.name}-{n:012x}" for n in range(16)]
    others = [shutil.copytree(taken, taken.with_name(name)) for name in names]
    strange = copies.start.parent / "of mine"
    strange.mkdir()
    (strange / "complete").touch()
    for age, folder in enumerate([strange, *others]):
        os.utime(folder / "complete", (1e9 - age, 1e9 - age))
    with (others[-1] / "complete").open() as used:
        fcntl.flock(used, fcntl.LOCK_SH)
        assert copies.builds(copies.new("second")) == 0
        assert copies.builds(machine, "W=1") == 1
    there = copies.entries()
    assert {taken, strange, others[13], others[-1]} <= {*there}
    assert {others[14]} & {*there} == set()


def test_a_cache_that_cannot_be_written(copies: Copies) -> None:
    copies.start.parent.parent.mkdir()
    copies.start.parent.touch()
    machine = copies.new("first")
    done = machine.run("build-modules", "--kept", copies.start, machine.kdir, out(machine))
    assert done.returncode == 0
    assert done.stderr.endswith("build-modules: the modules are not kept for others\n")
