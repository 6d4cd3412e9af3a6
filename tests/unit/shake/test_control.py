# SPDX-License-Identifier: GPL-2.0
"""shake/control.c and path.c in virtual time: tests/fuzz/fuzz_shake_control.c."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import kept_fuzzer, play, run_fuzzer
from tests.unit.shake.wire_core import COUNTED

#: Octets of the target's script.
HAPPENS = b"\0"

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


def cut(link: int) -> bytes:
    """Nothing comes by a link any more."""
    return bytes([1 << 3 | 7, 0x80 | link, 0])


#: The agent begins anew.
AGENT_BOOTS = bytes([3 << 3 | 4, 1, 0])


def record(frame: int) -> bytes:
    """Somebody keeps a frame that is on its way."""
    return bytes([1 << 3 | 6, frame, 0])


#: The frame that was kept comes again.
AGAIN = bytes([0 << 3 | 6, 0, 0])

#: What a device does.
COMES, DOWN, GOES, RENAMED = range(4)


def device(event: int) -> bytes:
    """Of the first path."""
    return bytes([13 << 3 | 4, 0, 0, event])


#: The leader's device goes down, or up; its first path gets the second path's device.
SWITCHED = bytes([2 << 3 | 4, 0, 0])
ELSEWHERE = bytes([5 << 3 | 4, 0, 0, 2])


def down_between(frame: int) -> bytes:
    """A frame comes, and its session is found; before the lock the first path's device goes."""
    return bytes([7 << 3 | 6, frame, 0, 2, 0, 0, DOWN])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept_fuzzer("shake_control", tmp_path_factory.mktemp("control") / "shake_control")


def test_under_libfuzzer(program: Path) -> None:
    run_fuzzer(program, "-runs=200", "-max_len=400", "-len_control=0", "-seed=1")


def test_a_path_without_socket_stays_absent(program: Path) -> None:
    """Its device goes while something for it is on its way, which then comes by another path's
    socket: at any time of registration and after it."""
    play(program, (
        b"\1" + HAPPENS * happened + device(DOWN) + misdirect(frame) + HAPPENS * 4
        for happened in range(25) for frame in range(3)
    ))  # fmt: skip


def test_answers_are_paced(program: Path) -> None:
    """Each of these fails if a limit is missing: 2 ms between answers to a path, 400 ms between
    those to the same HELLO, 20 in 20 ms to all."""
    play(program, map(bytes.fromhex, PACED))


def test_a_session_is_made_while_the_agent_talks(program: Path) -> None:
    """A WELCOME, CONFIRM or READY of a path that was dead is lost. The agent sends in its new
    session, which tells the leader nothing of the old one that it still sends in."""
    play(program, (
        b"\x09" + HAPPENS * 40 + DEAD + HAPPENS * happened + lose(frame)
        for happened in range(5, 12) for frame in range(4)
    ))  # fmt: skip


def test_a_recorded_frame_changes_nothing(program: Path) -> None:
    """A CONFIRM taken twice would begin a session's counters, which are nonces, again."""
    play(program, (
        b"\1" + HAPPENS * happened + record(frame) + HAPPENS * 4 + AGAIN
        for happened in range(16) for frame in range(3)
    ))  # fmt: skip


def test_an_agent_begins_anew_without_a_key(program: Path) -> None:
    """One path is silent meanwhile: a path that registers must not get the number that the silent
    one's session had, whose data, that the leader goes on sending, would be taken for its own."""
    play(program, (
        b"\x10" + HAPPENS * 20 + cut(link) + AGENT_BOOTS + HAPPENS * happened
        for link in range(3) for happened in range(8, 13)
    ))  # fmt: skip


def test_another_device_gets_the_number_of_one_that_went(program: Path) -> None:
    """Its name is the path's own only later: then the path registers."""
    events = b"".join(map(device, (GOES, RENAMED, COMES, RENAMED)))
    play(program, (b"\1" + HAPPENS * happened + events for happened in (0, 20)))


def test_a_path_follows_only_its_own_device(program: Path) -> None:
    """What it left by before may get another name, while SHAKE's device is down, too."""
    play(program, [
        b"\1" + HAPPENS * 20 + SWITCHED + ELSEWHERE + device(RENAMED),
        b"\1" + HAPPENS * 20 + ELSEWHERE + device(RENAMED),
    ])  # fmt: skip


def test_a_device_goes_while_a_packet_comes(program: Path) -> None:
    """READY, too: what its session was, nobody may use any more."""
    play(program, (
        b"\1" + HAPPENS * happened + down_between(frame) + HAPPENS * 4
        for happened in range(25) for frame in range(3)
    ))  # fmt: skip


def test_a_copy_of_a_hello_is_faster(program: Path) -> None:
    """From another address. Its leader is answered nevertheless, however soon it comes."""
    elsewhere = bytes([0 << 3 | 6, 0, 1])
    play(program, (
        b"\1" + HAPPENS * happened + record(frame) + elsewhere + moved + HAPPENS * 4
        for happened in (1, 2) for frame in range(3)
        for moved in (b"", bytes([6 << 3 | 7, 0, frame, 0, 0, 0, 0]))
    ))  # fmt: skip


def test_a_packet_that_was_cut_from_others(program: Path) -> None:
    """UDP cuts what came merged, and leaves each on the list of the others. TCP's data goes up in
    lists of its own."""
    tcp = bytes([0 << 3 | 3, 0, 1, COUNTED])
    play(program, [b"\1" + HAPPENS * 20 + tcp + HAPPENS * 4])


def test_a_stolen_key_locks_no_path(program: Path) -> None:
    """HELLOs of the latest time that there is, by who has the agent's private key: nothing shows
    that the leader has sent them, so its own are answered nevertheless."""
    stolen = bytes([4 << 3 | 6, 0, 0xFF])
    play(program, (
        b"\6" + HAPPENS * happened + stolen * times + HAPPENS * 4
        for happened in (*range(1, 4), 20) for times in (1, 3)
    ))  # fmt: skip


def test_the_machine_is_suspended_while_a_packet_comes(program: Path) -> None:
    """No key is left to whoever reads its memory."""
    play(program, (
        b"\1" + HAPPENS * happened + bytes([7 << 3 | 6, frame, 0, 3, 0, 1]) + HAPPENS * 4
        for happened in range(3, 9) for frame in range(3)
    ))  # fmt: skip


def encrypt(who: int, on: bool) -> bytes:
    """A user of the leader (0) or agent (1) switches encryption."""
    return bytes([1 << 3 | 4, who, 4 * on])


def test_encryption_is_asked_for_while_a_path_registers(program: Path) -> None:
    """What the HELLO that is on its way says is not the last word."""
    play(program, (
        b"\1" + encrypt(0, False) + encrypt(1, False) + HAPPENS * happened + encrypt(who, True)
        + HAPPENS * 12 for happened in range(2, 9) for who in range(2)
    ))  # fmt: skip
