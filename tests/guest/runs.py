# SPDX-License-Identifier: GPL-2.0
"""Several runs of the lab's scenarios in one guest, and access to their results.

Booting a guest takes longer than a short run, so tests run the cases that they compare one after
the other in the same guest.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.commands import main
from apogee_lab.engines import uml
from apogee_lab.kernels.kernel import DEFAULT_KERNEL
from apogee_lab.measures import traces
from apogee_lab.measures.arrivals import Arrivals
from apogee_lab.measures.compute import compute
from apogee_lab.measures.raw import RawFolder
from apogee_lab.measures.record import read_records
from apogee_lab.modules import brought
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Plan, members
from tests import BUILD

#: A receive window that never limits.
OPEN_WINDOW = 16_000_000

#: Shell: wait until the first flow of the case that runs beside has begun.
STARTED = 'until grep -qs "{} start" "$OUT/events.log"; do sleep 0.02; done\n'


@dataclass(frozen=True)
class Case:
    """One run: scenario values that differ from the defaults, and shell lines to run beside it.

    The receive window is open unless given. ``beside`` begins when the flow does; ``before`` runs
    before the scenario's script, ``linked`` when its links are there, ``after`` when it has ended.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    cc: str = "star"
    duration_s: float = 10.0
    beside: str = ""
    before: str = ""
    after: str = ""
    scenario: str = "satellite"
    linked: str = ""

    @cached_property
    def plan(self) -> Plan:
        """The compiled scenario."""
        values = {"window": OPEN_WINDOW, **self.values}
        return SCENARIOS[self.scenario].compile(values, self.cc, self.duration_s)


class Run:
    """The raw results of one case; of flows the first, unless named."""

    def __init__(self, case: Case, raw: Path, engine: str = "uml") -> None:
        self.case = case
        self.raw = raw
        self.engine = engine
        self.flow = case.plan.flows[0].name

    def json(self, name: str) -> Any:
        """A JSON file of the results."""
        return json.loads((self.raw / name).read_text())

    def text(self, name: str) -> str:
        """A text file of the results."""
        return (self.raw / name).read_text()

    @cached_property
    def sent(self) -> dict[str, Any]:
        """The sender's log."""
        return self.json(f"{self.flow}.send.json")

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record of the case, computed as by the lab."""
        told = {
            "scenario": self.case.scenario,
            "cc": self.case.cc,
            "seed": 1,
            "engine": self.engine,
            "set": dict(self.case.values),
            "run": "",
            "wall_s": 0.0,
            "kernel": "",
        }
        own = SCENARIOS[self.case.scenario].measures
        return compute(self.raw, self.case.plan.facts() | told, own)

    def column(self, name: str) -> list[int]:
        """One field of the sender's samples of TCP_INFO."""
        at = self.sent["fields"].index(name)
        return [sample[at] for sample in self.sent["samples"]]

    @cached_property
    def arrivals(self) -> Arrivals:
        """The receiver's arrivals over time."""
        return RawFolder(self.raw).arrivals(self.flow)

    def goodput(self, start_s: float = 0.0, end_s: float | None = None) -> float:
        """Goodput in bit/s between two times since the first data segment arrived."""
        end_s = self.case.duration_s if end_s is None else end_s
        zero = float(self.arrivals.times[0])
        first, last = (self.arrivals.until(zero + 1e6 * t) for t in (start_s, end_s))
        return float(last - first) * 8 / (end_s - start_s)

    def rate_between(self, start_s: float, end_s: float) -> float:
        """Goodput in bit/s between two times since the first SYN."""
        syn = self.sent["syn_us"]
        first, last = (float(self.arrivals.until(syn + 1e6 * t)) for t in (start_s, end_s))
        return (last - first) * 8 / (end_s - start_s)

    def counter(self, name: str) -> int:
        """A counter of the sender's namespace."""
        found = self.json(f"nstat-{self.case.plan.sender_ns}.json")
        return found["kernel"].get(name, 0)

    @cached_property
    def events(self) -> list[tuple[float, str, dict[str, Any]]]:
        """(time in s, event, fields) of the trace; numeric fields are converted."""
        return [
            (
                at,
                name,
                {k: int(v) if v.removeprefix("-").isdigit() else v for k, v in values.items()},
            )
            for at, name, values in traces.events(self.raw / "trace.txt")
        ]

    def traced(self, event: str) -> list[dict[str, Any]]:
        """The fields of all events of a name, each with its time ``t`` in s."""
        return [{"t": at, **values} for at, name, values in self.events if name == event]

    def when(self, name: str, what: str) -> float:
        """Time of a line of events.log, in s of the guest's clock."""
        found = [at for n, w, at in RawFolder(self.raw).events if (n, w) == (name, what)]
        assert len(found) == 1, f"{name} {what} is {len(found)} times in events.log"
        return found[0]

    @cached_property
    def queue(self) -> tuple[Any, Any]:
        """Times in s and backlog in bytes of the bottleneck's queue."""
        return RawFolder(self.raw).queue(self.case.plan.paths[0].bottleneck[1])


