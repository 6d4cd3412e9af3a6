# SPDX-License-Identifier: GPL-2.0
"""shake-quick among other tunnels, users and programs: what it has to stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, reported
from tests.guest.modules.shake_pair import run as run_pair

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: A leader without an agent. A path of tunnel "up" has neither device nor address.
ROUGH = """
ip link set lo up; ip link add wan1 type dummy; ip addr add 10.1.1.1/24 dev wan1
ip link set wan1 up; ip route add default via 10.1.1.2 dev wan1 metric 100; mkdir /etc/shake
for name in home up; do printf '%s\\n' '[Interface]' 'Role = leader' 'Remote = 10.9.9.9' \\
	'[Path]' 'Dev = wan1' '[Peer]' 'AllowedIPs = 0.0.0.0/0' >/etc/shake/$name.conf; done
sed -i /Dev/d /etc/shake/up.conf
ours() { ip rule | grep -Ev '^(0|3276[67]):'; }
left() { say "$1 left: $(ours | wc -l) $(ip -o link show type shake | wc -l)"; }
nobody() { python3 -c 'import os, sys; os.setuid(65534)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"; }
for name in home up; do shake-quick up $name & ups="$ups $!"; done; wait $ups; ours >$OUT/before
say "names: $(ip -o link show type shake | cut -d: -f2 | sort | tr '\\n' ' ')"
# What somebody else has made stays; what he takes away comes back.
table=$(ip rule | sed -n 's/.*oif wan1 lookup //p')
ip rule add pref 31001 fwmark 5 lookup $table; ip rule add pref 9 to 10.5.0.0/16 lookup $table
ip addr add 10.1.1.3/24 dev wan1; sleep 1; ip addr del 10.1.1.3/24 dev wan1; sleep 1
say "user's: $(ip rule | grep -c fwmark) $(ip rule | grep -c 10.5)"
ip rule flush; ip rule add pref 32766 lookup main; sleep 1; ours >$OUT/after
nobody shake-quick metrics >$OUT/metrics && say "metrics: yes"
nobody timeout 1 shake-quick monitor; say "monitor: $?"; refuse user nobody shake-quick down home
for name in home up; do shake-quick down $name & downs="$downs $!"; done; wait $downs; left both
# Down comes before who follows has begun.
shake-quick up home; shake-quick down home; sleep 0.5; left soon
"""


def run(script: str, engine: str, out: Path, root: Path) -> Told:
    return run_pair(script, engine, out, root, extras=["shake-quick"])


rough = reported(run, "shake-quick-rough", ROUGH)


def test_two_at_once(rough: Told) -> None:
    """One has the name of a word of ip, and a path by the agent's port. They share one rule."""
    assert rough["names"].split() == ["home", "up"]
    rules = [line.split(":")[0] for line in (rough.out / "before").read_text().splitlines()]
    assert rules == ["31000", *["31001"] * 3, *["31002"] * 2]


def test_nothing_is_left(rough: Told) -> None:
    """Of two that are taken down at once, and of one at once after up."""
    assert rough["both left"] == rough["soon left"] == "0 0"


def test_rules_of_others_stay_and_its_own_come_back(rough: Told) -> None:
    assert rough["user's"] == "1 1"
    before, after = ((rough.out / name).read_text() for name in ("before", "after"))
    assert sorted(before.splitlines()) == sorted(after.splitlines())


def test_users_may_look_but_not_touch(rough: Told) -> None:
    """A signal ends the monitor."""
    assert (rough["metrics"], rough["monitor"]) == ("yes", "143")
    assert 'shake_up{device="up"' in (rough.out / "metrics").read_text()
    assert "Permission denied" in rough["user refused"]
