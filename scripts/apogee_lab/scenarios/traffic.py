# SPDX-License-Identifier: GPL-2.0
"""Script lines that run flows that share a path, each between its own two hosts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import units
from . import testbed
from .scenario import Device, FlowSpec, members

SLACK_S = 0.1
LONGEST_S = 600.0  # flow/sender.c: a transfer that takes longer has failed
LATE_SYN_S = 1.1  # a lost SYN is retransmitted after 1 s
#: Parameters by which a path loses frames, beside its events.
LOSSES = (
    "ber", "ack_ber", "loss", "loss1", "loss2", "loss3", "loss4", "ack_loss", "burst",
    "burst_time", "loss_trace", "data_blackout", "ack_blackout",
)  # fmt: skip


@dataclass(frozen=True)
class Transfers:
    """Transfers one after the other, in rounds of ``sizes`` (bytes): each on a new connection, or
    all on one that is kept (``persistent``). The next one begins ``period_s`` after the last one
    began and, if that was a round's last, ``idle_s`` after it ended, but not before that."""

    sizes: tuple[int, ...]
    period_s: float = 0.0
    idle_s: float = 0.0
    persistent: bool = False

    @property
    def server(self) -> str:
        """The verb of the tool that receives them."""
        return "answer" if self.persistent else "serve"

    @property
    def words(self) -> str:
        """The verb that sends them, and as one word of the shell what follows the log's name."""
        times = [testbed.seconds(t) for t in (self.period_s, self.idle_s)]
        sizes = "+".join(map(str, self.sizes))
        verb = "chunks" if self.persistent else "request"
        waits = self.period_s or self.idle_s
        return f"{verb} '{' '.join([sizes, *times])}'" if waits else f"{verb} {sizes}"


@dataclass(frozen=True)
class TrafficFlow:
    """A flow: namespaces of sender and receiver, receiver's address and port, algorithm, start.

    It sends for ``seconds`` through its device to ``next_hop``. ``group`` is the class of flows it
    belongs to, if any. With ``transfers`` it is these instead of a bulk flow; none begins after
    ``seconds``, and the bulk flows beside them end when all are done.
    """

    name: str
    cc: str
    snd: str
    rcv: str
    address: str
    port: int
    start_s: float
    seconds: float
    next_hop: str
    group: str = ""
    transfers: Transfers | None = None


def mix(cc: str, most: int, flows: str) -> tuple[str, ...]:
    """The algorithms that ``--cc`` names; ValueError if there are more than ``most``."""
    found = members(cc)
    if not all(found):
        raise ValueError(f"--cc {cc}: one name for all {flows}, or one each joined by +")
    if len(found) > most:
        raise ValueError(f"--cc {cc}: names {len(found)}, but there are at most {most} {flows}")
    return found


def spread(name: str, given: Sequence[Any], count: int, flows: str, number: str) -> Sequence[Any]:
    """One item per flow; a single item applies to all flows.

    ``number`` names the parameter that sets how many flows there are, for the error message.
    """
    if len(given) not in (1, count):
        raise ValueError(
            f"{name}: {len(given)} given, but there are {count} {flows} ({number}={count}): "
            f"give one for all, or {count} joined by +"
        )
    return given if len(given) == count else tuple(given) * count


def late_syn_s(values: Mapping[str, Any], flows: int, alone: bool) -> float:
    """How much longer a flow sends because the path may lose another's SYN (s). Without another it
    need not, as it counts from its handshake on; ``alone``: its script has it all the same."""
    events = [e for name, each in values.items() if name.startswith("event") for e in each or ()]
    lossy = any(values.get(name) not in (None, 0, "same") for name in LOSSES) or any(
        event.what in ("loss", "outage") for event in events
    )
    return LATE_SYN_S if alone or (flows > 1 and lossy) else 0.0


