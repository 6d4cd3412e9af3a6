# SPDX-License-Identifier: GPL-2.0
"""/etc/shake/NAME.conf: sections, words, and what is wrong with them.

Words that are not listed here are those of `ip link set NAME type shake`, which checks them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path("/etc/shake")

#: A device's name that is the name of a file and of a unit, too.
NAME = re.compile(r"[A-Za-z0-9_=+.-]{1,15}")
#: What may stand more than once.
REPEATED = {"address", "allowedips", "preup", "postup", "predown", "postdown"}
COMMANDS = ("preup", "postup", "predown", "postdown")
#: Words that are not passed on to ip, by section.
OWN = {
    "interface": {"address", "mtu", "table", "hook", *COMMANDS},
    "path": {"id", "gateway"},
    "peer": {"id", "allowedips"},
}
#: Words of the device alone: in another section ip would take them for the device's.
DEVICE_WORDS = set(
    "role port scheduler theta ack threshold auth encrypt interval rtt-window keepalive queue "
    "repair datagrams duplicate duplicate-dscp hold-acks private-key".split()
)
#: The same below each.
DEVICES = {"path": DEVICE_WORDS, "peer": DEVICE_WORDS | {"local", "remote"}}
PATHS_MAX = 8

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class QuickError(Exception):
    """One line to the user."""

    status = 1


class UpAlreadyError(QuickError):
    """Nothing was begun: nothing is to be undone."""

    status = 3


@dataclass(frozen=True)
class Word:
    """A line KEY = VALUE."""

    key: str
    value: str
    where: str  #: FILE:LINE

    def wrong(self, need: str) -> QuickError:
        return QuickError(f'{self.where}: {self.key} "{self.value}": must be {need}')


@dataclass
class Section:
    """Lines below a [NAME]."""

    name: str
    where: str
    words: list[Word] = field(default_factory=list)

    def all(self, key: str) -> list[Word]:
        return [word for word in self.words if word.key == key]

    def get(self, key: str) -> str | None:
        found = self.all(key)
        return found[0].value if found else None

    def passed_on(self) -> list[Word]:
        """The words that are ip's."""
        return [word for word in self.words if word.key not in OWN[self.name]]


@dataclass
class Way:
    """A [Path]."""

    section: Section
    id: int
    dev: str | None
    local: Address | None
    remote: Address
    gateway: Address | None


@dataclass
class Peer:
    """A [Peer]."""

    section: Section
    id: int
    prefixes: list[tuple[Network, Word]]


@dataclass
class Conf:
    """A whole file."""

    name: str
    file: str
    interface: Section
    leader: bool
    port: int
    addresses: list[tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, Word]]
    mtu: Word | None
    table: str  #: auto, off or a number
    hook: str | None
    paths: list[Way]
    peers: list[Peer]

    def commands(self, key: str) -> list[Word]:
        """Lines such as PostUp, with the device's name for %i."""
        return [
            Word(word.key, word.value.replace("%i", self.name), word.where)
            for word in self.interface.all(key)
        ]


# --- lines to sections ----------------------------------------------------------------------------


def _sections(text: str, file: str) -> Iterator[Section]:
    section: Section | None = None
    for number, whole in enumerate(text.splitlines(), 1):
        where, line = f"{file}:{number}", whole.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            if section:
                yield section
            section = _head(line, where)
        elif section is None:
            raise QuickError(f"{where}: there is no [Interface] above this line")
        else:
            _add(section, line, where)
    if section:
        yield section


def _head(line: str, where: str) -> Section:
    name = line[1:-1].strip().lower()
    if not line.endswith("]") or name not in OWN:
        raise QuickError(f"{where}: {line}: must be [Interface], [Path] or [Peer]")
    return Section(name, where)


def _add(section: Section, line: str, where: str) -> None:
    key, equals, value = (part.strip() for part in line.partition("="))
    key = key.lower()
    if not equals or not key or not value or " " in key or "\0" in line:
        raise QuickError(f"{where}: must be KEY = VALUE")
    if key not in REPEATED and section.all(key):
        raise QuickError(f"{where}: {key} is given twice")
    if key in DEVICES.get(section.name, ()):
        raise QuickError(f"{where}: {key} is a word of [Interface]")
    section.words.append(Word(key, value, where))


# --- words to values ------------------------------------------------------------------------------


def _is_number(text: str, low: int, high: int) -> bool:
    return re.fullmatch("[0-9]{1,10}", text) is not None and low <= int(text) <= high


def _number(section: Section, key: str, low: int, high: int, default: int) -> int:
    found = section.all(key)
    if not found:
        return default
    text = found[0].value
    if not _is_number(text, low, high):
        raise found[0].wrong(f"a number from {low} to {high}")
    return int(text)


def _address(section: Section, key: str) -> Address | None:
    """An address; None if it is left open."""
    found = section.all(key)
    if not found or found[0].value == "any":
        return None
    try:
        return ipaddress.ip_address(found[0].value)
    except ValueError:
        raise found[0].wrong("an address of IPv4 or IPv6") from None


def _split(words: list[Word]) -> Iterator[tuple[str, Word]]:
    for word in words:
        for text in word.value.replace(",", " ").split():
            yield text, Word(word.key, text, word.where)


