# SPDX-License-Identifier: GPL-2.0
"""shake's settings as a user gives and sees them: words of ip, files in sysfs, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.engines import uml
from apogee_lab.guest import plugins
from tests.guest.runs import compiled

pytestmark = pytest.mark.guest

WORDS = (
    "scheduler ratio theta 250 ack tdar threshold 7 encrypt off interval 500ms rtt-window 3s "
    "keepalive 0 queue 50ms repair off datagrams pin duplicate 200 duplicate-dscp 46 "
    "hold-acks on"
)
KEY = "00112233445566778899aabbccddeeff" * 2

SCRIPT = """
export IP_LIB_DIR=/lib/ip
chmod +x /bin/addresses /bin/peer_key
show() { ip -d -s link show $2 >$OUT/$1; ip -d -s -j link show $2 >$OUT/$1.json; }
files() { for file in *; do [ $file = key ] || echo "$file $(cat $file)"; done >$OUT/$1; }
refused() { name=$1; shift; "$@" 2>$OUT/$name; echo "status $?" >>$OUT/$name; }
log() { dmesg | tail -n 1 >$OUT/$1; }
put() { echo "$2" >/sys/class/net/$1; }

umask 077
echo KEY >/tmp/key
ip link add low type veth peer name other
ip addr add 192.0.2.1/24 dev low
ip link set low up
ip link set other up
[ -d /sys/module/shake ] && echo yes >$OUT/early
ip link add s0 type shake role leader remote 192.0.2.9
cd /sys/class/net/s0/shake || exit
show defaults s0
files defaults.files
ls -l key >$OUT/mode
ip link set s0 type shake WORDS
show changed s0
files changed.files
ip link set s0 type shake path 1 dev low
ip link set s0 type shake path 2 remote 2001:db8::9 weight 40
ip link set s0 type shake path 2 local 2001:db8::1
ip link set s0 type shake peer 1 key /tmp/key
show filled s0
cat paths >$OUT/paths
cat peers >$OUT/peers
echo "+2 weight=60" >paths
echo "+3 dev=low local=192.0.2.1" >paths
echo -1 >paths
show steered s0
echo "+3 dev=any" >paths
grep ^3 paths >$OUT/anywhere
echo "+3 dev=low" >paths
ethtool -S s0 >$OUT/leader.counters
ethtool -i s0 >$OUT/driver
refused sticks rmmod shake
echo rah >scheduler; echo 100 >theta; echo auto >ack; echo 5 >threshold; echo 1 >encrypt
echo 1000000 >interval_us; cat rtt_window_us >$OUT/window; echo 10000000 >keepalive_us
echo 80000 >queue_us; echo on >repair; echo order >datagrams
echo 0 >duplicate; echo 0 >duplicate_dscp; echo off >hold_acks
echo 192.0.2.8 >remote
show restored s0

ip link set s0 up
ip link set s0 type shake path 4 dev low
sleep 0.1
show up s0
refused nothere ip link set s0 type shake path 5 off
refused agents ip link set s0 type shake peer 2
refused prefix ip link set s0 type shake peer 1 allow 10.0.0.0/8
refused fixed ip link set s0 type shake port 99
refused mixed ip link set s0 type shake local 10.0.0.1 remote ::1
refused norole ip link add s1 type shake
refused both ip link add s1 type shake role leader local 192.0.2.1
refused address ip link add s1 address 02:00:00:00:00:01 type shake role leader
refused nokey ip link add s1 type shake role leader auth off peer 1 key /tmp/key
refused nopath ip link add s1 type shake role leader path 1
ip link show s1 >$OUT/undone 2>&1
refused together ip link set s0 type shake theta 9 path 9 off
refused unsettled ip link set s0 type shake theta 9 path 7 off
refused toomuch ip link set s0 type shake path 1 weight 10 peer 1
cat theta >$OUT/theta

