# SPDX-License-Identifier: GPL-2.0
"""Measures: the folder of raw results that one run leaves behind -> one record.

A record is a JSON object; tables and figures read nothing else. Its keys:

``scenario cc seed engine kernel set duration_s limit_bps``
    What was run. ``set`` holds every parameter of the scenario, defaults included; ``limit_bps``
    is the goodput in bit/s that the path can carry at best. ``run`` names the raw folder.
``flows[].goodput_bps``
    Payload bytes the receiver had by t0 + duration, times 8, over the duration. t0 is the first
    data segment's arrival at the receiver, the receiver's count is kept in bins of 10 ms: t0 is
    taken as the beginning of the first bin that holds data, and counts are linear inside a bin.
``flows[].retransmits segments timeouts``
    Segments sent again, segments sent in all (those sent again included), retransmission timeouts.
    ``timeouts`` is counted per network namespace: null where flows share one.
``flows[].rtt_ms``
    Smoothed RTT as TCP_INFO gives it every 100 ms: mean and 99th percentile of the samples, and
    the connection's minimum RTT.
``total_goodput_bps jain``
    The sum over the flows and Jain's fairness index (sum x)^2 / (n sum x^2).
``queue.mean_bytes mean_ms max_bytes drops``
    Backlog of the bottleneck's queue, sampled every 100 ms from the last flow's SYN to
    t0 + duration; ``mean_ms`` is the mean backlog over the bottleneck's rate.
``bdp_bytes``
    Bandwidth-delay product of the empty path.
``link_drops ack_drops``
    Frames lost behind the bottleneck towards the receiver, and on the way back (blackouts
    included).
``losses needless_retransmits duplicates``
    Data frames lost (link, queue, switches); retransmits beyond the losses, at least 0; duplicate
    segments that the receiver reported by D-SACK (null with D-SACK off), the second, independent
    count of the same waste.
``t90_s``
    Start-up time: seconds from the first SYN to the beginning of the first interval of one round
    trip of the empty path (at least 0.2 s) whose goodput is 90 % of the limit or more; null if
    there is none (or with iperf3, which has no such series).
``blackout``
    Only where one was asked for, see :func:`blackout`.

Where flows share a path, each between hosts of its own, one interval holds for all of them: t0 is
the arrival of the *last* flow's first data segment. Goodputs, their sum and Jain's index are taken
from t0 to t0 + duration, RTTs and the queue from the last flow's SYN on; counts (segments,
retransmits, timeouts, drops) are of whole runs. Keys that only such records have:

``interval.from_s over_s``
    t0, seconds after the first flow's SYN, and the length: the duration, or less if a sender
    stopped before t0 + duration (it goes on long enough even if its SYN is lost once).
``flows[].own``
    ``from_s``, ``over_s``, ``goodput_bps``: the same from the flow's own first data segment's
    arrival to the end of the common interval.
``flows[].fair_share``
    The flow's goodput over the mean of all flows' (total / n): 1 is an equal share, their sum n.
    It tells how the flows divide what they carry, not how much that is of the limit, which may
    change during a run. Not where flows belong to groups: their own links differ.
``flows[].window_bytes``
    Congestion window in bytes, ``mean``, ``min`` and ``max`` of the samples in the interval.
``flows[].queue_drops link_drops``
    The flow's share of ``queue.drops`` and ``link_drops``, exact: what came to the router, what
    entered the hop behind it and what left that are counted when the path has run empty. Null if
    those counts do not add up to what the queue says it dropped, as with a data blackout.
``flows[].switch_drops``
    Only for flows with a slower link of their own in front: what that link's queue dropped.
``flows[].duplicates``
    The flow's share of ``duplicates``.

Where the beginning is left out (``warmup``), the interval begins at the event ``warmup off``, and
the queue and RTTs are taken from there. Then there are, too:

``flows[].steady`` ``queue.steady_drops``
    ``retransmits`` and ``timeouts`` since then, and what the queue has dropped since then, up to
    the end of the run.

Where flows belong to groups (``fast``, ``reno``):

``groups.NAME.goodput_bps jain flows``
    The sum over the group's flows, Jain's index among them, their number.
``queue.early_drops``
    What the queue dropped in the 5 s from the first flow's SYN on.

Where a flow is transfers one after the other (``requests``), each on a connection of its own:

``requests.transfers bytes``
    Number of transfers and the sum of their bytes, those after the common interval included.
``requests.sizes[].bytes transfers median_s p95_s times_s``
    For each size, in ascending order: how many there were, median and 95th percentile (linear
    between ranks) of their completion times, and all of these in the order of the run. A
    completion time runs from connect() to the arrival of the last byte at the receiver's
    application: the SYN is included, and all of its repetitions. The last transfer was finished,
    however long it took.
``flows[]``
    The transfers' flow holds what all its connections have together; its goodput counts the
    pauses of handshakes and closes. ``t90_s`` is null, there is no ``fair_share``.

Where hosts share a channel (``wlan``) the queue is the access point's, which holds ACKs: ``drops``
are lost ACKs, counted among ``ack_drops`` and not among ``losses``. There are, too:

``queue.mean_packets max_packets``
    The same in packets; ``mean_ms`` is what a packet waits there: the mean number of packets over
    those sent per second.
``medium.airtime ap_frames ap_drops station_frames``
    Airtime charged in the interval, as a share of it; frames that the access point sent in it, and
    dropped; frames that all stations sent.
``flows[].frames station_drops``
    Frames that the flow's station sent in the interval; frames that its own queue dropped in the
    whole run, which are ``losses``.

``wall_s``
    Wall-clock seconds of the run: the only key that two equal runs may differ in
    (:func:`comparable` leaves it out).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..base import LabError

NOT_REPRODUCIBLE = ("wall_s",)


class RecordError(LabError):
    """The raw results are incomplete or make no sense; one line."""


def comparable(record: dict[str, Any]) -> dict[str, Any]:
    """The record without what may differ between two equal runs."""
    return {key: value for key, value in record.items() if key not in NOT_REPRODUCIBLE}


def dumps(record: dict[str, Any]) -> str:
    """The record on one line, as ``--json`` writes it."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file with one JSON object per line; RecordError names a bad line."""
    records = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise RecordError(f"{path}: {reason}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            raise RecordError(f"{path}:{number}: not a JSON object") from None
        if not isinstance(record, dict) or not {"cc", "set", "flows"} <= record.keys():
            raise RecordError(f"{path}:{number}: not a record of 'lab run --json'")
        records.append(record)
    return records
