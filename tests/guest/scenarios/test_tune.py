# SPDX-License-Identifier: GPL-2.0
"""The settings of `lab tune` let a flow fill its path; half of the buffers does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest

from apogee_lab.host import tune
from apogee_lab.scenarios.scenario import Plan
from tests.guest.runs import Case, Run, run_cases

pytestmark = pytest.mark.uml

PATH = tune.path_of("10mbit", "1s")
BUFFERS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")


class Tuned(Case):
    """A case whose hosts inherit their buffer sizes from the namespace that creates them."""

    @cached_property
    def plan(self) -> Plan:
        plan = Case.plan.func(self)  # type: ignore[attr-defined]
        lines = plan.script.splitlines(keepends=True)
        kept = [line for line in lines if "net.ipv4.tcp_wmem=" not in line]
        assert len(kept) == len(lines) - 1
        script = "".join(kept).replace("tcp_ecn=0 \\\n", "tcp_ecn=0\n")
        return replace(plan, script=script)


def halved(profile: str) -> str:
    """The profile with half of its buffers."""
    lines = []
    for line in profile.splitlines():
        key, _, value = line.partition(" = ")
        if key in BUFFERS:
            line = f"{key} = 4096 " + " ".join(str(int(n) // 2) for n in value.split()[1:])
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def runs(build: Path) -> dict[str, Run]:
    """40 s of star with bit errors, by all of the printed settings and with half of the buffers."""
    values = {"delay": PATH.rtt / 2, "rate": PATH.rate, "ber": 1e-6, "queue": PATH.product}
    whole = tune.profile(PATH)
    files = {"full.conf": whole.encode(), "half.conf": halved(whole).encode()}
    keys = " ".join(one.key for one in tune.settings(PATH))
    cases = {
        key: Tuned(
            values,
            duration_s=40,
            before=f"sysctl -p /{key}.conf 2>$OUT/refused; echo $? >$OUT/read\n"
            f"sysctl {keys} >$OUT/set",
        )
        for key in ("full", "half")
    }
    return run_cases(build, "tune", cases, files=files)


def test_the_kernel_takes_the_file(runs: dict[str, Run]) -> None:
    run = runs["full"]
    assert (run.text("read"), run.text("refused")) == ("0\n", "")
    found = [line.split(" = ") for line in run.text("set").splitlines()]
    wanted = [[one.key, one.value] for one in tune.settings(PATH)]
    assert [[key, " ".join(value.split())] for key, value in found] == wanted


def test_all_of_it_fills_the_path_half_does_not(runs: dict[str, Run]) -> None:
    """From the 10th second on; 1.00 and 0.77 to 0.84 of the limit were measured.

    Holes of the first seconds are filled later, so the share may exceed 1.
    """
    shares = {key: run.goodput(10) / run.record["limit_bps"] for key, run in runs.items()}
    assert shares["full"] > 0.97
    assert shares["half"] < 0.9
