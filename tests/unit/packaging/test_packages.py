# SPDX-License-Identifier: GPL-2.0
"""Debian packages: pages lead somewhere, and scripts keep modules that are not replaced.

What dpkg and DKMS make of them is scripts/prove-package's matter.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import ROOT
from tests.unit.packaging.test_docs import broken

DEBIAN = ROOT / "debian"
PACKAGES = re.findall(r"^Package: (\S+)$", (DEBIAN / "control").read_text(), re.M)
SETS = [name for name in PACKAGES if re.fullmatch(r"apogee-.+-dkms", name)]
LISTS = sorted(DEBIAN.glob("*.pages"))


def pages_of(package: str) -> list[str]:
    """The names of its pages."""
    path = DEBIAN / f"{package}.pages"
    return [Path(one).name for one in path.read_text().split("\n")[1:] if one]


# --- pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pages", LISTS, ids=lambda path: path.stem)
def test_installed_pages_have_no_dead_link(pages: Path, tmp_path: Path) -> None:
    assert pages.stem in PACKAGES
    subprocess.run([DEBIAN / "pages", pages, tmp_path], cwd=ROOT, check=True)
    folder = tmp_path / pages.stem / "usr" / "share" / "doc" / pages.stem
    assert sorted(path.name for path in folder.iterdir()) == sorted(pages_of(pages.stem))
    for page in folder.iterdir():
        assert broken(page, page.read_text()) == []
        assert page.stat().st_size > 500


def test_a_link_stays_where_its_page_is_there(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "[b](b.md#x) [c](c.md) ![d](d.svg)\n[e\nf](../e.md) [g](#h) [i](https://i)"
    )
    (tmp_path / "docs" / "b.md").touch()
    (tmp_path / "some.pages").write_text("# comment\ndocs/a.md\ndocs/b.md\n")
    subprocess.run([DEBIAN / "pages", "some.pages", "out"], cwd=tmp_path, check=True)
    left = (tmp_path / "out" / "some" / "usr" / "share" / "doc" / "some" / "a.md").read_text()
    assert left == "[b](b.md#x) c d\ne\nf [g](#h) [i](https://i)"


def test_texts_name_packages_and_files_that_there_are() -> None:
    """Of pages, man pages and messages: a package, and what it installs below /usr/share/doc."""
    globs = ("man/*", "docs/*.md", "README.md", "scripts/*-*", "scripts/dkms", "debian/control")
    texts = [path for one in globs for path in ROOT.glob(one)]
    for path in texts:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"\bapogee-(?:\w+-)?(?:dkms|iproute2|quick)\b", text):
            assert name in PACKAGES, (path, name)
        for package, file in re.findall(r"/usr/share/doc/([\w-]+)/([\w./-]+\w)", text):
            there = [f"examples/{one.name}" for one in (ROOT / "scripts" / "bpf").iterdir()]
            assert file in (there if "/" in file else pages_of(package)), (path, file)


def test_a_page_of_another_package_is_named_with_it() -> None:
    """SEE ALSO of what stands alone."""
    for page, package in {
        "apogee-bpf.8": "apogee-tcp-dkms",
        "shake-quick.8": "apogee-shake-dkms",
    }.items():
        assert f"package {package}" in (ROOT / "man" / page).read_text()


def test_no_place_is_named_that_does_not_exist() -> None:
    """Until there is a public one; recipes of other systems likewise."""
    assert not re.search("^(Homepage|Vcs-)", (DEBIAN / "control").read_text(), re.M)
    for path in (ROOT / "packaging").glob("*/*"):
        assert "https://apogee.invalid" not in path.read_text(), path


# --- an upgrade -------------------------------------------------------------------------------


class Machine:
    """The scripts of a package, with the machine's folders below another one and a DKMS that keeps
    a module a file."""

    def __init__(self, folder: Path, package: str) -> None:
        self.folder, self.package = folder, package
        self.names = ["tcp_j", "tcp_star"] if "-tcp-" in package else [package.split("-")[1]]
        self.log = folder / "log"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in ("1.0", "2.0"):
            for file in ("modules.dep", "modules.builtin", "build/Makefile"):
                path = self.modules(name) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        self.program("depmod", f'echo "depmod $1" >>{self.log}')
        self.program("uname", "echo 1.0")
        self.program("dkms", f'echo "dkms $*" >>{self.log}')

    def modules(self, release: str) -> Path:
        return self.folder / "lib" / "modules" / release

    def program(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def builds(self, release: str, content: str) -> str:
        """A shell's words that install modules."""
        to = self.modules(release) / "updates" / "dkms"
        lines = [f"mkdir -p {to}", *(f"echo {content} >{to}/{name}.ko" for name in self.names)]
        return "; ".join(lines)

    def run(self, script: str, *words: str, dkms: str = ":") -> subprocess.CompletedProcess[str]:
        text = (DEBIAN / f"{self.package}.{script}").read_text()
        for token, value in {
            "PACKAGE": self.package, "MODULES": " ".join(self.names), "VERSION": "0.2",
            "DEBHELPER": dkms,
        }.items():  # fmt: skip
            text = text.replace(f"#{token}#", value)
        env = os.environ | {
            "DPKG_ROOT": str(self.folder),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
        }
        return subprocess.run(
            ["sh", "-s", *words], input=text, capture_output=True, text=True, env=env, check=False
        )

    def there(self) -> dict[str, str]:
        """Modules by release and name."""
        paths = sorted(self.folder.glob("lib/modules/*/updates/dkms/*.ko"))
        return {f"{path.parts[-4]} {path.stem}": path.read_text().strip() for path in paths}

    def all(self, **contents: str) -> dict[str, str]:
        return {
            f"{release[1:]}.0 {name}": text
            for release, text in contents.items()
            for name in self.names
        }


