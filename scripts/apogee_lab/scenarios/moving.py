# SPDX-License-Identifier: GPL-2.0
"""Moving paths: rate, delay and losses that change while flows run, policers, jitter.

A path has two routers: ``near``, where the bottleneck is, and ``far``, behind it. On a moving path:

- The bottleneck is an HTB with one class and a pfifo. netem would fix each frame's departure time
  on arrival, by the rate at that time. HTB applies the rate when it sends; changing its class keeps
  the queue, and the frame that has just left is charged at the rate it left with.
- On a trace of opportunities it is the queue of opportunities.py instead.
- Delay and losses other than bit errors are emulated on two ifbs of ``far`` that all incoming
  frames pass: ``data-hop`` and ``ack-hop``. Each has a netem for losses and, inside it, one for
  delay. The latter has a very high rate, because netem keeps frames in order only if it has one.

Times are seconds after the first flow's SYN.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import units
from ..units import Event
from . import aqm, bursts, ceiling, opportunities, sending, testbed, tracefiles
from .ceiling import Ceiling
from .opportunities import Opportunities
from .scenario import Device, Param
from .tracefiles import Steps

PARAMS = (
    Param("event", None, "events|none",
          "changes of rate, queue, one-way delay, data loss; stall: ACKs held; outage: all lost"),
    Param("policer", 0, "size",
          "depth of a token bucket at that rate, with a queue of two packets; 0: none", 0, 1e9),
    Param("jitter", 0.0, "time", "standard deviation of the ACKs' delay, order kept", 0, 1),
    Param("jitter_mean", 0.0, "time", "mean delay that jitter adds to ACKs", 0, 10),
    Param("burst", None, "burst|none",
          "burst loss of data (Gilbert-Elliott): chance per frame to enter a burst, to leave it"),
    bursts.PARAM,
    Param("rate_trace", None, "file|none",
          "times of 1500 B each: Mahimahi's format, in ms, repeated; FILE@30s: from there"),
    Param("delay_trace", None, "file|none",
          "one-way delays: ms, a line every 10 ms, repeated; FILE@30s: from there"),
    Param("loss_trace", None, "file|none",
          "losses of data: percent, a line every 10 ms, repeated; FILE@30s: from there"),
    *aqm.PARAMS,
)  # fmt: skip

DATA, ACKS = "data-hop", "ack-hop"
ORDER = "rate 100gbit"  # keeps frames in order and takes no time
POLICER_PACKETS = 2
TAIL_S = 10.0  # how far traces extend beyond the run's interval
WAIT_S = 60.0  # the same for opportunities, for which the first data may have to wait
RATES, DELAYS, MOST_DEBT_S = (9600, 100e9), (0, 10), 60


def value_at(steps: Steps, time_s: float) -> float:
    """The value of the steps at a time."""
    return steps[bisect_right(steps, time_s, key=lambda step: step[0]) - 1][1]


def overlaid(steps: Steps, events: Sequence[Event]) -> Steps:
    """The steps overridden by events; of overlapping events, the one that began last applies."""
    ends = [event.start_s + (event.length_s or math.inf) for event in events]
    times = {at for at, _ in steps} | {event.start_s for event in events} | set(ends) - {math.inf}
    out: Steps = []
    for time in sorted(times):
        held = [e for e, end in zip(events, ends, strict=True) if e.start_s <= time < end]
        last = max(held, key=lambda event: event.start_s, default=None)
        value = value_at(steps, time) if last is None else last.value
        if not out or value != out[-1][1]:
            out.append((time, float(value or 0)))
    return out


@dataclass(frozen=True)
class Moves:
    """How a path changes over time: rates (bit/s), queue length (packets), one-way delays (s),
    shares of data and of ACKs lost, stalls of ACKs, derived from the parameters ``values``.

    With a rate trace ``chances`` are the bottleneck's opportunities, and the rates are theirs;
    ``back`` are those of the way back, if it has a trace. ``shaped`` and ``hop`` tell whether the
    bottleneck and the hop behind it differ from those of a static path.
    """

    values: Mapping[str, Any]
    rates: Steps
    queues: Steps
    delays: Steps
    losses: Steps
    ack_losses: Steps
    stalls: Sequence[Event] = field(default_factory=list)
    chances: Opportunities | None = None
    back: Opportunities | None = None

    @property
    def shaped(self) -> bool:
        """Whether the bottleneck is a token bucket, or its rate or its queue moves."""
        moved = len(self.rates) > 1 or len(self.queues) > 1
        return bool(self.values["policer"] or moved or self.chances)

    @property
    def hop(self) -> bool:
        """Whether the hop does more than constant delay and bit errors."""
        return (
            any(len(steps) > 1 for steps in (self.delays, self.losses, self.ack_losses))
            or bool(self.losses[0][1] or self.ack_losses[0][1])
            or bool(self.stalls or self.values["jitter"] or self.values["jitter_mean"])
            or self.values["burst"] is not None
            or any(self.values[name] is not None for name in ("delay_trace", "loss_trace"))
        )

    @property
    def longest_s(self) -> float:
        """The longest one-way delay, jitter and stalls included."""
        stalls = max((event.length_s or 0.0 for event in self.stalls), default=0.0)
        return max(delay for _, delay in self.delays) + self._jitter_s() + stalls

    @property
    def shortest_s(self) -> float:
        """The shortest one-way delay."""
        return min(delay for _, delay in self.delays)

    @property
    def slowest(self) -> dict[str, Any]:
        """The parameters with the longest delay, for upper bounds of times."""
        still = {"rate": round(self.rates[0][1])} if len(self.rates) == 1 else {}
        return {**self.values, **still, "delay": self.longest_s}

    @property
    def first(self) -> dict[str, Any]:
        """The parameters with the delay that the first frames find."""
        return {**self.values, "delay": self.delays[0][1]}

    def wait_s(self, until_s: float, octets: float = 0.0) -> float:
        """The longest wait (s) for opportunities, both ways: for two frames, and for ``octets`` of
        queue before them, that come before ``until_s``. 0 without traces of opportunities."""
        count = math.ceil(octets / opportunities.OCTETS) + 2
        traces = [(self.chances, count), (self.back, 2)]
        return sum(trace.wait_ms(1e3 * until_s, n) for trace, n in traces if trace) / 1e3

    def data_s(self, rtt_s: float) -> float:
        """When the first data arrives, if the handshake takes a round trip: on a trace the SYN and
        the data wait for opportunities, and data that comes at a time is in the bin before it."""
        if not self.chances:
            return rtt_s
        first = self.chances.at(self.chances.count(1e3 * rtt_s + self.chances.at(0)))
        return max(0.0, first - opportunities.BIN_MS) / 1e3

    @property
    def even_s(self) -> float:
        """The one-way delay (s) that is emulated outside the hop's ifbs."""
        return 0.0 if self.hop else self.delays[0][1]

    def data_links(self, far: str) -> tuple[Device, ...]:
        """The hop's ifb whose netem drops data, if there is one."""
        return ((far, DATA),) if self.hop else ()

    def ack_links(self, far: str) -> tuple[Device, ...]:
        """The same for ACKs."""
        return ((far, ACKS),) if self.hop else ()

    @property
    def place(self) -> str:
        """Priority of a blackout's filter, if the hop has filters on the same device."""
        return " pref 1" if self.hop else ""

    def _jitter_s(self) -> float:
        return self.values["jitter_mean"] + _half_width(self.values)

    def mean_rate(self, from_s: float, over_s: float, most: float = math.inf) -> float:
        """Mean rate in bit/s that the path could carry in an interval: the bottleneck's rate, the
        bucket's depth included, less the hop's losses at those times. No more than ``most`` comes
        to the bottleneck."""
        depth = 8 * self.values["policer"] * self._passes()
        return round(ceiling.mean(self._carried(most), from_s, over_s) + depth / over_s, 3)

    def _carried(self, most: float) -> Steps:
        """The same by time, without the bucket's depth. Opportunities may also be those of a queue
        that filled before."""
        most = math.inf if self.chances else most
        times = sorted({at for steps in (self.rates, self.losses) for at, _ in steps})
        return [
            (at, min(value_at(self.rates, at), most) * (1 - value_at(self.losses, at))
             * self._passes())
            for at in times
        ]  # fmt: skip

    def _passes(self) -> float:
        """Share of the data that neither bursts nor constant losses take."""
        burst = self.values["burst"]
        lost = burst[0] / (burst[0] + burst[1]) if burst else 0.0
        return (1 - lost) * (1 - self.values.get("loss", 0.0))

    def ceiling(self, begin_s: float, behind_s: float = 0.0, most: float = math.inf) -> Ceiling:
        """What can be carried at most. ``begin_s``: when the first data passes the bottleneck;
        ``behind_s``: the way from the hop to a receiver."""
        values, burst = sending.sent(self.values), self.values["burst"]
        share = testbed.limit_bps({**values, "rate": 1.0})
        random = max((loss for _, loss in self.losses if loss < 1), default=0.0)
        frame = values["mtu"] + testbed.ETHERNET
        kept = self._passes() * (1 - random) * (1 - testbed.frame_loss(values["ber"], frame))
        return Ceiling(
            tuple((at, share * rate) for at, rate in self._carried(most)),
            (behind_s + self.shortest_s, behind_s + max(delay for _, delay in self.delays)),
            (begin_s, begin_s + behind_s + self.delays[0][1]),
            (8 * max(values["policer"], 2 * frame) + self._of_a_bin()) * share,
            ceiling.luck(1 - kept, values["mtu"], max(0.0, 1 - sum(burst)) if burst else 0.0),
            0.0 if self.chances else ceiling.LATE_S,
        )

    def _of_a_bin(self) -> float:
        """Bits of the two bins of opportunities at an interval's ends, at most."""
        most = max(rate for _, rate in self.rates) if self.chances else 0.0
        return 2 * most * opportunities.BIN_MS / 1e3


