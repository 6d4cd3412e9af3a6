# SPDX-License-Identifier: GPL-2.0
"""`lab device-cost`: guest instructions per packet of a TCP flow through a device.

Both ends are in one guest, in two namespaces joined by a veth pair without offloads; the device
under test stands on it. All that the kernel and the two programs execute from before the SYN to the
end of the flow is divided by the full packets sent. The kernel's idle loop stops the CPU, so that
waiting counts nothing.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from .. import modules
from ..base import UsageError
from ..engines.instructions import MARK, OUTSIDE, Counts, counted
from ..kernels.debian import kernel
from ..results.text import as_markdown
from ..scenarios import sscop
from .options import Arguments, Parser, whole_number

BARE = ("veth", "vlan")
PAYLOAD = 1448  # of a packet of 1500 bytes, with timestamps
# What the instructions are spent on, by the names of functions; the first that fits.
PARTS = (
    ("CRC", r"crc32c|crypto_shash"),
    ("checksums", r"csum|checksum"),
    ("copies", r"memcpy|memmove|copy_user|copy_bits|copy_to|copy_from|copy_datagram"),
    ("buffers", r"slab|kmem|kmalloc|kfree|(alloc|build|free|consume|release|clone|get)\w*_skb"
     r"|skb_\w*(release|free|consume|get)|page|cache_from_obj|free_|memset|frag"),
    ("TCP and IP", r"tcp|ip_|^ip|inet|sock|sk_|nf_|gso|gro|skb_segment|raw_|fib|dst_|neigh"),
)  # fmt: skip
LINKS = "links, rest"  # veth, vlan and what leads to and from them; the scheduler and others


def parts_of(counts: Counts) -> dict[str, float]:
    """Instructions by what they are spent on."""
    found = dict.fromkeys(["sscop", *(name for name, _ in PARTS), LINKS, OUTSIDE], 0.0)
    for (function, module), instructions in counts.items():
        found[_part(function, module)] += instructions
    return found


def _part(function: str, module: str) -> str:
    if module == "sscop" or function == OUTSIDE:
        return module or OUTSIDE
    fits = (name for name, pattern in PARTS if re.search(pattern, function))
    return next(fits, LINKS)


def script(device: str, packets: int) -> str:
    """The two ends, and a flow between two marks."""
    values = {p.name: p.default for p in sscop.PARAMS} | {"mtu": 1500}
    lines = [
        "set -e",
        "ip netns add a; ip netns add b",
        "ip link add v netns a type veth peer name v netns b",
    ]
    for ns in "ab":
        lines += [
            f"ip netns exec {ns} sysctl -qw net.ipv6.conf.all.disable_ipv6=1",
            f"ip netns exec {ns} ethtool -K v tso off gso off gro off",
        ]
    name = "v"
    if device == "vlan":
        name = "u"
        for ns in "ab":
            lines += [
                f"ip -n {ns} link add link v name u type vlan id 5",
                f"ip netns exec {ns} ethtool -K u tso off gso off gro off",
            ]
    elif device != "veth":
        name = sscop.NAME
        values["segment"] = device if device == "auto" else int(device)
        lines += [f"ip -n {ns} link set v mtu {sscop.lower_mtu(values)}" for ns in "ab"]
        lines += sscop.lines(values, "a b", "v")
    lines += [f"ip -n {ns} link set {dev} up" for ns in "ab" for dev in ("v", name)]
    lines += [f"ip -n {ns} addr add 10.0.0.{i}/24 dev {name}" for i, ns in ((1, "a"), (2, "b"))]
    if device not in BARE:
        lines += sscop.wait_lines("a b")
    return "\n".join(
        [
            *lines,
            f"ip netns exec b flow recv 5201 $OUT/{device}.json &",
            "sleep 0.3",
            MARK,
            "ip netns exec a flow send 10.0.0.2 5201 --cc cubic --duration 600 /dev/null "
            f"{packets * PAYLOAD}",
            MARK,
            "ip netns del a; ip netns del b; sleep 0.3",
            "",
        ]
    )


def _device(text: str) -> str:
    if text in (*BARE, "auto"):
        return text
    return str(whole_number("DEVICE", text, sscop.LEAST_SEGMENT, 2048))


def _rows(per_packet: list[dict[str, float]], devices: list[str]) -> list[list[str]]:
    base = sum(per_packet[devices.index("vlan")].values())
    rows = [["device", "instructions per packet", "of a vlan's", *per_packet[0]]]
    for device, parts in zip(devices, per_packet, strict=True):
        whole = sum(parts.values())
        name = device if device in BARE else f"sscop, segment {device}"
        numbers = [f"{value:.0f}" for value in parts.values()]
        rows.append([name, f"{whole:.0f}", f"{whole / base:.2f}", *numbers])
    return rows


def do_device_cost(args: Arguments) -> int:
    """Print a row per device, and the functions that take most."""
    devices = [*BARE, *(d for d in map(_device, args.device) if d not in BARE)]
    packets = whole_number("--packets", args.packets, 1000, 1_000_000)
    top = whole_number("--top", args.top, 0, 1000)
    if len(set(devices)) < len(devices):
        raise UsageError("a device is named twice")
    modules.build(kernel(args.kernel))
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        found = counted(
            "".join(script(device, packets) for device in devices),
            kernel=args.kernel,
            modules=["sscop"],
            out=Path(folder, "out"),
        )
    flows = found[1::2]  # what was counted between the marks
    per_packet = [{part: n / packets for part, n in parts_of(c).items()} for c in flows]
    print(as_markdown(_rows(per_packet, devices)))
    for device, counts in zip(devices, flows, strict=True):
        for (function, module), instructions in counts.most_common(top):
            print(f"{device:8} {instructions / packets:9.1f}  {function} {module}".rstrip())
    return 0


def device_cost_parser(parser: Parser) -> None:
    parser.add_argument(
        "device",
        nargs="*",
        metavar="DEVICE",
        default=["2048", "1400", "512", "256", "128", "auto"],
        help="sscop's segment: bytes (64 to 2048) or auto; veth and vlan are always measured",
    )
    parser.add_argument(
        "--packets", default="50000", metavar="N", help="packets of a flow (%(default)s)"
    )
    parser.add_argument(
        "--kernel", default="bookworm", metavar="NAME", help="the guest's kernel (%(default)s)"
    )
    parser.add_argument(
        "--top", default="0", metavar="N", help="list the N functions that take most (%(default)s)"
    )
