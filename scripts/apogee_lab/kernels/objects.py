# SPDX-License-Identifier: GPL-2.0
"""Progress of a kernel's build in objects, on standard error."""

from __future__ import annotations

import re
import sys
import time
from types import TracebackType
from typing import Self

#: Seconds between two lines where there is no terminal.
PAUSE_S = 60

#: Of an object that make compiles; those of modules' own data (.mod.o) it cannot tell before.
_OBJECT = re.compile(r"\b(?:CC|AS) +(?:\[M\] +)?(?!\.)\S+(?<!\.mod)\.o\b")


class Objects:
    """A bar on a terminal, now and then a line elsewhere."""

    def __init__(self, what: str, total: int, left: int) -> None:
        self._what = what
        self._total = max(total, left)
        self._count = self._total - left
        self._said = time.monotonic()
        self._bar = None
        print(f"{self}: once, takes minutes", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            from tqdm import tqdm

            tqdm.monitor_interval = 0  # no monitor thread, as runs are forked
            self._bar = tqdm(
                total=self._total, initial=self._count, file=sys.stderr, dynamic_ncols=True,
                bar_format="{percentage:3.0f}% {bar} {n_fmt} of {total_fmt} objects, "
                "{elapsed} so far, {remaining} left",
            )  # fmt: skip

    def __str__(self) -> str:
        return f"{self._what}: {self._count} of {self._total} objects"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    @staticmethod
    def said(text: str) -> list[str]:
        """What make says or would say of each object that it compiles."""
        return _OBJECT.findall(text)

    def see(self, line: str) -> None:
        """Take one line that make said."""
        if not self.said(line):
            return
        self._count += 1
        if self._bar is not None:
            self._bar.update()
        elif time.monotonic() - self._said >= PAUSE_S:
            self._said = time.monotonic()
            print(self, file=sys.stderr, flush=True)
