# SPDX-License-Identifier: GPL-2.0
"""``make clean-cache``: what goes and what stays."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apogee_lab.base import LAB, LabError, file_hash, megabytes
from apogee_lab.commands import clean_cache
from apogee_lab.kernels import checked_kernel, debian, foreign_headers, uml_kernel
from apogee_lab.kernels.kernel import Kernel

PLAIN, DEBUGGING = uml_kernel.RECIPES
H = "0123456789ab"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put(path: Path, mark: str = "complete", text: str = "x") -> Path:
    """A folder with 1 MB and this mark."""
    path.mkdir(parents=True)
    (path / "content").write_bytes(bytes(1_000_000))
    (path / mark).write_text(text)
    return path


def put_file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def used(cache: Path, root: Path) -> list[Path]:
    """What this source uses."""
    checkers = file_hash(root / "scripts" / "kernel-scripts")[:12]
    return [
        put(PLAIN.root("6.1.10-1")),
        put(checked_kernel.RACES.root("6.1.9-1")),
        put_file(cache / "sources" / "bookworm" / "linux-source-6.1_6.1.10-1_all.deb"),
        put(cache / "kernels" / "6.1.0-56-amd64", text="bookworm"),
        put(cache / "kernels" / "6.12.9+deb13-amd64", text="trixie"),
        put(cache / "headers" / "6.1.0-50-armmp", text="bookworm"),
        put(cache / "headers" / "6.1.0-50-686-pae", text="bookworm"),
        put(cache / "tools" / "trixie-gcc-14-x86-64-linux-gnu"),
        put(cache / "tools" / "sid-sparse"),
        put(cache / "apt" / "bookworm-arm64", "sources.list"),
        put(cache / "kernel-scripts" / checkers, "version"),
    ]


def unused(cache: Path) -> list[Path]:
    """What no one uses: of other recipes or older, half of something, made again in seconds."""
    return [
        put(PLAIN.root("6.1.9-1")),
        put(DEBUGGING.root("6.1.10-1"), "unpacked"),
        put(cache / "uml" / f"bookworm-{H}-6.1.10-1"),
        put_file(cache / "sources" / "bookworm" / "linux-source-6.1_6.1.9-1_all.deb"),
        put(cache / "sources" / "bookworm" / "part", "half.deb"),
        put(cache / "kernels" / "6.1.0-9-amd64", text="bookworm"),
        put(cache / "kernels" / "6.1.0-57-amd64", "half"),
        put(cache / "headers" / "5.10.0-1-arm64", text="bullseye"),
        put(cache / "tools" / "bullseye-gcc-10"),
        put(cache / "tools" / "trixie-sparse", "half"),
        put(cache / "apt" / "bullseye", "sources.list"),
        put(cache / "kernel-scripts" / H, "version"),
        put(cache / "kernel-scripts" / "part.aB3xYz", "half"),
        put(cache / "modules" / f"6.1.0-56-amd64-{H}"),
        put(cache / "modules" / "part.aB3xYz", "half"),
        put_file(cache / "images" / f"base-6.1.0-56-amd64-{H}.cpio"),
        put_file(cache / f"umlhost-{H}-{H}.so"),
        put_file(cache / f"umlhost-{H}-{H}.so.part"),
        put_file(cache / f"link_sscop-{H}-{H}.so"),
        put_file(cache / f"model-{H}-{H}"),
        put_file(cache / f"simulation-{H}-{H}"),
        put(cache / f"ip-link_shake-{H}-{H}-link_sscop-{H}-{H}", "link_sscop.so"),
        put_file(cache / "uml.lock"),
        put_file(cache / "umlhost.lock"),
    ]


def strangers(cache: Path) -> list[Path]:
    """Files of a user who keeps other things in that folder, too."""
    folders = "apt headers images kernel-scripts kernels modules sources tools uml".split()
    names = ("Cargo.lock", "notes.txt", f"photo-{H}", f"photo-{H}-{H}.so", f"ip-{H}", H[1:])
    return [
        *(put_file(cache / name) for name in names),
        *(put_file(cache / folder / "of mine" / name) for folder in folders for name in names),
    ]


def there(paths: list[Path]) -> list[Path]:
    return [path for path in paths if path.exists()]


def test_what_this_source_does_not_use_goes(
    cache: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stays, goes = used(cache, root) + strangers(cache), unused(cache)
    before = megabytes(cache)
    assert clean_cache.main([]) == 0
    assert (there(stays), there(goes)) == (stays, [])
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.partition(":")[0] for line in lines} == {
        str(path) for path in goes if path.suffix != ".lock"
    }
    freed, left = (float(word) for word in last.split() if word.isdecimal())
    assert last.endswith(" MB left") and freed >= 10
    assert freed + left == pytest.approx(before, abs=2)
    assert clean_cache.main([]) == 0
    assert capsys.readouterr().out == f"{cache}: 0 MB removed, {left:.0f} MB left\n"


def test_all_is_all(cache: Path, root: Path) -> None:
    both, others = used(cache, root) + unused(cache), strangers(cache)
    assert clean_cache.main(["--all"]) == 0
    assert (there(both), there(others)) == ([], others)


def test_all_that_is_made_is_known(root: Path) -> None:
    """Programs and locks that sources name."""
    places = ("fuzz", "simulation", "unit/headers", "unit/packaging")
    text = "".join(
        path.read_text()
        for top in (LAB, *(root / "tests" / name for name in places))
        for path in top.rglob("*.py")
    )  # fmt: skip
    called = re.findall(r'\b(?:compiled|compile_program|locked)\(\s*"([a-z-]+)"', text)
    assert len(called) > 10
    assert {f"{name}.lock" for name in called} - {*clean_cache.LOCKS} == set()


@pytest.fixture
def busy(cache: Path) -> Iterator[list[Path]]:
    """What another process has: a build, programs and a kernel that it uses."""
    old = put(cache / "kernels" / "6.1.0-9-amd64", text="bookworm")
    put(cache / "kernels" / "6.1.0-56-amd64", text="bookworm")
    half = put(DEBUGGING.root("6.1.10-1"), "unpacked")
    image = put_file(cache / "images" / f"base-6.1.0-56-amd64-{H}.cpio")
    lock = put_file(cache / "uml.lock")
    ways = {lock: fcntl.LOCK_EX, old / "complete": fcntl.LOCK_SH, image: fcntl.LOCK_SH}
    handles = []
    for path, way in ways.items():
        handles.append(os.open(path, os.O_RDONLY))
        fcntl.flock(handles[-1], way)
    yield [half, lock, old, image]
    for handle in handles:
        os.close(handle)


@pytest.mark.parametrize("words", [[], ["--all"]])
def test_what_another_process_uses_stays(
    busy: list[Path], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert clean_cache.main(words) == 0
    assert there(busy) == busy
    assert (busy[2] / "content").exists()
    said = capsys.readouterr().out
    assert all(f"{path}: kept, another process uses it\n" in said for path in busy)


@pytest.mark.parametrize(
    ("folder", "release", "take"),
    [
        ("kernels", "6.12.9+deb13-amd64", lambda: debian.kernel.__wrapped__("trixie")),
        ("headers", "6.12.9+deb13-arm64", lambda: foreign_headers.kernel("trixie", "arm64")),
    ],
)
def test_a_kernel_that_is_used_keeps_its_tools(
    cache: Path, folder: str, release: str, take: Callable[[], Kernel]
) -> None:
    names = ["trixie-gcc-14-x86-64-linux-gnu", "sid-sparse"]
    tools = [put(cache / "tools" / name) for name in names]
    others = put(cache / "tools" / "bullseye-gcc-10")
    k = Kernel(release, put(cache / folder / release, text="trixie"))
    k.headers.mkdir(parents=True)
    lines = [f"$(here)../../../../../../tools/{name}/usr/bin/a\n" for name in names]
    (k.headers / ".kernelvariables").write_text("".join(lines))
    assert take() == k
    assert clean_cache.main(["--all"]) == 0
    assert there([*tools, others, k.root]) == [*tools, k.root]
    (tools[1] / "complete").unlink()
    with pytest.raises(LabError, match=r"sid-sparse is gone: remove \S+, too$"):
        take()


def test_no_cache_and_wrong_words(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean_cache.main([]) == 0
    assert capsys.readouterr().out == f"{cache}: 0 MB removed, 0 MB left\n"
    assert not cache.exists()
    assert clean_cache.main(["everything"]) == 2
    assert capsys.readouterr().err == "usage: clean_cache [--all]\n"
