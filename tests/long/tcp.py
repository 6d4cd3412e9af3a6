# SPDX-License-Identifier: GPL-2.0
"""The algorithms for a day: ``python3 -m tests.long.tcp [--hours N] [--rate RATE]``.

Each has one TCP stream for the whole time, and a transfer of 50 kB every 30 s, over one bottleneck
in virtual time (engine uml). The path changes every ten minutes, in the same way each hour: 20 to
500 ms, without and with loss, silent for 20 s. The receiver checks all octets. Prints goodput and
RTT of the streams and the kernel's memory hour by hour; exit status 1 if any of them drifts, or if
a transfer does not end.

A transfer that begins as the silence does may fail, with any algorithm: its SYN is sent seven times
(tcp_syn_retries), five of them into the silence, and a full queue may drop the others. Or the
SYN-ACK arrives at last; then the RTT is taken from the first SYN's time stamp, data that is lost is
not sent again for twice as long, and the receiver forgets the request (tcp_synack_retries) and
resets what comes then. So it is tried again, as clients do.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from apogee_lab.results.text import as_text
from tests import BUILD
from tests.long import run
from tests.played import guest

ALGORITHMS = ("star", "j", "hstcp_gentle", "compound", "compound_plus", "reno")
FAULTY: tuple[str, ...] = ()  # modules that a test plants
SHORT = 50_000  # octets
A_MINUTE = 2  # short transfers of each algorithm
HEAD = ("hour", "kbit/s", *ALGORITHMS, "RTT ms", "sockets", "free kB", "slabs kB")
TRIES = 3  # of a short transfer
DRIFT = 0.1  # of goodput and RTT, from hour to hour

SCRIPT = """
far="ip netns exec far"
ip netns add net; ip netns add far
ip link add e0 type veth peer name near netns net
ip -n net link add out type veth peer name e0 netns far
ip addr add 10.0.1.1/24 dev e0; ip link set e0 up
ip -n net addr add 10.0.1.2/24 dev near; ip -n net link set near up
ip -n net addr add 10.0.2.1/24 dev out; ip -n net link set out up
ip -n far addr add 10.0.2.2/24 dev e0; ip -n far link set e0 up; ip -n far link set lo up
ip netns exec net sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip -n net route add 10.9.0.0/16 via 10.0.2.2; ip -n far route add default via 10.0.2.1
n=0; for cc in ALGORITHMS; do n=$((n + 1))
	for host in 1 2; do ip -n far addr add 10.9.$n.$host/32 dev lo; done
	ip route add 10.9.$n.0/24 via 10.0.1.2 congctl $cc || exit 1
done
path() { for dev in near out; do
	tc -n net qdisc replace dev $dev root netem rate RATE limit 100 delay "$@"; done; }
silent() { path 50ms loss 100%; sleep 20; path 50ms loss 0%; }
streams() { ss -tinHO | sed -n "s/.*10[.]9[.]\\([0-9]\\)[.]1:5201 .* $1:\\([0-9.]*\\).*/\\1 \\2/p" |
	sort | cut -d' ' -f2; }
sample() { echo $($far cat /sys/class/net/e0/statistics/rx_bytes) $(memory) \\
	$(sed -n 's/^TCP: inuse \\([0-9]*\\).*/\\1/p' /proc/net/sockstat) \\
	$(streams bytes_acked) >>$OUT/samples; }
rtts() { for i in $(seq 60); do echo $hour $(streams rtt) >>$OUT/rtts; sleep 10; done; }
hand() { for try in $(seq TRIES); do
	if verified hand 10.9.$1.2 5201 SHORT; then echo $try >>$OUT/handed; return; fi; done; }
short() { for n in $(seq COUNT); do hand $n & done; }
minutes() { for half in $(seq $((A_MINUTE * $1))); do short; sleep $((60 / A_MINUTE)); done; }
$far verified drinkers 5201 $OUT/drunk & sleep 0.1
path 250ms loss 0%
for n in $(seq COUNT); do
	verified pour 10.9.$n.1 5201 1000000000000 SECONDS >>$OUT/sent &
done
sleep 60; sample
for hour in $(seq HOURS); do
	path 250ms loss 0.1%; minutes 10
	path 50ms loss 0%; minutes 10
	silent & minutes 10
	path 10ms loss 1%; minutes 10
	path 125ms 5ms loss 0.01%; minutes 10
	path 250ms loss 0%; rtts & minutes 10
	sample
