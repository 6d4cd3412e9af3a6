# SPDX-License-Identifier: GPL-2.0
"""Guests are asked, and their answers compared with those of user space."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from apogee_lab.engines import qemu
from apogee_lab.kernels.kernel import Kernel
from tests import BUILD, ROOT
from tests.asked import bpf, calls
from tests.unit.headers.cheaders import Headers

# What fails a run by itself is in engines/log.py.
_TROUBLE = re.compile(r"Call Trace|Unknown symbol")
_MODULE = """
modprobe answers && dd if=/lab/calls of=/proc/apogee-answers bs=64M count=1 &&
	cat /proc/apogee-answers >$OUT/answers && rmmod answers
"""


def trouble(out: Path) -> str:
    """The first line of the kernel's log that no module should cause."""
    log = (out / "dmesg.txt").read_text(errors="replace").splitlines()
    return next((line for line in log if _TROUBLE.search(line)), "")


def answered(k: Kernel, asked: Path, engine: ModuleType = qemu) -> str:
    """Let the kernel make the unit tests' calls; the first answer that differs."""
    out = BUILD / "tests" / f"answers-{k.release}"
    files = {"lab/calls": (asked / "calls").read_bytes()}
    engine.run_script(_MODULE, kernel=k.release, modules=["answers"], files=files, out=out)
    found = trouble(out)
    return found or calls.difference(Headers(ROOT), asked / "answers", out / "answers")


def answered_in_bpf(k: Kernel, asked: Path) -> str:
    """Let BPF programs make these calls, and random ones; the first answer that differs."""
    out, folder = BUILD / "tests" / f"bpf-{k.release}", BUILD / "bpf-calls"
    headers = Headers(ROOT)
    files = bpf.prepare(headers, asked, folder)
    qemu.run_script(bpf.SCRIPT, kernel=k.release, files=files, out=out)
    if refused := (out / "refused").read_text():
        return f"refused by the verifier: {refused}"
    return trouble(out) or calls.difference(headers, folder / "answers", out / "answers")
