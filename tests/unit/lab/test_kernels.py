# SPDX-License-Identifier: GPL-2.0
"""Kernels by suite: found in the cache, or by apt in a mirror on the local disk."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import kernel_files
from apogee_lab.kernels import (
    apt,
    checked_kernel,
    debian,
    foreign_headers,
    qemu_kernel,
    toolchain,
    uml_kernel,
)
from apogee_lab.kernels.kernel import SUITES, Kernel, suite_of


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / "cache"))
    for module in (debian, uml_kernel, checked_kernel):
        module.kernel.cache_clear()
    yield tmp_path / "cache"
    for module in (debian, uml_kernel, checked_kernel):
        module.kernel.cache_clear()


def put(folder: Path, complete: str | None = "") -> None:
    """Put a kernel into the cache, with this text in its file ``complete``."""
    folder.mkdir(parents=True)
    if complete is not None:
        (folder / "complete").write_text(complete)


# --- the cache --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "noted", "suite"),
    [
        ("6.1.0-56-amd64", "", "bookworm"),
        ("6.1.0-50-686-pae", "", "bookworm"),
        ("6.12.95+deb12-amd64", "", "bookworm-backports"),
        ("7.3.4+deb13-arm64", "", "trixie-backports"),
        ("6.12.117+deb13-amd64", "trixie\n", "trixie"),
        ("8.0.1+deb13-amd64", "trixie-backports\n", "trixie-backports"),
    ],
)
def test_the_suite_of_a_cached_kernel(tmp_path: Path, release: str, noted: str, suite: str) -> None:
    put(tmp_path / release, noted)
    assert suite_of(Kernel(release, tmp_path / release)) == suite


def test_a_name_selects_the_newest_of_a_suite_or_a_release(cache: Path) -> None:
    for release, noted in {
        "6.1.0-9-amd64": "bookworm\n",
        "6.1.0-56-amd64": "",
        "6.1.0-100-amd64": None,  # its fetch was interrupted
        "6.12.117+deb13-amd64": "trixie\n",
        "7.3.4+deb13-amd64": "",
    }.items():
        put(cache / "kernels" / release, noted)
    for name, release in {
        "bookworm": "6.1.0-56-amd64",
        "trixie": "6.12.117+deb13-amd64",
        "6.1.0-9-amd64": "6.1.0-9-amd64",
        "trixie-backports": "7.3.4+deb13-amd64",
    }.items():
        assert debian.kernel(name).release == release
    assert debian.kernels() == [
        *SUITES, "6.1.0-56-amd64", "6.1.0-9-amd64", "6.12.117+deb13-amd64", "7.3.4+deb13-amd64",
    ]  # fmt: skip


THERE = "bookworm, bookworm-backports, trixie, trixie-backports, 6.1.0-56-amd64"


def said_of(kernel: Callable[[str], Kernel], name: str) -> str:
    """Why there is no such kernel."""
    with pytest.raises(LabError) as raised:
        kernel(name)
    return str(raised.value)


@pytest.mark.parametrize("name", ["6.1", "6.1.0-57-amd64", "sid", ""])
def test_an_unknown_name_lists_what_there_is(cache: Path, name: str) -> None:
    put(cache / "kernels" / "6.1.0-56-amd64")
    assert said_of(debian.kernel, name) == f"unknown kernel '{name}'; choose from: {THERE}"


def test_a_kernel_of_engine_uml_that_is_built_is_its_suites(cache: Path) -> None:
    put(uml_kernel.PLAIN.root("6.1.192-1"), "6.1.192-uml\n")
    put(cache / "uml" / "bookworm-of another recipe", "6.1.999-uml\n")
    assert uml_kernel.kernel().release == "6.1.192-uml"
    assert uml_kernel.kernel("6.1.192-uml") == uml_kernel.kernel("bookworm")
    said = said_of(uml_kernel.kernel, "6.1")
    assert re.match(r"unknown kernel '6.1'; choose from: bookworm, .*, 6\.1\.192", said)
    # that with checks
    put(uml_kernel.DEBUGGING.root("6.1.192-1"), "6.1.192-uml-debug\n")
    found = uml_kernel.kernel("bookworm-debug")
    assert (found.release, found.make[-1]) == ("6.1.192-uml-debug", "UBSAN_SANITIZE=y")
    assert uml_kernel.kernel().release == "6.1.192-uml"


def test_engine_qemu_has_debians_kernels_and_those_that_look_for_faults(cache: Path) -> None:
    put(cache / "kernels" / "6.1.0-56-amd64", "bookworm\n")
    for recipe in checked_kernel.RECIPES:
        put(recipe.root("6.1.192-1"), f"6.1.192-{recipe.name.rpartition('-')[2]}\n")
    assert qemu_kernel.kernel().release == "6.1.0-56-amd64"
    for name in ("bookworm-debug", "bookworm-kcsan"):
        found = qemu_kernel.kernel(name)
        assert found.release == f"6.1.192-{name.rpartition('-')[2]}"
        assert found == qemu_kernel.kernel(found.release)
        assert (found.vmlinux.name, found.headers.name) == ("vmlinux", "source")
    more = "bookworm-debug, bookworm-kcsan, 6.1.192-debug, 6.1.192-kcsan"
    told = f"unknown kernel 'sid'; choose from: {THERE}, {more}"
    assert said_of(qemu_kernel.kernel, "sid") == told


# --- apt --------------------------------------------------------------------------------------


class Mirror:
    """Suites in a folder, as apt reads them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.suites: dict[str, dict[str, list[str]]] = {}

    def add(
        self, suite: str, arch: str, name: str, depends: str = "", tree: Path | None = None
    ) -> None:
        """A package of version 1, of this tree of files, or of none."""
        fields = f"Package: {name}\nVersion: 1\nArchitecture: {arch}\nMaintainer: a <a@b>\n"
        fields += (f"Depends: {depends}\n" if depends else "") + "Description: test\n"
        tree = tree or self.top / "empty"
        (tree / "DEBIAN").mkdir(parents=True, exist_ok=True)
        (tree / "DEBIAN" / "control").write_text(fields)
        deb = self.top / "pool" / f"{name}_1_{arch}.deb"
        deb.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "-b", tree, deb], check=True, capture_output=True)
        content = deb.read_bytes()
        fields += f"Filename: pool/{deb.name}\nSize: {len(content)}\n"
        fields += f"SHA256: {hashlib.sha256(content).hexdigest()}\n"
        self.suites.setdefault(suite, {}).setdefault(arch, []).append(fields)
        self._write(suite)

    def name(self, suite: str, arch: str, meta: str, *packages: str) -> None:
        """Add a package with dependencies, and these."""
        self.add(suite, arch, meta, ", ".join(packages))
        for package in packages:
            self.add(suite, arch, package)

    def _write(self, suite: str) -> None:
        sums = []
        for arch, packages in self.suites[suite].items():
            path = self.top / "dists" / suite / "main" / f"binary-{arch}" / "Packages"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(packages))
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            sums.append(f" {digest} {path.stat().st_size} main/binary-{arch}/Packages\n")
        head = (
            f"Codename: {suite}\nComponents: main\nArchitectures: {' '.join(self.suites[suite])}\n"
        )
        date = "Date: Sun, 01 Nov 2026 00:00:00 UTC\n"
        release = self.top / "dists" / suite / "Release"
        release.write_text(f"{head}{date}SHA256:\n{''.join(sums)}")

    def sources(self, folder: Path, suite: str) -> None:
        """Replaces apt.write_sources."""
        base = suite.removesuffix("-backports")
        there = [s for s in (base, f"{base}-security", suite) if s in self.suites]
        lines = [f"deb [trusted=yes] file:{self.top} {s} main\n" for s in dict.fromkeys(there)]
        (folder / "sources.list").write_text("".join(lines))


