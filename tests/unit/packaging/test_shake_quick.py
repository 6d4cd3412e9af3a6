# SPDX-License-Identifier: GPL-2.0
"""shake-quick without a kernel: files, the commands that they become, rules and tables, events.

In place of ip stands a script that keeps what it is asked, and fails when it is told to.
"""

from __future__ import annotations

import argparse
import os
import re
import selectors
import signal
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.unit.packaging.quick import (
    FOLDER,
    commands,
    conf,
    devices,
    follow,
    main,
    metrics,
    netlink,
    show,
    tables,
    updown,
)

LEADER = """\
[Interface]
Role = leader
Id = 7
Remote = 203.0.113.9    # the agent
Address = 10.9.0.2/24, fd09::2/64
MTU = 1400
Queue = 100ms

[Peer]
Key = /etc/shake/home.key
AllowedIPs = 0.0.0.0/0, 192.168.7.0/24

[Path]
Dev = ppp0
Weight = 50
[Path]
Id = 5
Dev = wwan0
Gateway = 192.168.8.1
Shaped = small ef
[Path]
Local = 198.51.100.2
[Path]
"""
AGENT = """\
[interface]
ROLE = agent
Address = 10.9.0.1/24
PostUp = echo %i
[Peer]
Id = 7
Key = /etc/shake/home.key
AllowedIPs = 10.9.0.2/32, 192.168.1.0/24
AllowedIPs = fd01::/48
"""


def parsed(text: str, name: str = "home") -> conf.Conf:
    return conf.parse(text, name, "f")


# --- files ----------------------------------------------------------------------------------------


#: What most of what is wrong stands below.
A = "[Interface]\nRole = agent\n"
L = "[Interface]\nRole = leader\nRemote = 1.1.1.1\n[Path]\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Role = leader", "f:1: there is no [Interface] above this line"),
        ("[Interface]\nRole", "f:2: must be KEY = VALUE"),
        ("[Interface]\nRole =", "f:2: must be KEY = VALUE"),
        ("[Interface]\n= leader", "f:2: must be KEY = VALUE"),
        ("[Interface]\nRole = boss", 'f:2: role "boss": must be leader or agent'),
        ("[Interface]\nId = 1", "f:1: the role is missing: Role = leader or Role = agent"),
        ("[Peers]", "f:1: [Peers]: must be [Interface], [Path] or [Peer]"),
        ("[Path", "f:1: [Path: must be [Interface], [Path] or [Peer]"),
        ("", "f: there must be one [Interface]"),
        (A + "[Interface]", "f:3: there must be one [Interface]"),
        (A + "role = agent", "f:3: role is given twice"),
        (A + "[Path]", "f:3: an agent's paths are those that leaders register"),
        ("[Interface]\nRole = leader", "f:1: a leader needs a [Path]"),
        (
            "[Interface]\nRole = leader\n[Path]",
            "f:3: the agent's address is missing: Remote = ADDRESS",
        ),
        (A + "MTU = x", 'f:3: mtu "x": must be a number from 68 to 65535'),
        (A + "Port = 0", 'f:3: port "0": must be a number from 1 to 65535'),
        (A + "Table = x", 'f:3: table "x": must be auto, off or the number of a table'),
        (A + "Hook = x", 'f:3: hook "x": must be the whole path of a program'),
        (
            A + "Address = 10.0.0.1/33",
            'f:3: address "10.0.0.1/33": must be an address of IPv4 or IPv6, or ADDRESS/LENGTH',
        ),
        (A + "[Peer]", "f:3: the leader's number is missing: Id = NUMBER"),
        (A + "[Peer]\nId = 1\n[Peer]\nId = 1", "f:5: peer 1: each once, a leader's is its own"),
        (
            A + "[Peer]\nId = 1\nAllowedIPs = 10.0.0.0/8,10.0.0.1/8",
            'f:5: allowedips "10.0.0.1/8": must be ADDRESS/LENGTH without bits behind the length',
        ),
        (
            "[Interface]\nRole = leader\n[Path]\nRemote = x",
            'f:4: remote "x": must be an address of IPv4 or IPv6',
        ),
        (
            "[Interface]\nRole = leader\n[Path]\nScheduler = rr",
            "f:4: scheduler is a word of [Interface]",
        ),
        (A + "[Peer]\nId = 1\nRemote = 1.1.1.1", "f:5: remote is a word of [Interface]"),
        (L + "Local = ::1", 'f:5: local "::1": must be of IPv4, as the agent\'s address is'),
        (
            L + "Gateway = 1.1.1.2",
            'f:5: gateway "1.1.1.2": must be beside a Dev, by which it is reached',
        ),
        (L + "Dev = a/b", 'f:5: dev "a/b": must be any or the name of a device, not of the tunnel'),
        (
            L + "Dev = home",
            'f:5: dev "home": must be any or the name of a device, not of the tunnel',
        ),
        (A + "Port = \u00b2", 'f:3: port "\u00b2": must be a number from 1 to 65535'),
        (A + "Table = \u00b2", 'f:3: table "\u00b2": must be auto, off or the number of a table'),
        (A + "Hook = /a\0b", "f:3: must be KEY = VALUE"),
        (L + "Id = 2\n[Path]", "f:6: path 2: numbers are 1 to 8, each once"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, line: str) -> None:
    """With the file and the number of the line."""
    with pytest.raises(conf.QuickError) as caught:
        parsed(text)
    assert str(caught.value) == line


