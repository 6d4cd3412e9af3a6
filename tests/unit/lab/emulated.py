# SPDX-License-Identifier: GPL-2.0
"""What a script emulates, by time: its tc commands, read and applied without a kernel.

Times are seconds after the first SYN; what is set up before has the time -1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

SET_UP = -1.0
UNITS = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "bit": 1.0, "b": 1.0, "%": 0.01}
_BATCH = re.compile(r"tc -n (\S+) -batch - <<'END'$")
_MOVE = re.compile(r"move (\S+) '([^']*)' <<'END' &$")
_REPLAY = re.compile(r"flow replay .* <<'END' \| tc -n (\S+) -batch - &$")
_PLAIN = re.compile(r"\s*tc -n (\S+) ((?:qdisc|class|filter) .*)$")
_LOOP = re.compile(r"for (\w+) in ([^;]*); do$")
_SENDS = re.compile(r"wait \$sender$|.*for pid in \$senders")

#: A command: time, namespace, words.
Command = tuple[float, str, str]
#: Where a qdisc or filter is: namespace, device, and its handle, or its parent if it has none.
Place = tuple[str, str, str]


def commands(script: str) -> Iterator[Command]:
    """Its tc commands while the flows run and before, in order."""
    lines = iter(script.splitlines())
    for line in lines:
        if _SENDS.match(line):
            return
        loop = _LOOP.match(line)
        if loop:
            body = list(iter(lines.__next__, "done"))
            for item in loop[2].split():
                text = "\n".join(body).replace(f"${loop[1]}", item)
                yield from commands(text)
            continue
        block = _BATCH.match(line) or _MOVE.match(line) or _REPLAY.match(line)
        if block:
            for each in iter(lines.__next__, "END"):
                at, words = SET_UP, each
                if block.re is not _BATCH:
                    first, _, words = each.partition(" ")
                    at = float(first)
                    words = f"{block[2]} {words}" if block.re is _MOVE else words
                yield at, block[1], words
        elif plain := _PLAIN.match(line):
            yield SET_UP, plain[1], plain[2]


def number(words: str, name: str) -> float | None:
    """The number with a unit that follows a word."""
    found = re.search(rf"(?:^| ){name} ([\d.e+-]+)([a-z%]*)", words)
    return float(found[1]) * UNITS[found[2]] if found else None


def lost(words: str, length: int) -> float:
    """The share of frames of a length that a filter of ``bpf bytecode`` matches."""
    text = re.search(r"bytecode '([^']*)'", words)
    if not text:
        return 0.0
    code = [tuple(map(int, one.split())) for one in text[1].split(",")[1:]]

    def matched(at: int) -> float:
        kind, yes, no, operand = code[at]
        if kind == 0x06:  # return
            return float(operand != 0)
        if kind == 0x45:  # a bit of the length
            return matched(at + 1 + (yes if length & operand else no))
        if kind == 0x35:  # a random number, at least
            below = operand / 2**32
            return below * matched(at + 1 + no) + (1 - below) * matched(at + 1 + yes)
        return matched(at + 1)

    return matched(0)


@dataclass(frozen=True)
class Emulated:
    """A script's devices over time."""

    script: str
    every: dict[Place, list[tuple[float, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for at, ns, words in commands(self.script):
            dev = re.search(r"\bdev (\S+)", words)
            handle = re.search(r"\b(?:handle|classid) (\S+)", words)
            kind = words.split(" ", 1)[0]
            place = handle[1] if handle else "root"
            if kind == "filter":
                place = "lost" if "bytecode" in words else "filter"
            elif words.endswith("clsact"):
                place = "clsact"
            assert dev, words
            self.every.setdefault((ns, dev[1], place), []).append((at, words))

    @cached_property
    def times(self) -> list[float]:
        """The times at which something changes."""
        return sorted({at for steps in self.every.values() for at, _ in steps if at != SET_UP})

    def words(self, ns: str, dev: str, place: str, time_s: float) -> str:
        """The last command for a place up to a time; empty if there is none."""
        steps = self.every.get((ns, dev, place), [])
        return next((words for at, words in reversed(steps) if at <= time_s), "")

    def slotted(self, ns: str, dev: str, place: str, time_s: float) -> bool:
        """Whether the last slot that was given holds frames: a change without a slot keeps it."""
        steps = self.every.get((ns, dev, place), [])
        slots = [number(w, "slot") for at, w in steps if at <= time_s and " slot " in f" {w}"]
        return bool(slots and slots[-1])
