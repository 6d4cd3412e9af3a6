# SPDX-License-Identifier: GPL-2.0
"""Whom shake trusts: registration, addresses, inner sources, keys, what can be read."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import run as run_pair
from tests.guest.runs import compiled

pytestmark = pytest.mark.guest

MAL, UNSUMMED = 2, 32  # flags of DATA

#: `at` reports counts of the agent, `since` what they have grown by. Another leader, `lb`, has
#: number 2 and its own two paths by the same routers.
MORE = """
chmod +x /bin/shake_forge
net1="ip netns exec net1"; lb="ip netns exec lb"
at() { $ha ethtool -S shake0 | sed -n 's/^ *\\([a-z_]*\\): /\\1 /p' >/tmp/at; }
since() { cp /tmp/at /tmp/was; at
	while read name n; do read old was <&3; say "$1 $name: $((n - was))"
	done </tmp/at 3</tmp/was; }
remote() { $ha sed -n 's/^peer=1 1 .*remote=\\([^ ]*\\).*/\\1/p' \\
	/sys/class/net/shake0/shake/paths; }
inside() { ping -c 3 -i 0.1 -W 2 "$@" >/dev/null 2>&1 && echo yes || echo no; }
agent_again() { ip -n ha link del shake0; agent_up "$@"; }
leader_again() { ip link del shake0; leader_up "$@"; paths; }
second() { ip netns add lb; for n in 1 2; do
		ip link add up$n netns lb type veth peer name lb netns net$n
		address "-n lb" 10.4.$n.1/24 up$n fd04:$n::1/64
		address "-n net$n" 10.4.$n.2/24 lb fd04:$n::2/64
		ip -n lb route add 10.2.$n.0/24 via 10.4.$n.2
		ip -n ha route add 10.4.$n.0/24 via 10.2.$n.1; done
	ip -n lb link set lo up
	umask 077; od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >/tmp/key2; umask 022; }
second_at_agent() { ip -n ha link set shake0 type shake peer 2 key /tmp/key2 allow 10.7.0.2
	ip -n ha link set shake0 type shake peer 2 allow fd07::2
	ip -n ha route add 10.7.0.2 dev shake0; ip -n ha route add fd07::2 dev shake0; }
second_up() { ip -n lb link add shake0 type shake role leader id 2
	ip -n lb link set shake0 type shake peer 2 key /tmp/key2
	ip -n lb addr add 10.7.0.2/32 dev shake0; ip -n lb addr add fd07::2/128 dev shake0 nodad
	ip -n lb link set shake0 up; ip -n lb route add default dev shake0 src 10.7.0.2
	ip -n lb route add default dev shake0 src fd07::2
	for n in 1 2; do ip -n lb link set shake0 type shake path $n dev up$n remote 10.2.$n.2; done; }
second_alive() { $lb cat /sys/class/net/shake0/shake/paths | grep -c state=alive; }
second_ready() { n=0; until [ $(second_alive) -ge 2 ]; do n=$((n + 1)); [ $n -gt 1000 ] && break
	sleep 0.01; done; say "$1 ready: $n"; }
