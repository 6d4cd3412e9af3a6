# SPDX-License-Identifier: GPL-2.0
"""A guest's images: the distribution's modules, a small root file system, a run's own files.

All shared images are kept in the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import py_compile
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .. import bpf
from ..base import (
    GCC,
    LabError,
    cache_dir,
    call,
    compiled,
    file_hash,
    find_program,
    hold,
    key_of,
    locked,
    mark,
    repo_root,
    write_whole,
)
from ..kernels.kernel import Kernel
from ..modules import module_bytes, module_file
from .cpio import Cpio, add_program, libraries, libraries_or_none, unwinder
from .plugins import guest_files, plugins

#: Modules of the distribution's kernel that the guest may load (their dependencies follow).
STOCK_MODULES = (
    "veth dummy ifb bonding tun 8021q sch_netem sch_prio sch_fq sch_fq_codel sch_cake sch_htb "
    "sch_tbf sch_ingress sch_codel sch_pie sch_red cls_basic cls_bpf cls_matchall cls_u32 "
    "cls_flower act_gact act_mirred em_meta em_u32 tcp_bbr tcp_bic tcp_cdg tcp_dctcp tcp_highspeed "
    "tcp_htcp tcp_hybla tcp_illinois tcp_lp tcp_nv tcp_scalable tcp_vegas tcp_veno tcp_westwood "
    "tcp_yeah tcp_diag inet_diag virtio_pci virtio_blk crc32c_generic crc32c_intel libcrc32c "
    "udp_tunnel ip6_udp_tunnel libchacha20poly1305 libcurve25519 ip_gre ip6_gre sch_teql "
    "sch_plug mptcp_diag act_nat act_pedit act_csum bridge macvlan vxlan pppoe"
).split()

#: Programs of the base image in addition to busybox -> Debian package.
PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "nstat": "iproute2",
    "ethtool": "ethtool",
    "dash": "dash",
}

#: Where tc has its words for ematch, and netem's tables.
EMATCH = ("/etc/iproute2", "/usr/share/iproute2", "/usr/lib/iproute2")
TABLES = ("/usr/lib/tc", "/usr/lib/x86_64-linux-gnu/tc")

#: Optional overlays: name -> programs, package.
EXTRAS = {
    "iperf3": (("iperf3",), "iperf3"),
    "bpftrace": (("bpftrace",), "bpftrace"),
    "bpftool": (("bpftool",), "bpftool"),
    "apogee-bpf": ((), "this project"),
    "hostile": ((), "this project"),
    "shake-quick": (("python3",), "python3"),
}

#: The last line of guest/init before the results are handed to the host.
RESULTS_FOLLOW = "dmesg >$OUT/dmesg.txt\n"
#: The last line of what hands them over.
POWER_OFF = "poweroff -f\n"


def _stock_modules(k: Kernel) -> dict[str, Path]:
    """Wanted modules and their dependencies: path below the module folder -> file."""
    files: dict[str, str] = {}
    needs: dict[str, list[str]] = {}
    for line in (k.modules / "modules.dep").read_text().splitlines():
        path, _, deps = line.partition(":")
        files[Path(path).name.partition(".ko")[0].replace("-", "_")] = path
        needs[path] = deps.split()
    wanted: dict[str, Path] = {}
    own = [name for name, path in files.items() if "/net/ipv4/tcp_" in path]  # also a patch's
    for name in dict.fromkeys([*STOCK_MODULES, *own]):
        for path in [files[name], *needs[files[name]]] if name in files else []:
            wanted[path.removesuffix(".xz")] = k.modules / path
    return wanted


def signed_modules(k: Kernel) -> dict[str, bytes]:
    """The guest's stock modules as the distribution signed them: path in the guest -> contents."""
    return {
        f"lib/modules/{k.release}/{name}": module_bytes(path)
        for name, path in _stock_modules(k).items()
    }


def stage_modules(k: Kernel) -> Path:
    """A small module tree, stripped of debugging symbols, for the guest (below the cache)."""
    stage = k.root / f"stage-{key_of(*STOCK_MODULES)}"
    if (stage / "complete").exists():
        return stage
    with locked("stage"):
        if (stage / "complete").exists():
            return stage
        shutil.rmtree(stage, ignore_errors=True)
        top = stage / "lib" / "modules" / k.release
        strip = find_program("strip", "binutils")
        for name, path in sorted(_stock_modules(k).items()):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_bytes(module_bytes(path))
            call([strip, "--strip-debug", top / name], "strip")
        for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
            if (k.modules / name).exists():
                shutil.copy(k.modules / name, top / name)
        call([find_program("depmod", "kmod"), "-b", stage, k.release], "depmod")
        mark(stage / "complete")
    return stage


