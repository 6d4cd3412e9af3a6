# SPDX-License-Identifier: GPL-2.0
"""What `make install`, `load`, `dkms` and `prove-package` say when they cannot do it.

They run from a copy of the sources, with programs in front of the real ones where they would ask or
touch this machine. What they do when they can is scripts/prove-package's matter.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

RELEASE = "0.0.0-none"  # a kernel that no machine has
BUILDS = "modules:\n\t@:\n"


class Machine:
    """A copy of the tree and a PATH whose first folder holds the programs that are replaced."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree, self.bin, self.kdir = folder / "tree", folder / "bin", folder / "kdir"
        shutil.copytree(root / "scripts", self.tree / "scripts")
        shutil.copytree(root / "debian", self.tree / "debian")
        for source in (root / "Kbuild", *root.glob("tcp_*.c")):
            shutil.copy(source, self.tree)
        self.bin.mkdir()
        self.program("id", "echo 0")
        self.program("uname", f"[ $1 = -r ] && echo {RELEASE} || echo x86_64")

    def program(self, name: str, script: str) -> None:
        """Put a shell script in front of a program."""
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def headers(self, makefile: str = BUILDS, release: str = RELEASE) -> None:
        """A kernel's build directory whose build does what the makefile says."""
        for name, text in {
            "include/config/kernel.release": f"{release}\n",
            "include/generated/utsrelease.h": f'#define UTS_RELEASE "{release}"\n',
            "Makefile": makefile,
        }.items():
            (self.kdir / name).parent.mkdir(parents=True, exist_ok=True)
            (self.kdir / name).write_text(text)

    def run(self, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run a script of the tree with the programs that are replaced."""
        env = os.environ | {"PATH": f"{self.bin}:{os.environ['PATH']}"}
        return subprocess.run(
            [self.tree / "scripts" / script, *map(str, arguments)],
            capture_output=True, text=True, env=env, check=False,
        )  # fmt: skip

    def fails(self, script: str, *arguments: object) -> str:
        """The last line of what the script says; it must fail."""
        done = self.run(script, *arguments)
        assert done.returncode in (1, 2), done.stdout + done.stderr
        return done.stderr.splitlines()[-1]


@pytest.fixture
def machine(root: Path, tmp_path: Path) -> Machine:
    return Machine(root, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        *(f"host-modules {verb} /none" for verb in ("install", "uninstall", "load", "unload")),
        *("dkms install", "dkms remove", "prove-package bookworm"),
    ],
)
def test_without_root(machine: Machine, words: str) -> None:
    machine.program("id", "echo 1000")
    said = machine.fails(*words.split())
    assert re.search("needs root.*; run it with sudo or as root", said)


@pytest.mark.parametrize("verb", ["install", "load"])
def test_without_headers(machine: Machine, verb: str) -> None:
    line = machine.fails("host-modules", verb, machine.kdir)
    assert f"apt-get install linux-headers-{RELEASE}, or set KDIR" in line


def test_headers_of_another_or_no_kernel(machine: Machine) -> None:
    machine.headers()
    line = machine.fails("host-modules", "install", machine.kdir)
    assert f"belongs to {RELEASE}, which is not installed here: KDIR must be the headers" in line
    machine.headers(release="0.1-b")
    line = machine.fails("host-modules", "load", machine.kdir)
    assert f"0.1-b, but {RELEASE} is running: leave out KDIR, or boot 0.1-b" in line
    shutil.rmtree(machine.kdir / "include")
    line = machine.fails("host-modules", "load", machine.kdir)
    assert f"is not a kernel build directory; install linux-headers-{RELEASE} or" in line


def test_uninstall_means_the_kernel_that_was_named(machine: Machine) -> None:
    """Even if its headers are gone."""
    for kdir, told in {
        "/lib/modules/0.9/build": "nothing is installed in /lib/modules/0.9/updates/apogee",
        "/typo": "/typo names no kernel: KDIR=/lib/modules/RELEASE/build",
    }.items():
        assert machine.fails("host-modules", "uninstall", kdir).endswith(told)


def test_modules_that_only_tests_take_are_not_built_to_load(machine: Machine) -> None:
    machine.headers("modules:\n\t@case $(M) in */tests/*) exit 1;; esac\n")
    machine.program("insmod", "exit 0")
    only = machine.tree / "tests" / "only"
    only.mkdir(parents=True)
    (only / "Kbuild").touch()
    done = machine.run("host-modules", "load", machine.kdir)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tcp_j loaded" in done.stdout.splitlines()
    assert machine.run("build-modules", machine.kdir, machine.tree / "out").returncode == 1


def test_make_is_asked_again_when_something_has_changed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources, also old ones in another place, what a kernel is like, what is asked for, and a
    module that is gone."""
    machine.headers("modules:\n\t@echo built >>$(M)/log; touch $(M)/tcp_a.ko\n")
    out, config = machine.kdir.parent / "out x", machine.kdir / "include" / "config" / "auto.conf"
    config.touch()
    log = out / "log"

    def builds(*arguments: str) -> int:
        before = len(log.read_text().split()) if log.exists() else 0
        done = machine.run("build-modules", machine.kdir, out, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return len(log.read_text().split()) - before

    assert [builds(), builds()] == [1, 0]
    assert [builds("W=1"), builds("W=1")] == [1, 0]
    source = machine.tree / "include" / "apogee" / "star.h"
    source.parent.mkdir(parents=True)
    killed, old = out / ".building", machine.kdir.parent / "tcp_old.c"
    old.touch()
    os.utime(old, (1e9, 1e9))
    for change in (source.touch, (machine.tree / "tcp_j.c").touch, config.touch,
                   (out / "tcp_a.ko").unlink, killed.touch,
                   lambda: old.rename(machine.tree / "tcp_old.c"),
                   lambda: (machine.tree / "tcp_old.c").unlink()):  # fmt: skip
        change()
        assert [builds("W=1"), builds("W=1")] == [1, 0], change
    monkeypatch.setenv("KCFLAGS", "-O3")
    assert [builds("W=1"), builds("W=1")] == [1, 0]
    machine.headers("modules:\n\t@exit 1\n")
    (machine.tree / "tcp_j.c").touch()
    for _ in range(2):
        assert machine.run("build-modules", machine.kdir, out, "W=1").returncode == 1
    machine.headers("modules:\n\t@echo built >>$(M)/log; touch $(M)/tcp_a.ko\n")
    assert builds("W=1") == 1


def test_headers_that_come_change_or_go_are_seen(machine: Machine) -> None:
    """Of a kernel that is upgraded in place, in each folder where a kernel may have them."""
    machine.headers()
    common = machine.kdir.parent / "linux-headers-0-common"
    makefile = "modules:\n\t@echo built >>$(M)/log; touch $(M)/tcp_a.ko\n"
    (machine.kdir / "Makefile").write_text(f"{makefile}include {common}/Makefile\n")
    common.mkdir()
    (common / "Makefile").touch()
    log = machine.kdir.parent / "out" / "log"
    built = 0
    for folder in (machine.kdir, machine.kdir / "source", common):
        header = folder / "include" / "net" / "gso.h"
        header.parent.mkdir(parents=True)
        for change in (header.touch, lambda one=header: one.write_text("x"), header.unlink):
            change()
            for _ in range(2):
                done = machine.run("build-modules", machine.kdir, log.parent)
                assert (done.returncode, done.stderr) == (0, "")
            built += 1
            assert log.read_text().split() == ["built"] * built, (folder, change)


def test_files_of_others_are_left_alone(machine: Machine) -> None:
    """A folder with other files is not built in; in one that was, only what a build made goes."""
    machine.headers("modules:\n\t@touch $(M)/tcp_a.ko $(M)/tcp_a.o $(M)/modules.order\n")
    others = machine.kdir.parent / "others"
    others.mkdir()
    (others / "mine.o").write_text("mine")
    (others / "gone").symlink_to("/none")
    line = machine.fails("build-modules", machine.kdir, others)
    assert line == f"build-modules: {others} has other files: name a new or an empty folder"
    assert sorted(path.name for path in others.iterdir()) == ["gone", "mine.o"]
    out = machine.kdir.parent / "out"
    assert machine.run("build-modules", machine.kdir, out).returncode == 0
    (out / ".building").touch()  # as of a build that was killed
    os.utime(out / ".building", (1e9, 1e9))
    mine = [out / "notes.txt", out / "sub" / "x.o", out / "mine.ko", out / "gone"]
    mine[1].parent.mkdir()
    for path in mine[:-1]:
        path.write_text("mine")
    mine[-1].symlink_to("/none")
    old = machine.tree / "tcp_j.c"
    for change in (lambda: None, lambda: os.utime(old, (1e9, 1e9))):
        change()
        assert machine.run("build-modules", machine.kdir, out).returncode == 0
        assert all(path.is_symlink() or path.read_text() == "mine" for path in mine), change


def test_a_build_that_fails_is_made_again(machine: Machine) -> None:
    """Also with what was asked before it: the modules may be those of the one that failed."""
    machine.headers("modules:\n\t@echo $(W) >>$(M)/log; touch $(M)/tcp_a.ko; [ $(W) = 0 ]\n")
    out = machine.kdir.parent / "out"
    asked = [("W=0", 0), ("W=1", 1), ("W=0", 0)]
    assert [
        machine.run("build-modules", machine.kdir, out, word).returncode for word, _ in asked
    ] == [status for _, status in asked]
    again = (out / "log").read_text().split()
    assert (again[0], {*again[1:-1]}, again[-1]) == ("0", {"1"}, "0"), "once more, then one by one"


def test_a_kernel_that_is_named_from_where_one_is(machine: Machine) -> None:
    machine.headers("modules:\n\t@touch $(M)/tcp_a.ko\n")
    out = machine.kdir.parent / "out"
    done = machine.run("build-modules", os.path.relpath(machine.kdir), out)
    assert (done.returncode, (out / "tcp_a.ko").exists()) == (0, True), done.stderr


def test_a_link_to_another_kernel_is_another_kernel(machine: Machine) -> None:
    machine.headers("modules:\n\t@echo built >>$(M)/log; touch $(M)/tcp_a.ko\n")
    out, link = machine.kdir.parent / "out", machine.kdir.parent / "build"
    other = shutil.copytree(machine.kdir, machine.kdir.parent / "other")
    for kdir in (machine.kdir, other):
        link.unlink(missing_ok=True)
        link.symlink_to(kdir)
        for _ in range(2):
            assert machine.run("build-modules", link, out).returncode == 0
    assert (out / "log").read_text().split() == ["built"] * 2


@pytest.mark.parametrize("verb", ["install", "remove"])
@pytest.mark.parametrize("status", ["installed", "half-configured", "unpacked"])
def test_dkms_beside_the_package(machine: Machine, verb: str, status: str) -> None:
    """One whose build has failed is half-configured; its sources were removed under it."""
    machine.program("dkms", "echo apogee/0.6.0: added")
    machine.program("dpkg-query", f"echo {status}")
    assert machine.fails("dkms", verb).endswith("has modules: apt-get purge 'apogee-*dkms'")


def test_dkms_fails_if_a_kernel_has_no_modules(machine: Machine, tmp_path: Path) -> None:
    """The others are built; all that it writes is below a folder of this test."""
    script = machine.tree / "scripts" / "dkms"
    text = script.read_text()
    for folder in ("/lib/modules", "/usr/src"):
        text = text.replace(f"{folder}/", f"{tmp_path}{folder}/")
    script.write_text(text)
    old = tmp_path / "lib/modules/1.0/updates/dkms/tcp_j.ko.xz"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    machine.program("depmod", "exit 0")
    for release in ("1.0", "2.0"):
        for file in ("modules.builtin", "build/Makefile"):
            path = tmp_path / "lib" / "modules" / release / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    for name in ("include", "shake"):
        (machine.tree / name).mkdir(exist_ok=True)
    (machine.tree / "dkms.conf").touch()
    machine.program("dpkg-query", "exit 1")
    for name in ("ip-plugins", "shake-quick-files"):
        (machine.tree / "scripts" / name).write_text("#!/bin/sh\n")
    (machine.tree / "shake" / "Kbuild").touch()
    (machine.tree / "shake" / "main.c").touch()
    # The old version is registered, and takes its modules with it.
    gone = f"status) echo apogee/0.1: added;; remove) rm -f {old};;"
    machine.program("dkms", f'case $1 in {gone} esac; echo "$@"; [ "$1 $2 $4" != "install '
                    'apogee-tcp/$(sed -n "1s/.*(\\(.*\\)).*/\\1/p" '
                    f'{machine.tree}/debian/changelog) 1.0" ]')  # fmt: skip
    done = machine.run("dkms", "install")
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith("make dkms: not built: apogee-tcp for 1.0; see /var/lib/dkms/apogee-*/")
    assert "apogee-tcp does not build for 1.0: the modules that were there stay" in done.stdout
    assert old.read_text() == "old"
    machine.program("dkms", 'echo "$@"')
    done = machine.run("dkms", "install")
    assert done.stdout.splitlines()[-1].endswith("-k 2.0")
    assert [*(tmp_path / "usr/src").glob("apogee-shake-*/shake/main.c")]
    assert old.exists(), "it is DKMS that has it now"


@pytest.mark.parametrize("compiler", ["gcc-99", "x86_64-linux-gnu-gcc-99", "/usr/bin/gcc-99"])
def test_without_the_compiler(machine: Machine, compiler: str) -> None:
    machine.headers(f"modules:\n\t@{compiler} -c x.c; exit 127\n")
    line = machine.fails("host-modules", "load", machine.kdir)
    assert line.endswith("is missing: apt-get install gcc-99")


def test_a_build_that_fails_otherwise(machine: Machine) -> None:
    machine.headers("modules:\n\t@echo tcp_star.c:1: error: gcc is right >&2; exit 1\n")
    line = machine.fails("host-modules", "load", machine.kdir)
    assert line == f"build-modules: the modules do not build against {machine.kdir}, see above"


def test_btf_is_made_where_the_headers_have_what_makes_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's for 6.1 lack it: a vmlinux that a user has put there failed the build."""
    machine.headers(
        "modules:\n\t@echo made '$(origin CONFIG_DEBUG_INFO_BTF_MODULES)' >&2; exit 1\n"
    )
    machine.program("pahole", "echo v9.99")
    (machine.kdir / "vmlinux").touch()

    def built(*words: str) -> str:
        done = machine.run("build-modules", "--product", machine.kdir, machine.tree / "out", *words)
        return done.stderr

    assert "made command line" in built()
    tool = machine.kdir / "tools/bpf/resolve_btfids/resolve_btfids"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert "made undefined" in built()
    assert "made undefined" in built("KCFLAGS=-ggdb")
    for flags in ("-g0", "-O3 -g0 -Wall"):  # pahole fails on what has no debug information
        assert "made command line" in built(f"KCFLAGS={flags}")
    monkeypatch.setenv("KCFLAGS", "-g0")
    assert "made command line" in built()


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("Key was rejected by service", r"signed modules only \(Secure Boot\): use make dkms"),
        ("Required key not available", r"signed modules only \(Secure Boot\): use make dkms"),
        ("Invalid module format", "another kernel .*: apt-get install --reinstall linux-headers-"),
        ("Function not implemented", "takes no modules: boot another"),
        ("Operation not permitted", r"signed modules only \(Secure Boot\)|modules_disabled is set"),
        ("Cannot allocate memory", "Cannot allocate memory; the kernel's reason is in dmesg"),
    ],
)
def test_a_kernel_that_refuses_the_module(machine: Machine, words: str, advice: str) -> None:
    machine.headers()
    machine.program("insmod", f"echo insmod: ERROR: could not insert $1: {words} >&2; exit 1")
    line = machine.fails("host-modules", "load", machine.kdir)
    assert line.startswith("make load: ")
    assert re.search(advice, line)


