# SPDX-License-Identifier: GPL-2.0
"""What makes one path of several in scenario multipath: SHAKE and its peers, as script lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import testbed
from .longlinks import AGENT, DOWN, LongLink
from .scenario import Param
from .testbed import Net, time_text

SHAKE, BONDING, TEQL, MPTCP, PLAIN = "shake", "bonding", "teql", "mptcp", "plain"
PATHS = tuple(f"path{n}" for n in range(1, 5))
VIAS = (SHAKE, BONDING, TEQL, MPTCP, PLAIN, *PATHS)
LEADER, CORRESPONDENT = "al", "cn"
TUNNEL, FAR = 50, 40  # numbers of the networks in the tunnel and between agent and correspondent
DEVICE = "shake0"
UDP, SHAKE_HEAD, SHAKE_TAG, GRE, ETHERNET = 8, 12, 16, 4, 14

PARAMS = (
    Param("via", SHAKE, "choice:" + ",".join(VIAS),
          "what joins the paths; pathN: SHAKE with this path alone; plain: path 1, no tunnel"),
    Param("scheduler", "rah", "choice:rr,ratio,rah", "how SHAKE chooses a path"),
    Param("ratio_theta", 1.0, "float", "exponent of scheduler=ratio", 0, 4, "theta"),
    Param("ack", "auto", "choice:pass,drop,tdar,auto",
          "what SHAKE's agent does with duplicate ACKs that are not needed"),
    Param("drop", None, "bool|none", "1: ack=drop, 0: ack=pass"),
    Param("tdar", None, "bool|none", "1: ack=tdar"),
    Param("threshold", 5, "int", "duplicate ACKs that SHAKE drops before one is forced", 1, 100),
    Param("interval", None, "time|none", "SHAKE: time over which throughput is measured", 0, 60),
    Param("rtt_window", None, "time|none", "SHAKE: time for which the least round trip is kept",
          0, 600),
    Param("hold", None, "time|none",
          "SHAKE with scheduler=rah: time that packets may wait in front of the links before the "
          "leader holds others back; 0: no limit", 0, 100),
    Param("repair", 1, "bool", "SHAKE: the leader sends again what a path lost"),
    Param("hold_acks", 0, "bool", "SHAKE: TCP sees the round trip of a far path"),
    Param("qdisc", "pfifo_fast", "choice:pfifo_fast,fq_codel,default",
          "SHAKE: queue above the leader's device (default: the kernel's own)"),
    Param("qdisc_target", 0.0, "time", "fq_codel's target; 0: its own default", 0, 10),
    Param("qdisc_interval", 0.0, "time", "fq_codel's interval; 0: its own default", 0, 60),
    Param("auth", 1, "bool", "SHAKE: packets carry a tag"),
    Param("encrypt", 0, "bool", "SHAKE: payload is encrypted"),
    Param("outside", "4", "choice:4,6", "IP version outside of a tunnel"),
)  # fmt: skip
#: All but ``via`` and what every tunnel has.
_OF_SHAKE = frozenset(param.name for param in PARAMS) - {"via", "outside"}


@dataclass(frozen=True)
class Site:
    """The testbed as a bundle sees it: the links that it uses, addresses outside and inside."""

    values: Mapping[str, Any]
    links: Sequence[LongLink]
    outer: Net
    inner: Net

    @property
    def correspondent(self) -> str:
        """The correspondent's address."""
        return self.inner.address(FAR, 2)

    @property
    def leader(self) -> str:
        """The address by which the correspondent reaches the leader."""
        if tunnelled(self.values):
            return self.inner.address(TUNNEL, 1)
        return self.near(self.links[0])

    @property
    def window(self) -> str:
        """Attributes of the leader's routes to the correspondent: its window if it receives."""
        return testbed.receiver_route(self.values) if self.values["direction"] == DOWN else ""

    def near(self, link: LongLink) -> str:
        """The leader's address on a path."""
        return self.outer.address(10 + link.number, 1)

    def far(self, link: LongLink) -> str:
        """The agent's address on a path."""
        return self.outer.address(30 + link.number, 2)


