# SPDX-License-Identifier: GPL-2.0
"""Shared by tests of loading and switching: a link in a guest, a life on it, samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

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
    script: str, modules: str, out: Path, root: Path, files: Mapping[str, bytes] | None = None
) -> Path:
    """Run a test script on LINK in one guest with modules; its results are in ``out``."""
    peer = compiled(root / "tests" / "guest" / "modules" / "peer.c")
    given = {"bin/peer": peer, **(files or {})}
    uml.run_script(LINK + script, out=out, modules=modules.split(), files=given)
    return out


def life_of(module: str, script: str, **files: Callable[[Path], bytes]) -> Any:
    """A fixture: the folder of what a module's test script left. ``files`` are made of the folder
    of modules."""

    @pytest.fixture(scope="module")
    def fixture(modules: Path, build: Path, root: Path) -> Path:
        made = {f"{name}.ko": make(modules) for name, make in files.items()}
        return live(script, module, build / "tests" / f"{module}-life", root, made)

    return fixture


def spans(path: Path) -> list[list[Sample]]:
    """The samples of `peer send`, one list per algorithm that was switched to."""
    return [list(group) for _, group in groupby(samples(path), key=lambda sample: sample.cc)]


def assert_full(found: Sequence[list[Sample]]) -> None:
    """Data flows at the link's rate in each span: 5 %, as samples are 50 ms apart."""
    for span in found:
        rate = (span[-1].acked - span[2].acked) / (span[-1].t - span[2].t)
        assert rate == pytest.approx(RATE, rel=0.05), span[0].cc


def assert_switched(path: Path, wanted: Sequence[str]) -> None:
    """Data keeps flowing through these algorithms, and the window neither collapses nor jumps. A
    loss between two samples may lower it, but not to less than half."""
    found = spans(path)
    assert [span[0].cc for span in found] == wanted
    assert_full(found[1:])
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
