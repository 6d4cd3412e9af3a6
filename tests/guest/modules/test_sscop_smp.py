# SPDX-License-Identifier: GPL-2.0
"""sscop on two CPUs in the host's time: flows while links come, go and change; on each kernel.

What arrives is whole, and a flow ends when the links are at rest. What the kernel reports (WARN,
lockups, references that stay) fails the run by itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import drunk
from tests.guest.modules.sscop_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.deep]

SECONDS = 15
LOOPS = "pours back updown below_updown delete settings reading unload forged"

SCRIPT = """
nproc >$OUT/cpus
below; ip link set near mtu 1500
addresses_again() { addresses 2>/dev/null; }
near_up near; far_up far; addresses; ready first
$far verified drinkers 5201 $OUT/drunk & verified drinkers 5202 $OUT/drunk2 &
end=$(($(cut -d. -f1 /proc/uptime) + SECONDS))
on() { [ $(cut -d. -f1 /proc/uptime) -lt $end ]; }
# As long as that, and three times at least, on a slow machine as well.
looped() { name=$1; n=0; while on || [ $n -lt 3 ]; do "$@"; n=$((n + 1)); done 2>/dev/null
	say "$name loops: $n"; }
pours() { timeout 3 verified pour 10.7.0.2 5201 1000000000 1 >/dev/null; }
back() { $far timeout 3 verified pour 10.7.0.1 5202 1000000000 1 >/dev/null; }
updown() { ip link set s0 down; ip link set s0 up; addresses_again; sleep 0.3; }
below_updown() { ip -n far link set far down; ip -n far link set far up; sleep 0.4; }
delete() { ip -n far link del s0; far_up far; addresses_again; sleep 0.7; }
settings() { for s in 64 1400 auto; do echo $s >/sys/class/net/s0/sscop/segment; done
	echo $((64 + n % 9000)) >/sys/class/net/s0/sscop/backlog
	ip -n far link set s0 type sscop poll-time $((1 + n % 99))ms ustat off; ethtool -r s0
	ip link set near mtu $((300 + n % 1200)); ip link set s0 mtu $((576 + n % 60000)); sleep 0.05; }
reading() { ethtool -S s0; cat /sys/class/net/s0/sscop/*; ip -d link show s0; }
unload() { rmmod sscop; sleep 0.2; }
forged() { forge near 02:00:00:00:00:02 02:00:00:00:00:01 control 2000 1; }
for loop in LOOPS; do
	looped $loop >/dev/null & all="$all $!"
done
wait $all
ip link del s0; ip -n far link del s0; ip link set near mtu 1500
near_up near; far_up far; addresses; ready last
verified hand 10.7.0.2 5201 500000 && $far verified hand 10.7.0.1 5202 500000 && say "works: yes"
ip link del s0; ip -n far link del s0
for n in $(seq 600); do [ -d /sys/module/sscop ] || break; rmmod sscop; sleep 0.5; done
[ -d /sys/module/sscop ] || say "unloaded: yes"
for n in 1 2 3 4 5 6; do
	near_up near; far_up far; addresses; sleep 0.2
	pours & ip link del near; ip netns del far; sleep 0.1; rmmod sscop; below; wait $!
done
say "end: yes"
"""


@pytest.mark.parametrize("kernel", ["bookworm", "bookworm-backports", "trixie-backports"])
def test_nothing_breaks_whatever_comes_together(kernel: str, build: Path, root: Path) -> None:
    out = build / "tests" / f"sscop-smp-{kernel}"
    script = SCRIPT.replace("SECONDS", str(SECONDS)).replace("LOOPS", LOOPS)
    how = {"kernel": kernel, "realtime": True}
    report = run(script, "qemu", out, root, **how)
    assert (out / "cpus").read_text() == "2\n"
    assert report["works"] == report["unloaded"] == report["end"] == "yes"
    assert len([key for key in report if key.endswith(" loops")]) == len(LOOPS.split())
    for name in ("drunk", "drunk2"):
        assert (500_000, 0) in drunk(out, name)
        assert all(damaged == 0 for _, damaged in drunk(out, name))
