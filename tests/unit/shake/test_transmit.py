# SPDX-License-Identifier: GPL-2.0
"""transmit.c, choose.c and send.c of shake/, of which no part runs in user space: what their text
must not do.
"""

from __future__ import annotations

import re

from tests import ROOT

#: A function's name and its text, from one that begins in the first column to the next.
TEXT = "".join((ROOT / f"shake/{name}.c").read_text() for name in ("transmit", "choose", "send"))
FUNCTION = re.compile(r"^[a-z][\w \t*]*?\b(\w+)\([^;{]*\)\n\{\n(.*?)^\}", re.M | re.S)


def test_a_paths_mtu_is_read_once_per_decision() -> None:
    """A registration sets it to 0 on another CPU: who reads it after shake_find_route() may
    tell a sender by ICMP that its MTU is 0. What a packet is compared with is the route's own."""
    functions = {name: body for name, body in FUNCTION.findall(TEXT) if "path->mtu" in body}
    assert set(functions) == {
        "fits", "shake_narrowest", "shake_widest", "shake_find_route", "find_route",
    }  # fmt: skip
    assert functions["fits"].count("path->mtu") == 1
    assert functions["shake_narrowest"].count("path->mtu") == 1
    assert functions["shake_widest"].count("READ_ONCE(path->mtu)") == 1
    assert "READ_ONCE(path->mtu)" in functions["fits"]
    assert functions["find_route"].count("READ_ONCE(way->path->mtu)") == 1
    assert "WRITE_ONCE(way->path->mtu, route->mtu)" in functions["shake_find_route"]


def test_each_packet_that_is_dropped_is_counted_by_the_device() -> None:
    """Also one that has no memory for its segments. A copy is not the device's packet."""
    droppers = {name: body for name, body in FUNCTION.findall(TEXT) if "\tkfree_skb(" in body}
    assert set(droppers) == {
        "send_packet", "send_segments", "send_piece", "shake_start_xmit", "shake_send_again",
    }  # fmt: skip
    for name, body in droppers.items():
        if name != "shake_send_again":
            assert body.count("dev_core_stats_tx_dropped_inc(") == body.count("\tkfree_skb("), name


def test_a_flows_end_follows_what_is_held_back() -> None:
    """A short packet of TCP with data or FIN; not an ACK, and not one whose flow has nothing there
    (shake_held_has(), test_waiting.py)."""
    body = dict(FUNCTION.findall(TEXT))["has_to_wait"]
    short = body[body.index("SHAKE_SMALL)") :].split(";")[0]
    assert "segment.seq != parcel->segment.end" in short and "shake_held_has(" in short
