# SPDX-License-Identifier: GPL-2.0
"""sscop's settings as a user gives and sees them: words of ip, files in sysfs, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab.engines import uml
from apogee_lab.guest import plugins

pytestmark = pytest.mark.guest

WORDS = (
    "segment 256 window 512 poll-bytes 0 poll-sds 16 poll-time 10s poll-idle 0 ustat off "
    "peer 02:00:00:00:00:02 link-id 513 backlog 5000 unassured 46 bounded 8,34 small 300 "
    "persist 250ms"
)

SCRIPT = """
export IP_LIB_DIR=/lib/ip
show() { ip -d link show s0 >$OUT/$1; ip -d -j link show s0 >$OUT/$1.json; }
files() { for file in *; do echo "$file $(cat $file)"; done >$OUT/$1; }
refused() { name=$1; shift; "$@" 2>$OUT/$name; echo "status $?" >>$OUT/$name; }

ip link add low type veth peer name other
ip link set low address 02:00:00:00:00:01
ip link set other address 02:00:00:00:00:02
ip link set low up
ip link set other up
[ -d /sys/module/sscop ] && echo yes >$OUT/early
ip link add link low name s0 type sscop
cd /sys/class/net/s0/sscop || exit
show defaults
files defaults.files

ip link set s0 type sscop WORDS
show changed
files changed.files
refused sticks rmmod sscop
ip link del s0
ip link add link low name s0 type sscop WORDS
show made

cd /sys/class/net/s0/sscop || exit
echo auto >segment; echo 16384 >window; echo 3000 >poll_bytes; echo 0 >poll_sds; echo auto >backlog
echo 100000 >poll_time_us; echo 10000 >poll_idle_us; echo 1 >ustat; echo 00:00:00:00:00:00 >peer
echo 0 >link_id
echo none >unassured; echo none >bounded; echo 0 >small; echo 1000000 >persist_us
show restored