def starts(name: str, given: tuple[float, ...], count: int, flows: str, number: str) -> Any:
    """The start time of each flow (s).

    A single time for several flows must be 0: any other value is probably a list typed with ``,``.
    """
    if len(given) == 1 and given[0] and count > 1:
        time = units.format("time", given[0])
        raise ValueError(f"{name}: {time} for all {flows}: give one per flow, such as 0s+{time}")
    return spread(name, given, count, flows, number)


def specs(flows: Sequence[TrafficFlow], router: str, hop: str) -> tuple[FlowSpec, ...]:
    """The facts about the flows: each has its own device into ``router`` and out of ``hop``.

    A next hop other than the router is the flow's own switch.
    """
    return tuple(
        FlowSpec(
            name=flow.name,
            cc=flow.cc,
            netns=flow.snd,
            port=flow.port,
            receiver_ns=flow.rcv,
            entry=(router, f"to-{flow.snd if flow.next_hop == router else flow.next_hop}"),
            exit=(hop, f"to-{flow.rcv}"),
            group=flow.group,
            sizes=flow.transfers.sizes if flow.transfers else (),
            switch=None if flow.next_hop == router else (flow.next_hop, f"to-{router}"),
        )
        for flow in flows
    )


# --- the script -------------------------------------------------------------------------------

_TOOLS = {
    "flow": (
        'flow ${4:-recv} $3 "$OUT/$1.recv.json"',
        'flow ${8:-send} $5 $6 --cc $4 --duration $7 "$OUT/$1.send.json" ${9:-}',
    ),
    "mptcp": (
        'flow mptcp ${4:-recv} $3 "$OUT/$1.recv.json"',
        'flow mptcp ${8:-send} $5 $6 --cc $4 --duration $7 "$OUT/$1.send.json" ${9:-}',
    ),
    "iperf3": (
        'iperf3 -s -1 -p $3 --json >"$OUT/$1.iperf3-server.json"',
        'iperf3 -c $5 -p $6 -C $4 -t $7 --json >"$OUT/$1.iperf3-client.json"',
    ),
}


def traffic(
    flows: Sequence[TrafficFlow],
    tool: str,
    queues: Sequence[Device],
    events: str,
    empty_s: float,
    spread_s: float = 0.0,
    end: str = "",
    paths: Mapping[str, Device] | None = None,
) -> str:
    """Shell lines that run the flows with a traffic tool and sample the queue.

    ``queues`` are all queues that may hold data, the sampled bottleneck last; once they are empty,
    the path is empty after ``empty_s``. With several ``paths`` the bottleneck of each is sampled,
    into a file named after the path. ``events`` are lines that run while the flows do, ``end``
    lines that run after all flows have stopped. Each flow starts up to ``spread_s`` later, at
    random; ``$first`` is the earliest start.
    """
    receive, send = _TOOLS[tool]
    ours = tool != "iperf3"
    lines = [
        "# recv FLOW NAMESPACE PORT [serve]",
        f"recv() {{ exec ip netns exec $2 {receive}; }}",
        "listening() {",
        "\tport=$(printf ':%04X ' $2)",
        "\tip netns exec $1 sh -c \"until grep -q '$port' /proc/net/tcp6; do sleep 0.01; done\"",
        "}",
        "# send FLOW NAMESPACE START CC ADDRESS PORT SECONDS [request SIZES]",
        "send() {",
        "\tsleep $3",
        "\tnote $1 start",
        f"\texec ip netns exec $2 {send}",
        "}",
        "empty() {",
        "\tuntil tc -n $1 -s qdisc show dev $2 root | grep -q 'backlog 0b 0p'; do sleep 0.1; done",
        "}",
        "receivers= senders=",
    ]
    for flow in flows:
        serve = f" {flow.transfers.server}" if flow.transfers else ""
        lines += [
            f"recv {flow.name} {flow.rcv} {flow.port}{serve} &",
            'receivers="$receivers $!"',
        ]
    lines += [f"listening {flow.rcv} {flow.port}" for flow in flows]
    lines += _starts(flows, spread_s)
    for flow in flows:
        seconds = flow.seconds if ours else math.ceil(flow.seconds)
        words = f" {flow.transfers.words}" if flow.transfers else ""
        lines += [
            f"send {flow.name} {flow.snd} $start_{flow.name} {flow.cc} {flow.address} {flow.port} "
            f"{seconds:g}{words} &",
            "transfers=$!" if flow.transfers else 'senders="$senders $!"',
        ]
    lines += [
        "note queue_sampling on",
        *(_sample_each(paths, ours) if paths else _sample(queues[-1], "queue", "$!", ours)),
        "sampler=$samplers" if paths else "sampler=$!",
        f"{events}{_transfers(flows)}for pid in $senders; do wait $pid; done",
        f"wait $sampler\n{end}".rstrip(),
        *_stop(flows, ours),
        *(f"empty {ns} {name}" for ns, name in queues),
        f"sleep {empty_s:g}",
    ]
    if ours:
        lines += [
            "kill $receivers 2>/dev/null || :",
            "for pid in $receivers; do wait $pid; done",
        ]
    return "\n".join(lines) + "\n"


