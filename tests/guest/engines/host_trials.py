# SPDX-License-Identifier: GPL-2.0
"""Trials that test_host.py runs in its guest: runs of engine host, ended in every way.

``python3 trials.py SEED KILLS`` writes one line of JSON per trial to $OUT/trials.jsonl, with the
changes of the machine's state that are left afterwards. A process that does not end stops the
trials with status 1; the console shows what it was doing.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, "scripts")

from apogee_lab.commands import main as lab_command  # noqa: E402

#: Settings of the kernel that change by themselves.
VOLATILE = ("fs/", "kernel/random/", "kernel/ns_last_pid", "kernel/pty/", "kernel/perf_")
SETTLED_S = 30.0
TRIES = 10  # to end a run before it ends by itself
HUNG_S = 100.0  # for a process of the lab; a run takes some 3 s

#: What the machine's first run leaves: see "What stays" in docs/engines.md. The kernel remembers
#: having had a module that is not its distribution's (4096) and not signed (8192).
LASTING = {
    "modules": {"gone": [], "new": ["veth"]},
    "settings": {"gone": ["kernel/tainted=4\n"], "new": ["kernel/tainted=12292\n"]},
}
#: Lasting changes by the first run with an `ifb`.
LASTING_IFB = {"modules": {"gone": [], "new": ["ifb"]}}
#: The same by the first run above a bridge.
LASTING_BRIDGE = {"modules": {"gone": [], "new": ["bridge", "llc", "stp"]}}
#: A link slow enough for a loaded emulator.
LINK = ("--set", "rate=2mbit", "--set", "delay=50ms", "--set", "queue=25kB")
#: The runs that are ended.
SHORT = ("--cc", "star", "--duration", "1", "--set", "trace=all")
#: Signals and their targets: the lab's process group (as with Ctrl-C in a terminal), the lab, the
#: process of one run, the guard, the first process in the namespaces.
WAYS = (
    ("INT", "terminal"),
    ("TERM", "lab"),
    ("KILL", "lab"),
    ("KILL", "run"),
    ("KILL", "host-guard"),
    ("KILL", "host-init"),
)

OUT = Path(os.environ.get("OUT", "."))


# --- the machine's state ----------------------------------------------------------------------


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _settings() -> dict[str, str]:
    top = Path("/proc/sys")
    names = [str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()]
    return {name: _read(top / name) for name in names if not name.startswith(VOLATILE)}


def _processes() -> list[str]:
    """Command lines of all programs but those that the guest's first script waits with."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        line = _read(folder / "cmdline").replace("\0", " ").strip()
        if line and line != "sleep 10" and folder.name != str(os.getpid()):
            found.append(line)
    return sorted(found)


def _namespaces() -> list[str]:
    """Namespaces that are held by a process or a mount."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/ns/*"):
        try:
            found.add(os.readlink(path))
        except OSError:
            continue
    return sorted(found)


def _say(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def state() -> dict[str, Any]:
    """All state of the machine that a run might change."""
    return {
        "links": [line.split(" qlen")[0] for line in _say("ip", "-d", "-o", "link", "show")],
        "addresses": _say("ip", "-o", "addr", "show"),
        "routes": _say("ip", "route", "show", "table", "all"),
        "queues": _say("tc", "qdisc", "show"),
        "named": sorted(str(p) for top in ("/run", "/tmp") for p in Path(top).rglob("*")),
        "mounts": _read(Path("/proc/self/mountinfo")).splitlines(),
        "modules": sorted(line.split()[0] for line in _read(Path("/proc/modules")).splitlines()),
        "tracers": sorted(os.listdir("/sys/kernel/tracing/instances")),
        "settings": _settings(),
        "processes": _processes(),
        "namespaces": _namespaces(),
    }


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Differences of two states by key: what was removed and what was added."""
    found = {}
    for key in before:
        old, new = before[key], after[key]
        if isinstance(old, dict):
            old, new = ([f"{k}={v}" for k, v in d.items()] for d in (old, new))
        if old != new:
            gone = [item for item in old if item not in new]
            found[key] = {"gone": gone, "new": [item for item in new if item not in old]}
    return found


