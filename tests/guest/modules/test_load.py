# SPDX-License-Identifier: GPL-2.0
"""`make load` and `make unload` on a running kernel: User-Mode Linux with this machine's files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from apogee_lab.base import call
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.deep]

#: Files of the project that both targets read. The guest writes only into a copy of them.
PARTS = ("Kbuild", "Makefile", "include", "scripts", "tcp_*.c", "sscop")

#: From the run's folder, which the engine mounts in the guest, up to the machine's root.
TOP = "../" * 30

SCRIPT = """
mkdir /machine && mount -t hostfs none /machine -o {top} || exit
mount -t proc proc /machine/proc && mount -t sysfs sysfs /machine/sys || exit
verb() {{
	chroot /machine env -i LC_ALL=C PATH=/usr/bin:/bin make -C {copy} $2 {variables} >$OUT/$1 2>&1
	echo "status $?" >>$OUT/$1
}}
offered() {{ cp /proc/sys/net/ipv4/tcp_available_congestion_control $OUT/$1; }}

# Kernel modules are not on the machine, but in the guest.
modprobe libcrc32c
offered before
verb loaded load
offered then
verb again load
sysctl -qw net.ipv4.tcp_congestion_control=star
verb used unload
ip netns add heir
sysctl -qw net.ipv4.tcp_congestion_control=reno
verb inherited unload
ip netns del heir
while [ "$(cat /sys/module/tcp_star/refcnt)" != 0 ]; do sleep 0.01; done
ip link add low type veth peer name other
ip link add link low name s0 type sscop
verb linked unload
ip link del s0
verb unloaded unload
offered after
"""
IN_USE = "make unload: tcp_star is in use by 1 sockets or settings, of any network namespace"
MODULES = ("tcp_compound_plus", "tcp_hstcp_gentle", "tcp_j", "tcp_star", "sscop")


@pytest.fixture(scope="module")
def said(build: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Output of the targets, and the available algorithms."""
    kernel = uml_kernel.kernel()
    copy = tmp_path_factory.mktemp("copy")
    for path in (path for pattern in PARTS for path in root.glob(pattern)):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy / path.name)
    # Compiled here in advance, as compiling in the guest is slow.
    built = copy / "build" / "modules" / kernel.release
    build_modules = [copy / "scripts" / "build-modules", kernel.headers.resolve(), built]
    call([*build_modules, *uml_kernel.MAKE], "build-modules")
    variables = [f"KDIR={kernel.headers.resolve()}", *uml_kernel.MAKE]
    script = SCRIPT.format(top=TOP, copy=copy, variables=" ".join(variables))
    out = build / "tests" / "load"
    info = uml.run_script(script, out=out)
    assert info.status == 0, (out / "console.log").read_text()
    return {path.name: path.read_text() for path in out.iterdir()}


def _lines(text: str, pattern: str) -> list[str]:
    return re.findall(rf"^{pattern}$", text, re.MULTILINE)


def test_load_offers_the_algorithms(said: dict[str, str]) -> None:
    """What is touched is said first; what is loaded stays."""
    names, release = " ".join(MODULES), uml_kernel.kernel().release
    assert f"make load: inserts {names} into the running kernel {release}\n" in said["loaded"]
    assert _lines(said["loaded"], r"(\w+) loaded") == list(MODULES)
    assert _lines(said["loaded"], r"status \d+") == ["status 0"]
    new = set(said["then"].split()) - set(said["before"].split())
    assert new == {"star", "j", "hstcp_gentle", "compound", "compound_plus"}
    assert _lines(said["again"], r"(\w+) is loaded already") == list(MODULES)
    assert said["again"].endswith("status 0\n")


@pytest.mark.parametrize(
    ("verb", "line"),
    [
        ("used", f"{IN_USE}\n"),
        ("inherited", f"{IN_USE}\n"),  # by a namespace that was made while it was the default
        ("linked", "make unload: sscop is in use by 1 links\n"),
    ],
)
def test_what_is_in_use_is_not_removed(said: dict[str, str], verb: str, line: str) -> None:
    assert line in said[verb]
    assert said[verb].endswith("status 2\n")
    assert " removed\n" not in said[verb]


def test_unload_leaves_nothing(said: dict[str, str]) -> None:
    names = " ".join(MODULES)
    assert f"make unload: removes {names} from the running kernel\n" in said["unloaded"]
    assert _lines(said["unloaded"], r"(\w+) removed") == list(MODULES)
    assert said["unloaded"].endswith("status 0\n")
    assert said["after"] == said["before"]
