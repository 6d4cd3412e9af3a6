# SPDX-License-Identifier: GPL-2.0
"""What a script says about reno's exchange, and whether a log agrees.

Lines ``> SEGMENT`` are what the stack sends, all of it and in this order; a line of several
segments' length stands for as many. ``info LABEL { NAME == VALUE, ... }`` is tcp_info, ``CALL =
RESULT`` what a call returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.played.exchanges.log import Log, Segment, segment

#: What a line ``opened [FLAGS FLAGS FLAGS] OPTIONS`` of a script stands for.
OPENED = """\
0 listen
+0 < {} 0:0(0) win 65535 <mss 1460,{}>
+0 > {} 0:0(0) ack 1{}
+.1 < {} ack 1
+0 accept = 0
"""
_OPENED = re.compile(r"^0 opened (?:(\S+) (\S+) (\S+) )?(.*)\n", re.M)
#: A line without a range is exact, but for what computing and reading the clock cost.
EXACT_S = 0.0005
STATES = {"OPEN": 0, "DISORDER": 1, "CWR": 2, "RECOVERY": 3, "LOSS": 4}
INFINITE = 0x7FFFFFFF
_TIME = re.compile(r"(?:(\+?)([\d.]+)(?:~\+?([\d.]+))? +)?(.*)")
_CONDITION = re.compile(r"(\w+) (==|>=|<=) (\w+)")


@dataclass(frozen=True)
class Line:
    """A line of a script: the times between which it happens, and what."""

    number: int
    begin: float
    end: float
    text: str


def _opened(match: re.Match[str]) -> str:
    syn, answer, ack, options = match.groups()
    said = "" if syn else f" win 64240 <mss 1460,{options}>"
    return OPENED.format(syn or "S", options, answer or "S.", said, ack or ".")


def text_of(path: Path) -> str:
    """A script as it is played."""
    return _OPENED.sub(_opened, path.read_text())


def lines(path: Path) -> Iterator[Line]:
    """The lines of a script with their times."""
    now = 0.0
    for number, raw in enumerate(text_of(path).splitlines(), 1):
        text = raw.strip()
        if not text or text.startswith("//"):
            continue
        match = _TIME.fullmatch(text)
        assert match, text
        plus, begin, end, rest = match.groups()
        base = now if plus else 0.0
        first = now if begin is None else base + float(begin)
        now = first if end is None else base + float(end)
        yield Line(number, first, now, rest)


def title(path: Path) -> str:
    """The comment at the head of a script."""
    return path.read_text().splitlines()[1].removeprefix("// ")


def _fits(wanted: Segment, found: Segment, last: bool) -> bool:
    """Whether a segment is the wanted one or, if that is longer, a part of it."""
    keys = ("ack", "win", "urg", "options", "ecn")
    said = all(getattr(wanted, key) in (None, getattr(found, key)) for key in keys)
    flags = found.flags.replace("P", "") == wanted.flags.replace("P", "")
    return said and flags and (not last or "P" not in wanted.flags or "P" in found.flags)


class Sent:
    """What the stack has sent, taken line by line."""

    def __init__(self, log: Log, exact_s: float) -> None:
        self.left, self.exact_s = list(log.sent), exact_s

    def take(self, line: Line) -> str:
        """Take the segments of a line; what is wrong with them, or nothing."""
        wanted, at = segment(line.end, line.text.removeprefix(">")), 0
        seq = wanted.seq
        while True:
            if not self.left:
                return f"line {line.number}: nothing, not {wanted}"
            found = self.left[0]
            last = found.end == wanted.end
            if found.seq != seq or found.end > wanted.end or not _fits(wanted, found, last):
                return f"line {line.number}: {found.at:.6f} {found}, not {wanted}"
            if not line.begin - self.exact_s <= found.at <= line.end + self.exact_s:
                return f"line {line.number}: {found} at {found.at:.6f}, not {line.begin:g}"
            self.left.pop(0)
            seq, at = found.end, at + 1
            if last:
                return ""


def _value(word: str) -> int:
    if word in STATES:
        return STATES[word]
    return INFINITE if word == "INFINITE" else int(word)


def _wrong_info(line: Line, log: Log) -> list[str]:
    values = next(info.values for info in log.infos if info.line == line.number)
    wrong = []
    for name, how, word in _CONDITION.findall(line.text.partition("{")[2]):
        found, wanted = values[name], _value(word)
        good = {"==": found == wanted, ">=": found >= wanted, "<=": found <= wanted}[how]
        if not good:
            wrong.append(f"line {line.number}: {name} is {found}, not {how} {word}")
    return wrong


def _wrong_line(line: Line, log: Log, sent: Sent) -> list[str]:
    if line.text.startswith(">"):
        return [said] if (said := sent.take(line)) else []
    if line.text.startswith("info"):
        return _wrong_info(line, log)
    wanted = line.text.rpartition(" = ")[2]
    if " = " in line.text and log.calls.get(line.number) != wanted:
        return [f"line {line.number}: {log.calls.get(line.number)}, not {wanted}"]
    return []


def wrong(path: Path, log: Log, exact_s: float = EXACT_S) -> list[str]:
    """Where a log is not as its script says; after the first wrong segment no more are compared."""
    sent, found = Sent(log, exact_s), []
    for line in lines(path):
        if line.text.startswith(">") and any("not" in w and " S" in w for w in found):
            continue
        found += _wrong_line(line, log, sent)
    found += [f"more: {s.at:.6f} {s}" for s in sent.left[:3]]
    return found
