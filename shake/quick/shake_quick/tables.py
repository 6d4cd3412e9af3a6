# SPDX-License-Identifier: GPL-2.0
"""Rules and tables: each path leaves by its own link, and all else by the tunnel.

    31000  all                                    -> main without its default: what is near
    31001  by a path's device, from its addresses -> the path's table: its device's default route
    31002  all, if a default route is asked for   -> the tunnel's table: by the tunnel

What a path's device has (addresses, default routes of table main) changes as DHCP says; what is
wanted is computed anew then, and what differs is changed. Tables have numbers that follow from the
tunnel's name, so that they are found again without any file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .conf import Conf, Way

NEAR, BY_PATH, BY_TUNNEL = 31000, 31001, 31002
FIRST, EACH, NAMES = 10000, 10, 50000
MAIN = 254
UDP = "17"  #: its name needs /etc/protocols


def table_of(name: str, path: int = 0) -> int:
    """A path's table, or with 0 the tunnel's."""
    return FIRST + EACH * (zlib.crc32(name.encode()) % NAMES) + path


def is_table_of(name: str, table: int) -> bool:
    return 0 <= table - table_of(name) < EACH


@dataclass(frozen=True)
class Rule:
    """A rule of one family; `selector` as words of ip."""

    version: int
    pref: int
    selector: tuple[str, ...]
    table: int

    def words(self) -> list[str]:
        more = ["suppress_prefixlength", "0"] if self.pref == NEAR else []
        return ["pref", str(self.pref), *self.selector, "table", str(self.table), *more]


@dataclass(frozen=True)
class Default:
    """A default route of one family."""

    version: int
    dev: str
    via: tuple[str, ...] = ()
    onlink: bool = False
    src: str = ""

    def words(self) -> list[str]:
        found = ["default", *(["via", *self.via] if self.via else []), "dev", self.dev]
        return found + ["onlink"] * self.onlink + (["src", self.src] if self.src else [])


@dataclass(frozen=True)
class Tables:
    """What is there, or wanted."""

    rules: frozenset[Rule]
    routes: dict[tuple[int, int], Default]  #: by family and table


# --- what ip shows --------------------------------------------------------------------------------


def _hops(route: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A route's next hops; all but the first are used if a device has them alone."""
    for hop in route.get("nexthops") or [route]:
        if hop.get("dev"):
            yield {**hop, "prefsrc": route.get("prefsrc", ""), "metric": route.get("metric", 0)}


def default_of(version: int, hop: dict[str, Any]) -> Default:
    via = (hop["gateway"],) if hop.get("gateway") else ()
    if isinstance(hop.get("via"), dict):
        via = (hop["via"]["family"], hop["via"]["host"])
    return Default(
        version, hop["dev"], via, "onlink" in hop.get("flags", ()), hop.get("prefsrc") or ""
    )


def best_default(
    version: int, routes: Iterable[dict[str, Any]], dev: str | None, never: str
) -> Default | None:
    """Table main's default route by a device, or by any but the tunnel."""
    found = [r for r in routes if r.get("dst") == "default" and r.get("type") in (None, "unicast")]
    hops = [hop for route in found for hop in _hops(route)]
    hops = [hop for hop in hops if hop["dev"] != never and dev in (None, hop["dev"])]
    return default_of(version, min(hops, key=lambda hop: hop["metric"])) if hops else None


def addresses_of(links: Iterable[dict[str, Any]], version: int, dev: str) -> list[str]:
    """Global addresses of a device."""
    family = "inet" if version == 4 else "inet6"
    return [
        info["local"]
        for link in links
        if link.get("ifname") == dev
        for info in link.get("addr_info", [])
        if info.get("family") == family and info.get("scope") == "global" and "local" in info
    ]


