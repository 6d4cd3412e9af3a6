# SPDX-License-Identifier: GPL-2.0
"""What a kernel reports in its log: the same verdict for all engines.

A report is a message that only a fault causes: a warning or oops, a finding of a debugging tool
(KASAN, KFENCE, KCSAN, UBSAN, lockdep, kmemleak), a stall or lockup, a device never released.

Data races are the exception. The kernel has many of its own, which its authors know and leave: one
that KCSAN reports counts only if a function of a module that the run brought is in a call trace.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

#: How a message begins that is a report. Programs of user space that crash, firmware that is
#: faulty and modules that are not signed are reported in other words.
_REPORT = re.compile(
    r"""WARNING:\s             # WARN(), lockdep, suspicious RCU usage
    | (?:watchdog:\ )?BUG:\s   # KASAN, KFENCE, KCSAN, bad accesses, soft lockups, atomic sleep
    | BUG\ \S+(?:\ \(|:\ )      # the slab allocator's
    | kernel\ BUG\ at\s
    | Kernel\ panic\b
    | Oops\b
    | [\w ,]+:\ [0-9a-f]{4}\ \[\#\d+\]  # an oops of x86 before 6.10: "divide error: 0000 [#1]"
    | \[\ BUG:\s               # lockdep's "[ BUG: Invalid wait context ]"
    | .*\bNETDEV\ WATCHDOG:\s
    | huh,\ entered\ softirq\s
    | Internal\ error:\s       # an oops of other architectures
    | general\ protection\ fault\b
    | UBSAN:\s
    | KASAN:\s
    | (?:rcu:\ )?INFO:.*\bstalls?\b
    | INFO:\ task\ .*\bblocked\b.*\bfor\ more\ than\b
    | INFO:\ trying\ to\ register\ non-static\ key
    | (?:NMI\ )?watchdog:\ .*\b(?:soft\ lockup|hard\ LOCKUP)\b
    | unregister_netdevice:\ waiting\ for\s
    | refcount_t:\s
    | .*:\ page\ allocation\ failure:   # short of memory: what is measured is not the network
    | \S+\ invoked\ oom-killer:
    | Out\ of\ memory:\ Killed\ process\s
    | kmemleak:\ \d+\ new\ suspected\ memory\ leak
    """,
    re.VERBOSE,
)
#: A CPU that makes no progress: nothing more is to be expected of such a guest.
_STALL = re.compile(
    r"(?:rcu: )?INFO: rcu_\w+ .*\bstalls?\b|(?:NMI )?watchdog: .*\b(?:soft|hard) lockup\b", re.I
)
#: Ends of a guest as a kernel without time stamps (UML's) writes them on the console.
_END = re.compile(r"Kernel panic\b|(?:kernel )?BUG\b|Oops\b")
_STAMP = re.compile(r"\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? ?")
_CUT = "------------[ cut here ]------------"
_FUNCTION = r"[\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?"
_HAS_PLACE = re.compile(rf"{_FUNCTION}| (?:at|in) \S+:\d+")
_PLACE = re.compile(rf"(?:RIP: \w+:|\bpc : |\bat: )({_FUNCTION})|^(\S+\.[chS]:\d+) ")
_RACE = "BUG: KCSAN: "
#: The kernel's own, whoever asks for the time: what changes meanwhile is read again.
_RACES_OF_TIME = re.compile(r"BUG: KCSAN: data-race in ktime_get\w* / timekeeping_advance$")
_MODULE = re.compile(r" \[(\w+)\]")  # behind a function's name
_RACE_ENDS = re.compile("={66}$")
_PLACE_LINES = 40  # within which a report names the place, if it does
SHOWN_LINES = 60  # of a log, to a user; a call trace takes some 45


@dataclass(frozen=True)
class Report:
    """What a kernel reported first: in one line, and the log from there on."""

    line: str
    log: Sequence[str]

    def __str__(self) -> str:
        return f"the kernel reported: {self.line}"


def verdict(messages: Sequence[str], brought: Sequence[str] | None = None) -> Report | None:
    """The first report among a kernel's messages; None if nothing is wrong.

    ``brought`` are the modules of which data races count; None: those of the whole kernel do.
    """
    for at, message in enumerate(messages):
        if _REPORT.match(message) and not _is_races_of_others(messages, at, brought):
            begin = next((i for i in (at - 2, at - 1) if i >= 0 and messages[i] == _CUT), at)
            line = ": ".join([message.strip().rstrip("."), *_text(messages, begin, at)])
            if not _HAS_PLACE.search(line):
                line += _place(messages[at + 1 : at + _PLACE_LINES])
            return Report(line, messages[begin : begin + SHOWN_LINES])
    return None


def _is_races_of_others(messages: Sequence[str], at: int, brought: Sequence[str] | None) -> bool:
    """Whether the report that begins here is of a data race without a function of these modules."""
    if brought is None or not messages[at].startswith(_RACE):
        return False
    if _RACES_OF_TIME.match(messages[at]):
        return True
    lines = itertools.takewhile(lambda line: not _RACE_ENDS.match(line), messages[at:])
    names = {name for line in lines for name in _MODULE.findall(line)}
    return names.isdisjoint(brought)


def _text(messages: Sequence[str], begin: int, at: int) -> list[str]:
    """What WARN() was given to say: it is beside the line that says where, by architecture in front
    of it or behind it. Other reports have their details there, or nothing."""
    if begin == at:
        return []
    beside = messages[begin + 1 : at] or messages[at + 1 : at + 2]
    return [text.strip() for text in beside if not text.startswith(("Modules linked", "CPU: "))]


def _place(details: Sequence[str]) -> str:
    """The place that a report names behind its first line."""
    for message in details:
        if found := _PLACE.search(message):
            return f" at {found[1] or found[2]}"
        if message == _CUT or "end trace" in message:
            break
    return ""


def logged(dmesg: str) -> list[str]:
    """The messages in a kernel's log, without their time stamps."""
    lines = dmesg.replace("\r", "").splitlines()
    return [line[match.end() :] if (match := _STAMP.match(line)) else line for line in lines]


def stamped(console: str) -> list[str]:
    """The messages of a kernel on a console that scripts write to as well: those with a time stamp.

    What a script wrote without a newline may stand in front of it.
    """
    found = (_STAMP.search(line) for line in console.replace("\r", "").splitlines())
    return [match.string[match.end() :] for match in found if match]


def last_words(console: str) -> list[str]:
    """The messages on the console of a guest that did not come to its end, stamped or not."""
    lines = console.replace("\r", "").splitlines()
    return stamped(console) or [line for line in lines if _END.match(line)]


def stalls(console: str) -> bool:
    """Whether the kernel says that a CPU makes no progress."""
    return any(map(_STALL.match, stamped(console)))
