# SPDX-License-Identifier: GPL-2.0
"""SSCOP over the radio for a day.

One TCP stream whose octets the receiver checks, in virtual time (engine uml). Goodput, round trips,
resets and the kernel's memory are sampled. In 24 h with the defaults, 17 million SDs: their numbers
(24 bits) wrap.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from apogee_lab import units
from apogee_lab.guest import plugins
from apogee_lab.scenarios import SCENARIOS
from tests.long import run
from tests.played import guest

NAMES = ("ms", "resets", "SDs", "again", "free kB", "slabs kB")
WINDOW = 8  # packets; enough for a slow link

SCRIPT = """
chmod +x /bin/verified
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


def measure(given: Namespace, out: Path) -> list[run.Sample]:
    """Run the guest."""
    values = {"rate": units.parse("rate", given.rate), "ber": given.ber, "segment": given.segment,
              "window": WINDOW}  # fmt: skip
    plan = SCENARIOS["radio"].compile(values, "cubic", 10.0)
    files = guest.verified() | {"lab/links.sh": plan.script.encode()} | plugins.guest_files()
    script = run.script(SCRIPT, given.hours)
    guest.play(script, out, devices=["sscop"], files=files, **run.DAYS)
    return run.read(out, NAMES)


def faults(samples: Sequence[run.Sample], _: Path) -> list[str]:
    """What is not as it was in the first hour."""
    return [f"{samples[-1]['resets']} resets"] if samples[-1]["resets"] else []


LONG = run.Long(
    __doc__, "140kbit", "the link", 0.03, measure, faults, options={"ber": 1e-5, "segment": 64}
)
