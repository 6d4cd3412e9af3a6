# SPDX-License-Identifier: GPL-2.0
"""The commands that make a device as a file says, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .conf import Conf, Section, Word


@dataclass
class Command:
    """A command of ip, and the lines of the file that it comes from."""

    argv: list[str]
    where: str
    words: list[Word] = field(default_factory=list)

    def blame(self, message: str) -> str:
        """FILE:LINE of the word that a message of ip is about."""
        about = re.match(r'shake: (?:unknown word ")?([\w-]+)', message)
        for word in self.words:
            if about and word.key == about[1]:
                return word.where
        return self.words[0].where if len(self.words) == 1 else self.where


def _words(section: Section) -> list[str]:
    found = []
    for word in section.passed_on():
        found += [word.key, *word.value.split()]
    return found


def _command(conf: Conf, section: Section, *argv: str) -> Command:
    return Command(["ip", "link", *argv, *_words(section)], section.where, section.passed_on())


def _peers(conf: Conf) -> list[Command]:
    """A leader allows nothing: what comes through the tunnel is its agent's."""
    found = []
    change = ("set", "dev", conf.name, "type", "shake", "peer")
    for peer in conf.peers:
        if peer.section.passed_on() or not conf.leader:
            found.append(_command(conf, peer.section, *change, str(peer.id)))
        for prefix, word in () if conf.leader else peer.prefixes:
            argv = ["ip", "link", *change, str(peer.id), "allow", str(prefix)]
            found.append(Command(argv, word.where, [word]))
    return found


def make(conf: Conf) -> list[Command]:
    """The device with its peers, paths and addresses; it is not up yet.

    Its name may be a word of ip: it stands behind "name" or "dev".
    """
    found = [_command(conf, conf.interface, "add", "name", conf.name, "type", "shake")]
    found += _peers(conf)
    for path in conf.paths:
        change = ("set", "dev", conf.name, "type", "shake", "path", str(path.id))
        found.append(_command(conf, path.section, *change))
    if conf.mtu:
        argv = ["ip", "link", "set", "dev", conf.name, "mtu", conf.mtu.value]
        found.append(Command(argv, conf.mtu.where))
    for address, word in conf.addresses:
        argv = ["ip", "address", "add", str(address), "dev", conf.name]
        found.append(Command(argv, word.where))
    return found


def routes(conf: Conf) -> list[Command]:
    """Routes to the prefixes of peers, which go with the device. A default is tables' matter."""
    found = []
    if conf.table == "off":
        return found
    own = [address.network for address, _ in conf.addresses]
    for peer in conf.peers:
        for prefix, word in peer.prefixes:
            if conf.table == "auto" and (
                prefix.prefixlen == 0
                or any(prefix.version == net.version and prefix.subnet_of(net) for net in own)
            ):
                continue
            argv = ["ip", f"-{prefix.version}", "route", "add", str(prefix), "dev", conf.name]
            table = [] if conf.table == "auto" else ["table", conf.table]
            found.append(Command(argv + table, word.where))
    return found
