# SPDX-License-Identifier: GPL-2.0
"""Radio: one flow over a slow link with bit errors, on which SSCOP may repair what is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from .. import units
from ..measures import radio as measures
from ..measures import sharing
from ..units import Event
from . import biterrors, bursts, ceiling, modem, sending, sscop, testbed
from .ceiling import Ceiling
from .modem import LOWER, ROOM
from .moving import DELAYS, ORDER, RATES, overlaid, value_at
from .scenario import Column, FlowSpec, Param, Path, Plan, Scenario, members
from .sending import Sender
from .testbed import ETHERNET, PORT, Net, time_text
from .tracefiles import Steps

HOSTS = "gw mh"  # at the radio's ends
RADIO_NET, WIRE_NET = 1, 3
PING_S = 0.1
SERIES_S = 0.05
EVENTS = ("rate", "queue", "delay", "loss", "ber", "outage")

PARAMS = (
    Param("rate", 2_000_000, "rate", "rate of the radio, each way", 9600, 100e9,
          "rate of the radio"),
    Param("delay", 0.05, "time", "one-way delay of the radio", 0, 10, "one-way delay"),
    *testbed.ERROR_PARAMS,
    *modem.PARAMS,
    *sscop.PARAMS,
    Param("window", 72, "int", "receive window in packets; 0: autotuned", 0, 100_000,
          "TCP's window, packets"),
    Param("sender", "host", "choice:host,gateway",
          "the sender: a host behind the gateway, or the gateway itself (small queues)"),
    Param("packets", 0, "int", "full packets to send; 0: send for the whole duration", 0, 10**9),
    Param("queue", 150_000, "size", "TCP alone: queue in front of the radio", 1, 1e9,
          "queue in front of the radio"),
    Param("qdisc", "pfifo", "choice:pfifo,fq_codel,default",
          "queue above SSCOP (default: its own); TCP alone: a FIFO, or fq_codel in it"),
    Param("qdisc_limit", 0, "int",
          "packets in that qdisc; 0: its own default (pfifo: 1000)", 0, 1_000_000),
    Param("target", 0.0, "time", "fq_codel's target; 0: its own default", 0, 10),
    Param("interval", 0.0, "time", "fq_codel's interval; 0: its own default", 0, 60),
    Param("ping", 0, "bool", f"a ping every {1e3 * PING_S:g} ms beside the flow"),
    Param("series", 0.0, "time", "time from the SYN in which sequence numbers are sampled", 0, 600),
    Param("event", None, "events|none",
          "changes of rate, queue (TCP alone), one-way delay, bit error rate, data loss; outage: "
          "all lost both ways"),
    bursts.PARAM,
    Param("mtu", 1500, "int", "IP packet in bytes", 128, 9000, "IP packet, bytes"),
    *(p for p in testbed.PACKET_PARAMS if p.name != "mtu"),
    *(p for p in testbed.HOST_PARAMS if p.name != "traffic"),
    *sending.PARAMS,
)  # fmt: skip

HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# radio: one flow over a radio with bit errors; to be run as root, results go to $OUT (or .)
#
#  {wire}gw  to-air ------ to-gw  air  to-mh ------ to-air  mh
#  {sender}gateway                  radio                     mobile host, receiver
#     rate: {rate}
#     delay: on to-mh (data) and on to-gw (ACKs)
#     bit errors: where frames enter air, by to-gw (data) and by to-mh (ACKs)
#
#   air passes on whole frames, so that IP and SSCOP travel alike.
#
"""
WIRED = {"wire": " snd  to-gw ------ to-snd  ", "sender": " sender                    "}
SSCOP_HEAD = """\
#   SSCOP: sscop0 of both hosts stands on to-air and has the addresses.
#
"""


# --- what changes -----------------------------------------------------------------------------


