# SPDX-License-Identifier: GPL-2.0
"""The devices that `lab device-cost` measures: how they stand on veth pairs, as script lines.

Both ends are in one guest, in the namespaces a and b, joined by a veth pair per path. No device has
offloads, and packets have 1500 bytes in each of them: the pairs take what a device adds.
"""

from __future__ import annotations

from ..base import UsageError
from ..engines.instructions import MARK
from ..scenarios import sscop
from .options import whole_number

VETH, VLAN, GRE = "veth", "vlan", "gre"
MTU = 1500
PAYLOAD = 1448  # of a packet of 1500 bytes, with timestamps
TUNNEL_MTU = 1600  # of the pairs below a tunnel
# SHAKE by its word: what the rows call it, settings, paths.
SHAKE = {
    f"shake{word}{path_word}": (f"shake, {name}, {paths_name}", f"auth {auth} encrypt {seal}", n)
    for word, name, auth, seal in (
        ("-noauth", "auth off", "off", "off"),
        ("", "auth on", "on", "off"),
        ("-encrypt", "encrypt on", "on", "on"),
    )
    for path_word, paths_name, n in (("", "one path", 1), ("-2", "two paths", 2))
}
DEVICE = "shake0"


def device(text: str) -> str:
    """A device's word, as the user gave it."""
    if text in (VETH, VLAN, GRE, "auto", *SHAKE):
        return text
    if text.isdecimal():
        return str(whole_number("DEVICE", text, sscop.LEAST_SEGMENT, 2048))
    raise UsageError(
        f"DEVICE {text}: a whole number from {sscop.LEAST_SEGMENT} to 2048, auto or one of "
        f"{', '.join((VETH, VLAN, GRE, *SHAKE))} is needed"
    )


def is_sscop(word: str) -> bool:
    """Whether a word is a segment of sscop's."""
    return word not in (VETH, VLAN, GRE, *SHAKE)


def name(word: str) -> str:
    """What a row calls a device."""
    if word in SHAKE:
        return SHAKE[word][0]
    return f"sscop, segment {word}" if is_sscop(word) else word


def modules(words: list[str]) -> list[str]:
    """The project's modules that the devices need."""
    needed = {"sscop": any(map(is_sscop, words)), "shake": any(w in SHAKE for w in words)}
    return [module for module, need in needed.items() if need]


def script(word: str, packets: int) -> str:
    """The two ends, and a flow between two marks."""
    make = {VETH: _bare, VLAN: _vlan, GRE: _gre}
    lines = make.get(word, _shake if word in SHAKE else _sscop)
    return "\n".join(
        [
            "set -e",
            "ip netns add a; ip netns add b",
            *(
                f"ip netns exec {ns} sysctl -qw net.ipv6.conf.all.disable_ipv6=1"
                f" net.ipv6.conf.default.disable_ipv6=1"
                for ns in "ab"
            ),
            *lines(word),
            f"ip netns exec b flow recv 5201 $OUT/{word}.json &",
            "sleep 0.3",
            MARK,
            "ip netns exec a flow send 10.0.0.2 5201 --cc cubic --duration 600 /dev/null "
            f"{packets * PAYLOAD}",
            MARK,
            "ip netns del a; ip netns del b; sleep 0.3",
            "",
        ]
    )


def _pair(pair: str, mtu: int) -> list[str]:
    """A veth pair, down."""
    return [
        f"ip link add {pair} netns a mtu {mtu} type veth peer name {pair} mtu {mtu} netns b",
        *_slow(pair),
    ]


def _slow(dev: str) -> list[str]:
    """A device without offloads, at both ends."""
    return [f"ip netns exec {ns} ethtool -K {dev} tso off gso off gro off" for ns in "ab"]


def _up(dev: str, network: int = 0) -> list[str]:
    """A device with an address, at both ends."""
    return [
        line
        for host, ns in enumerate("ab", 1)
        for line in (
            f"ip -n {ns} addr add 10.0.{network}.{host}/24 dev {dev}",
            f"ip -n {ns} link set {dev} up",
        )
    ]


def _bare(_word: str) -> list[str]:
    return [*_pair("v", MTU), *_up("v")]


def _vlan(_word: str) -> list[str]:
    found = _pair("v", MTU)
    found += [f"ip -n {ns} link add link v name u type vlan id 5" for ns in "ab"]
    return [*found, *_slow("u"), *(f"ip -n {ns} link set v up" for ns in "ab"), *_up("u")]


def _sscop(word: str) -> list[str]:
    values = {p.name: p.default for p in sscop.PARAMS} | {"mtu": MTU}
    values["segment"] = word if word == "auto" else int(word)
    return [
        *_pair("v", sscop.lower_mtu(values)),
        *sscop.lines(values, "a b", "v"),
        *(f"ip -n {ns} link set v up" for ns in "ab"),
        *_up(sscop.NAME),
        *sscop.wait_lines("a b"),
    ]


def _gre(_word: str) -> list[str]:
    found = [*_pair("v", TUNNEL_MTU), *_up("v", 1)]
    for host, ns in enumerate("ab", 1):
        found.append(
            f"ip -n {ns} link add u mtu {MTU} type gre local 10.0.1.{host} remote 10.0.1.{3 - host}"
        )
    return [*found, *_slow("u"), *_up("u")]


def _shake(word: str) -> list[str]:
    """The agent in b is the correspondent, too."""
    _, words, paths = SHAKE[word]
    key = "" if "auth off" in words else " key $key"
    found = [] if not key else [
        "key=$(umask 077 && mktemp)",
        "od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >$key",
    ]  # fmt: skip
    for n in range(1, paths + 1):
        found += [*_pair(f"v{n}", TUNNEL_MTU), *_up(f"v{n}", n)]
    agent, leader = (f"ip -n {ns} link set {DEVICE} type shake" for ns in "ba")
    found += [
        f"ip -n b link add {DEVICE} mtu {MTU} type shake role agent {words}",
        f"{agent} peer 1{key} allow 10.0.0.1/32",
        f"ip -n a link add {DEVICE} mtu {MTU} type shake role leader id 1 {words}",
        *([f"{leader} peer 1{key}", "rm $key"] if key else []),
        *(f"{leader} path {n} dev v{n} remote 10.0.{n}.2" for n in range(1, paths + 1)),
    ]
    return [*found, *_slow(DEVICE), *_up(DEVICE), *_wait(paths)]


def _wait(paths: int) -> list[str]:
    """Shell lines that wait until the leader's paths are registered, 10 s at most."""
    alive = f"ip netns exec a grep -c alive /sys/class/net/{DEVICE}/shake/paths"
    return [
        f"for try in $(seq 1000); do [ $({alive} || :) -lt {paths} ] || break; sleep 0.01; done",
        f"[ $({alive} || :) -eq {paths} ]",
    ]
