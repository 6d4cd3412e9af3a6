# SPDX-License-Identifier: GPL-2.0
"""The plug-in of ip for links of type shake, in the machine's own ip: words, messages, printing."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests import ROOT

from .plugged_ip import Ip, attributes, enumeration, packed, u8, u16, u32, whole

KEY = bytes(range(32))
LINK, PATH, PEER = (
    enumeration(ROOT / "shake" / "uapi.h", f"IFLA_SHAKE_{of}") for of in ("", "PATH_", "PEER_")
)


def u64(number: int) -> bytes:
    return struct.pack("Q", number)


def address(text: str) -> bytes:
    return ip_address(text).packed


@pytest.fixture
def ip(root: Path, tmp_path: Path) -> Ip:
    return Ip(root, tmp_path, "shake")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.touch(0o600)
    file.write_text(KEY.hex() + "\n")
    return file


# --- words ------------------------------------------------------------------------------------


def names(*words: str) -> dict[str, bytes]:
    """Words that stand for their number."""
    return {word: u8(number) for number, word in enumerate(words)}


WORDS = {
    "ROLE": names("leader", "agent"),
    "ID": {"4294967295": u32(4294967295)},
    "PORT": {"5000": u16(5000)},
    "LOCAL": {"192.0.2.1": address("192.0.2.1"), "any": b""},
    "REMOTE": {"2001:db8::1": address("2001:db8::1")},
    "SCHEDULER": names("rr", "ratio", "rah"),
    "THETA": {"400": u32(400)},
    "ACK": names("pass", "drop", "tdar", "auto"),
    "THRESHOLD": {"100": u32(100)},
    "AUTH": {"off": u8(0)},
    "ENCRYPT": {"on": u8(1)},
    "INTERVAL": {"10ms": u32(10_000)},
    "RTT_WINDOW": {"100s": u32(100_000_000)},
    "KEEPALIVE": {"0": u32(0), "3600s": u32(3_600_000_000)},
    "QUEUE": {"0": u32(0), "10ms": u32(10_000)},
    "REPAIR": {"off": u8(0)},
    "DATAGRAMS": names("spread", "order", "pin"),
    "DUPLICATE": {"0": u32(0), "65535": u32(65535)},
    "DUPLICATE_DSCP": {"46": u8(46)},
    "HOLD_ACKS": {"on": u8(1)},
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WORDS.items() for value in values]
)
def test_a_word_is_an_attribute(ip: Ip, name: str, value: str) -> None:
    words = (name.lower().replace("_", "-"), value)
    wanted = {LINK[name]: WORDS[name][value]}
    assert ip.asks_for(*words) == ip.asks_for(*words, verb="set") == wanted


PATHS = {
    "path 1": {"ID": u8(1)},
    "path 8 off": {"ID": u8(8), "DELETE": b""},
    "path 2 dev eth0 local 192.0.2.1 remote ::2 weight 50": {
        "ID": u8(2), "DEV": b"eth0\0", "LOCAL": address("192.0.2.1"), "REMOTE": address("::2"),
        "WEIGHT": u32(50),
    },
    "path 3 backup on metered off rate 2.5mbit loss-limit 5": {
        "ID": u8(3), "BACKUP": u8(1), "METERED": u8(0), "RATE": u32(2500), "LOSS_LIMIT": u8(5),
    },
    "path 3 rate 0": {"ID": u8(3), "RATE": u32(0)},
    "path 3 rate 4tbit": {"ID": u8(3), "RATE": u32(4_000_000_000)},
    "path 1 dev any local any": {"ID": u8(1), "DEV": b"\0", "LOCAL": b""},
}  # fmt: skip
PEERS = {
    "peer 7": {"ID": u32(7)},
    "peer 7 off": {"ID": u32(7), "DELETE": b""},
    "peer 0 allow 10.0.0.0/8": {"ID": u32(0), "ALLOW": address("10.0.0.0") + b"\x08"},
    "peer 7 allow 10.0.0.1": {"ID": u32(7), "ALLOW": address("10.0.0.1") + b"\x20"},
    "peer 7 deny 2001:db8::/32": {"ID": u32(7), "DENY": address("2001:db8::") + b"\x20"},
    "peer 7 deny ::1": {"ID": u32(7), "DENY": address("::1") + b"\x80"},
}


@pytest.mark.parametrize("words", PATHS | PEERS)
def test_a_path_and_a_peer_are_nests(ip: Ip, words: str) -> None:
    asked = ip.asks_for(*words.split(), verb="set")
    name, known = ("PATH", PATH) if words in PATHS else ("PEER", PEER)
    assert list(asked) == [LINK[name]]
    wanted = (PATHS | PEERS)[words]
    inside = dict(attributes(asked[LINK[name]]))
    assert inside == {known[name]: data for name, data in wanted.items()}


def test_all_at_once(ip: Ip, key: Path) -> None:
    words = f"role leader id 7 peer 7 key {key} path 1 dev eth0 remote 192.0.2.9 theta 50"
    asked = ip.asks_for(*words.split())
    assert list(asked) == [LINK[name] for name in ("ROLE", "ID", "PEER", "PATH", "THETA")]
    inside = dict(attributes(asked[LINK["PATH"]]))
    assert inside[PATH["REMOTE"]] == address("192.0.2.9")


@pytest.mark.parametrize("ending", ["", "\n", " \r\n"])
@pytest.mark.parametrize("text", [KEY.hex().upper(), b64encode(KEY).decode()])
def test_a_key(ip: Ip, key: Path, text: str, ending: str) -> None:
    key.write_text(text + ending)
    asked = ip.asks_for("private-key", str(key), "peer", "7", "key", str(key))
    assert asked[LINK["PRIVATE_KEY"]] == KEY
    assert dict(attributes(asked[LINK["PEER"]])) == {PEER["ID"]: u32(7), PEER["KEY"]: KEY}


@pytest.mark.parametrize("octets", [KEY, bytes(32), b"\xff" * 32, bytes(range(224, 256))])
def test_a_public_key(ip: Ip, octets: bytes) -> None:
    """As it is written, and as it is shown."""
    text = b64encode(octets).decode()
    asked = ip.asks_for("peer", "7", "public-key", text)
    wanted = {"ID": u32(7), "PUBLIC_KEY": octets}
    assert dict(attributes(asked[LINK["PEER"]])) == {PEER[n]: data for n, data in wanted.items()}
    shown = packed(LINK["PUBLIC_KEY"], octets)
    shown += packed(LINK["PEERS"], packed(LINK["PEER"], whole(wanted, PEER)))
    lines = [line.strip() for line in ip.shows(shown, "-d").splitlines()]
    assert f"shake public-key {text}" in lines and f"peer 7 public-key {text}" in lines


def test_no_public_key(ip: Ip) -> None:
    asked = ip.asks_for("peer", "7", "public-key", "off")
    assert dict(attributes(asked[LINK["PEER"]]))[PEER["PUBLIC_KEY"]] == bytes(32)


def test_a_key_that_others_may_read(ip: Ip, key: Path) -> None:
    """It is taken, with a warning."""
    key.chmod(0o644)
    done = ip.run(
        "link", "set", "dev", "lo", "type", "shake", "peer", "7", "key", str(key),
        LD_PRELOAD=str(ip.preload), SENT=str(ip.sent),
    )  # fmt: skip
    assert done.returncode == 0 and ip.sent.exists()
    assert done.stderr == f'shake: key "{key}": others may read it: chmod 600 it\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        *("00" * 31, "00" * 33, "0g" + "00" * 31, "0x" + "00" * 31, "00 " + "00" * 31),
        *("A" * 43, "A" * 44, "A" * 42 + "B=", "A" * 42 + "-=", "A" * 42 + "=="),
    ],
)
def test_a_key_that_is_none(ip: Ip, key: Path, text: str) -> None:
    key.write_text(text)
    need = "must be a file with a key in base64 or 64 hexadecimal digits"
    wanted = f'shake: key "{key}": {need}'
    assert ip.refuses("peer", "7", "key", str(key)) == wanted


def test_a_key_that_is_not_there(ip: Ip, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    wanted = f'shake: key "{missing}": No such file or directory'
    assert ip.refuses("peer", "7", "key", str(missing)) == wanted
    assert ip.refuses("peer", "7", "key", str(tmp_path)).endswith("Is a directory")


ADDRESS = "must be any or an address of IPv4 or IPv6"
PREFIX = "must be an address of IPv4 or IPv6, or ADDRESS/LENGTH"
RATE = "must be 0 or a rate from 1kbit to 4tbit, with kbit, mbit, gbit or tbit"
#: What is said, by words; what they must be is said of the last one, a value.
WRONG = {
    "role host": "must be leader or agent",
    "id -1": "must be a number from 0 to 4294967295",
    "port 0": "must be a number from 1 to 65535",
    "port 65536": "must be a number from 1 to 65535",
    "local eth0": ADDRESS,
    "remote 10.0.0.0/8": ADDRESS,
    "scheduler fast": "must be rr, ratio or rah",
    "theta 401": "must be a number from 0 to 400",
    "ack maybe": "must be pass, drop, tdar or auto",
    "threshold 0": "must be a number from 1 to 100",
    "auth yes": "must be on or off",
    "interval 0": "must be a time from 10ms to 100s, with us, ms or s",
    "rtt-window 101s": "must be a time from 10ms to 100s, with us, ms or s",
    "duplicate 65536": "must be a number from 0 to 65535",
    "duplicate-dscp 64": "must be a number from 0 to 63",
    "keepalive 10": "must be 0 or a time from 100ms to 3600s, with us, ms or s",
    "queue 9ms": "must be 0 or a time from 10ms to 100s, with us, ms or s",
    "path 0": "must be a number from 1 to 8",
    "path 9": "must be a number from 1 to 8",
    "path 1 dev sixteencharacter": "must be any or the name of a device",
    "path 1 dev a/b": "must be any or the name of a device",
    "path 1 weight 0": "must be a number from 1 to 1000",
    "peer x": "must be a number from 0 to 4294967295",
    "peer 1 public-key " + "00" * 32: "must be off or a key in base64",
    "private-key": "private-key needs a value",
    "peer 1 allow 10.0.0.0/33": PREFIX,
    "peer 1 allow 10.0.0.0/": PREFIX,
    "peer 1 deny any": PREFIX,
    "path": "path needs a value",
    "path 1 dev": "dev needs a value",
    "path 1 loss-limit 101": "must be a number from 0 to 100",
    **{
        f"path 1 rate {rate}": RATE
        for rate in ("5", "5tbit", "0.5kbit", "mbit", "1mbits", "-1kbit")
    },
    "path 1 weight 5 off": "path off stands alone",
    "path 1 off dev eth0": 'unknown word "dev", see: ip link help shake',
    "path 1 dev a dev b": "dev is given twice",
    "path 1 path 2": "path is given twice",
    "theta 1 theta 2": "theta is given twice",
    "key /dev/null": 'unknown word "key", see: ip link help shake',
    "weight 50": 'unknown word "weight", see: ip link help shake',
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_word_is_one_line(ip: Ip, words: str) -> None:
    *_, word, value = ["", *words.split()]
    told = f'{word} "{value}": ' if WRONG[words].startswith("must") else ""
    assert ip.refuses(*words.split()) == f"shake: {told}{WRONG[words]}"


def test_help(ip: Ip, root: Path) -> None:
    """It names every word, and is printed instead of making a link."""
    done = ip.run("link", "help", "shake")
    source = (root / "shake" / "iproute2" / "link_shake.c").read_text()
    words = re.findall(r'^\t\{"([\w-]+)", (?:"\w+"|NULL), (?!IFLA)\w+, ', source, re.M)
    assert len(words) == 37
    assert set(words) <= set(re.findall(r"[a-z][\w-]*", done.stdout))
    made = ip.run("link", "add", "name", "s0", "type", "shake", "help")
    assert (made.returncode, made.stderr) == (1, done.stdout)


# --- printing ---------------------------------------------------------------------------------


@pytest.fixture
def leader() -> bytes:
    """What a leader with two paths sends."""
    one = {
        "ID": u8(1), "DEV": b"eth0\0", "REMOTE": address("192.0.2.9"), "WEIGHT": u32(100),
        "STATE": u8(2),
    }  # fmt: skip
    two = {
        "ID": u8(2), "LOCAL": address("2001:db8::1"), "WEIGHT": u32(50), "STATE": u8(1),
        "BACKUP": u8(1), "METERED": u8(1), "RATE": u32(1500), "LOSS_LIMIT": u8(5),
    }  # fmt: skip
    paths = b"".join(packed(LINK["PATH"], whole(each, PATH)) for each in (one, two))
    prefix = packed(PEER["ALLOW"], address("10.0.0.0") + b"\x08")
    peers = whole({"ID": u32(7), "HAS_KEY": u8(1), "PREFIXES": prefix}, PEER)
    settings = {
        "ROLE": u8(0), "ID": u32(7), "PORT": u16(4790), "REMOTE": address("192.0.2.9"),
        "SCHEDULER": u8(2), "THETA": u32(100), "ACK": u8(3), "THRESHOLD": u32(5), "AUTH": u8(1),
        "ENCRYPT": u8(0), "INTERVAL": u32(1_000_000), "RTT_WINDOW": u32(2_500_000),
        "KEEPALIVE": u32(0), "QUEUE": u32(200_000), "REPAIR": u8(1), "DATAGRAMS": u8(1),
        "DUPLICATE": u32(300), "DUPLICATE_DSCP": u8(46), "HOLD_ACKS": u8(1),
        "PATHS": paths,
        "PEERS": packed(LINK["PEER"], peers), "PATH_COUNT": u32(2), "PEER_COUNT": u32(3),
    }  # fmt: skip
    return whole(settings, LINK)


SETTINGS = (
    "role leader id 7 port 4790 remote 192.0.2.9 scheduler rah theta 100 ack auto threshold 5 "
    "auth on encrypt off interval 1s rtt-window 2500ms keepalive 0 queue 200ms repair on "
    "datagrams order duplicate 300 duplicate-dscp 46 hold-acks on"
)


def test_show(ip: Ip, leader: bytes) -> None:
    lines = [line.strip() for line in ip.shows(leader, "-d").splitlines()]
    at = lines.index(f"shake {SETTINGS}")
    assert lines[at + 1 : at + 5] == [
        "path 1 dev eth0 remote 192.0.2.9 weight 100 state alive",
        "path 2 local 2001:db8::1 weight 50 backup on metered on rate 1500kbit loss-limit 5 "
        "state joining",
        "peer 7 has-key on allow 10.0.0.0/8",
        "and 2 more peers",
    ]


def test_what_is_shown_may_be_given_back(ip: Ip, leader: bytes) -> None:
    """Settings, and a path's."""
    asked = ip.asks_for(*SETTINGS.split(), *"path 1 dev eth0 weight 100".split())
    shown = dict(attributes(leader))
    assert {number: shown[number] for number in asked if number != LINK["PATH"]} == {
        number: data for number, data in asked.items() if number != LINK["PATH"]
    }


