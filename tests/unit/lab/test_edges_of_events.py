# SPDX-License-Identifier: GPL-2.0
"""Every event of every scenario at its edges: what the script sets is what was asked for.

The cases are made from units.EVENTS and from the scenarios' own parameters, so that a new event
kind, or a scenario with events, is in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from apogee_lab import units
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Plan
from apogee_lab.units import Event
from tests.unit.lab.emulated import Emulated
from tests.unit.lab.paths_of import FRAME, READERS, State
from tests.unit.lab.stand_ins import planned

RUN_S = 60.0
HOUR_S = 3600.0
EPSILON = 4e-4  # s
MTU = 1500


@dataclass(frozen=True)
class Base:
    """A scenario whose path stands still: its settings, the path's values (queue in packets), the
    way (s) that the same devices emulate beside the hop, the most that comes to it (bit/s), and the
    kinds of events that it refuses."""

    texts: dict[str, str]
    values: dict[str, float]
    beside_s: float = 0.0
    most: float = math.inf
    refuses: frozenset[str] = frozenset({"ber"})
    packets: Callable[[float], float] = lambda size: max(1, round(size / MTU))
    payload: int = 1448  # bytes of a full frame
    one_way: bool = False  # errors of the data only


STILL = {"rate": 10e6, "queue": 417, "delay": 0.25, "loss": 0.0, "ber": 0.0}
LEO = "rate_low=49mbit rate_high=49mbit spike=10ms loss=0%"
BASES = {
    "satellite": Base({}, STILL),
    "satellite-shared": Base({"flows": "1"}, STILL, 0.001, 100e6),
    "requests": Base({}, STILL, 0.001, 100e6),
    "lfn": Base(
        {"n": "1", "reno": "0", "spread": "0s"},
        {"rate": 1e9, "queue": 4167, "delay": 0.025, "loss": 0.0, "ber": 0.0},
        0.005,
        1e9,
    ),
    "leo": Base(
        dict(one.split("=") for one in LEO.split()),
        {"rate": 49e6, "queue": 500, "delay": 0.01, "loss": 0.0, "ber": 0.0},
    ),
    "radio": Base(
        {"segment": "0"},
        {"rate": 2e6, "queue": 150_000 / FRAME, "delay": 0.05, "loss": 0.0, "ber": 0.0},
        refuses=frozenset({"stall"}),
        packets=lambda size: max(size, FRAME) / FRAME,
    ),
    "multipath": Base(
        {"via": "path1"},
        {"rate": 384e3, "queue": 50, "delay": 0.15, "loss": 0.0, "ber": 0.0},
        refuses=frozenset({"queue", "stall", "ber"}),
        payload=1448 - 56,  # SHAKE's heads, its tag
    ),
}
#: Values of each kind that an event may have, among them the least and the most.
VALUES = {
    "rate": (3e6, 9600, 100e9),
    "size": (30_000, 1),
    "time": (0.3, 0.0),
    "share": (0.05, 1.0, 0.0),
    "ber": (1e-4, 0.0),
    None: (None,),
}
#: Start and length (s; None: to the end).
LAST = RUN_S - 0.001
TIMES = [
    (0.0, None), (0.0, 0.001), (0.0, RUN_S), (0.001, None), (0.001, RUN_S - 0.001),
    (12.345, 0.001), (30.0, 10.0), (30.0, None), (LAST, 0.001), (LAST, None),
]  # fmt: skip


def cases(kind: str) -> list[tuple[Event, ...]]:
    """An event of this kind at each edge, with each value, and two at once."""
    values = VALUES[units.EVENTS[kind]]
    found = [
        (Event(kind, value, start, length),)
        for start, length in TIMES
        for value in values
        if length or units.EVENTS[kind]
    ]
    one, other = values[0], values[-1]
    found.append((Event(kind, one, 0.0, 1.0), Event(kind, other, 5.0, 1.0)))
    if kind != "stall":  # those must be apart
        found += [
            (Event(kind, one, 0.0, 2.0), Event(kind, other, 0.0, 1.0)),
            (Event(kind, one, 0.0, 2.0), Event(kind, other, 1.0, 2.0)),
            (Event(kind, one, 0.0, 1.0), Event(kind, other, 1.0, 1.0)),
            (Event(kind, one, 1.0, 5.0), Event(kind, other, 2.0, 1.0)),
        ]
    return found


def ends(event: Event) -> float:
    return event.start_s + (event.length_s or 2 * HOUR_S)


def holds(events: tuple[Event, ...], kind: str, at: float) -> Event | None:
    """The event of a kind that holds at a time: of several the one that began last."""
    found = [e for e in events if e.what == kind and e.start_s <= at < round(ends(e), 9)]
    return max(found, key=lambda event: event.start_s, default=None)


def wanted(base: Base, events: tuple[Event, ...], at: float, name: str) -> State:
    """What the path has to be at a time."""

    def value(kind: str) -> float:
        event = holds(events, kind, at)
        return base.values[kind] if event is None else float(event.value or 0)

    queue = holds(events, "queue", at)
    outage = holds(events, "outage", at) is not None
    error = 1 - (1 - value("ber")) ** (8 * FRAME)
    loss, gone = value("loss"), float(outage and name != "multipath")
    both = loss if name == "multipath" and not base.one_way else 0.0
    back = 0.0 if base.one_way else error
    return State(
        value("rate"),
        base.values["queue"] if queue is None else base.packets(queue.value or 0),
        value("delay") + base.beside_s,
        value("delay") + (base.beside_s if name == "lfn" else 0.0),
        max(1 - (1 - loss) * (1 - error), gone),
        max(1 - (1 - both) * (1 - back), gone),
        stall=holds(events, "stall", at) is not None,
        closed=name == "multipath"
        and any(e.start_s <= at < opens(base, events, e) for e in events),
    )


def opens(base: Base, events: tuple[Event, ...], outage: Event) -> float:
    """When a long link's pause ends: a frame's time late, which then leaves from the bucket."""
    if outage.what != "outage":
        return 0.0
    end = outage.start_s + (outage.length_s or 0)
    return end + 8 * FRAME / rate_at(base, events, end)


def rate_at(base: Base, events: tuple[Event, ...], at: float) -> float:
    event = holds(events, "rate", at)
    return base.values["rate"] if event is None else float(event.value or 0)


def edges(events: tuple[Event, ...]) -> list[float]:
    return sorted({0.0, RUN_S, *(e.start_s for e in events),
                   *(round(ends(e), 9) for e in events)})  # fmt: skip


def check(name: str, events: tuple[Event, ...], plan: Plan, base: Base | None = None) -> None:
    """The path at each edge, just before and just after it, and the limit."""
    base, emulated = base or BASES[name], Emulated(plan.script)
    text = units.format("events", events)
    assert 0.0 not in emulated.times, f"{text}: what holds at 0 s is set up"
    for edge in edges(events):
        for at in {max(0.0, edge - EPSILON), edge, edge + EPSILON}:
            if at >= plan.duration_s:
                continue
            found, asked = READERS[name](plan, emulated, at), wanted(base, events, at, name)
            for key, value in vars(asked).items():
                said = f"{name} {text}: {key} at {at:g} s"
                assert getattr(found, key) == pytest.approx(value, rel=1e-6, abs=2e-9), said
    best = limit(name, base, events, plan.duration_s)
    assert plan.limit_bps == pytest.approx(best, rel=1e-6), f"{name} {text}"


def limit(name: str, base: Base, events: tuple[Event, ...], over_s: float) -> float:
    """The mean of what passes, from a round trip after the first SYN on."""
    first = wanted(base, events, 0.0, name).delay - base.beside_s
    begin_s = 2 * first
    begin_s += 2 * 0.01 if name == "lfn" else 0.002 if name == "multipath" else 0.0
    cuts = sorted({begin_s, begin_s + over_s, *edges(events)})
    bits = 0.0
    for at, end in pairwise(at for at in cuts if begin_s <= at <= begin_s + over_s):
        state = wanted(base, events, (at + end) / 2, name)
        shut = name == "multipath" and holds(events, "outage", (at + end) / 2)
        passed = 0.0 if shut else min(state.rate, base.most) * (1 - state.loss)
        bits += passed * (end - at)
    for begin, length in pauses(events).items() if name == "multipath" else ():
        bits += min(8 * FRAME, length * rate_at(base, events, begin))  # its sending has begun
    return bits * base.payload / FRAME / over_s


def pauses(events: tuple[Event, ...]) -> dict[float, float]:
    """Begin and least length of what outages that overlap are together."""
    gone = [e for e in events if e.what == "outage"]
    return {
        e.start_s: e.length_s or 0.0
        for e in gone
        if not any(o.start_s < e.start_s <= o.start_s + (o.length_s or 0) for o in gone)
    }


def compiled(name: str, events: tuple[Event, ...], run_s: float = RUN_S, **texts: str) -> Plan:
    text = units.format("events", events)
    return planned(name, cc="reno", duration_s=run_s, event=text, **BASES[name].texts, **texts)


def with_events() -> list[str]:
    """The scenarios that have events."""
    return [n for n, s in SCENARIOS.items() if any(p.kind == "events|none" for p in s.params)]


def test_every_scenario_with_events_is_here() -> None:
    told = set(with_events()) - {"liar"}  # satellite's, behind a lie
    assert BASES.keys() == told, "BASES needs a line for each"


@pytest.mark.parametrize("kind", units.EVENTS)
@pytest.mark.parametrize("name", BASES)
def test_an_event_at_its_edges(name: str, kind: str) -> None:
    if kind in BASES[name].refuses:
        for events in cases(kind):
            with pytest.raises(ValueError, match="event: ") as error:
                compiled(name, events)
            assert "\n" not in str(error.value)
        return
    for events in cases(kind):
        check(name, events, compiled(name, events))


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize(("start", "length"), TIMES)
def test_all_events_at_once(name: str, start: float, length: float | None) -> None:
    """Each with its first value; outages hide the losses beside them."""
    events = tuple(
        Event(kind, VALUES[of][0], start, length)
        for kind, of in units.EVENTS.items()
        if kind not in BASES[name].refuses and (length or of)
    )
    check(name, events, compiled(name, events))


@pytest.mark.parametrize("name", BASES)
def test_the_last_millisecond_of_an_hour(name: str) -> None:
    events = (Event("delay", 0.3, HOUR_S - 0.002, 0.001), Event("loss", 0.05, HOUR_S - 0.001, None))
    check(name, events, compiled(name, events, HOUR_S))


@pytest.mark.parametrize(
    ("name", "kind", "texts"),
    [
        ("radio", "ber", {"ack_ber": "0"}),
        ("multipath", "loss", {"ack_loss": "0%"}),
        ("multipath", "loss", {"ack_loss": "0%", "direction": "down"}),
    ],
)
def test_errors_of_one_way(name: str, kind: str, texts: dict[str, str]) -> None:
    """Errors of the ACKs that are given are not those of the data's events, whatever they are."""
    for events in cases(kind):
        base = replace(BASES[name], one_way=True)
        check(name, events, compiled(name, events, **texts), base)