def test_a_number_too_long_to_be_read() -> None:
    with pytest.raises(conf.QuickError, match="must be a number from 1 to 65535"):
        parsed(A + f"Port = {'0' * 5000}1")


@pytest.mark.parametrize("name", ["a/b", "..", "x" * 16, "a b", "/etc/shake/home"])
def test_a_name_is_that_of_a_device(name: str) -> None:
    with pytest.raises(conf.QuickError):
        conf.find(name)


def test_a_file_is_found_by_name_or_path() -> None:
    assert conf.find("home") == ("home", Path("/etc/shake/home.conf"))
    assert conf.find("./other.conf") == ("other", Path("other.conf"))


# --- commands -------------------------------------------------------------------------------------


def lines(made: list[commands.Command]) -> list[str]:
    return [" ".join(command.argv) for command in made]


def test_commands_of_a_leader() -> None:
    """The words of the file, in its order; what is not known here is ip's matter."""
    which = parsed(LEADER)
    change = "ip link set dev home type shake"
    assert lines(commands.make(which)) == [
        "ip link add name home type shake role leader id 7 remote 203.0.113.9 queue 100ms",
        f"{change} peer 7 key /etc/shake/home.key",
        f"{change} path 1 dev ppp0 weight 50",
        f"{change} path 5 dev wwan0 shaped small ef",
        f"{change} path 3 local 198.51.100.2",
        f"{change} path 4",
        "ip link set dev home mtu 1400",
        "ip address add 10.9.0.2/24 dev home",
        "ip address add fd09::2/64 dev home",
    ]
    assert lines(commands.routes(which)) == ["ip -4 route add 192.168.7.0/24 dev home"]


def test_commands_of_an_agent() -> None:
    which = parsed(AGENT, "hub")
    change = "ip link set dev hub type shake peer 7"
    assert lines(commands.make(which)) == [
        "ip link add name hub type shake role agent",
        f"{change} key /etc/shake/home.key",
        f"{change} allow 10.9.0.2/32",
        f"{change} allow 192.168.1.0/24",
        f"{change} allow fd01::/48",
        "ip address add 10.9.0.1/24 dev hub",
    ]
    assert lines(commands.routes(which)) == [
        "ip -4 route add 192.168.1.0/24 dev hub",
        "ip -6 route add fd01::/48 dev hub",
    ]
    assert [word.value for word in which.commands("postup")] == ["echo hub"]


