# SPDX-License-Identifier: GPL-2.0
"""The verdict on a kernel's log, how it fails a run, and the log of the running kernel."""

from __future__ import annotations

import math
import os
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.engines import kmsg, log, pulse, supervise
from apogee_lab.engines.supervise import Bounds, Command
from apogee_lab.engines.work import GuestFailed, RunInfo, Work, keep
from tests.patience import wait_for
from tests.unit.lab.kernel_logs import HARMLESS, LOGS, STALLS

Patch = pytest.MonkeyPatch

#: In front of a message: nothing (UML), its time, and who said it where the kernel tells that.
STAMPS = {"none": "", "time": "[   12.345678] ", "caller": "[   12.345678][   T89] "}


def stamp(text: str, what: str = "time") -> str:
    return "".join(f"{STAMPS[what]}{line}\n" for line in text.splitlines())


# --- the verdict ------------------------------------------------------------------------------


@pytest.mark.parametrize("stamps", STAMPS)
@pytest.mark.parametrize("name", LOGS)
def test_a_report_is_told_in_one_line(name: str, stamps: str) -> None:
    """What and where, after and before whatever else the kernel says."""
    found = LOGS[name]
    report = log.verdict(log.logged(stamp(HARMLESS + found.text + HARMLESS, stamps)))
    assert report is not None
    assert str(report) == f"the kernel reported: {found.line}"
    assert report.log[0] in found.messages, "the log from the report on"


@pytest.mark.parametrize("stamps", STAMPS)
def test_harmless_words_are_no_report(stamps: str) -> None:
    for line in HARMLESS.splitlines():
        assert log.verdict(log.logged(stamp(line, stamps))) is None, line
    assert log.verdict(log.logged(stamp(HARMLESS, stamps))) is None
    assert log.verdict([]) is None


def test_the_first_report_counts() -> None:
    text = LOGS["ubsan"].text + LOGS["null"].text
    assert log.verdict(text.splitlines()).line == LOGS["ubsan"].line  # type: ignore[union-attr]


#: A report of KCSAN, its call traces cut short.
RACE = """\
==================================================================
BUG: KCSAN: data-race in {} / tcp_get_info

read to 0xffff888004d8a6c8 of 4 bytes by task 771 on cpu 1:
 tcp_get_info+0x4d1/0x8c0
 tcp_diag_get_info+0x9e/0x110 [tcp_diag]

write to 0xffff888004d8a6c8 of 4 bytes by interrupt on cpu 0:
 {}+0x1f4/0x2e0
 tcp_ack+0x1c31/0x2c50

value changed: 0x00000012 -> 0x00000013

Reported by Kernel Concurrency Sanitizer on:
CPU: 1 PID: 771 Comm: ss Tainted: G           O       6.1.192-kcsan #1
==================================================================
"""


@pytest.mark.parametrize(
    ("function", "brought", "counts"),
    [
        ("star_main [tcp_star]", ["tcp_star"], True),
        ("star_main [tcp_star]", ["tcp_j", "tcp_star"], True),
        ("star_main [tcp_star]", ["tcp_j"], False),
        ("star_main [tcp_star]", ["tcp_s", "star"], False),
        ("star_main [tcp_star]", [], False),
        ("tcp_reno_cong_avoid", ["tcp_star"], False),
        ("tcp_reno_cong_avoid", None, True),
    ],
)
def test_data_races_count_in_modules_that_were_brought(
    function: str, brought: list[str] | None, counts: bool
) -> None:
    """A report ends with its last line: what follows is another's."""
    name, _, module = function.partition(" ")
    place = f"{name}+0x1f4/0x2e0"
    text = RACE.format(function, name).replace(place, f"{place} {module}")
    found = log.verdict((HARMLESS + text + "tcp_star: [tcp_star]\n").splitlines(), brought)
    assert (found is not None) == counts
    assert found is None or found.line.startswith(f"BUG: KCSAN: data-race in {function} / tcp_get")
    other = log.verdict((text + LOGS["null"].text).splitlines(), brought)
    assert other is not None
    assert counts or other.line == LOGS["null"].line


@pytest.mark.parametrize("other", ["timekeeping_advance", "sscop_send"])
def test_a_race_of_the_kernels_time_is_its_own(other: str) -> None:
    """Also where a module has asked for the time."""
    text = RACE.replace("tcp_get_info\n", f"{other}\n", 1).format("ktime_get", "sscop_poll [sscop]")
    text = text.replace("sscop_poll [sscop]+0x1f4/0x2e0", "sscop_poll+0x1f4/0x2e0 [sscop]")
    assert (log.verdict(text.splitlines(), ["sscop"]) is None) == (other == "timekeeping_advance")


