# SPDX-License-Identifier: GPL-2.0
"""Watching and choosing on each kernel: `ss -ti`, privileges, on stock kernels bpftrace's scripts.

One guest per kernel. What asking by name loads, on one kernel, is in the tests of each module.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.engines import qemu, uml
from apogee_lab.kernels import debian, uml_kernel
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from tests.guest.modules.socket_life import LINK, samples
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.uml]

OURS = ["tcp_star", "tcp_hstcp_gentle", "tcp_compound_plus", "tcp_j"]
ACCOUNTS = "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
DEFAULT_PROFILE = Path("profiles") / "apogee-satellite.conf"

#: What an unprivileged process gets each way; `ours` tells whether the module is loaded.
CHOOSING = """
mkdir -m 777 /tmp/nobody
ip netns exec far peer sink 5300 &
ours() { if [ -d /sys/module/tcp_star ]; then say "$1: loaded"; else say "$1: absent"; fi; }
nobody() { su -s /bin/sh nobody -c "$*"; }
socket() {
    nobody "flow send $far 5300 --cc star --duration 0.2 /tmp/nobody/log" 2>>$OUT/nobody.log
    say "$1: socket $?"
    ours "$1"
}
used() { cat /sys/module/tcp_star/refcnt; }
elsewhere() {
    before=$(used)
    ip netns exec far sysctl -w net.ipv4.tcp_congestion_control=star >/dev/null 2>>$OUT/nobody.log
    say "$1: elsewhere $(ip netns exec far cat /proc/sys/net/ipv4/tcp_congestion_control)"
    say "$1: users $(($(used) - before))"
}
allow=/proc/sys/net/ipv4/tcp_allowed_congestion_control
# A connection that was not reset uses the module until its data has arrived.
drop() {
    for i in $(seq 50); do rmmod tcp_star 2>/dev/null && break; sleep 0.2; done
    ours "$1"
}
socket absent
(echo "reno cubic star" >$allow) 2>>$OUT/nobody.log && say "allowed: unloaded"
modprobe tcp_star
socket loaded
echo "reno cubic star" >$allow
socket allowed
echo "reno cubic" >$allow
drop dropped
ip route add $far/32 dev near congctl star
ours route
nobody "peer send $far 5201 0.3" >$OUT/route
flow send $far 5300 --cc reno --duration 0.5 $OUT/log & sleep 0.3
ss -tin 'dport = :5300' >$OUT/ss.route
wait $!
drop unloaded
nobody "peer send $far 5201 0.3" >$OUT/unloaded
ip route change $far/32 dev near congctl lock star
peer send $far 5201 0.5 0.2:reno >$OUT/locked 2>>$OUT/nobody.log && say "locked: changed"
ip route del $far/32
drop dropped
sysctl -w net.ipv4.tcp_congestion_control=star >>$OUT/sysctl.set
ours sysctl
nobody "peer send $far 5201 0.3" >$OUT/sysctl
sysctl -qw net.ipv4.tcp_congestion_control=cubic
socket default
drop dropped
modprobe tcp_star
elsewhere restricted
"""

#: A flow of each algorithm under its script; the ACKs of star's are lost for 0.2 s, in which the
#: whole window is delivered.
WATCHING = """
mount -t debugfs debugfs /sys/kernel/debug
modprobe tcp_hstcp_gentle
modprobe tcp_compound_plus relearn=4
modprobe tcp_star
watch() { [ -x "$(command -v bpftrace)" ] || return 0
    bpftrace /bpf/$1.bt $2 >$OUT/$1.out 2>&1 &
    watcher=$!
    until grep -q sport $OUT/$1.out; do kill -0 $watcher || break; sleep 0.1; done
}
stop() { [ ! "$watcher" ] || { kill -INT $watcher; wait $watcher; }; }
show() { sleep $2; ss -tin 'dport = :5201' >$OUT/ss.$1; }

