# SPDX-License-Identifier: GPL-2.0
"""Who adds SHAKE's peers is charged for them: memory of its cgroup, in a kernel that has any."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.engines import qemu
from tests.guest.modules.scripted import numbers
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.deep]

#: Two hundred peers, and a leader's eight paths, are added from inside a cgroup.
CHARGED = """
mkdir -p /tmp/cg; mount -t cgroup2 none /tmp/cg; echo +memory >/tmp/cg/cgroup.subtree_control
mkdir /tmp/cg/one; slab() { sed -n 's/^slab //p' /tmp/cg/one/memory.stat; }
ip link add agent type shake role agent; ip link add leader type shake role leader port 4791
ip link set leader up
inside() { sh -c 'echo 0 >/tmp/cg/one/cgroup.procs; '"$1"; }
inside 'for n in 1 2 3; do ip link show agent >/dev/null; done'
none=$(slab)
inside 'for n in $(seq 200); do ip link set agent type shake peer $n; done'; peers=$(slab)
inside 'for n in 1 2 3 4 5 6 7 8; do
	ip link set leader type shake path $n remote 127.0.0.1; done'; paths=$(slab)
say "charged: $((peers - none)) $((paths - peers))"
"""

#: Octets: of a peer its own and its table of flows, of a path its records of packets.
PEER, PATH = 2000, 512 * 40


def test_peers_and_paths_are_charged(
    build: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = qemu._CMDLINE.replace("cgroup_disable=memory ", "")  # which saves the others some time
    monkeypatch.setattr(qemu, "_CMDLINE", line)
    told = run(CHARGED, "qemu", build / "tests" / "shake-charged", root)
    peers, paths = numbers(told, "charged")
    assert peers > 200 * PEER
    assert paths > 8 * PATH
