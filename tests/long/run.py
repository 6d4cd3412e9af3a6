# SPDX-License-Identifier: GPL-2.0
"""What the runs of many hours share: what is sampled every hour in any case, and what must not
change from hour to hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol

#: From the first quarter of the hours to the last: memory of slabs; all memory, of which the
#: sockets' buffers have 1.5 MB more or less from one moment to the next. A page that is lost with
#: each connection is 4 MB in 1000 connections.
LEAK_SLABS_KB, LEAK_KB = 256, 2048
#: Of one slab cache, from the first quarter of the hours to the last. Packets on their way differ.
LEAK_OBJECTS = 256

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


class Sampled(Protocol):
    """Octets received so far, and the kernel's memory."""

    octets: int
    free_kb: int
    slabs_kb: int


def goodputs(samples: Sequence[Sampled]) -> list[float]:
    """kbit/s of IP packets that were received in each hour."""
    pairs = zip(samples, samples[1:], strict=False)
    return [(after.octets - before.octets) * 8 / 3600e3 for before, after in pairs]


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


def faults(samples: Sequence[Sampled], drunk: str, drift: float, objects: str) -> list[str]:
    """Goodput that differs by more than ``drift`` of the first hour's, leaks, damaged octets."""
    rates = goodputs(samples)
    found = []
    if max(rates) - min(rates) > drift * rates[0]:
        found.append(f"goodput drifts: {min(rates):.2f} to {max(rates):.2f} kbit/s")
    # Both swing with the kernel's own caches: compare extremes of the first and the last hours.
    part = max(len(samples) // 4, 2)
    first, last = samples[1:][:part], samples[-part:]
    free = [min(s.free_kb for s in hours) for hours in (first, last)]
    if free[0] - free[1] > LEAK_KB:
        found.append(f"free memory: {free[0]} to {free[1]} kB")
    slabs = [max(s.slabs_kb for s in hours) for hours in (first, last)]
    if slabs[1] - slabs[0] > LEAK_SLABS_KB:
        found.append(f"slabs: {slabs[0]} to {slabs[1]} kB")
    found += leaks(objects)
    if not drunk.endswith(" damaged 0\n"):
        found.append(f"the stream: {drunk!r}")
    return found


def _hours(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= 9999:
        raise argparse.ArgumentTypeError("2 to 9999 are needed: hours are compared")
    return int(text)


def parser(name: str, doc: str | None, rate: str, of: str) -> argparse.ArgumentParser:
    """The command line of a program: ``--hours`` and the ``--rate`` of what."""
    made = argparse.ArgumentParser(prog=name, description=doc)
    made.add_argument("--hours", type=_hours, default=24)
    made.add_argument("--rate", default=rate, help=f"of {of}")
    return made


def tell(table: str, wall_s: float, drunk: str, found: Sequence[str]) -> int:
    """Print the hours and what was found; the exit status."""
    print(table)
    print(f"{wall_s:.0f} s; {drunk.strip()}")
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0
