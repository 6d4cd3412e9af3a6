# SPDX-License-Identifier: GPL-2.0
"""Engine uml without a guest: kernel configuration, first process, preloaded library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.engines import uml
from apogee_lab.guest import image as image_module
from apogee_lab.guest.cpio import libraries
from apogee_lab.guest.image import RESULTS_FOLLOW, STOCK_MODULES, guest_init
from apogee_lab.kernels import checked_kernel, uml_kernel
from apogee_lab.kernels.kernel import Kernel
from apogee_lab.kernels.recipe import Recipe
from apogee_lab.kernels.stages import check_config
from tests.patience import wait_for

GUEST = Path(image_module.__file__).parent


# --- the kernel -------------------------------------------------------------------------------


def test_what_the_source_refuses_is_named() -> None:
    asked = uml_kernel.PLAIN.config
    check_config(asked, asked)
    left = asked.replace("CONFIG_HOSTFS=y\n", "")
    with pytest.raises(LabError, match="has no CONFIG_HOSTFS=y"):
        check_config(asked, left)
    with pytest.raises(LabError, match="has no CONFIG_HZ=100$"):
        check_config("CONFIG_HZ=100\n", "CONFIG_HZ=1000\n")


def test_the_debug_kernel_is_another_of_the_same_configuration() -> None:
    plain, debug = (recipe.config for recipe in uml_kernel.RECIPES)
    assert debug.startswith(plain)
    assert uml_kernel.DEBUGGING.key != uml_kernel.PLAIN.key
    own = set(debug.removeprefix(plain).splitlines())
    built = own | set(plain.splitlines()) - {'CONFIG_LOCALVERSION="-uml"'}
    check_config(debug, "\n".join(built))
    release = 'CONFIG_LOCALVERSION="-uml-debug"'
    with pytest.raises(LabError, match=f"has no {release}"):
        check_config(debug, "\n".join(built - {release}))


@pytest.mark.parametrize("recipe", [*uml_kernel.RECIPES, *checked_kernel.RECIPES])
def test_the_guest_has_the_stock_modules_of_engine_qemu(recipe: Recipe) -> None:
    """Modules of Debian's kernel are modules here, too, because scripts load them by name."""
    config = recipe.config
    named = {"cls", "sch", "em", "act", "tcp"}
    families = {
        "tcp_bbr": "TCP_CONG_BBR", "tcp_highspeed": "TCP_CONG_HSTCP", "tcp_diag": "INET_TCP_DIAG",
        "em_meta": "NET_EMATCH_META", "em_u32": "NET_EMATCH_U32",
    }  # fmt: skip
    for name in STOCK_MODULES:
        kind, _, rest = name.partition("_")
        if kind not in named and name not in ("veth", "ifb", "dummy", "tun", "bonding"):
            continue
        prefix = {"tcp": "TCP_CONG", "sch": "NET_SCH", "cls": "NET_CLS", "act": "NET_ACT"}
        symbol = families.get(name) or f"{prefix[kind]}_{rest}" if rest else name
        assert f"CONFIG_{symbol.upper()}=m\n" in config, name


KCONFIG = "config HZ\n\tint\n\tdefault {}\n\nconfig NR_CPUS\n\tint\n\tdefault 100\n"
SLEEP = "config A\n{0}\nconfig DEBUG_ATOMIC_SLEEP\n\tselect B\n{1}\thelp\n"
NEEDS = "\tdepends on !ARCH_NO_PREEMPT\n"
LOOP = "\tfor_each_vma(vmi, vma)\n\t\tfix_range(mm, vma->vm_start, vma->vm_end, {});\n"
LOCKED = f"\trcu_read_lock();\n{LOOP.format(1)}\trcu_read_unlock();\n"


@pytest.mark.parametrize(
    ("patch", "before", "after"),
    [
        (uml_kernel.HZ, KCONFIG.format(100), KCONFIG.format(250)),
        (uml_kernel.ATOMIC_SLEEP, SLEEP.format(NEEDS, NEEDS), SLEEP.format(NEEDS, "")),
        (uml_kernel.NEW_MAPPINGS, LOOP.format(0) + LOOP.format(1), LOOP.format(0) + LOCKED),
    ],
    ids=["Debian's tick rate", "the check for sleeping is offered", "mappings are read under RCU"],
)  # fmt: skip
def test_what_is_changed_in_the_source(patch: tuple[str, str], before: str, after: str) -> None:
    assert re.subn(*patch, before) == (after, 1)


# --- the guest's first process ----------------------------------------------------------------


def test_only_the_way_out_of_the_results_differs(tmp_path: Path) -> None:
    """An init without the mark of where they go out is refused."""
    (tmp_path / "init").write_text("#!/bin/sh\n")
    with pytest.raises(LabError, match="has no line"):
        guest_init([tmp_path / "init", tmp_path / "init"])
    stock = guest_init([GUEST / name for name in Kernel.init])
    ours = guest_init([GUEST / name for name in uml_kernel.UmlKernel.init]).decode()
    assert stock == (GUEST / "init").read_bytes()
    head, end, _ = stock.decode().partition(RESULTS_FOLLOW)
    assert ours.startswith(head + end)
    assert "virtio" not in ours.removeprefix(head)
    assert ours.endswith((GUEST / "init-uml").read_text())