def _prefixes(section: Section) -> list[tuple[Network, Word]]:
    found = []
    for text, word in _split(section.all("allowedips")):
        try:
            found.append((ipaddress.ip_network(text), word))
        except ValueError:
            raise word.wrong("ADDRESS/LENGTH without bits behind the length") from None
    return found


def _path(section: Section, number: int, remote: Address | None, name: str) -> Way:
    dev = section.all("dev")
    if dev and (not NAME.fullmatch(dev[0].value) or dev[0].value == name):
        raise dev[0].wrong("any or the name of a device, not of the tunnel")
    own = _address(section, "remote") or remote
    if own is None:
        raise QuickError(f"{section.where}: the agent's address is missing: Remote = ADDRESS")
    path = Way(
        section,
        _number(section, "id", 1, PATHS_MAX, number),
        None if not dev or dev[0].value == "any" else dev[0].value,
        _address(section, "local"),
        own,
        _address(section, "gateway"),
    )
    for key, address in (("local", path.local), ("gateway", path.gateway)):
        if address and address.version != own.version:
            raise section.all(key)[0].wrong(f"of IPv{own.version}, as the agent's address is")
    if path.gateway and not path.dev:
        raise section.all("gateway")[0].wrong("beside a Dev, by which it is reached")
    return path


def _paths(sections: list[Section], remote: Address | None, name: str) -> list[Way]:
    paths: list[Way] = []
    for section in sections:
        path = _path(section, len(paths) + 1, remote, name)
        if path.id > PATHS_MAX or path.id in (other.id for other in paths):
            raise QuickError(f"{section.where}: path {path.id}: numbers are 1 to 8, each once")
        paths.append(path)
    return paths


def _peers(sections: list[Section], leader: bool, own: int) -> list[Peer]:
    peers: list[Peer] = []
    for section in sections:
        if not leader and not section.all("id"):
            raise QuickError(f"{section.where}: the leader's number is missing: Id = NUMBER")
        peer = Peer(section, _number(section, "id", 0, 2**32 - 1, own), _prefixes(section))
        if peer.id in (other.id for other in peers) or (leader and peer.id != own):
            raise QuickError(f"{section.where}: peer {peer.id}: each once, a leader's is its own")
        peers.append(peer)
    return peers


def _interfaces(
    section: Section,
) -> list[tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, Word]]:
    found = []
    for text, word in _split(section.all("address")):
        try:
            found.append((ipaddress.ip_interface(text), word))
        except ValueError:
            raise word.wrong("an address of IPv4 or IPv6, or ADDRESS/LENGTH") from None
    return found


def _role(section: Section) -> bool:
    """Whether it is a leader."""
    found = section.all("role")
    if not found:
        raise QuickError(f"{section.where}: the role is missing: Role = leader or Role = agent")
    if found[0].value not in ("leader", "agent"):
        raise found[0].wrong("leader or agent")
    return found[0].value == "leader"


def _table(section: Section) -> str:
    found = section.all("table")
    text = found[0].value if found else "auto"
    if text not in ("auto", "off") and not _is_number(text, 1, 2**32 - 1):
        raise found[0].wrong("auto, off or the number of a table")
    return text


def _hook(section: Section) -> str | None:
    found = section.all("hook")
    if found and not found[0].value.startswith("/"):
        raise found[0].wrong("the whole path of a program")
    return found[0].value if found else None


def parse(text: str, name: str, file: str) -> Conf:
    """A file's text; QuickError with its line for what is wrong."""
    sections = list(_sections(text, file))
    heads = [section for section in sections if section.name == "interface"]
    if len(heads) != 1:
        where = heads[1].where if heads else file
        raise QuickError(f"{where}: there must be one [Interface]")
    head = heads[0]
    leader = _role(head)
    paths = [section for section in sections if section.name == "path"]
    peers = [section for section in sections if section.name == "peer"]
    if paths and not leader:
        raise QuickError(f"{paths[0].where}: an agent's paths are those that leaders register")
    if leader and not paths:
        raise QuickError(f"{head.where}: a leader needs a [Path]")
    _number(head, "mtu", 68, 65535, 68)
    mtu = head.all("mtu")
    return Conf(
        name=name,
        file=file,
        interface=head,
        leader=leader,
        port=_number(head, "port", 1, 65535, 4790),
        addresses=_interfaces(head),
        mtu=mtu[0] if mtu else None,
        table=_table(head),
        hook=_hook(head),
        paths=_paths(paths, _address(head, "remote"), name),
        peers=_peers(peers, leader, _number(head, "id", 0, 2**32 - 1, 1)),
    )


# --- files ----------------------------------------------------------------------------------------


def find(given: str) -> tuple[str, Path]:
    """NAME, or the path of a NAME.conf: name and file."""
    file = Path(given) if "/" in given else FOLDER / f"{given}.conf"
    name = file.name.removesuffix(".conf")
    if not NAME.fullmatch(name) or name in (".", "..") or not file.name.endswith(".conf"):
        raise QuickError(f'"{given}": must be NAME or the path of a NAME.conf, a device\'s name')
    return name, file


def read(given: str) -> Conf:
    name, file = find(given)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "this is no text"
        raise QuickError(f"{file}: {reason}") from None
    return parse(text, name, str(file))