def test_what_a_script_writes_is_not_the_kernels() -> None:
    """On a console both write; a script's line may be unfinished when the kernel's comes."""
    mixed = f"WARNING: a tool's\r\nBUG: a tool's\r\nhalf {stamp(LOGS['bug'].messages[1])}"
    assert log.stamped(mixed) == [LOGS["bug"].messages[1]]
    assert log.last_words(mixed) == [LOGS["bug"].messages[1]]
    unstamped = "WARNING: a tool's\nKernel panic - not syncing: for the test\n"
    assert log.stamped(unstamped) == []
    assert log.last_words(unstamped) == ["Kernel panic - not syncing: for the test"]


@pytest.mark.parametrize("name", LOGS)
def test_stalls_are_told_from_other_reports(name: str) -> None:
    assert log.stalls(stamp(LOGS[name].text)) == (name in STALLS)
    assert not log.stalls(stamp(LOGS[name].text, "none")), "a script's words"


# --- a run ------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """The folder of a run that is done and good."""
    work = Work(tmp_path / "work")
    work.out.mkdir(parents=True)
    (work.out / "status").write_text("0\n")
    work.console.write_text("hello\napogee: end 1.00 1.00\napogee: done\n")
    work.dmesg.write_text(stamp(HARMLESS))
    return work


def test_a_good_run_is_kept(work: Work, tmp_path: Path) -> None:
    assert keep(work, RunInfo(2.0, 1.0), tmp_path / "out", check=True) == RunInfo(2.0, 1.0, 0)
    assert (tmp_path / "out" / "dmesg.txt").exists()


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("place", ["dmesg", "console"])
def test_a_report_fails_a_run_that_is_done(
    work: Work, tmp_path: Path, place: str, check: bool
) -> None:
    """Also one that came after the log was saved, and if the script failed as well."""
    (work.out / "status").write_text("1\n" if check else "0\n")
    file: Path = getattr(work, place)
    file.write_text(file.read_text() + stamp(LOGS["kasan"].text))
    with pytest.raises(GuestFailed) as failure:
        keep(work, RunInfo(2.0, 1.0), tmp_path / "out", check)
    assert failure.value.reason == f"the kernel reported: {LOGS['kasan'].line}"
    assert "Read of size 4" in "\n".join(failure.value.console_tail)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stamp", ["", "[    9.123456] "])
def test_a_script_that_fails_fails_its_run_if_asked(work: Work, tmp_path: Path, stamp: str) -> None:
    """Why is what it said last, not the kernel's farewell, which UML's kernel does not stamp."""
    (work.out / "status").write_text("3\n")
    work.console.write_text(f"{work.said()}{stamp}reboot: System halted\n")
    said = "^the guest's script ended with status 3: hello$"
    with pytest.raises(GuestFailed, match=said) as failure:
        keep(work, RunInfo(2.0, 1.0), tmp_path / "out", check=True)
    assert failure.value.console_tail == ["hello"]
    assert keep(work, RunInfo(2.0, 1.0), tmp_path / "out", check=False).status == 3


def test_why_a_guest_did_not_come_to_its_end(work: Work, monkeypatch: Patch) -> None:
    """What the kernel said is the reason, even if the program failed as well."""
    (work.folder / "errors").write_text("first\nlast words\n")
    supervise._check_end("UML", 0, work)
    with pytest.raises(GuestFailed, match="^UML was killed by SIGKILL$"):
        supervise._check_end("UML", -9, work)
    with pytest.raises(GuestFailed, match="^UML ended with status 1: last words$"):
        supervise._check_end("UML", 1, work)
    work.console.write_text("hello\n")
    with pytest.raises(GuestFailed, match="^the guest stopped before its results were out$"):
        supervise._check_end("UML", 0, work)
    full = os.statvfs_result((4096, 4096, 9, 9, 9, 9, 9, 9, 0, 255))
    no_space = pytest.raises(LabError, match="no space left on device")
    with monkeypatch.context() as patch, no_space:
        patch.setattr(os, "statvfs", lambda _: full)
        supervise._check_end("UML", 0, work)
    work.console.write_text("hello\nKernel panic - not syncing: for the test\n")
    for status in (0, -6):
        with pytest.raises(GuestFailed) as failure:
            supervise._check_end("UML", status, work)
        reason = "the kernel reported: Kernel panic - not syncing: for the test"
        assert failure.value.reason == reason
        assert failure.value.console_tail[0] == "hello"


