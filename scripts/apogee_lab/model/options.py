# SPDX-License-Identifier: GPL-2.0
"""A run of a scenario as options of the model's program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base import UsageError
from ..scenarios import SCENARIOS, leo, moving, testbed, traffic
from ..scenarios.moving import Moves
from .program import CONTROLS

SCENARIO_NAMES = ("satellite", "satellite-shared", "leo", "requests")
#: Parameters that the model has. Others must be left alone.
PARAMS = frozenset(
    "rate delay ber ack_ber queue window ack_rate ack_queue ack_slot event policer jitter "
    "jitter_mean burst burst_time rate_trace delay_trace flows start delays spread wired_rate "
    "wired_delay loss rate_low rate_high spike sizes persistent period idle lead".split()
)
ACK_FRAME = 66
FRAME = 1514


def of(scenario: str, values: Mapping[str, Any], cc: str, duration_s: float) -> list[str]:
    """The options for a scenario's values (with ``seed``) and mix; UsageError for what the model
    cannot do. ``module.parameter`` keys are parameters of star."""
    if scenario not in SCENARIO_NAMES:
        raise UsageError(f"the model has no scenario {scenario}, only {', '.join(SCENARIO_NAMES)}")
    ccs = SCENARIOS[scenario].flows(cc)
    every = {**SCENARIOS[scenario].defaults(), **values}
    _check(scenario, values, ccs)
    shared = scenario != "satellite"
    if scenario == "requests":
        every |= _as_shared(every, ccs)
    count = _count(every, ccs) if shared else 1
    flows = list(traffic.spread("--cc", ccs, count, "flows", "flows"))
    starts = traffic.starts("start", every["start"], count, "flows", "flows") if shared else (0.0,)
    ends_s = max(starts) - min(starts) + duration_s
    events = every["event"] or ()
    # Outages and bursts by time lose what enters the hop meanwhile; as shares lost they would lose
    # what enters the queue. The model draws the bursts' times itself.
    outages = [event for event in events if event.what == "outage"]
    rest = {**every, "event": tuple(event for event in events if event.what != "outage"),
            "burst_time": None}  # fmt: skip
    source = leo.path if scenario == "leo" else moving.traced
    moves = moving.of(rest, testbed.queue_packets(every), ends_s, source)
    wired_s = 2 * every["wired_delay"] if shared else 0.0
    return [
        *_words("flows", ",".join(flows)),
        "--kernel",
        *_words("duration", f"{duration_s:g}"),
        *_words("seed", str(every["seed"])),
        *_path(every, moves, wired_s),
        *_return_path(every),
        *(_flows(every, starts, count) if shared else [*_words("access-rate", "0"),
                                                        *_words("spread", "0")]),
        *_transfers(scenario, every),
        *_events(moves, wired_s),
        *(word for event in outages for word in _words(
            "event", f"{event.start_s:g}:outage={1e3 * (event.length_s or 0):g}")),
        *(word for key, value in values.items() if "." in key
          for word in _words("param", f"{key.partition('.')[2]}={value}")),
    ]  # fmt: skip


def _words(option: str, text: str) -> list[str]:
    return [f"--{option}", text]


def _count(values: Mapping[str, Any], ccs: Sequence[str]) -> int:
    return max(2, len(ccs)) if values["flows"] == "mix" else values["flows"]


def _as_shared(values: Mapping[str, Any], ccs: Sequence[str]) -> dict[str, Any]:
    """What satellite-shared has for the flows of requests: the transfers', and those beside."""
    lead = values["lead"] if len(ccs) > 1 else 0.0
    return {"flows": len(ccs), "start": (lead, *(0.0 for _ in ccs[1:])), "delays": (0.0,)}


def _transfers(scenario: str, values: Mapping[str, Any]) -> Iterator[str]:
    if scenario == "requests":
        sizes = ",".join(map(str, values["sizes"]))
        yield from _words("transfers", f"{sizes}:{values['period']:.9g},{values['idle']:.9g}")