def test_show_as_json(ip: Ip, leader: bytes) -> None:
    [shown] = json.loads(ip.shows(leader, "-d", "-j"))
    assert shown["linkinfo"]["info_data"] == {
        "role": "leader", "id": 7, "port": 4790, "remote": "192.0.2.9", "scheduler": "rah",
        "theta": 100, "ack": "auto", "threshold": 5, "auth": True, "encrypt": False,
        "interval_us": 1_000_000, "rtt_window_us": 2_500_000, "keepalive_us": 0,
        "queue_us": 200_000, "repair": True, "datagrams": "order",
        "duplicate": 300, "duplicate_dscp": 46, "hold_acks": True, "path_count": 2,
        "peer_count": 3,
        "paths": [
            {"id": 1, "dev": "eth0", "remote": "192.0.2.9", "weight": 100, "state": "alive"},
            {
                "id": 2, "local": "2001:db8::1", "weight": 50, "backup": True, "metered": True,
                "rate_kbit": 1500, "loss_limit": 5, "state": "joining",
            },
        ],
        "peers": [{"id": 7, "has_key": True, "allow": ["10.0.0.0/8"]}],
    }  # fmt: skip


@pytest.fixture
def stats() -> bytes:
    counts = "SENT SENT_BYTES RECEIVED RECEIVED_BYTES LOST LATE DIED".split()
    one = {"PEER": u32(7), "ID": u8(1), "SRTT": u32(310_440), "MIN_RTT": u32(300_000)}
    one |= {"THROUGHPUT": u64(48_000), "QUEUE": u64(6_000)}
    one |= {name: u64(10**10 + number) for number, name in enumerate(counts)}
    return packed(LINK["PATH"], whole(one, PATH))