def test_guests_are_spread_over_the_cpus(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("APOGEE_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    with ExitStack() as first, ExitStack() as second:
        assert [supervise._one_cpu(guest) for guest in (first, second)] == [3, 5]
        with ExitStack() as third:
            assert [supervise._one_cpu(third) for _ in range(3)] == [None, None, None]
        second.close()
        assert supervise._one_cpu(second) == 5
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert supervise._one_cpu(first) is None


def test_a_cache_that_is_only_read_gives_no_cpu(tmp_path: Path, monkeypatch: Patch) -> None:
    """A file in the place of its folder: what may write everywhere cannot write there either."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    (tmp_path / "cpus").touch()
    for cache in (tmp_path, tmp_path / "cpus"):
        monkeypatch.setenv("APOGEE_CACHE", str(cache))
        with ExitStack() as guest:
            assert supervise._one_cpu(guest) is None


def watched(
    work: Work, script: str, wall_s: float = math.inf, virtual_s: float = math.inf, **more: float
) -> str:
    """Why a guest that is a shell script fails."""
    command = Command("sh", ["sh", "-c", script], {}, one_cpu=False, in_place=True)
    with pytest.raises(GuestFailed) as failure:
        supervise.supervise(command, work, Bounds(wall_s, virtual_s, **more))
    return failure.value.reason


def test_nothing_is_left_of_a_guest_that_somebody_killed(work: Work) -> None:
    """A process that stands, and so cannot end by itself."""
    script = "sh -c 'echo $$ >left; kill -STOP $$' & until [ -s left ]; do :; done; kill -KILL $$"
    assert watched(work, script) == "sh was killed by SIGKILL"
    left = Path("/proc", (work.folder / "left").read_text().strip(), "stat")
    wait_for(lambda: not left.exists() or left.read_text().split()[2] == "Z")


@pytest.mark.parametrize("name", STALLS)
def test_a_guest_that_stalls_is_ended_at_once(work: Work, monkeypatch: Patch, name: str) -> None:
    """Its message comes in pieces."""
    monkeypatch.setattr(supervise, "TOLD_S", 0.5)
    head, tail = stamp(LOGS[name].text)[:20], stamp(LOGS[name].text)[20:]
    script = f"printf '%s' '{head}'; sleep 0.5; printf '%s' '{tail}'; sleep 600"
    found = f"the kernel reported: {LOGS[name].line}"
    assert watched(work, script) == f"a CPU of the guest makes no progress; {found}"


def test_a_bound_that_is_passed_is_told_with_the_report(work: Work) -> None:
    script = f"echo '{stamp(LOGS['atomic'].text)}'; echo apogee: alive 70.00; sleep 600"
    told = f"the kernel reported: {LOGS['atomic'].line}"
    why = "the guest's script was not done after 60 s of its time"
    assert watched(work, script, virtual_s=60.0) == f"{why}; {told}"
    assert watched(work, "sleep 600", wall_s=1.0) == "the guest was not done after 1 s"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("sleep 600", "the guest has done nothing for 1 s"),
        ("kill -STOP $$", "the guest has done nothing for 1 s"),
        ("while :; do :; done", "the guest's clock stood still for 1 s of CPU time"),
        ("while :; do echo hello; done", "the guest's clock stood still for 1 s of CPU time"),
        (
            "i=0; while echo apogee: alive $((i += 10)); do sleep 0.01; done",
            "the guest's script was not done after 60 s of its time",
        ),
    ],
    ids=["silent", "stopped", "spins", "talks", "sleeps"],
)
def test_a_guest_that_hangs_is_ended(work: Work, monkeypatch: Patch, script: str, why: str) -> None:
    """Without a bound on the host's clock."""
    monkeypatch.setattr(pulse, "IDLE_S", 1.0)
    monkeypatch.setattr(supervise, "LOOK_S", 0.1)
    assert watched(work, script, virtual_s=60.0, spun_s=1.0) == why


# --- the running kernel -----------------------------------------------------------------------


def test_the_log_of_the_running_kernel() -> None:
    """Records of /dev/kmsg: kernel's and programs', with details, escapes, several lines; records
    that are lost are skipped. A datagram socket hands out whole records, too."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, its:
        ours.setblocking(False)
        for record in (
            "6,1029,12345678,-;veth0: renamed from veth1\n SUBSYSTEM=net\n DEVICE=n5\n",
            "30,1030,12345679,-;systemd[1]: BUG: not the kernel's\n",
            "4,1031,9000001,-;WARNING: possible recursive locking detected\\x0asecond \\x5cline\n",
        ):
            its.send(record.encode())
        assert kmsg.read(ours.fileno()) == (
            "[   12.345678] veth0: renamed from veth1\n"
            "[    9.000001] WARNING: possible recursive locking detected\n"
            "[    9.000001] second \\line\n"
        )


def test_records_that_were_overwritten_are_skipped(monkeypatch: Patch) -> None:
    answers = iter([BrokenPipeError(32, "overwritten"), b"6,2,3000000,-;left\n", BlockingIOError()])

    def read(_file: int, _size: int) -> bytes:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(os, "read", read)
    assert kmsg.read(0) == "[    3.000000] left\n"


def test_what_was_logged_before_does_not_count(tmp_path: Path) -> None:
    device = tmp_path / "kmsg"
    device.write_text("4,1,1000000,-;WARNING: before\n")
    with kmsg.from_now_on(device) as opened:
        assert opened is not None
        assert kmsg.read(opened) == ""
        with device.open("a") as file:
            file.write("4,2,2000000,-;WARNING: now\n")
        assert kmsg.read(opened) == "[    2.000000] WARNING: now\n"
    with kmsg.from_now_on(tmp_path / "nosuch") as opened:
        assert opened is None
