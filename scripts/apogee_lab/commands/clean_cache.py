# SPDX-License-Identifier: GPL-2.0
"""``make clean-cache``: remove from the cache what this source does not use."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from ..base import LabError, cache_dir, file_hash, if_free, megabytes, reason, repo_root
from ..guest.plugins import sources
from ..kernels import apt, checked_kernel, uml_kernel
from ..kernels.foreign_headers import FLAVOURS
from ..kernels.kernel import SUITES, cached, release_of, suite_of
from ..kernels.toolchain import CHECKER_SUITE

RECIPES = (*uml_kernel.RECIPES, *checked_kernel.RECIPES)

#: Programs that are compiled; those of OF_TESTS by the tests.
OF_TESTS = ("fuzzer", "headers", "kernel-answers", "shake-paths", "simulation", "test-library")
PROGRAMS = (
    "hostile",
    "count",
    "flow",
    "model",
    "turns",
    "umlhost",
    *(p.stem for p in sources()),
    *OF_TESTS,
)

_HASH = 12 * "[0-9a-f]"

#: What the lab makes, and the file or folder whose lock protects it. Nothing else in the cache is
#: touched: it may be a folder with a user's own files.
MADE = {
    **{f"{recipe.folder}/*-{_HASH}*": f"{recipe.folder}.lock" for recipe in RECIPES},
    "kernels/[0-9]*-amd64": "kernels.lock",
    **{f"headers/[0-9]*-{flavour}": "kernels.lock" for flavour in FLAVOURS.values()},
    "tools/*-gcc-[0-9]*": "kernels.lock",
    "tools/*-sparse": "kernels.lock",
    "tools/*-python3-minimal-*": "kernels.lock",
    "tools/*-busybox-static-*": "kernels.lock",
    "apt/*/sources.list": "kernels.lock",  # with its folder
    "sources/*/linux-source-*.deb": "kernels.lock",
    "sources/*/part": "kernels.lock",
    f"images/*-{_HASH}*.cpio*": "images.lock",
    f"kernel-scripts/{_HASH}": "kernel-scripts",
    "kernel-scripts/part.??????": "kernel-scripts",
    f"modules/*-{_HASH}": "modules.lock",
    "modules/part.??????": "modules.lock",
    f"ip-link_*-{_HASH}": "ip.lock",
    **{f"{name}-{_HASH}*": f"{name}.lock" for name in PROGRAMS},
}
LOCKS = sorted({"stage.lock", *(name for name in MADE.values() if name.endswith(".lock"))})


def _used() -> Iterator[Path]:
    """What this source uses: of each recipe the kernel that is built, of each suite the newest.

    Images, modules and programs are not among them: they are made again in seconds.
    """
    top = cache_dir()
    for recipe in RECIPES:
        if built := recipe.built:
            yield built.root
        yield from apt.sources(recipe.suite)[:1]
    for folder, flavours in (("kernels", ["amd64"]), ("headers", FLAVOURS.values())):
        for flavour in flavours:
            newest = {suite_of(k): k.root for k in reversed(cached(folder, flavour))}
            yield from (newest[suite] for suite in SUITES if suite in newest)
    for suite in (*SUITES, CHECKER_SUITE):
        yield from top.glob(f"apt/{suite}*")
        yield from (path.parent for path in top.glob(f"tools/{release_of(suite)}-*/complete"))
    yield top / "kernel-scripts" / file_hash(repo_root() / "scripts" / "kernel-scripts")[:12]


def _things() -> Iterator[tuple[Path, Path]]:
    """All that may be removed, each with the file or folder whose lock protects it. The locks
    themselves come last."""
    top = cache_dir()
    for pattern, lock in MADE.items():
        for path in sorted(top.glob(pattern)):
            yield path.parent if path.name == "sources.list" else path, top / lock
    yield from ((top / lock, top / lock) for lock in LOCKS if (top / lock).exists())


def _remove(path: Path) -> None:
    """Remove a file or a folder, first what says that it is complete."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for mark in ("complete", "unpacked", "version"):
        (path / mark).unlink(missing_ok=True)
    shutil.rmtree(path)


def _remove_unless(path: Path, lock: Path, used: Callable[[], Iterable[Path]]) -> float:
    """Remove something that is neither locked nor, once it is ours, used; its MB."""
    lock.touch()
    with if_free(lock) as free:
        held = path / "complete" if (path / "complete").exists() else path
        if free and not held.exists() and not held.is_symlink():
            return 0  # who had the lock has renamed or removed it
        alone = if_free(held) if free and held != lock else nullcontext(free)
        with alone as idle:
            if not idle:
                print(f"{path}: kept, another process uses it")
                return 0
            if path in used():
                return 0
            size = megabytes(path)
            _remove(path)
    if path != lock:
        print(f"{path}: removed, {size:.1f} MB")
    return size


def main(argv: Sequence[str]) -> int:
    """Remove it; with ``--all`` also what is used, but not what another process has locked."""
    if [*argv] not in ([], ["--all"]):
        print("usage: clean_cache [--all]", file=sys.stderr)
        return 2
    try:
        top = cache_dir()
        used = list[Path] if argv else _used
        freed = sum(_remove_unless(*thing, used) for thing in _things()) if top.exists() else 0
        left = megabytes(top)
    except LabError as error:
        print(f"clean_cache: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"clean_cache: {error.filename or ''}: {reason(error)}", file=sys.stderr)
        return 2
    print(f"{top}: {freed:.0f} MB removed, {left:.0f} MB left")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
