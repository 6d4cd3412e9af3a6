# SPDX-License-Identifier: GPL-2.0
"""Boots the kernel of an installed Debian root with the modules that DKMS put there, and uses star,
and sscop by that Debian's own ip with its plug-in.

``python3 -m apogee_lab.commands.prove_package ROOT RELEASE WORK``: the part of
scripts/prove-package that needs a kernel. WORK keeps what the guest boots and, in WORK/out, what it
brought back.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ..base import LabError
from ..engines import qemu
from ..engines.work import GuestFailed
from ..kernels import debian
from ..kernels.kernel import Kernel
from ..modules import module_bytes

#: 10 Mbit/s and 20 ms to a second namespace.
NETWORK = """
fail() { echo "$*" >$OUT/failed; exit 1; }
ip netns add far
ip link add near type veth peer name far netns far
ip addr add 10.9.0.1/24 dev near
ip link set near up
ip -n far addr add 10.9.0.2/24 dev far
ip -n far link set far up
tc qdisc add dev near root netem rate 10mbit delay 20ms limit 1000
"""

#: The sender is the first namespace, whose default sysctl sets.
SCRIPT = (
    NETWORK
    + """
for module in {modules}; do
	modprobe $module 2>$OUT/error || fail "modprobe $module: $(cat $OUT/error)"
	rmmod $module || fail "rmmod $module"
done

[ ! -d /sys/module/tcp_star ] || fail "tcp_star is still loaded"
sysctl -qw net.ipv4.tcp_congestion_control=star 2>$OUT/error || fail "sysctl: $(cat $OUT/error)"
[ -d /sys/module/tcp_star ] || fail "choosing star by name did not load tcp_star"
cat /sys/module/tcp_star/taint >$OUT/taint

ip netns exec far iperf3 -s -1 -p 5201 >/dev/null &
sleep 0.5
iperf3 -c 10.9.0.2 -p 5201 -t 5 >$OUT/iperf3 2>&1 &
sleep 4
ss -tin 'dport = :5201' >$OUT/ss
wait $!

# Debian's own ip, with its libraries and the plug-in, below /own; not the lab's plug-ins.
unset IP_LIB_DIR
chmod -R a+x /own
own() { chroot /own /bin/ip "$@"; }
[ ! -d /sys/module/sscop ] || fail "sscop is still loaded"
{link} link near name radio {words} 2>$OUT/error || fail "ip link add: $(cat $OUT/error)"
[ -d /sys/module/sscop ] || fail "adding a link of type sscop did not load sscop"
ip netns exec far {link} link far name radio {words} || fail "ip link add in the other namespace"
own link set radio type sscop segment 512 || fail "ip link set"
own addr add 10.8.0.1/24 dev radio
own link set radio up
ip -n far addr add 10.8.0.2/24 dev radio
ip -n far link set radio up
until [ "$(cat /sys/class/net/radio/carrier)" = 1 ]; do sleep 0.01; done
tc qdisc change dev near root netem rate 10mbit delay 20ms limit 1000 loss 10%
ping -c 100 -i 0.05 10.8.0.2 >$OUT/ping 2>&1
ethtool -S radio >$OUT/counters
own -d link show dev radio >$OUT/link
own -d -j link show dev radio >$OUT/link.json
own link del radio || fail "ip link del"
ip -n far link del radio
rmmod sscop || fail "rmmod sscop"
"""
)
LINK = "chroot /own /bin/ip link add"
WORDS = "type sscop segment 256 window 512 poll-time 50ms ustat off"
#: What ip is to show of them after the segment was changed.
SHOWN = {"segment": 512, "window": 512, "poll_time_us": 50_000, "ustat": False, "state": "ready"}

# The control connection of iperf3 carries some hundred bytes: what counts is the other.
_STAR = re.compile(r"\n\t star .*?bytes_acked:(\d+).*bbr:\(bw:\S+,mrtt:\S+\)")
ENOUGH = 1_000_000  # B acknowledged of some 4 MB that the link carries in 4 s


class Installed(Kernel):
    """The kernel of a root file system below ``self.root/root``, with what DKMS installed in it."""

    @property
    def built(self) -> Path:
        """Unpacked copies of the files below updates/dkms."""
        return self.root / "built"


def take(root: Path, release: str, work: Path) -> Installed:
    """What can be booted of an installed root; LabError if it lacks the kernel or the modules."""
    kernel = Installed(release, work)
    image = root / "boot" / f"vmlinuz-{release}"
    if not image.exists():
        raise LabError(f"there is no kernel {release} in {root}")
    shutil.rmtree(kernel.built, ignore_errors=True)
    kernel.built.mkdir(parents=True)
    (work / "root").unlink(missing_ok=True)
    (work / "root").symlink_to(root.resolve())
    kernel.vmlinux.write_bytes(debian.extract_vmlinux(image.read_bytes()))
    for path in (kernel.modules / "updates" / "dkms").glob("*.ko*"):
        name = path.name.partition(".ko")[0]
        (kernel.built / f"{name}.ko").write_bytes(module_bytes(path))
    return kernel


def _inside(root: Path, *words: str) -> bytes:
    """What a program of the root prints."""
    done = subprocess.run(["chroot", str(root), *words], capture_output=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(words)} in {root}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def own_ip(root: Path) -> dict[str, bytes]:
    """Files of a guest: the root's ip with its libraries and plug-ins, below /own."""
    text = _inside(root, "ldd", "/bin/ip").decode()
    files = ["/bin/ip", *re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.M)]
    files += [f"/{path.relative_to(root)}" for path in root.glob("usr/lib/*/ip/link_*.so")]
    return {f"own{name}": _inside(root, "cat", name) for name in files}