"""


def run(script: str, engine: str, out: Path, root: Path) -> Told:
    """Run a script on MORE in a guest; its report."""
    forge = compiled(root / "tests/guest/modules/shake_forge.c")
    return run_pair(MORE + script, engine, out, root, files={"bin/shake_forge": forge})


def number(report: dict[str, str], key: str) -> int:
    [value] = numbers(report, key)
    return value


# --- registration -----------------------------------------------------------------------------

REGISTER = """
lines; umask 077; echo 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef >/tmp/other
umask 022; cp /tmp/key /tmp/good
key= agent_up; leader_up; paths; at; sleep 2; since nokey; say "nokey alive: $(alive)"
ip -n ha link set shake0 type shake peer 1 key /tmp/other
sleep 2; since wrong; say "wrong alive: $(alive)"
key= leader_again; sleep 2; since keyless
say "keyless sent: $(count '' hello_sent)"
ip link del shake0; ip link add shake0 type shake role leader id 9
ip link set shake0 type shake peer 9 key /tmp/key; inner; paths; sleep 2; since unknown
say "unknown alive: $(alive)"
ip link del shake0; sleep 0.5; $net1 shake_forge record far 1 1 /tmp/hello &
$net1 shake_forge record far 3 1 /tmp/confirm & sleep 0.1
ip -n ha link set shake0 type shake peer 1 key /tmp/key; leader_up; paths; ready right
since right; say "remote first: $(remote)"
resend() { $net1 shake_forge resend far $1 100 0.5 $2 >/dev/null; sleep 0.2; }
resend /tmp/hello 10.1.1.77; since hello
resend /tmp/confirm 10.1.1.77; since confirm; say "remote confirm: $(remote)"
sleep 11; at; resend /tmp/confirm 10.1.1.77; since late
$net1 shake_forge record far 3 1 /tmp/confirm & sleep 0.1
agent_again; sleep 4; ready restarted; at; resend /tmp/confirm 10.1.1.77; since own
ip -n ha link set shake0 type shake peer 1 off; ip link set shake0 down
ip -n ha link set shake0 type shake peer 1 key /tmp/key
at; resend /tmp/confirm 10.1.1.77; since readded
resend /tmp/hello 10.1.1.77; since asked
agent_again; at; resend /tmp/confirm 10.1.1.77; since instance
resend /tmp/hello 10.1.1.77; since again
ip -n ha link del shake0; ip link del shake0
# of two equal paths RAH may leave one to the other: path 1 is to have the packets
mend 2 4mbit 30ms; agent_up encrypt off; leader_up encrypt off; paths; ready data
ping -i 0.01 -c 500 -q 10.3.0.2 >$OUT/ping & ping=$!
$net1 shake_forge record far 5 100 /tmp/data; at
$net1 shake_forge resend far /tmp/data 1000 3 10.1.1.77 >/dev/null; since data
say "remote data: $(remote)"; wait $ping
sink; $net1 shake_forge record far 5 40 $OUT/clear & record=$!
verified pour 10.3.0.2 5201 400000 10 >/dev/null; wait $record
ip link del shake0; key= leader_up auth off; paths; at; sleep 2; since mixed
say "mixed alive: $(alive)"
key= agent_again auth off; ip -n ha link set shake0 type shake peer 2 allow 10.7.0.2; at
$net1 shake_forge leader 10.2.1.2 4790 2 brief 200 0.5 >/tmp/briefs; sleep 0.2; since brief
say "briefs: $(cat /tmp/briefs)"
"""


registered = reported(run, "shake-register", REGISTER)


def recorded(file: Path) -> list[bytes]:
    """What stands behind UDP in each of shake_forge's frames, over IPv4."""
    size = 8 + 2048
    frames = file.read_bytes()
    lengths = [struct.unpack_from("=i", frames, at)[0] for at in range(0, len(frames), size)]
    return [frames[n * size + 8 + 42 : n * size + 8 + length] for n, length in enumerate(lengths)]


def test_the_tag_stands_in_front_of_the_inner_packet(registered: Told) -> None:
    """And TCP's checksum is what its pseudo-header adds up to, which the head says."""
    packets = recorded(registered.out / "clear")
    assert len(packets) == 40
    full = [packet for packet in packets if len(packet) > 1000]
    assert len(full) > 10
    for packet in full:
        assert packet[1] & 0b100110 == UNSUMMED | MAL
        inner = packet[12 + 16 :]
        assert (inner[0], inner[9]) == (0x45, 6)
        assert len(inner) == int.from_bytes(inner[2:4], "big")
        words = struct.unpack(">4H", inner[12:20])
        total = sum(words) + 6 + len(inner) - 20
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        assert int.from_bytes(inner[36:38], "big") == total


@pytest.mark.parametrize(
    ("case", "cause"), [("nokey", "peer"), ("wrong", "tag"), ("unknown", "peer"), ("mixed", "peer")]
)
def test_who_has_no_right_is_not_registered(registered: Told, case: str, cause: str) -> None:
    assert number(registered, f"{case} dropped_{cause}") >= 2
    assert number(registered, f"{case} registered") == number(registered, f"{case} alive") == 0


def test_a_packet_shorter_than_its_header_is_dropped(registered: Told) -> None:
    """As it says itself; its octets, and its source, are all there."""
    assert number(registered, "brief dropped_inner") == number(registered, "briefs") > 50


def test_a_leader_without_a_key_says_nothing(registered: Told) -> None:
    assert number(registered, "keyless sent") == 0


def test_the_right_key_registers_at_once(registered: Told) -> None:
    assert number(registered, "right registered") == 2
    assert number(registered, "right ready") < 60


def test_a_recorded_hello_changes_nothing(registered: Told) -> None:
    """Of 50, those are answered that are 400 ms apart; the others are counted. By an agent that
    knows nothing of its leader any more, too."""
    for case in ("hello", "asked", "again"):
        answered = number(registered, f"{case} hello_received")
        assert 1 <= answered <= 2, case
        assert number(registered, f"{case} dropped_rate") == 50 - answered, case
        assert number(registered, f"{case} registered") == 0, case
        assert number(registered, f"{case} address_changed") == 0, case


