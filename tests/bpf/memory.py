# SPDX-License-Identifier: GPL-2.0
"""The kernel's memory that an algorithm takes, and a connection, as module and as BPF.

``python3 -m tests.bpf.memory`` prints a record per congestion control. A connection has both its
ends in the guest, with the same algorithm.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from apogee_lab.algorithms import ALGORITHMS, is_bpf, module_of
from apogee_lab.engines import qemu
from apogee_lab.kernels.debian import kernel
from apogee_lab.modules import brought
from apogee_lab.scenarios.scenario import module_lines
from tests import ROOT
from tests.guest.runs import compiled
from tests.long.run import MEMORY

CONNECTIONS = 1000

#: Loaded and removed once before, so that what the kernel allocates only once is not counted. A
#: module's memory is freed later than the module is removed: the kernel says how large it is.
SCRIPT = """
chmod +x /bin/peer
LOAD
UNLOAD
sleep 0.5; memory >$OUT/before
LOAD
sleep 0.5; memory >$OUT/loaded
cat /sys/module/MODULE/coresize >$OUT/size 2>/dev/null
sysctl -q -w net.ipv4.tcp_congestion_control=CC net.core.somaxconn=COUNT
ulimit -n 4096
peer hold 5201 COUNT 2 >$OUT/peer 2>&1 & peer=$!
sleep 1; cat $OUT/peer >$OUT/said; memory >$OUT/open
wait $peer
"""


def measure(cc: str, folder: Path) -> dict[str, float]:
    """kB of an algorithm that is loaded, and octets of a connection."""
    names = () if cc == "cubic" else (cc,)
    load = "\n".join(module_lines({}, names))
    unload = f"apogee-bpf unload {cc}" if is_bpf(cc) else load.replace("modprobe", "rmmod")
    script = MEMORY + SCRIPT.replace("UNLOAD", unload).replace("LOAD", load)
    script = script.replace("COUNT", str(CONNECTIONS)).replace("CC", cc)
    script = script.replace("MODULE", module_of(cc) or "none")
    peer = compiled(ROOT / "tests" / "guest" / "modules" / "peer.c")
    qemu.run_script(
        script, out=folder / cc, modules=brought(names), extras=["apogee-bpf"] * is_bpf(cc),
        files={"bin/peer": peer}, check=True,
    )  # fmt: skip
    if (folder / cc / "said").read_text() != "open\n":
        raise SystemExit((folder / cc / "said").read_text())
    before, loaded, opened = (
        int((folder / cc / name).read_text().split()[0]) for name in ("before", "loaded", "open")
    )
    size = (folder / cc / "size").read_text()
    return {
        "loaded_kb": round(int(size) / 1024) if size else before - loaded,
        "connection_bytes": round((loaded - opened) * 1024 / CONNECTIONS),
    }


def main() -> None:
    programs = [name for name in ALGORITHMS if is_bpf(name)]
    with tempfile.TemporaryDirectory() as folder:
        for cc in [*(ALGORITHMS[name].bpf for name in programs), *programs, "cubic"]:
            print(
                json.dumps(
                    {"cc": cc, "kernel": kernel().release, "connections": CONNECTIONS}
                    | measure(cc, Path(folder))
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