def test_tables_that_are_named_or_none() -> None:
    off, number = (parsed(LEADER.replace("MTU = 1400", f"Table = {t}")) for t in ("off", "99"))
    assert commands.routes(off) == [] and tables.versions_by_tunnel(off) == set()
    assert lines(commands.routes(number)) == [
        "ip -4 route add 0.0.0.0/0 dev home table 99",
        "ip -4 route add 192.168.7.0/24 dev home table 99",
    ]


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ('shake: weight "0": must be a number from 1 to 1000', "f:15"),
        ('shake: unknown word "weight", see: ip link help shake', "f:15"),
        ("shake: dev needs a value", "f:14"),
        ("no such path", "f:13"),
    ],
)
def test_the_line_that_ip_is_about(said: str, where: str) -> None:
    """The word's that it names, or that of the section."""
    path = commands.make(parsed(LEADER))[2]
    assert path.blame(said) == where


# --- rules and tables -----------------------------------------------------------------------------


def link(name: str, *addresses: str) -> dict[str, Any]:
    infos = [{"family": "inet", "local": one, "scope": "global"} for one in addresses]
    return {"ifname": name, "addr_info": infos}


PPP, LAN = link("ppp0", "100.64.0.5"), link("eth0", "198.51.100.2")
STICK = link("wwan0", "192.168.8.100")
STICK["addr_info"].append({"family": "inet6", "local": "fe80::1", "scope": "link"})
MAIN = [
    {"type": "unreachable", "dst": "default", "dev": "lo", "metric": 0, "flags": []},
    {"dst": "default", "dev": "ppp0", "scope": "link", "flags": []},
    {"dst": "default", "gateway": "192.168.8.254", "dev": "wwan0", "metric": 700, "flags": []},
    {"dst": "default", "gateway": "198.51.100.1", "dev": "eth0", "metric": 20, "flags": ["onlink"]},
    {"dst": "default", "gateway": "198.51.100.3", "dev": "eth0", "metric": 10, "flags": []},
    {"dst": "default", "dev": "home", "metric": 0, "flags": []},
]  # fmt: skip
T = tables.table_of("home")
SYSTEM = tables.System([PPP, STICK, LAN], {4: MAIN, 6: []})


def test_tables_are_found_by_the_name() -> None:
    """Ten each."""
    assert 10000 + 10 * (zlib.crc32(b"home") % 50000) == T
    assert tables.is_table_of("home", T + 9) and not tables.is_table_of("home", T + 10)
    assert tables.table_of("hub") != T and 10000 <= T < 510000


def test_each_path_has_its_rules_and_its_default_route() -> None:
    want = tables.wanted(parsed(LEADER), SYSTEM)
    assert {(rule.selector, rule.table - T) for rule in want.rules if rule.pref == 31001} == {
        (("oif", "ppp0"), 1),
        (("from", "100.64.0.5"), 1),
        (("oif", "wwan0"), 5),
        (("from", "192.168.8.100"), 5),
        (("from", "198.51.100.2"), 3),
        (("to", "203.0.113.9", "ipproto", "17", "dport", "4790"), 4),
    }
    assert {(rule.version, rule.pref) for rule in want.rules} == {(4, 31000 + i) for i in range(3)}
    routes = {table - T: " ".join(route.words()) for (_, table), route in want.routes.items()}
    assert routes == {
        0: "default dev home",
        1: "default dev ppp0",
        5: "default via 192.168.8.1 dev wwan0 onlink",
        3: "default via 198.51.100.3 dev eth0",
        4: "default dev ppp0",
    }


def test_only_what_differs_is_changed() -> None:
    have = tables.wanted(parsed(LEADER), SYSTEM)
    assert tables.changes(have, have) == []
    moved = link("wwan0", "10.0.0.9")
    want = tables.wanted(parsed(LEADER), tables.System([moved, LAN], {4: MAIN[2:], 6: []}))
    assert [" ".join(argv) for argv in tables.changes(have, want)] == [
        f"ip -4 route replace default via 198.51.100.3 dev eth0 table {T + 4}",
        f"ip -4 rule add pref 31001 from 10.0.0.9 table {T + 5}",
        f"ip -4 rule del pref 31001 from 192.168.8.100 table {T + 5}",
        f"ip -4 rule del pref 31001 from 100.64.0.5 table {T + 1}",
        f"ip -4 route flush table {T + 1}",
    ]


