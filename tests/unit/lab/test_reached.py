# SPDX-License-Identifier: GPL-2.0
"""Code that no command reaches goes: what the lab, the modules and the BPF programs define is named
elsewhere, and not by unit tests only."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping

from tests import ROOT

CODE = re.compile(r"\.(py|c|h|sh|toml|cocci|bt|smk)$|/[a-zA-Z0-9_-]+$|^Makefile$|^[^/]*Kbuild$")
#: What stands in for the kernel has what a module may ask for, asked or not.
NOT_OURS = ("scripts/apogee_lab/model/kernel/", "bpf/stand_in/", "tests/")
#: A function of C at the begin of a line. DEVICE_ATTR_RW() and its kin make the names of sysfs.
FUNCTION = re.compile(r"^[a-z][\w ]*[ *]+(\w+)\([^;{}]*\)\n?\s*\{", re.M)
BY_MACRO = re.compile(r"\w+_(show|store)$")


def code() -> dict[str, str]:
    """All code but unit tests, by file."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        name: (ROOT / name).read_text(encoding="utf-8", errors="replace")
        for name in listed.splitlines()
        if CODE.search(name) and not name.startswith(("tests/unit/", "docs/"))
        if (ROOT / name).is_file()
    }


def defined(name: str, text: str) -> Iterator[str]:
    """Functions, classes and a module's own variables of a file."""
    if name.endswith(".py"):
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield node.targets[0].id
    elif name.endswith((".c", ".h")):
        yield from (one for one in FUNCTION.findall(text) if not BY_MACRO.match(one))


def unreached(files: Mapping[str, str]) -> list[str]:
    """What is defined in our files, and is nowhere named again."""
    named = Counter(word for text in files.values() for word in re.findall(r"\w+", text))
    return [
        f"{file}: {name}"
        for file, text in files.items()
        if not file.startswith(NOT_OURS)
        for name in defined(file, text)
        if named[name] == 1 and not name.startswith("__")
    ]


def test_all_is_reached() -> None:
    assert unreached(code()) == []


def test_what_nothing_names_is_found() -> None:
    files = {
        "a.py": "USED = 1\nLOST = USED\ndef lost_too(): ...\n",
        "b.py": "class Kept:\n    def gone(self): ...\n",
        "c.py": "from b import Kept\n",
        "shake/c.h": "static inline int f(int x)\n{\n}\nvoid __init g(void)\n{\n\tf(1);\n}\n",
        "tests/d.py": "def lost_there(): ...\n",
    }
    assert unreached(files) == ["a.py: lost_too", "a.py: LOST", "b.py: gone", "shake/c.h: g"]
