# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/bpf.md are those of docs/results/bpf."""

from __future__ import annotations

import re
import statistics

import pytest
from scipy.stats import t

from apogee_lab.algorithms import ALGORITHMS, is_bpf
from apogee_lab.results.text import show
from tests.bpf import minimum
from tests.unit.papers.found import Read, Record, goodput, row

PAGE = "bpf.md"
#: What is compared: file -> the setting that tells its rows apart, if there is one.
FILES = {"open": "ber", "blackout": "", "coexist": "", "wlan": "", "lfn": ""}
#: Loading BPF programs takes another time than loading a module, so runs of equal seeds meet
#: different bit errors. The means over the seeds have to be nearer than this, in %, or than what
#: chance does.
MOST = 1.0


def module_of(cc: str) -> str:
    """The mix with modules in place of BPF programs."""
    return "+".join(ALGORITHMS[name].bpf if is_bpf(name) else name for name in cc.split("+"))


def release(record: Record) -> str:
    """The kernel, without the architecture: 6.1.0-56, 6.12.118."""
    return re.sub(r"(\+deb\S+|-amd64)$", "", record["kernel"])


def half(values: list[float]) -> float:
    """Half of the 95 % interval of their mean."""
    return statistics.stdev(values) / len(values) ** 0.5 * t.ppf(0.975, len(values) - 1)


def rows(records: list[Record], setting: str, first: bool = False) -> list[str]:
    """Rows of the table, by algorithm, kernel and setting. How two flows share a path differs from
    run to run: the first one's goodput is shown, without a bound."""
    found = []
    ours = [r for r in records if module_of(r["cc"]) != r["cc"]]
    for cc, kernel, value in {(r["cc"], release(r), r["set"].get(setting, "")) for r in ours}:
        at = [r for r in records if release(r) == kernel and r["set"].get(setting, "") == value]
        module, bpf = (
            {r["seed"]: goodput([r], 0 if first else None) for r in at if r["cc"] == name}
            for name in (module_of(cc), cc)
        )
        seeds = bpf.keys() & module.keys()
        share = [100 * (bpf[seed] / module[seed] - 1) for seed in seeds]
        means = [statistics.mean(one[seed] for seed in seeds) for one in (module, bpf)]
        assert first or abs(100 * (means[1] / means[0] - 1)) < max(MOST, half(share))
        cells = [cc, kernel, *[show(value)] * bool(setting), str(len(seeds))]
        cells += [f"{mean:.3f}" for mean in means]
        found.append(
            row(*cells, f"{round(statistics.mean(share), 2) + 0.0:+.2f} ± {half(share):.2f}")
        )
    return found


@pytest.mark.parametrize("name", FILES)
def test_goodput_beside_the_module(read: Read, page: str, name: str) -> None:
    for first in [False, True] if name == "coexist" else [False]:
        for line in rows(read(f"bpf/{name}.jsonl"), FILES[name], first):
            assert line in page


def test_share_beside_cubic_on_all_kernels(read: Read, page: str) -> None:
    records = read("bpf/coexist.jsonl")
    module, bpf = (
        {(release(r), r["seed"]): goodput([r], 0) for r in records if r["cc"] == name}
        for name in ("star+cubic", "bpf_star+cubic")
    )
    share = [100 * (bpf[key] / module[key] - 1) for key in bpf]
    assert len(share) == 30
    said = f"Over all thirty pairs that is {statistics.mean(share):+.1f} ± {half(share):.1f} %."
    assert said in page


def test_instructions_per_ack_and_memory(read: Read, page: str) -> None:
    found = {(r["cc"], r["ber"]): r["instructions"] for r in read("bpf/cost.jsonl")}
    memory = {record["cc"]: record for record in read("bpf/memory.jsonl")}
    for cc in filter(is_bpf, ALGORITHMS):
        names = (module_of(cc), cc)
        cells = [f"{found[name, ber]:.0f}" for ber in (0.0, 1e-6) for name in names]
        assert row(cc, *cells) in page
        keys = ("loaded_kb", "connection_bytes")
        assert row(cc, *(f"{memory[name][key]}" for key in keys for name in names)) in page
    cubic = [found[name, 0.0] for name in ("cubic", minimum.NAME)]
    assert f"{cubic[0]:.0f} as it is and {cubic[1]:.0f} called by BPF programs" in page


def test_what_verifiers_look_at(read: Read, page: str) -> None:
    for record in read("bpf/verifier.jsonl"):
        verified = {name: numbers[0] for name, numbers in record["programs"].items()}
        largest = max(verified, key=lambda name: verified[name])
        short = re.sub(r"^bpf_(star|gentle|comp_plus|compound)_", "", largest)
        numbers = [str(verified[largest]), str(sum(verified.values()))]
        loaded = f"{record['loaded_s']:.3f}"
        assert row(record["cc"], release(record), short, *numbers, loaded) in page