#: Rates and delays that replace ``rate`` and ``delay`` until a time; None: not replaced.
Source = Callable[[Mapping[str, Any], float], tuple[Steps | None, Steps | None]]


def traced(values: Mapping[str, Any], until_s: float) -> tuple[Steps | None, Steps | None]:
    """The delays of the trace file, None if it is not given; a rate trace is no source of rates,
    but of opportunities."""
    delay = values["delay_trace"]
    return None, None if delay is None else tracefiles.delay_steps(delay, until_s)


def _losses(values: Mapping[str, Any], until_s: float) -> Steps:
    trace = values["loss_trace"]
    return [(0.0, 0.0)] if trace is None else tracefiles.loss_steps(trace, until_s)


def _chances(
    values: Mapping[str, Any], rates: Sequence[Event], until_s: float
) -> Opportunities | None:
    """The opportunities of the rate trace, if there is one, with even ones during rate events."""
    if values["rate_trace"] is None:
        return None
    found = opportunities.read("rate_trace", values["rate_trace"], until_s)
    if not rates:
        return found
    steps = overlaid([(0.0, 0.0)], rates)
    return opportunities.overridden(found, steps, values["mtu"], until_s)


def of(
    values: Mapping[str, Any],
    packets: int,
    ends_s: float,
    source: Source = traced,
    over_s: float = 0.0,
) -> Moves:
    """The moves of a path with these parameters and a queue of so many packets, in a run that ends
    at ``ends_s``, or up to ``over_s`` later if transfers have to be completed.

    ValueError (one line) if the parameters are not valid.
    """
    events = values["event"] or ()
    _check(values, events, ends_s)
    until_s = ends_s + TAIL_S + over_s
    rates, delays = source(values, until_s)
    kinds = {what: [e for e in events if e.what == what] for what in units.EVENTS}
    gone = [Event("outage", 1.0, e.start_s, e.length_s) for e in kinds["outage"]]
    losses = overlaid(overlaid(_losses(values, until_s), kinds["loss"]), gone)
    losses = bursts.lost_in(losses, bursts.bad_times(values, ends_s + over_s))
    queues = [replace(e, value=testbed.queue_packets(values, e.value)) for e in kinds["queue"]]
    last_s = ends_s + WAIT_S + over_s
    chances = _chances(values, kinds["rate"], last_s)
    if chances:
        steps = chances.steps(1e3 * last_s, opportunities.frame_bits(values["mtu"]))
    else:
        steps = overlaid(rates or [(0.0, values["rate"])], kinds["rate"])
    moves = Moves(
        values,
        steps,
        overlaid([(0.0, packets)], queues),
        overlaid(delays or [(0.0, values["delay"])], kinds["delay"]),
        losses,
        overlaid([(0.0, 0.0)], gone),
        kinds["stall"],
        chances,
        opportunities.return_trace(values, last_s),
    )
    _check_moves(values, moves)
    return moves