refused long ip link set s0 type sscop segment 1492
refused both ip link set s0 type sscop unassured 46,8 bounded ef
refused dscp ip link set s0 type sscop unassured 64
refused low ip link add link lo name s1 type sscop
refused without ip link add name s1 type sscop
refused second ip link add link low name s1 type sscop
ip link add link other name s1 type sscop
ip link set s0 up
ip link set s1 up
until [ "$(cat /sys/class/net/s0/carrier)" = 1 ]; do sleep 0.01; done
refused window ip link set s0 type sscop window 100
refused classes ip link set s0 type sscop unassured ef
refused same ip link set s0 type sscop window 16384
show ready
ethtool -S s0 >$OUT/counters; sleep 0.5
ip link set s0 type sscop peer 02:00:00:00:00:99
cat /sys/class/net/s0/carrier >$OUT/carrier
dmesg | grep 'another peer' >$OUT/peer
sleep 0.1; ethtool -S s1 | sed -n 's/^ *reset_end: //p' >$OUT/told
for n in $(seq 300); do echo bad >/sys/class/net/s0/sscop/segment; done 2>/dev/null
dmesg | grep -c 'not a value' >$OUT/bad
unshare -Ur sh -c 'echo 300 >/sys/class/net/s0/sscop/segment' 2>$OUT/uncapable
cat /sys/class/net/s0/sscop/segment >$OUT/segment
ip link del s0
ip link del s1
refused gone rmmod sscop
""".replace("WORDS", WORDS)

PAPER = {
    "segment": 256,
    "window": 512,
    "poll_bytes": 0,
    "poll_sds": 16,
    "poll_time_us": 10_000_000,
    "poll_idle_us": 0,
    "ustat": False,
    "peer": "02:00:00:00:00:02",
    "link_id": 513,
    "backlog": 5000,
    "unassured": "46",
    "bounded": "8,34",
    "small": 300,
    "persist_us": 250_000,
}
DEFAULTS = {
    "segment": "auto",
    "window": 16384,
    "poll_bytes": 3000,
    "poll_sds": 0,
    "poll_time_us": 100_000,
    "poll_idle_us": 10_000,
    "ustat": True,
    "peer": "00:00:00:00:00:00",
    "link_id": 0,
    "backlog": "auto",
    "unassured": "none",
    "bounded": "none",
    "small": 0,
    "persist_us": 1_000_000,
}


@pytest.fixture(scope="module")
def said(modules: Path, build: Path) -> dict[str, str]:
    """What one guest said."""
    out = build / "tests" / "sscop-words"
    info = uml.run_script(SCRIPT, out=out, modules=["sscop"], files=plugins.guest_files())
    assert info.status == 0, (out / "console.log").read_text()
    return {path.name: path.read_text() for path in out.iterdir() if path.is_file()}


def data(said: dict[str, str], name: str) -> dict[str, object]:
    """The settings that `ip -d -j link show` printed, without what changes by itself."""
    [link] = json.loads(said[f"{name}.json"])
    assert link["linkinfo"]["info_kind"] == "sscop"
    found = link["linkinfo"]["info_data"]
    return {key: value for key, value in found.items() if key not in ("state", "segment_now")}


def files(said: dict[str, str], name: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in said[f"{name}.files"].splitlines())


def test_a_link_begins_with_the_defaults(said: dict[str, str]) -> None:
    assert data(said, "defaults") == DEFAULTS
    assert (
        "segment auto window 16384 poll-bytes 3000 poll-sds 0 poll-time 100ms poll-idle 10ms "
        "ustat on peer 00:00:00:00:00:00 link-id 0 backlog auto unassured none bounded none "
        "small 0 persist 1s state idle segment-now "
    ) in said["defaults"]


def test_words_and_files_change_them(said: dict[str, str]) -> None:
    assert data(said, "made") == PAPER
    assert data(said, "changed") == PAPER
    assert data(said, "restored") == DEFAULTS
    assert f"sscop {WORDS} state idle segment-now 256 " in said["made"]


@pytest.mark.parametrize("name", ["defaults", "changed"])
def test_files_are_the_same_settings(said: dict[str, str], name: str) -> None:
    wanted = {key: str(int(value) if isinstance(value, bool) else value)
              for key, value in data(said, name).items()}  # fmt: skip
    found = files(said, name)
    assert found.pop("state") == "idle"
    assert int(found.pop("segment_now")) >= 64
    assert found == wanted


def test_another_peer_takes_the_carrier(said: dict[str, str]) -> None:
    assert " state ready segment-now " in said["ready"]
    assert said["carrier"] == "0\n"
    assert "s0: connection ended: another peer is set; 0 packets may be lost" in said["peer"]


def test_the_peer_that_is_left_is_told(said: dict[str, str]) -> None:
    assert said["told"] == "1\n"


def test_bad_values_do_not_fill_the_log(said: dict[str, str]) -> None:
    assert 1 <= int(said["bad"]) <= 60


def test_files_need_the_right_to_change_networks(said: dict[str, str]) -> None:
    assert "Operation not permitted" in said["uncapable"]
    assert said["segment"] == "auto\n"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("long", "segment must be at most the MTU of the device below, less 9"),
        ("low", "the device below must be Ethernet-like"),
        ("both", "a DSCP cannot be unassured and bounded"),
        ("classes", "classes can only be begun or left while the device is down"),
        ("without", "what is below is missing: link DEVICE, or port PORT for UDP"),
        (
            "second",
            "the device below carries another link: each needs a peer or link-id of its own",
        ),
        ("window", "window can only be changed while the device is down"),
    ],
)
def test_the_kernel_refuses_in_one_line(said: dict[str, str], name: str, line: str) -> None:
    assert said[name] == f"Error: sscop: {line}.\nstatus 2\n"


def test_the_plug_in_refuses_a_dscp_in_one_line(said: dict[str, str]) -> None:
    line = 'sscop: unassured "64": must be none, or DSCPs from 0 to 63 or ef, with commas'
    assert said["dscp"].splitlines()[0] == line


def test_what_changes_nothing_is_not_refused(said: dict[str, str]) -> None:
    assert said["same"] == "status 0\n"


def test_the_module_is_there_while_it_is_used(said: dict[str, str]) -> None:
    """Adding a link loads it."""
    assert "early" not in said
    assert "in use" in said["sticks"] or "temporarily unavailable" in said["sticks"]
    assert said["gone"] == "status 0\n"
