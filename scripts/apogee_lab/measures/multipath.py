# SPDX-License-Identifier: GPL-2.0
"""Measures of several paths at once: what each carried and lost, segments that arrived twice.

Needs no numpy, as scenarios are listed without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .measure import Measure
from .record import RecordError

if TYPE_CHECKING:
    from .measurement import Measurement
    from .raw import RawFolder

#: Counters of a receiver for segments without new data: below what it has acknowledged, above it,
#: and what came over two subflows of MPTCP. They need neither SACK nor timestamps.
TWICE = ("TcpExtDelayedACKLost", "TcpExtTCPOFOMerge", "MPTcpExtDuplicateData")
STALE = "TcpExtPAWSEstab"
LEADER, AGENT = ENDS = ("al", "ha")
CBR_PATH = "path2"

_COUNTER = re.compile(r"\s+([\w.]+): (\d+)")


# --- the long links ---------------------------------------------------------------------------


class LongLink(TypedDict):
    """What a long link carried in the data's direction in the whole run."""

    name: Annotated[str, "name", "the path: `path1` is the leader's own"]
    frames: Annotated[int, "frames", "frames sent over it, those of the UDP flow left out"]
    bytes: Annotated[int, "bytes", "bytes of these frames"]
    queue_drops: Annotated[
        int, "frames", "frames that its queue dropped, those of the UDP flow included"
    ]
    lost: Annotated[int, "frames", "frames that it lost, those of the UDP flow included"]
    back_lost: Annotated[int, "frames", "frames that it lost on the way back, its queue included"]


class LongLinkKeys(TypedDict):
    """Keys of the long links."""

    long_links: list[LongLink]


def _long_links(run: Measurement) -> None:
    cbr = _sent_cbr(run.raw)
    found = []
    for path in run.paths:
        sent = _root(run.raw, path.facts["bottleneck"])
        queues_back = run.raw.drops([_back(path.facts)], {"tbf"}, whole=True)
        udp = (cbr["frames"], cbr["bytes"]) if path.name == CBR_PATH else (0, 0)
        # the UDP flow's frames that the queue dropped were not sent
        found.append(
            {
                "name": path.name,
                "frames": max(0, int(sent["packets"]) - udp[0]),
                "bytes": max(0, int(sent["bytes"]) - udp[1]),
                "queue_drops": path.queue_drops,
                "lost": path.link_drops,
                "back_lost": path.ack_drops + queues_back,
            }
        )
    run.record["long_links"] = found


def _back(facts: Mapping[str, Any]) -> list[str]:
    """The device in front of the way back: that of the agent, or of the router that data comes to
    if the agent sends it."""
    netns, dev = facts["bottleneck"]
    router = facts["data_links"][0][1].removeprefix("to-")
    return [router if netns == AGENT else AGENT, dev]


def _root(raw: RawFolder, place: list[str]) -> dict[str, Any]:
    """The counters of a device's root qdisc."""
    netns, dev = place
    for qdisc in raw.json(f"qdisc-{netns}.json"):
        if qdisc.get("dev") == dev and "root" in qdisc:
            return qdisc
    raise RecordError(f"qdisc-{netns}.json has no {dev}")


# --- the UDP flow -----------------------------------------------------------------------------


class Cbr(TypedDict):
    """The UDP flow of a member."""

    sent: Annotated[int, "packets", "packets of the UDP flow given to the second path"]
    received: Annotated[int, "packets", "packets of it that arrived at the correspondent"]
    lost: Annotated[int, "packets", "packets of it that did not"]


class CbrKeys(TypedDict, total=False):
    """Keys with a UDP flow."""

    cbr: Cbr


def _sent_cbr(raw: RawFolder) -> dict[str, int]:
    """Frames of the UDP flow that arrived at the correspondent, and their bytes."""
    if not raw.has("cbr.recv.json"):
        return {"frames": 0, "bytes": 0}
    got = raw.json("cbr.recv.json")
    return {"frames": got["packets"], "bytes": got["packets"] * 1014}