# --- the parameters ---------------------------------------------------------------------------


def tunnelled(values: Mapping[str, Any]) -> bool:
    """Whether packets travel in others."""
    return values["via"] not in (MPTCP, PLAIN)


def shaken(values: Mapping[str, Any]) -> bool:
    """Whether SHAKE is the tunnel."""
    return values["via"] in (SHAKE, *PATHS)


def idle(values: Mapping[str, Any]) -> frozenset[str]:
    """Parameters without effect beside this ``via``."""
    outside = frozenset() if tunnelled(values) else {"outside"}
    return outside if shaken(values) else _OF_SHAKE | outside


def mode(values: Mapping[str, Any]) -> str:
    """What the agent does with duplicate ACKs: ``ack``, or what ``drop`` and ``tdar`` say."""
    drop, tdar = values["drop"], values["tdar"]
    if drop is None and tdar is None:
        return str(values["ack"])
    return "tdar" if tdar else "drop" if drop else "pass"


def overhead(values: Mapping[str, Any]) -> int:
    """Bytes that the bundle adds to a packet."""
    outside = 40 if values["outside"] == "6" else 20
    if shaken(values):
        return outside + UDP + SHAKE_HEAD + (SHAKE_TAG if values["auth"] else 0)
    return {BONDING: outside + GRE + ETHERNET, TEQL: outside + GRE}.get(values["via"], 0)


def used(values: Mapping[str, Any], links: Sequence[LongLink]) -> Sequence[LongLink]:
    """The links that carry the flows."""
    via = values["via"]
    if via in PATHS:
        return [link for link in links if link.name == via]
    return links[:1] if via == PLAIN else links


def check(values: Mapping[str, Any]) -> None:
    """ValueError (one line) for values that contradict each other."""
    via = values["via"]
    if via in PATHS and PATHS.index(via) >= values["paths"]:
        raise ValueError(f"via={via}: there are {values['paths']} paths: add paths={via[-1]}")
    if values["ack"] != "auto" and (values["drop"], values["tdar"]) != (None, None):
        raise ValueError("ack and drop, tdar say the same: give one of them")
    if values["drop"] == 0 and values["tdar"]:
        raise ValueError("tdar=1 drops ACKs, too: leave out drop=0")
    if not tunnelled(values) and values["outside"] == "6":
        raise ValueError(f"via={via} is no tunnel and has no outside: set ipv6=1 instead")
    if values["encrypt"] and not values["auth"]:
        raise ValueError("encrypt=1 requires auth=1")
    if values["qdisc"] != "fq_codel" and (values["qdisc_target"] or values["qdisc_interval"]):
        raise ValueError("qdisc_target and qdisc_interval are fq_codel's: add qdisc=fq_codel")


# --- script lines -----------------------------------------------------------------------------


def lines(site: Site) -> list[str]:
    """Shell lines that join the paths and give the leader its route to the correspondent."""
    make = {BONDING: _bonding, TEQL: _teql, MPTCP: _mptcp, PLAIN: _plain}
    return make.get(site.values["via"], _shake)(site)


def _routes(site: Site, leader_dev: str, agent_dev: str, gate: bool = False) -> list[str]:
    """Addresses in the tunnel and routes through it; with a gate the agent's address is the next
    hop."""
    inner, nodad = site.inner, " nodad" if site.inner.v6 else ""
    host = 128 if inner.v6 else 32
    own, other = inner.address(TUNNEL, 1), inner.address(TUNNEL, 2)
    return [
        f"{inner.ip(LEADER)} addr add {own}/{host} dev {leader_dev}{nodad}",
        f"{inner.ip(AGENT)} addr add {other}/{host} dev {agent_dev}{nodad}",
        f"ip -n {LEADER} link set {leader_dev} up",
        f"ip -n {AGENT} link set {agent_dev} up",
        f"{inner.ip(LEADER)} route add {other}/{host} dev {leader_dev}",
        f"{inner.ip(AGENT)} route add {own}/{host} dev {agent_dev}",
        f"{inner.ip(LEADER)} route add {inner.network(FAR)}{f' via {other}' if gate else ''} "
        f"dev {leader_dev} src {own}{site.window}",
    ]


