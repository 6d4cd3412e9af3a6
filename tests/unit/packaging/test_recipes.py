# SPDX-License-Identifier: GPL-2.0
"""Recipes of other systems: of this version, and of the tarball that `make dist` makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    return re.match(r"apogee \((.*?)\)", (root / "debian" / "changelog").read_text())[1]  # type: ignore[index]


def test_versions_are_the_changelog_s(root: Path, version: str) -> None:
    for path in (root / "packaging").glob("*/*"):
        assert re.findall(r"\b\d+\.\d+\.\d+\b", path.read_text())[0] == version, path


def test_arch_packages_every_module(root: Path, version: str, tmp_path: Path) -> None:
    """package() on the tarball's content: three products, each with what it builds from."""
    source = tmp_path / f"apogee-{version}"
    tracked = subprocess.run(
        ["git", "ls-files", "*.c", "*/Kbuild", "Kbuild", "dkms.conf", "*.h", "man", "include",
         "scripts/dkms", "debian/changelog"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, source / name)
    shell = f"cd {tmp_path}; . {root}/packaging/arch/PKGBUILD; pkgdir={tmp_path}/pkg; package"
    subprocess.run(["bash", "-euc", shell], check=True)
    made = tmp_path / "pkg" / "usr" / "src"
    assert sorted(path.name for path in made.iterdir()) == [
        f"apogee-{product}-{version}" for product in ("shake", "sscop", "tcp")
    ]
    for folder in made.iterdir():
        assert (folder / "include" / "compat" / "probe.sh").exists()
        conf = subprocess.run(
            ["bash", "-euc", f". {folder}/dkms.conf; echo $PACKAGE_NAME ${{BUILT_MODULE_NAME[@]}}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        name, *modules = conf.stdout.split()
        assert name == folder.name.removesuffix(f"-{version}")
        assert modules == (
            sorted(path.stem for path in root.glob("tcp_*.c"))
            if name.endswith("tcp")
            else [name[7:]]
        )


#: What a header declares is in a module of the kernel -> OpenWrt's packages of such modules.
IN_MODULES = {
    "crypto/chacha.h": {"crypto-lib-chacha20poly1305"},  # which needs that of ChaCha
    "crypto/chacha20poly1305.h": {"crypto-lib-chacha20poly1305"},
    "crypto/curve25519.h": {"crypto-lib-curve25519"},
    "crypto/poly1305.h": {"crypto-lib-chacha20poly1305"},
    "linux/crc32c.h": {"lib-crc32c"},
    "net/udp_tunnel.h": {"udptunnel4", "udptunnel6"},
}
IN_THE_KERNEL = {"crypto/algapi.h", "crypto/blake2s.h"}


def test_openwrt_s_package_depends_on_what_the_modules_need(root: Path) -> None:
    files = [path for top in ("sscop", "shake", "include") for path in (root / top).rglob("*.[ch]")]
    text = "".join(path.read_text() for path in files)
    taken = set(re.findall(r"^#include <((?:crypto|linux/crc|net/udp_tunnel)[^>]*)>", text, re.M))
    assert taken <= {*IN_MODULES, *IN_THE_KERNEL}
    recipe = (root / "packaging" / "openwrt" / "Makefile").read_text()
    needed = set().union(*(IN_MODULES.get(name, set()) for name in taken))
    assert {*re.findall(r"\+kmod-(\S+)", recipe)} == needed


@pytest.fixture
def commit(root: Path, tmp_path: Path, version: str) -> Path:
    """A repository of one commit with what `make dist` looks at."""
    tree = tmp_path / "tree"
    for name in ("scripts/dist", "debian/changelog", "tcp_star.c"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tree / name)
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one")
    return tree


def git(tree: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=tree, check=True)


def dist(tree: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tree / "scripts" / "dist"], capture_output=True, text=True, check=False,
        env=os.environ | env,
    )  # fmt: skip


def test_dist_is_the_commit(commit: Path, version: str) -> None:
    """Equal octets, whatever lies beside it; the version is the tag's."""
    tarball = commit / "build" / f"apogee-{version}.tar.gz"
    made = []
    for tag in ("", f"v{version}"):
        if tag:
            git(commit, "tag", tag)
        (commit / "tcp_star.c").write_text("edited")
        assert dist(commit).stdout == f"build/{tarball.name}\n"
        made.append(tarball.read_bytes())
    assert made[0] == made[1]
    with tarfile.open(tarball) as tar:
        names = [one.name for one in tar.getmembers() if one.isfile()]
    assert f"apogee-{version}/tcp_star.c" in names
    git(commit, "tag", "-d", f"v{version}")
    git(commit, "tag", "v0.0.1")
    done = dist(commit)
    told = f"make dist: the tag is v0.0.1, debian/changelog has {version}\n"
    assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.parametrize("what", ["git archive", "gzip"])
def test_a_dist_that_fails_half_way_leaves_no_tarball(
    commit: Path, version: str, what: str
) -> None:
    """Nor does it touch that of before."""
    tarball = commit / "build" / f"apogee-{version}.tar.gz"
    name, _, verb = what.partition(" ")
    folder = commit.parent / "bin"
    folder.mkdir()
    real = shutil.which(name)
    (folder / name).write_text(
        f'#!/bin/sh\n[ "$1" = "{verb or "-n"}" ] || exec {real} "$@"\n'
        "head -c 5000 /dev/zero; echo no space >&2; exit 1\n"
    )
    (folder / name).chmod(0o755)
    for before in (None, b"before"):
        if before:
            tarball.write_bytes(before)
        done = dist(commit, PATH=f"{folder}:{os.environ['PATH']}")
        told = f"no space\nmake dist: {what} has failed, see above\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
        left = [path.read_bytes() for path in (commit / "build").iterdir()]
        assert left == ([before] if before else [])


def test_dist_without_git(commit: Path) -> None:
    shutil.rmtree(commit / ".git")
    done = dist(commit, GIT_CEILING_DIRECTORIES=str(commit.parent))
    told = "make dist: no git repository with a commit is here\n"
    assert (done.returncode, done.stderr) == (1, told)


KMODTOOL = """#!/bin/sh
cat <<'END'
%package -n akmod-apogee
Summary: of kmodtool
Requires: apogee-kmod-common >= %{version}
%description -n akmod-apogee
of kmodtool
END
"""


@pytest.mark.skipif(not shutil.which("rpmspec"), reason="no rpmspec here")
def test_fedora_has_what_kmodtool_s_packages_require(root: Path, tmp_path: Path) -> None:
    (tmp_path / "kmodtool").write_text(KMODTOOL)
    (tmp_path / "kmodtool").chmod(0o755)
    spec = root / "packaging" / "fedora" / "apogee-kmod.spec"

    def asked(*words: str) -> list[str]:
        return subprocess.run(
            ["rpmspec", "-q", *words, spec], capture_output=True, text=True, check=True,
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        ).stdout.split()  # fmt: skip

    assert {"akmod-apogee", "apogee-kmod-common"} <= {*asked("--qf", "%{name}\n")}
    again = asked("--qf", "%{name}\n", "--define", "kernels 1.2.3")
    assert "akmod-apogee" in again and "apogee-kmod-common" not in again