def _cbr(run: Measurement) -> None:
    if not run.raw.has("cbr.send.json"):
        return
    sent, got = run.raw.json("cbr.send.json"), run.raw.json("cbr.recv.json")
    total = sent["sent"] + sent["refused"]
    run.record["cbr"] = {
        "sent": total,
        "received": got["packets"],
        "lost": total - got["packets"],
    }


# --- the queue above SHAKE ---------------------------------------------------------------------


class ShakeQueue(TypedDict):
    """The queue above the leader's device."""

    qdisc: Annotated[str, "name", "its queueing discipline"]
    packets: Annotated[int, "packets", "packets sent through it"]
    drops: Annotated[
        int,
        "packets",
        "packets that it dropped; they are among `losses`, with `direction=down` ACKs",
    ]
    overlimit: Annotated[
        int, "packets", "of these, those for want of room: with `fq_codel` the rest is CoDel's"
    ]
    marks: Annotated[int, "packets", "packets that it marked (ECN)"]


class ShakeQueueKeys(TypedDict, total=False):
    """Keys with SHAKE."""

    shake_queue: ShakeQueue


def _shake_queue(run: Measurement) -> None:
    """The queue's counts; a plain queue drops for want of room only."""
    if not run.raw.has(f"qdisc-{ENDS[0]}.json"):
        return
    root = _root(run.raw, [ENDS[0], "shake0"])
    run.record["shake_queue"] = {
        "qdisc": root["kind"],
        "packets": root["packets"],
        "drops": root["drops"],
        "overlimit": root.get("drop_overlimit", root["drops"]),
        "marks": root.get("ecn_mark", 0),
    }
    if run.meta["receiver_ns"] != LEADER:
        run.record["losses"] += root["drops"]


# --- what arrived twice -----------------------------------------------------------------------


class Twice(TypedDict):
    """Segments that arrived although the correspondent had their data."""

    below: Annotated[int, "segments", "of data that it had acknowledged"]
    above: Annotated[int, "segments", "of data that it held behind a gap"]
    subflows: Annotated[int, "segments", "MPTCP: of data that another subflow had brought"]
    stale: Annotated[
        int, "segments",
        "segments that the correspondent discarded because a newer timestamp had arrived before "
        "them (PAWS), new data or not; those of acknowledged data are also in `below`",
    ]  # fmt: skip


class TwiceKeys(TypedDict):
    """Keys of what arrived twice."""

    twice: Twice


def _twice(run: Measurement) -> None:
    """Retransmissions were needless if their data was there, counted where they arrive, or if what
    they repeat was not lost but discarded as stale: as many of these as losses do not explain."""
    counters = run.raw.nstat(run.meta["receiver_ns"])
    below, above, subflows = (counters.get(name, 0) for name in TWICE)
    stale = counters.get(STALE, 0)
    run.record["twice"] = {"below": below, "above": above, "subflows": subflows, "stale": stale}
    run.record["losses"] -= run.record.get("cbr", {}).get("lost", 0)
    again = below + above + subflows
    retransmits = sum(flow["retransmits"] for flow in run.record["flows"])
    unexplained = max(0, retransmits - run.record["losses"] - again)
    run.record["needless_retransmits"] = again + min(stale, unexplained)


# --- SHAKE ------------------------------------------------------------------------------------


class ShakeKeys(TypedDict, total=False):
    """Keys with SHAKE."""

    shake: Annotated[
        dict[str, dict[str, int]], "number",
        "counters of `ethtool -S shake0` at the flows' end, at the leader (`al`) and at the agent "
        "(`ha`)",
    ]  # fmt: skip


def _shake(run: Measurement) -> None:
    if not run.raw.has("shake-al.txt"):
        return
    found = {}
    for netns in ENDS:
        text = (run.raw.path / f"shake-{netns}.txt").read_text()
        found[netns] = {name: int(number) for name, number in _COUNTER.findall(text)}
        if not found[netns]:
            raise RecordError(f"shake-{netns}.txt has no counters")
    run.record["shake"] = found


ALL = (
    Measure(_long_links, LongLinkKeys),
    Measure(_cbr, CbrKeys),
    Measure(_shake_queue, ShakeQueueKeys),
    Measure(_twice, TwiceKeys),
    Measure(_shake, ShakeKeys),
)
