# SPDX-License-Identifier: GPL-2.0
"""Applying sysctls so that they can be restored: a state file has the old values.

The file is written before the first sysctl is changed and removed after the last one is restored.
Applying twice keeps the values from before the first time, except of a key whose value has changed
since: someone has changed it, or the host was booted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import LabError, UsageError, write_whole
from .tune import Setting

PROC_SYS = Path("/proc/sys")
STATE = Path("/var/lib/apogee/tune.json")


def state_file() -> Path:
    """The state file (``APOGEE_STATE`` or /var/lib/apogee/tune.json)."""
    return Path(os.environ.get("APOGEE_STATE") or STATE)


@dataclass(frozen=True)
class Change:
    """A sysctl to be changed."""

    key: str
    old: str
    new: str


def _file(proc: Path, key: str) -> Path:
    return proc / key.replace(".", "/")


def _read(proc: Path, key: str) -> str:
    """A value, its numbers separated by one blank."""
    try:
        return " ".join(_file(proc, key).read_text(encoding="ascii").split())
    except OSError as error:
        raise LabError(f"{key} cannot be read: {error.strerror}") from None


def _write(proc: Path, key: str, value: str) -> None:
    try:
        _file(proc, key).write_text(value + "\n", encoding="ascii")
    except OSError as error:
        raise LabError(f"{key} cannot be set to '{value}': {error.strerror}") from None


def _larger(old: str, new: str) -> str:
    """The larger one of each pair of numbers."""
    pairs = zip(old.split(), new.split(), strict=True)
    return " ".join(str(max(int(a), int(b))) for a, b in pairs)


def to_apply(settings: Sequence[Setting], proc: Path) -> list[Change]:
    """What the settings change on this host; a larger size is kept."""
    found = []
    for one in settings:
        old = _read(proc, one.key)
        new = _larger(old, one.value) if one.size else one.value
        if new != old:
            found.append(Change(one.key, old, new))
    return found


def to_restore(state: Path, proc: Path) -> tuple[list[Change], list[str]]:
    """What restoring changes, and the keys that someone else has changed, which are left alone."""
    changes, foreign = [], []
    for one in _remembered(state):
        now = _read(proc, one.key)
        if now == one.new and now != one.old:
            changes.append(Change(one.key, now, one.old))
        elif now not in (one.new, one.old):
            foreign.append(one.key)
    return changes, foreign


def check_writable(changes: Sequence[Change], proc: Path, state: Path) -> None:
    """LabError unless everything can be written; called before the first write."""
    for one in changes:
        if not os.access(_file(proc, one.key), os.W_OK):
            raise LabError(f"{one.key} is not writable: run as root, outside a container")
    folder = state.parent
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        raise LabError(f"{state} is not writable: run as root, or set APOGEE_STATE=FILE")


def _remembered(state: Path) -> list[Change]:
    """The changes that were applied; empty without a state file."""
    try:
        text = state.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LabError(f"{state}: {error.strerror}") from None
    try:
        return [Change(key, one["old"], one["new"]) for key, one in json.loads(text).items()]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LabError(f"{state} is damaged: set the values by hand, then remove it") from None


def _remember(state: Path, changes: Sequence[Change]) -> None:
    """Write the file; without changes remove it."""
    try:
        if changes:
            state.parent.mkdir(parents=True, exist_ok=True)
            found = {one.key: {"old": one.old, "new": one.new} for one in changes}
            write_whole(state, json.dumps(found, indent=1) + "\n")
        else:
            state.unlink(missing_ok=True)
    except OSError as error:
        raise LabError(f"{state}: {error.strerror}") from None


def _set(changes: Sequence[Change], proc: Path) -> None:
    """Write all of them, or none if the kernel refuses one."""
    done: list[Change] = []
    try:
        for one in changes:
            _write(proc, one.key, one.new)
            done.append(one)
    except LabError:
        for one in reversed(done):
            _write(proc, one.key, one.old)
        raise


def apply(changes: Sequence[Change], proc: Path, state: Path) -> None:
    """Save the old values, then write; if the kernel refuses a value, undo everything."""
    before = _remembered(state)
    old = {(one.key, one.new): one.old for one in before}
    merged = {one.key: one for one in before}
    for one in changes:
        merged[one.key] = Change(one.key, old.get((one.key, one.old), one.old), one.new)
    _remember(state, list(merged.values()))
    try:
        _set(changes, proc)
    except LabError:
        _remember(state, before)
        raise


def restore(changes: Sequence[Change], proc: Path, state: Path) -> None:
    """Restore the old values, then remove the state file."""
    _set(changes, proc)
    _remember(state, [])


# --- asking -----------------------------------------------------------------------------------


def _agreed(changes: Sequence[Change], yes: bool) -> bool:
    """Print what would change and ask; True if the answer is yes."""
    print("This host's settings would change:")
    for one in changes:
        print(f"  {one.key}: {one.old} -> {one.new}")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("nothing was changed: there is no terminal to ask on; use --yes")
    try:
        answer = input("Change them? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    print("nothing was changed")
    return False


def ask_to_apply(settings: Sequence[Setting], yes: bool) -> int:
    """``lab tune --apply``; the exit status, 1 if the answer was no."""
    proc, state = PROC_SYS, state_file()
    changes = to_apply(settings, proc)
    if not changes:
        print("nothing to change: this host already has these settings")
        return 0
    check_writable(changes, proc, state)
    if not _agreed(changes, yes):
        return 1
    apply(changes, proc, state)
    print(f"done; the old values are in {state}, `scripts/lab tune --restore` restores them")
    return 0


def ask_to_restore(yes: bool) -> int:
    """``lab tune --restore``; the exit status, 1 if the answer was no."""
    proc, state = PROC_SYS, state_file()
    if not state.exists():
        raise UsageError(f"nothing to restore: there is no {state}")
    changes, foreign = to_restore(state, proc)
    for key in foreign:
        print(f"{key} was changed by someone else since then: left alone")
    check_writable(changes, proc, state)
    if changes and not _agreed(changes, yes):
        return 1
    restore(changes, proc, state)
    print(f"done; {state} is removed")
    return 0
