# SPDX-License-Identifier: GPL-2.0
"""The lab's command where things go wrong: killed, on a full disk, in odd surroundings.

It runs in a copy of the tree, in a folder with blanks and letters that are not ASCII.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from apogee_lab.base import cache_dir
from apogee_lab.kernels import debian
from apogee_lab.measures.record import read_records
from tests.guest.runs import finished
from tests.patience import wait_for

pytestmark = [pytest.mark.guest, pytest.mark.uml]

Words = list[str]
#: In a mount namespace of its own, without root.
APART = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]


class Lab:
    """The command of a copy of the tree. Its processes are found by a mark in their environment."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.runs = top / "build" / "runs"
        self.mark = f"APOGEE_MARK={top}"
        self.env = {**os.environ, "APOGEE_CACHE": str(cache_dir().absolute())}
        self.env["APOGEE_MARK"] = str(top)

    def start(self, *words: str, before: Words | None = None) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*(before or []), str(self.top / "scripts" / "lab"), *words],
            env=self.env, cwd=self.top, stdout=pipe, stderr=pipe, text=True,
        )  # fmt: skip

    def run(self, *words: str, before: Words | None = None) -> tuple[int, str]:
        """Exit status and standard error."""
        process = self.start(*words, before=before)
        _, error = process.communicate()
        return process.returncode, error

    def processes(self) -> dict[int, str]:
        """Its processes, and their programs."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = Path(os.readlink(folder / "exe")).name
            except OSError:
                continue
        return found

    def children(self, of: int, program: str) -> list[int]:
        """Its processes of a program that another one of them has started."""
        found = []
        for pid in (pid for pid, name in self.processes().items() if program in name):
            with contextlib.suppress(OSError):
                status = Path("/proc", str(pid), "status").read_text()
                found += [pid] if f"\nPPid:\t{of}\n" in status else []
        return found

    def guest(self, program: str, of: int) -> tuple[int, int] | None:
        """The process that waits for the guest of a lab, and the guest."""
        for worker in self.children(of, "python"):
            for found in self.children(worker, program):
                return worker, found
        return None

    def left(self) -> list[str]:
        """What lies beside the finished runs."""
        return [path.name for path in self.runs.iterdir() if not path.name.isalnum()]


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    top = tmp_path_factory.mktemp("robust") / "a b ü"
    # without what satellite does not need: less to build
    ignored = ("build", ".git", "__pycache__", "docs", "tests", "shake", "sscop")
    shutil.copytree(root, top, ignore=shutil.ignore_patterns(*ignored), symlinks=True)
    made = Lab(top)
    status, error = made.run(*"run satellite --cc reno --duration 1 --engine uml".split())
    assert status == 0, error
    yield made
    for left in made.processes():
        os.kill(left, signal.SIGKILL)


#: As long as a run needs, and more: three runs, the last of which is not done when it is killed.
SWEEP = ["run", "satellite", "--cc", "cubic,reno,vegas", "--jobs", "1", "--duration"]


QEMU = pytest.param("qemu", marks=pytest.mark.deep)


@pytest.mark.parametrize(
    ("engine", "how", "ended", "said"),
    [
        ("uml", signal.SIGKILL, -signal.SIGKILL, ""),
        ("uml", signal.SIGINT, 130, "interrupted: 1 of 3 runs are finished and kept"),
        pytest.param("qemu", signal.SIGKILL, -signal.SIGKILL, "", marks=pytest.mark.deep),
    ],
)
def test_the_lab_is_ended(
    lab: Lab, engine: str, how: signal.Signals, ended: int, said: str
) -> None:
    """No process outlives it; what was finished is not run again, what was half done is removed."""
    seconds = {"qemu": 4, "uml": 40}[engine] + (how == signal.SIGINT)
    command = [*SWEEP, str(seconds), "--engine", engine]
    before = finished(lab.runs)
    process = lab.start(*command)
    wait_for(lambda: finished(lab.runs) - before or process.poll() is not None)
    wait_for(lambda: lab.left() and len(lab.processes()) > 2 or process.poll() is not None)
    process.send_signal(how)
    _, error = process.communicate()
    assert process.returncode == ended
    assert said in error
    wait_for(lambda: not lab.processes())
    (first,) = finished(lab.runs) - before
    written = first.stat().st_mtime_ns
    status, error = lab.run(*command)
    assert status == 0, error
    assert "1 of 3 runs finished earlier, not repeated" in error
    assert first.stat().st_mtime_ns == written
    assert lab.left() == []


PROGRAMS = {"uml": "linux", "qemu": "qemu-system"}


@pytest.mark.parametrize(
    ("which", "engine", "why"),
    [
        ("guest", "uml", "UML was killed by SIGKILL"),
        pytest.param("guest", "qemu", "QEMU was killed by SIGKILL", marks=pytest.mark.deep),
        pytest.param("worker", "uml", "the run's process died (-9)", marks=pytest.mark.deep),
    ],
)
def test_a_part_is_killed(lab: Lab, which: str, engine: str, why: str) -> None:
    """The run fails in one line, the others go on; the same command repeats it alone."""
    seconds, seed = "60" if engine == "uml" else "6", "9" if which == "guest" else "10"
    command = [*SWEEP, seconds, "--engine", engine, "--seed", seed]
    process = lab.start(*command)
    wait_for(lambda: lab.guest(PROGRAMS[engine], process.pid) or process.poll() is not None)
    found = lab.guest(PROGRAMS[engine], process.pid)
    assert found, process.communicate()
    os.kill(found[which == "guest"], signal.SIGKILL)
    _, error = process.communicate()
    assert process.returncode == 1
    told = [line for line in error.splitlines() if line.startswith("  ")]
    assert told[-1].endswith(f": {why}")
    assert "1 of 3 runs failed:" in error
    wait_for(lambda: not lab.processes())
    assert "2 of 3 runs finished earlier, not repeated" in lab.run(*command)[1]
    for folder in lab.runs.glob("*.failed"):
        shutil.rmtree(folder)


@pytest.fixture
def apart() -> Words:
    """Words before a command and what runs before it, in a mount namespace of its own."""
    tried = subprocess.run([*APART, "mount -t tmpfs none /mnt"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this machine gives users no namespaces")
    return APART


def test_a_full_disk(lab: Lab, apart: Words) -> None:
    """The folder of the runs, too small for a guest's files."""
    lab.runs.mkdir(parents=True, exist_ok=True)
    before = sorted(lab.runs.iterdir())
    small = 'mount -t tmpfs -o size=2M none build/runs && "$@"; ls -A build/runs >&2; exit $?'
    command = ["run", "satellite", "--cc", "cubic", "--duration", "3", "--engine", "uml"]
    _, error = lab.run(*command, before=[*apart, small, "sh"])
    assert "o space left on device" in error
    assert "1 of 1 runs failed:" in error
    assert ".part-" not in error.splitlines()[-1], "nothing half done is left"
    assert error.splitlines()[-1].endswith(".failed")
    assert "Traceback" not in error
    assert sorted(lab.runs.iterdir()) == before
    assert lab.run(*command)[0] == 0


