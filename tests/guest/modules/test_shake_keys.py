# SPDX-License-Identifier: GPL-2.0
"""Keys of shake's sessions: public ones, how long they live, and who asks for new ones."""

from __future__ import annotations

import random
from base64 import b64encode
from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported
from tests.guest.modules.shake_pair import missed
from tests.guest.modules.shake_pair import run as run_pair
from tests.guest.modules.test_shake_trust import MORE, number
from tests.guest.runs import compiled
from tests.unit.shake import noise

pytestmark = pytest.mark.guest

SECRETS = {name: bytes([at]) * 32 for at, name in enumerate(("agent", "one", "two", "three"), 1)}
PUBLIC = {name: b64encode(noise.public(secret)).decode() for name, secret in SECRETS.items()}

#: Files with private keys; both ends with public keys only. Leader `lb` has number 2.
KEYS = "".join(
    f"echo {b64encode(secret).decode()} >/tmp/{name}\n" for name, secret in SECRETS.items()
) + (
    f"""
chmod 600 /tmp/agent /tmp/one /tmp/two /tmp/three
agent_by_keys() {{ key= agent_up private-key /tmp/agent
	ip -n ha link set shake0 type shake peer 1 public-key {PUBLIC["one"]}; }}
leader_by_keys() {{ key= leader_up private-key ${{1-/tmp/one}}
	ip link set shake0 type shake peer 1 public-key ${{2-{PUBLIC["agent"]}}}; paths; }}
second_by_keys() {{ ip -n ha link set shake0 type shake peer 2 public-key {PUBLIC["two"]}
	ip -n ha link set shake0 type shake peer 2 allow 10.7.0.2
	ip -n lb link add shake0 type shake role leader id 2 private-key /tmp/two
	ip -n lb link set shake0 type shake peer 2 public-key {PUBLIC["agent"]}
	ip -n lb link set shake0 up
	for n in 1 2; do ip -n lb link set shake0 type shake path $n dev up$n remote 10.2.$n.2; done; }}
"""
)


def run(script: str, engine: str, out: Path, root: Path, **files: bytes) -> Told:
    """Run a script on MORE and KEYS in a guest, with files below /lib; its report."""
    given = {f"lib/{name}": path for name, path in files.items()}
    given |= {"bin/shake_forge": compiled(root / "tests/guest/modules/shake_forge.c")}
    return run_pair(MORE + KEYS + script, engine, out, root, files=given)


# --- public keys ------------------------------------------------------------------------------

#: The clock goes back by an hour while the leader begins anew.
PAIRS = f"""
lines; agent_by_keys; leader_by_keys; ready first; inside 10.3.0.2; pinged first 10.3.0.2
ip -d link show shake0 >$OUT/shown; ip -n ha -d link show shake0 >>$OUT/shown
at; ip link del shake0; leader_by_keys /tmp/three; sleep 3; since stranger
say "stranger alive: $(alive)"
ip link del shake0; leader_by_keys /tmp/one {PUBLIC["three"]}; sleep 3; since agentless
say "agentless alive: $(alive)"
ip link del shake0; date -s @$(($(date +%s) - 3600)) >/dev/null
leader_by_keys; ready back; pinged back 10.3.0.2; since back
ip -n ha link del shake0; agent_by_keys; ready again; sleep 4; pinged again 10.3.0.2
at; ip link set shake0 type shake peer 1 key /tmp/two; sleep 3; since keyed
say "keyed alive: $(alive)"
ip -n ha link set shake0 type shake peer 1 key /tmp/two; ready both; pinged both 10.3.0.2
refuse same ip -n ha link set shake0 type shake peer 3 public-key {PUBLIC["one"]}
"""

pairs = reported(run, "shake-pairs", PAIRS)


def test_public_keys_are_enough(pairs: Told) -> None:
    assert number(pairs, "first ready") < 60
    assert pairs["first pinged"] == pairs["again pinged"] == "yes"
    shown = (pairs.out / "shown").read_text()
    for name in ("one", "agent"):
        assert shown.count(f"public-key {PUBLIC[name]} ") == 2
    assert shown.count("encrypt on") == 2


def test_other_public_keys_are_strangers(pairs: Told) -> None:
    """The leader's, and the agent's: the leader's HELLOs have no mac1 for it."""
    assert number(pairs, "stranger dropped_peer") >= 2
    assert number(pairs, "agentless dropped_tag") >= 2
    for case in ("stranger", "agentless"):
        assert number(pairs, f"{case} registered") == number(pairs, f"{case} alive") == 0
    assert "another peer has this public key" in pairs["same refused"]


def test_a_leader_whose_clock_went_back(pairs: Told) -> None:
    assert number(pairs, "back ready") < 200
    assert pairs["back pinged"] == "yes"


def test_a_shared_key_beside_public_ones(pairs: Told) -> None:
    """Both ends need it."""
    assert number(pairs, "keyed registered") == number(pairs, "keyed alive") == 0
    assert number(pairs, "both ready") < 700
    assert pairs["both pinged"] == "yes"


# --- how long keys live -----------------------------------------------------------------------