def test_unknown_arguments(machine: Machine) -> None:
    for words in ("host-modules", "host-modules load", "build-modules --product", "ip-plugins",
                  "ip-plugins build", "dkms", "dkms none", "prove-package"):  # fmt: skip
        assert "usage: " in machine.fails(*words.split()), words
    assert "unknown suite none: bookworm or trixie" in machine.fails("prove-package", "none")


def test_dkms_and_kbuild_take_every_module(root: Path, tmp_path: Path) -> None:
    """Both go by the sources, so a new module is listed nowhere; what a build leaves is none."""
    files = sorted(path.stem for path in root.glob("tcp_*.c"))
    folders = sorted({"toy", *(path.parent.name for path in root.glob("*/Kbuild"))})
    for source in (*root.glob("tcp_*.c"), root / "Kbuild", root / "dkms.conf"):
        shutil.copy(source, tmp_path)
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "Kbuild").touch()
    (tmp_path / "tests" / "only").mkdir(parents=True)
    (tmp_path / "tests" / "only" / "Kbuild").touch()
    (tmp_path / "include" / "compat").mkdir(parents=True)
    (tmp_path / "include" / "compat" / "probe.mk").touch()
    (tmp_path / "tcp_star.mod.c").touch()
    entries = "${BUILT_MODULE_LOCATION[i]}${BUILT_MODULE_NAME[i]} ${DEST_MODULE_LOCATION[i]}"
    shell = f". {tmp_path}/dkms.conf; for i in ${{!BUILT_MODULE_NAME[@]}}; do echo {entries}; done"
    said = subprocess.run(["bash", "-euc", shell], capture_output=True, text=True, check=True)
    wanted = [*files, *(f"{folder}/{folder}" for folder in folders)]
    assert said.stdout.splitlines() == [f"{one} /updates/dkms" for one in wanted]
    made = f"src := {tmp_path}\ninclude {tmp_path}/Kbuild\nall:\n\t@echo $(obj-m)\n"
    objects = [*(f"{one}.o" for one in files), *(f"{one}/" for one in folders)]
    for words, wanted in ([], objects), (["ONLY=toy tcp_j"], ["tcp_j.o", "toy/"]):
        command = ["make", "-s", "-f", "-", *words]
        said = subprocess.run(command, input=made, capture_output=True, text=True, check=True)
        assert said.stdout.split() == wanted


