# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/bpf.md are those of docs/results/bpf."""

from __future__ import annotations

import re
import statistics

import pytest
from scipy.stats import t

from apogee_lab.algorithms import ALGORITHMS, is_bpf
from tests.bpf import minimum
from tests.unit.papers.found import Read, Record, goodput, row

PAGE = "bpf.md"
#: What is compared: file -> the setting that tells its rows apart, if there is one.
FILES = {"open": "ber", "blackout": "", "coexist": "", "wlan": "", "lfn": ""}
TITLES = {
    "open": "alone, BER 0 to 1e-5",
    "blackout": "all ACKs lost for 1 s",
    "coexist": "beside CUBIC, a tenth of a bandwidth-delay product of queue, sum",
    "wlan": "ten stations at an access point, sum",
    "lfn": "two senders beside ten of Reno, 100 Mbit/s, sum",
}
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


def differences(records: list[Record], setting: str) -> dict[str, list[float]]:
    """Of each algorithm as BPF: by how many % its mean goodput differs, by kernel and setting."""
    found: dict[str, list[float]] = {}
    ours = [r for r in records if module_of(r["cc"]) != r["cc"]]
    for cc, kernel, value in {(r["cc"], release(r), r["set"].get(setting, "")) for r in ours}:
        at = [r for r in records if release(r) == kernel and r["set"].get(setting, "") == value]
        module, bpf = (
            {r["seed"]: goodput([r]) for r in at if r["cc"] == name} for name in (module_of(cc), cc)
        )
        seeds = bpf.keys() & module.keys()
        assert len(seeds) >= 10
        share = [100 * (bpf[seed] / module[seed] - 1) for seed in seeds]
        means = [statistics.mean(one[seed] for seed in seeds) for one in (module, bpf)]
        assert abs(100 * (means[1] / means[0] - 1)) < max(MOST, half(share))
        found.setdefault(cc, []).append(statistics.mean(share))
    return found


@pytest.mark.parametrize("name", FILES)
def test_goodput_beside_the_module(read: Read, page: str, name: str) -> None:
    for cc, found in differences(read(f"bpf/{name}.jsonl"), FILES[name]).items():
        cells = (
            f"{value + 0.0:+.1f}".replace("-0.0", "+0.0") for value in (min(found), max(found))
        )
        assert row(cc, TITLES[name], *cells) in page


def test_share_beside_cubic_on_all_kernels(read: Read, page: str) -> None:
    records = read("bpf/coexist.jsonl")
    module, bpf = (
        {(release(r), r["seed"]): goodput([r], 0) for r in records if r["cc"] == name}
        for name in ("star+cubic", "bpf_star+cubic")
    )
    share = [100 * (bpf[key] / module[key] - 1) for key in bpf]
    assert len(share) == 30
    said = f"over all thirty pairs {statistics.mean(share):+.1f} ± {half(share):.1f} %"
    assert said in page


def test_what_it_costs(read: Read, page: str) -> None:
    """Instructions per ACK, memory, and what verifiers look at, on the worst kernel."""
    found = {(r["cc"], r["ber"]): r["instructions"] for r in read("bpf/cost.jsonl")}
    memory = {record["cc"]: record for record in read("bpf/memory.jsonl")}
    for cc in filter(is_bpf, ALGORITHMS):
        own = [r for r in read("bpf/verifier.jsonl") if r["cc"] == module_of(cc)]
        largest = max(max(numbers[0] for numbers in r["programs"].values()) for r in own)
        loaded = max(r["loaded_s"] for r in own)
        cells = [f"{found[name, 0.0]:.0f}" for name in (module_of(cc), cc)]
        cells += [f"{memory[name]['loaded_kb']}" for name in (module_of(cc), cc)]
        assert row(cc, *cells, str(largest), f"{loaded:.1f}") in page
    cubic = [found[name, 0.0] for name in ("cubic", minimum.NAME)]
    assert f"{cubic[0]:.0f} as it is and {cubic[1]:.0f} called by BPF programs" in page