class Air:
    """The radio over time: rates (bit/s), queue (bytes), delays (s), bit error rates each way, and
    the share of data and of ACKs that is lost whatever its length."""

    def __init__(self, values: Mapping[str, Any], ends_s: float) -> None:
        events = values["event"] or ()
        _check_events(values, events, ends_s)
        kinds = {what: [e for e in events if e.what == what] for what in EVENTS}
        gone = [Event("outage", 1.0, e.start_s, e.length_s) for e in kinds["outage"]]
        ber, ack_ber = testbed.error_rates(values)
        self.rates = overlaid([(0.0, values["rate"])], kinds["rate"])
        self.queues = overlaid([(0.0, values["queue"])], kinds["queue"])
        self.delays = overlaid([(0.0, values["delay"])], kinds["delay"])
        self.bers = overlaid([(0.0, ber)], kinds["ber"])
        same = kinds["ber"] if values["ack_ber"] == "same" else []
        self.ack_bers = overlaid([(0.0, ack_ber)], same)
        losses = overlaid(overlaid([(0.0, 0.0)], kinds["loss"]), gone)
        self.losses = bursts.lost_in(losses, bursts.bad_times(values, ends_s))
        self.ack_losses = overlaid([(0.0, 0.0)], gone)

    def errors(self, time_s: float) -> tuple[float, float]:
        """Bit error rate and share lost of the data."""
        return value_at(self.bers, time_s), value_at(self.losses, time_s)

    def ack_errors(self, time_s: float) -> tuple[float, float]:
        """The same of the ACKs."""
        return value_at(self.ack_bers, time_s), value_at(self.ack_losses, time_s)

    @property
    def longest_s(self) -> float:
        """The longest one-way delay."""
        return max(delay for _, delay in self.delays)

    def _cuts(self) -> list[float]:
        """The times at which rate, delay or errors of the data change."""
        every = (self.rates, self.delays, self.bers, self.losses)
        return sorted({at for steps in every for at, _ in steps})

    def ceiling(self, values: Mapping[str, Any]) -> Ceiling:
        """What it can carry at most."""

        @cache  # few of thousands of steps differ
        def best(rate: float, delay: float, ber: float, loss: float) -> float:
            return rate * share({**values, "delay": delay}, rate, ber, loss)

        whole, first_s = values["mtu"] + ETHERNET, value_at(self.delays, 0.0)
        lost = [
            1 - (1 - testbed.frame_loss(ber, whole)) * (1 - loss)
            for ber, loss in map(self.errors, self._cuts())
            if loss < 1
        ]
        return Ceiling(
            tuple(
                (at, best(value_at(self.rates, at), value_at(self.delays, at), *self.errors(at)))
                for at in self._cuts()
            ),
            (min(delay for _, delay in self.delays), self.longest_s),
            (2 * first_s, 3 * first_s),
            16 * whole,
            ceiling.luck(max(lost, default=0.0), values["mtu"]),
        )


def _check_events(values: Mapping[str, Any], events: Sequence[Event], ends_s: float) -> None:
    """ValueError for events that the radio cannot have."""
    bounds = {"rate": ("rate", RATES), "delay": ("time", DELAYS), "ber": ("ber", (0, 1e-3))}
    for event in events:
        text = units.format("events", (event,))
        if event.what not in EVENTS:
            raise ValueError(f"event: {text}: scenario radio has no {event.what}")
        if event.what == "queue" and sscop.used(values):
            raise ValueError(f"event: {text}: only TCP alone (segment=0) has that queue")
        kind, (low, high) = bounds.get(event.what, ("", (0, float("inf"))))
        if not low <= (event.value or 0) <= high:
            least, most = (units.format(kind, b) for b in (low, high))
            raise ValueError(f"event: {text} is out of range, allowed: from {least} to {most}")
        if event.start_s + (event.length_s or 0) > ends_s or event.start_s >= ends_s:
            raise ValueError(f"event: {text} ends after the run, which lasts {ends_s:g} s")


# --- the script -------------------------------------------------------------------------------


def _sender(values: Mapping[str, Any]) -> str:
    """The sender's namespace."""
    return "gw" if values["sender"] == "gateway" else "snd"


def _namespaces(values: Mapping[str, Any]) -> str:
    return "gw air mh" if _sender(values) == "gw" else "snd gw air mh"


def _ends(values: Mapping[str, Any]) -> str:
    """Namespaces of the flow's two ends."""
    return f"{_sender(values)} mh"


def _device(values: Mapping[str, Any]) -> str:
    """The hosts' device that has the addresses."""
    return sscop.NAME if sscop.used(values) else LOWER


def _longest_frame(values: Mapping[str, Any]) -> int:
    return sscop.longest_frame(values) if sscop.used(values) else values["mtu"] + ETHERNET


