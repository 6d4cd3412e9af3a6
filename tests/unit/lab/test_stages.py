# SPDX-License-Identifier: GPL-2.0
"""Kernels that are built: once, alone, and on from where a build was stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.kernels import apt, built, objects, recipe, stages, uml_kernel
from tests.patience import wait_for
from tests.unit.lab.tiny_kernel import NAMES, Tiny

Patch = pytest.MonkeyPatch

OBJECTS = [f"{name}.o" for name in NAMES]


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: Patch) -> Iterator[Tiny]:
    """A kernel's package, and an empty cache. One CPU: objects are compiled in their order."""
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    (tmp_path / "here").mkdir()
    made = Tiny(tmp_path / "here")
    made.write()
    monkeypatch.setattr(apt, "source", lambda _: made.package("6.9.1-1"))
    yield made
    os.sched_setaffinity(0, cpus)


def never(_: str) -> Path:
    raise AssertionError("the network was asked")


def stopped(tiny: Tiny, at: str, how: Callable[[int], None]) -> None:
    """A build that is ended, with all of its processes, while it compiles an object. What it has
    made by then is old."""
    wait = tiny.here / at
    wait.touch()
    process = tiny.start()
    wait_for(lambda: at in tiny.compiled() or process.poll() is not None)
    how(process.pid)
    process.communicate()
    wait.unlink()
    (source,) = (tiny.here.parent / "cache" / "tiny").glob("*/source")
    for path in source.glob("?.[co]"):
        age = 2 * stages.UNSURE_S if path.suffix == ".o" else 10**6
        os.utime(path, times=(0, path.stat().st_mtime - age))


def test_it_is_built_once(tiny: Tiny, monkeypatch: Patch) -> None:
    made = tiny.build()
    assert (made.release, tiny.compiled()) == ("6.9.1-tiny", OBJECTS)
    assert "return 2" in (made.headers / "a.c").read_text()
    assert made.modules.is_dir() and (made.root / "linux").read_bytes().startswith(b"\x7fELF")
    monkeypatch.setattr(apt, "source", never)
    assert tiny.build() == made
    assert tiny.compiled() == OBJECTS


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_was_ended_goes_on(
    tiny: Tiny, how: signal.Signals, monkeypatch: Patch
) -> None:
    stopped(tiny, "d.o", lambda session: os.killpg(session, how))
    assert not tiny.recipe.built
    (root,) = tiny.recipe.roots("unpacked")
    (root / "source" / "d.o").write_text("half a file that looks new")
    monkeypatch.setattr(apt, "source", never)
    made = tiny.build()
    assert tiny.compiled() == [*OBJECTS[:4], "d.o", "e.o"]
    monkeypatch.setenv("APOGEE_CACHE", str(tiny.here / "another"))
    monkeypatch.setattr(apt, "source", lambda _: tiny.package("6.9.1-1"))
    another = tiny.build()
    assert another.root != made.root
    assert (another.root / "linux").read_bytes() == (made.root / "linux").read_bytes()


def test_make_holds_the_lock_of_a_builder_that_is_killed(tiny: Tiny) -> None:
    """Nobody else builds in the tree before it has ended."""
    stopped(tiny, "c.o", lambda process: os.kill(process, signal.SIGKILL))
    tiny.build()
    assert tiny.compiled() == ["a.o", "b.o", "c.o", "c.o", "d.o", "e.o"]


def test_a_failure_is_one_line_and_what_was_made_stays(tiny: Tiny) -> None:
    broken = tiny.here / "d.o.broken"
    broken.touch()
    said = r"^building the kernel tiny \(ARCH=tiny\) failed, see /.*\Z"
    with pytest.raises(LabError, match=said):
        tiny.build()
    broken.unlink()
    tiny.build()
    assert tiny.compiled() == [*OBJECTS[:4], "d.o", "e.o"]


#: A cache on a disk that is full when an object is compiled, and then is not.
FULL = """
mount -t tmpfs -o size=2M none "$APOGEE_CACHE" || exit
(until grep -q c.o "$HERE/compiled"; do sleep 0.01; done; cat /dev/zero >"$APOGEE_CACHE/filler"
rm "$HERE/c.o") 2>/dev/null &
"$@"; wait; rm "$APOGEE_CACHE/filler" && "$@"
"""


def test_a_full_disk(tiny: Tiny, monkeypatch: Patch) -> None:
    apart = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*apart, "mount -t tmpfs none /mnt"], check=False).returncode:
        pytest.skip("this machine gives users no namespaces")
    Path(os.environ["APOGEE_CACHE"]).mkdir()
    monkeypatch.setenv("HERE", str(tiny.here))
    (tiny.here / "c.o").touch()
    process = tiny.start(*apart, FULL, "sh")
    said = process.communicate()[1].splitlines()
    assert (process.returncode, tiny.compiled()) == (0, ["a.o", "b.o", "c.o", "c.o", "d.o", "e.o"])
    assert re.fullmatch("/.*: 50 MB of space are needed, 0 are left", said[-2])
    assert said[-1].endswith(": 2 of 5 objects: once, takes minutes")