@pytest.fixture
def mirror(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """A mirror without packages, apt's only source."""
    found = Mirror(tmp_path / "mirror")
    monkeypatch.setattr(apt, "write_sources", found.sources)
    return found


def headers_of(suite: str, arch: str) -> str:
    options = apt.updated_apt(suite, arch)
    return apt.newest(options, suite, "linux-headers", foreign_headers.FLAVOURS[arch])


def test_the_release_is_what_the_suite_has(mirror: Mirror) -> None:
    mirror.name("trixie", "amd64", "linux-source", "linux-source-6.12")
    mirror.name("trixie", "amd64", "linux-image-amd64", "linux-image-6.12.9+deb13-amd64")
    parts = ("linux-base-amd64", "linux-image-8.1.2+deb13-amd64", "linux-modules-amd64")
    mirror.name("trixie-backports", "amd64", "linux-image-amd64", *parts)
    for suite, release in {"trixie": "6.12.9", "trixie-backports": "8.1.2"}.items():
        image = f"linux-image-{release}+deb13-amd64"
        assert apt.newest(apt.updated_apt(suite), suite, "linux-image", "amd64") == image
    assert apt.newest(apt.updated_apt("trixie"), "trixie", "linux-source") == "linux-source-6.12"


def test_each_architecture_has_its_own_release(mirror: Mirror) -> None:
    mirror.name("bookworm-security", "arm64", "linux-headers-arm64", "linux-headers-6.1.0-56-arm64")
    mirror.add("bookworm", "arm64", "other")
    mirror.name("bookworm", "armhf", "linux-headers-armmp", "linux-headers-6.1.0-50-armmp")
    assert headers_of("bookworm", "arm64") == "linux-headers-6.1.0-56-arm64"
    assert headers_of("bookworm", "armhf") == "linux-headers-6.1.0-50-armmp"


def test_what_a_suite_builds_upon_is_not_the_suites(mirror: Mirror) -> None:
    mirror.name("trixie", "i386", "linux-headers-686-pae", "linux-headers-6.12.9-686-pae")
    mirror.add("trixie-backports", "i386", "other")
    with pytest.raises(apt.NotCarried, match="^trixie-backports has no linux-headers-686-pae$"):
        foreign_headers.kernel("trixie-backports", "i386")
    mirror.name("trixie-backports", "i386", "linux-headers-686-pae", "linux-headers-common")
    with pytest.raises(apt.NotCarried, match="depends on no kernel's linux-headers$"):
        foreign_headers.kernel("trixie-backports", "i386")


def test_a_suite_whose_list_is_missing(mirror: Mirror, capsys: pytest.CaptureFixture[str]) -> None:
    mirror.name("trixie", "armhf", "linux-headers-armmp", "linux-headers-6.12.9-armmp")
    mirror.name("trixie-backports", "armhf", "linux-headers-armmp", "linux-headers-8.1.2-armmp")
    packages = mirror.top / "dists" / "trixie-backports" / "main" / "binary-armhf" / "Packages"
    whole = packages.read_text()
    packages.write_text(whole[:40])
    message = "^trixie-backports: the mirror has no package list for armhf$"
    with pytest.raises(apt.NotCarried, match=message):
        foreign_headers.kernel("trixie-backports", "armhf")
    assert "continuing with the available lists" in capsys.readouterr().err
    packages.write_text(whole)
    assert headers_of("trixie-backports", "armhf") == "linux-headers-8.1.2-armmp"


@pytest.fixture
def nowhere(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror that cannot be reached: without the proxy that this machine may have, and without a
    second try."""

    def sources(folder: Path, suite: str) -> None:
        (folder / "sources.list").write_text(f"deb http://127.0.0.1:1/debian {suite} main\n")

    monkeypatch.setattr(apt, "write_sources", sources)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    options = apt._apt_options
    more = ["-o", "Acquire::http::Proxy=DIRECT", "-o", "Acquire::Retries=0"]
    monkeypatch.setattr(apt, "_apt_options", lambda *of: [*options(*of), *more])


def test_a_mirror_that_cannot_be_reached_is_no_missing_kernel(nowhere: None) -> None:
    with pytest.raises(LabError, match="^trixie: no mirror can be reached$") as error:
        foreign_headers.kernel("trixie", "arm64")
    assert not isinstance(error.value, apt.NotCarried)


def test_headers_whose_tools_this_machine_cannot_have(mirror: Mirror) -> None:
    needed = ("linux-headers-8.1.2-common", "linux-kbuild-8.1.2")
    mirror.add("trixie", "arm64", "linux-headers-arm64", "linux-headers-8.1.2-arm64")
    mirror.name("trixie", "arm64", "linux-headers-8.1.2-arm64", *needed)
    mirror.add("trixie", "amd64", "linux-kbuild-8.1.3")
    with pytest.raises(apt.NotCarried, match="has no linux-kbuild-8.1.2 for amd64 to build for"):
        foreign_headers.kernel("trixie", "arm64")


def boot_image() -> bytes:
    """A bzImage of an ELF file of four bytes."""
    payload = gzip.compress(b"\x7fELF") + bytes(4)
    head = bytearray(1024)
    head[0x1F1] = 1
    head[0x24C:0x250] = len(payload).to_bytes(4, "little")
    return bytes(head) + payload


def add_kernel(mirror: Mirror, suite: str, release: str, top: Path) -> None:
    """Image, headers and the packages named after the architecture."""
    (top / "image" / "boot").mkdir(parents=True)
    (top / "image" / "boot" / f"vmlinuz-{release}").write_bytes(boot_image())
    (top / "image" / "lib" / "modules" / release).mkdir(parents=True)
    headers = top / "headers" / "usr" / "src" / f"linux-headers-{release}"
    headers.mkdir(parents=True)
    (headers / "Makefile").write_text("include /usr/src/common/Makefile\n")
    for kind in ("image", "headers"):
        mirror.add(suite, "amd64", f"linux-{kind}-{release}", tree=top / kind)
        mirror.add(suite, "amd64", f"linux-{kind}-amd64", f"linux-{kind}-{release}")


def no_lock(cache: Path) -> None:
    """Nobody gets the lock of kernels, as in a cache that is only read."""
    (cache / "kernels.lock").unlink()
    (cache / "kernels.lock").mkdir()


def test_a_kernel_is_fetched_once_with_its_suite(
    mirror: Mirror, cache: Path, tmp_path: Path
) -> None:
    add_kernel(mirror, "bookworm", "6.1.0-99-amd64", tmp_path)
    fetched = debian.kernel("bookworm")
    assert (fetched.release, suite_of(fetched)) == ("6.1.0-99-amd64", "bookworm")
    assert (fetched.root / "complete").read_text() == "bookworm\n"
    assert fetched.vmlinux.read_bytes() == b"\x7fELF"
    assert "/usr/src/" not in (fetched.headers / "Makefile").read_text()
    assert fetched.modules.is_dir()
    shutil.rmtree(mirror.top)
    no_lock(cache)
    debian.kernel.cache_clear()
    assert debian.kernel("bookworm") == debian.kernel("6.1.0-99-amd64") == fetched


def test_headers_are_fetched_once_with_their_suite(
    mirror: Mirror, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    equipped = []
    monkeypatch.setattr(toolchain, "equip", lambda *what: equipped.append(what))
    headers = tmp_path / "tree" / "usr" / "src" / "linux-headers-8.1.2+deb13-arm64"
    headers.mkdir(parents=True)
    (headers / "Makefile").write_text("include /usr/src/common/Makefile\n")
    meta = ("linux-headers-arm64", "linux-headers-8.1.2+deb13-arm64")
    mirror.add("trixie", "arm64", *meta)
    mirror.add("trixie", "arm64", meta[1], "linux-kbuild-8.1.2+deb13", tree=tmp_path / "tree")
    for arch in ("amd64", "arm64"):
        mirror.add("trixie", arch, "linux-kbuild-8.1.2+deb13")
    fetched = foreign_headers.kernel("trixie", "arm64")
    assert suite_of(fetched) == "trixie", "the mark of its release alone says trixie-backports"
    assert equipped == [(fetched.headers, "trixie", "arm64")]
    shutil.rmtree(mirror.top)
    no_lock(cache)
    assert foreign_headers.kernel("trixie", "arm64") == fetched


@pytest.mark.parametrize("half", [False, True])
def test_the_source_package_is_the_suites(
    mirror: Mirror, cache: Path, capsys: pytest.CaptureFixture[str], half: bool
) -> None:
    """Half a package that was left there is none."""
    mirror.name("bookworm", "amd64", "linux-source", "linux-source-6.9")
    package = cache / "sources" / "bookworm" / "linux-source-6.9_1_amd64.deb"
    if half:
        (package.parent / "part").mkdir(parents=True)
        (package.parent / "part" / package.name).write_bytes(b"half")
    assert kernel_files.main(["source"]) == 0
    assert capsys.readouterr().out == f"{package}\n"
    assert package.read_bytes() == (mirror.top / "pool" / package.name).read_bytes()
    (mirror.top / "pool" / package.name).unlink()
    assert apt.source("bookworm") == package, "it is fetched once"


def test_without_a_mirror_the_newest_source_of_the_cache_is_taken(
    cache: Path, nowhere: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LabError, match="^bookworm: no mirror can be reached$"):
        apt.source("bookworm")
    for version in ("6.1.9-1", "6.1.10-1"):
        put(cache / "sources" / "bookworm" / f"linux-source-6.1_{version}_all.deb")
    newest = "linux-source-6.1_6.1.10-1_all.deb"
    assert apt.source("bookworm").name == newest
    assert capsys.readouterr().err.endswith(
        f"bookworm: no mirror can be reached; taking {newest}\n"
    )


@pytest.mark.parametrize(
    "argv", [[], ["source", "a"], ["cache", "a"], ["sources", "sid"], ["kdir", "a", "b"], ["deb"]]
)
def test_wrong_words_are_told_how_to_ask(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernel_files.main(argv) == 2
    assert capsys.readouterr().err.startswith("usage: kernel_files kdir|release|prepare [KERNEL]")
