# SPDX-License-Identifier: GPL-2.0
"""tcp_star as a module: loading, choosing, unloading, changing a live socket, parameters."""

from __future__ import annotations

import subprocess
from itertools import groupby
from pathlib import Path

import pytest

from apogee_lab.engines import qemu

from .runs import compiled

pytestmark = pytest.mark.guest

#: Shell: two machines 20 ms apart, 10 Mbit/s, the sender in the first namespace; `say` reports.
LINK = """
chmod +x /bin/peer
say() { echo "$*" >>$OUT/report; }
loaded() { if [ -d /sys/module/$2 ]; then say "$1: $2 loaded"; else say "$1: $2 absent"; fi; }
unload() { rmmod $2 2>>$OUT/refused; say "$1: rmmod $?"; loaded $1 $2; }
ip netns add far
ip link add near type veth peer name far netns far
ip addr add 10.9.0.1/24 dev near
ip link set near up
ip -n far addr add 10.9.0.2/24 dev far
ip -n far link set far up
ethtool -K near tso off gso off gro off
ip netns exec far ethtool -K far tso off gso off gro off
tc qdisc add dev near root netem rate 10mbit delay 10ms limit 1000
tc -n far qdisc add dev far root netem delay 10ms limit 1000
ip netns exec far peer sink 5201 &
sleep 0.1
far=10.9.0.2
"""

LIFE = """
loaded before tcp_star
ip netns exec far flow recv 5300 $OUT/socket.recv.json &
sleep 0.1
flow send $far 5300 --cc star --duration 0.5 $OUT/socket.json && say socket: sent
loaded socket tcp_star
unload socket tcp_star

sysctl -qw net.ipv4.tcp_congestion_control=star
loaded sysctl tcp_star
peer send $far 5201 1 >$OUT/sysctl
unload default tcp_star
sysctl -qw net.ipv4.tcp_congestion_control=cubic
unload sysctl tcp_star

ip route add $far/32 dev near congctl star
peer send $far 5201 1 >$OUT/route
ip route del $far/32
peer send $far 5201 0.5 >$OUT/other
unload route tcp_star

peer send $far 5201 3 0.2:star >$OUT/live &
sleep 1
unload live tcp_star
wait $!
unload closed tcp_star

peer send $far 5201 8 2:star 4:cubic 6:star >$OUT/cubic
sysctl -qw net.ipv4.tcp_congestion_control=reno
peer send $far 5201 6 2:star 4:reno >$OUT/reno
unload end tcp_star
"""

SEGMENT = 1448  # bytes
RATE = 10e6 * 1448 / 1514 / 8  # payload the link carries, B/s


class Sample:
    """One line of `peer send`."""

    def __init__(self, line: str) -> None:
        time, self.cc, cwnd, ssthresh, pacing, acked = line.split()
        self.t = float(time)
        self.cwnd, self.ssthresh = int(cwnd), int(ssthresh)
        self.pacing, self.acked = int(pacing), int(acked)