def test_a_point_to_point_device_needs_no_router() -> None:
    """Where table main has no default route by it; but it must have an address."""
    stranger = {**PPP, "flags": ["POINTOPOINT", "NOARP", "UP"]}
    bare = {**stranger, "addr_info": []}
    for links, has in (
        ([stranger], True),
        ([PPP], False),
        ([bare], False),
    ):
        want = tables.wanted(parsed(LEADER), tables.System([*links, STICK], {4: MAIN[2:], 6: []}))
        route = want.routes.get((4, T + 1))
        assert (route == tables.Default(4, "ppp0")) == has, links


def test_rules_that_ip_shows() -> None:
    """Those of this tunnel, and the one that all share; none that users have made beside them."""
    shown = [
        {"priority": 0, "src": "all", "table": "255"},
        {"priority": 31000, "src": "all", "table": "254", "suppress_prefixlen": 0},
        {"priority": 31001, "src": "all", "dst": "1.1.1.1", "ipproto": "ipproto-17", "dport": 4790,
         "table": str(T + 1)},
        {"priority": 31001, "src": "all", "fwmark": "0x5", "table": str(T + 1)},
        {"priority": 100, "src": "all", "dst": "10.0.0.0", "dstlen": 8, "table": str(T + 1)},
        {"priority": 31001, "src": "all", "oif": "eth9", "oif_detached": None, "table": str(T + 2)},
        {"priority": 31001, "src": "10.0.0.1", "table": str(tables.table_of("hub") + 1)},
        {"priority": 32766, "src": "all", "table": "main"},
    ]  # fmt: skip
    found = tables.shown_rules("home", 4, shown)
    assert [" ".join(rule.words()) for rule in found] == [
        "pref 31000 table 254 suppress_prefixlength 0",
        f"pref 31001 to 1.1.1.1 ipproto 17 dport 4790 table {T + 1}",
        f"pref 31001 oif eth9 table {T + 2}",
    ]
    assert tables.is_shared(shown, "home") and not tables.is_shared(shown[:6], "home")


# --- up and down ----------------------------------------------------------------------------------

#: Fails for what matches $FAILS; says of devices that they are not there, or are up if $UP.
IP = """#!/bin/sh
[ "$*" = "-d -j link show dev home" ] || [ "$2" = -j ] || [ "$3" = -j ] || echo "$*" >>$LOG
case " $* " in
*" -batch "*) sed "s/^/  /" >>$LOG ;;
*"link show dev home "*) [ -n "$UP" ] || exit 1; echo '[{"linkinfo":{"info_kind":"'$UP'"}}]' ;;
*${FAILS-none}*) echo "Error: shake: no." >&2; exit 2 ;;
esac
exit 0
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with an ip and a file."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ip").write_text(IP)
    (tmp_path / "bin/ip").chmod(0o755)
    text = LEADER.replace("MTU = 1400", "PreUp = echo pre >>$LOG\nPostDown = echo post >>$LOG")
    (tmp_path / "home.conf").write_text(text)
    return tmp_path


def quick(machine: Path, verb: str, **env: str) -> tuple[int, str, list[str]]:
    """Status, what it said, and what ip was asked for."""
    log = machine / "log"
    log.write_text("")
    path = f"{machine}/bin:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, FOLDER / "shake-quick", verb, machine / "home.conf"],
        env={**os.environ, "PATH": path, "LOG": str(log), "SHAKE_QUICK_RUN": str(machine), **env},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stderr.strip(), log.read_text().splitlines()


def test_an_up_that_fails_is_undone(machine: Path) -> None:
    """What it says names the line; rules, tables and the user's commands are undone."""
    status, said, asked = quick(machine, "up", FAILS="path 5")
    assert (status, said) == (1, f"shake-quick: {machine}/home.conf:17: no")
    assert asked[0] == "pre" and asked[-1] == "post"
    at = asked.index("link set dev home type shake path 5 dev wwan0 shaped small ef")
    undone = asked[at + 1 : -1]
    assert undone[0] == "-4 -force -batch -" and f"  route flush table {T}" in undone
    assert undone[-1] == f"  route flush table {T + 9}"


