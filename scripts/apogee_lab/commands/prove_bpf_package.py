# SPDX-License-Identifier: GPL-2.0
"""Boots a Debian root that has apogee-bpf, under its systemd, with a kernel that is locked down and
takes signed modules only.

``python3 -m apogee_lab.commands.prove_bpf_package ROOT KERNEL_ROOT RELEASE WORK``: a part of
scripts/prove-package. KERNEL_ROOT has the kernel and a tcp_star for it. WORK keeps what the guest
boots, next.deb, a later version of the package, and, in WORK/bpf, what it brought back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ..base import LabError, find_program
from ..engines import qemu
from .prove_package import ENOUGH, NETWORK, Installed, run_part, take

#: Not needed to boot, or mounted over.
_LEFT_OUT = (
    "./proc/*", "./sys/*", "./dev/*", "./run/*", "./tmp/*", "./boot/*", "./var/cache/*",
    "./var/lib/apt/*", "./usr/share/doc/*", "./usr/share/locale/*", "./usr/share/man/*",
)  # fmt: skip

#: The root in memory is a mount of its own, as systemd's sandboxes need; systemd is the first
#: process of its own namespace of processes, and mounts /proc, /sys and the BPF file system itself.
SCRIPT = (
    NETWORK
    + """
modprobe tcp_star 2>$OUT/modprobe && fail "modprobe tcp_star is not refused"
mkdir /own
mount -t tmpfs -o size=600m own /own
tar -xf /lab/root.tar -C /own || fail "the root cannot be unpacked"
rm /lab/root.tar
mkdir /own/result
cp /bin/flow /own/result/flow
cp /lab/inside.sh /lab/next.deb /own/result/
cp /lab/prove.service /own/etc/systemd/system/
cp /own/etc/apogee-bpf.conf /own/result/as-installed.conf
echo 'star aen=0  # a comment' >>/own/etc/apogee-bpf.conf
mkdir -p /own/etc/sysctl.d
echo net.ipv4.tcp_congestion_control=bpf_star >/own/etc/sysctl.d/90-star.conf

ip netns exec far flow recv 5201 $OUT/received &
receiver=$!
unshare -m -p -f chroot /own /lib/systemd/systemd --unit=prove.service
kill $receiver 2>/dev/null
wait $receiver
cp /own/result/*.txt $OUT
[ -e /own/result/proven.txt ] ||
	fail "$(cat /own/result/failed.txt || echo systemd did not come to it)"
"""
)

#: Run by systemd after sysinit.target.
UNIT = """[Unit]
SuccessAction=poweroff-immediate
FailureAction=poweroff-immediate

[Service]
Type=oneshot
ExecStart=/bin/sh /result/inside.sh
"""


class LockedDown(Installed):
    """An installed kernel as under Secure Boot."""

    options = ("lsm=lockdown", "lockdown=integrity")


def _archive(root: Path) -> bytes:
    """The root as a tar archive."""
    tar = find_program("tar", "tar")
    command = [tar, "-C", root, *(f"--exclude={one}" for one in _LEFT_OUT), "-cf", "-", "."]
    return subprocess.run(command, capture_output=True, check=True).stdout


def use(kernel: LockedDown, root: Path, out: Path) -> str:
    """Boot the root and use its apogee-bpf; a line about what was seen, LabError if it fails."""
    info = qemu.run_script(
        SCRIPT, kernel=kernel, modules=["tcp_star"], signed_only=True, out=out,
        files={
            "lab/root.tar": _archive(root),
            "lab/inside.sh": Path(__file__).with_suffix(".sh").read_bytes(),
            "lab/next.deb": (kernel.root / "next.deb").read_bytes(),
            "lab/prove.service": UNIT.encode(),
        },
        timeout_virtual_s=300.0,
    )  # fmt: skip
    if info.status:
        raise LabError((out / "failed").read_text().strip())
    received = json.loads((out / "received").read_text())["bytes"]
    if received < ENOUGH:
        raise LabError(f"bpf_star carried {received} B, see {out}")
    if "[integrity]" not in (out / "lockdown.txt").read_text():
        raise LabError(f"the kernel is not locked down, see {out}/lockdown.txt")
    refusal = (out / "modprobe").read_text().strip()
    status = (out / "status.txt").read_text().splitlines()[0]
    return (
        f"kernel {(out / 'uname').read_text().strip()}, lockdown=integrity: {refusal}; "
        f"loaded by the unit and chosen by sysctl.d: {status}; {received} B received in 30 s, "
        "with an upgrade in between; set, unload and purge work"
    )


def _part(root: str, kernel_root: str, release: str, work: str) -> str:
    take(Path(kernel_root), release, Path(work))
    return use(LockedDown(release, Path(work)), Path(root), Path(work) / "bpf")


if __name__ == "__main__":
    sys.exit(run_part(sys.argv, "ROOT KERNEL_ROOT RELEASE WORK", _part))
