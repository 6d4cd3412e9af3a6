# SPDX-License-Identifier: GPL-2.0
"""The scenario multipath with direction=down, where the correspondent sends to the leader."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from apogee_lab.scenarios import bundles
from tests.unit.lab.raw_folders import compute, fill, meta, qdisc, write
from tests.unit.lab.stand_ins import planned, sends, shell_errors

compiled = partial(planned, "multipath", "cubic", duration_s=100.0)
LOSSES = {"loss1": "1%", "loss": "2%", "ack_loss": "3%"}


@pytest.mark.parametrize("via", bundles.VIAS[:6])
def test_the_correspondent_sends_over_the_same_links(via: str) -> None:
    """Limits, rates and delays are those of uploads; losses are the data's, so of the other way."""
    up, down = (compiled(via=via, direction=way, **LOSSES) for way in ("up", "down"))
    assert compiled(via=via, **LOSSES) == up
    assert shell_errors(down.script) == ""
    assert (down.sender_ns, down.receiver_ns) == ("cn", "al") == (up.receiver_ns, up.sender_ns)
    assert [(f.netns, f.receiver_ns) for f in down.flows] == [("cn", "al")]
    assert (down.rate_bps, down.limit_bps) == (up.rate_bps, up.limit_bps)
    for one, other in zip(down.paths, up.paths, strict=True):
        dev = other.bottleneck[1]
        assert (one.bottleneck, one.delay_s) == (("ha", dev), other.delay_s)
        assert (one.data_links, one.ack_links) == (other.ack_links, other.data_links)
        assert f'tc -n ha -s -j -batch - >"$OUT/queue-{one.name}.jsonl"' in down.script
    for dev, loss in (("to-modem", 1), ("to-ha", 3)):
        assert f"tc -n net1 qdisc add dev {dev} root netem delay 150000us loss {loss}%" in (
            down.script
        )


def test_addresses_of_the_leader() -> None:
    """In the tunnel, or on its first path; in the end the correspondent answers no late ACKs."""
    for via, address in (("shake", "10.0.50.1"), ("bonding", "10.0.50.1"), ("plain", "10.0.11.1"),
                         ("mptcp", "10.0.11.1"), ("path2", "10.0.50.1")):  # fmt: skip
        text = compiled(via=via, direction="down").script
        (call,) = sends(text)
        assert call[:6] == ("flow1", "cn", 0, "cubic", address, 5201), via
        assert text.count(" link set to-ha down\n") == 1 and "ip -n cn link set to-ha down" in text
        assert "to-am2 down" not in text and "to-modem down" not in text
    assert sends(compiled(direction="down", ipv6="1").script)[0][4] == "fd00:50::1"


def test_the_leader_has_the_window_and_tells_its_addresses() -> None:
    def routes(text: str) -> list[str]:
        return [line for line in text.splitlines() if " window " in line]

    assert len(routes(compiled(window="20").script)) == 1
    for via, count, payload in (("shake", 1, 1392), ("plain", 1, 1448), ("mptcp", 3, 1448)):
        found = routes(compiled(via=via, direction="down", window="20").script)
        assert len(found) == count and all(line.startswith("ip -n al route") for line in found)
        assert all(line.endswith(f" window {20 * payload}") for line in found)
    text = compiled(via="mptcp", direction="down").script
    assert "endpoint add 10.0.12.1 dev to-am2 signal\n" in text
    assert text.count(" limits set subflow 8 add_addr_accepted 8\n") == 2


def test_the_udp_flow_goes_to_the_member() -> None:
    text = compiled(direction="down", cbr="128kbit").script
    assert "ip netns exec am2 flow sink 5101 " in text
    assert "ip netns exec cn flow datagrams 10.0.22.1 5101 972 " in text


@pytest.mark.parametrize("texts", [{"reorder": "5ms"}, {"offloads": "1"}])
def test_what_has_no_place_is_refused(texts: dict[str, str]) -> None:
    compiled(**texts)
    with pytest.raises(ValueError, match="leave out direction=down"):
        compiled(direction="down", **texts)


def test_a_smaller_mtu_is_behind_the_agent() -> None:
    """The agent, or the correspondent behind it, hears of it by the long links."""
    text = compiled(direction="down", mid_mtu="1400", icmp="0").script
    assert "ip -n net1 link set to-modem mtu 1400\n" in text
    assert "ip -n net2 link set to-am2 mtu 1400\n" in text
    assert text.count(" action drop\n") == 2 and text.count("tc -n ha -batch") == 2


def test_the_record(tmp_path: Path) -> None:
    """Queue and losses are those towards the leader; SHAKE's queue there holds ACKs."""
    plan = compiled(duration_s=10.0, direction="down", rate="12mbit", via="path1")
    write(tmp_path)

    def row(dev: str, kind: str, drops: int, packets: int = 0) -> dict[str, object]:
        more = {"root": True, "packets": packets, "bytes": 1514 * packets, "backlog": 0}
        return qdisc(dev, drops, kind, **more)

    counters = "NIC statistics:\n     path1_lost: 3\n"
    files = {
        "shake-al.txt": counters,
        "shake-ha.txt": counters,
        "qdisc-al.json": [row("shake0", "pfifo_fast", 9, 700)],
        "qdisc-ha.json": [row("to-net1", "tbf", 2, 500)],
        "qdisc-modem.json": [row("to-net1", "tbf", 1, 300)],
        "qdisc-net1.json": [row("to-modem", "netem", 3), row("to-ha", "netem", 4)],
        "nstat-al.json": {"kernel": {"TcpExtDelayedACKLost": 6}},
        "nstat-cn.json": {"kernel": {"TcpExtTCPTimeouts": 2}},
    }
    fill(tmp_path, files)
    record = compute(tmp_path, meta(**plan.facts() | {"scenario": "multipath"}))
    assert record["long_links"] == [
        {"name": "path1", "frames": 500, "bytes": 500 * 1514, "queue_drops": 2, "lost": 3,
         "back_lost": 5},
    ]  # fmt: skip
    assert (record["losses"], record["shake_queue"]["drops"]) == (5, 9)
    assert (record["twice"]["below"], record["needless_retransmits"]) == (6, 6)
    assert record["flows"][0]["timeouts"] == 2
