# SPDX-License-Identifier: GPL-2.0
"""shake-quick in a guest: up, down, show, monitor, hook, metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.guest.modules.scripted import Told, reported
from tests.guest.modules.shake_pair import run as run_pair
from tests.unit.packaging.quick import table_of

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: Path 1 by a static address; path 2 as an LTE stick has it. Default routes of both are in table
#: main, as a DHCP client sets them; none leads to the agent's networks otherwise.
QUICK = """
lines
for n in 1 2; do ip route del 10.2.$n.0/24; $ha ip addr add 10.9.9.9/32 dev lo
	ip route add default via 10.1.$n.2 dev wan$n metric $((n * 100))
	ip -n net$n route add 10.9.9.9 via 10.2.$n.2; done
mkdir /etc/shake; mv /tmp/key /etc/shake/key
cat >/etc/shake/hub.conf <<'END'
[Interface]
Role = agent
Address = 10.7.0.254/24
PostUp = echo %i up >>$OUT/commands
PostDown = echo %i down >>$OUT/commands

[Peer]
Id = 7
Key = /etc/shake/key
AllowedIPs = 10.7.0.1, 10.8.0.0/24
END
cat >/etc/shake/hook <<'END'
#!/bin/sh
echo "$* $SHAKE_PEER $SHAKE_WAS" >>/out/hooked
END
chmod +x /etc/shake/hook
cat >/etc/shake/home.conf <<'END'
[Interface]
Role = leader
Id = 7
Remote = 10.9.9.9
Address = 10.7.0.1/24
Hook = /etc/shake/hook

[Peer]
Key = /etc/shake/key
AllowedIPs = 0.0.0.0/0

[Path]
Dev = wan1
Weight = 50

