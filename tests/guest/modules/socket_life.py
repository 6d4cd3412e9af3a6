# SPDX-License-Identifier: GPL-2.0
"""Shared by tests of loading and switching: a link in a guest, samples, parameter ranges."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from apogee_lab.engines import uml
from tests.guest.runs import compiled

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

SEGMENT = 1448  # bytes
RATE = 10e6 * SEGMENT / 1514 / 8  # payload the link carries, B/s


class Sample:
    """One line of `peer send`."""

    def __init__(self, line: str) -> None:
        time, self.cc, cwnd, ssthresh, pacing, acked = line.split()
        self.t = float(time)
        self.cwnd, self.ssthresh = int(cwnd), int(ssthresh)
        self.pacing, self.acked = int(pacing), int(acked)


def samples(path: Path) -> list[Sample]:
    """The samples of `peer send`."""
    return [Sample(line) for line in path.read_text().splitlines()]


def live(
    script: str, module: str, out: Path, root: Path, files: Mapping[str, bytes] | None = None
) -> Path:
    """Run a test script on LINK in one guest; its results are in ``out``."""
    peer = compiled(root / "tests" / "guest" / "modules" / "peer.c")
    given = {"bin/peer": peer, **(files or {})}
    uml.run_script(LINK + script, out=out, modules=[module], files=given)
    return out


def spans(path: Path) -> list[list[Sample]]:
    """The samples of `peer send`, one list per algorithm that was switched to."""
    return [list(group) for _, group in groupby(samples(path), key=lambda sample: sample.cc)]


def assert_full(found: Sequence[list[Sample]]) -> None:
    """Data flows at the link's rate in each span: 5 %, as samples are 50 ms apart."""
    for span in found:
        rate = (span[-1].acked - span[2].acked) / (span[-1].t - span[2].t)
        assert rate == pytest.approx(RATE, rel=0.05), span[0].cc


def assert_handed_over(found: Sequence[list[Sample]]) -> None:
    """The window neither collapses nor jumps. A loss between two samples may lower it, but not to
    less than half."""
    for before, after in pairwise(found):
        assert 0.45 * before[-1].cwnd <= after[0].cwnd <= 1.1 * before[-1].cwnd + 2


def assert_held_while_live(out: Path, module: str, report: Sequence[str]) -> None:
    """At the end of the report the module is unloaded: EAGAIN while a connection uses it, success
    after the connection was closed or switched."""
    assert list(report) == [
        "live: rmmod 1",
        f"live: {module} loaded",
        "end: rmmod 0",
        f"end: {module} absent",
    ]
    assert "temporarily unavailable" in (out / "refused").read_text()


# --- parameters -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """A parameter: a word of its description, lowest and highest value, and its default, if that is
    fixed."""

    word: str
    low: int
    high: int
    default: int | None = None


def modinfo(module: Path, field: str) -> dict[str, str]:
    """Descriptions of a module's parameters from modinfo, by name."""
    command = ["/sbin/modinfo", "-F", field, str(module)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split(":", 1) for line in text.splitlines())


def default(description: str) -> int:
    """The default in a parameter's description."""
    found = re.search(r"default (\d+)", description)
    assert found, description
    return int(found[1])


def assert_described(module: Path, ranges: Mapping[str, Range]) -> None:
    """modinfo lists every parameter with its word, range and default."""
    described = modinfo(module, "parm")
    assert set(described) == set(ranges)
    assert set(modinfo(module, "parmtype").values()) == {"uint"}
    for name, one in ranges.items():
        assert one.word in described[name], name
        assert default(described[name]) in range(one.low, one.high + 1), name
        assert one.default in (None, default(described[name])), name
        words = set(described[name].replace(",", " ").replace(":", " ").split())
        assert {str(one.low), str(one.high)} <= words, f"{name} does not tell its range"


def assert_ranges_hold(module: Path, ranges: Mapping[str, Range], out: Path) -> None:
    """At load and at write: -EINVAL, a kernel log line with the range, and the value unchanged."""
    lines, load, write = [], [], []
    loaded = module.stem
    for name, one in ranges.items():
        file = f"/sys/module/{loaded}/parameters/{name}"
        wrong = [str(one.high + 1), "-1", "4294967297", "many"]
        wrong += [str(one.low - 1)] if one.low else []
        for value in wrong:
            lines.append(f"try load {name}={value}")
            load.append(name)
        lines += [f"modprobe {loaded}", f"echo {name} default $(cat {file}) >>$OUT/values"]
        for value in [*wrong, "''"]:
            lines.append(f"try write {file} {value}")
            write.append(name)
        lines += [
            f"echo {name} kept $(cat {file}) >>$OUT/values",
            f"echo {one.high} >{file}; echo {name} high $(cat {file}) >>$OUT/values",
            f"echo {one.low} >{file}; echo {name} low $(cat {file}) >>$OUT/values",
            f"rmmod {loaded}",
            f"modprobe {loaded} {name}={one.high}; echo {name} loaded $(cat {file}) >>$OUT/values",
            f"rmmod {loaded}",
        ]
    head = f"""
        try() {{
            if [ $1 = load ]; then modprobe {loaded} $2 2>>$OUT/load; else
                echo "$3" | dd of=$2 2>>$OUT/write; fi
            echo "$? $*" >>$OUT/tried
        }}
    """
    uml.run_script(head + "\n".join(lines), out=out, modules=[loaded])
    tried = (out / "tried").read_text().splitlines()
    assert len(tried) == len(load) + len(write)
    assert [line for line in tried if line.startswith("0")] == [], "accepted"
    assert (out / "load").read_text().count("Invalid argument") == len(load)
    assert (out / "write").read_text().count("Invalid argument") == len(write)
    values = dict(line.rsplit(" ", 1) for line in (out / "values").read_text().splitlines())
    log = (out / "dmesg.txt").read_text()
    described = modinfo(module, "parm")
    for name, one in ranges.items():
        assert values[f"{name} default"] == values[f"{name} kept"]
        assert values[f"{name} default"] == str(default(described[name]))
        assert values[f"{name} high"] == values[f"{name} loaded"] == str(one.high)
        assert values[f"{name} low"] == str(one.low)
        refused = load.count(name) + write.count(name)
        told = log.count(f"{loaded}: parameter {name} must be {one.low} to {one.high}")
        assert told >= refused, name
