# SPDX-License-Identifier: GPL-2.0
"""The runs that criteria ask for: each once, whoever needs it, and what a case takes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import scenarios
from ..base import UsageError, one_line
from ..runs import request, sweep
from .criteria import Case, Criterion, Test
from .measures import MEASURES
from .run import Run, command_of
from .verdict import Answer, answer


@dataclass(frozen=True, eq=False)
class Question:
    """A case of a test for one algorithm, beside one peer if it is beside any: the own run, and
    those it is compared with by their mixes."""

    criterion: Criterion
    test: Test
    case: Case
    cc: str
    peer: str
    own: Run
    than: Mapping[str, Run]
    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """What tells it from the test's other cases."""
        return ", ".join(filter(None, [self.case.name, self.peer and f"beside {self.peer}"]))

    def commands(self, on: Sequence[str]) -> list[str]:
        """The commands that repeat its runs; ``on`` are the words of engine, kernel, modules."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for run in (self.own, *self.than.values()):
            mixes = groups.setdefault(run.settings, [])
            if run.mix not in mixes:
                mixes.append(run.mix)
        return [
            command_of(replace(self.own, mix=",".join(mixes), settings=settings), self.seeds, on)
            for settings, mixes in groups.items()
        ]

    def answered(
        self, records: Mapping[tuple[Run, int], Any], reasons: Mapping[tuple[Run, int], str]
    ) -> Answer:
        """What the records of its runs show, or the reason why one of them has none."""
        than = {mix: self._values(run, records) for mix, run in self.than.items()}
        found = answer(self.test, self._values(self.own, records), than)
        every = [(run, seed) for run in (self.own, *self.than.values()) for seed in self.seeds]
        why = next((reasons[one] for one in every if one in reasons), None)
        return replace(found, why=one_line(f"a run failed: {why}")) if why else found

    def _values(self, run: Run, records: Mapping[tuple[Run, int], Any]) -> list[float | None]:
        of = MEASURES[self.test.measure].of
        found = [records.get((run, seed)) for seed in self.seeds]
        return [None if record is None else of(record) for record in found]


def questions(
    criteria: Sequence[Criterion], ccs: Sequence[str], peers: Sequence[str], quick: bool
) -> list[Question]:
    """All questions: by section, test, case and peer, then by algorithm."""
    return [
        _question(criterion, test, case, cc, peer, quick)
        for criterion, test, case, peer in _cases(criteria, peers, quick)
        for cc in ccs
    ]


def _cases(
    criteria: Sequence[Criterion], peers: Sequence[str], quick: bool
) -> Iterator[tuple[Criterion, Test, Case, str]]:
    for criterion in criteria:
        for test in criterion.tests:
            for case in test.cases:
                for peer in peers if test.per_peer else [""]:
                    if not quick or _is_quick(test, case, peer, peers):
                        yield criterion, test, case, peer


def _is_quick(test: Test, case: Case, peer: str, peers: Sequence[str]) -> bool:
    """Whether ``--quick`` has it: of the peers those that the test names, if there is one."""
    named = [name for name in test.quick_peers if name in peers]
    return case.quick and (not peer or not named or peer in named)


def left_out(criteria: Sequence[Criterion], peers: Sequence[str]) -> dict[str, list[str]]:
    """What ``--quick`` leaves out, by section: names of tests, with those of cases."""
    quick = {
        (criterion.section, test.name, case.name, peer)
        for criterion, test, case, peer in _cases(criteria, peers, True)
    }
    found: dict[str, list[str]] = {}
    for criterion, test, case, peer in _cases(criteria, peers, False):
        if (criterion.section, test.name, case.name, peer) not in quick:
            which = ", ".join(filter(None, [case.name, peer and f"beside {peer}"]))
            found.setdefault(criterion.section, []).append(
                f"{test.name} ({which})" if which else test.name
            )
    return found


def _question(
    criterion: Criterion, test: Test, case: Case, cc: str, peer: str, quick: bool
) -> Question:
    def run(mix: str, settings: Mapping[str, str]) -> Run:
        texts = tuple(f"{key}={value}" for key, value in settings.items())
        return Run(test.scenario, _mix(mix, cc, peer), texts, test.duration_s)

    than = {}
    for mix in test.than:
        other = run(mix, case.than_set or case.set)
        than[_mix(mix, cc, peer)] = other
    seeds = tuple(range(1, (1 if quick else test.seeds) + 1))
    return Question(criterion, test, case, cc, peer, run(test.cc, case.set), than, seeds)


def _mix(text: str, cc: str, peer: str) -> str:
    return text.replace("{cc}", cc).replace("{peer}", peer)


# --- jobs -------------------------------------------------------------------------------------


def runs_of(asked: Sequence[Question]) -> list[tuple[Run, int]]:
    """The runs of these questions with their seeds, each once."""
    return list(
        dict.fromkeys(
            (run, seed)
            for question in asked
            for run in (question.own, *question.than.values())
            for seed in question.seeds
        )
    )


def compiled(runs: Sequence[tuple[Run, int]]) -> list[sweep.Compiled]:
    """Their plans; UsageError for what a scenario does not take."""
    found = []
    for run, seed in runs:
        scenario = scenarios.SCENARIOS[run.scenario]
        try:
            mixes = request.parse_controls(run.mix, scenario)
            settings = request.parse_settings(run.settings, scenario)
            made = request.product(mixes, settings, [seed], scenario.devices)
            found += sweep.compile_runs(scenario, made, run.duration_s)
        except UsageError as error:
            words = f"{run.scenario} {run.mix} {' '.join(run.settings)}: {error}"
            raise UsageError(one_line(words)) from None
    return found


def jobs(
    runs: Sequence[tuple[Run, int]],
    plans: Sequence[sweep.Compiled],
    engine: sweep.Engine,
    engine_name: str,
    kernel: str,
) -> list[sweep.Job]:
    """Their jobs, in the same order."""
    made: list[sweep.Job | None] = [None] * len(runs)
    for name in dict.fromkeys(run.scenario for run, _ in runs):
        mine = [index for index, (run, _) in enumerate(runs) if run.scenario == name]
        scenario = scenarios.SCENARIOS[name]
        every = sweep.make_jobs(
            scenario, engine, engine_name, kernel, [plans[index] for index in mine]
        )
        for index, job in zip(mine, every, strict=True):
            made[index] = replace(job, label=f"{name} {job.label}")
    return [job for job in made if job is not None]