def _check(values: Mapping[str, Any], events: Sequence[Event], ends_s: float) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    for event in events:
        text = units.format("events", (event,))
        if event.what == "ber":
            raise ValueError(f"event: {text}: only scenario radio has bit errors that change")
        bounds = {"rate": RATES, "delay": DELAYS}.get(event.what)
        if bounds and not bounds[0] <= (event.value or 0) <= bounds[1]:
            low, high = (units.format(event.what.replace("delay", "time"), b) for b in bounds)
            raise ValueError(f"event: {text} is out of range, allowed: from {low} to {high}")
        if event.start_s + (event.length_s or 0) > ends_s or event.start_s >= ends_s:
            raise ValueError(f"event: {text} ends after the run, which lasts {ends_s:g} s")
    stalls = sorted((e for e in events if e.what == "stall"), key=lambda e: e.start_s)
    for one, other in zip(stalls, stalls[1:], strict=False):
        if other.start_s <= one.start_s + (one.length_s or 0):
            raise ValueError("event: a stall begins before the previous one has ended")
    if values["burst"] and any(event.what == "loss" for event in events):
        raise ValueError("event: loss requires burst=none: netem has one loss model at a time")
    if values["burst"] and values["loss_trace"] is not None:
        raise ValueError("loss_trace requires burst=none: netem has one loss model at a time")


