# SPDX-License-Identifier: GPL-2.0
"""Contents of a guest's overlays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from apogee_lab import bpf, modules
from apogee_lab.guest import image
from apogee_lab.guest.image import EXTRAS, base_image, extra_image
from apogee_lab.kernels.kernel import Kernel

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("name", EXTRAS)
def test_threads_can_be_cancelled_in_an_overlay(name: str) -> None:
    """libc aborts a program that cancels a thread where it finds no libgcc_s (iperf3 3.16 does)."""
    assert b"lib/libgcc_s.so.1\0" in extra_image(name).read_bytes()


def test_what_is_built_in_the_tree_is_locked_there(tmp_path: Path, monkeypatch: Patch) -> None:
    """In the cache nothing can be written, whoever tries."""
    (tmp_path / "cache").touch()
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    assert bpf.loader().is_file()
    source, built = tmp_path / "source" / "Kbuild", tmp_path / "built" / "given" / "a.ko"
    for path in (source, built):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setattr(modules, "_build_copy", lambda *_: built)
    monkeypatch.setattr(Kernel, "built", tmp_path / "built")
    assert modules._built_of(source.parent, "", Kernel("6.1", tmp_path)).is_file()


def test_an_image_is_of_its_programs_and_their_libraries(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """By their contents: working copies share it, and an update of a library is seen."""
    files = [tmp_path / name for name in ("program", "library", "other")]
    monkeypatch.setattr(image, "libraries", lambda _: [files[1]])
    monkeypatch.setattr(image, "unwinder", lambda _: [])
    keys = set()
    for changed in (None, *files):
        for path in files:
            path.write_text("new" if path == changed else "old")
            os.utime(path, ns=(0, len(keys)))
        keys.add(image._made_of(files[:1], files[2:]))
    assert len(keys) == 4


def test_kernels_of_one_release_share_no_image(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(image, "_kept", lambda path, _: path)
    monkeypatch.setattr(image, "stage_modules", lambda k: k.root / "stage-1")
    kernels = [Kernel("6.1.192-uml", tmp_path / name) for name in ("a", "b")]
    first, second = (base_image(k).name for k in kernels)
    assert first != second
    assert first.startswith("base-6.1.192-uml-") and first.endswith(".cpio")
