# SPDX-License-Identifier: GPL-2.0
"""The algorithms for a day.

Each has one TCP stream for the whole time, and a transfer of 50 kB every 30 s, over one bottleneck
in virtual time (engine uml). The path changes every ten minutes, in the same way each hour: 20 to
500 ms, without and with loss, silent for 20 s. The receiver checks all octets. Goodput and RTT of
the streams and the kernel's memory are sampled; a transfer that does not end is a fault, too.

A transfer that begins as the silence does may fail, with any algorithm: its SYN is sent seven times
(tcp_syn_retries), five of them into the silence, and a full queue may drop the others. Or the
SYN-ACK arrives at last; then the RTT is taken from the first SYN's time stamp, data that is lost is
not sent again for twice as long, and the receiver forgets the request (tcp_synack_retries) and
resets what comes then. So it is tried again, as clients do.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path

from tests.long import run
from tests.played import guest

ALGORITHMS = ("star", "j", "hstcp_gentle", "compound", "compound_plus", "reno")
FAULTY: tuple[str, ...] = ()  # modules that a test plants
SHORT = 50_000  # octets
A_MINUTE = 2  # short transfers of each algorithm
NAMES = ("free kB", "slabs kB", "sockets")
TRIES = 3  # of a short transfer
DRIFT = 0.1  # of goodput and RTT, from hour to hour

SCRIPT = """
chmod +x /bin/verified
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


def mean_rtts(text: str) -> list[float]:
    """In the last ten minutes of each hour, ms; a line is the hour and the streams' RTTs."""
    hours: dict[int, list[float]] = {}
    for line in text.splitlines():
        hour, *rtts = line.split()
        hours.setdefault(int(hour), []).extend(map(float, rtts))
    return [sum(rtts) / len(rtts) for rtts in hours.values()]


def measure(given: Namespace, out: Path) -> list[run.Sample]:
    """Run the guest; samples get each stream's kbit/s and the streams' RTT in the hour."""
    words = {
        "ALGORITHMS": " ".join(ALGORITHMS), "COUNT": len(ALGORITHMS), "SHORT": SHORT,
        "A_MINUTE": A_MINUTE, "TRIES": TRIES, "RATE": given.rate,
        "SECONDS": 3600 * given.hours + 120,
    }  # fmt: skip
    script = run.script(SCRIPT, given.hours, **words)
    guest.play(script, out, ALGORITHMS, FAULTY, guest.verified(), **run.DAYS)
    samples = run.read(out, (*NAMES, *ALGORITHMS))
    found = [samples[0] | dict.fromkeys((*ALGORITHMS, "RTT ms"), 0.0)]
    rtts = mean_rtts((out / "rtts").read_text())
    for (before, after), rtt in zip(pairwise(samples), rtts, strict=True):
        rates = {cc: (after[cc] - before[cc]) * 8 / 3600e3 for cc in ALGORITHMS}
        found.append(after | rates | {"RTT ms": rtt})
    return found


def tries(out: Path) -> list[int]:
    """How many each transfer took that ended."""
    return [int(word) for word in (out / "handed").read_text().split()]


def streams(out: Path) -> str:
    """All transfers, and how many streams of all had damaged octets."""
    damaged = [line for line in (out / "drunk").open() if " damaged 0 " not in line]
    made = tries(out)
    return f"{len(made)} transfers in {sum(made)} tries, damaged {len(damaged)}\n"


def failed(made: Sequence[int], hours: int) -> list[str]:
    """Transfers that did not end, and more tries than those that begin with a silence may need."""
    want = 60 * A_MINUTE * len(ALGORITHMS) * hours
    missing, again = want - len(made), sum(made) - len(made)
    found = [f"{missing} of {want} transfers are missing"] if missing else []
    if again > len(ALGORITHMS) * hours:
        found.append(f"{again} tries of {want} transfers failed")
    return found


def faults(samples: Sequence[run.Sample], out: Path) -> list[str]:
    """Transfers that failed; streams of which nothing was acknowledged for an hour; RTTs that
    differ by more than ``DRIFT`` of the first hour's: the path is the same then."""
    hours, made = samples[1:], tries(out)
    found = failed(made, len(hours))
    if len((out / "drunk").read_text().splitlines()) < len(made) + len(ALGORITHMS):
        found.append("not all octets were checked")
    for hour, cc in product(range(len(hours)), ALGORITHMS):
        if hours[hour][cc] <= 0:
            found.append(f"{cc}: nothing acknowledged in hour {hour + 1}")
    rtts = [sample["RTT ms"] for sample in hours]
    if max(rtts) - min(rtts) > DRIFT * rtts[0]:
        found.append(f"RTT drifts: {min(rtts):.0f} to {max(rtts):.0f} ms")
    return found


LONG = run.Long(__doc__, "2mbit", "the bottleneck", DRIFT, measure, faults, streams)