def flow_binary(compiler: str = GCC) -> Path:
    """The traffic tool, linked statically."""
    sources = sorted((Path(__file__).parent / "flow").glob("*.c"))
    return compiled("flow", sources, "", ["-static", "-s"], compiler=compiler)


def hostile_binary() -> Path:
    """The receiver that lies, of tests/played."""
    played = repo_root() / "tests" / "played"
    shared = [played / "exchanges" / f"{name}.c" for name in ("clock", "netns", "wire")]
    return compiled("hostile", [*sorted((played / "hostile").glob("*.c")), *shared], "", [])


def guest_init(parts: Sequence[Path]) -> bytes:
    """The guest's first process. A further part that ends by powering off replaces the end that
    hands over the results, others stand in front of that end."""
    whole = parts[0].read_text()
    if len(parts) > 1:
        head, end, tail = whole.partition(RESULTS_FOLLOW)
        if not end:
            raise LabError(f"{parts[0]} has no line '{RESULTS_FOLLOW.strip()}'")
        more = [path.read_text() for path in parts[1:]]
        before = [part for part in more if not part.endswith(POWER_OFF)]
        whole = "".join([head, *before, end, *([tail] if before == more else more[len(before) :])])
    return whole.encode()


def _made_of(programs: Iterable[Path], others: Iterable[Path] = ()) -> str:
    """A hash of these programs with their libraries, of other files, and of what makes an image."""
    makers = [Path(__file__), Path(__file__).with_name("cpio.py")]
    files = [*programs, *others, *makers]
    files += [path for program in programs for path in [*libraries(program), *unwinder(program)]]
    return key_of(*(f"{path.name} {file_hash(path)}" for path in files))


def _kept(image: Path, make: Callable[[], Cpio]) -> Path:
    """An image of the cache, made if it is not there."""
    if not image.exists():
        with locked("images"):
            if not image.exists():
                image.parent.mkdir(parents=True, exist_ok=True)
                write_whole(image, make().bytes())
    hold(image)
    return image


def skeleton(init: Sequence[Path]) -> Cpio:
    """What each guest's initramfs has: folders, console, the shell's name, init of these parts."""
    cpio = Cpio()
    for folder in ("bin", "dev", "etc", "proc", "sys", "run", "tmp", "root", "lab", "out"):
        cpio.folder(folder)
    for path, target in (("sbin", "bin"), ("usr/bin", "../bin"), ("usr/sbin", "../bin")):
        cpio.link(path, target)
    cpio.device("dev/console", 5, 1)
    cpio.device("dev/null", 1, 3)
    cpio.file("init", guest_init(init), 0o755)
    # Not busybox's shell: Debian's build prefers applets to programs of the same name.
    cpio.link("bin/sh", "dash")
    return cpio


def base_image(k: Kernel) -> Path:
    """The initramfs that all runs share: busybox, iproute2, ethtool, flow, stock modules, init."""
    init = [Path(__file__).with_name(name) for name in k.init]
    stage = stage_modules(k)
    programs = [find_program(name, package) for name, package in PROGRAMS.items()]
    busybox = find_program("busybox", "busybox-static")
    flow = flow_binary()
    ematch = [
        p / "ematch_map" for p in map(Path, EMATCH) if (p / "ematch_map").exists()
    ][:1]  # fmt: skip
    tables = sorted(path for folder in TABLES for path in Path(folder).glob("*.dist"))
    made_of = _made_of(programs, [busybox, flow, *plugins().values(), *init, *ematch, *tables])

    def make() -> Cpio:
        if libraries_or_none(busybox):
            raise LabError("busybox needs shared libraries: apt-get install busybox-static")
        cpio = skeleton(init)
        for program in programs:
            add_program(cpio, program)
        cpio.file("bin/flow", flow.read_bytes(), 0o755)
        cpio.file("bin/busybox", busybox.resolve().read_bytes(), 0o755)
        for name, plugin in guest_files().items():
            cpio.file(name, plugin, 0o755)
        for applet in call([busybox, "--list"], "busybox").split():
            cpio.link(f"bin/{applet}", "busybox")
        for words in ematch:
            for path in ("etc/iproute2/ematch_map", "usr/share/iproute2/ematch_map"):
                cpio.file(path, words.read_bytes())
        for path in tables:
            cpio.file(str(path).lstrip("/"), path.read_bytes())
        for path in sorted(stage.rglob("*.ko")):
            cpio.file(str(path.relative_to(stage)), path.read_bytes())
        return cpio

    key = key_of(k.root.name, stage.name, made_of)
    return _kept(cache_dir() / "images" / f"base-{k.release}-{key}.cpio", make)