def settled(before: dict[str, Any], lasting: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Wait until only ``lasting`` differences remain; the others, and the seconds that it took."""
    start = time.monotonic()
    while True:
        found = difference(before, state())
        passed = time.monotonic() - start
        if found == lasting or passed > SETTLED_S:
            return found, round(passed, 2)
        time.sleep(0.2)


# --- trials -----------------------------------------------------------------------------------


def lab(name: str, *arguments: str, scenario: str = "satellite") -> int:
    """`lab run` as a process of its own, leading a process group as in a terminal."""
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    for number, end in ((1, "out"), (2, "err")):
        os.dup2(os.open(OUT / f"{name}.{end}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    faulthandler.register(signal.SIGUSR1)
    status = lab_command.main(["run", scenario, "--engine", "host", "--fresh", *LINK, *arguments])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def end(pid: int) -> int:
    """The exit status of a process of ours. One that hangs is shown and killed, the trials end."""
    deadline = time.monotonic() + HUNG_S
    while not ended(pid):
        if time.monotonic() > deadline:
            show_hung(pid)
            for one in reversed(descendants(pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            sys.exit(f"process {pid} did not end in {HUNG_S:.0f} s")
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def show_hung(pid: int) -> None:
    """What all processes wait for, and where the lab's are in their Python code."""
    for one in descendants(pid):
        if catches(one, signal.SIGUSR1):
            os.kill(one, signal.SIGUSR1)
            time.sleep(0.5)  # they share standard error
    print(f"--- standard error of process {pid}", _read(Path(f"/proc/{pid}/fd/2")), sep="\n")
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        line = _read(folder / "cmdline").replace("\0", " ").strip()
        if line:
            state, parent, *_ = _read(folder / "stat").rpartition(") ")[2].split()
            print(
                f"--- {folder.name} of {parent}, {state}, {_read(folder / 'wchan')}: {line[:150]}"
            )
            print(_read(folder / "stack"), end="", flush=True)


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    caught = _read(Path(f"/proc/{pid}/status")).partition("SigCgt:")[2].split()
    return bool(caught) and bool(int(caught[0], 16) >> (number - 1) & 1)


def ended(pid: int) -> bool:
    """Whether a process of ours has ended; it can still be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def descendants(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for parent in found:
        found += [int(n) for n in _read(Path(f"/proc/{parent}/task/{parent}/children")).split()]
    return found


def member(pid: int, whom: str) -> int | None:
    """The descendant of the lab with this role, if it exists."""
    family = descendants(pid)
    if whom == "run":
        return family[1] if len(family) > 1 else None
    for one in family:
        words = _read(Path(f"/proc/{one}/cmdline")).split("\0")
        if words[0] == "sh" and words[1:2] and words[1].endswith(whom):
            return one
    return None


def _sends(pid: int) -> bool:
    """Whether a traffic tool started by this lab is running."""
    return any(
        "send" in _read(Path(f"/proc/{one}/cmdline")).split("\0") for one in descendants(pid)
    )


def struck(pid: int, moment_s: float, how: str, whom: str) -> bool:
    """Send a signal at that time, or as soon as the target exists; False if the run has ended."""
    time.sleep(moment_s)
    kind = signal.Signals[f"SIG{how}"]
    while not ended(pid):
        if whom in ("lab", "terminal"):
            (os.killpg if whom == "terminal" else os.kill)(pid, kind)
            return True
        found = member(pid, whom)
        if found is not None:
            os.kill(found, kind)
            return True
        time.sleep(0.02)
    return False


def report(before: dict[str, Any], lasting: dict[str, Any] | None = None, **told: Any) -> None:
    left, seconds = settled(before, lasting or {})
    line = json.dumps(told | {"left": left, "settled_s": seconds})
    with (OUT / "trials.jsonl").open("a") as file:
        file.write(line + "\n")
    print(line[:400], flush=True)


def killed(name: str, length_s: float, dice: random.Random, how: str, whom: str) -> None:
    """A run that is ended at a random time; runs that finish before that are not counted."""
    before = state()
    hit, moment_s = False, length_s
    for _ in range(TRIES):
        moment_s = dice.uniform(0, moment_s)
        pid = lab(name, *SHORT)
        hit = struck(pid, moment_s, how, whom)
        status = end(pid)
        if hit:
            break
    told = {"how": how, "whom": whom, "hit": hit, "moment_s": round(moment_s, 2), "status": status}
    report(before, trial="killed", **told)


def failing(trial: str, *arguments: str) -> None:
    before = state()
    status = end(lab(trial, *SHORT, *arguments))
    report(before, trial=trial, status=status)


@contextlib.contextmanager
def broken(program: str) -> Iterator[None]:
    """Context in which a program does not work."""
    path = Path("/bin", program)
    good = path.read_bytes()
    path.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    yield
    path.write_bytes(good)


def sending(name: str) -> int:
    """Start a lab and wait until its flow is sending."""
    pid = lab(name, *SHORT)
    while not ended(pid) and not _sends(pid):
        time.sleep(0.02)
    time.sleep(0.5)
    return pid


def cut() -> None:
    """Ctrl-C that also ends the receiver of data in flight."""
    before = state()
    pid = sending("cut")
    hit = struck(pid, 0, "INT", "terminal")
    report(before, trial="cut", hit=hit, status=end(pid))


def bare() -> None:
    """Kill the process of a run and remove its folder before the guard reads it."""
    before = state()
    pid = sending("bare")
    guard = member(pid, "host-guard")
    folder = _read(Path(f"/proc/{guard}/cmdline")).split("\0")[-2]
    hit = struck(pid, 0, "KILL", "run")
    shutil.rmtree(folder, ignore_errors=True)
    report(before, trial="bare", hit=hit, status=end(pid))


def heard(terminal: int, words: bytes) -> bytes:
    """A terminal's output up to these words; all of it if they do not appear within a minute."""
    said, deadline = b"", time.monotonic() + 60
    while words not in said:
        if not select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        try:
            said += os.read(terminal, 4096)
        except OSError:  # its other end is closed
            break
    return said


def prompt() -> None:
    """`lab shell` at a terminal: its output, Ctrl-C for a program in it, exit."""
    before = state()
    pid, terminal = pty.fork()
    if not pid:
        os._exit(lab_command.main(["shell", "satellite", "--engine", "host", *LINK]))
    said = heard(terminal, b"lab# ")
    for typed, answer in (
        (b"sleep 100; echo slept\n", b"slept"),
        (b"\x03", b"lab# "),
        (b"ip netns list; echo up $((6 * 7))\n", b"up 42"),
        (b"exit\n", b"-"),
    ):
        time.sleep(1)
        os.write(terminal, typed)
        said += heard(terminal, answer)
    report(before, trial="shell", status=end(pid), said=said.decode(errors="replace"))


def shared() -> None:
    """A scenario whose ACKs pass an `ifb`, which nobody has loaded before."""
    before = state()
    ifb = ("--set", "flows=1", "--set", "wired_rate=0", "--set", "ack_rate=1mbit")
    status = end(lab("shared", *SHORT, *ifb, scenario="satellite-shared"))
    report(before, LASTING_IFB, trial="shared", status=status)


def bridged() -> None:
    """A sender above a bridge, which nobody has loaded before."""
    before = state()
    status = end(lab("bridged", *SHORT, "--set", "under=bridge"))
    report(before, LASTING_BRIDGE, trial="bridged", status=status)


def whole() -> None:
    """The command as a user types it, the first on this machine."""
    before = state()
    command = ["scripts/lab", "run", "satellite", "--engine", "host", *LINK, "--cc", "star,cubic"]
    command += ["--duration", "5", "--set", "trace=probe", "--set", "star.aen=0", "--json", "-"]
    with (OUT / "records.jsonl").open("w") as out, (OUT / "whole.err").open("w") as err:
        status = end(subprocess.Popen(command, stdout=out, stderr=err).pid)
    report(before, LASTING, trial="whole", status=status, said=_read(OUT / "whole.err"))


def planted() -> None:
    """The kernel warns before a run, which does not count, and during one, which fails it.

    The kernel's log up to then goes to $OUT/dmesg.before, and the warnings are taken out of it.
    """
    (OUT / "dmesg.before").write_text("\n".join(_say("dmesg", "-c")))
    plant = ["insmod", "faults.ko", "kind=warning"]
    subprocess.run(plant, capture_output=True, check=False)
    before = state()
    good = end(lab("warned", *SHORT))
    pid = sending("planted")
    subprocess.run(plant, capture_output=True, check=False)
    report(before, trial="planted", good=good, status=end(pid))
    _say("dmesg", "-c")


def main() -> None:
    """All trials, one after the other."""
    seed, kills = map(int, sys.argv[1:])
    whole()
    shared()
    bridged()
    prompt()
    failing("late", "--timeout", "1")  # as long as its flow lasts
    with broken("ethtool"):
        failing("broken")
    cut()
    bare()
    start = time.monotonic()
    end(lab("short", *SHORT))
    length_s = time.monotonic() - start
    dice = random.Random(seed)
    for number in range(kills):
        killed(f"kill{number}", length_s, dice, *WAYS[number % len(WAYS)])
    planted()


if __name__ == "__main__":
    main()
