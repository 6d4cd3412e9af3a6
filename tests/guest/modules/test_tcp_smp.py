# SPDX-License-Identifier: GPL-2.0
"""The algorithms on two CPUs in the host's time, while everything around them changes.

Many short connections, and some that switch algorithms; parameters written at random, modules
removed and loaded, links that flap, devices and namespaces that die with their connections. What
the kernel reports (WARN, lockups, references that stay; on kernels that look for faults also data
races, lock order, freed memory) fails the run by itself. A flow has to end in the time that the
path explains, and when the path is at rest none may be left.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.engines import qemu
from apogee_lab.kernels import qemu_kernel
from tests.guest.modules.scripted import Told, drunk, numbers, rows
from tests.guest.modules.socket_life import samples
from tests.guest.runs import compiled

pytestmark = [pytest.mark.deep, pytest.mark.guest, pytest.mark.xdist_group("two-cpus")]

KERNELS = ["bookworm", "trixie", "trixie-backports", "bookworm-debug", "bookworm-kcsan"]
SECONDS = 240
MODULES = ("tcp_star", "tcp_j", "tcp_hstcp_gentle", "tcp_compound_plus")
SHORT = 30_000  # octets
SENDERS = 8  # each of one short connection after the other
#: A flow that takes longer stands still: TCP_RTO_MAX, after which a sender tries again in any case.
#: Half a minute is nothing unusual where handshakes are lost. The answer to the third SYN carries
#: the time of the first: an RTT of 7 s, and a timeout of 21 s for what is lost next.
LONGEST_MS = 120_000
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
# Until a receiver is there: what comes before is answered by a reset.
listens() { while on && [ -z "$($far ss -ltnH "sport = :$1")" ]; do sleep 0.05; done; }
link
$far verified drinkers 5201 $OUT/drunk &
end=$(($(cut -d. -f1 /proc/uptime) + SECONDS))
on() { [ $(cut -d. -f1 /proc/uptime) -lt $end ]; }
listens 5201
random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }
pick() { shift $(random $#); echo $1; }
looped() { name=$1; n=0; while on; do "$@"; n=$((n + 1)); done 2>/dev/null; say "$name loops: $n"; }
algorithm() { pick star j hstcp_gentle compound compound_plus reno cubic; }
pours() { verified pours 10.9.0.2 5201 SHORT $1 >>$OUT/poured 2>&1 || say "sender failed: $?"; }
# Sockets of flows that are not at their end, and what the kernel tells of them.
standing() { $1 ss -tinmoH state connected exclude time-wait "( $2 )"; }
all_standing() { standing "" "dst 10.9.0.2"; standing "$far" "sport = :5201"; }
# A sink of its own: one whose sender was killed may never learn of it.
long() { port=$((6000 + n)); $far peer sink $port & sink=$!; listens $port
	timeout 20 peer send 10.9.0.2 $port 3 0.5:$(algorithm) 1:$(algorithm) 1.5:$(algorithm) \\
		2:$(algorithm) >$OUT/samples-$n; kill $sink; }
choose() { sysctl -qw net.ipv4.tcp_congestion_control=$(algorithm); sleep 0.02; }
route() { ip route replace 10.9.0.2/32 dev near congctl $(algorithm); sleep 0.1
	ip route del 10.9.0.2/32; sleep 0.1; }
write() { f=$(pick /sys/module/tcp_*/parameters/*); old=$(cat $f); echo $(random 300) >$f
	sleep 0.05; echo $old >$f; }
unload() { m=$(pick $MODULES); rmmod $m; sleep 0.3; modprobe $m; }
flap() { ip -n far link set far down; sleep 0.1; ip -n far link set far up; sleep 6; }
path() { tc qdisc change dev near root netem delay $(random 40)ms rate 20mbit \\
	loss $(random 10)% limit $((100 + $(random 300))); sleep 0.3; }
# A namespace that goes with its connections in it.
die() { ip netns add gone; ip link add g0 type veth peer name g1 netns gone
	ip addr add 10.8.0.1/24 dev g0; ip link set g0 up
	ip -n gone addr add 10.8.0.2/24 dev g1; ip -n gone link set g1 up
	ip netns exec gone peer sink 5203 & sink=$!
	sleep 0.1; timeout 5 peer send 10.8.0.2 5203 5 >/dev/null & sleep 0.4
	kill $sink; ip netns del gone; sleep 1; }
reading() { ss -tinmo dst 10.9.0.2 >$OUT/sockets-$((n / 20 % 30)); cat /proc/net/tcp >/dev/null
	sleep 0.1; }
for sender in $(seq SENDERS); do
	pours SECONDS & all="$all $!"
done
for loop in long choose route write unload flap path die reading; do
	looped $loop >/dev/null & all="$all $!"
done
wait $all
sysctl -qw net.ipv4.tcp_congestion_control=reno
tc qdisc replace dev near root netem delay 5ms rate 20mbit limit 200
pours 1 && say "works: yes"
for n in $(seq 60); do [ -z "$(all_standing)" ] && break; sleep 1; done
tc -s qdisc show dev near >$OUT/queue; nstat -az >$OUT/nstat; $far nstat -az >$OUT/nstat-far
all_standing >$OUT/standing
ip netns del far; sleep 1
for m in $MODULES; do
	for n in $(seq 240); do [ -d /sys/module/$m ] && rmmod $m && break; sleep 0.5; done
	[ -d /sys/module/$m ] && say "$m stays: $(cat /sys/module/$m/refcnt)"
done
say "end: yes"
"""


