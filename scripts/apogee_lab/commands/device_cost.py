# SPDX-License-Identifier: GPL-2.0
"""`lab device-cost`: guest instructions per packet of a TCP flow through a device.

Both ends are in one guest, in two namespaces joined by veth pairs without offloads; the device
under test stands on them. All that the kernel and the two programs execute from before the SYN to
the end of the flow is divided by the full packets sent, so that a number is both ends' work. The
kernel's idle loop stops the CPU, so that waiting counts nothing.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from .. import modules
from ..base import UsageError
from ..engines.instructions import OUTSIDE, Counts, counted
from ..kernels.debian import kernel
from ..results.text import as_markdown
from . import cost_devices
from .cost_devices import GRE, SHAKE, VETH, VLAN, is_sscop
from .options import Arguments, Parser, whole_number

OWN = ("sscop", "shake")
# What the instructions are spent on, by the names of functions; the first that fits.
PARTS = (
    ("CRC", r"crc32c|crypto_shash"),
    ("cipher", r"chacha|poly1305"),
    ("checksums", r"csum|checksum"),
    ("copies", r"memcpy|memmove|copy_user|copy_bits|copy_to|copy_from|copy_datagram"),
    ("buffers", r"slab|kmem|kmalloc|kfree|(alloc|build|free|consume|release|clone|get)\w*_skb"
     r"|skb_\w*(release|free|consume|get)|page|cache_from_obj|free_|memset|frag"),
    ("TCP and IP", r"tcp|ip_|^ip|inet|sock|sk_|nf_|gso|gro|skb_segment|raw_|fib|dst_|neigh"),
)  # fmt: skip
LINKS = "links, rest"  # veth, vlan and what leads to and from them; the scheduler and others
Parts = dict[str, float]


def parts_of(counts: Counts) -> Parts:
    """Instructions by what they are spent on."""
    found = dict.fromkeys([*OWN, *(name for name, _ in PARTS), LINKS, OUTSIDE], 0.0)
    for (function, module), instructions in counts.items():
        found[_part(function, module)] += instructions
    return found


def _part(function: str, module: str) -> str:
    if module in OWN or function == OUTSIDE:
        return module or OUTSIDE
    fits = (name for name, pattern in PARTS if re.search(pattern, function))
    return next(fits, LINKS)


def table(found: dict[str, Parts], devices: list[str], beside: str) -> list[list[str]]:
    """A row per device: its whole, beside another device's, what it adds to veth, and its parts.

    Parts that no device has are left out.
    """
    whole = {device: sum(found[device].values()) for device in devices}
    parts = [part for part in found[devices[0]] if any(found[d][part] for d in devices)]
    adds = {device: instructions - whole[VETH] for device, instructions in whole.items()}
    of = f"of {beside}'s"
    rows = [["device", "instructions", of, "added to veth", of, *parts]]
    for device in devices:
        rows.append(
            [
                cost_devices.name(device),
                f"{whole[device]:.0f}",
                f"{whole[device] / whole[beside]:.2f}",
                f"{adds[device]:.0f}",
                f"{adds[device] / adds[beside]:.2f}",
                *(f"{found[device][part]:.0f}" for part in parts),
            ]
        )
    return rows


def tables(words: list[str]) -> list[tuple[str, list[str]]]:
    """For each table the device that others are beside, and all its devices."""
    sscops = [word for word in words if is_sscop(word)]
    shakes = [word for word in words if word in SHAKE]
    found = []
    if sscops or VLAN in words or not shakes and GRE not in words:
        found.append((VLAN, [VETH, VLAN, *sscops]))
    if shakes or GRE in words:
        found.append((GRE, [VETH, GRE, *shakes]))
    return found


def do_device_cost(args: Arguments) -> int:
    """Print a table for each kind of device, and the functions that take most."""
    words = [cost_devices.device(word) for word in args.device]
    packets = whole_number("--packets", args.packets, 1000, 1_000_000)
    top = whole_number("--top", args.top, 0, 1000)
    if len(set(words)) < len(words):
        raise UsageError("a device is named twice")
    shown = tables(words)
    devices = list(dict.fromkeys(device for _, of in shown for device in of))
    modules.build(kernel(args.kernel))
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        found = counted(
            "".join(cost_devices.script(device, packets) for device in devices),
            kernel=args.kernel,
            modules=cost_devices.modules(devices),
            out=Path(folder, "out"),
        )
    flows = dict(zip(devices, found[1::2], strict=True))  # what was counted between the marks
    per_packet = {
        device: {part: n / packets for part, n in parts_of(counts).items()}
        for device, counts in flows.items()
    }
    print("\n\n".join(as_markdown(table(per_packet, of, beside)) for beside, of in shown))
    for device, counts in flows.items():
        for (function, module), instructions in counts.most_common(top):
            print(f"{device:8} {instructions / packets:9.1f}  {function} {module}".rstrip())
    return 0


def device_cost_parser(parser: Parser) -> None:
    parser.add_argument(
        "device",
        nargs="*",
        metavar="DEVICE",
        default=["2048", "1400", "512", "256", "128", "auto"],
        help="sscop's segment, bytes (64 to 2048) or auto, measured beside vlan; or "
        f"{', '.join(SHAKE)} (-2: two paths), beside gre; veth is always measured",
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