def parsed(scenario: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Values of a scenario's parameters, from texts as on the command line."""
    kinds = {param.name: param.kind for param in SCENARIOS[scenario].params}
    return {name: units.parse(kinds[name], text) for name, text in texts.items()}


def deep_ones(names: Iterable[str], deep: Collection[str]) -> list[Any]:
    """Parameters of a test: names, of which some have the mark `deep`."""
    marks = {True: pytest.mark.deep, False: ()}
    return [pytest.param(name, marks=marks[name in deep]) for name in names]


def run_cases(
    build: Path,
    name: str,
    cases: Mapping[str, Case],
    extras: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
    engine: ModuleType = uml,
    kernel: str = DEFAULT_KERNEL,
) -> dict[str, Run]:
    """Run the cases one after the other in one guest; results are in build/tests/NAME/CASE.

    The congestion control's module is unloaded after each case, so that the next one loads it with
    its own parameters.
    """
    modules = brought([name for c in cases.values() for name in (*members(c.cc), *c.plan.devices)])
    extras = sorted({*extras, *(extra for c in cases.values() for extra in c.plan.extras)})
    lines = ["failed=0"]
    scripts: dict[str, bytes] = dict(files or {})
    for key, case in cases.items():
        script = case.plan.script.replace("\n# traffic\n", f"\n{case.linked}# traffic\n")
        scripts[f"lab/{key}.sh"] = script.encode()
        started = STARTED.format(case.plan.flows[0].name)
        scripts[f"lab/{key}.beside.sh"] = (started + case.beside).encode()
        lines += [
            f"export OUT=/out/{key}",
            "mkdir $OUT",
            case.before,
            f"sh /lab/{key}.beside.sh >$OUT/beside.log 2>&1 &" if case.beside else "",
            "beside=$!" if case.beside else "",
            f"sh /lab/{key}.sh >$OUT/log 2>&1",
            "status=$?; echo $status >$OUT/status; [ $status = 0 ] || failed=1",
            "wait $beside" if case.beside else "",
            case.after,
            *(f"rmmod {module} 2>/dev/null" for module in modules),
        ]
    lines += ["export OUT=/out", "exit $failed"]
    out = build / "tests" / name
    info = engine.run_script(
        "\n".join(line for line in lines if line),
        out=out, kernel=kernel, modules=modules, extras=extras, files=scripts,
    )  # fmt: skip
    engine_name = engine.__name__.rpartition(".")[2]
    runs = {key: Run(case, out / key, engine_name) for key, case in cases.items()}
    logs = [f"{key}: {run.text('log')}" for key, run in runs.items() if run.text("status") != "0\n"]
    assert info.status == 0, "\n".join(logs)
    return runs


def timeouts(run: Run) -> int:
    """Retransmission timeouts of the sender."""
    return run.counter("TcpExtTCPTimeouts")


@cache
def compiled(*sources: Path, libraries: tuple[str, ...] = ()) -> bytes:
    """A static program for the guest, from C files; its name is the first one's."""
    binary = BUILD / "tests" / "programs" / sources[0].stem
    binary.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", binary, *sources]
    command += [f"-l{name}" for name in libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def close(value: float, wanted: float, share: float) -> bool:
    """Whether a value deviates from the wanted one by at most this share."""
    return value == pytest.approx(wanted, rel=share)


def finished(folder: Path) -> set[Path]:
    """The records of finished runs in a folder: one that is being made has a point in its name."""
    return {path for path in folder.glob("*/record.json") if "." not in path.parent.name}


def measured(
    target: Path, *arguments: str, scenario: str = "satellite", engine: str = "uml"
) -> list[dict[str, Any]]:
    """The records of a `lab run`, as a user types it; they are written to ``target``."""
    command = ["run", scenario, "--engine", engine, "--json", str(target), *arguments]
    assert main.main(command) == 0
    return read_records(target)


def records(
    scenario: str, target: Path, cc: str, *settings: str, seconds: int = 5, more: str = ""
) -> list[dict[str, Any]]:
    """The records of a `lab run` with settings on engine uml."""
    values = [word for setting in settings for word in ("--set", setting)]
    how = ["--cc", cc, "--duration", str(seconds), *values, *more.split()]
    return measured(target, *how, scenario=scenario)


class Guests:
    """Runs in two guests, each of which boots when one of its cases is asked for: what only deep
    tests ask for takes no time in `make check`."""

    def __init__(
        self,
        run: Callable[[str, Mapping[str, Case]], dict[str, Run]],
        name: str,
        cases: Mapping[str, Case],
        deep: Collection[str],
    ) -> None:
        assert set(deep) <= set(cases)
        few = {key: case for key, case in cases.items() if key not in deep}
        more = {key: case for key, case in cases.items() if key in deep}
        self._guests = {name: few, f"{name}-deep": more}
        self._run = run
        self._runs: dict[str, Run] = {}

    def __getitem__(self, key: str) -> Run:
        if key not in self._runs:
            (guest,) = (item for item in self._guests.items() if key in item[1])
            self._runs |= self._run(*guest)
        return self._runs[key]


def runs_of(name: str, cases: Mapping[str, Case], deep: Collection[str] = ()) -> Any:
    """A fixture: the runs of cases in one guest, in two if some are deep, with the current source's
    modules."""

    @pytest.fixture(scope="module")
    def fixture(modules: Path, build: Path) -> Any:
        run = partial(run_cases, build)
        return Guests(run, name, cases, deep) if deep else run(name, cases)

    return fixture
