# SPDX-License-Identifier: GPL-2.0
"""Modules that are not listed: the kernel's own, and those passed with --module."""

from __future__ import annotations

import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from apogee_lab import algorithms
from apogee_lab.base import UsageError, repo_root
from apogee_lab.commands import main
from apogee_lab.engines import uml
from apogee_lab.kernels import debian
from apogee_lab.modules import give
from tests.guest.runs import measured

pytestmark = [pytest.mark.guest, pytest.mark.uml]

LINK = ("--set", "rate=2mbit", "--set", "delay=20ms", "--set", "queue=25kB")

#: A Reno of somebody.
SOURCE = (repo_root() / "tests/modules/tcp_reno3.c").read_text().replace("reno3", "toy")


@pytest.fixture(autouse=True)
def same_list(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove passed modules from the registry after each test."""
    monkeypatch.setattr(algorithms, "ALGORITHMS", dict(algorithms.ALGORITHMS))
    yield


def built(toy: Path) -> Path:
    """The module that is made of a folder."""
    file = give(str(toy), debian.kernel()).file
    assert file is not None
    return file


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """The folder of a user's module."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "tcp_toy.c").write_text(SOURCE)
    (folder / "Kbuild").write_text("obj-m := tcp_toy.o\n")
    return folder


def test_a_module_of_the_kernel_is_a_peer(modules: Path, kept: Path, tmp_path: Path) -> None:
    """dctcp, which only the kernel has, behaves as Reno without ECN and as DCTCP with ECN."""
    algorithms.ALGORITHMS.pop("dctcp")
    (plain,) = measured(tmp_path / "plain", *LINK, "--cc", "dctcp", "--duration", "5")
    assert plain["flows"][0]["cc"] == "dctcp"
    assert plain["total_goodput_bps"] > 0.8 * plain["limit_bps"]


def test_a_folder_is_built_and_measured(
    toy: Path, modules: Path, kept: Path, tmp_path: Path
) -> None:
    before = sorted(toy.iterdir())
    options = ["--module", str(toy), *LINK, "--cc", "toy,reno", "--duration", "5"]
    found = measured(tmp_path / "toy.jsonl", *options)
    assert [record["cc"] for record in found] == ["toy", "reno"]
    ours, reno = (record["total_goodput_bps"] for record in found)
    assert found[0]["given"].startswith("tcp_toy ") and "given" not in found[1]
    assert ours == pytest.approx(reno, rel=0.02)
    assert sorted(toy.iterdir()) == before


@pytest.mark.deep
def test_a_module_under_another_name(toy: Path) -> None:
    k = debian.kernel()
    with pytest.raises(UsageError, match="it has no congestion control mine; say NAME="):
        give(f"mine={toy}", k)
    (toy / "tcp_toy.c").write_text(SOURCE.replace('"toy"', '"mine"'))
    with pytest.raises(UsageError, match="it has no congestion control toy; say NAME="):
        give(str(toy), k)
    given = give(f"mine={toy}", k)
    assert (given.name, given.module) == ("mine", "tcp_toy")
    assert algorithms.find("mine").file == given.file
    (toy / "tcp_other.c").write_text(SOURCE.replace('"toy"', '"the-other"'))
    (toy / "Kbuild").write_text("obj-m := tcp_toy.o tcp_other.o\n")
    with pytest.raises(UsageError, match=r"makes tcp_other.ko, tcp_toy.ko; say NAME="):
        give(str(toy), k)
    other, mine = give(f"the-other={toy}", k), give(f"mine={toy}", k)
    assert (other.module, mine.module) == ("tcp_other", "tcp_toy") and other.file != mine.file
    (toy / "Kbuild").write_text("obj-m := tcp_toy.o\n")
    (toy / "tcp_toy.c").write_text(SOURCE)
    odd = shutil.copytree(toy, toy.with_name("a=b"))
    assert give(str(odd), k).name == "toy"


@pytest.mark.deep
def test_a_compressed_file_and_a_folder_with_a_space(
    toy: Path, modules: Path, kept: Path, tmp_path: Path
) -> None:
    """A .ko.xz is measured as its .ko is; the folder is built wherever it is."""
    spaced = toy.rename(tmp_path / "a toy=1")
    (spaced / "gone").symlink_to("nowhere")
    file = give(f"toy={spaced}", uml.kernel(uml.DEFAULT_KERNEL)).file
    assert file is not None
    packed = tmp_path / "tcp_toy.ko.xz"
    packed.write_bytes(lzma.compress(file.read_bytes()))
    options = [*LINK, "--cc", "toy", "--duration", "2"]
    (plain,) = measured(tmp_path / "plain", "--module", f"toy={spaced}", *options)
    (unpacked,) = measured(tmp_path / "unpacked", "--module", str(packed), *options)
    assert unpacked["flows"] == plain["flows"]


@pytest.mark.deep
def test_a_build_that_is_repeated_takes_nothing_away(toy: Path) -> None:
    """Another sweep may be using what the first build left."""
    k, file = debian.kernel(), built(toy)
    before = file.stat()
    assert give(str(toy), k).file == file
    assert file.stat() == before
    (toy / "tcp_toy.c").write_text("nonsense")
    with pytest.raises(UsageError, match="does not build"):
        give(str(toy), k)
    assert file.stat() == before


def test_a_folder_with_the_labs_build_is_refused() -> None:
    """Its copy would be inside itself."""
    for path in (repo_root(), Path("/")):
        with pytest.raises(UsageError, match=r"(own build|no Kbuild)"):
            give(str(path), debian.kernel())


def test_what_is_wrong_is_one_line(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    k, file = debian.kernel(), built(toy)
    other = tmp_path / "tcp_other.ko"
    vermagic = f"vermagic={k.release} ".encode()
    data = file.read_bytes()
    assert data.count(vermagic) == 1
    other.write_bytes(data.replace(vermagic, b"vermagic=5.4.0 ".ljust(len(vermagic))))
    garbage = tmp_path / "tcp_garbage.ko"
    garbage.write_bytes(b"no module at all")
    empty = tmp_path / "empty"
    empty.mkdir()
    unknown = shutil.copytree(toy, tmp_path / "unknown")
    source = SOURCE.replace("tcp_reno_cong_avoid,", "tcp_nobody_has_this,")
    declared = "void tcp_nobody_has_this(struct sock *sk, u32 ack, u32 acked);\n"
    (unknown / "tcp_toy.c").write_text(source.replace("static void", declared + "static void", 1))
    broken = shutil.copytree(toy, tmp_path / "broken")
    (broken / "tcp_toy.c").write_text("nonsense")
    for path, word in (
        (tmp_path / "none.ko", "no such file or folder"),
        (other, f"built for kernel 5.4.0, this one is {k.release}"),
        (garbage, "not a kernel module"),
        (empty, "has no Kbuild and no Makefile"),
        (unknown, "does not build"),
        (broken, "does not build"),
    ):
        with pytest.raises(UsageError, match=word) as error:
            give(str(path), k)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)
    capsys.readouterr()
    assert main.main(["run", "satellite", "--module", str(garbage)]) == 2
    assert capsys.readouterr().err == f"lab run: --module {garbage}: not a kernel module\n"


def test_a_missing_symbol_is_named(toy: Path) -> None:
    """The symbols that a .ko needs are looked up in the kernel before the run."""
    k, file = debian.kernel(), built(toy)
    data = file.read_bytes()
    assert data.count(b"tcp_reno_undo_cwnd\0") >= 1
    changed = file.with_name("tcp_changed.ko")
    changed.write_bytes(data.replace(b"tcp_reno_undo_cwnd\0", b"tcp_reno_undo_cwmd\0"))
    with pytest.raises(UsageError, match="has no tcp_reno_undo_cwmd"):
        give(str(changed), k)