def prepare() -> None:
    """Build the kernels and the project's modules for them."""
    for kernel in KERNELS:
        modules.build(qemu_kernel.kernel(kernel))


def run(kernel: str, out: Path, root: Path, script: str, seconds: int) -> Told:
    """Run the script for so many seconds; its report."""
    sources = root / "tests" / "guest" / "modules"
    modules.build(qemu_kernel.kernel(kernel))
    for word, value in {"SECONDS": seconds, "SHORT": SHORT, "SENDERS": SENDERS}.items():
        script = script.replace(word, str(value))
    info = qemu.run_script(
        script, out=out, kernel=kernel, modules=MODULES, realtime=True,
        files={f"bin/{name}": compiled(sources / f"{name}.c") for name in ("verified", "peer")},
    )  # fmt: skip
    assert info.status == 0, (out / "console.log").read_text()[-4000:]
    return Told(out)


def poured(out: Path) -> list[dict[str, int]]:
    """Of each sender of short connections: how many ended, and how; ms that one took at most.

    A link that flaps may cost the one connection that a sender has just then. The neighbour's
    address has to be asked for again, and three such questions are lost: not reached. The receiver
    can answer a SYN but cannot repeat its answer, and forgets it: reset, if the sender had the
    first answer.
    """
    return [dict(zip(w[::2], map(int, w[1::2]), strict=True)) for w in rows(out / "poured")]


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_breaks_whatever_comes_together(kernel: str, build: Path, root: Path) -> None:
    """All data whole, each flow ends, no window of 0, each module can be removed."""
    out = build / "tests" / f"tcp-smp-{kernel}"
    report = run(kernel, out, root, SCRIPT, SECONDS)
    assert (out / "cpus").read_text() == "2\n"
    assert report["works"] == report["end"] == "yes"
    assert not [name for name in report if name.endswith(("stays", "failed"))], report
    assert (out / "standing").read_text() == ""
    senders = poured(out)
    assert len(senders) == SENDERS + 1
    assert max(sender["longest"] for sender in senders) < LONGEST_MS, senders
    ended = sum(sender["ended"] for sender in senders)
    flaps = numbers(report, "flap loops")[0]
    assert all(sender["reset"] + sender["unreached"] <= flaps for sender in senders), senders
    received = drunk(out)
    assert len(received) >= ended
    assert set(received) == {(SHORT, 0)}
    for path in out.glob("samples-*"):
        assert all(sample.cwnd for sample in samples(path)), path
    for name in ("long", "choose", "route", "write", "unload", "flap", "path", "die", "reading"):
        assert numbers(report, f"{name} loops")[0], name
    races = (out / "dmesg.txt").read_text().count("BUG: KCSAN: ")
    print(f"{ended} connections, {races} races of the kernel's own;", report, *senders, sep="\n")


def test_a_flow_that_stands_still_is_seen(build: Path, root: Path) -> None:
    """The path loses all when it should be at rest; what comes then is left out."""
    rest = 'limit 200\npours 1 && say "works: yes"\nfor n in $(seq 60)'
    script = SCRIPT.partition("ip netns del far; sleep 1")[0]
    assert rest in script
    lost = script.replace(rest, "limit 200 loss 100%\npours 1 & sleep 1\nfor n in $(seq 3)")
    out = build / "tests" / "tcp-smp-standing"
    run("bookworm", out, root, lost, 5)
    assert "SYN-SENT" in (out / "standing").read_text()