def test_a_recorded_confirm_changes_nothing(registered: Told) -> None:
    for case in ("confirm", "late", "own", "readded", "instance"):
        assert number(registered, f"{case} registered") == 0, case
        assert number(registered, f"{case} address_changed") == 0, case
    assert registered["remote first"] == registered["remote confirm"]
    assert registered["remote first"].startswith("10.1.1.1")
    for case in ("readded", "instance"):
        assert number(registered, f"{case} dropped_session") == 50, case


def test_recorded_data_from_elsewhere_moves_nothing(registered: Told) -> None:
    assert number(registered, "data dropped_replay") == 3000
    assert number(registered, "data address_changed") == 0
    assert registered["remote data"].startswith("10.1.1.1")


#: One recorded HELLO, 20 000 times a second.
AGAIN = """
lines; second; agent_up; second_at_agent
$net1 shake_forge record far 1 1 /tmp/hello & sleep 0.1
leader_up; paths; ready first; ip link set shake0 down; sleep 0.2
at; $net1 shake_forge resend far /tmp/hello 20000 6 >$OUT/sent & flood=$!; sleep 0.2
second_up; second_ready other; inner; ready same; since flood
wait $flood; say "sent: $(cat $OUT/sent)"
"""


def test_leaders_register_under_recorded_hellos(build: Path, root: Path) -> None:
    report = run(AGAIN, "uml", build / "tests" / "shake-again", root)
    assert number(report, "sent") == 120_000
    assert number(report, "other ready") < 200
    assert number(report, "same ready") < 200
    answered = number(report, "flood hello_received")
    assert answered < 0.1 * number(report, "flood dropped_rate")


# --- inside -----------------------------------------------------------------------------------

#: The last peer had prefixes of both families when it was deleted.
INSIDE = """
lines; second; agent_up; second_at_agent; leader_up; paths; second_up; ready first
second_ready second; at
say "inside: $(inside -I 10.7.0.1 10.3.0.2) $(inside -I fd07::1 fd03::2)"
inside2() { $lb ping -c 3 -i 0.1 -W 2 $1 >/dev/null 2>&1 && echo yes || echo no; }
say "inside second: $(inside2 10.3.0.2) $(inside2 fd03::2)"
ip addr add 10.7.0.66/32 dev shake0; ip addr add fd07::66/128 dev shake0 nodad
ip addr add 10.7.0.2/32 dev lo; ip addr add fd07::2/128 dev lo nodad; ip link set lo up
since own
say "foreign: $(inside -I 10.7.0.66 10.3.0.2) $(inside -I 10.7.0.2 10.3.0.2)"; since foreign
say "foreign6: $(inside -I fd07::66 fd03::2) $(inside -I fd07::2 fd03::2)"; since foreign6
ip addr del 10.7.0.2/32 dev lo; ip addr del fd07::2/128 dev lo
ip route add 10.7.0.2 dev shake0 src 10.7.0.1; ip route add fd07::2 dev shake0 src fd07::1
received() { $lb cat /sys/class/net/shake0/statistics/rx_packets; }
sleep 2; at; before=$(received)
say "between: $(inside 10.7.0.2)"; since between
say "between6: $(inside fd07::2)"; since between6
say "between received: $(($(received) - before))"
both() { verified pour 10.3.0.2 5201 1000000000 4 >/dev/null & first=$!
	$lb verified pour 10.3.0.2 5202 1000000000 4 >/dev/null; wait $first; }
$cn verified drink 5201 $OUT/drunk & $cn verified drink 5202 $OUT/drunk2 & sleep 0.1
both; say "alive: $(alive) $(second_alive)"
ip -n ha link set shake0 type shake peer 3 allow 10.50.0.0/24
ip -n ha link set shake0 type shake peer 3 allow fd50::/64
ip -n ha link set shake0 type shake peer 3 off
ip -n ha link set shake0 type shake peer 1 allow 2001:d00::/24
ip addr add 2001:d00::1/128 dev shake0 nodad; ip -n ha route add 2001:d00::/24 dev shake0
say "other: $(inside -I 2001:d00::1 fd03::2)"
ip -n ha link set shake0 type shake peer 1 deny 2001:d00::/24
say "denied: $(inside -I 2001:d00::1 fd03::2)"
for prefix in 10.77.0.0/24 fd77::/64; do
	ip -n ha link set shake0 type shake peer 1 allow $prefix
	ip -n ha route add $prefix dev shake0; ip route add $prefix dev shake0; done
ip -n ha addr add 10.77.0.9/32 dev shake0; ip -n ha addr add fd77::9/128 dev shake0 nodad
at; say "agent: $(inside -I 10.7.0.1 10.77.0.9) $(inside -I fd07::1 fd77::9)"; since agent
say "back: $(inside -I 10.7.0.1 10.77.0.5)"; since back
say "back6: $(inside -I fd07::1 fd77::5)"; since back6
ip -n ha link set shake0 type shake peer 1 allow 0.0.0.0/0
say "all: $(inside -I 10.7.0.1 10.3.0.2) $(inside2 10.3.0.2)"
ip -n ha link set shake0 type shake peer 1 deny 0.0.0.0/0
at; ip -n ha link set shake0 type shake peer 2 off; since removed
say "deleted: $(inside2 10.3.0.2) $(inside -I 10.7.0.1 10.3.0.2)"
"""


