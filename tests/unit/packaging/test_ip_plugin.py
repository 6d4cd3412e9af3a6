# SPDX-License-Identifier: GPL-2.0
"""The plug-in of ip for links of type sscop, in the machine's own ip: words, messages, printing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from apogee_lab.guest import plugins
from tests import ROOT

from .plugged_ip import Ip, enumeration, packed, u8, u16, u32, u64, whole

NUMBERS = enumeration(ROOT / "sscop" / "uapi.h", "IFLA_SSCOP_")
ADDRESS = bytes.fromhex("020000000001")


@pytest.fixture
def ip(root: Path, tmp_path: Path) -> Ip:
    return Ip(root, tmp_path, "sscop")


def test_the_plugins_of_a_cache_that_was_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their links are relative; one that points to nothing is made anew."""
    for name in ("first", "second"):
        monkeypatch.setenv("APOGEE_CACHE", str(tmp_path / name))
        if name == "first":
            (tmp_path / name).mkdir()
        links = sorted(plugins.folder().iterdir())
        assert [link.name for link in links] == ["link_shake.so", "link_sscop.so"]
        assert all(link.is_file() for link in links)
        if name == "first":
            links[0].unlink()
            links[0].symlink_to("/nowhere/link_shake.so")
            assert links[0] in plugins.folder().iterdir() and links[0].is_file()
            (tmp_path / "first").rename(tmp_path / "second")


# --- words ------------------------------------------------------------------------------------


#: By attribute: its form, and the values of its words.
WORDS = {
    "SEGMENT": (u16, {"256": 256, "64": 64, "65000": 65000, "auto": 0}),
    "WINDOW": (u32, {"1": 1, "65536": 65536}),
    "POLL_BYTES": (u32, {"0": 0, "4294967295": 4294967295}),
    "POLL_SDS": (u32, {"16": 16}),
    "POLL_TIME": (u32, {"10s": 10_000_000, "1ms": 1000, "100ms": 100_000, "0.25s": 250_000,
                        "2500us": 2500}),
    "POLL_IDLE": (u32, {"0": 0, "100us": 100, "1.5ms": 1500}),
    "USTAT": (u8, {"on": 1, "off": 0}),
    "PEER": (bytes.fromhex, {"02:00:00:00:00:01": "020000000001",
                             "0A:bC:00:00:00:ff": "0abc000000ff"}),
    "LINK_ID": (u16, {"0": 0, "65535": 65535}),
    "BACKLOG": (u32, {"3000": 3000}),
    "UNASSURED": (u64, {"none": 0, "ef": 1 << 46, "0,63": 1 | 1 << 63, "46,ef": 1 << 46}),
    "BOUNDED": (u64, {"8": 1 << 8}),
    "SMALL": (u32, {"0": 0, "65535": 65535}),
    "PERSIST": (u32, {"1ms": 1000, "10s": 10_000_000}),
    "PORT": (u16, {"1": 1, "65535": 65535}),
    "REMOTE": (bytes.fromhex, {"192.0.2.1": "c0000201", "::1": f"{1:032x}"}),
    "LOCAL": (bytes.fromhex, {"::": f"{0:032x}"}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, (_, values) in WORDS.items() for value in values]
)
def test_a_word_is_an_attribute(ip: Ip, name: str, value: str) -> None:
    form, values = WORDS[name]
    words = (name.lower().replace("_", "-"), value)
    wanted = {NUMBERS[name]: form(values[value])}  # type: ignore[operator]
    assert ip.asks_for(*words) == ip.asks_for(*words, verb="set") == wanted


def test_all_words_at_once_and_none(ip: Ip) -> None:
    words = (
        "segment 128 window 512 poll-bytes 0 poll-sds 16 poll-time 10s poll-idle 0 ustat on "
        "peer 02:00:00:00:00:01 link-id 7 backlog 3000 unassured ef bounded 8 small 200 persist 1s "
        "port 4789 remote 10.0.0.1 local 10.0.0.2"
    )
    names = "SEGMENT WINDOW POLL_BYTES POLL_SDS POLL_TIME POLL_IDLE USTAT PEER LINK_ID".split()
    names += ["BACKLOG", "UNASSURED", "BOUNDED", "SMALL", "PERSIST", "PORT", "REMOTE", "LOCAL"]
    assert list(ip.asks_for(*words.split())) == [NUMBERS[name] for name in names]
    assert ip.asks_for() == {}


