# SPDX-License-Identifier: GPL-2.0
"""SSCOP's device in a script: its parameters, its lines, and the best goodput that it allows."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from .scenario import Param
from .testbed import ETHERNET, frame_loss, time_text

NAME = "sscop0"
# sscop/core/pdu.h: octets in front of an SD's payload, one more in a PDU of less than SHORT.
HEADER, SHORT = 8, 64
LEAST_SEGMENT, MOST_SEGMENT = 64, 65000
POLL = ETHERNET + HEADER + 1 + 3  # a POLL's frame
LONGEST_CONTROL = ETHERNET + HEADER + 1 + 6 + 3 * 30  # a STAT's, with a full list
POLLS_PER_RTT = 16  # that the rule of octets sends at most
POLL_S, WINDOW_PARTS = 1e-3, 8  # least time between them, unless such a part of the window was sent

PARAMS = (
    Param("segment", "auto", "int|auto",
          "payload of SSCOP's SDs in bytes; auto: chosen by measured loss; 0: TCP without SSCOP",
          0, MOST_SEGMENT, "payload of an SD, bytes"),
    Param("sscop_window", 16384, "int", "SSCOP's window in SDs", 1, 65536, "SSCOP's window, SDs"),
    Param("poll_bytes", 3000, "size", "SSCOP: a POLL after so many bytes of SDs; 0: no such rule",
          0, 4e9),
    Param("poll_sd", 0, "int", "SSCOP: a POLL after so many SDs; 0: no such rule", 0, 65536),
    Param("poll_time", 0.1, "time", "SSCOP: longest time without a POLL while SDs are unanswered",
          1e-6, 3600),
    Param("poll_idle", 0.01, "time",
          "SSCOP: that time if there is nothing else to send; 0: no such rule", 0, 3600),
    Param("ustat", 1, "bool", "SSCOP: the receiver reports what it finds missing at once (USTAT)"),
    Param("backlog", "auto", "size|auto",
          "SSCOP: bytes queued in the lower device at most; auto: as few as keep it busy", 64, 1e9),
    Param("ef", "assured", "choice:assured,bounded,unassured",
          "SSCOP: class of packets whose DSCP is EF"),
    Param("small", 0, "int", "SSCOP: packets of so many bytes and less are bounded; 0: none", 0,
          65535),
)  # fmt: skip


def used(values: Mapping[str, Any]) -> bool:
    """Whether there is a device: not for TCP alone."""
    return values["segment"] != 0


def check(values: Mapping[str, Any]) -> None:
    """ValueError for a segment that no SD can have."""
    segment = values["segment"]
    if segment not in (0, "auto") and segment < LEAST_SEGMENT:
        raise ValueError(
            f"segment: {segment} is out of range, allowed: 0, auto, or from {LEAST_SEGMENT} to "
            f"{MOST_SEGMENT}"
        )


def sd_frame(payload: int) -> int:
    """Bytes of the frame of an SD."""
    return ETHERNET + HEADER + (payload + HEADER < SHORT) + payload


def longest_frame(values: Mapping[str, Any]) -> int:
    """Bytes of the longest frame that the device sends."""
    segment = values["mtu"] if values["segment"] == "auto" else values["segment"]
    return max(sd_frame(min(segment, values["mtu"])), LONGEST_CONTROL)


def lower_mtu(values: Mapping[str, Any]) -> int:
    """MTU that the lower device needs for SDs of this payload."""
    segment = values["mtu"] if values["segment"] == "auto" else values["segment"]
    return max(values["mtu"], segment + HEADER + 1)


# --- the script -------------------------------------------------------------------------------


def lines(values: Mapping[str, Any], namespaces: str, lower: str) -> list[str]:
    """Shell lines that create the device in each namespace, and wait until its peer has answered
    when the lower devices are up."""
    words = {
        "segment": values["segment"],
        "window": values["sscop_window"],
        "poll-bytes": values["poll_bytes"],
        "poll-sds": values["poll_sd"],
        "poll-time": time_text(values["poll_time"]),
        "poll-idle": time_text(values["poll_idle"]),
        "ustat": "on" if values["ustat"] else "off",
        "backlog": values["backlog"],
    }
    if values["ef"] != "assured":
        words[values["ef"]] = "ef"
    if values["small"]:
        words["small"] = values["small"]
    return [
        f"for ns in {namespaces}; do",
        f"\tip -n $ns link add link {lower} name {NAME} mtu {values['mtu']} type sscop \\",
        "\t\t" + " ".join(f"{key} {value}" for key, value in words.items()),
        f"\tip -n $ns link set {NAME} up",
        "done",
    ]


def wait_lines(namespaces: str) -> list[str]:
    """Shell lines that wait until both ends have agreed on a connection."""
    carrier = f"cat /sys/class/net/{NAME}/carrier"
    return [
        f"for ns in {namespaces}; do",
        f"\tip netns exec $ns sh -c 'until [ \"$({carrier})\" = 1 ]; do sleep 0.01; done'",
        "done",
    ]


def save_counters(namespaces: str, when: str) -> str:
    """Shell lines that save the device's counters."""
    return (
        f"for ns in {namespaces}; do\n"
        f'\tip netns exec $ns ethtool -S {NAME} >"$OUT/sscop-$ns-{when}.txt"\n'
        "done\n"
    )


# --- the best goodput -------------------------------------------------------------------------


def _packet_bytes(values: Mapping[str, Any], rate: float, ber: float, segment: int) -> float:
    """Bytes that the link carries on average until a packet of ``mtu`` bytes has arrived: every SD
    as often as errors demand, and its share of the POLLs."""
    packet = values["mtu"]
    whole, rest = divmod(packet, segment)
    pieces = [(whole, segment), (1, rest)] if rest else [(whole, segment)]
    frames = pdus = sds = 0.0
    for count, payload in pieces:
        frame = sd_frame(payload)
        times = count / (1 - frame_loss(ber, frame))
        sds += times
        frames += times * frame
        pdus += times * (frame - ETHERNET)
    fast = min(rate / 8 * POLL_S, values["sscop_window"] / WINDOW_PARTS * pdus / sds)
    spaced = max(values["poll_bytes"], rate * 2 * values["delay"] / 8 / POLLS_PER_RTT, fast)
    polls = max(
        pdus / spaced if values["poll_bytes"] else 0.0,
        sds / values["poll_sd"] if values["poll_sd"] else 0.0,
    )
    return frames + polls * POLL


def share(values: Mapping[str, Any], rate: float, ber: float, payload: int) -> float:
    """The most of the rate that TCP's payload can have, if each SD is sent again until it has
    arrived and nothing else costs time: ``payload`` bytes in every packet of ``mtu`` bytes.

    With segment=auto the best number of equal segments.
    """
    packet, segment = values["mtu"], values["segment"]
    if segment == "auto":
        sizes = {ceil(packet / n) for n in range(1, packet // LEAST_SEGMENT + 1)}
    else:
        sizes = {min(segment, packet)}
    return payload / min(_packet_bytes(values, rate, ber, size) for size in sizes)
