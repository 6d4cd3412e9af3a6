# SPDX-License-Identifier: GPL-2.0
"""What the runs of many hours share: what is sampled every hour in any case, and what must not
change from hour to hour.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from apogee_lab.results.text import as_text
from tests import BUILD

#: From the first quarter of the hours to the last: memory of slabs; all memory, of which the
#: sockets' buffers have 1.5 MB more or less from one moment to the next. A page that is lost with
#: each connection is 4 MB in 1000 connections.
LEAK_SLABS_KB, LEAK_KB = 256, 2048
#: Of one slab cache, from the first quarter of the hours to the last. Packets on their way differ.
LEAK_OBJECTS = 256

#: A guest has days of its own time.
DAYS = {"timeout_virtual_s": math.inf}

#: Shell: kB that are free, on the CPU's own lists as well, hold files (results are files in the
#: guest's memory) or are programs' own (the shell keeps what it knows of each job), and kB of
#: slabs; a line of the objects of each slab cache goes to a file.
MEMORY = """
memory() {
	awk '/^(MemFree|Cached|AnonPages):/ { free += $2 } $1 == "count:" { free += 4 * $2 }
	/^SUnreclaim:/ { slabs = $2 } END { print free, slabs }' /proc/meminfo /proc/zoneinfo
	awk 'NR > 2 { printf "%s %s ", $1, $2 } END { print "" }' /proc/slabinfo >>$OUT/objects
}
"""


#: What the guest measured at the end of an hour, by name: ``octets`` received so far, ``free kB``
#: and ``slabs kB`` of the kernel's memory, and what else a run samples.
Sample = dict[str, float]


@dataclass(frozen=True)
class Long:
    """``about`` it in words; the ``rate`` of what; what runs in the guest and leaves samples; what
    is wrong beside what is in any run, and how far goodput may drift, as a share. ``options`` are
    more numbers that can be given."""

    about: str
    rate: str
    of: str
    drift: float
    measure: Callable[[argparse.Namespace, Path], list[Sample]]
    faults: Callable[[Sequence[Sample], Path], list[str]]
    streams: Callable[[Path], str] = lambda out: (out / "drunk").read_text()
    options: Mapping[str, float] = field(default_factory=dict)


def script(text: str, hours: int, **words: object) -> str:
    """A guest's script, with words in capitals filled in."""
    for word, value in {"SECONDS": 3600 * hours + 60, "HOURS": hours, **words}.items():
        text = text.replace(word, str(value))
    return MEMORY + text


def read(out: Path, names: Sequence[str]) -> list[Sample]:
    """The guest's samples; a line is the octets and what has these names."""
    found = []
    for line in (out / "samples").read_text().splitlines():
        numbers = [float(word) if "." in word else int(word) for word in line.split()]
        if len(numbers) != len(names) + 1:
            raise SystemExit(f"something is missing in a sample: {line}")
        found.append(dict(zip(("octets", *names), numbers, strict=True)))
    return found


def goodputs(samples: Sequence[Sample]) -> list[float]:
    """kbit/s of IP packets that were received in each hour."""
    return [(b["octets"] - a["octets"]) * 8 / 3600e3 for a, b in pairwise(samples)]


def table(samples: Sequence[Sample]) -> str:
    """A line per hour."""
    rows = [["hour", "kbit/s", *list(samples[0])[1:]]]
    for hour, rate in enumerate(goodputs(samples), 1):
        told = list(samples[hour].values())[1:]
        cells = (f"{n:.1f}" if isinstance(n, float) else str(n) for n in told)
        rows.append([str(hour), f"{rate:.2f}", *cells])
    return as_text(rows)


def leaks(objects: str) -> list[str]:
    """Slab caches that grow; a line of names and numbers of objects per sample."""
    lines = [line.split() for line in objects.splitlines()[1:]]
    samples = [dict(zip(words[::2], map(int, words[1::2]), strict=True)) for words in lines]
    part = max(len(samples) // 4, 1)
    found = []
    for name in samples[-1]:
        first, last = (min(s.get(name, 0) for s in of) for of in (samples[:part], samples[-part:]))
        if last - first > LEAK_OBJECTS:
            found.append(f"{name}: {first} to {last} objects")
    return found


def faults(of: Long, samples: Sequence[Sample], out: Path) -> list[str]:
    """Goodput that differs by more than may be of the first hour's, leaks, damaged octets, and what
    else is wrong with this run."""
    rates = goodputs(samples)
    found = []
    if max(rates) - min(rates) > of.drift * rates[0]:
        found.append(f"goodput drifts: {min(rates):.2f} to {max(rates):.2f} kbit/s")
    # Both swing with the kernel's own caches: compare extremes of the first and the last hours.
    part = max(len(samples) // 4, 2)
    first, last = samples[1:][:part], samples[-part:]
    free = [min(s["free kB"] for s in hours) for hours in (first, last)]
    if free[0] - free[1] > LEAK_KB:
        found.append(f"free memory: {free[0]} to {free[1]} kB")
    slabs = [max(s["slabs kB"] for s in hours) for hours in (first, last)]
    if slabs[1] - slabs[0] > LEAK_SLABS_KB:
        found.append(f"slabs: {slabs[0]} to {slabs[1]} kB")
    found += leaks((out / "objects").read_text())
    if not of.streams(out).endswith(" damaged 0\n"):
        found.append(f"the stream: {of.streams(out)!r}")
    return found + of.faults(samples, out)


def _hours(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= 9999:
        raise argparse.ArgumentTypeError("2 to 9999 are needed: hours are compared")
    return int(text)


def main(name: str, of: Long, argv: Sequence[str]) -> int:
    """Run, print, judge; the exit status."""
    parser = argparse.ArgumentParser(prog=f"tests.long {name}", description=of.about)
    parser.add_argument("--hours", type=_hours, default=24)
    parser.add_argument("--rate", default=of.rate, help=f"of {of.of}")
    for option, value in of.options.items():
        parser.add_argument(f"--{option}", type=type(value), default=value)
    out, start = BUILD / "tests" / f"long-{name}", time.monotonic()
    samples = of.measure(parser.parse_args(argv), out)
    print(table(samples))
    print(f"{time.monotonic() - start:.0f} s; {of.streams(out).strip()}")
    found = faults(of, samples, out)
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0