def _check(scenario: str, values: Mapping[str, Any], ccs: Sequence[str]) -> None:
    for name in ccs:
        if name not in CONTROLS:
            raise UsageError(f"the model has no {name}; choose from: {', '.join(CONTROLS)}")
    defaults = {**SCENARIOS[scenario].defaults(), "seed": values["seed"]}
    if scenario == "requests" and not values.get("persistent"):
        raise UsageError("the model has transfers on one connection only: add persistent=1")
    for key, value in values.items():
        if "." in key:
            if not key.startswith("star."):
                raise UsageError(f"{key}: the model has parameters of star only")
        elif key not in PARAMS and value != defaults[key]:
            raise UsageError(f"the model has no parameter {key}")


def _path(values: Mapping[str, Any], moves: Moves, wired_s: float) -> Iterator[str]:
    yield from _words("rate", _rate(moves.rates[0][1]))
    yield from _words("rtt", _rtt_ms(moves.delays[0][1], wired_s))
    yield from _words("window", str(values["window"]))
    if values["policer"]:
        yield from _words("queue", str(moving.POLICER_PACKETS))
        yield from _words("burst-bytes", str(values["policer"]))
    else:
        yield from _words("queue", f"{moves.queues[0][1]:g}")
        # HTB sends while its tokens are not negative: two go at once from a bucket of one frame.
        # The frame being sent is not in the queue.
        yield from _words("burst-bytes", str(2 * FRAME) if moves.shaped else "0")
    yield from _words("ber", repr(values["ber"]))
    loss = moves.losses[0][1] + values.get("loss", 0.0)
    yield from _words("loss", f"{loss:.9g}")
    if values["burst"]:
        yield from _words("bursts", ",".join(f"{share:.9g}" for share in values["burst"]))
    if values["burst_time"]:
        yield from _words("burst-time", ",".join(f"{1e3 * t:.9g}" for t in values["burst_time"]))


def _rate(bps: float) -> str:
    """A rate; without opportunities for a while nothing leaves at the least rate either."""
    return f"{max(1.0, bps):.12g}"


def _rtt_ms(delay_s: float, wired_s: float) -> str:
    return f"{2e3 * (delay_s + wired_s):.9g}"


def _return_path(values: Mapping[str, Any]) -> Iterator[str]:
    _, ack_ber = testbed.error_rates(values)
    yield from _words("ack-loss", f"{testbed.frame_loss(ack_ber, ACK_FRAME):.9g}")
    yield from _words("ack-slot", f"{1e3 * values['ack_slot']:.9g}")
    yield from _words("ack-rate", str(values["ack_rate"]))
    yield from _words("ack-queue", str(values["ack_queue"]))
    mean, deviation = (1e3 * values[name] for name in ("jitter_mean", "jitter"))
    yield from _words("ack-jitter", f"{mean:.9g},{deviation:.9g}")


def _flows(values: Mapping[str, Any], starts: Sequence[float], count: int) -> Iterator[str]:
    extra = traffic.spread("delays", values["delays"], count, "flows", "flows")
    yield from _words("start", ",".join(f"{start:g}" for start in starts))
    yield from _words("delays", ",".join(f"{1e3 * delay:.9g}" for delay in extra))
    yield from _words("access-rate", str(values["wired_rate"]))
    spread = values["spread"]
    if spread == "rtt":
        spread = 2 * (values["delay"] + 2 * values["wired_delay"] + min(extra))
    yield from _words("spread", f"{spread:.9g}")


def _events(moves: Moves, wired_s: float) -> Iterator[str]:
    share = moves.values.get("loss", 0.0)
    for at, rate in moves.rates[1:]:
        yield from _words("event", f"{at:.9g}:rate={_rate(rate)}")
    for at, packets in moves.queues[1:]:
        yield from _words("event", f"{at:.9g}:queue={packets:g}")
    for at, delay in moves.delays[1:]:
        yield from _words("event", f"{at:.9g}:rtt={_rtt_ms(delay, wired_s)}")
    for at, loss in moves.losses[1:]:
        yield from _words("event", f"{at:.9g}:loss={loss + share:.9g}")
    for stall in moves.stalls:
        yield from _words("event", f"{stall.start_s:g}:stall={1e3 * (stall.length_s or 0):g}")