def _sample(place: Device, name: str, pid: str, ours: bool) -> list[str]:
    """Shell lines that sample a queue while a process is alive."""
    netns, dev = place
    show = f"qdisc show dev {dev}"
    every = (
        f"flow every 0.1 '{show}' {pid} |"
        if ours
        else f"while kill -0 {pid} 2>/dev/null; do echo '{show}'; sleep 0.1; done |"
    )
    return [every, f'\ttc -n {netns} -s -j -batch - >"$OUT/{name}.jsonl" &']


def _sample_each(paths: Mapping[str, Device], ours: bool) -> list[str]:
    """Shell lines that sample the bottleneck of each of several paths."""
    lines = ["last=$! samplers="]
    for name, place in paths.items():
        lines += [*_sample(place, f"queue-{name}", "$last", ours), 'samplers="$samplers $!"']
    return lines


def _transfers(flows: Sequence[TrafficFlow]) -> str:
    """Shell lines that wait for the transfers, if there are any, and then end the bulk flows."""
    if not any(flow.transfers for flow in flows):
        return ""
    return 'wait $transfers\n[ -z "$senders" ] || kill $senders\n'


def _starts(flows: Sequence[TrafficFlow], spread_s: float) -> list[str]:
    """Shell lines that set the start of each flow and the earliest one, in seconds from now."""
    lines = []
    if spread_s:
        lines = [
            f"# late START: up to {testbed.seconds(spread_s)} s later, at random",
            f"late() {{ {testbed.at_random('$1', spread_s)}; }}",
        ]
    for flow in flows:
        start = (
            f"$(late {testbed.seconds(flow.start_s)})"
            if spread_s
            else f"{testbed.seconds(flow.start_s)}"
        )
        lines.append(f"start_{flow.name}={start}")
    every = " ".join(f"$start_{flow.name}" for flow in flows)
    return [*lines, f"first=$(printf '%s\\n' {every} | sort -n | head -n 1)"]


def warmup_lines(begin_s: float, flows: Sequence[TrafficFlow]) -> str:
    """Shell lines that note the end of the warm-up and save the senders' counters at that time."""
    hosts = " ".join(flow.snd for flow in flows)
    return f"""\
{{
	sleep {testbed.seconds(begin_s)}
	note warmup off
	for ns in {hosts}; do ip netns exec $ns nstat -asjz >"$OUT/warmup-$ns.json"; done
}} &
"""


def _stop(flows: Sequence[TrafficFlow], ours: bool) -> list[str]:
    """Shell lines that stop the flows so that frames still in flight are counted per flow."""
    if not ours:
        return ["# the servers stop by themselves", "for pid in $receivers; do wait $pid; done"]
    lines = ["# the senders answer no late ACKs; the receivers stop when the path is empty"]
    return [*lines, *(f"ip -n {flow.snd} link set to-{flow.next_hop} down" for flow in flows)]
