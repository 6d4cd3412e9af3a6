# SPDX-License-Identifier: GPL-2.0
"""Packages from the machine's configured mirrors, through a private apt configuration.

They are unpacked below the cache, never installed: neither the machine's apt nor its kernel is
changed, and root is not needed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..base import (
    LabError,
    cache_dir,
    call,
    find_program,
    locked,
    need_space,
    run_program,
    start_program,
)
from .kernel import numbers, release_of

_UNREACHABLE = re.compile(
    r"Could not (?:resolve|connect)|Cannot initiate the connection|Temporary failure resolving"
    r"|Connection (?:failed|refused|timed out)|Network is unreachable"
)


#: Of a kernel's packages and what is unpacked of them.
SPACE_MB = 1000


#: What fetches and unpacks packages -> Debian package.
PROGRAMS = {"apt-get": "apt", "apt-cache": "apt", "dpkg-deb": "dpkg", "tar": "tar"}


#: What is said while another process fetches.
WAITING = "waiting for another process, which fetches packages into the cache"


class NotCarried(LabError):
    """A suite lacks the package for this architecture, or its mirror has no package list."""


def _mirrors() -> list[tuple[str, str]]:
    """(URI, kind) of the machine's Debian sources; kind is ``main``, ``security``, ``updates``."""
    text = call(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)",
            "Created-By: Packages",
        ],
        "reading the machine's apt sources",
    )
    rows = [line.split("|") for line in text.splitlines()]
    rows = [row for row in rows if len(row) == 4 and row[2] == "main"]
    rows = [row for row in rows if row[3] == "Debian"] or rows
    out: list[tuple[str, str]] = []
    for uri, suite, _, _ in rows:
        match = re.fullmatch(r"(?:[a-z]+)(?:-(security|updates)|/updates)?", suite)
        if match:
            kind = match.group(1) or ("security" if "/" in suite else "main")
            if (uri, kind) not in out:
                out.append((uri, kind))
    if not out:
        raise LabError(
            "no Debian source in the machine's apt sources: add one to fetch a kernel from"
        )
    return out


def write_sources(folder: Path, suite: str) -> None:
    """Write a private sources.list with the machine's mirrors and the wanted kernel's suite."""
    base = release_of(suite)
    keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    options = f" [signed-by={keyring}]" if keyring.exists() else ""
    lines = []
    for uri, kind in _mirrors():
        if suite == "sid" and kind != "main":
            continue  # has no updates or security suite
        name = base if kind == "main" else f"{base}-{kind}"
        lines.append(f"deb{options} {uri} {name} main")
        if kind == "main" and suite != base:
            lines.append(f"deb{options} {uri} {suite} main")
    (folder / "sources.list").write_text("\n".join(dict.fromkeys(lines)) + "\n")


def _apt_options(folder: Path, arch: str) -> list[str]:
    """apt options that keep all of apt's files below a folder of the cache."""
    for sub in ("state/lists/partial", "cache/archives/partial", "etc"):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::Etc::preferences": "-",
        "Dir::Etc::preferencesparts": "-",
        "APT::Architecture": arch,
        "APT::Architectures": arch,
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def depends(options: list[str], package: str) -> list[str]:
    """Packages that a package depends on."""
    text = call(["apt-cache", *options, "depends", package], f"looking for {package}")
    return re.findall(r"^ *\|?Depends: (\S+)", text, re.M)


def offered(options: list[str], package: str) -> str:
    """Versions of a package and their suites, one per line; empty if there are none."""
    return call(["apt-cache", *options, "madison", package], f"looking for {package}")


def newest(options: list[str], suite: str, kind: str, flavour: str = "") -> str:
    """The package of a suite's newest kernel: ``linux-image-6.1.0-56-amd64`` for ``linux-image``
    and ``amd64``.

    NotCarried if the suite has none, even if the release it extends has one.
    """
    meta = f"{kind}-{flavour}" if flavour else kind
    if not re.search(rf" {suite}(-security|-updates)?/", offered(options, meta)):
        raise NotCarried(f"{suite} has no {meta}")
    found = [p for p in depends(options, meta) if re.match(rf"{kind}-\d", p)]
    if not found:
        raise NotCarried(f"{meta} of {suite} depends on no kernel's {kind}")
    return found[0]


def folder(suite: str, arch: str) -> Path:
    """The folder of the cache with apt's files."""
    return cache_dir() / "apt" / (suite if arch == "amd64" else f"{suite}-{arch}")