def extra_image(name: str) -> Path:
    """An optional overlay (``iperf3``, ``bpftrace``) with its libraries."""
    if name not in EXTRAS:
        raise LabError(f"unknown extra '{name}'; choose from: {', '.join(EXTRAS)}")
    names, package = EXTRAS[name]
    own = {"apogee-bpf": bpf.loader, "hostile": hostile_binary}
    programs = [own[name]()] if name in own else [find_program(n, package) for n in names]
    files = _quick_files() if name == "shake-quick" else {}

    def make() -> Cpio:
        cpio = Cpio()
        for program in programs:
            add_program(cpio, program)
            for library in unwinder(program):
                cpio.file(f"lib/{library.name}", library.read_bytes(), 0o755)
        if name == "hostile":
            cpio.link("bin/hostile", programs[0].name)
        for path, file in files.items():
            cpio.file(path, file.read_bytes(), 0o755)
        for path, code in _bytecode(files).items():
            cpio.file(path, code)
        if files:
            cpio.link("bin/shake-quick", "../lib/shake-quick/shake-quick")
        return cpio

    made_of = _made_of(programs, files.values())
    return _kept(cache_dir() / "images" / f"{name}-{made_of}.cpio", make)


def _quick_files() -> dict[str, Path]:
    """shake-quick and what it imports of Python's library: path in the guest -> file."""
    top = repo_root() / "shake" / "quick"
    asks = (
        "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n"
        "import shake_quick.main as quick\n"
        "try: quick.main(['-h'])\n"
        "except SystemExit: print()\n"
        "for one in list(sys.modules.values()): print(getattr(one, '__file__', None) or '')"
    )
    # Isolated: nothing of a virtual environment is taken for the guest's.
    said = call([find_program("python3", "python3"), "-IX", "utf8", "-c", asks, top], "python3")
    found = [Path(line) for line in said.splitlines() if line.startswith("/")]
    files = {str(path).lstrip("/"): path for path in found if top not in path.parents}
    own = [top / "shake-quick", *sorted((top / "shake_quick").glob("*.py"))]
    return files | {f"lib/shake-quick/{path.relative_to(top)}": path for path in own}


def _bytecode(files: dict[str, Path]) -> dict[str, bytes]:
    """What Python writes beside its files; without it each start compiles them."""
    found = {}
    with tempfile.TemporaryDirectory() as tmp:
        for path, file in files.items():
            if file.suffix == ".py":
                py_compile.compile(
                    str(file), f"{tmp}/code", f"/{path}", doraise=True,
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )  # fmt: skip
                code = Path(tmp, "code").read_bytes()
                found[importlib.util.cache_from_source(f"/{path}").lstrip("/")] = code
    return found


def overlay_archive(
    k: Kernel, modules: Sequence[str], files: dict[str, bytes], folder: Path
) -> bytes:
    """The archive of one run: its files and the project's modules, indexed by depmod.

    ``folder`` is the run's, so that nothing is left elsewhere if the lab is killed.
    """
    cpio = Cpio()
    for name, data in sorted(files.items()):
        cpio.file(name, data, 0o755 if data.startswith(b"#!") else 0o644)
    stage = stage_modules(k)
    with tempfile.TemporaryDirectory(prefix="modules-", dir=folder) as tmp:
        top = Path(tmp) / "lib" / "modules" / k.release
        base = stage / "lib" / "modules" / k.release
        shutil.copytree(base, top)
        if modules:
            for index in top.glob("modules.*"):
                if index.name.removeprefix("modules.") not in (
                    "builtin",
                    "builtin.modinfo",
                    "order",
                ):
                    index.unlink()
            strip = find_program("strip", "binutils")
            for name in modules:
                target = top / "updates" / f"{name}.ko"
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(module_bytes(module_file(name, k)))
                call([strip, "--strip-debug", target], "strip")
                cpio.file(str(target.relative_to(tmp)), target.read_bytes())
            call([find_program("depmod", "kmod"), "-b", tmp, k.release], "depmod")
        for index in sorted(top.glob("modules.*")):
            cpio.file(str(index.relative_to(tmp)), index.read_bytes())
    return cpio.bytes()


def root_images(k: Kernel, extras: Sequence[str] = ()) -> list[Path]:
    """The archives of a guest's root file system that are shared by runs."""
    return [base_image(k), *(extra_image(e) for e in sorted(set(extras)))]


def root_key(k: Kernel, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 of all parts of the image that a result depends on."""
    parts = [file_hash(k.vmlinux), *map(file_hash, root_images(k, extras))]
    parts += [f"{name} {file_hash(module_file(name, k))}" for name in sorted(modules)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