def test_a_module_that_does_not_build_leaves_the_others(machine: Machine) -> None:
    """One line names it; the others are loaded."""
    (machine.tree / "toy").mkdir()
    (machine.tree / "toy" / "Kbuild").touch()
    machine.headers("""modules:
	@[ "$(ONLY)" != toy -a -n "$(ONLY)" ] || { echo toy.c:1: error: no >&2; exit 1; }
	@touch $(M)/$(ONLY).ko
""")
    machine.program("insmod", "exit 0")
    done = machine.run("host-modules", "load", machine.kdir)
    assert done.returncode == 1
    assert "tcp_j loaded" in done.stdout
    assert "toy loaded" not in done.stdout
    built, left = done.stderr.splitlines()[-2:]
    assert (
        built == f"build-modules: for {RELEASE} all but these are built: toy (toy.c:1: error: no)"
    )
    assert left == f"make load: not built for {RELEASE}, and left as they were: toy"


# --- modules in folders -----------------------------------------------------------------------

TOY_BUILD = """modules:
	@for kbuild in $(M)/*/Kbuild; do \\
		folder=$${kbuild%/Kbuild}; touch $$folder/$${folder##*/}.ko; done
"""


@pytest.fixture
def toy(machine: Machine) -> Machine:
    """With a module in a folder, and kernel headers whose build makes it."""
    (machine.tree / "toy").mkdir()
    for name in ("Kbuild", "toy.c", "toy.h"):
        (machine.tree / "toy" / name).touch()
    machine.headers(TOY_BUILD)
    return machine