inside = reported(run, "shake-inside", INSIDE)


def test_two_leaders_have_two_paths_each(inside: Told) -> None:
    assert inside["inside"] == inside["inside second"] == "yes yes"
    assert inside["alive"] == "2 2"
    [(first, damaged)], [(second, damaged2)] = drunk(inside.out), drunk(inside.out, "drunk2")
    assert damaged == damaged2 == 0
    assert first + second > 0.75 * 4 * 1_000_000
    assert min(first, second) > 400_000


@pytest.mark.parametrize(
    ("case", "pinged", "cause", "count"),
    [
        *((case, "no no", "source", 6) for case in ("foreign", "foreign6")),
        # Neither from leader to leader nor back.
        *((case, "no", "between", 3) for case in ("between", "between6", "back", "back6")),
    ],
)
def test_what_is_not_the_leaders_is_dropped(
    inside: Told, case: str, pinged: str, cause: str, count: int
) -> None:
    assert inside[case] == pinged
    assert number(inside, f"{case} dropped_{cause}") >= count
    assert number(inside, "between received") == 0


def test_counters_of_flows_outlive_their_peer(inside: Told) -> None:
    fallen = [key for key in inside if key.startswith("removed flows_") and number(inside, key) < 0]
    assert fallen == []


def test_a_leader_reaches_the_agent_in_its_own_prefix(inside: Told) -> None:
    assert inside["agent"] == "yes yes"
    assert number(inside, "agent dropped_between") == 0


def test_who_has_all_addresses_sends_anywhere(inside: Told) -> None:
    """All that the other leader sends is for the first, then."""
    assert inside["all"] == "yes no"


def test_prefixes_are_found_after_others_went(inside: Told) -> None:
    assert inside["other"] == "yes"
    assert inside["denied"] == "no"
    assert inside["deleted"] == "no yes"


# --- what can be read and changed on the way ---------------------------------------------------

#: Pings carry the letter E again and again. Bits flip on the way, in the tunnel and behind it.
SECRET = """
lines; agent_up encrypt off; leader_up encrypt off; paths; ready first; sink
# Packets on both paths, those where they could be read: to the agent and back; answers.
seen() { for n in 1 2; do
		ip netns exec net$n shake_forge seek $1 EEEEEEEEEE 2 >/tmp/$1$n & seek="$seek $!"; done; }
sums() { cat /tmp/$1[12] | { a=0; b=0; while read x y; do a=$((a + x)); b=$((b + y)); done
	echo $a $b; }; }
probe() { seek=; seen far; seen near; sleep 0.2
	ping -q -p 45 -c 40 -i 0.03 10.3.0.2 | sed -n 's/.*, \\([0-9]*\\) packets received.*/\\1/p' \\
		>/tmp/answers
	wait $seek; say "$1: $(sums far) $(sums near) $(cat /tmp/answers)"; }
probe clear
ip link set shake0 type shake encrypt on; sleep 3; probe leader
ip link set shake0 type shake encrypt off; sleep 3; probe cleared
ip -n ha link set shake0 type shake encrypt on; sleep 3; probe agent
ip -n ha link set shake0 type shake encrypt off; ip -n ha link set shake0 down
ip -n ha link set shake0 up; ip -n ha route add 10.7.0.1 dev shake0; sleep 3; probe again
flips() { slow 1 4mbit 10ms corrupt $1; slow 2 4mbit 10ms corrupt $1; }
flipped() { at; flips 3%; verified pour 10.3.0.2 5201 1000000000 4 >/dev/null; flips 0%; since $1; }
flipped clear; ip link set shake0 type shake encrypt on; sleep 3; flipped secret
verified drink 5202 $OUT/behind & sleep 0.1
tc -n cn qdisc replace dev e0 root netem corrupt 3%
$cn verified pour 10.7.0.1 5202 1000000000 4 >/dev/null
tc -n cn qdisc del dev e0 root
new_key() { od -An -v -N32 -tx1 /dev/urandom | tr -d ' \\n' >/tmp/key; }
at; verified pour 10.3.0.2 5201 1000000000 8 >/dev/null & pour=$!
for n in 1 2 3; do sleep 1.5; new_key
	ip -n ha link set shake0 type shake peer 1 key /tmp/key; sleep 0.5
	ip link set shake0 type shake peer 1 key /tmp/key; done
wait $pour; since rekeyed; say "rekeyed alive: $(alive)"
key=/sys/class/net/shake0/shake/key
say "mode: $(stat -c %a $key)"; cat $key >$OUT/key 2>$OUT/unreadable
at; unshare -Ur sh -c "echo 1 $(cat /tmp/key) >$key" 2>$OUT/uncapable; sleep 2; since uncapable
dmesg | grep -c 'auth is off' >$OUT/log-keyed
ip -d link show shake0 >$OUT/keyed
ip link del shake0; ip -n ha link del shake0; key= agent_up auth off; key= leader_up auth off
paths; ready open; dmesg | grep -c 'auth is off' >$OUT/log-open
at; flipped open; say "open alive: $(alive)"
"""