def _lower_mtu(values: Mapping[str, Any]) -> int:
    """MTU of the radio's devices."""
    return sscop.lower_mtu(values) if sscop.used(values) else values["mtu"]


def _room(values: Mapping[str, Any], queue: float) -> int:
    """Bytes that wait in front of the radio at most; SSCOP keeps its lower device short itself."""
    if sscop.used(values) and not values["box"]:
        return ROOM
    return max(round(queue), _longest_frame(values))


def _senders(values: Mapping[str, Any]) -> tuple[modem.Sender, modem.Sender]:
    """The radio's two senders."""
    return modem.senders(values, _longest_frame(values))


def _queue_words(values: Mapping[str, Any]) -> str:
    """The chosen qdisc and its parameters."""
    words = [values["qdisc"]]
    if values["qdisc_limit"]:
        words.append(f"limit {values['qdisc_limit']}")
    for name in ("target", "interval"):
        if values[name]:
            words.append(f"{name} {time_text(values[name])}")
    return " ".join(words)


def _delay_words(delay: float) -> str:
    return f"netem delay {time_text(delay)} {ORDER} limit {testbed.DELAY_LINE}"


def _lossy(values: Mapping[str, Any], dev: str, errors: tuple[float, float]) -> str:
    """The words that set what is lost of the frames that come in by a device."""
    words = biterrors.filter_words(*errors, _lower_mtu(values) + ETHERNET)
    return f"dev {dev} ingress pref 1 handle 1 protocol all {words}"


def _window_bytes(values: Mapping[str, Any]) -> int:
    return values["window"] * _payload(values)


def _payload(values: Mapping[str, Any]) -> int:
    """Bytes of TCP's payload in a full packet."""
    headers = (60 if values["ipv6"] else 40) + (12 if values["tcp_timestamps"] else 0)
    return values["mtu"] - headers


def _addresses(values: Mapping[str, Any], net: Net) -> list[str]:
    """Lines that give the hosts their addresses and routes, the receiver's with its window."""
    dev, found = _device(values), []
    window = testbed.receiver_route({**values, "window": _window_bytes(values)})
    nodad = " nodad" if values["ipv6"] else ""
    for ns, host, words in (("gw", 1, ""), ("mh", 2, window)):
        own = f"{net.address(RADIO_NET, host)}/{net.bits}"
        found.append(f"{net.ip(ns)} addr add {own} dev {dev} noprefixroute{nodad}")
        if not sscop.used(values):
            other = net.mac(3 - host, 1)
            found.append(
                f"ip -n {ns} neigh add {net.address(RADIO_NET, 3 - host)} lladdr {other} dev {dev} "
                "nud permanent"
            )
        found.append(f"{net.ip(ns)} route add {net.network(RADIO_NET)} dev {dev}{words}")
    if _sender(values) == "gw":
        return found
    wire = Net(net.v6, values["mtu"])
    hops = [("snd", "gw", WIRE_NET)]
    routes = {"snd": [f"default via {net.address(WIRE_NET, 2)}"]}
    return [
        *found,
        *wire.links(hops),
        *net.ends(hops, routes, routers=["gw"]),
        f"{net.ip('mh')} route add default via {net.address(RADIO_NET, 1)}{window}",
    ]


def _air_lines(values: Mapping[str, Any], air: Air) -> list[str]:
    """Shell lines of the radio between the hosts."""
    delay = value_at(air.delays, 0.0)
    ber, ack_ber = value_at(air.bers, 0.0), value_at(air.ack_bers, 0.0)
    lines = [
        f"# the radio: {time_text(delay)} each way; bit error rate {ber:g} (data), "
        f"{ack_ber:g} (ACKs):",
    ]
    if ber or ack_ber or values["event"]:
        lines += [
            "# the bytecode takes each power of two in the frame's length as a piece of so many",
            "# bytes, and drops the frame if a random number says that one of them is hit",
        ]
    qdiscs = []
    for sender, errors in zip(
        _senders(values), (air.errors(0.0), air.ack_errors(0.0)), strict=True
    ):
        dev, out = sender.enters, sender.leaves
        qdiscs += [f"qdisc add dev {out} root {_delay_words(delay)}"]
        qdiscs += [f"qdisc add dev {dev} clsact"]
        before = (errors[0], errors[1] % 1)  # what loses all would keep SSCOP from connecting
        qdiscs += [f"filter add {_lossy(values, dev, before)}"] if any(before) else []
        qdiscs += [
            f"filter add dev {dev} ingress pref 2 protocol all matchall "
            f"action mirred egress redirect dev {out}"
        ]
    return [*lines, *testbed.batch("tc -n air", qdiscs), ""]


