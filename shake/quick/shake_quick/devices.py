# SPDX-License-Identifier: GPL-2.0
"""What ip(8) says of devices, and commands that are run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable
from typing import Any

from .conf import QuickError
from .tables import (
    BY_PATH,
    BY_TUNNEL,
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


def run(argv: list[str], given: str | None = None) -> subprocess.CompletedProcess[str]:
    """A command with its output; one that is missing is an error of one line."""
    try:
        return subprocess.run(
            argv, input=given, capture_output=True, text=True, check=False, env=ENVIRONMENT
        )
    except OSError as error:
        raise QuickError(f"{argv[0]}: {error.strerror}") from None


def call_shell(line: str) -> int:
    """A line of the user's; its output is his."""
    return subprocess.run(["/bin/sh", "-c", line], check=False, env=ENVIRONMENT).returncode


def message(done: subprocess.CompletedProcess[str]) -> str:
    """The first line of what a command said, without ip's preludes."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    text = lines[0] if lines else f"status {done.returncode}"
    return re.sub(r"^(Error|RTNETLINK answers): ", "", text).rstrip(".")


def ask(*words: str) -> list[dict[str, Any]]:
    """A list from `ip -j`; empty if ip refuses, as for a table that is not there."""
    done = run(["ip", *words])
    try:
        found = json.loads(done.stdout or "[]") if done.returncode == 0 else []
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
    rules = [
        rule
        for version in (4, 6)
        for rule in shown_rules(name, version, ask(f"-{version}", "-N", "-j", "rule", "show"))
    ]
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
    """Remove a tunnel's rules and what is in its tables."""
    lines = []
    for version in (4, 6):
        shown = ask(f"-{version}", "-N", "-j", "rule", "show")
        rules = shown_rules(name, version, shown)
        own = [rule for rule in rules if rule.pref in (BY_PATH, BY_TUNNEL)]
        if not is_shared(shown, name):
            own += [rule for rule in rules if rule.pref == NEAR]
        lines += [_gone(rule) for rule in own]
        for table in range(table_of(name), table_of(name) + EACH):
            lines.append(f"-{version} route flush table {table}")
    for version in (4, 6):
        chosen = [line[3:] for line in lines if line.startswith(f"-{version}")]
        # Tables that are not there are refused, which -force passes over.
        run(["ip", f"-{version}", "-force", "-batch", "-"], "\n".join(chosen) + "\n")


def _gone(rule: Rule) -> str:
    return f"-{rule.version} rule del {' '.join(rule.words())}"
