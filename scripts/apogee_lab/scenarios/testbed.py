# SPDX-License-Identifier: GPL-2.0
"""Building blocks of the scenarios' scripts: links, losses, hosts, traces.

Frame lengths include the 14 B Ethernet header, as netem counts them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..algorithms import module_of
from .scenario import Param, module_lines

ETHERNET = 14
PORT = 5201
MAX_BANDS = 8  # prio polls every band for each frame
FIRST_BUFFER = 16_777_216  # bytes: of a sender, before it grows
DELAY_LINE = 1_000_000  # packets: netem's limit where no frame may be dropped

#: Parameters of bit errors, and of packets.
ERROR_PARAMS = (
    Param("ber", 0.0, "ber", "bit error rate of the data direction", 0, 1e-3, "bit error rate"),
    Param("ack_ber", "same", "ber|same", "bit error rate of the ACK direction, or same", 0, 1e-3),
)
PACKET_PARAMS = (
    Param("mtu", 1500, "int", "largest IP packet in bytes", 576, 9000),
    Param("initrwnd", 0, "int", "receiver's first window in segments, 0: 64 kB", 0, 45),
    Param("ipv6", 0, "bool", "IPv6 instead of IPv4 (mtu at least 1280)"),
)
#: Parameters of the satellite link, and of the end hosts and the run.
LINK_PARAMS = (
    Param("rate", 10_000_000, "rate", "rate of the bottleneck", 9600, 100e9,
          "rate of the bottleneck"),
    Param("delay", 0.25, "time", "one-way delay of the satellite hop", 0, 10, "one-way delay"),
    *ERROR_PARAMS,
    Param("queue", 625_000, "size", "bottleneck queue, counted in MTU-sized packets", 1, 1e9,
          "bottleneck's queue"),
    Param("window", 625_000, "size", "receive window", 4096, 1e9,
          "windows of sender and receiver"),
    Param("ack_blackout", None, "event|none", "all ACKs lost, from the first SYN", 0, 3600),
    Param("data_blackout", None, "event|none", "all data lost, from the first SYN", 0, 3600),
    Param("blackout_spread", 0.0, "time", "random extra start of a blackout, at most this", 0,
          3600),
    Param("ack_rate", 0, "rate", "rate of the return path, 0 for no limit", 0, 100e9,
          "rate of the return path"),
    Param("ack_rate_trace", None, "file|none",
          "opportunities to send of the return path, as rate_trace"),
    Param("ack_queue", 20, "int", "queue of a return path with a rate, in packets", 1, 10**6),
    Param("ack_slot", 0.0, "time", "interval at which the return path releases frames, 0: at once",
          0, 1, "interval at which the return path releases ACKs"),
    *PACKET_PARAMS,
)  # fmt: skip
HOST_PARAMS = (
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
    Param("tcp_ecn", 0, "int", "sysctl net.ipv4.tcp_ecn, from 3 on AccECN (Linux 7.3)", 0, 5),
    Param("tcp_mtu_probing", 0, "int", "sysctl net.ipv4.tcp_mtu_probing", 0, 2),
    Param(
        "tcp_notsent_lowat",
        0,
        "size",
        "sysctl net.ipv4.tcp_notsent_lowat, 0: the kernel's own, no limit",
        0,
        1e9,
    ),
)
UNTOUCHED = ("tcp_mtu_probing", "tcp_notsent_lowat")  # at 0 left as the kernel has them
SYSCTLS = tuple(param.name for param in HOST_PARAMS if param.name.startswith("tcp_"))


# --- losses -----------------------------------------------------------------------------------


def frame_loss(ber: float, length: int) -> float:
    """Probability that a frame of ``length`` bytes holds at least one bit error."""
    return -math.expm1(8 * length * math.log1p(-ber))


@dataclass(frozen=True)
class Band:
    """Frames of ``low`` to ``high`` bytes (None: no limit), with the loss of ``length`` bytes."""

    low: int
    high: int | None
    length: int


def bands(exact: Sequence[int], mtu: int, longest_first: bool) -> list[Band]:
    """At most MAX_BANDS bands of frame lengths: one per length of ``exact``, bins for the rest.

    A bin has the loss of its middle length. Frames have from 42 to ``mtu`` + 14 bytes.
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


def data_bands(values: Mapping[str, Any]) -> list[Band]:
    """Bands for data: full frames, by far the most common, have their own."""
    return bands([values["mtu"] + ETHERNET], values["mtu"], longest_first=True)


