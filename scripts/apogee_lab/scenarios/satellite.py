# SPDX-License-Identifier: GPL-2.0
"""Satellite: one bulk flow over a link with long delay, bit errors and lost ACKs.

Frame lengths include the 14 B Ethernet header, as netem counts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..scenario import FlowSpec, Param, Plan, Scenario, module_lines

ETHERNET = 14
PORT = 5201
MAX_BANDS = 8  # prio asks each of them for every frame
DELAY_LINE = 1_000_000  # packets: netem's limit where nothing may overflow

PARAMS = (
    Param("rate", 10_000_000, "rate", "rate of the bottleneck", 9600, 100e9),
    Param("delay", 0.25, "time", "one-way delay of the satellite hop", 0, 10),
    Param("ber", 0.0, "ber", "bit error rate of the data direction", 0, 1e-3),
    Param("ack_ber", "same", "ber|same", "bit error rate of the ACK direction, or same", 0, 1e-3),
    Param("queue", 625_000, "size", "bottleneck queue, counted in MTU-sized packets", 1, 1e9),
    Param("window", 625_000, "size", "receive window", 4096, 1e9),
    Param("ack_blackout", None, "event|none", "all ACKs lost, from the first SYN", 0, 3600),
    Param("data_blackout", None, "event|none", "all data lost, from the first SYN", 0, 3600),
    Param("ack_rate", 0, "rate", "rate of the return path, 0 for no limit", 0, 100e9),
    Param("ack_queue", 20, "int", "queue of a return path with a rate, in packets", 1, 1e6),
    Param(
        "ack_slot", 0.0, "time", "the return path releases frames every so often, 0: at once", 0, 1
    ),
    Param("mtu", 1500, "int", "largest IP packet in bytes", 576, 9000),
    Param("initrwnd", 0, "int", "receiver's first window in segments, 0: 64 kB", 0, 45),
    Param("ipv6", 0, "bool", "IPv6 instead of IPv4 (mtu at least 1280)"),
    Param("traffic", "flow", "choice:flow,iperf3", "traffic tool"),
    Param(
        "trace", "none", "choice:none,probe,module,all", "time series of every ACK at the sender"
    ),
    Param("tcp_frto", 2, "int", "sysctl net.ipv4.tcp_frto", 0, 2),
    Param("tcp_early_retrans", 3, "int", "sysctl net.ipv4.tcp_early_retrans", 0, 4),
    Param("tcp_timestamps", 1, "int", "sysctl net.ipv4.tcp_timestamps", 0, 2),
    Param("tcp_sack", 1, "int", "sysctl net.ipv4.tcp_sack", 0, 1),
    Param("tcp_dsack", 1, "int", "sysctl net.ipv4.tcp_dsack", 0, 1),
    Param("tcp_recovery", 1, "int", "sysctl net.ipv4.tcp_recovery", 0, 7),
    Param("tcp_ecn", 0, "int", "sysctl net.ipv4.tcp_ecn", 0, 2),
)


def frame_loss(ber: float, length: int) -> float:
    """Probability that a frame of ``length`` bytes holds at least one bit error."""
    return -math.expm1(8 * length * math.log1p(-ber))


@dataclass(frozen=True)
class Band:
    """Frames of ``low`` to ``high`` bytes (``high`` None: the rest), lost as if ``length`` long."""

    low: int
    high: int | None
    length: int


def bands(exact: Sequence[int], mtu: int, longest_first: bool) -> list[Band]:
    """At most MAX_BANDS bands of frame lengths: each length of ``exact`` alone, the rest in bins.

    A bin stands for its middle. No frame is shorter than 42 or longer than ``mtu`` + 14 bytes.
    """
    edges = [42, *sorted(set(exact)), mtu + ETHERNET + 1]
    out = [Band(n, n, n) for n in sorted(set(exact), reverse=longest_first)]
    gaps = []
    for below, above in zip(edges, edges[1:], strict=False):
        first = below if below not in exact else below + 1
        if above > first:
            gaps.append((first, above - 1))
    room = MAX_BANDS - len(out)
    while len(gaps) < room and gaps:
        low, high = max(gaps, key=lambda g: g[1] - g[0])
        middle = (low + high) // 2
        if high - low < 16:
            break
        gaps.remove((low, high))
        gaps += [(low, middle), (middle + 1, high)]
    while len(gaps) > room:
        gaps.sort()
        low = min(range(len(gaps) - 1), key=lambda i: gaps[i + 1][1] - gaps[i][0])
        gaps[low : low + 2] = [(gaps[low][0], gaps[low + 1][1])]
    gaps.sort(reverse=longest_first)
    return out + [Band(low, high, (low + high) // 2) for low, high in gaps]


def _lossy(ns: str, dev: str, delay: str, ber: float, band_list: Sequence[Band]) -> list[str]:
    """tc lines: a delay line with bit errors, the loss of a frame following its length."""
    if not ber:
        return [f"qdisc add dev {dev} root netem delay {delay} limit {DELAY_LINE}"]
    count = max(2, len(band_list))
    last = count - 1
    lines = [f"qdisc add dev {dev} root handle 1: prio bands {count} priomap" + f" {last}" * 16]
    for number, band in enumerate(band_list, 1):
        loss = 100 * frame_loss(ber, band.length)
        lines.append(
            f"qdisc add dev {dev} parent 1:{number:x} netem delay {delay} loss {loss:.9g}% "
            f"limit {DELAY_LINE}"
        )
    for number, band in enumerate(band_list, 1):
        if band.low == band.high:
            match = f"meta(pkt_len eq {band.low})"
        else:
            match = (
                f"meta(pkt_len gt {band.low - 1}) and meta(pkt_len lt {(band.high or 65535) + 1})"
            )
        lines.append(
            f"filter add dev {dev} parent 1: protocol all prio {number} "
            f"basic match '{match}' classid 1:{number:x}"
        )
    return lines


def _return_path(values: Mapping[str, Any]) -> list[str]:
    """tc lines for what lies behind the satellite hop on the ACKs' way: slots, then a rate."""
    lines = []
    slot, rate = values["ack_slot"], values["ack_rate"]
    if slot:
        lines.append(
            f"qdisc add dev to-snd root handle 1: netem slot {_time(slot)} {_time(slot)} "
            f"limit {DELAY_LINE}"
        )
    if rate:
        parent = "parent 1:1" if slot else "root"
        lines.append(
            f"qdisc add dev to-snd {parent} handle 2: netem rate {rate}bit "
            f"limit {values['ack_queue']}"
        )
    return lines


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e6)}us"


