# SPDX-License-Identifier: GPL-2.0
"""The log of the running kernel from a moment on, by /dev/kmsg."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

DEVICE = Path("/dev/kmsg")
_RECORD = 8192  # bytes; the kernel refuses to hand out a part of a record
_FACILITY = 3  # bits of the priority below the facility, which is 0 for what the kernel says
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})")


@contextlib.contextmanager
def from_now_on(device: Path = DEVICE) -> Iterator[int | None]:
    """The device, opened at the log's end; None where it cannot be opened, as in a container."""
    try:
        log = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield log
    finally:
        os.close(log)


def read(log: int) -> str:
    """What the kernel has said since then, with time stamps as dmesg shows them.

    Programs write to the log, too: what they say is left out. So are the records that were
    overwritten before they could be read.
    """
    return "".join(map(_as_dmesg, _records(log)))


def _records(log: int) -> Iterator[str]:
    """Records: ``PRIORITY,NUMBER,MICROSECONDS,FLAGS;MESSAGE``, then lines of details."""
    while True:
        try:
            record = os.read(log, _RECORD)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EPIPE:  # the next records are gone: read on behind them
                raise
        else:
            if not record:
                return
            yield record.decode(errors="replace")


def _as_dmesg(record: str) -> str:
    """A record as lines of dmesg; empty if it is not the kernel's."""
    head, _, rest = record.partition(";")
    priority, _, microseconds, *_ = head.split(",")
    if int(priority) >> _FACILITY:
        return ""
    text = _ESCAPED.sub(lambda code: chr(int(code[1], 16)), rest.partition("\n")[0])
    seconds, rest_us = divmod(int(microseconds), 1_000_000)
    return "".join(f"[{seconds:5}.{rest_us:06}] {line}\n" for line in text.split("\n"))