def _check_moves(values: Mapping[str, Any], moves: Moves) -> None:
    """ValueError for a path that cannot be emulated with these traces and events."""
    aqm.check(values, round(moves.queues[0][1]), moves.shaped)
    depth = values["policer"]
    if depth and (len(moves.rates) > 1 or len(moves.queues) > 1 or moves.chances):
        raise ValueError("policer: rate and queue must be constant: leave out event or trace")
    if depth and depth < values["mtu"] + testbed.ETHERNET:
        least = units.format("size", values["mtu"] + testbed.ETHERNET)
        raise ValueError(f"policer: a bucket of less than {least} passes no frame")
    if depth * 8 > moves.rates[0][1] * MOST_DEBT_S:
        raise ValueError(
            f"policer: at that rate the bucket takes more than {MOST_DEBT_S} s to fill"
        )
    if _half_width(values) > moves.shortest_s + values["jitter_mean"]:
        least = math.ceil((_half_width(values) - moves.shortest_s) * 1e6) / 1e6
        text = units.format("time", least)
        raise ValueError(
            f"jitter: some ACKs would arrive before they leave: use at least jitter_mean={text}"
        )


def _half_width(values: Mapping[str, Any]) -> float:
    """Half the width of netem's uniform distribution (s): standard deviation × √3."""
    return math.sqrt(3) * values["jitter"]


def loses(values: Mapping[str, Any]) -> bool:
    """Whether the hop may lose a SYN, other than by bit errors and constant loss."""
    events = any(event.what in ("loss", "outage") for event in values["event"] or ())
    return events or any(values[name] for name in ("burst", "burst_time", "loss_trace"))


def waiting(moves: Moves, flows: Sequence[Any], until_s: float, octets: float) -> Sequence[Any]:
    """The flows (traffic.TrafficFlow), sending for longer by what they may wait for opportunities
    until their first data arrives."""
    wait_s = moves.wait_s(until_s, octets)
    return [replace(flow, seconds=flow.seconds + wait_s) for flow in flows] if wait_s else flows


# --- tc lines ---------------------------------------------------------------------------------


def bottleneck(moves: Moves, dev: str) -> list[str]:
    """tc lines: rate and queue of a device."""
    values, packets = moves.values, round(moves.queues[0][1])
    if moves.chances:
        return opportunities.qdiscs(_NAME, dev)
    rate = _bits(moves.rates[0][1])
    if values["aqm"] != "none":
        return aqm.lines({**values, "rate": round(moves.rates[0][1])}, dev, packets)
    if not moves.shaped:
        return [f"qdisc add dev {dev} root netem rate {rate} limit {packets}"]
    return [
        f"qdisc add dev {dev} root handle 1: htb default 1",
        f"class add dev {dev} parent 1: {_class(values)} {rate}",
        f"qdisc add dev {dev} {_PFIFO} {POLICER_PACKETS if values['policer'] else packets}",
    ]