@pytest.fixture(params=SETS)
def machine(tmp_path: Path, request: pytest.FixtureRequest) -> Machine:
    return Machine(tmp_path, request.param)


def upgrade(machine: Machine, why: str = "upgrade") -> None:
    """As far as the old package's prerm."""
    subprocess.run(
        ["sh", "-c", f"{machine.builds('1.0', 'old')}; {machine.builds('2.0', 'old')}"], check=True
    )
    done = machine.run("prerm", why, dkms=f"rm -r {machine.folder}/lib/modules/*/updates")
    assert (done.returncode, done.stderr, machine.there()) == (0, "", {})


@pytest.mark.parametrize("why", ["upgrade", "deconfigure"])
def test_an_upgrade_that_does_not_build_keeps_the_modules(machine: Machine, why: str) -> None:
    """Also a second attempt; what one has put back is out of DKMS's way."""
    upgrade(machine, why)
    for _ in range(2):
        empty = (
            f'[ -z "$(ls {machine.modules("1.0")}/updates/dkms 2>/dev/null)" ] || exit 9; exit 5'
        )
        done = machine.run("postinst", "configure", "0.1", dkms=empty)
        assert done.returncode == 5
        assert machine.there() == machine.all(_1="old", _2="old")
        names = " ".join(machine.names)
        log = f"/var/lib/dkms/{machine.package[:-5]}/0.2/build/make.log"
        assert done.stderr.replace(f"{machine.package}: ", "").splitlines() == [
            f"not built for 1.0, and left as they were: {names}",
            f"not built for 2.0, and left as they were: {names}",
            f"DKMS could not build it; see {log}",
        ]
    assert machine.run("prerm", "remove").returncode == 0
    assert machine.run("postrm", "purge").returncode == 0
    left = [*machine.folder.glob("lib/modules/*/updates"), *machine.folder.glob("var/lib/*")]
    assert left == []
    assert "depmod 1.0" in machine.log.read_text().splitlines()[-2:]


def test_an_upgrade_builds_for_all_kernels_that_had_modules(machine: Machine) -> None:
    """DKMS by itself does so for the running and the newest one only."""
    upgrade(machine)
    machine.program("dkms", f'echo "dkms $*" >>{machine.log}; {machine.builds("2.0", "new")}')
    done = machine.run("postinst", "configure", "0.1", dkms=machine.builds("1.0", "new"))
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.there() == machine.all(_1="new", _2="new")
    name = machine.package.removesuffix("-dkms")
    assert machine.log.read_text() == f"dkms install -m {name} -v 0.2 -k 2.0\n"
    assert not [*machine.folder.glob("var/lib/*")]


