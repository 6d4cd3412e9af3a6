# SPDX-License-Identifier: GPL-2.0
"""Traces in a real guest, compared with an independent replay: each frame's departure.

Datagrams come to a router at known times, whose link has opportunities. Arrivals and departures
are the kernel's events; the replay is Mahimahi's loop over opportunities. Other tests show what
traces do to a flow.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from apogee_lab.engines import qemu, uml
from apogee_lab.scenarios import opportunities
from tests.guest.runs import Case, Run, compiled, parsed, run_cases

pytestmark = [pytest.mark.guest, pytest.mark.uml]

UDP, ETHERNET = 28, 14  # octets of headers of a datagram, of its frame
EXACT_US = 2  # events have whole microseconds
FRAME, PAYLOAD = 1514, 1448  # octets of a flow's full frame, of its segment

#: Two hosts and a router whose device `out` has the opportunities; events of that device.
NETWORK = """\
for ns in a r b; do ip netns add $ns; ip netns exec $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=1
done
ip link add to-r netns a mtu 9000 type veth peer name to-a netns r mtu 9000
ip link add out netns r mtu 9000 type veth peer name from-r netns b mtu 9000
for end in 'a to-r 10.0.1.1' 'r to-a 10.0.1.2' 'r out 10.0.2.1' 'b from-r 10.0.2.2'; do
	set -- $end
	ip -n $1 addr add $3/24 dev $2
	ip -n $1 link set $2 up
done
ip -n a route add default via 10.0.1.2
ip netns exec r sysctl -qw net.ipv4.ip_forward=1
for far in 'a to-r 10.0.1.2 r to-a' 'r out 10.0.2.2 b from-r'; do
	set -- $far
	mac=$(ip -n $4 -br link show $5 | awk '{print $3}')
	ip -n $1 neigh add $3 dev $2 lladdr $mac nud permanent
done
tracing=/sys/kernel/tracing
echo mono >$tracing/trace_clock
echo 65536 >$tracing/buffer_size_kb
for event in net_dev_queue net_dev_start_xmit; do
	echo 'name == "out"' >$tracing/events/net/$event/filter
	echo 1 >$tracing/events/net/$event/enable