_NAME, _BACK = "data", "acks"  # of the programs


def programs(moves: Moves) -> list[str]:
    """Shell lines before the bottleneck's: load what gives frames their opportunities."""
    if not (moves.chances or moves.back):
        return []
    lines = opportunities.begin()
    if moves.chances:
        lines += opportunities.load(_NAME, moves.chances, moves.queues)
    else:
        lines += opportunities.only_zero(_NAME)
    if moves.back:
        queue = [(0.0, moves.values["ack_queue"])]
        lines += opportunities.load(_BACK, moves.back, queue)
    return lines


def programs_end(moves: Moves) -> list[str]:
    """Shell lines after the bottleneck and the way back are set up."""
    return opportunities.end() if moves.chances or moves.back else []


def return_path(moves: Moves, dev: str) -> list[str]:
    """tc lines for the way back behind the hop, on a device of the bottleneck's router."""
    lines = testbed.return_path(moves.values, dev)
    if moves.back and lines:
        lines += opportunities.qdiscs(_BACK, dev, "parent 1:1", 2)
    elif moves.back:
        lines += opportunities.qdiscs(_BACK, dev)
    return lines


def zero_filter(moves: Moves, dev: str) -> list[str]:
    """tc lines that note when the first frame leaves, if only the way back has a trace; ``dev``,
    the bottleneck, has a clsact."""
    if moves.chances or not moves.back:
        return []
    return [f"filter add dev {dev} egress {opportunities.program(_NAME)}"]


_PFIFO = "parent 1:1 handle 2: pfifo limit"


def _class(values: Mapping[str, Any]) -> str:
    """HTB's class without its rate; a bucket of one frame tolerates late timers."""
    frame = values["mtu"] + testbed.ETHERNET
    burst = values["policer"] or frame
    return f"classid 1:1 htb burst {burst}b cburst {burst}b quantum {frame} rate"


def _bits(rate: float) -> str:
    return f"{round(rate)}bit"


def hop(moves: Moves, far: str, near: str, back: Sequence[str]) -> list[str]:
    """Shell lines that create the hop's ifbs and redirect to them the frames that come in from
    ``near`` and, through the devices ``back``, from the receivers."""
    if not moves.hop:
        return []
    ways = [(DATA, f"to-{near}"), *((ACKS, dev) for dev in back)]
    lines = [
        f"# moving hop: what {far} takes in passes {DATA} or {ACKS}, which lose and then delay, in",
        "# order",
        f"for dev in {DATA} {ACKS}; do",
        f"\tip -n {far} link add $dev type ifb",
        f"\tip -n {far} link set $dev up",
        "done",
    ]
    qdiscs = []
    for dev, loss, delay in (
        (DATA, _data_loss(moves, 0.0), _delay(moves, 0.0)),
        (ACKS, _loss(moves.ack_losses, 0.0), _ack_line(moves, 0.0)),
    ):
        qdiscs += [
            f"qdisc add dev {dev} {_LOSE} {loss}",
            f"qdisc add dev {dev} {_DELAY} {delay}",
        ]
    for ifb, dev in ways:
        qdiscs += [
            f"qdisc add dev {dev} clsact",
            f"filter add dev {dev} ingress pref 2 matchall action mirred egress redirect dev {ifb}",
        ]
    return [*lines, *testbed.batch(f"tc -n {far}", qdiscs), ""]


_LOSE = f"root handle 1: netem limit {testbed.DELAY_LINE}"
_DELAY = f"parent 1:1 handle 2: netem {ORDER} limit {testbed.DELAY_LINE} delay"


def _loss(steps: Steps, time_s: float) -> str:
    return f"loss {100 * value_at(steps, time_s):.9g}%"


def _data_loss(moves: Moves, time_s: float) -> str:
    burst = moves.values["burst"]
    if not burst or value_at(moves.losses, time_s):
        return _loss(moves.losses, time_s)
    return f"loss gemodel {100 * burst[0]:.9g}% {100 * burst[1]:.9g}%"


def _delay(moves: Moves, time_s: float) -> str:
    return testbed.time_text(value_at(moves.delays, time_s))


