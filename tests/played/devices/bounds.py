# SPDX-License-Identifier: GPL-2.0
"""What has to hold in every storm and silence, on any machine, with any seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tests.played.books import Key, Record, Records
from tests.played.devices.storms import STORMS

#: sscop has kept everything: a POLL comes within a second, a round trip, what was lost; and
#: whatever TCP has to find then.
KEPT_S, KEPT_BACK_S = 3.0, 10.0
#: Memory of a packet of 1500 octets with what surrounds it, kB; packets that wait: in the queueing
#: discipline above, under way in sscop (its clock allows eight times what a link holds, here 200 kB
#: at most: 40 Mbit/s and 40 ms, or 4 and 400; kept at both ends), as shake's copies; TCP's own
#: buffers at both ends (net.ipv4.tcp_wmem, tcp_rmem); what the guest's programs need. All of them
#: full at once: with seed 1, 0 to 3036 kB are used, and 5528 by j in `reorder` over shake. It
#: differs so much between storms and algorithms that no bound below this sum is known to hold for
#: other seeds.
PACKET_KB, QUEUED, UNDER_WAY, COPIES, TCP_KB, PROGRAMS_KB = 2.5, 1000, 1067, 512, 10_240, 4_096
MEMORY_KB = {
    "sscop": PACKET_KB * (2 * QUEUED + 4 * UNDER_WAY) + TCP_KB + PROGRAMS_KB,
    "shake": PACKET_KB * (2 * QUEUED + 2 * COPIES) + TCP_KB + PROGRAMS_KB,
}
#: Goodput that does not come back in time, for a reason that docs/storms-devices.md states.
STAYS_AWAY = {("shake", "reorder", "star")}
#: Causes of a sscop reset in the words of a storm.
CAUSES = ("asked", "silence", "restart", "end", "error")


def grown(record: Record, end: str, name: str) -> int:
    """What an end has counted from the storm's begin to the run's end."""
    return int(record[end].get(name, 0)) + int(record[f"{end}_later"].get(name, 0))


def both(record: Record, name: str) -> int:
    """That of both ends."""
    return grown(record, "near", name) + grown(record, "far", name)


def lost(record: Record) -> int:
    """Datagrams that did not come."""
    told = record["datagrams"]
    return int(told["sent"] - told["came"])


def _whole(record: Record) -> Iterator[str]:
    if record["damaged"] or record["sent"] != record["received"]:
        yield f"{record['received']} of {record['sent']} octets, {record['damaged']} damaged"
    if "datagrams" in record:
        told = record["datagrams"]
        if told["damaged"] or told["twice"]:
            yield f"datagrams: {told['damaged']} damaged, {told['twice']} twice"


def _sscop(record: Record) -> Iterator[str]:
    storm = STORMS["sscop"][record["storm"]]
    if record["datagrams"]["late"]:
        yield f"{record['datagrams']['late']} datagrams out of order"
    if storm.kept and lost(record) > record["queue_drops"]:
        yield f"{lost(record)} datagrams lost, the queue above dropped {record['queue_drops']}"
    if storm.resets == "asked" and lost(record) > both(record, "packets_lost"):
        yield f"{lost(record)} datagrams lost, {both(record, 'packets_lost')} packets by resets"
    if storm.kept and (record["first_s"] is None or record["first_s"] > KEPT_S):
        yield f"nothing for {record['first_s']} s after the storm"
    for cause in CAUSES:
        count = both(record, f"reset_{cause}")
        if count and cause not in storm.resets:
            yield f"{count} resets: {cause}"


def _storm(record: Record) -> Iterator[str]:
    device, storm = record["device"], STORMS[record["device"]][record["storm"]]
    yield from _whole(record)
    if device == "sscop":
        yield from _sscop(record)
    most = KEPT_BACK_S if device == "sscop" and storm.kept else storm.back_s
    stays_away = (device, record["storm"], record["cc"]) in STAYS_AWAY
    if not stays_away and (record["back_s"] is None or record["back_s"] > most):
        yield f"goodput is back after {record['back_s']} s"
    if record["memory_kb"] > MEMORY_KB[device]:
        yield f"{record['memory_kb']} kB of memory"


# --- silences -------------------------------------------------------------------------------------


def times(gap: Callable[[float, int], float], until: float) -> list[float]:
    """When something is sent, s, if ``gap`` is the time behind what was sent at a time as so many
    before it.
    """
    at: list[float] = [0.0]
    while at[-1] < until:
        at.append(at[-1] + gap(at[-1], len(at)))
    return at


def _clamped(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


#: docs/sscop-design.md: a round of at most 64 SDs and a POLL behind it in 10 ms for two seconds
#: and two round trips, then each an eighth of the further silence later; a POLL in 10 ms, or a
#: 256th of the silence, or 100 ms; BGN as below.
NORMAL_S, ROUND = 2.5, 64
ROUNDS = times(lambda at, _: max(0.01, (at - NORMAL_S) / 8), 130)
POLLS = times(lambda at, _: _clamped(at / 256, 0.01, 0.1), 130)
CONTROL = times(lambda _, n: 0.1 if n < 3 else 0.2 if n == 3 else 0.4 if n == 4 else 0.8, 130)
#: docs/shake-design.md: probes and HELLOs of a dead path, HELLOs of one that was never registered.
PROBES = times(lambda at, _: _clamped(at / 16, 0.2, 5), 130)
HELLOS = times(lambda at, _: _clamped(at / 8, 1, 10), 130)
JOINING = times(lambda _, n: min(0.5 * 2 ** (n // 4), 5), 130)
#: A path is noticed to be dead some time after its last sign: later than this it is not. The idle
#: one of `idle` at the keepalive after 10 s.
NOTICED_S = {"idle": 13.0}
NOTICED_ELSE_S = 3.0


def _most(law: Sequence[float], begin: float, end: float, late_s: float = 0.0) -> int:
    """So many may be sent in an interval, if the silence is noticed up to ``late_s`` later."""
    begin, length = max(begin - late_s, 0.0), end - begin
    return sum(begin <= at <= begin + length + late_s for at in law) + 2


def _limits(record: Record, begin: float, end: float) -> dict[str, int]:
    """The most that may be counted in an interval."""
    if record["device"] == "sscop":
        rounds = _most(ROUNDS, begin, end)
        return {
            "sd_repeated": ROUND * rounds,
            "poll_sent": rounds + _most(POLLS, begin, end),
            "control_sent": _most(CONTROL, 0, end - begin),
        }
    late_s = NOTICED_S.get(record["silence"], NOTICED_ELSE_S)
    paths = 1 if record["silence"] == "one" else 2
    joining = record["silence"] in {"alone", "stranger"}
    return {
        "probe_sent": paths * _most(PROBES, begin, end, late_s),
        "hello_sent": paths * _most(JOINING if joining else HELLOS, begin, end, late_s),
    }


def _silence(record: Record) -> Iterator[str]:
    if "sent" in record:
        yield from _whole(record)
    edges = pairwise((0, *record["edges"]))
    for (begin, end), counted in zip(edges, record["counted"], strict=True):
        for name, most in _limits(record, begin, end).items():
            if record["silence"] == "one" and name == "probe_sent":
                most += end - begin  # the path that lives has one a second
            if counted.get(name, 0) > most:
                yield f"{counted[name]} {name} from {begin} to {end} s, {most} are allowed"


def judge(records: Records, key: Key) -> Iterator[str]:
    """What is beyond the bounds in a record."""
    yield from _storm(records[key]) if "storm" in records[key] else _silence(records[key])
