# SPDX-License-Identifier: GPL-2.0
"""Datagrams by two of SHAKE's paths in a real guest: in order, pinned, or as they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, gap, numbers, reported, rows, ticks
from tests.guest.modules.shake_pair import run
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: A download with the loss detection of QUIC, by paths of 20 and 150 ms. Then the path of a flow
#: that is pinned dies.
DATAGRAMS = """
chmod +x /bin/quick
lines; slow 1 2mbit 10ms; slow 2 2mbit 75ms; agent_up; leader_up; paths; ready first
far_sent() { $ha ip -d -s -j link show shake0 | tr -d ' \\n' | sed 's/.*"xstats"//;s/.*"paths"//' |
	grep -o '"sent":[0-9]*' | cut -d: -f2; }
for mode in spread order pin; do
	for ns in "" "-n ha"; do ip $ns link set shake0 type shake datagrams $mode; done
	set -- $(far_sent); sleep 1; quick read 6001 $OUT/$mode 1000 & reader=$!; sleep 0.2
	say "$mode: $($cn quick send 10.7.0.1 6001 10)"; sleep 0.3; kill $reader; wait $reader
	set -- $* $(far_sent); say "$mode shares: $(($3 - $1)) $(($4 - $2))"
	counts $mode "order_waited order_gave_up order_repeated"
done
$cn verified tock 5301 $OUT/pinned & tock=$!; sleep 0.1; set -- $(sent)
verified tick 10.3.0.2 5301 20 8 & tick=$!; sleep 2; set -- $* $(sent)
n=1; [ $(($3 - $1)) -gt $(($4 - $2)) ] || n=2; lose $n; say "pinned: $(($3 - $1)) $(($4 - $2))"
sleep 3; set -- $(sent); wait $tick; set -- $* $(sent); say "moved: $n $(($3 - $1)) $(($4 - $2))"
kill $tock; wait $tock || :
"""


@pytest.fixture(scope="module")
def datagrams(build: Path, root: Path) -> Told:
    program = compiled(root / "tests/guest/modules/quick.c", libraries=("m",))
    out = build / "tests" / "shake-datagrams"
    return run(DATAGRAMS, "uml", out, root, files={"bin/quick": program})


def came(told: Told, mode: str) -> float:
    """Octets a second from the third second on."""
    lines = [(int(at), int(octets)) for at, octets in rows(told.out / mode)]
    (begin, before), (end, after) = lines[3], lines[-1]
    return 1000 * (after - before) / (end - begin)


def lost(told: Told, mode: str) -> tuple[int, int]:
    """Packets that the sender took for lost, and those of them that came."""
    words = told[mode].split()
    return int(words[3]), int(words[5])


def test_in_order_both_paths_count(datagrams: Told) -> None:
    """Of 2 Mbit/s each some 235 000 octets a second are data: in order a download has more than one
    has, and pinned it has one."""
    assert came(datagrams, "order") > 1.1 * 235_000
    assert came(datagrams, "pin") < 1.05 * 235_000
    assert numbers(datagrams, "order order_waited")[0] > 100
    assert numbers(datagrams, "spread order_waited") == [0, 0]
    assert numbers(datagrams, "order order_repeated") == [0, 0]


def test_a_pinned_flow_goes_by_one_path(datagrams: Told) -> None:
    """And none of its packets is taken for lost that was not. The way back has ACKs only."""
    first, second = numbers(datagrams, "pin shares")
    assert min(first, second) < 10 < max(first, second)
    assert lost(datagrams, "pin")[1] == 0


def test_a_pinned_flow_leaves_a_dead_path(datagrams: Told) -> None:
    first, second = numbers(datagrams, "pinned")
    assert min(first, second) == 0 and max(first, second) > 90
    dead, *sent = numbers(datagrams, "moved")
    assert sent[dead - 1] < sent[2 - dead] and sent[2 - dead] > 100


# --- by two paths ---------------------------------------------------------------------------------

#: A call while the path dies that it goes by, each way: not doubled, doubled as its packets are
#: short, or for their class.
DOUBLED = """
lines; slow 1 4mbit 10ms; slow 2 4mbit 25ms; agent_up; leader_up; paths; ready first
both() { ip link set shake0 type shake $*; ip -n ha link set shake0 type shake $*; }
for how in single double; do
	[ $how = single ] || both duplicate 200
	for way in up down; do
		$cn verified tock 5301 $OUT/$how-up & up=$!; verified tock 5301 $OUT/$how-down & down=$!
		sleep 0.1; case $way in up) verified tick 10.3.0.2 5301 20 6 & tick=$!;;
		down) $cn verified tick 10.7.0.1 5301 20 6 & tick=$!;; esac
		sleep 2.5; lose 1; sleep 1.5; mend 1 4mbit 10ms; wait $tick; sleep 0.5
		kill $up $down; wait $up || :; wait $down || :; mv $OUT/$how-$way $OUT/call-$how-$way
		sleep 1
	done
	counts $how "duplicated order_repeated"
done
both duplicate 0 duplicate-dscp 46
$cn verified marked 5302 $OUT/marked & marked=$!; sleep 0.1
verified mark 10.3.0.2 5302 0 20; counts plain "duplicated"
verified mark 10.3.0.2 5302 184 20; sleep 0.5; counts class "duplicated"
kill $marked; wait $marked || :
say "marked: $(wc -l <$OUT/marked)"
"""

doubled = reported(run, "shake-doubled", DOUBLED)


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_call_does_not_notice_that_a_path_dies(doubled: Told, way: str) -> None:
    """By two paths it has no gap above 40 ms; by one until the path is suspected."""
    assert gap(doubled.out / f"call-double-{way}") <= 40
    assert gap(doubled.out / f"call-single-{way}") <= 200
    came = [number for _, number in ticks(doubled.out / f"call-double-{way}")]
    assert sorted(came) == list(range(len(came))) and len(came) >= 300


def test_the_second_one_is_dropped(doubled: Told) -> None:
    """All but some 75 that the dead path had, each way."""
    assert numbers(doubled, "single duplicated") == [0, 0]
    sent = numbers(doubled, "double duplicated")
    dropped = numbers(doubled, "double order_repeated")
    assert min(sent) >= 220
    assert min(dropped) >= 200 and dropped[0] <= sent[1] and dropped[1] <= sent[0]


def test_a_class_goes_by_two_paths(doubled: Told) -> None:
    before, after = (numbers(doubled, f"{when} duplicated")[0] for when in ("plain", "class"))
    assert before == numbers(doubled, "double duplicated")[0]
    assert after - before == 20
    assert doubled["marked"] == "40"
