# SPDX-License-Identifier: GPL-2.0
"""What a guest boots: the distribution's kernel, its modules, a small root file system.

Everything is kept below ``build/cache``. Kernels are fetched with apt from the machine's own
mirrors through a private configuration and unpacked, never installed: neither the machine's apt nor
its kernel is touched, and root is not needed.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from .scenario import module_of

DEFAULT_KERNEL = "6.1"

#: Series that apt can deliver: the Debian suite which carries it.
SERIES = {"6.1": "bookworm", "6.12": "bookworm-backports", "7.3": "trixie-backports"}

#: The release whose compilers scripts/setup installs, and whose programs run on every later one.
NATIVE = "bookworm"

#: Modules of the distribution's kernel that the guest may load (their dependencies follow).
STOCK_MODULES = (
    "veth dummy ifb bonding tun sch_netem sch_prio sch_fq sch_fq_codel sch_htb sch_tbf sch_ingress "
    "sch_codel sch_pie sch_red cls_basic cls_matchall cls_u32 cls_flower act_gact act_mirred "
    "em_meta em_u32 tcp_bbr tcp_bic tcp_cdg tcp_dctcp tcp_highspeed tcp_htcp tcp_hybla "
    "tcp_illinois tcp_lp tcp_nv tcp_scalable tcp_vegas tcp_veno tcp_westwood tcp_yeah tcp_diag "
    "inet_diag virtio_pci virtio_blk crc32c_generic crc32c_intel"
).split()

#: Programs of the base image beside busybox; looked up in the places of Debian's packages.
PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "nstat": "iproute2",
    "ethtool": "ethtool",
    "dash": "dash",
}

#: Optional overlays: name -> programs, package.
EXTRAS = {
    "iperf3": (("iperf3",), "iperf3"),
    "bpftrace": (("bpftrace",), "bpftrace"),
}

#: The line of guest/init after which only its results are brought out.
RESULTS_FOLLOW = "dmesg >$OUT/dmesg.txt\n"

_BIN_DIRS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")


class LabError(Exception):
    """Something the user can mend; the text is one line."""


def repo_root() -> Path:
    """Top of the source tree."""
    return Path(__file__).resolve().parent.parent.parent


def cache_dir() -> Path:
    """Where kernels and images are kept (``APOGEE_CACHE`` or ``build/cache``)."""
    return Path(os.environ.get("APOGEE_CACHE") or repo_root() / "build" / "cache")


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Only one process at a time prepares the thing of this name."""
    path = cache_dir() / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def find_program(name: str, package: str) -> Path:
    """Path of a host program; a clear line names the package that brings it."""
    for folder in _BIN_DIRS:
        path = Path(folder, name)
        if path.exists():
            return path
    found = shutil.which(name)
    if found:
        return Path(found)
    raise LabError(f"{name} is not installed: apt-get install {package}")


def call(argv: Sequence[str | Path], what: str, **kwargs: object) -> str:
    """Run a program, return its standard output; failure is one line with its last words."""
    env = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: PLW1510
            [str(a) for a in argv], capture_output=True, text=True, env=env, **kwargs
        )
    except FileNotFoundError:
        raise LabError(f"{what}: {argv[0]} is not installed") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        raise LabError(f"{what}: {lines[-1]}")
    return done.stdout


# --- kernels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel: its release (``uname -r``) and where its parts are.

    An engine with another kind of kernel says in a subclass what differs.
    """

    release: str
    root: Path
    #: Arguments for make when modules are built against it.
    make: ClassVar[tuple[str, ...]] = ()
    #: What the guest's first process is made of, see guest_init().
    init: ClassVar[tuple[str, ...]] = ("init",)

    @property
    def vmlinux(self) -> Path:
        """The uncompressed kernel, bootable by PVH."""
        return self.root / "vmlinux"

    @property
    def modules(self) -> Path:
        """``/lib/modules/RELEASE`` of the package."""
        for top in ("lib", "usr/lib"):
            path = self.root / "root" / top / "modules" / self.release
            if path.is_dir():
                return path
        raise LabError(f"no modules of {self.release} below {self.root}: remove that folder")

    @property
    def built(self) -> Path:
        """Where this project's modules lie as they were built for it."""
        return repo_root() / "build" / "modules" / self.release

    @property
    def headers(self) -> Path:
        """The KDIR to build modules against."""
        return self.root / "root" / "usr" / "src" / f"linux-headers-{self.release}"

    @property
    def buildable(self) -> bool:
        """Whether modules can be built for it."""
        return True

    def installed(self, name: str) -> Path | None:
        """One of the project's modules that is installed beside the kernel's; a guest has none."""
        return None


