# SPDX-License-Identifier: GPL-2.0
"""Guests of other architectures: Debian's kernel and programs for them, in QEMU's time.

They are for tests that a module works there, not for measuring.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from apogee_lab.base import call, find_program
from apogee_lab.engines.supervise import Bounds, Command, supervise
from apogee_lab.engines.work import RunInfo, Work, collect, keep, working_folder
from apogee_lab.guest import image, plugins
from apogee_lab.guest.cpio import Cpio
from apogee_lab.kernels import foreign_headers, toolchain
from apogee_lab.kernels.kernel import Kernel
from tests import BUILD, ROOT

SUITE = "bookworm"
#: Packages of the guest, and its programs.
PACKAGES = ("busybox-static", "iproute2", "dash")
PROGRAMS = ("bin/ip", "bin/ss", "bin/dash", "bin/busybox")
PRODUCT = ("tcp_star", "tcp_j", "tcp_hstcp_gentle", "tcp_compound_plus", "sscop", "shake")
BOUNDS = Bounds(wall_s=3600, virtual_s=600)


@dataclass(frozen=True)
class Machine:
    """Debian's architecture, and what emulates it."""

    arch: str
    qemu: str
    board: str
    cpu: str

    @property
    def triplet(self) -> str:
        return toolchain.TRIPLETS[self.arch]

    @property
    def compiler(self) -> str:
        return f"{self.triplet}-gcc"


MACHINES = {
    "arm64": Machine("arm64", "qemu-system-aarch64", "virt", "cortex-a53"),
    "armhf": Machine("armhf", "qemu-system-arm", "virt,highmem=off", "cortex-a15"),
}


def built(k: Kernel) -> dict[str, Path]:
    """The product's modules for a kernel, by their names."""
    out = BUILD / "modules" / k.release
    command = [ROOT / "scripts/build-modules", "--product", k.headers, out]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.stem: path for path in out.rglob("*.ko")}


def _libraries(programs: Iterable[Path], folder: Path) -> Iterator[Path]:
    """What programs are linked with, and what that is."""
    readelf = find_program("readelf", "binutils")
    todo, seen = list(programs), set()
    while todo:
        said = call([readelf, "-d", todo.pop()], "readelf")
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
            if name not in seen and not name.startswith("ld-"):
                seen.add(name)
                todo.append(folder / name)
                yield folder / name


def _add_programs(cpio: Cpio, machine: Machine) -> None:
    root = toolchain.fetch(SUITE, *PACKAGES, arch=machine.arch)
    programs = [root / "usr" / name if (root / "usr" / name).exists() else root / name
                for name in PROGRAMS]  # fmt: skip
    for program in programs:
        cpio.file(f"bin/{program.name}", program.resolve().read_bytes(), 0o755)
    libraries = root / "usr/lib" / machine.triplet
    for library in _libraries(programs[:-1], libraries):
        cpio.file(f"lib/{machine.triplet}/{library.name}", library.read_bytes(), 0o755)
    for loader in [*libraries.glob("ld-*"), *(root / "usr/lib").glob("ld-*")]:
        cpio.file(
            f"lib/{loader.name}", (libraries / Path(loader.resolve()).name).read_bytes(), 0o755
        )
    # This machine's has the same applets.
    for applet in call([find_program("busybox", "busybox-static"), "--list"], "busybox").split():
        cpio.link(f"bin/{applet}", "busybox")


def _add_modules(cpio: Cpio, k: Kernel, folder: Path) -> None:
    """The kernel's modules and ours, with their index."""
    files = image.signed_modules(k)
    top = f"lib/modules/{k.release}"
    ours = built(k)
    files |= {f"{top}/updates/{name}.ko": ours[name].read_bytes() for name in PRODUCT}
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        files[f"{top}/{name}"] = (k.modules / name).read_bytes()
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    call([find_program("depmod", "kmod"), "-b", folder, k.release], "depmod")
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        cpio.file(str(path.relative_to(folder)), path.read_bytes())


def _initrd(machine: Machine, k: Kernel, script: str, folder: Path) -> bytes:
    cpio = image.skeleton([Path(image.__file__).with_name("init")])
    cpio.file("lab/script.sh", script.encode())
    cpio.file("bin/flow", image.flow_binary(machine.compiler).read_bytes(), 0o755)
    for name, plugin in plugins.guest_files(machine.compiler).items():
        cpio.file(name, plugin, 0o755)
    _add_programs(cpio, machine)
    _add_modules(cpio, k, folder / "root")
    return cpio.bytes()


def _command(machine: Machine, k: Kernel, work: Work) -> Command:
    cmdline = "console=ttyAMA0 quiet panic=-1 oops=panic cryptomgr.notests=1"
    argv = [
        *(find_program(machine.qemu, "qemu-system-arm"), "-M", machine.board, "-cpu", machine.cpu),
        *("-m", "1G", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-kernel", k.root / "root/boot" / f"vmlinuz-{k.release}", "-initrd", work.initrd),
        *("-append", cmdline, "-chardev", f"file,id=c,path={work.console}"),
        *("-serial", "chardev:c", "-drive"),
        f"file={work.results},if=none,id=d,format=raw,cache=unsafe",
        *("-device", "virtio-blk-pci,drive=d"),
    ]
    return Command("QEMU", list(map(str, argv)), {}, one_cpu=False)


def run_script(machine: Machine, script: str, out: Path) -> RunInfo:
    """Boot a guest with the product's modules, let it run a script, bring back what it leaves."""
    k = foreign_headers.bootable(SUITE, machine.arch)
    with working_folder(out, PRODUCT) as work, tempfile.TemporaryDirectory() as tmp:
        work.initrd.write_bytes(_initrd(machine, k, script, Path(tmp)))
        with work.results.open("wb") as disk:
            disk.truncate(64 << 20)
        info = supervise(_command(machine, k, work), work, BOUNDS)
        collect(work)
        return keep(work, info, out, check=True)