def updated_apt(suite: str, arch: str = "amd64") -> list[str]:
    """apt options for a suite, its package lists fetched into the cache.

    A mirror that is being updated may lack some lists for a while. The others may suffice, but if
    the suite's own list is missing, NotCarried is raised. LabError if no mirror can be reached.
    """
    apt = folder(suite, arch)
    apt.mkdir(parents=True, exist_ok=True)
    need_space(apt, SPACE_MB)
    for program, package in PROGRAMS.items():
        find_program(program, package)
    write_sources(apt, suite)
    options = _apt_options(apt, arch)
    if suite.endswith("-backports"):
        options += ["-t", suite]
    # Without the mode a mirror that cannot be reached is only a warning.
    words = ["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "-q", "update"]
    env = {**os.environ, "LC_ALL": "C"}
    pipe = subprocess.PIPE
    done = run_program(words, stdout=pipe, stderr=pipe, text=True, env=env)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        print(
            f"{suite} for {arch}: apt-get update: {last}; continuing with the available lists",
            file=sys.stderr,
        )
    if not any((apt / "state" / "lists").glob(f"*_{suite}_main_binary-{arch}_Packages*")):
        if _UNREACHABLE.search(done.stderr):
            raise LabError(f"{suite}: no mirror can be reached")
        raise NotCarried(f"{suite}: the mirror has no package list for {arch}")
    return options


def download(options: list[str], packages: Sequence[str], folder: Path) -> None:
    """Download packages into a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    call(["apt-get", *options, "-q", "download", *packages], "apt-get download", cwd=folder)


def headers_packages(options: list[str], release: str) -> list[str]:
    """The packages that make up a header tree."""
    package = f"linux-headers-{release}"
    parts = r"linux-headers-.*-common(-rt)?|linux-kbuild-.*"
    return [package, *(p for p in depends(options, package) if re.fullmatch(parts, p))]


def source(suite: str) -> Path:
    """The source package of a suite's kernel in the cache: what the suite has today, fetched if the
    cache lacks it. If no mirror can be reached it is the newest that was fetched before."""
    folder = cache_dir() / "sources" / suite
    with locked("kernels", WAITING):
        there = sources(suite)
        part = folder / "part"
        try:
            options = updated_apt(suite)
            package = newest(options, suite, "linux-source")
            version = _candidate(options, package)
            for path in there:
                if path.name.startswith(f"{package}_{version}_"):
                    return path
            print(f"fetching {package} {version}", file=sys.stderr, flush=True)
            shutil.rmtree(part, ignore_errors=True)
            download(options, [package], part)
        except LabError as error:
            if not there:
                raise
            print(f"{error}; taking {there[0].name}", file=sys.stderr)
            return there[0]
        (found,) = part.glob(f"{package}_*.deb")
        os.sync()  # the name says that it is whole
        return found.rename(folder / found.name)


def sources(suite: str) -> list[Path]:
    """The source packages of a suite in the cache, the newest first."""
    there = (cache_dir() / "sources" / suite).glob("*.deb")
    return sorted(there, key=lambda path: numbers(path.name), reverse=True)


def _candidate(options: list[str], package: str) -> str:
    """The version of a package that apt would take, as in the name of its file."""
    text = call(["apt-cache", *options, "policy", package], f"looking for {package}")
    (version,) = re.findall(r"^  Candidate: (\S+)", text, re.M)
    return version.replace(":", "%3a")


def unpack(deb: Path, root: Path) -> None:
    """Unpack a package without files that guests do not need (documents, hardware drivers).

    Existing links to folders are followed.
    """
    root.mkdir(parents=True, exist_ok=True)
    keep = r"net|block|virtio|char/virtio"
    excludes = [
        "*/usr/share/*",
        "*/kernel/sound*",
        "*/kernel/drivers/net/ethernet*",
        "*/kernel/drivers/net/wireless*",
    ]
    excludes += [
        f"*/kernel/drivers/{d}*"
        for d in (
            "gpu",
            "media",
            "iio",
            "infiniband",
            "scsi",
            "staging",
            "hid",
            "input",
            "usb",
            "platform",
            "mtd",
            "video",
            "hwmon",
            "isdn",
            "comedi",
            "pinctrl",
            "power",
            "mmc",
        )
        if not re.match(keep, d)
    ]
    words = ["tar", "-C", root, "--keep-directory-symlink", "-xf", "-"]
    with start_program(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as lister:
        done = run_program(
            [*words, *(f"--exclude={e}" for e in excludes)],
            stdin=lister.stdout, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    if lister.returncode or done.returncode:
        raise LabError(
            f"unpacking {deb.name}: {(done.stderr.strip() or 'damaged').splitlines()[-1]}"
        )
