# SPDX-License-Identifier: GPL-2.0
"""Packets that shake has to drop, 20 000 each second, beside a stream (engine qemu).

Computing takes time there, and the instructions are counted. Forged packets don't pass the queue
that limits the path's rate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from apogee_lab import modules as built
from apogee_lab.engines import instructions
from apogee_lab.engines.instructions import MARK, Counts
from apogee_lab.guest import plugins
from apogee_lab.kernels import debian
from tests.guest.modules.scripted import Told, counts, drunk
from tests.guest.modules.shake_pair import TOOLS
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.deep]

RATE = 20_000
SECONDS = 2
KERNEL = "bookworm"
#: kB; the most was 456 to 680 in four runs. 40 000 packets that leave 64 octets each are 2500.
MEMORY = 2_000
#: RESETs that an agent may send in each 20 ms.
RESETS = 2

#: What forged packets are counted as by the end that gets them. Random ones may be anything.
TO_AGENT: dict[str, set[str]] = {
    "random": {"truncated", "type", "session", "tag", "replay", "peer"},
    "short": {"truncated"},
    "type": {"type"},
    "session": {"session"},
    "data": {"tag"},
    "ack": {"tag"},
    "probe": {"tag"},
    "cut": {"tag", "truncated"},
    "long": {"tag"},
    "flip": {"tag"},
    "hello": {"tag"},
    "stranger": {"peer"},
    "confirm": {"tag"},
    "replay": {"replay"},
    "reflect": {"tag", "session", "replay", "type"},
}
#: A READY or WELCOME answers nothing that was asked.
TO_LEADER: dict[str, set[str]] = {
    "data": {"tag"},
    "ack": {"tag"},
    "hello": {"stale"},
    "confirm": {"stale"},
    "welcome": {"stale"},
    "ready": {"stale"},
    "replay": {"replay"},
    "reflect": {"tag", "session", "replay", "type"},
}
#: What a registered leader does, and the names of the counts; none: it is taken.
HOSTILE: dict[str, set[str]] = {
    "flows": {"flows_evicted"},
    "holes": {"flows_holes_refused"},
    "mal": {"flows_senseless", "flows_holes_lost", "flows_holes"},
    "reset": set(),
    "inner": {"dropped_inner", "dropped_source"},
    "brief": {"dropped_inner"},
    "source": {"dropped_source"},
    "source6": {"dropped_source"},
    "between": {"dropped_between"},
    "between6": {"dropped_between"},
    "probe": {"ack_sent"},
    "again": {"registered"},
}
#: What both links carry of TCP's data meanwhile. A stream sends more than that: its buffers fill,
#: and how much depends on when its window grew.
CARRIED = 2 * 4e6 / 8 * 1388 / 1514 * SECONDS

#: Packets of a hostile leader that are not dropped for what they are: they have to be few.
REMARKABLE = {"flows": 0.9, "holes": 0.9, "mal": 0.3, "probe": 0.9, "again": 0.01}

START = """
chmod +x /bin/shake_forge
net1="ip netns exec net1"
left() { sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo; }
see() { $ha ethtool -S shake0 >$OUT/$1.agent; ethtool -S shake0 >$OUT/$1.leader; MARK; }
beside() { what=$1; shift; see before-$what
	verified pour 10.3.0.2 5201 1000000000 SECONDS >/dev/null & pour=$!
	"$@" >$OUT/sent-$what & forger=$!
	wait $forger; wait $pour; see after-$what; say "free $what: $(left)"; sleep 0.3; }
flood() { beside $2-$3 $net1 shake_forge flood $1 $3 RATE SECONDS; }
"""

#: Both ends with keys; who forges sits on the first path, behind a link for long packets.
SCRIPT = """
lines; agent_up PORT; ip -n net1 link set far mtu 2000; ip -n ha link set wan1 mtu 2000
leader_up; PATHS; ready first; sink
beside none sleep SECONDS
for kind in AGENT; do flood far agent $kind; done
for kind in LEADER; do flood near leader $kind; done
say "alive: $(alive)"
"""

#: Nobody has keys; leader 2 is a program beside the agent.
OPEN = """
lines; key= agent_up auth off
ip netns add bad; ip link add b0 netns bad type veth peer name bad netns ha
address "-n bad" 10.8.0.1/24 b0 fd08::1/64; address "-n ha" 10.8.0.2/24 bad fd08::2/64
$ha ip link set shake0 type shake peer 2 allow 10.7.0.2
$ha ip link set shake0 type shake peer 2 allow fd07::2
ip -n ha route add blackhole 10.9.0.0/16; ip -n ha route add blackhole fd09::/16
key= leader_up auth off; paths; ready first; sink
beside none sleep SECONDS
for kind in HOSTILE; do
	beside leader-$kind ip netns exec bad shake_forge leader 10.8.0.2 4790 2 $kind RATE SECONDS
