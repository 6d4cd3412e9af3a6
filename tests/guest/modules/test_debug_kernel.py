# SPDX-License-Identifier: GPL-2.0
"""A kernel that looks for faults while it runs finds none in the modules.

The kernel is engine uml's ``bookworm-debug`` (scripts/apogee_lab/kernels/debug.config): KASAN,
UBSAN, lockdep, kmemleak and more. Whatever it reports fails a run (engines/log.py). First each tool
has to see the fault that is planted for it; then every scenario runs with every algorithm, and so
do the scripts by which other tests load, change, restart and attack the modules.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from apogee_lab import algorithms, modules
from apogee_lab.engines import qemu, uml
from apogee_lab.engines.work import GuestFailed
from apogee_lab.guest import plugins
from apogee_lab.kernels import uml_kernel
from apogee_lab.scenarios import SCENARIOS
from tests.guest.modules import (
    shake_pair,
    socket_life,
    sscop_pair,
    test_compound_module,
    test_gentle_module,
    test_shake_datagrams,
    test_shake_device,
    test_shake_flood,
    test_shake_lossy,
    test_shake_mtu,
    test_shake_packets,
    test_shake_paths,
    test_shake_peers,
    test_shake_policy,
    test_shake_refused,
    test_shake_trust,
    test_shake_words,
    test_sscop_device,
    test_sscop_hostile,
    test_sscop_lowers,
    test_sscop_words,
    test_star_module,
)
from tests.guest.runs import Case, compiled, parsed, run_cases
from tests.played.exchanges.play import UML, play

pytestmark = [pytest.mark.deep, pytest.mark.guest, pytest.mark.uml]

CONTROLS = algorithms.listed(own=True)


def prepare() -> None:
    """Build the kernel and the project's modules for it."""
    modules.build(uml_kernel.kernel(uml_kernel.DEBUG))


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    """The kernel."""
    prepare()