[Path]
Dev = wan2
END
$ha shake-quick up hub && shake-quick up home && say "up: yes"
shake-quick monitor --json >$OUT/events.json & monitors=$!
$ha shake-quick monitor hub >$OUT/events & monitors="$monitors $!"
alive() { grep -c state=alive /sys/class/net/home/shake/paths; }
tables() { ip rule | grep -Ev '^(0|3276[67]):'; ip route show table all | grep 'default.*table'; }
remote() { $ha sed -n "s/^peer=7 $1 .*remote=\\([^ ]*\\).*/\\1/p" /sys/class/net/hub/shake/paths; }
ready first; tables >$OUT/tables
say "hub: $($ha ip -o route show dev hub | cut -d' ' -f1 | tr '\\n' ' ')"
pinged tunnel 10.3.0.2; say "by: $(ip -o route get 10.3.0.2 | cut -d' ' -f2-3)"
say "near: $(ip -o route get 10.1.1.2 | cut -d' ' -f2-3)"
shake-quick show >$OUT/show; shake-quick show --json home >$OUT/show.json
shake-quick metrics >$OUT/metrics; $ha shake-quick metrics >$OUT/metrics.agent
lose 2; sleep 5; mend 2; ready back
# The stick gets another address, and another router.
ip addr del 10.1.2.1/24 dev wan2; ip addr add 10.1.2.77/24 dev wan2
ip -n net2 addr add 10.1.2.3/24 dev near; ip route add default via 10.1.2.3 dev wan2 metric 200
sleep 3; tables >$OUT/tables.moved; pinged moved 10.3.0.2 6; say "moved: $(remote 1) $(remote 2)"
refuse twice shake-quick up home; refuse other shake-quick down wan1
shake-quick down home && shake-quick down home && say "down: yes"
$ha shake-quick down hub; kill $monitors
# As a unit: it ends when it is told to, and what it has set is removed afterwards.
$ha shake-quick up --foreground hub & unit=$!; sleep 1; kill $unit; wait $unit
say "unit: $? $($ha ip -o link show type shake | grep -c hub)"; $ha shake-quick down hub
say "unit left: $($ha ip -o link show type shake | grep -c hub)"
say "followers: $(grep -c shake-quick /proc/net/unix)"
# The fourth word of path 1 is none; what was begun is undone. Then a command of the user's fails.
sed 's/^Weight = 50/Weight = 0/' /etc/shake/home.conf >/etc/shake/bad.conf
refuse weight shake-quick up bad; sed '5i PostUp = false' /etc/shake/home.conf >/etc/shake/bad.conf
refuse command shake-quick up bad; sed '/wan2/a Wide = on' /etc/shake/home.conf >/etc/shake/bad.conf
refuse word shake-quick up bad; tables >$OUT/left; ip -o link show type shake >>$OUT/left
"""


def run(script: str, engine: str, out: Path, root: Path) -> Told:
    return run_pair(script, engine, out, root, extras=["shake-quick"])


quick = reported(run, "shake-quick", QUICK)


def lines(quick: Told, name: str) -> list[str]:
    return (quick.out / name).read_text().splitlines()


def rows(quick: Told, name: str) -> list[list[str]]:
    """The words of each line of rules and default routes, with numbers that are small."""
    text = (quick.out / name).read_text().replace(str(table_of("home"))[:-1], "table-")
    return [line.split() for line in text.splitlines()]


def test_up_makes_rules_and_tables(quick: Told) -> None:
    assert quick["up"] == quick["tunnel pinged"] == "yes"
    assert [" ".join(row) for row in rows(quick, "tables")] == [
        "31000: from all lookup main suppress_prefixlength 0",
        "31001: from 10.1.1.1 lookup table-1",
        "31001: from all oif wan1 lookup table-1",
        "31001: from 10.1.2.1 lookup table-2",
        "31001: from all oif wan2 lookup table-2",
        "31002: from all lookup table-0",
        "default dev home table table-0 scope link",
        "default via 10.1.1.2 dev wan1 table table-1",
        "default via 10.1.2.2 dev wan2 table table-2",
    ]
    assert (quick["by"], quick["near"]) == ("dev home", "dev wan1")
    assert quick["hub"].split() == ["10.7.0.0/24", "10.8.0.0/24"]


def test_a_device_that_moves_is_followed(quick: Told) -> None:
    """Its table, its rule, and the packets that leave by it."""
    text = "\n".join(" ".join(row) for row in rows(quick, "tables.moved"))
    assert "31001: from 10.1.2.77 lookup table-2" in text and "10.1.2.1 " not in text
    assert "default via 10.1.2.3 dev wan2 table table-2" in text
    assert quick["moved pinged"] == "yes"
    assert quick["moved"] == "10.1.1.1 10.1.2.77"


def test_down_removes_all_twice(quick: Told) -> None:
    assert quick["down"] == "yes"
    assert quick["followers"] == "0"
    assert lines(quick, "commands") == ["hub up", "hub down"] * 2


def test_a_units_process(quick: Told) -> None:
    assert (quick["unit"], quick["unit left"]) == ("0 1", "0")


def test_what_fails_is_undone_and_told_with_its_line(quick: Told) -> None:
    """Words that only ip knows, too."""
    assert quick["weight refused"] == (
        'shake-quick: /etc/shake/bad.conf:14: weight "0": must be a number from 1 to 1000'
    )
    assert quick["command refused"] == (
        "shake-quick: /etc/shake/bad.conf:5: postup: the command ended with status 1"
    )
    assert quick["word refused"].startswith('shake-quick: /etc/shake/bad.conf:18: unknown word "wi')
    assert lines(quick, "left") == []
    assert quick["twice refused"] == "shake-quick: home: it is up already"
    assert quick["other refused"] == "shake-quick: /etc/shake/wan1.conf: No such file or directory"


def test_show(quick: Told) -> None:
    shown = lines(quick, "show")
    assert shown[0].startswith("home: leader 7, up, mtu 1444, port 4790, sent ")
    assert shown[3].split()[:3] == ["1", "wan1", "alive"] and "10.9.9.9" in shown[3]
    [home] = json.loads((quick.out / "show.json").read_text())
    assert (home["ifname"], home["up"], home["settings"]["id"]) == ("home", True, 7)
    assert [path["weight"] for path in home["peers"][0]["paths"]] == [50, 100]
    assert home["counters"]["registered"] == 2 and "path1_sent" not in home["counters"]


def test_monitor_and_hook_are_told_of_each_state(quick: Told) -> None:
    events = [json.loads(line) for line in lines(quick, "events.json")]
    assert {event["ifname"] for event in events} == {"home"}
    told = [(event["event"], event.get("path")) for event in events]
    assert {("alive", 1), ("alive", 2), ("peer-alive", None)} == set(told[:3])
    assert told[3:5] == [("dead", 2), ("alive", 2)]
    assert set(told[5:7]) == {("absent", 1), ("absent", 2)} and told[7:] == [("peer-dead", None)]
    assert (events[3]["was"], events[3]["remote"], events[3]["port"]) == ("alive", "10.9.9.9", 4790)
    assert events[3]["time"] > events[2]["time"]
    hooked = [line.split() for line in lines(quick, "hooked")]
    assert [row[1:3] for row in hooked[:2]] == [["joining", "1"], ["joining", "2"]]
    assert [tuple(row[1:3]) for row in hooked[2:]] == [
        (e, str(path or "-")) for e, path in told[:5]
    ]
    assert hooked[5] == ["home", "dead", "2", "7", "alive"]


def test_an_agent_tells_who_has_moved(quick: Told) -> None:
    told = [line.split(maxsplit=2)[2] for line in lines(quick, "events")]
    assert "hub peer 7 alive was dead" in told
    assert any("path 2 moved alive remote 10.1.2.77 port " in line for line in told)


@pytest.mark.parametrize("name", ["metrics", "metrics.agent"])
def test_metrics_are_open_metrics(quick: Told, name: str) -> None:
    """As the reference's own parser reads them."""
    families = list(text_string_to_metric_families((quick.out / name).read_text()))
    assert {family.type for family in families} == {"gauge", "counter"}
    found = {
        (sample.name, sample.labels.get("path"), sample.labels.get("state")): sample
        for family in families
        for sample in family.samples
    }
    assert found["shake_path_state", "2", "alive"].value == 1
    assert found["shake_path_state", "2", "dead"].value == 0
    assert 0.02 <= found["shake_path_rtt_seconds", "1", None].value < 0.05
    assert found["shake_path_sent_packets_total", "1", None].value >= 1
    assert found["shake_up", None, None].labels["role"] == (
        "agent" if name == "metrics.agent" else "leader"
    )