def test_half_a_tree_is_unpacked_again(tiny: Tiny) -> None:
    root = tiny.recipe.root("6.9.1-1")
    (root / "source").mkdir(parents=True)
    (root / "source" / "z.c").write_text("not of the package\n")
    made = tiny.build()
    assert not (made.headers / "z.c").exists()


def test_a_newer_source_does_not_replace_what_is_there(tiny: Tiny, monkeypatch: Patch) -> None:
    made = tiny.build()
    tiny.write("6.9.10-1")
    monkeypatch.setattr(apt, "source", lambda _: tiny.package("6.9.10-1"))
    assert tiny.build() == made
    (made.root / "complete").unlink()
    (made.root / "unpacked").unlink()
    newer = tiny.build()
    assert newer.root.name.endswith("-6.9.10-1")
    (made.root / "complete").write_text(made.release)
    assert tiny.build() == newer, "of several, the one of the newest source"


def test_another_recipe_or_compiler_is_another_kernel(tiny: Tiny, monkeypatch: Patch) -> None:
    made = tiny.build()
    (tiny.here / "config").write_text("CONFIG_TINY=y\nCONFIG_MORE=y\n")
    more = tiny.build()
    monkeypatch.setattr(recipe, "version_of", lambda program: f"{program} 99")
    compiled = tiny.build()
    assert len({k.root for k in (made, more, compiled)}) == 3
    assert len({k.built for k in (made, more, compiled)}) == 3, "all have the same release"
    (tiny.here / "config").write_text("CONFIG_TINY=y\n")
    monkeypatch.undo()
    monkeypatch.setenv("APOGEE_CACHE", str(made.root.parent.parent))
    assert tiny.build() == made


def test_two_builders_build_once(tiny: Tiny) -> None:
    wait = tiny.here / "b.o"
    wait.touch()
    first = tiny.start()
    wait_for(lambda: "b.o" in tiny.compiled())
    second = tiny.start()
    assert second.stderr and second.stderr.readline() == (
        "waiting for another process, which builds a kernel in tiny of the cache\n"
    )
    wait.unlink()
    assert "5 objects" in first.communicate()[1]
    assert second.communicate()[1] == ""
    assert (first.returncode, second.returncode, tiny.compiled()) == (0, 0, OBJECTS)


def test_progress_is_told_in_objects(
    tiny: Tiny, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    what = "building the kernel tiny (ARCH=tiny)"
    stopped(tiny, "c.o", lambda session: os.killpg(session, signal.SIGKILL))
    monkeypatch.setattr(objects, "PAUSE_S", 0)
    tiny.build()
    assert capsys.readouterr().err.splitlines()[-4:] == [
        f"{what}: 2 of 5 objects: once, takes minutes",
        *(f"{what}: {count} of 5 objects" for count in (3, 4, 5)),
    ]


def test_what_counts_as_an_object() -> None:
    for line, count in {
        "  CC      net/ipv4/tcp.o": 1,
        "  CC [M]  net/sched/sch_netem.o": 1,
        "set -e;  echo '  AS      arch/x86/um/setjmp_64.o';  trap": 1,
        "  CC [M]  net/sched/sch_netem.mod.o": 0,
        "  CC      .vmlinux.export.o": 0,
        "  HOSTCC  scripts/mod/modpost.o": 0,
        "  LD [M]  net/sched/sch_netem.ko": 0,
        "  AR      net/built-in.a": 0,
    }.items():
        assert len(objects.Objects.said(line)) == count, line


PATCH = """What it is for.

--- a/b.c
+++ b/b.c
@@ -1,4 +1,4 @@
 int b(void)
 {
-\treturn 1;
+\treturn 3;
 }
"""


def test_a_users_patch(tiny: Tiny, tmp_path: Path, monkeypatch: Patch) -> None:
    """It is applied behind the lab's own changes, and the kernel is another one."""
    patch, lines = tmp_path / "three.patch", tmp_path / "more.config"
    patch.write_text(PATCH)
    lines.write_text("CONFIG_MORE=y\n")
    monkeypatch.setattr(uml_kernel, "RECIPES", (tiny.recipe,))
    name = uml_kernel.patched([str(patch), str(lines)], "tiny")
    assert uml_kernel.patched([str(patch), str(lines)], "tiny") == name
    made = built.find(uml_kernel.PATCHED, name)
    assert made is not None and made.root != tiny.build().root
    assert "return 3" in (made.headers / "b.c").read_text()
    assert "return 2" in (made.headers / "a.c").read_text()
    assert "CONFIG_MORE=y" in (made.headers / ".config").read_text()


def test_a_patch_that_does_not_fit(tiny: Tiny, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(uml_kernel, "RECIPES", (tiny.recipe,))
    patch = tmp_path / "nine.patch"
    patch.write_text(PATCH.replace("return 1", "return 9"))
    name = uml_kernel.patched([str(patch)], "tiny")
    with pytest.raises(LabError, match=r"nine.patch: does not fit .*: Hunk #1 FAILED"):
        built.find(uml_kernel.PATCHED, name)
    with pytest.raises(LabError, match="no such file"):
        uml_kernel.patched([str(tmp_path / "none")], "tiny")
    with pytest.raises(LabError, match="trixie is not built here"):
        uml_kernel.patched([str(patch)], "trixie")