#: Both paths make new keys after two minutes; then one is cut for longer than keys live.
ROTATE = """
lines; agent_up; leader_up; paths; ready first; sink; at
up ticks 125; tick1=$tick tock1=$tock; down back 125; sleep 96
verified pour 10.3.0.2 5201 1000000000 24 >/dev/null; sleep 5; since rotated
watched; wait $tick1; kill $tock1
say "leader: $(count '' registered) $(count '' dropped_session) $(count '' dropped_tag)"
say "leader path: $(count '' path_died)"
lose 1; sleep 120; say "cut: $(state 1) $(state 2)"
sleep 60; say "gone: $(state 1) $(far_state 1) $(state 2)"
mend 1; sleep 8; say "mended: $(state 1) $(far_state 1)"
"""


def test_keys_rotate_without_loss(build: Path, root: Path) -> None:
    """Datagrams both ways, and a stream beside them."""
    report = run(ROTATE, "uml", build / "tests" / "shake-rotate", root)
    assert number(report, "rotated registered") == 2
    assert numbers(report, "leader") == [4, 0, 0]
    for count in ("dropped_session", "dropped_tag", "dropped_replay"):
        assert number(report, f"rotated {count}") == 0
    assert number(report, "rotated path_died") == number(report, "leader path") == 0
    for ticks in ("ticks", "back"):
        assert missed(report.out / ticks) == (0, 0), ticks
    [(octets, damaged)] = drunk(report.out)
    assert damaged == 0 and octets > 0.8 * 2 * 24 * 4e6 / 8 * 1388 / 1514
    assert report["cut"] == "dead alive"
    assert report["gone"] == "joining joining alive"
    assert report["mended"] == "alive alive"


# --- HELLOs that somebody else makes ------------------------------------------------------------

RATE = 100_000
#: A stream alone, beside HELLOs that are made up, and beside such as who knows the agent's public
#: key can make, each from another address. Another leader comes meanwhile.
FLOODED = f"""
lines; second; PAIR; ip -n ha route add 10.50.0.0/16 via 10.2.1.1
ip -n net1 route add blackhole 10.50.0.0/16; ready first; sink; at
poured() {{ verified pour 10.3.0.2 5201 1000000000 6 >/dev/null; since $1; }}
poured alone
$net1 shake_forge flood far KIND {RATE} 6.5 FILE >$OUT/sent & flood=$!; sleep 0.2
(sleep 0.5; SECOND; second_ready other) & second=$!; poured flooded; wait $flood; wait $second
say "sent: $(cat $OUT/sent)"
"""


def flooded(script: str, name: str, build: Path, root: Path, **files: bytes) -> Told:
    report = run(script, "uml", build / "tests" / name, root, **files)
    (alone, _), (beside, damaged) = drunk(report.out)
    assert damaged == 0
    assert beside > 0.9 * alone
    assert number(report, "sent") == RATE * 6.5
    assert number(report, "other ready") < 500
    return report


@pytest.mark.deep
def test_made_up_hellos(build: Path, root: Path) -> None:
    script = FLOODED.replace("PAIR", "agent_up; second_at_agent; leader_up; paths")
    script = script.replace("KIND", "hello").replace("FILE", "").replace("SECOND;", "second_up;")
    report = flooded(script, "shake-hellos", build, root)
    assert number(report, "flooded dropped_tag") > 5.5 * RATE
    assert number(report, "flooded cookie_sent") == 0


def forged_hellos() -> bytes:
    """256 HELLOs that anybody can make who knows the agent's public key."""
    draw = random.Random(1)
    key = noise.blake2s(b"shake hello", noise.public(SECRETS["agent"]))
    made = []
    for _ in range(256):
        hello = bytes([0x10, draw.randrange(1, 9), 3, 0, 0, 0, 0, 0]) + draw.randbytes(104)
        made.append(hello + noise.mac(key, hello) + bytes(16))
    return b"".join(made)


@pytest.mark.deep
def test_hellos_of_who_knows_the_public_key(build: Path, root: Path) -> None:
    """They have to show where they are from, and cost no multiplication before."""
    script = FLOODED.replace("PAIR", "agent_by_keys; leader_by_keys")
    script = script.replace("KIND", "given").replace("FILE", "/lib/given")
    script = script.replace("SECOND;", "second_by_keys;")
    report = flooded(script, "shake-given", build, root, given=forged_hellos())
    assert number(report, "flooded cookie_sent") > 500
    assert number(report, "flooded dropped_tag") + number(report, "flooded dropped_peer") < 100


# --- the machine sleeps -------------------------------------------------------------------------

#: As far as to where processes are frozen. Waiting there would be computing.
ASLEEP = """
lines; agent_up; leader_up; paths; ready first; at
before="$(count '' registered)"
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo freezer >/sys/power/pm_test; echo freeze >/sys/power/state; say "woken: $?"
ready woken; pinged woken 10.3.0.2; since slept
say "again: $(($(count '' registered) - before)) $(count '' dropped_session)"
"""


@pytest.mark.deep
def test_sessions_end_before_the_machine_sleeps(build: Path, root: Path) -> None:
    """And begin anew when it wakes. Nobody sends in an old one."""
    report = run(ASLEEP, "qemu", build / "tests" / "shake-asleep", root)
    assert report["woken"] == "0"
    assert number(report, "woken ready") < 200
    assert report["woken pinged"] == "yes"
    again, late = numbers(report, "again")
    assert again == 2
    assert late < 10  # what the agent sent before its own ended
    assert number(report, "slept registered") == 2
    assert number(report, "slept path_died") == 2