def _selector(rule: dict[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    if rule.get("src", "all") != "all":
        found += ["from", rule["src"]]
    if rule.get("dst", "all") != "all":
        found += ["to", rule["dst"]]
    if rule.get("oif"):
        found += ["oif", rule["oif"]]
    if rule.get("ipproto"):
        found += ["ipproto", str(rule["ipproto"]).removeprefix("ipproto-")]
    if rule.get("dport"):
        found += ["dport", str(rule["dport"])]
    return tuple(found)


#: What none of a tunnel's rules has.
_FOREIGN = frozenset(
    "not tos dscp fwmark iif l3mdev uid_start sport sport_start dport_start tun_id".split()
)


def _is_own(name: str, rule: dict[str, Any], number: int) -> bool:
    """Users may have rules that lead to a path's table, too."""
    own = rule.get("priority") in (BY_PATH, BY_TUNNEL) and is_table_of(name, number)
    return own and not _FOREIGN & rule.keys()


def shown_rules(name: str, version: int, rules: Iterable[dict[str, Any]]) -> list[Rule]:
    """A tunnel's rules among those that `ip -N -j rule show` lists, and the one that all share."""
    found = []
    for rule in rules:
        table = str(rule.get("table", ""))
        number = MAIN if table == "main" else int(table) if table.isdigit() else -1
        shared = rule.get("priority") == NEAR and number == MAIN
        if shared or _is_own(name, rule, number):
            found.append(Rule(version, rule["priority"], _selector(rule), number))
    return found


def is_shared(rules: Iterable[dict[str, Any]], name: str) -> bool:
    """Whether another tunnel has rules."""
    for rule in rules:
        table = str(rule.get("table", ""))
        if rule.get("priority") in (BY_PATH, BY_TUNNEL) and not (
            table.isdigit() and is_table_of(name, int(table))
        ):
            return True
    return False


# --- what is wanted -------------------------------------------------------------------------------


@dataclass
class System:
    """What the kernel has: devices with their addresses, default routes of table main."""

    links: list[dict[str, Any]]
    main: dict[int, list[dict[str, Any]]]  #: by family


def _selectors(conf: Conf, way: Way, system: System) -> Iterator[tuple[str, ...]]:
    version = way.remote.version
    if way.dev:
        yield ("oif", way.dev)
    if way.local:
        yield ("from", str(way.local))
    elif way.dev:
        for address in addresses_of(system.links, version, way.dev):
            yield ("from", address)
    if not way.dev and not way.local:
        yield ("to", str(way.remote), "ipproto", UDP, "dport", str(conf.port))


def _dev_of(way: Way, system: System) -> str | None:
    """The device that a path leaves by: it is named, or has its address."""
    if way.dev or not way.local:
        return way.dev
    for link in system.links:
        name = str(link.get("ifname"))
        if str(way.local) in addresses_of([link], way.remote.version, name):
            return name
    return None


def _default(conf: Conf, way: Way, system: System) -> Default | None:
    version = way.remote.version
    if way.gateway:
        there = any(link.get("ifname") == way.dev for link in system.links)
        via = (str(way.gateway),)
        return Default(version, str(way.dev), via, onlink=True) if there else None
    dev = _dev_of(way, system)
    found = best_default(version, system.main.get(version, []), dev, conf.name)
    return found or (_of_point_to_point(version, dev, system) if dev else None)


def _of_point_to_point(version: int, dev: str, system: System) -> Default | None:
    """It needs no router. pppd sets no second default route."""
    for link in system.links:
        flags = link.get("flags", [])
        if link.get("ifname") == dev and "POINTOPOINT" in flags and "UP" in flags:
            return Default(version, dev) if addresses_of([link], version, dev) else None
    return None


def versions_by_tunnel(conf: Conf) -> set[int]:
    """Families whose default route is the tunnel."""
    if not conf.leader or conf.table != "auto":
        return set()
    prefixes = [prefix for peer in conf.peers for prefix, _ in peer.prefixes]
    return {prefix.version for prefix in prefixes if prefix.prefixlen == 0}


def wanted(conf: Conf, system: System) -> Tables:
    """A leader's rules and tables; an agent has none."""
    rules: set[Rule] = set()
    routes: dict[tuple[int, int], Default] = {}
    for way in conf.paths:
        version, table = way.remote.version, table_of(conf.name, way.id)
        for selector in _selectors(conf, way, system):
            rules.add(Rule(version, BY_PATH, selector, table))
        default = _default(conf, way, system)
        if default:
            routes[version, table] = default
    for version in versions_by_tunnel(conf):
        table = table_of(conf.name)
        rules.add(Rule(version, BY_TUNNEL, (), table))
        routes[version, table] = Default(version, conf.name)
    for version in {rule.version for rule in rules}:
        rules.add(Rule(version, NEAR, (), MAIN))
    return Tables(frozenset(rules), routes)


# --- from one to the other ------------------------------------------------------------------------


def _order(rule: Rule) -> tuple[int, int, int, tuple[str, ...]]:
    return rule.version, rule.pref, rule.table, rule.selector


def changes(have: Tables, want: Tables) -> list[list[str]]:
    """Commands that make one of the other: routes first, so that no rule leads nowhere."""
    found = []
    for (version, table), route in sorted(want.routes.items(), key=lambda one: one[0]):
        if have.routes.get((version, table)) != route:
            words = [*route.words(), "table", str(table)]
            found.append(["ip", f"-{version}", "route", "replace", *words])
    for rule in sorted(want.rules - have.rules, key=_order):
        found.append(["ip", f"-{rule.version}", "rule", "add", *rule.words()])
    gone = [rule for rule in have.rules - want.rules if rule.pref != NEAR]
    for rule in sorted(gone, key=_order, reverse=True):
        found.append(["ip", f"-{rule.version}", "rule", "del", *rule.words()])
    for version, table in sorted(have.routes.keys() - want.routes.keys()):
        found.append(["ip", f"-{version}", "route", "flush", "table", str(table)])
    return found
