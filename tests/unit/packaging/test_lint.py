# SPDX-License-Identifier: GPL-2.0
"""Steps of scripts/lint on small trees: they pass, and a planted bug fails them.

`scripts/setup lint` installs what they need.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apogee_lab.base import cache_dir

MODULE = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/slab.h>

static int __init planted_init(void)
{
	int *p = kmalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	kfree(p);
	BUG
	return 0;
}
module_init(planted_init);

MODULE_DESCRIPTION("bugs for static checkers");
MODULE_LICENSE("GPL");
"""
USER_SPACE = """// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *p = malloc(80);

	if (p && fgets(p, 80, stdin))
		puts(p);
	free(p);
	BUG
	return 0;
}
"""

#: step -> the file, its text, the bug in place of BUG, a part of the report
STEPS = {
    "gcc": ("tcp_planted.c", MODULE, "kfree(p);", "[-Wanalyzer-double-free]"),
    "clang": ("tcp_planted.c", MODULE, "p = p;", "[-Wself-assign]"),
    "user_space": ("scripts/planted.c", USER_SPACE, "free(p);", "analyzer-double-free"),
}


def lint(top: Path, step: str) -> subprocess.CompletedProcess[str]:
    """Run one step of a tree's own scripts/lint, with this machine's kernels."""
    env = os.environ | {"APOGEE_CACHE": str(cache_dir().resolve())}
    command = [top / "scripts/lint", step]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A tree with the scripts and headers, and no source."""
    for folder in ("scripts", "include"):
        ignored = shutil.ignore_patterns("*.c", "__pycache__")
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(root / "Kbuild", tmp_path)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


@pytest.mark.deep
@pytest.mark.parametrize("step", STEPS)
def test_a_planted_bug_fails(tree: Path, step: str) -> None:
    name, text, bug, report = STEPS[step]
    (tree / name).write_text(text.replace("	BUG\n", ""))
    sound = lint(tree, step)
    assert sound.returncode == 0, sound.stdout + sound.stderr
    (tree / name).write_text(text.replace("BUG", bug))
    found = lint(tree, step)
    assert (found.returncode, report in found.stdout + found.stderr) == (1, True), found.stdout


@pytest.mark.deep
def test_coccinelle_sees_a_fault_of_the_debug_kernels_tests(root: Path) -> None:
    command = [root / "scripts/coccicheck", "tests/modules/faults.c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "faults.c" in done.stdout and "reference preceded by free" in done.stdout


def test_an_unknown_step_is_refused(root: Path) -> None:
    done = lint(root, "spelling")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lint: no step 'spelling'; there are: versions licence ")
