# SPDX-License-Identifier: GPL-2.0
"""What ip(8) says of devices, and commands that are run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterable
from typing import Any

from .conf import QuickError
from .tables import (
    EACH,
    MAIN,
    NEAR,
    Rule,
    System,
    Tables,
    best_default,
    is_shared,
    shown_rules,
    table_of,
)

#: ip is in folders that a user's PATH may lack.
_PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
ENVIRONMENT = {**os.environ, "PATH": _PATH, "LC_ALL": "C"}


def _call(argv: list[str], given: str | None = None, **how: Any) -> tuple[int, str, str]:
    """Status and what it said. A signal that ends this program ends the command, too: until that is
    known, the signal waits."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))

    def unmask() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    try:
        process = subprocess.Popen(argv, env=ENVIRONMENT, preexec_fn=unmask, **how)
    except BaseException:
        unmask()
        raise
    try:
        unmask()
        out, err = process.communicate(given)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process.returncode, out or "", err or ""


def run(argv: list[str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    """A command with its output; one that is missing is an error of one line.

    Devices may have names that are no UTF-8.
    """
    pipe = subprocess.PIPE
    try:
        status, out, err = _call(
            argv, given, stdin=None if given is None else pipe, stdout=pipe, stderr=pipe,
            text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise QuickError(f"{argv[0]}: {error.strerror}") from None
    return subprocess.CompletedProcess(argv, status, out, err)


def call_shell(line: str) -> int:
    """A line of the user's; its output is his."""
    return _call(["/bin/sh", "-c", line])[0]


def message(done: subprocess.CompletedProcess[str]) -> str:
    """The first line of what a command said, without ip's preludes."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    text = lines[0] if lines else f"status {done.returncode}"
    return re.sub(r"^(Error|RTNETLINK answers): ", "", text).rstrip(".")


def ask(*words: str) -> list[dict[str, Any]]:
    """A list from `ip -j`; empty if ip refuses, as for a table that is not there."""
    done = run(["ip", *words])
    try:
        found = json.loads(done.stdout or "[]", strict=False) if done.returncode == 0 else []
    except ValueError:
        raise QuickError(f"ip {' '.join(words)}: its answer cannot be read") from None
    return [one for one in found if one]


def kind(name: str) -> str | None:
    """A device's type, "" for those without, None if there is none of this name."""
    found = ask("-d", "-j", "link", "show", "dev", name)
    return str(found[0].get("linkinfo", {}).get("info_kind", "")) if found else None


# --- rules and tables -----------------------------------------------------------------------------


def system() -> System:
    main = {v: ask(f"-{v}", "-j", "route", "show", "table", "main", "default") for v in (4, 6)}
    return System(ask("-j", "address", "show"), main)


def tables(name: str, wanted: Iterable[tuple[int, int]] = ()) -> Tables:
    """A tunnel's rules, and what is in their tables and in those that are wanted."""
    rules = [rule for version in (4, 6) for rule in shown_rules(name, version, _rules(version))]
    routes = {}
    places = {(rule.version, rule.table) for rule in rules if rule.table != MAIN}
    for version, table in places | set(wanted):
        shown = ask(f"-{version}", "-j", "route", "show", "table", str(table))
        default = best_default(version, shown, None, "")
        if default:
            routes[version, table] = default
    return Tables(frozenset(rules), routes)


def change(argv: list[str]) -> None:
    """What is there already is no error."""
    done = run(argv)
    if done.returncode and "File exists" not in done.stderr:
        raise QuickError(f"{' '.join(argv)}: {message(done)}")


def forget_tables(name: str) -> None:
    """Remove a tunnel's rules and what is in its tables.

    The rule that all share goes behind them: of several tunnels that are taken down at once the
    last finds no other's.
    """
    for version in (4, 6):
        rules = shown_rules(name, version, _rules(version))
        lines = [_gone(rule) for rule in rules if rule.pref != NEAR]
        for table in range(table_of(name), table_of(name) + EACH):
            lines.append(f"route flush table {table}")
        _batch(version, lines)
    for version in (4, 6):
        shown = _rules(version)
        near = [rule for rule in shown_rules(name, version, shown) if rule.pref == NEAR]
        if near and not is_shared(shown, name):
            _batch(version, [_gone(rule) for rule in near])


def _rules(version: int) -> list[dict[str, Any]]:
    return ask(f"-{version}", "-N", "-j", "rule", "show")


def _batch(version: int, lines: list[str]) -> None:
    """Tables that are not there are refused, which -force passes over."""
    run(["ip", f"-{version}", "-force", "-batch", "-"], "\n".join(lines) + "\n")


def _gone(rule: Rule) -> str:
    return f"rule del {' '.join(rule.words())}"
