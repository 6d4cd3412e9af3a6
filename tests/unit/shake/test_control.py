# SPDX-License-Identifier: GPL-2.0
"""shake/control.c and path.c in virtual time: tests/fuzz/fuzz_shake_control.c."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fuzz import fuzzer_command

#: Octets of the target's script.
HAPPENS = b"\0"
DOWN = bytes([13 << 3 | 4, 0, 0, 1])


#: All links are cut for a minute, so that their paths die, and are well again.
DEAD = bytes.fromhex("0f80000f81000f82002a807b0f00000f01000f0200")

#: Two HELLOs at once, of a leader that boots again, and without a key one with another nonce; two
#: answers to one HELLO; a HELLO of each of 42 peers; a socket that goes during registration.
PACED = (
    "01001c0000000e00000600000e0300060000",
    "00001600000c011600000c02",
    "01000e00000600000000",
    "003c01ff002e000001",
    "010000000000006c00000142ffff6c000000001affff00000000",
)


def misdirect(frame: int) -> bytes:
    """A frame of the first path goes to the socket of the second."""
    return bytes([6 << 3 | 6, frame, 1])


def lose(frame: int) -> bytes:
    """A frame that is on its way is lost."""
    return bytes([4 << 3 | 7, 0, frame])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("control") / "shake_control"
    command = fuzzer_command("shake_control", target)
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return target


def run(program: Path, *words: str | Path) -> None:
    done = subprocess.run(
        [program, *words],
        capture_output=True, text=True, timeout=300, check=False, cwd=program.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_under_libfuzzer(program: Path) -> None:
    run(program, "-runs=1500", "-max_len=400", "-len_control=0", "-seed=1")


def test_a_path_without_socket_stays_absent(program: Path) -> None:
    """Its device goes while something for it is on its way, which then comes by another path's
    socket: at any time of registration and after it."""
    scripts = program.parent / "scripts"
    scripts.mkdir()
    for happened in range(25):
        for frame in range(3):
            octets = b"\1" + HAPPENS * happened + DOWN + misdirect(frame) + HAPPENS * 4
            (scripts / f"{happened}-{frame}").write_bytes(octets)
    run(program, "-runs=0", scripts)


def test_answers_are_paced(program: Path) -> None:
    """Each of these fails if a limit is missing: 2 ms between answers to a path, 400 ms between
    those to the same HELLO, 20 in 20 ms to all."""
    folder = program.parent / "paced"
    folder.mkdir()
    for octets in PACED:
        (folder / octets).write_bytes(bytes.fromhex(octets))
    run(program, "-runs=0", folder)


def test_a_session_is_made_while_the_agent_talks(program: Path) -> None:
    """A WELCOME, CONFIRM or READY of a path that was dead is lost. The agent sends in its new
    session, which tells the leader nothing of the old one that it still sends in."""
    folder = program.parent / "talks"
    folder.mkdir()
    for happened in range(5, 12):
        for frame in range(4):
            octets = b"\x09" + HAPPENS * 40 + DEAD + HAPPENS * happened + lose(frame)
            (folder / f"{happened}-{frame}").write_bytes(octets)
    run(program, "-runs=0", folder)