ip link add h0 type shake role agent id 5 local 192.0.2.1 port 5000 peer 7 key /tmp/key
cd /sys/class/net/h0/shake || exit
ip link set h0 type shake peer 7 allow 10.1.0.0/16
ip link set h0 type shake peer 7 allow 2001:db8:1::/48
ip link set h0 type shake peer 9
echo +11 >peers; echo "11 allow 10.11.0.1" >peers; echo "11 KEY" >key
echo "7 deny 10.1.0.0/16" >peers
show agent h0
cat peers >$OUT/agent.peers
ethtool -S h0 >$OUT/agent.counters
refused path ip link set h0 type shake path 1
refused bits ip link set h0 type shake peer 9 allow 10.0.0.1/8
refused owned ip link set h0 type shake peer 12 allow 10.11.0.1
for octets in 0 1 31 32 33; do refused octets$octets peer_key h0 11 $octets; done
refused gone ip link set h0 type shake peer 8 off
cat peers >$OUT/agent.after
for digit in 1 0; do echo "9 $(printf %064d $digit)" >key; grep ^9 peers >>$OUT/zero; done
refused badline put h0/shake/peers "7 allow"
log badline.log
refused badkey put h0/shake/key "7 0011"
log badkey.log
refused badpath put s0/shake/paths "+1 weight=0"
log badpath.log
refused badvalue put s0/shake/ack never
log badvalue.log
unshare -Ur sh -c 'echo 3 >/sys/class/net/s0/shake/threshold' 2>$OUT/uncapable
unshare -Ur sh -c 'echo "7 KEY" >/sys/class/net/h0/shake/key' 2>$OUT/uncapable.key

# The user's MTU stays; the default follows the families.
mtu() { echo "$1 $(cat /sys/class/net/m0/mtu)" >>$OUT/mtus; }
remake() { ip link del m0 2>/dev/null; ip link add m0 $*; }
to() { ip link set m0 type shake remote $1; }
remake mtu 1444 type shake role leader remote 2001:db8::9; mtu given
ip link set m0 type shake path 1 dev low; mtu given-path
remake mtu 1424 type shake role leader remote 192.0.2.9; mtu same
ip link set m0 type shake path 1 dev low; mtu same-path
to 192.0.2.8; mtu same-moved
remake type shake role leader remote 192.0.2.9; mtu leader4
to 2001:db8::9; mtu moved
echo 192.0.2.9 >/sys/class/net/m0/shake/remote; mtu back
ip link set m0 mtu 1300; to 2001:db8::9; mtu set
remake type shake role leader remote 2001:db8::9; mtu leader6
remake type shake role agent; mtu agent
remake type shake role agent local 192.0.2.1 auth off; mtu agent4-open
ip link del m0

# A container is given c0, whose sockets stay outside, and makes c1 itself.
cat >/tmp/container <<'END'
refused() { name=$1; shift; "$@" 2>$OUT/$name; echo "status $?" >>$OUT/$name; }
put() { busybox echo "$2" >/sys/class/net/$1; }
until [ -e /tmp/given ]; do sleep 0.1; done
mount -t sysfs none /sys
ip link add c1 type shake role leader remote 192.0.2.9
refused own ip link set c1 type shake theta 9
refused own.file put c1/shake/threshold 9
refused own.path put c1/shake/paths "+1 weight=9"
refused foreign ip link set c0 type shake theta 9
refused foreign.path ip link set c0 type shake path 1 remote 192.0.2.9
refused foreign.file put c0/shake/threshold 9
refused foreign.key put c0/shake/key "1 KEY"
refused foreign.new ip link add c2 link-netnsid 0 type shake role leader
cat /sys/class/net/c0/shake/theta /sys/class/net/c0/shake/threshold >$OUT/foreign.is
cat /sys/class/net/c1/shake/theta /sys/class/net/c1/shake/threshold >$OUT/own.is
END
unshare -Urnm /bin/dash /tmp/container & container=$!
sleep 1
ip link add c0 type shake role leader remote 192.0.2.9
ip link set c0 netns $container
touch /tmp/given
wait $container

# As long as what the kernel says of a link may become: eight paths of IPv6, many peers.
for n in $(seq 8); do
	ip link set s0 type shake path $n dev low local 2001:db8:ffff:ffff::$n remote 2001:db8::$n
done
for n in $(seq 100 400); do echo +$n >/sys/class/net/h0/shake/peers; done
for n in $(seq 16); do
	ip link set h0 type shake peer 9 allow 2001:db8:ffff:ffff:ffff:ffff:ffff:$n
done
show eight s0
show many h0
refused addresses /bin/addresses

# Many links, whose messages end where they may.
for l in $(seq 20); do
	ip link add leader$l type shake role leader remote 192.0.2.9
	for n in $(seq 8); do echo "+$n dev=low" >/sys/class/net/leader$l/shake/paths; done