def _series(name: str) -> str:
    """``6.1.0-56-amd64`` and ``6.1`` both belong to ``6.1``."""
    match = re.match(r"\d+\.\d+", name)
    series = match.group() if match else ""
    if series not in SERIES:
        raise LabError(
            f"unknown kernel {name}: one of {', '.join(SERIES)} or a full release of them"
        )
    return series


def _cached_kernels(name: str) -> list[Kernel]:
    """Complete kernels in the cache that answer to this name, the newest first."""

    def version(kernel: Kernel) -> list[int]:
        return [int(n) for n in re.findall(r"\d+", kernel.release)]

    found = []
    for done in (cache_dir() / "kernels").glob("*/complete"):
        release = done.parent.name
        if release == name or (name in SERIES and _series_or_none(release) == name):
            found.append(Kernel(release, done.parent))
    return sorted(found, key=version, reverse=True)


def _series_or_none(release: str) -> str | None:
    try:
        return _series(release)
    except LabError:
        return None


@lru_cache
def kernel(name: str = DEFAULT_KERNEL) -> Kernel:
    """The kernel of this name (a series or a full release), fetched if the cache has none."""
    _series(name)
    found = _cached_kernels(name)
    if found:
        return found[0]
    with locked("kernels"):
        found = _cached_kernels(name)
        return found[0] if found else _fetch_kernel(name)


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


def release_of(suite: str) -> str:
    """The Debian release that a suite belongs to: ``trixie`` for ``trixie-backports``."""
    return suite.removesuffix("-backports")


def write_sources(folder: Path, suite: str) -> None:
    """A private sources.list: the machine's mirrors, the suite of the wanted kernel."""
    base = release_of(suite)
    keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    options = f" [signed-by={keyring}]" if keyring.exists() else ""
    lines = []
    for uri, kind in _mirrors():
        if suite == "sid" and kind != "main":
            continue  # its packages are the newest anyhow
        name = base if kind == "main" else f"{base}-{kind}"
        lines.append(f"deb{options} {uri} {name} main")
        if kind == "main" and suite != base:
            lines.append(f"deb{options} {uri} {suite} main")
    (folder / "sources.list").write_text("\n".join(dict.fromkeys(lines)) + "\n")


def _apt_options(folder: Path, arch: str) -> list[str]:
    """apt options that keep every file of its work below a folder of ours."""
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


def updated_apt(suite: str, arch: str = "amd64") -> list[str]:
    """apt options for a suite, its package lists fetched into the cache.

    A mirror that is being updated lacks some list for a while: the others may do.
    """
    apt = cache_dir() / "apt" / (suite if arch == "amd64" else f"{suite}-{arch}")
    apt.mkdir(parents=True, exist_ok=True)
    write_sources(apt, suite)
    options = _apt_options(apt, arch)
    if suite.endswith("-backports"):
        options += ["-t", suite]
    try:
        call(["apt-get", *options, "-q", "update"], "apt-get update")
    except LabError as error:
        print(f"{suite} for {arch}: {error}; going on with the lists there are", file=sys.stderr)
    return options


def download(options: list[str], packages: Sequence[str], folder: Path) -> None:
    """Download packages into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    call(["apt-get", *options, "-q", "download", *packages], "apt-get download", cwd=folder)


def headers_packages(options: list[str], release: str) -> list[str]:
    """The packages that a header tree consists of."""
    package = f"linux-headers-{release}"
    parts = r"linux-headers-.*-common|linux-kbuild-.*"
    return [package, *(p for p in depends(options, package) if re.fullmatch(parts, p))]


def fetch_package(package: str, folder: Path, series: str = DEFAULT_KERNEL) -> Path:
    """Download a package of a series' suite into a folder; its file."""
    download(updated_apt(SERIES[series]), [package], folder)
    return next(folder.glob(f"{package}_*.deb"))