done
"""


@dataclass(frozen=True)
class Replayed:
    """A trace, where it begins (s), queue lengths by time (s), and what is sent: at (us), so many
    datagrams of so many octets of payload."""

    times: Sequence[int]
    sent: Sequence[tuple[int, int, int]]
    queues: Sequence[tuple[float, int]] = ((0.0, 20),)
    offset_s: float = 0.0

    @property
    def until_s(self) -> float:
        """When all have been sent."""
        return self.sent[-1][0] / 1e6


def offered(seed: int, ms: int, most: int, sizes: Sequence[int], step: int) -> list[tuple]:
    """Datagrams at random, a while from full milliseconds, after one that sets time zero; `step`:
    mean distance in ms."""
    dice = random.Random(seed)
    times = [1000 * t + 400 for t in sorted(dice.sample(range(ms), ms // step))]
    return [(0, 1, 20), *((us, dice.randint(1, most), dice.choice(sizes)) for us in times)]


def bursty(seed: int) -> list[int]:
    """Bursts and gaps, some opportunities at 0 ms."""
    dice = random.Random(seed)
    gaps = [dice.choice([0, 0, 0, 1, 2, 7, 40, 150]) for _ in range(150)]
    return [0, 0, *itertools.accumulate(gaps)]


FULL = (1472,)
CASES = {
    "burst": Replayed([100] * 4 + [600] * 4, offered(1, 4000, 8, FULL, 30)),
    "line": Replayed([12], offered(2, 2000, 3, (1472, 20, 700), 20)),
    "random": Replayed(bursty(3), offered(3, 9000, 9, (1472, 1472, 20, 400), 12), offset_s=1.7),
    "limits": Replayed(bursty(4), offered(4, 4000, 9, FULL, 9), ((0.0, 9), (1.0, 2), (2.5, 30))),
    "large": Replayed([1, 1, 1, 5, 6, 9], offered(5, 800, 3, (8900, 3000, 20), 9)),
    "500mbit": Replayed(
        [int(n * 12000 / 500e3) + 1 for n in range(10**6)], offered(6, 200, 120, FULL, 2),
        ((0.0, 100),), 23.9,
    ),
}  # fmt: skip
DEEP = {"million": Replayed(range(1, 10**6 + 1), offered(7, 2000, 5, FULL, 3), offset_s=999.0)}


def lines(key: str, case: Replayed, folder: Path) -> str:
    """Shell lines that set up the opportunities, send, and leave the events."""
    file = folder / key
    file.write_text("".join(f"{ms}\n" for ms in case.times))
    found = opportunities.read("rate_trace", f"{file}@{case.offset_s}s", case.until_s + 1)
    sent = "\n".join(" ".join(map(str, one)) for one in case.sent)
    queues = [(at, float(size)) for at, size in case.queues]
    return "\n".join(
        [
            *opportunities.begin(),
            *opportunities.load(key, found, queues),
            *(f"tc -n r {line}" for line in opportunities.qdiscs(key, "out")),
            *opportunities.end(),
            "echo >$tracing/trace",
            f"ip netns exec a /lab/datagrams 10.0.2.2 9 <<'END'\n{sent}\nEND",
            f"cat $tracing/trace >/out/{key}",
            f"tc -n r -s qdisc show dev out root >/out/{key}.qdisc",
            "tc -n r qdisc del dev out root\n",
        ]
    )


def played(
    build: Path, name: str, cases: dict[str, Replayed], folder: Path, engine: ModuleType = uml
) -> Path:
    """Plays the cases in one guest; where the events are."""
    out = build / "tests" / name
    script = "set -e\n" + NETWORK + "".join(lines(*item, folder) for item in cases.items())
    program = compiled(Path(__file__).with_name("datagrams.c"))
    files = {"lab/datagrams.bin": program}
    script = "cp /lab/datagrams.bin /lab/datagrams; chmod 755 /lab/datagrams\n" + script
    info = engine.run_script(script, out=out, files=files)
    assert info.status == 0, (out / "console.log").read_text()[-2000:]
    return out


Frame = tuple[int, int]  # when it came (us), octets of IP


def events(path: Path) -> tuple[list[Frame], dict[int, int]]:
    """The frames that came, and by their numbers when they left (us); a dropped one never did."""
    came: list[Frame] = []
    left: dict[int, int] = {}
    held: dict[str, int] = {}
    event = re.compile(r" ([\d.]+): (net_dev_\w+): .*skbaddr=(\w+)(?:.* len=(\d+))?")
    for line in path.read_text().splitlines():
        found = event.search(line)
        if not found:
            continue
        at, what, address, size = found.groups()
        us = round(float(at) * 1e6)
        if what == "net_dev_queue":
            held[address] = len(came)
            came.append((us, int(size) - ETHERNET))
        else:
            left[held.pop(address)] = us
    return came, left


def repeated(times: Sequence[int], offset_s: float) -> Iterator[float]:
    """When opportunities are, in us after the beginning."""
    for turn in itertools.count():
        for ms in times:
            at = 1000 * (turn * times[-1] + ms) - 1e6 * offset_s
            if at >= 0:
                yield at


def replay(case: Replayed, came: Sequence[Frame]) -> dict[int, float]:
    """When each frame leaves (us), as Mahimahi's link does it; dropped ones are not in it."""
    zero = came[0][0]
    coming = deque(enumerate(came))
    queue: deque[list[int]] = deque()  # number, octets left
    left: dict[int, float] = {}
    for at in repeated(case.times, case.offset_s):
        if not (coming or queue):
            break
        while coming and coming[0][1][0] - zero <= at:
            number, (us, octets) = coming.popleft()
            limit = [size for start, size in case.queues if 1e6 * start <= us - zero][-1]
            if len(queue) < limit:
                queue.append([number, octets])
        budget = 1500
        while queue and budget:
            taken = min(budget, queue[0][1])
            budget -= taken
            queue[0][1] -= taken
            if not queue[0][1]:
                left[queue.popleft()[0]] = at + zero
    return left


def compared(case: Replayed, path: Path, late_us: int = EXACT_US) -> None:
    """All that left did so when the replay says, or so much later; what never left was dropped
    there, too, or is in the queue."""
    came, left = events(path)
    assert len(came) == sum(count for _, count, _ in case.sent)
    assert all(5 < (us - came[0][0]) % 1000 < 995 for us, _ in came if us > came[0][0] + 5)
    wanted = replay(case, came)
    ended = max(came[-1][0], *left.values())
    assert set(left) == {n for n, at in wanted.items() if at <= ended}
    late = [left[n] - wanted[n] for n in left]
    assert -EXACT_US <= min(late) <= max(late) <= late_us
    dropped = int(re.findall(r"dropped (\d+)", path.with_suffix(".qdisc").read_text())[0])
    assert dropped == len(came) - len(wanted)