secret = reported(run, "shake-secret", SECRET)


@pytest.mark.parametrize("case", ["clear", "leader", "cleared", "agent", "again"])
def test_encrypted_payload_cannot_be_read(secret: Told, case: str) -> None:
    """By the leader, by the agent; without encryption all can be read."""
    up, up_read, down, down_read, answers = numbers(secret, case)
    assert answers == 40
    assert min(up, down) >= 10
    if case in ("leader", "agent"):
        assert up_read == down_read == 0
    else:
        assert min(up_read, down_read) >= 10


def test_flipped_bits_are_noticed(secret: Told) -> None:
    """In the tunnel; behind it those that were flipped before it."""
    for case in ("clear", "secret"):
        assert number(secret, f"{case} dropped_tag") >= 10
    streams = drunk(secret.out) + drunk(secret.out, "behind")
    assert all(octets > 100_000 for octets, _ in streams)
    assert [damaged for _, damaged in streams] == [0] * len(streams)


def test_keys_change_under_load(secret: Told) -> None:
    assert number(secret, "rekeyed registered") >= 6
    assert number(secret, "rekeyed alive") == 2
    octets, damaged = drunk(secret.out)[2]
    assert octets > 2_000_000
    assert damaged == 0


def test_the_key_is_written_by_those_who_may(secret: Told) -> None:
    assert secret["mode"] == "200"
    assert (secret.out / "key").read_text() == ""
    assert "not permitted" in (secret.out / "uncapable").read_text()
    assert number(secret, "uncapable registered") == 0


def test_without_authentication_by_choice_only(secret: Told) -> None:
    """Then flipped bits stop nothing."""
    assert " auth on " in (secret.out / "keyed").read_text()
    assert (secret.out / "log-keyed").read_text() == "0\n"
    assert (secret.out / "log-open").read_text() == "2\n"
    assert number(secret, "open ready") < 1000
    assert number(secret, "open alive") == 2
    assert number(secret, "open dropped_replay") < 10
    assert number(secret, "open path_died") == 0


# --- numbers of sessions -----------------------------------------------------------------------

#: Three agents, one after the other, and a packet to each, `auth off`.
NUMBERS = """
lines; key=
for agent in 1 2 3; do
	agent_up auth off; leader_up auth off; paths; ready $agent
	$net1 shake_forge record far 5 1 $OUT/packet-$agent & packet=$!
	ping -q -i 0.1 -c 10 10.3.0.2 >/dev/null; ping -q -i 0.1 -c 10 -p 00 10.3.0.2 >/dev/null
	wait $packet; ip link del shake0; ip -n ha link del shake0
done
"""


@pytest.mark.deep
def test_an_agent_that_begins_anew_gives_other_numbers(build: Path, root: Path) -> None:
    """Without a key nothing else tells its sessions from those that it had."""
    out = build / "tests" / "shake-numbers"
    run(NUMBERS, "uml", out, root)
    packets = [recorded(out / f"packet-{n}")[0] for n in (1, 2, 3)]
    first, *others = [int.from_bytes(packet[2:4], "big") for packet in packets]
    assert any(abs(first - other) > 16 for other in others)