def _fetch_kernel(name: str) -> Kernel:
    """Download image, headers and build tools, unpack them, take the kernel out of its bzImage."""
    suite = SERIES[_series(name)]
    print(f"fetching kernel {name} ({suite})", file=sys.stderr, flush=True)
    options = updated_apt(suite)
    release = name
    if name in SERIES:
        images = [p for p in depends(options, "linux-image-amd64") if p.startswith("linux-image-")]
        if not images:
            raise LabError(f"{suite} has no linux-image-amd64")
        release = images[0].removeprefix("linux-image-").removesuffix("-unsigned")
    image = f"linux-image-{release}"
    # Debian 13's backports are split.
    parts = [p for p in depends(options, image) if re.match(r"linux-(binary|modules)-", p)]
    debs = cache_dir() / "apt" / suite / "debs" / release
    download(options, [image, *parts, *headers_packages(options, release)], debs)
    target = cache_dir() / "kernels" / release
    shutil.rmtree(target, ignore_errors=True)
    for deb in sorted(debs.glob("*.deb")):
        unpack(deb, target / "root")
    _prepare_kernel(Kernel(release, target), _series(name))
    shutil.rmtree(debs)
    return Kernel(release, target)


def unpack(deb: Path, root: Path) -> None:
    """Unpack a package without what no guest needs (documents, drivers of real hardware).

    Links to folders that are there already are followed.
    """
    root.mkdir(parents=True, exist_ok=True)
    keep = r"net|block|virtio|char/virtio"
    lister = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
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
    done = subprocess.run(
        [
            "tar",
            "-C",
            str(root),
            "--keep-directory-symlink",
            "-xf",
            "-",
            *(f"--exclude={e}" for e in excludes),
        ],
        stdin=lister.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    if lister.wait() or done.returncode:
        raise LabError(
            f"unpacking {deb.name}: {(done.stderr.strip() or 'damaged').splitlines()[-1]}"
        )


def relocate(headers: Path) -> None:
    """Make a header tree work where it lies."""
    makefile = headers / "Makefile"
    here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
    makefile.write_text(re.sub(r"/usr/src/", f"{here}../", makefile.read_text()))


def _prepare_kernel(k: Kernel, series: str) -> None:
    """vmlinux, module dependencies and a header tree that can be built against."""
    from . import toolchain

    top = k.root / "root"
    image = top / "boot" / f"vmlinuz-{k.release}"
    if not image.exists():
        image = k.modules / "vmlinuz"
    k.vmlinux.write_bytes(extract_vmlinux(image.read_bytes()))
    image.unlink()
    for extra in ("lib/linux-kbuild", "usr/share"):
        shutil.rmtree(top / extra, ignore_errors=True)
    relocate(k.headers)
    if release_of(SERIES[series]) != NATIVE:
        toolchain.equip(k.headers, series, "amd64")
    base = k.modules.parent.parent.parent
    call([find_program("depmod", "kmod"), "-b", base, k.release], "depmod")
    (k.root / "complete").touch()


def extract_vmlinux(image: bytes) -> bytes:
    """The ELF kernel inside a bzImage: the payload that its header points at, decompressed."""
    setup = (image[0x1F1] or 4) + 1
    offset = setup * 512 + int.from_bytes(image[0x248:0x24C], "little")
    length = int.from_bytes(image[0x24C:0x250], "little")
    payload = image[offset : offset + length]
    if payload.startswith(b"\xfd7zXZ"):
        elf = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x1f\x8b"):
        elf = gzip.decompress(payload[:-4])
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        zstd = find_program("zstd", "zstd")
        elf = subprocess.run(
            [str(zstd), "-dcq"], input=payload, capture_output=True, check=False
        ).stdout
    else:
        raise LabError("the kernel image is compressed in an unknown way")
    if not elf.startswith(b"\x7fELF"):
        raise LabError("the kernel image holds no ELF file")
    return elf


# --- cpio archives ----------------------------------------------------------------------------


class Cpio:
    """A newc archive built in memory, the same bytes for the same contents."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names: set[str] = set()
        self._inode = 0

    def _entry(
        self, name: str, mode: int, data: bytes = b"", rdev: tuple[int, int] = (0, 0)
    ) -> None:
        self._inode += 1
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        self._parts.append(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def folder(self, name: str) -> None:
        """A folder and its parents."""
        name = name.strip("/")
        if not name or name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """A regular file."""
        name = name.strip("/")
        if name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name: str, target: str) -> None:
        """A symbolic link."""
        name = name.strip("/")
        if name in self._names:
            return
        self.folder(str(Path(name).parent).strip("."))
        self._names.add(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        self.folder(str(Path(name.strip("/")).parent))
        self._entry(name.strip("/"), stat.S_IFCHR | 0o600, rdev=(major, minor))

    def bytes(self) -> bytes:
        """The finished archive; several may follow each other in one initrd."""
        self._entry("TRAILER!!!", 0)
        data = b"".join(self._parts)
        self._parts.pop()
        return data + b"\0" * (-len(data) % 512)


def libraries(program: Path) -> list[Path]:
    """Shared libraries and loader of a program, as ldd lists them."""
    text = call(["ldd", program], f"libraries of {program.name}")
    return [Path(p) for p in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.M)]


def unwinder(program: Path) -> list[Path]:
    """What libc loads by itself when a thread is cancelled, as iperf3 does since 3.16.

    It lies beside libc, whose package depends on it, and ldd doesn't list it.
    """
    beside = [p.with_name("libgcc_s.so.1") for p in libraries(program) if p.name == "libc.so.6"]
    return [path for path in beside if path.exists()]


def _add_program(cpio: Cpio, program: Path) -> None:
    cpio.file(f"bin/{program.name}", program.resolve().read_bytes(), 0o755)
    for library in libraries(program):
        folder = "lib64" if library.name.startswith("ld-") else "lib"
        cpio.file(f"{folder}/{library.name}", library.resolve().read_bytes(), 0o755)


# --- images -----------------------------------------------------------------------------------


def module_bytes(path: Path) -> bytes:
    """A module as the kernel takes it, its signature included; packages may compress it by xz."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def _stock_modules(k: Kernel) -> dict[str, Path]:
    """Wanted modules and what they depend on: path below the module folder -> file."""
    files: dict[str, str] = {}
    needs: dict[str, list[str]] = {}
    for line in (k.modules / "modules.dep").read_text().splitlines():
        path, _, deps = line.partition(":")
        files[Path(path).name.partition(".ko")[0].replace("-", "_")] = path
        needs[path] = deps.split()
    wanted: dict[str, Path] = {}
    for name in STOCK_MODULES:
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
    key = hashlib.sha256(" ".join(STOCK_MODULES).encode()).hexdigest()[:12]
    stage = k.root / f"stage-{key}"
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
        (stage / "complete").touch()
    return stage


def _compiled(source: Path, suffix: str, flags: Sequence[str]) -> Path:
    """What gcc makes of a C file, compiled again when the file has changed."""
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    binary = cache_dir() / f"{source.stem}-{key}{suffix}"
    if binary.exists():
        return binary
    with locked(source.stem):
        if not binary.exists():
            part = binary.with_name(binary.name + ".part")
            gcc = find_program("gcc", "gcc libc6-dev")
            call([gcc, "-O2", "-Wall", *flags, "-o", part, source], f"compiling {source.name}")
            part.rename(binary)
    return binary


def flow_binary() -> Path:
    """The traffic tool, linked statically."""
    return _compiled(Path(__file__).parent / "guest" / "flow.c", "", ["-static", "-s"])


def turns_library() -> Path:
    """What is preloaded into QEMU (engines/turns.c)."""
    source = Path(__file__).parent / "engines" / "turns.c"
    return _compiled(source, ".so", ["-shared", "-fPIC", "-s"])


def uml_library() -> Path:
    """What is preloaded into User-Mode Linux (engines/umlhost.c)."""
    source = Path(__file__).parent / "engines" / "umlhost.c"
    return _compiled(source, ".so", ["-shared", "-fPIC", "-s"])


def guest_init(parts: Sequence[Path]) -> bytes:
    """The guest's first process. A second part replaces the end, which brings out the results."""
    whole = parts[0].read_text()
    if len(parts) > 1:
        head, end, _ = whole.partition(RESULTS_FOLLOW)
        if not end:
            raise LabError(f"{parts[0]} has no line '{RESULTS_FOLLOW.strip()}'")
        whole = head + end + parts[1].read_text()
    return whole.encode()


def _sources_stamp(paths: Iterable[Path]) -> str:
    """Changes when one of these files changes."""
    digest = hashlib.sha256()
    for path in paths:
        info = path.stat()
        digest.update(f"{path} {info.st_size} {info.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def base_image(k: Kernel) -> Path:
    """The initramfs every run shares: busybox, iproute2, ethtool, flow, stock modules, init."""
    init = [Path(__file__).parent / "guest" / name for name in k.init]
    stage = stage_modules(k)
    programs = [find_program(name, package) for name, package in PROGRAMS.items()]
    busybox = find_program("busybox", "busybox-static")
    flow = flow_binary()
    ematch = [
        p
        for p in map(Path, ("/etc/iproute2", "/usr/share/iproute2", "/usr/lib/iproute2"))
        if (p / "ematch_map").exists()
    ]
    sources = [*programs, busybox, flow, *init, stage / "complete", Path(__file__)]
    image = cache_dir() / "images" / f"base-{k.release}-{_sources_stamp(sources)}.cpio"
    if image.exists():
        return image
    with locked("images"):
        if image.exists():
            return image
        if _libraries_or_none(busybox):
            raise LabError("busybox needs shared libraries: apt-get install busybox-static")
        cpio = Cpio()
        for folder in ("bin", "dev", "etc", "proc", "sys", "run", "tmp", "root", "lab", "out"):
            cpio.folder(folder)
        for path, target in (("sbin", "bin"), ("usr/bin", "../bin"), ("usr/sbin", "../bin")):
            cpio.link(path, target)
        cpio.device("dev/console", 5, 1)
        cpio.device("dev/null", 1, 3)
        cpio.file("init", guest_init(init), 0o755)
        for program in programs:
            _add_program(cpio, program)
        # Not busybox's shell: Debian's prefers its own applets to the programs of that name.
        cpio.link("bin/sh", "dash")
        cpio.file("bin/flow", flow.read_bytes(), 0o755)
        cpio.file("bin/busybox", busybox.resolve().read_bytes(), 0o755)
        for applet in call([busybox, "--list"], "busybox").split():
            cpio.link(f"bin/{applet}", "busybox")
        for folder in ematch[:1]:
            for path in ("etc/iproute2/ematch_map", "usr/share/iproute2/ematch_map"):
                cpio.file(path, (folder / "ematch_map").read_bytes())
        for path in sorted(stage.rglob("*.ko")):
            cpio.file(str(path.relative_to(stage)), path.read_bytes())
        image.parent.mkdir(parents=True, exist_ok=True)
        part = image.with_suffix(".part")
        part.write_bytes(cpio.bytes())
        part.rename(image)
    return image


def _libraries_or_none(program: Path) -> list[Path]:
    try:
        return libraries(program)
    except LabError:
        return []


def extra_image(name: str) -> Path:
    """An optional overlay (``iperf3``, ``bpftrace``) with its libraries."""
    if name not in EXTRAS:
        raise LabError(f"unknown extra {name}: one of {', '.join(EXTRAS)}")
    names, package = EXTRAS[name]
    programs = [find_program(n, package) for n in names]
    image = cache_dir() / "images" / f"{name}-{_sources_stamp([*programs, Path(__file__)])}.cpio"
    if image.exists():
        return image
    with locked("images"):
        if not image.exists():
            cpio = Cpio()
            for program in programs:
                _add_program(cpio, program)
                for library in unwinder(program):
                    cpio.file(f"lib/{library.name}", library.read_bytes(), 0o755)
            image.parent.mkdir(parents=True, exist_ok=True)
            part = image.with_suffix(".part")
            part.write_bytes(cpio.bytes())
            part.rename(image)
    return image


# --- our modules ------------------------------------------------------------------------------


def _own_folders(top: Path) -> list[Path]:
    """Where the project's modules are, below the source tree or what was built from it."""
    return [top, *sorted(folder.parent for folder in top.glob("tests/*/Kbuild"))]


def is_own(name: str) -> bool:
    """Whether a module of this name is built from this source tree."""
    return any((folder / f"{name}.c").exists() for folder in _own_folders(repo_root()))


def own_modules(ccs: Iterable[str]) -> list[str]:
    """Modules of this project among the congestion controls a run uses, in a fixed order."""
    return sorted({module_of(cc) for cc in ccs if is_own(module_of(cc))})


def module_file(name: str, k: Kernel) -> Path:
    """The .ko of one of the project's modules, as `make modules` left it for this kernel; else one
    that is installed."""
    if not is_own(name):
        raise LabError(f"there is no module {name} in this project")
    for folder in _own_folders(k.built):
        if (folder / f"{name}.ko").exists():
            return folder / f"{name}.ko"
    installed = k.installed(name)
    if installed:
        return installed
    raise LabError(f"{name}.ko is not built for {k.release}: make modules KDIR={k.headers}")


def overlay(k: Kernel, modules: Sequence[str], files: dict[str, bytes]) -> bytes:
    """The archive of one run: its files and the project's modules with their dependencies."""
    cpio = Cpio()
    for name, data in sorted(files.items()):
        cpio.file(name, data, 0o755 if data.startswith(b"#!") else 0o644)
    stage = stage_modules(k)
    with tempfile.TemporaryDirectory(prefix="apogee-") as tmp:
        top = Path(tmp) / "lib" / "modules" / k.release
        base = stage / "lib" / "modules" / k.release
        shutil.copytree(
            base, top, copy_function=os.link if _same_device(base, tmp) else shutil.copy
        )
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
                call([strip, "--strip-debug", "-o", target, module_file(name, k)], "strip")
                cpio.file(str(target.relative_to(tmp)), target.read_bytes())
            call([find_program("depmod", "kmod"), "-b", tmp, k.release], "depmod")
        for index in sorted(top.glob("modules.*")):
            cpio.file(str(index.relative_to(tmp)), index.read_bytes())
    return cpio.bytes()


def _same_device(a: Path, b: str) -> bool:
    return a.stat().st_dev == os.stat(b).st_dev


@lru_cache
def _file_hash(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001
    return hashlib.sha256(path.read_bytes()).hexdigest()


def file_hash(path: Path) -> str:
    """sha256 of a file, computed once per version of it."""
    info = path.stat()
    return _file_hash(path, info.st_size, info.st_mtime_ns)


def root_images(k: Kernel, extras: Sequence[str] = ()) -> list[Path]:
    """The archives of a guest's root file system that its runs share."""
    return [base_image(k), *(extra_image(e) for e in sorted(set(extras)))]


def image_key(k: Kernel, modules: Sequence[str], extras: Sequence[str] = ()) -> str:
    """sha256 over everything of the image that a result depends on."""
    parts = [file_hash(k.vmlinux), *map(file_hash, root_images(k, extras))]
    parts += [f"{name} {file_hash(module_file(name, k))}" for name in sorted(modules)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def congestion_controls(k: Kernel) -> set[str]:
    """Names the kernel offers, without this project's."""
    names = {p.name.partition(".ko")[0] for p in (k.modules / "kernel/net/ipv4").glob("tcp_*.ko*")}
    return {n.removeprefix("tcp_") for n in names if n not in ("tcp_diag",)} | {"reno", "cubic"}


def main(argv: Sequence[str]) -> int:
    """``python3 -m apogee_lab.images kdir|release|prepare [KERNEL]``, ``deb PACKAGE FOLDER``.

    Used by the Makefile and its scripts; each prints one line, ``deb`` the file's path.
    ``sources SUITE FOLDER`` writes a sources.list of the machine's mirrors for another suite.
    """
    if (
        not argv
        or argv[0] not in ("kdir", "release", "prepare", "deb", "sources")
        or (len(argv) != 3 if argv[0] in ("deb", "sources") else len(argv) > 2)
    ):
        print(
            "usage: images kdir|release|prepare [KERNEL], images deb PACKAGE FOLDER, "
            "images sources SUITE FOLDER",
            file=sys.stderr,
        )
        return 2
    try:
        if argv[0] == "sources":
            write_sources(Path(argv[2]), argv[1])
            print(Path(argv[2], "sources.list"))
            return 0
        if argv[0] == "deb":
            print(fetch_package(argv[1], Path(argv[2])))
            return 0
        k = kernel(argv[1] if len(argv) > 1 else DEFAULT_KERNEL)
        if argv[0] == "prepare":
            base_image(k)
    except LabError as error:
        print(f"images: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"images: {error.filename or ''}: {error.strerror}", file=sys.stderr)
        return 2
    print(k.headers if argv[0] == "kdir" else k.release)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
