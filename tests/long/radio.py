# SPDX-License-Identifier: GPL-2.0
"""SSCOP over the radio for a day: ``python3 -m tests.long.radio [--hours N] [--rate RATE] ...``.

One TCP stream whose octets the receiver checks, in virtual time (engine uml). Prints goodput, round
trips, resets and the kernel's memory hour by hour; exit status 1 if any of them drifts. In 24 h
with the defaults, 17 million SDs: their numbers (24 bits) wrap.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from apogee_lab import units
from apogee_lab.guest import plugins
from apogee_lab.results.text import as_text
from apogee_lab.scenarios import SCENARIOS
from tests import BUILD
from tests.long import run
from tests.played import guest

HEAD = ("hour", "kbit/s", "ms", "resets", "SDs", "again", "free kB", "slabs kB")
DRIFT = 0.03  # of the goodput, from hour to hour
WINDOW = 8  # packets; enough for a slow link

SCRIPT = """
APOGEE_SHELL=1 sh /lab/links.sh || exit
count() { ip netns exec gw ethtool -S sscop0 | sed -n "s/^ *$1: //p"; }
octets() { ip netns exec mh cat /sys/class/net/sscop0/statistics/rx_bytes; }
trip() { ip netns exec gw ping -q -c 20 -i 0.5 10.0.1.2 |
	sed -n 's,.*= [0-9.]*/\\([0-9.]*\\)/.*,\\1,p'; }
sample() { echo $(octets) $(trip) $(count resets) $(count sd_sent) $(count sd_again) \\
	$(memory) >>$OUT/samples; }
ip netns exec mh verified drink 5201 $OUT/drunk & sleep 1
ip netns exec snd verified pour 10.0.1.2 5201 1000000000000 SECONDS >$OUT/poured & pour=$!
sleep 60; sample
for hour in $(seq HOURS); do sleep 3590; sample; done
wait $pour
# The sender's buffer is large.
for i in $(seq 3600); do [ ! -e $OUT/drunk ] || break; sleep 1; done
"""


@dataclass(frozen=True)
class Sample:
    """What the guest measured at the end of an hour."""

    octets: int
    trip_ms: float
    resets: int
    sds: int
    again: int
    free_kb: int
    slabs_kb: int

    @classmethod
    def of(cls, line: str) -> Sample:
        octets, trip, *rest = line.split()
        return cls(int(octets), float(trip), *map(int, rest))


def measure(hours: int, rate: float, ber: float, segment: int, out: Path) -> list[Sample]:
    """Run the guest."""
    values = {"rate": rate, "ber": ber, "segment": segment, "window": WINDOW}
    plan = SCENARIOS["radio"].compile(values, "cubic", 10.0)
    files = {"lab/links.sh": plan.script.encode()} | plugins.guest_files()
    script = run.MEMORY + SCRIPT
    script = script.replace("SECONDS", str(3600 * hours + 60)).replace("HOURS", str(hours))
    guest.play(script, out, devices=["sscop"], programs=guest.verified(), files=files)
    return [Sample.of(line) for line in (out / "samples").read_text().splitlines()]


def table(samples: list[Sample]) -> str:
    """A line per hour."""
    rates = run.goodputs(samples)
    rows = [
        [str(hour), f"{rate:.2f}", f"{s.trip_ms:.1f}", str(s.resets), str(s.sds), str(s.again),
         str(s.free_kb), str(s.slabs_kb)]
        for hour, (rate, s) in enumerate(zip(rates, samples[1:], strict=True), 1)
    ]  # fmt: skip
    return as_text([HEAD, *rows])


def faults(samples: list[Sample], drunk: str, objects: str) -> list[str]:
    """What is not as it was in the first hour."""
    found = run.faults(samples, drunk, DRIFT, objects)
    if samples[-1].resets:
        found.append(f"{samples[-1].resets} resets")
    return found


def main(argv: list[str]) -> int:
    """Run, print, judge."""
    parser = run.parser("tests.long.radio", __doc__, "140kbit", "the link")
    parser.add_argument("--ber", type=float, default=1e-5)
    parser.add_argument("--segment", type=int, default=64)
    given = parser.parse_args(argv)
    out = BUILD / "tests" / "long-radio"
    start = time.monotonic()
    rate = units.parse("rate", given.rate)
    samples = measure(given.hours, rate, given.ber, given.segment, out)
    drunk, objects = ((out / name).read_text() for name in ("drunk", "objects"))
    found = faults(samples, drunk, objects)
    return run.tell(table(samples), time.monotonic() - start, drunk, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