def test_an_upgrade_without_the_headers_of_another_kernel(machine: Machine) -> None:
    upgrade(machine)
    (machine.modules("2.0") / "build" / "Makefile").unlink()
    (machine.modules("2.0") / "build").rmdir()
    done = machine.run("postinst", "configure", "0.1", dkms=machine.builds("1.0", "new"))
    assert done.returncode == 0
    assert machine.there() == machine.all(_1="new", _2="old")
    assert (
        done.stderr.count("\n") == 1 and "not built for 2.0, and left as they were" in done.stderr
    )


def test_an_upgrade_that_is_given_up(machine: Machine) -> None:
    """DKMS has removed the modules of the version that stays."""
    upgrade(machine)
    dkms = f'[ "$1 $2" = "configure 0.3" ] || exit; {machine.builds("1.0", "again")}'
    done = machine.run("postinst", "abort-upgrade", "0.3", dkms=dkms)
    assert done.returncode == 0
    assert machine.there() == machine.all(_1="again", _2="old")


@pytest.mark.parametrize(
    ("release", "flavour"),
    [
        ("6.1.0-28-amd64", "amd64"), ("6.1.0-28-cloud-amd64", "cloud-amd64"),
        ("6.1.0-28-rt-amd64", "rt-amd64"), ("6.12.57+deb13-amd64", "amd64"),
        ("6.12.57+deb13-cloud-arm64", "cloud-arm64"), ("6.1.0-28-686-pae", "686-pae"),
        ("6.12.43+deb12-rt-amd64", "rt-amd64"), ("6.1.0-0.deb11.13-amd64", "amd64"),
    ],
)  # fmt: skip
def test_headers_are_named_for_the_running_flavour(
    tmp_path: Path, release: str, flavour: str
) -> None:
    machine = Machine(tmp_path, SETS[0])
    machine.modules(release).mkdir()
    (machine.modules(release) / "modules.dep").touch()
    machine.program("uname", f"echo {release}")
    done = machine.run("postinst", "configure", "")
    assert done.stderr == (
        f"{SETS[0]}: not built for the running kernel: apt-get install linux-headers-{release}, "
        f"or linux-headers-{flavour}, which follows new kernels\n"
    )


def test_each_set_has_these_scripts() -> None:
    products = {"tcp", *(path.parent.name for path in ROOT.glob("*/Kbuild"))}
    assert {f"apogee-{name}-dkms" for name in products} == {*SETS}
    for name in SETS:
        for script in ("preinst", "prerm", "postinst", "postrm"):
            assert (DEBIAN / f"{name}.{script}").resolve().name == f"{SETS[0]}.{script}"


# --- beside other ways ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "owned", "refused"),
    [
        ("apogee-tcp/0.1, 1.0, x86_64: installed", False, "apogee-tcp-0.1"),
        ("apogee/0.1: added", False, "apogee-0.1"),
        ("apogee, 0.1, 1.0, x86_64: installed", False, "apogee-0.1"),
        ("apogee/0.1: added", True, None),
        ("apogee-tcp/0.1: added", True, None),
        ("apogee-shake/0.1: added", False, None),
        ("other-apogee/0.1: added", False, None),
    ],
)
def test_a_set_that_make_dkms_registered(
    tmp_path: Path, listed: str, owned: bool, refused: str | None
) -> None:
    """One of a package, as the one before, is no obstacle."""
    machine = Machine(tmp_path, "apogee-tcp-dkms")
    machine.program("dkms", f"echo '{listed}'")
    machine.program("dpkg-query", f"exit {0 if owned else 1}")
    done = machine.run("preinst", "install")
    words = f"apogee-tcp-dkms: make dkms has registered {refused} with DKMS: "
    words += "run make dkms-remove first\n"
    assert (done.returncode, done.stderr) == ((1, words) if refused else (0, ""))
    assert machine.run("preinst", "upgrade", "0.1").returncode == 0