def test_statistics(ip: Ip, leader: bytes, stats: bytes) -> None:
    rows = [line.split() for line in ip.shows(leader, "-d", "-s", stats=stats).splitlines()]
    heads = "peer path srtt-ms least-ms kbit/s queue-B sent received lost late died".split()
    row = rows[rows.index(heads) + 1]
    big = [str(10**10 + number) for number in (0, 2, 4, 5, 6)]
    assert row == ["7", "1", "310.4", "300.0", "384", "6000", *big]
    assert heads not in [line.split() for line in ip.shows(leader, "-d", stats=stats).splitlines()]


def test_statistics_as_json(ip: Ip, leader: bytes, stats: bytes) -> None:
    [shown] = json.loads(ip.shows(leader, "-d", "-s", "-j", stats=stats))
    [found] = shown["linkinfo"]["info_xstats"]["paths"]
    assert found["peer"] == 7 and found["id"] == 1
    assert found["srtt_us"] == 310_440 and found["throughput"] == 48_000
    assert found["sent_bytes"] == 10**10 + 1 and found["died"] == 10**10 + 6


def test_a_kernel_with_other_attributes(ip: Ip) -> None:
    """Older or newer than the plug-in, or nonsense: what it knows is shown."""
    entry = packed(LINK["PATH"], whole({"ID": u8(1), "STATE": u8(9)}, PATH) + packed(77, u32(1)))
    more = packed(max(LINK.values()) + 1, u32(1)) + packed(LINK["ROLE"], u8(9))
    text = ip.shows(packed(LINK["PATHS"], entry + packed(LINK["PATH"], b"")) + more, "-d")
    assert "role 9 " in text and "path 1 state 9 " in text
    ends = [b"", packed(LINK["REMOTE"], b"12345"), packed(LINK["PATHS"], b"123")]
    for data in ends:
        assert "shake" in ip.shows(data, "-d")


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("role", ""), ("scheduler", ""), ("ack", "ACK_"), ("path_state", "PATH_")],
)
def test_names_are_those_of_the_kernel(root: Path, name: str, prefix: str) -> None:
    """Of the plug-in and of sysfs, in the order of the enumeration."""
    header = (root / "shake" / "uapi.h").read_text()
    body = re.search(rf"enum shake_{name} \{{(.*?)\}}", header, re.S)
    assert body
    wanted = [one.lower() for one in re.findall(rf"^\s*SHAKE_{prefix}(\w+),", body[1], re.M)]
    short = {"round_robin": "rr", "delay_ratio": "ratio"}
    wanted = [short.get(one, one) for one in wanted]
    for source, form in (
        ("iproute2/link_shake.c", rf"\b{name.removeprefix('path_')}s\[\] = "),
        ("text.c", rf"shake_{name.removeprefix('path_')}_names\[\] = "),
    ):
        told = re.search(form + r"\{(.*?)\}", (root / "shake" / source).read_text(), re.S)
        assert told and re.findall(r'"(\w+)"', told[1]) == wanted