@pytest.fixture(scope="module")
def replays(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(build, "traces-replay", CASES, tmp_path_factory.mktemp("traces"))


@pytest.mark.parametrize("key", CASES)
def test_every_frame_leaves_when_a_replay_says(replays: Path, key: str) -> None:
    compared(CASES[key], replays / key)


@pytest.mark.deep
@pytest.mark.parametrize("key", DEEP)
def test_a_million_different_times(build: Path, tmp_path: Path, key: str) -> None:
    compared(DEEP[key], played(build, "traces-million", DEEP, tmp_path) / key)


@pytest.mark.deep
def test_debians_kernel_plays_traces(build: Path, tmp_path: Path) -> None:
    """Its clock counts instructions: a frame leaves when its turn has come and the CPU is free."""
    out = played(build, "traces-qemu", {"random": CASES["random"]}, tmp_path, qemu)
    compared(CASES["random"], out / "random", 300)


# --- flows ------------------------------------------------------------------------------------


def run(folder: Path, cwnd: int, duration_s: float, **texts: str) -> Case:
    """A flow with a constant window; a text that begins with a line feed is a file's contents."""
    for name, text in texts.items():
        if text.startswith("\n"):
            file, at, offset = text[1:].rpartition("@")
            path = folder / str(len(list(folder.iterdir())))
            path.write_text(file if at else text)
            texts[name] = f"{path}{at}{offset if at else ''}"
    values = parsed("satellite", {"delay": "20ms", **texts})
    return Case(values | {"constant.cwnd": str(cwnd)}, "constant", duration_s)


@pytest.fixture(scope="module")
def runs(modules: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("flows")
    cases = {
        "burst": run(folder, 40, 5, rate_trace="\n" + "100\n" * 4 + "600\n" * 4),
        "ack": run(folder, 20, 3, ack_rate_trace="\n20\n70\n120\n@70ms", trace="probe"),
        "loss": run(folder, 50, 4, loss_trace="\n" + "0\n" * 100 + "100\n" * 50 + "0\n" * 50),
        "events": run(
            folder, 200, 5, rate_trace="\n1\n", event="rate:4mbit@2s:1s+queue:15kB@3500ms"
        ),
    }
    return run_cases(build, "traces-flows", cases)


def arrived(run: Run, time_s: float) -> float:
    """Segments that the receiver has, at a time after the SYN."""
    return float(run.arrivals.until(run.sent["syn_us"] + 1e6 * time_s)) / PAYLOAD


def test_a_burst_leaves_as_a_burst(runs: dict[str, Run]) -> None:
    """Four frames at 100 ms, none until 600 ms, four more, at each repetition. The SYN leaves with
    the first; the handshake's ACK takes a part of the next, whose last frame leaves with another.
    """
    found = runs["burst"]
    times = [0.6 * turn + at for turn in range(8) for at in (0.1, 0.6)]
    counts = []
    for at, after in itertools.pairwise(times):
        arrival = at + 0.02
        counts.append(arrived(found, arrival + 0.011) - arrived(found, arrival - 0.011))
        assert arrived(found, arrival + 0.011) == arrived(found, after + 0.02 - 0.011)
    assert counts == [0, 3, *[4] * (len(counts) - 2)]
    assert 0.97 < found.record["total_goodput_bps"] / found.record["limit_bps"] < 1.02


def test_acks_have_opportunities_of_their_own(runs: dict[str, Run]) -> None:
    """The trace begins at 70 ms of 120, so they are 0, 50, 70, 120, 170 ms after the SYN left, and
    so on: as far behind a multiple of 120 ms as 0, 50 and 70."""
    found = runs["ack"]
    times = 1e3 * np.array([event["t"] for event in found.traced("tcp_probe")])
    place = (times - found.sent["syn_us"] / 1e3) % 120
    nearest = np.min(np.abs(place[:, None] - np.array([0, 50, 70, 120])), axis=1)
    assert len(times) > 100
    assert nearest.max() < 0.5
    assert {0, 50, 70} <= set(np.round(place).astype(int) % 120)


def test_a_loss_trace_takes_all_for_half_a_second(runs: dict[str, Run]) -> None:
    """From 1 s on, and again from 3 s; what passed before arrives 20 ms later."""
    found = runs["loss"]
    for begin_s in (1, 3):
        assert arrived(found, begin_s + 0.04) == arrived(found, begin_s + 0.5)
        assert arrived(found, begin_s) > arrived(found, begin_s - 0.3) + 30
    assert found.record["link_drops"] > 0
    assert found.record["queue"]["drops"] == 0


def test_events_over_a_trace(runs: dict[str, Run]) -> None:
    """One opportunity per ms; for a second 4 Mbit/s; later a queue of ten packets."""
    found = runs["events"]
    assert found.rate_between(1, 2) == pytest.approx(8e3 * PAYLOAD, rel=0.01)
    assert found.rate_between(2.05, 3) == pytest.approx(4e6 * PAYLOAD / FRAME, rel=0.02)
    assert found.rate_between(3.05, 3.5) == pytest.approx(8e3 * PAYLOAD, rel=0.02)
    times, sizes = found.queue
    at = times - found.sent["syn_us"] / 1e6
    assert sizes[(at > 1) & (at < 3.5)].max() > 100 * FRAME
    assert sizes[at > 4].max() <= 10 * FRAME
    assert found.record["queue"]["drops"] > 0