def test_a_module_in_a_folder_is_loaded_after_what_it_needs(toy: Machine) -> None:
    log = toy.tree / "log"
    toy.program("insmod", f'echo "insmod $1" >>{log}')
    toy.program("modprobe", f'echo "modprobe $1" >>{log}')
    toy.program("modinfo", "case $3 in */toy.ko) echo first,second ;; esac")
    done = toy.run("host-modules", "load", toy.kdir)
    assert (done.returncode, done.stderr) == (0, "")
    built = toy.tree / "build" / "modules" / RELEASE / "toy" / "toy.ko"
    wanted = ["modprobe first", "modprobe second", f"insmod {built.relative_to(toy.tree)}"]
    assert log.read_text().splitlines()[-3:] == wanted
    assert "toy loaded" in done.stdout.splitlines()


def test_a_module_whose_needs_are_not_there(toy: Machine) -> None:
    toy.program("insmod", "exit 0")
    toy.program("modprobe", "exit 1")
    toy.program("modinfo", "case $3 in */toy.ko) echo first ;; esac")
    line = toy.fails("host-modules", "load", toy.kdir)
    wanted = f"toy needs the kernel's module first: apt-get install linux-image-{RELEASE}"
    assert line == f"make load: {wanted}"


# --- plug-ins of ip ---------------------------------------------------------------------------