ONE_RUN = ["run", "satellite", "--cc", "star", "--duration", "3", "--engine", "uml", "--fresh"]
#: Another /dev, with little but the device files that every program expects.
WITHOUT_SHM = """
old=$(mktemp -d) && mount --rbind /dev $old && mount -t tmpfs none /dev || exit
for name in null zero full random urandom; do
	: >/dev/$name && mount --bind $old/$name /dev/$name || exit
done
ln -s /proc/self/fd /dev/fd
"""
SURROUNDINGS = {
    "locale": ["env", "LC_ALL=POSIX", "PYTHONCOERCECLOCALE=0", "TZ=Pacific/Kiritimati"],
    "home": ["env", "-u", "HOME", "-u", "LANG"],
    "umask": ["sh", "-c", 'umask 077; exec "$@"', "sh"],
    "one CPU": ["sh", "-c", f'exec taskset -c {min(os.sched_getaffinity(0))} "$@"', "sh"],
    "streams": ["sh", "-c", 'exec "$@" <&- >&-', "sh"],
}
SURROUNDINGS["all"] = [word for words in SURROUNDINGS.values() for word in words]
#: Each for itself tells which one it was.
ALONE = [pytest.param(name, marks=pytest.mark.deep) for name in SURROUNDINGS if name != "all"]
SURROUNDINGS |= {
    "no shm": [*APART, "unset TMPDIR; " + WITHOUT_SHM + 'exec "$@"', "sh"],
    "memory": [*APART, 'unset TMPDIR; mount -t tmpfs -o size=1M none /dev/shm && exec "$@"', "sh"],
}


