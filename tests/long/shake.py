# SPDX-License-Identifier: GPL-2.0
"""SHAKE for a day.

One TCP stream over two paths whose octets the receiver checks, in virtual time (engine uml). Each
path is silent for 20 s every ten minutes, in turn; sessions are made anew every hour. Goodput,
deaths of paths, registrations and the kernel's memory are sampled.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from apogee_lab.guest import plugins
from tests.guest.modules.shake_pair import TOOLS
from tests.long import run
from tests.played import guest

NAMES = ("deaths", "revived", "sessions", "ACKs", "free kB", "slabs kB")

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


def measure(given: Namespace, out: Path) -> list[run.Sample]:
    """Run the guest."""
    script = TOOLS + run.script(SCRIPT, given.hours, RATE=given.rate)
    files = guest.verified() | plugins.guest_files()
    guest.play(script, out, devices=["shake"], files=files, **run.DAYS)
    return run.read(out, NAMES)


def faults(samples: Sequence[run.Sample], _: Path) -> list[str]:
    """An outage is one death, or two: what waits for a revived path is late."""
    deaths, revived = samples[-1]["deaths"], samples[-1]["revived"]
    if 6 <= deaths / (len(samples) - 1) <= 10 and revived == deaths:
        return []
    return [f"{deaths} deaths, {revived} revived"]


LONG = run.Long(__doc__, "48kbit", "each path", 0.05, measure, faults)