def _links(values: Mapping[str, Any], air: Air, net: Net) -> list[str]:
    """Shell lines that set up the namespaces and the links between them."""
    ends = " ".join(["gw:to-air air:to-gw air:to-mh mh:to-air", *modem.ends(values)])
    rates, queues = value_at(air.rates, 0.0), value_at(air.queues, 0.0)
    lines = [
        *net.namespaces(_namespaces(values)),
        *net.links([("gw", "air", 1), ("mh", "air", 2)]),
        *modem.links(values, net.mtu),
        f"for end in {ends}; do",
        f"\tip netns exec ${{end%:*}} {testbed.no_offloads('${end#*:}')}",
        "done",
        "",
        f"# rate, each way; a bucket of one frame, {_longest_frame(values)} B",
        *(line for one in _senders(values) for line in one.lines(rates, _room(values, queues))),
    ]
    if not sscop.used(values) and values["qdisc"] == "fq_codel":
        lines.append(f"tc -n gw qdisc add dev {LOWER} parent 1:1 handle 2: {_queue_words(values)}")
    lines += ["", *_air_lines(values, air)]
    lines += [
        f"for end in {ends}; do ip -n ${{end%:*}} link set ${{end#*:}} up; done",
        "",
    ]
    if sscop.used(values):
        lines += ["# SSCOP", *sscop.lines(values, HOSTS, LOWER)]
        if values["qdisc"] != "default":
            words = f"qdisc add dev {sscop.NAME} root {_queue_words(values)}"
            lines.append(f"for ns in {HOSTS}; do tc -n $ns {words}; done")
        lines += [*sscop.wait_lines(HOSTS), ""]
    return [
        *lines,
        "# addresses",
        *_addresses(values, net),
        "",
        *testbed.end_hosts({**values, "window": _window_bytes(values)}, _ends(values)),
        *_sending_lines(values, net),
    ]


def _sending_lines(values: Mapping[str, Any], net: Net) -> list[str]:
    """Shell lines of what the hosts have beside; a gateway that sends has no router in front, and
    SSCOP's device no Ethernet."""
    dev, behind = _device(values), _sender(values) == "snd"
    return sending.lines(
        values,
        Net(net.v6, values["mtu"]),
        [Sender("snd", "gw", WIRE_NET)] if behind else [],
        [] if sscop.used(values) else [("mh", dev)],
        [("gw", dev)] if behind else [],
    )


def _closed(values: Mapping[str, Any], air: Air) -> str:
    """Shell lines that lose all from the first SYN on, where that is so."""
    there, back = _senders(values)
    ways = ((there.enters, air.errors(0.0)), (back.enters, air.ack_errors(0.0)))
    found = [_lossy(values, dev, errors) for dev, errors in ways if errors[1] == 1]
    return "".join(f"tc -n air filter replace {words}\n" for words in found)


def _streams(
    values: Mapping[str, Any], air: Air, ends_s: float
) -> list[tuple[str, list[tuple[float, str]]]]:
    """The changes while the flow runs: namespace, tc commands with their times."""
    there, back = _senders(values)
    found: dict[str, list[tuple[float, str]]] = {}
    for one in (there, back):
        steps = found.setdefault(one.ns, [])
        for at in _times(air.rates, air.queues):
            room = _room(values, value_at(air.queues, at))
            steps.append((at, one.change(value_at(air.rates, at), room)))
        steps += one.gates(value_at(air.rates, 0.0), ends_s)
    for dev in ("to-mh", "to-gw"):
        found.setdefault("air", []).extend(
            (at, f"qdisc change dev {dev} root {_delay_words(delay)}")
            for at, delay in air.delays[1:]
        )
    found["air"] += [(at, f"filter replace {_lossy(values, there.enters, air.errors(at))}")
                     for at in _times(air.bers, air.losses)]  # fmt: skip
    found["air"] += [(at, f"filter replace {_lossy(values, back.enters, air.ack_errors(at))}")
                     for at in _times(air.ack_bers, air.ack_losses)]  # fmt: skip
    return [(ns, sorted(steps, key=lambda step: step[0])) for ns, steps in found.items() if steps]


