# SPDX-License-Identifier: GPL-2.0
"""SHAKE in a real guest: what one path has not got does not stop the others, and is told."""

from __future__ import annotations

import pytest

from tests.guest.modules.scripted import Told, numbers, reported
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

# --- a socket -------------------------------------------------------------------------------------

#: One local port is to be had. Another device has it in IPv6, where path 2 wants one.
SOCKETS = """
lines; agent_up
echo 40000 40000 >/proc/sys/net/ipv4/ip_local_port_range
ip link add hog type shake role agent local fd01:1::1 port 40000; ip link set hog up
ip link add shake0 type shake role leader id 1; ip link set shake0 type shake peer 1 key /tmp/key
path 1 dev wan1 remote 10.2.1.2; path 2 dev wan2 remote fd02:2::2
inner && say "up: yes"; ready one 1; pinged one 10.3.0.2
say "refused: $(state 1) $(state 2)"
ip -d -j link show shake0 | tr -d ' \\n' | grep -o '"state":"[a-z]*"' | tr '\\n' ' ' >$OUT/shown
sleep 11; ip link set shake0 down; ip link set shake0 up; ready again 1
ip link del hog; sleep 5.1; ready both 2; say "both: $(state 1) $(state 2)"
# A device that goes while it waits.
ip link add hog type shake role agent local fd01:1::1 port 40000; path 2 off; ip link set hog up
ip link set shake0 down; path 2 dev wan2 remote fd02:2::2; ip link set shake0 up; ip link del shake0
sleep 6; ip link del hog; said
"""

sockets = reported(run, "shake-sockets", SOCKETS)


def test_a_path_without_socket_does_not_stop_the_device(sockets: Told) -> None:
    assert sockets["up"] == sockets["one pinged"] == "yes"
    assert sockets["refused"] == "alive refused"
    assert (sockets.out / "shown").read_text().split() == ['"state":"alive"', '"state":"refused"']


def test_it_is_told_once_and_tried_again(sockets: Told) -> None:
    """Once each time that the device comes up, not each time that it is tried."""
    assert int(sockets["both ready"]) < 100
    assert sockets["both"] == "alive alive"
    lines = (sockets.out / "lines").read_text().splitlines()
    said = [line for line in lines if "no socket" in line]
    assert len(said) == 3
    assert all("shake0: path 2 has no socket (error -98): it is tried again" in s for s in said)


# --- a route, room --------------------------------------------------------------------------------

#: Path 2, which is bound to no device, has lost its route; then both are too narrow, and what is
#: too long is dropped each time.
ROUTES = """
lines; agent_up scheduler rr; leader_up scheduler rr; paths; path 2 dev any; ready first
pinged first 10.3.0.2
total() { echo $(($(sent | tr '\\n' '+')0)); }
octets_sent() { ip -d -s -j link show shake0 | tr -d ' \\n' | sed 's/.*"xstats"//' |
	grep -o '"sent_bytes":[0-9]*' | cut -d: -f2 | tr '\\n' '+'; echo 0; }
ip route del 10.2.2.0/24; pinged without 10.3.0.2 6
say "without dropped: $(ip -s link show shake0 | awk '/TX:/ { getline; print $4 }')"
near_routes 2; sleep 3; set -- $(sent); pinged back 10.3.0.2 6; set -- $* $(sent)
say "back: $(($3 - $1)) $(($4 - $2))"
for n in 1 2; do link_mtu $n 1300; done; pinged narrow 10.3.0.2 2 1000; sleep 1
set -- $(total) $(($(octets_sent))) $(count '' dropped_too_big)
for n in 1 2 3 4 5; do ip route flush cache; ping -c 1 -W 1 -s 1390 10.3.0.2 >>$OUT/pings; done
say "long: $(($(total) - $1)) $(($(octets_sent) - $2)) $(($(count '' dropped_too_big) - $3))"
sleep 2; say "lost: $(ethtool -S shake0 | sed -n 's/^ *path[12]_lost: //p' | tr '\\n' ' ')"
"""

routes = reported(run, "shake-routes", ROUTES)


def test_a_path_without_a_route_loses_nothing(routes: Told) -> None:
    """What finds none goes by the other path. It is used again when it has one."""
    assert routes["without pinged"] == routes["back pinged"] == "yes"
    assert numbers(routes, "without dropped") == [0]
    assert min(numbers(routes, "back")) >= 2


def test_what_is_dropped_before_it_leaves_is_not_sent(routes: Told) -> None:
    """Path 2's probes had no route. Five packets are 7090 octets; IPv6 may ask for routers."""
    packets, octets, dropped = numbers(routes, "long")
    assert (packets <= 1, octets <= 100, dropped) == (True, True, 5)
    assert numbers(routes, "lost")[0] == 0