def samples(path: Path) -> list[Sample]:
    return [Sample(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def life(modules: Path, build: Path, root: Path) -> Path:
    """All of a module's life in one guest."""
    out = build / "tests" / "star-life"
    peer = compiled(root / "tests" / "lab" / "peer.c", build)
    qemu.run_script(
        LINK + LIFE, out=out, modules=["tcp_star"], files={"bin/peer": peer}, timeout_wall_s=300.0
    )
    return out


@pytest.fixture(scope="module")
def report(life: Path) -> list[str]:
    return (life / "report").read_text().splitlines()


def test_asking_by_name_loads_the_module(report: list[str]) -> None:
    """setsockopt(TCP_CONGESTION), sysctl and route each find it with nothing loaded."""
    assert report[0] == "before: tcp_star absent"
    assert "socket: sent" in report
    assert "socket: tcp_star loaded" in report
    assert "sysctl: tcp_star loaded" in report


def test_default_of_the_first_namespace(life: Path, report: list[str]) -> None:
    assert {sample.cc for sample in samples(life / "sysctl")} == {"star"}
    at = report.index("default: rmmod 1")
    assert report[at + 1] == "default: tcp_star loaded", "a default is in use"
    assert "sysctl: rmmod 0" in report


def test_route_chooses(life: Path, report: list[str]) -> None:
    assert {sample.cc for sample in samples(life / "route")} == {"star"}
    assert {sample.cc for sample in samples(life / "other")} == {"cubic"}
    assert "route: rmmod 0" in report, "a closed connection leaves no reference"


def test_no_unloading_under_a_live_connection(life: Path, report: list[str]) -> None:
    at = report.index("live: rmmod 1")
    assert report[at + 1] == "live: tcp_star loaded"
    assert "temporarily unavailable" in (life / "refused").read_text(), "the kernel says EAGAIN"
    assert report[-6:-4] == ["live: rmmod 1", "live: tcp_star loaded"]
    assert report[-4:-2] == ["closed: rmmod 0", "closed: tcp_star absent"]
    assert report[-2:] == ["end: rmmod 0", "end: tcp_star absent"]
    live = samples(life / "live")
    assert live[-1].cc == "star"
    assert live[-1].acked > live[len(live) // 2].acked, "the refused rmmod did not disturb it"


@pytest.mark.parametrize("name", ["cubic", "reno"])
def test_switching_a_live_socket(life: Path, name: str) -> None:
    """Data keeps flowing at the link's rate, the window neither collapses nor jumps.

    Margins: 5 % of the rate over each span between switches (samples are 50 ms apart, spans 2 s:
    2.5 %); the queue is never empty, so the window may not change by more than a tenth in 100 ms.
    """
    seen = samples(life / name)
    spans = [list(group) for _, group in groupby(seen, key=lambda sample: sample.cc)]
    wanted = {"cubic": ["cubic", "star", "cubic", "star"], "reno": ["reno", "star", "reno"]}
    assert [span[0].cc for span in spans] == wanted[name]
    for span in spans:
        rate = (span[-1].acked - span[2].acked) / (span[-1].t - span[2].t)
        assert rate == pytest.approx(RATE, rel=0.05), span[0].cc
    for before, after in zip(spans, spans[1:], strict=False):
        assert after[2].cwnd == pytest.approx(before[-1].cwnd, rel=0.1)
    for span in (span for span in spans if span[0].cc == "star"):
        assert span[-1].cwnd - span[0].cwnd < 25, "2 s with a standing queue: a segment per RTT"
        # cwnd / RTT_min: above the link's rate by what stands in the queue, but a rate at all.
        assert RATE <= span[-1].pacing < 1000 * RATE, "paced by its own window again"


# --- parameters -------------------------------------------------------------------------------

#: name: (unit as modinfo shows it, lowest, highest, default)
PARAMETERS = {
    "first_interval_us": ("us", 1, 1000000, 1000),
    "aen": ("0 or 1", 0, 1, 1),
    "pacing": ("0 or 1", 0, 1, 1),
    "coexist": ("paper", 0, 1, 1),
}


def modinfo(modules: Path, field: str) -> dict[str, str]:
    command = ["/sbin/modinfo", "-F", field, str(modules / "tcp_star.ko")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split(":", 1) for line in text.splitlines())


def test_modinfo_describes_every_parameter(modules: Path) -> None:
    described = modinfo(modules, "parm")
    assert set(described) == set(PARAMETERS)
    assert set(modinfo(modules, "parmtype").values()) == {"uint"}
    for name, (unit, low, high, default) in PARAMETERS.items():
        assert unit in described[name], name
        assert f"default {default}" in described[name], name
        words = described[name].replace(",", " ").replace(":", " ").split()
        assert {str(low), str(high)} <= set(words), f"{name} does not tell its range"


def test_ranges_hold_at_load_and_at_write(modules: Path, build: Path) -> None:
    """-EINVAL, a line that names the range, and the value of before."""
    lines, load, write = [], [], []
    for name, (_, low, high, _) in PARAMETERS.items():
        file = f"/sys/module/tcp_star/parameters/{name}"
        wrong = [str(high + 1), "-1", "4294967297", "many"] + ([str(low - 1)] if low else [])
        for value in wrong:
            lines.append(f"try load {name}={value}")
            load.append(name)
        lines += ["modprobe tcp_star", f"echo {name} default $(cat {file}) >>$OUT/values"]
        for value in [*wrong, "''"]:
            lines.append(f"try write {file} {value}")
            write.append(name)
        lines += [
            f"echo {name} kept $(cat {file}) >>$OUT/values",
            f"echo {high} >{file}; echo {name} high $(cat {file}) >>$OUT/values",
            f"echo {low} >{file}; echo {name} low $(cat {file}) >>$OUT/values",
            "rmmod tcp_star",
            f"modprobe tcp_star {name}={high}; echo {name} loaded $(cat {file}) >>$OUT/values",
            "rmmod tcp_star",
        ]
    script = """
        try() {
            if [ $1 = load ]; then modprobe tcp_star $2 2>>$OUT/load; else
                echo "$3" | dd of=$2 2>>$OUT/write; fi
            echo "$? $*" >>$OUT/tried
        }
    """ + "\n".join(lines)
    out = build / "tests" / "star-parameters"
    qemu.run_script(script, out=out, modules=["tcp_star"], timeout_wall_s=300.0)
    tried = (out / "tried").read_text().splitlines()
    assert len(tried) == len(load) + len(write)
    assert [line for line in tried if line.startswith("0")] == [], "accepted"
    assert (out / "load").read_text().count("Invalid argument") == len(load)
    assert (out / "write").read_text().count("Invalid argument") == len(write)
    values = dict(line.rsplit(" ", 1) for line in (out / "values").read_text().splitlines())
    log = (out / "dmesg.txt").read_text()
    for name, (_, low, high, default) in PARAMETERS.items():
        assert values[f"{name} default"] == values[f"{name} kept"] == str(default)
        assert values[f"{name} high"] == values[f"{name} loaded"] == str(high)
        assert values[f"{name} low"] == str(low)
        refused = load.count(name) + write.count(name)
        assert log.count(f"tcp_star: parameter {name} must be {low} to {high}") >= refused, name