watch cwnd 5201
peer send $far 5201 1 >$OUT/cubic
stop
watch star
sysctl -qw net.ipv4.tcp_sack=0 net.ipv4.tcp_timestamps=0 net.ipv4.tcp_early_retrans=0
peer send $far 5201 4 0:star >$OUT/star &
flow=$!
show star 1.5
tc -n far qdisc change dev far root netem delay 10ms loss 100%
sleep 0.2
tc -n far qdisc change dev far root netem delay 10ms loss 0%
wait $flow
stop
sysctl -qw net.ipv4.tcp_sack=1 net.ipv4.tcp_timestamps=1 net.ipv4.tcp_early_retrans=3
tc qdisc change dev near root netem rate 10mbit delay 10ms limit 150
watch gentle
peer send $far 5201 3 0:hstcp_gentle >$OUT/gentle &
show gentle 2
wait $!
stop
watch compound
peer send $far 5201 3 0:compound_plus >$OUT/compound &
show compound 1.5
wait $!
stop
peer send $far 5201 1 0:j >$OUT/j &
show j 0.8
wait $!
"""


STOCK = [pytest.param(n, marks=pytest.mark.deep) for n in ("bookworm", "bookworm-backports")]
#: Tests of what bpftrace says: it is on stock kernels only.
traced = pytest.mark.parametrize("told", STOCK, indirect=True)


@pytest.fixture(scope="module", params=[*STOCK, "uml"])
def told(request: pytest.FixtureRequest, build: Path, root: Path) -> Path:
    """The results of one guest."""
    here = request.param == "uml"
    engine, kernel = (uml, uml_kernel.kernel()) if here else (qemu, debian.kernel(request.param))
    modules.build(kernel)
    files = {f"bpf/{path.name}": path.read_bytes() for path in (root / "scripts/bpf").glob("*.bt")}
    files |= {
        "bin/peer": compiled(root / "tests" / "guest" / "modules" / "peer.c"),
        "etc/passwd": ACCOUNTS.encode(),
        "profile.conf": (root / DEFAULT_PROFILE).read_bytes(),
    }
    profile = "sysctl -p /profile.conf >$OUT/profile 2>&1; say profile: $?\n"
    out = build / "tests" / f"watching-{request.param}"
    engine.run_script(
        LINK + CHOOSING + WATCHING + profile,
        out=out, modules=OURS, extras=[] if here else ["bpftrace"], files=files,
        kernel=DEFAULT_KERNEL if here else request.param,
    )  # fmt: skip
    return out


@pytest.fixture
def report(told: Path) -> dict[str, str]:
    """The guest's output, by heading."""
    lines = (told / "report").read_text().splitlines()
    found: dict[str, str] = {}
    for line in lines:
        key, _, text = line.partition(": ")
        found[key] = f"{found.get(key, '')} {text}".strip()
    return found


def test_what_an_unprivileged_process_gets(told: Path, report: dict[str, str]) -> None:
    """A socket's own choice loads no module and needs an allowed name; the choice of a route or of
    the system applies to everyone."""
    refused = (told / "nobody.log").read_text()
    assert report["absent"] == "socket 1 absent"
    assert "congestion control star: No such file or directory" in refused
    assert "allowed" in report and "unloaded" not in report["allowed"], "what is not there"
    assert report["loaded"] == "socket 1 loaded"
    assert "congestion control star: Operation not permitted" in refused
    assert report["allowed"] == "socket 0 loaded"
    assert report["dropped"] == "absent absent absent"
    assert report["route"] == report["sysctl"] == "loaded", "asked for with nothing loaded"
    for way in ("route", "sysctl"):
        assert {sample.cc for sample in samples(told / way)} == {"star"}
    assert report["default"] == "socket 0 loaded", "who was the default once is open to all"


def test_a_route_comes_before_the_socket(told: Path, report: dict[str, str]) -> None:
    """Even before the algorithm that the socket set before connecting; with lock, it is final. It
    does not hold the module."""
    assert re.search(r"^\t star ", (told / "ss.route").read_text(), re.M)
    assert {sample.cc for sample in samples(told / "locked")} == {"star"}
    assert "peer: reno: Operation not permitted" in (told / "nobody.log").read_text()
    assert report["unloaded"] == "absent"
    assert {sample.cc for sample in samples(told / "unloaded")} == {"cubic"}


def test_another_namespace_takes_no_restricted_default(told: Path, report: dict[str, str]) -> None:
    assert report["restricted"] == "elsewhere cubic users 1", "one that nobody is"
    assert "sysctl: write error: Operation not permitted" in (told / "nobody.log").read_text()


def test_the_printed_profile_is_read(told: Path, report: dict[str, str], root: Path) -> None:
    assert report["profile"] == "0"
    lines = (root / DEFAULT_PROFILE).read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert (told / "profile").read_text().splitlines() == wanted