def _plain(site: Site) -> list[str]:
    link = site.links[0]
    return [
        "# path 1 alone, no tunnel",
        f"{site.inner.ip(LEADER)} route add {site.inner.network(FAR)} "
        f"via {site.outer.address(10 + link.number, 2)}{site.window}",
    ]


def _mptcp(site: Site) -> list[str]:
    """A subflow for each of the leader's addresses; a packet's address on that side names its path.

    The leader asks for them itself, or tells its addresses to the correspondent that sends.
    """
    ip = site.inner.ip(LEADER)
    down = site.values["direction"] == DOWN
    told = " add_addr_accepted 8" if down else ""
    found = [
        "# MPTCP: a subflow for each path, from the leader's address on it",
        *(f"ip -n {ns} mptcp limits set subflow 8{told}" for ns in (LEADER, CORRESPONDENT)),
        *_plain(site)[1:],
    ]
    for link in site.links:
        gate = site.outer.address(10 + link.number, 2)
        found += [
            f"{ip} rule add from {site.near(link)} table {100 + link.number}",
            f"{ip} route add default via {gate} table {100 + link.number}{site.window}",
        ]
    for link in site.links[1:]:
        found.append(
            f"ip -n {LEADER} mptcp endpoint add {site.near(link)} dev to-{link.router} "
            f"{'signal' if down else 'subflow'}"
        )
    return found


def _gre(site: Site, kind: str) -> list[str]:
    """A GRE tunnel over each path, between the addresses of its ends."""
    six = site.values["outside"] == "6"
    kind = f"ip6{kind}" if six else kind
    words = " encaplimit none" if six else ""
    found = []
    for link in site.links:
        ends = ((LEADER, site.near(link), site.far(link)), (AGENT, site.far(link), site.near(link)))
        for ns, local, remote in ends:
            found.append(
                f"ip -n {ns} link add tun{link.number} mtu {site.inner.mtu} type {kind} "
                f"local {local} remote {remote}{words}"
            )
    return found


def _bonding(site: Site) -> list[str]:
    inner = site.inner
    found = [
        "# bonding: one packet after the other to each of the GRE tunnels that carry Ethernet",
        "modprobe bonding max_bonds=0",
        *_gre(site, "gretap"),
    ]
    for ns, host in ((LEADER, 1), (AGENT, 2)):
        found.append(
            f"ip -n {ns} link add bond0 mtu {inner.mtu} address {inner.mac(TUNNEL, host)} "
            "type bond mode balance-rr miimon 100"
        )
        found += [f"ip -n {ns} link set tun{link.number} master bond0" for link in site.links]
    found += _routes(site, "bond0", "bond0", gate=True)
    for ns, host in ((LEADER, 1), (AGENT, 2)):
        other = 3 - host
        found.append(
            f"ip -n {ns} neigh add {inner.address(TUNNEL, other)} "
            f"lladdr {inner.mac(TUNNEL, other)} dev bond0 nud permanent"
        )
    return found


def _teql(site: Site) -> list[str]:
    """The module makes its devices in the first namespace, one per end."""
    found = [
        "# teql: one packet after the other to each of the GRE tunnels",
        "modprobe sch_teql max_equalizers=2",
        *_gre(site, "gre"),
    ]
    for number, ns in enumerate((LEADER, AGENT)):
        found += [
            f"ip link set teql{number} netns {ns}",
            *(f"tc -n {ns} qdisc add dev tun{k.number} root teql{number}" for k in site.links),
            *(f"ip -n {ns} link set tun{link.number} up" for link in site.links),
        ]
    found += [f"ip -n {ns} link set {dev} mtu {site.inner.mtu}"
              for ns, dev in ((LEADER, "teql0"), (AGENT, "teql1"))]  # fmt: skip
    return [*found, *_routes(site, "teql0", "teql1")]