def _event(name: str, event: tuple[float, float], dev: str) -> str:
    """Shell lines: for a while, drop all that enters ``sat`` from ``dev``."""
    start, length = event
    return f"""\
{{
	sleep {start:g}
	tc -n sat filter add dev {dev} ingress matchall action drop
	note {name} on
	sleep {length:g}
	tc -n sat filter del dev {dev} ingress
	note {name} off
}} &
"""


HEAD = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# satellite: one bulk flow over a satellite link; to be run as root, results go to $OUT (or .)
#
#   snd  to-bn ---- to-snd  bn  to-sat ---- to-bn  sat  to-rcv ---- to-sat  rcv
#   sender                  queue, rate            delay, bit errors        receiver
#     data:                 on to-sat              on to-rcv
#     ACKs:                 (on to-snd)            on to-bn
#
"""


def _script(values: Mapping[str, Any], cc: str, duration_s: float) -> tuple[str, int]:
    """The script and the number of packets the queue holds."""
    v6 = bool(values["ipv6"])
    mtu = values["mtu"]
    ip_header = 40 if v6 else 20
    delay = _time(values["delay"])
    ber = values["ber"]
    ack_ber = ber if values["ack_ber"] == "same" else values["ack_ber"]
    limit = max(1, round(values["queue"] / mtu))
    full = mtu + ETHERNET
    # ACKs with n SACK blocks, with timestamps and without; SYN.
    short = ETHERNET + ip_header + 20
    stamps = 12 if values["tcp_timestamps"] else 0
    sack = [4 + 8 * n for n in range(1, 4)] if values["tcp_sack"] else []
    acks = [short + stamps, *(short + stamps + s for s in sack), short + 20]
    address = "fd00:{0}::{1}" if v6 else "10.0.{0}.{1}"
    bits = 64 if v6 else 24
    family = "-6 " if v6 else ""
    receiver = address.format(3, 2)
    window = f" window {values['window']}" if values["window"] else ""
    initrwnd = f" initrwnd {values['initrwnd']}" if values["initrwnd"] else ""
    rmem = max(6_291_456, 4 * values["window"])
    # The receiver counts from its first segment: the sender goes on until that time is full.
    sending_s = duration_s + 2 * values["delay"] + 0.1

    def link(a: str, b: str, n: int) -> str:
        return (
            f"ip link add to-{b} netns {a} mtu {mtu} address 02:00:00:00:0{n}:01 type veth "
            f"peer name to-{a} netns {b} mtu {mtu} address 02:00:00:00:0{n}:02"
        )

    def end(ns: str, dev: str, n: int, host: int) -> str:
        other = 3 - host
        nodad = " nodad" if v6 else ""
        return (
            f"ip -n {ns} addr add {address.format(n, host)}/{bits} dev {dev}{nodad}\n"
            f"ip -n {ns} link set {dev} up\n"
            f"ip -n {ns} neigh add {address.format(n, other)} lladdr 02:00:00:00:0{n}:0{other} "
            f"dev {dev} nud permanent\n"
            f"ip netns exec {ns} ethtool -K {dev} tso off gso off gro off"
        )

    def net(n: int) -> str:
        return f"{address.format(n, '') if v6 else address.format(n, 0)}/{bits}"

    bottleneck = f"qdisc add dev to-sat root netem rate {values['rate']}bit limit {limit}"
    to_rcv = _lossy("sat", "to-rcv", delay, ber, bands([full], mtu, longest_first=True))
    to_bn = _lossy("sat", "to-bn", delay, ack_ber, bands(acks, mtu, longest_first=False))
    forward = "net.ipv6.conf.all.forwarding=1" if v6 else "net.ipv4.ip_forward=1"
    sysctls = " ".join(
        [
            f"net.ipv4.{key}={values[key]}"
            for key in (
                "tcp_frto",
                "tcp_early_retrans",
                "tcp_timestamps",
                "tcp_sack",
                "tcp_dsack",
                "tcp_recovery",
                "tcp_ecn",
            )
        ]
    )
    blackouts = [("ack_blackout", "to-rcv"), ("data_blackout", "to-bn")]
    blackouts = [(name, dev) for name, dev in blackouts if values[name]]
    clsact = [f"tc -n sat qdisc add dev {dev} clsact" for _, dev in blackouts]
    back = _return_path(values)
    quiet = (
        ""
        if v6
        else "\nfor ns in snd bn sat rcv; do\n\tip netns exec $ns sysctl -qw "
        "net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1\ndone"
    )
    if v6:
        quiet = (
            "\nfor ns in snd bn sat rcv; do\n\tip netns exec $ns sysctl -qw "
            "net.ipv6.conf.default.accept_ra=0 net.ipv6.conf.default.router_solicitations=0 "
            "net.ipv6.conf.default.dad_transmits=0\ndone"
        )

    setup = [
        HEAD + "set -eu",
        "OUT=${OUT:-.}",
        "",
        "cleanup() {",
        "\tkill $(jobs -p) 2>/dev/null || :",
        "\tfor ns in snd bn sat rcv; do ip netns del $ns 2>/dev/null || :; done",
        "}",
        "trap cleanup EXIT",
        "trap 'exit 130' INT TERM",
        'note() { echo "$* $(now)" >>"$OUT/events.log"; }',
        "now() { cut -d' ' -f1 /proc/uptime; }",
        "",
        "# congestion control",
        *module_lines(values, (cc,)),
        "",
        "# namespaces and links",
        "for ns in snd bn sat rcv; do ip netns add $ns; done" + quiet,
        link("snd", "bn", 1),
        link("bn", "sat", 2),
        link("sat", "rcv", 3),
        end("snd", "to-bn", 1, 1),
        end("bn", "to-snd", 1, 2),
        end("bn", "to-sat", 2, 1),
        end("sat", "to-bn", 2, 2),
        end("sat", "to-rcv", 3, 1),
        end("rcv", "to-sat", 3, 2),
        f"ip {family}-n snd route add default via {address.format(1, 2)}",
        f"ip {family}-n bn route add {net(3)} via {address.format(2, 2)}",
        f"ip {family}-n sat route add {net(1)} via {address.format(2, 1)}",
        f"ip {family}-n rcv route add default via {address.format(3, 1)}{window}{initrwnd}",
        f"ip netns exec bn sysctl -qw {forward}",
        f"ip netns exec sat sysctl -qw {forward}",
        "",
        "# end hosts: memory that never limits, nothing remembered from earlier connections",
        "sysctl -qw net.ipv4.tcp_mem='1000000 1000000 1000000'",
        "for ns in snd rcv; do",
        f"\tip netns exec $ns sysctl -qw net.ipv4.tcp_no_metrics_save=1 {sysctls} \\",
        f"\t\tnet.ipv4.tcp_wmem='4096 16777216 67108864' net.ipv4.tcp_rmem='4096 {rmem} {rmem}'",
        "done",
        "",
        f"# bottleneck: rate and a queue of {limit} packets",
        "tc -n bn -batch - <<'END'",
        bottleneck,
        *back,
        "END",
        "",
        f"# satellite hop: {delay} each way, bit error rate {ber:g} (data), {ack_ber:g} (ACKs)",
        "tc -n sat -batch - <<'END'",
        *to_rcv,
        *to_bn,
        "END",
        *clsact,
        "",
    ]
    script = "\n".join(setup)
    script += _trace_lines(values["trace"], cc)
    script += '[ -z "${APOGEE_SHELL:-}" ] || { trap - EXIT; exit 0; }\n\n'
    script += "# traffic\n"
    events = "".join(_event(name, values[name], dev) for name, dev in blackouts)
    if values["traffic"] == "flow":
        script += f"""\
