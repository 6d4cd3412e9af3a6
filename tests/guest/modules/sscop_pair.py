# SPDX-License-Identifier: GPL-2.0
"""Two stations in a guest with an SSCOP link between them, and what they measure.

A script builds on :data:`TOOLS` and reports lines "KEY: VALUE" by `say`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.guest.modules import scripted
from tests.guest.modules.scripted import Told

#: The stations are the first namespace and `far`; s0 is the SSCOP device of both.
TOOLS = """
chmod +x /bin/verified /bin/forge
far="ip netns exec far"
say() { echo "$*" >>$OUT/report; }
count() { $1 ethtool -S s0 | sed -n "s/^ *$2: //p"; }
counts() { for n in $2; do say "$1 $n: $(count '' $n) $(count "$far" $n)"; done; }
link_file() { cat /sys/class/net/s0/$1 2>/dev/null; }
far_file() { $far cat /sys/class/net/s0/$1 2>/dev/null; }
carriers() { [ "$(link_file carrier)$(far_file carrier)" = 11 ]; }
ready() { n=0; until carriers; do n=$((n + 1)); [ $n -gt ${2-1000} ] && break; sleep 0.01; done
	say "$1 ready: $n"; }
octets() { echo "$(link_file statistics/tx_bytes) $(far_file statistics/rx_bytes)"; }
# Octets sent here and received there in a second.
moved() { set -- $1 $(octets); sleep 1; set -- $* $(octets)
	say "$1 moved: $(($4 - $2)) $(($5 - $3))"; }
pinged() { ping -c ${3-3} -i 0.2 -W 5 -s ${4-56} $2 >>$OUT/pings 2>&1 && say "$1 pinged: yes"; }
addresses() { ip addr add 10.7.0.1/24 dev s0; ip addr add fd00::1/64 dev s0 nodad
	ip -n far addr add 10.7.0.2/24 dev s0; ip -n far addr add fd00::2/64 dev s0 nodad; }
near_up() { ip link add link $1 name s0 type sscop $2 && ip link set s0 up; }
far_up() { ip -n far link add link $1 name s0 type sscop $2 && ip -n far link set s0 up; }
below() { ip netns add far; ip link add near type veth peer name far netns far
	ip link set near address 02:00:00:00:00:01; ip -n far link set far address 02:00:00:00:00:02
	ip link set near up; ip -n far link set far up; }
# Rate and delay, both ways.
slow() { tc qdisc replace dev near root netem rate $1 delay $2 limit 1000
	tc -n far qdisc replace dev far root netem rate $1 delay $2 limit 1000; }
lines() { dmesg | grep "sscop.*s0: \\|s0: connection" >$OUT/lines || :; }
sink() { $far verified drink 5201 $OUT/drunk & }
"""


def run(script: str, engine: str, out: Path, root: Path, **how: Any) -> Told:
    """Run a script on TOOLS in a guest; its report."""
    how |= {"module": "sscop", "programs": ("verified", "forge")}
    return scripted.run(TOOLS + script, engine, out, root, **how)
