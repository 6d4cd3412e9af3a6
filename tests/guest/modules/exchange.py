# SPDX-License-Identifier: GPL-2.0
"""Scripted exchanges of segments with a socket of the guest's kernel, in virtual time.

exchange.c reads the script; lines `sysctl NAME=VALUE` before it apply to the exchange's own
namespace. Segments of data carry 1000 bytes (988 with timestamps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from apogee_lab import modules
from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from tests.guest.runs import compiled

MSS = 1000

#: A connection on an empty path of 100 ms, ten segments on their way.
OPENED = """
connect
wait 100
synack {options}
write {bytes}
"""


def opened(cc: str, bytes: int = 1_000_000, options: str = "") -> str:  # noqa: A002
    """Lines after which a socket of an algorithm has sent its first window, 100 ms into it."""
    return f"cc {cc}\n" + OPENED.format(bytes=bytes, options=options) + "wait 100\n"


@dataclass(frozen=True)
class Segment:
    """A segment: time in us, relative sequence numbers, flags (of SPAUEC)."""

    at: int
    seq: int
    end: int
    ack: int
    flags: str

    @property
    def length(self) -> int:
        """Bytes of payload (a SYN counts as one)."""
        return self.end - self.seq


@dataclass
class Exchange:
    """The log of one exchange."""

    sent: list[Segment] = field(default_factory=list)  # by the socket
    heard: list[Segment] = field(default_factory=list)  # by it from the peer
    infos: dict[str, dict[str, int]] = field(default_factory=dict)
    infos_at: dict[str, int] = field(default_factory=dict)

    def data(self, begin: str | int = 0, end: str | int = 1 << 62) -> list[Segment]:
        """Segments of data that left between two times in us, or two infos."""
        first, last = (self.infos_at[t] if isinstance(t, str) else t for t in (begin, end))
        return [s for s in self.sent if first <= s.at <= last and s.length and "S" not in s.flags]

    def new(self, begin: str | int = 0, end: str | int = 1 << 62) -> list[Segment]:
        """Those of them that are not retransmissions."""
        most, found = 0, []
        for s in self.sent:
            if s.end > most:
                most = s.end
                found.append(s)
        return [s for s in self.data(begin, end) if s in found]


def read(text: str) -> Exchange:
    """Parse the log of exchange.c."""
    found = Exchange()
    for line in text.splitlines():
        at, kind, *words = line.split()
        if kind == "info":
            pairs = (word.split("=") for word in words[1:])
            found.infos[words[0]] = {key: int(value) for key, value in pairs}
            found.infos_at[words[0]] = int(at)
        else:
            flags = words[3] if len(words) > 3 else ""
            segment = Segment(int(at), *map(int, words[:3]), flags)
            (found.sent if kind == ">" else found.heard).append(segment)
    return found


def exchanges(
    root: Path, build: Path, name: str, scripts: Mapping[str, str], algorithms: Iterable[str]
) -> dict[str, Exchange]:
    """Run all scripts in one guest of engine uml; the results are in build/tests/NAME."""
    modules.build(uml_kernel.kernel())
    files = {"bin/exchange": compiled(root / "tests" / "guest" / "modules" / "exchange.c")}
    ours = modules.brought(algorithms)
    lines = ["chmod +x /bin/exchange", "modprobe tun", "failed=0"]
    lines += [f"modprobe {module}" for module in ours]
    for key, script in scripts.items():
        words = [line.split() for line in script.splitlines() if line.strip()]
        settings = " ".join(word[1] for word in words if word[0] == "sysctl")
        rest = "\n".join(" ".join(word) for word in words if word[0] != "sysctl")
        files[f"lab/{key}"] = (rest + "\n").encode()
        run = f"ip netns exec {key}"
        lines += [
            f"ip netns add {key}",
            f"{run} sysctl -qw net.ipv4.tcp_no_metrics_save=1 {settings}",
            f"ip -n {key} link set lo up",
            f"ip -n {key} tuntap add mode tun name wire",
            f"ip -n {key} addr add 10.8.0.1/24 dev wire",
            f"ip -n {key} link set wire up",
            f"{run} exchange wire /lab/{key} >$OUT/{key} 2>$OUT/{key}.err || failed=1",
            f"ip netns del {key}",
        ]
    out = build / "tests" / name
    info = uml.run_script(
        "\n".join([*lines, "exit $failed"]), out=out, modules=ours, files=files,
    )  # fmt: skip
    assert info.status == 0, [p.read_text() for p in out.glob("*.err")]
    return {key: read((out / key).read_text()) for key in scripts}
