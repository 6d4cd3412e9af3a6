# SPDX-License-Identifier: GPL-2.0
"""SHAKE for a day: ``python3 -m tests.long.shake [--hours N] [--rate RATE]``.

One TCP stream over two paths whose octets the receiver checks, in virtual time (engine uml). Each
path is silent for 20 s every ten minutes, in turn; sessions are made anew every hour. Prints
goodput, deaths of paths, registrations and the kernel's memory hour by hour; exit status 1 if any
of them drifts.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from apogee_lab.guest import plugins
from apogee_lab.results.text import as_text
from tests import BUILD
from tests.guest.modules.shake_pair import TOOLS
from tests.long import run
from tests.played import guest

HEAD = ("hour", "kbit/s", "deaths", "revived", "sessions", "ACKs", "free kB", "slabs kB")
DRIFT = 0.05  # of the goodput, from hour to hour

SCRIPT = """
lines; for n in 1 2; do mend $n RATE 100ms; done
# A small window: the links' queues stay short.
echo 4096 16384 32768 >/proc/sys/net/ipv4/tcp_wmem
agent_up; leader_up; paths; ready first; sink
received() { $cn cat /sys/class/net/e0/statistics/rx_bytes; }
sample() { echo $(received) $(count "" path_died) $(count "" path_revived) \\
	$(count "" registered) $(count "" ack_received) $(memory) \\
	>>$OUT/samples; }
verified pour 10.3.0.2 5201 1000000000000 SECONDS >$OUT/sent & pour=$!
sleep 60; sample
for hour in $(seq HOURS); do
	for n in 1 2 1 2 1 2; do sleep 280; lose $n RATE 100ms; sleep 20; mend $n RATE 100ms
		sleep 300; done
	sample
done
wait $pour
for i in $(seq 600); do [ ! -e $OUT/drunk ] || break; sleep 1; done
"""


@dataclass(frozen=True)
class Sample:
    """What the guest measured at the end of an hour."""

    octets: int
    deaths: int
    revived: int
    sessions: int
    acks: int
    free_kb: int
    slabs_kb: int


def measure(hours: int, rate: str, out: Path) -> list[Sample]:
    """Run the guest."""
    script = SCRIPT.replace("SECONDS", str(3600 * hours + 60)).replace("HOURS", str(hours))
    script = TOOLS + run.MEMORY + script.replace("RATE", rate)
    files = plugins.guest_files()
    guest.play(script, out, devices=["shake"], programs=guest.verified(), files=files)
    lines = (out / "samples").read_text().splitlines()
    return [Sample(*map(int, line.split())) for line in lines]


def table(samples: list[Sample]) -> str:
    """A line per hour."""
    rates = run.goodputs(samples)
    rows = [
        [str(hour), f"{rate:.2f}", *map(str, (s.deaths, s.revived, s.sessions, s.acks)),
         str(s.free_kb), str(s.slabs_kb)]
        for hour, (rate, s) in enumerate(zip(rates, samples[1:], strict=True), 1)
    ]  # fmt: skip
    return as_text([HEAD, *rows])


def faults(samples: list[Sample], drunk: str, objects: str) -> list[str]:
    """What is not as it was in the first hour."""
    found = run.faults(samples, drunk, DRIFT, objects)
    # An outage is one death, or two: what waits for a revived path is late.
    deaths = samples[-1].deaths
    if not 6 <= deaths / (len(samples) - 1) <= 10 or samples[-1].revived != deaths:
        found.append(f"{samples[-1].deaths} deaths, {samples[-1].revived} revived")
    return found


def main(argv: list[str]) -> int:
    """Run, print, judge."""
    parser = run.parser("tests.long.shake", __doc__, "48kbit", "each path")
    given = parser.parse_args(argv)
    out = BUILD / "tests" / "long-shake"
    start = time.monotonic()
    samples = measure(given.hours, given.rate, out)
    drunk, objects = ((out / name).read_text() for name in ("drunk", "objects"))
    found = faults(samples, drunk, objects)
    return run.tell(table(samples), time.monotonic() - start, drunk, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