def test_plugins_are_compiled(root: Path, tmp_path: Path) -> None:
    command = [root / "scripts" / "ip-plugins", "build", tmp_path / "ip"]
    subprocess.run(command, capture_output=True, check=True)
    wanted = sorted(f"{path.stem}.so" for path in root.glob("*/iproute2/link_*.c"))
    assert sorted(path.name for path in (tmp_path / "ip").iterdir()) == wanted
    assert wanted


def test_plugins_without_a_compiler(machine: Machine) -> None:
    source = machine.tree / "toy" / "iproute2" / "link_toy.c"
    source.parent.mkdir(parents=True)
    source.write_text("#include <no-such-header.h>\n")
    line = machine.fails("ip-plugins", "build", machine.tree / "ip")
    assert line.endswith("if headers are missing: apt-get install libc6-dev")
    env = os.environ | {"CC": "no-such-compiler"}
    command = [machine.tree / "scripts" / "ip-plugins", "build", machine.tree / "ip"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.stderr == "ip-plugins: no-such-compiler is missing: apt-get install gcc libc6-dev\n"
    assert done.returncode == 1


def test_plugins_of_the_package_stay(machine: Machine) -> None:
    machine.program("dpkg-query", "echo installed")
    done = machine.run("ip-plugins", "install", machine.tree / "none")
    assert done.stdout == "ip's plug-ins are those of the Debian package apogee-iproute2\n"
    assert machine.run("ip-plugins", "uninstall").returncode == 0


def test_ip_looks_where_plugins_are_installed(machine: Machine) -> None:
    """The folder is one that is in the program ip."""
    folder = machine.run("ip-plugins", "folder").stdout.strip()
    ip = shutil.which("ip", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    assert ip and folder.encode() + b"\0" in Path(ip).read_bytes()


def test_shake_quick_is_installed_and_removed(root: Path, tmp_path: Path) -> None:
    """With what the unit starts; a user's files stay."""
    env = os.environ | {"DESTDIR": str(tmp_path)}

    def run(verb: str) -> None:
        subprocess.run([root / "scripts/shake-quick-files", verb], env=env, check=True)

    local = tmp_path / "usr/local"
    for folder in ("lib", "sbin", "share/man"):  # as Debian has them
        (local / folder).mkdir(parents=True)
    before = {*tmp_path.rglob("*")}
    run("install")
    program = local / "sbin/shake-quick"
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    assert "usage: shake-quick" in done.stdout
    unit = (local / "lib/systemd/system/shake-quick@.service").read_text()
    assert re.findall(r"^Exec\w+=(\S+)", unit, re.M) == ["/usr/local/sbin/shake-quick"] * 2
    assert (local / "share/man/man8/shake-quick.8").exists()
    (tmp_path / "etc/shake/home.conf").write_text("")
    run("install")
    run("uninstall")
    left = [path for path in tmp_path.rglob("*") if not path.is_dir()]
    assert left == [tmp_path / "etc/shake/home.conf"]
    left[0].unlink()
    run("uninstall")
    assert {*tmp_path.rglob("*")} == before | {tmp_path / "etc"}
