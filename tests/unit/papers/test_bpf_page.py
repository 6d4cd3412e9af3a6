# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/bpf.md are those of docs/results/bpf."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import pytest
from scipy.stats import t

from apogee_lab.algorithms import ALGORITHMS, is_bpf
from apogee_lab.measures.record import read_records
from apogee_lab.results.text import show
from tests.bpf import minimum
from tests.unit.papers.found import Record

RESULTS = Path("docs", "results", "bpf")
#: What is compared: file -> the setting that tells its rows apart, if there is one.
FILES = {"open": "ber", "blackout": "", "coexist": "", "wlan": "", "lfn": ""}
#: Loading BPF programs takes another time than loading a module, so runs of equal seeds meet
#: different bit errors. The means over the seeds have to be nearer than this, in %, or than what
#: chance does.
MOST = 1.0


def module_of(cc: str) -> str:
    """The mix with modules in place of BPF programs."""
    return "+".join(ALGORITHMS[name].bpf if is_bpf(name) else name for name in cc.split("+"))


def goodput(record: Record, first: bool) -> float:
    """That of all flows, or of the first one, in Mbit/s."""
    bps = record["flows"][0]["goodput_bps"] if first else record["total_goodput_bps"]
    return bps / 1e6


def release(record: Record) -> str:
    """The kernel, without the architecture: 6.1.0-56, 6.12.118."""
    return re.sub(r"(\+deb\S+|-amd64)$", "", record["kernel"])


def rows(records: list[Record], setting: str, first: bool = False) -> list[str]:
    """Rows of the table, by algorithm, kernel and setting. How two flows share a path differs from
    run to run: the first one's goodput is shown, without a bound."""
    found = []
    ours = [r for r in records if module_of(r["cc"]) != r["cc"]]
    for cc, kernel, value in sorted(
        {(r["cc"], release(r), r["set"].get(setting, "")) for r in ours},
        key=lambda one: (one[0], [int(number) for number in re.findall(r"\d+", one[1])], one[2]),
    ):
        at = [r for r in records if release(r) == kernel and r["set"].get(setting, "") == value]
        module, bpf = (
            {r["seed"]: goodput(r, first) for r in at if r["cc"] == name}
            for name in (module_of(cc), cc)
        )
        seeds = sorted(bpf.keys() & module.keys())
        share = [100 * (bpf[seed] / module[seed] - 1) for seed in seeds]
        error = statistics.stdev(share) / len(share) ** 0.5 * t.ppf(0.975, len(share) - 1)
        means = [statistics.mean(one[seed] for seed in seeds) for one in (module, bpf)]
        assert first or abs(100 * (means[1] / means[0] - 1)) < max(MOST, error)
        cells = [cc, kernel, *[show(value)] * bool(setting), str(len(seeds))]
        cells += [f"{mean:.3f}" for mean in means]
        found.append(
            f"| {' | '.join(cells)} | {round(statistics.mean(share), 2) + 0.0:+.2f} ± {error:.2f} |"
        )
    return found


@pytest.mark.parametrize("name", [name for name in FILES if (RESULTS / f"{name}.jsonl").exists()])
def test_goodput_beside_the_module(root: Path, name: str) -> None:
    page = (root / "docs" / "bpf.md").read_text(encoding="utf-8")
    records = read_records(root / RESULTS / f"{name}.jsonl")
    for first in [False, True] if name == "coexist" else [False]:
        for row in rows(records, FILES[name], first):
            assert row in page


def test_share_beside_cubic_on_all_kernels(root: Path) -> None:
    records = read_records(root / RESULTS / "coexist.jsonl")
    module, bpf = (
        {(release(r), r["seed"]): goodput(r, True) for r in records if r["cc"] == name}
        for name in ("star+cubic", "bpf_star+cubic")
    )
    share = [100 * (bpf[key] / module[key] - 1) for key in sorted(bpf)]
    error = statistics.stdev(share) / len(share) ** 0.5 * t.ppf(0.975, len(share) - 1)
    said = f"Over all thirty pairs that is {statistics.mean(share):+.1f} ± {error:.1f} %."
    assert len(share) == 30 and said in (root / "docs" / "bpf.md").read_text(encoding="utf-8")


def test_instructions_per_ack(root: Path) -> None:
    page = (root / "docs" / "bpf.md").read_text(encoding="utf-8")
    lines = (root / RESULTS / "cost.jsonl").read_text(encoding="utf-8").splitlines()
    found = {(r["cc"], r["ber"]): r["instructions"] for r in map(json.loads, lines)}
    for cc in filter(is_bpf, ALGORITHMS):
        cells = [found[name, ber] for ber in (0.0, 1e-6) for name in (module_of(cc), cc)]
        assert f"| {cc} | {' | '.join(f'{cell:.0f}' for cell in cells)} |" in page
    cubic = [found[name, 0.0] for name in ("cubic", minimum.NAME)]
    assert f"{cubic[0]:.0f} as it is and {cubic[1]:.0f} called by BPF programs" in page


def test_what_verifiers_look_at(root: Path) -> None:
    page = (root / "docs" / "bpf.md").read_text(encoding="utf-8")
    lines = (root / RESULTS / "verifier.jsonl").read_text(encoding="utf-8").splitlines()
    for record in map(json.loads, lines):
        verified = {name: numbers[0] for name, numbers in record["programs"].items()}
        largest = max(verified, key=lambda name: verified[name])
        short = re.sub(r"^bpf_(star|gentle|comp_plus|compound)_", "", largest)
        cells = [record["cc"], release(record), short, verified[largest], sum(verified.values())]
        assert f"| {' | '.join(map(str, cells))} | {record['loaded_s']:.3f} |" in page


def test_memory(root: Path) -> None:
    page = (root / "docs" / "bpf.md").read_text(encoding="utf-8")
    lines = (root / RESULTS / "memory.jsonl").read_text(encoding="utf-8").splitlines()
    found = {record["cc"]: record for record in map(json.loads, lines)}
    for cc in filter(is_bpf, ALGORITHMS):
        both = [found[name] for name in (module_of(cc), cc)]
        cells = [f"{one[key]}" for key in ("loaded_kb", "connection_bytes") for one in both]
        assert f"| {cc} | {' | '.join(cells)} |" in page
