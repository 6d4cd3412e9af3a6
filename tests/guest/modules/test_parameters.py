# SPDX-License-Identifier: GPL-2.0
"""Parameters of modules: what modinfo tells of them, and that their ranges hold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from apogee_lab.engines import uml
from apogee_lab.kernels import uml_kernel
from apogee_lab.modules import module_file

pytestmark = pytest.mark.guest


@dataclass(frozen=True)
class Range:
    """A parameter: a word of its description, lowest and highest value, and its default, if that is
    fixed."""

    word: str
    low: int
    high: int
    default: int | None = None

    def wrong(self) -> list[str]:
        """Values that are refused."""
        below = [str(self.low - 1)] if self.low else []
        return [str(self.high + 1), "-1", "4294967297", "many", *below]


PARAMETERS = {
    "tcp_constant": {"cwnd": Range("segments", 2, 1048576, 500)},
    "tcp_star": {
        "first_interval_us": Range("us", 1, 1000000, 1000),
        "aen": Range("0 or 1", 0, 1, 1),
        "pacing": Range("0 or 1", 0, 1, 1),
        "coexist": Range("paper", 0, 1, 1),
    },
    "tcp_hstcp_gentle": {
        "response": Range("function", 0, 1),
        "level": Range("level", 0, 3),
        "rise": Range("permille", 0, 1000),
        "fall": Range("permille", 0, 1000),
        "confirm": Range("windows", 1, 16),
        "samples": Range("RTTs", 0, 65535),
        "share": Range("Reno mode", 0, 2),
        "early_exit": Range("slow start", 0, 2),
    },
    "tcp_compound_plus": {
        "gamma": Range("packets", 1, 65535, default=30),
        "alpha": Range("permille", 1, 1000, default=125),
        "beta": Range("permille", 1, 999, default=500),
        "k": Range("exponent", 1, 1000, default=750),
        "zeta": Range("permille", 1, 10000, default=1000),
        "rule": Range("half a segment", 2, 4, default=3),
        "letter": Range("rule", 0, 1, default=0),
        "excess": Range("beyond gamma", 0, 1000, default=500),
        "relearn": Range("seconds", 0, 600, default=20),
        "fit": Range("slow start", 0, 2, default=1),
    },
}


def modinfo(module: Path, field: str) -> dict[str, str]:
    """What modinfo tells of a module's parameters, by name."""
    command = ["/sbin/modinfo", "-F", field, str(module)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split(":", 1) for line in text.splitlines())


def default(description: str) -> int:
    """The default in a parameter's description."""
    found = re.search(r"default (\d+)", description)
    assert found, description
    return int(found[1])


@pytest.mark.parametrize("name", PARAMETERS)
def test_modinfo_describes_every_parameter(modules: Path, name: str) -> None:
    """With its word, range and default."""
    module, ranges = module_file(name, uml_kernel.kernel()), PARAMETERS[name]
    described = modinfo(module, "parm")
    assert set(described) == set(ranges)
    assert set(modinfo(module, "parmtype").values()) == {"uint"}
    for parameter, one in ranges.items():
        told = described[parameter]
        assert one.word in told, parameter
        assert default(told) in range(one.low, one.high + 1), parameter
        assert one.default in (None, default(told)), parameter
        words = set(told.replace(",", " ").replace(":", " ").split())
        assert {str(one.low), str(one.high)} <= words, f"{parameter} does not tell its range"


def tries(module: str, parameter: str, one: Range) -> Iterator[str]:
    """Shell lines that load and write wrong values, then right ones."""
    file = f"/sys/module/{module}/parameters/{parameter}"
    yield from (f"try load {parameter}={value}" for value in one.wrong())
    yield f"modprobe {module}; kept {parameter} default {file}"
    yield from (f"try write {file} {value}" for value in [*one.wrong(), "''"])
    yield f"kept {parameter} kept {file}"
    yield f"echo {one.high} >{file}; kept {parameter} high {file}"
    yield f"echo {one.low} >{file}; kept {parameter} low {file}; rmmod {module}"
    yield f"modprobe {module} {parameter}={one.high}; kept {parameter} loaded {file}"
    yield f"rmmod {module}"


TRY = """
try() {{
	if [ $1 = load ]; then modprobe {module} $2 2>>$OUT/load; else
		echo "$3" | dd of=$2 2>>$OUT/write; fi
	echo "$? $*" >>$OUT/tried
}}
kept() {{ echo $1 $2 $(cat $3) >>$OUT/values; }}
"""


@pytest.mark.parametrize("name", PARAMETERS)
def test_ranges_hold_at_load_and_at_write(modules: Path, build: Path, name: str) -> None:
    """-EINVAL, a kernel log line with the range, and the value unchanged."""
    out, ranges = build / "tests" / f"parameters-{name}", PARAMETERS[name]
    lines = [line for parameter, one in ranges.items() for line in tries(name, parameter, one)]
    uml.run_script("\n".join([TRY.format(module=name), *lines]), out=out, modules=[name])
    load = sum(len(one.wrong()) for one in ranges.values())
    write = load + len(ranges)
    tried = (out / "tried").read_text().splitlines()
    assert len(tried) == load + write
    assert [line for line in tried if line.startswith("0")] == [], "accepted"
    assert (out / "load").read_text().count("Invalid argument") == load
    assert (out / "write").read_text().count("Invalid argument") == write
    values = dict(line.rsplit(" ", 1) for line in (out / "values").read_text().splitlines())
    log = (out / "dmesg.txt").read_text()
    described = modinfo(module_file(name, uml_kernel.kernel()), "parm")
    for parameter, one in ranges.items():
        given = str(default(described[parameter]))
        assert values[f"{parameter} default"] == values[f"{parameter} kept"] == given
        assert values[f"{parameter} high"] == values[f"{parameter} loaded"] == str(one.high)
        assert values[f"{parameter} low"] == str(one.low)
        told = log.count(f"{name}: parameter {parameter} must be {one.low} to {one.high}")
        assert told >= 2 * len(one.wrong()) + 1, parameter
