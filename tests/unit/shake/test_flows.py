# SPDX-License-Identifier: GPL-2.0
"""Tables of flows, shake/flows.c, in user space: which flow a packet belongs to, and bounds on
number, holes and age, also when there is no memory.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.unit.shake.flows_core import (
    ACK,
    AUTO,
    DROP,
    ECE,
    PASS,
    RETRANSMIT,
    RST,
    SYN,
    TDAR,
    Flows,
    Packet,
    library,
)

LEADER = Packet(data=b"x" * 1000)
V6 = replace(LEADER, source="2001:db8::1", destination="2001:db8::9")
FLOWS_MAX, HOLES_MAX, AGE = 1024, 16384, 600 * 10**6


@pytest.fixture
def flows() -> Iterator[Flows]:
    with Flows() as table:
        assert table.made
        yield table


def syn(packet: Packet) -> Packet:
    return replace(packet, flags=SYN, data=b"", seq=packet.seq - 1)


def at(packet: Packet, number: int) -> Packet:
    """seg#number, from 0."""
    return replace(packet, seq=1000 + 1000 * number)


def hole(flows: Flows, packet: Packet = LEADER) -> Packet:
    """seg#1 is missing; the correspondent's ACK that has been seen once."""
    flows.library.shake_flows_path_alive(flows.table, 2)
    flows.arrived(syn(packet), 1)
    flows.arrived(at(packet, 0), 1, 1000)
    flows.arrived(at(packet, 2), 1, 2000)
    ack = packet.back(ack=2000, seq=1)
    assert flows.ack(ack) == PASS
    return ack


@pytest.mark.parametrize("packet", [LEADER, V6], ids=["IPv4", "IPv6"])
def test_an_agent_drops_duplicates_of_the_flow(flows: Flows, packet: Packet) -> None:
    ack = hole(flows, packet)
    assert [flows.ack(ack) for _ in range(7)] == [DROP] * 5 + [RETRANSMIT, PASS]
    assert (flows.counts.dropped_undecided, flows.counts.forced, flows.counts.holes) == (5, 1, 1)


def lost(flows: Flows, *, kept: bool) -> Packet:
    """seg#1 was sent by path 2 and proves to be lost at 1 s; the correspondent's ACK."""
    ack = hole(flows)
    flows.now = 10**6
    flows.arrived(at(LEADER, 3), 2, 3000, kept=kept)
    assert flows.counts.holes_lost == 1
    return ack


def test_a_copy_is_waited_for(flows: Flows) -> None:
    """Two seconds at first, whatever the number of duplicates."""
    ack = lost(flows, kept=True)
    for now in range(10**6, 3 * 10**6, 10**5):
        flows.now = now
        assert flows.ack(ack, AUTO) == DROP
    flows.now = 3 * 10**6
    assert [flows.ack(ack, AUTO) for _ in range(2)] == [RETRANSMIT, PASS]
    assert (flows.counts.dropped_mending, flows.counts.repaired) == (20, 1)


def test_without_copies_what_is_lost_is_asked_for_at_once(flows: Flows) -> None:
    ack = lost(flows, kept=False)
    assert flows.ack(ack, AUTO) == RETRANSMIT


def test_a_copy_mends_the_hole(flows: Flows) -> None:
    lost(flows, kept=True)
    flows.now = 1_300_000
    flows.arrived(at(LEADER, 1), 2, 2000, kept=True)
    assert (flows.counts.holes_mended, flows.counts.holes_late) == (1, 0)


def test_copies_of_a_dead_path_do_not_come(flows: Flows) -> None:
    ack = hole(flows)
    flows.arrived(at(LEADER, 3), 1, 3000, kept=True)
    flows.library.shake_flows_path_lost(flows.table, 2)
    assert flows.counts.holes_lost == 1
    assert flows.ack(ack, AUTO) == RETRANSMIT


# --- slow start -----------------------------------------------------------------------------------


def opened(flows: Flows, packet: Packet = LEADER) -> Packet:
    """A flow has sent 100 segments; an ACK of the first."""
    flows.sending(syn(packet), 1)
    for number in range(100):
        flows.sending(at(packet, number), 1 + number % 2)
    assert flows.table.opening == 1
    return packet.back(ack=2000, seq=1)


