# SPDX-License-Identifier: GPL-2.0
"""A run of engine uml has the same result on other machines: here, and in guests of engine qemu
with another CPU, memory size and kernel."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from apogee_lab.engines import qemu, uml
from apogee_lab.engines.supervise import Command
from apogee_lab.engines.work import Work, write_initrd
from apogee_lab.guest.image import overlay_archive, root_images
from apogee_lab.kernels import uml_kernel

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: CPU and memory: one CPU without SSE 4.2 and extended registers, one with AVX2.
MACHINES = {"old": ("qemu64", "2G"), "new": ("Haswell", "3G")}

#: A flow with losses, after programs that load libraries. It is short, because UML is a hundred
#: times slower in an emulator.
SCRIPT = """\
set -e
ip link set lo mtu 1500
modprobe tcp_star
tc qdisc add dev lo root netem delay 10ms rate 1mbit loss 2%
flow recv 5201 recv.json &
sleep 0.1
flow send 127.0.0.1 5201 --cc star --duration 1 send.json
kill $!
wait
tc -s -j qdisc show dev lo >qdisc.json
nstat -asjz >nstat.json
od -An -N8 -tx1 /dev/urandom >random
adjtimex >clock
"""
RESULTS = ("recv.json", "send.json", "qdisc.json", "nstat.json", "random", "clock")


def on_a_machine(folder: Path, command: Command) -> tuple[str, dict[str, bytes]]:
    """The script that starts UML on a machine, and the files it needs there; libc is there."""
    linux, *arguments = command.argv
    library = command.env["LD_PRELOAD"]
    env = [f"{name}={value}" for name, value in command.env.items() if name != "TMPDIR"]
    text = f"""\
chmod +x {linux}
mount -t tmpfs none /dev/shm
cd /uml
env {shlex.join([*env, linux, *arguments])} >$OUT/console
tar -C $OUT -xf results
"""
    files = {path: Path(path).read_bytes() for path in (linux, library)}
    return text, files | {"uml/initrd": (folder / "initrd").read_bytes()}


@pytest.fixture(scope="module")
def here(modules: Path, build: Path) -> Path:
    """The script's results on this machine."""
    out = build / "tests" / "machine-here"
    uml.run_script(SCRIPT, out=out, modules=["tcp_star"], check=True)
    return out


@pytest.mark.deep
@pytest.mark.parametrize("name", MACHINES)
def test_a_run_is_the_same_on_another_machine(
    name: str, here: Path, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, work = uml_kernel.kernel(), Work(tmp_path)
    overlay = overlay_archive(kernel, ["tcp_star"], {"lab/script.sh": SCRIPT.encode()}, tmp_path)
    write_initrd(work.initrd, root_images(kernel), overlay)
    text, files = on_a_machine(tmp_path, uml._start(kernel, 1, work))
    for words in ("_MACHINE", "_REAL_TIME"):
        given = list(getattr(qemu, words))
        for option, value in zip(("-cpu", "-m"), MACHINES[name], strict=True):
            if option in given:
                given[given.index(option) + 1] = value
        monkeypatch.setattr(qemu, words, tuple(given))
    there = build / "tests" / f"machine-{name}"
    qemu.run_script(text, out=there, files=files, realtime=True)
    assert {file: (there / file).read_bytes() for file in RESULTS} == {
        file: (here / file).read_bytes() for file in RESULTS
    }
