# SPDX-License-Identifier: GPL-2.0
"""`lab cost`: its records and table. `lab device-cost`: which devices are measured beside which."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from apogee_lab import modules
from apogee_lab.commands import cost, cost_devices, main
from apogee_lab.commands.device_cost import parts_of, table, tables

Capture = pytest.CaptureFixture[str]
ALL = ["256", "auto", *cost_devices.SHAKE]


def test_sscop_is_beside_vlan_and_shake_beside_gre() -> None:
    assert tables(ALL) == [
        ("vlan", ["veth", "vlan", "256", "auto"]),
        ("gre", ["veth", "gre", *cost_devices.SHAKE]),
    ]
    assert tables(["shake"]) == [("gre", ["veth", "gre", "shake"])]
    assert tables(["256"]) == [("vlan", ["veth", "vlan", "256"])]
    assert tables(["gre", "veth"]) == [("gre", ["veth", "gre"])]
    assert tables(["veth"]) == [("vlan", ["veth", "vlan"])]


def test_a_row_has_the_ratio_of_totals_and_of_what_is_added() -> None:
    found = {
        "veth": {"shake": 0.0, "CRC": 0.0, "rest": 5000.0},
        "gre": {"shake": 0.0, "CRC": 0.0, "rest": 9000.0},
        "shake-2": {"shake": 4000.0, "CRC": 0.0, "rest": 9500.0},
    }
    rows = table(found, ["veth", "gre", "shake-2"], "gre")
    assert rows[0] == ["device", "instructions", "of gre's", "added to veth", "of gre's",
                       "shake", "rest"]  # fmt: skip
    assert rows[1][1:5] == ["5000", "0.56", "0", "0.00"]
    assert rows[3] == [
        "shake, auth on, two paths", "13500", "1.50", "8500", "2.12", "4000", "9500"
    ]  # fmt: skip


def test_what_instructions_are_spent_on() -> None:
    counts = Counter(
        {
            ("shake_start_xmit", "shake"): 3,
            ("crc32c_pcl_intel_update", "crc32c_intel"): 5,
            ("poly1305_blocks_avx2", "poly1305_x86_64"): 7,
            ("csum_partial", ""): 11,
            ("veth_xmit", "veth"): 13,
            ("programs", ""): 17,
        }
    )
    parts = parts_of(counts)
    assert {part: n for part, n in parts.items() if n} == {
        "shake": 3, "CRC": 5, "cipher": 7, "checksums": 11, "links, rest": 13, "programs": 17
    }  # fmt: skip


def test_only_needed_modules_are_loaded() -> None:
    assert cost_devices.modules(["veth", "gre"]) == []
    assert cost_devices.modules(["veth", "256"]) == ["sscop"]
    assert cost_devices.modules(ALL) == ["sscop", "shake"]


@pytest.mark.parametrize("word", ["veth", "vlan", "gre", *ALL])
def test_scripts_are_good_shell(word: str) -> None:
    script = cost_devices.script(word, 1000)
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    paths = 2 if word.endswith("-2") else 1
    assert script.count("type veth peer") == paths
    assert script.count(" path ") == (paths if word.startswith("shake") else 0)
    assert ("auth off" in script) == ("noauth" in word)
    assert ("encrypt on" in script) == ("encrypt" in word)
    assert ("key $key" in script) == (word.startswith("shake") and "noauth" not in word)


# --- lab cost ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest in which every function takes as many instructions as its name has letters."""
    monkeypatch.setattr(cost, "kernel", lambda: SimpleNamespace(release="6.1.0"))
    monkeypatch.setattr(modules, "build", lambda _: None)
    monkeypatch.setattr(
        cost, "measure",
        lambda _cc, hooks, *_: {"instructions": len("".join(hooks)) + 0.4, "p99": 9.0, "acks": 7},
    )  # fmt: skip


def test_a_record_says_what_was_counted(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "cost.jsonl"
    options = ["--ber", "0,1e-6", "--seed", "3", "--duration", "5", "--json", str(target)]
    assert main.main(["cost", "reno", "--whole", *options]) == 0
    records = [json.loads(line) for line in target.read_text().splitlines()]
    assert [record["ber"] for record in records] == [0.0, 1e-6]
    assert records[0] == {
        "cc": "reno", "ber": 0.0, "seed": 3, "duration_s": 5.0, "engine": "qemu",
        "kernel": "6.1.0", "functions": ["tcp_ack"], "instructions": 7.4, "p99": 9.0, "acks": 7,
    }  # fmt: skip
    assert "| reno | 1e-6 | 7 | 9 | 7 |" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_refused_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(cost, "measure", lambda *_: pytest.fail("a run was made"))
    assert main.main(["cost", "star", "--json", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