def test_an_up_that_is_ended_is_undone(machine: Path) -> None:
    file = machine / "home.conf"
    file.write_text(
        file.read_text().replace("PreUp = echo", "PreUp = kill $PPID; exec sleep 9; echo")
    )
    status, said, asked = quick(machine, "up")
    assert (status, said, asked[-1]) == (128 + signal.SIGTERM, "", "post")
    assert "pre" not in asked and f"  route flush table {T}" in asked


def test_down_of_what_is_down_is_no_error(machine: Path) -> None:
    """Nor are its commands run."""
    status, said, asked = quick(machine, "down")
    assert (status, said) == (0, "") and "post" not in asked and "link del dev home" not in asked


def test_down_removes_the_device(machine: Path) -> None:
    status, said, asked = quick(machine, "down", UP="shake")
    assert (status, said) == (0, "") and asked[-2:] == ["link del dev home", "post"]


@pytest.mark.parametrize(("kind", "told"), [("shake", "it is up already"),
    ("veth", "a device that is no tunnel has this name")])  # fmt: skip
def test_what_is_there_is_left_alone(machine: Path, kind: str, told: str) -> None:
    status = 3 if kind == "shake" else 1
    assert quick(machine, "up", UP=kind) == (status, f"shake-quick: home: {told}", [])


def test_a_unit_leaves_what_it_found_up(machine: Path) -> None:
    """Its ExecStopPost runs after an up that failed, too."""
    unit = {"UP": "shake", "SERVICE_RESULT": "exit-code"}
    assert quick(machine, "down", **unit, EXIT_STATUS="3") == (0, "", [])
    assert "link del dev home" in quick(machine, "down", **unit, EXIT_STATUS="1")[2]


def test_no_device_of_another_type_is_removed(machine: Path) -> None:
    status, _, asked = quick(machine, "down", UP="veth")
    assert status == 0 and "link del dev home" not in asked


def test_a_unit_is_told_when_it_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        updown._ready()
        assert sock.recv(99) == b"READY=1"


# --- who follows ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHAKE_QUICK_RUN", str(tmp_path / "run"))
    return tmp_path / "run"


def test_one_follows(folder: Path) -> None:
    """Other users cannot be in its place, nor see it."""
    with follow.claim("home"), follow.claim("hub"):
        [home, hub] = sorted(folder.iterdir(), key=lambda file: file.name[-4:], reverse=True)
        assert (folder.stat().st_mode & 0o777, home.stat().st_mode & 0o777) == (0o700, 0o600)
        assert int(home.read_text()) == int(hub.read_text()) == os.getpid()
        with pytest.raises(conf.QuickError), follow.claim("home"):
            pass
    with follow.claim("home"):
        pass


def test_nobody_is_ended_without_a_file(folder: Path) -> None:
    """There may be no room for one."""
    follow.stop("home")
    assert not folder.exists()


def test_who_follows_is_ended(folder: Path) -> None:
    """No process that has its number later is: it is known by the lock."""
    code = "import sys, time; from shake_quick import follow\n"
    code += "with follow.claim('home'): print(1, flush=True); time.sleep(60)"
    env = {**os.environ, "PYTHONPATH": str(FOLDER)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE) as one:
        assert one.stdout and one.stdout.readline() == b"1\n"
        follow.stop("home")
        assert one.wait(9) == -signal.SIGTERM
    with subprocess.Popen(["sleep", "60"]) as other:
        [file] = folder.iterdir()
        file.write_text(f"{other.pid}\n")
        follow.stop("home")
        assert other.poll() is None
        other.kill()


def test_a_hook_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has started, too; then the next event's runs."""
    monkeypatch.setattr(follow, "HOOK_S", 0.05)
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\necho $3 >>{tmp_path}/ran\nsleep 60 | cat\n")
    hook.chmod(0o755)
    with selectors.DefaultSelector() as select:
        runs = follow.Hook(parsed(LEADER.replace("MTU = 1400", f"Hook = {hook}")), select)
        for path in (1, 2):
            runs.put(netlink.Event(0.0, 1, "home", "dead", 7, path, "dead", "alive", None, None, 0))
        while runs.process:
            for key, _ in select.select(0.05):
                runs.ended(key.fd)
            runs.check()
    assert (tmp_path / "ran").read_text() == "1\n2\n"


