# SPDX-License-Identifier: GPL-2.0
"""The runs that a command line asks for: checked algorithms, settings, seeds and their product."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from .. import algorithms, modules, units
from ..base import UsageError
from ..results.text import Record
from ..scenarios import SCENARIOS
from ..scenarios.scenario import Param, Plan, Scenario, members

_MODULE_KEY = re.compile(r"([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)")
_MODULE_VALUE = re.compile(r"[A-Za-z0-9_.+-]+")


def parse_controls(text: str, scenario: Scenario) -> list[str]:
    """``"star,cubic+bbr"`` -> the mixes to run; UsageError for an invalid name or mix."""
    mixes = [mix.strip() for mix in text.split(",")]
    for mix in mixes:
        try:
            for name in members(mix):
                if not units.CONTROL.fullmatch(name):
                    raise UsageError(f"--cc {mix}: '{name}' is not a congestion control's name")
            scenario.flows(mix)
        except ValueError as error:
            raise UsageError(str(error)) from None
    if len(set(mixes)) != len(mixes):
        raise UsageError(f"--cc {text}: a name is given twice")
    return mixes


def parse_settings(texts: Iterable[str], scenario: Scenario) -> dict[str, list[Any]]:
    """``["ber=0,1e-7", "star.aen=0"]`` -> the values of each key, in the order given."""
    params = {param.name: param for param in scenario.params}
    settings: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, listed = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: KEY=VALUE is needed")
        if key in settings:
            raise UsageError(f"--set {key} is given twice; write {key}=VALUE,VALUE")
        if key in params:
            values = [_param_value(params[key], item) for item in listed.split(",")]
        elif _MODULE_KEY.fullmatch(key):
            values = [_module_value(key, item.strip()) for item in listed.split(",")]
        else:
            raise UsageError(
                f"unknown parameter '{key}' of scenario {scenario.name}; choose from: "
                f"{', '.join(params)}; a module's parameter is written MODULE.PARAM"
            )
        if len({repr(value) for value in values}) != len(values):
            raise UsageError(f"--set {text}: a value is given twice")
        settings[key] = values
    return settings


def _param_value(param: Param, text: str) -> Any:
    try:
        value = units.parse(param.kind, text)
    except units.UnitError as error:
        raise UsageError(f"{param.name}: {error}") from None
    for number in value if isinstance(value, tuple) else (value,):
        if isinstance(number, int | float) and not _inside(param, number):
            raise UsageError(f"{param.name}: '{text}' is out of range, allowed: {bounds(param)}")
    return value


def _inside(param: Param, number: float) -> bool:
    low = -math.inf if param.low is None else param.low
    high = math.inf if param.high is None else param.high
    return low <= number <= high


def bounds(param: Param) -> str:
    """The bounds of a parameter with their units; empty if it has no bounds."""
    base = units.split_kind(param.kind)[0]
    kind = "time" if base in ("event", "every") else base.removeprefix(units.LIST)
    low = "" if param.low is None else f"from {units.format(kind, param.low)}"
    high = "" if param.high is None else f"to {units.format(kind, param.high)}"
    return f"{low} {high}".strip()


def _module_value(key: str, text: str) -> str:
    if not _MODULE_VALUE.fullmatch(text):
        raise UsageError(f"{key}: '{text}' is not a valid value of a module parameter")
    return text


def product(
    mixes: list[str],
    settings: dict[str, list[Any]],
    seeds: list[int],
    devices: Sequence[str] = (),
) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Every (mix, settings, seed): settings outermost, then mixes, then seeds.

    A module's parameter applies only to the mixes that use the module, or to all mixes if the
    module belongs to one of the scenario's devices. Mixes without it run once.
    """
    owners = {*devices, *(name for mix in mixes for name in members(mix))}
    for key in settings:
        owner = key.partition(".")[0]
        if "." in key and owner not in owners:
            raise UsageError(
                f"{key}: no flow or device uses '{owner}'; choose from: {', '.join(sorted(owners))}"
            )
    seen: set[str] = set()
    for values in itertools.product(*settings.values()):
        chosen = dict(zip(settings, values, strict=True))
        for mix in mixes:
            own = {
                key: value
                for key, value in chosen.items()
                if "." not in key or key.partition(".")[0] in {*devices, *members(mix)}
            }
            identity = f"{mix} {own!r}"
            if identity in seen:
                continue
            seen.add(identity)
            for seed in seeds:
                yield mix, own, seed


def all_values(scenario: Scenario, chosen: dict[str, Any]) -> dict[str, Any]:
    """The scenario's defaults with ``chosen`` over them."""
    return {param.name: param.default for param in scenario.params} | chosen


def record_values(scenario: Scenario, values: dict[str, Any]) -> dict[str, Any]:
    """The values in the form of a record's ``set``."""
    kinds = {param.name: param.kind for param in scenario.params}
    result = {}
    for key, value in values.items():
        if key in kinds:
            result[key] = units.for_record(kinds[key], value)
        else:
            result[key] = int(value) if re.fullmatch(r"-?\d{1,15}", value) else value
    return result


def completed(record: Record) -> dict[str, Any]:
    """A record's settings; those that came after it have their defaults, with which it was made."""
    scenario = SCENARIOS.get(record.get("scenario", ""))
    defaults = _recorded_defaults(scenario) if scenario else {}
    return {**defaults, **record["set"]}


@cache
def _recorded_defaults(scenario: Scenario) -> Mapping[str, Any]:
    """They are asked for once for each of thousands of records."""
    return record_values(scenario, all_values(scenario, {}))


def controls_of(plans: Iterable[Plan]) -> list[str]:
    """The congestion controls of all flows of these plans, each once."""
    return list(dict.fromkeys(flow.cc for plan in plans for flow in plan.flows))


def brought_modules(scenario: Scenario, plans: Sequence[Plan]) -> list[str]:
    """Modules that runs add to their guests: this project's, and those passed with ``--module``."""
    devices = [*scenario.devices, *(device for plan in plans for device in plan.devices)]
    return modules.brought([*controls_of(plans), *devices])


def check_controls(offered: set[str], kernel: str, names: Iterable[str]) -> None:
    """UsageError if the kernel lacks one of the algorithms."""
    for name in names:
        if name not in offered and not algorithms.is_brought(name):
            there = [*algorithms.listed(own=True), *sorted(offered)]
            raise UsageError(
                f"unknown congestion control '{name}' (kernel {kernel}); "
                f"choose from: {', '.join(there)}"
            )
