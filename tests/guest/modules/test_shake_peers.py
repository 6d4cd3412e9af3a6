# SPDX-License-Identifier: GPL-2.0
"""All of an agent's peers are shown, in parts: `ip link xstats type shake`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.guest.modules.scripted import Told, reported
from tests.guest.modules.shake_pair import run as run_pair
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.uml]

MANY = 1024

#: The first peer is a leader with two paths; the others have up to two prefixes.
PEERS = """
lines; agent_up; leader_up; paths; ready first; pinged first 10.3.0.2
set -f; files=/sys/class/net/shake0/shake
for n in $(seq 2 MANY); do echo "+$n"; case $n in *7) echo "$n allow fd09::$n/128"
	echo "$n allow 10.9.$((n / 256)).$((n % 256))/32";; esac; done >/tmp/lines
$ha sh -c "while read line; do echo \\"\\$line\\" >$files/peers; done" </tmp/lines
ip link add other type shake role agent; ip link set other type shake peer 3
ip -n ha -j link xstats type shake dev shake0 >$OUT/json; ip -n ha link xstats type shake >$OUT/text
ip -j link xstats type shake >$OUT/leader
# Who asks for one device alone gets what one attribute holds.
ip -n ha stats show dev shake0 group xstats && say "alone: yes"
ip -n ha -d -j link show shake0 >$OUT/link
# Peers go, and one comes, after the first part.
change='for n in 1 2 3 4; do ip link set shake0 type shake peer $n off; done
	ip link set shake0 type shake peer 4000000000'
chmod +x /bin/peers_dump; $ha peers_dump "$change" >$OUT/dumped
refuse device ip link xstats type shake dev none; refuse word ip link xstats type shake what
""".replace("MANY", str(MANY))


def run(script: str, engine: str, out: Path, root: Path) -> Told:
    """Run a script in a guest that has a program that dumps peers; its report."""
    dump = compiled(root / "tests/guest/modules/peers_dump.c")
    return run_pair(script, engine, out, root, files={"bin/peers_dump": dump})


peers = reported(run, "shake-many-peers", PEERS)


def merged(path: Path, name: str) -> list[dict[str, Any]]:
    """A device's peers; each part of a dump is an object of its own."""
    parts = json.loads(path.read_text())
    return [peer for part in parts if part["ifname"] == name for peer in part["peers"]]


def test_all_peers_are_shown(peers: Told) -> None:
    """Where the link itself shows some, and how many there are."""
    link = json.loads((peers.out / "link").read_text())[0]["linkinfo"]["info_data"]
    assert link["peer_count"] == MANY > len(link["peers"])
    shown = merged(peers.out / "json", "shake0")
    assert [peer["id"] for peer in shown] == list(range(1, MANY + 1))
    allowed = {peer["id"]: peer["allow"] for peer in shown if peer["allow"] and peer["id"] > 1}
    assert list(allowed) == [n for n in range(2, MANY + 1) if n % 10 == 7]
    assert allowed[517] == ["fd09::517/128", "10.9.2.5/32"]
    assert [peer["has_key"] for peer in shown] == [True] + [False] * (MANY - 1)


def test_one_message_has_what_fits(peers: Told) -> None:
    """The kernel would say in its log that it does not."""
    assert peers["alone"] == "yes"


def test_paths_are_shown_with_their_peer(peers: Told) -> None:
    first = merged(peers.out / "json", "shake0")[0]
    assert [(path["id"], path["state"]) for path in first["paths"]] == [(1, "alive"), (2, "alive")]
    assert sum(path["received"] for path in first["paths"]) >= 3
    lines = (peers.out / "text").read_text().splitlines()
    assert lines[0] == "shake0"
    assert lines[1].split() == "peer 1 has-key on allow 10.7.0.1/32 allow fd07::1/128".split()
    assert lines[2].split()[:2] == ["path", "1"] and "state alive srtt-ms" in lines[2]
    assert len(lines) == 1 + MANY + 2


def test_each_device_has_its_own(peers: Told) -> None:
    assert [peer["id"] for peer in merged(peers.out / "leader", "shake0")] == [1]
    assert [peer["id"] for peer in merged(peers.out / "leader", "other")] == [3]
    assert peers["device refused"] == 'Cannot find device "none"'
    assert peers["word refused"] == "Usage: ip link xstats type shake [dev NAME]"


def test_each_peer_that_stays_is_shown_once(peers: Told) -> None:
    """Whoever comes or goes meanwhile."""
    shown = [int(line) for line in (peers.out / "dumped").read_text().splitlines()]
    assert shown == [*range(1, MANY + 1), 4_000_000_000]
