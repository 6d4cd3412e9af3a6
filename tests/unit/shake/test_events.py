# SPDX-License-Identifier: GPL-2.0
"""Events that wait to be sent: in order, and those without room are counted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.kernel import INCLUDE

ROOM = 256  # SHAKE_EVENTS


#: Each word is a number of events that are noted or, below 0, taken; what is taken is printed with
#: how many are lost behind it, and with its port. Of 1000 and more, the hundreds are a path that
#: moves, and the rest is its port.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>

#include <linux/netdevice.h>

#include <shake/events.h>

int main(int argc, char **argv)
{
	static struct shake_events events;
	struct shake_event event = { };
	u32 number = 0;

	for (int i = 1; i < argc; i++) {
		int count = atoi(argv[i]);

		if (count >= 1000) {
			event = (struct shake_event){ .cmd = SHAKE_CMD_MOVED };
			event.path = count / 100;
			event.remote.v4.sin_port = count % 100;
			shake_events_put(&events, &event);
			continue;
		}
		for (; count > 0; count--) {
			event = (struct shake_event){ .peer = number++ };
			shake_events_put(&events, &event);
		}
		for (; count < 0 && shake_events_take(&events, &event); count++)
			printf("%u %u %u\n", event.peer, event.lost, event.remote.v4.sin_port);
	}
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    (folder / "events.c").write_text(SOURCE)
    flags = ["-std=gnu11", *map(str, INCLUDE)]
    subprocess.run(["gcc", *flags, folder / "events.c", "-o", folder / "events"], check=True)
    return folder / "events"


def taken(program: Path, *numbers: int) -> list[tuple[int, ...]]:
    """Put so many events, or take so many where a number is negative."""
    done = subprocess.run([program, *map(str, numbers)], capture_output=True, text=True, check=True)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def test_a_path_that_moves_on_and_on_moves_once(program: Path) -> None:
    """To where it is at last, until that is told; another one moves besides."""
    moves = [1001, 1101, 1002, 1102] * 200
    assert taken(program, *moves, -9, 1003, -1) == [(0, 0, 2), (0, 0, 2), (0, 0, 3)]


def test_they_come_in_order(program: Path) -> None:
    """However far the ring has turned."""
    rounds = [100, -100] * 20
    assert taken(program, *rounds) == [(number, 0, 0) for number in range(2000)]


def test_what_has_no_room_is_counted_behind_the_last_that_had(program: Path) -> None:
    assert taken(program, ROOM + 3, -ROOM, 1, -9) == [
        *((number, 0, 0) for number in range(ROOM - 1)),
        (ROOM - 1, 3, 0),
        (ROOM + 3, 0, 0),
    ]


def test_none_is_none(program: Path) -> None:
    assert taken(program, -1) == []