def use(kernel: Installed, out: Path) -> str:
    """Load, choose, send in a guest; one line about what was seen, LabError if anything failed."""
    modules = sorted(path.stem for path in kernel.built.glob("*.ko"))
    for needed in ("tcp_star", "sscop"):
        if needed not in modules:
            raise LabError(f"DKMS has installed no {needed} for {kernel.release}")
    script = SCRIPT
    for name, text in {"modules": " ".join(modules), "link": LINK, "words": WORDS}.items():
        script = script.replace(f"{{{name}}}", text)
    info = qemu.run_script(
        script, kernel=kernel, modules=modules, extras=["iperf3"],
        files=own_ip(kernel.root / "root"), out=out,
    )  # fmt: skip
    if info.status:
        raise LabError((out / "failed").read_text().strip())
    acked = [int(found) for found in _STAR.findall((out / "ss").read_text())]
    if max(acked, default=0) < ENOUGH:
        raise LabError(f"no connection with star carried data, see {out}/ss and {out}/iperf3")
    shown = _shown(out)
    running = (out / "uname").read_text().strip()
    return (
        f"kernel {running}: loaded {', '.join(modules)}; "
        "star chosen by sysctl with nothing loaded; "
        f"ss -ti: star, {max(acked)} B acknowledged after 4 s; "
        f"ip -d link show: {shown}"
    )


def _shown(out: Path) -> str:
    """What ip printed of the link; LabError if it lacks a setting, or if no packet came through."""
    text = (out / "link").read_text()
    line = re.search(r"^\s*(sscop .*?)\s*(addrgenmode.*)?$", text, re.M)
    if not line:
        raise LabError(f"ip -d link show says nothing about sscop, see {out}/link")
    told = json.loads((out / "link.json").read_text())[0]["linkinfo"]["info_data"]
    wrong = [key for key, value in SHOWN.items() if told.get(key) != value]
    if wrong:
        raise LabError(f"ip -d -j link show: {', '.join(wrong)} is not as set, see {out}/link.json")
    if not re.search(r"\b100 packets received, 0% packet loss", (out / "ping").read_text()):
        raise LabError(f"not every packet came through sscop, see {out}/ping")
    again = re.search(r"\bsd_again: ([1-9]\d*)", (out / "counters").read_text())
    if not again:
        raise LabError(f"sscop sent nothing again over a link that loses, see {out}/counters")
    return f"{line[1]}; 100 of 100 pings at 10 % loss, {again[1]} segments sent again"


def run_part(argv: list[str], words: str, part: Callable[..., str]) -> int:
    """A part of scripts/prove-package, with its arguments by the names in ``words``.

    Returns 0 and prints what was proven, 1 with one line if it was not, 2 with the usage.
    """
    name = Path(argv[0]).stem
    if len(argv) - 1 != len(words.split()):
        print(f"usage: python3 -m apogee_lab.commands.{name} {words}", file=sys.stderr)
        return 2
    try:
        print(part(*argv[1:]))
    except (LabError, GuestFailed) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def _part(root: str, release: str, work: str) -> str:
    return use(take(Path(root), release, Path(work)), Path(work) / "out")


if __name__ == "__main__":
    sys.exit(run_part(sys.argv, "ROOT RELEASE WORK", _part))