@pytest.mark.parametrize("packet", [LEADER, V6], ids=["IPv4", "IPv6"])
def test_a_slow_start_does_without_most_acks(flows: Flows, packet: Packet) -> None:
    ack = opened(flows, packet)
    passes = [flows.passes(replace(ack, ack=1000 + 1000 * n)) for n in range(1, 101)]
    assert passes[-1] and passes.index(True) == 16
    assert flows.counts.dropped_opening == 100 - sum(passes) > 60
    flows.sending(replace(packet, seq=101_000, flags=RST, data=b""), 1)
    assert (flows.count, flows.table.opening) == (0, 0)


@pytest.mark.parametrize("ends", ["told", "sated", "again"])
def test_all_acks_pass_from_then_on(flows: Flows, ends: str) -> None:
    """TCP is told of losses or congestion, its window is large enough, or it sends again."""
    ack = opened(flows)
    assert not flows.passes(ack)
    if ends == "sated":
        flows.table.sated = True
    elif ends == "again":
        flows.sending(at(LEADER, 3), 1)
    assert flows.passes(replace(ack, ack=3000), all_of_them=ends == "told")
    assert flows.table.opening == 0
    assert all(flows.passes(replace(ack, ack=1000 * n)) for n in range(4, 100))


def test_others_do_not_open_with_it(flows: Flows) -> None:
    """What an agent holds back of them is dropped as ever."""
    ack, other = opened(flows), replace(LEADER, ports=(40001, 80))
    flows.sending(at(other, 0), 1)
    assert flows.opens(LEADER) and not flows.opens(other)
    flows.passes(ack, all_of_them=True)
    assert not flows.opens(LEADER)


def test_acks_are_timed(flows: Flows) -> None:
    """Of the flow that they are for, as often as one is: RFC 6298's first estimate."""
    flows.now = 1
    flows.sending(at(LEADER, 0), 1)
    flows.now += 300_000
    flows.sending(at(LEADER, 1), 1)
    ack = LEADER.back(ack=2000)
    assert flows.timed(replace(ack, ports=(80, 40001))) == flows.timed(replace(ack, ack=1999)) == 0
    assert flows.table.timed == 1
    assert flows.timed(replace(ack, data=b"answer")) == 900_000
    assert flows.table.timed == 0
    flows.now += 10**6
    assert flows.timed(replace(ack, ack=3000)) == 900_000


SACKED = bytes([1, 1, 5, 10]) + (1500).to_bytes(4, "big") + (2000).to_bytes(4, "big")


def test_acks_of_near_paths_wait(flows: Flows) -> None:
    """And the handshake's, also with what comes along. Answers do not, nor anything unasked."""
    flows.now, ack = 10**6, LEADER.back(ack=1000)
    flows.sending(syn(LEADER), 1)
    flows.now += 40_000
    assert flows.rest(replace(ack, flags=SYN | ACK)) == 0
    flows.table.trip = 320_000
    flows.sending(syn(LEADER), 1)
    flows.now += 40_000
    assert flows.rest(replace(ack, flags=SYN | ACK)) == 280_000
    assert flows.rest(replace(ack, data=b"request")) == flows.rest(ack) == 280_000
    flows.sending(at(LEADER, 0), 1)
    flows.now += 40_000
    assert flows.rest(replace(ack, ack=2000)) == 280_000
    assert flows.rest(replace(ack, ack=1, options=SACKED)) == 280_000
    assert flows.rest(replace(ack, ack=2000, data=b"answer")) == 0
    assert flows.rest(replace(ack, ack=2000, flags=RST | ACK)) == 0
    assert flows.rest(replace(ack, ack=2000, ports=(80, 40001))) == 0
    flows.sending(at(LEADER, 0), 1)
    flows.now += 100_000
    assert flows.rest(replace(ack, ack=2000)) == 220_000


def test_what_is_sent_again_for_an_mtu_ends_nothing(flows: Flows) -> None:
    opened(flows)
    flows.now = 1
    flows.library.shake_flows_told(flows.table, flows.now)
    flows.sending(at(LEADER, 3), 1)
    assert flows.opens(LEADER)
    flows.now += 2_000_001
    flows.sending(at(LEADER, 3), 1)
    assert not flows.opens(LEADER)


def test_a_flow_that_had_begun_before_needs_all_acks(flows: Flows) -> None:
    for number in range(100):
        flows.sending(at(LEADER, number), 1)
    assert flows.passes(LEADER.back(ack=2000, seq=1)) and flows.table.opening == 0


