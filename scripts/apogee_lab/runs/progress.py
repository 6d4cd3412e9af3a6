# SPDX-License-Identifier: GPL-2.0
"""Progress of a sweep on standard error."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, TextIO


class Report:
    """A bar with a time estimate on a terminal, lines elsewhere."""

    def __init__(self, total: int, before: int, out: TextIO) -> None:
        self._out = out
        self._total = total
        self._count = before
        self._before = before
        self._start = time.monotonic()
        self._bar = None
        if before:
            print(f"{before} of {total} runs finished earlier, not repeated", file=out)
        if out.isatty() and before < total:
            from tqdm import tqdm

            tqdm.monitor_interval = 0  # no monitor thread, as runs are forked
            self._bar = tqdm(
                total=total,
                initial=before,
                unit="run",
                file=out,
                dynamic_ncols=True,
                bar_format="{desc}{percentage:3.0f}% {bar} {n_fmt}/{total_fmt} runs, "
                "{elapsed} so far, {remaining} left{postfix}",
            )

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._out)
        else:
            print(line, file=self._out, flush=True)

    def _step(self) -> str:
        self._count += 1
        if self._bar is not None:
            self._bar.update()
        made = self._count - self._before
        left = (time.monotonic() - self._start) / made * (self._total - self._count)
        return f"about {span(left)} left" if self._count < self._total else "the last"

    def done(self, label: str, record: dict[str, Any]) -> None:
        """Report a finished run."""
        left = self._step()
        result = f"{label}: {record['total_goodput_bps'] / 1e6:.2f} Mbit/s"
        if self._bar is not None:
            self._bar.set_postfix_str(result)
        else:
            width = len(str(self._total))
            self._say(
                f"[{self._count:{width}}/{self._total}] {result} ({record['wall_s']:.0f} s; {left})"
            )

    def left_out(self) -> None:
        """Count a run that is not made."""
        self._step()

    def failed(self, label: str, reason: str, console: list[str], kept: Path) -> None:
        """Report a failed run: the reason and the last lines of the console."""
        self._step()
        self._say(f"[{self._count}/{self._total}] {label}: FAILED: {reason}")
        for line in console:
            self._say(f"    | {line}")
        self._say(f"    raw results: {kept}")

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def span(seconds: float) -> str:
    """A number of seconds as text, in minutes from 90 s on."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
