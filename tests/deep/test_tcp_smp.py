# SPDX-License-Identifier: GPL-2.0
"""The algorithms on two CPUs in the host's time, while everything around them changes.

Many short connections, and some that switch algorithms; parameters written at random,
modules removed and loaded, links that flap, namespaces that die with their connections. What the
kernel reports (WARN, lockups, references that stay) fails the run by itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.engines import qemu
from apogee_lab.kernels import debian
from tests.guest.modules.scripted import drunk, numbers
from tests.guest.modules.socket_life import samples
from tests.guest.runs import compiled

pytestmark = pytest.mark.guest

SECONDS = 240
MODULES = ("tcp_star", "tcp_j", "tcp_hstcp_gentle", "tcp_compound_plus")
SHORT = 30_000  # octets

SCRIPT = """
chmod +x /bin/verified /bin/peer
nproc >$OUT/cpus
say() { echo "$*" >>$OUT/report; }
far="ip netns exec far"
MODULES="tcp_star tcp_j tcp_hstcp_gentle tcp_compound_plus"
link() { ip netns add far && ip link add near type veth peer name far netns far
	ip addr add 10.9.0.1/24 dev near; ip link set near up
	ip -n far addr add 10.9.0.2/24 dev far; ip -n far link set far up; ip -n far link set lo up
	tc qdisc replace dev near root netem delay 5ms rate 20mbit loss 1% limit 200
	tc -n far qdisc replace dev far root netem delay 5ms loss 1% limit 1000; }
link
$far verified drinkers 5201 $OUT/drunk & $far peer sink 5202 & sleep 0.2
end=$(($(cut -d. -f1 /proc/uptime) + SECONDS))
on() { [ $(cut -d. -f1 /proc/uptime) -lt $end ]; }
random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }
pick() { shift $(random $#); echo $1; }
looped() { name=$1; n=0; while on; do "$@"; n=$((n + 1)); done 2>/dev/null; say "$name loops: $n"; }
algorithm() { pick star j hstcp_gentle compound compound_plus reno cubic; }
one() { timeout 20 verified pour 10.9.0.2 5201 SHORT 20 >/dev/null && echo >>$OUT/ended; }
short() { for i in $(seq 10); do one & done; wait; }
long() { timeout 20 peer send 10.9.0.2 5202 3 0.5:$(algorithm) 1:$(algorithm) 1.5:$(algorithm) \\
	2:$(algorithm) >$OUT/samples-$n; }
choose() { sysctl -qw net.ipv4.tcp_congestion_control=$(algorithm); sleep 0.02; }
route() { ip route replace 10.9.0.2/32 dev near congctl $(algorithm); sleep 0.1
	ip route del 10.9.0.2/32; sleep 0.1; }
write() { f=$(pick /sys/module/tcp_*/parameters/*); old=$(cat $f); echo $(random 300) >$f
	sleep 0.05; echo $old >$f; }
unload() { m=$(pick $MODULES); rmmod $m; sleep 0.3; modprobe $m; }
flap() { ip -n far link set far down; sleep 0.1; ip -n far link set far up; sleep 3; }
path() { tc qdisc change dev near root netem delay $(random 40)ms rate 20mbit \\
	loss $(random 10)% limit $((5 + $(random 300))); sleep 0.3; }
# A namespace that goes with its connections in it.
die() { ip netns add gone; ip link add g0 type veth peer name g1 netns gone
	ip addr add 10.8.0.1/24 dev g0; ip link set g0 up
	ip -n gone addr add 10.8.0.2/24 dev g1; ip -n gone link set g1 up
	ip netns exec gone peer sink 5203 & sink=$!
	sleep 0.1; timeout 5 peer send 10.8.0.2 5203 5 >/dev/null & sleep 0.4
	kill $sink; ip netns del gone; sleep 1; }
reading() { ss -tin >/dev/null; cat /proc/net/tcp >/dev/null; sleep 0.1; }
for loop in short short short short long choose route write unload flap path die reading; do
	looped $loop >/dev/null & all="$all $!"
done
wait $all
sysctl -qw net.ipv4.tcp_congestion_control=reno
tc qdisc replace dev near root netem delay 5ms rate 20mbit limit 200
one && say "works: yes"
sleep 8
ip netns del far; sleep 1
for m in $MODULES; do
	for n in $(seq 100); do [ -d /sys/module/$m ] && rmmod $m && break; sleep 0.5; done
	[ -d /sys/module/$m ] && say "$m stays: $(cat /sys/module/$m/refcnt)"
done
say "ended: $(wc -l <$OUT/ended)"
say "end: yes"
"""


@pytest.mark.parametrize("kernel", ["bookworm", "trixie", "trixie-backports"])
def test_nothing_breaks_whatever_comes_together(kernel: str, build: Path, root: Path) -> None:
    """All data whole, no window of 0, each module can be removed."""
    out = build / "tests" / f"tcp-smp-{kernel}"
    sources = root / "tests" / "guest" / "modules"
    modules.build(debian.kernel(kernel))
    script = SCRIPT.replace("SECONDS", str(SECONDS)).replace("SHORT", str(SHORT))
    info = qemu.run_script(
        script, out=out, kernel=kernel, modules=MODULES, realtime=True, timeout_wall_s=900.0,
        files={f"bin/{name}": compiled(sources / f"{name}.c") for name in ("verified", "peer")},
    )  # fmt: skip
    assert info.status == 0, (out / "console.log").read_text()[-4000:]
    report = dict(line.split(": ", 1) for line in (out / "report").read_text().splitlines())
    assert (out / "cpus").read_text() == "2\n"
    assert report["works"] == report["end"] == "yes"
    assert not [name for name in report if name.endswith("stays")], report
    assert numbers(report, "ended")[0]
    assert all(damaged == 0 for _, damaged in drunk(out))
    for path in out.glob("samples-*"):
        assert all(sample.cwnd for sample in samples(path)), path
    for name in ("long", "choose", "route", "write", "unload", "flap", "path", "die", "reading"):
        assert numbers(report, f"{name} loops")[0], name