def ack_bands(values: Mapping[str, Any]) -> list[Band]:
    """Bands for ACKs: plain, with 1 to 3 SACK blocks, SYN; with or without timestamps."""
    short = ETHERNET + (40 if values["ipv6"] else 20) + 20
    stamps = 12 if values["tcp_timestamps"] else 0
    sack = [4 + 8 * n for n in range(1, 4)] if values["tcp_sack"] else []
    acks = [short + stamps, *(short + stamps + s for s in sack), short + 20]
    return bands(acks, values["mtu"], longest_first=False)


def error_rates(values: Mapping[str, Any]) -> tuple[float, float]:
    """Bit error rates of data and of ACKs."""
    ber = values["ber"]
    return ber, ber if values["ack_ber"] == "same" else values["ack_ber"]


def lossy(
    dev: str, line: str, ber: float, band_list: Sequence[Band], share: float = 0.0
) -> list[str]:
    """tc lines: a delay line with bit errors; the loss of a frame depends on its length.

    ``line`` has netem's other arguments: ``delay 250ms``, perhaps a rate. ``share`` of the frames
    are lost regardless of their length.
    """
    if not ber:
        more = f" loss {100 * share:.9g}%" if share else ""
        return [f"qdisc add dev {dev} root netem {line}{more} limit {DELAY_LINE}"]
    count = max(2, len(band_list))
    last = count - 1
    lines = [f"qdisc add dev {dev} root handle 1: prio bands {count} priomap" + f" {last}" * 16]
    for number, band in enumerate(band_list, 1):
        error = frame_loss(ber, band.length)
        loss = 100 * (error + share - error * share)
        lines.append(
            f"qdisc add dev {dev} parent 1:{number:x} netem {line} loss {loss:.9g}% "
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


def queue_packets(values: Mapping[str, Any], size: float | None = None) -> int:
    """Packets that the bottleneck's queue holds (or a queue of ``size`` bytes); at least one."""
    return max(1, round((values["queue"] if size is None else size) / values["mtu"]))


def return_path(values: Mapping[str, Any], dev: str) -> list[str]:
    """tc lines for the return path behind the satellite hop: slots, then a rate."""
    lines = []
    slot, rate = values["ack_slot"], values["ack_rate"]
    if slot:
        lines.append(
            f"qdisc add dev {dev} root handle 1: netem slot {time_text(slot)} {time_text(slot)} "
            f"limit {DELAY_LINE}"
        )
    if rate:
        parent = "parent 1:1" if slot else "root"
        lines.append(
            f"qdisc add dev {dev} {parent} handle 2: netem rate {rate}bit "
            f"limit {values['ack_queue']}"
        )
    return lines


def time_text(seconds: float) -> str:
    """A time in tc's syntax, rounded to microseconds."""
    return f"{round(seconds * 1e6)}us"


def seconds(time_s: float) -> str:
    """A time in s, as the shell and ``flow`` read it: to the millisecond in runs of days, too."""
    return f"{time_s:g}" if time_s < 1000 else f"{time_s:.9g}"


def blackouts(values: Mapping[str, Any], ack_devs: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The requested blackouts: (name, devices of ``sat`` through which the frames come in)."""
    found = [("ack_blackout", list(ack_devs)), ("data_blackout", ["to-bn"])]
    return [(name, devs) for name, devs in found if values[name]]


def at_random(start: str, spread_s: float) -> str:
    """A shell command that prints a time in s, up to ``spread_s`` later, at random."""
    late = f"{start} + {seconds(spread_s)} * $(od -An -N2 -tu2 /dev/urandom) / 65536"
    return f'awk "BEGIN {{ printf \\"%.4f\\", {late} }}"'


def _at_once(name: str, values: Mapping[str, Any]) -> bool:
    """Whether a blackout begins with the first SYN, which then must not pass."""
    return not values[name][0] and not values["blackout_spread"]


def _drop(dev: str, pref: str) -> str:
    return f"tc -n sat filter add dev {dev} ingress{pref} matchall action drop"


def first_blackouts(
    values: Mapping[str, Any], ack_devs: Iterable[str], pref: str = ""
) -> list[str]:
    """Shell lines that begin the blackouts that hold from 0 s on."""
    found = [each for each in blackouts(values, ack_devs) if _at_once(each[0], values)]
    lines = [_drop(dev, pref) for _, devs in found for dev in devs]
    return [*lines, ""] if lines else []


def blackout_lines(
    name: str, values: Mapping[str, Any], devs: Sequence[str], pref: str = ""
) -> str:
    """Shell lines that drop all frames that enter ``sat`` from ``devs`` during a blackout.

    ``pref`` distinguishes the filter from others on the same devices.
    """
    start, length = values[name]
    begin = seconds(start)
    if values["blackout_spread"]:
        begin = f"$({at_random(begin, values['blackout_spread'])})"
    on = "".join(f"\t{_drop(dev, pref)}\n" for dev in devs)
    if _at_once(name, values):
        on = ""
    off = "\n".join(f"\ttc -n sat filter del dev {d} ingress{pref}" for d in devs)
    return f"""\
{{
	sleep {begin}
{on}	note {name} on
	sleep {seconds(length)}
{off}
	note {name} off
}} &
"""


# --- namespaces, links, hosts -----------------------------------------------------------------


#: A link: the namespaces at its ends, and its number.
Hop = tuple[str, str, int]


@dataclass(frozen=True)
class Net:
    """Addresses and link lines. Link ``n`` is the network 10.0.n.0/24 or fd00:n::/64 with hosts 1
    and 2 at its ends; a device is named after the namespace at the other end."""

    v6: bool
    mtu: int

    @property
    def bits(self) -> int:
        """Length of a link's prefix."""
        return 64 if self.v6 else 24

    def address(self, n: int, host: int) -> str:
        """Address of an end of link ``n``."""
        return f"fd00:{n}::{host}" if self.v6 else f"10.0.{n}.{host}"

    def network(self, n: int) -> str:
        """Network address of link ``n``, for routes."""
        return f"fd00:{n}::/{self.bits}" if self.v6 else f"10.0.{n}.0/{self.bits}"

    def mac(self, n: int, host: int) -> str:
        """Hardware address of an end of link ``n``."""
        return f"02:00:00:00:{n:02x}:0{host}"

    def ip(self, ns: str) -> str:
        """The ``ip`` command for this address family in a namespace."""
        return f"ip {'-6 ' if self.v6 else ''}-n {ns}"

    def links(self, hops: Sequence[Hop]) -> list[str]:
        """Shell lines that create links."""
        return batch("ip", [self.link_line(*hop) for hop in hops])

    def link_line(self, a: str, b: str, n: int) -> str:
        """The line for ``ip -batch`` that creates a link."""
        return (
            f"link add to-{b} netns {a} mtu {self.mtu} address {self.mac(n, 1)} type veth "
            f"peer name to-{a} netns {b} mtu {self.mtu} address {self.mac(n, 2)}"
        )

    def ends(
        self,
        hops: Sequence[Hop],
        routes: Mapping[str, Sequence[str]],
        routers: Collection[str] = (),
    ) -> list[str]:
        """Shell lines that set up the ends of links, each namespace's together: addresses,
        neighbours, no offloads, routes (what follows ``route add``); routers forward."""
        found = []
        for ns in dict.fromkeys(ns for a, b, _ in hops for ns in (a, b)):
            devs = {f"to-{b}": (n, 1) for a, b, n in hops if a == ns}
            devs |= {f"to-{a}": (n, 2) for a, b, n in hops if b == ns}
            lines = [line for dev, end in devs.items() for line in self.end_lines(dev, *end)]
            lines += [f"route add {route}" for route in routes.get(ns, ())]
            found += batch(self.ip(ns), lines)
            commands = [no_offloads(dev) for dev in devs]
            commands += [self.forwards()] if ns in routers else []
            found.append(inside(ns, commands))
        return found

    def end_lines(self, dev: str, n: int, host: int) -> list[str]:
        """Lines for ``ip -batch`` that set up one end, except its offloads."""
        other = 3 - host
        nodad = " nodad" if self.v6 else ""
        return [
            f"addr add {self.address(n, host)}/{self.bits} dev {dev}{nodad}",
            f"link set {dev} up",
            f"neigh add {self.address(n, other)} lladdr {self.mac(n, other)} dev {dev} "
            "nud permanent",
        ]

    def forwards(self) -> str:
        """The command that makes its namespace a router."""
        what = "net.ipv6.conf.all.forwarding=1" if self.v6 else "net.ipv4.ip_forward=1"
        return f"sysctl -qw {what}"

    def quiet(self, namespaces: str) -> str:
        """Lines that stop unsolicited IPv6 traffic."""
        sysctls = (
            "net.ipv6.conf.default.accept_ra=0 net.ipv6.conf.default.router_solicitations=0 "
            "net.ipv6.conf.default.dad_transmits=0"
            if self.v6
            else "net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1"
        )
        return f"for ns in {namespaces}; do\n\tip netns exec $ns sysctl -qw {sysctls}\ndone"

    def namespaces(self, names: str) -> list[str]:
        """Shell lines that make namespaces, in which nobody sends unsolicited."""
        return [
            "# namespaces and links",
            f"for ns in {names}; do echo netns add $ns; done | ip -batch -",
            self.quiet(names),
        ]


def batch(command: str, lines: Sequence[str]) -> list[str]:
    """Shell lines that give ip or tc many lines at once: starting a program takes longer."""
    return [f"{command} -batch - <<'END'", *lines, "END"]


def inside(ns: str, commands: Sequence[str]) -> str:
    """The line that runs commands in a namespace."""
    if len(commands) == 1:
        return f"ip netns exec {ns} {commands[0]}"
    return f"ip netns exec {ns} sh -ec '{'; '.join(commands)}'"


def no_offloads(dev: str) -> str:
    """The command that turns off offloads, which would merge frames."""
    return f"ethtool -K {dev} tso off gso off gro off"


def receiver_route(values: Mapping[str, Any]) -> str:
    """Attributes of the receiver's route: its window, and the MSS that routers leave in its SYN."""
    window = f" window {values['window']}" if values["window"] else ""
    clamp = f" advmss {values['mss_clamp']}" if values.get("mss_clamp") else ""
    return window + (f" initrwnd {values['initrwnd']}" if values["initrwnd"] else "") + clamp


def prologue(head: str, namespaces: str) -> list[str]:
    """The script's first lines: head comment, clean-up, and the function that notes events."""
    return [
        head + "set -eu",
        "OUT=${OUT:-.}",
        "",
        "cleanup() {",
        "\tkill $(jobs -p) 2>/dev/null || :",
        f"\tfor ns in {namespaces}; do echo netns del $ns; done |",
        "\t\tip -force -batch - 2>/dev/null || :",
        "}",
        "trap cleanup EXIT",
        "trap 'exit 130' INT TERM",
        'note() { echo "$* $(now)" >>"$OUT/events.log"; }',
        "now() { cut -d' ' -f1 /proc/uptime; }",
        "",
    ]


def script(
    head: str,
    namespaces: str,
    values: Mapping[str, Any],
    flows: Sequence[tuple[str, int]],
    links: Sequence[str],
    traffic: str,
    counted: str,
    devices: Sequence[str] = (),
) -> str:
    """Assemble the script from its parts; ``flows`` has each flow's algorithm and port, ``devices``
    what is loaded beside the algorithms.

    With APOGEE_SHELL set the script exits once the testbed is set up.
    """
    ccs = tuple(cc for cc, _ in flows)
    lines = [
        *prologue(head, namespaces),
        "# congestion control",
        *module_lines(values, (*ccs, *devices)),
        "",
        *links,
    ]
    return (
        "\n".join(lines)
        + trace_lines(values["trace"], ccs, [port for _, port in flows])
        + '[ -z "${APOGEE_SHELL:-}" ] || { trap - EXIT; exit 0; }\n\n# traffic\n'
        + traffic
        + counted
    )


def end_hosts(values: Mapping[str, Any], namespaces: str, senders: int = 1) -> list[str]:
    """Shell lines that configure senders and receivers.

    A sender fills its first buffer at once, so all ``senders`` together get what 40 of them need,
    640 MiB, which a guest has.
    """
    rmem = max(6_291_456, 4 * values["window"])
    wmem = min(FIRST_BUFFER, 40 * FIRST_BUFFER // senders)
    keys = [key for key in SYSCTLS if values[key] or key not in UNTOUCHED]
    sysctls = " ".join(f"net.ipv4.{key}={values[key]}" for key in keys)
    return [
        "# end hosts: memory that never limits, nothing remembered from earlier connections",
        "sysctl -qw net.ipv4.tcp_mem='1000000 1000000 1000000'",
        f"for ns in {namespaces}; do",
        f"\tip netns exec $ns sysctl -qw net.ipv4.tcp_no_metrics_save=1 {sysctls} \\",
        f"\t\tnet.ipv4.tcp_wmem='4096 {wmem} 67108864' net.ipv4.tcp_rmem='4096 {rmem} {rmem}'",
        "done",
        "",
    ]


# --- traces and counters ----------------------------------------------------------------------


def trace_lines(trace: str, ccs: Iterable[str], ports: Sequence[int]) -> str:
    """Shell lines that record events of the senders' sockets in a tracing instance."""
    if trace == "none":
        return ""
    if len(ports) == 1:
        peer, whose = f"dport == {ports[0]}", "the sender's socket only (its peer has the port"
    else:
        peer = f"dport >= {min(ports)} && dport <= {max(ports)}"
        whose = "the senders' sockets only (their peers have the ports"
    of = "of the flow)" if len(ports) == 1 else "of the flows)"
    lines = [
        f"# trace: {whose} {of}",
        "tracing=/sys/kernel/tracing/instances/apogee",
        "[ -d /sys/kernel/tracing/instances ] || mount -t tracefs tracefs /sys/kernel/tracing",
        "mkdir $tracing",
        "echo mono >$tracing/trace_clock",
        "echo 65536 >$tracing/buffer_size_kb",
    ]
    if trace in ("probe", "all"):
        lines += [
            f"echo '{peer}' >$tracing/events/tcp/tcp_probe/filter",
            "echo 1 >$tracing/events/tcp/tcp_probe/enable",
        ]
    if trace == "all":
        lines += [
            f"echo '{peer}' >$tracing/events/tcp/tcp_retransmit_skb/filter",
            "echo 1 >$tracing/events/tcp/tcp_retransmit_skb/enable",
        ]
    for module in dict.fromkeys(map(module_of, ccs)) if trace in ("module", "all") else ():
        lines += [
            f"for event in $tracing/events/{module}/*/; do",
            "\t[ -e $event/enable ] || continue",
            f"\techo '{peer}' >$event/filter",
            "\techo 1 >$event/enable",
            "done",
        ]
    return "\n".join(lines) + "\n\n"


def counters(namespaces: str, hosts: str, trace: str, links: str = "") -> str:
    """Shell lines that save the counters of queues, hosts and the named links, and the trace."""
    lines = f"""\

# what was counted
for ns in {namespaces}; do
	tc -n $ns -s -j qdisc show >"$OUT/qdisc-$ns.json"
done
"""
    if links:
        lines += f"""\
for ns in {links}; do
	ip -n $ns -s -j link show >"$OUT/link-$ns.json"
done
"""
    lines += f"""\
for ns in {hosts}; do
	ip netns exec $ns nstat -asjz >"$OUT/nstat-$ns.json"
done
"""
    if trace != "none":
        lines += """\
echo 0 >$tracing/tracing_on
cat $tracing/trace >"$OUT/trace.txt"
grep -h -E '^(entries|overrun|dropped)' $tracing/per_cpu/cpu*/stats >"$OUT/trace.stats"
rmdir $tracing
"""
    return lines


# --- the path ---------------------------------------------------------------------------------


def limit_bps(values: Mapping[str, Any]) -> float:
    """The best goodput of the satellite link: rate x payload share x (1 - loss of a frame)."""
    mtu = values["mtu"]
    headers = (60 if values["ipv6"] else 40) + (12 if values["tcp_timestamps"] else 0)
    share = (mtu - headers) / (mtu + ETHERNET)
    return values["rate"] * share * (1 - frame_loss(values["ber"], mtu + ETHERNET))


def extras(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Programs that the guest needs in addition to the base image."""
    return ("iperf3",) if values["traffic"] == "iperf3" else ()


def check(values: Mapping[str, Any], duration_s: float) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    if values["ipv6"] and values["mtu"] < 1280:
        raise ValueError("ipv6 requires an mtu of at least 1280")
    if values.get("warmup") and values["traffic"] == "iperf3":
        raise ValueError("warmup: traffic=iperf3 counts whole seconds only: use traffic=flow")
    spread = values.get("blackout_spread", 0.0)
    found = [name for name in ("ack_blackout", "data_blackout") if values.get(name)]
    if spread and not found:
        raise ValueError("blackout_spread: there is no ack_blackout or data_blackout")
    for name in found:
        if sum(values[name]) + spread > duration_s:
            raise ValueError(f"{name} ends after the run, which lasts {duration_s:g} s")