# --- bpftrace ---------------------------------------------------------------------------------


def rows(told: Path, name: str) -> list[list[str]]:
    """Lines of a script: time, both ports, words; none of them an error."""
    lines = (told / f"{name}.out").read_text().splitlines()
    assert not [line for line in lines if re.search("ERROR|WARNING|Lost", line)], lines[:5]
    found = [line.split() for line in lines if re.match(r" *\d+\.\d{3} +\d+ +\d+ ", line)]
    times = [float(row[0]) for row in found]
    assert times == sorted(times)
    return found


def sent(told: Path, name: str) -> list[list[str]]:
    """Those of the sender."""
    found = [row for row in rows(told, name) if row[2] == "5201"]
    assert len({row[1] for row in found}) == 1
    return found


@traced
def test_cwnd_of_any_connection(told: Path) -> None:
    """The windows equal those of TCP_INFO; at most ten lines per second and direction."""
    found = sent(told, "cwnd")
    windows = {sample.cwnd for sample in samples(told / "cubic")}
    assert {sample.cc for sample in samples(told / "cubic")} == {"cubic"}
    assert 8 <= len(found) <= 12
    assert min(windows) <= min(int(row[3]) for row in found)
    assert max(int(row[3]) for row in found) <= max(windows)
    assert len({row[3] for row in found}) > 3
    for _, _, _, cwnd, _, under_way, *_ in found[1:]:
        assert int(under_way) <= (int(cwnd) + 1) * 1448
    assert [row for row in rows(told, "cwnd") if row[1] == "5201"], "the receiver's end, too"


@traced
def test_estimate_and_verdicts_of_star(told: Path) -> None:
    found = sent(told, "star")
    verdicts = [" ".join(row[3:]) for row in found if row[3] == "AEN:"]
    windows = [row for row in found if row[3] != "AEN:"]
    assert len(windows) > 20
    for _, _, _, cwnd, reno, abe, bandwidth, *_ in windows[5:]:
        assert int(cwnd) <= max(int(reno) + int(abe), 10)
        assert 0.5 * 10e6 < int(bandwidth) < 2 * 10e6
    assert verdicts[0].endswith("verdict not yet")
    assert verdicts[-1].endswith("verdict spurious, window restored")


@traced
def test_modes_of_hstcp_gentle(told: Path) -> None:
    found = sent(told, "gentle")
    modes = [" ".join(row[6:]) for row in found if row[5] == "mode:"]
    assert modes[0].startswith("slow start to HighSpeed by ")
    assert "HighSpeed to Reno by trend" in modes
    judged = [" ".join(row[8:]) for row in found if row[5] != "mode:"]
    assert len(judged) > 5
    assert any(line.endswith("slow start rising") for line in judged)


@traced
def test_rounds_and_dips_of_compound_plus(told: Path) -> None:
    found = sent(told, "compound")
    dips = [" ".join(row[3:]) for row in found if row[3] == "dip"]
    assert dips[0] == "dip begins"
    assert re.fullmatch(r"dip over, base_rtt \d+us", dips[1])
    assert all(one != other for one, other in zip(dips, dips[1:], strict=False))
    rounds = [row for row in found if row[3] != "dip"]
    assert len(rounds) > 20
    for row in rounds:
        assert int(row[8].removesuffix("us")) <= int(row[9].removesuffix("us")), "base RTT"
    assert {"rule", "slow start", "dip"} <= {" ".join(row[10:]) for row in rounds}


# --- ss ---------------------------------------------------------------------------------------


def test_ss_shows_each_module(told: Path) -> None:
    """All in bbr's form; what the gains mean is in docs/watching.md. A gain of 0 is not shown.

    To 20 ms comes what a burst of two segments takes, 2.4 ms.
    """
    gain, other = r",pacing_gain:[\d.]+", r",cwnd_gain:[\d.]+"
    wanted = {
        "star": ("star", gain + other),
        "gentle": ("hstcp_gentle", gain + other),
        "compound": ("compound_plus", f"({gain})?{other}"),
        "j": ("j", ""),
    }
    for name, (cc, gains) in wanted.items():
        text = (told / f"ss.{name}").read_text()
        assert re.search(rf"\t {cc} .* bbr:\(bw:\d+bps,mrtt:2[0-2]\.\d+{gains}\)", text), text