def test_a_hook_that_cannot_run_is_told_of(machine: Path) -> None:
    file = machine / "home.conf"
    file.write_text(file.read_text().replace("PreUp = echo", f"Hook = {file}\nPreUp = echo"))
    said = f'shake-quick: {file}:6: hook "{file}": must be a program that may be run'
    assert quick(machine, "up") == (1, said, [])


# --- what the kernel tells ------------------------------------------------------------------------


def packed(number: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), number) + data + b"\0" * (-len(data) % 4)


def test_an_event() -> None:
    """By the numbers of shake/uapi.h."""
    content = struct.pack("=BBH", netlink.CMD_PATH, 1, 0) + b"".join(
        packed(number, data)
        for number, data in (
            (netlink.IFINDEX, struct.pack("=I", 4)),
            (netlink.IFNAME, b"home\0"),
            (netlink.PEER, struct.pack("=I", 7)),
            (netlink.PATH, b"\2"),
            (netlink.STATE, b"\3"),
            (netlink.WAS, b"\2"),
            (netlink.REMOTE, bytes([203, 0, 113, 9])),
            (netlink.PORT, struct.pack("=H", 4790)),
            (netlink.AT, struct.pack("=Q", 1_500_000_000)),
            (netlink.LOST, struct.pack("=I", 3)),
        )
    )
    event = netlink.event_of(content, 10.0)
    assert event == netlink.Event(
        11.5, 4, "home", "dead", 7, 2, "dead", "alive", "203.0.113.9", 4790, 3
    )
    assert event.line().partition(" home ")[2] == (
        "peer 7 path 2 dead was alive remote 203.0.113.9 port 4790 (3 behind it lost)"
    )
    assert netlink.event_of(b"\t\1\0\0", 0) is None and netlink.event_of(b"", 0) is None


def test_numbers_are_the_headers(root: Path) -> None:
    """Of attributes, commands and states."""
    text = (root / "shake/uapi.h").read_text()

    def names(first: str) -> list[str]:
        body = text[text.index(f"\t{first},") :].partition("}")[0]
        found = [line.strip().partition(",")[0] for line in body.splitlines()]
        return [name for name in found if name.isupper() or "_" in name and name.isupper()]

    attributes = names("SHAKE_EVENT_UNSPEC")
    assert attributes.index("SHAKE_EVENT_LOST") == netlink.LOST
    assert attributes.index("SHAKE_EVENT_AT") == netlink.AT
    assert names("SHAKE_CMD_UNSPEC").index("SHAKE_CMD_MOVED") == netlink.CMD_MOVED
    states = [name.removeprefix("SHAKE_PATH_").lower() for name in names("SHAKE_PATH_ABSENT")]
    assert tuple(states) == netlink.STATES