@pytest.fixture(autouse=True)
def debugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guests of both engines run on the debug kernel, in virtual time."""
    run_script = uml.run_script

    def run(text: str, **how: Any) -> Any:
        return run_script(text, **how | {"kernel": uml_kernel.DEBUG})

    for engine in (qemu, uml):
        monkeypatch.setattr(engine, "run_script", run)


# --- faults that are planted ------------------------------------------------------------------

FAULTS = {
    "warning": r"WARNING: .* at \S*/faults\.c:\d+ .*: a fault that a test has planted",
    "refcount": r"WARNING: .* at lib/refcount\.c:\d+ .*: refcount_t: decrement hit 0",
    "atomic": r"BUG: scheduling while atomic: modprobe/",
    "null": r"Kernel panic - not syncing: Kernel mode fault at addr 0x8, ",
    "freed": r"BUG: KASAN: use-after-free in read_freed\S* \[faults\]",
    "shift": r"UBSAN: shift-out-of-bounds in \S*/faults\.c:",
    "order": r"WARNING: possible circular locking dependency detected at take_in_both_orders\+",
    "sleep": r"BUG: sleeping function called from invalid context at \S*/faults\.c:",
    "leak": r"kmemleak: \d+ new suspected memory leaks",
    "cache": r"BUG faults \(.*\): Objects remaining in faults on __kmem_cache_shutdown\(\)",
    "packet": r"WARNING: .* at include/linux/skbuff\.h:\d+ read_no_header\S* \[faults\]",
    "timer": r"WARNING: .*: ODEBUG: free active \(.*\) object type: timer_list hint: ring\+",
    "list": r"WARNING: .*: list_del corruption, ",
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_seen(tmp_path: Path, kind: str) -> None:
    """The script goes on whatever happens, and ends well. A leak is told with who allocated."""
    with pytest.raises(GuestFailed) as failure:
        uml.run_script(
            f"modprobe faults kind={kind}; true", out=tmp_path / "out", modules=["faults"]
        )
    assert re.match(f"the kernel reported: {FAULTS[kind]}", failure.value.reason)
    assert kind != "leak" or "do_init_module" in "\n".join(failure.value.console_tail)


# --- scenarios --------------------------------------------------------------------------------

LOSSES = "rate:2mbit@2s+stall@3s:100ms+outage@4s:500ms+loss:5%@5s:1s"
#: Virtual seconds of a run, and parameters as on the command line. "+": flows beside the first.
SETTINGS: dict[str, tuple[float, list[str]]] = {
    "satellite": (8, [
        "ber=1e-6 trace=all",
        "ack_blackout=3s:1s ipv6=1 tcp_timestamps=0",
        f"event={LOSSES} tcp_sack=0 delay=50ms",
        "policer=100kB rate=2mbit jitter=5ms jitter_mean=20ms burst=1%:25% delay=50ms",
        "aqm=fq_codel tcp_ecn=1 mtu=9000 ack_rate=100kbit ack_slot=20ms window=16MB delay=100ms",
    ]),
    "satellite-shared": (6, [
        "+reno ber=1e-6 delays=0s+50ms", "+cubic aqm=cake tcp_ecn=1 delay=50ms",
    ]),
    "requests": (6, ["sizes=10kB+100kB lead=1s delay=50ms", "+reno sizes=30kB lead=1s ber=1e-6"]),
    "leo": (3, ["flows=1", "+reno flows=2 ber=1e-6 tcp_sack=0"]),
    "lfn": (4, [
        "n=2 reno=2 rate=50mbit host_rate=50mbit reno_rate=20mbit queue=100 window=4MB",
        "n=1 reno=0 rate=100mbit host_rate=100mbit queue=500 ber=1e-8 event=stall@2s:50ms",
    ]),
    "wlan": (5, ["n=3 delay=20ms", "n=2 down=1 contention=bianchi phase=random tsq=0 ap_queue=10"]),
    "radio": (6, [
        "segment=0 ber=1e-5",
        "segment=auto ber=1e-5 event=outage@3s:1s ping=1",
        "segment=128 ber=1e-4 sender=gateway ipv6=1",
        "segment=512 qdisc=fq_codel window=0 sscop_window=64 poll_sd=16 ustat=0 ber=1e-5",
    ]),
    "multipath": (8, [
        "scheduler=rah delay2=50ms loss=1% loss1=1% event2=outage@3s:2s",
        "scheduler=rr ack=tdar encrypt=1 outside=6 paths=4 flows=3 ping=1",
        "scheduler=ratio ack=drop auth=0 ipv6=1 repair=0 loss=2% outage=500ms cbr=128kbit",
        "qdisc=fq_codel stack=period window=0",
        "via=path2 mtu=1400",
        "via=mptcp loss=1% loss1=1% event2=outage@3s:2s",
    ]),
}  # fmt: skip


def case(scenario: str, cc: str, setting: str, duration_s: float) -> Case:
    """A run of a scenario with a line of SETTINGS."""
    others = [word for word in setting.split() if word.startswith("+")]
    texts = dict(word.split("=", 1) for word in setting.split() if not word.startswith("+"))
    values = {"window": SCENARIOS[scenario].defaults()["window"]} | parsed(scenario, texts)
    return Case(values, cc + "".join(others), duration_s, scenario=scenario)


@pytest.mark.parametrize("cc", CONTROLS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_without_a_report(build: Path, scenario: str, cc: str) -> None:
    """Data flows in each of its settings; modules are loaded for each and unloaded after it."""
    duration_s, settings = SETTINGS[scenario]
    cases = {str(i): case(scenario, cc, text, duration_s) for i, text in enumerate(settings)}
    runs = run_cases(build, f"debug-{scenario}-{cc}", cases, engine=uml)
    assert all(run.record["total_goodput_bps"] > 0 for run in runs.values())


# --- parameters of modules ---------------------------------------------------------------------

#: Shell: a flow, and meanwhile every value in every parameter of its module.
WRITES = """
ip netns exec far flow recv 5300 $OUT/recv.json & sleep 0.1
flow send $far 5300 --cc CC --duration 60 $OUT/send.json & flow=$!
sleep 1
[ -d /sys/module/MODULE/parameters ] || say "no parameters: 0 0"
for file in /sys/module/MODULE/parameters/*; do
	old=$(cat $file) || break
	for value in 0 1 2 999 1000000 4294967295 -1 18446744073709551616 nonsense "" $old; do
		echo "$value" >$file; sleep 0.1
	done 2>/dev/null
	say "$file: $(cat $file) $old"
done
kill $flow; wait $flow
"""


@pytest.mark.parametrize("cc", CONTROLS)
def test_parameters_are_written_without_a_report(build: Path, root: Path, cc: str) -> None:
    module = algorithms.module_of(cc)
    script = WRITES.replace("CC", cc).replace("MODULE", module)
    out = socket_life.live(script, module, build / "tests" / f"debug-writes-{cc}", root)
    lines = (out / "report").read_text().splitlines()
    assert lines and all(line.split()[-1] == line.split()[-2] for line in lines)


# --- scripts of other tests --------------------------------------------------------------------

LIVES = {
    "tcp_star": test_star_module.LIFE,
    "tcp_hstcp_gentle": test_gentle_module.LIFE,
    "tcp_compound_plus": test_compound_module.LIFE,
}


@pytest.mark.parametrize("module", LIVES)
def test_loading_and_switching_without_a_report(build: Path, root: Path, module: str) -> None:
    ours = modules.module_file("tcp_compound_plus", uml_kernel.kernel(uml_kernel.DEBUG))
    other = ours.read_bytes().replace(b"compound_plus", b"compound_mine")
    out = build / "tests" / f"debug-life-{module}"
    socket_life.live(LIVES[module], module, out, root, {"other.ko": other})
    assert (out / "report").read_text()


@pytest.mark.parametrize("cc", CONTROLS)
def test_exchanges_without_a_report(build: Path, cc: str) -> None:
    assert play(build / "tests" / f"debug-exchanges-{cc}", UML.names(), (cc,))


def scripts(module: ModuleType, names: str) -> dict[str, str]:
    """Scripts of another test, by their names."""
    return {name.lower(): getattr(module, name) for name in names.split()}


SSCOP = {
    **scripts(test_sscop_device, "BELOW RESTARTS"),
    **scripts(test_sscop_lowers, "KINDS CHANGES FAST"),
    "garbage": test_sscop_hostile.scaled(test_sscop_hostile.SCRIPT, seconds=1, rate=1000),
}


@pytest.mark.parametrize("script", SSCOP)
def test_sscop_without_a_report(build: Path, root: Path, script: str) -> None:
    assert sscop_pair.run(SSCOP[script], "uml", build / "tests" / f"debug-sscop-{script}", root)


def flooding(script: str, **kinds: dict[str, set[str]]) -> str:
    """A script of the test of floods, with a tenth of its packets; instructions are not counted."""
    for word, listed in kinds.items():
        script = script.replace(word, " ".join(listed))
    words = {"PATHS": "paths", "PORT": "", "MARK": ":", "RATE": "2000", "SECONDS": "1"}
    return re.sub(r"\b(PATHS|PORT|MARK|RATE|SECONDS)\b", lambda m: words[m[0]], script)


SHAKE = {
    **scripts(test_shake_device, "BELOW SPACES AROUND BASIC"),
    "many": test_shake_device.MANY.replace("seq 24", "seq 2"),
    **scripts(test_shake_packets, "FAMILIES NARROW WIDTHS COUNTS"),
    **{f"marked-{n}": test_shake_packets.MARKED.replace("OUTSIDE", n) for n in "46"},
    **scripts(test_shake_paths, "DEATHS OUTAGES RESTARTS TURNS NATS CHANGES"),
    **scripts(test_shake_lossy, "LOSSY"),
    **scripts(test_shake_policy, "POLICY"),
    **scripts(test_shake_datagrams, "DATAGRAMS DOUBLED"),
    **scripts(test_shake_refused, "SOCKETS ROUTES"),
    **scripts(test_shake_peers, "PEERS"),
    "mtu": test_shake_mtu.NARROW,
    **scripts(test_shake_trust, "REGISTER AGAIN INSIDE SECRET NUMBERS"),
    "flood": flooding(
        test_shake_flood.START + test_shake_flood.SCRIPT,
        AGENT=test_shake_flood.TO_AGENT, LEADER=test_shake_flood.TO_LEADER,
    ),
    "hostile": flooding(
        test_shake_flood.START + test_shake_flood.OPEN, HOSTILE=test_shake_flood.HOSTILE
    ),
}  # fmt: skip


@pytest.mark.parametrize("script", SHAKE)
def test_shake_without_a_report(build: Path, root: Path, script: str) -> None:
    out = build / "tests" / f"debug-shake-{script}"
    sources = root / "tests" / "guest" / "modules"
    programs = {f"bin/{p}": compiled(sources / f"{p}.c") for p in ("shake_forge", "peers_dump")}
    programs["bin/quick"] = compiled(sources / "quick.c", libraries=("m",))
    script = test_shake_trust.MORE + SHAKE[script]
    assert shake_pair.run(script, "uml", out, root, files=programs)


WORDS = {"sscop": test_sscop_words.SCRIPT, "shake": test_shake_words.SCRIPT}


@pytest.mark.parametrize("module", WORDS)
def test_settings_without_a_report(build: Path, root: Path, module: str) -> None:
    """Also those that are refused."""
    addresses = compiled(root / "tests" / "guest" / "modules" / "addresses.c")
    out = build / "tests" / f"debug-words-{module}"
    files = plugins.guest_files() | {"bin/addresses": addresses}
    assert uml.run_script(WORDS[module], out=out, modules=[module], files=files).status == 0