def record_of(lab: Lab, target: Path, before: Words | None = None) -> dict[str, object]:
    status, error = lab.run(*ONE_RUN, "--json", str(target), before=before)
    assert status == 0, error
    (record,) = read_records(target)
    return record | {"wall_s": 0}


@pytest.fixture(scope="module")
def record(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Of a run here."""
    return record_of(lab, tmp_path_factory.mktemp("here") / "record")


@pytest.mark.parametrize("name", ["all", "no shm", "memory", *ALONE])
def test_surroundings_change_nothing(
    lab: Lab, record: dict[str, object], name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if SURROUNDINGS[name][0] == APART[0]:
        request.getfixturevalue("apart")
    assert record_of(lab, tmp_path / "ü", SURROUNDINGS[name]) == record


#: MB that a lab may take on a machine with 2 GB, whose system needs the rest.
MOST_MB = 1600


def memory_mb(processes: Iterable[int]) -> float:
    """Memory that processes hold, what they share counted once, and nobody's cache."""
    total = 0
    for pid in processes:
        with contextlib.suppress(OSError):
            lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


@pytest.mark.parametrize("engine", ["uml", QEMU])
def test_memory_of_a_small_machine(lab: Lab, engine: str) -> None:
    """One CPU, two runs: there is one guest at a time."""
    command = ["run", "satellite", "--cc", "star,cubic", "--duration", "4", "--engine", engine]
    process = lab.start(*command, "--fresh", before=SURROUNDINGS["one CPU"])
    held = []
    while process.poll() is None:
        held.append(memory_mb(lab.processes()))
        time.sleep(0.05)
    assert process.returncode == 0, process.communicate()
    # more than the lab alone, which is at 30 MB: the guest was seen
    assert 50 < max(held) < MOST_MB


#: Programs of the host that a run of an engine needs.
TOOLS = [("uml", tool) for tool in ("busybox", "ip", "make", "depmod")]


@pytest.mark.parametrize(
    ("engine", "tool"), [*TOOLS, pytest.param("qemu", "qemu-system-x86_64", marks=pytest.mark.deep)]
)
def test_a_tool_that_does_not_start(lab: Lab, apart: Words, engine: str, tool: str) -> None:
    """The last line names it."""
    path = Path(shutil.which(tool) or f"/usr/sbin/{tool}").resolve()
    hidden = f'mount --bind /dev/null {path} && exec "$@"'
    command = [*ONE_RUN, "--engine", engine]
    status, error = lab.run(*command, before=[*apart, hidden, "sh"])
    assert status != 0
    assert tool in error.splitlines()[-1]
    assert "Traceback" not in error
    for folder in lab.runs.glob("*.failed"):
        shutil.rmtree(folder)


def test_labs_at_once(lab: Lab) -> None:
    """They make the same runs, build the same modules, and leave whole results."""
    command = ["run", "satellite", "--cc", "star,cubic", "--duration", "4", "--engine", "uml"]
    labs = [lab.start(*command, "--fresh") for _ in range(2)]
    tables = {each.communicate()[0] for each in labs}
    assert [each.returncode for each in labs] == [0] * 2
    assert len(tables) == 1
    assert "2 of 2 runs finished earlier" in lab.run(*command)[1]
    assert lab.left() == []


def last_write(path: Path) -> int:
    """In ns; 0 if there is no such file."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def kill_in_the_midst(command: list[Path | str], half: Path, source: Path) -> None:
    """Kill a build as soon as this object file is written, or again if it was done by then."""
    for _ in range(10):
        before = last_write(half)
        source.touch()
        build = subprocess.Popen(command, process_group=0, stdout=subprocess.DEVNULL)
        wait_for(lambda before=before: last_write(half) != before)
        os.killpg(build.pid, signal.SIGKILL)
        if build.wait() == -signal.SIGKILL:
            return
    pytest.fail("each build was done before it could be killed")


@pytest.mark.deep
def test_a_build_that_was_killed(lab: Lab) -> None:
    """Half an object file looks new to make."""
    out = lab.top / "build" / "a b"
    command = [lab.top / "scripts" / "build-modules", "--product", debian.kernel().headers, out]
    subprocess.run(command, capture_output=True, check=True)
    half = out / "tcp_star.o"
    kill_in_the_midst(command, half, lab.top / "tcp_star.c")
    half.write_bytes(b"half")
    (out / "tcp_star.ko").unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (out / "tcp_star.ko").exists()