def test_modes(flows: Flows) -> None:
    ack = hole(flows)
    assert [flows.ack(ack, TDAR, 1) for _ in range(4)] == [PASS, PASS, DROP, RETRANSMIT]
    assert flows.counts.relayed == 2
    assert flows.ack(ack, AUTO) == PASS


@pytest.mark.parametrize(
    "change",
    [
        {"ports": (81, 40000)},
        {"ports": (80, 40001)},
        {"source": "192.0.2.8"},
        {"destination": "10.0.0.2"},
        {"flags": ACK | ECE},
        {"window": 501},
        {"data": b"x"},
    ],
)
def test_other_packets_pass(flows: Flows, change: dict[str, object]) -> None:
    ack = hole(flows)
    assert flows.ack(replace(ack, **change)) == PASS  # type: ignore[arg-type]
    assert flows.counts.dropped_undecided == 0


def test_acks_make_no_flows(flows: Flows) -> None:
    assert flows.ack(LEADER.back()) == PASS
    flows.arrived(replace(LEADER, data=b""), 1)
    assert flows.count == 0


def test_a_path_that_is_lost(flows: Flows) -> None:
    ack = hole(flows)
    assert flows.ack(ack) == DROP
    flows.library.shake_flows_path_lost(flows.table, 2)
    assert [flows.ack(ack), flows.ack(ack)] == [RETRANSMIT, PASS]
    assert flows.counts.repaired == 1


def test_with_one_path_alive_nothing_is_late(flows: Flows) -> None:
    flows.arrived(syn(LEADER), 1)
    flows.arrived(at(LEADER, 0), 1, 1000)
    flows.arrived(at(LEADER, 2), 1, 2000)
    assert [flows.ack(LEADER.back(ack=2000)) for _ in range(9)] == [PASS] * 9
    assert flows.counts.holes_lost == 1


@pytest.mark.parametrize("path", [0, 9, 255])
def test_paths_out_of_range(flows: Flows, path: int) -> None:
    flows.arrived(LEADER, path)
    assert flows.sending(LEADER, path) is None
    flows.library.shake_flows_path_alive(flows.table, path)
    flows.library.shake_flows_path_lost(flows.table, path)
    assert flows.count == 0


@pytest.mark.parametrize("whose", ["leader", "correspondent"])
def test_a_reset_ends_the_flow(flows: Flows, whose: str) -> None:
    ack = hole(flows)
    if whose == "leader":
        flows.arrived(replace(LEADER, flags=RST, data=b""), 1)
    else:
        assert flows.ack(replace(ack, flags=ACK | RST)) == PASS
    assert flows.count == 0


def test_a_leader_tells_m_al(flows: Flows) -> None:
    assert flows.sending(syn(LEADER), 1) is None
    assert flows.sending(at(LEADER, 0), 1) == 1000
    assert flows.sending(at(LEADER, 1), 2) == 1000
    assert flows.sending(at(LEADER, 2), 1) == 2000
    assert flows.sending(replace(LEADER, ports=(1, 2)), 1) is None
    assert flows.sending(replace(LEADER, data=b""), 1) is None
    assert flows.count == 2


def test_a_leader_tells_of_a_gap(flows: Flows) -> None:
    flows.sending(syn(LEADER), 1)
    sent = [flows.sending(at(LEADER, number), path) for number, path in ((0, 1), (3, 2), (4, 1))]
    assert sent == [1000, 2000, 2000]


def test_the_flow_used_longest_ago_is_evicted(flows: Flows) -> None:
    first, second = (replace(LEADER, ports=(port, 80)) for port in (1, 2))
    for port in range(1, FLOWS_MAX + 1):
        flows.sending(replace(LEADER, ports=(port, 80)), 1)
    assert flows.sending(at(first, 1), 1) == 2000
    flows.sending(replace(LEADER, ports=(9999, 80)), 1)
    assert (flows.count, flows.counts.evicted) == (FLOWS_MAX, 1)
    assert flows.sending(at(first, 2), 1) == 3000
    assert flows.sending(at(second, 1), 1) is None


def test_old_flows_expire(flows: Flows) -> None:
    flows.sending(LEADER, 1)
    flows.now = AGE - 1
    flows.sending(replace(LEADER, ports=(1, 2)), 1)
    assert flows.count == 2
    flows.now = AGE
    flows.ack(LEADER.back())
    assert (flows.count, flows.counts.expired) == (1, 1)


