# SPDX-License-Identifier: GPL-2.0
"""A copy of the tree as a commit has it: built, asked by its own tests, mended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from apogee_lab.base import LabError, cache_dir, call, start_program
from tests.kernel import PURE

PYTHON = ("nice", "/usr/bin/python3", "-Xutf8")
LIMIT_S = 3600.0  # of one call of pytest: beyond it the fault has made a test hang
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - (.*))?$", re.M)


@dataclass(frozen=True)
class Answer:
    """What tests said: the first that failed, if any, in which words, after how many seconds."""

    failed: str = ""
    said: str = ""
    seconds: float = 0.0


class Copy:
    """A clone in a folder that stays: what was built in it is built again only where it changed."""

    def __init__(self, source: Path, commit: str, folder: Path) -> None:
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self.commit = call(
            ["git", "-C", source, "rev-parse", "--verify", f"{commit}^{{commit}}"],
            f"commit {commit}",
        ).strip()
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._lock = folder.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(f"{folder}: another run has this copy") from None
        if not (folder / ".git").is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            call(["git", "clone", "-q", "-s", "-n", source, folder], "the copy")
        self._git("checkout", "-q", "-f", "--detach", self.commit)

    def _git(self, *words: str) -> str:
        return call(["git", "-C", self.folder, *words], "the copy")

    def mend(self) -> None:
        """Take back what was planted."""
        self._git("checkout", "-q", "-f", ".")

    @cached_property
    def kernel(self) -> str:
        """The release of the kernel that its guests boot."""
        return self._run([*_FILES.split(), "release"])[1].strip()

    # --- build ----------------------------------------------------------------------------------

    def build(self, file: str) -> str:
        """Compile what a file is part of, as the tests will; a complaint, or an empty text."""
        for command in _builds(file):
            status, text, _ = self._run(["sh", "-ec", command])
            warned = re.search(r"^.*\b(?:warning|error):.*$", text, re.M)
            if status or warned:
                return warned[0].strip() if warned else (text.strip().splitlines() or ["?"])[-1]
        return ""

    # --- ask ------------------------------------------------------------------------------------

    def ask(self, tests: Sequence[str], without: Iterable[str] = ()) -> Answer:
        """Let tests run up to the first that fails; LabError if they cannot be asked."""
        status, text, seconds = self._pytest("-x", *_leave_out(without), *tests)
        found = self._failed(tests, status, text)
        return Answer(*(found[0] if found else ("", "")), seconds)

    def failing(self, tests: Sequence[str]) -> list[str]:
        """Which of these tests fail."""
        status, text, _ = self._pytest(*tests)
        return [name for name, _ in self._failed(tests, status, text)]

    def _failed(self, tests: Sequence[str], status: int | None, text: str) -> list[tuple[str, str]]:
        """Names of tests that failed, and what was said of each."""
        if status is None:
            return [(tests[0], f"did not end within {LIMIT_S:.0f} s")]
        if status < 0:  # what is compiled into the tests' own process has ended that
            return [(tests[0], f"ended by {signal.Signals(-status).name}")]
        found = [(name, said[:200]) for name, said in _FAILED.findall(text)]
        if status not in (0, 1) or (status and not found):
            raise LabError(f"{tests[0]}: pytest ended with status {status}, see {self.log.name}")
        return found if status else []

    def passes(self, test: str) -> bool:
        """Whether one test passes."""
        return self._pytest(test)[0] == 0

    def lane(self, test: str) -> str:
        """The lane of a test, or of a file whose process was ended: check, or deep."""
        unmarked = self._pytest("--collect-only", "-m", "not deep", test)[0] == 0
        return "check" if unmarked else "deep"

    def _pytest(self, *words: str) -> tuple[int | None, str, float]:
        options = ["-q", "-rfE", "-p", "no:cacheprovider", "--timeout", "1200"]
        return self._run([*PYTHON, "-m", "pytest", *options, *words])

    def _run(self, argv: Sequence[str]) -> tuple[int | None, str, float]:
        """A program's status (None: it did not end), output, and seconds. Ctrl-C ends it, too."""
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            "APOGEE_CACHE": str(cache_dir().absolute()),
            "PYTHONPATH": "scripts",
            "UBSAN_OPTIONS": "abort_on_error=1",  # else pytest's own status for tests that failed
            "PYTHONDONTWRITEBYTECODE": "1",  # a file may change without its size and second
        }
        start = time.monotonic()
        with self.log.open("w") as log, start_program(
            argv, ending=signal.SIGINT, cwd=self.folder, env=env, process_group=0,
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                status = process.wait(LIMIT_S)
            except BaseException as error:
                timed_out = isinstance(error, subprocess.TimeoutExpired)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL if timed_out else signal.SIGINT)
                if not timed_out:
                    raise
                status = None
        return status, self.log.read_text(errors="replace"), round(time.monotonic() - start, 1)


def _leave_out(tests: Iterable[str]) -> list[str]:
    return [f"--deselect={test}" for test in tests]


_FILES = "/usr/bin/python3 -m apogee_lab.commands.kernel_files"
_MODULES = f'scripts/build-modules --product "$({_FILES} kdir)" "build/modules/$({_FILES} release)"'
_BPF = "make -s -C bpf OUT=../build/bpf"
_HEADER = "-x c -Wall -Wextra -Werror -Iinclude -fsyntax-only /dev/null -include"


def _builds(file: str) -> list[str]:
    """Shell commands that compile a file. Headers of pure code compile alone, and for BPF, too."""
    path = Path(file)
    if path.suffix == ".py":
        # Without a file of bytecode, which Python would take for that of the mended source.
        return [f'/usr/bin/python3 -c \'compile(open("{file}").read(), "{file}", "exec")\'']
    if path.suffix not in (".c", ".h"):
        return [f"sh -n {file}"]
    if any(path.match(pattern) for pattern in PURE):
        return [f"{tool} {_HEADER} {file}" for tool in ("gcc", "clang -target bpf -Wno-unused")]
    return [_BPF if path.parts[0] == "bpf" else _MODULES]