def _times(*every: Steps) -> list[float]:
    return sorted({at for steps in every for at, _ in steps} - {0.0})


def _play(values: Mapping[str, Any], air: Air, ends_s: float) -> str:
    """Shell lines that apply the changes in the background while the sender runs."""
    text = ""
    for ns, steps in _streams(values, air, ends_s):
        lines = "\n".join(f"{testbed.seconds(at)} {words}" for at, words in steps)
        text += f"flow replay $sender <<'END' | tc -n {ns} -batch - &\n{lines}\nEND\n"
        text += 'movers="$movers $!"\n'
    return f"movers=\n{text}" if text else ""


def _traffic(values: Mapping[str, Any], air: Air, net: Net, cc: str, duration_s: float) -> str:
    """Shell lines that run the flow and sample the queues."""
    receiver, sender = net.address(RADIO_NET, 2), _sender(values)
    # The receiver's interval begins with its first segment, so the sender must run longer.
    sending_s = duration_s + 2 * air.longest_s + 0.1 + sending.latest_s(values)
    events = _play(values, air, sending_s)
    size = f" {values['packets'] * _payload(values)}" if values["packets"] else ""
    used = sscop.used(values)
    before = sscop.save_counters(HOSTS, "begin") if used else ""
    after = sscop.save_counters(HOSTS, "end") if used else ""
    ping = f"""\
ip netns exec {sender} ping -i {PING_S:g} {receiver} >"$OUT/ping.txt" &
ping=$!
""" if values["ping"] else ""  # fmt: skip
    return f"""\
ip netns exec mh flow recv {PORT} "$OUT/flow1.recv.json" &
receiver=$!
ip netns exec mh sh -c 'until grep -q ":{PORT:04X} " /proc/net/tcp6; do sleep 0.01; done'
{before}{_closed(values, air)}note flow1 start
ip netns exec {sender} flow send {receiver} {PORT} --cc {cc} --duration {sending_s:g} \\
	"$OUT/flow1.send.json"{size} &
sender=$!
note queue_sampling on
flow every 0.1 'qdisc show' $sender | tc -n gw -s -j -batch - >"$OUT/queue.jsonl" &
sampler=$!
{events}{ping}{_series(values) if used and values["series"] else ""}wait $sender
{after}{"kill $ping" + chr(10) if ping else ""}kill $receiver 2>/dev/null || :
wait $receiver
wait $sampler
{"for pid in $movers; do wait $pid; done" + chr(10) if events else ""}"""


def _series(values: Mapping[str, Any]) -> str:
    """Shell lines that sample SSCOP's counters while the sequence numbers are of interest."""
    count = round(values["series"] / SERIES_S) + 1
    return f"""\
for i in $(seq {count}); do
	echo "at $(now)"
	ip netns exec gw ethtool -S {sscop.NAME}
	sleep {SERIES_S:g}
done >"$OUT/sscop-series.txt"
"""


def _script(values: Mapping[str, Any], air: Air, cc: str, duration_s: float) -> str:
    used = sscop.used(values)
    net = Net(bool(values["ipv6"]), _lower_mtu(values))
    return testbed.script(
        HEAD.format_map(
            (WIRED if _sender(values) == "snd" else {"wire": " ", "sender": " "})
            | {"rate": modem.told(values)}
        )
        + (SSCOP_HEAD if used else ""),
        _namespaces(values),
        values,
        [(cc, PORT)],
        _links(values, air, net),
        _traffic(values, air, net, cc, duration_s),
        testbed.counters("gw air mh", _ends(values), values["trace"], links=HOSTS),
        devices=("sscop",) if used else (),
    )


# --- the plan ---------------------------------------------------------------------------------


def share(values: Mapping[str, Any], rate: float, ber: float, loss: float) -> float:
    """The most of the rate that TCP's payload can have at this bit error rate and loss."""
    values = sending.sent(values)
    payload = _payload(values)
    kept = (1 - loss) * modem.share(values)
    if sscop.used(values):
        return kept * sscop.share(values, rate, ber, payload)
    frame = values["mtu"] + ETHERNET
    return kept * (1 - testbed.frame_loss(ber, frame)) * payload / frame


