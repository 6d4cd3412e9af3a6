# SPDX-License-Identifier: GPL-2.0
"""Measures of a radio: how busy the link is, what SSCOP counted, pings, sequence numbers.

Needs no numpy, as scenarios are listed without it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .measure import Measure
from .realtime import PINGS
from .record import RecordError

if TYPE_CHECKING:
    from .measurement import Measurement
    from .raw import RawFolder

HOSTS = ("gw", "mh")
LINK = "to-air"  # the device whose qdisc counts what the radio carries
#: What SSCOP's device tells that is no count.
GAUGES = ("segment_now", "srtt_us", "link_bps", "link_rtt_us", "link_window", "link_pressed",
          "backlog_now")  # fmt: skip

_COUNTER = re.compile(r"\s+(\w+): (\d+)")


# --- the link ---------------------------------------------------------------------------------


class Link(TypedDict):
    """The radio in the direction of the data."""

    bytes: Annotated[
        int, "bytes", "bytes of frames sent over the radio towards the receiver in the interval"
    ]
    utilisation: Annotated[float, "share", "those bytes' time at the rate, of the interval"]


class ProbesFlow(TypedDict):
    """What TCP sent on suspicion."""

    probes: Annotated[
        int, "segments",
        "tail loss probes TCP sent; those that repeat a segment are among `retransmits`",
    ]  # fmt: skip


class LinkKeys(TypedDict):
    """Keys of the link."""

    flows: list[ProbesFlow]
    link: Link


def _link(run: Measurement) -> None:
    span = run.interval
    first, last = (run.raw.counted(LINK, "bytes", us / 1e6) for us in (span.begin_us, span.end_us))
    rate = run.total("rate_bps")
    run.record["link"] = {
        "bytes": round(last - first),
        "utilisation": round((last - first) * 8 / (rate * span.over_s), 4),
    }
    for flow, spec in zip(run.record["flows"], run.specs, strict=True):
        flow["probes"] = run.raw.nstat(spec["netns"]).get("TcpExtTCPLossProbes", 0)


# --- SSCOP ------------------------------------------------------------------------------------


class Sscop(TypedDict):
    """SSCOP's own counts, of the whole run."""

    again: Annotated[
        float, "share",
        "SDs sent again because they were reported missing, per SD sent for the first time",
    ]  # fmt: skip
    repeated: Annotated[
        float, "share", "SDs repeated in idle time, not known to be needed, per SD sent first"
    ]
    gw: Annotated[
        dict[str, int], "number",
        "counters of `ethtool -S` at the sender's end from the flow's start to its end; "
        "`segment_now` and others that are no counts at the end",
    ]  # fmt: skip
    mh: Annotated[dict[str, int], "number", "the same at the receiver's end"]


class SscopKeys(TypedDict, total=False):
    """Keys with SSCOP."""

    sscop: Sscop


def counters(text: str) -> dict[str, int]:
    """The numbers in the output of ``ethtool -S``."""
    return {name: int(number) for name, number in _COUNTER.findall(text)}


def _between(raw: RawFolder, netns: str) -> dict[str, int]:
    begin, end = (
        counters((raw.path / f"sscop-{netns}-{when}.txt").read_text()) for when in ("begin", "end")
    )
    if not end:
        raise RecordError(f"sscop-{netns}-end.txt has no counters")
    return {
        name: number - (0 if name in GAUGES else begin.get(name, 0)) for name, number in end.items()
    }


def _sscop(run: Measurement) -> None:
    """SSCOP's counts; what it repairs is no loss to TCP."""
    if not run.raw.has("sscop-gw-end.txt"):
        return
    found = {netns: _between(run.raw, netns) for netns in HOSTS}
    sent = found["gw"]
    first, repeated = max(1, sent["sd_sent"]), sent.get("sd_repeated", 0)
    run.record["sscop"] = {
        "again": round((sent["sd_again"] - repeated) / first, 6),
        "repeated": round(repeated / first, 6),
        **found,
    }
    losses = run.record["queue"]["drops"] + sent.get("queue_dropped", 0)
    retransmits = sum(flow["retransmits"] for flow in run.record["flows"])
    run.record["losses"] = losses
    run.record["needless_retransmits"] = max(0, retransmits - losses)


# --- sequence numbers -------------------------------------------------------------------------


class Sequence(TypedDict):
    """Sequence numbers over time; times are seconds from the SYN."""

    tcp_s: Annotated[list[float], "s", "times of `tcp`"]
    tcp: Annotated[list[float], "segments", "full segments of TCP sent for the first time"]
    sd_s: Annotated[list[float], "s", "times of `sd`; empty without SSCOP"]
    sd: Annotated[list[int], "SDs", "SDs sent for the first time"]


class SequenceKeys(TypedDict, total=False):
    """Keys with the parameter ``series``."""

    sequence: Sequence


def _seconds(text: str) -> float:
    return float(text.removesuffix("ms")) / 1e3 if text.endswith("ms") else float(text[:-1])


def _sequence(run: Measurement) -> None:
    """TCP's sequence numbers from the sender's samples, SSCOP's from its counter."""
    length_s = _seconds(str(run.meta["set"].get("series", "0s")))
    if not length_s:
        return
    send = run.raw.sender(run.specs[0]["name"])
    mss = send["info"]["snd_mss"]
    rows = [dict(zip(send["fields"], row, strict=True)) for row in send["samples"]]
    rows = [row for row in rows if row["t_us"] - send["syn_us"] <= 1e6 * length_s]
    found: dict[str, Any] = {
        "tcp_s": [round((row["t_us"] - send["syn_us"]) / 1e6, 3) for row in rows],
        "tcp": [round(row["bytes_acked"] / mss + row["unacked"], 1) for row in rows],
        "sd_s": [],
        "sd": [],
    }
    if run.raw.has("sscop-series.txt"):
        zero = counters((run.raw.path / "sscop-gw-begin.txt").read_text())["sd_sent"]
        text = (run.raw.path / "sscop-series.txt").read_text()
        for part in text.split("at ")[1:]:
            time, _, rest = part.partition("\n")
            found["sd_s"].append(round(float(time) - send["syn_us"] / 1e6, 3))
            found["sd"].append(counters(rest)["sd_sent"] - zero)
    run.record["sequence"] = found


ALL = (
    Measure(_link, LinkKeys),
    Measure(_sscop, SscopKeys),
    PINGS,
    Measure(_sequence, SequenceKeys),
)