#: What is said, by the words it is said of.
WRONG = {
    "segment {}: must be auto or octets from 64 to 65000": ["63", "65001", "256B"],
    "window {}: must be a number from 1 to 65536": ["0", "-1", "0x10"],
    "poll-bytes {}: must be a number from 0 to 4294967295": ["4294967296"],
    "poll-sds {}: must be a number from 0 to 4294967295": ["99999999999999999999"],
    "poll-time {}: must be a time from 1ms to 10s, with us, ms or s":
        ["0", "999us", "10.1s", "100", "ms", "1.2.3s", "1e3us", "-1s", "infs"],
    "poll-idle {}: must be 0 or a time from 100us to 10s, with us, ms or s":
        ["0.4us", "99us", "99999s"],
    "ustat {}: must be on or off": ["yes"],
    "peer {}: must be a hardware address such as 02:00:00:00:00:01":
        ["02:00:00:00:00", "02:00:00:00:00:01:02", "02-00-00-00-00-01", "10.0.0.1"],
    "link-id {}: must be a number from 0 to 65535": ["65536", "-1", "one"],
    "backlog {}: must be auto or octets from 64 to 16777216": ["63"],
    "unassured {}: must be none, or DSCPs from 0 to 63 or ef, with commas":
        ["64", "ef,", "all", "none,8", "-1", "0," * 100 + "0"],
    "persist {}: must be a time from 1ms to 10s, with us, ms or s": ["0", "11s"],
    "port {}: must be a number from 1 to 65535": ["0", "65536"],
    "remote {}: must be an IPv4 or IPv6 address": ["host", "10.0.0", "fe80::1%eth0"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "value"), [(told, value) for told, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_one_line(ip: Ip, told: str, value: str) -> None:
    said = f"sscop: {told}".format(f'"{value}"')
    assert ip.refuses(told.split()[0], value) == said


def test_a_wrong_word_is_one_line(ip: Ip) -> None:
    for words, line in {
        "backlog": "backlog needs a value",
        "segment 256 segment 128": "segment is given twice",
        "seg 256": 'unknown word "seg", see: ip link help sscop',
    }.items():
        assert ip.refuses(*words.split()) == f"sscop: {line}"


def test_help(ip: Ip, root: Path) -> None:
    """It names every word, and is printed instead of making a link."""
    done = ip.run("link", "help", "sscop")
    source = (root / "sscop" / "iproute2" / "link_sscop.c").read_text()
    words = re.findall(r'^\t\{"([\w-]+)", "\w+", \w+, IFLA', source, re.M)
    assert len(words) == 17
    assert re.findall(r"\[ ([\w-]+) [A-Z{]", done.stdout) == words
    made = ip.run("link", "add", "link", "lo", "name", "s0", "type", "sscop", "help")
    assert (made.returncode, made.stderr) == (1, done.stdout)


# --- printing ---------------------------------------------------------------------------------


@pytest.fixture
def data() -> dict[str, bytes]:
    """What a device with its defaults sends."""
    return {
        "SEGMENT": u16(0), "WINDOW": u32(1024), "POLL_BYTES": u32(3000), "POLL_SDS": u32(0),
        "POLL_TIME": u32(100_000), "POLL_IDLE": u32(10_000), "USTAT": u8(1), "PEER": ADDRESS,
        "UNASSURED": u64(1 << 46 | 1 << 8), "BOUNDED": u64(0), "SMALL": u32(200),
        "PERSIST": u32(1_000_000),
        "BACKLOG": u32(3000), "LINK_ID": u16(513), "STATE": u8(3), "SEGMENT_NOW": u16(251),
        "PORT": u16(4789),
        "REMOTE": bytes.fromhex("c0000201"), "LOCAL": bytes(15) + b"\1",
    }  # fmt: skip


def test_show(ip: Ip, data: dict[str, bytes]) -> None:
    text = ip.shows(whole(data, NUMBERS), "-d")
    assert (
        "sscop segment auto window 1024 poll-bytes 3000 poll-sds 0 poll-time 100ms "
        "poll-idle 10ms ustat on peer 02:00:00:00:00:01 link-id 513 backlog 3000 "
        "unassured 8,46 bounded none small 200 persist 1s port 4789 "
        "remote 192.0.2.1 local ::1 state ready segment-now 251 "
    ) in text


def test_what_is_shown_may_be_given_back(ip: Ip, data: dict[str, bytes]) -> None:
    """Settings, not state."""
    data |= {"SEGMENT": u16(300), "USTAT": u8(0), "POLL_TIME": u32(1_500_001), "POLL_IDLE": u32(0)}
    shown = ip.shows(whole(data, NUMBERS), "-d")
    words = re.search(r"sscop (segment .*) state ", shown)
    assert words and "poll-time 1500001us" in words[1]
    asked = ip.asks_for(*words[1].split())
    settings = [name for name in data if name not in ("STATE", "SEGMENT_NOW")]
    assert asked == {NUMBERS[name]: data[name] for name in settings}


def test_show_as_json(ip: Ip, data: dict[str, bytes]) -> None:
    [link] = json.loads(ip.shows(whole(data, NUMBERS), "-d", "-j"))
    wanted = {
        "segment": "auto", "window": 1024, "poll_bytes": 3000, "poll_sds": 0,
        "poll_time_us": 100_000, "poll_idle_us": 10_000, "ustat": True,
        "unassured": "8,46", "bounded": "none", "small": 200, "persist_us": 1_000_000,
        "peer": "02:00:00:00:00:01", "link_id": 513, "backlog": 3000, "port": 4789,
        "remote": "192.0.2.1", "local": "::1", "state": "ready", "segment_now": 251,
    }  # fmt: skip
    assert link["linkinfo"] == {"info_kind": "sscop", "info_data": wanted}
    data["SEGMENT"] = u16(256)
    [link] = json.loads(ip.shows(whole(data, NUMBERS), "-d", "-j"))
    assert link["linkinfo"]["info_data"] == wanted | {"segment": 256}


def test_a_kernel_with_other_attributes(ip: Ip) -> None:
    """Older or newer than the plug-in: what it knows is shown."""
    some = {"WINDOW": u32(7), "STATE": u8(99)}
    more = packed(max(NUMBERS.values()) + 1, u32(1))
    assert "sscop window 7 state 99 " in ip.shows(whole(some, NUMBERS) + more, "-d")
    assert ip.shows(b"", "-d").splitlines()[-1].split() == ["sscop"]


def test_states_are_those_of_the_protocol(root: Path) -> None:
    header = (root / "sscop/core/sscop.h").read_text()
    body = re.search(r"enum sscop_state \{(.*?)\}", header, re.S)
    assert body
    states = [name.lower() for name in re.findall(r"^\s*SSCOP_(\w+),", body[1], re.M)]
    source = (root / "sscop" / "iproute2" / "link_sscop.c").read_text()
    told = re.search(r"states\[\] = \{(.*?)\}", source, re.S)
    assert told
    assert re.findall(r'"(\w+)"', told[1]) == states