ip netns exec rcv flow recv {PORT} "$OUT/flow1.recv.json" &
receiver=$!
ip netns exec rcv sh -c 'until grep -q ":{PORT:04X} " /proc/net/tcp6; do sleep 0.01; done'
note flow1 start
ip netns exec snd flow send {receiver} {PORT} --cc {cc} --duration {sending_s:g} \\
	"$OUT/flow1.send.json" &
sender=$!
note queue_sampling on
flow every 0.1 'qdisc show dev to-sat' $sender | tc -n bn -s -j -batch - >"$OUT/queue.jsonl" &
sampler=$!
{events}wait $sender
kill $receiver
wait $receiver
wait $sampler
"""
    else:
        script += f"""\
ip netns exec rcv iperf3 -s -1 -p {PORT} --json >"$OUT/iperf3-server.json" &
receiver=$!
ip netns exec rcv sh -c 'until grep -q ":{PORT:04X} " /proc/net/tcp6; do sleep 0.1; done'
note flow1 start
ip netns exec snd iperf3 -c {receiver} -p {PORT} -C {cc} -t {duration_s:g} --json \\
	>"$OUT/iperf3-client.json" &
sender=$!
note queue_sampling on
while kill -0 $sender 2>/dev/null; do echo 'qdisc show dev to-sat'; sleep 0.1; done |
	tc -n bn -s -j -batch - >"$OUT/queue.jsonl" &
