# SPDX-License-Identifier: GPL-2.0
"""Which packets go in a class, and that a peer without classes gets all of them assured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, numbers
from tests.guest.modules.sscop_pair import run
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.uml]

WORDS = "unassured ef bounded 34 small 200 persist 500ms"
#: A line "CASE: UNASSURED BOUNDED SEGMENTS", packets and segments that a command has sent.
SCRIPT = f"""
cp /lab/datagrams.bin /bin/datagrams; chmod 755 /bin/datagrams
sent() {{ for n in unassured_sent bounded_sent sd_sent; do count '' $n; done | tr '\\n' ' '; }}
tried() {{ name=$1; shift; before=$(sent); "$@" >>$OUT/log 2>&1; say "$name status: $?"
	set -- $before $(sent); say "$name: $(($4 - $1)) $(($5 - $2)) $(($6 - $3))"; }}
pings() {{ ping -c 5 -i 0.05 -W 2 "$@"; }}
udp() {{ echo "$1" | tr ';' '\\n' | datagrams 10.7.0.2 9; }}
below; slow 10mbit 5ms
near_up near "{WORDS}"; far_up far "{WORDS}"; ready first; addresses; sleep 0.5
tried small pings 10.7.0.2
$far verified tock 9 $OUT/ticked & tock=$!; sleep 0.1
tried ef verified mark 10.7.0.2 9 184 5
tried af41 verified mark 10.7.0.2 9 136 5
tried large pings -s 1000 10.7.0.2
tried fragments pings -s 3000 10.7.0.2
tried ipv6 verified mark fd00::2 9 184 5
tried stream udp '0 5 100'
tried mixed udp '0 1 1000;1000 5 100'
$far verified drink 5201 $OUT/drunk & drink=$!; sleep 0.1
tried tcp verified pour 10.7.0.2 5201 300000 20
say "missed: $(count "$far" unassured_missed) $(count "$far" bounded_missed)"
say "given: $(count '' packets_broken) $(count "$far" packets_broken) $(count '' resets)"
ip -n far link set s0 down
ip -n far link set s0 type sscop unassured none bounded none small 0
ip -n far link set s0 up; ready again; ip -n far addr add fd00::2/64 dev s0 nodad 2>/dev/null
sleep 0.5
tried alone verified mark 10.7.0.2 9 184 5
ip link del s0; kill $tock $drink; ip netns del far; sleep 0.5
for n in 1 2 3 4 5 6 7 8 9; do rmmod sscop 2>/dev/null && break; sleep 0.2; done
[ ! -d /sys/module/sscop ]; say "gone: $?"
"""


@pytest.fixture(scope="module")
def told(build: Path, root: Path) -> Told:
    program = compiled(root / "tests/guest/scenarios/datagrams.c")
    files = {"lab/datagrams.bin": program}
    return run(SCRIPT, "uml", build / "tests" / "sscop-classes", root, files=files)


@pytest.mark.parametrize(
    ("case", "unassured", "bounded", "segments"),
    [
        ("small", 0, 5, False),
        ("ef", 5, 0, False),
        ("af41", 0, 5, False),
        ("large", 0, 0, True),
        ("fragments", 0, 0, True),
        ("ipv6", 5, 0, False),
        ("stream", 0, 5, False),
        ("mixed", 0, 0, True),
        ("tcp", 0, 0, True),
        ("alone", 0, 0, True),
    ],
)
def test_a_packet_goes_in_its_class(
    told: Told, case: str, unassured: int, bounded: int, segments: bool
) -> None:
    """A flow with a packet that is long for its class stays in order: all of it is assured."""
    assert told[f"{case} status"] == "0"
    found = numbers(told, case)
    assert found[0] == unassured
    assert found[1] == bounded
    assert (found[2] >= 5) == segments


def test_nothing_is_missed_on_a_link_without_errors(told: Told) -> None:
    assert numbers(told, "missed") == [0, 0]
    assert numbers(told, "given") == [0, 0, 0]


def test_the_module_goes(told: Told) -> None:
    assert told["gone"] == "0"