@pytest.mark.parametrize(
    "kinds",
    [(uml_kernel.UmlKernel, uml_kernel.DebugKernel), (Kernel, checked_kernel.DebugKernel)],
)
def test_a_debug_kernel_looks_for_leaks_before_its_log_is_read(kinds: list[type[Kernel]]) -> None:
    plain, debug = (guest_init([GUEST / name for name in kind.init]).decode() for kind in kinds)
    look = (GUEST / "init-debug").read_text()
    assert debug.replace(look, "") == plain
    assert debug.index(look) < debug.index(RESULTS_FOLLOW)


def test_a_cpu_is_not_told_by_where_libraries_are_looked_for() -> None:
    """The loader must not search folders by CPU features, as each costs a system call: with AVX-512
    that took 55 us per program. Cannot fail on a CPU without such features."""
    (tunables,) = [w.partition("=")[2] for w in uml._CMDLINE if w.startswith("GLIBC_TUNABLES=")]
    loader = next(p for p in libraries(Path("/bin/ip")) if p.name.startswith("ld-"))
    env = {**os.environ, "GLIBC_TUNABLES": tunables}
    told = subprocess.check_output([loader, "--help"], env=env, text=True)
    found = re.findall(r"^  (\S+) \(.*supported, searched\)$", told, re.M)
    assert "x86-64-v3" in told
    assert set(found) <= {"x86_64", "tls"}


# --- running ----------------------------------------------------------------------------------


def test_real_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(uml.EngineError, match="virtual time only"):
        uml.run_script("true", out=tmp_path / "out", realtime=True)


def test_memory_goes_elsewhere_when_dev_shm_does_not_suit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shm(blocks: int, flags: int) -> None:
        found = os.statvfs_result((4096, 4096, blocks, blocks, blocks, 9, 9, 9, flags, 255))
        monkeypatch.setattr(os, "statvfs", lambda _: found)

    shm(16_384, 0)
    assert uml._environment(tmp_path)["TMPDIR"] == str(tmp_path)
    shm(1_000_000, os.ST_NOEXEC)
    assert uml._environment(tmp_path)["TMPDIR"] == str(tmp_path)
    shm(1_000_000, os.ST_NOSUID)
    assert uml._environment(tmp_path)["TMPDIR"] == "/dev/shm"
    monkeypatch.undo()
    # Python's statvfs() raises what it does for a machine without /dev/shm.
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    assert uml._environment(tmp_path)["TMPDIR"] == str(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert uml._environment(tmp_path / "run")["TMPDIR"] == str(tmp_path)


# --- the preloaded library --------------------------------------------------------------------


def drawn(seed: str) -> str:
    """The results of two calls of getrandom() in a program with the library preloaded."""
    program = (
        "import ctypes; c = ctypes.CDLL(None); b = ctypes.create_string_buffer(20);"
        "print(c.getrandom(b, 20, 0), b.raw.hex(), c.getrandom(b, 8, 0), b.raw.hex())"
    )
    env = {**os.environ, "LD_PRELOAD": str(uml.uml_library()), "APOGEE_SEED": seed}
    return subprocess.check_output([sys.executable, "-c", program], env=env, text=True)


def test_randomness_follows_from_the_seed() -> None:
    assert drawn("1") == drawn("1")
    assert len({drawn(seed) for seed in ("0", "1", "2", "4294967295")}) == 4
    count, first, _, second = drawn("1").split()
    assert count == "20"
    assert first[:16] != second[:16]


#: A CPU with AVX has more extended registers than the tracer has room for, as one with AMX has more
#: than UML.
TRACER = r"""
    #include <elf.h>
    #include <signal.h>
    #include <stdio.h>
    #include <sys/ptrace.h>
    #include <sys/uio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(void)
    {
        pid_t pid = fork();
        if (!pid) {
            ptrace(PTRACE_TRACEME, 0, 0, 0);
            raise(SIGSTOP);
            for (;;)
                pause();
        }
        waitpid(pid, NULL, 0);
        if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD))
            return 1;
        if (ptrace(PTRACE_PEEKUSER, pid, 0, 0) == -1)
            return 2;
        static char few[576], again[576];
        struct iovec first = { few, sizeof(few) }, same = { again, sizeof(again) };
        if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &first))
            return 3;
        few[160] ^= 1; /* %xmm0 */
        if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &first))
            return 4;
        if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &same) || again[160] != few[160])
            return 5;
        printf("%d\n", pid);
        fflush(stdout);
        ptrace(PTRACE_CONT, pid, 0, 0);
        for (;;)
            pause();
    }
"""


def test_no_traced_process_outlives_its_tracer(tmp_path: Path) -> None:
    source = tmp_path / "tracer.c"
    source.write_text(textwrap.dedent(TRACER))
    subprocess.run(["gcc", "-o", tmp_path / "tracer", source], check=True)
    env = {**os.environ, "LD_PRELOAD": str(uml.uml_library())}
    tracer = subprocess.Popen([tmp_path / "tracer"], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert tracer.stdout is not None and tracer.poll() is None
        traced = Path("/proc", tracer.stdout.readline().strip())
        assert traced.name.isdigit() and traced.exists()
    finally:
        tracer.kill()
        tracer.wait()
    wait_for(lambda: ended(traced))


def ended(process: Path) -> bool:
    """Whether a process is gone or waited for."""
    try:
        return (process / "stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
