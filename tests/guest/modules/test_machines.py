# SPDX-License-Identifier: GPL-2.0
"""The modules in kernels of other architectures: 64 bits of ARM, and 32."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from apogee_lab.algorithms import module_of
from tests.guest import machines

pytestmark = [pytest.mark.guest, pytest.mark.deep, pytest.mark.xdist_group("machines")]

ALGORITHMS = ("star", "j", "hstcp_gentle", "compound", "compound_plus")
BYTES = 1_000_000  # of each flow, however long a slow machine takes

#: Two hosts, and what is done with them.
START = f"""\
set -e
ip netns add far
ip link add near0 type veth peer name far0 netns far
ip addr add 10.0.0.1/24 dev near0
ip -n far addr add 10.0.0.2/24 dev far0
ip link set near0 up
ip -n far link set far0 up
wait_until() {{ # COMMAND: 20 s at most
	for try in $(seq 100); do
		sh -c "$1" && return
		sleep 0.2
	done
	echo "never: $1" >&2
	exit 1
}}
move() {{ # ALGORITHM NAME ADDRESS
	ip netns exec far flow recv 5201 $2.recv &
	wait_until 'ip netns exec far ss -Hltn | grep -q :5201'
	flow send $3 5201 --cc $1 --duration 60 $2.send {BYTES}
	kill $! 2>/dev/null || :
	wait $! || :
}}
gone() {{ # MODULE
	wait_until "rmmod $1"
	[ ! -e /sys/module/$1 ]
}}
"""
SSCOP = """\
modprobe sscop
ip link add link near0 name s0 type sscop segment 256
ip -n far link add link far0 name s0 type sscop segment 256
ip addr add 10.1.0.1/24 dev s0
ip -n far addr add 10.1.0.2/24 dev s0
ip link set s0 up
ip -n far link set s0 up
wait_until 'grep -q 1 /sys/class/net/s0/carrier'
move cubic sscop 10.1.0.2
ip -s -d link show s0 >sscop.shown
ip link del s0
ip -n far link del s0
gone sscop
"""
SHAKE = """\
modprobe shake
od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >/tmp/key
ip link add k0 mtu 1400 type shake role agent encrypt on
ip link set k0 type shake peer 1 key /tmp/key allow 10.2.0.2/32
ip -n far link add k0 mtu 1400 type shake role leader id 1 encrypt on
ip -n far link set k0 type shake peer 1 key /tmp/key
ip -n far link set k0 type shake path 1 dev far0 remote 10.0.0.1
ip addr add 10.2.0.1/24 dev k0
ip -n far addr add 10.2.0.2/24 dev k0
ip link set k0 up
ip -n far link set k0 up
wait_until 'ip netns exec far grep -q alive /sys/class/net/k0/shake/paths'
move cubic shake 10.2.0.2
ip -n far -s -d link show k0 >shake.shown
ip link del k0
ip -n far link del k0
gone shake
"""


def script() -> str:
    """Each module loaded, used and removed."""
    text = START
    for cc in ALGORITHMS:
        text += f"modprobe {module_of(cc)}\nmove {cc} {cc} 10.0.0.2\n"
    text += "".join(f"gone {name}\n" for name in dict.fromkeys(map(module_of, ALGORITHMS)))
    return text + SSCOP + SHAKE


@pytest.mark.parametrize("name", machines.MACHINES)
def test_modules_on_another_machine(name: str, build: Path) -> None:
    machine = machines.MACHINES[name]
    for program in (machine.qemu, machine.compiler):
        assert shutil.which(program), f"no {program} here: scripts/setup machines"
    out = build / "tests" / f"modules-{name}"
    machines.run_script(machine, script(), out)
    for flow in (*ALGORITHMS, "sscop", "shake"):
        assert json.loads((out / f"{flow}.recv").read_text())["bytes"] >= BYTES, flow
    for flow in ALGORITHMS:
        assert json.loads((out / f"{flow}.send").read_text())["cc"] == flow