def _shake(site: Site) -> list[str]:
    """SHAKE's devices; the key is made anew for each run and is in a file."""
    values, inner = site.values, site.inner
    host = 128 if inner.v6 else 32
    common = _shake_words(values)
    agent = f"ip -n {AGENT} link set {DEVICE} type shake"
    leader = f"ip -n {LEADER} link set {DEVICE} type shake"
    keyed = " key $key" if values["auth"] else ""
    found = ["# SHAKE: the agent, then the leader and its paths"]
    if values["auth"]:
        found += [
            "key=$(umask 077 && mktemp)",
            "od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >$key",
        ]
    found += [
        f"ip -n {AGENT} link add {DEVICE} mtu {inner.mtu} type shake role agent {common}",
        f"{agent} peer 1{keyed} allow {inner.address(TUNNEL, 1)}/{host}",
        f"ip -n {LEADER} link add {DEVICE} mtu {inner.mtu} type shake role leader id 1 {common}"
        + ("" if values["hold"] is None else f" queue {time_text(values['hold'])}")
        + ("" if values["repair"] else " repair off"),
        *([f"{leader} peer 1{keyed}"] if keyed else []),
    ]
    found += [
        f"{leader} path {link.number} dev to-{link.router} remote {site.far(link)}"
        for link in site.links
    ]
    found += ["rm $key"] if values["auth"] else []
    found += _queue(values)
    return [*found, *_routes(site, DEVICE, DEVICE), *_wait(len(site.links))]


def _shake_words(values: Mapping[str, Any]) -> str:
    words = {
        "scheduler": values["scheduler"],
        "theta": round(100 * values["ratio_theta"]),
        "ack": mode(values),
        "threshold": values["threshold"],
        "auth": "on" if values["auth"] else "off",
        "encrypt": "on" if values["encrypt"] else "off",
    }
    if values["hold_acks"]:
        words["hold-acks"] = "on"
    for name in ("interval", "rtt_window"):
        if values[name] is not None:
            words[name.replace("_", "-")] = time_text(values[name])
    return " ".join(f"{key} {value}" for key, value in words.items())


def _queue(values: Mapping[str, Any]) -> list[str]:
    """The shell line that sets the leader's queue; the agent's device has none."""
    if values["qdisc"] == "default":
        return []
    words = [values["qdisc"]]
    for name in ("target", "interval"):
        if values[f"qdisc_{name}"]:
            words.append(f"{name} {time_text(values[f'qdisc_{name}'])}")
    return [f"tc -n {LEADER} qdisc add dev {DEVICE} root {' '.join(words)}"]


def _wait(count: int) -> list[str]:
    """Shell lines that wait until the leader's paths are registered, 10 s at most."""
    return [
        f"ip netns exec {LEADER} sh -c '",
        "for try in $(seq 200); do",
        f"\talive=$(grep -c alive /sys/class/net/{DEVICE}/shake/paths)",
        f"\t[ $alive -lt {count} ] || exit 0",
        "\tsleep 0.05",
        "done",
        f'echo "only $alive of {count} paths registered" >&2',
        "exit 1'",
    ]


def save_counters() -> str:
    """Shell lines that save what SHAKE's devices and the leader's queue tell."""
    return f"""\
for ns in {LEADER} {AGENT}; do
	ip netns exec $ns ethtool -S {DEVICE} >"$OUT/shake-$ns.txt"
	ip -n $ns -d -s link show {DEVICE} >"$OUT/shake-link-$ns.txt"
done
tc -n {LEADER} -s -j qdisc show >"$OUT/qdisc-{LEADER}.json"
"""