sampler=$!
{events}wait $sender
wait $receiver
wait $sampler
"""
    script += """\

# what was counted
for ns in snd bn sat rcv; do
	tc -n $ns -s -j qdisc show >"$OUT/qdisc-$ns.json"
done
for ns in snd rcv; do
	ip netns exec $ns nstat -asjz >"$OUT/nstat-$ns.json"
done
"""
    if values["trace"] != "none":
        script += """\
echo 0 >$tracing/tracing_on
cat $tracing/trace >"$OUT/trace.txt"
grep -h -E '^(entries|overrun|dropped)' $tracing/per_cpu/cpu*/stats >"$OUT/trace.stats"
rmdir $tracing
"""
    return script, limit


def _trace_lines(trace: str, cc: str) -> str:
    """Shell lines that record events of the sender's socket in an instance of the tracer."""
    if trace == "none":
        return ""
    lines = [
        "# trace: the sender's socket only (its peer has the port of the flow)",
        "tracing=/sys/kernel/tracing/instances/apogee",
        "[ -d /sys/kernel/tracing/instances ] || mount -t tracefs tracefs /sys/kernel/tracing",
        "mkdir $tracing",
        "echo mono >$tracing/trace_clock",
        "echo 65536 >$tracing/buffer_size_kb",
    ]
    if trace in ("probe", "all"):
        lines += [
            f"echo 'dport == {PORT}' >$tracing/events/tcp/tcp_probe/filter",
            "echo 1 >$tracing/events/tcp/tcp_probe/enable",
        ]
    if trace == "all":
        lines += [
            f"echo 'dport == {PORT}' >$tracing/events/tcp/tcp_retransmit_skb/filter",
            "echo 1 >$tracing/events/tcp/tcp_retransmit_skb/enable",
        ]
    if trace in ("module", "all"):
        lines += [
            f"for event in $tracing/events/tcp_{cc}/*/; do",
            "\t[ -e $event/enable ] || continue",
            f"\techo 'dport == {PORT}' >$event/filter",
            "\techo 1 >$event/enable",
            "done",
        ]
    return "\n".join(lines) + "\n\n"


