# SPDX-License-Identifier: GPL-2.0
"""shake on two CPUs in the host's time: traffic both ways while all is changed; on each kernel.

What the kernel reports (WARN, lockups, references that stay) fails the run by itself, and a first
report ends it with its stack on the console: what follows from damaged memory may be a hang.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import drunk, numbers
from tests.guest.modules.shake_pair import run
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.deep]

KERNELS = ["bookworm", "bookworm-backports", "trixie-backports"]
SECONDS = 25

#: A flow's ACKs are looked at by one CPU while the other takes its data: none is forgotten.
QUIET = """
nproc >$OUT/cpus
lines; for n in 1 2; do slow $n 30mbit 2ms; done
agent_up; leader_up; paths; ready first; sink
$cn timeout 9 verified pour 10.7.0.1 5202 1000000000 6 >/dev/null &
verified drink 5202 $OUT/drunk2 & sleep 0.1
timeout 9 verified pour 10.3.0.2 5201 1000000000 6 >/dev/null
counts quiet "flows_expired flows_holes dropped_tag dropped_replay path_died"
"""

LOOPS = (
    "pours back updown agent_updown wan moves weighs peers rekeys settings reading unload forged "
    "gone agent_gone"
)

SCRIPT = """
echo 5 >/proc/sys/kernel/printk
# KCSAN's reports are no reason: most are of the kernel's own.
case $(uname -r) in *-kcsan) ;; *) echo 1 >/proc/sys/kernel/panic_on_warn ;; esac
chmod +x /bin/shake_forge
for n in 1 2; do slow $n 30mbit 2ms loss 1%; done
loop() { ip -n ha link set shake0 type shake peer 9 allow 10.90.0.0/16
	ip -n ha link set shake0 type shake peer 9 allow fd90::/32; }
$cn verified drink 5203 $OUT/drunk3 &
end=$(($(cut -d. -f1 /proc/uptime) + SECONDS))
on() { [ $(cut -d. -f1 /proc/uptime) -lt $end ]; }
# As long as that, and twice at least, on a slow machine as well.
looped() { name=$1; n=0; while on || [ $n -lt 2 ]; do "$@"; n=$((n + 1)); done 2>/dev/null
	say "$name loops: $n"; }
again() { inner 2>/dev/null; ip -n ha route add 10.7.0.1 dev shake0
	ip -n ha route add fd07::1 dev shake0; } 2>/dev/null
pours() { timeout 3 verified pour 10.3.0.2 5201 1000000000 1 >/dev/null; }
back() { $cn timeout 3 verified pour 10.7.0.1 5202 1000000000 1 >/dev/null; }
updown() { ip link set shake0 down; again; sleep 0.7; }
agent_updown() { ip -n ha link set shake0 down; ip -n ha link set shake0 up; again; sleep 1.1; }
wan() { ip link set wan1 down; sleep 0.1; near_end 1; sleep 0.4; }
moves() { ip netns add aside; ip link set wan2 netns aside; sleep 0.1
	ip -n aside link set wan2 netns 1; near_end 2; ip netns del aside; sleep 0.9; }
weighs() { ip link set shake0 type shake path 1 weight $((1 + n % 999)); path 3 remote 10.2.1.2
	path 3 off; echo "+4 dev=wan2" >/sys/class/net/shake0/shake/paths; path 4 off; sleep 0.05; }
peers() { loop; ip -n ha link set shake0 type shake peer 9 key /tmp/key
	ip -n ha link set shake0 type shake peer 9 off; sleep 0.03; }
rekeys() { ip -n ha link set shake0 type shake peer 1 key /tmp/key; sleep 1.3
	ip link set shake0 type shake peer 1 key /tmp/key; sleep 0.5; }
settings() { for s in rr ratio rah; do ip link set shake0 type shake scheduler $s theta $((n % 400))
		ip -n ha link set shake0 type shake scheduler $s; done
	for a in pass drop tdar auto; do ip -n ha link set shake0 type shake ack $a; done
	ip link set shake0 type shake encrypt $([ $((n / 20 % 2)) = 0 ] && echo on || echo off)
	ip link set shake0 type shake keepalive $((100 + n))ms interval $((10 + n % 500))ms
	ip link set shake0 mtu $((1280 + n % 100)); sleep 0.05; }
reading() { ethtool -S shake0; $ha ethtool -S shake0; cat /sys/class/net/shake0/shake/*
	ip -d -s link show shake0; ip -n ha -d -s link show shake0; }
unload() { rmmod shake; sleep 0.2; }
forged() { ip netns exec net1 timeout 3 shake_forge flood far $([ $((n % 2)) = 0 ] &&
	echo replay || echo data) 1000 1; } >/dev/null
both() { agent_up; leader_up; paths; }
gone() { ip link del shake0; leader_up; paths; sleep 1.9; }
agent_gone() { ip -n ha link del shake0; agent_up; sleep 3.1; }
for loop in LOOPS; do
	looped $loop >/dev/null & all="$all $!"
done
wait $all
ip link del shake0; ip -n ha link del shake0
for n in $(seq 600); do [ -d /sys/module/shake ] || break; rmmod shake; sleep 0.5; done
[ -d /sys/module/shake ] || say "unloaded: yes"
for n in 1 2 3 4; do
	both; sleep 0.6; pours & back &
	sleep 0.3; case $n in
	1) ip netns del ha ;; 2) ip netns del net1 ;; 3) ip link del shake0 ;;
	4) ip -n ha link set shake0 netns cn; ip netns del ha ;; esac
	sleep 0.2; rmmod shake; wait $!
	for space in ha net1 net2 cn; do ip netns del $space; done
	ip link del shake0; sleep 0.3; rmmod shake; ip link del wan1; ip link del wan2
	lines
done 2>/dev/null
say "end: yes"
"""


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_breaks_whatever_comes_together(kernel: str, build: Path, root: Path) -> None:
    out = build / "tests" / f"shake-smp-{kernel}"
    forge = compiled(root / "tests/guest/modules/shake_forge.c")
    script = (QUIET + SCRIPT).replace("SECONDS", str(SECONDS)).replace("LOOPS", LOOPS)
    how = {"kernel": kernel, "realtime": True, "files": {"bin/shake_forge": forge}}
    report = run(script, "qemu", out, root, **how)
    assert (out / "cpus").read_text() == "2\n"
    assert numbers(report, "quiet flows_expired") == [0, 0]
    assert numbers(report, "quiet dropped_tag") == [0, 0]
    assert report["unloaded"] == report["end"] == "yes"
    assert len([key for key in report if key.endswith(" loops")]) == len(LOOPS.split())
    for name in ("drunk", "drunk2"):
        assert all(damaged == 0 for _, damaged in drunk(out, name))
