# SPDX-License-Identifier: GPL-2.0
"""Upgrades apogee-tcp-dkms in an installed Debian root, on its own kernel, while star is in use.

``python3 -m apogee_lab.commands.prove_upgrade ROOT RELEASE WORK``: a part of scripts/prove-package.
WORK has next-tcp.deb, a later version whose tcp_star has the word ``next`` in its description of
itself, and keeps what the guest brought back in WORK/upgrade.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from ..base import LabError, find_program
from ..engines import qemu
from .prove_package import ENOUGH, NETWORK, Installed, run_part, take

#: Not needed to build modules, or mounted over.
_LEFT_OUT = (
    "./proc/*", "./sys/*", "./dev/*", "./run/*", "./tmp/*", "./src", "./boot/*", "./var/cache/*",
    "./var/lib/apt/*", "./usr/share/doc/*", "./usr/share/locale/*", "./usr/share/man/*",
    "./usr/lib/modules/*/kernel",
)  # fmt: skip
_ACKED = re.compile(r"\n\t star .*?bytes_acked:(\d+)")


def _archive(root: Path) -> bytes:
    """The root as a compressed tar archive."""
    tar = find_program("tar", "tar")
    command = [tar, "-C", root, *(f"--exclude={one}" for one in _LEFT_OUT), "-czf", "-", "."]
    return subprocess.run(command, capture_output=True, check=True).stdout


def _acked(path: Path) -> int:
    """Octets of the connection that were acknowledged; 0 if there is none with star."""
    return max(map(int, _ACKED.findall(path.read_text())), default=0)


def upgrade(kernel: Installed, out: Path) -> str:
    """Upgrade in a guest; a line about what was seen, LabError if anything failed."""
    script = Path(__file__).with_suffix(".sh").read_text(encoding="utf-8")
    info = qemu.run_script(
        f"{NETWORK}\nNOW={int(time.time())}\n{script}", kernel=kernel, out=out,
        timeout_virtual_s=3000.0,
        files={
            "lab/root.tar.gz": _archive(kernel.root / "root"),
            "lab/next.deb": (kernel.root / "next-tcp.deb").read_bytes(),
        },
    )  # fmt: skip
    if info.status:
        raise LabError((out / "failed").read_text().strip())
    before, after = _acked(out / "ss.before"), _acked(out / "ss.after")
    if after - before < ENOUGH:
        raise LabError(f"the connection did not go on: {before}, then {after} B, see {out}")
    refused = (out / "refused").read_text().strip()
    if "in use" not in refused:
        raise LabError(f"modprobe -r beside a connection: {refused}")
    anew = json.loads((out / "after").read_text())["bytes"]
    if anew < ENOUGH:
        raise LabError(f"the new module carried {anew} B, see {out}")
    running = (out / "uname").read_text().strip()
    return (
        f"kernel {running}: upgraded beside a connection of star, which had {before} B "
        f"acknowledged before, {after} B after it, by the same module; {refused}; loaded anew it "
        f"is the new module, which carried {anew} B"
    )


def _part(root: str, release: str, work: str) -> str:
    return upgrade(take(Path(root), release, Path(work)), Path(work) / "upgrade")


if __name__ == "__main__":
    sys.exit(run_part(sys.argv, "ROOT RELEASE WORK", _part))