done
ip -d -s -j link show type shake >$OUT/dump.json
for l in $(seq 20); do ip link del leader$l; done
ip link del s0
ip link del h0
refused unloaded rmmod shake
""".replace("WORDS", WORDS).replace("KEY", KEY)

CHANGED = {
    "role": "leader",
    "id": 1,
    "port": 4790,
    "remote": "192.0.2.9",
    "scheduler": "ratio",
    "theta": 250,
    "ack": "tdar",
    "threshold": 7,
    "auth": True,
    "encrypt": False,
    "interval_us": 500_000,
    "rtt_window_us": 3_000_000,
    "keepalive_us": 0,
    "queue_us": 50_000,
    "repair": False,
    "datagrams": "pin",
    "duplicate": 200,
    "duplicate_dscp": 46,
    "hold_acks": True,
}
DEFAULTS = CHANGED | {
    "scheduler": "rah",
    "theta": 100,
    "ack": "auto",
    "threshold": 5,
    "encrypt": True,
    "interval_us": 1_000_000,
    "keepalive_us": 10_000_000,
    "queue_us": 80_000,
    "repair": True,
    "datagrams": "order",
    "duplicate": 0,
    "duplicate_dscp": 0,
    "hold_acks": False,
}


@pytest.fixture(scope="module")
def said(modules: Path, build: Path, root: Path) -> dict[str, str]:
    """What one guest said."""
    out = build / "tests" / "shake-words"
    sources = root / "tests" / "guest" / "modules"
    programs = {f"bin/{p}": compiled(sources / f"{p}.c") for p in ("addresses", "peer_key")}
    files = plugins.guest_files() | programs
    info = uml.run_script(SCRIPT, out=out, modules=["shake"], files=files)
    assert info.status == 0, (out / "console.log").read_text()
    return {path.name: path.read_text() for path in out.iterdir() if path.is_file()}


def info(said: dict[str, str], name: str) -> dict[str, Any]:
    [link] = json.loads(said[f"{name}.json"])
    assert link["linkinfo"]["info_kind"] == "shake"
    return dict(link["linkinfo"])


def data(said: dict[str, str], name: str) -> dict[str, Any]:
    return dict(info(said, name)["info_data"])


def settings(said: dict[str, str], name: str) -> dict[str, Any]:
    """The settings that `ip -d -j link show` printed."""
    lists = ("paths", "peers", "path_count", "peer_count")
    return {key: value for key, value in data(said, name).items() if key not in lists}


def files(said: dict[str, str], name: str) -> dict[str, str]:
    lines = [line.split(maxsplit=1) for line in said[f"{name}.files"].splitlines()]
    return {line[0]: line[1] if len(line) > 1 else "" for line in lines}


def test_a_leader_begins_with_the_defaults(said: dict[str, str]) -> None:
    found = settings(said, "defaults")
    assert found.pop("rtt_window_us") >= 10_000
    assert found == {key: DEFAULTS[key] for key in DEFAULTS if key != "rtt_window_us"}
    assert (
        "shake role leader id 1 port 4790 remote 192.0.2.9 scheduler rah theta 100 ack auto "
        "threshold 5 auth on encrypt on interval 1s rtt-window "
    ) in said["defaults"]
    assert data(said, "defaults")["paths"] == []
    assert data(said, "defaults")["peers"] == [{"id": 1, "has_key": False, "allow": []}]


def test_words_and_files_change_them(said: dict[str, str]) -> None:
    assert settings(said, "changed") == CHANGED
    assert settings(said, "restored") == DEFAULTS | {"remote": "192.0.2.8"}


@pytest.mark.parametrize("name", ["defaults", "changed"])
def test_files_are_the_same_settings(said: dict[str, str], name: str) -> None:
    wanted = {key: str(int(value) if isinstance(value, bool) else value)
              for key, value in settings(said, name).items()}  # fmt: skip
    found = files(said, name)
    assert (found.pop("paths"), found.pop("peers")) == ("", "1 key=no")
    assert found == wanted | {"local": "any"}


def test_paths_by_words(said: dict[str, str]) -> None:
    found = data(said, "filled")
    assert found["paths"] == [
        {"id": 1, "dev": "low", "weight": 100, "state": "absent"},
        {"id": 2, "local": "2001:db8::1", "remote": "2001:db8::9", "weight": 40, "state": "absent"},
    ]
    assert found["path_count"] == 2
    lines = [line.strip() for line in said["filled"].splitlines()]
    assert "path 1 dev low weight 100 state absent" in lines
    assert said["paths"].splitlines() == [
        "1 dev=low weight=100 state=absent",
        "2 local=2001:db8::1 remote=2001:db8::9 weight=40 state=absent",
    ]


def test_paths_by_files(said: dict[str, str]) -> None:
    found = {path["id"]: path for path in data(said, "steered")["paths"]}
    assert list(found) == [2, 3]
    assert found[2]["weight"] == 60 and found[2]["local"] == "2001:db8::1"
    assert found[3]["dev"] == "low" and found[3]["local"] == "192.0.2.1"
    assert said["anywhere"] == "3 local=192.0.2.1 weight=100 state=absent\n"


def test_a_path_of_a_device_that_is_up_joins(said: dict[str, str]) -> None:
    found = {path["id"]: path for path in data(said, "up")["paths"]}
    assert found[4]["dev"] == "low" and found[4]["state"] == "joining"


def test_the_key_is_never_shown(said: dict[str, str]) -> None:
    assert said["peers"] == "1 key=yes\n"
    assert said["mode"].startswith("--w-------")
    assert data(said, "filled")["peers"] == [{"id": 1, "has_key": True, "allow": []}]
    assert [name for name, text in said.items() if KEY in text and SCRIPT[:20] not in text] == []


def test_a_key_has_32_octets(said: dict[str, str]) -> None:
    """Whoever sends it by netlink; nothing is filled in."""
    refused = {octets: said[f"octets{octets}"].splitlines()[-1] for octets in (0, 1, 31, 32, 33)}
    assert refused == {octets: f"status {int(octets != 32)}" for octets in refused}


def test_a_key_of_zeros_is_none(said: dict[str, str]) -> None:
    """Anybody would know it."""
    assert said["zero"].splitlines() == ["9 key=yes", "9 key=no"]


def test_statistics_of_paths(said: dict[str, str]) -> None:
    stats = info(said, "up")["info_xstats"]["paths"]
    assert [path["id"] for path in stats] == [2, 3, 4]
    assert {"srtt_us", "min_rtt_us", "throughput", "queue", "sent", "sent_bytes", "received",
            "received_bytes", "lost", "late", "died"} <= set(stats[0])  # fmt: skip
    heads = "path srtt-ms least-ms kbit/s queue-B sent received lost late died loss-% left".split()
    rows = [line.split() for line in said["up"].splitlines()]
    at = rows.index(heads)
    assert [row[0] for row in rows[at + 1 : at + 4]] == ["2", "3", "4"]
    assert {len(row) for row in rows[at + 1 : at + 4]} == {len(heads)}


def test_counters(said: dict[str, str]) -> None:
    leader, agent = (
        [line.split(":")[0].strip() for line in said[f"{end}.counters"].splitlines()[1:]]
        for end in ("leader", "agent")
    )
    assert {"dropped_tag", "registered", "flows_holes", "path1_srtt_us", "path8_died"} <= {*leader}
    assert agent == [name for name in leader if not re.match(r"path\d_", name)]
    assert len(leader) == len(set(leader))
    assert "driver: shake\n" in said["driver"]


def test_an_agent(said: dict[str, str]) -> None:
    found = data(said, "agent")
    assert (found["role"], found["port"], found["local"]) == ("agent", 5000, "192.0.2.1")
    assert "id" not in found
    assert found["peers"] == [
        {"id": 7, "has_key": True, "allow": ["2001:db8:1::/48"]},
        {"id": 9, "has_key": False, "allow": []},
        {"id": 11, "has_key": True, "allow": ["10.11.0.1/32"]},
    ]
    assert said["agent.peers"] == said["agent.after"]
    assert said["agent.peers"].splitlines() == [
        "7 key=yes allow=2001:db8:1::/48",
        "9 key=no",
        "11 key=yes allow=10.11.0.1/32",
    ]


def test_long_lists(said: dict[str, str]) -> None:
    """The eight paths are all there; of many peers their number."""
    eight, many = data(said, "eight"), data(said, "many")
    assert [path["id"] for path in eight["paths"]] == list(range(1, 9))
    assert [path["id"] for path in info(said, "eight")["info_xstats"]["paths"]] == [*range(1, 9)]
    assert many["peer_count"] == 304 > len(many["peers"]) >= 1
    left = many["peer_count"] - len(many["peers"])
    assert f"and {left} more peers" in said["many"]


def test_lists_are_whole_in_a_dump(said: dict[str, str]) -> None:
    """What does not fit in one message of many links is in the next."""
    links = [link for link in json.loads(said["dump.json"]) if link.get("ifname", "s0")[0] == "l"]
    found = [link["linkinfo"] for link in links]
    assert len(found) == 20
    assert [len(one["info_data"]["paths"]) for one in found] == [8] * 20
    assert [len(one["info_xstats"]["paths"]) for one in found] == [8] * 20


def test_getifaddrs_reads_the_links(said: dict[str, str]) -> None:
    """It leaves out a link whose message does not fit a page."""
    assert "s0\n" in said["addresses"] and "h0\n" in said["addresses"]
    assert said["addresses"].endswith("status 0\n")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nothere", "no such path"),
        ("agents", "a leader has one peer: its own id"),
        ("prefix", "prefixes are an agent's"),
        ("fixed", "role, id, port, local and auth cannot be changed"),
        ("norole", "the role is missing: role leader or role agent"),
        ("both", "local is an agent's: a leader's paths have their own"),
        ("address", "the device has no hardware address"),
        ("nokey", "auth is off: there is no key"),
        ("nopath", "the agent's address is missing: remote ADDRESS"),
        ("unsettled", "no such path"),
        ("toomuch", "path and peer: one at a time"),
        ("path", "an agent's paths are those that leaders register"),
        ("bits", "a prefix must have no bits behind its length"),
        ("gone", "no such peer"),
    ],
)
def test_the_kernel_refuses_in_one_line(said: dict[str, str], name: str, line: str) -> None:
    assert said[name] == f"Error: shake: {line}.\nstatus 2\n"


def test_what_is_refused_changes_nothing(said: dict[str, str]) -> None:
    assert "does not exist" in said["undone"]
    assert said["window"] == "3000000\n"
    assert said["theta"] == "100\n"
    assert said["together"].startswith('shake: path "9": must be a number from 1 to 8\n')


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("badline", "h0: this is not a line of that file"),
        ("badkey", "h0: a key is a peer's number and 64 hexadecimal digits"),
        ("badpath", "s0: weight must be 1 to 1000"),
        ("badvalue", "s0: this is not a value of that setting"),
    ],
)
def test_the_log_says_why(said: dict[str, str], name: str, line: str) -> None:
    assert line in said[f"{name}.log"]
    assert not said[name].endswith("status 0\n")


def test_files_need_the_right_to_change_networks(said: dict[str, str]) -> None:
    assert "Operation not permitted" in said["uncapable"]
    assert "Operation not permitted" in said["uncapable.key"]


@pytest.mark.parametrize(
    ("name", "octets"),
    [
        ("given", 1444),
        ("given-path", 1444),
        ("same", 1424),
        ("same-path", 1424),
        ("same-moved", 1424),
        ("leader4", 1444),
        ("moved", 1424),
        ("back", 1444),
        ("set", 1300),
        ("leader6", 1424),
        ("agent", 1424),
        ("agent4-open", 1460),
    ],
)
def test_the_mtu_is_the_users_or_the_families(said: dict[str, str], name: str, octets: int) -> None:
    assert f"{name} {octets}" in said["mtus"].splitlines()


def test_a_container_does_not_steer_sockets_outside(said: dict[str, str]) -> None:
    for name in ("foreign", "foreign.path"):
        assert said[name] == (
            "Error: shake: the tunnel's sockets are in another's namespace.\nstatus 2\n"
        )
    for name in ("foreign.file", "foreign.key", "foreign.new"):
        assert "Operation not permitted" in said[name], name
    assert said["foreign.is"] == "100\n5\n"


def test_a_container_steers_its_own(said: dict[str, str]) -> None:
    for name in ("own", "own.file", "own.path"):
        assert said[name] == "status 0\n", name
    assert said["own.is"] == "9\n9\n"


def test_the_module_is_there_while_it_is_used(said: dict[str, str]) -> None:
    """Adding a link loads it."""
    assert "early" not in said
    assert "in use" in said["sticks"] or "temporarily unavailable" in said["sticks"]
    assert said["unloaded"] == "status 0\n"