def gaps(flows: Flows, packet: Packet, count: int) -> None:
    for number in range(0, 2 * count, 2):
        flows.arrived(at(packet, number), 1, 1000 + max(1000 * (number - 1), 0))


def test_room_for_holes_grows_up_to_a_bound(flows: Flows) -> None:
    flows.library.shake_flows_path_alive(flows.table, 2)
    gaps(flows, LEADER, 400)
    assert flows.holes == 256
    assert flows.counts.holes_refused == 399 - 256
    flows.arrived(replace(LEADER, flags=RST, data=b""), 1)
    assert flows.holes == 0


def test_all_holes_of_a_table_are_bounded(flows: Flows) -> None:
    flows.library.shake_flows_path_alive(flows.table, 2)
    for port in range(1, 80):
        gaps(flows, replace(LEADER, ports=(port, 80)), 258)
    assert flows.holes <= HOLES_MAX
    assert flows.holes > HOLES_MAX - 256
    assert flows.counts.holes_refused > 0


def test_without_memory_acks_pass(flows: Flows) -> None:
    flows.library.slab_refuse(True)
    flows.arrived(LEADER, 1)
    assert (flows.count, flows.counts.refused) == (0, 1)
    flows.library.slab_refuse(False)
    hole(flows)
    flows.library.slab_refuse(True)
    gaps(flows, LEADER, 30)
    assert flows.counts.holes_refused > 0
    assert flows.ack(LEADER.back(ack=58000, seq=1)) == PASS
    assert [flows.ack(LEADER.back(ack=58000, seq=1)) for _ in range(9)] == [PASS] * 9


def test_a_table_that_cannot_be_made() -> None:
    library().slab_refuse(True)
    with Flows() as table:  # it may be freed all the same
        assert not table.made


# --- in order -------------------------------------------------------------------------------------


def comes(
    flows: Flows, number: int, path: int = 1, m_al: int | None = None, **how: int
) -> list[int]:
    """seg#number arrives with M_AL, that of all before by default; those that go on."""
    packet = at(LEADER, number)
    flows.arrived(packet, path, packet.seq if m_al is None else m_al)
    return flows.order(packet, number, **how)


def waiting(flows: Flows, last: int) -> None:
    """seg#1 is on its way by path 2, what comes behind it waits."""
    flows.library.shake_flows_path_alive(flows.table, 2)
    flows.arrived(syn(LEADER), 1)
    assert comes(flows, 0, m_al=1000) == [0]
    for number in range(2, last + 1):
        assert comes(flows, number, m_al=1000 + 1000 * (number - 1 if number > 2 else 1)) == []
    assert flows.table.early == last - 1


def test_data_waits_for_what_is_late(flows: Flows) -> None:
    waiting(flows, 5)
    assert flows.due is not None and flows.due > flows.now
    assert comes(flows, 1, 2, 1000) == [1, 2, 3, 4, 5]
    assert (flows.table.early, flows.due) == (0, None)


def test_what_waits_is_in_order_whatever_came_first(flows: Flows) -> None:
    """What a sender that is not honest chooses, too."""
    flows.library.shake_flows_path_alive(flows.table, 2)
    flows.arrived(syn(LEADER), 1)
    assert comes(flows, 0, m_al=1000) == [0]
    numbers = list(range(2, 900))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        assert comes(flows, number, m_al=1000) == []
    assert comes(flows, 1, 2, 1000) == list(range(1, 900))


def test_data_does_not_wait_for_ever(flows: Flows) -> None:
    waiting(flows, 5)
    assert flows.due is not None
    assert flows.looked_at() == []
    flows.now = flows.due
    assert flows.looked_at() == [2, 3, 4, 5]
    assert flows.due is None


def test_what_was_dropped_in_front_of_the_leader_is_not_waited_for(flows: Flows) -> None:
    """However late others were, and though a path is silent that might bring it."""
    waiting(flows, 5)
    flows.now = 400_000
    assert comes(flows, 1, 2, 1000) == [1, 2, 3, 4, 5]
    flows.arrived(at(LEADER, 8), 1, 7000, kept=True, gap=True)
    assert (flows.order(at(LEADER, 8), 8), flows.due) == ([8], None)
    assert comes(flows, 9) == [9]