def _means(values: Mapping[str, Any], air: Air, duration_s: float) -> list[float]:
    """Mean rate and mean of the best goodput over the run, in bit/s."""
    best = air.ceiling(values)
    begin_s = best.first_s[0]
    return [ceiling.mean(steps, begin_s, duration_s) for steps in (air.rates, best.steps)]


def _check(values: Mapping[str, Any]) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    testbed.check({**values, "traffic": "flow"}, 0.0)
    sscop.check(values)
    modem.check(values)
    if values["qdisc"] != "fq_codel" and (values["target"] or values["interval"]):
        raise ValueError("target and interval are fq_codel's: add qdisc=fq_codel")
    if values["qdisc"] == "default" and values["qdisc_limit"]:
        raise ValueError("qdisc_limit requires qdisc=pfifo or qdisc=fq_codel")
    if values["qdisc"] != "fq_codel" and values["qdisc_limit"] and not sscop.used(values):
        raise ValueError("qdisc_limit: the length of TCP alone's FIFO is queue")


def _one(cc: str) -> tuple[str, ...]:
    found = members(cc)
    if len(found) != 1 or not found[0]:
        raise ValueError(f"radio has one flow: give one congestion control, not '{cc}'")
    return found


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    _check(values)
    air = Air(values, duration_s)
    rate, limit = _means(values, air, duration_s)
    used = sscop.used(values)
    there, back = _senders(values)
    path = Path(
        rate_bps=rate,
        delay_s=min(delay for _, delay in air.delays),
        limit_bps=limit,
        queue_bytes=0 if used else values["queue"],
        bottleneck=("gw", _device(values)),
        data_filters=(("air", there.enters),),
        ack_filters=(("air", back.enters),),
        ceiling=air.ceiling(values),
    )
    flow = FlowSpec(
        "flow1",
        ccs[0],
        _sender(values),
        PORT,
        receiver_ns="mh",
        bytes=values["packets"] * _payload(values),
    )
    return Plan(
        script=_script(values, air, ccs[0], duration_s),
        flows=(flow,),
        paths=(path,),
        duration_s=duration_s,
        timeout_virtual_s=duration_s + 120,
        sender_ns=_sender(values),
        receiver_ns="mh",
        devices=("sscop",) if used else (),
    )


# --- the table, cost --------------------------------------------------------------------------


def _of(key: str, name: str, scale: float = 1.0) -> Any:
    def value(record: dict[str, Any]) -> float | None:
        found = record.get(key, {}).get(name)
        return None if found is None else scale * found

    return value


COLUMNS = (
    Column("link %", 1, _of("link", "utilisation", 100.0), after="% of limit"),
    Column("SDs again %", 2, _of("sscop", "again", 100.0), after="retransmits"),
    Column("repeated %", 2, _of("sscop", "repeated", 100.0)),
    Column("probes", 1, lambda r: r["flows"][0]["probes"]),
    Column("ping ms", 0, _of("ping", "mean_ms"), after="RTT ms"),
    Column("ping 99 % ms", 0, _of("ping", "p99_ms")),
    Column("ping max ms", 0, _of("ping", "max_ms")),
)
# CPU seconds per virtual second and Mbit/s with engine qemu, guessed from uml's: SSCOP's frames
# cost more the smaller they are.
_OVERHEAD_S, _SECOND_S, _PER_MBIT = 6.0, 0.05, 0.02


def _cost(values: Mapping[str, Any], _ccs: tuple[str, ...], duration_s: float) -> float:
    segment = values["segment"] or values["mtu"]
    frames = values["mtu"] / (300 if segment == "auto" else min(segment, values["mtu"]))
    second = _SECOND_S + _PER_MBIT * values["rate"] / 1e6 * (1 + frames / 2)
    return _OVERHEAD_S + second * duration_s


RADIO = Scenario(
    name="radio",
    help="one flow over a radio with bit errors, alone or above SSCOP",
    params=PARAMS,
    parse_cc=_one,
    build=_build,
    measures=(sharing.OWN, *measures.ALL),
    columns=lambda _records: COLUMNS,
    cost=_cost,
)