done
say "alive: $(alive)"
"""


def inside(counts: Counts) -> int:
    """Instructions in shake and in the ciphers."""
    return sum(
        n
        for (function, module), n in counts.items()
        if module == "shake" or "chacha" in function + module or "poly1305" in function
    )


@dataclass(frozen=True)
class Floods:
    """What was counted before, between and after floods, by name; "none" is the stream alone."""

    out: Path
    counts: Mapping[str, Counts]
    octets: Mapping[str, int]
    damaged: int
    report: Mapping[str, str]

    def grown(self, name: str, end: str) -> dict[str, int]:
        before, after = (counts(self.out / f"{when}-{name}.{end}") for when in ("before", "after"))
        return {key: after[key] - before[key] for key in after}

    def sent(self, name: str) -> int:
        return int((self.out / f"sent-{name}").read_text())

    def fallen(self, name: str) -> int:
        """Free memory after a flood, beside that after the stream alone; kB."""
        return int(self.report["free none"]) - int(self.report[f"free {name}"])

    def cost(self, name: str) -> float:
        """Instructions per packet of a flood, beyond those of the stream alone."""
        more = sum(self.counts[name].values()) - sum(self.counts["none"].values())
        return more / self.sent(name)

    def module_cost(self, name: str) -> float:
        """Those in shake and in the ciphers."""
        return (inside(self.counts[name]) - inside(self.counts["none"])) / self.sent(name)


def counted(script: str, out: Path, root: Path) -> list[Counts]:
    """Run a script on TOOLS: the instructions between its marks."""
    built.build(debian.kernel(KERNEL))
    for word, by in (("MARK", MARK), ("RATE", str(RATE)), ("SECONDS", str(SECONDS))):
        script = script.replace(word, by)
    sources = root / "tests" / "guest" / "modules"
    files = plugins.guest_files() | {
        f"bin/{name}": compiled(sources / f"{name}.c") for name in ("verified", "shake_forge")
    }
    return instructions.counted(
        TOOLS + script, kernel=KERNEL, modules=["shake"], out=out, files=files
    )


def run(script: str, names: list[str], out: Path, root: Path) -> Floods:
    found = counted(script, out, root)
    streams = drunk(out)
    floods = Floods(
        out,
        dict(zip(names, found[1::2], strict=True)),
        dict(zip(names, (octets for octets, _ in streams), strict=True)),
        sum(damaged for _, damaged in streams),
        Told(out),
    )
    shown = {
        name: {
            "goodput": round(floods.octets[name] / floods.octets["none"], 3),
            "cost": round(floods.cost(name)) if name != "none" else 0,
            "memory_kb": floods.fallen(name),
            "inside": round(floods.module_cost(name)) if name != "none" else 0,
        }
        for name in names
    }
    (out / "shown.json").write_text(json.dumps(shown, indent=1))
    return floods


@pytest.fixture(scope="module")
def forged(build: Path, root: Path) -> Floods:
    script = (START + SCRIPT).replace("AGENT", " ".join(TO_AGENT))
    script = script.replace("LEADER", " ".join(TO_LEADER))
    script = script.replace("PATHS", "paths").replace("PORT", "")
    return run(script, ["none", *map("-".join, FORGED)], build / "tests" / "shake-flood", root)


@pytest.fixture(scope="module")
def hostile(build: Path, root: Path) -> Floods:
    script = (START + OPEN).replace("HOSTILE", " ".join(HOSTILE))
    names = ["none", *(f"leader-{k}" for k in HOSTILE)]
    return run(script, names, build / "tests" / "shake-hostile", root)


FORGED = [("agent", kind) for kind in TO_AGENT] + [("leader", kind) for kind in TO_LEADER]


@pytest.mark.parametrize(("end", "kind"), FORGED)
def test_forged_packets_are_counted_and_bounded(forged: Floods, end: str, kind: str) -> None:
    """Each by its cause; what they leave of goodput, what they cost, and memory."""
    causes = (TO_AGENT if end == "agent" else TO_LEADER)[kind]
    name = f"{end}-{kind}"
    grown = forged.grown(name, end)
    assert forged.sent(name) == RATE * SECONDS
    found = sum(grown[f"dropped_{cause}"] for cause in causes)
    assert found >= 0.99 * forged.sent(name), grown
    assert not any(grown[k] for k in ("registered", "address_changed", "path_died")), grown
    assert forged.octets["none"] > 800_000 * SECONDS
    assert forged.octets[name] > 0.85 * CARRIED
    assert forged.cost(name) < 40_000
    assert forged.module_cost(name) < 12_000
    assert forged.fallen(name) < MEMORY


def test_streams_are_whole(forged: Floods, hostile: Floods) -> None:
    assert forged.damaged == hostile.damaged == 0
    assert forged.report["alive"] == hostile.report["alive"] == "2"


def test_few_answers_to_unknown_sessions(forged: Floods) -> None:
    """Two in 20 ms, no more and hardly less: turns that nobody takes are not saved up. At both ends
    of the flood there may be a part of 20 ms."""
    sent = forged.grown("agent-session", "agent")["reset_sent"]
    assert 0.95 * RESETS * 50 * SECONDS < sent <= RESETS * (50 * SECONDS + 2)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_leader_is_bounded(hostile: Floods, kind: str) -> None:
    name = f"leader-{kind}"
    grown = hostile.grown(name, "agent")
    if HOSTILE[kind]:
        share = REMARKABLE.get(kind, 0.99)
        assert sum(grown[count] for count in HOSTILE[kind]) >= share * hostile.sent(name), grown
    assert hostile.octets[name] > 0.85 * CARRIED
    assert hostile.module_cost(name) < 12_000
    assert hostile.fallen(name) < MEMORY


#: The second path ends at its router: the leader probes it, and asks for a new registration.
DEAD = """
lines; agent_up; leader_up; paths; ready first; sleep 2; MARK; sleep 5; MARK
ip -n net2 link set far down; sleep 8; MARK; sleep 5; MARK
say "state: $(state 2)"
"""


def test_a_dead_path_costs_little(build: Path, root: Path) -> None:
    out = build / "tests" / "shake-dead"
    idle, dead = counted(DEAD, out, root)[1::2]
    assert (out / "report").read_text().splitlines()[-1] == "state: dead"
    assert inside(dead) - inside(idle) < 5 * 60_000