def _one(cc: str) -> tuple[str, ...]:
    names = tuple(cc.split("+"))
    if len(names) != 1 or not names[0]:
        raise ValueError(f"satellite has one flow: name one congestion control, not '{cc}'")
    return names


def _check(values: Mapping[str, Any], duration_s: float) -> None:
    """Refuse what each value alone allows but not together."""
    if values["ipv6"] and values["mtu"] < 1280:
        raise ValueError("ipv6 needs an mtu of at least 1280")
    for name in ("ack_blackout", "data_blackout"):
        if values[name] and sum(values[name]) > duration_s:
            raise ValueError(f"{name} ends after the run, which lasts {duration_s:g} s")


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    _check(values, duration_s)
    script, _ = _script(values, ccs[0], duration_s)
    mtu, rate = values["mtu"], values["rate"]
    headers = (60 if values["ipv6"] else 40) + (12 if values["tcp_timestamps"] else 0)
    share = (mtu - headers) / (mtu + ETHERNET)
    bdp = round(rate * 2 * values["delay"] / 8)
    return Plan(
        script=script,
        flows=(FlowSpec("flow1", ccs[0], "snd", PORT),),
        duration_s=duration_s,
        limit_bps=rate * share * (1 - frame_loss(values["ber"], mtu + ETHERNET)),
        rate_bps=rate,
        bdp_bytes=bdp,
        queue_bytes=values["queue"],
        timeout_virtual_s=duration_s + 120,
        sender_ns="snd",
        receiver_ns="rcv",
        bottleneck=("bn", "to-sat"),
        data_links=(("sat", "to-rcv"),),
        ack_links=(("sat", "to-bn"),),
        data_filters=(("sat", "to-bn"),) if values["data_blackout"] else (),
        ack_filters=(("sat", "to-rcv"),) if values["ack_blackout"] else (),
        traffic=values["traffic"],
        extras=("iperf3",) if values["traffic"] == "iperf3" else (),
    )


SATELLITE = Scenario(
    name="satellite",
    help="one bulk flow over a satellite link: delay, bit errors, lost ACKs",
    params=PARAMS,
    parse_cc=_one,
    build=_build,
)