def test_devices_may_have_any_name(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Octets that are no UTF-8, and such as JSON has not."""
    (machine / "bin/ip").write_text("""#!/bin/sh\nprintf '[{"ifname":"a\\001\\377"}]'\n""")
    monkeypatch.setitem(devices.ENVIRONMENT, "PATH", f"{machine}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PATH", devices.ENVIRONMENT["PATH"])
    assert devices.ask("link") == [{"ifname": "a\1\ufffd"}]


def test_words_of_the_device_are_the_plugins(root: Path) -> None:
    """Those that ip takes for the device's, wherever they stand."""
    text = (root / "shake/iproute2/link_shake.c").read_text()

    def words(name: str) -> set[str]:
        table = text[text.index(f"struct word {name}[]") :].partition("{}")[0]
        return set(re.findall(r'^\t\{"([\w-]+)",', table, re.M))

    device = words("words") - {"id", "path", "peer"}
    assert conf.DEVICES["path"] == device - words("path_words")
    assert conf.DEVICES["peer"] == device - words("peer_words")


def test_a_public_key_is_a_key() -> None:
    tunnel = {
        "ifname": "a",
        "settings": {},
        "up": True,
        "mtu": 1,
        "tx": {"bytes": 0},
        "rx": {"bytes": 0},
    }
    peers = [{"id": 1, "has_key": False}, {"id": 2, "has_key": False, "public_key": "x="}]
    assert list(show.text([{**tunnel, "peers": peers}]))[1:] == ["  peer 1, no key", "  peer 2"]
    assert parsed(A + "[Peer]\nId = 1\nPublic-Key = x=").peers[0].section.get("public-key") == "x="


def test_parts_of_a_dump_are_one_list() -> None:
    parts = [
        {"ifname": "a", "peers": [1]},
        {"ifname": "b", "peers": []},
        {"ifname": "a", "peers": [2]},
    ]
    assert show.merged(parts) == {"a": [1, 2], "b": []}  # fmt: skip


def test_metrics_of_odd_names() -> None:
    """Quotes are escaped; what is not told has no sample."""
    path = {"id": 1, "state": "alive", "srtt_us": 20300, "sent": 5}
    tunnel = {
        "ifname": 'a"\\b',
        "up": True,
        "settings": {"role": "agent"},
        "rx": {"bytes": 1, "packets": 2, "dropped": 3},
        "tx": {"bytes": 4, "packets": 5, "dropped": 6},
        "counters": {"registered": 2**63},
        "peers": [{"id": 7, "paths": [path]}],
    }
    text = "\n".join(metrics.text([tunnel])) + "\n"
    found = {family.name: family for family in text_string_to_metric_families(text)}
    assert found["shake_up"].samples[0].labels["device"] == 'a"\\b'
    assert found["shake_path_rtt_seconds"].samples[0].value == 0.0203
    assert found["shake_counts"].samples[0].value == 2**63
    assert "shake_path_lost_packets" not in found
    assert list(text_string_to_metric_families("\n".join(metrics.text([])) + "\n")) == []


def test_sizes_and_rates() -> None:
    assert [show.size(n) for n in (0, 999, 1000, 10**9)] == ["0 B", "999 B", "1.0 kB", "1.0 GB"]
    assert [show.rate(n) for n in (0, 1250, 250000)] == ["0.0 kbit/s", "10.0 kbit/s", "2.00 Mbit/s"]


# --- package --------------------------------------------------------------------------------------


def test_the_page_tells_keys_verbs_and_events(root: Path) -> None:
    """Every key that is not ip's, every verb with its options, every event."""
    text = (root / "man/shake-quick.8").read_text().replace("\\-", "-")
    file = text.partition(".SH FILE")[2].partition(".SH ROUTES")[0]
    sections = dict(part.split("]\n", 1) for part in file.split(".SS [")[1:])
    for name, own in conf.OWN.items():
        heads = re.findall(r"^\.TP\n\.BR? (.*)$", sections[name.capitalize()], re.M)
        assert {word.lower() for word in re.findall(r"\w+", " ".join(heads))} == own, name
    events = {*netlink.STATES, "moved", "peer-alive", "peer-dead"}
    assert events <= set(re.findall(r"[a-z-]+", sections["Interface"]))
    parser = main._parser()
    [verbs] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    synopsis = text.partition(".SH SYNOPSIS")[2].partition(".SH DESCRIPTION")[0]
    told = re.findall(r"^\.B shake-quick (\w+)$(?:\n\.RB \[ (--\w+) \])?", synopsis, re.M)
    assert told == [
        (verb, next((s for a in one._actions for s in a.option_strings if "help" not in s
                     and s != "-h"), ""))
        for verb, one in verbs.choices.items()
    ]  # fmt: skip


def test_the_unit_is_the_program(root: Path) -> None:
    """It is up when it says so, and what it has set goes, however it ends."""
    text = (root / "debian/apogee-shake-quick.shake-quick@.service").read_text()
    unit = dict(re.findall(r"^(\w+)=(.*)$", text, re.M))
    assert unit["Type"] == "notify"
    assert unit["ExecStart"] == "/usr/sbin/shake-quick up --foreground %i"
    assert unit["RestartPreventExitStatus"] == str(conf.UpAlreadyError.status)
    assert unit["ExecStopPost"] == "/usr/sbin/shake-quick down %i"
    rules = (root / "debian/rules").read_text()
    assert "$(quick)/usr/sbin/shake-quick" in rules and "--name=shake-quick@" in rules
