# SPDX-License-Identifier: GPL-2.0
"""What a device has in core/ needs no kernel's network: it includes what is pure, and its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT

CORES = [ROOT / device / "core" for device in ("shake", "sscop")]
PURE = re.compile(
    r"apogee/int\.h|crypto/\w+\.h|compat/(blake2s|chacha|unaligned)\.h"
    r"|linux/(crc32c|random|string)\.h|string\.h"
)


def foreign(file: Path) -> list[str]:
    """What a file includes that is neither pure nor beside it."""
    text = file.read_text(encoding="utf-8")
    included = re.findall(r'^\s*#\s*include\s*([<"])(.*)[>"]', text, re.M)
    return [
        name
        for mark, name in included
        if not (PURE.fullmatch(name) if mark == "<" else re.fullmatch(r"\w+\.h", name))
        or (mark == '"' and not (file.parent / name).exists())
    ]


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.parent.name)
def test_core_needs_no_network(core: Path) -> None:
    files = sorted(core.glob("*.[ch]"))
    assert len(files) > 5
    assert {file.name: found for file in files if (found := foreign(file))} == {}


@pytest.mark.parametrize(
    "line",
    ["<linux/netdevice.h>", "<linux/skbuff.h>", "<net/codel.h>", '"../device.h"', '"device.h"'],
)
def test_what_needs_it_is_told(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(f'#include <apogee/int.h>\n#include {line}\n#include "b.h"\n')
    (tmp_path / "b.h").touch()
    assert foreign(tmp_path / "a.c") == [line[1:-1]]