done
for i in $(seq 200); do pidof verified | grep -q " " || break; sleep 10; done
"""


@dataclass(frozen=True)
class Sample:
    """What the guest measured at the end of an hour; of the streams in ``ALGORITHMS``' order."""

    octets: int
    free_kb: int
    slabs_kb: int
    sockets: int
    acked: tuple[int, ...]


def parse(line: str) -> Sample:
    """A line of the guest's file; every stream has to be there."""
    octets, free, slabs, sockets, *acked = map(int, line.split())
    if len(acked) != len(ALGORITHMS):
        raise SystemExit(f"tests.long.tcp: a stream is missing: {line}")
    return Sample(octets, free, slabs, sockets, tuple(acked))


def measure(hours: int, rate: str, out: Path) -> list[Sample]:
    """Run the guest."""
    words = {
        "ALGORITHMS": " ".join(ALGORITHMS),
        "SECONDS": str(3600 * hours + 120),
        "HOURS": str(hours),
        "COUNT": str(len(ALGORITHMS)),
        "SHORT": str(SHORT),
        "A_MINUTE": str(A_MINUTE),
        "TRIES": str(TRIES),
        "RATE": rate,
    }
    script = run.MEMORY + SCRIPT
    for name, value in words.items():
        script = script.replace(name, value)
    guest.play(script, out, ALGORITHMS, FAULTY, guest.verified())
    return [parse(line) for line in (out / "samples").read_text().splitlines()]


def mean_rtts(text: str) -> list[float]:
    """In the last ten minutes of each hour, ms; a line is the hour and the streams' RTTs."""
    hours: dict[int, list[float]] = {}
    for line in text.splitlines():
        hour, *rtts = line.split()
        hours.setdefault(int(hour), []).extend(map(float, rtts))
    return [sum(rtts) / len(rtts) for rtts in hours.values()]


def table(samples: list[Sample], rtts: list[float]) -> str:
    """A line per hour."""
    rates = run.goodputs(samples)
    rows = []
    for hour, rate in enumerate(rates, 1):
        before, s = samples[hour - 1], samples[hour]
        own = [(b - a) * 8 / 3600e3 for a, b in zip(before.acked, s.acked, strict=True)]
        cells = (*(f"{kbps:.0f}" for kbps in own), f"{rtts[hour - 1]:.0f}", str(s.sockets))
        rows.append([str(hour), f"{rate:.0f}", *cells, str(s.free_kb), str(s.slabs_kb)])
    return as_text([HEAD, *rows])


def failed(tries: list[int], hours: int) -> list[str]:
    """Transfers that did not end, and more tries than those that begin with a silence may need."""
    want = 60 * A_MINUTE * len(ALGORITHMS) * hours
    missing, again = want - len(tries), sum(tries) - len(tries)
    found = [f"{missing} of {want} transfers are missing"] if missing else []
    if again > len(ALGORITHMS) * hours:
        found.append(f"{again} tries of {want} transfers failed")
    return found


def stalled(samples: list[Sample]) -> list[str]:
    """Streams of which nothing was acknowledged for an hour."""
    found = []
    for hour in range(1, len(samples)):
        for cc, before, now in zip(
            ALGORITHMS, samples[hour - 1].acked, samples[hour].acked, strict=True
        ):
            if now <= before:
                found.append(f"{cc}: nothing acknowledged in hour {hour}")
    return found


def drifting(rtts: list[float]) -> list[str]:
    """RTTs that differ by more than ``DRIFT`` of the first hour's: the path is the same then."""
    if max(rtts) - min(rtts) <= DRIFT * rtts[0]:
        return []
    return [f"RTT drifts: {min(rtts):.0f} to {max(rtts):.0f} ms"]


def main(argv: list[str]) -> int:
    """Run, print, judge."""
    parser = run.parser("tests.long.tcp", __doc__, "2mbit", "the bottleneck")
    given = parser.parse_args(argv)
    out = BUILD / "tests" / "long-tcp"
    start = time.monotonic()
    samples = measure(given.hours, given.rate, out)
    names = ("drunk", "handed", "rtts", "objects")
    drunk, handed, rtts, objects = ((out / name).read_text() for name in names)
    damaged = [line for line in drunk.splitlines() if " damaged 0 " not in line]
    tries = [int(t) for t in handed.split()]
    last = f"{len(tries)} transfers in {sum(tries)} tries, damaged {len(damaged)}\n"
    found = run.faults(samples, last, DRIFT, objects) + failed(tries, given.hours)
    if len(drunk.splitlines()) < len(tries) + len(ALGORITHMS):
        found.append("not all octets were checked")
    found += stalled(samples) + drifting(mean_rtts(rtts))
    return run.tell(table(samples, mean_rtts(rtts)), time.monotonic() - start, last, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