def _ack_delay(moves: Moves, time_s: float) -> str:
    mean = testbed.time_text(value_at(moves.delays, time_s) + moves.values["jitter_mean"])
    half = _half_width(moves.values)
    return f"{mean} {testbed.time_text(half)}" if half else mean


def _ack_line(moves: Moves, time_s: float) -> str:
    """The ACKs' delay from a time on; during a stall, a slot holds them until its end."""
    text = _ack_delay(moves, time_s)
    for stall in moves.stalls:
        if time_s == stall.start_s:
            length = testbed.time_text(stall.length_s or 0)
            text += f" slot {length} {length}"
        elif time_s == stall.start_s + (stall.length_s or 0):
            text += " slot 0us 0us"
    return text


# --- while flows run --------------------------------------------------------------------------


def _streams(
    moves: Moves, near: Device, far: str
) -> list[tuple[str, str, list[tuple[float, str]]]]:
    """The changes: namespace, common prefix of the tc commands, and their suffixes with times. What
    holds at 0 s is set up before."""
    router, dev = near
    held = {t for e in moves.stalls for t in (e.start_s, e.start_s + (e.length_s or 0))}
    delays = [at for at, _ in moves.delays]
    streams = [
        (router, f"class change dev {dev} parent 1: {_class(moves.values)}",
         [(at, _bits(rate)) for at, rate in moves.rates]),
        (router, f"qdisc change dev {dev} {_PFIFO}",
         [(at, f"{round(packets)}") for at, packets in moves.queues]),
        (far, f"qdisc change dev {DATA} {_LOSE}",
         [(at, _data_loss(moves, at)) for at, _ in moves.losses]),
        (far, f"qdisc change dev {DATA} {_DELAY}", [(at, _delay(moves, at)) for at in delays]),
        (far, f"qdisc change dev {ACKS} {_LOSE}",
         [(at, _loss(moves.ack_losses, at)) for at, _ in moves.ack_losses]),
        (far, f"qdisc change dev {ACKS} {_DELAY}",
         [(at, _ack_line(moves, at)) for at in sorted({*delays, *held})]),
    ]  # fmt: skip
    if moves.chances:
        streams = streams[2:]  # the program has both
    later = [(ns, text, [step for step in steps if step[0]]) for ns, text, steps in streams]
    return [stream for stream in later if stream[2]]


_MOVE = """\
move() { sed "s|^[^ ]* |&$2 |" | flow replay PID | tc -n $1 -batch -; }
"""
_MOVE_IPERF3 = """\
replay() {
	zero=$(now)
	while kill -0 PID 2>/dev/null && read -r at line; do
		wait=$(awk "BEGIN { s = $zero + $at - $(now); printf \\"%.6f\\", (s > 0 ? s : 0) }")
		sleep $wait
		echo "$1 $line"
	done
}
move() {
	whole=$({ { replay "$2"; echo yes >&3; } | tc -n $1 -batch -; } 3>&1)
	[ "$whole" = yes ] || { echo "$2: what moves the path has died" >&2; exit 1; }
}
"""


def play(moves: Moves, near: Device, far: str, pid: str) -> str:
    """Shell lines that apply the changes in the background while a process is alive."""
    streams = _streams(moves, near, far)
    if not streams:
        return ""
    text = "# move NAMESPACE COMMAND: for each line of standard input COMMAND and its words, when\n"
    text += "# the time that it begins with has come\n"
    ours = moves.values["traffic"] == "flow"
    text += (_MOVE if ours else _MOVE_IPERF3).replace("PID", pid)
    text += "movers=\n"
    for ns, command, steps in streams:
        lines = "\n".join(f"{testbed.seconds(at)} {words}" for at, words in steps)
        text += f"move {ns} '{command}' <<'END' &\n{lines}\nEND\nmovers=\"$movers $!\"\n"
    return text


def end(moves: Moves, near: Device) -> str:
    """Shell lines for after the flows: fail if a tc command failed, and restore the first rate so
    that the queue drains."""
    if not _streams(moves, near, ""):
        return ""
    text = "for pid in $movers; do wait $pid; done\n"
    if len(moves.rates) > 1 and not moves.chances:
        router, dev = near
        fast = _bits(max(rate for _, rate in moves.rates))
        text += f"tc -n {router} class change dev {dev} parent 1: {_class(moves.values)} {fast}\n"
    return text
