# SPDX-License-Identifier: GPL-2.0
"""Measures of flows that share a path, each between its own hosts.

All flows are measured over one interval, which begins when the last flow's first data segment
arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .fairness import fair_shares
from .losses import hop_drops, shares_of_queue
from .measure import Measure

if TYPE_CHECKING:
    from .flows import MeasuredFlow
    from .measurement import Measurement

# --- each flow from its own start -------------------------------------------------------------


class Own(TypedDict):
    """A flow, measured from its own first data segment."""

    goodput_bps: Annotated[
        float, "bit/s", "goodput from the flow's own first data segment to the interval's end"
    ]
    from_s: Annotated[
        float, "s", "arrival of the flow's own first data segment, after the first SYN"
    ]
    over_s: Annotated[float, "s", "from the flow's own first data segment to the interval's end"]


class Window(TypedDict):
    """Congestion window in the interval."""

    mean: Annotated[float, "bytes", "congestion window in the interval, sampled every 100 ms"]
    min: Annotated[int, "bytes", "smallest sample of the window"]
    max: Annotated[int, "bytes", "largest sample of the window"]


class OwnFlow(TypedDict):
    """What each flow has."""

    own: Own
    window_bytes: Window | None


class CommonInterval(TypedDict):
    """The interval."""

    from_s: Annotated[float, "s", "beginning of the common interval, after the first SYN"]
    over_s: Annotated[
        float, "s",
        "length of the common interval: `duration_s`, or less if a sender stopped too soon (its "
        "SYN lost more than once; on a shared channel more than five times)",
    ]  # fmt: skip


class OwnKeys(TypedDict):
    """Keys of :data:`OWN`."""

    flows: list[OwnFlow]
    interval: CommonInterval


def _own(run: Measurement) -> None:
    span = run.interval
    for record, flow in zip(run.record["flows"], run.flows, strict=True):
        record["own"] = _own_time(flow, span.syn_us, span.end_us)
        record["window_bytes"] = flow.window_bytes(span.begin_us, span.end_us)
    run.record["interval"] = {
        "from_s": round((span.begin_us - span.syn_us) / 1e6, 3),
        "over_s": round(span.over_s, 3),
    }


def _own_time(flow: MeasuredFlow, syn_us: float, end_us: float) -> dict[str, Any]:
    own_s = (end_us - flow.begin_us) / 1e6
    return {
        "from_s": round((flow.begin_us - syn_us) / 1e6, 3),
        "over_s": round(own_s, 3),
        "goodput_bps": flow.goodput(flow.begin_us, end_us, own_s),
    }


#: Each flow's own goodput and window, and the common interval.
OWN = Measure(_own, OwnKeys)

# --- each flow's share of the drops -----------------------------------------------------------


class DropsFlow(TypedDict, total=False):
    """What each flow has."""

    queue_drops: Annotated[
        int | None, "frames",
        "the flow's share of `queue.drops`: what came to the router and did not enter the hop "
        "behind it. Null if that does not add up to the queue's own count (data blackout, losses "
        "of a moving hop)",
    ]  # fmt: skip
    link_drops: Annotated[int, "frames", "the flow's share of `link_drops`"]
    duplicates: Annotated[int | None, "segments", "the flow's share of `duplicates`"]
    switch_drops: Annotated[
        int, "frames", "slower senders: frames that the queue of their own link dropped"
    ]


class DropsKeys(TypedDict):
    """Keys of :data:`DROPS`."""

    flows: list[DropsFlow]


def _drops(run: Measurement) -> None:
    shares = shares_of_queue(run.raw, run.specs, run.record["queue"]["drops"])
    rows = zip(run.record["flows"], run.specs, run.receivers, shares, strict=True)
    for record, spec, ns, queued in rows:
        record |= {
            "queue_drops": queued,
            **hop_drops(run.raw, spec),
            "duplicates": run.duplicates[ns],
        }


#: Each flow's share of the drops, from the counters of devices that only its frames pass.
DROPS = Measure(_drops, DropsKeys)

# --- each flow's share of the goodput ---------------------------------------------------------


class FairFlow(TypedDict):
    """What each flow has."""

    fair_share: Annotated[float, "ratio", "several flows: the flow's goodput over the mean of all"]


class FairKeys(TypedDict):
    """Keys of :data:`FAIR`."""

    flows: list[FairFlow]


def _fair(run: Measurement) -> None:
    flows = run.record["flows"]
    if len(flows) > 1:
        rates = [flow["goodput_bps"] for flow in flows]
        for flow, share in zip(flows, fair_shares(rates), strict=True):
            flow["fair_share"] = share


#: How the flows divide the total goodput.
FAIR = Measure(_fair, FairKeys)

# --- counts after a warm-up -------------------------------------------------------------------


class Steady(TypedDict):
    """Counts since the end of the warm-up."""

    retransmits: Annotated[
        int, "segments",
        "with a warm-up: segments sent again since it was over (all other counts are of the whole "
        "run)",
    ]  # fmt: skip
    timeouts: Annotated[int, "number", "with a warm-up: timeouts since it was over"]


class SteadyFlow(TypedDict):
    """What each flow has."""

    steady: Steady


class SteadyQueue(TypedDict):
    """What the queue has."""

    steady_drops: Annotated[
        int, "frames",
        "with a warm-up: frames dropped since it was over (then all of `queue` and `rtt_ms` count "
        "from there)",
    ]  # fmt: skip


class SteadyKeys(TypedDict):
    """Keys of :data:`STEADY`."""

    flows: list[SteadyFlow]
    queue: SteadyQueue


def _steady(run: Measurement) -> None:
    if run.warm_s is None:
        return
    for record, flow, spec in zip(run.record["flows"], run.flows, run.specs, strict=True):
        early = run.raw.json(f"warmup-{spec['netns']}.json")["kernel"].get("TcpExtTCPTimeouts", 0)
        record["steady"] = {
            "retransmits": flow.retransmits_since(run.interval.begin_us),
            "timeouts": record["timeouts"] - early,
        }
    drops = sum(path.drops_since(run.warm_s) for path in run.paths)
    run.record["queue"]["steady_drops"] = drops


#: Counts since the end of the warm-up, if there was one.
STEADY = Measure(_steady, SteadyKeys)