def test_a_new_connection_lets_go_what_waits(flows: Flows) -> None:
    """A SYN of the same ports has another number, to which the old ones have no relation."""
    waiting(flows, 5)
    anew = replace(LEADER, seq=3_000_000_000)
    flows.arrived(syn(anew), 1)
    flows.arrived(anew, 1, anew.seq)
    assert sorted(flows.order(anew, 100) + flows.looked_at()) == [2, 3, 4, 5, 100]
    assert flows.table.early == 0


@pytest.mark.parametrize("way", ["arrived", "ack"])
def test_a_reset_discards_nothing(flows: Flows, way: str) -> None:
    """Nobody has checked its number, and anybody may have forged it."""
    waiting(flows, 5)
    reset = replace(LEADER, flags=RST, seq=77, data=b"")
    if way == "arrived":
        flows.arrived(reset, 1)
    else:
        flows.ack(reset.back(flags=RST))
    assert flows.table.early == 4
    assert comes(flows, 1, 2, 1000) == [1, 2, 3, 4, 5]


def test_a_path_that_goes_is_not_waited_for(flows: Flows) -> None:
    waiting(flows, 5)
    flows.library.shake_flows_path_lost(flows.table, 2)
    assert flows.looked_at() == [2, 3, 4, 5]


def test_what_waited_goes_on_in_portions(flows: Flows) -> None:
    """As far as there is room; what comes next does not overtake it."""
    waiting(flows, 9)
    assert comes(flows, 1, 2, 1000, room=3) == [1, 2, 3, 4]
    assert flows.due == flows.now + 1
    assert comes(flows, 10, room=0) == []
    assert flows.looked_at(room=2) == [5, 6]
    assert flows.due == flows.now + 1
    assert comes(flows, 11, room=2) == [7, 8]
    assert flows.looked_at() == [9, 10, 11]
    assert (flows.table.early, flows.due) == (0, None)


def test_a_flow_that_may_not_wait_goes_on_without_room(flows: Flows) -> None:
    waiting(flows, 4097)
    assert comes(flows, 4098, m_al=4_098_000, room=0) == [2]
    assert flows.table.early == 4096


def test_peers_that_fill_what_there_is_leave_a_few_to_each(flows: Flows) -> None:
    """16384 packets of a device, and 64 of a peer."""
    flows.waiting.value = 16384
    waiting(flows, 65)
    assert comes(flows, 66, m_al=66_000, room=0) == [2]
    assert comes(flows, 67, m_al=67_000) == list(range(3, 68))
    flows.waiting.value -= 16384


def again(flows: Flows, number: int, m_al: int) -> list[int]:
    """TCP sends seg#number again; those that go on."""
    packet = at(LEADER, number)
    flows.arrived(packet, 1, m_al)
    return flows.order(packet, number, behind=m_al)


def test_forged_segments_do_not_keep_what_is_sent_again_for_ever(flows: Flows) -> None:
    """Who knows a flow's ports sends numbers far ahead, which nobody has checked: all that TCP
    sends is before the highest, as if it was sent again, and there is always a new hole."""
    flows.library.shake_flows_path_alive(flows.table, 2)
    flows.arrived(syn(LEADER), 1)
    assert comes(flows, 0, m_al=1000) == [0]
    came: list[int] = []
    for step in range(1, 50):
        flows.now += 100_000
        came += comes(flows, 10_000 * step, m_al=1000 * step)
        came += again(flows, step, 1000 + 1000 * (10_000 * step + 1))
    data = [number for number in came if number < 10_000]
    assert data == list(range(1, len(data) + 1))
    assert len(data) >= 25  # none waits for more than two times a second
    assert flows.due is not None and flows.due - flows.now <= 1_000_000


def test_m_al_that_cannot_be_right_is_none(flows: Flows) -> None:
    waiting(flows, 5)
    assert again(flows, 0, (1000 + 2**31 - 1) % 2**32) == [0]
    assert flows.table.early == 4


def test_a_flow_whose_acks_bring_data_opens_no_longer_when_paths_are_full(flows: Flows) -> None:
    opened(flows)
    flows.table.sated = True
    back = replace(LEADER.back(ack=50_000, seq=1), data=b"x" * 1000)
    flows.arrived(back, 1)
    assert not flows.opens(LEADER)
